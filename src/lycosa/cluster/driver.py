"""Runs a cluster: has crawlers on Ray run the shards (`crew`), grants pages, and says when all is over.

Ray starts and places; nothing of value is in its calls. All that counts is in the store, and the driver asks that: it
may be killed, and another driver goes on by the same command.
"""

from __future__ import annotations

import math
import signal
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Mapping
from contextlib import closing
from typing import Any, NamedTuple, Protocol

from lycosa.cluster.connection import connected, require_ray
from lycosa.cluster.crawler import CrawlerTask
from lycosa.cluster.crew import TICK, Crew
from lycosa.cluster.grants import Standing, grants
from lycosa.cluster.partitions import PARTITIONS
from lycosa.cluster.refreshing import SharedPlan, shared_plan
from lycosa.config import Config
from lycosa.crawl.refresh import RefreshPlan, refresh_words
from lycosa.engine import Crawl
from lycosa.errors import ConfigError
from lycosa.frontier.frontier import Frontier
from lycosa.results.report import Report
from lycosa.stopping.figures import Figures
from lycosa.stopping.rules import NO_PAGE_LIMIT, Budget, Stop, StopRules
from lycosa.store.opening import shown
from lycosa.store.postgres_cluster import ClusterStore, ShardRow, prepare_cluster

SPEED_SECONDS = 5.0
SILENCE = 5.0
"""Seconds after which nobody waits for the links of a shard that says nothing."""
REFRESHED = "all pages that were due have been looked at again"
COUNT_EVERY = 3.0
"""Seconds between two counts of pages that were looked at again."""
RECENT_EVERY = 1.0
"""Seconds between two looks at the latest pages of all shards, if a stop rule is about them."""
REFUSED = {
    "community": "links between shards are not counted",
    "expected_harvest": "forecasts of shards do not add up",
    "is_generalised": "each shard widens its focus by itself",
}
"""Stop rules that cannot be kept over all shards, and why."""


class ClusterProgress(NamedTuple):
    """The whole crawl at one moment."""

    pages: int
    relevant: int
    waiting: int
    in_flight: int
    letters: int
    """Under way between shards."""
    crawlers: int
    speed: float
    """Pages a second of late."""
    looked_at: int = 0
    """In a refresh: number of pages that were looked at again, of those that are planned."""
    planned: int = 0


class Audience(Protocol):
    """Who hears of a running cluster."""

    def progress(self, now: ClusterProgress) -> None: ...

    def event(self, kind: str, message: str) -> None: ...


class Cluster:
    """A crawl by several crawlers. Making one checks the settings; nothing is started or written."""

    def __init__(
        self, crawl: Crawl, *, store: str, crawlers: int, shards: int = 0, address: str = "", ray: Any = None
    ) -> None:
        """`crawl`: as it would be run by one process. `store`: the URL of its database, if it is not begun yet.
        `shards`: of a new crawl; by default one for each crawler. `address`: of a Ray cluster; without it, one is
        started here. `ray`: the module, or what stands for it in a test."""
        self._ray = ray or require_ray()
        self._crawl = crawl
        self.workspace = crawl.workspace
        if not store and not self.workspace.has_remote_store:
            raise ConfigError(
                "a cluster keeps what it knows in PostgreSQL: give --store postgresql://user@host/database"
            )
        self._url = store or self.workspace.remote_store()
        most = shards or crawlers
        if not 1 <= crawlers <= PARTITIONS or not crawlers <= most <= PARTITIONS:
            raise ConfigError(
                f"{crawlers} crawlers and {most} shards: there are at least as many shards as crawlers, and at most "
                f"{PARTITIONS:,}"
            )
        self._crawlers = crawlers
        self._shards = most
        self._address = address
        _check(crawl.config)

    def run(self, audience: Audience) -> Report:
        """Crawl until there is a reason to stop. Ctrl-C ends all crawlers in order; a second one at once."""
        config = self._crawl.settled_config()
        workspace = self.workspace
        if workspace.has_crawl and not workspace.has_shards:
            raise ConfigError(
                f"{workspace.directory}: holds a crawl of one process; begin one of a cluster in another directory, -o"
            )
        return self._locked_run(audience, config)

    def refresh(self, plan: RefreshPlan, audience: Audience, *, minutes: float | None = None) -> Report:
        """Look again at the pages that all shards have, and at what is new on them; the crawl's settings stay."""
        if not self.workspace.has_shards:
            raise ConfigError(f"{self.workspace.directory}: no crawl of a cluster here that could be refreshed")
        config = self._crawl.settled_config()
        budget = Budget(pages=NO_PAGE_LIMIT, seconds=config.budget.seconds if minutes is None else minutes * 60)
        config = config.model_copy(update={"budget": budget, "stop": StopRules()})
        return self._locked_run(audience, config, plan)

    def _locked_run(self, audience: Audience, config: Config, plan: RefreshPlan | None = None) -> Report:
        workspace = self.workspace
        workspace.archive = workspace.shards  # each has its own
        with workspace.locked():
            count = prepare_cluster(
                self._url,
                where=shown(self._url),
                path=workspace.remote_name,
                shards=self._shards,
                is_begun=workspace.has_remote_store,
            )
            if count < self._crawlers:
                raise ConfigError(
                    f"{workspace.directory}: this crawl has {count} shards, and so at most as many crawlers: "
                    f"--cluster {count}"
                )
            workspace.name_remote_store(self._url)
            if plan is None:
                workspace.write_config(config.to_toml())
            path = workspace.remote_name
            shared = None if plan is None else shared_plan(self._url, path, count, plan, now=time.time())
            task = CrawlerTask(str(workspace.directory.resolve()), self._url, count, config.to_toml(), shared)
            with (
                closing(ClusterStore(self._url, path=path, patience=math.inf)) as store,
                connected(self._ray, self._address, self._crawlers),
                _Interrupts() as interrupts,
            ):
                store.on_wait = lambda words: audience.event("stall", words)
                crew = Crew(self._ray, store, task, crawlers=self._crawlers, tell=audience.event)
                reason = _Run(crew, store, config, audience, interrupts, shared).until_the_end()
        return Report.of(workspace.directory, reason)


def _check(config: Config) -> None:
    """ConfigError if a setting cannot be kept over several crawlers."""
    plain = StopRules()
    for name, why in REFUSED.items():
        if getattr(config.stop, name) != getattr(plain, name):
            raise ConfigError(f"stop.{name}: a cluster cannot keep this stop rule, as {why}; leave it out")


class _Run:
    """One run of a cluster."""

    def __init__(
        self,
        crew: Crew,
        store: ClusterStore,
        config: Config,
        audience: Audience,
        interrupts: _Interrupts,
        refresh: SharedPlan | None = None,
    ) -> None:
        self._refresh = refresh
        self._looks: Counter[str] = Counter()
        self._new_looks: Counter[str] = Counter()
        self._counted_at = -math.inf
        self._first_pages = 0
        self._crew = crew
        self._store = store
        self._budget = config.budget
        self._audience = audience
        self._interrupts = interrupts
        self._patience = config.frontier.patience
        self._heard: dict[int, tuple[float, float]] = {}
        """By shard: the time on its last figures, and when they were first seen here."""
        self._rules = config.stop
        self._stop = Stop(config.budget, started=time.time(), rules=config.stop)
        self._no_frontier = Frontier()
        self._latest: list[bool] = []
        self._latest_at = -math.inf
        self._low: dict[int, float] | None = None
        """When each shard wrote its figures last, when no waiting link seemed worth fetching; None while some are."""
        self._past: deque[tuple[float, dict[int, int]]] = deque()

    def until_the_end(self) -> str:
        if self._refresh is not None:
            self._looks = Counter(self._store.looks())
            self._first_pages = sum(row.pages for row in self._store.overview())
        self._store.begin()
        self._crew.begin()
        reason = ""
        while not reason or self._crew.is_running:
            shards = self._store.overview()
            self._count_looks()
            self._tell(shards)
            if not reason and (reason := self._why_stop(shards)):
                self._store.stop(reason)
            if not reason and self._low is None and self._refresh is None:
                self._grant(shards)
            if self._interrupts.count > 1:
                raise KeyboardInterrupt
            self._crew.look(pages=sum(row.pages for row in shards), is_ending=bool(reason))
        self._crew.end()
        if self._crew.error is not None:
            raise self._crew.error
        self._count_looks(is_last=True)
        self._tell(self._store.overview())
        return self._refresh_words() if reason == REFRESHED else reason

    def _count_looks(self, *, is_last: bool = False) -> None:
        """Looks of this refresh; all are counted, which takes longer the more there are."""
        if self._refresh is not None and (is_last or time.monotonic() - self._counted_at >= COUNT_EVERY):
            self._new_looks = Counter(self._store.looks()) - self._looks
            self._counted_at = time.monotonic()

    def _refresh_words(self) -> str:
        assert self._refresh is not None
        new = sum(row.pages for row in self._store.overview()) - self._first_pages
        return refresh_words(self._new_looks, planned=self._refresh.planned, new=new)

    def _tell(self, shards: list[ShardRow]) -> None:
        now = time.monotonic()
        self._past.append((now, {row.shard: row.pages for row in shards}))
        while len(self._past) > 2 and now - self._past[1][0] > SPEED_SECONDS:
            self._past.popleft()
        self._audience.progress(
            ClusterProgress(
                pages=sum(row.pages for row in shards),
                relevant=sum(row.relevant for row in shards),
                waiting=sum(row.waiting for row in shards),
                in_flight=sum(row.in_flight for row in shards),
                letters=shards[0].letters,
                crawlers=self._crew.crawlers,
                speed=sum(self._speeds().values()),
                looked_at=self._new_looks.total(),
                planned=self._refresh.planned if self._refresh else 0,
            )
        )

    def _speeds(self) -> Mapping[int, float]:
        (first, before), (last, after) = self._past[0], self._past[-1]
        seconds = max(last - first, TICK)
        return {shard: (pages - before.get(shard, 0)) / seconds for shard, pages in after.items()}

    def _why_stop(self, shards: list[ShardRow]) -> str:
        if self._interrupts.count:
            return f"interrupted by {self._interrupts.name}"
        if reason := self._stop.reason(self._figures(shards), self._no_frontier, now=time.time()):
            return reason
        if reason := self._low_best_score(shards):
            return reason
        # All of them as of one moment: an idle shard wakes up by letters alone, and there are none.
        if all(row.is_idle for row in shards) and not shards[0].letters:
            if self._refresh is not None:
                return REFRESHED
            return self._stop.exhausted(sum(row.waiting for row in shards))
        return shards[0].stop

    def _figures(self, shards: list[ShardRow]) -> Figures:
        latest, window = self._recent(), self._rules.window
        return Figures(
            pages=sum(row.pages for row in shards),
            relevant=sum(row.relevant for row in shards),
            since_relevant=latest.index(True) if True in latest else len(latest),
            bytes=sum(row.downloaded for row in shards),
            precision=sum(latest[:window]) / window if self._rules.precision and len(latest) >= window else None,
        )

    def _recent(self) -> list[bool]:
        """Whether the latest pages are relevant, the latest first; as many as stop rules are about."""
        rules, now = self._rules, time.monotonic()
        count = max(rules.irrelevant_in_a_row, rules.window if rules.precision else 0)
        if count and now - self._latest_at >= RECENT_EVERY:
            self._latest, self._latest_at = self._store.recent_relevance(count), now
        return self._latest

    def _low_best_score(self, shards: list[ShardRow]) -> str:
        """Whether no waiting link of any shard is worth fetching. Nothing is granted while it looks like it; what is
        under way, letters included, may still bring better ones."""
        least = self._rules.best_score
        best = [float(row.scores[0]) for row in shards if len(row.scores)]
        if not least or not best or max(best) >= least:
            self._low = None
            return ""
        self._low = low = self._low or {row.shard: row.at for row in shards}
        is_busy = shards[0].letters or any(row.in_flight for row in shards)
        if is_busy or any(row.at == low[row.shard] and not row.is_idle for row in shards):
            return ""
        waiting = sum(row.waiting for row in shards)
        return f"best score: {max(best):.3g} is the best of {waiting:,} waiting links, {least:g} is required"

    def _grant(self, shards: list[ShardRow]) -> None:
        speeds = self._speeds()
        idle = [row.shard for row in shards if row.is_idle and row.granted > row.pages]
        self._store.reclaim(idle)
        standings = [
            Standing(row.shard, row.granted - row.pages, speeds.get(row.shard, 0.0), row.scores)
            for row in shards
            if not row.is_idle
        ]
        left = self._budget.pages - sum(row.granted for row in shards)
        best = max((row.best_soon for row in shards if self._is_heard(row)), default=0.0)
        self._store.grant(dict(grants(standings, left, least=self._patience * best)))

    def _is_heard(self, row: ShardRow) -> bool:
        """Whether a shard has something to fetch, and somebody runs it: it writes down its figures all the time."""
        now = time.monotonic()
        at, since = self._heard.get(row.shard, (-1.0, now))
        self._heard[row.shard] = (row.at, since if at == row.at else now)
        return not row.is_idle and now - self._heard[row.shard][1] < SILENCE


class _Interrupts:
    """Ctrl-C and SIGTERM, counted, while this is entered in the main thread."""

    def __init__(self) -> None:
        self.count = 0
        self.name = ""
        self._before: dict[int, Any] = {}

    def __enter__(self) -> _Interrupts:
        if threading.current_thread() is threading.main_thread():
            for number, name in ((signal.SIGINT, "Ctrl-C"), (signal.SIGTERM, "SIGTERM")):
                self._before[number] = signal.signal(number, self._handler(name))
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def _handler(self, name: str) -> Callable[[int, object], None]:
        def heard(number: int, frame: object) -> None:  # noqa: ARG001 - as signal calls it
            self.count += 1
            self.name = name

        return heard
