"""What a person says of pages: examples, or pages that are surely about something else."""

from __future__ import annotations

import pytest

from lycosa.judges.contrast.judge import ContrastJudge, ContrastStudy
from lycosa.lib.text import term_counts

BIKES = "bicycle tandem derailleur saddle pedals chain"
TRAINS = "locomotive railway boiler gauge signal sleeper"
SOUP = "broth onion ladle celery stock garlic"


def study(keywords: str = "", *texts: str, seeds: int = 0, must_fit: bool = False) -> ContrastStudy:
    """After pages with these texts; the first ones are seeds."""
    made = ContrastJudge.fit((), keywords, learns_from_seeds=True, seeds_must_fit=must_fit).study()
    for place, text in enumerate(texts):
        made.add(made.vector(term_counts(f"{text} every page {place}")), host=place + 1, is_seed=place < seeds)
    made.learn()
    return made


def relevance_of(made: ContrastStudy, text: str) -> float:
    return made.judge_vector(made.vector(term_counts(text)))


@pytest.fixture
def cycling() -> ContrastStudy:
    return study("bicycle", *[BIKES, TRAINS, SOUP] * 5)


@pytest.mark.parametrize("is_relevant", [True, False])
def test_the_answer_stands_whatever_is_learned(cycling, is_relevant):
    for place in (0, 1):
        cycling.answer(place, is_relevant)
        assert cycling.relevance[place] == float(is_relevant)
    cycling.learn()
    cycling.add(cycling.vector(term_counts(SOUP)))
    cycling.learn()
    assert cycling.relevance[:2].tolist() == [float(is_relevant)] * 2


def test_three_times_yes_makes_examples(cycling):
    before = relevance_of(cycling, TRAINS)
    for place in (1, 4):
        cycling.answer(place, True)
    cycling.learn()
    assert not cycling.examples  # one or two pages say less than the words do
    cycling.answer(7, True)
    cycling.learn()
    assert list(cycling.examples) == [1, 4, 7]
    assert relevance_of(cycling, TRAINS) > before + 0.3


def test_one_yes_is_enough_where_there_are_examples():
    made = study("", BIKES, BIKES, TRAINS, SOUP, seeds=2)
    made.answer(2, True)
    made.learn()
    assert list(made.examples) == [0, 1, 2]


@pytest.mark.parametrize("is_relevant", [True, False])
def test_the_verdict_is_the_answer(cycling, is_relevant):
    cycling.verdicts()
    cycling.answer(1, is_relevant)
    assert cycling.said[1] == float(is_relevant)
    assert cycling.verdicts()[1] == float(is_relevant)


def test_a_no_unmakes_one():
    made = study("", BIKES, TRAINS, BIKES, SOUP, seeds=3)
    before = relevance_of(made, TRAINS)
    made.answer(1, False)
    made.learn()
    assert list(made.examples) == [0, 2]
    assert relevance_of(made, TRAINS) < before - 0.3


def test_a_no_counts_fully_even_on_a_host_of_relevant_seeds():
    made = ContrastJudge.fit((), learns_from_seeds=True).study()
    for text in (BIKES, f"{BIKES} {TRAINS}", SOUP, SOUP, f"{TRAINS} {BIKES}"):
        made.add(made.vector(term_counts(text)), host=1, is_seed=text == BIKES)
    made.add(made.vector(term_counts(SOUP)), host=2)
    made.learn()
    before = relevance_of(made, TRAINS)
    made.answer(1, False)
    made.learn()
    assert made._site_weights(made.relevance)[1] == 1.0
    assert relevance_of(made, TRAINS) < before


def test_what_is_taken_back_was_never_said(cycling):
    before, examples = cycling.relevance.copy(), list(cycling.examples)
    for place, answers in {1: (True, None), 0: (False, None), 2: (True, False, None), 4: (None,)}.items():
        for answer in answers:
            cycling.answer(place, answer)
            cycling.learn()
    assert list(cycling.examples) == examples
    assert cycling.relevance == pytest.approx(before)


def test_a_seed_that_is_taken_back_is_an_example_again():
    made = study("", BIKES, TRAINS, SOUP, seeds=2)
    made.answer(0, False)
    made.answer(0, None)
    made.learn()
    assert list(made.examples) == [0, 1]


def test_seeds_that_come_later_do_not_overrule_an_answer():
    """Where seeds must fit the words, each new one may change what the others are."""
    made = study("bicycle", BIKES, BIKES, SOUP, seeds=3, must_fit=True)
    made.answer(0, False)
    made.answer(2, True)
    made.add(made.vector(term_counts(BIKES)), host=9, is_seed=True)
    made.learn()
    assert list(made.examples) == [1, 2, 3]
    for _ in range(4):
        made.add(made.vector(term_counts(SOUP)), host=9, is_seed=True)
    made.answer(0, None)
    made.learn()
    assert not made.examples  # most seeds do not fit by now, and one confirmed page is not enough
    assert made.relevance[2] == 1.0


def test_given_examples_do_not_shift_places():
    judge = ContrastJudge.fit((), "bicycle")
    made = ContrastStudy(judge.study().topic)
    made.add(made.vector(term_counts(SOUP)))
    made.add(made.vector(term_counts(BIKES)))
    made.answer(0, True)
    made.learn()
    assert made.relevance[0] == 1.0
