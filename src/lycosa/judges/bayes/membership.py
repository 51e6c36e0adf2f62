"""How well a page fits each topic by itself, by the counts of naive Bayes' root: several may fit, or none.

Posteriors compare a topic with its siblings; a page that is about two of them gets half of each, and one about none of
them still has to go somewhere. A membership compares the topic with everything there is instead. A page about a topic
is taken to be written in part (λ) with the topic's die, and for the rest with the common one:

    z(c,d) = Σ_t n(d,t) · log(1 − λ + λ · θ(c,t) / p(t))
    p(t) = (n(t) + 1) / (n + |T|)                  θ(c,t) = (n(c,t) + μ·p(t)) / (n(c) + μ)

so that a word the topic never uses costs at most −log(1 − λ), and what else a page is about does not make it less a
member, while one that is typical of the topic says as much for it as it does in naive Bayes. Then

    membership = σ(prior log odds + (slope · z + shift · n(d)) / n(d)^α)

a page without known words has the topic's base rate, and evidence grows with the length, though slower (words come in
company). α is one for all; slope and shift are fitted for each topic on examples held out, and are drawn towards
the common values of all topics, which matters where a topic has few examples. Whoever belongs to a topic
belongs to those above it: an inner topic has at least the membership of the best below it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lycosa.judges.bayes.node import Node, Words
from lycosa.judges.bayes.tree import Tree
from lycosa.judges.calibration import logistic_fit, sigmoid
from lycosa.judges.classifier import parent_of

Floats = NDArray[np.float64]

_SHARE = 0.2
"""λ, and below α, slope and shift before anything was held out: chosen as docs/decisions/0005 says."""
_PRIOR_WORDS = 100.0
"""μ"""
_START = (0.8, 7.0, -0.3)
_EXPONENTS = (0.3, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
_PULL = 1.0
"""How firmly slope and shift are held near the common values: the higher, the firmer."""
_MOST_PAIRS = 300_000
"""Of document and topic, looked at for the common values."""


class Evidence(NamedTuple):
    """Of a document held out: z by topic, its length, the topics it belongs to that have other examples too."""

    scores: NDArray[np.float32]
    length: float
    members: NDArray[np.int64]
    unknown: NDArray[np.int64]
    """Topics it belongs to that have no other examples: nothing can be learned about them."""


class Memberships:
    """The memberships in all topics. Counts and features are those of the root."""

    SAVED = ("curves", "exponent")

    def __init__(self, tree: Tree) -> None:
        self._below = tree.below()
        self._exponent, slope, shift = _START
        self._curves = np.repeat([[slope], [shift]], len(tree.topics), axis=1)
        depths = np.array([topic.count("/") for topic in tree.topics])
        parents = np.array([tree.position[parent_of(topic)] - 1 for topic in tree.topics])
        self._levels: list[tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]] = []
        """From the deepest up: topics in the order of their parents, where each parent's begin, the parents."""
        for depth in range(int(depths.max()), 0, -1):
            topics = np.flatnonzero(depths == depth)
            topics = topics[np.argsort(parents[topics], kind="stable")]
            above, starts = np.unique(parents[topics], return_index=True)
            self._levels.append((topics, starts, above))

    def derive(self, root: Node) -> None:
        """What the counts say. Comes after any change of them."""
        self._root = root
        size = len(root.features)
        counts = root.counts @ self._below
        said = root.counts.sum(axis=1, dtype=np.float64)
        usual = ((said + 1.0) / (said.sum() + max(size, 1)))[:, None]
        lift = (counts / usual + _PRIOR_WORDS) / (counts.sum(axis=0, dtype=np.float64) + _PRIOR_WORDS)
        # As in `Node`: a column of ones adds up the length, a row of zeros is for unknown words.
        self._weights = np.zeros((size + 1, counts.shape[1] + 1), np.float32)
        self._weights[:-1, :-1] = np.log(1.0 - _SHARE + _SHARE * lift)
        self._weights[:-1, -1] = 1.0
        self._documents = root.documents @ self._below
        base = (self._documents + 0.5) / (root.documents.sum() + 1.0)
        self._prior = np.where(self._documents > 0, np.log(base / (1.0 - base)), -np.inf)

    def of(self, words: Words) -> Floats:
        """By topic."""
        scores = words.weights @ self._weights.take(self._root.places(words.rows), axis=0)
        length = max(float(scores[-1]), 1.0)
        slope, shift = self._curves
        found = sigmoid(self._prior + (slope * scores[:-1] + shift * scores[-1]) / length**self._exponent)
        for topics, starts, above in self._levels:
            found[above] = np.maximum(found[above], np.maximum.reduceat(found[topics], starts))
        return found

    def evidence(self, words: Words, columns: Sequence[int]) -> Evidence:
        """Of a document that is not counted at present, but belongs into these columns of the root."""
        scores = words.weights @ self._weights.take(self._root.places(words.rows), axis=0)
        members = np.flatnonzero(self._below[columns].any(axis=0))
        is_known = self._documents[members] > 0
        return Evidence(scores[:-1], float(scores[-1]), members[is_known], members[~is_known])

    def calibrate(self, trials: Sequence[Evidence]) -> None:
        """Exponent, slopes and shifts from documents held out; the counts are whole again."""
        if not trials:
            return
        scores = np.array([trial.scores for trial in trials])
        lengths = np.array([trial.length for trial in trials])
        is_member = np.zeros(scores.shape, dtype=bool)
        is_told = np.repeat(self._documents[None, :] > 0, len(trials), axis=0)
        for row, trial in enumerate(trials):
            is_member[row, trial.members] = True
            is_told[row, trial.unknown] = False
        stride = -(-scores.size // _MOST_PAIRS)
        rows, topics = is_told[::stride].nonzero()
        rows *= stride
        best = (np.inf, _START)
        for exponent in _EXPONENTS:
            columns = _columns(scores[rows, topics], lengths[rows], exponent)
            found, loss = logistic_fit(
                columns, is_member[rows, topics], offset=self._prior[topics], start=_START[1:], pull=_PULL
            )
            best = min(best, (loss, (exponent, found[0], found[1])))
        self._exponent, slope, shift = best[1]
        common = (max(slope, 0.0), shift)
        for topic in np.flatnonzero(self._documents > 0):
            told = is_told[:, topic]
            columns = _columns(scores[told, topic], lengths[told], self._exponent)
            found, _ = logistic_fit(
                columns, is_member[told, topic], offset=self._prior[topic], start=common, pull=_PULL
            )
            self._curves[:, topic] = max(found[0], 0.0), found[1]

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        return {"curves": self._curves, "exponent": np.array(self._exponent)}

    def set_arrays(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """ValueError where they do not fit."""
        curves, exponent = arrays["curves"].astype(np.float64), float(arrays["exponent"])
        if curves.shape != self._curves.shape or not np.isfinite(curves).all() or not 0 <= exponent <= 1:
            raise ValueError("the curves of the memberships do not fit the topics")
        self._curves, self._exponent = curves, exponent


def _columns(scores: NDArray[np.float32], lengths: Floats, exponent: float) -> Floats:
    """What slope and shift are multiplied with."""
    toned = np.maximum(lengths, 1.0) ** exponent
    return np.stack([scores / toned, lengths / toned], axis=1)
