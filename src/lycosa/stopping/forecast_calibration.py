"""How far predictions can be trusted: the predictions for pages compared with the results.

A strategy orders links by scores; these need not be probabilities, and even if they are, they drift. So scores are
calibrated on how pages with such scores have turned out lately (Platt 1999, on log-odds):

    P(relevant | score) = 1 / (1 + e^(−(a + b · logit(score))))

with a and b by penalised maximum likelihood over the visited pages, each weighted by e^(−age/`MEMORY`). The pages that
were visited were the best ones waiting at the time, and so are those to come: the fit covers the scores that matter,
and already includes the effect of selection (the best of many are overrated).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

BINS = 10
MEMORY = 35.0
"""Number of pages after which the weight of a page has fallen by a factor of e."""
LEAST_ODDS = 0.0015
"""Minimum distance of scores from 0 and 1."""
_PULL = (0.5, 10.0)
"""Strength of the penalties that draw a to 0 and b to 1, in pages."""
_LEAST_SLOPE = 0.05
_MOST_STEPS = 30
_SHORTEST_STEP = 1e-6


def log_odds(scores: Floats) -> Floats:
    inside = np.clip(scores, LEAST_ODDS, 1 - LEAST_ODDS)
    return np.asarray(np.log(inside / (1 - inside)))


def probability(odds: Floats) -> Floats:
    return np.asarray(1 / (1 + np.exp(-np.clip(odds, -30, 30))))


class Fit(NamedTuple):
    """The calibration of scores on the latest pages."""

    intercept: float
    slope: float
    covariance: Floats
    """Covariance of intercept and slope, from the curvature of the likelihood."""

    def draws(self, count: int, *, inflation: float, rng: np.random.Generator) -> Floats:
        """`count` × 2 parameters: first those of the fit itself, then random ones that are plausible."""
        drawn = rng.multivariate_normal([self.intercept, self.slope], self.covariance * inflation, count)
        drawn[0] = self.intercept, self.slope
        drawn[:, 1] = np.maximum(drawn[:, 1], _LEAST_SLOPE)
        return drawn


def fit(scores: Floats, relevant: Floats, weights: Floats) -> Fit:
    """Fit by Newton's method. Steps are halved until they help: if scores are far off, full steps oscillate."""
    x = np.stack([np.ones(len(scores)), log_odds(scores)])
    start, pull = np.array([0.0, 1.0]), np.array(_PULL)

    def loss(at: Floats) -> float:
        odds = at @ x
        return float(weights @ (np.logaddexp(0, odds) - relevant * odds) + pull @ (at - start) ** 2 / 2)

    def curvature(at: Floats) -> Floats:
        p = probability(at @ x)
        return np.asarray((x * (weights * p * (1 - p))) @ x.T + np.diag(pull))

    at = start
    for _ in range(_MOST_STEPS):
        gradient = x @ (weights * (probability(at @ x) - relevant)) + pull * (at - start)
        bent = curvature(at)
        step = np.linalg.solve(bent, gradient)
        room = at[1] - _LEAST_SLOPE
        if step[1] > room:  # b decreases to its minimum and stays there while a is still fitted
            step = step * (room / step[1]) if room > _SHORTEST_STEP else np.array([gradient[0] / bent[0, 0], 0.0])
        now = loss(at)
        while loss(at - step) > now and np.abs(step).max() > _SHORTEST_STEP:
            step = step / 2
        at = at - step
        if np.abs(step).max() <= _SHORTEST_STEP:
            break
    covariance: Floats = np.linalg.inv(curvature(at)).astype(np.float64)
    return Fit(float(at[0]), float(at[1]), covariance)


class PredictionBin(NamedTuple):
    """Pages with similar predictions."""

    low: float
    high: float
    pages: int
    predicted: float
    """Mean prediction."""
    found: float
    """Share of relevant pages."""


@dataclass(frozen=True, slots=True)
class Calibration:
    """How well predictions agreed with the results, page by page."""

    count: int
    """Number of pages with a prediction."""
    bins: tuple[PredictionBin, ...]
    brier: float
    """Mean of (prediction − result)²: 0 is perfect."""
    brier_of_base_rate: float
    """The same if the overall share of relevant pages were predicted for every page."""
    error: float
    """Expected calibration error: |predicted − found|, averaged over pages."""

    def as_words(self) -> str:
        """The three largest bins in a sentence, then the figures."""
        if not self.count:
            return "there are no predictions yet"
        largest = sorted(sorted(self.bins, key=lambda found: -found.pages)[:3], reverse=True)
        parts = [
            f"{each.low * 100:.0f}–{each.high * 100:.0f} %, {each.found:.0%} were ({each.pages:,})" for each in largest
        ]
        return (
            f"of the pages expected to be relevant at {'; at '.join(parts)}; off by {self.error:.1%} on average; "
            f"Brier score {self.brier:.3f}, by the base rate {self.brier_of_base_rate:.3f}"
        )


def calibration(scores: Floats, relevant: Floats) -> Calibration:
    """The calibration of predictions in [0, 1] (NaN: none) with the results 0 or 1."""
    is_known = np.isfinite(scores)
    p, y = np.clip(scores[is_known], 0, 1), relevant[is_known]
    if not len(p):
        return Calibration(0, (), 0.0, 0.0, 0.0)
    place = np.minimum((p * BINS).astype(np.int64), BINS - 1)
    counts = np.bincount(place, minlength=BINS)
    predicted, found = np.bincount(place, p, BINS), np.bincount(place, y, BINS)
    bins = tuple(
        PredictionBin(at / BINS, (at + 1) / BINS, int(n), float(predicted[at] / n), float(found[at] / n))
        for at, n in enumerate(counts)
        if n
    )
    rate = float(y.mean())
    error = sum(each.pages * abs(each.predicted - each.found) for each in bins) / len(p)
    return Calibration(len(p), bins, float(np.mean((p - y) ** 2)), rate * (1 - rate), error)
