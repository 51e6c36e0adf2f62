"""The figures of a crawl that its stop rules check: counted page by page, read in every iteration of the crawl loop.

All figures cover all runs of a crawl: when it is resumed, the tally is initialised from the store. Each takes O(1) per
page; only the community needs memory, a few bytes per link, and is counted only if a rule needs it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lycosa.lib.growing import grown

FIRST_ROOM = 1024


class Figures(NamedTuple):
    pages: int = 0
    relevant: int = 0
    since_relevant: int = 0
    """Number of pages since the last relevant one; of all pages if none was relevant so far."""
    bytes: int = 0
    """Number of bytes downloaded: the bodies of all answers, as they came over the wire."""
    precision: float | None = None
    """Share of relevant pages in the window; None until the window is full."""
    links: int = 0
    """Number of links from relevant pages to other pages; 0 if they are not counted."""
    inward: int = 0
    """Number of these links that lead to relevant pages."""

    @property
    def irrelevant(self) -> int:
        return self.pages - self.relevant


class Community:
    """Counts how closely the relevant pages are linked to each other.

    A link between two relevant pages is counted when the second of them joins: from its own links to members, and from
    the number of members that cite it. So no page is examined twice, however large the crawl.
    """

    def __init__(self) -> None:
        self.links = 0
        self.inward = 0
        self._is_member = np.zeros(FIRST_ROOM, dtype=np.bool_)
        self._citations = np.zeros(FIRST_ROOM, dtype=np.int32)
        """Number of members that cite a link, by link number."""

    def join(self, page: int, targets: NDArray[np.int64]) -> None:
        """Add a relevant page, given its link number and the distinct numbers of its links."""
        others = targets[targets != page]
        room = max(page, int(others.max(initial=0))) + 1
        self._is_member, self._citations = grown(self._is_member, room), grown(self._citations, room)
        if self._is_member[page]:
            return
        self.links += len(others)
        self.inward += int(np.count_nonzero(self._is_member[others])) + int(self._citations[page])
        self._is_member[page] = True
        self._citations[others] += 1


class Tally:
    """Counts the figures. `window` is the number of pages over which precision is measured."""

    def __init__(self, *, window: int, has_community: bool = False) -> None:
        self.pages = 0
        self.relevant = 0
        self._since_relevant = 0
        self._bytes = 0
        self._recent: deque[bool] = deque()
        self._window = window
        self._hits = 0
        self._community = Community() if has_community else None

    def resume(
        self,
        *,
        pages: int,
        relevant: int,
        since_relevant: int,
        bytes: int,
        recent: Iterable[bool],
        members: Iterable[tuple[int, NDArray[np.int64]]],
    ) -> None:
        """Start from the counts of earlier runs. `recent`: whether the latest pages were relevant, oldest first;
        `members`: the relevant pages with their links."""
        self.pages, self.relevant, self._since_relevant, self._bytes = pages, relevant, since_relevant, bytes
        for is_relevant in recent:
            self._add_to_window(is_relevant)
        if self._community is not None:
            for page, targets in members:
                self._community.join(page, targets)

    def add_page(self, page: int, targets: NDArray[np.int64], *, is_relevant: bool) -> None:
        """Count a page, given its link number and the numbers of its links."""
        self.pages += 1
        self.relevant += is_relevant
        self._since_relevant = 0 if is_relevant else self._since_relevant + 1
        self._add_to_window(is_relevant)
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

    def _add_to_window(self, is_relevant: bool) -> None:
        self._recent.append(is_relevant)
        self._hits += is_relevant
        if len(self._recent) > self._window:
            self._hits -= self._recent.popleft()
