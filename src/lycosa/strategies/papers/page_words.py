"""The words of one page as the InfoSpiders look at them: its length as a vector, its commonest, those near its links.

In a replay many crawls, and in each of them many agents, look at the same page with different keywords. What does
not depend on the keywords is worked out once, when it is first asked for. The words near all links stand in one
column, sorted by word, so that where a keyword stands is found without reading the others.
"""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from itertools import chain, count
from math import sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lycosa.lib.text import stems
from lycosa.model import Link, Page

KEPT_TERMS = 32
"""The most frequent terms of the page a spider is at: one of them becomes a keyword of its child."""

Stems = Callable[[str], Sequence[str]]


class Numbering(defaultdict[str, int]):
    """Words with numbers in the order in which they are first met. Pages that are looked at together share one."""

    def __init__(self) -> None:
        super().__init__(count().__next__)


class Occurrences(NamedTuple):
    """The words near the links of a page, in the order of their numbers; of equal ones the first comes first."""

    words: NDArray[np.int32]
    links: NDArray[np.int32]
    """Near which link it stands."""
    places: NDArray[np.int32]
    """The how-manieth word of that link's context it is, from 0."""


class PageWords:
    def __init__(self, page: Page, numbering: Numbering | None = None, stems: Stems = stems) -> None:
        self.terms = page.terms
        self._links = page.links
        self._stems = stems
        self._numbering = Numbering() if numbering is None else numbering
        self._spans: dict[int, tuple[int, int]] = {}
        """By link: where its anchor stands. Known of those that a keyword was found near."""

    @cached_property
    def norm(self) -> float:
        return norm_of(self.terms)

    @cached_property
    def commonest(self) -> dict[str, int]:
        """The most frequent terms, at most `KEPT_TERMS`; of equally frequent ones the first in the alphabet."""
        terms = self.terms
        counts = sorted(terms.values(), reverse=True)
        least = counts[min(KEPT_TERMS, len(counts)) - 1] if counts else 0
        frequent = sorted((-times, term) for term, times in terms.items() if times >= least)
        return {term: -times for times, term in frequent[:KEPT_TERMS]}

    def evidence(self, keywords: Iterable[str]) -> NDArray[np.float32]:
        """What a net sees of each link: for each keyword Σ 1/distance of its occurrences, and a constant 1.

        In the anchor the distance is 1; k words before or behind it, 1 + k.
        """
        words, links, places = self._occurrences  # first of all: it numbers the page's words
        wanted = np.array([self._numbering.get(word, -1) for word in keywords], dtype=np.int32)
        seen = np.zeros((len(self._links), len(wanted) + 1), dtype=np.float32)
        seen[:, -1] = 1.0
        starts, ends = words.searchsorted(wanted), words.searchsorted(wanted, side="right")
        for column in (starts < ends).nonzero()[0].tolist():
            found = slice(starts[column], ends[column])
            for link, place in zip(links[found].tolist(), places[found].tolist(), strict=True):
                before, inside = self._span(link)
                distance = 1 + max(before - place, place - (before + inside - 1), 0)
                seen[link, column] += 1.0 / distance
        return seen

    @cached_property
    def _occurrences(self) -> Occurrences:
        stems = self._stems
        near = [stems(link.context or link.anchor) for link in self._links]
        lengths = np.fromiter(map(len, near), dtype=np.int32, count=len(near))
        words = np.array(array("i", map(self._numbering.__getitem__, chain.from_iterable(near))), dtype=np.int32)
        links = np.repeat(np.arange(len(near), dtype=np.int32), lengths)
        firsts = np.repeat(np.cumsum(lengths, dtype=np.int32) - lengths, lengths)
        order = words.argsort(kind="stable")
        return Occurrences(words[order], links[order], (np.arange(len(words), dtype=np.int32) - firsts)[order])

    def _span(self, link: int) -> tuple[int, int]:
        span = self._spans.get(link)
        if span is None:
            span = self._spans[link] = _anchor_span(self._links[link], self._stems)
        return span


def _anchor_span(link: Link, stems: Stems) -> tuple[int, int]:
    """How many of the context's words stand before the anchor, and how many are the anchor."""
    anchor, context = link.anchor, link.context
    if not context:
        return 0, len(stems(anchor))
    # The same words may stand elsewhere in the context too: the anchor is the one nearest to the middle.
    middle = max(0, (len(context) - len(anchor)) // 2)
    after, earlier = context.find(anchor, middle), context.rfind(anchor, 0, middle + len(anchor))
    found = [at for at in (after, earlier) if at >= 0]
    if not found:
        return len(stems(context[:middle])), 1
    at = min(found, key=lambda place: abs(place - middle))
    return len(stems(context[:at])), len(stems(anchor))


def norm_of(terms: Mapping[str, float]) -> float:
    return sqrt(sum(count * count for count in terms.values()))
