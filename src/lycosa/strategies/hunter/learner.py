"""From features to a score: built-in weights, and their adjustment during the crawl.

Each feature is standardised over the waiting links: z = (x − mean) / spread, clipped to ±6. Hence the built-in weights
fit every web: they say how much it matters to stand out by this kind of evidence, not how large a value is.

    predicted relevance = 1 / (1 + e^(−(a + w · z)))

After `LEAST` pages a and w are fitted to y = (r + 0.3 · mean r of the visited pages it links to) / 1.3, with the z at
the time when each page was chosen: a page that led to others was worth more than its own r. It is a logistic regression
with a prior: w is b times the built-in weights, b about 0.35, and each weight may differ from that by about `freedom`.
If nearly all pages are relevant, or none, such a fit has little effect and the weights hardly change; a linear one
would follow the noise. Finally a is fitted to r alone, so that the score is a prediction that can be verified.

Features of other pages, places and citations get Σ r / (Σ r + 5) of their weight: until relevant pages are known they
only distinguish irrelevant pages, and words must lead. In crawls from words alone, with seeds two links before the
topic, the share of the way from random to oracle was .59 → .67 on wikispeedia (± .03), .83 → .86 on a generated web
(± .02; development topics); with five examples −.009 ± .006 on debian-docs, +.003 ± .004 on wikispeedia.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lycosa.lib.growing import grown, with_room
from lycosa.lib.snapshot import Tree
from lycosa.stopping.forecast_calibration import probability
from lycosa.strategies.hunter.loops import loops
from lycosa.strategies.hunter.tables import FEATURES, GROUPS, MOST_Z

Floats = NDArray[np.float32]

PRIOR = np.array([1.0, 1.0, 0.5, 0.3, 0.5, 0.5, 0.7, 0.7, 0.3, 0.4, 0.2, 0.6, 0.6, 0.2, 0.0], dtype=np.float32)
"""The built-in weights, by feature."""
BY_PAGES = np.array([group in ("pages", "places") for group in GROUPS])
"""Whether a feature is based on the relevance of other pages."""
KNOWN = 5.0
"""Number of relevant pages at which these features have half of their weight."""
LEAST = 40
WINDOW = 4_000
"""Number of latest pages that are learned from."""
LEADS_ON = 0.3
SLOPE = 0.35
"""Factor on the built-in weights, in log-odds."""
SLOPE_SPREAD = 0.15
INTERCEPT = -1.5
STEPS = 5
"""Number of steps of Newton's method, from the result of the last fit."""


class Model(NamedTuple):
    """The parameters of a score."""

    mean: Floats
    spread: Floats
    weights: Floats
    intercept: float
    diversity: float


class Learner:
    def __init__(self, freedom: float, mask: Floats, diversity: float = 0.0) -> None:
        """`mask` is 1 for each feature that is used, otherwise 0."""
        self._diversity = diversity
        self._mask = mask
        self._shipped: NDArray[np.float64] = SLOPE * PRIOR.astype(np.float64) * mask
        self._freedom = freedom
        self.weights: Floats = self._shipped.astype(np.float32)
        self.intercept = INTERCEPT
        self._trust: Floats = np.ones(len(FEATURES), dtype=np.float32)
        """Factor on the weight of each feature, in [0, 1]."""
        self._mean = np.zeros(len(FEATURES), dtype=np.float32)
        self._spread = np.ones(len(FEATURES), dtype=np.float32)
        self._seen: Floats = np.zeros((64, len(FEATURES)), dtype=np.float32)
        self._is_seen: NDArray[np.bool_] = np.zeros(64, dtype=np.bool_)
        self._count = 0

    def take(self) -> Tree:
        """`lib.snapshot.Snapshots.take`."""
        return {
            "weights": self.weights.copy(),
            "intercept": float(self.intercept),
            "trust": self._trust.copy(),
            "mean": self._mean.copy(),
            "spread": self._spread.copy(),
            "seen": self._seen[: self._count].copy(),
            "is_seen": self._is_seen[: self._count].copy(),
        }

    def load(self, saved: Tree) -> None:
        seen, is_seen = saved["seen"], saved["is_seen"]
        if seen.shape != (len(is_seen), len(FEATURES)):
            raise ValueError(f"{seen.shape} z-scores of {len(is_seen)} pages")
        self.weights, self.intercept, self._trust = saved["weights"].copy(), saved["intercept"], saved["trust"].copy()
        self._mean, self._spread = saved["mean"].copy(), saved["spread"].copy()
        self._seen, self._is_seen, self._count = with_room(seen), with_room(is_seen), len(seen)

    def measure(self, sample: Floats) -> None:
        """Determine mean and spread from the features of waiting links."""
        if len(sample):
            self._mean = sample.mean(0)
            self._spread = sample.std(0) + np.float32(1e-3)

    def z_scores(self, features: NDArray[np.floating]) -> Floats:
        z = (features - self._mean) / self._spread
        inside: Floats = np.minimum(np.maximum(z, -MOST_Z), MOST_Z) * self._mask
        return inside

    def parts(self, features: NDArray[np.floating]) -> Floats:
        """The contribution of each feature to the log-odds of the prediction."""
        return self.z_scores(features) * self.weights * self._trust

    def predict(self, features: NDArray[np.floating]) -> Floats:
        """The expected relevance, in (0, 1)."""
        scores = np.empty(len(features), dtype=np.float32)
        loops().predict(np.ascontiguousarray(features, dtype=np.float32), self.model, scores)
        return scores

    @property
    def model(self) -> Model:
        return Model(self._mean, self._spread, self.weights * self._trust, self.intercept, self._diversity)

    def add(self, z_scores: Floats | None) -> None:
        """Add a visited page, with z as of the time when it was chosen; None if no visited page cited it."""
        if self._count >= min(len(self._seen), len(self._is_seen)):
            self._seen, self._is_seen = grown(self._seen, self._count + 1), grown(self._is_seen, self._count + 1)
        if z_scores is not None:
            self._seen[self._count] = z_scores * self._mask
        self._is_seen[self._count] = z_scores is not None
        self._count += 1

    def learn(self, relevance: Floats, leads: Floats) -> None:
        """Fit the weights, given for each page r, and the mean r of the visited pages it links to."""
        known = float(relevance.sum())
        self._trust = np.where(BY_PAGES, known / (known + KNOWN), 1.0).astype(np.float32)
        first = max(0, self._count - WINDOW)
        chosen = np.flatnonzero(self._is_seen[first : self._count]) + first
        if len(chosen) < LEAST:
            return
        z = self._seen[chosen].astype(np.float64)
        r = relevance[chosen].astype(np.float64)
        if self._freedom > 0:
            self._fit(z, (r + LEADS_ON * leads[chosen]) / (1 + LEADS_ON))
        self._settle(z @ (self.weights * self._trust).astype(np.float64), r)

    def _fit(self, z: NDArray[np.float64], y: NDArray[np.float64]) -> None:
        """Set the weights to the most probable ones, given the prior."""
        shipped = self._shipped
        spread = self._freedom**2 * np.eye(len(shipped))
        spread += (SLOPE_SPREAD / SLOPE) ** 2 * np.outer(shipped, shipped)
        doubt = np.zeros((len(shipped) + 1, len(shipped) + 1))
        doubt[1:, 1:] = np.linalg.inv(spread)
        doubt[0, 0] = 0.1
        prior = np.concatenate([[INTERCEPT], shipped])
        x = np.concatenate([np.ones((len(z), 1)), z], axis=1)
        w = np.concatenate([[self.intercept], self.weights])
        for _ in range(STEPS):
            p = probability(x @ w)
            slope = x.T @ (y - p) - doubt @ (w - prior)
            curve = (x * (p * (1 - p) + 1e-4)[:, None]).T @ x + doubt
            step = np.linalg.solve(curve, slope)
            w += step / max(1.0, float(np.abs(step).max()))
        self.weights = np.clip(w[1:], 0, 3 * shipped + self._freedom).astype(np.float32) * self._mask

    def _settle(self, s: NDArray[np.float64], r: NDArray[np.float64]) -> None:
        """Fit a such that the sum of the predictions is the sum of the results."""
        a = self.intercept
        for _ in range(STEPS):
            p = probability(a + s)
            step = ((r - p).sum() - (a - INTERCEPT)) / ((p * (1 - p)).sum() + 1)
            a += float(np.clip(step, -1, 1))
        self.intercept = a
