"""What a page asks for while it is rendered: scripts and data, each request under the rules of the crawl.

Only GET over http and https; of each host as its robots.txt allows, which is asked for where it is not known; through
the crawl's own HTTP client, so that guard, caps and deadlines hold; one request to a host at a time. Redirects are
followed here, each step under the same rules. Images, fonts and styles are fetched only if a replay is to look right:
no link comes of them. Media never are.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import replace
from weakref import WeakValueDictionary

from lycosa.fetch.decode import DecodeLimits, decode
from lycosa.fetch.headers import REDIRECTS, redirect_location
from lycosa.fetch.transfer import TransferFailure
from lycosa.fetch.urls import origin
from lycosa.model import Response

KINDS = frozenset({"script", "xhr", "fetch"})
"""What the browser calls that which can bring text or links."""
LOOKS = frozenset({"stylesheet", "image", "font"})
"""What it calls that which makes a page look right."""
OK = 200
MOST_KEPT = 32 << 20
"""Bytes of answers that are kept for other pages."""


class KeptAnswers:
    """Answers that several pages ask for, such as style sheets: fetched, and archived, once."""

    def __init__(self) -> None:
        self._answers: dict[str, Response] = {}
        self._bytes = 0

    def get(self, url: str) -> Response | None:
        return self._answers.get(url)

    def put(self, answer: Response) -> None:
        """The oldest make room."""
        if answer.url in self._answers or len(answer.body) > MOST_KEPT:
            return
        self._answers[answer.url] = answer
        self._bytes += len(answer.body)
        while self._bytes > MOST_KEPT:
            self._bytes -= len(self._answers.pop(next(iter(self._answers))).body)


Turns = WeakValueDictionary[str, asyncio.Lock]
"""By origin, while somebody asks it or waits to."""
Get = Callable[[str], Awaitable[Response | TransferFailure]]


class Requisites:
    """Serves the requests of one page."""

    def __init__(
        self,
        *,
        get: Get,
        allows: Callable[[str], Awaitable[bool]],
        max_requests: int,
        max_bytes: int,
        max_redirects: int,
        kinds: frozenset[str] = KINDS,
        kept: KeptAnswers | None = None,
        turns: Turns | None = None,
    ) -> None:
        """`allows`: whether robots.txt lets a URL be fetched. `kinds`: what is fetched at all; `kept`: answers to other
        pages, which serve this one, too; `turns`: whose turn it is to ask a host, shared by pages that are rendered at
        the same time."""
        self._kinds = kinds
        self._kept = kept
        self._get = get
        self._allows = allows
        self._max_requests = max_requests
        self._bytes_left = max_bytes
        self._max_redirects = max_redirects
        self._turns = Turns() if turns is None else turns
        self.fetched: list[Response] = []
        """As they came over the wire."""
        self.requests = 0
        self.refused: Counter[str] = Counter()
        """Number of requests that were not sent or not answered, by reason."""

    async def answer(self, url: str, *, method: str, kind: str) -> Response | str:
        """The answer, without its content encoding; or why there is none."""
        got = await self._answer(url, method, kind)
        if isinstance(got, str):
            self.refused[got] += 1
        return got

    async def _answer(self, url: str, method: str, kind: str) -> Response | str:
        if kind not in self._kinds:
            return "kind"
        if method != "GET":
            return "method"
        for _ in range(self._max_redirects + 1):
            got = await self._one(url.partition("#")[0])
            if isinstance(got, str) or got.status not in REDIRECTS or not (target := redirect_location(got)):
                return got
            url = target
        return "too many redirects"

    async def _one(self, url: str) -> Response | str:
        if not url.startswith(("http://", "https://")):
            return "scheme"
        turn = self._turns.setdefault(origin(url), asyncio.Lock())
        async with turn:
            if self._kept is not None and (known := self._kept.get(url)) is not None:
                return known
            if self.requests >= self._max_requests:
                return "too many requests"
            if self._bytes_left <= 0:
                return "too large"
            if not await self._allows(url):
                return "robots"
            self.requests += 1
            got = await self._get(url)
            if isinstance(got, TransferFailure):
                return got.reason
            limits = DecodeLimits(max_bytes=self._bytes_left)
            self._bytes_left -= len(got.body)
            self.fetched.append(got)
        decoded = decode(got.body, got.header("content-encoding"), limits=limits)
        if decoded.reason:
            return decoded.reason
        answer = replace(got, body=decoded.body)
        if self._kept is not None and got.status == OK:
            self._kept.put(answer)
        return answer
