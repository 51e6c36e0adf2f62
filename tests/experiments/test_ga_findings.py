"""What the page on paper GA says: which figure a trial belongs to, which difference decides, and in which direction."""

from __future__ import annotations

import numpy as np
import pytest
from common import verdicts
from ga_crawls import BEST_FIRST, EVOLVED, PAPER, Case, Study, Trial
from ga_findings import CARRIED, Figures, by_seed_set, farthest, findings, overview, views

from lycosa.strategies.papers.current_list import CurrentListSettings

LENGTHS = (10, 20, 40)
CASES = (Case("broad", ("b",), LENGTHS), Case("narrow", ("n",), LENGTHS))
STUDY = Study("web, small", CASES, (("o",),), seeds=3, trial_seeds=(2, 8), order=CurrentListSettings())
STRATEGIES = (BEST_FIRST, PAPER, *EVOLVED)


def trial(**ahead: float) -> Trial:
    """E1 is ahead of best-first by so much in each measure; luck is the same for all strategies."""
    luck = np.linspace(0.1, 0.4, 16)[:, None] * np.ones(3)
    steps = np.linspace(0.9, 1.1, 16)[:, None]

    def values(metric: str) -> dict[str, np.ndarray]:
        lead = ahead.get(metric, 0.0) * steps
        return {name: luck + lead * (name != BEST_FIRST) for name in STRATEGIES}

    names = ("fitness", "community", "overall", "distance", "good_distance", "farthest")
    histogram = {name: np.ones(3) / 3 for name in STRATEGIES}
    measured = {name: values(name) for name in names}
    return Trial(**measured, histogram=histogram, good_histogram=histogram, good=5, pages=100)


def figures(narrow: Trial, broad: Trial, carried: Trial) -> Figures:
    others = [
        {name: np.ones(2) * (n + (name == "narrow")) for name in (BEST_FIRST, PAPER, "broad", "narrow")}
        for n in range(12)
    ]
    return Figures(STUDY, {}, {"narrow": narrow, "broad": broad}, others, carried)


@pytest.fixture
def found():
    made = figures(trial(fitness=0.2, distance=-0.3), trial(fitness=-0.2), trial(fitness=0.1, farthest=-2.0))
    return list(findings([made]))


def said(found, says: str, kind: str) -> tuple[str, str]:
    """The paper's figure, and the verdict."""
    rows = verdicts([each.evidence for each in found])
    (row,) = (row for each, row in zip(found, rows, strict=True) if each.says == says and each.case == f"web, {kind}")
    return row.split(" | ")[0].strip("| "), row.split(" | ")[2]


def test_the_paper_s_design_is_narrow_and_carried_over_to_broad():
    made = figures(trial(), trial(), trial())
    assert [view.kind for view in views([made])] == ["narrow", CARRIED, "broad"]
    carried = views([made])[1]
    assert carried.case.kind == "broad"
    assert carried.trial is made.carried


def test_each_trial_has_its_own_figures(found):
    says = "evolved beats best-first in the shortest crawls"
    assert said(found, says, "narrow") == ("3", "**holds**")
    assert said(found, says, CARRIED) == ("4", "**holds**")
    assert said(found, says, "broad") == ("–", "**the other way round**")


def test_in_the_longest_crawls_of_the_narrow_topic_best_first_is_to_be_ahead(found):
    assert said(found, "narrow topic: best-first is ahead in the longest crawls", "narrow")[1] == (
        "**the other way round**"
    )
    assert not [each for each in found if each.says == "evolved beats best-first in the longest crawls"
                and each.case == "web, narrow"]  # fmt: skip


def test_nearer_and_farther_are_read_in_the_right_direction(found):
    assert said(found, "evolved stays nearer to the seeds", "narrow") == ("10", "**holds**")
    assert said(found, "evolved stays nearer to the seeds", CARRIED) == ("9", "no difference shown")
    assert said(found, "best-first goes farther: the largest distance", CARRIED) == ("9", "**holds**")


def test_other_topics_are_paired_over_topics(found):
    (narrow,) = (each for each in found if "evolved beats best-first on other topics" in each.says
                 and each.case == "web, narrow")  # fmt: skip
    assert narrow.differences.tolist() == [1.0] * 12
    assert said(found, "evolved beats best-first on other topics", "narrow")[1] == "**holds**"
    assert said(found, "evolved beats best-first on other topics", "broad")[1] == "no difference shown"


def test_the_overview_says_the_same_in_short(found):
    rows = verdicts([each.evidence for each in found])
    lines = overview(found, rows)
    assert lines[0] == "| the paper's finding | web, narrow | web, narrow → broad | web, broad |"
    (line,) = (line for line in lines if line.startswith("| evolved beats best-first in the shortest crawls |"))
    assert line.split(" | ")[1:] == ["holds", "holds", "**reverse** |"]


def test_seed_sets_of_both_sizes_are_told_apart():
    made = figures(trial(fitness=0.2), trial(), trial())
    made.same["narrow"].fitness[EVOLVED[0]][8:] += 1.0  # from the larger sets
    row = list(by_seed_set([made]))[2]
    cells = [cell.strip() for cell in row.strip("|").split("|")]
    assert (cells[0], cells[1], cells[4]) == ("web, narrow", "2", "8")
    assert float(cells[6]) - float(cells[3]) > 1.0


def test_the_largest_distance_is_that_of_any_crawl():
    made = figures(trial(), trial(), trial())
    made.same["narrow"].farthest[BEST_FIRST][5, -1] = 14
    row = list(farthest([made]))[2]
    assert row.split("|")[2].strip() == "14"
