"""Which words tell a topic from its siblings: counts them in one pass, and selects the best for each inner node.

Chakrabarti, Dom, Agrawal and Raghavan, "Scalable feature selection, classification and signature generation for
organizing large text databases into hierarchical topic taxonomies" (1998), section 3: the words that tell cars from
horses are not those that tell one car from another, so every inner node of the tree has its own features.

Their Fisher index, computed from sums over documents that can be added up the tree: how far the topics' mean
frequencies are apart, relative to the spread within each topic.

    F(t) = Σ_{c,c'} (μ(c,t) − μ(c',t))² / Σ_c (1/|D_c|) Σ_{d∈D_c} (x(d,t) − μ(c,t))²,     x(d,t) = n(d,t) / n(d)

Differs from the paper: the inner mean divides by |D_c| − 1, and a topic with one document counts as if its words
varied by as much as they occur. Otherwise every word of such a topic would have an infinite index.

`TopicStatistics` holds the sums for pairs (topic, term) that occur, in sorted runs that are merged as they grow: its
memory grows with the number of such pairs, not of documents. Rare terms are dropped when there are too many.
"""

from __future__ import annotations

from array import array
from collections.abc import Mapping
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Float = TypeVar("Float", np.float32, np.float64)

_FLUSH = 2_000_000
_TERM_BITS = 32
_TERM_MASK = (1 << _TERM_BITS) - 1


WEIGHT, CONTAINING, FREQUENCY, SQUARE = range(4)
"""Sums of: the term's weight, the documents that contain it, its share x of a document, and x²."""


class Pairs(NamedTuple):
    """Sums over documents by (class, term); each pair once, sorted."""

    classes: Ints
    terms: Ints
    sums: NDArray[np.float32]
    """Pairs × 4, with the columns WEIGHT, CONTAINING, FREQUENCY and SQUARE."""


def term_weights(counts: NDArray[Float], *, is_damped: bool) -> NDArray[Float]:
    """n(d,t), or log₂(1 + n(d,t)): 1 for a word that occurs once, 2 for three times, 3 for seven times."""
    return np.log2(counts + counts.dtype.type(1)) if is_damped else counts


class TopicStatistics:
    """Sums over documents for every pair of a topic and a term that occurs in it."""

    def __init__(self, *, is_damped: bool, most_terms: int) -> None:
        self.vocabulary: dict[str, int] = _Numbering()
        self._is_damped = is_damped
        self._most_terms = most_terms
        self._runs: list[tuple[Ints, NDArray[np.float32]]] = []
        self._start_buffers()

    def add(self, topic: int, terms: Mapping[str, int]) -> None:
        """Add a document. It is counted once for each topic it is added to."""
        self._terms.extend(map(self.vocabulary.__getitem__, terms.keys()))
        self._counts.extend(terms.values())
        self._topics.append(topic)
        self._sizes.append(len(terms))
        if len(self._terms) >= _FLUSH:
            self._flush()

    def finish(self) -> None:
        """Merge the sums and cut the vocabulary to its bound. Nothing may be added afterwards."""
        self._flush()
        while len(self._runs) > 1:
            self._merge()
        if len(self.vocabulary) > self._most_terms:
            self._drop_rare()

    def of_classes(self, class_of: Mapping[int, int]) -> Pairs:
        """Sums of the given topics by class; several topics may share a class."""
        if not self._runs:
            return Pairs(np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros((0, 4), np.float32))
        keys, sums = self._runs[0]
        parts: list[tuple[Ints, NDArray[np.float32]]] = []
        for topic, number in class_of.items():
            first, last = np.searchsorted(keys, [topic << _TERM_BITS, (topic + 1) << _TERM_BITS])
            parts.append(((keys[first:last] & _TERM_MASK) | (number << _TERM_BITS), sums[first:last]))
        keys, sums = _sum_up(np.concatenate([part[0] for part in parts]), np.concatenate([part[1] for part in parts]))
        return Pairs(keys >> _TERM_BITS, keys & _TERM_MASK, sums)

    def _start_buffers(self) -> None:
        self._terms, self._counts = array("q"), array("d")
        self._topics, self._sizes = array("q"), array("q")

    def _flush(self) -> None:
        if not self._topics:
            return
        sizes = np.array(self._sizes, dtype=np.int64)
        terms = np.array(self._terms, dtype=np.int64)
        counts = np.array(self._counts, dtype=np.float64)
        document = np.repeat(np.arange(len(sizes)), sizes)
        lengths = np.bincount(document, weights=counts, minlength=len(sizes))
        share = counts / np.maximum(lengths, 1.0)[document]
        weight = term_weights(counts, is_damped=self._is_damped)
        sums = np.stack([weight, np.ones(len(terms)), share, share * share], axis=1).astype(np.float32)
        keys = (np.repeat(np.array(self._topics, dtype=np.int64), sizes) << _TERM_BITS) | terms
        self._start_buffers()
        self._runs.append(_sum_up(keys, sums))
        # Only runs of similar size are merged: every pair is touched a logarithmic number of times.
        while len(self._runs) > 1 and 2 * len(self._runs[-1][0]) >= len(self._runs[-2][0]):
            self._merge()
        if len(self.vocabulary) > 2 * self._most_terms:
            self._drop_rare()

    def _merge(self) -> None:
        (keys, sums), (more_keys, more_sums) = self._runs.pop(), self._runs.pop()
        self._runs.append(_sum_up(np.concatenate([keys, more_keys]), np.concatenate([sums, more_sums])))

    def _drop_rare(self) -> None:
        """Keep the terms that most documents contain; a dropped term that occurs again is counted from 0."""
        containing = np.zeros(len(self.vocabulary))
        for keys, sums in self._runs:
            containing += np.bincount(keys & _TERM_MASK, weights=sums[:, CONTAINING], minlength=len(containing))
        kept = best(containing, self._most_terms)
        place = np.full(len(containing), -1, dtype=np.int64)
        place[kept] = np.arange(len(kept))
        new_place = place.tolist()
        numbers = {term: new_place[number] for term, number in self.vocabulary.items() if new_place[number] >= 0}
        self.vocabulary = _Numbering(numbers)
        for number, (keys, sums) in enumerate(self._runs):
            moved = place[keys & _TERM_MASK]
            stays = moved >= 0
            # The remaining terms keep their order, so the keys stay sorted.
            self._runs[number] = (((keys >> _TERM_BITS) << _TERM_BITS)[stays] | moved[stays], sums[stays])


def choose(pairs: Pairs, documents: Floats, *, count: int, size: int) -> Ints:
    """Numbers of the `count` best terms that occur, ascending. `size`: number of terms in the vocabulary."""
    scores = fisher_index(pairs, documents, size=size)
    present = np.flatnonzero(np.bincount(pairs.terms, minlength=size))
    return np.asarray(present[best(scores[present], count)], dtype=np.int64)


def fisher_index(pairs: Pairs, documents: Floats, *, size: int) -> Floats:
    """By term. `documents`: number of documents of each class."""
    held = documents[pairs.classes]
    mean = pairs.sums[:, FREQUENCY] / held
    spread = (pairs.sums[:, SQUARE] - held * mean * mean) / np.maximum(held - 1.0, 1.0)
    spread = np.where(held > 1, np.maximum(spread, 0.0), mean * mean)
    sum_of_means = np.bincount(pairs.terms, weights=mean, minlength=size)
    sum_of_squares = np.bincount(pairs.terms, weights=mean * mean, minlength=size)
    within = np.bincount(pairs.terms, weights=spread, minlength=size)
    # Σ over pairs of classes of (a − b)² = 2 (q Σ a² − (Σ a)²)
    apart = 2.0 * (np.count_nonzero(documents) * sum_of_squares - sum_of_means**2)
    # The floor only matters for a term that has exactly the same share in every document of a class.
    return np.asarray(np.maximum(apart, 0.0) / (within + 1e-12 + 1e-3 * sum_of_squares))


def best(scores: Floats, count: int) -> Ints:
    """Positions of the `count` largest scores, ascending; ties go to the first."""
    if count >= len(scores):
        return np.arange(len(scores))
    return np.sort(np.argsort(-scores, kind="stable")[:count])


class _Numbering(dict[str, int]):
    """Numbers terms from 0 as they are met."""

    __slots__ = ()

    def __missing__(self, term: str) -> int:
        number = self[term] = len(self)
        return number


def _sum_up(keys: Ints, sums: NDArray[np.float32]) -> tuple[Ints, NDArray[np.float32]]:
    """Each key once, sorted, with the sum of its rows."""
    order = np.argsort(keys, kind="stable")
    keys = keys[order]
    starts = np.flatnonzero(np.append(True, keys[1:] != keys[:-1])) if len(keys) else np.zeros(0, np.int64)
    if len(starts) == len(keys):
        return keys, sums[order]
    return keys[starts], np.add.reduceat(sums[order], starts, axis=0)
