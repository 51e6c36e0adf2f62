"""The door: `Crawl` checks what is asked for, and runs it (`run`).

The command line, notebooks, scripts, the dashboard and the cluster come in here. A crawl lives in a
directory; whoever opens the same directory again goes on with it.

    crawl = Crawl("recreational cycling", seeds=["https://…"], directory="cycling")
    report = crawl.run(pages=500)
"""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from contextlib import AsyncExitStack, closing
from dataclasses import replace
from pathlib import Path
from typing import Any

from lycosa.config import Config, Layer, build, load_crawl
from lycosa.crawl.answers import Answers
from lycosa.crawl.commit import CrawlLedger
from lycosa.crawl.consequences import FoundPage, Records
from lycosa.crawl.refresh import RefreshPlan
from lycosa.crawl.rejudge import Learning
from lycosa.crawl.resume import (
    THRESHOLD,
    known_robots,
    resume,
)
from lycosa.crawl.shard import Shard, SharedStore
from lycosa.crawl.visits import Fetcher
from lycosa.crawl.watching import (
    Event,
    Listener,
    Running,
    Silence,
    Watcher,
    in_a_thread,
)
from lycosa.errors import ConfigError, InputError, LycosaError, SeedError, WorkspaceError
from lycosa.fetch.access import Access
from lycosa.fetch.browser import chromium
from lycosa.fetch.fetcher import RobotsBook
from lycosa.fetch.guard import Guard
from lycosa.fetch.urls import Urls, checked_seed
from lycosa.frontier.frontier import Frontier
from lycosa.given import (
    as_layer,
    directory_for,
    made_judge,
    name_of,
    with_pdf_fetched,
    with_strategy_inside,
)
from lycosa.judge_choice import (
    is_trained,
    judge_from,
    judge_of,
    require_vectors,
    settled,
)
from lycosa.judges.protocol import CompletedJudge, Judge, PlainJudge
from lycosa.lib.algebra import on_one_core
from lycosa.lib.clock import SystemClock
from lycosa.lib.memory import little_garbage
from lycosa.results.check import naming_damage
from lycosa.results.report import Report
from lycosa.run.given import Given
from lycosa.run.known import studied_strategy
from lycosa.run.whole import whole_run
from lycosa.store.opening import begin_shard_store, begin_store, check_url, open_store
from lycosa.store.protocol import Reports
from lycosa.strategies.protocol import Strategy
from lycosa.strategies.table import strategy as strategy_named
from lycosa.teaching import teach
from lycosa.topics.feedback import Lesson
from lycosa.topics.start import good_topics, open_book, starting_examples
from lycosa.workspace import Workspace


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
            study, strategy = studied_strategy(config, judge, self._strategy)
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
        elif not config.seeds and self._shard is None:
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
                little_garbage(),
                on_one_core(),
            ):
                store.refuse_damage()
                async with AsyncExitStack() as stack:
                    reason = await whole_run(self._given(config, store), self._running, stack)
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

    def _given(self, config: Config, store: Reports) -> Given:
        return Given(
            config=config,
            workspace=self.workspace,
            store=store,
            shared=self._shared,
            shard=self._shard,
            judge_for=lambda threshold: self._judge_for(config, threshold),
            strategy=self._strategy,
            fetcher=self._fetcher,
            answers=self._answers,
            plan=self._plan,
            teach=lambda: self._teach(config),
            begun_with=str(self._stored().get("strategy", "")),
            has_text=self._has_text,
        )
