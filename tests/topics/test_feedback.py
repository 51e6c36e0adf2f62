"""Marks on pages: what they change in a book, that taking them back undoes it, and what the judge learns."""

from __future__ import annotations

import pytest

from lycosa.judges.classifier import Example
from lycosa.judges.formula import parse
from lycosa.judges.generalise import not_inward
from lycosa.lib.text import term_counts
from lycosa.model import Page
from lycosa.topics.book import KEPT_VERSIONS, TopicBook
from lycosa.topics.feedback import MARKS, _Filing, teach
from lycosa.topics.judges import load_classifier, train_judge
from lycosa.topics.marks import Refiling

WORDS = {
    "Sport/Cycling": "bicycle tandem saddle pedal spoke tyre wheel rider",
    "Sport/Rowing": "oar boat scull river regatta coxswain stroke crew",
    "Science/Physics": "quark electron field photon mass energy particle wave",
}
CYCLING, ROWING, PHYSICS = WORDS
SCORES = {CYCLING: 0.9, ROWING: 0.4, PHYSICS: 0.6, "Sport": 0.9, "Science": 0.6}


def page(number: int, *topics: str) -> Page:
    text = " ".join(word for topic in topics for word in WORDS[topic].split()) + f" number{number}"
    return Page(f"http://a.test/{number}", text=text, terms=term_counts(text))


@pytest.fixture
def book(tmp_path):
    with TopicBook(tmp_path / "topics.db") as opened:
        opened.add_examples(
            [Example(page(10 * place + n, topic), (topic,)) for place, topic in enumerate(WORDS) for n in range(6)],
            makes_topics=True,
        )
        train_judge(opened, "bayes")
        yield opened


def filed(book: TopicBook) -> dict[str, tuple[str, ...]]:
    return {row.source: row.topics for row in book.example_rows(count=1000)}


def posteriors(book: TopicBook, sample: Page) -> list[float]:
    return load_classifier(book.load_judge()).posteriors(sample).tolist()


@pytest.mark.parametrize(
    ("formula", "own", "is_useful", "adds", "takes"),
    [
        ("Sport/Cycling", [], True, [CYCLING], []),
        ("Sport/Cycling", [CYCLING], True, [], []),
        ("Sport/Cycling", [PHYSICS], True, [CYCLING], []),
        ("Sport", [ROWING], True, [], []),
        ("Sport/Cycling AND Science/Physics", [PHYSICS], True, [CYCLING], []),
        ("Sport/Cycling OR Sport/Rowing", [], True, [CYCLING], []),
        ("Sport/Cycling OR Sport/Rowing", [ROWING], True, [], []),
        ("Sport/Cycling AND NOT Science/Physics", [PHYSICS], True, [CYCLING], [PHYSICS]),
        ("NOT (NOT Sport/Cycling OR Science/Physics)", [PHYSICS], True, [CYCLING], [PHYSICS]),
        ("Sport/Cycling", [], False, [], []),
        ("Sport/Cycling", [CYCLING, PHYSICS], False, [], [CYCLING]),
        ("Sport", [CYCLING, ROWING], False, [], [CYCLING, ROWING]),
        ("Sport/Cycling", [PHYSICS], False, [], []),
        ("Sport/Cycling AND Science/Physics", [CYCLING], False, [], []),
        ("Sport/Cycling AND Science/Physics", [CYCLING, PHYSICS], False, [], [PHYSICS]),
        ("Sport/Cycling OR Sport/Rowing", [CYCLING, ROWING], False, [], [CYCLING, ROWING]),
        ("Sport/Cycling AND NOT Science/Physics", [CYCLING], False, [], [CYCLING]),
        ("NOT Science/Physics", [CYCLING], False, [], []),
    ],
)
def test_a_mark_changes_as_little_as_it_takes(formula, own, is_useful, adds, takes):
    filing = _Filing(own, {}, SCORES)
    interest = not_inward(parse(formula))
    change = filing.satisfying(interest) if is_useful else filing.refuting(interest)
    assert change == Refiling(tuple(adds), tuple(takes))


class TestTeach:
    INTEREST = parse(CYCLING)

    def test_it_learns_and_unlearns(self, book):
        mixed = [page(100 + n, CYCLING, PHYSICS) for n in range(5)]
        texts = {each.url: each for each in mixed[:4]}
        before, topics = posteriors(book, mixed[4]), filed(book)
        place = load_classifier(book.load_judge()).topics_.index(CYCLING)
        lesson = teach(book, self.INTEREST, dict.fromkeys(texts, False), texts.get)
        assert (lesson.version, lesson.is_new, lesson.untaught) == (2, True, ())
        assert posteriors(book, mixed[4])[place] < before[place] - 0.1
        assert {filed(book)[url] for url in texts} == {()}
        lesson = teach(book, self.INTEREST, dict.fromkeys(texts, True), texts.get)
        assert posteriors(book, mixed[4])[place] > before[place] + 0.1
        assert {filed(book)[url] for url in texts} == {(CYCLING,)}
        teach(book, self.INTEREST, {}, {}.get)
        assert filed(book) == topics
        assert posteriors(book, mixed[4]) == before
        assert book.load_judge().settings[MARKS] == ""

    def test_what_is_known_is_not_learned_again(self, book):
        texts = {"http://a.test/100": page(100, CYCLING, PHYSICS)}
        assert teach(book, self.INTEREST, dict.fromkeys(texts, False), texts.get).is_new
        lesson = teach(book, self.INTEREST, dict.fromkeys(texts, False), {}.get)
        assert (lesson.version, lesson.is_new) == (2, False)

    def test_a_training_that_was_cut_off_is_done_the_next_time(self, book, monkeypatch):
        texts = {"http://a.test/100": page(100, CYCLING, PHYSICS)}
        with monkeypatch.context() as patch:
            patch.setattr(TopicBook, "save_judge", lambda *_, **__: 1 / 0)
            with pytest.raises(ZeroDivisionError):
                teach(book, self.INTEREST, dict.fromkeys(texts, False), texts.get)
        assert book.marks()
        assert teach(book, self.INTEREST, dict.fromkeys(texts, False), {}.get) == (2, True, ())

    def test_a_page_without_text_teaches_nothing(self, book):
        lesson = teach(book, self.INTEREST, {"http://a.test/far": True}, {}.get)
        assert lesson == (1, False, ("http://a.test/far",))

    def test_an_example_from_the_same_address_or_with_the_same_text(self, book):
        """The page of an example has changed since, and there is a copy of another one."""
        changed = page(0, CYCLING, ROWING)
        copy = Page("http://b.test/", text=page(1, CYCLING).text, terms=page(1, CYCLING).terms)
        texts = {changed.url: changed, copy.url: copy}
        before = filed(book)
        teach(book, self.INTEREST, dict.fromkeys(texts, False), texts.get)
        now = filed(book)
        assert now.keys() == before.keys()
        assert [url for url in now if now[url] != before[url]] == ["http://a.test/0", "http://a.test/1"]
        assert now["http://a.test/0"] == now["http://a.test/1"] == ()
        teach(book, self.INTEREST, {changed.url: False}, texts.get)
        assert filed(book) == {**before, "http://a.test/0": ()}
        teach(book, self.INTEREST, {}, texts.get)
        assert filed(book) == before

    def test_marks_on_two_pages_with_one_text(self, book):
        text = page(100, PHYSICS)
        texts = {url: Page(url, text=text.text, terms=text.terms) for url in ("http://b.test/", "http://c.test/")}
        before = filed(book)
        teach(book, self.INTEREST, {"http://b.test/": True, "http://c.test/": False}, texts.get)
        assert filed(book) == {**before, "http://b.test/": ()}
        teach(book, self.INTEREST, {"http://b.test/": True}, texts.get)
        assert filed(book) == {**before, "http://b.test/": (CYCLING,)}
        teach(book, self.INTEREST, {"http://c.test/": False, "http://b.test/": True}, texts.get)
        teach(book, self.INTEREST, {"http://c.test/": False}, texts.get)
        assert filed(book) == {**before, "http://b.test/": ()}
        teach(book, self.INTEREST, {}, texts.get)
        assert filed(book) == before

    def test_a_topic_that_is_gone(self, book):
        texts = {"http://a.test/100": page(100, ROWING)}
        teach(book, parse(ROWING), dict.fromkeys(texts, True), texts.get)
        book.remove_topic(ROWING)
        teach(book, self.INTEREST, {}, texts.get)
        assert book.marks() == []

    def test_old_versions_go_but_not_the_one_without_marks(self, book):
        texts = {f"http://a.test/{n}": page(n, CYCLING, PHYSICS) for n in range(100, 107)}
        said: dict[str, bool] = {}
        for url in texts:
            said[url] = False
            teach(book, self.INTEREST, said, texts.get)
        assert [judge.version for judge in book.judges()] == [1, *range(9 - KEPT_VERSIONS, 9)]
        assert [judge.settings.get(MARKS, "") == "" for judge in book.judges()] == [True, False, False, False]
