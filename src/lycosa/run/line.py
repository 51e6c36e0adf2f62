"""The line of a run, lease → fetch → read → commit: its parts, opened one after the other, and closed by a stack.

The crawl's settings are written, and the run is on record, once fetcher and readers stand.
"""

from __future__ import annotations

import logging
import os
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path

from lycosa import __version__
from lycosa.crawl.address_turns import AddressTurns
from lycosa.crawl.clock_watch import CLOCK
from lycosa.crawl.commit import CrawlLedger
from lycosa.crawl.consequences import Records
from lycosa.crawl.log_file import LogFile
from lycosa.crawl.reader_pool import Readers
from lycosa.crawl.rendering import BrowserAdvice, RenderingReader
from lycosa.crawl.resume import known_robots, open_archive
from lycosa.crawl.revisits import archived_answers
from lycosa.crawl.shard import Sending
from lycosa.crawl.snapshots import SNAPSHOT
from lycosa.crawl.visits import Fetcher, LiveVisitor
from lycosa.fetch.archive_target import ArchiveTarget, HandingOver, target_url
from lycosa.fetch.browser import Browser, has_sandbox
from lycosa.fetch.cache import PageCache
from lycosa.fetch.fetcher import LiveFetcher, RobotsBook
from lycosa.live import address_turns, live_browser, live_fetcher
from lycosa.run.given import Given
from lycosa.run.known import Known
from lycosa.workspace import Workspace


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenLine:
    run: int
    """Its number in the store."""
    records: Records
    readers: Readers
    ledger: CrawlLedger
    visitor: LiveVisitor
    browser_advice: BrowserAdvice
    log: LogFile
    notes: tuple[tuple[str, str], ...]
    """What there is to say at the start: the kind, and the message."""
    turns: AddressTurns | None
    """Of a shard, as is `sending`."""
    sending: Sending | None


async def opened_line(given: Given, known: Known, stack: AsyncExitStack) -> OpenLine:
    config = given.config
    records, lost = _records(given, stack)
    fetcher, live, turns = _fetcher(given, known, records, stack)
    readers = await _readers(given, known, stack)
    browser = live_browser(config, live, known.clock, stack) if config.browser.is_on and live is not None else None
    reader = RenderingReader(
        readers,
        render=browser.render if browser is not None else None,
        delay=config.politeness.delay,
        limits=config.decode,
        requisites=config.browser.requisites,
    )
    settings = config.to_toml()
    given.workspace.write_config(settings)
    run = given.store.begin_run(started_at=known.started, pid=os.getpid(), version=__version__, config=settings)
    sending = None
    if given.shard is not None and given.shared is not None:
        sending = Sending(given.shard, given.shared.sent(), known.strategy.abilities)
    ledger = CrawlLedger(
        known.state,
        records=records,
        urls=known.reading.urls,
        politeness=config.politeness,
        judge=known.judge.name,
        clock=known.clock,
        sending=sending,
    )
    log = _open_log(given.workspace, run, stack)
    ledger.log_event = log.event
    ledger.begin(run)
    notes = ((SNAPSHOT, known.refused), (CLOCK, known.moved), ("access", live.access_note if live else ""))
    _note(ledger, (("archive", lost), *notes))
    ledger.add_seeds(known.seeds)
    _note(ledger, (("browser", _sandbox_note(browser)),))
    visitor = LiveVisitor(
        fetcher=fetcher,
        reader=reader,
        furniture=known.state.furniture,
        clock=known.clock,
        traps=known.state.traps,
        awaited_names=lambda: live.awaited_names if live else 0,
    )
    stack.push_async_callback(visitor.cancel)
    return OpenLine(
        run=run,
        records=records,
        readers=readers,
        ledger=ledger,
        visitor=visitor,
        browser_advice=BrowserAdvice(reader, ledger),
        log=log,
        notes=notes,
        turns=turns,
        sending=sending,
    )


def _records(given: Given, stack: AsyncExitStack) -> tuple[Records, str]:
    """What is kept beside the store; and what is missing from the archive, in words."""
    config, store = given.config, given.store
    archive, lost = None, ""
    if config.archive.is_on:
        info = {"robots": "obey", "http-header-user-agent": config.user_agent(), "description": config.title}
        if config.network.contact:
            info["operator"] = config.network.contact
        archive, lost = open_archive(
            given.workspace.archive, store, max_bytes=config.archive.max_bytes, crawl_info=info
        )
        if config.archive.target:
            shard = given.workspace.directory.name if given.shared is not None else ""
            url = target_url(config.archive.target, shard=shard)
            archive.handing_over = HandingOver(ArchiveTarget(given.workspace.archive, url))
            stack.callback(archive.handing_over.close)
        stack.callback(archive.close)
    cache = PageCache(Path(config.cache), chop=config.fetch.chop) if config.cache else None
    if cache is not None:
        stack.callback(cache.close)
    return Records(robots=RobotsBook(config.robots, known_robots(store)), archive=archive, cache=cache), lost


def _fetcher(
    given: Given, known: Known, records: Records, stack: AsyncExitStack
) -> tuple[Fetcher, LiveFetcher | None, AddressTurns | None]:
    """Where pages come from; the same, if that is the web; and the same, if other shards ask the same addresses."""
    config, state, clock = given.config, known.state, known.clock
    archived = archived_answers(given.store, given.workspace.archive)
    live, fetcher = None, given.fetcher
    if fetcher is None:
        fetcher = live = live_fetcher(config, known.reading.urls, state, records, archived, clock, stack, known.seeds)
    if given.shared is None:
        return fetcher, live, None
    turns = address_turns(fetcher, given.shared, state, config, clock)
    return turns, live, turns


async def _readers(given: Given, known: Known, stack: AsyncExitStack) -> Readers:
    settings, reading = given.config.readers, known.reading
    readers = Readers(
        reading,
        count=settings.processes,
        seconds=settings.seconds,
        memory=settings.memory,
        confined=settings.confines(reading.judge, reading.digest),
        whole_pages=known.strategy.abilities.needs_whole_pages or given.has_text,
    )
    stack.push_async_callback(readers.close)
    await readers.start()
    return readers


def _open_log(workspace: Workspace, run: int, stack: AsyncExitStack) -> LogFile:
    """The log of the crawl, which also gets what the program itself logs, such as faults."""
    log = LogFile(workspace.log)
    log.run = run
    root = logging.getLogger("lycosa")
    root.addHandler(log)
    stack.callback(log.close)
    stack.callback(root.removeHandler, log)
    log.event("start", f"run {run} of Lycosa {__version__}", pid=os.getpid())
    return log


def _note(ledger: CrawlLedger, notes: tuple[tuple[str, str], ...]) -> None:
    for kind, message in notes:
        if message:
            ledger.note(kind, message)


def _sandbox_note(browser: Browser | None) -> str:
    if browser is None or has_sandbox():
        return ""
    return "chromium runs without its sandbox, as it does for root; crawl as another user"
