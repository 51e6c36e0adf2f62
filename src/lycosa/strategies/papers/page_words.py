"""The words of a page for `infospiders`: its length as a vector, its commonest words, and those near its links.

In a replay many crawls, and in each of them many agents, look at the same page with different keywords. What does not
depend on the keywords is computed once, when it is first needed. The words near all links are in one column, sorted by
word, so the occurrences of a keyword are found without reading the others.
"""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property, partial
from itertools import chain, count
from math import sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lycosa.lib.text import stems
from lycosa.model import Link, Page

KEPT_TERMS = 32
"""Number of most frequent terms kept of the page an agent is at: one of them becomes a keyword of its child."""

Stems = Callable[[str], Sequence[str]]


class Numbering(defaultdict[str, int]):
    """Numbers words in the order in which they are first met. Pages that are read together share one."""

    def __init__(self) -> None:
        super().__init__(count().__next__)


class Occurrences(NamedTuple):
    """The words near the links of a page, in ascending order of their numbers, equal ones in order of occurrence."""

    words: NDArray[np.int32]
    links: NDArray[np.int32]
    """Position of the link on the page, from 0."""
    places: NDArray[np.int32]
    """Position of the word in the link's context, from 0."""


class PageWords:
    def __init__(self, page: Page, numbering: Numbering | None = None, stems: Stems = stems) -> None:
        self.terms = page.terms
        self._links = page.links
        self._stems = stems if page.stemmed_in == "en" else _stems_in(page.stemmed_in)
        self._numbering = Numbering() if numbering is None else numbering
        self._spans: dict[int, tuple[int, int]] = {}
        """Position of the anchor in its context, by link; only of links with a keyword nearby."""

    @cached_property
    def norm(self) -> float:
        return norm_of(self.terms)

    @cached_property
    def commonest(self) -> dict[str, int]:
        """The `KEPT_TERMS` most frequent terms; equally frequent ones in alphabetical order."""
        terms = self.terms
        counts = sorted(terms.values(), reverse=True)
        least = counts[min(KEPT_TERMS, len(counts)) - 1] if counts else 0
        frequent = sorted((-times, term) for term, times in terms.items() if times >= least)
        return {term: -times for times, term in frequent[:KEPT_TERMS]}

    def evidence(self, keywords: Iterable[str]) -> NDArray[np.float32]:
        """The inputs of a net for each link: for each keyword Σ 1/distance of its occurrences, and a constant 1.

        The distance is 1 within the anchor, and 1 + k at k words before or after it.
        """
        words, links, places = self._occurrences  # must come first: it numbers the page's words
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


def _stems_in(language: str) -> Stems:
    return partial(stems, language=language)


def _anchor_span(link: Link, stems: Stems) -> tuple[int, int]:
    """Number of words of the context before the anchor, and number of words of the anchor."""
    anchor, context = link.anchor, link.context
    if not context:
        return 0, len(stems(anchor))
    # The same words may occur several times in the context: the anchor is the occurrence nearest to the middle.
    middle = max(0, (len(context) - len(anchor)) // 2)
    after, earlier = context.find(anchor, middle), context.rfind(anchor, 0, middle + len(anchor))
    found = [at for at in (after, earlier) if at >= 0]
    if not found:
        return len(stems(context[:middle])), 1
    at = min(found, key=lambda place: abs(place - middle))
    return len(stems(context[:at])), len(stems(anchor))


def norm_of(terms: Mapping[str, float]) -> float:
    return sqrt(sum(count * count for count in terms.values()))
