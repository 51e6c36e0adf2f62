"""What the head of a document declares about other documents: where it is continued, and what belongs to it.

meta refresh      the document moves on by itself, at once or in a few seconds
amp, canonical    a version for phones, and what it is a version of
hreflang          the same in other languages
rel=next          the next page of several
rel=alternate     feeds of the site
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from lycosa.page.walk import Document, Relation

LONGEST_REFRESH = 10.0
"""Seconds up to which a document that moves on by itself is a redirect."""
MOST_LINKS = 200
"""Number of elements that are looked at."""
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


def read_declared(document: Document) -> Declared:
    found = Declared(is_amp=document.is_amp)
    for name, content in document.http_equivs[:MOST_LINKS]:
        if not found.refresh and name.strip().lower() == "refresh":
            found.refresh = _refresh(content)
    for relation in document.relations[:MOST_LINKS]:
        _take(found, relation)
    return found


def _refresh(content: str) -> str:
    """Where a document moves on to, at once or within seconds."""
    matched = _REFRESH.match(content[:4096])
    if matched is None or float(matched[1]) > LONGEST_REFRESH:
        return ""
    sign, target = matched[2], matched[3]
    return (target.partition(sign)[0] if sign else target).strip()


def _take(found: Declared, relation: Relation) -> None:
    rel, href = relation.rel.lower().split(), relation.href.strip()
    if not href:
        return
    if "next" in rel:
        found.next = found.next or href
    if "alternate" not in rel:
        return
    language = relation.hreflang.strip().lower().partition("-")[0]
    if relation.type.strip().lower() in _FEEDS:
        found.feeds.append((href, relation.title))
    elif len(language) == 2:
        found.in_language.setdefault(language, href)
