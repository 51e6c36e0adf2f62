"""From a topic book to a judge.

A crawl names good topics (paper FC) or a formula over topics (paper AR); both need a classifier trained on the book's
examples (`lycosa topics train`).
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Unpack

from lycosa.errors import InputError
from lycosa.judges.bayes.bayes import BayesClassifier
from lycosa.judges.classifier import Classifier, Example
from lycosa.judges.formula import parse
from lycosa.judges.gp.judge import GpKnnClassifier
from lycosa.judges.table import CLASSIFIER_NAMES, classifier_class
from lycosa.judges.topic_judges import FormulaJudge, FormulaRules, TopicJudge, checked_frequencies
from lycosa.judges.weighted_keywords import WeightedKeywordsClassifier
from lycosa.topics.book import TopicBook
from lycosa.topics.evolving import CheckpointFolder, EvolutionChoice, evolving_classifier
from lycosa.topics.rows import TrainedJudge
from lycosa.topics.training import Progress, TrainingReport, TrainingSettings, cross_validate, no_progress

TOPIC_NUMBERS = "topics"
"""Among a judge's settings: the numbers of its topics in the book, which stay when a topic is moved or renamed."""


def new_classifier(
    kind: str,
    book: TopicBook,
    *,
    evolution: EvolutionChoice | None = None,
    progress: Progress = no_progress,
) -> Classifier:
    """`evolution`: how the judge gp-knn evolves; `progress`: told of it."""
    if kind == WeightedKeywordsClassifier.name:
        return WeightedKeywordsClassifier(book.taxonomy().keywords)
    if kind == GpKnnClassifier.name:
        return evolving_classifier(book.path, evolution or EvolutionChoice(), progress)
    return classifier_class(kind)()


def successor(trained: TrainedJudge, book: TopicBook) -> Classifier:
    """An untrained classifier like this one, for the book as it is now; an evolved similarity is kept as it is."""
    if trained.kind == GpKnnClassifier.name:
        before = load_classifier(trained)
        assert isinstance(before, GpKnnClassifier)
        return GpKnnClassifier(before.with_formula_kept())
    return new_classifier(trained.kind, book)


def load_classifier(trained: TrainedJudge) -> Classifier:
    if trained.kind not in CLASSIFIER_NAMES:
        raise InputError(f"judge {trained.version} is of a kind this Lycosa does not know: {trained.kind!r}")
    try:
        return classifier_class(trained.kind).load(trained.model)
    except ValueError as error:
        raise InputError(f"judge {trained.version} ({trained.kind}) is damaged: {error}; train again") from error


def train_judge(
    book: TopicBook,
    kind: str,
    *,
    settings: TrainingSettings = TrainingSettings(),  # noqa: B008 - frozen
    evolution: EvolutionChoice | None = None,
    progress: Progress = no_progress,
) -> tuple[int, TrainingReport]:
    """Cross-validate, train on everything, and store the judge in the book. Return its version and its quality.

    `evolution`: of the judge gp-knn. If it is interrupted, the same call goes on from the last generation.
    """
    numbers = book.topic_numbers()
    taxonomy = book.taxonomy()
    steps = _Steps(progress)
    topics = tuple(taxonomy.topics)
    make = partial(new_classifier, kind, book, evolution=evolution, progress=steps.within)
    with book.examples() as examples:
        report = cross_validate(make, examples, topics, good=taxonomy.good, settings=settings, progress=steps)
        steps("learning from all examples", 0, 1)
        classifier = make().fit(examples, topics)
        steps("learning from all examples", 1, 1)
    settings_kept = {TOPIC_NUMBERS: numbers}
    version = book.save_judge(
        kind, classifier.save(), settings=settings_kept, report=report.plain(), trained_at=time.time()
    )
    CheckpointFolder(book.path).remove()
    return version, report


class _Steps:
    """Tells of steps within the current one by both their names."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._step = ""

    def __call__(self, step: str, done: int, total: int) -> None:
        self._step = step
        self._progress(step, done, total)

    def within(self, step: str, done: int, total: int) -> None:
        self._progress(f"{self._step}, {step}", done, total)


def current_places(book: TopicBook, trained: TrainedJudge, classifier: Classifier) -> dict[str, str]:
    """Where the topics of a classifier are in the book now; those that were removed since are missing."""
    now = book.topic_numbers()
    numbers: Mapping[str, int] = trained.settings.get(TOPIC_NUMBERS, now)
    paths = {number: path for path, number in now.items()}
    found = {topic: paths.get(numbers.get(topic, 0)) for topic in classifier.topics_}
    return {topic: path for topic, path in found.items() if path is not None}


def update_judge(book: TopicBook, before: Sequence[Example], after: Sequence[Example]) -> int:
    """Update the newest judge for changed examples without reading the others. Return the new version.

    0 if nothing changed, there is no judge, or it must be retrained: only naive Bayes can be updated.
    """
    if not book.newest_version() or before == after:
        return 0
    trained = book.load_judge()
    if trained.kind != BayesClassifier.name:
        return 0
    try:
        updated = BayesClassifier.load(trained.model).update(added=after, removed=before)
    except (InputError, ValueError):  # a topic it does not know, or an example it has not counted
        return 0
    report = {**trained.report, "updated_from": trained.version, "changed_examples": max(len(before), len(after))}
    return book.save_judge(
        trained.kind, updated.save(), settings=trained.settings, report=report, trained_at=time.time()
    )


def topic_judge(
    book: TopicBook, topics: Sequence[str], *, threshold: float, languages: Sequence[str] = ()
) -> TopicJudge:
    """A judge for these topics or, if none is named, for those marked good in the book.

    `languages`: those of short texts; by default those of the examples.
    """
    taxonomy = book.taxonomy()
    good = [taxonomy.resolve(name) for name in topics] or taxonomy.good
    if not good:
        raise InputError(f"{book.path}: no topic is marked good; mark one with: lycosa topics mark-good NAME")
    return TopicJudge(
        load_classifier(book.load_judge()),
        good,
        threshold=threshold,
        keywords=taxonomy.keywords,
        languages=languages or book.languages(),
    )


def interest_judge(
    book: TopicBook,
    interest: str,
    *,
    threshold: float,
    given: Mapping[str, float] | None = None,
    languages: Sequence[str] = (),
    **rules: Unpack[FormulaRules],
) -> FormulaJudge:
    """A judge for a formula over the book's topics. `given`: how frequent some of them are, by any name they have."""
    taxonomy = book.taxonomy()
    formula = parse(interest, resolve=taxonomy.resolve)
    shares = {taxonomy.resolve(name): share for name, share in (given or {}).items()}
    return FormulaJudge(
        load_classifier(book.load_judge()),
        formula,
        threshold=threshold,
        given=checked_frequencies(shares, formula),
        keywords=taxonomy.keywords,
        languages=languages or book.languages(),
        **rules,
    )
