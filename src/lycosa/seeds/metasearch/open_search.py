"""Engines that describe themselves: an OpenSearch description says where to ask, and in which format the answer comes.

Read are RSS and Atom, the result formats of OpenSearch, and suggestions, whose fourth part may be URLs (MediaWiki has
it). Pages of results (text/html) are made for people and not read: their markup would have to be guessed. A description
may send requests anywhere: what holds for an engine that the user has named holds for no other place.
"""

from __future__ import annotations

import json
import re
from typing import Any
from urllib.parse import quote, urlsplit

from lycosa.lib.safe_xml import XmlItem, xml_items
from lycosa.seeds.metasearch.engine import (
    GARBAGE,
    EngineAnswer,
    FoundUrl,
    Get,
    Got,
    not_understood,
    refusal,
    results,
)
from lycosa.seeds.metasearch.settings import EngineSettings

FORMATS = ("application/rss+xml", "application/atom+xml", "application/x-suggestions+json")
"""Formats that are read, the best first."""
MOST_ITEMS = 500
_PARAMETER = re.compile(r"\{([A-Za-z:]+)(\??)\}")


class OpenSearch:
    def __init__(self, settings: EngineSettings, get: Get, elsewhere: Get) -> None:
        """`elsewhere`: fetches from places that the user has not named, as a description may say anything."""
        self.name = settings.label
        self._url = settings.url
        self._get = get
        self._elsewhere = elsewhere
        self._described: tuple[str, str] | None = None
        """Format and template, once the description has been read."""

    async def ask(self, query: str, count: int) -> EngineAnswer:
        if self._described is None:
            wrong = await self._describe()
            if wrong is not None:
                return wrong
        assert self._described is not None
        form, template = self._described
        url = filled(template, query, count)
        if not url:
            return EngineAnswer(outcome=GARBAGE, detail="its template needs a parameter that nobody knows")
        is_named = urlsplit(url)[:2] == urlsplit(self._url)[:2]
        got = await (self._get if is_named else self._elsewhere)(url)
        if wrong := refusal(got):
            return wrong
        return _suggestions(got, count) if form == FORMATS[-1] else _feed(got, count)

    async def _describe(self) -> EngineAnswer | None:
        """Read the description; what is wrong if it cannot be used."""
        got = await self._get(self._url)
        if wrong := refusal(got):
            return wrong._replace(detail=f"its description: {wrong.detail}".rstrip(": "))
        # Its URLs are children of the description, and have attributes only.
        listed = xml_items(got.body, items=("Url",), fields=(), most=MOST_ITEMS)
        if not listed.items:
            return not_understood(got, "an OpenSearch description")
        for form in FORMATS:
            for item in listed.items:
                template = item.attributes.get("template", "")
                is_results = item.attributes.get("rel", "results") in ("results", "suggestions")
                if item.attributes.get("type") == form and is_results and template.startswith(("http://", "https://")):
                    self._described = (form, template)
                    return None
        offered = ", ".join(sorted({item.attributes.get("type", "?")[:40] for item in listed.items})[:5])
        return EngineAnswer(outcome=GARBAGE, detail=f"offers {offered}; RSS, Atom or suggestions are read")


def filled(template: str, query: str, count: int) -> str:
    """The template with its parameters; empty if it requires one that is not known. Optional ones are left out."""
    known = {"searchTerms": query, "count": str(count), "startIndex": "1", "startPage": "1", "language": "*"}
    known |= {"inputEncoding": "UTF-8", "outputEncoding": "UTF-8"}
    missing = [name for name, optional in _PARAMETER.findall(template) if name not in known and not optional]
    if missing or "{searchTerms}" not in template:
        return ""
    return _PARAMETER.sub(lambda found: quote(known.get(found[1], ""), safe=""), template)


def _feed(got: Got, count: int) -> EngineAnswer:
    listed = xml_items(got.body, items=("item", "entry"), fields=("title", "link"), most=MOST_ITEMS)
    if not listed.items and listed.failure:
        return not_understood(got, "RSS or Atom")
    found = [FoundUrl(_link(item), item.fields.get("title", "")) for item in listed.items]
    return results([each for each in found if each.url], count)


def _link(item: XmlItem) -> str:
    return item.fields.get("link") or item.fields.get("link@href", "")


def _suggestions(got: Got, count: int) -> EngineAnswer:
    """[query, [completions], [descriptions], [URLs]]."""
    try:
        parts: Any = json.loads(got.body)
    except (ValueError, RecursionError):
        return not_understood(got, "suggestions in JSON")
    is_whole = isinstance(parts, list) and len(parts) >= 4 and all(isinstance(part, list) for part in parts[1:4])
    if not is_whole:
        return not_understood(got, "suggestions with URLs")
    pairs = zip(parts[3], parts[1], strict=False)
    found = [FoundUrl(url, title) for url, title in pairs if isinstance(url, str) and isinstance(title, str) and url]
    return results(found, count)
