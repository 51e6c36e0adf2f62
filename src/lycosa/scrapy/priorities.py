"""The queue of a spider's requests: a higher priority comes first, whatever the scores; among equals, the hunter's.

Nearly all requests have the priority 0, and wait in the frontier itself; those of each other priority (a redirect has
2 more, a retry 1 less) wait in one of their own. Pauses are Scrapy's affair: nothing rests here.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lycosa.frontier.frontier import Frontier
from lycosa.frontier.links import LinkState

NO_LIMIT = 1 << 30
"""Requests under way at a time, of a host: Scrapy's downloader counts them."""


class PrioritisedFrontier(Frontier):
    def __init__(self) -> None:
        super().__init__(slots_per_host=NO_LIMIT, slots_per_address=NO_LIMIT)
        self._others: dict[int, Frontier] = {}
        """By priority other than 0."""

    def queue(self, link: int, host: int, score: float, *, priority: int, tries: int = 0) -> None:
        """Add a link that does not wait. It may have been handed out before, `tries` times."""
        chosen = self._of(priority)
        self.finish(link)
        chosen.set_tiers(np.array([link]), tries)
        chosen.push(link, host, score)

    def _of(self, priority: int) -> Frontier:
        if priority == 0:
            return self
        if priority not in self._others:
            self._others[priority] = Frontier(slots_per_host=NO_LIMIT, slots_per_address=NO_LIMIT)
        return self._others[priority]

    def finish(self, link: int) -> None:
        """A link that was handed out, by whichever queue, has been fetched or has failed."""
        for queue in (self, *self._others.values()):
            if queue.state_of(link) is LinkState.LEASED:
                queue.done(link)

    @property
    def best_priority(self) -> int | None:
        """The highest priority of a link that waits."""
        return next((priority for priority, queue in self._in_order() if queue.waiting), None)

    @property
    def pending(self) -> int:
        """Number of links that wait, of all priorities."""
        return sum(queue.waiting for _, queue in self._in_order())

    def _in_order(self) -> Iterator[tuple[int, Frontier]]:
        for priority in sorted((0, *self._others), reverse=True):
            yield priority, self._of(priority)

    def lease(self, now: float) -> int | None:
        for priority, queue in self._in_order():
            link = super().lease(now) if priority == 0 else queue.lease(now)
            if link is not None:
                return link
        return None

    def scores(self, links: NDArray[Any]) -> NDArray[np.float32]:
        found = super().scores(links)
        for queue in self._others.values():
            found = np.where(np.isnan(found), queue.scores(links), found)
        return found

    def rescore(self, links: NDArray[Any], scores: NDArray[Any]) -> None:
        super().rescore(links, scores)
        for queue in self._others.values():
            queue.rescore(links, scores)

    def hold(self, hosts: Collection[int], *, is_held: bool) -> None:
        """Hand out nothing of these hosts; or do so again."""
        for queue in (self, *self._others.values()):
            for host in hosts:
                (queue.set_aside if is_held else queue.readmit)(host)
