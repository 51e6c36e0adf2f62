"""Which example is under which topic, and what follows from a tree of topics.

A *class* is a topic that has examples of its own, inner topics too, or ANY for documents that are under no topic at
all. Classes exclude each other; a topic's share is the sum of the classes at and below it. So siblings never have more
than their parent, and an inner topic with examples of its own may have more than its children together.

Equal documents are one document: where two examples have the same text, under the same topic or another, they
become one example under the topics of both. Otherwise a learner would be told of one page that it is and is not
about sailing.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

from lycosa.errors import InputError
from lycosa.judges.classifier import ANY, parent_of, with_ancestors
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
        """True where the document is a new row; False where it has been met before and only its topics were added."""
        own = frozenset(topic for topic in topics if topic != ANY)
        for topic in own - self._known:
            raise InputError(f"an example is under an unknown topic, {topic!r}{nearest(topic, self.topics)}")
        row = self._row_of.setdefault(document_key(page), len(self._own))
        if row < len(self._own):
            self._own[row] |= own
            return False
        self._own.append(own)
        return True

    def classes(self) -> tuple[str, ...]:
        """Sorted, so ANY comes first where some rows have no topic."""
        found: set[str] = set().union(*self._own)
        return tuple(sorted(found if all(self._own) else {ANY, *found}))

    def by_class(self, classes: Sequence[str]) -> Truth:
        """Rows × classes: which rows are in which classes."""
        truth = np.zeros((len(self), len(classes)), np.bool_)
        number = {name: column for column, name in enumerate(classes)}
        for row, own in enumerate(self._own):
            truth[row, [number[topic] for topic in own or (ANY,)]] = True
        return truth


def nearest(topic: str, topics: Sequence[str]) -> str:
    """The end of an error about a topic that does not exist."""
    found = get_close_matches(topic, topics, n=3, cutoff=0.3)
    return f"; the nearest are {', '.join(found)}" if found else ""


def number_of(topic: str, topics: Sequence[str]) -> int:
    """Its place among the topics; InputError where it is none of them."""
    if topic not in topics:
        raise InputError(f"unknown topic {topic!r}{nearest(topic, topics)}")
    return topics.index(topic)


def document_key(page: Page) -> bytes:
    """Equal for documents with the same words, equally often and, as far as is known, in the same order."""
    whole = f"{sorted(page.terms.items())}\n{page.title}\n{page.text}"
    return blake2b(whole.encode("utf-8", "replace"), digest_size=16).digest()


def require_contrast(classes: Sequence[str], by_class: Truth) -> None:
    """InputError where all examples are of one kind: there is nothing to tell them from."""
    if by_class.all():
        raise InputError(
            f"all examples are under {' and '.join(map(repr, classes))}, with nothing to tell them from: "
            "add examples of other topics, or negatives (pages of no topic)"
        )


def below(classes: Sequence[str], topics: Sequence[str]) -> Pooled:
    """Classes × topics: 1 where the class is the topic or stands below it."""
    number = {topic: column for column, topic in enumerate(topics)}
    pooled = np.zeros((len(classes), len(topics)))
    for row, topic in enumerate(classes):
        while topic != ANY:
            pooled[row, number[topic]] = 1.0
            topic = parent_of(topic)
    return pooled


def folds(truth: Truth, count: int) -> NDArray[np.int64]:
    """By row: the fold it is held out in, by the first class of each."""
    return blocks(truth.argmax(axis=1), count)


def blocks(classes: NDArray[np.int64], count: int) -> NDArray[np.int64]:
    """By row: the fold it is held out in. Each class is cut into so many blocks of neighbouring rows.

    Blocks, not every third row: neighbours are often alike (one thread, one site), and a model that has seen a
    page's neighbour is surer of it than it will be of pages to come.
    """
    fold = np.zeros(len(classes), np.int64)
    order = np.argsort(classes, kind="stable")
    for number, rows in enumerate(np.split(order, np.flatnonzero(np.diff(classes[order])) + 1)):
        # A class of one or two rows starts at a fold of its own, or the first fold would hold out all of these.
        fold[rows] = (np.arange(len(rows)) * count // max(len(rows), count) + number) % count
    return fold


def likeliest(scores: Pooled, truth: Truth) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Rows, and for each the class it is taken to be in: of its own classes the one that scores best.

    Posteriors promise that the best class is among a document's own, not which of them it is. Rows none of whose own
    classes has a score (NaN: it could not be learned without the row) are left out.
    """
    own = np.where(truth & ~np.isnan(scores), scores, -np.inf)
    rows = np.flatnonzero(np.isfinite(own).any(axis=1))
    return rows, own[rows].argmax(axis=1)
