"""The door: `Crawl` puts the parts together and runs them.

The command line, notebooks, scripts and, later, the dashboard and the cluster come in here. A crawl lives in a
directory; whoever opens the same directory again goes on with it.

    crawl = Crawl("recreational cycling", seeds=["https://…"], directory="cycling")
    report = crawl.run(pages=500)
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import time
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from contextlib import AsyncExitStack, closing
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from lycosa import __version__
from lycosa.config import Config, Layer, build, load_crawl
from lycosa.crawl.advice import Advice
from lycosa.crawl.alarms import Alarms, Condition
from lycosa.crawl.answers import Answers, new_answers
from lycosa.crawl.clock_watch import CLOCK, ClockWatch, settle_clocks
from lycosa.crawl.commands import Commands
from lycosa.crawl.commit import CrawlLedger, FoundPage, Records
from lycosa.crawl.distiller import Distilling
from lycosa.crawl.lists import EVENT as SITEMAP
from lycosa.crawl.lists import SitemapLookAhead
from lycosa.crawl.log_file import LogFile
from lycosa.crawl.loop import run
from lycosa.crawl.own_study import OwnStudy
from lycosa.crawl.reader_pool import Readers
from lycosa.crawl.reading import Reading
from lycosa.crawl.receiving import Receiving
from lycosa.crawl.refresh import Refreshing, RefreshPlan
from lycosa.crawl.rejudge import Learning, Rejudge
from lycosa.crawl.rendering import BrowserAdvice, RenderingReader
from lycosa.crawl.resume import (
    FURNITURE,
    NOTHING,
    THRESHOLD,
    Covered,
    known_robots,
    open_archive,
    resume,
)
from lycosa.crawl.revisits import archived_answers
from lycosa.crawl.seeds import SeedWatch
from lycosa.crawl.shard import GrantedStop, Sending, Shard, SharedStore
from lycosa.crawl.snapshots import SNAPSHOT, Refused, Snapshotting, load
from lycosa.crawl.stall import Lookout
from lycosa.crawl.visits import Fetcher, LiveVisitor
from lycosa.crawl.watching import (
    Event,
    Listener,
    Periodic,
    Running,
    Silence,
    View,
    Watcher,
    heeding_signals,
    in_a_thread,
)
from lycosa.errors import ConfigError, InputError, LycosaError, SeedError, WorkspaceError
from lycosa.fetch.access import Access
from lycosa.fetch.browser import chromium, has_sandbox
from lycosa.fetch.cache import PageCache
from lycosa.fetch.fetcher import RobotsBook
from lycosa.fetch.guard import Guard
from lycosa.fetch.urls import Urls, checked_seed
from lycosa.frontier.frontier import Frontier
from lycosa.given import (
    as_layer,
    canonical_answers,
    checked_seeds,
    directory_for,
    made_judge,
    name_of,
    with_pdf_fetched,
    with_strategy_inside,
)
from lycosa.judge_choice import (
    Versions,
    has_open_threshold,
    is_trained,
    judge_from,
    judge_of,
    newest_version,
    require_vectors,
    settled,
    snapshot_settings,
)
from lycosa.judges.protocol import CompletedJudge, Judge, LearnedTopic, PlainJudge
from lycosa.lib.clock import SystemClock
from lycosa.live import address_turns, live_browser, live_fetcher, live_search, query_words
from lycosa.results.check import naming_damage
from lycosa.results.report import Report
from lycosa.stopping.forecaster import Forecaster
from lycosa.stopping.outlook import OUTLOOK, outlook
from lycosa.stopping.rules import Stop
from lycosa.store.opening import begin_shard_store, begin_store, check_url, open_store
from lycosa.store.protocol import Reports
from lycosa.store.rows import Batch
from lycosa.strategies.protocol import Strategy, StrategyParts
from lycosa.strategies.table import strategy as strategy_named
from lycosa.strategies.table import studying_strategy
from lycosa.teaching import teach
from lycosa.topics.feedback import Lesson
from lycosa.topics.start import good_topics, open_book, starting_examples
from lycosa.workspace import Workspace

NO_PAGE_LIMIT = 2**40
READMIT_EVERY = 60.0
"""Seconds between two looks for hosts that may take part again."""


class Beside(Protocol):
    """What stands beside the line."""

    def look(self) -> object:
        """Called after each turn of the loop; does nothing most of the time."""
        ...


class Crawl:
    """A crawl in a directory. Making one checks the settings; nothing is fetched or written before it runs."""

    def __init__(
        self,
        topic: str = "",
        *,
        seeds: Iterable[str] = (),
        directory: str | Path | None = None,
        topics: Iterable[str] = (),
        interest: str = "",
        good: bool = False,
        with_examples: bool = False,
        book: str | Path = "topics.db",
        store: str = "",
        judge: str | PlainJudge | Callable[..., PlainJudge] | None = None,
        strategy: str | Strategy | Callable[..., Strategy] | None = None,
        fetcher: Fetcher | None = None,
        answers: Mapping[str, bool] | None = None,
        config: Config | str | Path | Mapping[str, Any] | None = None,
        shard: Shard | None = None,
        layers: Iterable[Layer] = (),
        **settings: Any,
    ) -> None:
        """`topic`: what pages should be about, in words; without words the seeds are examples of it.

        `topics`, `interest`: topics of the book, or a formula over them, instead of words; `good`: the topics that are
        marked good. Without seeds a crawl for topics starts from their examples; `with_examples`: with seeds, too.
        `judge`, `strategy`: a name, `module:Class`, or an object of your own. `fetcher`: where pages come from, if not
        from the web. `store`: the URL of a PostgreSQL database for what the crawl knows, instead of a file in its
        directory; given once, it is remembered. `answers`: by URL, whether pages are relevant: no judge overrules it,
        and a page that has not been fetched is awaited.
        `config`: a TOML file (default: the one that LYCOSA_CONFIG names), a mapping of settings, or a `Config`;
        `settings`: settings and sections by name, such as politeness={"delay": 2}; `layers`: further settings, each
        with a name for messages. Later ones win. `shard`: the part of a cluster's crawl that this one is.
        """
        self._book = Path(book)
        self._store_url = store
        self._shard = shard
        if store:
            check_url(store)
        if good:
            topics = self._good_topics(topics, directory)
        named = topic or interest or " + ".join(topics)
        self.workspace = Workspace(Path(directory) if directory is not None else directory_for(named))
        self._judge = made_judge(judge)
        self._strategy = None if strategy is None or isinstance(strategy, str) else strategy
        self._fetcher = fetcher
        self._answers = dict(answers or {})
        self._listeners: list[Listener] = []
        self._has_text = False
        self._running: Running | None = None
        self._plan: RefreshPlan | None = None
        self._shared: SharedStore | None = None
        given: dict[str, Any] = {
            "topic": named,
            "topics": list(topics),
            "interest": interest,
            "seeds": [checked_seed(url) for url in seeds],
            "strategy": strategy if isinstance(strategy, str) else name_of(self._strategy),
            "judge": {"kind": judge} if isinstance(judge, str) else {"kind": self._judge.name} if self._judge else {},
        }
        stored = self._stored()
        written: list[Layer] = [(str(self.workspace.config), stored)] if stored else []
        if config is None:
            config = os.environ.get("LYCOSA_CONFIG")
        if config:
            written.append(as_layer(config))
        said = {name: value for name, value in given.items() if value not in ("", [], {}, None)}
        built = build(*written, ("Crawl", said), ("settings", settings), *layers)
        self.config = with_pdf_fetched(with_strategy_inside(built))
        self.start_note = ""
        """Which examples the crawl starts from; empty if it starts from seeds that were given."""
        if self.config.topics and (with_examples or not self.config.seeds):
            examples = starting_examples(self._current_book, self.config.topics, Urls(self.config.urls))
            self.start_note = examples.words
            all_seeds = tuple(dict.fromkeys([*self.config.seeds, *examples.seeds]))
            self.config = self.config.model_copy(update={"seeds": all_seeds})
        self._check(stored)

    def listen(self, listener: Listener, *, with_text: bool = False) -> None:
        """Call `listener` with every event; with text, the page of a `page` event has its text."""
        self._listeners.append(listener)
        self._has_text |= with_text

    def run(self, pages: int | None = None, *, minutes: float | None = None, watcher: Watcher | None = None) -> Report:
        """Crawl until there is a reason to stop, in a script, a thread or a notebook.

        `pages`: in all, over all runs. Ctrl-C finishes what is under way first; a second one stops at once.
        """
        config = self._with_budget(pages, minutes)
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            return asyncio.run(self._crawl(config, watcher or Silence()))
        return in_a_thread(
            lambda: asyncio.run(self._crawl(config, watcher or Silence())), stop=self.stop, cancel=self.cancel
        )

    def refresh(
        self, plan: RefreshPlan | None = None, *, minutes: float | None = None, watcher: Watcher | None = None
    ) -> Report:
        """Look again at the pages that the crawl has, and at what is new on them; nothing else is fetched.

        Pages that changed are read and judged anew, those that are gone are marked. The crawl's settings stay.
        """
        if not self.workspace.has_crawl:
            raise WorkspaceError(f"{self.workspace.directory}: no crawl here that could be refreshed")
        self._plan = plan or RefreshPlan()
        try:
            return self.run(minutes=minutes, watcher=watcher)
        finally:
            self._plan = None

    async def arun(self, pages: int | None = None, *, minutes: float | None = None) -> Report:
        """`run` in the event loop that is running already."""
        return await self._crawl(self._with_budget(pages, minutes), Silence())

    async def pages(self, pages: int | None = None, *, minutes: float | None = None) -> AsyncIterator[FoundPage]:
        """Pages as they are found, with their text. `stop` ends the iteration when what is under way is finished."""
        found: asyncio.Queue[FoundPage | None] = asyncio.Queue()

        def put(event: Event) -> None:
            if event.kind == "page" and event.page is not None:
                found.put_nowait(event.page)

        self.listen(put, with_text=True)
        task = asyncio.create_task(self.arun(pages, minutes=minutes))
        task.add_done_callback(lambda _: found.put_nowait(None))
        try:
            while (page := await found.get()) is not None:
                yield page
        finally:
            self._listeners.remove(put)
            self.stop("nobody reads its pages any more")
            await task

    def stop(self, reason: str = "stopped by the program") -> None:
        """Finish what is under way, then stop. May be called from any thread; does nothing if it is not running."""
        if self._running is not None:
            self._running.request(reason)

    def cancel(self) -> None:
        """Stop at once; the next run goes on from the last commit."""
        if self._running is not None:
            self._running.cancel()

    def learn_answers(self) -> bool:
        """Without fetching anything, take over what people said of pages since the last run.

        Whether the judge learns from it, and all pages have been judged again.
        """
        config = self.config
        with self.workspace.locked(), closing(open_store(self.workspace, is_crawler=True)) as store:
            lesson = self._teach(config)
            found, run = store.state(THRESHOLD), store.last_run()
            if run is None:
                return False
            judge = self._judge_for(config, float(found) if found else None)
            study, strategy = self._studied_strategy(config, judge)
            state = resume(
                store,
                frontier=Frontier(
                    buffer=config.frontier.buffer or None, host_buffer=config.frontier.links_per_host or None
                ),
                strategy=strategy,
                politeness=config.politeness,
                links=config.link_rules(),
                rules=config.stop,
            )
            clock = SystemClock()
            ledger = CrawlLedger(
                state,
                records=Records(robots=RobotsBook(config.robots, known_robots(store))),
                urls=Urls(config.urls),
                politeness=config.politeness,
                judge=judge.name,
                clock=clock,
            )
            ledger.begin(run.id)
            Answers(ledger=ledger, clock=clock).look(is_last=True)
            if study is not None:
                Learning(study=study, threshold=judge.abilities.threshold, ledger=ledger).look(is_last=True)
            return study is not None or lesson is not None

    def report(self) -> Report:
        """What the crawl has found so far."""
        return Report.of(self.workspace.directory)

    # ── settings ──────────────────────────────────────────────────────────────────────────────────────────

    def _stored(self) -> dict[str, Any]:
        workspace = self.workspace
        workspace.refuse_links()
        return load_crawl(workspace.config, is_begun=workspace.has_crawl) if workspace.config.exists() else {}

    def _check(self, stored: Mapping[str, Any]) -> None:
        config = self.config
        if stored.get("topic") and stored["topic"] != config.topic:
            raise WorkspaceError(
                f"{self.workspace.directory}: holds a crawl on {stored['topic']!r}, not on {config.topic!r}; "
                "choose another directory with -o"
            )
        if not config.seeds and not config.topic:
            raise InputError(
                "no topic is given: say what the pages should be about, lycosa crawl 'recreational cycling' --seed "
                "https://…, or give three to ten pages of the kind as seeds"
            )
        if config.metasearch.is_on:
            config.metasearch.require_engines()
        elif not config.seeds:
            raise SeedError(
                "nothing to start from: give --seed https://… or --seeds FILE, or let search engines find a start: "
                "--metasearch"
            )

    @property
    def _current_book(self) -> Path:
        """The crawl's own copy of the topic book, once there is one."""
        return self.workspace.topics if self.workspace.topics.exists() else self._book

    def _good_topics(self, topics: Iterable[str], directory: str | Path | None) -> list[str]:
        if list(topics):
            raise InputError("--good takes the topics that are marked good: leave --topic out, or mark it good, too")
        own = Workspace(Path(directory)).topics if directory is not None else self._book
        return good_topics(own if own.exists() else self._book)

    def _with_budget(self, pages: int | None, minutes: float | None) -> Config:
        said = {"pages": pages, "seconds": None if minutes is None else minutes * 60}
        changed: dict[str, Any] = {name: value for name, value in said.items() if value is not None}
        budget = replace(self.config.budget, **changed)
        return self.config.model_copy(update={"budget": budget})

    def _judge_for(self, config: Config, threshold: float | None = None) -> Judge:
        if self._judge is not None:
            return CompletedJudge(self._judge, threshold=threshold or config.judge.threshold)
        return judge_of(config, self.workspace, threshold=threshold)

    def _teach(self, config: Config) -> Lesson | None:
        """A judge of the crawl's own book learns what people have said."""
        return teach(self.workspace, config) if self._judge is None else None

    def _bring_book(self, config: Config) -> None:
        """The crawl gets its own copy of the topic book: it goes on with that, whatever happens to the book."""
        workspace, book = self.workspace, self._book
        if not is_trained(config) or workspace.topics.exists():
            return
        with open_book(book) as opened:
            judge_from(opened, config)  # says what is wrong before anything is made
            try:
                workspace.make()
            except OSError as error:
                raise WorkspaceError(f"{workspace.directory}: cannot be made: {error.strerror or error}") from error
            opened.copy_to(workspace.topics)

    # ── a run ─────────────────────────────────────────────────────────────────────────────────────────────

    def settled_config(self) -> Config:
        """The settings with which it would run; an error if it could not. Nothing but the topic book is written."""
        return self._settled(self.config)

    async def _crawl(self, config: Config, watcher: Watcher) -> Report:
        if self._running is not None:
            raise LycosaError(f"{self.workspace.directory}: this crawl is running already")
        config = self._settled(config)
        self._running = Running(self._listeners, watcher)
        try:
            with (
                naming_damage(self.workspace),
                self.workspace.locked(),
                closing(self._begin_store()) as store,
            ):
                store.refuse_damage()
                async with AsyncExitStack() as stack:
                    reason = await self._run(config, store, self._running, stack)
        finally:
            self._running = None
        return Report.of(self.workspace.directory, reason)

    def _settled(self, config: Config) -> Config:
        self._bring_book(config)
        if self._judge is None:
            config = settled(config, self._strategy)
            require_vectors(config)
        self._judge_for(config)
        if config.browser.is_on:
            if self._fetcher is not None:
                raise ConfigError("browser.is_on: a fetcher of your own renders pages itself, if it is to")
            chromium(config.browser)
        Guard(config.network.allow)  # refuses a malformed network before anything is written,
        Access(config.access, now=time.time())  # and files with secrets that cannot be used
        strategy_named(self._strategy or config.strategy, settings=config.constants)
        return config

    def _begin_store(self) -> Reports:
        if self._shard is None:
            return begin_store(self.workspace, self._store_url)
        self._shared = begin_shard_store(
            self.workspace, self._store_url, self._shard.number, takes_over=self._shard.takes_over
        )
        return self._shared

    async def _run(self, config: Config, store: Reports, running: Running, stack: AsyncExitStack) -> str:
        # What refuses a setting comes first: a configuration that cannot work must not become the crawl's own.
        found = store.state(THRESHOLD)
        judge = self._judge_for(config, float(found) if found else None)
        study, strategy, covered, refused = self._known_strategy(config, judge, store)
        abilities = strategy.abilities
        reading = replace(config.reading(judge), digest=abilities.digest)
        seeds = checked_seeds(config, reading.urls)
        said = canonical_answers(self._answers, reading.urls)
        if self._shard is not None:
            seeds = {url: plain for url, plain in seeds.items() if self._shard.owns(url)}
            said = {url: answer for url, answer in said.items() if self._shard.owns(url)}
        clock = SystemClock()
        started = clock.now()
        moved = settle_clocks(store, now=started)
        frontier = Frontier(
            buffer=config.frontier.buffer or None,
            host_buffer=config.frontier.links_per_host or None,
            slots_per_host=config.politeness.connections_per_host,
            slots_per_address=config.politeness.connections_per_address,
        )
        if abilities.forecasting is not None:  # its scores are predictions
            frontier.be_patient(config.frontier.patience)
        state = resume(
            store,
            frontier=frontier,
            strategy=strategy,
            politeness=config.politeness,
            links=config.link_rules(),
            rules=config.stop,
            rest_from=started if store.was_cut_off() else None,
            begun_with=str(self._stored().get("strategy", "")),
            covered=covered,
            traps=config.traps,
        )
        if study is not None and self._shard is not None:
            study = OwnStudy(study, state.foreign)
        records, lost = self._records(config, store, stack)
        archived = archived_answers(store, self.workspace.archive)
        live, fetcher = None, self._fetcher
        if fetcher is None:
            fetcher = live = live_fetcher(config, reading.urls, state, records, archived, clock, stack, seeds)
        turns = None
        if self._shared is not None:
            fetcher = turns = address_turns(fetcher, self._shared, state, config, clock)
        readers = Readers(
            reading,
            count=config.readers.processes,
            seconds=config.readers.seconds,
            memory=config.readers.memory,
            confined=config.readers.confines(reading.judge, reading.digest),
            whole_pages=abilities.needs_whole_pages or self._has_text,
        )
        stack.push_async_callback(readers.close)
        await readers.start()
        browser = live_browser(config, live, clock, stack) if config.browser.is_on and live is not None else None
        reader = RenderingReader(
            readers,
            render=browser.render if browser is not None else None,
            delay=config.politeness.delay,
            limits=config.decode,
            requisites=config.browser.requisites,
        )
        self.workspace.write_config(config.to_toml())
        number = store.begin_run(started_at=started, pid=os.getpid(), version=__version__, config=config.to_toml())
        sending = Sending(self._shard, self._shared.sent(), abilities) if self._shard and self._shared else None
        ledger = CrawlLedger(
            state,
            records=records,
            urls=reading.urls,
            politeness=config.politeness,
            judge=judge.name,
            clock=clock,
            sending=sending,
        )
        log = self._open_log(stack, number)
        ledger.log_event = log.event
        ledger.begin(number)
        secrets = live.access_note if live else ""
        for kind, message in (("archive", lost), (SNAPSHOT, refused), (CLOCK, moved), ("access", secrets)):
            if message:
                ledger.note(kind, message)
        ledger.add_seeds(seeds)
        if browser is not None and not has_sandbox():
            ledger.note("browser", "chromium runs without its sandbox, as it does for root; crawl as another user")
        browser_advice = BrowserAdvice(reader, ledger)
        visitor = LiveVisitor(
            fetcher=fetcher,
            reader=reader,
            furniture=state.furniture,
            clock=clock,
            traps=state.traps,
            awaited_names=lambda: live.awaited_names if live else 0,
        )
        stack.push_async_callback(visitor.cancel)
        forecaster = Forecaster(
            abilities.forecasting,
            frontier,
            visits=lambda: ledger.pages,
            recent=lambda: [is_relevant for _, is_relevant in state.recent],
            pages=config.stop.forecast_pages,
        )
        advises = abilities.advice if config.stop.is_generalised else None
        stop = Stop(config.budget, started=started, rules=config.stop, advice=advises or str, forecast=forecaster)
        refreshing = None
        if self._plan is not None:
            stop = Stop(replace(config.budget, pages=NO_PAGE_LIMIT, bytes=0), started=started)
            refreshing = Refreshing(self._plan, ledger=ledger, stop=stop, now=clock.now)
        receiving = None
        if self._shared is not None and sending is not None and turns is not None:
            stop = granted = GrantedStop(config.budget, started=started)
            receiving = Receiving(self._shared, ledger=ledger, sending=sending, turns=turns, stop=granted, clock=clock)
        lookout = Lookout(
            config.stall,
            frontier=frontier,
            ledger=ledger,
            visitor=visitor,
            robots=records.robots,
            readers=readers,
            clock=clock,
        )
        seed_watch = SeedWatch(
            config.stall,
            ledger=ledger,
            visitor=visitor,
            robots=records.robots,
            urls=reading.urls,
            stop=stop,
            clock=clock,
        )
        searching = (
            None
            if refreshing
            else live_search(
                config,
                words=query_words(config, judge),
                ledger=ledger,
                visitor=visitor,
                records=records,
                urls=reading.urls,
                study=study,
                stack=stack,
            )
        )
        distilling = Distilling(config.distill, ledger=ledger, clock=clock)
        rejudge = self._rejudge(config, ledger, readers, reading, clock, study)
        answers = Answers(ledger=ledger, clock=clock, learn=rejudge.hurry)
        advice = Advice(
            ledger=ledger,
            seeds=len(config.seeds),
            study=study,
            threshold=judge.abilities.threshold,
            topics=config.topics,
        )
        snapshotting = Snapshotting(
            ledger=ledger,
            directory=self.workspace.snapshots,
            settings=lambda: snapshot_settings(config, strategy.name, version=rejudge.version),
            clock=clock,
            covered=covered,
            judged=(lambda: study.judged_pages) if study is not None else (lambda: rejudge.takeovers),
            is_judged_by_study=study is not None,
        )
        clock_watch = ClockWatch(ledger=ledger, clock=clock)
        alarms = Alarms(
            config.alarms,
            ledger=ledger,
            clock=clock,
            name=str(self.workspace.directory),
            condition=Condition(
                drift=(lambda: study.drift) if study is not None else float,
                stalled=lambda: lookout.cause,
                is_paused=lambda: stop.is_paused,
            ),
        )
        commands = Commands(
            ledger=ledger,
            stop=stop,
            clock=clock,
            visitor=visitor,
            forecast=forecaster,
            stalled=lambda: lookout.cause,
            alarms=alarms,
        )
        sitemaps = SitemapLookAhead(config.lists, state=state, robots=records.robots)
        readmission = Periodic(ledger.readmit_hosts, every=READMIT_EVERY, clock=clock)

        beside: tuple[Beside, ...] = (distilling, answers, rejudge, advice, readmission, snapshotting, commands, alarms)
        if refreshing is not None:
            beside = (refreshing, answers, readmission, commands, alarms)

        def watch() -> None:
            for part in (*beside, browser_advice):
                part.look()
            if searching is not None:
                searching.look()
            if receiving is not None:
                receiving.look(visitor.in_flight)
            if refreshing is None and (found := sitemaps.look()):
                ledger.write(found[0], event=(SITEMAP, found[1]))
            for message in store.passed_troubles():
                ledger.note("stall", message)
                running.tell(Event("stall", message))
            for message in seed_watch.look():
                running.tell(Event("seed", message))
            if not stop.is_paused and (cause := lookout.look()):
                running.tell(Event("stall", cause))
            if jump := clock_watch.look():
                running.tell(Event(CLOCK, jump))
            running.look(ledger)

        commands.begin()
        rejudge.begin()
        if said:
            ledger.write(Batch(answers=new_answers(store, said, at=started)))
        answers.look()
        self._teach(config)
        running.begin(View(config.budget.pages, frontier, ledger, visitor, lookout, started, forecaster), stop)
        stack.callback(running.end)
        for kind, message in ((SNAPSHOT, refused), (CLOCK, moved), ("access", secrets)):
            if message:
                running.tell(Event(kind, message))
        store.on_wait = lambda words: running.tell(Event("stall", words))
        stack.enter_context(heeding_signals(running))
        for message in seed_watch.begin():
            running.tell(Event("seed", message))
        go = partial(
            run,
            frontier=frontier,
            strategy=strategy,
            visitor=visitor,
            ledger=ledger,
            stop=stop,
            clock=clock,
            width=config.network.fetches,
            watch=watch,
        )
        if searching is not None:
            await searching.begin()
        if refreshing is not None:
            refreshing.begin()
        if receiving is not None:
            receiving.begin()
        reason = await go()
        while receiving is not None and await receiving.wait():
            reason = await go()
        while searching is not None and not stop.reason(ledger.figures(), frontier, now=clock.now()):
            if not await searching.rescue():
                break
            reason = await go()
        answers.look(is_last=True)
        if refreshing is not None:
            refreshing.end()
            reason = reason if stop.was_requested else refreshing.words()
        else:
            rejudge.end()
            advice.look(is_last=True)
        browser_advice.look(is_last=True)
        snapshotting.look(is_last=True)
        if receiving is not None:
            receiving.end()
            reason = stop.reason(ledger.figures(), frontier, now=clock.now()) or reason
        running.look(ledger)
        commands.write_figures()
        expected = json.dumps(outlook(forecaster(), forecaster.calibration()))
        ledger.write(Batch(state={OUTLOOK: expected.encode(), FURNITURE: state.furniture.save()}))
        store.end_run(number, ended_at=clock.now(), stop_reason=reason)
        figures = ledger.figures()
        log.event("end", reason, pages=figures.pages, relevant=figures.relevant, waiting=frontier.waiting)
        running.tell_progress()
        running.tell(Event("end", reason))
        return reason

    def _open_log(self, stack: AsyncExitStack, run: int) -> LogFile:
        """The log of the crawl, which also gets what the program itself logs, such as faults."""
        log = LogFile(self.workspace.log)
        log.run = run
        root = logging.getLogger("lycosa")
        root.addHandler(log)
        stack.callback(log.close)
        stack.callback(root.removeHandler, log)
        log.event("start", f"run {run} of Lycosa {__version__}", pid=os.getpid())
        return log

    def _known_strategy(
        self, config: Config, judge: Judge, store: Reports
    ) -> tuple[LearnedTopic | None, Strategy, Covered, str]:
        """The strategy, the study that it began, what they know from a snapshot, and why it is none."""
        study, strategy = self._studied_strategy(config, judge)
        try:
            version = newest_version(config, self.workspace)
            settings = snapshot_settings(config, strategy.name, version=version)
            return study, strategy, load(strategy, store, self.workspace.snapshots, settings), ""
        except Refused as error:
            why = f"the snapshot is not used: {error}; all visits were told again"
            return *self._studied_strategy(config, judge), NOTHING, why

    def _studied_strategy(self, config: Config, judge: Judge) -> tuple[LearnedTopic | None, Strategy]:
        """The strategy, and the study of the topic that it began, if it did."""
        parts = StrategyParts.of(
            judge.abilities, rng=np.random.default_rng(config.seed), buffer=config.frontier.buffer or None
        )
        study, strategy = studying_strategy(self._strategy or config.strategy, parts, config.constants)
        if strategy.abilities.advice is not None and judge.abilities.interest is None:
            raise ConfigError(
                f"strategy {config.strategy!r} widens topics of a taxonomy, and this crawl has only words; crawl for a "
                "--topic or an --interest, or leave tunnel+ out"
            )
        return study, strategy

    def _records(self, config: Config, store: Reports, stack: AsyncExitStack) -> tuple[Records, str]:
        """What is kept beside the store; and what is missing from the archive, in words."""
        archive, lost = None, ""
        if config.archive.is_on:
            info = {"robots": "obey", "http-header-user-agent": config.user_agent(), "description": config.title}
            if config.network.contact:
                info["operator"] = config.network.contact
            archive, lost = open_archive(
                self.workspace.archive, store, max_bytes=config.archive.max_bytes, crawl_info=info
            )
            stack.callback(archive.close)
        cache = PageCache(Path(config.cache), chop=config.fetch.chop) if config.cache else None
        if cache is not None:
            stack.callback(cache.close)
        return Records(robots=RobotsBook(config.robots, known_robots(store)), archive=archive, cache=cache), lost

    def _rejudge(
        self,
        config: Config,
        ledger: CrawlLedger,
        readers: Readers,
        reading: Reading,
        clock: SystemClock,
        study: LearnedTopic | None,
    ) -> Rejudge:
        versions = Versions(self.workspace.topics, config) if is_trained(config) else None
        threshold = reading.judge.abilities.threshold
        return Rejudge(
            ledger=ledger,
            readers=readers,
            reading=reading,
            clock=clock,
            learning=Learning(study=study, threshold=threshold, ledger=ledger) if study else None,
            newer=versions.newer if versions else None,
            version=versions.newest() if versions else 0,
            has_open_threshold=has_open_threshold(config) and ledger.state.threshold is None,
        )
