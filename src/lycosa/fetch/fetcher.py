"""Live fetching: from a lease to the answer of the web.

    cache → name → robots.txt → permission → request → classification of the answer

A page that is to be fetched again is not taken from the cache: the request says which version is known (`conditions`).

Each step that contacts a host is a visit of its own: a lease on an unknown host comes back as `deferred` once its name
is resolved (so that the frontier can space out hosts that share an address), and again once its robots.txt has been
fetched (so that the delay between two requests applies to that one, too). Redirects are not followed here: the target
joins the frontier as a link, subject to URL rules, robots.txt, guard and politeness like any other.
"""

from __future__ import annotations

import email.utils
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import urljoin, urlsplit

from lycosa.fetch.cache import PageCache
from lycosa.fetch.conditions import conditions
from lycosa.fetch.decode import DecodeLimits, decode
from lycosa.fetch.dns import Resolver
from lycosa.fetch.http import Http
from lycosa.fetch.robots import Robots, RobotsFile, RobotsSettings, RobotsState, interpret
from lycosa.fetch.transfer import TransferFailure
from lycosa.fetch.urls import Urls, origin
from lycosa.lib.bounds import require_at_least
from lycosa.lib.clock import Clock
from lycosa.model import Fetched, Kind, Lease, Outcome, Response

REDIRECTS = frozenset({301, 302, 303, 307, 308})
NOT_MODIFIED = 304
TRANSIENT = frozenset({408, 425, 429})
ROBOTS_UNREACHABLE = "robots.txt unreachable"
HTTPS_UNREACHABLE = "https unreachable"
"""Reason why a URL given without a scheme is continued as http."""
ADDRESS_REFUSED = "address refused"
"""Reason given by `Http` if the guard refuses: no request was sent."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchSettings:
    """What is requested and kept."""

    content_types: tuple[str, ...] = ("text/html", "application/xhtml+xml", "text/plain")
    """Media types that are kept. Of other documents only the outcome is recorded."""
    chop: int = 0
    """Number of bytes after which the download of a page is cut off (paper TC: 10 KB); 0 means whole pages."""
    max_redirects: int = 5
    """Maximum number of redirects in a row, for pages and for robots.txt."""

    def __post_init__(self) -> None:
        require_at_least(self, "fetch", chop=0, max_redirects=0)


class RobotsBook:
    """The robots.txt files that the crawl knows, and those not stored yet."""

    def __init__(self, settings: RobotsSettings, files: Iterable[RobotsFile] = ()) -> None:
        self.settings = settings
        self._known = {file.origin: Robots(file, settings) for file in files}
        self._news: dict[str, RobotsFile] = {}

    def get(self, origin: str) -> Robots | None:
        return self._known.get(origin)

    def put(self, file: RobotsFile) -> Robots:
        self._known[file.origin] = Robots(file, self.settings)
        self._news[file.origin] = file
        return self._known[file.origin]

    def forget(self, origin: str) -> None:
        """The next fetch from there asks for robots.txt first, as if it had never been asked for."""
        self._known.pop(origin, None)

    def take_news(self) -> list[RobotsFile]:
        """The files that were added since the last call."""
        news, self._news = list(self._news.values()), {}
        return news


class LiveFetcher:
    def __init__(
        self,
        *,
        http: Http,
        resolver: Resolver,
        urls: Urls,
        robots: RobotsBook,
        settings: FetchSettings,
        address_of: Callable[[int], str],
        pause: float,
        clock: Clock,
        cache: PageCache | None = None,
        archived: Callable[[int], Response | None] = lambda _: None,
        plain_http: Mapping[str, str] | None = None,
    ) -> None:
        """`archived`: the latest answer for a link, by its number, if it is at hand; `plain_http`: URLs that somebody
        gave without a scheme, and their http URLs, in case https has no answer."""
        self._http = http
        self._resolver = resolver
        self._urls = urls
        self._robots = robots
        self._settings = settings
        self._address_of = address_of
        self._pause = pause
        self._clock = clock
        self._cache = cache
        self._archived = archived
        self._plain_http = plain_http or {}

    async def fetch(self, lease: Lease) -> Fetched:
        if not lease.is_revisit and (stored := self._cached(lease.url)) is not None:
            return self._answer(lease, stored, from_cache=True)
        parts = urlsplit(lease.url)
        port = parts.port or (443 if parts.scheme == "https" else 80)
        found = await self._resolver.resolve(parts.hostname or "", port)
        if not found.addresses:
            return self._note(lease, Outcome(Kind.UNREACHABLE, "dns", found.failure, is_transient=found.is_transient))
        known = self._address_of(lease.host)
        if known not in found.addresses:
            return self._note(lease, Outcome(Kind.DEFERRED, "name resolved"), address=found.addresses[0])
        held_back = await self._permission(lease, known)
        return held_back or await self._request(lease, known)

    def _cached(self, url: str) -> Response | None:
        return self._cache.get(url) if self._cache is not None else None

    async def _permission(self, lease: Lease, address: str) -> Fetched | None:
        """None if robots.txt allows the fetch; otherwise the result with which it ends."""
        place = origin(lease.url)
        robots = self._robots.get(place)
        started = self._clock.now()
        if robots is None or robots.file.expires_at <= started:
            found = await self._fetch_robots(place, robots.file if robots else None)
            if isinstance(found, TransferFailure):
                return self._note(lease, Outcome(found.kind, found.reason, found.detail), address=address)
            robots = self._robots.put(found)
            if robots.file.state is RobotsState.DISALLOW_ALL:
                return self._unreachable_robots(lease, robots, address=address, started=started, is_contact=True)
            outcome = Outcome(Kind.DEFERRED, "robots.txt first")
            return self._note(lease, outcome, address=address, started=started, is_contact=True)
        if robots.file.state is RobotsState.DISALLOW_ALL:
            return self._unreachable_robots(lease, robots)
        verdict = robots.verdict(lease.url)
        return None if verdict.allowed else self._note(lease, Outcome(Kind.EXCLUDED, "robots", verdict.rule))

    def _unreachable_robots(
        self, lease: Lease, robots: Robots, *, address: str = "", started: float | None = None, is_contact: bool = False
    ) -> Fetched:
        """Without a robots.txt nothing is allowed (RFC 9309, 2.3.1.4); it is requested again later.

        If https has not answered at all, a URL that was given without a scheme is continued as http, where robots.txt
        is asked for in turn.
        """
        file = robots.file
        wait = max(0.0, file.expires_at - self._clock.now())
        why = file.failure or f"http {file.status}"
        outcome = Outcome(Kind.DEFERRED, ROBOTS_UNREACHABLE, why, file.status, retry_after=wait)
        if not file.status and (plain := self._plain_http.get(lease.url)):
            outcome = Outcome(Kind.REDIRECTED, HTTPS_UNREACHABLE, why, location=plain)
        return self._note(lease, outcome, address=address, started=started, is_contact=is_contact)

    async def _fetch_robots(self, place: str, previous: RobotsFile | None) -> RobotsFile | TransferFailure:
        """Request robots.txt, following redirects with pauses. A TransferFailure means: the guard refuses the host."""
        settings = self._robots.settings
        url = f"{place}/robots.txt"
        status, body, failure = 0, b"", "too many redirects"
        for hop in range(self._settings.max_redirects + 1):
            if hop:
                await self._clock.sleep(self._pause)
            answer = await self._http.get(url, chop=settings.max_bytes)
            if isinstance(answer, TransferFailure) and answer.reason == ADDRESS_REFUSED and not hop:
                return answer
            if isinstance(answer, TransferFailure):
                failure = f"{answer.reason} {answer.detail}".strip()
                break
            status = answer.status
            target = answer.header("location")
            if status not in REDIRECTS or not target:
                body, failure = _robots_body(answer, settings.max_bytes)
                break
            # It need only be a valid URL: the rules about which pages are wanted do not apply.
            url, _ = self._urls.canonical(_joined(url, target))
            if not url:
                failure = "redirect to nowhere"
                break
        now = self._clock.now()
        return interpret(place, status, body, now=now, failure=failure, previous=previous, policy=settings)

    async def _request(self, lease: Lease, address: str) -> Fetched:
        started = self._clock.now()
        known = (self._cached(lease.url) or self._archived(lease.id)) if lease.is_revisit else None
        answer = await self._http.get(
            lease.url,
            stop_at_headers=self._unwanted,
            chop=self._settings.chop or None,
            headers=conditions(known) if known is not None else (),
        )
        if isinstance(answer, TransferFailure):
            outcome = Outcome(answer.kind, answer.reason, answer.detail, is_transient=answer.is_transient)
            is_contact = answer.reason != ADDRESS_REFUSED
            return self._note(lease, outcome, address=answer.address or address, started=started, is_contact=is_contact)
        if self._cache is not None:
            self._cache.put(answer)
        return self._answer(lease, answer)

    def _unwanted(self, status: int, headers: Sequence[tuple[str, str]]) -> str:
        """The media type, if it is one whose body is not downloaded; otherwise empty."""
        if not 200 <= status < 300:
            return ""
        value = next((value for name, value in headers if name == "content-type"), "")
        kind = value.partition(";")[0].strip().lower()
        return "" if kind in self._settings.content_types else kind

    def _answer(self, lease: Lease, response: Response, *, from_cache: bool = False) -> Fetched:
        is_unchanged = lease.is_revisit and response.status == NOT_MODIFIED
        return Fetched(
            lease,
            Outcome(Kind.UNCHANGED, "http 304", status=NOT_MODIFIED) if is_unchanged else self._outcome(response),
            response,
            address=response.address,
            is_contact=not from_cache,
            from_cache=from_cache,
            ended=response.ended,
            seconds=max(0.0, response.ended - response.started),
        )

    def _outcome(self, response: Response) -> Outcome:
        status = response.status
        reason = f"http {status}"
        if unwanted := self._unwanted(status, response.headers):
            return Outcome(Kind.SKIPPED, "content type", unwanted[:200], status)
        if 200 <= status < 300:
            return Outcome(Kind.FETCHED, reason, status=status)
        if status in REDIRECTS and response.header("location"):
            location = _joined(response.url, response.header("location"))
            return Outcome(Kind.REDIRECTED, reason, location[:500], status, location=location)
        wait = retry_after(response.header("retry-after"), now=response.ended)
        is_transient = status >= 500 or status in TRANSIENT
        return Outcome(Kind.HTTP_ERROR, reason, status=status, is_transient=is_transient, retry_after=wait)

    def _note(
        self,
        lease: Lease,
        outcome: Outcome,
        *,
        address: str = "",
        started: float | None = None,
        is_contact: bool = False,
    ) -> Fetched:
        """The result of a fetch that got no answer."""
        ended = self._clock.now()
        seconds = ended - started if started is not None else 0.0
        return Fetched(lease, outcome, address=address, is_contact=is_contact, ended=ended, seconds=seconds)


def _joined(base: str, location: str) -> str:
    """The target of a Location header. One that cannot be joined is returned as it is: the URL rules will reject it."""
    try:
        return urljoin(base, location)
    except ValueError:
        return location


def _robots_body(answer: Response, max_bytes: int) -> tuple[bytes, str]:
    """The rules, and why they cannot be read: an unreadable file must not count as permission."""
    if not 200 <= answer.status < 300:
        return b"", ""
    decoded = decode(answer.body, answer.header("content-encoding"), limits=DecodeLimits(max_bytes=4 * max_bytes))
    return decoded.body, f"{decoded.reason} {decoded.detail}".strip() if decoded.reason else ""


def retry_after(value: str, *, now: float) -> float:
    """Seconds given by a Retry-After header, which is a number or a date; 0 if it is missing or makes no sense."""
    value = value.strip()
    if value.isascii() and value.isdigit():
        return float(value[:9])
    try:
        return max(0.0, email.utils.parsedate_to_datetime(value).timestamp() - now)
    except (ValueError, TypeError, OverflowError):
        return 0.0
