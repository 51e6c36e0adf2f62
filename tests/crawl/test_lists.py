"""Feeds, sitemaps and documents that are elsewhere, in whole crawls on loopback."""

from __future__ import annotations

import gzip
import sqlite3
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import pytest

import lycosa

XML = "application/xml"
BOMB = '<!DOCTYPE x [<!ENTITY a "ha"><!ENTITY b "&a;&a;">]><rss><item><link>&b;</link></item></rss>'
HUGE = 2 << 30


def page(*links: str, text: str = "recreational cycling", head: str = "") -> tuple[str, bytes]:
    anchors = "".join(f'<a href="{link}">bicycles</a>' for link in links)
    return "text/html", f"<html><head>{head}</head><body><p>{text}</p>{anchors}</body></html>".encode()


def urlset(*urls: str) -> bytes:
    return f"<urlset>{''.join(f'<url><loc>{url}</loc></url>' for url in urls)}</urlset>".encode()


@pytest.fixture
def site():
    """A site whose pages can be set by path; a body of None goes on for two gigabytes."""
    answers: dict[str, tuple[str, bytes | None]] = {}
    asked: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            asked.append(self.path)
            kind, body = answers.get(self.path, ("", b""))
            self.send_response(200 if kind else 404)
            self.send_header("Content-Type", kind or "text/plain")
            if body is None:
                self.send_header("Connection", "close")
                self.end_headers()
                try:
                    for _ in range(HUGE >> 16):
                        self.wfile.write(b"<url>" * (65536 // 5))
                except OSError:
                    self.close_connection = True
                return
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://site.test:{server.server_port}", answers, asked
    server.shutdown()
    server.server_close()
    thread.join()


def crawled(place: str, directory, *paths: str, **settings) -> dict[str, tuple[str, str, str]]:
    """Kind, reason and detail of the last outcome by path."""
    config = {
        "network": {"allow": ["127.0.0.0/8"], "resolve": {"*.test": "127.0.0.1"}},
        "politeness": {"delay": 0.0, "fetch_time_factor": 0.0},
        "readers": {"count": 1},
        "judge": {"kind": "keywords"},
        "traps": {"is_on": False},
    }
    crawl = lycosa.Crawl(
        "recreational cycling",
        seeds=[place + path for path in paths],
        directory=directory,
        strategy="best-first",
        config=config,
        **settings,
    )
    crawl.run(pages=60)
    with sqlite3.connect(directory / "crawl.db") as db:
        found = db.execute("select url, o.kind, o.reason, o.detail from outcomes o join frontier f on f.id = link_id")
        return {url.removeprefix(place): (kind, reason, detail) for url, kind, reason, detail in found}


def test_lists_and_documents_that_are_elsewhere(site, tmp_path):
    place, answers, asked = site
    answers |= {
        "/": page("/feed", "/bomb.xml", "/moved", "/other.xml", "/amp", "/list/1"),
        "/feed": ("application/rss+xml", f"<rss><item><link>{place}/from-feed</link></item></rss>".encode()),
        "/from-feed": page(text="recreational cycling tours"),
        "/bomb.xml": ("text/xml", BOMB.encode()),
        "/other.xml": (XML, b"<svg/>"),
        "/moved": page(head='<meta http-equiv="refresh" content="0;url=/here">'),
        "/here": page(text="recreational cycling here"),
        "/amp": (
            "text/html",
            b'<html amp><head><link rel="canonical" href="/whole"></head><body>cycling</body></html>',
        ),
        "/whole": page(text="recreational cycling whole"),
        "/list/1": page(text="cycling one", head='<link rel="next" href="/list/2">'),
        "/list/2": page(text="cycling two"),
        "/sitemap_index.xml": (
            XML,
            f"<sitemapindex><sitemap><loc>{place}/packed.xml.gz</loc></sitemap><sitemap><loc>{place}/huge.xml</loc>"
            "</sitemap></sitemapindex>".encode(),
        ),
        "/packed.xml.gz": (
            "application/gzip",
            gzip.compress(urlset(f"{place}/from-sitemap", "http://elsewhere.test/x")),
        ),
        "/from-sitemap": page(text="recreational cycling map"),
        "/huge.xml": (XML, None),
    }
    outcomes = crawled(place, tmp_path / "crawl", "/", "/sitemap_index.xml")
    assert outcomes["/feed"] == ("listed", "feed", "1 links")
    assert outcomes["/sitemap_index.xml"] == ("listed", "sitemap index", "2 links")
    assert outcomes["/packed.xml.gz"][:2] == ("listed", "sitemap")
    assert outcomes["/huge.xml"][:2] == ("refused", "too large")
    assert outcomes["/bomb.xml"][:2] == ("unreadable", "feed")
    assert "document type" in outcomes["/bomb.xml"][2]
    assert outcomes["/other.xml"] == ("skipped", "content type", "application/xml")
    assert outcomes["/moved"] == ("redirected", "meta refresh", f"{place}/here")
    assert outcomes["/amp"] == ("redirected", "amp", f"{place}/whole")
    for path in ("/", "/from-feed", "/here", "/whole", "/list/2", "/from-sitemap"):
        assert outcomes[path][0] == "fetched", path
    with sqlite3.connect(tmp_path / "crawl" / "crawl.db") as db:
        assert db.execute("select count(*) from pages").fetchone() == (7,)  # lists are no pages
        scores = dict(db.execute("select url, score from frontier").fetchall())
    assert not [url for url in scores if "elsewhere" in url]  # a sitemap speaks for its own site
    assert scores[f"{place}/from-feed"] > 0.5  # all pages of the host were relevant
    assert asked.count("/sitemap_index.xml") == 1


@pytest.mark.parametrize("is_on", [True, False])
def test_hosts_that_proved_relevant_are_asked_for_their_sitemaps(site, tmp_path, is_on):
    place, answers, asked = site
    answers |= {
        "/robots.txt": ("text/plain", f"User-agent: *\nDisallow: /secret\nSitemap: {place}/map.xml\n".encode()),
        "/": page(*(f"/{number}" for number in range(8))),
        **{f"/{number}": page(text=f"recreational cycling {number}") for number in range(8)},
        "/map.xml": (XML, urlset(f"{place}/hidden", f"{place}/secret")),
        "/hidden": page(text="recreational cycling hidden"),
    }
    outcomes = crawled(place, tmp_path / "crawl", "/", lists={"sitemaps": is_on, "after": 3})
    assert ("/map.xml" in asked) is is_on
    assert ("/hidden" in outcomes) is is_on
    assert "/secret" not in asked
    assert "/sitemap.xml" not in asked


def test_a_canonical_page_is_one_page(site, tmp_path):
    """The texts differ in a word, so that their fingerprints are not equal."""
    place, answers, _ = site
    words = " ".join(f"recreational cycling word{number} and more" for number in range(40))
    head = f'<link rel="canonical" href="{place}/a">'
    answers |= {
        "/": page("/a", text="recreational cycling start"),
        "/a": page("/a/print", "/other", text=words, head=head),
        "/a/print": page(text=f"{words} printed", head=head),
        "/other": page(text="recreational cycling, and a wrong claim about quite other things", head=head),
    }
    crawled(place, tmp_path / "crawl", "/")
    with sqlite3.connect(tmp_path / "crawl" / "crawl.db") as db:
        rows = db.execute(
            "select f.url, d.url from pages p join frontier f on f.id = p.id "
            "left join frontier d on d.id = duplicate_of"
        ).fetchall()
    twins = {url.removeprefix(place): twin and twin.removeprefix(place) for url, twin in rows}
    assert twins == {"/": None, "/a": None, "/a/print": "/a", "/other": None}
