"""From features to a score: weights that ship, and what the crawl teaches about them.

Each feature is measured against the links that wait: z = (x − mean) / spread, kept within ±6. So the weights
that ship fit every web: they say how much it matters to stand out by this kind of evidence, not how large a number is.

    s = w · z,    predicted relevance = 1 / (1 + e^(−(a + b·s)))

After `LEAST` pages w is fitted by ridge regression of y = r + 0.3 · (mean r of the visited pages it links to) on the z
of the time at which each page was chosen, drawn towards the weights that ship (times the factor that suits y best):
a page that led on was worth more than its own r. a and b are fitted to r, so that the score is a prediction
that can be checked.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lycosa.frontier.hunter_links import FEATURES
from lycosa.lib.growing import grown

Floats = NDArray[np.float32]

PRIOR = np.array([1.0, 1.0, 0.5, 0.3, 0.5, 0.5, 0.7, 0.7, 0.3, 0.7, 0.3, 0.3, 0.2, 0.0], dtype=np.float32)
"""By feature."""
LEAST = 40
WINDOW = 4_000
"""Pages that are learned from: the latest."""
MOST = 6.0
LEADS_ON = 0.3
FACTOR = 0.06
TRUST = 500.0
_START = (-1.5, 0.35)


class Learner:
    """See the module."""

    def __init__(self, ridge: float, mask: Floats) -> None:
        """`mask`: by feature 1, or 0 if it is not to count."""
        self._ridge = ridge
        self._mask = mask
        self._prior = PRIOR * mask
        self.weights: Floats = self._prior.copy()
        self.intercept, self.slope = _START
        self._mean = np.zeros(len(FEATURES), dtype=np.float32)
        self._spread = np.ones(len(FEATURES), dtype=np.float32)
        self._seen: Floats = np.zeros((64, len(FEATURES)), dtype=np.float32)
        self._is_seen: NDArray[np.bool_] = np.zeros(64, dtype=np.bool_)
        self._count = 0

    def measure(self, sample: Floats) -> None:
        """Take mean and spread from features of links that wait."""
        if len(sample):
            self._mean = sample.mean(0)
            self._spread = sample.std(0) + np.float32(1e-3)

    def standing(self, features: NDArray[np.floating]) -> Floats:
        """z."""
        z: Floats = np.clip((features - self._mean) / self._spread, -MOST, MOST) * self._mask
        return z

    def parts(self, features: NDArray[np.floating]) -> Floats:
        """By feature: what it adds to the log-odds of the prediction."""
        parts: Floats = self.standing(features) * self.weights * np.float32(self.slope)
        return parts

    def predict(self, features: NDArray[np.floating]) -> Floats:
        """The relevance that is expected, in (0, 1)."""
        s = self.standing(features) @ self.weights
        return _sigmoid(self.intercept + self.slope * s)

    def add(self, features: Floats | None) -> None:
        """A page was visited; features as of the time it was chosen, None for one that nobody cited."""
        self._seen = grown(self._seen, self._count + 1)
        self._is_seen = grown(self._is_seen, self._count + 1)
        if features is not None:
            self._seen[self._count] = self.standing(features)
        self._is_seen[self._count] = features is not None
        self._count += 1

    def learn(self, relevance: Floats, leads: Floats) -> None:
        """By page: r, and the mean r of the visited pages it links to."""
        first = max(0, self._count - WINDOW)
        chosen = np.flatnonzero(self._is_seen[first : self._count]) + first
        if len(chosen) < LEAST:
            return
        z = self._seen[chosen].astype(np.float64)
        r = relevance[chosen].astype(np.float64)
        y = r + LEADS_ON * leads[chosen].astype(np.float64)
        if self._ridge > 0:
            y = y - y.mean()
            centred = z - z.mean(0)
            along = centred @ self._prior
            factor = max((along @ y + FACTOR * TRUST) / (along @ along + TRUST), FACTOR / 3)
            rest = y - factor * along
            gram = centred.T @ centred + self._ridge * np.eye(len(self._prior))
            change = np.linalg.solve(gram, centred.T @ rest)
            free = self._prior + change / factor
            self.weights = np.clip(free, 0, 3 * self._prior + 0.5).astype(np.float32)
        self._calibrate(z @ self.weights, r)

    def _calibrate(self, s: NDArray[np.float64], r: NDArray[np.float64]) -> None:
        """A few steps of Newton's method for a and b, drawn towards the values at the start."""
        a, b = self.intercept, self.slope
        for _ in range(4):
            p = 1 / (1 + np.exp(-np.clip(a + b * s, -30, 30)))
            v = p * (1 - p) + 1e-4
            g = np.array([(r - p).sum() - (a - _START[0]), ((r - p) * s).sum() - 100 * (b - _START[1])])
            h = np.array([[v.sum() + 1, (v * s).sum()], [(v * s).sum(), (v * s * s).sum() + 100]])
            step = np.linalg.solve(h, g)
            a, b = a + float(np.clip(step[0], -1, 1)), b + float(np.clip(step[1], -0.5, 0.5))
        self.intercept, self.slope = a, max(b, 0.02)


def _sigmoid(values: Floats) -> Floats:
    result: Floats = (1 / (1 + np.exp(-np.clip(values, -30.0, 15.0)))).astype(np.float32)
    return result
