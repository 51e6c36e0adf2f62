"""What the frontier stores about each link: 10 bytes in four columns, indexed by the number of the link.

Each column is a numpy array for work on many links, with a memoryview of the same bytes for work on a single one, for
which numpy takes several times as long.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lycosa.frontier.keys import LINK_BITS, MAX_LINKS, keys, place, places
from lycosa.lib.growing import grown


class LinkState(IntEnum):
    NEW = 0
    """Unknown to the frontier, or dropped because the buffer was full."""
    WAITING = 1
    LEASED = 2
    GONE = 3
    """Finished, or removed."""


# Enumeration members compare slowly, so columns and hot paths use plain integers.
NEW, WAITING, LEASED, GONE = (int(state) for state in LinkState)


class LinkTable:
    """State, tier, rank of the score and host of every link; grows as needed."""

    __slots__ = ("host", "hosts", "rank", "ranks", "size", "state", "states", "tier", "tiers")

    def __init__(self) -> None:
        self.size = 0
        self.states: NDArray[np.uint8] = np.zeros(0, dtype=np.uint8)
        self.tiers: NDArray[np.uint8] = np.zeros(0, dtype=np.uint8)
        self.ranks: NDArray[np.uint32] = np.zeros(0, dtype=np.uint32)
        self.hosts: NDArray[np.int32] = np.zeros(0, dtype=np.int32)
        self.reserve(1023)

    def reserve(self, last: int) -> None:
        if not 0 <= last < MAX_LINKS:
            raise ValueError(f"the number of a link must be in 0 … {MAX_LINKS - 1}, not {last}")
        if last >= self.size:
            self.states = grown(self.states, last + 1)
            self.tiers = grown(self.tiers, last + 1)
            self.ranks = grown(self.ranks, last + 1)
            self.hosts = grown(self.hosts, last + 1)
            self.size = len(self.states)
            self.state, self.tier = self.states.data, self.tiers.data
            self.rank, self.host = self.ranks.data, self.hosts.data

    def key(self, link: int) -> int:
        return place(self.rank[link], self.tier[link]) << LINK_BITS | link

    def keys(self, links: NDArray[np.int64]) -> NDArray[np.uint64]:
        return keys(places(self.ranks[links], self.tiers[links]), links)

    def state_of(self, link: int) -> int:
        return self.state[link] if 0 <= link < self.size else NEW

    def states_of(self, links: NDArray[Any]) -> NDArray[np.uint8]:
        """The state of each link; NEW for those beyond the end of the table."""
        states: NDArray[np.uint8]
        try:
            states = self.states[links]
        except IndexError:
            states = self.states[np.minimum(links, self.size - 1)]
            states[links >= self.size] = NEW
        return states

    def are_all_new(self, links: NDArray[Any]) -> bool:
        """Whether these links, which must be within the table, are all new and distinct."""
        if np.count_nonzero(self.states[links]):
            return False
        return not np.count_nonzero(links[1:] <= links[:-1]) or len(set(links.tolist())) == len(links)

    def enter(self, links: NDArray[Any], hosts: NDArray[Any], ranks: NDArray[np.uint32]) -> None:
        """Add new links, which are then waiting."""
        self.states[links] = WAITING
        self.hosts[links] = hosts
        self.ranks[links] = ranks

    def waiting(self) -> NDArray[np.int64]:
        """The numbers of all waiting links, ascending."""
        return np.flatnonzero(self.states == WAITING)
