"""The k examples nearest to a page vote on its topics (paper GP, sections 2.3 and 3.1: the kNN classifier).

A page and an example are as similar as the cosine of their TF-IDF vectors. With the neighbours' similarities s_n,

    vote(topic) = Σ_{n under topic} s_n / (Σ_n s_n + doubt)

`doubt` is the similarity of an additional neighbour under no topic: a page unlike all examples gets low votes instead
of the full vote of whatever happens to be nearest. `memberships` are the votes mapped by one logistic curve, the same
for all topics; `posteriors` share each neighbour's vote among its classes (`labels`), sharpen by one temperature and
sum up the tree. Both are fitted to votes on examples held out together with their block of neighbours.

A topic without examples, its own or below, gets membership 0 and posterior 0.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import compress
from typing import Any, NamedTuple, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from lycosa.errors import InputError
from lycosa.judges.calibration import Platt, Temperature
from lycosa.judges.classifier import Example, Judging, Reasons
from lycosa.judges.labels import Labels, below, folds, likeliest, number_of, require_contrast
from lycosa.judges.saved_arrays import AnyArray, pack, require, settings_from, topics_from, unpack
from lycosa.judges.tfidf import TermSpace, vocabulary
from lycosa.lib.bounds import require_above_zero, require_at_least
from lycosa.model import Page

_KIND = "knn 2"
_FLOOR = 1e-2
"""Added to votes before taking the logarithm, as a class may be right though no neighbour votes for it."""


class PageSimilarity(Protocol):
    """How similar a page is to each of the examples."""

    def fit(self, pages: Iterable[Page]) -> Self:
        """The same similarity, to these examples. They may be iterated several times."""

    def to_examples(self, page: Page) -> NDArray[np.float64]:
        """By example, in their order: 0 or more; an array of the caller's own."""

    def explain(self, page: Page, weights: NDArray[np.float64]) -> Mapping[str, float]:
        """By word of the page: its part in the similarities multiplied by these weights."""

    def to_arrays(self) -> dict[str, AnyArray]: ...


class TfidfCosine:
    """Cosine of TF-IDF vectors, computed with an inverted index: term → the examples it occurs in.

    Only a page's heaviest terms are looked up: rare words have short lists and count most, the many common ones have
    long lists and count little. The cosine comes out slightly too small, but long pages cost no more than short ones.
    """

    ARRAYS = ("starts", "documents", "weights", "size", "query_terms")

    def __init__(self, *, max_words: int = 100_000, query_terms: int = 40) -> None:
        self.max_words = max_words
        self.query_terms = query_terms

    def fit(self, pages: Iterable[Page]) -> Self:
        self._space = vocabulary(pages, words=self.max_words)
        by_term = self._space.matrix(map(self._space.vector, pages)).tocsc()
        self._starts, self._documents, self._weights = by_term.indptr, by_term.indices, by_term.data
        self._size = int(by_term.shape[0])
        return self

    def to_examples(self, page: Page) -> NDArray[np.float64]:
        if not (lists := self._postings(page)):
            return np.zeros(self._size)
        documents = np.concatenate([self._documents[low:high] for _, _, low, high in lists])
        products = np.concatenate([self._weights[low:high] * value for _, value, low, high in lists])
        found: NDArray[Any] = np.bincount(documents, products, minlength=self._size)
        return found

    def explain(self, page: Page, weights: NDArray[np.float64]) -> Mapping[str, float]:
        return {
            self._space.terms[column]: float(value * (weights[self._documents[low:high]] @ self._weights[low:high]))
            for column, value, low, high in self._postings(page)
        }

    def _postings(self, page: Page) -> list[tuple[int, float, int, int]]:
        """Column, value, and begin and end of the list of examples, for each of the page's heaviest terms."""
        columns, values = self._space.vector(page)
        if len(values) > self.query_terms:
            heaviest = np.argpartition(-values, self.query_terms)[: self.query_terms]
            columns, values = columns[heaviest], values[heaviest]
        lows, highs = self._starts[columns].tolist(), self._starts[columns + 1].tolist()
        return list(zip(columns.tolist(), values.tolist(), lows, highs, strict=True))

    def to_arrays(self) -> dict[str, AnyArray]:
        index = {"starts": self._starts, "documents": self._documents, "weights": self._weights}
        numbers = {"size": np.array(self._size), "query_terms": np.array(self.query_terms)}
        return {**index, **numbers, **self._space.to_arrays()}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, AnyArray]) -> TfidfCosine:
        loaded = cls(query_terms=int(arrays["query_terms"]))
        loaded._space = TermSpace.from_arrays(arrays)
        loaded._starts, loaded._documents, loaded._weights = arrays["starts"], arrays["documents"], arrays["weights"]
        loaded._size = int(arrays["size"])
        count, starts = len(loaded._documents), loaded._starts
        require(starts.shape == (len(loaded._space) + 1,) and starts[0] == 0 and starts[-1] == count, "starts")
        require(bool((np.diff(starts) >= 0).all()) and loaded._weights.shape == (count,), "weights")
        require(not count or (loaded._documents.min() >= 0 and loaded._documents.max() < loaded._size), "documents")
        return loaded


@dataclass(frozen=True, slots=True)
class KnnSettings:
    k: int = 20
    """Number of examples that vote."""
    doubt: float = 0.1
    """Similarity of the additional neighbour under no topic."""
    folds: int = 5
    max_held_out: int = 2_000
    """Maximum number of examples used for calibration."""

    def __post_init__(self) -> None:
        require_at_least(self, "knn", k=1, folds=2, max_held_out=1)
        require_above_zero(self, "knn", "doubt")


class _Neighbours(NamedTuple):
    examples: NDArray[np.int64]
    shares: NDArray[np.float64]
    """Shares of the vote; because of `doubt` their sum is below 1."""


class KnnClassifier:
    name = "knn"
    words_by_hand = ""
    short_texts: Judging | None = None
    reasons: Reasons | None = None

    topics_: tuple[str, ...]
    classes_: tuple[str, ...]
    """Mutually exclusive: topics with examples of their own, and ANY if there were negatives."""

    def __init__(self, settings: KnnSettings | None = None) -> None:
        self.settings = settings or KnnSettings()
        self.similarity: PageSimilarity = TfidfCosine()

    # ── learning ──────────────────────────────────────────────────────────────────────────────────────────

    def fit(self, examples: Iterable[Example], topics: Iterable[str]) -> Self:
        labels = Labels(tuple(topics))
        kept = [bool(page.terms) and labels.add(page, own) for page, own in examples]
        if not len(labels):
            raise InputError("no example contains a word: give each topic pages to learn from")
        self.topics_ = labels.topics
        self._set_classes(labels.classes(), labels.by_class(labels.classes()))
        require_contrast(self.classes_, self._by_class)
        pages = _Kept(examples, kept)
        self._learn_similarity(pages)
        self._calibrate(pages)
        return self

    def _learn_similarity(self, pages: Iterable[Page]) -> None:
        self.similarity = self.similarity.fit(pages)

    def _set_classes(self, classes: tuple[str, ...], by_class: NDArray[np.bool_]) -> None:
        self.classes_ = classes
        self._by_class = by_class
        self._below = below(classes, self.topics_)
        self._has_examples = self._below.any(axis=0)

    def _calibrate(self, pages: Iterable[Page]) -> None:
        fold = folds(self._by_class, self.settings.folds)
        step = -(-len(fold) // self.settings.max_held_out)
        chosen = np.arange(0, len(fold), step)
        votes, class_votes = [], []
        for row, page in enumerate(pages):
            if row % step == 0:
                near = self._neighbours(page, is_out=fold == fold[row])
                votes.append(self._topic_votes(near))
                class_votes.append(self._class_votes(near))
        by_topic = self._by_class[chosen] @ self._below > 0
        learned = self._has_examples
        self._curve = Platt.fit(np.array(votes)[:, learned].ravel(), by_topic[:, learned].ravel())
        scores = np.log(np.array(class_votes) + _FLOOR)
        rows, classes = likeliest(scores, self._by_class[chosen])
        self._temperature = Temperature.fit(scores[rows], classes)

    # ── judging ───────────────────────────────────────────────────────────────────────────────────────────

    def posteriors(self, page: Page) -> NDArray[np.float64]:
        votes = self._class_votes(self._neighbours(page))
        shares: NDArray[np.float64] = self._temperature.apply(np.log(votes + _FLOOR)) @ self._below
        return np.minimum(shares, 1.0)

    def memberships(self, page: Page) -> NDArray[np.float64]:
        votes = self._topic_votes(self._neighbours(page))
        return np.where(self._has_examples, self._curve.apply(votes), 0.0)

    def strongest(self, page: Page, topic: str, count: int = 10) -> Mapping[str, float]:
        near = self._neighbours(page)
        is_under = self._by_class[near.examples] @ self._below[:, number_of(topic, self.topics_)] > 0
        weights = np.zeros(len(self._by_class))
        weights[near.examples] = np.where(is_under, near.shares, -near.shares)
        shares = self.similarity.explain(page, weights)
        order = sorted(shares, key=lambda word: (-abs(shares[word]), word))[:count]
        return {word: shares[word] for word in order if shares[word]}

    def _neighbours(self, page: Page, *, is_out: NDArray[np.bool_] | None = None) -> _Neighbours:
        """The k nearest, except those marked; fewer if fewer have anything in common with the page."""
        nearness = self.similarity.to_examples(page)
        if is_out is not None:
            nearness[is_out] = 0.0
        return self._nearest(nearness)

    def _nearest(self, nearness: NDArray[np.float64]) -> _Neighbours:
        candidates = (nearness > 0).nonzero()[0]
        if len(candidates) > self.settings.k:
            candidates = candidates[np.argpartition(-nearness[candidates], self.settings.k - 1)[: self.settings.k]]
        chosen = nearness[candidates]
        return _Neighbours(candidates, chosen / (chosen.sum() + self.settings.doubt))

    def _topic_votes(self, near: _Neighbours) -> NDArray[np.float64]:
        is_under = self._by_class[near.examples] @ self._below > 0
        votes: NDArray[np.float64] = near.shares @ is_under
        return votes

    def _class_votes(self, near: _Neighbours) -> NDArray[np.float64]:
        own = self._by_class[near.examples]
        votes: NDArray[np.float64] = (near.shares / own.sum(axis=1)) @ own
        return votes

    # ── storing ───────────────────────────────────────────────────────────────────────────────────────────

    def save(self) -> bytes:
        meta = {"settings": asdict(self.settings), "topics": self.topics_, "classes": self.classes_}
        arrays: dict[str, AnyArray] = {
            "by_class": self._by_class,
            "curve": self._curve.to_array(),
            "temperature": self._temperature.to_array(),
        }
        return pack(_KIND, meta, {**arrays, **self.similarity.to_arrays()})

    @classmethod
    def load(cls, data: bytes) -> Self:
        own = ("by_class", "curve", "temperature")
        meta, arrays = unpack(_KIND, data, (*own, *TfidfCosine.ARRAYS, *TermSpace.ARRAYS))
        loaded = cls(settings_from(KnnSettings, meta))
        loaded.similarity = TfidfCosine.from_arrays(arrays)
        loaded.topics_, classes = topics_from(meta)
        by_class = arrays["by_class"]
        require(by_class.dtype == np.bool_ and by_class.ndim == 2 and by_class.shape[1] == len(classes), "classes")
        loaded._set_classes(classes, by_class)
        loaded._curve = Platt.from_array(arrays["curve"])
        loaded._temperature = Temperature.from_array(arrays["temperature"])
        return loaded


class _Kept:
    """The pages of the examples that are kept; can be iterated repeatedly."""

    def __init__(self, examples: Iterable[Example], kept: Sequence[bool]) -> None:
        self._examples, self._kept = examples, kept

    def __iter__(self) -> Iterator[Page]:
        return compress((example.page for example in self._examples), self._kept)
