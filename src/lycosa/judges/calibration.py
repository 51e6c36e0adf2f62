"""From scores to probabilities: of the pages that got 0.8, eight in ten should be relevant.

A classifier learns from some examples and is calibrated on others; on those it has learned from, its scores look better
than they are. There are two methods, both monotonic: neither changes the order of two scores.

- `Temperature` for scores of mutually exclusive classes: softmax(offset + β · score / length^α). One parameter, β, or
  two if a document's length matters: naive Bayes counts every word as an independent witness, which words are not, and
  its odds grow with the length of the page much faster than its knowledge does (α is between 0, length ignored, and 1,
  the mean over words).
- `Platt` for one score, yes or no: 1 / (1 + exp(−(slope · score + intercept))). A few examples are enough.
  J. Platt, "Probabilistic outputs for support vector machines" (1999), with its softened targets.

Calibration error: mean distance between predicted probabilities and observed shares, over bins of equal width.

A fitted calibration is a frozen value; `to_array` and `from_array` convert it to plain numbers and back.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

ENOUGH = 5
"""Minimum number of held-out examples for a topic to have a curve of its own, not the one common to all topics."""
LEAST_MEMBERSHIP = 1e-4
"""Added to memberships before taking the logarithm."""
_LARGEST_SCALE = 1e3
_SMALLEST_SCALE = 1e-6
_EXPONENTS = np.linspace(0.0, 1.0, 11)
_NEWTON_STEPS = 50


@dataclass(frozen=True, slots=True)
class Temperature:
    """softmax(offset + scale · score / length^exponent) over mutually exclusive classes."""

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
        """Find the scale, and with lengths the exponent, of the smallest log loss.

        scores: documents × classes; truth: the column of each document's class; offsets: added unscaled (log priors).
        For a given exponent the loss is convex in the scale, which Newton's method finds; the exponent is from a grid.
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
        """Probabilities, for the scores of one document or for documents × classes."""
        factor = self.scale / np.maximum(np.asarray(lengths, dtype=np.float64), 1.0) ** self.exponent
        scaled: NDArray[np.float64] = np.asarray(scores, dtype=np.float64) * (
            factor[:, None] if factor.ndim else factor
        )
        return softmax(scaled + np.asarray(offsets, dtype=np.float64))

    def to_array(self) -> NDArray[np.float64]:
        return np.array([self.scale, self.exponent])

    @classmethod
    def from_array(cls, numbers: NDArray[np.float64]) -> Self:
        return cls(*_two_finite(numbers))


@dataclass(frozen=True, slots=True)
class Platt:
    """1 / (1 + exp(−(slope · score + intercept)))."""

    slope: float = 1.0
    intercept: float = 0.0

    @classmethod
    def fit(cls, scores: ArrayLike, is_true: ArrayLike) -> Self:
        """Logistic regression of one variable by damped Newton steps, on targets (n₊ + 1)/(n₊ + 2) and 1/(n₋ + 2).

        The slope is never negative: a score that is useless or misleading is flattened to the base rate.
        """
        values = np.asarray(scores, dtype=np.float64)
        true = np.asarray(is_true, dtype=bool)
        if len(values) == 0:
            return cls()
        positive, negative = np.count_nonzero(true), np.count_nonzero(~true)
        target = np.where(true, (positive + 1) / (positive + 2), 1 / (negative + 2))
        base = float(np.log((positive + 1) / (negative + 1)))
        # In units of the spread, both unknowns have the same magnitude and Newton's steps are well behaved.
        centre, spread = float(values.mean()), float(values.std())
        if spread < 1e-12 * max(1.0, abs(centre)):
            return cls(0.0, base)
        columns = np.stack([(values - centre) / spread, np.ones(len(values))], axis=1)
        (slope, intercept), _ = logistic_fit(columns, target, start=(0.0, base))
        if slope <= 0:
            return cls(0.0, base)
        return cls(slope / spread, intercept - slope * centre / spread)

    def apply(self, scores: ArrayLike) -> NDArray[np.float64]:
        return sigmoid(self.slope * np.asarray(scores, dtype=np.float64) + self.intercept)

    def to_array(self) -> NDArray[np.float64]:
        return np.array([self.slope, self.intercept])

    @classmethod
    def from_array(cls, numbers: NDArray[np.float64]) -> Self:
        return cls(*_two_finite(numbers))


def expected_calibration_error(probabilities: ArrayLike, is_true: ArrayLike, bins: int = 15) -> float:
    """Σ over bins of (share of all predictions) · |predicted − observed|; 0 without predictions.

    The bins are of equal width; the last one includes certainty.
    """
    predicted = np.asarray(probabilities, dtype=np.float64).ravel()
    observed = np.asarray(is_true, dtype=np.float64).ravel()
    if predicted.shape != observed.shape:
        raise ValueError(f"{predicted.size} probabilities but {observed.size} outcomes: there must be one for each")
    place = np.clip((predicted * bins).astype(np.int64), 0, bins - 1)
    counts = np.bincount(place, minlength=bins)
    divisor = np.maximum(counts, 1)
    means = [np.bincount(place, weights=values, minlength=bins) / divisor for values in (predicted, observed)]
    return float(sum(counts * np.abs(means[0] - means[1]))) / max(predicted.size, 1)


def softmax(logits: NDArray[np.float64]) -> NDArray[np.float64]:
    """Along the last axis, without overflow."""
    raised = np.exp(logits - logits.max(axis=-1, keepdims=True))
    shares: NDArray[np.float64] = raised / raised.sum(axis=-1, keepdims=True)
    return shares


def sigmoid(logits: ArrayLike) -> NDArray[np.float64]:
    """1 / (1 + exp(−x)), computed with tanh, which does not overflow."""
    half: NDArray[np.float64] = np.tanh(0.5 * np.asarray(logits, dtype=np.float64))
    return 0.5 + 0.5 * half


def _best_scale(
    scores: NDArray[np.float64], truth: NDArray[np.int64], offsets: NDArray[np.float64]
) -> tuple[float, float]:
    """The β of the smallest mean log loss of softmax(offsets + β·scores), and that loss.

    dloss/dβ = mean(E_p[score] − score of the truth) rises with β (its own derivative is the variance of the score
    under p), so its sign tells on which side the minimum is: Newton's method within a shrinking interval.
    """
    rows = np.arange(len(truth))
    # Relative to the best class, scores of any magnitude are safe from overflow.
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
        # A step out of the interval halves it instead, logarithmically, as the scale may have any magnitude.
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
    start: Sequence[float],
    pull: float = 0.0,
) -> tuple[tuple[float, float], float]:
    """The two coefficients of the smallest cross entropy of σ(offset + columns @ coefficients), and that loss.

    columns: examples × 2. `pull` draws the coefficients towards `start`, near which a fit to few examples stays.
    Newton's method; a step that does not reduce the loss is halved.
    """
    aim, added = np.asarray(target, dtype=np.float64), np.asarray(offset, dtype=np.float64)
    begin = np.asarray(start, dtype=np.float64)
    firmness = pull / np.maximum(begin * begin, 1e-6)

    def loss(at: NDArray[np.float64]) -> float:
        logit = columns @ at + added
        error = np.logaddexp(0.0, logit) - aim * logit
        return float(error.sum() + 0.5 * (firmness * (at - begin) ** 2).sum())

    found = begin
    current = loss(found)
    for _ in range(_NEWTON_STEPS):
        share = sigmoid(columns @ found + added)
        gradient = columns.T @ (share - aim) + firmness * (found - begin)
        curvature = (share * (1 - share))[:, None]
        # A tiny addition to the diagonal: with few examples the columns may be collinear.
        step = np.linalg.solve(columns.T @ (columns * curvature) + np.diag(firmness + 1e-9), gradient)
        while (reached := loss(found - step)) > current and np.abs(step).max() > 1e-12:
            step = step / 2
        if reached > current:
            break
        found = found - step
        is_done = current - reached <= 1e-10 * abs(current)
        current = reached
        if is_done:
            break
    return (float(found[0]), float(found[1])), current


def _two_finite(numbers: NDArray[np.float64]) -> tuple[float, float]:
    if numbers.shape != (2,) or not np.isfinite(numbers).all():
        raise ValueError(f"expected 2 finite numbers, found an array of shape {numbers.shape}")
    return float(numbers[0]), float(numbers[1])
