"""What the pages on the papers say of a finding: only what the tests say, all rows corrected together."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from common import Claim, Evidence, plan_key, verdict, verdicts

from lycosa.lab.evaluate.significance import wilcoxon
from lycosa.lab.replay.compare import ComparePlan

WORDS = ("more", "less", "neither")


def evidence(*differences: float, says: str = "it is so") -> Evidence:
    return Evidence("5", says, np.array(differences), "means", WORDS)


def word_of(row: str) -> str:
    return row.split("|")[3].strip()


def test_a_row_has_figure_claim_verdict_and_evidence() -> None:
    (row,) = verdicts([evidence(1, 2, 3, 4, 5, 6, 7, 8)])
    assert row == "| 5 | it is so | more | means, p = 0.00781 |"


@pytest.mark.parametrize(("sign", "word"), [(1, "more"), (-1, "less")])
def test_the_direction_is_said(sign: int, word: str) -> None:
    assert word_of(verdicts([evidence(*(sign * each for each in range(1, 9)))])[0]) == word


def test_the_direction_is_that_of_the_ranks() -> None:
    """One topic of eleven with a huge difference decides the mean, not the verdict."""
    differences = [*range(1, 11), -100]
    assert np.mean(differences) < 0
    found = evidence(*differences)
    test = wilcoxon(found.differences)
    assert test.positive_ranks == 55 > 66 / 2
    assert verdict(found, test, 0.01) == "more"
    assert (
        verdict(evidence(*(-each for each in differences)), wilcoxon([-each for each in differences]), 0.01) == "less"
    )


@pytest.mark.parametrize(("p", "word"), [(0.0499, "more"), (0.05, "neither"), (0.9, "neither")])
def test_nothing_is_said_without_significance(p: float, word: str) -> None:
    found = evidence(1, 2, 3)
    assert verdict(found, wilcoxon(found.differences), p) == word


def test_no_difference_at_all() -> None:
    assert word_of(verdicts([evidence(0, 0, 0)])[0]) == "neither"


def test_rows_are_corrected_together() -> None:
    """p = 0.031 counts alone, and not as one of two."""
    clear = evidence(1, 2, 3, 4, 5, 6)
    alone, together = verdicts([clear])[0], verdicts([clear, evidence(1, -1, 2, -2, says="other")])
    assert (word_of(alone), word_of(together[0])) == ("more", "neither")
    assert "p = 0.0312" in alone
    assert "p = 0.0625" in together[0]
    assert "| other |" in together[1]


def comparison(values: dict[str, list[list[float]]]) -> SimpleNamespace:
    """By strategy: of each topic a curve."""
    names = list(values)
    topics = zip(*values.values(), strict=True)
    return SimpleNamespace(
        strategies=names, scores=[SimpleNamespace(curves={"recall": np.array(curves)}) for curves in topics]
    )


def test_a_claim_compares_two_strategies_at_a_page() -> None:
    compared = comparison({"a": [[0.1, 0.5], [0.2, 0.9]], "b": [[0.3, 0.1], [0.3, 0.2]]})
    at_the_end = Claim("5", "a beats b", "a", "b", "recall").against(compared)
    assert at_the_end.differences.tolist() == pytest.approx([0.4, 0.7])
    assert at_the_end.means == "recall: a 0.700, b 0.150"
    early = Claim("5", "a beats b", "a", "b", "recall", at=0).against(compared)
    assert early.differences.tolist() == pytest.approx([-0.2, -0.1])
    assert early.means == "recall after 1 pages: a 0.150, b 0.300"


def test_the_key_of_a_plan_has_all_but_where_the_world_lies() -> None:
    plan = ComparePlan(world=Path("/here/w.world"), topics=("a",), strategies=("random",))
    assert plan_key(plan) == plan_key(replace(plan, world=Path("/there/w.world")))
    for changed in ({"world": Path("/here/v.world")}, {"topics": ("b",)}, {"judge": "svm"}, {"seed": 2}, {"pages": 5}):
        assert plan_key(replace(plan, **changed)) != plan_key(plan)
