"""The weight of each word, by examples, keywords and what the topic is not; scores and their scale (see `judge`)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lycosa.judges.background import background_shares
from lycosa.judges.contrast.page_vector import BACKGROUND, COUNT_WEIGHT, Floats, Scale
from lycosa.judges.contrast.studied_pages import Block, StudiedPages
from lycosa.lib.bounds import require_above_zero, require_at_least
from lycosa.lib.growing import grown, with_room
from lycosa.lib.snapshot import Tree
from lycosa.lib.wordhash import NO_WORD, SIZE

FOUND_PAGES = 5.0
"""Without examples: number of pages found at which what the crawl teaches about the topic gets half its weight."""
LOW_AT_FIRST = 0.2
"""μ_low as a share of μ_high while no other pages are known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ContrastSettings:
    """The constants; see `judge`."""

    words: int = 400
    """Number of words kept of a page: the most telling ones."""
    negative_pages: float = 2.0
    """Number of other pages at which what the topic is not gets half its weight."""
    keyword_weight: float = 0.3
    steepness: float = 4.0
    nearness: float = 0.15
    """Cosine of two pages on one topic, if the examples cannot tell."""

    def __post_init__(self) -> None:
        require_at_least(self, "contrast", words=1, keyword_weight=0)
        require_above_zero(self, "contrast", "negative_pages", "steepness", "nearness")


class _ExampleVector(NamedTuple):
    page: int
    words: NDArray[np.integer[Any]]
    values: Floats


class Weighing:
    """How much each word speaks for the topic, with words as specific as `idf` says."""

    def __init__(
        self,
        pages: StudiedPages,
        idf: Floats,
        *,
        examples: Sequence[int],
        keywords: NDArray[np.int64],
        settings: ContrastSettings,
    ) -> None:
        self.idf = idf
        self.weights: Floats = np.zeros(SIZE, dtype=np.float32)
        """w, by word number."""
        self._pages = pages
        self._keywords = keywords
        self._settings = settings
        self._own_part: NDArray[Any] = np.zeros(pages.count, dtype=np.float32)
        self._sum: Floats = np.zeros(SIZE, dtype=np.float32)
        self._frequency: Floats = np.zeros(SIZE, dtype=np.float32)
        self._examples: list[_ExampleVector] = []
        for number in examples:
            words, counts = pages[number]
            values = COUNT_WEIGHT[counts] * idf[words]
            example = _ExampleVector(number, words, values / (np.sqrt(values @ values) or np.float32(1)))
            self._examples.append(example)
            np.add.at(self._sum, example.words, example.values)
            np.add.at(self._frequency, example.words, 1.0)

    def weigh(self, blocks: list[Block], doubt: Floats, relevance: Floats) -> None:
        """Compute w. `doubt`: how surely each page is not about the topic."""
        weights = np.zeros(SIZE, dtype=np.float32)
        count = len(self._examples)
        if count:
            weights += self._sum / count * np.sqrt(self._frequency / (0.6 * count))
        mass, mean = _mean(blocks, doubt)
        contrast = mass / (mass + (self._settings.negative_pages if count else FOUND_PAGES))
        self._own_part = -contrast * doubt / max(mass, 1e-6)
        if not count:
            found = relevance**2 * (mass > 0)
            found_mass, mean_found = _mean(blocks, found)
            contrast *= found_mass / (found_mass + FOUND_PAGES)
            weights += contrast * mean_found
            self._own_part = contrast * (found / max(found_mass, 1e-6) - doubt / max(mass, 1e-6))
        weights -= contrast * mean
        if len(self._keywords):
            weights[self._keywords] += self._settings.keyword_weight / np.sqrt(len(self._keywords))
        weights[NO_WORD] = 0.0
        self.weights = weights

    def scores(self, blocks: list[Block]) -> Floats:
        scores = np.zeros(self._pages.count, dtype=np.float32)
        for block in blocks:
            scores[block.pages] = block.vectors.by_row(self.weights)
        return scores

    def by_others(self, scores: Floats) -> Floats:
        """Scores by the other pages alone: a page's own contribution to w would confirm what it is taken for."""
        scores = scores - self._own_part
        for example in self._examples:
            scores[example.page] += self._without_itself(example)
        return scores

    def _without_itself(self, example: _ExampleVector) -> float:
        """Change of an example's score if the weights are computed from the other examples only."""
        count = len(self._examples)
        if count < 2:
            return 0.0
        total, frequency = self._sum[example.words], self._frequency[example.words]
        own = total / count * np.sqrt(frequency / (0.6 * count))
        others = (total - example.values) / (count - 1) * np.sqrt(np.maximum(frequency - 1, 0) / (0.6 * (count - 1)))
        return float(example.values @ (others - own))

    def scale(self, scores: Floats, total_norm: float, doubt: Floats) -> Scale:
        """`scores` are those by others; `total_norm` is the sum of the norms of all pages."""
        mass = float(doubt.sum())
        low = float(scores @ doubt) / mass if mass > 0 else 0.0
        examples = [example.page for example in self._examples]
        if len(examples) > 1:
            high = float(scores[examples].mean())
        else:
            high = low + self._expected_keywords(total_norm) + self._settings.nearness * len(examples)
        if not mass:
            low = LOW_AT_FIRST * high
        return Scale(low, max(high, low + 0.01))

    def _expected_keywords(self, total_norm: float) -> float:
        """Score that keywords give a page that contains each of them four times."""
        if not len(self._keywords):
            return 0.0
        usual_norm = (total_norm + 400.0) / (self._pages.count + 10)  # as if it had begun with ten pages of norm 40
        each = COUNT_WEIGHT[4] * self.idf[self._keywords] / usual_norm
        return float(each.sum()) * self._settings.keyword_weight / float(np.sqrt(len(self._keywords)))


class TableScores:
    """Scores by examples and keywords, with words as specific as the table says.

    Independent of other pages: a page is scored once, and again only if the examples change.
    """

    def __init__(self) -> None:
        self.total_norm = 0.0
        self._examples: list[int] = []
        self._scores: Floats = np.zeros(64, dtype=np.float32)
        self._known = 0
        """Number of pages that have a score."""

    def update(self, pages: StudiedPages, weighing: Weighing, examples: list[int]) -> Floats:
        """The scores of all pages; `weighing` is by the table, and has no doubts."""
        if examples != self._examples:
            self._examples, self._known, self.total_norm = examples, 0, 0.0
        self._scores = grown(self._scores, pages.count)
        for block in pages.blocks(weighing.idf, self._known):
            self._scores[block.pages] = block.vectors.by_row(weighing.weights)
            self.total_norm += float(block.norms.sum())
        self._known = pages.count
        return self._scores[: pages.count]

    def take(self) -> Tree:
        """`lib.snapshot.Snapshots.take`."""
        return {
            "total_norm": self.total_norm,
            "examples": list(self._examples),
            "scores": self._scores[: self._known].copy(),
        }

    def load(self, saved: Tree) -> None:
        self.total_norm, self._examples = saved["total_norm"], saved["examples"]
        self._scores, self._known = with_room(saved["scores"]), len(saved["scores"])


def specific(pages: StudiedPages, doubt: Floats) -> Floats:
    """idf, by the table and by the number of pages that contain a word and are not about the topic."""
    usual = background_shares() * np.float32(BACKGROUND)
    frequency = pages.frequencies(doubt)
    present = np.flatnonzero(frequency != 0)  # numpy looks for what is true much faster than for numbers
    rest = np.log(usual + np.float32(1))
    rest[present] = np.log(frequency[present] + usual[present] + 1)
    whole = np.float32(np.log(float(doubt.sum()) + BACKGROUND + 1))
    idf: Floats = np.sqrt(np.maximum(whole - rest, np.float32(0)))
    return idf


def with_same_sum(values: Floats, factors: Floats) -> Floats:
    """The products, scaled to the sum of the values."""
    products = values * factors
    total = float(products.sum())
    return products * np.float32(float(values.sum()) / total) if total > 0 else values


def _mean(blocks: list[Block], shares: NDArray[Any]) -> tuple[float, Floats]:
    """Σ shares, and the mean of all pages weighted by them."""
    mass = float(shares.sum())
    mean = np.zeros(SIZE, dtype=np.float32)
    if mass > 0:
        for block in blocks:
            mean += block.vectors.by_column((shares[block.pages] / mass).astype(np.float32))
    return mass, mean
