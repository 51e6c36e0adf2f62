"""What the head of a document declares about other documents: where it is continued, and what belongs to it.

    meta refresh      the document moves on by itself, at once or in a few seconds
    amp, canonical    a version for phones, and what it is a version of
    hreflang          the same in other languages
    rel=next          the next page of several
    rel=alternate     feeds of the site

Nearly all documents have none of these words in them, which a search through the bytes tells; only others are asked.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from selectolax.lexbor import LexborHTMLParser, LexborNode

LONGEST_REFRESH = 10.0
"""Seconds up to which a document that moves on by itself is a redirect."""
MOST_LINKS = 200
"""Elements of a head that are looked at."""
_FEEDS = frozenset({"application/rss+xml", "application/atom+xml", "application/feed+json"})
_REFRESH = re.compile(r"\s*([0-9]{1,6})(?:\.[0-9]*)?\s*[;,]\s*(?:url\s*=\s*)?(['\"]?)(.*)", re.IGNORECASE | re.DOTALL)


@dataclass(slots=True)
class Declared:
    refresh: str = ""
    """Where the document moves on to; empty if it stays."""
    is_amp: bool = False
    next: str = ""
    in_language: dict[str, str] = field(default_factory=dict)
    """Other versions by language, in lower case and without the region; of several, the first."""
    feeds: list[tuple[str, str]] = field(default_factory=list)
    """URL and title, as written."""


def read_declared(parser: LexborHTMLParser, source: bytes) -> Declared:
    """`source`: the bytes of the document."""
    found = Declared()
    head = source[: 256 << 10].lower()
    if b"http-equiv" in head and b"refresh" in head:
        found.refresh = _refresh(parser)
    if b"<html" in head and (b" amp" in head or "⚡".encode() in head) and parser.root is not None:
        attributes = parser.root.attributes
        found.is_amp = "amp" in attributes or "⚡" in attributes
    if b"hreflang" in head or b"next" in head or b"+xml" in head or b"feed+json" in head:
        for node in parser.css("link[rel][href]")[:MOST_LINKS]:
            _take_link(found, node)
    return found


def _refresh(parser: LexborHTMLParser) -> str:
    for node in parser.css("meta[http-equiv][content]")[:MOST_LINKS]:
        attributes = node.attributes
        if (attributes.get("http-equiv") or "").strip().lower() != "refresh" or _is_in_noscript(node):
            continue
        matched = _REFRESH.match((attributes.get("content") or "")[:4096])
        if matched is None or float(matched[1]) > LONGEST_REFRESH:
            continue
        sign, target = matched[2], matched[3]
        return (target.partition(sign)[0] if sign else target).strip()
    return ""


def _is_in_noscript(node: LexborNode) -> bool:
    """What stands there for browsers without scripts mostly is a page that asks for scripts."""
    return node.parent is not None and node.parent.tag == "noscript"


def _take_link(found: Declared, node: LexborNode) -> None:
    attributes = node.attributes
    rel, href = (attributes.get("rel") or "").lower().split(), (attributes.get("href") or "").strip()
    if not href:
        return
    if "next" in rel:
        found.next = found.next or href
    if "alternate" not in rel:
        return
    language = (attributes.get("hreflang") or "").strip().lower().partition("-")[0]
    if (attributes.get("type") or "").strip().lower() in _FEEDS:
        found.feeds.append((href, attributes.get("title") or ""))
    elif len(language) == 2:
        found.in_language.setdefault(language, href)
