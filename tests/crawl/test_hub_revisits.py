"""Hubs are fetched again from the web, and what was told of them stays as it was told."""

from __future__ import annotations

import sqlite3
from collections import Counter, defaultdict
from itertools import pairwise

import numpy as np
import pytest

import lycosa
from distilled import distilling
from loopback import Answer, serving
from lycosa.crawl.centrality import DistillingSettings
from lycosa.crawl.citation_graph import CitationGraph
from lycosa.crawl.distiller import distill
from lycosa.fetch.conditions import conditions
from lycosa.judges.keywords import KeywordJudge
from lycosa.model import Kind, Outcome, Response
from lycosa.strategies.protocol import StrategyParts
from lycosa.strategies.table import STRATEGIES, strategy

HOSTS = ("a", "b", "c", "d")
GONE = Outcome(Kind.HTTP_ERROR, "http 410", status=410)
SETTINGS = DistillingSettings(every=4, revisited=1, revisit_after=0.0, admitted=0.5)


@pytest.fixture
def web(html):
    """Makes a web: a hub on each of four hosts, which has other links when it is fetched again."""

    def make() -> dict[str, object]:
        pages: dict[str, object] = {}
        for place, host in enumerate(HOSTS):
            others = [f"http://{other}.test/{number}" for other in HOSTS if other != host for number in range(1, 6)]
            later = [*others[3:], *(f"http://{host}.test/later/{number}" for number in range(3))]
            hub = "recreational cycling links"
            pages[f"http://{host}.test/"] = [html(*others, text=hub), html(*later, text=f"{hub}, and more cycling")]
            hubs = [f"http://{other}.test/" for other in HOSTS]
            for number in range(1, 6):
                words = "recreational cycling tandem" if (number + place) % 2 else "soup and bread"
                pages[f"http://{host}.test/{number}"] = html(*hubs, text=words)
                pages[f"http://{host}.test/later/{number}"] = html(text=f"recreational cycling {number}")
        return pages

    return make


def made(name: str):
    return strategy(
        name, StrategyParts.of(KeywordJudge("recreational cycling").abilities, rng=np.random.default_rng(1))
    )


NAMES = (*STRATEGIES, "hard+best-first", "decay+breadth-first", "decay+hunter", "tunnel+ariadne", "best-first-4")


@pytest.mark.parametrize("name", NAMES)
def test_a_killed_crawl_goes_on_as_if_it_had_not_been(rig, web, name):
    """Killed after every page, with hubs fetched again in between, whose links have changed."""
    straight, broken = rig(web(), name="straight"), rig(web(), name="broken")
    straight.crawl("http://a.test/", strategy=made(name), width=1, watch=distilling(straight, SETTINGS))
    for pages in range(1, 60):
        broken.crawl(
            "http://a.test/",
            pages=pages,
            strategy=made(name),
            width=1,
            watch=distilling(broken, SETTINGS),
            is_killed=True,
        )
    again = [url for url, count in Counter(straight.asked).items() if count > 1]
    assert again or name.startswith("hard")  # which finds no hubs here
    assert broken.asked == straight.asked
    assert broken.pages == straight.pages
    waiting = "select url, score, reason from frontier order by url"
    assert broken.sql(waiting) == straight.sql(waiting)


def test_links_that_are_new_on_a_hub_are_followed(rig, web):
    crawl = rig(web())
    crawl.crawl("http://a.test/", width=1, watch=distilling(crawl, SETTINGS))
    assert any("/later/" in url for url in crawl.pages)
    assert crawl.sql("select source_id, target_id from links group by 1, 2 having count(*) > 1") == []
    counts = dict(crawl.sql("select url, count(*) from links join frontier on id = source_id group by 1"))
    again = [url for url, count in Counter(crawl.asked).items() if count > 1 and url.endswith(".test/")]
    assert again
    assert {counts[url] for url in again} == {15 + 3}
    assert {counts[f"http://{host}.test/"] for host in HOSTS if f"http://{host}.test/" not in again} <= {15}


@pytest.mark.parametrize("answer", ["unavailable", "gone"])
def test_a_hub_that_fails_remains_a_page(rig, web, unavailable, answer):
    pages = web()
    for host in HOSTS:
        first, second = pages[f"http://{host}.test/"]
        pages[f"http://{host}.test/"] = [first, *([unavailable(), second] if answer == "unavailable" else [GONE])]
    crawl = rig(pages)
    for pages_wanted in range(1, 40):
        crawl.crawl("http://a.test/", pages=pages_wanted, width=1, watch=distilling(crawl, SETTINGS), is_killed=True)
    assert len(crawl.pages) == len(set(crawl.pages))
    numbers = [row[0] for row in crawl.sql("select number from pages order by 1")]
    assert numbers == list(range(1, len(numbers) + 1))
    assert crawl.sql("select distinct state from frontier join pages using (id)") == [("done",)]


def test_a_hub_rests_between_two_fetches(rig, web):
    """However often the crawl is distilled."""
    crawl = rig(web())
    settings = DistillingSettings(every=1, revisited=9, revisit_after=12.0, admitted=0.5)
    crawl.crawl("http://a.test/", width=1, watch=distilling(crawl, settings), delay=5.0)
    times: dict[str, list[float]] = defaultdict(list)
    for url, at in crawl.fetcher.asked:
        times[url].append(at)
    rests = [later - earlier for each in times.values() for earlier, later in pairwise(each)]
    assert len(rests) >= 3
    assert min(rests) >= 12


def test_a_hub_that_waits_to_be_fetched_again_is_not_unvisited(rig, web):
    crawl = rig(web())
    crawl.crawl("http://a.test/", pages=12, width=1)
    hubs = [f"http://{host}.test/" for host in HOSTS if crawl.state(f"http://{host}.test/") == "done"]
    assert len(hubs) > 1
    settings = DistillingSettings(every=1, revisited=25, revisit_after=0.0, admitted=1.0, across_sites=False)
    distilling(crawl, settings)()
    assert {crawl.row(url)["reason"] for url in hubs} == {"revisit"}
    found = distill(CitationGraph(crawl.store), settings)
    assert not {page.url for page in found.unvisited} & set(hubs)


def test_conditions_are_only_what_a_server_may_say():
    def known(**headers: str) -> list[str]:
        return conditions(Response("http://a.test/", 200, [(k.replace("_", "-"), v) for k, v in headers.items()], b""))

    assert known(etag='"abc"', last_modified="Tue, 17 Nov 2026 09:00:00 GMT") == [
        'If-None-Match: "abc"',
        "If-Modified-Since: Tue, 17 Nov 2026 09:00:00 GMT",
    ]
    assert known() == []
    for hostile in ('"a"\r\nX-Evil: 1', '"a"\x00', '"ä"', '"' + "a" * 500 + '"'):
        assert known(etag=hostile) == []


# Against a server.


class Hubs:
    """Four sites on loopback, told apart by their names, with versions of pages that can be asked for."""

    def __init__(self) -> None:
        self.pages: dict[str, str] = {}
        self.log: list[tuple[str, str, int]] = []

    def answer(self, request) -> Answer:
        host = request.headers["Host"].partition(":")[0].removesuffix(".test")
        url = f"{host}{request.path}"
        body = self.pages.get(url, "")
        tag = f'"{hash(body)}"'
        known = request.headers.get("If-None-Match", "")
        status = 404 if not body else 304 if known == tag else 200
        self.log.append((url, known, status))
        return Answer(status, "text/html", body if status == 200 else "", {"ETag": tag})


@pytest.fixture
def site(html):
    hubs = Hubs()
    with serving(hubs.answer) as (place, _):
        port = place.partition(":")[2]
        sites = [f"http://{host}.test:{port}/" for host in HOSTS]
        for host in HOSTS:
            others = [f"{site}{number}" for site in sites if f"/{host}." not in site for number in range(1, 9)]
            hubs.pages[f"{host}/"] = html(*others, text="recreational cycling links")
            for number in range(1, 9):
                words = "recreational cycling tandem" if number % 2 else "soup and bread"
                hubs.pages[f"{host}/{number}"] = html(*sites, text=f"{words} {number} {host}")
        yield f"http://a.test:{port}/", hubs


@pytest.mark.parametrize("kept", ["cache", "archive"])
def test_hubs_are_asked_whether_they_have_changed(site, tmp_path, kept):
    seed, handler = site
    settings = {
        "network": {"allow": ["127.0.0.0/8"], "resolve": {"*.test": "127.0.0.1"}},
        "politeness": {"delay": 0.0, "fetch_time_factor": 0.0},
        "distill": {"every": 6, "revisited": 2, "revisit_after": 0.0, "admitted": 0.5},
        "judge": {"kind": "keywords"},
        "cache": str(tmp_path / "cache") if kept == "cache" else "",
        "archive": {"is_on": kept == "archive"},
    }
    crawl = lycosa.Crawl(
        "recreational cycling", seeds=[seed], directory=tmp_path / "crawl", strategy="best-first", config=settings
    )
    crawl.run(pages=30)
    with sqlite3.connect(tmp_path / "crawl" / "crawl.db") as db:
        again = db.execute(
            "select from_cache, kind, count(*) from outcomes where id not in "
            "(select min(id) from outcomes group by link_id) group by 1, 2"
        ).fetchall()
    assert [(from_cache, kind) for from_cache, kind, _ in again] == [(0, "unchanged")]
    asked = Counter(url for url, known, status in handler.log if known and status == 304)
    assert sum(asked.values()) == again[0][2] >= 2
