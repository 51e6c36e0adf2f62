"""A study that was saved and loaded goes on to the last bit as the one that was not."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from lycosa.judges.contrast.judge import ContrastJudge
from lycosa.judges.contrast.study import ContrastStudy
from lycosa.lib.snapshot import read, write
from lycosa.model import Page

STEMS = {"cycl": 0.4, "soup": 0.3, "rail": 0.3}


def terms(number: int) -> dict[str, int]:
    rng = np.random.default_rng(number)
    subject = rng.choice(list(STEMS), p=list(STEMS.values()))
    words, counts = rng.integers(0, 30, 12), rng.integers(1, 6, 12)
    own = {f"{subject}{word}": int(count) for word, count in zip(words, counts, strict=True)}
    return {**own, **{f"usual{word}": 1 for word in rng.integers(0, 60, 10)}}


def judges() -> Iterator[ContrastJudge]:
    examples = [Page(f"http://e.test/{n}", terms={f"cycl{word}": 3 for word in range(n, n + 9)}) for n in range(4)]
    yield ContrastJudge.fit(examples, "")
    yield ContrastJudge.fit((), "cycl1 cycl2", learns_from_seeds=True, seeds_must_fit=True)
    yield ContrastJudge.fit((), learns_from_seeds=True)
    yield ContrastJudge.fit((), "cycl1 cycl2", has_meaning=True)


def grow(study: ContrastStudy, numbers: range) -> None:
    """Pages, lessons, verdicts and answers in turn."""
    for number in numbers:
        meaning = float(np.random.default_rng([2, number]).normal(0.2, 0.1)) if number % 11 else float("nan")
        page = study.vector(terms(number) if number % 17 else {})
        study.add(page, host=1 + number % 5, is_seed=number < 6, meaning=meaning)
        if number % 7 == 3:
            study.learn()
        if number % 20 == 12:
            study.verdicts()
        if number in (25, 31, 44):
            study.answer(number - 20, [True, False, None][number % 3])


@pytest.mark.parametrize("judge", list(judges()), ids=["examples", "words and seeds", "seeds", "meaning"])
@pytest.mark.parametrize("saved_after", [3, 9, 26, 33, 50])
def test_it_goes_on_to_the_last_bit(tmp_path, judge, saved_after):
    straight, before, resumed = judge.study(), judge.study(), judge.study()
    grow(straight, range(80))
    grow(before, range(saved_after))
    tree = before.snapshots.take()
    grow(before, range(saved_after, saved_after + 9))  # what was taken does not change
    resumed.snapshots.load(read(tmp_path / "study", write(tmp_path / "study", tree)))
    grow(resumed, range(saved_after, 80))
    for name in ("relevance", "weights", "said"):
        assert getattr(resumed, name).tobytes() == getattr(straight, name).tobytes(), name
    assert (resumed.drift, resumed.judged_pages) == (straight.drift, straight.judged_pages)
    assert resumed.verdicts().tobytes() == straight.verdicts().tobytes()
    assert resumed.word_strengths().tobytes() == straight.word_strengths().tobytes()
    assert resumed.examples.keys() == straight.examples.keys()
    one, other = (study.as_judge(0.5).judge(Page("http://x.test/", terms=terms(99))) for study in (resumed, straight))
    assert one == other


@pytest.mark.parametrize("judge", list(judges()), ids=["examples", "words and seeds", "seeds", "meaning"])
def test_pages_that_come_before_the_next_lesson_are_judged_alike(judge):
    """By what was learned last, and by the last verdicts, which are not computed anew."""
    straight, resumed = judge.study(), judge.study()
    grow(straight, range(50))
    straight.verdicts()
    resumed.snapshots.load(straight.snapshots.take())
    for study in (straight, resumed):
        study.add(study.vector(terms(50)), host=1, meaning=0.35)
    assert resumed.relevance.tobytes() == straight.relevance.tobytes()
    assert resumed.said.tobytes() == straight.said.tobytes()


def test_of_another_topic_it_is_refused():
    with_examples, with_words, *_ = judges()
    with pytest.raises(ValueError, match="0 examples were given, not 4"):
        with_examples.study().snapshots.load(with_words.study().snapshots.take())


def test_an_answer_makes_what_was_said_out_of_date():
    study = next(judges()).study()
    grow(study, range(20))
    assert study.judged_pages == 13
    study.answer(2, True)
    assert study.judged_pages == 0
