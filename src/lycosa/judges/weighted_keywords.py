"""Topics as weighted keywords, written by hand or taken from examples (paper AR, sections 2.3 and 4).

AR: evaluation functions "by hand, based on domain knowledge", "scoring functions for weighted keyword queries". With
the weights w (negative ones count against the topic) and the counts tf of the words on a page,

    evidence = Σ w(t) · tf(t) / (tf(t) + saturation · (1 − b + b · words / usual_words))
    membership = e / (1 + e),    e = max(0, evidence)

Thus a word counts at most its weight however often it occurs, a word on a long page counts less than on a short one,
one keyword of weight 1 gives at most ½, two give ⅔, and no page reaches 1. A keyword of several words counts as often
as the rarest of them.

A topic without keywords, but with examples at or below it, is represented by their TF-IDF centroid, reduced to its
heaviest words. Its evidence is the cosine of page and centroid, its membership a logistic curve of that, fitted to
examples held out of the centroid. If there is nothing to tell the examples from, the curve passes ½ at half their own
median cosine.

`posteriors` are the shares of membership^β over the classes: topics with keywords or examples of their own. β is fitted
if there are examples, otherwise 1. If there are keywords written by hand, "none of them" is a class too, with the
membership ½: a page that fits nothing gets little everywhere.

A topic with neither keywords nor examples has the membership of the best topic below it, or 0 if there is none.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from lycosa.errors import ConfigError, InputError
from lycosa.judges.calibration import ENOUGH, LEAST_MEMBERSHIP, Platt, Temperature, sigmoid
from lycosa.judges.classifier import ANY, Example
from lycosa.judges.labels import Labels, Truth, below, fitted_temperature, folds, number_of
from lycosa.judges.saved_arrays import AnyArray, pack, require, settings_from, topics_from, unpack
from lycosa.judges.taxonomy import topic_hint
from lycosa.judges.tfidf import TermSpace, labelled, vocabulary
from lycosa.lib.bounds import require_above_zero, require_at_least
from lycosa.lib.text import term_counts
from lycosa.model import Page

_KIND = "keywords 2"

Keywords = Mapping[str, Mapping[str, float]]
"""By topic: keywords of one or several words, with their weights."""
_Compiled = dict[str, dict[tuple[str, ...], float]]
"""The same, as stems."""


@dataclass(frozen=True, slots=True)
class WeightedKeywordsSettings:
    saturation: float = 1.2
    """Number of occurrences on a page of usual length at which a word counts half its weight."""
    length_share: float = 0.75
    """b: how much a page's length matters, from 0 to 1."""
    usual_words: int = 300
    centroid_words: int = 50
    """Number of words kept of a centroid: the heaviest."""
    max_words: int = 50_000
    folds: int = 3

    def __post_init__(self) -> None:
        require_above_zero(self, "keywords", "saturation")
        require_at_least(self, "keywords", length_share=0, usual_words=1, centroid_words=1, max_words=1, folds=2)
        if self.length_share > 1:
            raise ConfigError(f"keywords.length_share is {self.length_share}: it must be 1 or less")


class WeightedKeywordsClassifier:
    name = "keywords"
    short_texts = None
    reasons = None

    topics_: tuple[str, ...]
    classes_: tuple[str, ...]
    """Mutually exclusive: topics with keywords or examples of their own, and ANY if none of them may be right."""

    def __init__(self, keywords: Keywords | None = None, settings: WeightedKeywordsSettings | None = None) -> None:
        self.keywords = {topic: dict(words) for topic, words in (keywords or {}).items()}
        self.settings = settings or WeightedKeywordsSettings()

    @property
    def words_by_hand(self) -> str:
        return " ".join(word for words in self.keywords.values() for word in words)

    # ── learning ──────────────────────────────────────────────────────────────────────────────────────────

    def fit(self, examples: Iterable[Example], topics: Iterable[str]) -> Self:
        """Learn the topics without keywords. Examples are optional if some topic has keywords."""
        labels = Labels(tuple(topics))
        self.topics_ = labels.topics
        self._by_hand = _compile(self.keywords, self.topics_)
        self._space = vocabulary((example.page for example in examples), words=self.settings.max_words)
        matrix = self._space.matrix(labelled(self._space, examples, labels))
        if not self._by_hand and not any(labels.classes()):
            raise InputError("no topic has keywords, or an example that contains a word: give at least one of them")
        self._learn(matrix, labels)
        return self

    def _learn(self, matrix: Any, labels: Labels) -> None:
        learned = labels.classes() if len(labels) else ()
        by_class = labels.by_class(learned)
        self._set_classes(learned)
        truth = self._plan(learned, by_class)
        self._centroids = _centroids(matrix, truth, self.settings.centroid_words)
        cosines = np.full(truth.shape, np.nan)
        fold = folds(by_class, self.settings.folds) if len(by_class) else np.zeros(0, np.int64)
        for number in np.unique(fold):
            is_out = fold == number
            seen = truth & ~is_out[:, None]
            held_out = matrix[is_out] @ _centroids(matrix, seen, self.settings.centroid_words)
            cosines[is_out] = np.where(seen.any(axis=0), held_out, np.nan)
        curves = _curves(cosines, truth, matrix @ self._centroids)
        self._slopes = np.array([curve.slope for curve in curves])
        self._intercepts = np.array([curve.intercept for curve in curves])
        self._temperature = self._fit_temperature(cosines, learned, by_class)

    def _set_classes(self, learned: tuple[str, ...]) -> None:
        found = {*learned, *self._by_hand} | ({ANY} if self._by_hand else set())
        self.classes_ = tuple(sorted(found))
        self._below = below(self.classes_, self.topics_)

    def _plan(self, learned: tuple[str, ...], by_class: Truth) -> Truth:
        """Rows × centroids: the rows of each centroid. Topics with keywords or without examples have no centroid."""
        columns: dict[bytes, int] = {}
        truth: list[NDArray[np.bool_]] = []

        def centroid(positives: NDArray[np.bool_]) -> int:
            number = columns.setdefault(positives.tobytes(), len(truth))
            if number == len(truth):
                truth.append(positives)
            return number

        number_of = {name: column for column, name in enumerate(learned)}
        self._centroid_of_class = np.array(
            [
                centroid(by_class[:, number_of[name]]) if name in number_of and name not in self._by_hand else -1
                for name in self.classes_
            ],
            np.int64,
        )
        self._centroid_of_topic = np.full(len(self.topics_), -1, np.int64)
        for topic, members in enumerate(below(learned, self.topics_).T):
            if members.any() and self.topics_[topic] not in self._by_hand:
                self._centroid_of_topic[topic] = centroid((by_class @ members) > 0)
        return np.stack(truth, axis=1) if truth else np.zeros((len(by_class), 0), np.bool_)

    def _fit_temperature(self, cosines: NDArray[np.float64], learned: tuple[str, ...], by_class: Truth) -> Temperature:
        """Fitted to the classes with centroids; with fewer than two of them there is nothing to fit."""
        places = np.array([self.classes_.index(name) for name in learned], np.int64)
        columns = self._centroid_of_class[places]
        has_centroid = columns >= 0
        if has_centroid.sum() < 2:
            return Temperature()
        columns = columns[has_centroid]
        found = sigmoid(self._slopes[columns] * cosines[:, columns] + self._intercepts[columns])
        return fitted_temperature(found, by_class[:, has_centroid])

    # ── judging ───────────────────────────────────────────────────────────────────────────────────────────

    def posteriors(self, page: Page) -> NDArray[np.float64]:
        found = np.full(len(self.classes_), 0.5)  # ANY without examples: even odds
        has_centroid = self._centroid_of_class >= 0
        found[has_centroid] = sigmoid(self._log_odds(page))[self._centroid_of_class[has_centroid]]
        for topic in self._by_hand:
            found[self.classes_.index(topic)] = self._membership(page, topic)
        shares: NDArray[np.float64] = self._temperature.apply(np.log(found + LEAST_MEMBERSHIP)) @ self._below
        return np.minimum(shares, 1.0)

    def memberships(self, page: Page) -> NDArray[np.float64]:
        has_centroid = self._centroid_of_topic >= 0
        found = np.zeros(len(self.topics_))
        found[has_centroid] = sigmoid(self._log_odds(page))[self._centroid_of_topic[has_centroid]]
        for topic in self._by_hand:
            found[self.topics_.index(topic)] = self._membership(page, topic)
        for number in (~has_centroid).nonzero()[0]:
            topic = self.topics_[number]
            if topic not in self._by_hand:
                is_below = [name.startswith(f"{topic}/") for name in self.topics_]
                found[number] = found[is_below].max(initial=0.0)
        return found

    def strongest(self, page: Page, topic: str, count: int = 10) -> Mapping[str, float]:
        centroid = self._centroid_of_topic[number_of(topic, self.topics_)]
        if topic in self._by_hand:
            shares = self._shares(page, topic)
        elif centroid >= 0:
            columns, values = self._space.vector(page)
            products = (values * self._centroids[columns, centroid]).tolist()
            shares = dict(zip(map(self._space.terms.__getitem__, columns.tolist()), products, strict=True))
        else:
            return {}
        order = sorted(shares, key=lambda word: (-abs(shares[word]), word))[:count]
        return {word: shares[word] for word in order if shares[word]}

    def _log_odds(self, page: Page) -> NDArray[np.float64]:
        """By centroid."""
        columns, values = self._space.vector(page)
        cosines = values @ self._centroids[columns]
        odds: NDArray[np.float64] = self._slopes * cosines + self._intercepts
        return odds

    def _membership(self, page: Page, topic: str) -> float:
        evidence = max(0.0, sum(self._shares(page, topic).values()))
        return evidence / (1 + evidence)

    def _shares(self, page: Page, topic: str) -> dict[str, float]:
        """Each keyword's contribution to the evidence."""
        count_of = page.terms.get
        settings = self.settings
        length = 1 - settings.length_share + settings.length_share * page.words / settings.usual_words
        half = settings.saturation * length
        shares: dict[str, float] = {}
        for words, weight in self._by_hand[topic].items():
            count = min(count_of(word, 0) for word in words)
            if count:
                shares[" ".join(words)] = weight * count / (count + half)
        return shares

    # ── storing ───────────────────────────────────────────────────────────────────────────────────────────

    def save(self) -> bytes:
        meta = {"settings": asdict(self.settings), "topics": self.topics_, "classes": self.classes_}
        meta["keywords"] = self.keywords
        arrays: dict[str, AnyArray] = {
            "centroids": self._centroids,
            "centroid_of_class": self._centroid_of_class,
            "centroid_of_topic": self._centroid_of_topic,
            "curves": np.stack([self._slopes, self._intercepts]),
            "temperature": self._temperature.to_array(),
        }
        return pack(_KIND, meta, {**arrays, **self._space.to_arrays()})

    @classmethod
    def load(cls, data: bytes) -> Self:
        names = ("centroids", "centroid_of_class", "centroid_of_topic", "curves", "temperature")
        meta, arrays = unpack(_KIND, data, (*names, *TermSpace.ARRAYS))
        loaded = cls(meta.get("keywords"), settings_from(WeightedKeywordsSettings, meta))
        loaded.topics_, classes = topics_from(meta)
        try:
            loaded._by_hand = _compile(loaded.keywords, loaded.topics_)
        except InputError as error:
            raise ValueError(f"a saved classifier with invalid keywords: {error}") from error
        loaded._set_classes(classes)
        loaded._space = TermSpace.from_arrays(arrays)
        loaded._centroids = arrays["centroids"]
        require(loaded._centroids.ndim == 2 and len(loaded._centroids) == len(loaded._space), "centroids")
        count = loaded._centroids.shape[1]
        require(arrays["curves"].shape == (2, count), "curves")
        loaded._slopes, loaded._intercepts = arrays["curves"]
        loaded._centroid_of_class, loaded._centroid_of_topic = arrays["centroid_of_class"], arrays["centroid_of_topic"]
        require(loaded._centroid_of_class.shape == (len(loaded.classes_),), "classes")
        require(loaded._centroid_of_topic.shape == (len(loaded.topics_),), "topics")
        for column_of in (loaded._centroid_of_class, loaded._centroid_of_topic):
            require(bool(((column_of >= -1) & (column_of < count)).all()), "centroids")
        loaded._temperature = Temperature.from_array(arrays["temperature"])
        return loaded


def _compile(keywords: Keywords, topics: tuple[str, ...]) -> _Compiled:
    compiled: _Compiled = {}
    for topic, words in keywords.items():
        if topic not in topics:
            raise InputError(f"keywords: there is no topic {topic!r}{topic_hint(topic, topics)}")
        found: dict[tuple[str, ...], float] = {}
        for word, weight in words.items():
            if not (stems := tuple(sorted(term_counts(word)))):
                raise InputError(f"the keyword {word!r} of {topic!r} is a stop word or not a word: choose another")
            if not math.isfinite(weight):
                raise InputError(f"the keyword {word!r} of {topic!r} has the weight {weight}: it must be a number")
            found[stems] = found.get(stems, 0.0) + weight
        if not any(weight > 0 for weight in found.values()):
            raise InputError(f"the keywords of {topic!r} have no weight above 0: no page could fit it")
        compiled[topic] = found
    return compiled


def _centroids(matrix: Any, truth: Truth, count: int) -> NDArray[np.float32]:
    """Terms × centroids: the mean of each column's rows, reduced to its heaviest terms and scaled to length 1."""
    centroids = np.zeros((matrix.shape[1], truth.shape[1]), np.float32)
    for column, members in enumerate(truth.T):
        if members.any():
            total = matrix[members].sum(axis=0)
            kept = np.argsort(-total, kind="stable")[:count]
            centroids[kept, column] = total[kept] / np.linalg.norm(total[kept])
    return centroids


def _curves(cosines: NDArray[np.float64], truth: Truth, seen: NDArray[np.float64]) -> list[Platt]:
    """By centroid: the curve from cosines (held out or, as a stopgap, `seen`) to membership."""
    is_known = ~np.isnan(cosines)
    has_both = [bool(truth[known, c].any() and not truth[known, c].all()) for c, known in enumerate(is_known.T)]
    usable = is_known & np.array(has_both, np.bool_)
    common = Platt.fit(cosines[usable], truth[usable]) if usable.any() else None
    curves = []
    for column, known in enumerate(is_known.T):
        if has_both[column] and truth[known, column].sum() >= ENOUGH:
            curves.append(Platt.fit(cosines[known, column], truth[known, column]))
        elif common is not None and not truth[:, column].all():
            curves.append(common)
        else:
            middle = max(0.5 * float(np.median(seen[truth[:, column], column])), 1e-3)
            curves.append(Platt(4 / middle, -4.0))
    return curves
