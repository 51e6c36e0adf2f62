"""What a server can do to a crawler: faults by name.

A fault is requested by path (`/fault/slow/5` on any host) or assigned to a host or a directory in the server's settings
(`{"slow-host.test": "slow/5", "other.test/docs/": "500"}`). The name is followed by arguments. A fault gets the
`Exchange` and returns the response to send, or writes to the connection itself and returns None, after which the
connection is closed.
"""

from __future__ import annotations

import asyncio
import random
import zlib
from collections.abc import Awaitable, Callable, Mapping
from datetime import date, timedelta
from typing import Protocol

from lycosa.errors import ConfigError
from lycosa.lab.generated.web import HTML, TEXT, Rendered

MEGABYTE = 1 << 20
FOREVER = 3600.0
"""Longer than any client waits."""
FIRST_DAY = date(2024, 1, 1)


class Exchange(Protocol):
    """One request, and the way to answer it."""

    arguments: tuple[str, ...]

    def page(self) -> Rendered:
        """The response without the fault."""

    def count(self) -> int:
        """How often this has been called for this URL before."""

    async def send_head(self, status: int, *headers: tuple[str, str]) -> None: ...

    async def send(self, data: bytes) -> None:
        """Write and wait until everything is passed on; ConnectionError if the client has disconnected."""

    def reset(self) -> None:
        """Break the connection with a TCP reset."""


Fault = Callable[[Exchange], Awaitable[Rendered | None]]


def _argument(exchange: Exchange, place: int, default: float) -> float:
    return float(exchange.arguments[place]) if place < len(exchange.arguments) else default


def _redirect(location: str) -> Rendered:
    return Rendered(302, (*HTML, ("Location", location)), b"<p>Elsewhere.</p>\n")


def _html(body: str) -> Rendered:
    return Rendered(200, HTML, f"<!DOCTYPE html>\n<title>A fault</title>\n{body}\n".encode())


async def _send_length(exchange: Exchange, body: bytes, length: int) -> None:
    await exchange.send_head(200, *HTML, ("Content-Length", str(length)))
    await exchange.send(body)


async def slow(exchange: Exchange) -> Rendered | None:
    """slow/<seconds=2>: waits before it responds."""
    await asyncio.sleep(_argument(exchange, 0, 2.0))
    return exchange.page()


async def silent(_exchange: Exchange) -> Rendered | None:
    """silent: never responds."""
    await asyncio.sleep(FOREVER)
    return None


async def drip(exchange: Exchange) -> Rendered | None:
    """drip/<seconds=0.05>: sends the body a byte at a time."""
    pause, body = _argument(exchange, 0, 0.05), exchange.page().body
    await _send_length(exchange, b"", len(body))
    for place in range(len(body)):
        await exchange.send(body[place : place + 1])
        await asyncio.sleep(pause)
    return None


async def stall(exchange: Exchange) -> Rendered | None:
    """stall: sends half of the body, then nothing."""
    body = exchange.page().body
    await _send_length(exchange, body[: len(body) // 2], len(body))
    await asyncio.sleep(FOREVER)
    return None


async def reset(exchange: Exchange) -> Rendered | None:
    """reset: resets the connection in the middle of the body."""
    body = exchange.page().body
    await _send_length(exchange, body[: len(body) // 2], len(body))
    exchange.reset()
    return None


async def error_500(exchange: Exchange) -> Rendered | None:
    """500/<times=always>: an error, the given number of times."""
    if exchange.count() >= _argument(exchange, 0, float("inf")):
        return exchange.page()
    return Rendered(500, TEXT, b"out of order\n")


def _turn_away(status: int) -> Fault:
    async def turn_away(exchange: Exchange) -> Rendered | None:
        if exchange.count() >= _argument(exchange, 1, float("inf")):
            return exchange.page()
        seconds = f"{_argument(exchange, 0, 2.0):.0f}"
        return Rendered(status, (*TEXT, ("Retry-After", seconds)), b"come back later\n")

    turn_away.__doc__ = f"{status}/<seconds=2>/<times=always>: asks to come back later (Retry-After)."
    return turn_away


async def redirect_loop(exchange: Exchange) -> Rendered | None:
    """redirect-loop: two URLs that redirect to each other."""
    return _redirect(f"/fault/redirect-loop/{1 - int(_argument(exchange, 0, 0)) % 2}")


async def redirect_chain(exchange: Exchange) -> Rendered | None:
    """redirect-chain/<hops=10>: redirects in a row, then a page."""
    left = int(_argument(exchange, 0, 10))
    return _redirect(f"/fault/redirect-chain/{left - 1}") if left > 0 else _html("<p>The end of the chain.</p>")


async def redirect_private(exchange: Exchange) -> Rendered | None:
    """redirect-private/<address=169.254.169.254>: redirects to a private address."""
    return _redirect(f"http://{exchange.arguments[0] if exchange.arguments else '169.254.169.254'}/latest/")


async def redirect_file(_exchange: Exchange) -> Rendered | None:
    """redirect-file: redirects to a file on the client's machine."""
    return _redirect("file:///etc/passwd")


async def huge(exchange: Exchange) -> Rendered | None:
    """huge/<megabytes=64>: a body of that size."""
    megabytes = int(_argument(exchange, 0, 64))
    await _send_length(exchange, b"", megabytes * MEGABYTE)
    line = b"<p>more of the same</p>\n".ljust(64)
    for _ in range(megabytes):
        await exchange.send(line * (MEGABYTE // len(line)))
    return None


async def endless(exchange: Exchange) -> Rendered | None:
    """endless: a body that never ends."""
    await exchange.send_head(200, *HTML, ("Transfer-Encoding", "chunked"))
    line = b"<p>and on it goes</p>\n"
    while True:
        await exchange.send(b"%x\r\n%s\r\n" % (len(line) * 512, line * 512))


async def gzip_bomb(exchange: Exchange) -> Rendered | None:
    """gzip-bomb/<megabytes=100>: a small body that unpacks to that size."""
    megabytes = int(_argument(exchange, 0, 100))
    blank = b" " * MEGABYTE
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    # fully flushed blocks are independent: one packed megabyte can be repeated
    block = packer.compress(blank) + packer.flush(zlib.Z_FULL_FLUSH)
    header, last = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\xff", b"\x03\x00"
    length = len(header) + megabytes * len(block) + len(last) + 8
    encoding = ("Content-Encoding", "gzip")
    await exchange.send_head(200, *HTML, encoding, ("Content-Length", str(length)))
    await exchange.send(header)
    checksum = 0
    for _ in range(megabytes):
        checksum = zlib.crc32(blank, checksum)
        await exchange.send(block)
    size = megabytes * MEGABYTE % (1 << 32)
    await exchange.send(last + checksum.to_bytes(4, "little") + size.to_bytes(4, "little"))
    return None


async def wrong_length(exchange: Exchange) -> Rendered | None:
    """wrong-length: announces more bytes than it sends."""
    body = exchange.page().body
    await _send_length(exchange, body, len(body) + 1000)
    return None


async def wrong_charset(_exchange: Exchange) -> Rendered | None:
    """wrong-charset: the header says UTF-8, the page says Shift-JIS, but it is Windows-1251."""
    text = '<meta charset="shift_jis"><title>Велосипед</title><p>Прогулка на велосипеде вдоль реки.</p>\n'
    return Rendered(200, HTML, text.encode("cp1251"))


async def calendar(exchange: Exchange) -> Rendered | None:
    """calendar/<day>: a page for each day, with links to other days only."""
    try:
        day = date.fromisoformat(exchange.arguments[0])
    except (ValueError, IndexError):
        day = FIRST_DAY
    days = []
    for step in (1, 2, 7, 30, 365, -1):
        try:
            days.append(day + timedelta(days=step))
        except OverflowError:
            days.append(FIRST_DAY)
    links = " ".join(f'<a href="/calendar/{other}">{other}</a>' for other in days)
    return _html(f"<h1>{day}</h1>\n<p>Nothing happens on this day. {links}</p>")


async def giant_headers(exchange: Exchange) -> Rendered | None:
    """giant-headers/<kilobytes=256>: headers of that size."""
    count = int(_argument(exchange, 0, 256))
    page = exchange.page()
    return Rendered(200, page.headers + tuple((f"X-Filler-{n}", "x" * 1000) for n in range(count)), page.body)


async def garbage(exchange: Exchange) -> Rendered | None:
    """garbage: bytes that are not HTTP."""
    await exchange.send(random.Random(1).randbytes(4096))
    return None


async def garbage_body(_exchange: Exchange) -> Rendered | None:
    """garbage-body: random bytes with the content type of HTML."""
    return Rendered(200, HTML, random.Random(2).randbytes(16_384))


async def binary(_exchange: Exchange) -> Rendered | None:
    """binary: random bytes that look like a PDF."""
    return Rendered(200, (("Content-Type", "application/pdf"),), b"%PDF-1.7\n" + random.Random(3).randbytes(4096))


async def empty(_exchange: Exchange) -> Rendered | None:
    """empty: no body."""
    return Rendered(200, HTML, b"")


async def nesting(exchange: Exchange) -> Rendered | None:
    """nesting/<depth=20000>: deeply nested elements."""
    depth = int(_argument(exchange, 0, 20_000))
    return _html("<div>" * depth + '<a href="/fault/">down here</a>' + "</div>" * depth)


async def links(exchange: Exchange) -> Rendered | None:
    """links/<count=10000>: a page with that many links, all dead."""
    count = int(_argument(exchange, 0, 10_000))
    return _html("\n".join(f'<a href="/nowhere/{number}">link {number}</a>' for number in range(count)))


async def broken_html(_exchange: Exchange) -> Rendered | None:
    """broken-html: unclosed tags and attributes, undefined entities, but still a link."""
    return Rendered(
        200,
        HTML,
        b'<html><title>Broken<body><table><p <b>a &nosuch; &#x110000; <a href="/fault/">back</b></i><td><div class="'
        b"</title><!-- never closed <p>&lt;\x00\xff\xfe<script>if (a < b) {</p>",
    )


async def robots_500(_exchange: Exchange) -> Rendered | None:
    """robots-500: robots.txt answers with an error."""
    return Rendered(500, TEXT, b"out of order\n")


async def robots_slow(exchange: Exchange) -> Rendered | None:
    """robots-slow/<seconds=2>: waits before it sends robots.txt."""
    await asyncio.sleep(_argument(exchange, 0, 2.0))
    return exchange.page()


async def robots_redirect(exchange: Exchange) -> Rendered | None:
    """robots-redirect/<hops=1>: robots.txt redirects; the one it leads to disallows /closed/."""
    left = int(_argument(exchange, 0, 1))
    if left > 0:
        return _redirect(f"/fault/robots-redirect/{left - 1}")
    return Rendered(200, TEXT, b"User-agent: *\nDisallow: /closed/\n")


_NAMED = (
    slow, silent, drip, stall, reset, redirect_loop, redirect_chain, redirect_private, redirect_file, huge, endless,
    gzip_bomb, wrong_length, wrong_charset, calendar, giant_headers, garbage, garbage_body, binary, empty, nesting,
    links, broken_html, robots_500, robots_slow, robots_redirect,
)  # fmt: skip
FAULTS: Mapping[str, Fault] = {
    **{fault.__name__.replace("_", "-"): fault for fault in _NAMED},
    "500": error_500,
    "429": _turn_away(429),
    "503": _turn_away(503),
}


def index() -> Rendered:
    """The page with a link to every fault."""
    items = []
    for name, fault in FAULTS.items():
        text = (fault.__doc__ or "").replace("<", "&lt;")
        items.append(f'<li><a href="/fault/{name}/">{text}</a></li>')
    return _html(f"<ul>\n{chr(10).join(items)}\n</ul>")


class FaultTable:
    """Which fault applies to a request."""

    def __init__(self, assigned: Mapping[str, str]) -> None:
        """`assigned`: from host, `host/path` or `/path` to a fault with its arguments.

        A fault of a whole host does not apply to its robots.txt, unless its name begins with `robots-`: then it applies
        to nothing else.
        """
        self._assigned = dict(assigned)
        for place, fault in assigned.items():
            if fault.partition("/")[0] not in FAULTS:
                raise ConfigError(f"there is no fault {fault!r} (for {place}); there are {', '.join(FAULTS)}")

    @property
    def hosts(self) -> list[str]:
        return [host for host in (place.partition("/")[0] for place in self._assigned) if host]

    def find(self, host: str, path: str) -> str | None:
        """The fault and its arguments, as `name/argument/…`; an empty name is the index."""
        if path.startswith("/fault/"):
            return path.removeprefix("/fault/")
        if path.startswith("/calendar/"):
            return path.removeprefix("/")
        for place, fault in self._assigned.items():
            wanted, slash, prefix = place.partition("/")
            if wanted and wanted != host:
                continue
            if slash and path.startswith(f"/{prefix}"):
                return fault
            if not slash and fault.startswith("robots-") == (path == "/robots.txt"):
                return fault
        return None
