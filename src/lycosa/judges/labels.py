"""Which example is under which topic, and what follows from the tree of topics.

A *class* is a topic, possibly an inner one, with examples of its own, or ANY for documents under no topic at all.
Classes are mutually exclusive; a topic's share is the sum of the classes at and below it. So siblings never have more
than their parent, and an inner topic with examples of its own may have more than its children together.

Equal documents are one document: two examples with the same text, under the same topic or not, become one example under
the topics of both. Otherwise a learner would be told that one page is and is not about sailing.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

from lycosa.errors import InputError
from lycosa.judges.calibration import LEAST_MEMBERSHIP, Temperature
from lycosa.judges.classifier import ANY, parent_of, with_ancestors
from lycosa.judges.taxonomy import topic_hint
from lycosa.model import Page

Truth = NDArray[np.bool_]
Pooled = NDArray[np.float64]


class Labels:
    """The topics of examples, by row."""

    def __init__(self, topics: Sequence[str]) -> None:
        self.topics = with_ancestors(topics)
        if not self.topics:
            raise InputError("no topic to learn: give at least one below the root")
        self._known = set(self.topics)
        self._own: list[frozenset[str]] = []
        self._row_of: dict[bytes, int] = {}

    def __len__(self) -> int:
        return len(self._own)

    def add(self, page: Page, topics: Iterable[str]) -> bool:
        """Whether the document is a new row; if it has been added before, only its topics are added."""
        own = frozenset(topic for topic in topics if topic != ANY)
        for topic in own - self._known:
            raise InputError(f"example {page.url}: there is no topic {topic!r}{topic_hint(topic, self.topics)}")
        row = self._row_of.setdefault(document_key(page), len(self._own))
        if row < len(self._own):
            self._own[row] |= own
            return False
        self._own.append(own)
        return True

    def classes(self) -> tuple[str, ...]:
        """Sorted; ANY comes first if some rows have no topic."""
        found: set[str] = set().union(*self._own)
        return tuple(sorted(found if all(self._own) else {ANY, *found}))

    def by_class(self, classes: Sequence[str]) -> Truth:
        """Rows × classes: which rows are in which classes."""
        truth = np.zeros((len(self), len(classes)), np.bool_)
        number = {name: column for column, name in enumerate(classes)}
        for row, own in enumerate(self._own):
            truth[row, [number[topic] for topic in own or (ANY,)]] = True
        return truth


def number_of(topic: str, topics: Sequence[str]) -> int:
    """Its position among the topics; InputError if it is not one of them."""
    if topic not in topics:
        raise InputError(f"there is no topic {topic!r}{topic_hint(topic, topics)}")
    return topics.index(topic)


def document_key(page: Page) -> bytes:
    """Equal for documents with the same words, equally often and, as far as known, in the same order."""
    whole = f"{sorted(page.terms.items())}\n{page.title}\n{page.content}"
    return blake2b(whole.encode("utf-8", "replace"), digest_size=16).digest()


def require_contrast(classes: Sequence[str], by_class: Truth) -> None:
    """InputError if all examples are in the same classes: there is nothing to tell them from."""
    if by_class.all():
        raise InputError(
            f"all examples are under {' and '.join(map(repr, classes))}, with nothing to tell them from: "
            "add examples of other topics, or negatives (pages on no topic)"
        )


def below(classes: Sequence[str], topics: Sequence[str]) -> Pooled:
    """Classes × topics: 1 where the class is at or below the topic."""
    number = {topic: column for column, topic in enumerate(topics)}
    pooled = np.zeros((len(classes), len(topics)))
    for row, topic in enumerate(classes):
        while topic != ANY:
            pooled[row, number[topic]] = 1.0
            topic = parent_of(topic)
    return pooled


def folds(truth: Truth, count: int) -> NDArray[np.int64]:
    """By row: the fold it is held out in, by its first class."""
    return blocks(truth.argmax(axis=1), count)


def blocks(classes: NDArray[np.int64], count: int) -> NDArray[np.int64]:
    """By row: the fold it is held out in. Each class is cut into `count` blocks of neighbouring rows.

    Blocks, not every third row: neighbours are often alike (one thread, one site), and a model that has seen a
    page's neighbour is surer of it than it will be of new pages.
    """
    fold = np.zeros(len(classes), np.int64)
    order = np.argsort(classes, kind="stable")
    for number, rows in enumerate(np.split(order, np.flatnonzero(np.diff(classes[order])) + 1)):
        # Each class starts at another fold, or the first fold would hold out all classes of one or two rows.
        fold[rows] = (np.arange(len(rows)) * count // max(len(rows), count) + number) % count
    return fold


def likeliest(scores: Pooled, truth: Truth) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Rows, and for each the class it is taken to be in: the best-scoring of its own classes.

    Posteriors predict that the best class is among a document's own, not which of them it is. Rows none of whose own
    classes has a score (NaN: it could not be learned without the row) are left out.
    """
    own = np.where(truth & ~np.isnan(scores), scores, -np.inf)
    rows = np.flatnonzero(np.isfinite(own).any(axis=1))
    return rows, own[rows].argmax(axis=1)


def fitted_temperature(memberships: Pooled, truth: Truth) -> Temperature:
    """Fitted to memberships of held-out rows by class; NaN where they could not be learned."""
    scores = np.log(memberships + LEAST_MEMBERSHIP)
    rows, classes = likeliest(scores, truth)
    return Temperature.fit(np.nan_to_num(scores[rows], nan=math.log(LEAST_MEMBERSHIP)), classes)
