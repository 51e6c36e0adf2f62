"""The straight line, and nothing else: lease → fetch → read → commit.

Live, replayed and distributed crawls all run this loop; they differ in the parts handed to it. Links are
leased only after the commit that brought them, so what a killed crawl had under way is known to the store.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from lycosa.crawl.visits import Visitor
from lycosa.frontier.frontier import Frontier
from lycosa.lib.clock import Clock
from lycosa.model import Lease, Visit
from lycosa.stopping.figures import Figures
from lycosa.stopping.rules import Stop
from lycosa.strategies.protocol import Strategy

LONGEST_WAIT = 0.5
"""Seconds without a finished visit after which the loop checks the stop rules and the hosts."""


class Ledger(Protocol):
    """Where leases come from and visits go to: the commit side of the line."""

    def figures(self) -> Figures:
        """The figures for the stop rules, over all runs; asked for at every turn."""
        ...

    def leases(self, links: list[int]) -> list[Lease]: ...

    def commit(self, visits: list[Visit]) -> None: ...


async def run(
    *,
    frontier: Frontier,
    strategy: Strategy,
    visitor: Visitor,
    ledger: Ledger,
    stop: Stop,
    clock: Clock,
    width: int,
    watch: Callable[[], None] = lambda: None,
) -> str:
    """Crawl until there is a reason to stop; return it."""
    while True:
        now = clock.now()
        figures = ledger.figures()
        reason = stop.reason(figures, frontier, now=now)
        if not reason and not stop.is_paused:
            room = min(width - visitor.occupied, stop.pages_left(figures.pages) - visitor.in_flight)
            for lease in ledger.leases(strategy.ask(room, frontier, now)):
                visitor.start(lease)
        if visitor.in_flight:
            visits = await visitor.finished(_patience(frontier, now))
            if visits:
                ledger.commit(visits)
        elif reason:
            return reason
        elif frontier.next_ready(now) is None and not stop.is_paused:
            return stop.exhausted(frontier.waiting)
        else:
            await clock.sleep(_patience(frontier, now))
        watch()


def _patience(frontier: Frontier, now: float) -> float:
    """How long to wait for news: until a host is ready again, if that comes first."""
    ready = frontier.next_ready(now)
    return LONGEST_WAIT if ready is None or ready <= now else min(ready - now, LONGEST_WAIT)
