"""How robots.txt is asked for, one step at a time.

A robots.txt may redirect (RFC 9309, 2.3.1.2). Within its host, redirects are followed at once, with a rest between two
requests: the host and its address are leased to us meanwhile. A redirect to another host must not cost that host more
than any visitor would, however many hosts point there:

    1. the redirect is remembered, and the link that needs the rules waits again;
    2. the next lease moves the waiting host to the address of the other one, so that the frontier keeps that address's
       clock and slots for it;
    3. the lease after that sends the request, unless the other host's robots.txt is known by then.

It is followed only to the robots.txt of the other host, whose answer is kept for both. Anything else there is a page,
to which its own robots.txt applies: a redirect to it counts as no answer.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple
from urllib.parse import urlsplit

from lycosa.fetch.decode import DecodeLimits, decode
from lycosa.fetch.dns import Resolver
from lycosa.fetch.headers import REDIRECTS, redirect_location, retry_after
from lycosa.fetch.http import Http
from lycosa.fetch.robots import Robots, RobotsFile, RobotsSettings, interpret
from lycosa.fetch.transfer import ADDRESS_REFUSED, TransferFailure
from lycosa.fetch.urls import Urls, origin
from lycosa.lib.clock import Clock
from lycosa.model import Response

ROBOTS_PATH = "/robots.txt"


class RobotsStep(NamedTuple):
    """What came of one step."""

    file: RobotsFile | None = None
    """What is known about robots.txt now; None if another step has to follow."""
    refused: TransferFailure | None = None
    """The guard refuses the host itself: nothing was sent."""
    address: str = ""
    """Address that the next step has to wait for, if it is another one than the host's."""
    is_contact: bool = False
    retry_after: float = 0.0
    """Seconds for which the server asked us to stay away."""


class _Answer(NamedTuple):
    """What a server said when it was asked for a robots.txt."""

    status: int = 0
    body: bytes = b""
    failure: str = ""
    moved_to: str = ""
    """The robots.txt of another host, to which this one redirects."""
    retry_after: float = 0.0
    refused: TransferFailure | None = None


@dataclass(frozen=True, slots=True)
class _Elsewhere:
    url: str
    redirects: int
    status: int
    """Of the redirect: the origin itself has answered, whatever the other host says."""


class RobotsRequests:
    """Asks for the robots.txt of origins. What it learns about other origins on the way goes to `learn`."""

    def __init__(
        self,
        *,
        http: Http,
        resolver: Resolver,
        urls: Urls,
        settings: RobotsSettings,
        max_redirects: int,
        pause: float,
        clock: Clock,
        known: Callable[[str], Robots | None],
        learn: Callable[[RobotsFile], object],
    ) -> None:
        self._http = http
        self._resolver = resolver
        self._urls = urls
        self._settings = settings
        self._max_redirects = max_redirects
        self._pause = pause
        self._clock = clock
        self._known = known
        self._learn = learn
        self._elsewhere: dict[str, _Elsewhere] = {}
        """By origin: where its robots.txt is, as it said, and has not been asked for yet."""

    def is_elsewhere(self, place: str) -> bool:
        """Whether the next step leads to another host."""
        return place in self._elsewhere

    async def ask(self, place: str, previous: RobotsFile | None, address: str) -> RobotsStep:
        """Ask the origin itself. `address`: whose turn it is."""
        answer = await self._ask(place + ROBOTS_PATH, 0, address)
        if answer.refused is not None:
            return RobotsStep(refused=answer.refused)
        if answer.moved_to:
            return RobotsStep(self._move(place, answer, 0, previous), is_contact=True)
        file = self._interpreted(place, answer, previous)
        return RobotsStep(file, is_contact=True, retry_after=answer.retry_after)

    async def ask_elsewhere(self, place: str, previous: RobotsFile | None, address: str) -> RobotsStep:
        """Ask the host to which the origin has redirected. `address`: whose turn it is."""
        hop = self._elsewhere[place]
        there = origin(hop.url)
        known = self._known(there)
        if known is not None and known.file.expires_at > self._clock.now():
            del self._elsewhere[place]
            return RobotsStep(_as_own(place, known.file, previous, self._settings))
        parts = urlsplit(hop.url)
        port = parts.port or (443 if parts.scheme == "https" else 80)
        found = await self._resolver.resolve(parts.hostname or "", port)
        if found.addresses and address not in found.addresses:
            return RobotsStep(address=found.addresses[0])
        del self._elsewhere[place]
        if not found.addresses:
            answer = _Answer(hop.status, failure=f"dns {found.failure}")
            return RobotsStep(self._interpreted(place, answer, previous))
        answer = await self._ask(hop.url, hop.redirects, address)
        if answer.refused is not None:
            answer = _Answer(hop.status, failure=f"{answer.refused.reason} {answer.refused.detail}")
            return RobotsStep(self._interpreted(place, answer, previous), address=address)
        if answer.moved_to:
            file = self._move(place, answer, hop.redirects, previous)
            return RobotsStep(file, address=address, is_contact=True)
        self._learn(self._interpreted(there, answer, known.file if known else None))
        file = self._interpreted(place, answer._replace(status=answer.status or hop.status), previous)
        return RobotsStep(file, address=address, is_contact=True, retry_after=answer.retry_after)

    def _move(self, place: str, answer: _Answer, redirects: int, previous: RobotsFile | None) -> RobotsFile | None:
        """Remember where robots.txt is; if it has moved too often, what that means."""
        if redirects >= self._max_redirects:
            return self._interpreted(place, answer._replace(failure="too many redirects"), previous)
        self._elsewhere[place] = _Elsewhere(answer.moved_to, redirects + 1, answer.status)
        return None

    async def _ask(self, url: str, redirects: int, address: str) -> _Answer:
        """Request a robots.txt; redirects within its host are followed."""
        settings = self._settings
        for hop in range(self._max_redirects + 1 - redirects):
            if hop:
                await self._clock.sleep(self._pause)
            response = await self._http.get(url, chop=settings.max_bytes, address=address)
            if isinstance(response, TransferFailure):
                if response.reason == ADDRESS_REFUSED and not hop:
                    return _Answer(refused=response)
                return _Answer(failure=f"{response.reason} {response.detail}".strip())
            status = response.status
            target = redirect_location(response) if status in REDIRECTS else ""
            if not target:
                body, failure = _robots_body(response, settings.max_bytes)
                wait = retry_after(response.header("retry-after"), now=response.ended)
                return _Answer(status, body, failure, retry_after=0.0 if 200 <= status < 300 else wait)
            # It need only be a valid URL: the rules about which pages are wanted do not apply.
            before, (url, _) = url, self._urls.canonical(target)
            if not url:
                return _Answer(status, failure="redirect to nowhere")
            if urlsplit(url).hostname != urlsplit(before).hostname:
                if url != origin(url) + ROBOTS_PATH:
                    return _Answer(status, failure=f"redirects to a page of another host: {url[:100]}")
                return _Answer(status, moved_to=url)
        return _Answer(status, failure="too many redirects")

    def _interpreted(self, place: str, answer: _Answer, previous: RobotsFile | None) -> RobotsFile:
        return interpret(
            place,
            answer.status,
            answer.body,
            now=self._clock.now(),
            failure=answer.failure,
            retry_after=answer.retry_after,
            previous=previous,
            policy=self._settings,
        )


def _as_own(place: str, file: RobotsFile, previous: RobotsFile | None, policy: RobotsSettings) -> RobotsFile:
    """The robots.txt of another origin, to which this one has redirected."""
    if file.failure or not (200 <= file.status < 500) or file.status == 429:
        # Rules that this origin had before apply longer than what the other one cannot say.
        own = interpret(
            place, file.status, b"", now=file.fetched_at, failure=file.failure, previous=previous, policy=policy
        )
        return replace(own, expires_at=file.expires_at)
    return replace(file, origin=place)


def _robots_body(answer: Response, max_bytes: int) -> tuple[bytes, str]:
    """The rules, and why they cannot be read: an unreadable file must not count as permission."""
    if not 200 <= answer.status < 300:
        return b"", ""
    decoded = decode(answer.body, answer.header("content-encoding"), limits=DecodeLimits(max_bytes=4 * max_bytes))
    if decoded.reason:
        return b"", f"{decoded.reason} {decoded.detail}".strip()
    # What we have cut off ourselves is long enough; whatever else is missing may be the rule that matters.
    is_cut_by_us = answer.is_chopped and len(decoded.body) >= max_bytes
    if decoded.is_truncated and not is_cut_by_us:
        return b"", "broken off within its content encoding"
    return decoded.body, ""
