"""A judge for a topic of a few example pages, or of a few words, that learns from the crawl what the topic is not.

Examples alone cannot say which of their words matter: they share site furniture and everyday words with pages of all
topics. Two things can: a table of how common words are in general (`background`), and the pages a crawl has met.
With n pages met, df(t) of them with the stem t (a page counts as 1 − r), and share(t) of the table's documents,

    idf(t) = √ max(0, ln((101 + n) / (df(t) + 100·share(t) + 1)))
    x(t)   = (1 + ln tf(t)) · idf(t), scaled to length 1
    w(t)   = mean over examples of x(t) · √(df among examples / 0.6·|examples|)
             − m/(m + 5) · mean of the other pages, weighted by 1 − r          m = Σ (1 − r)
             + 0.3 / √k for each of the k keywords
    s      = x · w
    z      = (s − μ_low) / (μ_high − μ_low),    r = 1 / (1 + e^(−4 (z − ½)))

μ_low is the mean score of the other pages, weighted by 1 − r. μ_high is the mean score of the examples, of each
without its own part in w: seen by themselves they would look far better than any other page can. Where there is one
example or none, the others do not tell how near pages of a topic are to each other; then it is what a page would
score that says each keyword four times, and is as near to the one example as pages of a topic commonly are.

As r depends on w and w on r, both are worked out in turn, beginning without the other pages: begun with what pages
were taken for the last time, a crawl that goes astray takes what it finds there for the topic.

Without examples the other pages alone would drown a few keywords (AUC .82 → .34 on twelve topics of wikispeedia). Then
the pages that were found, weighted by r², stand in for examples (.85), as far as there are some: Σ r² / (Σ r² + 5).

`ContrastStudy` grows with a crawl and is worked out anew as often as it is asked to; a page costs it a kilobyte.
`ContrastJudge` is what it has learned at one moment: a plain judge.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from lycosa.errors import ConfigError, InputError
from lycosa.lib.bounds import require_above_zero, require_at_least
from lycosa.lib.growing import grown
from lycosa.lib.text import term_counts
from lycosa.lib.wordhash import NO_WORD, SIZE, numbers_of
from lycosa.model import Judgement, Page
from lycosa.relevance.background import background_shares

Floats = NDArray[np.float32]
Words = NDArray[np.uint16]

MOST_COUNT = 255
BACKGROUND = 100.0
_COUNT_WEIGHT = np.concatenate([[0.0], 1.0 + np.log(np.arange(1, MOST_COUNT + 1))]).astype(np.float32)
LEAST_OF_EXAMPLES = 0.9
LOW_AT_FIRST = 0.2
"""μ_low as a share of μ_high where no other page is known."""
_BLOCK = 4096
"""Pages that are looked at together."""
_DECIDING = 10
"""Words a judgement names."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ContrastSettings:
    """The constants; see the module."""

    words: int = 200
    """Of a page: those that tell most."""
    background: float = BACKGROUND
    """The table counts as much as so many pages."""
    negative_pages: float = 5.0
    """With so many other pages, what the topic is not counts half."""
    keyword_weight: float = 0.3
    steepness: float = 4.0
    nearness: float = 0.15
    """The cosine of two pages of one topic, where examples do not tell."""

    def __post_init__(self) -> None:
        require_at_least(self, "contrast", words=1, background=0, keyword_weight=0)
        require_above_zero(self, "contrast", "negative_pages", "steepness", "nearness")


class PageVector(NamedTuple):
    """The words of a page that tell most, with their counts up to 255."""

    words: Words
    counts: NDArray[np.uint8]


class _Scale(NamedTuple):
    low: float
    high: float

    def relevance(self, scores: Floats, steepness: float) -> Floats:
        z = (scores - self.low) / max(self.high - self.low, 1e-6)
        relevance: Floats = (1.0 / (1.0 + np.exp(-steepness * (np.clip(z, -9.0, 9.0) - 0.5)))).astype(np.float32)
        return relevance


class _Block(NamedTuple):
    """Pages that are looked at together."""

    pages: slice
    vectors: Any
    """Pages × words, each of length 1: a sparse array."""
    norms: Floats
    """What the vectors were divided by."""


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
    """The seeds of a crawl are examples, too."""


class _Row(NamedTuple):
    """An example's vector."""

    page: int
    words: NDArray[np.integer[Any]]
    values: Floats


class ContrastStudy:
    """What is learned of a topic, page by page."""

    def __init__(self, topic: ContrastTopic, settings: ContrastSettings | None = None) -> None:
        self.settings = settings or ContrastSettings()
        self.topic = topic
        self.weights: Floats = np.zeros(SIZE, dtype=np.float32)
        """By word number: w."""
        self._keyword_numbers = np.array(sorted(set(numbers_of(topic.keywords))), dtype=np.int64)
        self._usual = background_shares() * np.float32(self.settings.background)
        self._table_idf: Floats = np.sqrt(np.log((self.settings.background + 1) / (self._usual + 1))).astype(np.float32)
        self._frequency = np.zeros(SIZE, dtype=np.float32)
        self._words: Words = np.zeros(1 << 12, dtype=np.uint16)
        self._counts: NDArray[np.uint8] = np.zeros(1 << 12, dtype=np.uint8)
        self._starts: NDArray[np.int64] = np.zeros(64, dtype=np.int64)
        self._relevance: Floats = np.zeros(64, dtype=np.float32)
        self._is_example: NDArray[np.bool_] = np.zeros(64, dtype=np.bool_)
        self._pages = 0
        self._others = 0.0
        """Σ (1 − r): as it were, the number of pages that are not about the topic."""
        self._scale = _Scale(0.0, 1.0)
        self._rows: list[_Row] = []
        for page in topic.examples:
            self._add(page, is_example=True)
        for page in topic.negatives:
            self._add(page, is_example=False)
        self._given = self._pages
        """Pages that are not of the crawl."""
        self.learn()

    # ── what comes in ─────────────────────────────────────────────────────────────────────────────────────

    def vector(self, terms: Mapping[str, int]) -> PageVector:
        """The words to keep of a page."""
        return telling_words(terms, self.settings.words)

    def add(self, page: tuple[Words, NDArray[np.uint8]], *, is_seed: bool = False, relevance: float = 0.0) -> float:  # noqa: ARG002 - it has a view of its own
        """One page of the crawl more; what it is worth as things stand."""
        return self._add(PageVector(*page), is_example=is_seed and self.topic.learns_from_seeds)

    def _add(self, page: PageVector, *, is_example: bool) -> float:
        words, counts = page
        if not len(words):  # every page has a row of one word or more
            words, counts = np.array([NO_WORD], dtype=np.uint16), np.zeros(1, dtype=np.uint8)
        start, number = int(self._starts[self._pages]), self._pages
        end = start + len(words)
        self._words, self._counts = grown(self._words, end), grown(self._counts, end)
        self._words[start:end], self._counts[start:end] = words, counts
        self._starts = grown(self._starts, number + 2)
        self._starts[number + 1] = end
        self._relevance, self._is_example = grown(self._relevance, number + 1), grown(self._is_example, number + 1)
        self._is_example[number] = is_example
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

    def judge_vector(self, page: tuple[Words, NDArray[np.uint8]]) -> float:
        words, counts = page
        values = _COUNT_WEIGHT[counts] * self._idf(words)
        norm = float(np.sqrt(values @ values))
        score = float(values @ self.weights[words]) / norm if norm else 0.0
        return float(self._scale.relevance(np.array([score], dtype=np.float32), self.settings.steepness)[0])

    def found(self) -> dict[str, Any]:
        """What is known now: of this a `ContrastJudge` is made."""
        return {
            "topic": self.topic,
            "weights": self.weights.copy(),
            "idf": self._idf(np.arange(SIZE)),
            "scale": self._scale,
            "settings": self.settings,
        }

    # ── learning ──────────────────────────────────────────────────────────────────────────────────────────

    def learn(self) -> None:
        """Work out weights and relevance anew from all pages."""
        self._count_words()
        blocks = list(self._blocks())
        self._weigh_examples(blocks)
        # Begun with what pages were taken for the last time, once wrong would be always wrong.
        self._weigh(blocks, has_negatives=False)
        self._judge_all(blocks)
        for _ in range(2):
            self._weigh(blocks, has_negatives=True)
            self._judge_all(blocks)

    def _count_words(self) -> None:
        """In how many pages that are not about the topic each word is."""
        count = self._pages
        doubt = 1.0 - self._relevance[:count]
        self._others = float(doubt.sum())
        spread = np.repeat(doubt, np.diff(self._starts[: count + 1]))
        words = self._words[: self._starts[count]]
        self._frequency = np.bincount(words, spread, SIZE).astype(np.float32)

    def _idf(self, words: NDArray[np.integer[Any]]) -> Floats:
        rest = self._frequency[words] + self._usual[words] + np.float32(1.0)
        whole = np.float32(self._others + self.settings.background + 1)
        idf: Floats = np.sqrt(np.log(np.maximum(whole / rest, np.float32(1.0))))
        return idf

    def _blocks(self) -> Iterator[_Block]:
        for first in range(0, self._pages, _BLOCK):
            last = min(first + _BLOCK, self._pages)
            begin, end = int(self._starts[first]), int(self._starts[last])
            words = self._words[begin:end]
            starts = self._starts[first : last + 1] - begin
            values = _COUNT_WEIGHT[self._counts[begin:end]] * self._idf(words)
            norms = np.sqrt(np.add.reduceat(values * values, starts[:-1]))
            norms[norms == 0] = 1.0
            values /= np.repeat(norms, np.diff(starts))
            yield _Block(slice(first, last), csr_array((values, words, starts), shape=(last - first, SIZE)), norms)

    def _weigh_examples(self, blocks: list[_Block]) -> None:
        """What the examples have in common."""
        self._example_sum = np.zeros(SIZE, dtype=np.float32)
        self._example_frequency = np.zeros(SIZE, dtype=np.float32)
        self._rows = []
        for page in np.flatnonzero(self._is_example[: self._pages]).tolist():
            vectors, at = blocks[page // _BLOCK].vectors, page % _BLOCK
            here = slice(*vectors.indptr[at : at + 2])
            row = _Row(page, vectors.indices[here], vectors.data[here])
            self._rows.append(row)
            np.add.at(self._example_sum, row.words, row.values)
            np.add.at(self._example_frequency, row.words, 1.0)

    def _weigh(self, blocks: list[_Block], *, has_negatives: bool) -> None:
        weights = np.zeros(SIZE, dtype=np.float32)
        count = len(self._rows)
        if count:
            weights += self._example_sum / count * np.sqrt(self._example_frequency / (0.6 * count))
        doubt = self._doubt() * has_negatives
        self._mass, mean = self._mean(blocks, doubt)
        contrast = self._mass / (self._mass + self.settings.negative_pages)
        self._own_part = -contrast * doubt / max(self._mass, 1e-6)
        if not count:
            found = self._relevance[: self._pages] ** 2 * has_negatives
            mass, mean_found = self._mean(blocks, found)
            contrast *= mass / (mass + self.settings.negative_pages)
            weights += contrast * mean_found
            self._own_part = contrast * (found / max(mass, 1e-6) - doubt / max(self._mass, 1e-6))
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

    def _mean(self, blocks: list[_Block], shares: NDArray[Any]) -> tuple[float, Floats]:
        """Σ shares, and the mean of all pages weighted by them."""
        mass = float(shares.sum())
        mean = np.zeros(SIZE, dtype=np.float32)
        if mass > 0:
            for block in blocks:
                mean += block.vectors.T @ (shares[block.pages] / mass).astype(np.float32)
        return mass, mean

    def _judge_all(self, blocks: list[_Block]) -> None:
        count = self._pages
        scores = np.zeros(count, dtype=np.float32)
        for block in blocks:
            scores[block.pages] = block.vectors @ self.weights
        doubt = self._doubt()
        # A page's own part in what the topic is, or is not, speaks for itself: taken out.
        scores -= self._own_part
        for row in self._rows:
            scores[row.page] += self._without_itself(row)
        is_example, steepness = self._is_example[:count], self.settings.steepness
        self._scale = self._find_scale(scores, blocks, doubt)
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

    def _find_scale(self, scores: Floats, blocks: list[_Block], doubt: Floats) -> _Scale:
        low = float(scores @ doubt) / self._mass if self._mass > 0 else 0.0
        examples = [row.page for row in self._rows]
        if len(examples) > 1:
            high = float(scores[examples].mean())
        else:
            high = low + self._expected_keywords(blocks) + self.settings.nearness * len(examples)
        if not self._mass:
            low = LOW_AT_FIRST * high
        return _Scale(low, max(high, low + 0.01))

    def _expected_keywords(self, blocks: list[_Block]) -> float:
        """What keywords give to a page that says each of them four times."""
        if not len(self._keyword_numbers):
            return 0.0
        total = sum(float(block.norms.sum()) for block in blocks)
        usual_norm = (total + 400.0) / (self._pages + 10)  # ten pages of usual length to begin with
        each = _COUNT_WEIGHT[4] * self._idf(self._keyword_numbers) / usual_norm
        return float(each.sum()) * self.settings.keyword_weight / float(np.sqrt(len(self._keyword_numbers)))


class ContrastJudge:
    """See the module. Made by `fit`, or by a study; it does not change."""

    def __init__(
        self,
        *,
        topic: ContrastTopic,
        weights: Floats,
        idf: Floats,
        scale: tuple[float, float],
        settings: ContrastSettings,
        threshold: float = 0.5,
        name: str = "contrast",
    ) -> None:
        if not 0 < threshold < 1:
            raise ConfigError(f"judge.threshold is {threshold}: it must lie between 0 and 1")
        self.name = name
        self.keywords = dict(topic.keywords)
        self.threshold = threshold
        self.settings = settings
        self._topic = topic
        self._weights = weights
        self._idf = idf
        self._scale = _Scale(*scale)

    @classmethod
    def fit(
        cls,
        examples: Iterable[Page] = (),
        keywords: str = "",
        *,
        negatives: Iterable[Page] = (),
        learns_from_seeds: bool = False,
        settings: ContrastSettings | None = None,
    ) -> Self:
        """From example pages, from words that name the topic, or from both; negatives are pages of other topics.

        `learns_from_seeds`: a crawl's seeds are examples, which its strategy will learn from when it meets them.
        """
        settings = settings or ContrastSettings()
        topic = ContrastTopic(
            keywords=term_counts(keywords),
            examples=tuple(telling_words(page.terms, settings.words) for page in examples),
            negatives=tuple(telling_words(page.terms, settings.words) for page in negatives),
            learns_from_seeds=learns_from_seeds,
        )
        if not topic.examples and not topic.keywords and not learns_from_seeds:
            raise InputError(
                f"neither an example page nor a word to look for (keywords {keywords!r}): give one or the other, such "
                "as 'recreational cycling'"
            )
        return cls(**ContrastStudy(topic, settings).found())

    def study(self) -> ContrastStudy:
        """A new one of the same topic, for a strategy that learns in the crawl."""
        return ContrastStudy(self._topic, self.settings)

    def judge(self, page: Page) -> Judgement:
        relevance, shares = self._judged(page.terms)
        order = sorted(shares, key=lambda stem: (-abs(shares[stem]), stem))[:_DECIDING]
        return Judgement(relevance, relevance >= self.threshold, terms={stem: shares[stem] for stem in order})

    def score_text(self, text: str) -> float:
        return self._judged(term_counts(text))[0]

    def _judged(self, terms: Mapping[str, int]) -> tuple[float, dict[str, float]]:
        """The relevance, and the part of each word in the score that speaks for or against it."""
        words = np.array(numbers_of(terms), dtype=np.int64)
        counts = np.minimum(np.fromiter(terms.values(), np.int64, len(terms)), MOST_COUNT)
        values = _COUNT_WEIGHT[counts] * self._idf[words]
        norm = float(np.sqrt(values @ values))
        if not norm:
            return 0.0, {}
        parts = values * self._weights[words] / np.float32(norm)
        score = np.array([parts.sum()], dtype=np.float32)
        relevance = float(self._scale.relevance(score, self.settings.steepness)[0])
        return relevance, {stem: part for stem, part in zip(terms, parts.tolist(), strict=True) if part}


def telling_words(terms: Mapping[str, int], most: int) -> PageVector:
    """The words of a page that tell most by count and by how special they are in general."""
    words = np.array(numbers_of(terms), dtype=np.uint16)
    counts = np.minimum(np.fromiter(terms.values(), np.int64, len(terms)), MOST_COUNT).astype(np.uint8)
    if len(words) > most:
        telling = _COUNT_WEIGHT[counts] * _specialness(BACKGROUND)[words]
        kept = np.sort(np.argpartition(-telling, most)[:most])
        words, counts = words[kept], counts[kept]
    return PageVector(words, counts)


@cache
def _specialness(background: float) -> Floats:
    """By word number: its idf by the table alone. Not to be written."""
    idf: Floats = np.sqrt(np.log((background + 1) / (background_shares() * np.float32(background) + 1)))
    return idf.astype(np.float32)
