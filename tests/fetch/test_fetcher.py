"""One lease at a time against the misbehaving server: which requests are sent, in which order, and their outcomes."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from email.utils import format_datetime

import pytest

from hostile.server import WorldServer, running
from lycosa.errors import ConfigError
from lycosa.fetch.cache import PageCache
from lycosa.fetch.dns import Resolver
from lycosa.fetch.fetcher import FetchSettings, LiveFetcher, RobotsBook
from lycosa.fetch.guard import Guard
from lycosa.fetch.headers import retry_after
from lycosa.fetch.http import Http, TransferFailure
from lycosa.fetch.robots import RobotsSettings, RobotsState
from lycosa.fetch.transfer import HttpSettings
from lycosa.fetch.urls import UrlRules, Urls
from lycosa.lib.clock import VirtualClock
from lycosa.model import Fetched, Kind, Lease, Outcome, Response

NOW = 1_700_000_000.0
FAULTY = {
    "broken-robots.test": "robots-500",
    "moved-robots.test": "robots-redirect/2",
    "far-robots.test": "robots-redirect/9",
    "plain.test": "500/0",
}


@pytest.fixture
def server(small_web):
    with running(small_web, faults=FAULTY) as server:
        yield server


def paths(server: WorldServer, count: int) -> list[str]:
    """The requests that the server logged, once it has logged this many: it answers before it logs."""
    deadline = time.monotonic() + 10
    while len(server.requests()) < count and time.monotonic() < deadline:
        time.sleep(0.001)
    return [request.path for request in server.requests()]


class Live:
    """A fetcher with its parts. `get` retries until the outcome is not 'deferred', like the frontier."""

    def __init__(
        self, fetcher: LiveFetcher, robots: RobotsBook, clock: VirtualClock, addresses: dict[int, str]
    ) -> None:
        self.fetcher = fetcher
        self.robots = robots
        self.clock = clock
        self.addresses = addresses

    async def once(self, url: str, *, host: int = 1) -> Fetched:
        fetched = await self.fetcher.fetch(Lease(1, url, host, 0.0, 0, 0, 0))
        if fetched.address:
            self.addresses[host] = fetched.address
        return fetched

    async def get(self, url: str, *, host: int = 1) -> Fetched:
        for _ in range(5):
            fetched = await self.once(url, host=host)
            if fetched.outcome.kind is not Kind.DEFERRED:
                break
        return fetched


@asynccontextmanager
async def live(
    server: WorldServer | None,
    *,
    allow: tuple[str, ...] = ("127.0.0.0/8",),
    http: object = None,
    cache: PageCache | None = None,
    resolver: Resolver | None = None,
    plain_http: dict[str, str] | None = None,
    **settings: object,
) -> AsyncIterator[Live]:
    clock = VirtualClock(NOW)
    addresses: dict[int, str] = {}
    overrides = server.overrides() if server else {"*.test": "192.0.2.1"}
    resolver = resolver or Resolver(overrides={**overrides, "private.test": "10.0.0.1"})
    real = Http(settings=HttpSettings(user_agent="Lycosa-test"), guard=Guard(allow), resolver=resolver)
    robots = RobotsBook(RobotsSettings())
    fetcher = LiveFetcher(
        http=http or real,  # type: ignore[arg-type]
        resolver=resolver,
        urls=Urls(UrlRules()),
        robots=robots,
        settings=FetchSettings(**settings),  # type: ignore[arg-type]
        address_of=lambda number: addresses.get(number, ""),
        pause=1.0,
        clock=clock,
        cache=cache,
        plain_http=plain_http,
    )
    try:
        yield Live(fetcher, robots, clock, addresses)
    finally:
        await real.close()
        await resolver.close()


class FakeHttp:
    """Answers from a dictionary."""

    def __init__(self, answers: dict[str, Response | TransferFailure]) -> None:
        self.answers = {"http://a.test/robots.txt": answer("http://a.test/robots.txt", 404), **answers}
        self.asked: list[str] = []

    async def get(self, url: str, **_: object) -> Response | TransferFailure:
        self.asked.append(url)
        return self.answers[url]


def answer(url: str, status: int, *headers: tuple[str, str], body: bytes = b"") -> Response:
    return Response(url, status, headers, body, address="192.0.2.1", started=NOW, ended=NOW + 0.5)


def fetch(server: WorldServer | None, url: str, **options: object) -> Fetched:
    async def go() -> Fetched:
        async with live(server, **options) as fetcher:
            return await fetcher.get(url)

    return asyncio.run(go())


def fetch_faked(url: str, answers: dict[str, Response | TransferFailure], **options: object) -> Fetched:
    return fetch(None, url, http=FakeHttp(answers), **options)


def page_on(server: WorldServer, path: str, host: str = "plain.test") -> str:
    return f"http://{host}:{server.port}{path}"


class TestOrder:
    def test_name_then_robots_then_page(self, server):
        url = server.url(0)

        async def go():
            async with live(server) as fetcher:
                return [await fetcher.once(url) for _ in range(3)]

        name, robots, page = asyncio.run(go())
        assert (name.outcome.kind, name.outcome.reason, name.is_contact) == (Kind.DEFERRED, "name resolved", False)
        assert name.address == server.overrides()[server.web.hosts[0]]
        assert (robots.outcome.kind, robots.outcome.reason, robots.is_contact) == (
            Kind.DEFERRED,
            "robots.txt first",
            True,
        )
        assert (page.outcome.kind, page.outcome.status, page.is_contact) == (Kind.FETCHED, 200, True)
        assert page.response.url == url
        assert page.ended > page.response.started
        assert paths(server, 2) == ["/robots.txt", "/"]

    def test_robots_txt_serves_for_all_pages_of_an_origin(self, server):
        async def go():
            async with live(server) as fetcher:
                for page in ("/one", "/two", "/three"):
                    await fetcher.get(page_on(server, page))

        asyncio.run(go())
        assert paths(server, 4) == ["/robots.txt", "/one", "/two", "/three"]

    def test_after_a_day_it_is_asked_for_again(self, server):
        async def go():
            async with live(server) as fetcher:
                await fetcher.get(page_on(server, "/one"))
                fetcher.clock._now += 90_000
                await fetcher.get(page_on(server, "/two"))

        asyncio.run(go())
        assert paths(server, 4) == ["/robots.txt", "/one", "/robots.txt", "/two"]

    def test_a_host_that_has_moved_is_met_anew(self, server):
        async def go():
            async with live(server) as fetcher:
                await fetcher.get(page_on(server, "/one"))
                fetcher.addresses[1] = "127.0.0.99"
                return await fetcher.once(page_on(server, "/two"))

        assert asyncio.run(go()).outcome.reason == "name resolved"

    def test_a_name_that_does_not_exist(self):
        def look_up(host, port):
            raise OSError("no such name")

        fetched = fetch(None, "http://nowhere.test/", resolver=Resolver(look_up=look_up))
        assert (fetched.outcome.kind, fetched.outcome.reason) == (Kind.UNREACHABLE, "dns")
        assert fetched.outcome.detail == "no such name"
        assert not fetched.is_contact

    def test_news_of_robots_are_handed_on_once(self, server):
        async def go():
            async with live(server) as fetcher:
                await fetcher.get(page_on(server, "/one"))
                return [file.origin for file in fetcher.robots.take_news()], fetcher.robots.take_news()

        assert asyncio.run(go()) == ([f"http://plain.test:{server.port}"], [])


class TestRobots:
    def test_a_closed_directory_is_not_asked_for(self, server, small_web):
        closed = [page for page in range(len(small_web)) if not small_web.is_allowed(page)]
        if not closed:
            pytest.fail("this web has no closed directory: choose another seed")
        url = server.url(closed[0])
        fetched = fetch(server, url)
        assert (fetched.outcome.kind, fetched.outcome.reason) == (Kind.EXCLUDED, "robots")
        assert fetched.outcome.detail.startswith("Disallow: /")
        assert not fetched.is_contact
        assert paths(server, 1) == ["/robots.txt"]

    def test_out_of_order_means_no_and_is_asked_again_later(self, server):
        url = page_on(server, "/", "broken-robots.test")

        async def go():
            async with live(server) as fetcher:
                await fetcher.once(url)
                first, again = await fetcher.once(url), await fetcher.once(url)
                fetcher.clock._now += 301
                return first, again, await fetcher.once(url)

        first, again, later = asyncio.run(go())
        for fetched in (first, again, later):
            assert (fetched.outcome.kind, fetched.outcome.reason) == (Kind.DEFERRED, "robots.txt unreachable")
            assert fetched.outcome.detail == "http 500"
        assert (first.outcome.retry_after, again.outcome.retry_after, later.outcome.retry_after) == (300, 300, 600)
        assert (first.is_contact, again.is_contact, later.is_contact) == (True, False, True)
        assert paths(server, 2) == ["/robots.txt"] * 2

    def test_redirects_are_followed_with_rests_between(self, server):
        async def go():
            async with live(server) as fetcher:
                started = fetcher.clock.now()
                open_page = await fetcher.get(page_on(server, "/", "moved-robots.test"))
                rested = fetcher.clock.now() - started
                return open_page, rested, await fetcher.get(page_on(server, "/closed/x", "moved-robots.test"))

        open_page, rested, closed_page = asyncio.run(go())
        assert open_page.outcome.kind is Kind.FETCHED
        assert rested == 2.0
        assert closed_page.outcome.detail == "Disallow: /closed/ (User-agent: *)"

    def test_too_many_redirects_mean_no(self, server):
        fetched = fetch(server, page_on(server, "/", "far-robots.test"))
        assert (fetched.outcome.kind, fetched.outcome.reason) == (Kind.DEFERRED, "robots.txt unreachable")

    @pytest.mark.parametrize("location", ["http://[x", "file:///etc/passwd", "http://"])
    def test_a_redirect_to_nowhere_means_no(self, location):
        moved = answer("http://a.test/robots.txt", 301, ("location", location))
        fetched = fetch_faked("http://a.test/", {"http://a.test/robots.txt": moved})
        assert (fetched.outcome.kind, fetched.outcome.reason) == (Kind.DEFERRED, "robots.txt unreachable")

    def test_rules_that_cannot_be_unpacked_mean_no(self):
        bad = answer("http://a.test/robots.txt", 200, ("content-encoding", "gzip"), body=b"\x00\x01\x02")
        fetched = fetch_faked("http://a.test/", {"http://a.test/robots.txt": bad})
        assert (fetched.outcome.kind, fetched.outcome.reason) == (Kind.DEFERRED, "robots.txt unreachable")

    def test_without_a_scheme_http_follows_only_if_https_does_not_answer(self):
        silent = TransferFailure(Kind.UNREACHABLE, "connect", "refused")
        moved = answer("https://a.test/robots.txt", 301, ("location", "https://b.test/robots.txt"))
        plain = {"https://a.test/": "http://a.test/"}

        def outcome(**answers: Response | TransferFailure) -> Outcome:
            faked = {f"https://{name}.test/robots.txt": each for name, each in answers.items()}
            return fetch_faked("https://a.test/", faked, plain_http=plain).outcome

        gone = outcome(a=silent)
        assert (gone.kind, gone.reason, gone.location) == (Kind.REDIRECTED, "https unreachable", "http://a.test/")
        assert outcome(a=answer("https://a.test/robots.txt", 503)).kind is Kind.DEFERRED
        assert outcome(a=moved, b=silent).kind is Kind.DEFERRED
        assert fetch_faked("https://a.test/", {"https://a.test/robots.txt": silent}).outcome.kind is Kind.DEFERRED

    @pytest.mark.parametrize("status", [401, 403, 404, 410])
    def test_none_there_means_yes(self, status):
        answers = {
            "http://a.test/robots.txt": answer("http://a.test/robots.txt", status),
            "http://a.test/": answer("http://a.test/", 200),
        }
        assert fetch_faked("http://a.test/", answers).outcome.kind is Kind.FETCHED

    def test_what_was_stored_is_known(self):
        async def go():
            async with live(None, http=FakeHttp({})) as fetcher:
                await fetcher.get("http://a.test/robots.txt")
                return fetcher.robots.get("http://a.test"), fetcher.robots.get("http://b.test")

        known, unknown = asyncio.run(go())
        assert known.file.state is RobotsState.ALLOW_ALL
        assert unknown is None


class TestGuard:
    def test_an_address_that_is_none_of_our_business(self, server):
        fetched = fetch(server, page_on(server, "/"), allow=())
        assert (fetched.outcome.kind, fetched.outcome.reason) == (Kind.REFUSED, "address refused")
        assert "loopback" in fetched.outcome.detail
        assert not fetched.is_contact
        assert not fetched.outcome.is_transient
        assert paths(server, 0) == []

    @pytest.mark.parametrize("url", ["http://private.test/", "http://169.254.169.254/latest/", "http://[::1]/"])
    def test_private_addresses_by_any_name(self, server, url):
        outcome = fetch(server, url).outcome
        assert (outcome.kind, outcome.reason) == (Kind.REFUSED, "address refused")


class TestAnswers:
    def test_a_document_of_another_type_is_not_downloaded(self, server):
        fetched = fetch(server, page_on(server, "/fault/binary"))
        assert (fetched.outcome.kind, fetched.outcome.reason) == (Kind.SKIPPED, "content type")
        assert fetched.outcome.status == 200
        assert fetched.response.body == b""
        assert fetched.is_contact

    def test_types_can_be_chosen(self, server):
        kind = fetch(server, page_on(server, "/fault/binary")).outcome.detail
        assert fetch(server, page_on(server, "/fault/binary"), content_types=(kind,)).outcome.kind is Kind.FETCHED
        skipped = fetch(server, server.url(0), content_types=("text/plain",)).outcome
        assert (skipped.kind, skipped.detail) == (Kind.SKIPPED, "text/html")

    def test_a_page_can_be_chopped(self, server):
        whole, chopped = fetch(server, server.url(0)), fetch(server, server.url(0), chop=700)
        assert len(whole.response.body) > 1500
        assert not whole.response.is_chopped
        assert chopped.response.is_chopped
        assert chopped.response.body == whole.response.body[:700]
        assert chopped.outcome.kind is Kind.FETCHED

    def test_a_redirect_is_not_followed(self, server):
        fetched = fetch(server, page_on(server, "/fault/redirect-chain/2"))
        assert (fetched.outcome.kind, fetched.outcome.status) == (Kind.REDIRECTED, 302)
        assert fetched.outcome.location == page_on(server, "/fault/redirect-chain/1")
        assert paths(server, 2) == ["/robots.txt", "/fault/redirect-chain/2"]

    @pytest.mark.parametrize(
        ("location", "meant"),
        [
            ("/x", "http://a.test/x"),
            ("y?z", "http://a.test/dir/y?z"),
            ("//b.test/", "http://b.test/"),
            ("https://b.test/", "https://b.test/"),
            ("file:///etc/passwd", "file:///etc/passwd"),
            ("http://[x", "http://[x"),
        ],
    )
    def test_where_a_redirect_leads(self, location, meant):
        url = "http://a.test/dir/page"
        fetched = fetch_faked(url, {url: answer(url, 301, ("location", location))})
        assert (fetched.outcome.kind, fetched.outcome.location) == (Kind.REDIRECTED, meant)

    def test_a_redirect_without_a_target_is_an_error(self):
        url = "http://a.test/"
        outcome = fetch_faked(url, {url: answer(url, 302)}).outcome
        assert (outcome.kind, outcome.reason, outcome.is_transient) == (Kind.HTTP_ERROR, "http 302", False)

    @pytest.mark.parametrize("status", [204, 205, 206])
    def test_what_is_no_page_although_all_went_well(self, status):
        url = "http://a.test/"
        outcome = fetch_faked(url, {url: answer(url, status, ("content-type", "text/html"), body=b"a part")}).outcome
        assert (outcome.kind, outcome.reason, outcome.status) == (Kind.SKIPPED, f"http {status}", status)

    @pytest.mark.parametrize(
        ("status", "is_transient"),
        [(404, False), (410, False), (403, False), (408, True), (425, True), (429, True), (500, True), (503, True)],
    )
    def test_which_errors_pass(self, status, is_transient):
        url = "http://a.test/"
        outcome = fetch_faked(url, {url: answer(url, status)}).outcome
        assert (outcome.kind, outcome.reason, outcome.status) == (Kind.HTTP_ERROR, f"http {status}", status)
        assert outcome.is_transient is is_transient

    def test_a_server_that_asks_to_come_back_later(self, server):
        outcome = fetch(server, page_on(server, "/fault/503/77")).outcome
        assert (outcome.kind, outcome.status, outcome.retry_after) == (Kind.HTTP_ERROR, 503, 77.0)

    def test_a_connection_that_breaks(self, server):
        fetched = fetch(server, page_on(server, "/fault/reset"))
        assert (fetched.outcome.kind, fetched.outcome.reason) == (Kind.UNREACHABLE, "reset")
        assert fetched.outcome.is_transient
        assert fetched.is_contact
        assert fetched.response is None

    def test_too_large_is_refused_and_counts_as_contact(self):
        url = "http://a.test/"
        fetched = fetch_faked(
            url, {url: TransferFailure(Kind.REFUSED, "too large", "over 10 bytes", address="192.0.2.1")}
        )
        assert (fetched.outcome.kind, fetched.outcome.reason) == (Kind.REFUSED, "too large")
        assert fetched.is_contact


class TestCache:
    def test_the_second_crawl_asks_for_nothing(self, server, tmp_path):
        url = server.url(3)

        async def crawl():
            with PageCache(tmp_path / "cache") as cache:
                async with live(server, cache=cache) as fetcher:
                    return await fetcher.get(url)

        first = asyncio.run(crawl())
        assert len(paths(server, 2)) == 2
        second = asyncio.run(crawl())
        assert len(paths(server, 2)) == 2
        assert (first.from_cache, second.from_cache) == (False, True)
        assert (second.outcome, second.is_contact) == (first.outcome, False)
        assert second.response.body == first.response.body

    def test_redirects_and_missing_pages_are_kept_too(self, server, tmp_path):
        async def crawl():
            with PageCache(tmp_path / "cache") as cache:
                async with live(server, cache=cache) as fetcher:
                    found = [await fetcher.get(page_on(server, "/fault/redirect-chain/1"))]
                    return [*found, await fetcher.get(f"{server.url(0)}no/such/page")]

        first = asyncio.run(crawl())
        asked = len(paths(server, 4))
        second = asyncio.run(crawl())
        assert len(paths(server, asked)) == asked
        assert [fetched.outcome for fetched in second] == [fetched.outcome for fetched in first]
        assert [fetched.outcome.kind for fetched in second] == [Kind.REDIRECTED, Kind.HTTP_ERROR]

    def test_troubles_are_not_kept(self, server, tmp_path):
        url = page_on(server, "/fault/503/1")

        async def crawl():
            with PageCache(tmp_path / "cache") as cache:
                async with live(server, cache=cache) as fetcher:
                    return await fetcher.get(url)

        assert [asyncio.run(crawl()).from_cache for _ in range(2)] == [False, False]


class TestRetryAfter:
    @pytest.mark.parametrize(
        ("value", "seconds"),
        [
            ("120", 120.0),
            (" 7 ", 7.0),
            ("0", 0.0),
            ("", 0.0),
            ("soon", 0.0),
            ("-5", 0.0),
            ("1.5", 0.0),
            ("٣", 0.0),
            ("9" * 400, 999_999_999.0),
            ("Fri, 99 Foo 9999 99:99:99 GMT", 0.0),
        ],
    )
    def test_seconds(self, value, seconds):
        assert retry_after(value, now=NOW) == seconds

    @pytest.mark.parametrize(("offset", "seconds"), [(90, 90.0), (-90, 0.0)])
    def test_a_date(self, offset, seconds):
        date = format_datetime(datetime.fromtimestamp(NOW + offset, UTC), usegmt=True)
        assert retry_after(date, now=NOW) == seconds

    def test_a_date_comes_through_the_fetcher(self):
        date = format_datetime(datetime.fromtimestamp(NOW + 60, UTC), usegmt=True)
        url = "http://a.test/"
        outcome = fetch_faked(url, {url: answer(url, 503, ("retry-after", date))}).outcome
        assert outcome.retry_after == 59.5


@pytest.mark.parametrize("name", ["chop", "max_redirects"])
def test_what_makes_no_sense_is_refused(name):
    with pytest.raises(ConfigError, match=f"fetch.{name} is -1: it must be 0 or more"):
        FetchSettings(**{name: -1})
