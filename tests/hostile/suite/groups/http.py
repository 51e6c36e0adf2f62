"""What a server can do with HTTP."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

from hostile.suite.behaviour import (
    FAILURE,
    FINE,
    Ask,
    Behaviour,
    Check,
    Raw,
    Served,
    Stream,
    html,
    page,
    prose,
    raw,
    response,
)
from hostile.suite.checks import (
    asked,
    at_most,
    gave_up_within,
    kept,
    not_kept,
    nowhere,
    rests,
    small_requests,
    took_at_most,
)

HEAD = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"
BODY = html(prose("odd"))
STILL = kept("/fine", about="named fine")
"""The other page of the host still arrives."""
MOST = 24_000_000


def _odd(
    name: str, does: str, good: str, served: Served, *checks: Check, is_quick: bool = False, tries: int = 8
) -> Behaviour:
    pages = {"/": served, "/fine": FINE}
    return Behaviour(
        name, does, good, (*checks, STILL, at_most(tries, of="/")), pages, seeds=("/", "/fine"), is_quick=is_quick
    )


def _endless(head: str, piece: bytes, *, most: int = 64_000_000, pause: float = 0.0) -> Callable[[Ask], Stream]:
    """Pieces without end, as far as a crawler can tell."""

    async def stream(_: Ask) -> Stream:
        yield head.encode()
        sent = 0
        while sent < most:
            yield piece
            sent += len(piece)
            if pause:
                await asyncio.sleep(pause)

    return stream


async def _silence(_: Ask) -> Stream:
    await asyncio.sleep(3600)
    yield b""


def _turned_away(value: str, *, times: int, status: str = "429 Too Many Requests") -> Served:
    def answer(ask: Ask) -> Raw:
        return response(b"", ("Retry-After", value), status=status) if ask.number < times else page("later")

    return answer


def _in_two_seconds(ask: Ask) -> Raw:
    at = format_datetime((datetime.now(UTC) + timedelta(seconds=3)).replace(microsecond=0), usegmt=True)
    return _turned_away(at, times=1)(ask)  # type: ignore[operator]


def _cookie_wall(ask: Ask) -> Raw:
    """Every page sets forty cookies of 4 KB."""
    cookies = [("Set-Cookie", f"c{ask.number}-{n}={'x' * 4000}; Path=/") for n in range(40)]
    return response(prose("odd") + '<a href="/fine">further</a><a href="/more">more</a>', *cookies)


BEHAVIOURS = (
    _odd("length-too-long", "promises more bytes than it sends", "does not take the page for whole",
         response(BODY, length=str(len(BODY) + 900)), not_kept("/"), is_quick=True),
    _odd("length-too-short", "sends more bytes than it promises", "takes what was promised, and no answer from the rest",
         Raw(response(BODY).data + b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil"), nowhere("evil"), is_quick=True),
    _odd("length-twice", "gives two different lengths", "refuses the answer",
         raw(HEAD.encode() + b"Content-Length: 9\r\nContent-Length: 20\r\n\r\n" + BODY), not_kept("/")),
    _odd("length-negative", "gives a negative length", "survives", raw(HEAD.encode() + b"Content-Length: -1\r\n\r\n" + BODY)),
    _odd("length-endless", "promises 9 exabytes", "refuses or gives up",
         raw(HEAD.encode() + b"Content-Length: 9223372036854775807\r\n\r\n" + BODY), not_kept("/")),
    _odd("length-word", "gives a word for the length", "survives",
         raw(HEAD.encode() + b"Content-Length: many\r\n\r\n" + BODY)),
    _odd("chunked", "sends chunks with extensions and a trailer", "keeps the page",
         raw(HEAD.encode() + b"Transfer-Encoding: chunked\r\n\r\n%x;a=b\r\n%s\r\n0\r\nX-Trailer: 1\r\n\r\n" % (len(BODY), BODY)),
         kept("/", about="named odd"), is_quick=True),
    _odd("chunked-garbage", "gives garbage for the size of a chunk", "refuses the answer",
         raw(HEAD.encode() + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n" + BODY), not_kept("/"), is_quick=True),
    _odd("chunked-negative", "gives a negative size of a chunk", "refuses the answer",
         raw(HEAD.encode() + b"Transfer-Encoding: chunked\r\n\r\n-5\r\n" + BODY), not_kept("/")),
    _odd("chunked-huge", "gives a chunk of 2^64 bytes", "refuses or gives up",
         raw(HEAD.encode() + b"Transfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\n" + BODY), not_kept("/")),
    _odd("chunked-cut", "breaks off between two chunks", "does not take the page for whole",
         raw(HEAD.encode() + b"Transfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n" % (len(BODY), BODY)), not_kept("/")),
    _odd("chunked-and-length", "gives a length and chunks", "takes no part of it for another answer",
         raw(HEAD.encode() + b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n0\r\n\r\n" % (len(BODY), BODY)),
         nowhere("evil")),
    _odd("trailer-flood", "sends trailers without end", "gives up",
         _endless(HEAD + "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n", b"X-Flood: yes\r\n" * 700),
         took_at_most(MOST), gave_up_within(25)),
    _odd("header-flood", "sends header lines without end", "gives up",
         _endless(HEAD, b"X-Flood: yes\r\n" * 700), took_at_most(MOST), gave_up_within(25), is_quick=True),
    _odd("header-long", "sends one header without end", "gives up",
         _endless(HEAD + "X-Long: ", b"x" * 10_000), took_at_most(MOST), gave_up_within(25)),
    _odd("header-nul", "puts NUL bytes into a header", "survives", raw(HEAD.encode() + b"X-Odd: a\0b\r\nContent-Length: %d\r\n\r\n%s" % (len(BODY), BODY))),
    _odd("header-no-colon", "sends a header line without a colon", "survives",
         raw(HEAD.encode() + b"nonsense\r\nContent-Length: %d\r\n\r\n%s" % (len(BODY), BODY))),
    _odd("header-folded", "folds a header over lines", "survives",
         raw(HEAD.encode() + b"X-Folded: one\r\n two\r\nContent-Length: %d\r\n\r\n%s" % (len(BODY), BODY))),
    _odd("header-latin", "sends header values in Latin-1 and control characters", "keeps the page",
         raw(HEAD.encode() + b"X-Odd: caf\xe9 \x01\x02\r\nContent-Length: %d\r\n\r\n%s" % (len(BODY), BODY)), kept("/")),
    _odd("head-lf", "ends header lines in LF alone", "keeps the page",
         raw((HEAD + "\r\n").replace("\r\n", "\n").encode() + BODY), kept("/")),
    _odd("second-answer", "sends a second answer after the first, unasked", "never takes it for an answer",
         Raw(response(BODY).data + response(html("evil words")).data, keeps_alive=True), nowhere("evil"), is_quick=True),
    _odd("early-hints", "sends 103 and 100 before the answer", "keeps the page",
         Raw(b"HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n" + response(BODY).data, keeps_alive=True),
         kept("/", about="named odd"), is_quick=True),
    _odd("hint-storm", "sends 1xx answers without end", "gives up",
         _endless("", b"HTTP/1.1 103 Early Hints\r\n\r\n" * 300), took_at_most(MOST), gave_up_within(25)),
    _odd("switching", "answers 101: another protocol", "keeps no page",
         raw("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n\x81\x05hello"), not_kept("/")),
    _odd("slow-head", "sends its head a byte at a time", "gives up", _endless("", b"H", pause=0.3), gave_up_within(25)),
    _odd("slow-body", "sends its body a byte at a time", "gives up",
         _endless(HEAD + "\r\n", b"<", pause=0.3), gave_up_within(25)),
    _odd("silent", "never answers", "gives up", _silence, gave_up_within(25)),
    _odd("endless-body", "sends a body without end", "takes some megabytes at most",
         _endless(HEAD + "\r\n", b"<p>more of the same</p>\n" * 2000), took_at_most(MOST), is_quick=True),
    _odd("endless-chunks", "sends chunks without end", "takes some megabytes at most",
         _endless(HEAD + "Transfer-Encoding: chunked\r\n\r\n", b"c000\r\n" + b"<p>" * 16384 + b"\r\n"), took_at_most(MOST)),
    _odd("no-head", "answers without a head (HTTP/0.9)", "keeps no page", raw(BODY), not_kept("/"), is_quick=True),
    _odd("status-word", "gives a word for the status", "keeps no page",
         raw(b"HTTP/1.1 abc OK\r\nContent-Type: text/html\r\n\r\n" + BODY), not_kept("/")),
    _odd("status-999", "answers 999", "keeps no page", response(BODY, status="999 Odd"), not_kept("/")),
    _odd("version-9", "speaks HTTP/9.9", "survives", raw(response(BODY).data.replace(b"HTTP/1.1", b"HTTP/9.9"))),
    _odd("noise", "answers with random bytes", "keeps no page", Raw(os.urandom(20_000)), not_kept("/")),
    _odd("empty", "closes the connection without a word", "survives", Raw(b""), not_kept("/")),
    _odd("no-content", "answers 204", "keeps no page", Raw(b"HTTP/1.1 204 No Content\r\n\r\n", keeps_alive=True), not_kept("/")),
    _odd("reset-content", "answers 205", "keeps no page",
         Raw(b"HTTP/1.1 205 Reset Content\r\nContent-Length: 0\r\n\r\n", keeps_alive=True), not_kept("/")),
    _odd("part-unasked", "answers 206 though nobody asked for a part", "does not take the part for a page",
         response(BODY, ("Content-Range", f"bytes 0-{len(BODY) - 1}/99999"), status="206 Partial Content"), not_kept("/"), is_quick=True),
    _odd("not-modified-unasked", "answers 304 though nobody asked", "keeps no page",
         Raw(b"HTTP/1.1 304 Not Modified\r\n\r\n", keeps_alive=True), not_kept("/")),
    _odd("choices", "answers 300 without a Location", "keeps no page", response(BODY, status="300 Multiple Choices"), not_kept("/")),
    _odd("moved-nowhere", "answers 301 without a Location", "keeps no page", response(BODY, status="301 Moved Permanently"), not_kept("/")),
    _odd("unauthorized", "answers 401", "keeps no page, and does not try again and again",
         response(BODY, ("WWW-Authenticate", "Basic realm=x"), status="401 Unauthorized"), not_kept("/"), tries=4),
    _odd("teapot", "answers 418 with a page", "keeps no page", response(BODY, status="418 I'm a teapot"), not_kept("/"), tries=4),
    _odd("always-500", "answers 500 for ever", "tries a few times", FAILURE, not_kept("/"), is_quick=True),
    Behaviour("once-500", "answers 500 once", "tries again", (kept("/", about="named again"),),
              {"/": lambda ask: page("again") if ask.number else FAILURE}),
    _odd("cut-always", "breaks off every time", "tries a few times", response(BODY[:50], length="9999"), not_kept("/")),
    Behaviour("retry-after", "answers 429 with Retry-After: 2", "waits two seconds",
              (rests(2.0, after="/later"), asked("/later")),
              {"/later": _turned_away("2", times=1)}, seeds=("/later",), is_quick=True),
    Behaviour("retry-after-date", "answers 503 with Retry-After and a date", "waits until then",
              (rests(1.9, after="/later"), asked("/later")), {"/later": _in_two_seconds}, seeds=("/later",)),
    Behaviour("retry-after-year", "asks to come back in a year", "does not come back", (at_most(2),),
              {"/later": _turned_away("31536000", times=99)}, seeds=("/later",)),
    Behaviour("retry-after-odd", "gives “soon” and -5 for Retry-After", "tries a few times", (at_most(8), asked("/later")),
              {"/later": _turned_away("soon", times=1), "/b": _turned_away("-5", times=99)}, seeds=("/later", "/b")),
    _odd("image", "says that its page is a picture", "does not read it as a page", response(BODY, kind="image/png"), not_kept("/")),
    _odd("binary", "says that binary noise is HTML", "survives", response(bytes(range(256)) * 200)),
    _odd("cookie-flood", "sets forty cookies of 4 KB", "does not send them all back", _cookie_wall, small_requests, tries=9),
)  # fmt: skip
