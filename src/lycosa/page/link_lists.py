"""Feeds and sitemaps: documents that are lists of links, and no pages.

RSS, Atom and JSON feeds; sitemaps in XML (with the news extension, whose titles serve as anchors), indexes of sitemaps,
and sitemaps as plain text. XML is read by `lib.safe_xml`, which refuses document types: an entity bomb is refused where
it begins. What a list says is bounded by its bytes and by the number of entries asked for; the newest are kept.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from lycosa.lib.media_types import GZIP_TYPES, JSON_FEED_TYPES, XML_LIST_TYPES, file_name, media_type
from lycosa.lib.safe_xml import XmlItem, xml_items

FEED, SITEMAP, INDEX = "feed", "sitemap", "sitemap index"
MOST_READ = 50_000
"""Entries of a document, which is the sitemap protocol's own limit."""
_ROOT = re.compile(rb"<(?:\w+:)?(rss|feed|RDF|urlset|sitemapindex)[\s>]")
_HEAD = 4096
_SUMMARY = 300
_TAG = re.compile(r"<[^>]{0,1000}>")
_ITEMS = {
    b"rss": ("item",),
    b"RDF": ("item",),
    b"feed": ("entry",),
    b"urlset": ("url",),
    b"sitemapindex": ("sitemap",),
}
_KINDS = {b"urlset": SITEMAP, b"sitemapindex": INDEX}
_FIELDS = (
    "title",
    "link",
    "guid",
    "description",
    "summary",
    "pubDate",
    "date",
    "updated",
    "published",
    "loc",
    "lastmod",
    "publication_date",
)


class ListEntry(NamedTuple):
    href: str
    title: str = ""
    summary: str = ""
    changed: str = ""
    """When it was last changed, as the list writes it; dates of sitemaps and Atom sort as texts."""


class LinkList(NamedTuple):
    kind: str
    entries: list[ListEntry]
    """The newest first, where all say when they were changed; otherwise as they are listed."""
    failure: str = ""
    """Why it was not read to its end; empty if it was."""


def read_list(body: bytes, *, content_type: str, url: str) -> LinkList | None:
    """The list that a document is; None if it is none."""
    kind = media_type(content_type)
    if kind in JSON_FEED_TYPES:
        return _json_feed(body)
    if kind in XML_LIST_TYPES or kind in GZIP_TYPES:
        found = _ROOT.search(body, 0, _HEAD)
        return _xml_list(body, found[1]) if found else None
    if kind == "text/plain" and "sitemap" in file_name(url):
        return _text_sitemap(body)
    return None


def _xml_list(body: bytes, root: bytes) -> LinkList:
    read = xml_items(body, items=_ITEMS[root], fields=_FIELDS, most=MOST_READ, within=("news",))
    entries = [entry for item in read.items if (entry := _entry(item)) is not None]
    return LinkList(_KINDS.get(root, FEED), _newest_first(entries), read.failure)


def _entry(item: XmlItem) -> ListEntry | None:
    fields = item.fields
    href = fields.get("loc") or fields.get("link[alternate]@href") or fields.get("link") or ""
    if not href and fields.get("guid@isPermaLink", "true").lower() != "false":
        href = fields.get("guid", "")
    if not href:
        return None
    changed = next(
        (fields[name] for name in ("lastmod", "publication_date", "updated", "published", "date") if fields.get(name)),
        "",
    )
    summary = fields.get("description") or fields.get("summary") or ""
    return ListEntry(href, _text(fields.get("title", "")), _text(summary)[:_SUMMARY], changed)


def _text(markup: str) -> str:
    """What of a title or a summary is text: feeds escape HTML in them."""
    return " ".join(_TAG.sub(" ", markup).split())


def _newest_first(entries: list[ListEntry]) -> list[ListEntry]:
    """Those without a date come last, in their order."""
    return sorted(entries, key=lambda entry: entry.changed, reverse=True)


def _json_feed(body: bytes) -> LinkList:
    try:
        feed: Any = json.loads(body)
    except (ValueError, RecursionError) as error:
        return LinkList(FEED, [], f"not JSON: {type(error).__name__}")
    items = feed.get("items") if isinstance(feed, dict) else None
    if not isinstance(items, list):
        return LinkList(FEED, [], "a JSON feed has items")
    return LinkList(FEED, _newest_first(list(_json_entries(items[:MOST_READ]))))


def _json_entries(items: list[Any]) -> Iterator[ListEntry]:
    for item in items:
        if not isinstance(item, dict):
            continue
        texts = {name: value for name, value in item.items() if isinstance(value, str)}
        if href := texts.get("url") or texts.get("external_url"):
            changed = texts.get("date_modified") or texts.get("date_published") or ""
            yield ListEntry(href, _text(texts.get("title", "")), _text(texts.get("summary", ""))[:_SUMMARY], changed)


def _text_sitemap(body: bytes) -> LinkList | None:
    """A URL on each line; a text that has anything else is a text."""
    lines = [
        line.strip() for line in body.decode("utf-8", "replace").lstrip("\ufeff").split("\n", MOST_READ)[:MOST_READ]
    ]
    urls = [line for line in lines if line]
    if not urls or not all(line.startswith(("http://", "https://")) for line in urls):
        return None
    return LinkList(SITEMAP, [ListEntry(url) for url in urls])
