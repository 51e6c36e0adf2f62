"""What many tests share: a web in a dictionary, a whole crawl of it on a virtual clock, generated webs on loopback."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from lycosa.crawl.commit import CrawlLedger
from lycosa.crawl.consequences import Records
from lycosa.crawl.link_rules import LinkRules
from lycosa.crawl.loop import run
from lycosa.crawl.reader_pool import InlineReader
from lycosa.crawl.reading import Reading
from lycosa.crawl.resume import NOTHING, TRAPS_ON, Covered, resume
from lycosa.crawl.traps import TrapSettings
from lycosa.crawl.visits import LiveVisitor
from lycosa.fetch.archive import Archive
from lycosa.fetch.cache import PageCache
from lycosa.fetch.dns import Resolver
from lycosa.fetch.fetcher import FetchSettings, LiveFetcher, RobotsBook
from lycosa.fetch.politeness import Politeness
from lycosa.fetch.robots import RobotsSettings, interpret
from lycosa.fetch.urls import UrlRules, Urls, host_key
from lycosa.frontier.frontier import Frontier
from lycosa.judges.keywords import KeywordJudge
from lycosa.lab.generated.web import GeneratedWeb, WebPlan
from lycosa.lib.clock import VirtualClock
from lycosa.model import Fetched, Kind, Lease, Outcome, Response
from lycosa.stopping.rules import NO_RULES, Budget, Stop, StopRules
from lycosa.store.sqlite import SqliteStore
from lycosa.strategies.protocol import Strategy
from lycosa.strategies.table import strategy as strategy_named

pytest_plugins = ["postgres_server"]

TOPIC = "recreational cycling"
NOT_FOUND = Outcome(Kind.HTTP_ERROR, "http 404", status=404)

# Whoever starts the tests in the background may have it ignored, and so would the processes that tests interrupt.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# How long it takes to make inputs up says nothing on a machine that is busy with other work.
settings.register_profile("tests", suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("tests")

Answer = str | Outcome
"""HTML, or what else became of the fetch."""
Web = dict[str, Answer | list[Answer]]
"""Answers by URL; a list is used up try by try, its last entry stays."""


@pytest.fixture
def html() -> Callable[..., str]:
    """Writes a page. A link is a URL, and may carry its anchor and rel: `http://a.test/ bicycles rel=nofollow`."""

    def write(*links: str, text: str = "", title: str = "", head: str = "") -> str:
        anchors = []
        for link in links:
            url, _, rest = link.partition(" ")
            anchor, _, rel = rest.partition("rel=")
            anchors.append(f'<a href="{url}" rel="{rel}">{anchor.strip() or "link"}</a>')
        return f"<html><head><title>{title}</title>{head}</head><body><p>{text}</p>{' '.join(anchors)}</body></html>"

    return write


@pytest.fixture
def redirect() -> Callable[[str], Outcome]:
    return lambda target: Outcome(Kind.REDIRECTED, "http 301", target, 301, location=target)


@pytest.fixture
def unavailable() -> Callable[..., Outcome]:
    """503: worth another try."""
    return lambda **more: Outcome(Kind.HTTP_ERROR, "http 503", status=503, is_transient=True, **more)


class DictFetcher:
    """A web in a dictionary: each answer at once, and written down when it was asked for."""

    def __init__(self, web: Web, clock: VirtualClock, addresses: Mapping[str, str]) -> None:
        self.web = web
        self.asked: list[tuple[str, float]] = []
        self._clock = clock
        self._addresses = addresses

    async def fetch(self, lease: Lease) -> Fetched:
        now = self._clock.now()
        self.asked.append((lease.url, now))
        answer = self.web.get(lease.url, NOT_FOUND)
        if isinstance(answer, list):
            answer = answer.pop(0) if len(answer) > 1 else answer[0]
        address = self._addresses.get(host_key(lease.url), "")
        if isinstance(answer, Outcome):
            return Fetched(lease, answer, address=address, is_contact=True, ended=now)
        headers = [("content-type", "text/html; charset=utf-8")]
        head = b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8"
        response = Response(
            lease.url, 200, headers, answer.encode(), head=head, address=address, started=now, ended=now
        )
        outcome = Outcome(Kind.FETCHED, "http 200", status=200)
        return Fetched(lease, outcome, response, address=address, is_contact=True, ended=now)


class Rig:
    """A crawl in a directory with all its real parts but the network and the clock. `crawl` may be called again."""

    def __init__(self, directory: Path, web: Web) -> None:
        self.directory = directory
        directory.mkdir(parents=True, exist_ok=True)
        self.web = web
        self.clock = VirtualClock(1_700_000_000.0)
        self.addresses: dict[str, str] = {}
        self.robots = RobotsBook(RobotsSettings())
        self.store = SqliteStore(directory / "crawl.db")
        self.fetcher = DictFetcher(web, self.clock, self.addresses)
        self.stop: Stop | None = None
        self.ledger: CrawlLedger | None = None
        self.visitor: LiveVisitor | None = None
        self.frontier = Frontier()
        self.awaited_names: Callable[[], int] = lambda: 0
        self.urls = Urls(UrlRules())

    def fetch_live(self, http: object, resolver: Resolver, cache: PageCache | None = None) -> None:
        """From now on pages come through the real fetcher, from this client."""
        self.fetcher = LiveFetcher(  # type: ignore[assignment]
            http=http,  # type: ignore[arg-type]
            resolver=resolver,
            urls=self.urls,
            robots=self.robots,
            settings=FetchSettings(),
            address_of=lambda number: self.ledger.state.hosts.address_of(number),
            pause=1.0,
            clock=self.clock,
            cache=cache,
        )

    def crawl(
        self,
        *seeds: str,
        pages: int = 1000,
        seconds: float = 0.0,
        bytes: int = 0,
        stop: StopRules = NO_RULES,
        strategy: str | Strategy = "best-first",
        width: int = 4,
        buffer: int | None = None,
        max_redirects: int = 5,
        follow_nofollow: bool = False,
        rules: UrlRules | None = None,
        with_archive: bool = False,
        is_killed: bool = False,
        begin: Callable[[], None] = lambda: None,
        watch: Callable[[], None] = lambda: None,
        covered: Covered = NOTHING,
        traps: TrapSettings = TRAPS_ON,
        **politeness: Any,
    ) -> str:
        """Run the loop until it stops; why it did. With `is_killed` the run is not closed, as after a SIGKILL.

        `begin` is called when all parts are there, `watch` after each turn of the loop.
        """
        self.urls = Urls(rules or UrlRules())
        settings = Politeness(**{"delay": 1.0, "first_backoff": 2.0, **politeness})
        cut_off = self.store.was_cut_off()
        now = self.clock.now()
        number = self.store.begin_run(started_at=now, pid=1, version="0", config="")
        self.frontier = Frontier(
            buffer=buffer,
            slots_per_host=settings.connections_per_host,
            slots_per_address=settings.connections_per_address,
        )
        chosen = strategy_named(strategy) if isinstance(strategy, str) else strategy
        archive = Archive(self.directory / "archive") if with_archive else None
        state = resume(
            self.store,
            frontier=self.frontier,
            strategy=chosen,
            politeness=settings,
            links=LinkRules(
                follow_nofollow=follow_nofollow,
                max_redirects=max_redirects,
                max_links_per_host=settings.max_links_per_host,
            ),
            rules=stop,
            rest_from=now if cut_off else None,
            covered=covered,
            traps=traps,
        )
        records = Records(robots=self.robots, archive=archive)
        self.ledger = CrawlLedger(
            state, records=records, urls=self.urls, politeness=settings, judge="keywords", clock=self.clock
        )
        self.ledger.begin(number)
        self.ledger.add_seeds(seeds)
        self.stop = Stop(Budget(pages=pages, seconds=seconds, bytes=bytes), started=now, rules=stop)

        async def go() -> str:
            assert self.ledger is not None
            assert self.stop is not None
            reader = InlineReader(self.reading())
            self.visitor = LiveVisitor(
                fetcher=self.fetcher,
                reader=reader,
                furniture=state.furniture,
                clock=self.clock,
                traps=state.traps,
                awaited_names=self.awaited_names,
            )
            begin()
            return await run(
                frontier=self.frontier,
                strategy=chosen,
                visitor=self.visitor,
                ledger=self.ledger,
                stop=self.stop,
                clock=self.clock,
                width=width,
                watch=watch,
            )

        try:
            reason = asyncio.run(go())
        finally:
            if archive is not None:
                archive.close()
        if not is_killed:
            self.store.end_run(number, ended_at=self.clock.now(), stop_reason=reason)
        return reason

    def reading(self) -> Reading:
        return Reading(urls=self.urls, judge=KeywordJudge(TOPIC))

    def know_robots(self, origin: str, body: str) -> None:
        """As if robots.txt had just been fetched."""
        file = interpret(
            origin=origin, status=200, body=body.encode(), now=self.clock.now(), policy=self.robots.settings
        )
        self.robots.put(file)

    @property
    def asked(self) -> list[str]:
        """URLs in the order in which they were asked for."""
        return [url for url, _ in self.fetcher.asked]

    def times(self, prefix: str = "") -> list[float]:
        """When URLs that begin so were asked for, in seconds since the first request of all."""
        first = self.fetcher.asked[0][1]
        return [at - first for url, at in self.fetcher.asked if url.startswith(prefix)]

    def sql(self, query: str, *parameters: Any) -> list[tuple[Any, ...]]:
        return list(self.store.query(query, parameters)[1])

    def row(self, url: str) -> dict[str, Any]:
        """The frontier's row of a URL."""
        names, rows = self.store.query("select * from frontier where url = ?", (url,))
        return dict(zip(names, next(rows), strict=True))

    def state(self, url: str) -> str:
        return str(self.row(url)["state"])

    @property
    def pages(self) -> list[str]:
        return [url for (url,) in self.sql("select url from frontier join pages using (id) order by number")]


@pytest.fixture
def rig(tmp_path: Path) -> Iterator[Callable[..., Rig]]:
    """Makes rigs: `rig(web)`, or `rig(web, name="second")` for another directory."""
    made: list[Rig] = []

    def make(web: Web, *, name: str = "crawl") -> Rig:
        made.append(Rig(tmp_path / name, web))
        return made[-1]

    yield make
    for each in made:
        with suppress(Exception):
            each.store.close()


@pytest.fixture(scope="session")
def small_web() -> GeneratedWeb:
    """A generated web that is crawled in a second or two."""
    return GeneratedWeb(
        WebPlan(seed=5, pages=120, hosts=6, topics=3, paragraphs=2, crawl_delay=0, disallowing_hosts=0.5)
    )
