"""Media types of documents that may be lists of links: feeds and sitemaps."""

from __future__ import annotations

from urllib.parse import urlsplit

XML_LIST_TYPES = frozenset(
    {"application/rss+xml", "application/atom+xml", "application/rdf+xml", "application/xml", "text/xml"}
)
JSON_FEED_TYPES = frozenset({"application/feed+json"})
GZIP_TYPES = frozenset({"application/gzip", "application/x-gzip"})
LIST_TYPES = XML_LIST_TYPES | JSON_FEED_TYPES | GZIP_TYPES


def media_type(content_type: str) -> str:
    """The type itself, without parameters."""
    return content_type.partition(";")[0].strip().lower()


def is_list_type(content_type: str, url: str) -> bool:
    """Whether an answer may be a list of links, by its type. Archives are not looked into unless their name says so."""
    kind = media_type(content_type)
    if kind not in GZIP_TYPES:
        return kind in LIST_TYPES
    name = file_name(url)
    return name.endswith((".xml.gz", ".txt.gz")) or "sitemap" in name


def file_name(url: str) -> str:
    """The last part of the path of a URL, in lower case."""
    try:
        return urlsplit(url).path.lower().rpartition("/")[2]
    except ValueError:
        return ""
