"""Search engines over a recorded web, for replays with meta-search: the same rounds, queries and fusion as live.

Each engine knows another part of the world, drawn by a hash of URL and engine, and ranks by BM25 over the words of
pages, with those of the title counted several times. An engine never sees labels.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from lycosa.crawl.searching import EMPTY, MetaSearch, Round
from lycosa.fetch.urls import UrlRules, Urls
from lycosa.frontier.frontier import Frontier
from lycosa.frontier.links import LinkState
from lycosa.lab.worlds.world import World
from lycosa.lib.clock import VirtualClock
from lycosa.lib.extras import required
from lycosa.lib.text import stems
from lycosa.live import general_idf
from lycosa.seeds.metasearch.engine import EngineAnswer, FoundUrl, results
from lycosa.seeds.metasearch.panel import Panel, one_by_one
from lycosa.seeds.metasearch.queries import FoundTexts
from lycosa.seeds.metasearch.settings import MetaSearchSettings

Result = TypeVar("Result")

K1, B = 1.2, 0.75
"""BM25."""
TITLE_WEIGHT = 3
TEXTS = 300
"""Number of latest relevant pages, and of others, whose titles are looked at, as in a live crawl."""


class WorldEngine:
    """`seeds.metasearch.engine.Engine` over part of a world."""

    def __init__(self, world: World, name: str, *, coverage: float, seed: int = 0) -> None:
        """`coverage`: the share of pages that it knows."""
        self.name = name
        self._world = world
        self._sparse = required("scipy.sparse", extra="learn", what="a replay with search engines")
        is_page = np.asarray(world.statuses) < 300
        known = [is_known(world.url(page), name, seed, coverage) for page in range(len(world))]
        self.pages = np.flatnonzero(is_page & np.array(known, dtype=np.bool_))
        """Those that it knows."""
        self._numbers = {term: number for number, term in enumerate(world.vocabulary)}
        self._weights = self._bm25()

    def _bm25(self) -> Any:
        """By page that it knows, and term: what the term adds to the page's score."""
        counts, terms, offsets = self._world.term_matrix()
        width = len(self._numbers)
        shape = (len(self._world), width)
        matrix = self._sparse.csr_array((counts.astype(np.float64), terms, offsets), shape=shape)[self.pages]
        matrix = matrix + (TITLE_WEIGHT - 1) * self._titles(width)
        lengths = np.asarray(matrix.sum(axis=1)).ravel()
        documents = np.diff(self._sparse.csc_array(matrix).indptr)
        idf = np.log1p((len(self.pages) - documents + 0.5) / (documents + 0.5))
        found = matrix.tocoo()
        norm = K1 * (1 - B + B * lengths / max(1.0, float(lengths.mean())))
        values = idf[found.col] * found.data * (K1 + 1) / (found.data + norm[found.row])
        return self._sparse.csc_array((values, (found.row, found.col)), shape=matrix.shape)

    def _titles(self, width: int) -> Any:
        rows, columns = [], []
        for row, page in enumerate(self.pages.tolist()):
            for stem in stems(self._world.title(page)):
                if (number := self._numbers.get(stem)) is not None:
                    rows.append(row)
                    columns.append(number)
        return self._sparse.csr_array((np.ones(len(rows)), (rows, columns)), shape=(len(self.pages), width))

    async def ask(self, query: str, count: int) -> EngineAnswer:
        return self.answer(query, count)

    def answer(self, query: str, count: int) -> EngineAnswer:
        scores: NDArray[np.float64] = np.zeros(len(self.pages))
        for stem in dict.fromkeys(stems(query)):
            if (number := self._numbers.get(stem)) is not None:
                low, high = self._weights.indptr[number : number + 2]
                scores[self._weights.indices[low:high]] += self._weights.data[low:high]
        order = np.argsort(-scores, kind="stable")[:count]
        best = [int(self.pages[row]) for row in order.tolist() if scores[row] > 0]
        return results([FoundUrl(self._world.url(page), self._world.title(page)) for page in best], count)


def is_known(url: str, engine: str, seed: int, coverage: float) -> bool:
    """Whether an engine knows a URL: the same in every process."""
    drawn = blake2b(f"{seed} {engine} {url}".encode(), digest_size=8).digest()
    return int.from_bytes(drawn, "big") < coverage * 2**64


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchPlan:
    """Meta-search in a replay: `replay(…, search=SearchPlan(words="…", engines=engines))`."""

    words: str
    engines: Sequence[WorldEngine]
    """`partial_engines` makes some; they may serve many replays."""
    settings: MetaSearchSettings = field(default_factory=MetaSearchSettings)
    threshold: float = 0.5
    """Minimum relevance, by the crawl's judge, of a page whose title gives words for queries."""
    relevance: Callable[[], Sequence[float]] | None = None
    """Relevance of the pages visited so far by a judge that learns in the crawl, in their order; None: by the judge
    that the world was judged by."""


def partial_engines(world: World, count: int = 3, *, coverage: float = 0.4, seed: int = 0) -> list[WorldEngine]:
    """Engines that know different parts of a world."""
    return [WorldEngine(world, f"engine {number}", coverage=coverage, seed=seed) for number in range(1, count + 1)]


class _Tracked(Protocol):
    """What a replay has done."""

    @property
    def pages(self) -> list[int]: ...

    @property
    def relevance(self) -> list[float]: ...


class _Ledger(Protocol):
    @property
    def track(self) -> _Tracked: ...

    def add_found(self, urls: Sequence[str]) -> int: ...


class _Met(Protocol):
    def number_of(self, url: str) -> int: ...


class ReplayBoard:
    """`crawl.searching.Board` of a replay."""

    def __init__(self, world: World, ledger: _Ledger, frontier: Frontier, met: _Met) -> None:
        self._world, self._ledger, self._frontier, self._met = world, ledger, frontier, met
        self._urls = Urls(UrlRules())
        self.threshold = 0.5
        self.judged: Callable[[], Sequence[float]] | None = None
        self.rounds: list[Round] = []

    @property
    def pages(self) -> int:
        return len(self._ledger.track.pages)

    def _relevant(self) -> list[bool]:
        relevance = self.judged() if self.judged is not None else self._ledger.track.relevance
        return [float(value) >= self.threshold for value in relevance]

    @property
    def since_relevant(self) -> int:
        count = 0
        for value in reversed(self._ledger.track.relevance):
            if value >= self.threshold:
                break
            count += 1
        return count

    def canonical(self, url: str) -> tuple[str, str]:
        return self._urls.canonical(url)

    def is_dealt_with(self, url: str) -> bool:
        link = self._met.number_of(url)
        return link > 0 and self._frontier.state_of(link) in (LinkState.LEASED, LinkState.GONE)

    def texts(self) -> FoundTexts:
        pages = self._ledger.track.pages
        titles: dict[bool, list[str]] = {True: [], False: []}
        for page, is_relevant in zip(reversed(pages), reversed(self._relevant()), strict=False):
            if len(titles[is_relevant]) < TEXTS:
                titles[is_relevant].append(self._world.title(page))
        return FoundTexts(titles[True], titles[False])

    def enter(self, found: Round) -> int:
        self.rounds.append(found)
        return self._ledger.add_found([page.url for page in found.pages])


class ReplaySearch:
    """Asks at once, where a live crawl asks beside the line."""

    def __init__(self, search: MetaSearch) -> None:
        self._search = search

    def look(self) -> None:
        if reason := self._search.due():
            self._round(reason)

    def rescue(self) -> bool:
        return self._round(EMPTY) > 0

    def _round(self, reason: str) -> int:
        found = drive(self._search.ask(reason))
        return 0 if found is None else self._search.enter(found)


def replay_search(plan: SearchPlan, board: ReplayBoard) -> ReplaySearch:
    board.threshold, board.judged = plan.threshold, plan.relevance
    panel = Panel(plan.engines, clocks={}, clock=VirtualClock(), together=one_by_one)
    return ReplaySearch(MetaSearch(plan.settings, words=plan.words, panel=panel, board=board, idf=general_idf))


def drive(coroutine: Coroutine[Any, Any, Result]) -> Result:
    """Run a coroutine that never has to wait: no event loop needed."""
    try:
        coroutine.send(None)
    except StopIteration as end:
        result: Result = end.value
        return result
    raise RuntimeError("a replay must not wait for anything")
