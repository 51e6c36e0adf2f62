"""Where a crawl stands: the figures its stop rules look at, counted page by page, read off at every turn of the loop.

All figures are over all runs of a crawl: whoever resumes one hands the tally what the store knows. Each costs O(1) a
page; only the community needs memory, a few bytes for each link, and is counted only where a rule asks for it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lycosa.lib.growing import grown

FIRST_ROOM = 1024
"""Links for which the community has room at first; it grows as need be."""


class Figures(NamedTuple):
    """The figures of one moment."""

    pages: int = 0
    relevant: int = 0
    since_relevant: int = 0
    """Pages since the last relevant one; all pages where none was relevant so far."""
    bytes: int = 0
    """Downloaded: bodies as they came over the wire, of pages and of everything else that was answered."""
    precision: float | None = None
    """The share of relevant pages in the window; None until the window is full."""
    links: int = 0
    """Of relevant pages to other pages; 0 where nobody asked for it to be counted."""
    inward: int = 0
    """Those of them that lead to relevant pages."""

    @property
    def irrelevant(self) -> int:
        return self.pages - self.relevant


class Community:
    """How closely the relevant pages are linked to each other.

    A link between two relevant pages is found when the second of them comes: from its own links to members, and from
    the number of members that cite it. So nothing has to be counted twice, however large the crawl.
    """

    def __init__(self) -> None:
        self.links = 0
        self.inward = 0
        self._is_member = np.zeros(FIRST_ROOM, dtype=np.bool_)
        self._citations = np.zeros(FIRST_ROOM, dtype=np.int32)
        """By link: from how many members."""

    def join(self, page: int, targets: NDArray[np.int64]) -> None:
        """A relevant page, by its link number, with the numbers of its links, each once."""
        others = targets[targets != page]
        self._reserve(max(page, int(others.max(initial=0))))
        if self._is_member[page]:
            return
        self.links += len(others)
        self.inward += int(np.count_nonzero(self._is_member[others])) + int(self._citations[page])
        self._is_member[page] = True
        self._citations[others] += 1

    def _reserve(self, link: int) -> None:
        self._is_member = grown(self._is_member, link + 1)
        self._citations = grown(self._citations, link + 1)


class Tally:
    """Counts. `window` is the number of pages over which precision is taken."""

    def __init__(self, *, window: int, has_community: bool = False) -> None:
        self.pages = 0
        self.relevant = 0
        self._since_relevant = 0
        self._bytes = 0
        self._recent: deque[bool] = deque()
        self._window = window
        self._hits = 0
        """Relevant pages in the window."""
        self._community = Community() if has_community else None

    def go_on(
        self,
        *,
        pages: int,
        relevant: int,
        since_relevant: int,
        bytes: int,
        recent: Iterable[bool],
        members: Iterable[tuple[int, NDArray[np.int64]]],
    ) -> None:
        """Take over what earlier runs counted: the latest pages, oldest first; relevant pages with their links."""
        self.pages, self.relevant, self._since_relevant, self._bytes = pages, relevant, since_relevant, bytes
        for is_relevant in recent:
            self._see(is_relevant)
        if self._community is not None:
            for page, targets in members:
                self._community.join(page, targets)

    def add_page(self, page: int, targets: NDArray[np.int64], *, is_relevant: bool) -> None:
        """A page, by its link number, with the numbers of its links."""
        self.pages += 1
        self.relevant += is_relevant
        self._since_relevant = 0 if is_relevant else self._since_relevant + 1
        self._see(is_relevant)
        if is_relevant and self._community is not None:
            self._community.join(page, targets)

    def add_bytes(self, count: int) -> None:
        self._bytes += count

    def figures(self) -> Figures:
        is_full = len(self._recent) == self._window
        community = self._community
        return Figures(
            self.pages,
            self.relevant,
            self._since_relevant,
            self._bytes,
            self._hits / self._window if is_full else None,
            community.links if community else 0,
            community.inward if community else 0,
        )

    def _see(self, is_relevant: bool) -> None:
        self._recent.append(is_relevant)
        self._hits += is_relevant
        if len(self._recent) > self._window:
            self._hits -= self._recent.popleft()
