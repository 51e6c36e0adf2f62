"""Engines that answer in JSON: an address with the words in it, and a place in the answer where the results are.

    SearXNG    GET BASE/search?q=…&format=json               {"results": [{"url", "title"}]}
    Brave      GET …/res/v1/web/search?q=…, key in a header  {"web": {"results": [{"url", "title"}]}}
    Mojeek     GET …/search?q=…&fmt=json&api_key=…           {"response": {"results": [{"url", "title"}]}}

Others are described in the settings (kind = "json"). A key comes from the environment when it is needed; it is in the
request and nowhere else.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import replace
from typing import Any
from urllib.parse import quote

from lycosa.seeds.metasearch.engine import (
    NO_KEY,
    EngineAnswer,
    FoundUrl,
    Get,
    not_understood,
    refusal,
    results,
)
from lycosa.seeds.metasearch.settings import EngineSettings

BRAVE = "https://api.search.brave.com/res/v1/web/search?q={query}&count={count}"
MOJEEK = "https://api.mojeek.com/search?q={query}&t={count}&fmt=json&api_key={key}"
MOST = {"brave": 20, "mojeek": 30}
"""Maximum number of results that may be asked for."""


class JsonApi:
    def __init__(self, settings: EngineSettings, get: Get, *, environment: Mapping[str, str] = os.environ) -> None:
        self.name = settings.label
        self._settings = _described(settings)
        self._get = get
        self._environment = environment

    async def ask(self, query: str, count: int) -> EngineAnswer:
        settings = self._settings
        key = self._environment.get(settings.key_env, "").strip() if settings.key_env else ""
        if settings.key_env and not key:
            detail = f"set the environment variable {settings.key_env}"
            return EngineAnswer(outcome=NO_KEY, detail=detail, is_contact=False)
        if not (key.isascii() and key.isprintable()):
            return EngineAnswer(outcome=NO_KEY, detail=f"{settings.key_env} is no key", is_contact=False)
        wanted = min(count, MOST.get(settings.kind, count))
        url = settings.url.replace("{count}", str(wanted)).replace("{key}", quote(key, safe=""))
        url = url.replace("{query}", quote(query, safe=""))
        headers = [f"{settings.key_header}: {key}"] if key and settings.key_header else []
        got = await self._get(url, headers=headers)
        if wrong := refusal(got, self._hint):
            return wrong
        try:
            listed = _at(json.loads(got.body), settings.results)
        except (ValueError, RecursionError):
            return not_understood(got, "JSON")
        if listed is None and settings.kind == "brave":  # which leaves the part out that would be empty
            listed = []
        if not isinstance(listed, list):
            return not_understood(got, f"results at {settings.results}")
        found = [self._found(item) for item in listed[: 10 * count]]
        return results([each for each in found if each is not None], count)

    def _found(self, item: Any) -> FoundUrl | None:
        if not isinstance(item, dict):
            return None
        url, title = item.get(self._settings.url_field), item.get(self._settings.title_field)
        return FoundUrl(url, title if isinstance(title, str) else "") if isinstance(url, str) and url else None

    def _hint(self, status: int) -> str:
        if self._settings.kind == "searxng" and status == 403:
            return "does its settings.yml list json under search.formats?"
        return "is the key right?" if self._settings.key_env and status in (401, 403) else ""


def _described(settings: EngineSettings) -> EngineSettings:
    """The address and the answer of the kinds that are known."""
    known: dict[str, dict[str, Any]] = {
        "searxng": {"url": f"{settings.url.rstrip('/')}/search?q={{query}}&format=json", "results": "results"},
        "brave": {"url": settings.url or BRAVE, "results": "web.results", "key_header": "X-Subscription-Token"},
        "mojeek": {"url": settings.url or MOJEEK, "results": "response.results"},
    }
    return replace(settings, **known.get(settings.kind, {}))


def _at(answer: Any, path: str) -> Any:
    """What is at `web.results`; None if there is nothing."""
    for name in path.split("."):
        if not isinstance(answer, dict):
            return None
        answer = answer.get(name)
    return answer
