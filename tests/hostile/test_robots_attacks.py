"""What a site can do with its robots.txt: send us to somebody else, break off before the rule, ask for 30 years."""

from __future__ import annotations

import asyncio
import gzip
from collections.abc import Callable
from itertools import pairwise

import pytest

from conftest import Rig
from lycosa.fetch.dns import Resolver
from lycosa.fetch.transfer import TransferFailure
from lycosa.lib.clock import VirtualClock
from lycosa.model import Response

HOSTS = 40
VICTIM = "victim.test"
PAGE = b"<title>A page</title><p>recreational cycling</p>"
Answer = Callable[[str], tuple[int, dict[str, str], bytes]]


class LoggingHttp:
    """Answers by a function of the URL, half a second later, and writes down when it was asked."""

    def __init__(self, answer: Answer, clock: VirtualClock) -> None:
        self._answer = answer
        self._clock = clock
        self.asked: list[tuple[str, float]] = []

    async def get(self, url: str, **_: object) -> Response | TransferFailure:
        now = self._clock.now()
        self.asked.append((url, now))
        await asyncio.sleep(0)
        status, headers, body = self._answer(url)
        return Response(url, status, list(headers.items()), body, started=now, ended=now)

    def times(self, name: str) -> list[float]:
        return [at for url, at in self.asked if url.startswith(f"http://{name}/")]


def crawl(rig: Callable[..., Rig], answer: Answer, *seeds: str, **options: object) -> tuple[Rig, LoggingHttp]:
    """Crawl with the real fetcher, on a virtual clock. Every host has an address of its own."""
    made = rig({})
    http = LoggingHttp(answer, made.clock)
    names: dict[str, str] = {}
    resolver = Resolver(look_up=lambda host, _: [names.setdefault(host, f"192.0.2.{len(names) + 1}")])
    made.fetch_live(http, resolver)
    made.crawl(*seeds, width=HOSTS, **options)  # type: ignore[arg-type]
    return made, http


def html(body: bytes = PAGE) -> tuple[int, dict[str, str], bytes]:
    return 200, {"content-type": "text/html"}, body


def rules(text: str) -> tuple[int, dict[str, str], bytes]:
    return 200, {"content-type": "text/plain"}, text.encode()


class TestRedirectsToAVictim:
    @staticmethod
    def answering(target: Callable[[str], str]) -> Answer:
        def answer(url: str) -> tuple[int, dict[str, str], bytes]:
            name, _, path = url.removeprefix("http://").partition("/")
            if path != "robots.txt":
                return html()
            if name == VICTIM:
                return rules("User-agent: *\nDisallow: /private\nCrawl-delay: 3\n")
            return 302, {"location": target(name)}, b""

        return answer

    def seeds(self) -> list[str]:
        return [f"http://host-{number}.test/{path}" for number in range(HOSTS) for path in ("", "private")]

    def test_many_hosts_that_point_to_one_cost_it_one_request(self, rig):
        made, http = crawl(rig, self.answering(lambda _: f"http://{VICTIM}/robots.txt"), *self.seeds())
        assert len(http.times(VICTIM)) == 1
        # The rules are obeyed as if they were the hosts' own.
        assert made.pages == [f"http://host-{number}.test/" for number in range(HOSTS)]

    def test_its_pages_are_asked_for_by_nobody(self, rig):
        answer = self.answering(lambda name: f"http://{VICTIM}/search?q={name}")
        made, http = crawl(rig, answer, *self.seeds(), seconds=100)
        assert http.times(VICTIM) == []
        assert made.pages == []
        robots = made.robots.get("http://host-1.test")
        assert "redirects to a page of another host" in robots.file.failure

    def test_its_clock_is_kept_however_many_ports_they_point_to(self, rig):
        def target(name: str) -> str:
            return f"http://{VICTIM}:{8000 + int(name.removeprefix('host-').removesuffix('.test'))}/robots.txt"

        seeds = [*self.seeds(), *(f"http://{VICTIM}/{number}" for number in range(10))]
        _, http = crawl(rig, self.answering(target), *seeds, seconds=1000)
        times = [at for url, at in http.asked if VICTIM in url]
        assert len(times) > HOSTS
        assert min(later - earlier for earlier, later in pairwise(times)) >= 1.0

    def test_a_chain_over_hosts_ends(self, rig):
        def answer(url: str) -> tuple[int, dict[str, str], bytes]:
            number = int(url.removeprefix("http://host-").partition(".")[0])
            return 302, {"location": f"http://host-{number + 1}.test/robots.txt"}, b""

        _, http = crawl(rig, answer, "http://host-0.test/", seconds=100)
        assert len(http.asked) == 6
        assert len(set(http.asked)) == 6


class TestUnclearRules:
    def test_a_stream_that_breaks_off_before_its_last_rule_allows_nothing(self, rig):
        padding = "".join(f"Disallow: /{number * 7919 % 10_007}\n" for number in range(2000))
        whole = gzip.compress(f"User-agent: *\n{padding}Disallow: /private\n".encode())

        def answer(url: str) -> tuple[int, dict[str, str], bytes]:
            if url.endswith("/robots.txt"):
                return 200, {"content-type": "text/plain", "content-encoding": "gzip"}, whole[:-30]
            return html()

        made, http = crawl(rig, answer, "http://a.test/private", seconds=100)
        assert [url for url, _ in http.asked] == ["http://a.test/robots.txt"]
        assert "broken off" in made.robots.get("http://a.test").file.failure

    def test_a_delay_of_ten_digits_sets_the_host_aside(self, rig):
        made, http = crawl(
            rig,
            lambda url: rules("User-agent: *\nCrawl-delay: 1234567890\n") if "robots" in url else html(),
            "http://a.test/",
            seconds=100,
        )
        assert [url for url, _ in http.asked] == ["http://a.test/robots.txt"]
        assert made.sql("select set_aside from hosts") == [("crawl-delay of 1e+09 s is over the cap of 60 s",)]

    @pytest.mark.parametrize("status", [503, 429])
    def test_retry_after_holds_for_robots_txt_too(self, rig, status):
        _, http = crawl(rig, lambda _: (status, {"retry-after": "3600"}, b""), "http://a.test/", seconds=5000)
        times = http.times("a.test")
        assert len(times) == 2
        assert 3600 <= times[1] - times[0] < 3700


@pytest.mark.parametrize(
    ("location", "asked"),
    [
        ("/café".encode(), "http://a.test/caf%C3%A9"),
        ("http://bücher.test/ü?q=ö".encode(), "http://xn--bcher-kva.test/%C3%BC?q=%C3%B6"),
        (b"/caf\xe9", "http://a.test/caf%E9"),
        (b"/caf%C3%A9", "http://a.test/caf%C3%A9"),
    ],
)
def test_a_location_in_raw_bytes_is_read_as_browsers_do(rig, location, asked):
    def answer(url: str) -> tuple[int, dict[str, str], bytes]:
        if url == "http://a.test/":
            return 302, {"location": location.decode("latin-1")}, b""
        return (404, {}, b"") if url.endswith("/robots.txt") else html()

    made, _ = crawl(rig, answer, "http://a.test/")
    assert made.pages == [asked]
