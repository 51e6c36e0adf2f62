"""The nouns of a crawl: frozen values without I/O.

A page's way through the house, and the value each step hands to the next:

    lease ── Lease ──▶ fetch ── Fetched ──▶ read ── Visit ──▶ commit

What the web answers is always a value: an `Outcome` has a kind (what sort of thing happened) and a
reason (which one, in words that stay the same so that they can be counted).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple


class Link(NamedTuple):
    """A link as it stands on a page: everything a crawler can know of the target before fetching it."""

    url: str
    """Absolute and canonical (`fetch.urls`)."""
    anchor: str = ""
    """The text of the link, white space folded."""
    context: str = ""
    """The words around the link, anchor included."""
    path: str = ""
    """Tags from the root to the link: `html/body/div/ul/li/a`."""
    rel: str = ""
    """The rel attribute's tokens, lower case, separated by a space."""
    position: int = 0
    """The how-manieth link of the page it is, from 0."""


class Lease(NamedTuple):
    """A waiting link that has been handed out to be fetched."""

    id: int
    """The link's number in the store: one per canonical URL."""
    url: str
    host: int
    """The number of its host."""
    score: float
    distance: int
    """Links from the nearest seed."""
    tries: int
    """How often it has been tried before."""
    redirects: int
    """How many redirects in a row led here."""


class Kind(StrEnum):
    """What sort of thing happened to a link. Each has its reasons."""

    FETCHED = "fetched"
    """A document came and was read."""
    REDIRECTED = "redirected"
    """The answer was a redirect; its target waits in the frontier as a link of its own."""
    HTTP_ERROR = "http-error"
    """The server answered with an error status."""
    UNREACHABLE = "unreachable"
    """No answer: name resolution, connection, TLS, time."""
    REFUSED = "refused"
    """We would not: an address the guard refuses, or a cap on bytes, ratio, headers, time."""
    EXCLUDED = "excluded"
    """Not asked for: robots.txt, a URL rule, a host set aside."""
    SKIPPED = "skipped"
    """A document came, of a type we do not keep."""
    UNREADABLE = "unreadable"
    """A document came, and reading it failed or took too long."""
    DEFERRED = "deferred"
    """Not now: robots.txt came first, or the address was busy. The link waits on."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one try to fetch one link."""

    kind: Kind
    reason: str = ""
    """Which one, in few fixed words: `http 404`, `robots`, `timeout`, `content type`. Countable."""
    detail: str = ""
    """What differs from case to case: the rule, the host, the type."""
    status: int = 0
    """The HTTP status, where there was one."""
    is_transient: bool = False
    """Worth another try later."""
    location: str = ""
    """Where a redirect leads: the raw Location, joined to the URL it came from."""
    retry_after: float = 0.0
    """Seconds the server asked us to stay away."""


@dataclass(frozen=True, slots=True)
class Response:
    """An HTTP answer as it came over the wire, content encoding still on."""

    url: str
    status: int
    headers: Sequence[tuple[str, str]]
    """In order of arrival, names in lower case."""
    body: bytes
    """As received: transfer encoding removed (libcurl does that), content encoding not."""
    head: bytes = b""
    """Status line and header lines exactly as received, without the closing empty line."""
    request: bytes = b""
    """The request's head as it was sent."""
    address: str = ""
    started: float = 0.0
    """Wall-clock seconds."""
    ended: float = 0.0
    is_chopped: bool = False
    """The download was cut off on purpose after the first so many bytes."""

    def header(self, name: str) -> str:
        """The first value of a header (name in lower case), or an empty string."""
        for key, value in self.headers:
            if key == name:
                return value
        return ""


@dataclass(frozen=True, slots=True)
class Fetched:
    """What `fetch` hands to `read`: the lease, what happened, and the answer where there was one."""

    lease: Lease
    outcome: Outcome
    response: Response | None = None
    address: str = ""
    """The address that was talked to, or would have been."""
    is_contact: bool = False
    """The host was asked for something just now: its politeness clock starts again."""
    from_cache: bool = False
    """The answer came from the page cache, not from the network."""
    ended: float = 0.0
    seconds: float = 0.0
    """How long the host took."""


@dataclass(frozen=True, slots=True)
class Page:
    """A document, read. Never partial: a broken document is a Page with little in it."""

    url: str
    title: str = ""
    text: str = ""
    language: str = ""
    """ISO 639-1, or empty where there is too little text to say."""
    charset: str = ""
    links: Sequence[Link] = ()
    """Links that passed the URL rules, each URL once, in order."""
    rejected: Mapping[str, str] = field(default_factory=dict)
    """URLs that a rule turned away, each with the rule's name."""
    dropped: Mapping[str, int] = field(default_factory=dict)
    """Links that were never URLs to fetch (mailto:, broken, …), counted by reason."""
    canonical: str = ""
    """The canonical URL the page claims for itself, or empty."""
    is_noindex: bool = False
    is_nofollow: bool = False
    fingerprint: int = 0
    """64-bit simhash of the text; pages with few differing bits are near-duplicates. 0: no text."""
    terms: Mapping[str, int] = field(default_factory=dict)
    """Stems of title and text with their counts (`lib.text`)."""
    words: int = 0
    """How many words that are not stop words title and text have."""
    link_hashes: bytes = b""
    """`url_hash` of each link, then of each rejected URL: 8 bytes each, the machine's byte order."""
    digest: bytes = b""
    """What the crawl's strategy wants to know of it, worked out in the reader; empty where it was not."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """What a judge thinks of a page."""

    relevance: float
    """In [0, 1]."""
    is_relevant: bool
    scores: Mapping[str, float] = field(default_factory=dict)
    """By topic, where the judge knows several."""
    terms: Mapping[str, float] = field(default_factory=dict)
    """The words that decided, with their share."""
    best: str = ""
    """The leaf of the taxonomy that fits best, where the judge has one."""


@dataclass(frozen=True, slots=True)
class Visit:
    """What `read` hands to `commit`: everything that is known of one try at one link."""

    fetched: Fetched
    outcome: Outcome
    page: Page | None = None
    judgement: Judgement | None = None
    note: bytes = b""
    """What the strategy kept of it, when it is told a second time."""

    @property
    def lease(self) -> Lease:
        return self.fetched.lease
