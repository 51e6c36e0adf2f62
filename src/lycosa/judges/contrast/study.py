"""What a crawl teaches about its topic, page by page: the formulas of `judge`, recomputed on demand.

A page takes a kilobyte of memory; learning from n pages takes time proportional to n.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

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
    idf_of_table,
    telling_words,
)
from lycosa.lib.bounds import require_above_zero, require_at_least
from lycosa.lib.growing import grown
from lycosa.lib.wordhash import NO_WORD, SIZE, numbers_of

if TYPE_CHECKING:
    from lycosa.judges.contrast.judge import ContrastJudge

MIN_EXAMPLE_RELEVANCE = 0.9
MIN_SEED_RELEVANCE = 0.5
"""Minimum relevance of a seed whose host is taken to be about the topic."""
FOUND_PAGES = 5.0
"""Without examples: number of pages found at which what the crawl teaches about the topic gets half its weight."""
LOW_AT_FIRST = 0.2
"""μ_low as a share of μ_high while no other pages are known."""
SEED_SITE_WEIGHT = 0.1
"""Weight, among the other pages, of a page on a host that has relevant seeds. A site is often about one thing as a
whole, and its pages that say so in other words would drown the topic: debian-docs .85 → .94 of the way from random to
oracle (development topics; 10 crawls better, 1 worse). Generated webs do not change; wikispeedia with its pages
assigned to hosts at random: −.007 to −.011 (± .006)."""
_BLOCK = 4096
"""Pages processed together."""


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


@dataclass(frozen=True, slots=True, kw_only=True)
class ContrastTopic:
    """What the user gave."""

    keywords: Mapping[str, int] = field(default_factory=dict)
    """Stems, with their frequencies."""
    examples: tuple[PageVector, ...] = ()
    learns_from_seeds: bool = False
    """The seeds of a crawl are examples too, if they have any text."""
    seeds_must_fit: bool = False
    """Only seeds that fit what is given here, and those that resemble one that does, are examples, and only if half
    of all seeds fit. The others are just places to start from."""


class _Block(NamedTuple):
    pages: slice
    vectors: Any
    """Sparse array, pages × words, each row of length 1."""
    norms: Floats
    """Lengths of the rows before they were scaled."""


class _ExampleVector(NamedTuple):
    page: int
    words: NDArray[np.integer[Any]]
    values: Floats


class _TableScores(NamedTuple):
    """Scores of pages by examples, keywords and the table."""

    examples: list[int]
    scores: Floats
    known: int
    """Number of pages that have a score."""
    total_norm: float


class ContrastStudy:
    def __init__(self, topic: ContrastTopic, settings: ContrastSettings | None = None) -> None:
        self.settings = settings or ContrastSettings()
        self.topic = topic
        self.vector = partial(telling_words, most=self.settings.words)
        self.weights: Floats = np.zeros(SIZE, dtype=np.float32)
        """w, by word number."""
        self._keyword_numbers = np.array(sorted(set(numbers_of(topic.keywords))), dtype=np.int64)
        self._usual = background_shares() * np.float32(BACKGROUND)
        self._log_usual: Floats = np.log(self._usual + np.float32(1))
        self._idf: Floats = idf_of_table()
        """By word number: how specific a word is, by the table and by pages that are not about the topic."""
        self._words: Words = np.zeros(1 << 12, dtype=np.uint16)
        self._counts: NDArray[np.uint8] = np.zeros(1 << 12, dtype=np.uint8)
        self._starts: NDArray[np.int64] = np.zeros(64, dtype=np.int64)
        self._relevance: Floats = np.zeros(64, dtype=np.float32)
        self._is_example: NDArray[np.bool_] = np.zeros(64, dtype=np.bool_)
        self._hosts: NDArray[np.int64] = np.zeros(64, dtype=np.int64)
        """Any number that identifies the host of a crawled page; 0: unknown."""
        self._seeds: list[int] = []
        """Page numbers."""
        self._answers: dict[int, bool] = {}
        """By page number: whether a person says that the page is relevant."""
        self._examples_before: dict[int, bool] = {}
        """By page number: whether an answered page would be an example without the answer."""
        self._pages = 0
        self._scale = Scale(0.0, 1.0)
        self._example_vectors: list[_ExampleVector] = []
        self._table_scores = _TableScores([], np.zeros(64, dtype=np.float32), 0, 0.0)
        for page in topic.examples:
            self._add(page, is_example=True)
        self._given = self._pages
        """Number of pages that were given, not crawled."""
        self._fitting = FittingSeeds()
        self.learn()
        self._before_crawl = self.view

    # ── adding pages ──────────────────────────────────────────────────────────────────────────────────────

    def add(
        self,
        page: tuple[Words, NDArray[np.uint8]],
        *,
        host: int = 0,
        is_seed: bool = False,
        relevance: float = 0.0,  # noqa: ARG002 - part of the protocol: the study judges for itself
    ) -> float:
        """Add a page of the crawl; return its relevance by what is known so far."""
        vector, number = PageVector(*page), self._pages
        is_example = is_seed and self.topic.learns_from_seeds and len(vector.words) > 0
        if is_seed:
            self._seeds.append(number)
        if is_example and self.topic.seeds_must_fit:
            self._fitting.add(number, vector, relevance=self._before_crawl.relevance(vector, self.settings.steepness))
            akin = self._fitting.akin
            is_example = self._fitting.are_examples and number in akin
            for other in akin:
                if other in self._answers:
                    self._examples_before[other] = self._fitting.are_examples
                elif other < number:
                    self._is_example[other] = self._fitting.are_examples
        return self._add(vector, is_example=is_example, host=host)

    def _add(self, page: PageVector, *, is_example: bool, host: int = 0) -> float:
        words, counts = page
        if not len(words):  # every page needs at least one word
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
        self._relevance[number] = max(relevance, MIN_EXAMPLE_RELEVANCE) if is_example else relevance
        return float(self._relevance[number])

    def answer(self, place: int, is_relevant: bool | None) -> None:
        page = self._given + place
        before = self._examples_before.setdefault(page, bool(self._is_example[page]))
        self._answers.pop(page, None)
        if is_relevant is None:
            del self._examples_before[page]
            self._is_example[page] = before
            span = slice(*self._starts[page : page + 2].tolist())
            self._relevance[page] = self.judge_vector((self._words[span], self._counts[span]))
        else:
            self._answers[page] = is_relevant
            self._is_example[page] = is_relevant
            self._relevance[page] = float(is_relevant)

    # ── results ───────────────────────────────────────────────────────────────────────────────────────────

    @property
    def relevance(self) -> Floats:
        """Relevance of each crawled page, in the order they were added. Read-only."""
        return self._relevance[self._given : self._pages]

    @property
    def idf_of_table(self) -> Floats:
        return idf_of_table()

    @property
    def examples(self) -> dict[int, PageVector]:
        """The crawled pages it currently learns from, by position in the crawl, from 0."""
        found = {}
        for page in np.flatnonzero(self._is_example[self._given : self._pages]).tolist():
            span = slice(*self._starts[self._given + page : self._given + page + 2].tolist())
            found[page] = PageVector(self._words[span], self._counts[span])
        return found

    def judge_vector(self, page: tuple[Words, NDArray[np.uint8]]) -> float:
        return self.view.relevance(PageVector(*page), self.settings.steepness)

    @property
    def has_words(self) -> bool:
        return bool(self.topic.keywords)

    @property
    def learns_from_seeds(self) -> bool:
        return self.topic.learns_from_seeds

    def as_judge(self, threshold: float) -> ContrastJudge:
        from lycosa.judges.contrast.judge import ContrastJudge  # it imports this module

        return ContrastJudge(self.topic, self.view, self.settings, threshold=threshold)

    def word_strengths(self) -> Floats:
        return self.weights * self._idf

    @property
    def view(self) -> ContrastView:
        """What is known now: learning replaces the arrays and does not change them."""
        return ContrastView(self._idf, self.weights, self._scale)

    # ── learning ──────────────────────────────────────────────────────────────────────────────────────────

    def learn(self) -> None:
        # Starting from the previous relevance would perpetuate its errors.
        self._judge_by_table()
        site_weights = self._site_weights()
        self._count_words(_with_same_sum(self._doubt() ** 2, site_weights))
        blocks = list(self._blocks(0))
        total_norm = float(sum(block.norms.sum() for block in blocks))
        self._weigh_examples()
        self._weigh(blocks, np.zeros(self._pages, dtype=np.float32))
        self._judge_all(self._scores(blocks), total_norm, np.zeros(self._pages, dtype=np.float32))
        self._weigh(blocks, _with_same_sum(self._doubt() ** 2, site_weights))
        scores = self._scores(blocks)
        self._judge_all(scores, total_norm, self._doubt() ** 2)
        self._judge_all(scores, total_norm, self._doubt())

    def _judge_by_table(self) -> None:
        """Relevance by examples and keywords, with words as specific as the table says.

        Independent of other pages: a page is scored once, and again only if the examples change.
        """
        self._idf = idf_of_table()
        examples = np.flatnonzero(self._is_example[: self._pages]).tolist()
        if examples != self._table_scores.examples:
            self._table_scores = _TableScores(examples, self._table_scores.scores, 0, 0.0)
        _, scores, known, total_norm = self._table_scores
        self._weigh_examples()
        self._weigh([], np.zeros(self._pages, dtype=np.float32))
        scores = grown(scores, self._pages)
        for block in self._blocks(known):
            scores[block.pages] = block.vectors @ self.weights
            total_norm += float(block.norms.sum())
        self._table_scores = _TableScores(examples, scores, self._pages, total_norm)
        self._judge_all(scores[: self._pages], total_norm, np.zeros(self._pages, dtype=np.float32))

    def _count_words(self, doubt: Floats) -> None:
        """Compute idf from the number of pages that contain a word and are not about the topic."""
        count = self._pages
        spread = np.repeat(doubt, np.diff(self._starts[: count + 1]))
        frequency = np.bincount(self._words[: self._starts[count]], spread, SIZE)
        present = np.flatnonzero(frequency)
        rest = self._log_usual.copy()
        rest[present] = np.log(frequency[present] + self._usual[present] + 1)
        whole = np.float32(np.log(float(doubt.sum()) + BACKGROUND + 1))
        self._idf = np.sqrt(np.maximum(whole - rest, np.float32(0)))

    def _blocks(self, start: int) -> Iterator[_Block]:
        from scipy.sparse import csr_array  # here, as it loads slowly and commands that do not learn never need it

        for first in range(start, self._pages, _BLOCK):
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
        self._example_sum = np.zeros(SIZE, dtype=np.float32)
        self._example_frequency = np.zeros(SIZE, dtype=np.float32)
        self._example_vectors = []
        for page in np.flatnonzero(self._is_example[: self._pages]).tolist():
            here = slice(*self._starts[page : page + 2].tolist())
            values = COUNT_WEIGHT[self._counts[here]] * self._idf[self._words[here]]
            example = _ExampleVector(page, self._words[here], values / (np.sqrt(values @ values) or np.float32(1)))
            self._example_vectors.append(example)
            np.add.at(self._example_sum, example.words, example.values)
            np.add.at(self._example_frequency, example.words, 1.0)

    def _weigh(self, blocks: list[_Block], doubt: Floats) -> None:
        """Compute w. `doubt`: how surely each page is not about the topic."""
        weights = np.zeros(SIZE, dtype=np.float32)
        count = len(self._example_vectors)
        if count:
            weights += self._example_sum / count * np.sqrt(self._example_frequency / (0.6 * count))
        mass, mean = self._mean(blocks, doubt)
        contrast = mass / (mass + (self.settings.negative_pages if count else FOUND_PAGES))
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

    def _site_weights(self) -> Floats:
        """By page: its weight among the pages that are not about the topic."""
        weights = np.ones(self._pages, dtype=np.float32)
        relevant = [seed for seed in self._seeds if self._relevance[seed] >= MIN_SEED_RELEVANCE]
        hosts = self._hosts[: self._pages]
        weights[np.isin(hosts, hosts[relevant]) & (hosts > 0)] = SEED_SITE_WEIGHT
        weights[list(self._answers)] = 1.0
        return weights

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
        """Compute the scale and the relevance of all pages. `doubt`: how surely each is not about the topic."""
        # A page's own contribution to w would confirm what it is taken for.
        scores = scores - self._own_part
        for example in self._example_vectors:
            scores[example.page] += self._without_itself(example)
        is_example = self._is_example[: self._pages]
        self._scale = self._find_scale(scores, total_norm, doubt)
        found = self._scale.relevance(scores, self.settings.steepness)
        found[is_example] = np.maximum(found[is_example], MIN_EXAMPLE_RELEVANCE)
        found[list(self._answers)] = list(self._answers.values())
        self._relevance[: self._pages] = found

    def _without_itself(self, example: _ExampleVector) -> float:
        """Change of an example's score if the weights are computed from the other examples only."""
        count = len(self._example_vectors)
        if count < 2:
            return 0.0
        total, frequency = self._example_sum[example.words], self._example_frequency[example.words]
        own = total / count * np.sqrt(frequency / (0.6 * count))
        others = (total - example.values) / (count - 1) * np.sqrt(np.maximum(frequency - 1, 0) / (0.6 * (count - 1)))
        return float(example.values @ (others - own))

    def _find_scale(self, scores: Floats, total_norm: float, doubt: Floats) -> Scale:
        mass = float(doubt.sum())
        low = float(scores @ doubt) / mass if mass > 0 else 0.0
        examples = [example.page for example in self._example_vectors]
        if len(examples) > 1:
            high = float(scores[examples].mean())
        else:
            high = low + self._expected_keywords(total_norm) + self.settings.nearness * len(examples)
        if not mass:
            low = LOW_AT_FIRST * high
        return Scale(low, max(high, low + 0.01))

    def _expected_keywords(self, total_norm: float) -> float:
        """Score that keywords give a page that contains each of them four times."""
        if not len(self._keyword_numbers):
            return 0.0
        usual_norm = (total_norm + 400.0) / (self._pages + 10)  # as if it had begun with ten pages of norm 40
        each = COUNT_WEIGHT[4] * self._idf[self._keyword_numbers] / usual_norm
        return float(each.sum()) * self.settings.keyword_weight / float(np.sqrt(len(self._keyword_numbers)))


def _with_same_sum(values: Floats, factors: Floats) -> Floats:
    """The products, scaled to the sum of the values."""
    products = values * factors
    total = float(products.sum())
    return products * np.float32(float(values.sum()) / total) if total > 0 else values
