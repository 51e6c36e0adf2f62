"""The types every part of Lycosa passes around: frozen values without I/O.

A link is followed in four steps; each hands a value to the next:

    lease ── Lease ──▶ fetch ── Fetched ──▶ read ── Visit ──▶ commit

The frontier leases a waiting `Link`. Fetching it yields an `Outcome` and, if the server answered, a `Response`.
Reading turns the response into a `Page`, and a judge gives its `Judgement` of the page. The `Visit` holds all of it.

What the web answers is always a value, never an exception: an `Outcome` has a kind (the category of the event) and a
reason (a fixed phrase for the event itself, so reasons can be counted).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import NamedTuple

from lycosa.usage import Saying


class Link(NamedTuple):
    """A link on a page: everything a crawler can know about the target before fetching it."""

    url: str
    """The target, absolute and canonical (`fetch.urls`)."""
    anchor: str = ""
    """Text of the link, with white space collapsed."""
    context: str = ""
    """Words around the link, including the anchor."""
    path: str = ""
    """Tags from the root of the document to the link: `html/body/div/ul/li/a`."""
    rel: str = ""
    """Tokens of the rel attribute in lower case, separated by spaces."""
    position: int = 0
    """Position of the link on the page, from 0."""
    other_anchors: tuple[str, ...] = ()
    """Different texts of further links to the same URL on the page."""


class Lease(NamedTuple):
    """A waiting link that the frontier has handed out to be fetched."""

    id: int
    """Number of the link in the store: one per canonical URL."""
    url: str
    host: int
    """Number of its host in the store."""
    score: float
    """Score the strategy gave it: the higher, the sooner it is leased."""
    distance: int
    """Number of links from the nearest seed."""
    tries: int
    """Number of earlier tries."""
    redirects: int
    """Number of redirects in a row that led here."""
    is_revisit: bool = False
    """The page was fetched before, and is to be fetched again from where it came, not from a cache."""


class Kind(StrEnum):
    """Category of an outcome. Each category has its own set of reasons."""

    FETCHED = "fetched"
    """A document arrived and was read."""
    UNCHANGED = "unchanged"
    """A page that was fetched before is still the same, says its server."""
    LISTED = "listed"
    """A feed or a sitemap arrived: no page, but a list of links, which wait in the frontier."""
    REDIRECTED = "redirected"
    """The answer was a redirect, or its document says that it is elsewhere; the target waits in the frontier as a link
    of its own."""
    HTTP_ERROR = "http-error"
    """The server answered with an error status."""
    UNREACHABLE = "unreachable"
    """No answer: name resolution, connection or TLS failed, or time ran out."""
    REFUSED = "refused"
    """We declined: the guard refused the address, or a cap on bytes, ratio, headers or time was exceeded."""
    EXCLUDED = "excluded"
    """Never requested: forbidden by robots.txt or a URL rule, or on a host that was set aside."""
    SKIPPED = "skipped"
    """A document arrived, of a type we do not keep."""
    UNREADABLE = "unreadable"
    """A document arrived, but reading it failed or took too long."""
    DEFERRED = "deferred"
    """Not yet: robots.txt had to be fetched first, or the address was busy. The link keeps waiting."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of one attempt to fetch one link."""

    kind: Kind
    reason: str = ""
    """A fixed phrase that can be counted: `http 404`, `robots`, `timeout`, `content type`."""
    detail: str = ""
    """What differs from case to case: the rule, the host, the content type."""
    status: int = 0
    """HTTP status; 0 if there was no answer."""
    is_transient: bool = False
    """Another try later may succeed."""
    location: str = ""
    """Target of a redirect: the raw Location, joined to the URL that sent it."""
    retry_after: float = 0.0
    """Seconds for which the server asked us to stay away."""


@dataclass(frozen=True, slots=True)
class Response:
    """An HTTP answer as it came over the wire, with its content encoding."""

    url: str
    status: int
    headers: Sequence[tuple[str, str]]
    """In order of arrival, names in lower case."""
    body: bytes
    """Body without its transfer encoding (libcurl removes it) but with its content encoding."""
    head: bytes = b""
    """Status line and header lines exactly as received, without the closing empty line."""
    request: bytes = b""
    """Head of the request as it was sent."""
    address: str = ""
    """IP address of the server."""
    started: float = 0.0
    """Wall-clock time in seconds, as is `ended`."""
    ended: float = 0.0
    is_chopped: bool = False
    """The download was cut off on purpose, at its size limit or after the headers."""

    def header(self, name: str) -> str:
        """The first value of a header (name in lower case), or an empty string."""
        for key, value in self.headers:
            if key == name:
                return value
        return ""


@dataclass(frozen=True, slots=True)
class Rendering:
    """What a browser made of a page."""

    dom: bytes
    """The document after its scripts ran, as HTML in UTF-8; empty if the page was read as it came."""
    requisites: tuple[Response, ...] = ()
    """What the page asked for on the way, as it came over the wire."""
    seconds: float = 0.0
    """Duration."""


@dataclass(frozen=True, slots=True)
class Fetched:
    """What `fetch` hands to `read`: the lease, the outcome, and the answer if there was one."""

    lease: Lease
    outcome: Outcome
    response: Response | None = None
    address: str = ""
    """IP address that was contacted, or would have been."""
    is_contact: bool = False
    """A request was sent to the host, so its politeness clock restarts."""
    from_cache: bool = False
    """The answer came from the page cache, not from the network."""
    ended: float = 0.0
    seconds: float = 0.0
    """Duration of the fetch."""
    known: Response | None = None
    """The version of the page that the server was told is known, if it was asked whether that has changed."""
    rendering: Rendering | None = None
    """What was read instead of the answer itself, if it is empty without scripts; and what the page asked for."""

    @classmethod
    def page(cls, lease: Lease, body: bytes | str, *, content_type: str = "text/html; charset=utf-8") -> Fetched:
        """A document, for fetchers of your own."""
        data = body.encode() if isinstance(body, str) else body
        head = f"HTTP/1.1 200 OK\r\nContent-Type: {' '.join(content_type.split())}"  # the archive keeps the head
        response = Response(lease.url, 200, [("content-type", content_type)], data, head.encode())
        return cls(lease, Outcome(Kind.FETCHED, "http 200", status=200), response, is_contact=True)

    @classmethod
    def missing(cls, lease: Lease, status: int = 404) -> Fetched:
        """No document, for fetchers of your own."""
        return cls(lease, Outcome(Kind.HTTP_ERROR, f"http {status}", status=status), is_contact=True)


@dataclass(frozen=True, slots=True)
class Page:
    """A document that has been read. Reading never fails: a broken document is a Page with little in it."""

    url: str
    title: str = ""
    text: str = ""
    """All text of the document, with menus and footers."""
    language: str = ""
    """ISO 639-1 code; empty if there is too little text to tell."""
    charset: str = ""
    links: Sequence[Link] = ()
    """Links that passed the URL rules, each URL once, in document order."""
    rejected: Mapping[str, str] = field(default_factory=dict)
    """URLs that a rule rejected, each with the name of the rule."""
    dropped: Mapping[str, int] = field(default_factory=dict)
    """Number of links that are no URLs to fetch (mailto:, broken, …), by reason."""
    canonical: str = ""
    """Canonical URL the page claims for itself, whatever the URL rules say of it; empty if it claims none."""
    is_noindex: bool = False
    is_nofollow: bool = False
    fingerprint: int = 0
    """64-bit simhash of title and own text; near-duplicates differ in few bits. 0 if there is no text."""
    terms: Mapping[str, int] = field(default_factory=dict)
    """Stems of title and own text with their counts (`lib.text`)."""
    words: int = 0
    """Number of words in title and own text, stop words excluded."""
    link_hashes: bytes = b""
    """`url_hash` of each link, then of each rejected URL: 8 bytes each, in native byte order."""
    digest: bytes = b""
    """What the strategy computes from the page in the reader process; empty if it computes nothing there."""
    own_text: str = ""
    """The text without furniture, which is what stands on many pages of the host (`page.own_text`)."""
    blocks: bytes = b""
    """Hashes of the text's blocks, by which furniture is recognised (`page.own_text.block_hashes`)."""

    stemmed_in: str = "en"
    """Language by whose stop words and stemmer `terms` were made: the page's own, if there is a stemmer for it."""
    lead: Sequence[str] = ()
    """The first stems of title and own text, in order, of a page whose text is not at hand (`lab.worlds`)."""

    continued_at: str = ""
    """Where the document itself says that it is to be found; empty if it is here."""
    continued_by: str = ""
    """How it says so: meta refresh, amp, hreflang."""
    usage: Mapping[str, Saying] = field(default_factory=dict)
    """What its owner says about its use, as far as the document and its answer tell (`page.usage`)."""

    beginning: str = ""
    """The first words of the own text, of a page whose text is not kept (`opening`)."""

    @property
    def content(self) -> str:
        """The own text; of a page that was not read from a document, the text."""
        return self.own_text or self.text

    @property
    def opening(self) -> str:
        """The title and the first words of the own text."""
        return f"{self.title} {self.beginning or first_words(self.content)}"


OPENING_WORDS = 400
_LONGEST_OPENING = 16 * OPENING_WORDS


def first_words(text: str, most: int = OPENING_WORDS) -> str:
    """The first words of a text, and no more characters than words commonly have."""
    return " ".join(text[:_LONGEST_OPENING].split(maxsplit=most)[:most])


class Guidance(NamedTuple):
    """What a page is worth to the crawl, where that is not what is said of it."""

    relevance: float
    is_relevant: bool


@dataclass(frozen=True, slots=True)
class Judgement:
    """A judge's verdict on a page."""

    relevance: float
    """From 0 to 1."""
    is_relevant: bool
    scores: Mapping[str, float] = field(default_factory=dict)
    """Score by topic, if the judge knows several."""
    terms: Mapping[str, float] = field(default_factory=dict)
    """The words that decided, each with its share in the verdict."""
    best: str = ""
    """Best matching leaf of the taxonomy, if the judge has one."""
    guide: Guidance | None = None
    """What guides the crawl instead of this verdict: a NOT that is applied afterwards does not keep it from A."""
    margin: float | None = None
    """The judge's raw signed score, above 0 for pages of the topic: an SVM's distance from its plane, which paper GA
    ranks by. None: the judge has no such score."""

    @property
    def guiding(self) -> Judgement:
        """The judgement that strategies are told."""
        if self.guide is None:
            return self
        relevance, is_relevant = self.guide
        return replace(self, relevance=relevance, is_relevant=is_relevant, guide=None, margin=None)


@dataclass(frozen=True, slots=True)
class Visit:
    """What `read` hands to `commit`: everything known about one attempt to fetch one link."""

    fetched: Fetched
    outcome: Outcome
    page: Page | None = None
    judgement: Judgement | None = None
    note: bytes = b""
    """What the strategy stored about the visit, if this is the second time it is told of it."""
    is_same: bool | None = None
    """Whether a page that was fetched again has the text it had; None if that was not looked at."""

    @property
    def lease(self) -> Lease:
        return self.fetched.lease

    @property
    def guiding(self) -> Visit:
        """The visit that strategies are told."""
        if self.judgement is None or self.judgement.guide is None:
            return self
        return replace(self, judgement=self.judgement.guiding)
