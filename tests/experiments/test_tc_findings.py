"""What the page on paper TC says: what the paper claims, in which direction, and what speaks against an equality."""

from __future__ import annotations

import numpy as np
import pytest
from common import verdicts
from tc_findings import CLAIMS, EQUALITIES, MAIN, SPIDERS, among, costs, dynamic, ended, scaling
from tc_watched import smoothed

from lycosa.lab.evaluate.measure import METRICS
from lycosa.lab.evaluate.runs import Comparison, Scores

NAMES = (*MAIN, *SPIDERS[1:], "best-first-256", "shark-256")
TOPICS = 16


def comparison(**figures: dict[str, float]) -> Comparison:
    """Every metric is 0.5 and some luck of the topic, the same for all strategies, unless it is given."""
    scores = []
    for topic in range(TOPICS):
        curves = {
            metric: np.array(
                [[figures.get(metric, {}).get(name, 0.5) * (1 + 0.01 * topic)] * 200 for name in NAMES], np.float32
            )
            for metric in METRICS
        }
        nothing = np.zeros((len(NAMES), 3))
        scores.append(Scores(f"t{topic}", NAMES, curves, (), np.zeros(0), (1,), {}, nothing, nothing))
    return Comparison("", {}, NAMES, scores, 200)


def words(evidence, says: str) -> str:
    rows = verdicts(evidence)
    (row,) = (row for each, row in zip(evidence, rows, strict=True) if each.says == says)
    return row.split(" | ")[2]


def test_evolution_and_learning_hinder_recall_in_the_paper():
    hindered = comparison(recall={"infospiders": 0.3})
    found = dynamic(hindered)
    assert words(found, "evolution hinders recall") == "**holds**"
    assert words(found, "learning hinders recall") == "**holds**"
    helped = dynamic(comparison(recall={"infospiders": 0.7}))
    assert words(helped, "evolution hinders recall") == "**the other way round**"


def test_shark_is_above_breadth_first_by_similarity_alone():
    found = dynamic(comparison(recall={"shark-1": 0.7}, similarity={"shark-1": 0.7}))
    says = "by recall Shark-Search is no better than Breadth-First"
    assert words(found, says) == "**does not hold: shark-1 is ahead**"
    assert words(found, "by similarity Shark-Search beats it at a buffer of 256") == "**holds**"
    assert words(dynamic(comparison()), says) == "no difference shown, as in the paper"


@pytest.mark.parametrize(("recall", "ahead"), [(0.7, "infospiders"), (0.3, "best-first-1")])
def test_whoever_is_ahead_speaks_against_an_equality(recall, ahead):
    found = dynamic(comparison(recall={"infospiders": recall}))
    says = "InfoSpiders and Best-First are equally good at 1,000 pages"
    assert words(found, says) == f"**does not hold: {ahead} is ahead**"


def test_no_equality_has_another_way_round():
    for evidence in dynamic(comparison())[len(CLAIMS) :]:
        assert "the other way round" not in "".join(evidence.words)
    assert len(EQUALITIES) == 2


def test_buffers_are_compared_from_the_smallest_to_the_largest():
    small = comparison(recall={"infospiders": 0.6})
    large = comparison(recall={"best-first-1": 0.6}, similarity={"breadth-first": 0.9})
    middle = comparison(similarity={"breadth-first": 0.9})
    found = scaling([small, middle, large, large], (256, 512, 1024, 2048))
    assert words(found, "Best-First is not affected by the buffer") == "**does not hold: it gains**"
    assert words(found, "Shark-Search is not affected by the buffer") == "no difference shown, as in the paper"
    assert words(found, "… but its similarity rises from 256 to 512") == "**holds**"
    assert words(found, "InfoSpiders lose as the buffer grows") == "**holds: it loses**"
    two = scaling([small, large], (256, 2048))
    assert not [each for each in two if "512" in each.says]


class TestCosts:
    def test_c_are_the_strategies_shown(self):
        whole = comparison(cost={"shark-1": 3.0, "infospiders-no-learning": 90.0})
        shown = among(whole, MAIN)
        assert shown.strategies == MAIN
        assert ended(shown, "cost").mean(axis=1) == pytest.approx(np.ones(TOPICS))
        assert ended(shown, "cost")[0, MAIN.index("shark-1")] == pytest.approx(3.0 / ((3 * 0.5 + 3.0) / 4))

    def test_who_is_dearer_and_who_gives_more_for_it(self):
        cost = [comparison(cost={"shark-1": 2.0, "best-first-1": 1.0, "infospiders": 1.5, "breadth-first": 0.2})] * 2
        found = costs(cost)
        assert words(found, "Shark-Search is dearer than Best-First") == "**holds**"
        assert words(found, "Best-First is dearer than InfoSpiders") == "**the other way round**"
        assert words(found, "InfoSpiders are almost as cheap as Breadth-First") == "**does not hold: it is dearer**"
        assert words(found, "per cost InfoSpiders beat Breadth-First") == "**the other way round**"
        assert words(found, "per cost Shark-Search is last, below Best-First") == "**holds**"
        assert words(found, "evolution makes InfoSpiders cheaper") == "**the other way round**"

    def test_evolution_that_saves_time_is_seen(self):
        found = costs([comparison(cost={"infospiders": 0.2, "infospiders-no-learning": 0.1})])
        assert words(found, "evolution makes InfoSpiders cheaper") == "**holds**"
        assert words(found, "learning makes InfoSpiders dearer") == "**holds**"


def test_errors_are_averaged_over_topics_and_the_last_pages():
    errors = np.array([[1.0, 2.0, 3.0, 4.0], [3.0, 4.0, 5.0, np.nan]])
    assert smoothed(errors, 2).tolist() == pytest.approx([2.0, 2.5, 3.5, 4.0])
