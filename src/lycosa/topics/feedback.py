"""What people say of pages becomes examples, and the judge learns from them (paper FC, section 2: refine and retrain).

A useful page becomes an example of the good topic it fits best; a page that is not, an example of none: a document
of everything else. Naive Bayes takes the new counts in; the other judges learn again from the whole book. How the judge
saw the pages before and after is kept with the new version.
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
"""Examples over which it is watched that the judge does not unlearn what it knew."""


@dataclass(frozen=True, slots=True)
class Mark:
    """One page, and what was said of it."""

    page: Page
    is_useful: bool


@dataclass(frozen=True, slots=True)
class Seen:
    """How the judge saw a marked page before and after it learned."""

    url: str
    topic: str
    """Where it was put; empty: under none."""
    is_useful: bool
    before: float
    after: float


@dataclass(frozen=True, slots=True)
class Lesson:
    """What came of the feedback."""

    version: int
    """Of the judge."""
    seen: tuple[Seen, ...]
    agreement_before: float
    """Share of (a sample of) the book's examples on which the judge and people agree whether they are relevant."""
    agreement_after: float

    def __str__(self) -> str:
        changes = ", ".join(f"{each.url} {each.before:.2f} → {each.after:.2f}" for each in self.seen[:3])
        more = f" and {len(self.seen) - 3} more" if len(self.seen) > 3 else ""
        return (
            f"version {self.version} learned from {len(self.seen)} pages ({changes}{more}); agreement with the "
            f"examples {self.agreement_before:.1%} → {self.agreement_after:.1%}"
        )


def learn(book: TopicBook, marks: Sequence[Mark], good: Sequence[str]) -> Lesson:
    """Make examples of the marked pages, refit the newest judge, keep it as a new version."""
    if not marks:
        raise InputError("no page is marked: give --useful URL or --not-useful URL")
    if not good:
        raise InputError("no topic is good: it is not clear what useful pages are examples of")
    trained = book.load_judge()
    old = load_classifier(trained)
    examples = [Example(mark.page, (_home(old, mark.page, good),) if mark.is_useful else ()) for mark in marks]
    known = {row.source for mark in marks for row in book.example_rows(source=mark.page.url)}
    added = book.add_examples(examples)
    fresh = [example for example in examples if example.page.url not in known] if added.added else []
    new = _refitted(book, trained.kind, trained.model, fresh)
    sample = list(islice(book.examples(with_text=trained.kind == "svm"), SAMPLE))
    before, after = (_agreement(each, sample, good) for each in (old, new))
    seen = tuple(
        Seen(
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
        "feedback": [{"url": s.url, "is_useful": s.is_useful, "before": s.before, "after": s.after} for s in seen],
        "agreement_before": before,
        "agreement_after": after,
    }
    version = book.save_judge(
        trained.kind, new.save(), settings=trained.settings, report=report, trained_at=time.time()
    )
    return Lesson(version, seen, before, after)


def _refitted(book: TopicBook, kind: str, model: bytes, fresh: Sequence[Example]) -> Classifier:
    if kind == "bayes":
        # The old one's own copy: the old one is still asked what it thought before.
        return BayesClassifier.load(model).update(added=fresh)
    with book.examples() as examples:
        return new_classifier(kind, book).fit(examples, tuple(book.taxonomy().topics))


def _home(classifier: Classifier, page: Page, good: Sequence[str]) -> str:
    """The good topic a page fits best; below it, the leaf, if that is more likely than not."""
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
