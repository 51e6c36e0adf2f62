"""Places without end."""

from __future__ import annotations

import asyncio
import hashlib
from datetime import date, timedelta
from random import Random

from hostile.suite.behaviour import Ask, Behaviour, Raw, Stream, html, link, page, response
from hostile.suite.checks import at_least, at_most

MOST = 600
"""Requests that a trap may cost, in a crawl that has time for several thousand."""
FIRST = date(2026, 1, 1)
WORDS = [
    "stone",
    "river",
    "lamp",
    "winter",
    "paper",
    "copper",
    "garden",
    "window",
    "signal",
    "harbour",
    "letter",
    "engine",
    "forest",
    "table",
    "bridge",
    "candle",
]
SUBDOMAINS = 400


def _number(text: str) -> int:
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=6).digest(), "big")


def _invented(seed: str) -> str:
    """A paragraph that no other page has, about nothing."""
    some = Random(seed)
    return f"<p>{' '.join(some.choices(WORDS, k=60))} {some.random()}</p>"


def _maze(ask: Ask) -> Raw:
    links = "".join(link(f"/{_number(f'{ask.target} {n}'):x}") for n in range(10))
    return response(html(_invented(ask.target) + links, title=f"{_number(ask.target):x}"))


def _deep_maze(ask: Ask) -> Raw:
    """The same, in ever new directories."""
    links = "".join(link(f"/{_number(f'{ask.target} {n}'):x}/{n}/page") for n in range(10))
    return response(html(_invented(ask.target) + links, title=f"{_number(ask.target):x}"))


def _calendar(ask: Ask) -> Raw:
    number = int(ask.path.rpartition("/")[2] or 0) if ask.path.rpartition("/")[2].isdigit() else 0
    day = FIRST + timedelta(days=number % 100_000)
    return response(html(f"<h1>{day:%d %B %Y}</h1><p>No events.</p>" + link(f"/day/{number + 1}") + link(f"/day/{number + 7}")
                         + link(f"/day/{number + 31}"), title="Calendar"))  # fmt: skip


def _soft_404(ask: Ask) -> Raw:
    """Every URL has a page, and it is always the same one."""
    links = "".join(link(f"/{_number(f'{ask.target} {n}'):x}") for n in range(10))
    return response("<p>Sorry, we did not find what you were looking for. Try the search, or go home.</p>" + links)


def _facets(ask: Ask) -> Raw:
    """A shop whose filters combine: the same articles under millions of URLs."""
    chosen = ask.path.strip("/").split("/") if ask.path != "/" else []
    links = "".join(link(f"/{'/'.join(sorted({*chosen, f'filter-{n}'}))}") for n in range(18))
    return response("<p>Twelve articles match what you have chosen, and here they all are.</p>" + links)


def _sessions(ask: Ask) -> Raw:
    links = "".join(link(f"/s{_number(f'{ask.target}{n}'):x}/article-{n}") for n in range(8))
    return response("<p>The articles of our shop, which never change.</p>" + links)


def _pagination(ask: Ask) -> Raw:
    number = int(ask.query.rpartition("=")[2] or 0) if ask.query.rpartition("=")[2].isdigit() else 0
    return response(
        "<p>There are no more articles in this list.</p>"
        + link(f"/list?page={number + 1}")
        + link(f"/list?page={number + 2}")
    )


def _subdomains(ask: Ask) -> Raw:
    links = "".join(
        link(
            f"http://n{_number(f'{ask.host}{ask.target}{n}') % SUBDOMAINS}.wildcard.test:{ask.port}/{_number(f'{ask.target}{n}'):x}"
        )
        for n in range(8)
    )
    return response(html(_invented(ask.host + ask.target) + links, title=f"{_number(ask.host + ask.target):x}"))


def _redirecting(ask: Ask) -> Raw:
    """Every other URL redirects to a new one."""
    if _number(ask.target) % 2:
        return response(b"", ("Location", f"/{_number(ask.target + 'r'):x}"), status="302 Found")
    return _maze(ask)


async def _tarpit(ask: Ask) -> Stream:
    """A maze that takes a second for every page."""
    body = _maze(ask).data
    yield body[:200]
    await asyncio.sleep(1.0)
    yield body[200:]


def _fair(ask: Ask) -> Raw:
    number = int(ask.path.strip("/") or 0) if ask.path.strip("/").isdigit() else 0
    return page(f"fair {number}", *(f"/{(number * 3 + step) % 60}" for step in range(1, 4)))


BEHAVIOURS = (
    Behaviour("calendar", "has a page for every day there will ever be", "loses interest", (at_most(MOST),), {"*": _calendar}),
    Behaviour("maze", "invents pages and links as they are asked for", "loses interest", (at_most(MOST),), {"*": _maze}),
    Behaviour("deep-maze", "does so in ever new directories", "loses interest", (at_most(MOST),), {"*": _deep_maze}),
    Behaviour("soft-404", "has the same page for every URL", "loses interest", (at_most(MOST // 2),), {"*": _soft_404}),
    Behaviour("facets", "has the same list under every combination of filters", "loses interest", (at_most(MOST // 2),), {"*": _facets}),
    Behaviour("session-maze", "has a new session in the path of every link", "loses interest", (at_most(MOST // 2),), {"*": _sessions}),
    Behaviour("pagination", "has a next page after the last", "loses interest", (at_most(MOST // 2),), {"*": _pagination}),
    Behaviour("redirect-maze", "redirects every other URL to a new one", "loses interest", (at_most(2 * MOST),), {"*": _redirecting}),
    Behaviour("wildcard", "invents pages on ever new subdomains", "takes them for one site, and loses interest",
              (at_most(3 * MOST),), {"*": _subdomains}, names=tuple(f"n{n}" for n in range(SUBDOMAINS))),
    Behaviour("tarpit", "invents pages, and takes a second for each", "loses no time on it", (at_most(MOST),), {"*": _tarpit}),
    Behaviour("fair", "is a fair site of sixty pages beside all these", "fetches all its pages", (at_least(60),), {"*": _fair}),
)  # fmt: skip
