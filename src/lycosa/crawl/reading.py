"""read: (link, response) in, Visit out. Pure, so that live crawls, replays, tests and clusters share it.

    decode → parse → expand → digest → judge

The content encoding is removed under caps, the document parsed, its own text told from the furniture of its host, the
links resolved and checked against the URL rules, the strategy's digest computed, and the judge asked. Whatever the web
sent, the result is a value.
"""

from __future__ import annotations

import struct
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from urllib.parse import urlsplit

from lycosa.fetch.decode import DecodeLimits, decode
from lycosa.fetch.registrable import registrable_domain
from lycosa.fetch.urls import EXTENSION, Urls, url_hash
from lycosa.judges.protocol import Judge
from lycosa.lib.media_types import GZIP_TYPES, LIST_TYPES, media_type
from lycosa.lib.text import aliases, renamed, total
from lycosa.model import Fetched, Judgement, Kind, Link, Outcome, Page, Response, Visit
from lycosa.page.html import read_document
from lycosa.page.limits import PageLimits
from lycosa.page.link_lists import FEED, INDEX, LinkList, read_list
from lycosa.page.parked import MOST_WORDS, PARKED, offer_of_domain
from lycosa.page.pdf import is_pdf, pdf_as_html
from lycosa.page.usage import USAGE_HEADERS
from lycosa.usage import OPTED_OUT, SEARCH, forbids

GZIP_MAGIC = b"\x1f\x8b"
MOST_SITEMAPS = 100
"""Number of sitemaps of an index that are followed: the newest."""
HTML = "text/html; charset=utf-8"
OTHER_LANGUAGE = "other language"
"""Reason for which a page is refused that is not in one of the languages asked for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """Everything `read` needs besides the page; sent to the reader processes once."""

    urls: Urls
    judge: Judge
    words: str = ""
    """The words that the topic was given in: on pages in other languages than English they are found by the page's
    own stemmer."""
    digest: Callable[[Page], bytes] | None = None
    """What the strategy wants to know about a page."""
    limits: PageLimits = field(default_factory=PageLimits)
    decode_limits: DecodeLimits = field(default_factory=DecodeLimits)
    product_token: str = "lycosa"  # noqa: S105 - a robots.txt product token
    purpose: str = SEARCH
    """What pages are collected for: those whose owners forbid this use are refused."""


@dataclass(frozen=True, slots=True)
class Read:
    """What reading one response gave."""

    outcome: Outcome
    page: Page | None = None
    judgement: Judgement | None = None
    is_same: bool | None = None
    """Whether the page has the text of the version that was known, if there is one."""


def read(fetched: Fetched, reading: Reading, furniture: bytes = b"") -> Visit:
    """The whole step: a document becomes a judged page; any other outcome passes through unchanged.

    `furniture`: what is known of the page's host so far (`Furniture.of`).
    """
    if fetched.outcome.kind is not Kind.FETCHED or fetched.response is None:
        return Visit(fetched, fetched.outcome)
    result = compared(read_response(fetched.response, reading, furniture), fetched.known, reading, furniture)
    return Visit(fetched, result.outcome, result.page, result.judgement, is_same=result.is_same)


def compared(result: Read, known: Response | None, reading: Reading, furniture: bytes) -> Read:
    """With whether the page has the title and the own text of a version that is known, read the same way."""
    if known is None or result.page is None or result.outcome.kind is not Kind.FETCHED:
        return result
    decoded = decode(known.body, known.header("content-encoding"), limits=reading.decode_limits)
    before = read_document(
        known.url,
        decoded.body,
        content_type=known.header("content-type"),
        resolver=reading.urls.resolver,
        glance=reading.urls.glance,
        limits=reading.limits,
        furniture=furniture,
    )
    is_same = (before.title, before.own_text) == (result.page.title, result.page.own_text)
    return replace(result, is_same=is_same)


def read_response(response: Response, reading: Reading, furniture: bytes = b"") -> Read:
    """Decode, parse, judge and expand one document."""
    decoded = decode(response.body, response.header("content-encoding"), limits=reading.decode_limits)
    content_type = response.header("content-type")
    if not decoded.reason and media_type(content_type) in GZIP_TYPES and decoded.body[:2] == GZIP_MAGIC:
        decoded = decode(decoded.body, "gzip", limits=reading.decode_limits)
    if decoded.reason:
        return Read(Outcome(Kind.REFUSED, decoded.reason, decoded.detail, response.status))
    listed = read_list(decoded.body, content_type=content_type, url=response.url)
    if listed is not None:
        return _read_list(listed, response, reading)
    if media_type(content_type) in LIST_TYPES:
        return Read(Outcome(Kind.SKIPPED, "content type", media_type(content_type), response.status))
    body = decoded.body
    if is_pdf(content_type):
        converted = pdf_as_html(body, max_text=reading.limits.max_text)
        if converted.reason:
            return Read(Outcome(Kind.UNREADABLE, converted.reason, converted.detail, response.status))
        body, content_type = converted.document, HTML
    page = read_document(
        response.url,
        body,
        content_type=content_type,
        x_robots_tag=[value for name, value in response.headers if name == "x-robots-tag"],
        usage_headers=[pair for pair in response.headers if pair[0] in USAGE_HEADERS],
        resolver=reading.urls.resolver,
        glance=reading.urls.glance,
        product_token=reading.product_token,
        limits=reading.limits,
        furniture=furniture,
    )
    if page.continued_at:
        detail, location = page.continued_at[:500], page.continued_at
        return Read(Outcome(Kind.REDIRECTED, page.continued_by, detail, response.status, location=location))
    if forbidden := forbids(page.usage, reading.purpose):
        return Read(Outcome(Kind.REFUSED, OPTED_OUT, forbidden, response.status))
    wanted = reading.limits.only_languages
    if wanted and page.language and page.language not in wanted:
        detail = f"{page.language}; only {', '.join(wanted)} {'is' if len(wanted) == 1 else 'are'} asked for"
        return Read(Outcome(Kind.REFUSED, OTHER_LANGUAGE, detail, response.status))
    if page.stemmed_in != "en" and reading.words:
        page = replace(page, terms=renamed(page.terms, aliases(reading.words, page.stemmed_in)))
    page = replace(
        page,
        words=total(page.terms),
        link_hashes=_hashes(page),
        digest=reading.digest(page) if reading.digest else b"",
    )
    if page.words <= MOST_WORDS and (offer := offer_of_domain(page, partial(_site, response.url))):
        return Read(Outcome(Kind.SKIPPED, PARKED, offer, response.status))
    return Read(Outcome(Kind.FETCHED, f"http {response.status}", "", response.status), page, reading.judge.judge(page))


def _read_list(listed: LinkList, response: Response, reading: Reading) -> Read:
    """A feed or a sitemap: its links, within the limit for a page. Of a sitemap only those of its own site count."""
    if not listed.entries:
        why = listed.failure or "it is empty"
        return Read(Outcome(Kind.UNREADABLE, listed.kind, why[:300], response.status))
    resolve, limits = reading.urls.resolver(response.url), reading.limits
    site = _site(response.url) if listed.kind != FEED else ""
    links: dict[str, Link] = {}
    dropped: Counter[str] = Counter()
    for entry in listed.entries:
        target, reason = (
            resolve(entry.href.partition("#")[0]) if len(entry.href) <= limits.max_href else ("", "too long")
        )
        if listed.kind == INDEX and reason == EXTENSION:
            reason = ""  # sitemaps may be compressed
        if not reason and site and _site(target) != site:
            reason = "other site"
        if not reason and len(links) >= (MOST_SITEMAPS if listed.kind == INDEX else limits.max_links):
            reason = "too many links"
        if reason:
            dropped[reason] += 1
        elif target not in links:
            anchor = entry.title[: limits.max_anchor]
            links[target] = Link(target, anchor, f"{anchor} {entry.summary}".strip(), listed.kind, "", len(links))
    page = Page(response.url, links=list(links.values()), dropped=dict(dropped))
    count = f"{len(links):,} links" + (f"; {listed.failure}" if listed.failure else "")
    page = replace(page, link_hashes=_hashes(page))
    return Read(Outcome(Kind.LISTED, listed.kind, count[:300], response.status), page)


def _site(url: str) -> str:
    return registrable_domain(urlsplit(url).hostname or "")


def _hashes(page: Page) -> bytes:
    """Computed here, in the reader, because the crawl's own process has enough to do."""
    values = [url_hash(link.url) for link in page.links]
    values.extend(map(url_hash, page.rejected))
    return struct.pack(f"={len(values)}q", *values)
