"""One agent of `infospiders`: its keywords, a net that scores links, and its own list of links.

The list consists of two columns, number and score, in ascending order of the numbers. The net's inputs for each link (a
number for each keyword and a constant 1, the bias) are kept separately, by link: they are seldom needed, and so need
not be moved whenever a link is added or removed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import exp
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lycosa.strategies.papers.page_words import PageWords, norm_of

SLACK = 64
"""Number of inputs below which it is not worth removing those of links that have left the list."""


@dataclass(slots=True)
class PageSeen:
    """The page that an agent is at, with the terms that it may need later."""

    terms: dict[str, int]
    norm: float

    @classmethod
    def of(cls, words: PageWords, keywords: Mapping[str, float]) -> PageSeen:
        terms = words.terms
        return cls(words.commonest | {word: terms[word] for word in keywords if word in terms}, words.norm)


@dataclass(slots=True)
class Spider:
    keywords: dict[str, float]
    """Stems with their frequencies in the topic; 1 for one that was taken from a page."""
    size: int
    """Maximum number of links on its list."""
    weights: NDArray[np.float64]
    """The net: a weight for each keyword, and the bias."""
    energy: float = 0.0
    place: PageSeen | None = None
    links: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    scores: NDArray[np.float64] = field(default_factory=lambda: np.zeros(0))
    inputs: dict[int, NDArray[np.float32]] = field(default_factory=dict)
    """By link; those of links that have left the list are kept for a while."""

    def similarity(self, terms: Mapping[str, int], norm: float) -> float:
        """Cosine between the keywords and a page (paper TC, equation 4)."""
        product = sum(weight * terms[word] for word, weight in self.keywords.items() if word in terms)
        return min(1.0, product / (norm_of(self.keywords) * norm)) if product else 0.0

    def predict(self, inputs: NDArray[np.float32]) -> NDArray[np.float64]:
        """The net's predictions for links, one per row: a sigmoid of the weighted sum."""
        with np.errstate(over="ignore"):
            predicted: NDArray[np.float64] = 1.0 / (1.0 + np.exp(-(inputs @ self.weights)))
        return predicted

    def learn(self, inputs: NDArray[np.float32], similarity: float, rate: float) -> None:
        """One step of back-propagation towards the actual similarity."""
        predicted = float(self.predict(inputs[None, :])[0])
        self.weights += rate * (similarity - predicted) * predicted * (1.0 - predicted) * inputs

    def add(self, links: NDArray[np.int64], scores: NDArray[np.float64], inputs: NDArray[np.float32]) -> None:
        """Add links to the list; of two entries for one link the better is kept, of equal ones the older."""
        if not len(links):
            return
        if np.count_nonzero(links[1:] <= links[:-1]):
            order = np.lexsort((-scores, links))
            links, scores, inputs = links[order], scores[order], inputs[order]
            is_first = np.concatenate([[True], links[1:] != links[:-1]])
            links, scores, inputs = links[is_first], scores[is_first], inputs[is_first]
        if len(self.links):
            rows = self.links.searchsorted(links)
            is_new = self.links.take(rows, mode="clip") != links
            is_chosen = is_new | (scores > self.scores.take(rows, mode="clip"))
            is_better = is_chosen & ~is_new
            self.scores[rows[is_better]] = scores[is_better]
            inputs = inputs[is_chosen]
            self._insert(rows[is_new], links[is_new], scores[is_new])
            links = links[is_chosen]
        else:
            self.links, self.scores = links.copy(), scores.copy()
        self.inputs.update(zip(links.tolist(), inputs, strict=True))
        if len(self.inputs) > 2 * len(self.links) + SLACK:
            self.inputs = {link: self.inputs[link] for link in self.links.tolist()}

    def _insert(self, rows: NDArray[np.int64], links: NDArray[np.int64], scores: NDArray[np.float64]) -> None:
        """Insert new links, each before the given row."""
        is_old = np.ones(len(self.links) + len(links), dtype=np.bool_)
        is_old[rows + np.arange(len(rows))] = False
        self.links, self.scores = _merged(self.links, links, is_old), _merged(self.scores, scores, is_old)

    def keep(self, rows: NDArray[np.bool_]) -> None:
        self.links, self.scores = self.links[rows], self.scores[rows]

    def all_inputs(self) -> NDArray[np.float32]:
        """The net's inputs, in the order of the list."""
        inputs = np.zeros((len(self.links), len(self.weights)), dtype=np.float32)
        for row, link in enumerate(self.links.tolist()):
            inputs[row] = self.inputs[link]
        return inputs

    def trim(self) -> NDArray[np.int64]:
        """Drop the worst links, of equal ones the newest, until the list is within its size; return them."""
        excess = len(self.links) - self.size
        if excess <= 0:
            return self.links[:0]
        # Only the few candidates are sorted: the links that are no better than the best one to be dropped.
        limit = np.partition(self.scores, excess - 1)[excess - 1]
        rows = (self.scores <= limit).nonzero()[0]
        worst = rows[np.lexsort((rows, -self.scores[rows]))][-excess:]
        dropped: NDArray[np.int64] = self.links[worst]
        is_kept = np.ones(len(self.links), dtype=np.bool_)
        is_kept[worst] = False
        self.keep(is_kept)
        return dropped

    def remove(self, row: int) -> None:
        for column in (self.links, self.scores):
            column[row:-1] = column[row + 1 :]
        self.links, self.scores = self.links[:-1], self.scores[:-1]

    def child(self, rng: np.random.Generator, first_weight: float) -> Spider:
        """A new agent with half of the list, one more keyword, and the same net with an input for it."""
        assert self.place is not None
        terms = self.place.terms
        word = min((term for term in terms if term not in self.keywords), key=lambda t: (-terms[t], t), default=None)
        keywords, weights = dict(self.keywords), self.weights.copy()
        if word is not None:
            keywords[word] = 1.0
            weights = np.insert(weights, -1, first_weight)
        is_childs = np.zeros(len(self.links), dtype=np.bool_)
        is_childs[rng.permutation(len(self.links))[: len(self.links) // 2]] = True
        child = Spider(keywords, self.size // 2, weights, 0.0, self.place)
        child.links, child.scores = self.links[is_childs], self.scores[is_childs]
        for link in child.links.tolist():
            seen = self.inputs[link]
            child.inputs[link] = seen if word is None else np.insert(seen, -1, 0)
        self.keep(~is_childs)
        self.size -= child.size
        self.energy = 0.0
        return child


def _merged(old: NDArray[Any], new: NDArray[Any], is_old: NDArray[np.bool_]) -> NDArray[Any]:
    """Two columns merged into one; `is_old` marks the rows of the first."""
    merged = np.empty(len(is_old), dtype=old.dtype)
    merged[is_old] = old
    merged[~is_old] = new
    return merged


def sigmoid(value: float) -> float:
    return 1.0 / (1.0 + exp(-value)) if value > -500 else 0.0
