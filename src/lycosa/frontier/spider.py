"""One of the InfoSpiders: keywords, a net that judges links, and a list of links of its own.

The list is four columns with one row a link: number, score, and what the net saw of it (`inputs`, a row for each
link with a number for each keyword and a constant 1, the bias). How it is used: `infospiders`.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from math import exp, sqrt

import numpy as np
from numpy.typing import NDArray

from lycosa.lib.text import stems
from lycosa.model import Link

KEPT_TERMS = 32
"""The most frequent terms of the page a spider is at: one of them becomes a keyword of its child."""


@dataclass(slots=True)
class Place:
    """The page a spider is at: as much of it as it may need later."""

    terms: dict[str, int]
    norm: float

    @classmethod
    def of(cls, terms: Mapping[str, int], keywords: Mapping[str, float]) -> Place:
        top = heapq.nsmallest(KEPT_TERMS, terms, key=lambda term: (-terms[term], term))
        kept = {term: terms[term] for term in (*top, *keywords) if term in terms}
        return cls(kept, norm_of(terms))


@dataclass(slots=True)
class Spider:
    keywords: dict[str, float]
    """Stems with their frequencies in the topic; one taken from a page counts 1."""
    size: int
    """How many links its list may hold."""
    weights: NDArray[np.float64]
    """The net: one for each keyword, and the bias."""
    energy: float = 0.0
    place: Place | None = None
    links: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    scores: NDArray[np.float64] = field(default_factory=lambda: np.zeros(0))
    inputs: NDArray[np.float32] = field(default_factory=lambda: np.zeros((0, 0), dtype=np.float32))

    def similarity(self, terms: Mapping[str, int], norm: float) -> float:
        """Cosine between the keywords and a page (paper TC, equation 4)."""
        product = sum(weight * terms[word] for word, weight in self.keywords.items() if word in terms)
        return min(1.0, product / (norm_of(self.keywords) * norm)) if product else 0.0

    def predict(self, inputs: NDArray[np.float32]) -> NDArray[np.float64]:
        """The net's opinion of links, one a row: a sigmoid of the weighted sum."""
        with np.errstate(over="ignore"):
            predicted: NDArray[np.float64] = 1.0 / (1.0 + np.exp(-(inputs @ self.weights)))
        return predicted

    def learn(self, inputs: NDArray[np.float32], similarity: float, rate: float) -> None:
        """One step of back-propagation towards the similarity that was found."""
        predicted = float(self.predict(inputs[None, :])[0])
        self.weights += rate * (similarity - predicted) * predicted * (1.0 - predicted) * inputs

    def add(self, links: NDArray[np.int64], scores: NDArray[np.float64], inputs: NDArray[np.float32]) -> None:
        """Put links on the list; of two entries for one link the better stays."""
        if not len(links):
            return
        if len(self.links):
            links = np.concatenate([self.links, links])
            scores = np.concatenate([self.scores, scores])
            inputs = np.concatenate([self.inputs, inputs])
        order = np.lexsort((-scores, links))
        first = np.ones(len(order), dtype=np.bool_)
        first[1:] = links[order[1:]] != links[order[:-1]]
        self.links, self.scores, self.inputs = links, scores, inputs
        self.keep(order[first])

    def keep(self, rows: NDArray[np.int64] | NDArray[np.bool_]) -> None:
        self.links, self.scores, self.inputs = self.links[rows], self.scores[rows], self.inputs[rows]

    def trim(self) -> NDArray[np.int64]:
        """Drop the worst until the list holds no more than it may; return what was dropped."""
        if len(self.links) <= self.size:
            return self.links[:0]
        order = np.lexsort((self.links, -self.scores))
        dropped = self.links[order[self.size :]]
        self.keep(np.sort(order[: self.size]))
        return dropped

    def remove(self, row: int) -> None:
        kept = np.ones(len(self.links), dtype=np.bool_)
        kept[row] = False
        self.keep(kept)

    def child(self, rng: np.random.Generator, first_weight: float) -> Spider:
        """Half of the list, one keyword more, and the same net with an input for it."""
        assert self.place is not None
        terms = self.place.terms
        word = min((term for term in terms if term not in self.keywords), key=lambda t: (-terms[t], t), default=None)
        keywords, weights, inputs = dict(self.keywords), self.weights.copy(), self.inputs
        if word is not None:
            keywords[word] = 1.0
            weights = np.insert(weights, -1, first_weight)
            inputs = np.insert(inputs, inputs.shape[1] - 1, 0, axis=1) if len(inputs) else inputs
        is_childs = np.zeros(len(self.links), dtype=np.bool_)
        is_childs[rng.permutation(len(self.links))[: len(self.links) // 2]] = True
        child = Spider(keywords, self.size // 2, weights, 0.0, self.place)
        child.links, child.scores, child.inputs = self.links[is_childs], self.scores[is_childs], inputs[is_childs]
        self.keep(~is_childs)
        self.size -= child.size
        self.energy = 0.0
        return child


def evidence(
    links: Sequence[Link], keywords: Mapping[str, float], stems: Callable[[str], Sequence[str]] = stems
) -> NDArray[np.float32]:
    """What the net sees of each link: for each keyword Σ 1/distance of its occurrences, and a constant 1.

    In the anchor the distance is 1; k words before or behind it, 1 + k.
    """
    column = {word: number for number, word in enumerate(keywords)}
    seen = np.zeros((len(links), len(column) + 1), dtype=np.float32)
    seen[:, -1] = 1.0
    known = column.keys()
    for row, link in enumerate(links):
        words = stems(link.context or link.anchor)
        if known.isdisjoint(words):
            continue
        before, inside = _anchor_span(link, stems)
        for at, word in enumerate(words):
            if word in column:
                distance = 1 + max(before - at, at - (before + inside - 1), 0)
                seen[row, column[word]] += 1.0 / distance
    return seen


def _anchor_span(link: Link, stems: Callable[[str], Sequence[str]]) -> tuple[int, int]:
    """How many of the context's words stand before the anchor, and how many are the anchor."""
    anchor, context = link.anchor, link.context
    if not context:
        return 0, len(stems(anchor))
    # The same words may stand elsewhere in the context too: the anchor is the one nearest to the middle.
    middle = max(0, (len(context) - len(anchor)) // 2)
    after, earlier = context.find(anchor, middle), context.rfind(anchor, 0, middle + len(anchor))
    found = [at for at in (after, earlier) if at >= 0]
    if not found:
        return len(stems(context[:middle])), 1
    at = min(found, key=lambda place: abs(place - middle))
    return len(stems(context[:at])), len(stems(anchor))


def norm_of(terms: Mapping[str, float]) -> float:
    return sqrt(sum(count * count for count in terms.values()))


def sigmoid(value: float) -> float:
    return 1.0 / (1.0 + exp(-value)) if value > -500 else 0.0
