"""The interface between examples and judges: a classifier learns from a taxonomy's examples how pages fit its topics.

A topic is named by its path below the root, `Recreation/Cycling`; its parent is the path without the last name. The
root itself, ANY, is the empty path: every document belongs to it. `topic_judges.py` makes judges of a classifier and a
set of good topics, or of a classifier and a formula.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from lycosa.model import Page

ANY = ""

Judging = Callable[[Page], NDArray[np.float64]]
"""How well a page fits each topic, in [0, 1]."""
Reasons = Callable[[Page], Sequence[str]]
"""Why a page fits the topics it fits, a sentence each, beyond its words."""


class Example(NamedTuple):
    """A document with the topics a person put it under."""

    page: Page
    """Title, text and terms are used; the text may be missing (pages of a world), the terms never are."""
    topics: tuple[str, ...]
    """Paths. Most documents have one; an inner topic may have examples of its own."""


class Classifier(Protocol):
    """Learned attributes end in an underscore; an unfitted classifier has none of them.

    One that decides by a signed score may have `margins` besides: a `Judging` whose values are those scores, above 0
    on the topic's side and NaN where the topic has no plane of its own (`SvmClassifier.margins`).
    """

    name: str
    topics_: tuple[str, ...]
    """All topics below ANY, including inner ones, sorted."""

    def fit(self, examples: Iterable[Example], topics: Sequence[str]) -> Self:
        """Learn. The examples may be iterated several times, each time from the start; they need not fit in memory."""

    def posteriors(self, page: Page) -> NDArray[np.float64]:
        """Pr[topic | page] by topic: siblings are mutually exclusive, and a topic has at most its parent's."""

    def memberships(self, page: Page) -> NDArray[np.float64]:
        """How well the page fits each topic by itself, in [0, 1]: a page may belong to several. Formulas use this."""

    @property
    def words_by_hand(self) -> str:
        """Keywords that people wrote, as far as it goes by them."""

    @property
    def short_texts(self) -> Judging | None:
        """`memberships` for a few words, such as an anchor; None: those of pages serve as well."""

    @property
    def reasons(self) -> Reasons | None:
        """Such as the examples it is nearest to; None if its words say all."""

    def strongest(self, page: Page, topic: str, count: int = 10) -> Mapping[str, float]:
        """The page's words that speak most for (above 0) or against (below 0) the topic, strongest first."""

    def save(self) -> bytes:
        """What was learned, in a form that contains no code."""

    @classmethod
    def load(cls, data: bytes) -> Self:
        """The inverse of `save`; ValueError if the bytes are not its output."""


def parent_of(topic: str) -> str:
    """`Recreation` for `Recreation/Cycling`; ANY for a topic at the top."""
    return topic.rpartition("/")[0]


def leaves_of(topics: Sequence[str]) -> list[int]:
    """Positions of the topics with none below them. Sorting does not put `a/b` next to `a`: `a-b` comes between."""
    inner = {parent_of(topic) for topic in topics}
    return [place for place, topic in enumerate(topics) if topic not in inner]


def with_ancestors(topics: Iterable[str]) -> tuple[str, ...]:
    """These topics and all above them except ANY, each once, sorted."""
    found: set[str] = set()
    for topic in topics:
        while topic and topic not in found:
            found.add(topic)
            topic = parent_of(topic)
    return tuple(sorted(found))
