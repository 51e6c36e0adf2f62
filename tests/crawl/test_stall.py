"""A crawl that stands still names the cause: each from a real crawl on a virtual clock, or with real readers."""

from __future__ import annotations

import asyncio
import io
import json
from dataclasses import replace

import pytest
from rich.console import Console

from lycosa.cli import progress
from lycosa.crawl.reader_pool import InlineReader, Readers
from lycosa.crawl.reading import Reading
from lycosa.crawl.stall import Facts, Lookout, StallSettings, cause, clock_time
from lycosa.crawl.visits import UnderWay
from lycosa.crawl.watching import Event, View
from lycosa.errors import ConfigError
from lycosa.fetch.robots import interpret
from lycosa.fetch.urls import UrlRules, Urls
from lycosa.judges.keywords import KeywordJudge
from lycosa.model import Kind, Outcome
from lycosa.strategies.table import strategy

A, B, C, D = (f"http://a.test/{name}" for name in ("", "b", "c", "d"))
OTHER, THIRD = "http://other.test/", "http://third.test/"


class Watch:
    """The lookout of a rig's crawl, called at every turn; what it said, and after how many seconds."""

    def __init__(self, crawl, seconds: float = 30.0) -> None:
        self._crawl = crawl
        self._seconds = seconds
        self._began = crawl.clock.now()
        self.lookout: Lookout | None = None
        self.said: list[tuple[float, str]] = []

    def __call__(self) -> None:
        crawl = self._crawl
        if self.lookout is None:
            self.lookout = Lookout(
                StallSettings(seconds=self._seconds),
                frontier=crawl.frontier,
                ledger=crawl.ledger,
                visitor=crawl.visitor,
                robots=crawl.robots,
                clock=crawl.clock,
            )
        if words := self.lookout.look():
            self.said.append((crawl.clock.now() - self._began, words))

    @property
    def words(self) -> list[str]:
        return [words for _, words in self.said]


def at(seconds: float) -> str:
    """The time of day so many seconds after the rig's crawl began."""
    return clock_time(1_700_000_000.0 + seconds)


class TestResting:
    def test_the_only_host(self, rig, html):
        crawl = rig({A: html(B), B: html()})
        watch = Watch(crawl)
        crawl.crawl(A, delay=100.0, watch=watch)
        assert watch.said == [(30.0, f"the only host with waiting links rests, until {at(100)}: a.test")]
        assert crawl.sql("select run_id, at, kind, message from events") == [
            (1, 1_700_000_030.0, "stall", f"nothing fetched since {at(0)}: {watch.words[0]}")
        ]

    def test_the_first_of_several_is_named(self, rig, html, unavailable):
        crawl = rig({A: html(B), B: html(), OTHER: unavailable()})
        watch = Watch(crawl)
        crawl.crawl(A, OTHER, delay=200.0, first_backoff=300.0, max_tries=2, watch=watch)
        assert watch.words[0] == f"all 2 hosts with waiting links rest, a.test until {at(200)}"
        assert watch.words[1] == f"the only host with waiting links rests, until {at(300)}: other.test"

    def test_a_shared_address(self, rig, html):
        crawl = rig({A: html(B, "http://b.test/x"), B: html(), "http://b.test/": html("/x")})
        crawl.addresses.update({"a.test": "192.0.2.1", "b.test": "192.0.2.1"})
        watch = Watch(crawl)
        crawl.crawl(A, "http://b.test/", width=1, delay=90.0, watch=watch, strategy="breadth-first")
        assert watch.words == [
            f"all 2 hosts with waiting links rest, a.test until {at(90)}",
            f"the only host with waiting links rests, until {at(180)}",  # its own clock has run out at 90
        ]

    def test_short_rests_are_no_stall(self, rig, html):
        crawl = rig({A: html(B), B: html(C), C: html()})
        watch = Watch(crawl)
        crawl.crawl(A, delay=29.0, watch=watch)
        assert watch.said == []
        assert crawl.sql("select * from events") == []

    def test_it_is_told_again_for_each_stall_and_cleared_in_between(self, rig, html):
        crawl = rig({A: html(B), B: html(C), C: html()})
        watch, causes = Watch(crawl), set()

        def see():
            watch()
            causes.add(watch.lookout.cause)

        crawl.crawl(A, delay=100.0, watch=see)
        assert [round(seconds) for seconds, _ in watch.said] == [30, 130]
        assert causes == {"", *watch.words}

    def test_it_can_be_turned_off(self, rig, html):
        crawl = rig({A: html(B), B: html()})
        watch = Watch(crawl, seconds=0)
        crawl.crawl(A, delay=500.0, watch=watch)
        assert watch.said == []

    def test_the_first_visit_of_a_resumed_crawl_may_be_long_in_coming(self, rig, html):
        crawl = rig({A: html(B), B: html()})
        crawl.crawl(A, pages=1, delay=100.0)
        watch = Watch(crawl)
        crawl.crawl(delay=100.0, watch=watch)
        assert [seconds for seconds, _ in watch.said] == [30.0]


class TestRobots:
    def deferred(self, crawl, place: str) -> Outcome:
        """As the live fetcher says it, with a book that knows as much."""
        file = interpret(
            origin=place, status=0, body=b"", now=crawl.clock.now(), failure="timeout", policy=crawl.robots.settings
        )
        crawl.robots.put(file)
        wait = file.expires_at - crawl.clock.now()
        return Outcome(Kind.DEFERRED, "robots.txt unreachable", "timeout", retry_after=wait)

    def test_unreachable_everywhere(self, rig, html):
        crawl = rig({})
        crawl.web |= {url: [self.deferred(crawl, url[:-1]), html()] for url in (OTHER, THIRD)}
        watch = Watch(crawl)
        crawl.crawl(OTHER, THIRD, watch=watch)
        assert watch.words == [
            f"all 2 hosts with waiting links may not be asked: robots.txt is unreachable, other.test until {at(300)}"
        ]
        assert len(crawl.pages) == 2

    def test_unreachable_at_some(self, rig, html):
        crawl = rig({A: html(B), B: html()})
        crawl.web[OTHER] = [self.deferred(crawl, OTHER[:-1]), html()]
        watch = Watch(crawl)
        crawl.crawl(A, OTHER, delay=100.0, watch=watch)
        assert watch.words[0] == (
            f"all 2 hosts with waiting links rest, 1 of them because robots.txt is unreachable, a.test until {at(100)}"
        )


class TestUnderWay:
    async def pass_time(self, crawl, seconds: int) -> None:
        """Each second the loop has a look."""
        for _ in range(seconds):
            await crawl.clock.sleep(1.0)
            looks = crawl.visitor._news
            looks.set()
            while looks.is_set():  # noqa: ASYNC110 - until the loop has come round
                await asyncio.sleep(0)

    def hang(self, crawl, url: str, seconds: int, monkeypatch) -> None:
        """Fetching this takes so long."""
        fetch = crawl.fetcher.fetch

        async def slowly(lease):
            if lease.url == url:
                await self.pass_time(crawl, seconds)
            return await fetch(lease)

        monkeypatch.setattr(crawl.fetcher, "fetch", slowly)

    def test_a_fetch_that_hangs(self, rig, html, monkeypatch):
        crawl = rig({A: html()})
        self.hang(crawl, A, 90, monkeypatch)
        watch = Watch(crawl)
        crawl.crawl(A, watch=watch)
        assert watch.words == [f"waiting for 1 fetch under way, the oldest since {at(0)}: {A}"]

    def test_while_other_hosts_rest(self, rig, html, monkeypatch):
        crawl = rig({A: html(B), B: html(), OTHER: html()})
        self.hang(crawl, OTHER, 90, monkeypatch)
        watch = Watch(crawl)
        crawl.crawl(A, OTHER, delay=200.0, watch=watch)
        assert watch.words[0] == (
            f"waiting for 1 fetch under way, the oldest since {at(0)}: {OTHER}; "
            f"the only host with waiting links rests, until {at(200)}: a.test"
        )

    def test_hosts_set_aside(self, rig, html, unavailable, monkeypatch):
        crawl = rig({A: unavailable(), B: html(), OTHER: html()})
        self.hang(crawl, OTHER, 90, monkeypatch)
        watch = Watch(crawl)
        crawl.crawl(A, B, OTHER, max_failures=1, watch=watch)
        assert watch.words == [
            f"waiting for 1 fetch under way, the oldest since {at(0)}: {OTHER}; "
            "the 2 waiting links are on hosts that were set aside"
        ]

    def test_a_page_that_is_read_for_long(self, rig, html, monkeypatch):
        crawl = rig({A: html()})
        read = InlineReader.read

        async def slowly(reader, fetched, furniture):
            await self.pass_time(crawl, 40)
            return await read(reader, fetched, furniture)

        monkeypatch.setattr(InlineReader, "read", slowly)
        watch = Watch(crawl)
        crawl.crawl(A, watch=watch)
        assert watch.words == [f"waiting for 1 page to be read, the oldest since {at(0)}: {A}"]

    def test_readers_that_are_being_started(self):
        reading = Reading(urls=Urls(UrlRules()), judge=KeywordJudge("cycling"))

        async def go() -> list[int]:
            readers = Readers(reading, count=1)
            await readers.start()
            counts = [readers.ready]
            readers._readers[0].kill("killed by the test")
            while readers.ready:  # noqa: ASYNC110 - a process has no event
                await asyncio.sleep(0.01)
            counts.append(readers.ready)
            while not readers.ready:  # noqa: ASYNC110 - the same
                await asyncio.sleep(0.01)
            await readers.close()
            return [*counts, readers.count]

        assert asyncio.run(go()) == [1, 0, 1]
        stuck = Facts(waiting=0, reading=7, oldest=UnderWay(A, 1, 0.0, is_fetched=True), readers=2, readers_ready=1)
        assert cause(stuck) == (
            f"waiting for 7 pages to be read, the oldest since {clock_time(0)}: {A}; 1 of 2 readers being started"
        )
        more = replace(stuck, readers_ready=3)  # beside one that is slow
        assert "started" not in cause(more)

    def test_a_strategy_that_hands_out_nothing(self, rig, html, monkeypatch):
        crawl = rig({A: html()})
        watch = Watch(crawl)
        idle = strategy("breadth-first")
        monkeypatch.setattr(idle, "ask", lambda count, frontier, now: [])
        reason = crawl.crawl(A, strategy=idle, seconds=40, watch=watch)
        assert reason == "time budget: 40 s used up"
        assert watch.words == ["hosts are ready, but the strategy hands out none of their links"]

    def test_fetches_and_pages_at_once(self):
        facts = Facts(waiting=0, fetching=2, reading=1, oldest=UnderWay(A, 1, 0.0))
        assert (
            cause(facts)
            == f"waiting for 2 fetches under way and 1 page to be read, the oldest since {clock_time(0)}: {A}"
        )

    def test_a_long_url_is_cut(self):
        words = cause(Facts(waiting=0, fetching=1, oldest=UnderWay(A + "x" * 5000, 1, 0.0)))
        assert len(words) < 300


class TestSettings:
    def test_what_makes_no_sense_is_refused(self):
        with pytest.raises(ConfigError, match=r"stall\.seconds is -1: it must be 0 or more"):
            StallSettings(seconds=-1)


class TestShown:
    URL = "http://a.test/[red]\x1b[2J"

    def view(self, crawl) -> View:
        watch = Watch(crawl)
        crawl.crawl(A, pages=1)
        watch()
        return View(1000, crawl.frontier, crawl.ledger, crawl.visitor, watch.lookout, crawl.clock.now())

    def test_log_lines(self, capsys):
        progress.Lines().tell(Event("stall", f"waiting for {self.URL}"))
        assert capsys.readouterr().out == "stall: waiting for http://a.test/[red] [2J\n"

    def test_json(self, capsys):
        progress.Lines(as_json=True).tell(Event("stall", f"waiting for {self.URL}"))
        assert json.loads(capsys.readouterr().out) == {"event": "stall", "cause": f"waiting for {self.URL}"}

    def test_the_state_says_why_and_for_how_long(self, rig, html):
        crawl = rig({A: html(B)})
        view = self.view(crawl)
        now = crawl.clock.now()
        meter = progress.Meter(view)
        assert meter.snapshot(now).state.startswith("all hosts rest until")
        view.lookout.cause = f"waiting for {self.URL}"
        shot = meter.snapshot(now + 45)
        assert shot.state == "nothing fetched for 45 s: waiting for http://a.test/[red] [2J"
        assert shot.state in shot.as_line()

    def test_the_panel(self, rig, html):
        crawl = rig({A: html(B)})
        view = self.view(crawl)
        view.lookout.cause = f"waiting for {self.URL}"
        panels = progress.Panels("topic")
        console = Console(width=150, record=True, file=io.StringIO())
        console.print(panels._panel(progress.Meter(view).snapshot(crawl.clock.now() + 45)))
        assert "nothing fetched for 45 s: waiting for http://a.test/[red] [2J" in console.export_text()
