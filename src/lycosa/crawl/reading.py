"""read: (link, response) in, Visit out. Pure, so that live crawls, replays, tests and clusters share it.

    decode → parse → expand → digest → judge

The content encoding is removed under caps, the document parsed, its own text told from the furniture of its host, the
links resolved and checked against the URL rules, the strategy's digest computed, and the judge asked. Whatever the web
sent, the result is a value.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from lycosa.fetch.decode import DecodeLimits, decode
from lycosa.fetch.urls import Urls, url_hash
from lycosa.judges.protocol import Judge
from lycosa.lib.text import aliases, renamed
from lycosa.model import Fetched, Judgement, Kind, Outcome, Page, Response, Visit
from lycosa.page.html import read_document
from lycosa.page.limits import PageLimits
from lycosa.page.pdf import is_pdf, pdf_as_html

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


@dataclass(frozen=True, slots=True)
class Read:
    """What reading one response gave."""

    outcome: Outcome
    page: Page | None = None
    judgement: Judgement | None = None


def read(fetched: Fetched, reading: Reading, furniture: bytes = b"") -> Visit:
    """The whole step: a document becomes a judged page; any other outcome passes through unchanged.

    `furniture`: what is known of the page's host so far (`Furniture.of`).
    """
    if fetched.outcome.kind is not Kind.FETCHED or fetched.response is None:
        return Visit(fetched, fetched.outcome)
    result = read_response(fetched.response, reading, furniture)
    return Visit(fetched, result.outcome, result.page, result.judgement)


def read_response(response: Response, reading: Reading, furniture: bytes = b"") -> Read:
    """Decode, parse, judge and expand one document."""
    decoded = decode(response.body, response.header("content-encoding"), limits=reading.decode_limits)
    if decoded.reason:
        return Read(Outcome(Kind.REFUSED, decoded.reason, decoded.detail, response.status))
    body, content_type = decoded.body, response.header("content-type")
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
        resolver=reading.urls.resolver,
        product_token=reading.product_token,
        limits=reading.limits,
        furniture=furniture,
    )
    wanted = reading.limits.only_languages
    if wanted and page.language and page.language not in wanted:
        detail = f"{page.language}; only {', '.join(wanted)} {'is' if len(wanted) == 1 else 'are'} asked for"
        return Read(Outcome(Kind.REFUSED, OTHER_LANGUAGE, detail, response.status))
    if page.stemmed_in != "en" and reading.words:
        page = replace(page, terms=renamed(page.terms, aliases(reading.words, page.stemmed_in)))
    page = replace(
        page,
        words=sum(page.terms.values()),
        link_hashes=_hashes(page),
        digest=reading.digest(page) if reading.digest else b"",
    )
    return Read(Outcome(Kind.FETCHED, f"http {response.status}", "", response.status), page, reading.judge.judge(page))


def _hashes(page: Page) -> bytes:
    """Computed here, in the reader, because the crawl's own process has enough to do."""
    values = [url_hash(link.url) for link in page.links]
    values.extend(map(url_hash, page.rejected))
    return struct.pack(f"={len(values)}q", *values)
