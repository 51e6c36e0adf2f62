"""Live fetching: from a lease to the answer of the web.

    cache → name → robots.txt → permission → request → classification of the answer

A page that is to be fetched again is not taken from the cache: the request says which version is known (`conditions`).

Each step that contacts a host is a visit of its own: a lease on an unknown host comes back as `deferred` once its name
is resolved (so that the frontier can space out hosts that share an address), and again once its robots.txt has been
fetched (so that the delay between two requests applies to that one, too). Redirects are not followed here: the target
joins the frontier as a link, subject to URL rules, robots.txt, guard and politeness like any other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from urllib.parse import urlsplit

from lycosa.fetch.access import Access, AccessSettings
from lycosa.fetch.cache import PageCache
from lycosa.fetch.conditions import conditions
from lycosa.fetch.dns import Resolver
from lycosa.fetch.headers import REDIRECTS, redirect_location, retry_after
from lycosa.fetch.http import Http
from lycosa.fetch.proxy import PROXY_FAILED
from lycosa.fetch.robots import Robots, RobotsFile, RobotsSettings, RobotsState
from lycosa.fetch.robots_request import RobotsRequests
from lycosa.fetch.transfer import ADDRESS_REFUSED, TransferFailure
from lycosa.fetch.urls import Urls, origin
from lycosa.lib.bounds import require_at_least
from lycosa.lib.clock import Clock
from lycosa.lib.media_types import is_list_type
from lycosa.model import Fetched, Kind, Lease, Outcome, Response
from lycosa.usage import SEARCH

NOT_MODIFIED = 304
UNAUTHORIZED = 401
TRANSIENT = frozenset({408, 425, 429})
NO_PAGE = {204: "no content", 205: "no content", 206: "a part of a page, which was not asked for"}
"""Answers that say that all went well, and are no pages."""
ROBOTS_UNREACHABLE = "robots.txt unreachable"
HTTPS_UNREACHABLE = "https unreachable"
"""Reason why a URL given without a scheme is continued as http."""
ROBOTS_FIRST = "robots.txt first"
PROXY_REST = 10.0
"""Seconds for which a link waits when the proxy has failed, which is none of its host's doing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchSettings:
    """What is requested and kept."""

    content_types: tuple[str, ...] = ("text/html", "application/xhtml+xml", "text/plain")
    """Media types that are kept. Of other documents only the outcome is recorded."""
    chop: int = 0
    """Number of bytes after which the download of a page is cut off (paper TC: 10 KB); 0 means whole pages."""
    max_redirects: int = 5
    """Maximum number of redirects in a row, for pages and for robots.txt."""

    reads_lists: bool = True
    """Read feeds and sitemaps that are met, as lists of links. They count as no pages."""

    def is_list(self, content_type: str, url: str) -> bool:
        """Whether an answer may be a list of links that is to be read."""
        return self.reads_lists and is_list_type(content_type, url)

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
        access: Access | None = None,
    ) -> None:
        """`archived`: the latest answer for a link, by its number, if it is at hand; `plain_http`: URLs that somebody
        gave without a scheme, and their http URLs, in case https has no answer."""
        self._http = http
        self._resolver = resolver
        self._robots = robots
        self._settings = settings
        self._address_of = address_of
        self._clock = clock
        self._robots_requests = RobotsRequests(
            http=http,
            resolver=resolver,
            urls=urls,
            settings=robots.settings,
            max_redirects=settings.max_redirects,
            pause=pause,
            clock=clock,
            known=robots.get,
            learn=robots.put,
        )
        # What crawls share was collected for a search.
        self._cache = cache if robots.settings.purpose == SEARCH else None
        self._archived = archived
        self._plain_http = plain_http or {}
        self._access = access or Access(AccessSettings())
        self.awaited_names = 0
        """Number of fetches that wait for a name to be resolved."""

    @property
    def access_note(self) -> str:
        """What a person should know about the files with secrets; empty if nothing."""
        return self._access.note

    async def fetch(self, lease: Lease) -> Fetched:
        if not lease.is_revisit and (stored := self._cached(lease.url)) is not None:
            return self._answer(lease, stored, from_cache=True)
        parts = urlsplit(lease.url)
        port = parts.port or (443 if parts.scheme == "https" else 80)
        self.awaited_names += 1
        try:
            found = await self._resolver.resolve(parts.hostname or "", port)
        finally:
            self.awaited_names -= 1
        if not found.addresses:
            return self._note(lease, Outcome(Kind.UNREACHABLE, "dns", found.failure, is_transient=found.is_transient))
        known = self._address_of(lease.host)
        if known not in found.addresses and not self._robots_requests.is_elsewhere(origin(lease.url)):
            return self._note(lease, Outcome(Kind.DEFERRED, "name resolved"), address=found.addresses[0])
        held_back = await self._permission(lease, known)
        return held_back or await self._request(lease, known)

    async def get(self, url: str) -> Response | TransferFailure:
        """What a page asks for while it is rendered (`requisites`): one request, guarded and capped like any."""
        return await self._http.get(url)

    async def allows(self, url: str) -> bool:
        """Whether robots.txt lets what a page asks for be fetched; it is asked for where it is not known."""
        place = origin(url)
        robots = self._robots.get(place)
        if robots is None or robots.file.expires_at <= self._clock.now():
            step = await self._robots_requests.ask(place, robots.file if robots else None, "")
            if step.file is None:
                return False
            robots = self._robots.put(step.file)
        return robots.file.state is not RobotsState.DISALLOW_ALL and robots.verdict(url).allowed

    def _cached(self, url: str) -> Response | None:
        return self._cache.get(url) if self._cache is not None and not self._has_secrets(url) else None

    def _has_secrets(self, url: str) -> bool:
        """Whether pages there are for whoever has a log-in or a cookie, and not for the cache that crawls share."""
        return bool(self._access.for_request(origin(url), urlsplit(url).hostname or "", url).lines)

    async def _permission(self, lease: Lease, address: str) -> Fetched | None:
        """None if robots.txt allows the fetch; otherwise the result with which it ends."""
        place = origin(lease.url)
        robots = self._robots.get(place)
        if robots is None or robots.file.expires_at <= self._clock.now():
            return await self._ask_for_robots(lease, robots.file if robots else None, address)
        if robots.file.state is RobotsState.DISALLOW_ALL:
            return self._unreachable_robots(lease, robots)
        verdict = robots.verdict(lease.url)
        return None if verdict.allowed else self._note(lease, Outcome(Kind.EXCLUDED, "robots", verdict.rule))

    async def _ask_for_robots(self, lease: Lease, previous: RobotsFile | None, address: str) -> Fetched:
        """One step towards the robots.txt of the link's origin: the link waits again, whatever comes of it."""
        place, requests, started = origin(lease.url), self._robots_requests, self._clock.now()
        if requests.is_elsewhere(place):
            step = await requests.ask_elsewhere(place, previous, address)
        else:
            step = await requests.ask(place, previous, address)
        if step.refused is not None:
            found = step.refused
            return self._note(lease, Outcome(found.kind, found.reason, found.detail), address=address)
        address = step.address or address
        robots = self._robots.put(step.file) if step.file is not None else None
        if robots is not None and robots.file.state is RobotsState.DISALLOW_ALL:
            return self._unreachable_robots(lease, robots, address=address, started=started, is_contact=step.is_contact)
        outcome = Outcome(Kind.DEFERRED, ROBOTS_FIRST, retry_after=step.retry_after)
        return self._note(lease, outcome, address=address, started=started, is_contact=step.is_contact)

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

    async def _request(self, lease: Lease, address: str) -> Fetched:
        started = self._clock.now()
        known = (self._cached(lease.url) or self._archived(lease.id)) if lease.is_revisit else None
        answer = await self._http.get(
            lease.url,
            stop_at_headers=partial(self._unwanted, lease.url),
            chop=self._settings.chop or None,
            headers=conditions(known) if known is not None else (),
            address=address,
        )
        if isinstance(answer, TransferFailure):
            if answer.reason == PROXY_FAILED:
                return self._note(
                    lease, Outcome(Kind.DEFERRED, PROXY_FAILED, answer.detail, retry_after=PROXY_REST), address=address
                )
            outcome = Outcome(answer.kind, answer.reason, answer.detail, is_transient=answer.is_transient)
            is_contact = answer.reason != ADDRESS_REFUSED
            return self._note(lease, outcome, address=answer.address or address, started=started, is_contact=is_contact)
        if self._cache is not None and not self._has_secrets(lease.url):
            self._cache.put(answer)
        return self._answer(lease, answer, known=known)

    def _unwanted(self, url: str, status: int, headers: Sequence[tuple[str, str]]) -> str:
        """The media type, if it is one whose body is not downloaded; otherwise empty."""
        if not 200 <= status < 300:
            return ""
        value = next((value for name, value in headers if name == "content-type"), "")
        kind = value.partition(";")[0].strip().lower()
        return "" if kind in self._settings.content_types or self._settings.is_list(value, url) else kind

    def _answer(
        self, lease: Lease, response: Response, *, from_cache: bool = False, known: Response | None = None
    ) -> Fetched:
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
            known=known,
        )

    def _outcome(self, response: Response) -> Outcome:
        status = response.status
        reason = f"http {status}"
        if unwanted := self._unwanted(response.url, status, response.headers):
            return Outcome(Kind.SKIPPED, "content type", unwanted[:200], status)
        if status in NO_PAGE:
            return Outcome(Kind.SKIPPED, reason, NO_PAGE[status], status)
        if 200 <= status < 300:
            return Outcome(Kind.FETCHED, reason, status=status)
        if status in REDIRECTS and (location := redirect_location(response)):
            return Outcome(Kind.REDIRECTED, reason, location[:500], status, location=location)
        wait = retry_after(response.header("retry-after"), now=response.ended)
        is_transient = status >= 500 or status in TRANSIENT
        if status == UNAUTHORIZED:
            return Outcome(Kind.HTTP_ERROR, reason, self._access.why_unauthorized(origin(response.url)), status)
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
