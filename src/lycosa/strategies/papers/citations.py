"""Who cites whom, as far as downloaded pages tell: the memory of the evolved rank (`evolved`)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from lycosa.lib.growing import grown


class CitedLinks:
    """What is known of each link, in columns that are indexed by its number and grow."""

    def __init__(self, depth: int) -> None:
        self._size = 0
        self.cited: NDArray[np.int32]
        """|P_u|."""
        self.by_community: NDArray[np.int32]
        """|P_u ∩ C|."""
        self.widest: NDArray[np.int32]
        """The largest |L_p| of the pages that cite it."""
        self.siblings: NDArray[np.int64]
        """Σ |L_i|."""
        self.kin: NDArray[np.int64]
        """Σ |L_i ∩ C|."""
        self.latest: NDArray[np.int64]
        """Its latest citation; 0: none."""
        self.visit: NDArray[np.int32]
        """The how-manieth downloaded page it is; -1: none yet."""
        self.is_community: NDArray[np.bool_]
        self.score: NDArray[np.float64]
        """As given last."""
        self.anchor: NDArray[np.float32]
        self.host: NDArray[np.int32]
        self.standing: list[NDArray[np.float32]] = [np.zeros(0, np.float32) for _ in range(depth + 1)]
        """By generation: the largest standing of its ancestors so many links up. Generation 0 is the page itself."""
        for name, kind in self._columns().items():
            setattr(self, name, np.zeros(0, kind))
        self.reserve(1023)

    @staticmethod
    def _columns() -> dict[str, type[Any]]:
        counts = dict.fromkeys(("cited", "by_community", "widest", "visit", "host"), np.int32)
        sums = dict.fromkeys(("siblings", "kin", "latest"), np.int64)
        return {**counts, **sums, "is_community": np.bool_, "score": np.float64, "anchor": np.float32}

    def reserve(self, last: int) -> None:
        """Make sure that every link up to this one has a place."""
        if last < self._size:
            return
        old = self._size
        for name in self._columns():
            setattr(self, name, grown(getattr(self, name), last + 1))
        self._size = len(self.visit)
        self.visit[old:] = -1
        self.standing = [grown(column, last + 1) for column in self.standing]


class Citations:
    """Which page links to what: the links of each page one after the other, and for each link a chain of its pages.

    Citations are numbered from 1 on. The links of visit v are those from _starts[v] up to _starts[v + 1].
    """

    def __init__(self) -> None:
        self._targets = np.zeros(1 << 12, np.uint32)
        self._sources = np.zeros(1 << 12, np.uint32)
        self._before = np.zeros(1 << 12, np.int64)
        """By citation: the one of the same link before it; 0: none."""
        self._starts = np.zeros(1 << 10, np.int64)
        self._starts[0] = 1
        self.visits = 0
        """How many pages have been added."""

    @property
    def size(self) -> int:
        """How many citations there are."""
        return self._starts.item(self.visits) - 1

    def add(self, page: int, targets: NDArray[np.int64], latest: NDArray[np.int64]) -> None:
        """The next visited page and its links; `latest` by link is brought up to date."""
        low = self._starts.item(self.visits)
        high = low + len(targets)
        self._targets, self._sources = grown(self._targets, high), grown(self._sources, high)
        self._before = grown(self._before, high)
        self._starts = grown(self._starts, self.visits + 2)
        self._targets[low:high] = targets
        self._sources[low:high] = page
        self._before[low:high] = latest[targets]
        latest[targets] = np.arange(low, high)
        self.visits += 1
        self._starts[self.visits] = high

    def of(self, latest: int) -> list[int]:
        """The pages with a link, given its latest citation."""
        pages = []
        while latest:
            pages.append(self._sources.item(latest))
            latest = self._before.item(latest)
        return pages

    def counts(self, visits: NDArray[Any]) -> NDArray[np.int64]:
        """How many links each of these visits brought."""
        counts: NDArray[np.int64] = self._starts[visits + 1] - self._starts[visits]
        return counts

    def count(self, visits: NDArray[Any]) -> int:
        return int(self.counts(visits).sum())

    def targets_of(self, visits: NDArray[Any]) -> NDArray[np.int64]:
        """All links of these visits, one visit after the other."""
        counts = self.counts(visits)
        ends = np.cumsum(counts)
        places = np.arange(ends[-1]) + np.repeat(self._starts[visits] - (ends - counts), counts)
        targets: NDArray[np.int64] = self._targets[places].astype(np.int64)
        return targets
