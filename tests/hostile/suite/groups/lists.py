"""Feeds and sitemaps."""

from __future__ import annotations

import gzip

from hostile.suite.behaviour import Behaviour, Check, Served, link, page, prose, response
from hostile.suite.checks import asked, at_most, gave_up_within, kept, not_asked, nowhere, victim_left_alone

SPIDER = "feeds and sitemaps are left to the spider"
XML = "application/xml"
RSS = "application/rss+xml"
STILL = kept("/fine", about="named fine")


def _sitemap(*urls: str) -> str:
    return (
        '<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">'
        + "".join(f"<url><loc>{url}</loc></url>" for url in urls)
        + "</urlset>"
    )


def _feed(*urls: str) -> str:
    items = "".join(f"<item><title>An item</title><link>{url}</link></item>" for url in urls)
    return f'<rss version="2.0"><channel><title>News</title>{items}</channel></rss>'


def _index(*urls: str) -> str:
    return "<sitemapindex>" + "".join(f"<sitemap><loc>{url}</loc></sitemap>" for url in urls) + "</sitemapindex>"


def _list(
    name: str,
    does: str,
    good: str,
    body: str,
    *checks: Check,
    kind: str = XML,
    is_quick: bool = False,
    more: dict[str, Served] | None = None,
) -> Behaviour:
    served: Served = lambda ask: response(ask.fill(body).encode(), kind=kind)  # noqa: E731 - a value of a table
    pages: dict[str, Served] = {
        "/": prose("home") + link("/list.xml") + link("/fine"), "/list.xml": served, "/fine": page("fine"), "/a": page("a"),
        **(more or {}),
    }  # fmt: skip
    return Behaviour(name, does, good, (*checks, STILL), pages, is_quick=is_quick, left_to_the_spider=SPIDER)


LAUGHS = "".join(f'<!ENTITY {chr(98 + n)} "{f"&{chr(97 + n)};" * 10}">' for n in range(9))
HERE = "http://{here}"
BEHAVIOURS = (
    _list("sitemap", "has a sitemap", "follows it", _sitemap(HERE + "/a"), asked("/a"), is_quick=True),
    _list("feed", "has a feed", "follows it", _feed(HERE + "/a"), asked("/a"), kind=RSS),
    _list("sitemap-bomb", "has entities that multiply in a sitemap", "refuses it",
          f'<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa">{LAUGHS}]>' + _sitemap("&j;"), at_most(8), is_quick=True),
    _list("sitemap-external", "asks for a file by an entity in a sitemap", "does not read it",
          '<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]>' + _sitemap(HERE + "/a?&a;"), nowhere("root:"), not_asked("/a?")),
    _list("sitemap-external-url", "asks a loopback address by an entity in a sitemap", "does not ask there",
          '<!DOCTYPE x SYSTEM "http://127.0.0.1:{victim}/sitemap-external-url">' + _sitemap(HERE + "/a"), victim_left_alone),
    _list("sitemap-foreign", "lists URLs of other sites", "leaves them alone",
          _sitemap(HERE + "/a", "http://127.0.0.1:{victim}/sitemap-foreign", "http://elsewhere.example/"), asked("/a"), victim_left_alone),
    _list("sitemap-loop", "has an index that lists itself", "does not run in circles", _index(HERE + "/list.xml", HERE + "/list.xml?1"), at_most(12)),
    _list("sitemap-huge", "lists 200,000 URLs", "takes a part of them", _sitemap(*(f"{HERE}/s/{n}" for n in range(200_000)))),
    _list("sitemap-cut", "breaks off within a sitemap", "takes what is there", _sitemap(HERE + "/a", HERE + "/b")[:-40], asked("/a")),
    _list("sitemap-deep", "nests 100,000 elements", "survives", "<urlset>" + "<url>" * 100_000, gave_up_within(25)),
    _list("sitemap-odd", "lists javascript:, file: and URLs of 100 KB", "follows none of them",
          _sitemap("javascript:alert(1)", "file:///etc/passwd", HERE + "/" + "x" * 100_000, HERE + "/a"), asked("/a"), not_asked("/xxx"), nowhere("root:")),
    _list("sitemap-html", "has a sitemap that is an HTML page", "survives", "<html><body>nothing here</body></html>", at_most(8)),
    _list("feed-odd", "has a feed with javascript: and relative links", "follows the latter", _feed("javascript:alert(1)", "/a"), asked("/a"), kind=RSS),
    _list("feed-loopback", "has a feed that links to a loopback address", "does not ask there",
          _feed("http://127.0.0.1:{victim}/feed-loopback", HERE + "/a"), asked("/a"), victim_left_alone, kind=RSS),
    Behaviour("sitemap-gzip-bomb", "has a sitemap that unpacks to 120 MB", "refuses it", (STILL, at_most(12)),
              {"/": prose("home") + link("/index.xml") + link("/fine"), "/fine": page("fine"),
               "/index.xml": lambda ask: response(ask.fill(_index(HERE + "/list.xml.gz")).encode(), kind=XML),
               "/list.xml.gz": lambda _: response(gzip.compress(b"<urlset>" + b" " * 120_000_000, 1), kind="application/gzip")},
              left_to_the_spider=SPIDER),
)  # fmt: skip
