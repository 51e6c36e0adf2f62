"""How well a page fits each topic by itself, by the counts of naive Bayes' root: several may fit, or none.

Posteriors compare a topic with its siblings: a page about two of them gets half of each, and one about none of them
still has to go somewhere. A membership compares the topic with everything else instead. A page about a topic is
modelled as written in part (λ) with the topic's die, and for the rest with the common one:

    z(c,d) = Σ_t n(d,t) · log(1 − λ + λ · θ(c,t) / p(t))
    p(t) = (n(t) + 1) / (n + |T|)                  θ(c,t) = (n(c,t) + μ·p(t)) / (n(c) + μ)

A word the topic never uses then costs at most −log(1 − λ), and a page is no less a member for what else it is about,
while a word typical of the topic counts as much for it as in naive Bayes. Then

    membership = σ(prior log odds + (slope · z + shift · n(d)) / n(d)^α)

A page without known words has the topic's base rate. Evidence grows with the length, but more slowly, as words are not
independent. α is the same for all topics; slope and shift are fitted for each topic to held-out examples, and pulled
towards values common to all topics, which matters if a topic has few examples. A member of a topic is a member of those
above it: an inner topic has at least the membership of the best topic below it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lycosa.judges.bayes.node import KnownWords, Node
from lycosa.judges.bayes.tree import Tree
from lycosa.judges.calibration import logistic_fit, sigmoid
from lycosa.judges.classifier import parent_of

Floats = NDArray[np.float64]

_SHARE = 0.2
"""λ; chosen, like α, slope and shift before calibration (`_START`), as docs/decisions/0005 says."""
_PRIOR_WORDS = 100.0
"""μ"""
_START = (0.8, 7.0, -0.3)
_EXPONENTS = (0.3, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
_PULL = 1.0
"""How strongly slope and shift are pulled towards the common values."""
_MAX_PAIRS = 300_000
"""Maximum number of pairs of a document and a topic used to fit the common values."""


class MembershipEvidence(NamedTuple):
    """A held-out document: z by topic, its length, and the topics it belongs to that have other examples too."""

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
        """From the deepest up: topics ordered by parent, where the children of each parent begin, the parents."""
        for depth in range(int(depths.max()), 0, -1):
            topics = np.flatnonzero(depths == depth)
            topics = topics[np.argsort(parents[topics], kind="stable")]
            above, starts = np.unique(parents[topics], return_index=True)
            self._levels.append((topics, starts, above))

    def derive(self, root: Node) -> None:
        """Recompute the weights; to be called after any change of the counts."""
        self._root = root
        size = len(root.features)
        counts = root.counts @ self._below
        by_word = root.counts.sum(axis=1, dtype=np.float64)
        usual = ((by_word + 1.0) / (by_word.sum() + max(size, 1)))[:, None]
        lift = (counts / usual + _PRIOR_WORDS) / (counts.sum(axis=0, dtype=np.float64) + _PRIOR_WORDS)
        # As in `Node`: the column of ones sums up the length, the row of zeros is for unknown words.
        self._weights = np.zeros((size + 1, counts.shape[1] + 1), np.float32)
        self._weights[:-1, :-1] = np.log(1.0 - _SHARE + _SHARE * lift)
        self._weights[:-1, -1] = 1.0
        self._documents = root.documents @ self._below
        base = (self._documents + 0.5) / (root.documents.sum() + 1.0)
        self._prior = np.where(self._documents > 0, np.log(base / (1.0 - base)), -np.inf)

    def of(self, words: KnownWords) -> Floats:
        scores = words.weights @ self._weights.take(self._root.places(words.rows), axis=0)
        length = max(float(scores[-1]), 1.0)
        slope, shift = self._curves
        found = sigmoid(self._prior + (slope * scores[:-1] + shift * scores[-1]) / length**self._exponent)
        for topics, starts, above in self._levels:
            found[above] = np.maximum(found[above], np.maximum.reduceat(found[topics], starts))
        return found

    def evidence(self, words: KnownWords, columns: Sequence[int]) -> MembershipEvidence:
        """Evidence from a document that is not counted at present but belongs in these columns of the root."""
        scores = words.weights @ self._weights.take(self._root.places(words.rows), axis=0)
        members = np.flatnonzero(self._below[columns].any(axis=0))
        is_known = self._documents[members] > 0
        return MembershipEvidence(scores[:-1], float(scores[-1]), members[is_known], members[~is_known])

    def calibrate(self, held_out: Sequence[MembershipEvidence]) -> None:
        """Fit exponent, slopes and shifts to held-out documents, which must be counted again by now."""
        if not held_out:
            return
        scores = np.array([document.scores for document in held_out])
        lengths = np.array([document.length for document in held_out])
        is_member = np.zeros(scores.shape, dtype=bool)
        is_usable = np.repeat(self._documents[None, :] > 0, len(held_out), axis=0)
        for row, document in enumerate(held_out):
            is_member[row, document.members] = True
            is_usable[row, document.unknown] = False
        stride = -(-scores.size // _MAX_PAIRS)
        rows, topics = is_usable[::stride].nonzero()
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
            usable = is_usable[:, topic]
            columns = _columns(scores[usable, topic], lengths[usable], self._exponent)
            found, _ = logistic_fit(
                columns, is_member[usable, topic], offset=self._prior[topic], start=common, pull=_PULL
            )
            self._curves[:, topic] = max(found[0], 0.0), found[1]

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        return {"curves": self._curves, "exponent": np.array(self._exponent)}

    def set_arrays(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """ValueError if they do not fit the topics."""
        curves, exponent = arrays["curves"].astype(np.float64), float(arrays["exponent"])
        if curves.shape != self._curves.shape or not np.isfinite(curves).all() or not 0 <= exponent <= 1:
            raise ValueError("the curves of the memberships do not fit the topics")
        self._curves, self._exponent = curves, exponent


def _columns(scores: NDArray[np.float32], lengths: Floats, exponent: float) -> Floats:
    """The factors of slope and shift."""
    divisor = np.maximum(lengths, 1.0) ** exponent
    return np.stack([scores / divisor, lengths / divisor], axis=1)
