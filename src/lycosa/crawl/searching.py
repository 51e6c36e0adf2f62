"""Search engines beside the line: when they are asked, for what, and how their results join the frontier.

    at the start                     the topic's words; a crawl without seeds begins with what comes of it
    every so many pages              the topic's words with the most distinctive ones of what was found since
    no relevant page for a while     the same, at once
    nothing left to fetch            the same, before the crawl gives up

Results join as links that no page has: URL rules, robots.txt, guard, limits and politeness hold for them as for links;
the strategy says what they are worth (`Strategy.search_score`). Queries, answers and results are committed in one
transaction with the links, so that a resumed crawl asks nothing again. Live crawls and replays share this module; they
differ in the `Board` that is handed to it.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from typing import NamedTuple, Protocol

from lycosa.seeds.metasearch.fusion import FusedPage, fused
from lycosa.seeds.metasearch.panel import FINE, Asked, Panel
from lycosa.seeds.metasearch.queries import FoundTexts, Weight, first_query, next_queries
from lycosa.seeds.metasearch.settings import MetaSearchSettings

AT_START, EVERY, DRY, EMPTY = "start", "every", "dry", "empty"
"""Why engines are asked."""
WORDS_FOR = {AT_START: "at the start", EVERY: "as planned", DRY: "nothing relevant for a while", EMPTY: "nothing left"}


class Round(NamedTuple):
    """What came of asking all engines once."""

    reason: str
    after_pages: int
    queries: tuple[str, ...]
    asked: tuple[Asked, ...]
    pages: tuple[FusedPage, ...]
    """Those that are to join, the best first."""
    rejected: int
    """Number of results that a URL rule turned away."""


class Board(Protocol):
    """Where the crawl stands, and where results go."""

    @property
    def pages(self) -> int:
        """Number of pages fetched."""

    @property
    def since_relevant(self) -> int:
        """Number of pages fetched since the last relevant one."""

    def canonical(self, url: str) -> tuple[str, str]:
        """The canonical URL, and why it may not be fetched."""

    def is_dealt_with(self, url: str) -> bool:
        """Whether the crawl has this canonical URL behind it: it need not be found again."""

    def texts(self) -> FoundTexts:
        """Titles and link texts of pages."""

    def enter(self, found: Round) -> int:
        """Queue the pages and write the round down; return how many of them were not known."""


class MetaSearch:
    """Decides when to ask, asks, and enters what was found."""

    def __init__(
        self,
        settings: MetaSearchSettings,
        *,
        words: str,
        panel: Panel,
        board: Board,
        idf: Weight,
        say: Callable[[], Weight] = lambda: lambda _: 1.0,
        asked: Collection[str] = (),
        last: int | None = None,
    ) -> None:
        """`say`: makes the judge's opinion of words as it is now. `asked`: the queries of earlier runs; `last`: number
        of pages at their last round, None if there was none."""
        self._settings = settings
        self._words = first_query(words)
        self._panel = panel
        self._board = board
        self._idf, self._say = idf, say
        self._asked = list(asked)
        self._last = last
        self._is_futile = False
        """The last round had no answer, and nothing has been fetched since."""

    def due(self) -> str:
        """Why it is time to ask; empty if it is not."""
        settings, pages = self._settings, self._board.pages
        if self._last is None:
            return AT_START
        since = pages - self._last
        if settings.every and since >= settings.every:
            return EVERY
        is_dry = settings.dry_pages and min(since, self._board.since_relevant) >= settings.dry_pages
        return DRY if is_dry else ""

    async def ask(self, reason: str) -> Round | None:
        """Ask all engines; None if there is nothing new to ask for."""
        board, settings = self._board, self._settings
        pages = board.pages
        if self._is_futile and pages == self._last:
            return None
        self._last = pages
        queries = self._queries(reason)
        if not queries:
            return None
        asked = await self._panel.ask(queries, settings.depth)
        # What no engine has answered may be asked again, in a later round or run.
        self._asked += [query for query in queries if any(each.query == query and each.is_fine for each in asked)]
        self._is_futile = not any(each.is_fine for each in asked)
        lists = [(each.query, each.engine, each.answer.found) for each in asked]
        best, rejected = fused(lists, board.canonical)
        new = [page for page in best if not board.is_dealt_with(page.url)][: settings.results]
        return Round(reason, pages, tuple(queries), tuple(asked), tuple(new), sum(rejected.values()))

    def enter(self, found: Round) -> int:
        return self._board.enter(found)

    def _queries(self, reason: str) -> list[str]:
        is_first = self._words and self._words not in self._asked
        if is_first:
            return [self._words]
        if reason == AT_START:
            return []
        return next_queries(
            self._words,
            self._board.texts(),
            asked=self._asked,
            count=self._settings.queries,
            idf=self._idf,
            say=self._say(),
        )


class Searching:
    """Meta-search in the event loop of a live crawl, while pages are fetched. `look` is called after each turn."""

    def __init__(self, search: MetaSearch, *, say: Callable[[str], None]) -> None:
        """`say`: tells of a fault in words."""
        self._search = search
        self._tell = say
        self._task: asyncio.Task[Round | None] | None = None

    async def begin(self) -> None:
        """Ask at the start, and wait for it: a crawl without seeds has nothing else to begin with."""
        if self._search.due():
            self._start(self._search.due())
            await self._finish()

    def look(self) -> None:
        if self._task is not None and self._task.done():
            self._enter(self._task)
        elif self._task is None and (reason := self._search.due()):
            self._start(reason)

    async def rescue(self) -> bool:
        """Nothing is left to fetch: whether searching has found something new."""
        if self._task is not None and await self._finish():
            return True
        self._start(EMPTY)
        return await self._finish() > 0

    async def close(self) -> None:
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    def _start(self, reason: str) -> None:
        self._task = asyncio.create_task(self._search.ask(reason))

    async def _finish(self) -> int:
        assert self._task is not None
        await asyncio.wait([self._task])
        return self._enter(self._task)

    def _enter(self, task: asyncio.Task[Round | None]) -> int:
        self._task = None
        if (fault := task.exception()) is not None:
            # Engines' faults are answers; this one is ours. It must not end an overnight crawl.
            self._tell(f"searching failed: {type(fault).__name__}")
            return 0
        found = task.result()
        return 0 if found is None else self._search.enter(found)


def in_words(found: Round, new: int) -> str:
    """searched (at the start) for “sailing on the Baltic”: searxng 18, brave no key; 10 pages queued, 9 of them new"""
    counts: Counter[str] = Counter()
    failed: dict[str, str] = {}
    for each in found.asked:
        counts[each.engine] += len(each.answer.found)
        if each.answer.outcome not in FINE:
            failed[each.engine] = f"{each.answer.outcome} {each.answer.detail}".strip()
    told = [f"{engine} {count or failed.get(engine, '')}".strip() for engine, count in counts.items()]
    asked_for = _listed(found.queries)
    queued = f"{len(found.pages)} page{'s' * (len(found.pages) != 1)} queued, {new} of them new"
    return f"searched ({WORDS_FOR[found.reason]}) for {asked_for}: {', '.join(told)}; {queued}"


def _listed(queries: Sequence[str]) -> str:
    return " and ".join(f"“{query}”" for query in queries)
