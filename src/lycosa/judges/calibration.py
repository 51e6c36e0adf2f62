"""From scores to probabilities: of the pages that got 0.8, eight in ten should be relevant.

A classifier learns on some examples and is calibrated on others; on those it has learned from, its scores look better
than they are. Two ways, both monotonic, so that neither changes the order of two scores:

- `Temperature` for scores of classes that exclude each other: softmax(offset + β · score / length^α). One number β, or
  two where a document's length matters: naive Bayes counts every word as a new witness, words come in company, and so
  its odds grow with the length of the page much faster than its knowledge does (α lies between 0, length ignored, and
  1, the mean over words).
- `Platt` for one score, yes or no: 1 / (1 + exp(−(slope · score + intercept))). Works from a few examples on.
  J. Platt, "Probabilistic outputs for support vector machines" (1999), with its softened targets.

Calibration error: mean distance between what was promised and what came, over bins of equal width.

A fitted calibration is a frozen value; `to_array` and `from_array` turn it into plain numbers and back.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

_LARGEST_SCALE = 1e3
_SMALLEST_SCALE = 1e-6
_EXPONENTS = np.linspace(0.0, 1.0, 11)
_NEWTON_STEPS = 50


@dataclass(frozen=True, slots=True)
class Temperature:
    """softmax(offset + scale · score / length^exponent) over classes that exclude each other."""

    scale: float = 1.0
    exponent: float = 0.0

    @classmethod
    def fit(
        cls,
        scores: ArrayLike,
        truth: ArrayLike,
        *,
        lengths: ArrayLike | None = None,
        offsets: ArrayLike = 0.0,
    ) -> Self:
        """The scale, and with lengths the exponent, of the least log loss.

        scores: documents × classes; truth: the column of each document's class; offsets: added unscaled (log priors).
        For a given exponent the loss is convex in the scale: Newton finds it; the exponent comes from a grid.
        """
        values = np.asarray(scores, dtype=np.float64)
        columns = np.asarray(truth, dtype=np.int64)
        added = np.asarray(offsets, dtype=np.float64)
        if len(columns) == 0 or values.shape[1] < 2:
            return cls()
        if lengths is None:
            return cls(_best_scale(values, columns, added)[0])
        widths = np.maximum(np.asarray(lengths, dtype=np.float64), 1.0)[:, None]
        best = (np.inf, 1.0, 0.0)
        for exponent in _EXPONENTS:
            scale, loss = _best_scale(values / widths**exponent, columns, added)
            best = min(best, (loss, scale, float(exponent)))
        return cls(best[1], best[2])

    def apply(self, scores: ArrayLike, *, lengths: ArrayLike = 1.0, offsets: ArrayLike = 0.0) -> NDArray[np.float64]:
        """Probabilities, of one document's scores or of documents × classes."""
        factor = self.scale / np.maximum(np.asarray(lengths, dtype=np.float64), 1.0) ** self.exponent
        scaled: NDArray[np.float64] = np.asarray(scores, dtype=np.float64) * (
            factor[:, None] if factor.ndim else factor
        )
        return softmax(scaled + np.asarray(offsets, dtype=np.float64))

    def to_array(self) -> NDArray[np.float64]:
        return np.array([self.scale, self.exponent])

    @classmethod
    def from_array(cls, numbers: NDArray[np.float64]) -> Self:
        scale, exponent = _finite(numbers, 2)
        return cls(scale, exponent)


@dataclass(frozen=True, slots=True)
class Platt:
    """1 / (1 + exp(−(slope · score + intercept)))."""

    slope: float = 1.0
    intercept: float = 0.0

    @classmethod
    def fit(cls, scores: ArrayLike, is_true: ArrayLike, *, weights: ArrayLike | None = None) -> Self:
        """Logistic regression of one variable by damped Newton steps, on targets (n₊ + 1)/(n₊ + 2) and 1/(n₋ + 2).

        The slope is never negative: a score that tells nothing, or lies, is flattened to the base rate.
        """
        values = np.asarray(scores, dtype=np.float64)
        true = np.asarray(is_true, dtype=bool)
        if len(values) == 0:
            return cls()
        weight = np.ones(len(values)) if weights is None else np.asarray(weights, dtype=np.float64)
        positive, negative = float(weight[true].sum()), float(weight[~true].sum())
        target = np.where(true, (positive + 1) / (positive + 2), 1 / (negative + 2))
        base = float(np.log((positive + 1) / (negative + 1)))
        # In units of the spread, the two unknowns are of one size and the Newton steps well behaved.
        centre, spread = float(values.mean()), float(values.std())
        if spread < 1e-12 * max(1.0, abs(centre)):
            return cls(0.0, base)
        columns = np.stack([(values - centre) / spread, np.ones(len(values))], axis=1)
        (slope, intercept), _ = logistic_fit(columns, target, weights=weight, start=(0.0, base))
        if slope <= 0:
            return cls(0.0, base)
        return cls(slope / spread, intercept - slope * centre / spread)

    def apply(self, scores: ArrayLike) -> NDArray[np.float64]:
        return sigmoid(self.slope * np.asarray(scores, dtype=np.float64) + self.intercept)

    def to_array(self) -> NDArray[np.float64]:
        return np.array([self.slope, self.intercept])

    @classmethod
    def from_array(cls, numbers: NDArray[np.float64]) -> Self:
        slope, intercept = _finite(numbers, 2)
        return cls(slope, intercept)


class Bin(NamedTuple):
    """A row of a reliability table: the predictions with least ≤ probability < most (the last bin: ≤ most)."""

    least: float
    most: float
    pages: int
    promised: float
    """Mean probability; 0 in an empty bin."""
    came: float
    """Share that was true; 0 in an empty bin."""


def reliability(probabilities: ArrayLike, is_true: ArrayLike, bins: int = 15) -> list[Bin]:
    """What was promised against what came, in bins of equal width."""
    promised = np.asarray(probabilities, dtype=np.float64).ravel()
    came = np.asarray(is_true, dtype=np.float64).ravel()
    if promised.shape != came.shape:
        raise ValueError(f"{promised.size} probabilities for {came.size} truths: there must be as many")
    place = np.clip((promised * bins).astype(np.int64), 0, bins - 1)
    counts = np.bincount(place, minlength=bins)
    divisor = np.maximum(counts, 1)
    mean_promised = np.bincount(place, weights=promised, minlength=bins) / divisor
    mean_came = np.bincount(place, weights=came, minlength=bins) / divisor
    return [
        Bin(
            number / bins,
            (number + 1) / bins,
            int(counts[number]),
            float(mean_promised[number]),
            float(mean_came[number]),
        )
        for number in range(bins)
    ]


def expected_calibration_error(probabilities: ArrayLike, is_true: ArrayLike, bins: int = 15) -> float:
    """Σ over bins of (share of the predictions in it) · |promised − came|; 0 where there are no predictions."""
    table = reliability(probabilities, is_true, bins)
    total = sum(row.pages for row in table)
    return sum(row.pages * abs(row.promised - row.came) for row in table) / max(total, 1)


def softmax(logits: NDArray[np.float64]) -> NDArray[np.float64]:
    """Along the last axis; no overflow, whatever the size of the logits."""
    raised = np.exp(logits - logits.max(axis=-1, keepdims=True))
    shares: NDArray[np.float64] = raised / raised.sum(axis=-1, keepdims=True)
    return shares


def sigmoid(logits: ArrayLike) -> NDArray[np.float64]:
    """1 / (1 + exp(−x)), by way of tanh, which does not overflow."""
    half: NDArray[np.float64] = np.tanh(0.5 * np.asarray(logits, dtype=np.float64))
    return 0.5 + 0.5 * half


def _best_scale(
    scores: NDArray[np.float64], truth: NDArray[np.int64], offsets: NDArray[np.float64]
) -> tuple[float, float]:
    """The β of the least mean log loss of softmax(offsets + β·scores), and that loss.

    dloss/dβ = mean(E_p[score] − score of the truth) rises with β (its own derivative is the variance of the score
    under p), so that its sign tells on which side the minimum lies: Newton, kept inside a shrinking interval.
    """
    rows = np.arange(len(truth))
    # Relative to the best class, scores of any size stay inside the floats.
    scores = scores - scores.max(axis=1, keepdims=True)
    true_score = scores[rows, truth]
    low, high = _SMALLEST_SCALE, _LARGEST_SCALE
    scale = min(1.0, 1.0 / max(float(np.abs(scores).mean()), 1e-9))
    for _ in range(_NEWTON_STEPS):
        shares = softmax(scale * scores + offsets)
        expected = (shares * scores).sum(axis=1)
        slope = float((expected - true_score).mean())
        low, high = (scale, high) if slope < 0 else (low, scale)
        curvature = float(((shares * scores * scores).sum(axis=1) - expected * expected).mean())
        step = scale - slope / curvature if curvature > 1e-300 else -1.0
        # Outside the interval, halve it; on a logarithmic scale, as the scale may be of any size.
        previous, scale = scale, step if low < step < high else float(np.sqrt(low * high))
        if abs(scale - previous) <= 1e-6 * previous:
            break
    logits = scale * scores + offsets
    top = logits.max(axis=1)
    log_sum = top + np.log(np.exp(logits - top[:, None]).sum(axis=1))
    return scale, float((log_sum - logits[rows, truth]).mean())


def logistic_fit(
    columns: NDArray[np.float64],
    target: ArrayLike,
    *,
    offset: ArrayLike = 0.0,
    weights: ArrayLike = 1.0,
    start: Sequence[float],
    pull: float = 0.0,
) -> tuple[tuple[float, float], float]:
    """The two coefficients of the least cross entropy of σ(offset + columns @ coefficients), and that loss.

    columns: examples × 2. `pull` draws the coefficients towards where they start: a fit from few examples stays near.
    Newton; halving a step that does not help tames it.
    """
    aim, added = np.asarray(target, dtype=np.float64), np.asarray(offset, dtype=np.float64)
    weight, home = np.asarray(weights, dtype=np.float64), np.asarray(start, dtype=np.float64)
    firmness = pull / np.maximum(home * home, 1e-6)

    def loss(at: NDArray[np.float64]) -> float:
        logit = columns @ at + added
        error = weight * (np.logaddexp(0.0, logit) - aim * logit)
        return float(error.sum() + 0.5 * (firmness * (at - home) ** 2).sum())

    found = home
    current = loss(found)
    for _ in range(_NEWTON_STEPS):
        share = sigmoid(columns @ found + added)
        gradient = columns.T @ (weight * (share - aim)) + firmness * (found - home)
        bend = (weight * share * (1 - share))[:, None]
        # A hair on the diagonal: with few examples the two directions may be one.
        step = np.linalg.solve(columns.T @ (columns * bend) + np.diag(firmness + 1e-9), gradient)
        while (trial := loss(found - step)) > current and np.abs(step).max() > 1e-12:
            step = step / 2
        if trial > current:
            break
        found = found - step
        is_done = current - trial <= 1e-10 * abs(current)
        current = trial
        if is_done:
            break
    return (float(found[0]), float(found[1])), current


def _finite(numbers: NDArray[np.float64], count: int) -> tuple[float, ...]:
    if numbers.shape != (count,) or not np.isfinite(numbers).all():
        raise ValueError(f"expected {count} finite numbers, found an array of shape {numbers.shape}")
    return tuple(float(number) for number in numbers)
