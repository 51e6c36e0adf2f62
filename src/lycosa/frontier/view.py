"""What can be asked of the frontier without changing it: counts, states, scores, and the best waiting links.

The answers come from what is known about each link (`links`) and each host (`schedule`). A host is ready or cooling as
of the last time that was passed to the frontier. Code that only looks at a frontier may ask for this class instead.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from lycosa.frontier import keys
from lycosa.frontier.keys import FAVOURED, LINK_MASK, UNTRIED
from lycosa.frontier.links import NEW, WAITING, LinkState, LinkTable
from lycosa.frontier.schedule import ASIDE, BUSY, COOLING, PARKED, READY, Schedule, ScheduledHost

# Operands as arrays for speed, as in `keys`.
_NEW = np.array(NEW, dtype=np.uint8)
_WAITING = np.array(WAITING, dtype=np.uint8)


class FrontierView:
    """The links and hosts of a frontier, for those who only look at them; `Frontier` adds all that changes them."""

    def __init__(self, schedule: Schedule) -> None:
        self._links = LinkTable()
        self._schedule = schedule
        self.waiting = 0
        """Number of waiting links."""
        self.leased = 0

    @property
    def hosts(self) -> int:
        """Number of hosts with waiting links."""
        return self._schedule.count(READY, PARKED, COOLING, BUSY, ASIDE)

    @property
    def hosts_ready(self) -> int:
        """Number of hosts that are ready themselves; some may have to wait for their address."""
        return self._schedule.count(READY, PARKED)

    @property
    def hosts_cooling(self) -> int:
        return self._schedule.count(COOLING)

    def waiting_of(self, host: int) -> int:
        known = self._schedule.hosts
        found = known[host] if 0 <= host < len(known) else None
        return 0 if found is None else len(found)

    def state_of(self, link: int) -> LinkState:
        return LinkState(self._links.state_of(link))

    def host_of(self, link: int) -> int:
        self._check_known(link)
        return self._links.host[link]

    def score_of(self, link: int) -> float:
        """The score of a link, rounded to a 32-bit float."""
        self._check_known(link)
        return keys.score(self._links.rank[link])

    def tier_of(self, link: int) -> int:
        """Also of a link that the frontier has dropped, if it was tried before."""
        return self._links.tier[link] if link < self._links.size else UNTRIED

    def is_favoured(self, links: NDArray[Any]) -> NDArray[np.bool_]:
        """Which of the links, all known to the frontier, come before all others."""
        is_favoured: NDArray[np.bool_] = self._links.tiers[links] == FAVOURED
        return is_favoured

    def is_tried(self, links: NDArray[Any]) -> NDArray[np.bool_]:
        """Which of the links, all known to the frontier, have failed before."""
        tiers = self._links.tiers[links]
        is_tried: NDArray[np.bool_] = (tiers != UNTRIED) & (tiers != FAVOURED)
        return is_tried

    def is_waiting(self, links: NDArray[Any]) -> NDArray[np.bool_]:
        is_waiting: NDArray[np.bool_] = self._links.states_of(links) == _WAITING
        return is_waiting

    def is_new(self, links: NDArray[Any]) -> NDArray[np.bool_]:
        """Which of the links were never pushed, or were dropped from a full buffer."""
        is_new: NDArray[np.bool_] = self._links.states_of(links) == _NEW
        return is_new

    def scores(self, links: NDArray[Any]) -> NDArray[np.float32]:
        """The scores of many links, rounded to 32-bit floats; NaN for links that are not waiting."""
        is_waiting = self.is_waiting(links)
        scores: NDArray[np.float32] = np.empty(len(links), dtype=np.float32)
        scores.fill(np.nan)
        if np.count_nonzero(is_waiting):
            scores[is_waiting] = keys.scores(self._links.ranks[links[is_waiting]])
        return scores

    def best_score(self) -> float | None:
        """The score of the best waiting link, on ready hosts and others, except those set aside. O(hosts).

        Infinity if it is favoured: it is worth fetching whatever its score.
        """
        heads = [host.head[0] for host in self._schedule.hosts if host is not None and self._counts(host)]
        if not heads:
            return None
        link = min(heads) & LINK_MASK
        return float("inf") if self.tier_of(link) == FAVOURED else self.score_of(link)

    def waiting_links(self) -> NDArray[np.int64]:
        return self._links.waiting()

    def reachable_links(self) -> NDArray[np.int64]:
        """The waiting links, except those of hosts that are set aside. O(n)."""
        links = self._links.waiting()
        aside = [host.number for host in self._schedule.hosts if host is not None and host.is_aside and host.head]
        return links[~np.isin(self._links.hosts[links], aside)] if aside else links

    @property
    def reachable(self) -> int:
        """Number of waiting links, except those of hosts that are set aside."""
        if not self._schedule.count(ASIDE):
            return self.waiting
        return self.waiting - sum(len(h) for h in self._schedule.hosts if h is not None and h.is_aside)

    def top(self, count: int) -> NDArray[np.int64]:
        """The best waiting links, best first, on ready hosts and others, except those set aside. O(n)."""
        links = self.reachable_links()
        waiting = self._links.keys(links)
        if count < len(waiting):
            waiting = np.partition(waiting, count)[:count]
        return (np.sort(waiting) & np.uint64(LINK_MASK)).astype(np.int64)

    def _check_known(self, link: int) -> None:
        if self._links.state_of(link) == NEW:
            raise KeyError(f"link {link} is not known to the frontier")

    @staticmethod
    def _counts(host: ScheduledHost) -> bool:
        return bool(host.head) and not host.is_aside
