"""Relevant pages as they are found (paper AR shows them to its user while it crawls): each is told of once.

A page may become relevant after it was found: the judge learned, the start pages set the threshold, a person said so.
Then it is told of at that moment. Pages that were relevant before this run are not told of again.
"""

from __future__ import annotations

from lycosa.crawl.commit import CrawlLedger
from lycosa.crawl.consequences import FoundPage
from lycosa.store.rows import RelevantPage


class RelevantPages:
    def __init__(self, ledger: CrawlLedger) -> None:
        self._ledger = ledger
        self._told = set(ledger.state.store.relevant_numbers().tolist())
        self._regraded = ledger.regraded

    def news(self, found: list[FoundPage]) -> list[FoundPage]:
        """The pages to be told of: the relevant ones of those just found, and earlier ones that are relevant by now."""
        news = [page for page in found if page.is_relevant and page.number not in self._told]
        self._told.update(page.number for page in news)
        if self._ledger.regraded != self._regraded:
            self._regraded = self._ledger.regraded
            later = [page for page in self._ledger.state.store.relevant_pages() if page.number not in self._told]
            self._told.update(page.number for page in later)
            news += [_found(page) for page in later]
        return news


def _found(page: RelevantPage) -> FoundPage:
    return FoundPage(page.number, page.url, page.title, page.relevance, True, page.language, "")
