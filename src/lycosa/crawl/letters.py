"""What one shard of a cluster tells another, as bytes: a page with those of its links that belong there, or one link.

A page carries what a strategy is told of a visit: its judgement, title and distance, its links with their anchors, and
the strategy's own digest, cut down to these links. The receiver tells its strategy of it as of any visit.
"""

from __future__ import annotations

import json
import struct
from typing import Any, NamedTuple

import numpy as np

from lycosa.crawl.link_rules import FoundLink
from lycosa.errors import StoreError
from lycosa.fetch.urls import url_hash
from lycosa.model import Fetched, Judgement, Kind, Lease, Link, Outcome, Page, Visit

PAGE, LINK = 1, 2
_HEAD = struct.Struct("<BI")
FETCHED = Outcome(Kind.FETCHED, "http 200", status=200)


class PageLetter(NamedTuple):
    page: Page
    judgement: Judgement | None
    distance: int
    ended: float

    def visit(self, link: int, host: int, note: bytes = b"") -> Visit:
        """As if this crawl had fetched the page, which has this number here."""
        lease = Lease(link, self.page.url, host, 0.0, self.distance, 0, 0)
        return Visit(Fetched(lease, FETCHED, ended=self.ended), FETCHED, self.page, self.judgement, note)


class LinkLetter(NamedTuple):
    url: str
    found: FoundLink


def page_letter(visit: Visit, page: Page, links: list[Link], digest: bytes) -> bytes:
    """`digest`: the strategy's, of a page that has these links alone."""
    judgement = visit.guiding.judgement
    about = {
        "url": page.url,
        "title": page.title,
        "language": page.language,
        "words": page.words,
        "fingerprint": page.fingerprint,
        "is_nofollow": page.is_nofollow,
        "distance": visit.lease.distance,
        "ended": visit.fetched.ended,
        "judgement": judgement and [judgement.relevance, judgement.is_relevant, dict(judgement.scores), judgement.best],
        "links": [[link.url, link.anchor, link.rel, link.position, list(link.other_anchors)] for link in links],
    }
    return _packed(PAGE, about, digest)


def link_letter(url: str, found: FoundLink) -> bytes:
    return _packed(LINK, {"url": url, "found": list(found)}, b"")


def without_digest(value: bytes) -> bytes:
    """The letter, as far as it is needed once the strategy has a note of it."""
    _, size = _HEAD.unpack_from(value)
    return value[: _HEAD.size + size]


def opened_letter(value: bytes) -> PageLetter | LinkLetter:
    """StoreError if it cannot be read."""
    try:
        kind, size = _HEAD.unpack_from(value)
        about = json.loads(value[_HEAD.size : _HEAD.size + size])
        if kind == LINK:
            return LinkLetter(about["url"], FoundLink(*about["found"]))
        return _page(about, bytes(value[_HEAD.size + size :]))
    except (struct.error, ValueError, KeyError, TypeError) as error:
        raise StoreError(
            f"a letter of another shard cannot be read ({type(error).__name__}: {error}): all crawlers of a cluster "
            "need the same version of Lycosa"
        ) from error


def _packed(kind: int, about: dict[str, Any], digest: bytes) -> bytes:
    text = json.dumps(about, separators=(",", ":")).encode()
    return _HEAD.pack(kind, len(text)) + text + digest


def _page(about: dict[str, Any], digest: bytes) -> PageLetter:
    links = [Link(url, anchor, "", "", rel, place, tuple(others)) for url, anchor, rel, place, others in about["links"]]
    page = Page(
        about["url"],
        title=about["title"],
        language=about["language"],
        words=about["words"],
        fingerprint=about["fingerprint"],
        is_nofollow=about["is_nofollow"],
        links=links,
        link_hashes=np.array([url_hash(link.url) for link in links], dtype=np.int64).tobytes(),
        digest=digest,
    )
    said = about["judgement"]
    judgement = Judgement(said[0], said[1], said[2], best=said[3]) if said else None
    return PageLetter(page, judgement, about["distance"], about["ended"])
