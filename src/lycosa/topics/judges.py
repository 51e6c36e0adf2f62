"""From a topic book to a judge: the table of classifiers, and what a crawl asks of them.

A crawl names good topics (paper FC) or a formula over topics (paper AR); both need a classifier that was trained on the
book's examples (`lycosa topics train`).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from lycosa.errors import ConfigError, InputError
from lycosa.judges.bayes.bayes import BayesClassifier
from lycosa.judges.classifier import Classifier, Example
from lycosa.judges.formula import parse
from lycosa.judges.generalise import Way
from lycosa.judges.knn import KnnClassifier
from lycosa.judges.svm import SvmClassifier
from lycosa.judges.topic_judges import FormulaJudge, TopicJudge
from lycosa.judges.weighted_keywords import WeightedKeywordsClassifier
from lycosa.topics.book import TopicBook
from lycosa.topics.rows import TrainedJudge
from lycosa.topics.training import Report, TrainingSettings, train

CLASSIFIERS: Mapping[str, type[Any]] = {
    "bayes": BayesClassifier,
    "svm": SvmClassifier,
    "knn": KnnClassifier,
    "keywords": WeightedKeywordsClassifier,
}
Progress = Callable[[str, int, int], None]


def new_classifier(kind: str, book: TopicBook) -> Classifier:
    """One that has learned nothing yet."""
    if kind not in CLASSIFIERS:
        raise ConfigError(f"there is no judge {kind!r}; there are {', '.join(CLASSIFIERS)}")
    made: Classifier = (
        WeightedKeywordsClassifier(book.taxonomy().keywords) if kind == "keywords" else CLASSIFIERS[kind]()
    )
    return made


def load_classifier(trained: TrainedJudge) -> Classifier:
    """What was learned, ready to judge."""
    if trained.kind not in CLASSIFIERS:
        raise InputError(f"judge {trained.version} is of a kind this Lycosa does not know: {trained.kind!r}")
    try:
        loaded: Classifier = CLASSIFIERS[trained.kind].load(trained.model)
    except ValueError as error:
        raise InputError(f"judge {trained.version} ({trained.kind}) is damaged: {error}; train again") from error
    return loaded


def train_judge(
    book: TopicBook,
    kind: str,
    *,
    settings: TrainingSettings = TrainingSettings(),  # noqa: B008 - frozen
    progress: Progress | None = None,
) -> tuple[int, Report]:
    """Cross-validate, learn from everything, keep it in the book; gives its version and how good it is."""
    taxonomy = book.taxonomy()
    with book.examples() as examples:
        trained = train(
            lambda: new_classifier(kind, book),
            examples,
            tuple(taxonomy.topics),
            good=taxonomy.good,
            settings=settings,
            progress=progress,
        )
    version = book.save_judge(
        kind, trained.classifier.save(), settings={}, report=trained.report.plain(), trained_at=time.time()
    )
    return version, trained.report


def take_in(book: TopicBook, before: Sequence[Example], after: Sequence[Example]) -> int:
    """Examples were changed: naive Bayes counts them anew, without going over the others. Gives the new version.

    0 where there is nothing to change: no judge, or one that has to be trained again.
    """
    if not book.newest_version() or before == after:
        return 0
    trained = book.load_judge()
    if trained.kind != BayesClassifier.name:
        return 0
    try:
        updated = BayesClassifier.load(trained.model).update(added=after, removed=before)
    except (InputError, ValueError):  # a topic it has never heard of, an example it has not seen
        return 0
    report = {**trained.report, "updated_from": trained.version, "changed_examples": max(len(before), len(after))}
    return book.save_judge(
        trained.kind, updated.save(), settings=trained.settings, report=report, trained_at=time.time()
    )


def topic_judge(book: TopicBook, topics: Sequence[str], *, threshold: float) -> TopicJudge:
    """A judge for these topics, or, if none is named, for those marked good in the book."""
    taxonomy = book.taxonomy()
    good = [taxonomy.resolve(name) for name in topics] or taxonomy.good
    if not good:
        raise InputError(f"{book.path}: no topic is marked good; mark one with: lycosa topics mark-good NAME")
    return TopicJudge(load_classifier(book.load_judge()), good, threshold=threshold, keywords=taxonomy.keywords)


def interest_judge(
    book: TopicBook, interest: str, *, threshold: float, way: Way = Way.PARENT, not_after: bool = False
) -> FormulaJudge:
    """A judge for a formula over the book's topics."""
    taxonomy = book.taxonomy()
    return FormulaJudge(
        load_classifier(book.load_judge()),
        parse(interest, resolve=taxonomy.resolve),
        threshold=threshold,
        not_after=not_after,
        way=way,
        keywords=taxonomy.keywords,
    )
