"""Questions from a crawl's store alone."""

from __future__ import annotations

import numpy as np
import pytest

from lycosa.results.archived_pages import ArchivedPages
from lycosa.results.open_questions import first_lines, open_questions
from lycosa.store.rows import Batch, HostRow, JudgementRow, LinkRow, PageRow
from lycosa.strategies.hunter.notes import Note


def note(*words: int) -> bytes:
    numbers = np.array(words, dtype=np.uint16)
    near = np.zeros((0, 16), dtype=np.uint16)
    return Note(numbers, np.ones(len(words), np.uint8), near, np.zeros(0, np.int64), 1).to_bytes()


@pytest.fixture
def store(rig):
    """Makes stores of pages: (relevance, waiting links, title) each, seeds first; all on hosts of their own."""

    def made(*pages: tuple[float, int, str], seeds: int = 0, notes: dict[int, bytes] | None = None):
        store = rig({}).store
        store.begin_run(started_at=0.0, pid=1, version="0", config="")
        count = len(pages)
        waiting = [(place, n) for place, (_, links, _) in enumerate(pages) for n in range(links)]
        link = LinkRow(0, "", 0, 1, "done", 0.5, 1, 0, 0, None, "", "", "")
        row = PageRow(0, 0, 1, 0.0, "", "en", "", 9, 9, 0, None, "", False, False, "", -1)
        store.write(
            Batch(
                hosts={n + 1: HostRow(n + 1, f"h{n}.test", "", 0.0, 0.0, 0, 1, 0, 0, 0, "") for n in range(count)},
                links=[
                    link._replace(id=n + 1, url=f"http://h{n}.test/", host_id=n + 1, hash=n, distance=int(n >= seeds))
                    for n in range(count)
                ]
                + [
                    link._replace(id=1000 + at, url=f"http://w.test/{at}", state="waiting")
                    for at in range(len(waiting))
                ],
                pages=[
                    row._replace(id=n + 1, number=n + 1, title=title, fingerprint=(n + 1) * 0x1E3779B97F4A7C15 % 2**62)
                    for n, (_, _, title) in enumerate(pages)
                ],
                judgements=[
                    JudgementRow(n + 1, "contrast", r, r >= 0.5, "{}", '{"tandem": 0.2, "soup": -0.3}', "")
                    for n, (r, _, _) in enumerate(pages)
                ],
                edges=[(place + 1, n, 1000 + at, "", "") for at, (place, n) in enumerate(waiting)],
                notes=list((notes or {}).items()),
            )
        )
        return store

    return made


def asked(store, count: int = 10, **more) -> list[int]:
    return [question.page for question in open_questions(store, threshold=0.5, count=count, is_learning=False, **more)]


def test_a_question_says_what_helps_to_answer(store):
    made = store((0.6, 3, "Of tandems"), (0.0, 0, "x"))
    (question,) = open_questions(made, threshold=0.5, is_learning=False)
    assert (question.page, question.url, question.title) == (1, "http://h0.test/", "Of tandems")
    assert (question.relevance, question.is_relevant, question.waiting) == (0.6, True, 3)
    assert question.words == ["soup", "tandem"]


def test_doubt_and_consequences(store):
    assert asked(store((0.99, 0, "a b"), (0.4, 0, "c d"), (0.38, 60, "e f"))) == [3, 2, 1]


def test_words_of_notes_tell_pages_apart(store):
    notes = {1: note(1, 2, 3), 2: note(1, 2, 3), 3: note(7, 8, 9)}
    made = store((0.5, 0, "a"), (0.49, 0, "b"), (0.3, 0, "c"), notes=notes)
    assert asked(made, 2) == [1, 3]


def test_where_nothing_is_noted_titles_do(store):
    made = store((0.5, 0, "bicycle touring"), (0.49, 0, "bicycle touring"), (0.3, 0, "soup kitchen"), notes={1: b"?"})
    assert asked(made, 2) == [1, 3]


def test_seeds_in_doubt_come_first_if_words_were_given(store):
    pages = [(0.3, 0, "seed"), (0.5, 9, "other"), (0.5, 5, "third")]
    made = store(*pages, seeds=1)
    assert asked(made, has_words=True) == [1, 2, 3]
    assert asked(made) == [2, 3, 1]


def test_a_seed_that_is_an_example_needs_no_question(store):
    made = store((0.93, 50, "seed"), (0.5, 0, "other"), seeds=1)
    assert [question.page for question in open_questions(made, threshold=0.5, has_words=True)] == [2]


def test_without_examples_the_most_relevant_are_asked_about(store):
    made = store((0.5, 0, "a b"), (0.8, 0, "c d"), (0.97, 0, "e f"))
    assert [question.page for question in open_questions(made, threshold=0.5)] == [3, 2, 1]


def test_none_twice_and_skipped_ones_last(store):
    made = store((0.5, 0, "a b"), (0.49, 0, "c d"), (0.48, 0, "e f"), (0.47, 0, "g h"))
    said = [(1, "relevant"), (2, "skipped"), (3, "irrelevant")]
    made.write(Batch(answers=[(0.0, f"http://h{n - 1}.test/", n, answer) for n, answer in said]))
    assert asked(made, 1) == [4]
    assert asked(made, 9) == [4, 2]
    made.write(Batch(answers=[(0.0, "http://h0.test/", 1, "withdrawn")]))
    assert sorted(asked(made, 2)) == [1, 4]


def test_the_first_lines_of_a_page(rig, html):
    crawl = rig({"http://a.test/": html(text="one two three four five six seven " * 40, title="T")})
    crawl.crawl("http://a.test/", with_archive=True)
    texts = ArchivedPages.of_text(crawl.directory / "archive", crawl.store)
    lines = first_lines(crawl.store, texts, 1, width=30, count=3)
    assert len(lines) == 3
    assert lines[0].startswith(("T one two", "one two"))
    assert all(len(line) <= 30 for line in lines)
    assert first_lines(crawl.store, texts, 99, width=30) == []
    for file in (crawl.directory / "archive").iterdir():
        file.unlink()
    assert first_lines(crawl.store, texts, 1, width=30) == []
