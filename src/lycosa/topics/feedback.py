"""Turns what people say about pages into examples, and updates the judge (paper FC, section 2: refine and retrain).

A useful page becomes an example of the good topic it fits best; a page that is not useful becomes one of no topic: a
document of everything else. Naive Bayes adds the new counts; the other judges are retrained on the whole book. The new
version records the relevance of these pages before and after.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice

from lycosa.errors import InputError
from lycosa.judges.bayes.bayes import BayesClassifier
from lycosa.judges.classifier import Classifier, Example
from lycosa.judges.taxonomy import is_at_or_below
from lycosa.model import Page
from lycosa.topics.book import TopicBook
from lycosa.topics.judges import load_classifier, new_classifier

SAMPLE = 500
"""Number of examples used to check that the judge does not unlearn what it knew."""


@dataclass(frozen=True, slots=True)
class Mark:
    page: Page
    is_useful: bool


@dataclass(frozen=True, slots=True)
class Rejudged:
    """Relevance of a marked page before and after the judge learned from it."""

    url: str
    topic: str
    """The topic it was put under; empty: none."""
    is_useful: bool
    before: float
    after: float


@dataclass(frozen=True, slots=True)
class Lesson:
    version: int
    pages: tuple[Rejudged, ...]
    agreement_before: float
    """Share of a sample of the book's examples whose relevance the judge and people agree on."""
    agreement_after: float

    def __str__(self) -> str:
        changes = ", ".join(f"{each.url} {each.before:.2f} → {each.after:.2f}" for each in self.pages[:3])
        more = f" and {len(self.pages) - 3} more" if len(self.pages) > 3 else ""
        return (
            f"version {self.version} learned from {len(self.pages)} pages ({changes}{more}); agreement with the "
            f"examples {self.agreement_before:.1%} → {self.agreement_after:.1%}"
        )


def learn(book: TopicBook, marks: Sequence[Mark], good: Sequence[str]) -> Lesson:
    """Make examples of the marked pages, update the newest judge, and store it as a new version."""
    if not marks:
        raise InputError("no page is marked: give --useful URL or --not-useful URL")
    if not good:
        raise InputError("no topic is marked good: useful pages would not be examples of anything")
    trained = book.load_judge()
    old = load_classifier(trained)
    examples = [Example(mark.page, (_home(old, mark.page, good),) if mark.is_useful else ()) for mark in marks]
    known = {row.source for mark in marks for row in book.example_rows(source=mark.page.url)}
    added = book.add_examples(examples)
    fresh = [example for example in examples if example.page.url not in known] if added.added else []
    new = _refitted(book, trained.kind, trained.model, fresh)
    sample = list(islice(book.examples(with_text=trained.kind == "svm"), SAMPLE))
    before, after = (_agreement(each, sample, good) for each in (old, new))
    pages = tuple(
        Rejudged(
            mark.page.url,
            example.topics[0] if example.topics else "",
            mark.is_useful,
            _relevance(old, mark.page, good),
            _relevance(new, mark.page, good),
        )
        for mark, example in zip(marks, examples, strict=True)
    )
    report = {
        **trained.report,
        "feedback": [{"url": p.url, "is_useful": p.is_useful, "before": p.before, "after": p.after} for p in pages],
        "agreement_before": before,
        "agreement_after": after,
    }
    version = book.save_judge(
        trained.kind, new.save(), settings=trained.settings, report=report, trained_at=time.time()
    )
    return Lesson(version, pages, before, after)


def _refitted(book: TopicBook, kind: str, model: bytes, fresh: Sequence[Example]) -> Classifier:
    if kind == "bayes":
        # A copy: the old classifier is still needed for the relevance before.
        return BayesClassifier.load(model).update(added=fresh)
    with book.examples() as examples:
        return new_classifier(kind, book).fit(examples, tuple(book.taxonomy().topics))


def _home(classifier: Classifier, page: Page, good: Sequence[str]) -> str:
    """The good topic a page fits best, or the likeliest topic below it if that is more likely than not."""
    shares = dict(zip(classifier.topics_, classifier.posteriors(page), strict=True))
    best = max(good, key=lambda topic: float(shares.get(topic, 0.0)))
    below = [topic for topic in shares if topic != best and is_at_or_below(topic, best)]
    likely = max(below, key=lambda topic: float(shares[topic]), default=best)
    return likely if shares.get(likely, 0.0) > max(0.5, 0.5 * shares.get(best, 0.0)) else best


def _relevance(classifier: Classifier, page: Page, good: Sequence[str]) -> float:
    shares = dict(zip(classifier.topics_, classifier.posteriors(page), strict=True))
    return float(min(1.0, sum(shares.get(topic, 0.0) for topic in good)))


def _agreement(classifier: Classifier, examples: Iterable[Example], good: Sequence[str]) -> float:
    right = total = 0
    for page, topics in examples:
        is_good = any(is_at_or_below(topic, each) for topic in topics for each in good)
        right += (_relevance(classifier, page, good) >= 0.5) is is_good
        total += 1
    return right / max(1, total)
