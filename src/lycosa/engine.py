"""From a configuration to a running crawl: the one place where the parts are put together."""

from __future__ import annotations

import asyncio
import json
import os
import signal
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

import numpy as np

from lycosa import __version__
from lycosa.config import Config
from lycosa.crawl.advice import Advice
from lycosa.crawl.commit import JUDGE, THRESHOLD, CrawlLedger
from lycosa.crawl.loop import run
from lycosa.crawl.reader_pool import Readers
from lycosa.crawl.reading import Reading
from lycosa.crawl.rejudge import Learning
from lycosa.crawl.stall import Lookout
from lycosa.crawl.steering import Steering
from lycosa.crawl.visits import LiveVisitor
from lycosa.errors import ConfigError, SeedError
from lycosa.fetch.archive import Archive, Position, recover
from lycosa.fetch.cache import PageCache
from lycosa.fetch.dns import Resolver
from lycosa.fetch.fetcher import LiveFetcher, RobotsBook
from lycosa.fetch.guard import Guard
from lycosa.fetch.http import Http
from lycosa.fetch.robots import RobotsFile, RobotsState
from lycosa.fetch.urls import Urls
from lycosa.frontier.frontier import Frontier
from lycosa.judge_choice import Versions, has_open_threshold, is_trained, judge_of, settled
from lycosa.judges.contrast.judge import ContrastJudge, ContrastStudy
from lycosa.judges.protocol import Judge
from lycosa.lib.clock import SystemClock
from lycosa.stopping.forecast import Forecast, Forecasting
from lycosa.stopping.forecaster import Forecaster
from lycosa.stopping.outlook import outlook
from lycosa.stopping.rules import Stop, no_advice, no_forecast
from lycosa.store.sqlite import SqliteStore
from lycosa.strategies.protocol import StrategyParts
from lycosa.strategies.table import strategy as strategy_named
from lycosa.strategies.tunnelling import Tunnelling
from lycosa.workspace import Workspace


@dataclass(frozen=True, slots=True)
class View:
    """The running parts, for those who watch."""

    config: Config
    frontier: Frontier
    ledger: CrawlLedger
    visitor: LiveVisitor
    lookout: Lookout
    started: float
    forecast: Callable[[], Forecast | None] = no_forecast


class Studies:
    """The study a strategy begins of the topic, if the judge can and the strategy does."""

    def __init__(self, judge: Judge) -> None:
        self._judge = judge
        self.begun: ContrastStudy | None = None

    def begin(self) -> ContrastStudy:
        assert isinstance(self._judge, ContrastJudge)
        self.begun = self._judge.study()
        return self.begun

    def learning(self, ledger: CrawlLedger, store: SqliteStore) -> Learning | None:
        if self.begun is None or not isinstance(self._judge, ContrastJudge):
            return None
        return Learning(study=self.begun, judge=self._judge, ledger=ledger, store=store)


class Watcher(Protocol):
    def begin(self, view: View) -> None: ...

    def look(self) -> None:
        """Called often, after each turn of the loop."""
        ...

    def stalled(self, cause: str) -> None:
        """The crawl stands still, and this is why: when it begins, and when the cause has changed."""
        ...

    def changed(self, kind: str, message: str) -> None:
        """The crawl has changed its course: another focus, another judge, hubs found."""
        ...

    def interrupted(self, message: str) -> None: ...

    def end(self) -> None: ...


def reading_of(config: Config, workspace: Workspace, *, threshold: float | None = None) -> Reading:
    """How this crawl reads pages; whoever reads them again later must read them the same way."""
    return Reading(
        urls=Urls(config.urls),
        judge=judge_of(config, workspace, threshold=threshold),
        limits=config.page,
        decode_limits=config.decode,
        product_token=config.robots.product_token,
    )


def crawl(config: Config, workspace: Workspace, watcher: Watcher) -> str:
    """Crawl in the workspace until there is a reason to stop; return it."""
    config = settled(config)
    judge_of(config, workspace)
    Guard(config.network.allow)  # refuses a malformed network before anything is written
    strategy_named(config.strategy, settings=config.constants)
    if config.strategy.startswith("tunnel+") and not is_trained(config):
        raise ConfigError(
            f"strategy {config.strategy!r} widens topics of a taxonomy, and this crawl has only words; crawl for a "
            "--topic or an --interest, or leave tunnel+ out"
        )
    with workspace.locked():
        store = SqliteStore(workspace.database)
        try:
            found = store.state(THRESHOLD)
            reading = reading_of(config, workspace, threshold=float(found) if found else None)
            return asyncio.run(_crawl(config, workspace, store, reading, watcher))
        finally:
            store.close()


async def _crawl(config: Config, workspace: Workspace, store: SqliteStore, reading: Reading, watcher: Watcher) -> str:
    # What refuses a setting comes first: a configuration that cannot work must not become the crawl's own.
    seeds = _checked_seeds(config, reading.urls)
    resolver = Resolver(overrides=config.network.resolve)
    http = Http(settings=config.http_settings(), guard=Guard(config.network.allow), resolver=resolver)
    cache = PageCache(Path(config.cache), chop=config.fetch.chop) if config.cache else None
    workspace.write_config(config.to_toml())
    clock = SystemClock()
    started = clock.now()
    was_cut_off = store.was_cut_off()
    number = store.begin_run(started_at=started, pid=os.getpid(), version=__version__, config=config.to_toml())
    archive, lost = _open_archive(config, workspace, store)
    frontier = Frontier(
        buffer=config.frontier.buffer or None,
        slots_per_host=config.politeness.connections_per_host,
        slots_per_address=config.politeness.connections_per_address,
    )
    parts = StrategyParts.of(
        reading.judge, rng=np.random.default_rng(config.seed), buffer=config.frontier.buffer or None
    )
    studies = Studies(reading.judge)
    if isinstance(reading.judge, ContrastJudge):
        parts = replace(parts, study=studies.begin)
    strategy = strategy_named(config.strategy, parts, config.constants)
    if isinstance(strategy, Forecasting):  # its scores are predictions
        frontier.be_patient(config.frontier.patience)
    robots = RobotsBook(config.robots, _known_robots(store))
    ledger = CrawlLedger(
        store=store,
        run=number,
        frontier=frontier,
        strategy=strategy,
        urls=reading.urls,
        politeness=config.politeness,
        max_redirects=config.fetch.max_redirects,
        robots=robots,
        archive=archive,
        cache=cache,
        judge=reading.judge.name,
        clock=clock,
        follow_nofollow=config.frontier.follow_nofollow,
        rest_from=started if was_cut_off else None,
        rules=config.stop,
        max_distance=None if config.frontier.max_distance < 0 else config.frontier.max_distance,
    )
    if lost:
        ledger.note("archive", lost)
    ledger.add_seeds(seeds)
    fetcher = LiveFetcher(
        http=http,
        resolver=resolver,
        urls=reading.urls,
        robots=robots,
        settings=config.fetch,
        address_of=ledger.hosts.address_of,
        pause=config.politeness.delay,
        clock=clock,
        cache=cache,
    )
    reading = replace(reading, digest=strategy.digest)
    readers = Readers(
        reading,
        count=config.readers.processes,
        seconds=config.readers.seconds,
        memory=config.readers.memory,
        whole_pages=strategy.needs_whole_pages,
    )
    await readers.start()
    visitor = LiveVisitor(fetcher=fetcher, reader=readers, clock=clock)
    advice = (lambda: strategy.advice) if isinstance(strategy, Tunnelling) and config.stop.is_generalised else no_advice
    forecaster = Forecaster(
        strategy,
        frontier,
        visits=lambda: ledger.pages,
        recent=lambda: [is_relevant for _, is_relevant in ledger.recent],
        pages=config.stop.forecast_pages,
    )
    stop = Stop(config.budget, started=started, rules=config.stop, advice=advice, forecast=forecaster)
    lookout = Lookout(
        config.stall,
        frontier=frontier,
        ledger=ledger,
        visitor=visitor,
        robots=robots,
        readers=readers,
        clock=clock,
    )

    steering = _steering(config, workspace, store, ledger, readers, reading, clock, studies)

    told = 0

    def tell() -> None:
        nonlocal told
        for kind, message in ledger.changes[told:]:
            watcher.changed(kind, message)
        told = len(ledger.changes)

    def watch() -> None:
        steering.look()
        tell()
        if cause := lookout.look():
            watcher.stalled(cause)
        watcher.look()

    watcher.begin(View(config, frontier, ledger, visitor, lookout, started, forecaster))
    release_signals = _heed_signals(stop, visitor, watcher)
    try:
        reason = await run(
            frontier=frontier,
            strategy=strategy,
            visitor=visitor,
            ledger=ledger,
            stop=stop,
            clock=clock,
            width=config.network.fetches,
            watch=watch,
        )
        steering.end()
        tell()
        ledger.keep_outlook(json.dumps(outlook(forecaster(), forecaster.calibration())))
        store.end_run(number, ended_at=clock.now(), stop_reason=reason)
        return reason
    finally:
        watcher.end()
        release_signals()
        await visitor.cancel()
        await readers.close()
        await http.close()
        await resolver.close()
        if cache is not None:
            cache.close()
        if archive is not None:
            archive.close()


def _steering(
    config: Config,
    workspace: Workspace,
    store: SqliteStore,
    ledger: CrawlLedger,
    readers: Readers,
    reading: Reading,
    clock: SystemClock,
    studies: Studies,
) -> Steering:
    versions = Versions(workspace.topics, config) if is_trained(config) else None
    stored = store.state(JUDGE)
    newest = versions.newest() if versions else 0
    if versions and not stored:
        ledger.keep_version(newest)
    elif versions and stored and int(stored) < newest:
        ledger.adopt_judge(newest, f"version {newest} took over while the crawl rested")
    return Steering(
        ledger=ledger,
        store=store,
        readers=readers,
        reading=reading,
        distilling=config.distill,
        clock=clock,
        has_open_threshold=has_open_threshold(config) and store.state(THRESHOLD) is None,
        version=newest,
        newer=versions.newer if versions else None,
        learning=studies.learning(ledger, store),
        advice=Advice(ledger=ledger, store=store, seeds=len(config.seeds), study=studies.begun),
    )


def _open_archive(config: Config, workspace: Workspace, store: SqliteStore) -> tuple[Archive | None, str]:
    """The archive, cut back to the last commit; and what is missing from it, in words."""
    if not config.archive.is_on:
        return None, ""
    stored = store.state("archive")
    committed = Position(*json.loads(stored)) if stored else None
    found = recover(workspace.archive, committed)
    lost = f"{found.missing:,} committed bytes are missing from {committed and committed.file}" if found.missing else ""
    info = {"robots": "obey", "http-header-user-agent": config.user_agent(), "description": config.title}
    if config.network.contact:
        info["operator"] = config.network.contact
    archive = Archive(workspace.archive, max_bytes=config.archive.max_bytes, crawl_info=info, committed=committed)
    return archive, lost


def _known_robots(store: SqliteStore) -> list[RobotsFile]:
    return [
        RobotsFile(
            origin=row.origin,
            state=RobotsState(row.state),
            fetched_at=row.fetched_at,
            expires_at=row.expires_at,
            status=row.status,
            failure=row.failure,
            body=row.body,
            failures=row.failures,
        )
        for row in store.robots()
    ]


def _checked_seeds(config: Config, urls: Urls) -> list[str]:
    """The seeds in canonical form. A seed that a rule turns away is an error: somebody asked for it."""
    seeds = []
    for seed in config.seeds:
        url, reason = urls.canonical(seed)
        if reason:
            detail = urls.reason_detail(seed)
            raise SeedError(
                f"seed {seed!r} is turned away: {reason} ({detail}); change the seed or the [urls] settings"
            )
        seeds.append(url)
    return seeds


def _heed_signals(stop: Stop, visitor: LiveVisitor, watcher: Watcher) -> Callable[[], None]:
    """The first Ctrl-C or SIGTERM ends the crawl in order, a second one at once."""
    loop = asyncio.get_running_loop()
    task = asyncio.current_task()
    assert task is not None
    heeded = (signal.SIGINT, signal.SIGTERM)
    names = {signal.SIGINT: "Ctrl-C", signal.SIGTERM: "SIGTERM"}
    seen: list[int] = []

    def on_signal(number: signal.Signals) -> None:
        seen.append(number)
        if len(seen) > 1:
            task.cancel()
            return
        stop.request(f"interrupted by {names[number]}")
        visitor.nudge()
        watcher.interrupted(
            f"{names[number]}: finishing {visitor.in_flight} fetches under way; once more to stop at once"
        )

    for number in heeded:
        loop.add_signal_handler(number, on_signal, number)

    def release() -> None:
        for number in heeded:
            loop.remove_signal_handler(number)

    return release
