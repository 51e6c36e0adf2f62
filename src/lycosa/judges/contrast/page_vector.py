"""What `contrast` keeps of a page, its most telling words as numbers, and the scale from scores to relevance."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lycosa.judges.background import background_shares
from lycosa.judges.meaning import UNKNOWN
from lycosa.lib.snapshot import Tree
from lycosa.lib.wordhash import SIZE, counted_numbers

Floats = NDArray[np.float32]
Words = NDArray[np.uint16]

MAX_COUNT = 255
BACKGROUND = 100.0
"""Weight of the table, in pages."""
COUNT_WEIGHT = np.concatenate([[0.0], 1.0 + np.log(np.arange(1, MAX_COUNT + 1))]).astype(np.float32)
"""1 + ln tf, by count."""


class PageVector(NamedTuple):
    """The most telling words of a page, with their counts up to 255."""

    words: Words
    counts: NDArray[np.uint8]


def vectors_taken(pages: Collection[PageVector]) -> Tree:
    """The vectors as part of a snapshot (`lib.snapshot`)."""
    return {
        "words": np.concatenate([np.zeros(0, np.uint16), *(page.words for page in pages)]),
        "counts": np.concatenate([np.zeros(0, np.uint8), *(page.counts for page in pages)]),
        "lengths": [len(page.words) for page in pages],
    }


def vectors_loaded(saved: Tree) -> list[PageVector]:
    ends = np.cumsum(saved["lengths"], dtype=np.int64)[:-1]
    parts = zip(np.split(saved["words"].copy(), ends), np.split(saved["counts"].copy(), ends), strict=True)
    return [PageVector(words, counts) for words, counts in parts] if saved["lengths"] else []


class Scale(NamedTuple):
    low: float
    high: float

    @property
    def width(self) -> float:
        return max(self.high - self.low, 1e-6)

    def place(self, scores: Floats) -> Floats:
        """z: 0 at `low`, 1 at `high`."""
        return (scores - self.low) / self.width

    def relevance(self, scores: Floats, steepness: float) -> Floats:
        z = self.place(scores)
        relevance: Floats = (1.0 / (1.0 + np.exp(-steepness * (np.clip(z, -9.0, 9.0) - 0.5)))).astype(np.float32)
        return relevance

    def relevance_of(self, score: float, steepness: float) -> float:
        """The same for a single page."""
        z = (score - self.low) / self.width
        return 1.0 / (1.0 + math.exp(-steepness * (min(max(z, -9.0), 9.0) - 0.5)))


class ContrastView(NamedTuple):
    """What is known at one moment, by word number."""

    idf: Floats
    weights: Floats
    scale: Scale
    steepness: float

    def relevance(self, page: PageVector, bonus: float = 0.0) -> float:
        """`bonus`: what is added to its place on the scale."""
        values = COUNT_WEIGHT[page.counts] * self.idf[page.words]
        norm = float(np.sqrt(values @ values))
        score = float(values @ self.weights[page.words]) / norm if norm else 0.0
        return self.scale.relevance_of(score + bonus * self.scale.width, self.steepness)

    @property
    def counts_meaning(self) -> bool:
        """Nothing is usual before a crawl has begun."""
        return False

    def judged(
        self,
        words: NDArray[np.int64],
        counts: NDArray[np.int64],
        meaning: float = UNKNOWN,  # noqa: ARG002 - see above
    ) -> tuple[float, Floats]:
        """The relevance, and each word's contribution to the score, for (above 0) or against (below 0) the topic."""
        values = COUNT_WEIGHT[counts] * self.idf[words]
        norm = float(np.sqrt(values @ values))
        if not norm:
            return 0.0, np.zeros(len(words), dtype=np.float32)
        parts = values * self.weights[words] / np.float32(norm)
        score = np.array([parts.sum()], dtype=np.float32)
        return float(self.scale.relevance(score, self.steepness)[0]), parts


def telling_words(terms: Mapping[str, int], most: int) -> PageVector:
    """The most telling words of a page, by count and by how specific they are in general."""
    words, counted = counted_numbers(terms)
    counts = np.minimum(counted, MAX_COUNT).astype(np.uint8)
    if len(words) > most:
        telling = COUNT_WEIGHT[counts] * idf_of_table()[words]
        kept = np.sort(np.argpartition(-telling, most)[:most])
        words, counts = words[kept], counts[kept]
    return PageVector(words, counts)


def cosine(one: PageVector, other: PageVector) -> float:
    """Cosine similarity, words weighed by the table alone."""
    return float(table_row(one) @ table_row(other))


def table_row(page: PageVector) -> Floats:
    """The page as a vector of length 1 by word number, words weighed by the table alone."""
    row = np.zeros(SIZE, dtype=np.float32)
    values = COUNT_WEIGHT[page.counts] * idf_of_table()[page.words]
    row[page.words] = values / max(float(np.sqrt(values @ values)), 1e-9)
    return row


def mean_row(pages: Iterable[PageVector]) -> Floats:
    """The mean of the pages' vectors by the table alone; zeros for no pages."""
    total, count = np.zeros(SIZE, dtype=np.float32), 0
    for page in pages:
        values = COUNT_WEIGHT[page.counts] * idf_of_table()[page.words]
        total[page.words] += values / max(float(np.sqrt(values @ values)), 1e-9)
        count += 1
    total /= np.float32(max(count, 1))
    return total


@cache
def idf_of_table() -> Floats:
    """By word number: how specific a word is by the table alone. Read-only."""
    idf: Floats = np.sqrt(np.log((BACKGROUND + 1) / (background_shares() * np.float32(BACKGROUND) + 1)))
    idf = idf.astype(np.float32)
    idf.flags.writeable = False
    return idf
