"""The links between downloaded pages, as the evolved rank needs them (`evolved`)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from lycosa.lib.growing import grown, with_room
from lycosa.lib.snapshot import Tree


class CitedLinks:
    """Columns indexed by link number, with a row for each link seen so far."""

    def __init__(self, depth: int) -> None:
        self.cited = np.zeros(0, np.int32)
        """|P_u|."""
        self.by_community = np.zeros(0, np.int32)
        """|P_u ∩ C|."""
        self.widest = np.zeros(0, np.int32)
        """The largest |L_p| of the pages that cite it."""
        self.siblings = np.zeros(0, np.int64)
        """Σ |L_i|."""
        self.kin = np.zeros(0, np.int64)
        """Σ |L_i ∩ C|."""
        self.latest = np.zeros(0, np.int64)
        """Number of its latest citation; 0: none."""
        self.visit = np.zeros(0, np.int32)
        """Number of the visit that downloaded it, from 0; -1: none yet."""
        self.is_community = np.zeros(0, np.bool_)
        self.score = np.zeros(0, np.float64)
        """As given last."""
        self.anchor = np.zeros(0, np.float32)
        self.host = np.zeros(0, np.int32)
        self.ordered_score: list[NDArray[np.float32]] = [np.zeros(0, np.float32) for _ in range(depth + 1)]
        """The largest `evolved.ordered_score` of its ancestors, by generation. Generation 0 is the page itself."""
        self.reserve(1023)

    def reserve(self, last: int) -> None:
        """Make room for all links up to this one."""
        old = len(self.visit)
        if last < old:
            return
        for name, column in vars(self).items():
            if isinstance(column, np.ndarray):
                setattr(self, name, grown(column, last + 1))
        self.visit[old:] = -1
        self.ordered_score = [grown(column, last + 1) for column in self.ordered_score]

    def take(self) -> Tree:
        """`lib.snapshot.Snapshots.take`."""
        columns: Tree = {name: column.copy() for name, column in vars(self).items() if isinstance(column, np.ndarray)}
        generations = {str(generation): column.copy() for generation, column in enumerate(self.ordered_score)}
        return {"columns": columns, "ordered_score": generations}

    def load(self, saved: Tree) -> None:
        for name, column in vars(self).items():
            if isinstance(column, np.ndarray):
                setattr(self, name, saved["columns"][name].copy())
        self.ordered_score = [saved["ordered_score"][str(each)].copy() for each in range(len(self.ordered_score))]


class Citations:
    """The links of each visited page, and for each link the pages that contain it, as a chain of citations.

    Citations are numbered from 1. The links of visit v are those from _starts[v] up to _starts[v + 1].
    """

    def __init__(self) -> None:
        self._targets = np.zeros(1 << 12, np.uint32)
        self._sources = np.zeros(1 << 12, np.uint32)
        self._before = np.zeros(1 << 12, np.int64)
        """The previous citation of the same link, by citation; 0: none."""
        self._starts = np.zeros(1 << 10, np.int64)
        self._starts[0] = 1
        self.visits = 0

    @property
    def size(self) -> int:
        return self._starts.item(self.visits) - 1

    def add(self, page: int, targets: NDArray[np.int64], latest: NDArray[np.int64]) -> None:
        """Add the next visited page and its links; update `latest`, the latest citation by link."""
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

    def take(self) -> Tree:
        """`lib.snapshot.Snapshots.take`."""
        end = self.size + 1
        return {
            "targets": self._targets[:end].copy(),
            "sources": self._sources[:end].copy(),
            "before": self._before[:end].copy(),
            "starts": self._starts[: self.visits + 1].copy(),
        }

    def load(self, saved: Tree) -> None:
        targets, sources, before, starts = saved["targets"], saved["sources"], saved["before"], saved["starts"]
        if not len(targets) == len(sources) == len(before) == starts[-1]:
            raise ValueError(f"{len(targets)} citations instead of {starts[-1]}")
        self._targets, self._sources, self._before = with_room(targets), with_room(sources), with_room(before)
        self._starts, self.visits = with_room(starts), len(starts) - 1

    def of(self, latest: int) -> list[int]:
        """The pages that contain a link, given its latest citation."""
        pages = []
        while latest:
            pages.append(self._sources.item(latest))
            latest = self._before.item(latest)
        return pages

    def counts(self, visits: NDArray[Any]) -> NDArray[np.int64]:
        """Number of links on the page of each visit."""
        counts: NDArray[np.int64] = self._starts[visits + 1] - self._starts[visits]
        return counts

    def targets_of(self, visits: NDArray[Any]) -> NDArray[np.int64]:
        """The links of these visits, concatenated."""
        counts = self.counts(visits)
        ends = np.cumsum(counts)
        places = np.arange(ends[-1]) + np.repeat(self._starts[visits] - (ends - counts), counts)
        targets: NDArray[np.int64] = self._targets[places].astype(np.int64)
        return targets
