"""What the head of a document declares about other documents: where it is continued, and what belongs to it.

    meta refresh      the document moves on by itself, at once or in a few seconds
    amp, canonical    a version for phones, and what it is a version of
    hreflang          the same in other languages
    rel=next          the next page of several
    rel=alternate     feeds of the site

Few documents have any of these, which a search through the bytes tells; only others are searched element by element.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from selectolax.lexbor import LexborHTMLParser, LexborNode

from lycosa.lib import native

_declared = native.load("lycosa.page._declared")

LONGEST_REFRESH = 10.0
"""Seconds up to which a document that moves on by itself is a redirect."""
MOST_LINKS = 200
"""Elements of a head that are looked at."""
_LARGE = 256 << 10
"""Number of bytes of a document in which words are looked for."""
LINKS, REFRESH = 1, 2
_TAG = re.compile(rb"<(link|meta)", re.IGNORECASE)
_ATTRIBUTES = re.compile(
    rb"""(?:[ \t\n\r\f]++[a-z_:-]++(?:[ \t\n\r\f]*+=[ \t\n\r\f]*+"""
    rb"""(?:"[^"<>&]*+"|'[^'<>&]*+'|[^ \t\n\r\f"'=<>`&]++))?+)*+[ \t\n\r\f]*+/?>""",
    re.IGNORECASE,
)
"""The rest of a tag that every parser reads the same way, and without entities."""
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
    attributes = parser.root.attributes if parser.root is not None else {}
    is_amp = "amp" in attributes or "⚡" in attributes
    may = may_declare(source)
    if not may and not is_amp:
        return found
    head = source[:_LARGE].lower()
    if may & REFRESH and b"http-equiv" in head and b"refresh" in head:
        found.refresh = _refresh(parser)
    found.is_amp = is_amp and b"<html" in head and (b" amp" in head or "⚡".encode() in head)
    if may & LINKS and (b"next" in head or b"hreflang" in head or b"+xml" in head or b"feed+json" in head):
        for node in parser.css("link[rel][href]")[:MOST_LINKS]:
            _take_link(found, node)
    return found


def may_declare(source: bytes) -> int:
    """LINKS if a link element may have a relation that counts; REFRESH if the document may move on by itself."""
    may: int = _declared.may_declare(source) if _declared is not None else may_declare_in_python(source)
    return may


def may_declare_in_python(source: bytes) -> int:
    """The twin of what is compiled."""
    may = 0
    for tag in _TAG.finditer(source):
        rest = _ATTRIBUTES.match(source, tag.end())
        words = rest[0].lower() if rest is not None else None
        if tag[1].lower() == b"link":
            may |= LINKS if words is None or b"next" in words or b"alternate" in words else 0
        else:
            may |= REFRESH if words is None or b"refresh" in words else 0
    return may


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
