"""What a behaviour is: a host that does something, and what a good crawler makes of it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

DOMAIN = "test"
"""Every behaviour is a site of its own below it: a crawler may hold a site to account for all its hosts."""
TOKENS = ("lycosa", "scrapysuite")
"""Product tokens of the crawlers: rules for one crawler alone are written for each of them."""
VICTIM = "internal.victim.test"
"""A name that leads to loopback, as somebody's internal service has."""
SUBJECT = "recreational cycling"


@dataclass(frozen=True)
class Ask:
    """A request, as the server sees it."""

    host: str
    target: str
    """Path and query."""
    port: int
    """Port of the suite's server."""
    victim_port: int
    """Port of the server on 127.0.0.1 and ::1, which nobody should ask."""
    number: int
    """How often this host was asked for this target before."""

    @property
    def path(self) -> str:
        return self.target.partition("?")[0]

    @property
    def query(self) -> str:
        return self.target.partition("?")[2]

    def fill(self, text: str) -> str:
        """`{here}` is this host with its port, `{port}` the port, `{victim}` the port of the victim."""
        here = f"{self.host}:{self.port}"
        return text.replace("{here}", here).replace("{port}", str(self.port)).replace("{victim}", str(self.victim_port))


class Raw(NamedTuple):
    """Bytes as they go over the wire."""

    data: bytes
    keeps_alive: bool = False
    """Otherwise the connection is closed after them."""


Stream = AsyncIterator[bytes]
"""Bytes piece by piece; the connection is closed after the last."""
Answer = Raw | Stream
Maker = Callable[[Ask], Answer]
Served = Raw | str | Maker
"""A str is the body of an HTML page, in which `Ask.fill` has been at work."""


class Logged(NamedTuple):
    """A request that was answered, or whose client went away."""

    arrived: float
    ended: float
    """When the last bytes were passed on, by the same clock."""
    left: float
    """When the server was through with it, or the client had gone."""
    host: str
    address: str
    target: str
    headers: tuple[tuple[str, str], ...]
    sent: int
    """Bytes of the answer that the client took."""


class Kept(NamedTuple):
    """A page that the crawler kept."""

    url: str
    title: str
    text: str


@dataclass
class Seen:
    """What is known of one behaviour after a crawl."""

    asked: list[Logged]
    """All requests to its hosts, in the order in which they came."""
    kept: list[Kept]
    victim: list[str]
    """Targets that the victim was asked for; each behaviour leaves its name in them."""
    ended: str = ""
    """Why the crawler did not end in order; empty if it did."""

    @property
    def pages(self) -> list[str]:
        return [each.target for each in self.asked if each.target != "/robots.txt"]


Check = Callable[[Seen], str]
"""Empty, or what the crawler did wrong."""


@dataclass(frozen=True)
class Behaviour:
    name: str
    """Also the first label of its host."""
    does: str
    """What the server does."""
    good: str
    """What a good crawler does."""
    checks: tuple[Check, ...]
    pages: Mapping[str, Served] = field(default_factory=dict)
    """By path. `*` stands for all others; without it they are 404."""
    robots: Served | None = None
    """None: everything is allowed."""
    seeds: tuple[str, ...] = ("/",)
    is_quick: bool = False
    """Part of the selection that is tried in every test run."""
    left_to_the_spider: str = ""
    """Why the behaviour says nothing about a framework such as Scrapy, where that is the spider's business."""
    names: tuple[str, ...] = ()
    """Further hosts below its own, at the same address."""

    @property
    def host(self) -> str:
        return f"{self.name}.{DOMAIN}"

    @property
    def hosts(self) -> tuple[str, ...]:
        return (self.host, *(f"{name}.{self.host}" for name in self.names))


# ── what answers are made of ──────────────────────────────────────────────────────────────────────────────


def html(body: str, *, title: str = "A page") -> bytes:
    return f"<!DOCTYPE html><html><head><title>{title}</title></head><body>{body}</body></html>".encode()


def link(target: str, text: str = "further") -> str:
    return f'<a href="{target}">{text}</a>'


def prose(about: str) -> str:
    return f"<p>This page about {SUBJECT} is the one named {about}, and it was written for a test.</p>"


def response(
    body: bytes | str = b"",
    *headers: tuple[str, str],
    status: str = "200 OK",
    kind: str = "text/html; charset=utf-8",
    length: str | None = "",
    keeps_alive: bool = True,
) -> Raw:
    """An answer. `length`: what Content-Length says; None leaves it out, and empty is the truth."""
    data = html(body) if isinstance(body, str) else body
    lines = [f"HTTP/1.1 {status}"]
    if kind:
        lines.append(f"Content-Type: {kind}")
    if length is not None:
        lines.append(f"Content-Length: {length or len(data)}")
    lines += [f"{name}: {value}" for name, value in headers]
    head = "\r\n".join([*lines, "", ""]).encode("utf-8", "surrogateescape")
    return Raw(head + data, keeps_alive and length == "")


def page(about: str, *links: str) -> Raw:
    return response(prose(about) + " ".join(map(link, links)))


def moved(target: str, *, status: str = "302 Found") -> Maker:
    return lambda ask: response(b"", ("Location", ask.fill(target)), status=status)


def text(body: str | bytes, *headers: tuple[str, str], kind: str = "text/plain") -> Raw:
    return response(body.encode() if isinstance(body, str) else body, *headers, kind=kind)


def raw(data: bytes | str) -> Raw:
    return Raw(data.encode("latin-1") if isinstance(data, str) else data)


FINE = page("fine")
FAILURE = response("<p>out of order</p>", status="500 Internal Server Error")
MISSING = response("<p>no such page</p>", status="404 Not Found")
ALLOW = text("User-agent: *\nAllow: /\n")
