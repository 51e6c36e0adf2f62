"""How good a judge is before it is used: cross-validation over the examples, then the fit on all of them.

Documents are assigned to k folds by a hash of their words, topic by topic: copies of a document are never on both
sides, every topic is spread over the folds, and a second run gives the same folds. Each fold is judged by a classifier
trained on the others.

What is counted: the prediction is the leaf with the largest Pr[leaf | document]. It is correct if the document was put
under that leaf or under a topic above it: a person who filed a page under Recreation has said nothing against
Recreation/Cycling. Each document counts once, for its home: the one of its topics that was hit or, failing that, the
one considered most likely. So precision and recall are those of a problem with one answer each, and macro-F1 is the
mean over the topics tested. A document whose topics have no other example cannot be judged by a classifier that has not
seen it; such topics are reported as untested instead of counting as failures. Documents under no topic are learned
from; when they are judged, only their relevance counts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lycosa.errors import InputError
from lycosa.judges.calibration import expected_calibration_error
from lycosa.judges.classifier import ANY, Classifier, Example, leaves_of, with_ancestors
from lycosa.judges.taxonomy import is_at_or_below
from lycosa.lib.bounds import require_at_least
from lycosa.topics.documents import terms_hash

Progress = Callable[[str, int, int], None]
"""Called with the current step, how much of it is done, and of how much."""

_REPORT_EVERY = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingSettings:
    folds: int = 5
    confusions: int = 20
    """Number of pairs of topics reported."""

    def __post_init__(self) -> None:
        require_at_least(self, "training", folds=2, confusions=0)


@dataclass(frozen=True, slots=True)
class TopicQuality:
    topic: str
    examples: int
    """Documents directly under this topic, copies counted once."""
    tested: int
    precision: float
    recall: float
    f1: float


@dataclass(frozen=True, slots=True)
class Confusion:
    topic: str
    taken_for: str
    count: int
    share: float
    """Share of the topic's tested documents."""


@dataclass(frozen=True, slots=True)
class RelevanceQuality:
    """The question a crawl asks: is the document under a good topic? R = Σ Pr[good topic | document]."""

    tested: int
    relevant: int
    precision: float
    """At R ≥ 0.5."""
    recall: float
    calibration_error: float


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingReport:
    """Result of a cross-validation. `plain()` can be written as JSON."""

    documents: int
    copies: int
    """Number of examples with the same words as another."""
    folds: int
    tested: int
    accuracy: float
    macro_f1: float
    calibration_error: float
    topics: tuple[TopicQuality, ...] = ()
    confusions: tuple[Confusion, ...] = ()
    """Most frequent first."""
    untested: tuple[str, ...] = ()
    """Topics with examples, but too few to hold one out."""
    without_examples: tuple[str, ...] = ()
    """Topics without examples at or below them: nothing can be learned about these."""
    relevance: RelevanceQuality | None = None
    """Only if topics are marked good."""

    def plain(self) -> dict[str, Any]:
        return asdict(self)


def no_progress(_step: str, _done: int, _total: int) -> None: ...


def cross_validate(
    make: Callable[[], Classifier],
    examples: Iterable[Example],
    topics: Sequence[str],
    *,
    good: Sequence[str] = (),
    settings: TrainingSettings = TrainingSettings(),  # noqa: B008 - frozen
    progress: Progress = no_progress,
) -> TrainingReport:
    """Judge every example with a classifier that has not seen it. The examples are iterated many times."""
    progress("counting", 0, 1)
    survey = _Survey(examples, topics)
    if not survey.documents:
        raise InputError("there is no example to learn from; add some with: lycosa topics import")
    folds, count = survey.assign_folds(settings.folds)
    results = _Results(good)
    if count > 1:
        for fold in range(count):
            in_fold = folds == fold
            step = f"fold {fold + 1} of {count}"
            progress(f"{step}: learning", 0, 1)
            classifier = make().fit(_Part(examples, ~in_fold), topics)
            known = survey.topics_of(~in_fold)
            leaves = [classifier.topics_[place] for place in leaves_of(classifier.topics_)]
            total = int(in_fold.sum())
            for number, example in enumerate(_Part(examples, in_fold)):
                if not number % _REPORT_EVERY:
                    progress(f"{step}: judging", number, total)
                if not example.topics or not known.isdisjoint(example.topics):
                    shares = classifier.posteriors(example.page).tolist()
                    results.add(example, dict(zip(classifier.topics_, shares, strict=True)), leaves)
    return _report(survey, results, count, settings)


class _Part:
    """Some of the examples, in order; can be iterated repeatedly."""

    def __init__(self, examples: Iterable[Example], is_in: NDArray[np.bool_]) -> None:
        self._examples = examples
        self._is_in = is_in

    def __iter__(self) -> Iterator[Example]:
        number = -1
        for number, example in enumerate(self._examples):
            if number >= len(self._is_in):
                break
            if self._is_in[number]:
                yield example
        if number + 1 != len(self._is_in):
            raise InputError("the examples changed while they were read; run the training again")


class _Survey:
    """One pass over the examples: which are copies, and which topics they are under."""

    def __init__(self, examples: Iterable[Example], topics: Sequence[str]) -> None:
        self.topics = with_ancestors(topics)
        number_of = {topic: number for number, topic in enumerate(self.topics)}
        hashes: list[int] = []
        self._labels: list[tuple[int, ...]] = []
        for example in examples:
            try:
                labels = tuple(number_of[topic] for topic in example.topics if topic != ANY)
            except KeyError as error:
                raise InputError(f"example {example.page.url}: there is no topic {error.args[0]!r}") from error
            hashes.append(int.from_bytes(terms_hash(example.page, 8), "big", signed=True))
            self._labels.append(labels)
        self._hashes = np.array(hashes, dtype=np.int64)
        _, self._first, self._document = np.unique(self._hashes, return_index=True, return_inverse=True)
        self.documents = len(self._first)
        self.copies = len(hashes) - self.documents

    def assign_folds(self, wanted: int) -> tuple[NDArray[np.int64], int]:
        """The fold of each example, and the number of folds."""
        count = min(wanted, self.documents)
        topic = np.array([self._labels[number][:1] or (-1,) for number in self._first], dtype=np.int64).ravel()
        order = np.lexsort((self._hashes[self._first], topic))
        fold = np.empty(self.documents, dtype=np.int64)
        fold[order] = np.arange(self.documents) % max(count, 1)
        return fold[self._document], count

    def topics_of(self, is_in: NDArray[np.bool_]) -> set[str]:
        return {self.topics[label] for number in np.flatnonzero(is_in) for label in self._labels[number]}

    def counts(self) -> Counter[str]:
        """Documents by topic, copies counted once."""
        pairs = {
            (int(document), label)
            for document, labels in zip(self._document, self._labels, strict=True)
            for label in labels
        }
        return Counter(self.topics[label] for _, label in pairs)


@dataclass(slots=True)
class _Results:
    good: Sequence[str]
    pairs: Counter[tuple[str, str]] = field(default_factory=Counter)
    """How often a home was taken for a topic; for itself if it was hit."""
    probabilities: list[float] = field(default_factory=list)
    is_hit: list[bool] = field(default_factory=list)
    relevance: list[float] = field(default_factory=list)
    is_relevant: list[bool] = field(default_factory=list)

    def add(self, example: Example, shares: Mapping[str, float], leaves: Sequence[str]) -> None:
        """`shares`: Pr[topic | document] of the topics the classifier knows; it may have had no example of others."""
        if self.good:
            self.relevance.append(min(1.0, sum(shares.get(topic, 0.0) for topic in self.good)))
            self.is_relevant.append(any(is_at_or_below(topic, good) for topic in example.topics for good in self.good))
        topics = [topic for topic in example.topics if topic != ANY]
        if not topics:
            return
        predicted = max(leaves, key=shares.__getitem__)
        hits = [topic for topic in topics if is_at_or_below(predicted, topic)]
        home = max(hits, key=len) if hits else max(topics, key=lambda topic: shares.get(topic, 0.0))
        self.pairs[home, home if hits else predicted] += 1
        self.probabilities.append(shares[predicted])
        self.is_hit.append(bool(hits))


def _report(survey: _Survey, results: _Results, folds: int, settings: TrainingSettings) -> TrainingReport:
    examples = survey.counts()
    truths: Counter[str] = Counter()
    predictions: Counter[str] = Counter()
    for (home, taken_for), count in results.pairs.items():
        truths[home] += count
        predictions[taken_for] += count
    qualities = []
    for topic in sorted(examples):
        right = results.pairs[topic, topic]
        precision, recall = _ratio(right, predictions[topic]), _ratio(right, truths[topic])
        f1 = _ratio(2 * precision * recall, precision + recall)
        qualities.append(TopicQuality(topic, examples[topic], truths[topic], precision, recall, f1))
    wrong = sorted((-count, pair) for pair, count in results.pairs.items() if pair[0] != pair[1])
    confusions = tuple(
        Confusion(topic, taken_for, -count, -count / truths[topic])
        for count, (topic, taken_for) in wrong[: settings.confusions]
    )
    tested = [quality for quality in qualities if quality.tested]
    return TrainingReport(
        documents=survey.documents,
        copies=survey.copies,
        folds=folds,
        tested=len(results.is_hit),
        accuracy=_ratio(sum(results.is_hit), len(results.is_hit)),
        macro_f1=_ratio(sum(quality.f1 for quality in tested), len(tested)),
        calibration_error=expected_calibration_error(results.probabilities, results.is_hit),
        topics=tuple(qualities),
        confusions=confusions,
        untested=tuple(quality.topic for quality in qualities if not quality.tested),
        without_examples=tuple(sorted(set(survey.topics) - set(with_ancestors(examples)))),
        relevance=_relevance(results),
    )


def _relevance(results: _Results) -> RelevanceQuality | None:
    if not results.relevance:
        return None
    predicted, true = np.array(results.relevance) >= 0.5, np.array(results.is_relevant)
    right = int((predicted & true).sum())
    return RelevanceQuality(
        tested=len(true),
        relevant=int(true.sum()),
        precision=_ratio(right, int(predicted.sum())),
        recall=_ratio(right, int(true.sum())),
        calibration_error=expected_calibration_error(results.relevance, results.is_relevant),
    )


def _ratio(part: float, whole: float) -> float:
    return part / whole if whole else 0.0
