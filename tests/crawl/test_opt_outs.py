"""Owners who do not want their pages used: what is fetched, kept, exported and told, by the purpose of the crawl."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from conftest import Rig
from lycosa.config import Config, build
from lycosa.crawl.reader_requests import NEEDED_HEADERS
from lycosa.errors import InputError
from lycosa.explaining import explanation
from lycosa.fetch.cache import PageCache
from lycosa.fetch.dns import Resolver
from lycosa.fetch.fetcher import RobotsBook
from lycosa.fetch.robots import RobotsSettings
from lycosa.model import Response
from lycosa.results.archived_pages import ArchivedPages
from lycosa.results.export import export
from lycosa.results.page_rows import Selection
from lycosa.usage import AI_INPUT, AI_TRAIN, OPTED_OUT, SEARCH
from lycosa.workspace import Workspace

A, B, C, D, E = (f"http://a.test/{name}" for name in ("", "b", "signal/c", "d", "e"))
SECRET = "unmistakable"
ROBOTS = "User-agent: *\nContent-Signal: search=yes\nContent-Signal: /signal/ ai-train=no, search=yes\n"
BY_ROBOTS = "ai-train: no (robots.txt Content-Signal /signal/, User-agent: *)"
SAID: dict[str, tuple[tuple[tuple[str, str], ...], str]] = {
    A: ((), ""),
    B: ((("x-robots-tag", "noai"),), ""),
    C: ((), ""),
    D: ((), "<meta name=tdm-reservation content=1>"),
    E: ((("content-usage", "search=n"),), ""),
}
"""By URL: headers, and what stands in the head."""


class Site:
    """Answers at once, and writes down what it was asked for."""

    def __init__(self, rig: Rig, *, is_silent: bool) -> None:
        self._now = rig.clock.now
        self._is_silent = is_silent
        self.asked: list[str] = []

    async def get(self, url: str, **_: object) -> Response:
        self.asked.append(url)
        if url.endswith("/robots.txt"):
            body = b"User-agent: *\nAllow: /\n" if self._is_silent else ROBOTS.encode()
            return Response(url, 200, [], body, started=self._now(), ended=self._now())
        headers, head = ((), "") if self._is_silent else SAID[url]
        links = "".join(f"<a href={other}>recreational cycling</a> " for other in SAID)
        text = f"<head><title>{url}</title>{head}</head><p>recreational cycling {SECRET} {url} {links}"
        lines = [("content-type", "text/html"), *headers]
        wire = "".join(f"{name}: {value}\r\n" for name, value in lines)
        top = f"HTTP/1.1 200 OK\r\n{wire}".removesuffix("\r\n").encode()
        return Response(url, 200, lines, text.encode(), head=top, started=self._now(), ended=self._now())


@pytest.fixture
def crawled(rig) -> Callable[..., tuple[Rig, Site]]:
    def crawl(purpose: str = SEARCH, *, is_silent: bool = False, cache: PageCache | None = None) -> tuple[Rig, Site]:
        made = rig({}, name=f"{purpose}-{is_silent}-{cache is None}")
        made.robots = RobotsBook(RobotsSettings(purpose=purpose))
        reading = made.reading
        made.reading = lambda: replace(reading(), purpose=purpose)
        site = Site(made, is_silent=is_silent)
        made.fetch_live(site, Resolver(look_up=lambda *_: ["192.0.2.1"]), cache)
        made.crawl(A, with_archive=True, strategy="breadth-first", width=1)
        return made, site

    return crawl


def exported(made: Rig, wanted: Selection = Selection()) -> dict[str, str]:  # noqa: B008
    """What is said of each page."""
    target = made.directory / "pages.jsonl"
    export(made.store, target, texts=ArchivedPages.of_text(made.directory / "archive", made.store), wanted=wanted)
    return {row["url"]: row["usage"] for row in map(json.loads, target.read_text().splitlines())}


def archived(made: Rig) -> str:
    files = sorted((made.directory / "archive").rglob("*.gz"))
    return b"".join(gzip.decompress(path.read_bytes()) for path in files).decode("latin-1")


@pytest.mark.parametrize(
    ("purpose", "asked", "kept"),
    [
        (SEARCH, [A, B, C, D, E], [A, B, C, D]),
        (AI_INPUT, [A, B, C, D, E], [A, C, E]),
        (AI_TRAIN, [A, B, D, E], [A, E]),
    ],
)
def test_what_is_fetched_and_kept(crawled, purpose, asked, kept):
    made, site = crawled(purpose)
    assert [url for url in site.asked if not url.endswith("/robots.txt")] == asked
    assert made.pages == kept
    for url in asked:
        assert (f"{SECRET} {url}" in archived(made)) is (url in kept)  # nor in the archive
    outcomes = dict(made.sql("select f.url, o.reason from outcomes o join frontier f on f.id = o.link_id"))
    assert {url for url, reason in outcomes.items() if reason == OPTED_OUT} == {*asked} - {*kept}
    assert {url for url, reason in outcomes.items() if reason == "robots"} == {*SAID} - {*asked}


def test_where_nothing_is_said_every_purpose_is_the_same(crawled):
    crawls = [crawled(purpose, is_silent=True) for purpose in (SEARCH, AI_INPUT, AI_TRAIN)]
    assert {tuple(site.asked) for _, site in crawls} == {("http://a.test/robots.txt", A, B, C, D, E)}
    assert all(made.pages == [A, B, C, D, E] for made, _ in crawls)
    assert set(exported(crawls[0][0]).values()) == {""}


class TestResults:
    def test_exports_tell_what_owners_say(self, crawled):
        by_robots = "search: yes (robots.txt Content-Signal, User-agent: *)"
        assert exported(crawled()[0]) == {
            A: by_robots,
            B: f"ai-input: no (X-Robots-Tag), ai-train: no (X-Robots-Tag), {by_robots}",
            C: f"{BY_ROBOTS}, search: yes (robots.txt Content-Signal /signal/, User-agent: *)",
            D: f"ai-input: no (meta tdm-reservation), ai-train: no (meta tdm-reservation), {by_robots}",
        }

    def test_exports_can_be_for_another_use(self, crawled):
        made, _ = crawled()
        assert list(exported(made, Selection(purpose=AI_TRAIN))) == [A]
        assert list(exported(made, Selection(purpose=AI_INPUT))) == [A, C]
        assert str(Selection(purpose=AI_TRAIN)) == "none whose owner forbids ai-train"
        texts = ArchivedPages.of_text(made.directory / "archive", made.store)
        index = made.directory / "corpus.cdxj"
        export(made.store, index, texts=texts, wanted=Selection(purpose=AI_TRAIN))
        assert index.read_text().count(" {") == 1
        with pytest.raises(InputError, match="what owners say of use is in the archive; leave out --no-text"):
            export(made.store, made.directory / "pages.csv", texts=None, wanted=Selection(purpose=AI_TRAIN))

    def test_every_url_can_tell(self, crawled):
        made, _ = crawled(AI_TRAIN)
        config = build(("test", {"topic": "recreational cycling", "robots": {"purpose": AI_TRAIN}}))

        def told(url: str) -> dict[str, str]:
            return dict(explanation(Workspace(made.directory), config, made.store, url))

        assert told(C)["reason"] == f"robots {BY_ROBOTS}, and robots.purpose is ai-train"
        assert told(C)["usage"].startswith(BY_ROBOTS)
        assert told(B)["reason"] == "opted out ai-train: no (X-Robots-Tag), and robots.purpose is ai-train"
        assert told(E)["usage"].startswith("search: no (Content-Usage)")


def test_the_cache_of_other_crawls_is_for_searches_alone(crawled, tmp_path):
    with PageCache(tmp_path / "cache") as cache:
        crawled(SEARCH, cache=cache)
        cache.commit()
        made, site = crawled(AI_TRAIN, cache=cache)
        assert made.pages == [A, E]
        assert C not in site.asked
        assert A in site.asked


def test_readers_get_the_purpose_and_the_headers():
    assert {"content-usage", "content-signal", "tdm-reservation", "tdm-policy", "x-robots-tag"} <= NEEDED_HEADERS
    config: Config = build(("test", {"robots": {"purpose": AI_INPUT}}))
    judge: Any = type("Words", (), {"abilities": type("Abilities", (), {"words": ""})})()
    assert config.reading(judge).purpose == AI_INPUT
