"""The figures of paper AR's experiments: what is compared with what, and under which judges."""

from __future__ import annotations

from types import SimpleNamespace

import ar
import numpy as np
import pytest
from ar_classifiers import BY_HAND, JUDGES, MAIN, Remembering, chosen_keywords, learned, loaded
from ar_crawls import PARENT, SIMPLE, Crawl, Interest, Structure, Study
from ar_findings import against, final, judges_evidence, mean_distance
from ar_judges import summary

from lycosa.judges.classifier import Example
from lycosa.judges.formula import parse
from lycosa.judges.topic_judges import FormulaJudge
from lycosa.lib.text import term_counts
from lycosa.model import Page


def crawl(found: float, distances: tuple[int, ...] = (0, 1)) -> Crawl:
    flat = np.full(3, found)
    return Crawl(flat, flat, np.array(distances), 3, 0.5, np.zeros(3), ())


def study(interest: Interest, **found: float) -> Study:
    structure = Structure(10, 5, 0.3, 20, {}, 0.5)
    names = {"simple": SIMPLE, "parent": PARENT}
    return Study(interest, structure, near={names[name]: crawl(value) for name, value in found.items()})


A, B, C = (Interest(name, is_broad=False) for name in "abc")


def test_a_comparison_is_better_minus_worse() -> None:
    studies = [study(A, simple=0.2, parent=0.5), study(B, simple=0.4, parent=0.3)]
    found = against(studies, PARENT, SIMPLE, figure="5", says="more")
    assert found.differences.tolist() == pytest.approx([0.3, -0.1])
    assert found.means == f"share found: {PARENT} 0.400, {SIMPLE} 0.300; better in 1, worse in 1 of 2"


def test_distances_are_weighed_by_pages() -> None:
    assert mean_distance(crawl(0.5, (0, 3, 1))) == 1.25
    assert mean_distance(crawl(0.0, (0, 0))) == 0.0
    assert final(crawl(0.5)) == 0.5


@pytest.mark.parametrize(("count", "chosen"), [(5, "abcde"), (9, "abcde"), (2, "ac"), (1, "a"), (0, "")])
def test_interests_are_spread_over_the_list(count: int, chosen: str) -> None:
    items = [Interest(name, is_broad=False) for name in "abcde"]
    assert "".join(each.formula for each in ar.spread(items, count)) == chosen


class TestJudges:
    def figures(self, missing: str = "") -> ar.Figures:
        jobs, studies = [], []
        for judge in JUDGES:
            for interest in (A, B, C):
                jobs.append(SimpleNamespace(judge=judge, interest=interest))
                is_missing = judge == missing and interest is B
                value = 0.1 * list(JUDGES).index(judge)
                studies.append(None if is_missing else study(interest, simple=value, parent=0.2))
        return ar.figures_of(SimpleNamespace(name="web"), 3, jobs, studies)

    def test_all_judges_are_asked_for_the_same_interests(self) -> None:
        figures = self.figures(missing=BY_HAND)
        assert {judge: [each.interest for each in studies] for judge, studies in figures.by_judge.items()} == {
            judge: [A, C] for judge in JUDGES
        }
        assert (len(figures.studies), figures.left_out) == (3, 0)  # those of the main judge count elsewhere

    def test_one_that_the_main_judge_cannot_be_asked_for_is_left_out_everywhere(self) -> None:
        figures = self.figures(missing=MAIN)
        assert (len(figures.studies), figures.left_out) == (2, 1)
        assert {len(studies) for studies in figures.by_judge.values()} == {2}

    def test_tunnelling_is_compared_under_each(self) -> None:
        rows = list(judges_evidence([self.figures()]))
        assert [row.says.partition(":")[0] for row in rows] == list(JUDGES)
        assert [np.sign(np.round(row.differences.mean(), 9)) for row in rows] == [1, 1, 0, -1]


def test_summary() -> None:
    assert summary([]) == ""
    assert summary([0.2, 0.4]) == "0.300 ± 0.100"


class Examples(list):
    topics = ("Sport/Cycling", "Sport/Rowing")


def page(text: str) -> Page:
    return Page("", text=text, terms=term_counts(text), words=len(text.split()))


@pytest.fixture
def examples() -> Examples:
    words = {"Sport/Cycling": "bicycle saddle pedal tandem", "Sport/Rowing": "oar boat scull regatta"}
    return Examples(
        Example(page(f"{text} common words {number}"), (topic,)) for topic, text in words.items() for number in range(6)
    )


def test_keywords_are_those_of_the_name_and_those_that_tell_the_topic_apart(examples: Examples) -> None:
    chosen = chosen_keywords(examples)
    assert chosen.keys() == set(examples.topics)
    assert {*term_counts("Cycling bicycle saddle pedal tandem")} == chosen["Sport/Cycling"].keys()
    assert set(chosen["Sport/Rowing"].values()) == {1.0}


@pytest.mark.parametrize("judge", [BY_HAND, "centroids"])
def test_judges_of_either_kind_know_their_topic(judge: str, examples: Examples) -> None:
    classifier = loaded(judge, learned(judge, examples))
    memberships = classifier.memberships(page("a bicycle with a saddle and pedals"))
    scores = dict(zip(classifier.topics_, memberships, strict=True))
    assert scores["Sport/Cycling"] > scores["Sport/Rowing"]
    assert bool(classifier.words_by_hand) is (judge == BY_HAND)
    can = FormulaJudge(classifier, parse("Sport/Cycling")).abilities  # as crawls ask for it
    assert can.similarity("a bicycle with a saddle and pedals") > can.similarity("oars")


def test_each_text_is_looked_at_once() -> None:
    seen: list[str] = []

    def judging(looked: Page) -> np.ndarray:
        seen.append(looked.text)
        return np.array([len(seen)])

    inner = SimpleNamespace(name="x", topics_=("a",), words_by_hand="", memberships=judging, short_texts=None)
    classifier = Remembering(inner)
    assert [int(classifier.memberships(Page("", text=text))[0]) for text in ("one", "two", "one")] == [1, 2, 1]
    assert classifier.short_texts is None
