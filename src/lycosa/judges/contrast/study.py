"""What is learned of a topic in a crawl, page by page: the formulas of `contrast`, worked out anew as often as asked.

A page costs a kilobyte; learning from n pages takes time in proportion to n.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from lycosa.judges.background import background_shares
from lycosa.judges.contrast.fitting_seeds import FittingSeeds
from lycosa.judges.contrast.page_vector import (
    BACKGROUND,
    COUNT_WEIGHT,
    ContrastView,
    Floats,
    PageVector,
    Scale,
    Words,
    telling_words,
)
from lycosa.lib.bounds import require_above_zero, require_at_least
from lycosa.lib.growing import grown
from lycosa.lib.wordhash import NO_WORD, SIZE, numbers_of

if TYPE_CHECKING:
    from lycosa.judges.contrast.judge import ContrastJudge

LEAST_OF_EXAMPLES = 0.9
RELEVANT = 0.5
FOUND_PAGES = 5.0
"""Where there are no examples, with so many pages found what the topic is, and is not, counts half."""
LOW_AT_FIRST = 0.2
"""μ_low as a share of μ_high where no other page is known."""
OF_THE_SITE = 0.1
"""A page of a host that has relevant seeds counts so much as another page. A site is often about one thing as a whole,
and then pages of it that say it in other words would drown the topic: debian-docs .85 → .94 of the way from random to
oracle (development topics; 10 crawls better, 1 worse). Generated webs do not change; on wikispeedia, if its pages are
dealt out to hosts at random, −.007 to −.011 (± .006)."""
_BLOCK = 4096
"""Pages that are looked at together."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ContrastSettings:
    """The constants; see the module."""

    words: int = 400
    """Of a page: those that tell most."""
    background: float = BACKGROUND
    """The table counts as much as so many pages."""
    negative_pages: float = 2.0
    """With so many other pages, what the topic is not counts half."""
    keyword_weight: float = 0.3
    steepness: float = 4.0
    nearness: float = 0.15
    """The cosine of two pages of one topic, where examples do not tell."""

    def __post_init__(self) -> None:
        require_at_least(self, "contrast", words=1, background=0, keyword_weight=0)
        require_above_zero(self, "contrast", "negative_pages", "steepness", "nearness")


@dataclass(frozen=True, slots=True, kw_only=True)
class ContrastTopic:
    """What a person gave."""

    keywords: Mapping[str, int] = field(default_factory=dict)
    """Stems."""
    examples: tuple[PageVector, ...] = ()
    """Pages of the topic."""
    negatives: tuple[PageVector, ...] = ()
    """Pages of other topics."""
    learns_from_seeds: bool = False
    """The seeds of a crawl are examples, too, if they have any text."""
    seeds_must_fit: bool = False
    """Those that fit what is said here, and those that resemble one that does, if half of them fit. Others are only
    places to start from."""


class _Block(NamedTuple):
    """Pages that are looked at together."""

    pages: slice
    vectors: Any
    """Pages × words, each of length 1: a sparse array."""
    norms: Floats
    """What the vectors were divided by."""


class _Row(NamedTuple):
    """An example's vector."""

    page: int
    words: NDArray[np.integer[Any]]
    values: Floats


class _ByTable(NamedTuple):
    """The first scores of pages."""

    examples: list[int]
    """Pages whose words they follow from."""
    scores: Floats
    known: int
    """Pages that have one."""
    total_norm: float


class ContrastStudy:
    """What is learned of a topic, page by page."""

    def __init__(self, topic: ContrastTopic, settings: ContrastSettings | None = None) -> None:
        self.settings = settings or ContrastSettings()
        self.topic = topic
        self.vector = partial(telling_words, most=self.settings.words)
        """From the terms of a page to the words to keep of it."""
        self.weights: Floats = np.zeros(SIZE, dtype=np.float32)
        """By word number: w."""
        self._keyword_numbers = np.array(sorted(set(numbers_of(topic.keywords))), dtype=np.int64)
        self._usual = background_shares() * np.float32(self.settings.background)
        self._table_idf: Floats = np.sqrt(np.log((self.settings.background + 1) / (self._usual + 1))).astype(np.float32)
        self._log_usual: Floats = np.log(self._usual + np.float32(1))
        self._idf: Floats = self._table_idf
        """By word number: how special a word is, in the table and in pages that are not about the topic."""
        self._words: Words = np.zeros(1 << 12, dtype=np.uint16)
        self._counts: NDArray[np.uint8] = np.zeros(1 << 12, dtype=np.uint8)
        self._starts: NDArray[np.int64] = np.zeros(64, dtype=np.int64)
        self._relevance: Floats = np.zeros(64, dtype=np.float32)
        self._is_example: NDArray[np.bool_] = np.zeros(64, dtype=np.bool_)
        self._hosts: NDArray[np.int64] = np.zeros(64, dtype=np.int64)
        """Of the crawl's pages, by any number; 0: not known."""
        self._seeds: list[int] = []
        """Pages that are."""
        self._pages = 0
        self._scale = Scale(0.0, 1.0)
        self._rows: list[_Row] = []
        self._by_table = _ByTable([], np.zeros(64, dtype=np.float32), 0, 0.0)
        for page in topic.examples:
            self._add(page, is_example=True)
        for page in topic.negatives:
            self._add(page, is_example=False)
        self._given = self._pages
        """Pages that are not of the crawl."""
        self._fitting = FittingSeeds()
        self.learn()
        self._said = ContrastView(self._idf, self.weights.copy(), self._scale)
        """What was known before the crawl."""

    # ── what comes in ─────────────────────────────────────────────────────────────────────────────────────

    def add(
        self,
        page: tuple[Words, NDArray[np.uint8]],
        *,
        host: int = 0,
        is_seed: bool = False,
        relevance: float = 0.0,  # noqa: ARG002 - it has a view of its own
    ) -> float:
        """One page of the crawl more; what it is worth as things stand."""
        vector, number = PageVector(*page), self._pages
        is_example = is_seed and self.topic.learns_from_seeds and len(vector.words) > 0
        if is_seed:
            self._seeds.append(number)
        if is_example and self.topic.seeds_must_fit:
            self._fitting.add(number, vector, relevance=self._said.relevance(vector, self.settings.steepness))
            akin = self._fitting.akin
            is_example = self._fitting.are_examples and number in akin
            self._is_example[[other for other in akin if other < number]] = self._fitting.are_examples
        return self._add(vector, is_example=is_example, host=host)

    def _add(self, page: PageVector, *, is_example: bool, host: int = 0) -> float:
        words, counts = page
        if not len(words):  # every page has a row of one word or more
            words, counts = np.array([NO_WORD], dtype=np.uint16), np.zeros(1, dtype=np.uint8)
        start, number = int(self._starts[self._pages]), self._pages
        end = start + len(words)
        if end > len(self._words):
            self._words, self._counts = grown(self._words, end), grown(self._counts, end)
        if number + 1 >= len(self._starts):
            self._starts = grown(self._starts, number + 2)
            self._relevance = grown(self._relevance, len(self._starts))
            self._is_example = grown(self._is_example, len(self._starts))
            self._hosts = grown(self._hosts, len(self._starts))
        self._words[start:end], self._counts[start:end] = words, counts
        self._starts[number + 1] = end
        self._is_example[number], self._hosts[number] = is_example, host
        self._pages += 1
        relevance = self.judge_vector(page)
        self._relevance[number] = max(relevance, LEAST_OF_EXAMPLES) if is_example else relevance
        return float(self._relevance[number])

    # ── what is known ─────────────────────────────────────────────────────────────────────────────────────

    @property
    def relevance(self) -> Floats:
        """Of each page of the crawl, in the order in which they came. Not to be written."""
        return self._relevance[self._given : self._pages]

    @property
    def idf_of_table(self) -> Floats:
        """By word number: how special a word is by the table alone."""
        return self._table_idf

    @property
    def examples(self) -> dict[int, PageVector]:
        """The pages of the crawl it learns from at this moment, by their place in it, from 0."""
        found = {}
        for page in np.flatnonzero(self._is_example[self._given : self._pages]).tolist():
            span = slice(*self._starts[self._given + page : self._given + page + 2].tolist())
            found[page] = PageVector(self._words[span], self._counts[span])
        return found

    def judge_vector(self, page: tuple[Words, NDArray[np.uint8]]) -> float:
        words, counts = page
        return ContrastView(self._idf, self.weights, self._scale).relevance(
            PageVector(words, counts), self.settings.steepness
        )

    @property
    def has_words(self) -> bool:
        return bool(self.topic.keywords)

    @property
    def learns_from_seeds(self) -> bool:
        return self.topic.learns_from_seeds

    def as_judge(self, threshold: float) -> ContrastJudge:
        from lycosa.judges.contrast.judge import ContrastJudge  # it imports this module

        return ContrastJudge(**self.found(), threshold=threshold)

    def word_strengths(self) -> Floats:
        return self.weights * self._idf

    def found(self) -> dict[str, Any]:
        """What is known now: of this a `ContrastJudge` is made."""
        return {
            "topic": self.topic,
            "weights": self.weights.copy(),
            "idf": self._idf,
            "scale": self._scale,
            "settings": self.settings,
        }

    # ── learning ──────────────────────────────────────────────────────────────────────────────────────────

    def learn(self) -> None:
        """Work out weights and relevance anew from all pages."""
        # Begun with what pages were taken for the last time, once wrong would be always wrong.
        self._judge_by_table()
        counts = self._counts_as_other()
        self._count_words(_with_the_same_sum(self._doubt() ** 2, counts))
        blocks = list(self._blocks(0))
        total_norm = float(sum(block.norms.sum() for block in blocks))
        self._weigh_examples()
        self._weigh(blocks, np.zeros(self._pages, dtype=np.float32))
        self._judge_all(self._scores(blocks), total_norm, np.zeros(self._pages, dtype=np.float32))
        self._weigh(blocks, _with_the_same_sum(self._doubt() ** 2, counts))
        scores = self._scores(blocks)
        self._judge_all(scores, total_norm, self._doubt() ** 2)
        self._judge_all(scores, total_norm, self._doubt())

    def _judge_by_table(self) -> None:
        """What pages are worth by examples and keywords, words being as special as the table says.

        Whatever other pages are about: so a page is scored once, and again only if there are other examples.
        """
        self._idf = self._table_idf
        examples = np.flatnonzero(self._is_example[: self._pages]).tolist()
        if examples != self._by_table.examples:
            self._by_table = _ByTable(examples, self._by_table.scores, 0, 0.0)
        _, scores, known, total_norm = self._by_table
        self._weigh_examples()
        self._weigh([], np.zeros(self._pages, dtype=np.float32))
        scores = grown(scores, self._pages)
        for block in self._blocks(known):
            scores[block.pages] = block.vectors @ self.weights
            total_norm += float(block.norms.sum())
        self._by_table = _ByTable(examples, scores, self._pages, total_norm)
        self._judge_all(scores[: self._pages], total_norm, np.zeros(self._pages, dtype=np.float32))

    def _count_words(self, doubt: Floats) -> None:
        """How special words are, by how many of the pages they are in that are not about the topic."""
        count = self._pages
        spread = np.repeat(doubt, np.diff(self._starts[: count + 1]))
        frequency = np.bincount(self._words[: self._starts[count]], spread, SIZE)
        said = np.flatnonzero(frequency)
        rest = self._log_usual.copy()
        rest[said] = np.log(frequency[said] + self._usual[said] + 1)
        whole = np.float32(np.log(float(doubt.sum()) + self.settings.background + 1))
        self._idf = np.sqrt(np.maximum(whole - rest, np.float32(0)))

    def _blocks(self, begun: int) -> Iterator[_Block]:
        for first in range(begun, self._pages, _BLOCK):
            last = min(first + _BLOCK, self._pages)
            begin, end = int(self._starts[first]), int(self._starts[last])
            words = self._words[begin:end]
            starts = self._starts[first : last + 1] - begin
            values = COUNT_WEIGHT[self._counts[begin:end]] * self._idf[words]
            norms = np.sqrt(np.add.reduceat(values * values, starts[:-1]))
            norms[norms == 0] = 1.0
            values /= np.repeat(norms, np.diff(starts))
            yield _Block(slice(first, last), csr_array((values, words, starts), shape=(last - first, SIZE)), norms)

    def _weigh_examples(self) -> None:
        """What the examples have in common."""
        self._example_sum = np.zeros(SIZE, dtype=np.float32)
        self._example_frequency = np.zeros(SIZE, dtype=np.float32)
        self._rows = []
        for page in np.flatnonzero(self._is_example[: self._pages]).tolist():
            here = slice(*self._starts[page : page + 2].tolist())
            values = COUNT_WEIGHT[self._counts[here]] * self._idf[self._words[here]]
            row = _Row(page, self._words[here], values / (np.sqrt(values @ values) or np.float32(1)))
            self._rows.append(row)
            np.add.at(self._example_sum, row.words, row.values)
            np.add.at(self._example_frequency, row.words, 1.0)

    def _weigh(self, blocks: list[_Block], doubt: Floats) -> None:
        """w, by pages that are not about the topic as far as there is `doubt`."""
        weights = np.zeros(SIZE, dtype=np.float32)
        count = len(self._rows)
        if count:
            weights += self._example_sum / count * np.sqrt(self._example_frequency / (0.6 * count))
        mass, mean = self._mean(blocks, doubt)
        half = self.settings.negative_pages if count else FOUND_PAGES
        contrast = mass / (mass + half)
        self._own_part = -contrast * doubt / max(mass, 1e-6)
        if not count:
            found = self._relevance[: self._pages] ** 2 * (mass > 0)
            found_mass, mean_found = self._mean(blocks, found)
            contrast *= found_mass / (found_mass + FOUND_PAGES)
            weights += contrast * mean_found
            self._own_part = contrast * (found / max(found_mass, 1e-6) - doubt / max(mass, 1e-6))
        weights -= contrast * mean
        if len(self._keyword_numbers):
            weights[self._keyword_numbers] += self.settings.keyword_weight / np.sqrt(len(self._keyword_numbers))
        weights[NO_WORD] = 0.0
        self.weights = weights

    def _doubt(self) -> Floats:
        """By page: how surely it is not about the topic."""
        doubt = 1.0 - self._relevance[: self._pages]
        doubt[self._is_example[: self._pages]] = 0.0
        return doubt

    def _counts_as_other(self) -> Floats:
        """By page: how much it may count as a page that is not about the topic."""
        counts = np.ones(self._pages, dtype=np.float32)
        relevant = [seed for seed in self._seeds if self._relevance[seed] >= RELEVANT]
        hosts = self._hosts[: self._pages]
        counts[np.isin(hosts, hosts[relevant]) & (hosts > 0)] = OF_THE_SITE
        return counts

    def _mean(self, blocks: list[_Block], shares: NDArray[Any]) -> tuple[float, Floats]:
        """Σ shares, and the mean of all pages weighted by them."""
        mass = float(shares.sum())
        mean = np.zeros(SIZE, dtype=np.float32)
        if mass > 0:
            for block in blocks:
                mean += block.vectors.T @ (shares[block.pages] / mass).astype(np.float32)
        return mass, mean

    def _scores(self, blocks: list[_Block]) -> Floats:
        scores = np.zeros(self._pages, dtype=np.float32)
        for block in blocks:
            scores[block.pages] = block.vectors @ self.weights
        return scores

    def _judge_all(self, scores: Floats, total_norm: float, doubt: Floats) -> None:
        """What all pages are worth, the others being those there is `doubt` of."""
        count = self._pages
        # A page's own part in what the topic is, or is not, speaks for itself: taken out.
        scores = scores - self._own_part
        for row in self._rows:
            scores[row.page] += self._without_itself(row)
        is_example, steepness = self._is_example[:count], self.settings.steepness
        self._scale = self._find_scale(scores, total_norm, doubt)
        found = self._scale.relevance(scores, steepness)
        found[is_example] = np.maximum(found[is_example], LEAST_OF_EXAMPLES)
        self._relevance[:count] = found

    def _without_itself(self, row: _Row) -> float:
        """How much less an example scores by weights that are made of the others."""
        count = len(self._rows)
        if count < 2:
            return 0.0
        total, frequency = self._example_sum[row.words], self._example_frequency[row.words]
        own = total / count * np.sqrt(frequency / (0.6 * count))
        others = (total - row.values) / (count - 1) * np.sqrt(np.maximum(frequency - 1, 0) / (0.6 * (count - 1)))
        return float(row.values @ (others - own))

    def _find_scale(self, scores: Floats, total_norm: float, doubt: Floats) -> Scale:
        mass = float(doubt.sum())
        low = float(scores @ doubt) / mass if mass > 0 else 0.0
        examples = [row.page for row in self._rows]
        if len(examples) > 1:
            high = float(scores[examples].mean())
        else:
            high = low + self._expected_keywords(total_norm) + self.settings.nearness * len(examples)
        if not mass:
            low = LOW_AT_FIRST * high
        return Scale(low, max(high, low + 0.01))

    def _expected_keywords(self, total_norm: float) -> float:
        """What keywords give to a page that says each of them four times."""
        if not len(self._keyword_numbers):
            return 0.0
        usual_norm = (total_norm + 400.0) / (self._pages + 10)  # ten pages of usual length to begin with
        each = COUNT_WEIGHT[4] * self._idf[self._keyword_numbers] / usual_norm
        return float(each.sum()) * self.settings.keyword_weight / float(np.sqrt(len(self._keyword_numbers)))


def _with_the_same_sum(values: Floats, factors: Floats) -> Floats:
    """The products, scaled to the sum that the values have."""
    products = values * factors
    total = float(products.sum())
    return products * np.float32(float(values.sum()) / total) if total > 0 else values
