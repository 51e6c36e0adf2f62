"""Is one strategy better than another, or was it luck? Paired over topics (Wilcoxon 1945), corrected (Holm 1979).

The signed-rank test assumes only that the differences are distributed symmetrically, and suits measures such as recall
that are far from normal. The differences of n topics are ranked by magnitude, equal ones get their mean rank, and W is
the sum of the ranks of the positive ones. Topics without a difference are left out (Wilcoxon's own method; Pratt ranks
them before leaving them out). For up to 25 differences p is exact: the distribution of W over all 2ⁿ signs, by dynamic
programming, also with shared ranks. For more, p is the normal approximation with corrections for ties and continuity.
All tests are two-sided.

Holm: of m p-values in ascending order the k-th is multiplied by m − k + 1, and none may be smaller than the previous
one. The probability that any of the m differences is called significant by chance then stays below the level.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lycosa.lab.evaluate.runs import Floats
from lycosa.lab.evaluate.student_t import quantile

EXACT_UP_TO = 25
DIGITS = 12
"""Differences that agree to this many digits, relative to the largest, are equal: means of repeats carry rounding."""
LEVELS = ((0.001, "***"), (0.01, "**"), (0.05, "*"))


class Wilcoxon(NamedTuple):
    positive_ranks: float
    """W, the sum of the ranks of positive differences."""
    n: int
    """Number of differences that are not zero."""
    p: float


class Pair(NamedTuple):
    """One pair of strategies by one metric."""

    first: str
    second: str
    difference: float
    """Mean of first − second over topics."""
    n: int
    p: float
    adjusted: float
    """p after Holm's correction over all pairs of the metric."""
    low: float = math.nan
    """The 95 % confidence interval of the difference, by Student's t over topics; NaN with one topic."""
    high: float = math.nan
    effect: float = 0.0
    """Matched-pairs rank-biserial correlation: 1 if the first is ahead on all topics, −1 if on none."""


def wilcoxon(differences: ArrayLike) -> Wilcoxon:
    """Two-sided signed-rank test of paired differences; p is 1 if all are zero."""
    values = np.asarray(differences, dtype=np.float64)
    if not np.isfinite(values).all():
        raise ValueError("differences must be finite numbers")
    largest = float(np.abs(values).max(initial=0.0))
    if largest > 0:
        values = np.round(values / largest, DIGITS)
    values = values[values != 0]
    if not len(values):
        return Wilcoxon(0.0, 0, 1.0)
    doubled, ties = _doubled_ranks(np.abs(values))
    positive = int(doubled[values > 0].sum())
    exact = len(values) <= EXACT_UP_TO
    p = _exact_p(doubled, positive) if exact else _normal_p(len(values), positive / 2, ties)
    return Wilcoxon(positive / 2, len(values), p)


def holm(p_values: Sequence[float]) -> list[float]:
    """The p-values adjusted for multiple tests, in the order given."""
    order = sorted(range(len(p_values)), key=lambda place: p_values[place])
    adjusted = [1.0] * len(p_values)
    floor = 0.0
    for rank, place in enumerate(order):
        floor = max(floor, min(1.0, p_values[place] * (len(p_values) - rank)))
        adjusted[place] = floor
    return adjusted


def pairwise(names: Sequence[str], values: Floats) -> list[Pair]:
    """Every pair of strategies, from `values` (topics × strategies), corrected over all pairs."""
    pairs = [(a, b) for a in range(len(names)) for b in range(a + 1, len(names))]
    differences = [np.asarray(values[:, a] - values[:, b]) for a, b in pairs]
    tests = [wilcoxon(difference) for difference in differences]
    adjusted = holm([test.p for test in tests])
    return [
        Pair(
            *(names[a], names[b], float(difference.mean()) if len(difference) else 0.0, test.n, test.p, corrected),
            *confidence(difference),
            rank_biserial(test),
        )
        for (a, b), difference, test, corrected in zip(pairs, differences, tests, adjusted, strict=True)
    ]


def confidence(differences: Floats, level: float = 0.95) -> tuple[float, float]:
    """The interval of the mean difference that holds the true one with this probability, by Student's t."""
    n = len(differences)
    if n < 2:
        return math.nan, math.nan
    mean, error = float(differences.mean()), float(differences.std(ddof=1)) / math.sqrt(n)
    reach = quantile((1 + level) / 2, n - 1) * error
    return mean - reach, mean + reach


def rank_biserial(test: Wilcoxon) -> float:
    """(W₊ − W₋) / (W₊ + W₋): the size of an effect, whatever the number of topics (Kerby 2014)."""
    total = test.n * (test.n + 1) / 2
    return (2 * test.positive_ranks - total) / total if total else 0.0


def least_p(n: int, tests: int = 1) -> float:
    """The smallest p that n differences can have, all of one sign, after Holm's correction over so many tests."""
    return min(1.0, 2.0 ** (1 - n) * tests)


def stars(p: float) -> str:
    """*** below 0.001, ** below 0.01, * below 0.05."""
    return next((mark for level, mark in LEVELS if p < level), "")


def _doubled_ranks(magnitudes: Floats) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Twice the mean rank of each value, which is an integer, and the sizes of the groups of equal values."""
    _, group, sizes = np.unique(magnitudes, return_inverse=True, return_counts=True)
    last = np.cumsum(sizes)
    doubled = 2 * last - sizes + 1
    return doubled[group.reshape(-1)], sizes


def _exact_p(doubled: NDArray[np.int64], positive: int) -> float:
    """Share of the 2ⁿ assignments of signs to ranks whose sum is at least as far from the middle."""
    total = int(doubled.sum())
    ways = np.zeros(total + 1)  # integers up to 2²⁵, which doubles hold exactly
    ways[0] = 1
    for rank in doubled.tolist():
        ways[rank:] += ways[:-rank].copy()
    smaller = min(positive, total - positive)
    return float(min(1.0, 2 * ways[: smaller + 1].sum() / ways.sum()))


def _normal_p(n: int, positive: float, ties: NDArray[np.int64]) -> float:
    mean = n * (n + 1) / 4
    variance = n * (n + 1) * (2 * n + 1) / 24 - float((ties**3 - ties).sum()) / 48
    distance = max(0.0, abs(positive - mean) - 0.5)
    return math.erfc(distance / math.sqrt(2 * variance))
