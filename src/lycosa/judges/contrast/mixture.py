"""From scores to probabilities, whatever share of the pages is about the topic.

A score z is scaled such that pages on the topic have about 1 (the mean of the examples, each scored by the others). The
pages of a crawl are two groups, each normally distributed with the same spread:

    P(z) = π · N(z; μ₁, σ) + (1 − π) · N(z; μ₀, σ)
    logit P(topic | z) = (μ₁ − μ₀)/σ² · (z − (μ₀ + μ₁)/2) + logit π

π, the groups' means and the spread are estimated from the pages themselves (expectation maximisation), so that a crawl
in which one page of a hundred is on the topic and one in which all but one are can be told apart. They are held by an
anchor, as if so many pages had been seen before with the means and the spread that it gives. The anchor of μ₁ is a
heavy one if there are examples: otherwise near misses, of which a crawl meets many, are taken for the topic.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

SHARE_AT_FIRST, SHARE_PAGES = 0.2, 2.0
"""Of pages on the topic, and how many pages that counts as."""
LEAST_SHARE = 0.005
LEAST_GAP = 0.15
"""Minimum of μ₁ − μ₀."""
LOWEST, HIGHEST = -1.5, 3.0
"""Scores beyond count as these."""
STEPS = 200
"""At most."""
SETTLED = 1e-4
"""Change of π below which nothing more is to be found."""

Values = NDArray[np.float64]


class Anchor(NamedTuple):
    """What is expected, and how many pages each expectation counts as."""

    low: float
    high: float
    low_pages: float
    high_pages: float
    spread: float = 0.3
    spread_pages: float = 30.0


class Separation(NamedTuple):
    """logit P(topic | z) = slope · (z − middle)."""

    slope: float
    middle: float
    low: float
    high: float
    share: float
    """π."""

    def probability(self, z: NDArray[Any]) -> Values:
        odds = self.slope * (np.clip(z, LOWEST, HIGHEST) - self.middle)
        probability: Values = 1.0 / (1.0 + np.exp(-np.clip(odds, -30.0, 30.0)))
        return probability


def separate(scores: NDArray[Any], anchor: Anchor, known: Values) -> Separation:
    """Estimate the two groups. `known`: 1 or 0 for pages of which it is known whether they are about the topic, else
    NaN."""
    z = np.clip(scores.astype(np.float64), LOWEST, HIGHEST)
    is_open = np.isnan(known)
    found = _separation(anchor.low, anchor.high, anchor.spread, SHARE_AT_FIRST)
    for _ in range(STEPS):
        r = np.where(is_open, found.probability(z), known)
        inside, outside = float(r.sum()), float((1 - r).sum())
        low = (float((1 - r) @ z) + anchor.low_pages * anchor.low) / (outside + anchor.low_pages)
        high = (float(r @ z) + anchor.high_pages * anchor.high) / (inside + anchor.high_pages)
        high = max(high, low + LEAST_GAP)
        squares = float((1 - r) @ (z - low) ** 2 + r @ (z - high) ** 2)
        variance = (squares + anchor.spread_pages * anchor.spread**2) / (len(z) + anchor.spread_pages)
        share = (inside + SHARE_PAGES * SHARE_AT_FIRST) / (len(z) + SHARE_PAGES)
        before, found = found.share, _separation(low, high, float(np.sqrt(variance)), share)
        if abs(found.share - before) < SETTLED:
            break
    return found


def _separation(low: float, high: float, spread: float, share: float) -> Separation:
    share = min(max(share, LEAST_SHARE), 1 - LEAST_SHARE)
    slope = (high - low) / spread**2
    return Separation(slope, (low + high) / 2 - float(np.log(share / (1 - share))) / slope, low, high, share)
