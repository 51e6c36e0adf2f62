"""What a document says of itself: author, dates, licence, site, kind of text.

Pages declare this in several vocabularies. Each field is taken from the first of these that has it: JSON-LD (of the
first node that is an article, a page or the like), Open Graph and other `meta` elements, Dublin Core, `link` and `a`
elements with a rel. All of it is claims of a stranger: text is kept on one line, without control characters and cut to
a length; dates are kept only if they can be read as dates; URLs only if they are http or https.

JSON-LD is read as plain JSON, within bounds on its size and on the number of values looked at. Contexts are not loaded.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from datetime import datetime
from email.utils import parsedate_to_datetime
from typing import Any, NamedTuple

from selectolax.lexbor import LexborHTMLParser

from lycosa.page.inline import Absolute, printable

MAX_VALUE = 300
MAX_DESCRIPTION = 1_000
MAX_JSON = 1 << 18
"""Maximum number of characters of JSON-LD read from a page."""
MAX_NODES = 500
"""Maximum number of values looked at in it."""
_MAX_AUTHORS = 8
_YEARS = range(1800, 2200)

_TEXTS = ("article", "newsarticle", "blogposting", "techarticle", "scholarlyarticle", "report", "review", "recipe")
_OTHER_TEXTS = ("howto", "faqpage", "qapage", "book", "socialmediaposting", "discussionforumposting")
_PAGES = ("webpage", "itempage", "aboutpage", "collectionpage", "profilepage", "product", "event", "person", "place")
_RANKS = {name: rank for rank, name in enumerate((*_TEXTS, *_OTHER_TEXTS, *_PAGES))}
"""Types of JSON-LD nodes that speak for the page, the best first."""


class Metadata(NamedTuple):
    """What a document says of itself; empty where it says nothing."""

    title: str = ""
    """Title without the name of the site, if the page has such a one."""
    author: str = ""
    """Names of authors, separated by semicolons."""
    published: str = ""
    """ISO 8601: a date, or a date and a time."""
    modified: str = ""
    language: str = ""
    """As declared, such as en-GB."""
    site: str = ""
    """Name of the site."""
    description: str = ""
    type: str = ""
    """Kind of page in the words of schema.org or Open Graph: TechArticle, article, website."""
    licence: str = ""
    """URL of the licence, or its name."""


_NAMES: Mapping[str, tuple[str, ...]] = {
    "title": ("og:title", "twitter:title", "citation_title", "dc.title", "dcterms.title"),
    "author": ("author", "article:author", "citation_author", "dc.creator", "dcterms.creator", "parsely-author"),
    "published": (
        "article:published_time",
        "datepublished",
        "citation_publication_date",
        "dc.date.issued",
        "dcterms.issued",
        "dcterms.created",
        "dc.date",
        "dcterms.date",
        "date",
        "pubdate",
        "parsely-pub-date",
    ),
    "modified": (
        "article:modified_time",
        "og:updated_time",
        "datemodified",
        "dcterms.modified",
        "dc.date.modified",
        "last-modified",
        "revised",
    ),
    "language": ("og:locale", "content-language", "dc.language", "dcterms.language", "inlanguage"),
    "site": ("og:site_name", "application-name"),
    "description": ("description", "og:description", "twitter:description", "dc.description", "dcterms.description"),
    "type": ("og:type", "dc.type", "dcterms.type"),
    "licence": ("license", "dcterms.license", "dc.rights.license", "dcterms.rights", "dc.rights", "copyright"),
}
"""Names of meta elements that give a field, the best first."""
_JSON_NAMES: Mapping[str, tuple[str, ...]] = {
    "title": ("headline", "name"),
    "author": ("author", "creator"),
    "published": ("datePublished", "dateCreated", "uploadDate"),
    "modified": ("dateModified",),
    "language": ("inLanguage",),
    "site": ("publisher",),
    "description": ("description",),
    "type": ("@type",),
    "licence": ("license",),
}
_DATES = ("published", "modified")


def read_metadata(parser: LexborHTMLParser, absolute: Absolute) -> Metadata:
    """What a parsed document says of itself. `absolute`: turns an href into a URL."""
    metas = _metas(parser)
    node = _best_node(parser)
    found = {}
    for field in Metadata._fields:
        sources = [_from_json(node, field), *(metas.get(name, []) for name in _NAMES[field])]
        if field == "author":
            sources = [["; ".join(dict.fromkeys(names[:_MAX_AUTHORS]))] for names in sources]
        values = (_value(field, value) for source in sources for value in source)
        found[field] = next(filter(None, values), "")
    html = parser.css_first("html")
    declared = (html.attributes.get("lang") or html.attributes.get("xml:lang") or "") if html else ""
    found["language"] = _value("language", declared) or found["language"].replace("_", "-")
    found["licence"] = _licence_link(parser, absolute) or _licence(found["licence"], absolute)
    return Metadata(**found)


def _value(field: str, value: str) -> str:
    if field in _DATES:
        return as_date(value)
    longest = MAX_DESCRIPTION if field == "description" else MAX_VALUE
    # Cut before anything else is done with it: an attribute can be megabytes long.
    return " ".join(printable(value[: 4 * longest]).split())[:longest]


def as_date(text: str) -> str:
    """A date in ISO 8601; empty if the text is none. Both ISO 8601 and the dates of e-mails are understood."""
    text = text.strip()[:64]
    moment: datetime | None = None
    for read in (datetime.fromisoformat, parsedate_to_datetime):
        try:
            moment = read(text)
            break
        except (ValueError, TypeError, IndexError, OverflowError):
            continue
    if moment is None or moment.year not in _YEARS:
        return ""
    is_day = len(text) <= len("2024-01-31") and not any(character.isalpha() for character in text)
    return moment.date().isoformat() if is_day else moment.isoformat(timespec="seconds")


def _metas(parser: LexborHTMLParser) -> dict[str, list[str]]:
    """Contents of meta elements by name, in lower case; itemprops are taken of meta and time elements alone."""
    found: dict[str, list[str]] = {}
    for node in parser.css("meta[content]"):
        attributes = node.attributes
        name = attributes.get("property") or attributes.get("name") or attributes.get("http-equiv")
        name = (name or attributes.get("itemprop") or "").strip().lower()
        content = attributes.get("content")
        if name and content and len(found) < MAX_NODES:
            found.setdefault(name[:MAX_VALUE], []).append(content)
    for node in parser.css("time[itemprop][datetime]"):
        found.setdefault((node.attributes.get("itemprop") or "").lower(), []).append(node.attributes["datetime"] or "")
    return found


def _best_node(parser: LexborHTMLParser) -> dict[str, Any]:
    """The JSON-LD node that speaks for the page; empty if there is none."""
    best: dict[str, Any] = {}
    best_rank = len(_RANKS)
    left = MAX_JSON
    for script in parser.css('script[type="application/ld+json"]'):
        source = script.text()
        left -= len(source)
        if left < 0:
            break
        try:
            whole = json.loads(source)
        except (ValueError, RecursionError):
            continue
        for node in _nodes(whole):
            rank = min((_RANKS.get(kind.lower(), len(_RANKS)) for kind in _strings(node.get("@type"))), default=999)
            if rank < best_rank:
                best, best_rank = node, rank
    return best


def _nodes(whole: Any) -> Iterator[dict[str, Any]]:
    """The objects at the top, in lists, in @graph and what is said to be the main entity."""
    waiting, seen = [whole], 0
    while waiting and seen < MAX_NODES:
        value = waiting.pop()
        seen += 1
        if isinstance(value, list):
            waiting += reversed(value[:MAX_NODES])
        elif isinstance(value, dict):
            yield value
            waiting += [value[name] for name in ("mainEntity", "@graph") if name in value]


def _from_json(node: Mapping[str, Any], field: str) -> list[str]:
    return [text for name in _JSON_NAMES[field] for text in _strings(node.get(name))]


def _strings(value: Any) -> list[str]:
    """Texts in a value: itself, those of a list, or the name or URL of an object."""
    values = value[:_MAX_AUTHORS] if isinstance(value, list) else [value]
    found = []
    for one in values:
        if isinstance(one, dict):
            one = one.get("name") or one.get("url") or one.get("@id")
        if isinstance(one, str) and one.strip():
            found.append(one.strip())
    return found


def _licence_link(parser: LexborHTMLParser, absolute: Absolute) -> str:
    for node in parser.css('[rel~="license"][href]'):
        if url := absolute(node.attributes.get("href") or ""):
            return url[:MAX_VALUE]
    return ""


def _licence(text: str, absolute: Absolute) -> str:
    """A licence that is no link: a URL, if it is one, otherwise its name."""
    return absolute(text) if text.lower().startswith(("http:", "https:", "//")) else text
