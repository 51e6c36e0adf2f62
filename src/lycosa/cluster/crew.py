"""The crawlers that a run has at a moment, and which shards each of them runs.

Ray is asked for as many crawlers as the cluster may have. Those that it has found a place for say so; others wait until
a node joins. Shards are dealt out to the crawlers that are there, and again when these change: a shard whose crawler is
lost begins anew in another, and where a crawler has too many, some leave it in order and begin in another. All others
stay. That it is over elsewhere is made sure of in the store, by the shard's own lock and token, and not here.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any

from lycosa.cluster.crawler import CrawlerTask, run_shard
from lycosa.cluster.partitions import shards_of_crawlers
from lycosa.errors import LycosaError
from lycosa.store.postgres_cluster import ClusterStore

TICK = 0.25
"""Seconds between two looks at the shards."""
SETTLE = 20.0
"""Seconds without a crawler that comes or goes, after which shards are dealt out although there could be more crawlers:
one that has died is replaced within this time, if there is a place for it."""
MOST_DEATHS = 8
"""Number of times that a shard or a crawler may die without a page fetched in between."""


class CrawlerActor:
    """What Ray starts on a node."""

    def hello(self) -> bool:
        """It has a place, and is there."""
        return True

    def run(self, task: CrawlerTask, shard: int) -> str:
        return run_shard(task, shard)


class Crew:
    def __init__(
        self, ray: Any, store: ClusterStore, task: CrawlerTask, *, crawlers: int, tell: Callable[[str, str], None],
        now: Callable[[], float] = time.monotonic,
    ) -> None:  # fmt: skip
        """`crawlers`: how many there may be at most. `tell`: hears kind and message of what people should know."""
        self._ray = ray
        self._store = store
        self._task = task
        self._most = crawlers
        self._tell = tell
        self._now = now
        self._made = ray.remote(num_cpus=1, max_restarts=0, max_concurrency=task.shard_count + 1)(CrawlerActor)
        self._actors: dict[int, Any] = {}
        """By number: all that Ray was asked for."""
        self._asked: dict[Any, int] = {}
        """By the call that is under way: the number of a crawler that has no place yet."""
        self._here: set[int] = set()
        self._changed_at = now()
        self._is_dealt = False
        self._homes: dict[int, int] = {}
        """By shard: the crawler that runs it."""
        self._running: dict[Any, int] = {}
        """By the call that is under way: the shard."""
        self._leaving: set[int] = set()
        self._deaths: Counter[str] = Counter()
        self._pages = -1
        self.error: LycosaError | None = None

    @property
    def crawlers(self) -> int:
        """Number of those that run shards."""
        return len(set(self._homes.values()))

    @property
    def is_running(self) -> bool:
        return bool(self._running)

    def begin(self) -> None:
        for number in range(self._most):
            self._ask_for(number)

    def look(self, *, pages: int, is_ending: bool) -> None:
        """Until the next look, or until something has happened. `pages`: of the whole crawl, by now."""
        if pages != self._pages:
            self._deaths.clear()
            self._pages = pages
        for call in self._ended():
            if call in self._asked:
                self._hear(call)
            elif call in self._running:
                self._take_note(call, is_ending=is_ending)
        if not is_ending and self.error is None:
            self._deal()

    def _ended(self) -> list[Any]:
        """Calls that have ended by now; the first of them is waited for."""
        calls = [*self._asked, *self._running]
        if not calls:
            time.sleep(TICK)
            return []
        return list(self._ray.wait(calls, num_returns=1, timeout=TICK)[0])

    def _ask_for(self, number: int) -> None:
        self._actors[number] = self._made.options(scheduling_strategy="SPREAD").remote()
        self._asked[self._actors[number].hello.remote()] = number

    def _hear(self, call: Any) -> None:
        """A crawler has found its place, or has died before."""
        number = self._asked.pop(call)
        try:
            self._ray.get(call)
        except self._ray.exceptions.RayError as error:
            self._count_death(f"crawler {number}", _first_line(error))
            self._ask_for(number)
            return
        self._here.add(number)
        self._change()

    def _change(self) -> None:
        self._is_dealt = False
        self._changed_at = self._now()

    def _take_note(self, call: Any, *, is_ending: bool) -> None:
        """A shard has ended in its crawler."""
        shard = self._running.pop(call)
        number = self._homes.pop(shard)
        try:
            self._ray.get(call)
        except self._ray.exceptions.RayTaskError as error:
            if isinstance(error.cause, LycosaError):
                self._fail(error.cause)
                return
            why = f"{type(error.cause).__name__}: {error.cause}"
            self._tell("crawler", f"shard {shard} has failed, and begins again: {why}")
            self._count_death(f"shard {shard}", why)
            self._is_dealt = False
        except self._ray.exceptions.RayError as error:
            self._lose(number, _first_line(error), is_ending=is_ending)
            self._count_death(f"shard {shard}", _first_line(error))
        else:
            self._is_dealt = False
            if shard not in self._leaving and not is_ending:  # somebody else has asked it to stop
                self._fail(LycosaError(f"shard {shard} has ended before the others"))
        self._leaving.discard(shard)

    def _fail(self, error: LycosaError) -> None:
        self.error = self.error or error
        self._store.stop(f"a crawler has failed: {error}")

    def _lose(self, number: int, why: str, *, is_ending: bool) -> None:
        """A crawler has died, or its node was lost: all that it ran has to go on elsewhere."""
        self._here.discard(number)
        self._change()
        for call, shard in list(self._running.items()):
            if self._homes[shard] == number:
                del self._running[call], self._homes[shard]
                self._leaving.discard(shard)
        self._ray.kill(self._actors.pop(number))
        if not is_ending:
            self._tell("crawler", f"crawler {number} died, and is replaced: {why}")
            self._ask_for(number)

    def _count_death(self, what: str, why: str) -> None:
        self._deaths[what] += 1
        if self._deaths[what] > MOST_DEATHS:
            self._fail(
                LycosaError(
                    f"{what} has died {self._deaths[what]} times in a row without a page fetched: {why}; the logs of "
                    "shards are in the crawl's directory"
                )
            )

    def _deal(self) -> None:
        """Shards to crawlers, once it is clear which there are."""
        if self._is_dealt:
            return
        has_waited = self._now() - self._changed_at >= SETTLE
        if not self._here and has_waited:
            self._change()
            self._tell(
                "stall",
                "no crawler has found a place: each needs a free processor of the Ray cluster (ray status shows them); "
                "waiting for one",
            )
        if not self._here or not (len(self._here) == self._most or has_waited):
            return
        wanted = shards_of_crawlers(self._task.shard_count, sorted(self._here), self._homes)
        self._is_dealt = True
        leaving = []
        for shard, number in wanted.items():
            home = self._homes.get(shard)
            if home is None:
                self._run(shard, number)
            elif home != number and shard not in self._leaving:
                leaving.append(shard)
                self._store.leave(shard)
        if leaving:
            self._leaving.update(leaving)
            self._tell("crawler", f"{len(self._here)} crawlers now, so shards move: {_words(leaving)}")

    def _run(self, shard: int, number: int) -> None:
        self._store.stay(shard)
        self._homes[shard] = number
        self._running[self._actors[number].run.remote(self._task, shard)] = shard

    def end(self) -> None:
        """Give back the places."""
        for actor in self._actors.values():
            self._ray.kill(actor)


def _words(shards: Iterable[int]) -> str:
    return ", ".join(map(str, shards))


def _first_line(error: BaseException) -> str:
    return next(iter(str(error).splitlines()), type(error).__name__)
