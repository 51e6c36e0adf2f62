"""What people say about pages teaches the judge of a book (paper FC, section 2.1: mark, refine and retrain).

A mark changes as little as it takes under which topics the page is filed in the book, so that the interest holds for a
useful page, and does not for one that is not useful:

    useful      an example of the topic; of every part of an AND, of the best-fitting part of an OR; no longer one of a
                topic under NOT
    not useful  no longer an example of the topic; of the worst-fitting part of an AND, of each part of an OR. A page
                that is an example of nothing is one of everything else.

A page that fits a topic below the wanted one better than not is filed there. Then the judge is trained again on all
examples. It depends on nothing but the book and the marks that stand, so a mark that is taken back leaves no trace.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import NamedTuple

from lycosa.judges.classifier import Classifier
from lycosa.judges.formula import And, Formula, Named, Not, Or, evaluate
from lycosa.judges.generalise import not_inward
from lycosa.judges.taxonomy import is_at_or_below
from lycosa.model import Page
from lycosa.topics.book import TopicBook
from lycosa.topics.judges import load_classifier, successor
from lycosa.topics.marks import Filing, Refiling, fingerprint

MARKS = "marks"
"""Setting of a judge: the fingerprint of the marks it has learned from; missing or empty: none."""
LIKELY = 0.5
"""Minimum share of a topic below the wanted one, for a page to be filed there."""


class Lesson(NamedTuple):
    version: int
    """Of the judge that knows the marks."""
    is_new: bool
    """It was trained just now."""
    untaught: tuple[str, ...]
    """URLs of marked pages whose text is not known."""


def teach(
    book: TopicBook, interest: Formula, said: Mapping[str, bool], text_of: Callable[[str], Page | None]
) -> Lesson:
    """Let these marks stand in the book (by URL, whether the page is useful), and train its judge if they are others.

    `text_of`: the page of a URL; asked only for marks that are new.
    """
    standing = {row.url: row.is_useful for row in book.marks()}
    trained = book.load_judge()
    filings, untaught = [], []
    classifier: Classifier | None = None
    for url, is_useful in said.items():
        if standing.get(url) is is_useful:
            filings.append(Filing(url, is_useful))
            continue
        page = text_of(url)
        if page is None or not page.terms:
            untaught.append(url)
            continue
        classifier = classifier or load_classifier(trained)
        filings.append(Filing(url, is_useful, page, partial(_decided, classifier, interest, page, is_useful)))
    if {filing.url: filing.is_useful for filing in filings} != standing:
        book.set_marks(filings)
    known = fingerprint(book.marks())
    if known == trained.settings.get(MARKS, ""):
        return Lesson(trained.version, False, tuple(untaught))
    with book.examples() as examples:
        new = successor(trained, book).fit(examples, tuple(book.taxonomy().topics))
    report = {**trained.report, "marked_pages": len(filings)}
    settings = {**trained.settings, MARKS: known}
    version = book.save_judge(trained.kind, new.save(), settings=settings, report=report, trained_at=time.time())
    book.prune_judges()
    return Lesson(version, True, tuple(untaught))


def _decided(classifier: Classifier, interest: Formula, page: Page, is_useful: bool, own: Sequence[str]) -> Refiling:
    """What the mark changes for a document that is under these topics."""
    shares = dict(zip(classifier.topics_, classifier.posteriors(page).tolist(), strict=True))
    scores = dict(zip(classifier.topics_, classifier.memberships(page).tolist(), strict=True))
    filing = _Filing(own, shares, scores)
    return filing.satisfying(not_inward(interest)) if is_useful else filing.refuting(not_inward(interest))


class _Filing(NamedTuple):
    own: Sequence[str]
    shares: Mapping[str, float]
    """Pr[topic | page]."""
    scores: Mapping[str, float]
    """How well the page fits each topic by itself."""

    def satisfying(self, formula: Formula) -> Refiling:
        """So that the formula holds; NOT is at single topics only."""
        match formula:
            case Named(topic):
                return Refiling() if self._under(topic) else Refiling(adds=(self._home(topic),))
            case Not(Named(topic)):
                return Refiling(takes=self._under(topic))
            case And(parts):
                changes = [self.satisfying(part) for part in parts]
                return Refiling(*(tuple(dict.fromkeys(sum(each, ()))) for each in zip(*changes, strict=True)))
            case Or(parts):
                return self.satisfying(next(filter(self._holds, parts), max(parts, key=self._score)))
        raise TypeError(f"NOT of more than a topic: {formula}")

    def refuting(self, formula: Formula) -> Refiling:
        """So that it does not. Nothing is put under a topic: that a page is not wanted says not what it is about."""
        if not self._holds(formula):
            return Refiling()
        match formula:
            case Named(topic):
                return Refiling(takes=self._under(topic))
            case And(parts):
                removable = [part for part in parts if self.refuting(part).takes]
                return self.refuting(min(removable, key=self._score)) if removable else Refiling()
            case Or(parts):
                return Refiling(takes=tuple(topic for part in parts for topic in self.refuting(part).takes))
        return Refiling()

    def _under(self, topic: str) -> tuple[str, ...]:
        """Those of its topics that are this one or below it."""
        return tuple(own for own in self.own if is_at_or_below(own, topic))

    def _holds(self, formula: Formula) -> bool:
        match formula:
            case Named(topic):
                return bool(self._under(topic))
            case Not(part):
                return not self._holds(part)
            case And(parts):
                return all(map(self._holds, parts))
            case Or(parts):
                return any(map(self._holds, parts))

    def _score(self, formula: Formula) -> float:
        return evaluate(formula, self.scores)

    def _home(self, topic: str) -> str:
        """The topic, or the likeliest one below it, if that is likely enough."""
        below = [each for each in self.shares if each != topic and is_at_or_below(each, topic)]
        likely = max(below, key=lambda each: self.shares[each], default=topic)
        return likely if self.shares.get(likely, 0.0) > max(LIKELY, LIKELY * self.shares.get(topic, 0.0)) else topic
