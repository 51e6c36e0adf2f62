"""Pages that come empty are noticed; with a browser they are rendered and read again, without one it is said.

It stands between fetching and committing as a reader of its own: what the reader processes make of a page tells whether
it needs a browser (`page.scripted`). A page whose rendering fails is kept as it was fetched, with the reason.

The host of a rendered page rests afterwards for as long as if each request of the page had been a fetch of its own.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import replace

from lycosa.crawl.commit import CrawlLedger
from lycosa.crawl.visits import Reader
from lycosa.fetch.browser import Unrendered
from lycosa.fetch.decode import DecodeLimits, decode
from lycosa.fetch.rendered import with_dom
from lycosa.fetch.urls import host_key
from lycosa.model import Fetched, Kind, Rendering, Response, Visit
from lycosa.page.pdf import is_pdf
from lycosa.page.scripted import LOOKED_AT, is_scripted, may_be_scripted

ADVICE = "advice"
SAID_FROM = 3
"""Number of pages of a host that need a browser, from which it is said while the crawl runs."""
SHOWN = 5
"""Number of hosts named."""

Render = Callable[[Response, bytes], Awaitable[Rendering | Unrendered]]


class RenderingReader:
    """Reads pages, and renders those that need it."""

    def __init__(
        self, inner: Reader, *, render: Render | None, delay: float, limits: DecodeLimits, requisites: bool = False
    ) -> None:
        """`render`: what renders a page; None: nothing does. `delay`: seconds between two requests to a host.
        `requisites`: relevant pages are opened in the browser also if they need none, for what they ask for."""
        self._requisites = requisites
        self._inner = inner
        self._render = render
        self._delay = delay
        self._limits = limits
        self.unrendered: Counter[str] = Counter()
        """By host: pages that need a browser, and did not get one."""
        self.rendered = 0
        self.failed: Counter[str] = Counter()
        """By reason."""

    async def read(self, fetched: Fetched, furniture: bytes = b"") -> Visit:
        visit = await self._inner.read(fetched, furniture)
        document = self._scripted(visit)
        if document is None or fetched.response is None:
            return await self._with_requisites(visit) if self._requisites else visit
        if self._render is None:
            self.unrendered[host_key(fetched.lease.url)] += 1
            return visit
        found = await self._render(fetched.response, document)
        if isinstance(found, Unrendered):
            self.failed[found.reason] += 1
            detail = f"not rendered: {found.reason} {found.detail}".strip()
            return replace(visit, outcome=replace(visit.outcome, detail=detail))
        again = await self._inner.read(replace(fetched, response=with_dom(fetched.response, found.dom)), furniture)
        if again.page is None:
            self.failed[again.outcome.reason] += 1
            detail = f"not rendered: {again.outcome.reason} {again.outcome.detail}".strip()
            return replace(visit, outcome=replace(visit.outcome, detail=detail))
        self.rendered += 1
        return replace(again, fetched=self._rested(fetched, found))

    async def _with_requisites(self, visit: Visit) -> Visit:
        """A relevant page, with what it needs to look right."""
        response = visit.fetched.response
        is_wanted = visit.judgement is not None and visit.judgement.is_relevant
        if self._render is None or response is None or not is_wanted or is_pdf(response.header("content-type")):
            return visit
        decoded = decode(response.body, response.header("content-encoding"), limits=self._limits)
        found = await self._render(response, decoded.body)
        if isinstance(found, Unrendered):
            self.failed[found.reason] += 1
            return visit
        return replace(visit, fetched=self._rested(visit.fetched, replace(found, dom=b"")))

    def _scripted(self, visit: Visit) -> bytes | None:
        """The document of a page that needs a browser; None if it needs none."""
        page, response = visit.page, visit.fetched.response
        if page is None or response is None or visit.outcome.kind is not Kind.FETCHED:
            return None
        words, links = page.words, len(page.links)
        if not may_be_scripted(words=words, links=links) or len(response.body) > LOOKED_AT:
            return None
        decoded = decode(response.body, response.header("content-encoding"), limits=self._limits)
        return decoded.body if is_scripted(decoded.body, words=words, links=links) else None

    def _rested(self, fetched: Fetched, found: Rendering) -> Fetched:
        host = host_key(fetched.lease.url)
        asked = sum(host_key(each.url) == host for each in found.requisites)
        seconds = max(fetched.seconds + found.seconds, self._delay * (1 + asked))
        return replace(fetched, rendering=found, seconds=seconds, ended=fetched.ended + found.seconds)


class BrowserAdvice:
    """Says which hosts have pages that need a browser: each once while the crawl runs, and how many at its end."""

    def __init__(self, reader: RenderingReader, ledger: CrawlLedger) -> None:
        self._reader = reader
        self._ledger = ledger
        self._said: dict[str, int] = {}
        """By host: how many it was said to have."""

    def look(self, *, is_last: bool = False) -> None:
        counts = self._reader.unrendered
        if is_last:
            news = [host for host in counts if counts[host] > self._said.get(host, 0)]
        else:
            news = [host for host in counts if counts[host] >= SAID_FROM and host not in self._said]
        for host in sorted(news, key=lambda host: -counts[host])[:SHOWN]:
            self._ledger.note(ADVICE, needs_browser(host, counts[host]))
        self._said.update({host: counts[host] for host in news})


def needs_browser(host: str, count: int) -> str:
    pages = "1 page of {} needs" if count == 1 else f"{count:,} pages of {{}} need"
    return f"{pages.format(host)} a browser: --browser"
