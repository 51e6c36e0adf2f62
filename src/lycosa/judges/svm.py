"""Linear support vector machines on words and bi-grams (paper GA, section 2), one per topic.

Each topic is separated from all other examples; an inner topic's examples are those of all topics below it. A
document's signed distances from these planes are its decisions:

    decision(d, topic) = Σ weight(t, d) · w(t, topic) + b(topic)         weight: see `tfidf`

`memberships` are the decisions mapped by a logistic curve per topic (Platt). `posteriors` are the shares of the classes
(`labels`) in membership^β, summed up the tree: a page far on the positive side of two planes is shared by both, where a
softmax of decisions would be certain of one. Curves and β are fitted to decisions on held-out examples: the planes are
learned once per fold without it, and once from everything.

Differs from GA, which has one topic and negatives "randomly chosen": here negatives are the examples of the other
topics or of none. A single topic without them cannot be learned.

A topic without examples, its own or below, gets membership 0 and posterior 0. A topic that contains all
examples has nothing to be separated from: it gets the best value of the topics below it.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from lycosa.errors import InputError
from lycosa.judges.calibration import ENOUGH, LEAST_MEMBERSHIP, Platt, Temperature, sigmoid
from lycosa.judges.classifier import Example
from lycosa.judges.labels import Labels, Truth, below, fitted_temperature, folds, number_of, require_contrast
from lycosa.judges.saved_arrays import AnyArray, pack, require, settings_from, topics_from, unpack
from lycosa.judges.tfidf import TermSpace, labelled, vocabulary
from lycosa.lib.bounds import require_above_zero, require_at_least
from lycosa.lib.extras import required
from lycosa.model import Page

_KIND = "svm 2"
_NO_EXAMPLES = -1
_ALL_EXAMPLES = -2
_UNCALIBRATED = Platt(2.0, 0.0)
"""Used if no example could be held out."""
_MOST_POOLED = 500_000
_NO_PAGE: tuple[Page | None, NDArray[np.float64]] = (None, np.zeros(0))


@dataclass(frozen=True, slots=True)
class SvmSettings:
    cost: float = 1.0
    """C, the cost of an example on the wrong side: higher values follow the examples more closely."""
    max_words: int = 100_000
    max_bigrams: int = 50_000
    """0: words only."""
    bigram_window: int = 200
    """Number of words at the beginning of a page that bi-grams are made of."""
    least_documents: int = 1
    """Minimum number of examples a word must occur in."""
    least_bigram_documents: int = 3
    folds: int = 3
    """Number of parts the examples are divided into, each held out once for calibration."""
    max_held_out: int = 20_000
    """Maximum number of examples used for calibration; the planes themselves are learned from all."""

    def __post_init__(self) -> None:
        require_above_zero(self, "svm", "cost")
        require_at_least(self, "svm", max_words=1, max_bigrams=0, bigram_window=2, least_documents=1)
        require_at_least(self, "svm", least_bigram_documents=1, folds=2, max_held_out=1)


class SvmClassifier:
    name = "svm"
    words_by_hand = ""
    short_texts = None
    reasons = None

    topics_: tuple[str, ...]
    classes_: tuple[str, ...]
    """Mutually exclusive: topics with examples of their own, and ANY if there were negatives."""

    def __init__(self, settings: SvmSettings | None = None) -> None:
        self.settings = settings or SvmSettings()
        self._latest = _NO_PAGE

    # ── learning ──────────────────────────────────────────────────────────────────────────────────────────

    def fit(self, examples: Iterable[Example], topics: Iterable[str]) -> Self:
        settings = self.settings
        self._space = vocabulary(
            (example.page for example in examples),
            words=settings.max_words,
            bigrams=settings.max_bigrams,
            bigram_window=settings.bigram_window,
            least_words=settings.least_documents,
            least_bigrams=settings.least_bigram_documents,
        )
        labels = Labels(tuple(topics))
        # In liblinear's format: otherwise the whole matrix would be converted and sorted again for every plane.
        matrix = self._space.matrix(labelled(self._space, examples, labels)).astype(np.float64)
        matrix.sort_indices()
        if not len(labels):
            raise InputError("no example contains a word: give each topic pages to learn from")
        self.topics_ = labels.topics
        self.classes_ = labels.classes()
        by_class = labels.by_class(self.classes_)
        require_contrast(self.classes_, by_class)
        self._below = below(self.classes_, self.topics_)
        truth = self._plan(by_class)
        self._weights, self._offsets = _train(matrix, truth, settings)
        self._calibrate(matrix, truth, by_class)
        return self

    def _plan(self, by_class: Truth) -> Truth:
        """Rows × planes: the rows on the positive side of each plane. Equal sets of examples share a plane."""
        planes: dict[bytes, int] = {}
        truth: list[NDArray[np.bool_]] = []

        def plane(positives: NDArray[np.bool_]) -> int:
            if not positives.any():
                return _NO_EXAMPLES
            if positives.all():
                return _ALL_EXAMPLES
            number = planes.setdefault(positives.tobytes(), len(truth))
            if number == len(truth):
                truth.append(positives)
            return number

        self._plane_of_class = np.array([plane(column) for column in by_class.T], np.int64)
        self._plane_of_topic = np.array([plane((by_class @ members) > 0) for members in self._below.T], np.int64)
        return np.stack(truth, axis=1)

    def _calibrate(self, matrix: Any, truth: Truth, by_class: Truth) -> None:
        chosen = np.arange(0, len(truth), -(-len(truth) // self.settings.max_held_out))
        matrix, truth, by_class = matrix[chosen], truth[chosen], by_class[chosen]
        decisions = _held_out(matrix, truth, folds(by_class, self.settings.folds), self.settings)
        curves = _curves(decisions, truth)
        self._slopes = np.array([curve.slope for curve in curves])
        self._intercepts = np.array([curve.intercept for curve in curves])
        held_out = sigmoid(self._slopes * decisions + self._intercepts)
        memberships = np.where(self._plane_of_class >= 0, held_out[:, self._plane_of_class], np.nan)
        self._temperature = fitted_temperature(memberships, by_class)

    # ── judging ───────────────────────────────────────────────────────────────────────────────────────────

    def posteriors(self, page: Page) -> NDArray[np.float64]:
        found = sigmoid(self._slopes * self._decisions(page) + self._intercepts)
        scores = found[np.maximum(self._plane_of_class, 0)]
        scores[self._plane_of_class == _ALL_EXAMPLES] = 1.0
        shares: NDArray[np.float64] = self._temperature.apply(np.log(scores + LEAST_MEMBERSHIP)) @ self._below
        return np.minimum(shares, 1.0)

    def memberships(self, page: Page) -> NDArray[np.float64]:
        scores = sigmoid(self._slopes * self._decisions(page) + self._intercepts)
        found = scores[np.maximum(self._plane_of_topic, 0)]
        found[self._plane_of_topic == _NO_EXAMPLES] = 0.0
        for topic in (self._plane_of_topic == _ALL_EXAMPLES).nonzero()[0]:
            members = self._plane_of_class[self._below[:, topic] > 0]
            found[topic] = scores[members[members >= 0]].max() if (members >= 0).any() else 1.0
        return found

    def margins(self, page: Page) -> NDArray[np.float64]:
        """By topic: the decision itself, not calibrated; its boundary is 0 (paper GA: PARENT_k, the community).

        NaN for a topic without examples, or with all of them: it has no plane.
        """
        found = self._decisions(page)[np.maximum(self._plane_of_topic, 0)]
        found[self._plane_of_topic < 0] = np.nan
        return found

    def strongest(self, page: Page, topic: str, count: int = 10) -> Mapping[str, float]:
        plane = self._plane_of_topic[number_of(topic, self.topics_)]
        if plane < 0:
            return {}
        vector = self._space.vector(page)
        shares = vector.values * self._weights[vector.columns, plane]
        order = np.argsort(-np.abs(shares), kind="stable")[:count]
        return {self._space.terms[int(vector.columns[i])]: float(shares[i]) for i in order if shares[i]}

    def _decisions(self, page: Page) -> NDArray[np.float64]:
        """By plane. Those of the latest page are kept: posteriors and margins are asked for one after the other."""
        latest, decisions = self._latest
        if latest is not page:
            columns, values = self._space.vector(page)
            scores: NDArray[np.floating] = values @ self._weights.take(columns, axis=0) + self._offsets
            decisions = scores.astype(np.float64)
            self._latest = page, decisions
        return decisions

    def __getstate__(self) -> dict[str, Any]:
        """For other processes: without the latest page."""
        return self.__dict__ | {"_latest": _NO_PAGE}

    # ── storing ───────────────────────────────────────────────────────────────────────────────────────────

    def save(self) -> bytes:
        meta = {"settings": asdict(self.settings), "topics": self.topics_, "classes": self.classes_}
        arrays: dict[str, AnyArray] = {
            "weights": self._weights,
            "offsets": self._offsets,
            "plane_of_class": self._plane_of_class,
            "plane_of_topic": self._plane_of_topic,
            "curves": np.stack([self._slopes, self._intercepts]),
            "temperature": self._temperature.to_array(),
        }
        return pack(_KIND, meta, {**arrays, **self._space.to_arrays()})

    @classmethod
    def load(cls, data: bytes) -> Self:
        names = ("weights", "offsets", "plane_of_class", "plane_of_topic", "curves", "temperature")
        meta, arrays = unpack(_KIND, data, (*names, *TermSpace.ARRAYS))
        loaded = cls(settings_from(SvmSettings, meta))
        loaded._space = space = TermSpace.from_arrays(arrays)
        loaded.topics_, loaded.classes_ = topics_from(meta)
        loaded._below = below(loaded.classes_, loaded.topics_)
        loaded._weights, loaded._offsets = weights, offsets = arrays["weights"], arrays["offsets"]
        loaded._plane_of_class, loaded._plane_of_topic = arrays["plane_of_class"], arrays["plane_of_topic"]
        count = len(offsets)
        require(weights.shape == (len(space), count) and weights.dtype == np.float32, "weights")
        require(arrays["curves"].shape == (2, count), "curves")
        for name, plane_of in (("classes", loaded._plane_of_class), ("topics", loaded._plane_of_topic)):
            wanted = len(loaded.classes_ if name == "classes" else loaded.topics_)
            require(plane_of.shape == (wanted,) and plane_of.dtype == np.int64, name)
            require(bool(((plane_of >= _ALL_EXAMPLES) & (plane_of < count)).all()), name)
        loaded._slopes, loaded._intercepts = arrays["curves"]
        loaded._temperature = Temperature.from_array(arrays["temperature"])
        return loaded


def _train(matrix: Any, truth: Truth, settings: SvmSettings) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Weights (terms × planes) and offsets of a plane per column of `truth`; NaN if its values are all equal."""
    # Here, as it loads slowly and only training needs it.
    svm = required("sklearn.svm", extra="learn", what="training an SVM")
    exceptions = required("sklearn.exceptions", extra="learn", what="training an SVM")
    weights = np.zeros((matrix.shape[1], truth.shape[1]), np.float32)
    offsets = np.full(truth.shape[1], np.nan, np.float32)
    with warnings.catch_warnings():
        # A plane that has not quite converged still separates, and is calibrated as it is.
        warnings.simplefilter("ignore", exceptions.ConvergenceWarning)
        for number, positives in enumerate(truth.T):
            if positives.any() and not positives.all():
                machine = svm.LinearSVC(C=settings.cost, random_state=0).fit(matrix, positives)
                weights[:, number], offsets[number] = machine.coef_[0], machine.intercept_[0]
    return weights, offsets


def _held_out(matrix: Any, truth: Truth, fold: NDArray[np.int64], settings: SvmSettings) -> NDArray[np.float64]:
    """Rows × planes: decisions by planes that have not seen the row; NaN where no such plane could be learned."""
    decisions = np.full(truth.shape, np.nan)
    for number in range(settings.folds):
        is_out = fold == number
        if is_out.any() and not is_out.all():
            weights, offsets = _train(matrix[~is_out], truth[~is_out], settings)
            decisions[is_out] = matrix[is_out] @ weights + offsets
    return decisions


def _curves(decisions: NDArray[np.float64], truth: Truth) -> list[Platt]:
    """By plane: the logistic curve from decision to membership."""
    is_known = ~np.isnan(decisions)
    step = 1 + decisions.size // _MOST_POOLED
    scores, is_true = decisions[is_known][::step], truth[is_known][::step]
    common = Platt.fit(scores, is_true) if is_true.any() else _UNCALIBRATED
    return [
        Platt.fit(decisions[known, plane], truth[known, plane]) if truth[known, plane].sum() >= ENOUGH else common
        for plane, known in enumerate(is_known.T)
    ]
