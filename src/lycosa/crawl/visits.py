"""fetch and read, many at a time: leases go in, visits come out as soon as they are ready."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Callable
from typing import NamedTuple, Protocol

from lycosa.crawl.traps import Traps, kept_out
from lycosa.errors import LycosaError
from lycosa.lib.clock import Clock
from lycosa.model import Fetched, Kind, Lease, Outcome, Visit
from lycosa.page.furniture import Furniture

log = logging.getLogger(__name__)
MOST_AWAITED = 256
"""Number of fetches waiting for a name, beyond which they do keep others from starting."""
GATHERING, GATHERED = 0.045, 4
"""Maximum number of seconds to wait for more visits before they are committed together, and until which part of all
that is under way is there: one in four. What a commit costs, whatever it brings, is then shared by more pages."""


class Fetcher(Protocol):
    """Where answers come from: the web, a recorded web, a dictionary."""

    async def fetch(self, lease: Lease) -> Fetched: ...


class Reader(Protocol):
    async def read(self, fetched: Fetched, furniture: bytes = b"") -> Visit: ...


class Visitor(Protocol):
    """What the loop needs: start visits, and wait for the next ones to be finished."""

    @property
    def in_flight(self) -> int: ...

    @property
    def occupied(self) -> int:
        """Those of them that count towards the maximum number of simultaneous fetches."""
        ...

    def start(self, lease: Lease) -> None: ...

    async def finished(self, patience: float | None) -> list[Visit]:
        """At least one visit, or none if patience (seconds) ran out first."""
        ...


class UnderWay(NamedTuple):
    """A visit that has been started and is not finished."""

    url: str
    host: int
    since: float
    is_fetched: bool = False
    """The answer has arrived and is being read."""


class LiveVisitor:
    """A task per visit."""

    def __init__(
        self,
        *,
        fetcher: Fetcher,
        reader: Reader,
        furniture: Furniture,
        clock: Clock,
        traps: Traps | None = None,
        awaited_names: Callable[[], int] = lambda: 0,
    ) -> None:
        """`furniture`, `traps`: what is known of hosts by now; others add to it. `awaited_names`: number of fetches
        that wait for a name to be resolved: they send nothing, and keep no others from doing so."""
        self._traps = traps or Traps()
        self._awaited_names = awaited_names
        self._fetcher = fetcher
        self._reader = reader
        self._furniture = furniture
        self._clock = clock
        self._tasks: set[asyncio.Task[None]] = set()
        self._done: list[Visit] = []
        self._error: LycosaError | None = None
        self._news = asyncio.Event()
        self.in_flight = 0
        """Started and not yet handed back by `finished`."""
        self.under_way: dict[int, UnderWay] = {}
        """By link, oldest first: what `finished` is waiting for."""

    @property
    def occupied(self) -> int:
        return self.in_flight - min(self._awaited_names(), MOST_AWAITED)

    def start(self, lease: Lease) -> None:
        self.in_flight += 1
        self.under_way[lease.id] = UnderWay(lease.url, lease.host, self._clock.now())
        task = asyncio.create_task(self._visit(lease))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _visit(self, lease: Lease) -> None:
        try:
            fetched = kept_out(self._traps, lease) or await self._fetcher.fetch(lease)
            self.under_way[lease.id] = self.under_way[lease.id]._replace(is_fetched=True)
            visit = await self._reader.read(fetched, self._furniture.of(lease.host))
        except LycosaError as error:
            # A person has to do something, such as free some disk: going on would fail page after page.
            self._error = self._error or error
            self._news.set()
            return
        except Exception as fault:
            # One page must not end an overnight crawl; what happened is kept where it can be found.
            log.exception("fault while visiting %s", lease.url)
            outcome = Outcome(Kind.UNREADABLE, "fault", f"{type(fault).__name__}: {fault}"[:300])
            visit = Visit(Fetched(lease, outcome, is_contact=True), outcome)
        finally:
            del self.under_way[lease.id]
        self._done.append(visit)
        self._news.set()

    async def finished(self, patience: float | None) -> list[Visit]:
        if not self._done and self._error is None:
            self._news.clear()
            try:
                # Not wait_for: before Python 3.12 it can swallow a cancellation, here that of a quick second Ctrl-C.
                async with asyncio.timeout(patience):
                    await self._news.wait()
            except TimeoutError:
                return []
        if not self._done and self._error is not None:
            raise self._error
        await self._gather()
        visits, self._done = self._done, []
        self.in_flight -= len(visits)
        return visits

    async def _gather(self) -> None:
        """Much is under way: more visits will be there in a moment, and one commit for all costs less."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(GATHERING):
                while 0 < len(self._done) * GATHERED < self.in_flight and self._error is None:
                    self._news.clear()
                    await self._news.wait()

    def nudge(self) -> None:
        """Make `finished` return now: somebody asked the crawl to stop."""
        self._news.set()

    async def cancel(self) -> None:
        """Give up everything that is under way."""
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
