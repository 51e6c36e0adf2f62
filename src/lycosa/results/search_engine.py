"""Another crawl as a search engine: what it has fetched is found by its full-text index."""

from __future__ import annotations

import asyncio
from pathlib import Path

from lycosa.errors import LycosaError
from lycosa.lib.text import split_words
from lycosa.results.search import search
from lycosa.results.search_query import MAX_TERMS
from lycosa.seeds.metasearch.engine import EngineAnswer, FoundUrl, results, shortened


class CrawlEngine:
    """`seeds.metasearch.engine.Engine` over the crawl in a directory; its index is brought up to date first."""

    def __init__(self, name: str, directory: Path) -> None:
        self.name = name
        self._directory = directory

    async def ask(self, query: str, count: int) -> EngineAnswer:
        words = " ".join(split_words(query)[:MAX_TERMS])
        try:
            # In a thread: a large crawl takes a while to index, and this one goes on meanwhile.
            found = await asyncio.to_thread(search, self._directory, words, limit=count)
        except (LycosaError, OSError) as error:
            return EngineAnswer(outcome="workspace", detail=shortened(str(error)), is_contact=False)
        answer = results([FoundUrl(page.url, page.title) for page in found.pages], count)
        return answer._replace(is_contact=False)
