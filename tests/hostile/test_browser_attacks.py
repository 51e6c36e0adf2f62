"""Pages made by JavaScript, some of them hostile, and a real chromium: found, survived, guarded."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import pytest
from warcio.archiveiterator import ArchiveIterator

import lycosa
from loopback import NOT_FOUND, Answer, html, serving
from web.browser import why_no_browser

pytestmark = pytest.mark.skipif(bool(why_no_browser()), reason=why_no_browser() or "there is a browser")

SITE, VICTIM = "127.0.0.2", "127.0.0.1"
WORDS = (
    "cycling tours for recreational cyclists, bicycle routes, cycling maps, bicycle repair and touring bicycles. " * 4
)
SHELL = '<!DOCTYPE html><title>App</title><body><div id="root"></div><script>{}</script>'
APP = """
fetch('/data/{name}.json').then(answer => answer.json()).then(data => {{
  document.getElementById('root').innerHTML = '<h1>' + data.title + '</h1><p>' + data.text + '</p>' +
    data.links.map(link => '<a href="' + link + '">' + link + '</a>').join(' ');
}});
"""
HOSTILE = {
    "/loop": "for (;;) {}",
    "/alerts": "for (;;) alert('again');",
    "/navigate": "location = 'http://{victim}/navigated';",
    "/frames": "document.body.innerHTML += '<iframe src=\"http://{victim}/framed\"></iframe>';",
    "/requests": """
        fetch('http://{victim}/fetched', {mode: 'no-cors'}).catch(() => 0);
        new Image().src = 'http://{victim}/image';
        navigator.sendBeacon('http://{victim}/beacon', 'x');
        try { new WebSocket('ws://{victim}/socket'); } catch (error) {}
        document.head.innerHTML += '<link rel="preconnect" href="http://{victim}/"><link rel="prefetch" '
            + 'href="http://{victim}/prefetched">';
        fetch('/redirects-to-victim').catch(() => 0);
        fetch('/posted', {method: 'POST', body: 'x'}).catch(() => 0);
        fetch('/forbidden/data').catch(() => 0);""",
    "/worker": "navigator.serviceWorker.register('/worker.js').catch(() => 0); new Worker('/worker.js');",
    "/downloads": """
        for (let n = 0; n < 20; n++) {
            const link = document.createElement('a');
            link.href = '/bomb'; link.download = 'bomb' + n; document.body.append(link); link.click();
            window.open('/popup' + n);
        }""",
    "/storm": "for (let n = 0; n < 500; n++) fetch('/data/storm' + n + '.json').catch(() => 0);",
    "/grows": "for (;;) document.body.append('cycling '.repeat(1e6));",
}


class Site:
    """Answers of the site, and what it was asked for."""

    def __init__(self, victim: str) -> None:
        self._victim = victim
        self.posts = 0

    def __call__(self, request: BaseHTTPRequestHandler) -> Answer:
        path = request.path
        if path == "/robots.txt":
            return Answer(200, "text/plain", "User-agent: *\nDisallow: /forbidden/\n")
        if path == "/":
            links = " ".join(f'<a href="{link}">{link}</a>' for link in ("/app", *HOSTILE))
            return html(f"<title>Cycling</title><p>{WORDS}</p>{links}")
        if path in ("/app", "/deep"):
            return html(SHELL.format(APP.format(name=path[1:])))
        if path == "/data/app.json":
            return Answer(200, "application/json", f'{{"title": "Tours", "text": "{WORDS}", "links": ["/deep"]}}')
        if path == "/data/deep.json":
            return Answer(200, "application/json", f'{{"title": "Deep", "text": "{WORDS}", "links": ["/end"]}}')
        if path == "/end":
            return html(f"<title>End</title><p>{WORDS}</p>")
        if path == "/redirects-to-victim":
            return Answer(301, f"http://{self._victim}/redirected")
        if path in HOSTILE:
            return html(SHELL.format(HOSTILE[path].replace("{victim}", self._victim)))
        return NOT_FOUND


@pytest.fixture
def victim() -> Iterator[tuple[str, list[str]]]:
    with serving({}, place=f"{VICTIM}:0") as (place, asked):
        yield place, asked


def crawl(directory: Path, site: str, **browser: object) -> lycosa.Crawl:
    return lycosa.Crawl(
        "recreational cycling",
        seeds=[f"http://{site}/"],
        directory=directory,
        network={"allow": [f"{SITE}/32"]},
        politeness={"delay": 0.05, "fetch_time_factor": 0.0},
        browser=browser,
        stop={"expected_harvest": 0},
        budget={"pages": 40},
        readers={"count": 1},
    )


def outcomes(directory: Path) -> dict[str, tuple[str, str]]:
    """By path: kind and detail."""
    query = "select f.url, o.kind, o.detail from outcomes o join frontier f on f.id = o.link_id"
    with closing(sqlite3.connect(directory / "crawl.db")) as db:
        return {"/" + url.split("/", 3)[3]: (kind, detail) for url, kind, detail in db.execute(query)}


def test_without_a_browser_it_is_said_which_pages_need_one(tmp_path: Path) -> None:
    with serving(Site("127.0.0.1:9"), place=f"{SITE}:0") as (site, asked):
        running = crawl(tmp_path / "plain", site)
        report = running.run()
    with closing(sqlite3.connect(tmp_path / "plain" / "crawl.db")) as db:
        messages = [message for (message,) in db.execute("select message from events where kind = 'advice'")]
    count = 1 + len(HOSTILE)
    assert report.count == 1 + count
    assert any(f"pages of {site} need a browser: --browser" in message for message in messages)
    assert "/data/app.json" not in asked


@pytest.mark.slow
def test_with_a_browser_they_are_found_and_hostile_ones_survived(tmp_path: Path, victim: tuple[str, list[str]]) -> None:
    address, reached = victim
    with serving(Site(address), place=f"{SITE}:0") as (site, asked):
        report = crawl(tmp_path / "seen", site, is_on=True, seconds=5, settle=0.5, max_requests=20).run()
    found = outcomes(tmp_path / "seen")
    assert {"/", "/app", "/deep", "/end"} <= set(found), "links that exist only after scripts ran are followed"
    assert set(HOSTILE) <= set(found)
    assert reached == [], "nothing reaches an address that the guard refuses"
    assert "hangs" in found["/loop"][1]
    assert not any(path.startswith(("/posted", "/forbidden", "/popup")) for path in asked)
    assert asked.count("/bomb") <= 1, (
        "it is a link on the page, which the crawl may follow; the browser downloads nothing"
    )
    assert sum(path.startswith("/data/storm") for path in asked) == 20, "a page has no more requests than allowed"
    assert asked.count("/app") == 1, "a page that is rendered is not fetched again"

    rows = {row["url"]: row for row in report.rows("all")}
    app = rows[f"http://{site}/app"]
    assert "touring bicycles" in app["text"], "what is exported is the rendered page"
    kinds = []
    for path in sorted((tmp_path / "seen" / "archive").glob("*.warc.gz")):
        with path.open("rb") as file:
            heads = [(record.rec_type, record.rec_headers) for record in ArchiveIterator(file)]
        kinds += [(kind, (head.get_header("WARC-Target-URI") or "").rpartition(site)[2]) for kind, head in heads]
    assert kinds.count(("conversion", "/app")) == kinds.count(("response", "/app")) == 1
    assert ("response", "/data/app.json") in kinds
