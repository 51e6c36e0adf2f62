"""One inner topic of hierarchical naive Bayes: its features, its counts, and which child a page belongs to.

    log Pr[d|c] = Σ_t n(d,t) · log θ(c,t)        θ(c,t) = (s + n(c,t)) / (s·|T| + n(c))

for each column c; there is one for each topic at or below the node (`tree.Fork`). `bayes` explains the formulas.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lycosa.judges.bayes.tree import Fork
from lycosa.judges.calibration import Temperature, softmax

Floats = NDArray[np.float64]


class KnownWords(NamedTuple):
    """The words of a page that some node knows."""

    rows: NDArray[np.int64]
    """Rows of the shared vocabulary, ascending."""
    weights: NDArray[np.float32]
    """n(d,t), perhaps damped (`features.term_weights`)."""


class Node:
    """A choice between the children of an inner topic and, as the last group, the topic's own examples."""

    SAVED = ("features", "counts", "documents", "temperature")

    features: NDArray[np.int64]
    """Rows of the shared vocabulary, ascending."""
    counts: NDArray[np.float32]
    """n(c,t): features × columns."""
    documents: Floats
    """By column."""
    prior: Floats
    """By group."""

    def __init__(self, fork: Fork) -> None:
        self.fork = fork
        self.temperature = Temperature()
        # Columns ordered by group, and where each group begins: every group has a column.
        self._order = np.argsort(fork.groups, kind="stable")
        self._starts = np.searchsorted(fork.groups[self._order], np.arange(len(fork.children) + 1))

    def derive(self, smoothing: float) -> None:
        """Compute θ and the priors from the counts."""
        size, columns = self.counts.shape
        self._totals = self.counts.sum(axis=0, dtype=np.float64)
        ground = smoothing * max(size, 1)
        # The additional column of ones sums up the length; the additional row of zeros is for unknown words.
        self._weights = np.zeros((size + 1, columns + 1), dtype=np.float32)
        self._weights[:-1, :columns] = np.log(self.counts + smoothing) - np.log(self._totals + ground)
        self._weights[:-1, columns] = 1.0
        # The root's features are the first rows of the vocabulary: they need not be searched for.
        self._is_head = bool(size) and int(self.features[-1]) == size - 1
        share = np.where(self.documents > 0, self.documents + 1, 0.0)
        share /= max(share.sum(), 1.0)
        self.prior = self._by_group(share)
        with np.errstate(divide="ignore"):
            self._log_prior = np.log(share)
        self._is_open = int(np.count_nonzero(self.prior)) > 1

    def count(self, words: KnownWords, column: int, sign: int) -> None:
        """Add (`sign` 1) or remove (−1) a document. Takes effect with `derive`."""
        places = self.places(words.rows)
        known = places < len(self.features)
        changed = self.counts[places[known], column] + sign * words.weights[known]
        # Sums of damped counts are not whole numbers: removing may leave slightly less than 0.
        self.counts[places[known], column] = np.maximum(changed, 0.0)
        self.documents[column] += sign

    def scores(self, words: KnownWords) -> Floats:
        """Σ n(d,t)·log θ(c,t) by column, followed by Σ n(d,t) over the words that are features."""
        return (words.weights @ self._weights.take(self.places(words.rows), axis=0)).astype(np.float64)

    def logits(self, scores: Floats) -> Floats:
        """By column, before the temperature is applied; for the scores of one document or many."""
        return scores[..., :-1] + self._log_prior

    def posteriors(self, words: KnownWords) -> Floats:
        """By group."""
        if not self._is_open:
            return self.prior
        scores = self.scores(words)
        return self._by_group(softmax(self.logits(scores) * self._factor(scores[-1])))

    def shares_of(self, words: KnownWords, group: int, smoothing: float) -> Floats:
        """How much each word speaks for a group against the node as a whole, with the temperature applied."""
        places = self.places(words.rows)
        known = np.flatnonzero(places < len(self.features))
        columns = np.flatnonzero(self.fork.groups == group)
        counts, ground = self.counts[places[known]], smoothing * len(self.features)
        inside = (counts[:, columns].sum(axis=1, dtype=np.float64) + smoothing) / (self._totals[columns].sum() + ground)
        whole = (counts.sum(axis=1, dtype=np.float64) + smoothing) / (self._totals.sum() + ground)
        weights = words.weights[known]
        shares = np.zeros(len(words.rows))
        shares[known] = weights * np.log(inside / whole) * self._factor(float(weights.sum()))
        return shares

    def places(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """Positions of vocabulary rows among the features; one past the last for those that are not features."""
        size = len(self.features)
        if self._is_head or not size:
            return np.minimum(rows, size)
        places = np.searchsorted(self.features, rows)
        places[self.features.take(places, mode="clip") != rows] = size
        return places

    def _by_group(self, by_column: Floats) -> Floats:
        shares: Floats = np.add.reduceat(by_column[self._order], self._starts)
        return shares

    def _factor(self, length: float) -> float:
        """At most 1: words are not independent, so a page is weaker evidence than naive Bayes assumes."""
        if not length:
            return 1.0
        return float(min(1.0, self.temperature.scale / max(length, 1.0) ** self.temperature.exponent))

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        counted: dict[str, NDArray[Any]] = {"counts": self.counts, "documents": self.documents}
        return {"features": self.features, **counted, "temperature": self.temperature.to_array()}

    def set_arrays(self, arrays: Mapping[str, NDArray[Any]], terms: int) -> None:
        """ValueError if they are inconsistent."""
        self.features, self.counts = arrays["features"].astype(np.int64), arrays["counts"].astype(np.float32)
        self.documents = arrays["documents"].astype(np.float64)
        self.temperature = Temperature.from_array(arrays["temperature"])
        columns = len(self.fork.ends)
        shapes = (self.features.ndim, self.counts.shape, self.documents.shape)
        if shapes != (1, (len(self.features), columns), (columns,)):
            raise ValueError(f"the arrays of node {self.fork.position} do not fit its {columns} columns")
        rows = self.features
        if len(rows) and (rows[0] < 0 or rows[-1] >= terms or (np.diff(rows) <= 0).any()):
            raise ValueError(f"the features of node {self.fork.position} are not ascending rows of the vocabulary")
        if not all(np.isfinite(array).all() and (array >= 0).all() for array in (self.counts, self.documents)):
            raise ValueError(f"the counts of node {self.fork.position} must be finite and not negative")
