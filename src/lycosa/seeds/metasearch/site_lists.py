"""Lists of the URLs of sites that proved relevant: their own sitemaps, and what web archives know of them (CDX).

Such lists have no texts, so URLs are ranked by how many words of the query they have; one that has none is no result.
A sitemap may be an index of others, may be compressed, and may be anything at all: the number of files, of bytes and of
URLs is limited. Sitemaps are asked for like pages of the site: robots.txt and the site's own clock hold
(`RelevantSites`).
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import NamedTuple, Protocol
from urllib.parse import quote, unquote, urlsplit

from lycosa.lib.safe_xml import xml_items
from lycosa.lib.text import stems
from lycosa.seeds.metasearch.engine import (
    GARBAGE,
    HOST_BUSY,
    NO_SITE,
    NOTHING,
    EngineAnswer,
    FoundUrl,
    Get,
    Got,
    not_understood,
    refusal,
    results,
)
from lycosa.seeds.metasearch.settings import EngineSettings

MOST_SITES = 3
"""RelevantSites that are asked about in a round."""
MOST_FILES = 4
"""Sitemaps read of a site."""
MOST_URLS = 50_000
"""Of a sitemap (the protocol's own limit) or of an index."""
SITEMAP_BYTES = 10_000_000
CDX_LINES = 2_000
_WORDS = re.compile(r"[^\W_]+")


class Site(NamedTuple):
    origin: str
    """https://example.org"""
    sitemaps: Sequence[str] = ()
    """Those that its robots.txt names."""


class RelevantSites(Protocol):
    """The sites of the crawl that have relevant pages."""

    def best(self, count: int) -> Sequence[Site]:
        """Those with most relevant pages, which may be asked now."""
        ...

    async def get(self, url: str, max_bytes: int) -> Got | None:
        """Fetch a file of such a site; None if robots.txt, or its delay, forbids it."""
        ...


class Sitemaps:
    """Each site is read once in a run."""

    def __init__(self, settings: EngineSettings, sites: RelevantSites) -> None:
        self.name = settings.label
        self._sites = sites
        self._known: dict[str, list[str]] = {}
        """URLs by origin."""

    async def ask(self, query: str, count: int) -> EngineAnswer:
        sites = self._sites.best(MOST_SITES)
        if not sites:
            return EngineAnswer(outcome=NO_SITE, is_contact=False)
        wrong, is_contact = None, False
        for site in sites:
            if site.origin not in self._known:
                is_contact = True
                listed = await self._read(site)
                if isinstance(listed, EngineAnswer):
                    wrong = listed
                    if listed.outcome == HOST_BUSY:  # another time
                        continue
                    listed = []
                self._known[site.origin] = listed
        urls = [url for site in sites for url in self._known.get(site.origin, ())]
        if not urls and wrong is not None:
            return wrong
        return ranked(urls, query, count)._replace(is_contact=is_contact)

    async def _read(self, site: Site) -> list[str] | EngineAnswer:
        """The URLs of a site's sitemaps, of its own origin only."""
        waiting = [url for url in site.sitemaps if _origin(url) == site.origin] or [f"{site.origin}/sitemap.xml"]
        seen: set[str] = set()
        urls: list[str] = []
        wrong: EngineAnswer | None = None
        while waiting and len(seen) < MOST_FILES and len(urls) < MOST_URLS:
            file = waiting.pop(0)
            if file in seen:
                continue
            seen.add(file)
            got = await self._sites.get(file, SITEMAP_BYTES)
            if got is None:
                wrong = wrong or EngineAnswer(outcome="robots", detail=urlsplit(file).hostname or "", is_contact=False)
                continue
            if refused := refusal(got):
                wrong = wrong or refused
                continue
            listed = xml_items(got.body, items=("url", "sitemap"), fields=("loc",), most=MOST_URLS)
            if not listed.items:
                wrong = wrong or not_understood(got, "a sitemap")
            for item in listed.items:
                url = item.fields.get("loc", "")
                if _origin(url) == site.origin:
                    (waiting if item.name == "sitemap" else urls).append(url)
        return urls if urls or wrong is None else wrong


class CdxIndex:
    """What a web archive knows of the best sites (the interface of Common Crawl's index and of pywb)."""

    def __init__(self, settings: EngineSettings, get: Get, sites: RelevantSites) -> None:
        self.name = settings.label
        self._url = settings.url
        self._get = get
        self._sites = sites
        self._known: dict[str, list[str]] = {}

    async def ask(self, query: str, count: int) -> EngineAnswer:
        sites = self._sites.best(MOST_SITES)
        if not sites:
            return EngineAnswer(outcome=NO_SITE, is_contact=False)
        # One request a round: the first site that has not been asked about.
        new = next((site for site in sites if site.origin not in self._known), None)
        if new is not None:
            answer = await self._list(new)
            if isinstance(answer, EngineAnswer):
                return answer
            self._known[new.origin] = answer
        urls = [url for site in sites for url in self._known.get(site.origin, ())]
        return ranked(urls, query, count)._replace(is_contact=new is not None)

    async def _list(self, site: Site) -> list[str] | EngineAnswer:
        place = quote(f"{site.origin.partition('://')[2]}/*", safe="")
        sign = "&" if "?" in self._url else "?"
        got = await self._get(f"{self._url}{sign}url={place}&output=json&fl=url&filter=status:200&limit={CDX_LINES}")
        if got.status == 404 and not got.failure:  # it knows none: Common Crawl's way to say so
            return []
        if refused := refusal(got):
            return refused
        urls: list[str] = []
        lines = got.body.decode("utf-8", "replace").splitlines()[:CDX_LINES]
        for line in lines:
            try:
                entry = json.loads(line)
            except (ValueError, RecursionError):
                continue
            if isinstance(entry, dict) and isinstance(url := entry.get("url"), str):
                urls.append(url)
        if lines and not urls:
            return EngineAnswer(outcome=GARBAGE, detail="no line is JSON with a url")
        return urls


def ranked(urls: Sequence[str], query: str, count: int) -> EngineAnswer:
    """The URLs that have words of the query, those with most of them first; of equals, the shorter."""
    wanted = set(stems(query))
    found: dict[str, tuple[int, int]] = {}
    for url in urls:
        path = unquote(url.partition("://")[2])
        shared = len(wanted & set(stems(" ".join(_WORDS.findall(path)))))
        if shared:
            found.setdefault(url, (-shared, len(url)))
    best = sorted(found, key=found.__getitem__)[:count]
    return results([FoundUrl(url) for url in best], count) if best else EngineAnswer(outcome=NOTHING)


def _origin(url: str) -> str:
    try:
        parts = urlsplit(url)
    except ValueError:
        return ""
    return f"{parts.scheme}://{parts.netloc}"
