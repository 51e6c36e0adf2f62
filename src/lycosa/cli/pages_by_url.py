"""Pages by URL: examples for a topic, a page to judge.

They are fetched by a crawl like any other, into a directory that is thrown away: robots.txt, delays, the guard,
redirects and retries are those of every crawl. Only links are not followed. Each page is handed on soon after it has
arrived, so that Ctrl-C loses nothing.
"""

from __future__ import annotations

import asyncio
import os
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from lycosa.cli.fetch_progress import FetchProgress
from lycosa.cli.settings import how_to_fetch
from lycosa.config import build
from lycosa.crawl.seeds import robots_trouble, seed_of
from lycosa.crawl.watching import Event
from lycosa.engine import Crawl
from lycosa.fetch.fetcher import ROBOTS_UNREACHABLE
from lycosa.fetch.urls import Urls, origin, parse_seed, url_hash
from lycosa.judge_choice import judge_of
from lycosa.model import Kind, Page
from lycosa.results.archived_pages import ArchivedPages
from lycosa.store.opening import open_store
from lycosa.store.protocol import Reports
from lycosa.topics.importing import Failure

NO_ANSWER = "no answer in time"
INTERRUPTED = "interrupted"
HANDED_ON_EVERY = 2.0
"""Seconds after which pages that have arrived are handed on."""

Take = Callable[[str, Page | Failure], None]
"""Called with a URL as it was given, and its page or why there is none."""


def pages_by_url(
    urls: Sequence[str], settings: Mapping[str, Any] | None = None, *, minutes: float = 10.0
) -> list[Page | Failure]:
    """The page of each URL, or why there is none, in their order.

    `settings`: sections of a configuration that say how to fetch; None: those of the file that LYCOSA_CONFIG names.
    """
    found: dict[str, Page | Failure] = {}
    is_whole = fetch_pages(urls, settings, found.__setitem__, minutes=minutes)
    missing = NO_ANSWER if is_whole else INTERRUPTED
    return [found.get(url) or Failure(url, missing) for url in urls]


def fetch_pages(urls: Sequence[str], settings: Mapping[str, Any] | None, take: Take, *, minutes: float = 0.0) -> bool:
    """Hand on the page of each URL, or why there is none. False if it was interrupted: then some are missing."""
    if settings is None:
        named = os.environ.get("LYCOSA_CONFIG")
        settings = how_to_fetch(Path(named) if named else None)
    given = _canonical(urls, Urls(build(("settings", settings)).urls), take)
    if not given:
        return True
    with tempfile.TemporaryDirectory(prefix="lycosa-") as directory:
        layers = [("settings", settings), ("fetch", _plan(len(given), minutes))]
        crawl = Crawl("page", seeds=given, directory=directory, config={}, layers=layers)
        arriving = _Arriving(crawl, given, take)
        crawl.listen(arriving.listen)
        try:
            report = crawl.run(watcher=FetchProgress(len(given)))
            is_whole = not report.reason.startswith(INTERRUPTED)
        except (asyncio.CancelledError, KeyboardInterrupt):
            is_whole = False
        arriving.hand_on()
        if is_whole:
            arriving.hand_on_failures()
    return is_whole


def _canonical(urls: Sequence[str], rules: Urls, take: Take) -> dict[str, list[str]]:
    """The URLs as they were given, by canonical URL. What a rule turns away is told at once."""
    given: dict[str, list[str]] = {}
    for url in dict.fromkeys(urls):
        canonical, reason = rules.canonical(parse_seed(url))
        if reason:
            take(url, Failure(url, reason, rules.reason_detail(parse_seed(url))))
        else:
            given.setdefault(canonical, []).append(url)
    return given


def _plan(pages: int, minutes: float) -> dict[str, Any]:
    return {
        "strategy": "breadth-first",
        "budget": {"pages": pages, "seconds": minutes * 60},
        "frontier": {"max_distance": 0},
    }


class _Arriving:
    """Reads pages from the archive of the running crawl, and hands them on under the URLs they were asked for by."""

    def __init__(self, crawl: Crawl, given: Mapping[str, list[str]], take: Take) -> None:
        self._crawl = crawl
        self._given = given
        self._take = take
        self._read: set[int] = set()
        self._settled: set[str] = set()
        self._next = time.monotonic() + HANDED_ON_EVERY

    def listen(self, event: Event) -> None:
        if event.kind in ("page", "progress") and time.monotonic() >= self._next:
            self.hand_on()
            self._next = time.monotonic() + HANDED_ON_EVERY

    def hand_on(self) -> None:
        workspace, config = self._crawl.workspace, self._crawl.config
        if not workspace.has_crawl:
            return
        with closing(open_store(workspace, read_only=True)) as store:
            pages = ArchivedPages(workspace.archive, store, config.reading(judge_of(config, workspace)))
            for place in store.archive_places():
                if place.page_id in self._read:
                    continue
                self._read.add(place.page_id)
                again = pages.at(place.file, place.offset)
                seed = seed_of(store, place.page_id).url
                self._settle(seed, again.page if again is not None and again.page is not None else "unreadable")

    def hand_on_failures(self) -> None:
        with closing(open_store(self._crawl.workspace, read_only=True)) as store:
            self._hand_on_redirects(store)
            for lost in store.lost_seeds():
                if not lost.reason and robots_trouble(store, origin(lost.url)) is not None:
                    reason, detail = ROBOTS_UNREACHABLE, ""
                else:
                    reason, detail = lost.reason or NO_ANSWER, lost.detail
                self._settle(seed_of(store, lost.id).url, reason, detail)
        for seed in self._given:
            self._settle(seed, NO_ANSWER)

    def _hand_on_redirects(self, store: Reports) -> None:
        """URLs that redirect to another one of them, whose page is theirs, too."""
        config, workspace = self._crawl.config, self._crawl.workspace
        pages = ArchivedPages(workspace.archive, store, config.reading(judge_of(config, workspace)))
        urls = Urls(config.urls)
        moved = {row.link_id: row.detail for row in store.outcomes() if row.kind == Kind.REDIRECTED}
        for seed in self._given.keys() - self._settled:
            target = seed
            for _ in range(config.fetch.max_redirects + 1):
                link = store.find_link(target, url_hash(target))
                if link is None or link.id not in moved:
                    break
                target = urls.canonical(moved[link.id])[0]
            if target != seed and (page := pages.page_of(target)) is not None:
                self._settle(seed, page)

    def _settle(self, seed: str, answer: Page | str, detail: str = "") -> None:
        if seed in self._settled:
            return
        self._settled.add(seed)
        for url in self._given.get(seed, ()):
            self._take(url, answer if isinstance(answer, Page) else Failure(url, answer, detail))
