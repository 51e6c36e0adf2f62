"""Full-text search over what a crawl has fetched, also while it runs in another process.

The index (`store.search_index`) is brought up to date first: pages that were fetched since, and those that a refresh
found changed, are read from the archive.
That takes a few milliseconds a page, once; it can be interrupted, and goes on where it stopped.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import NamedTuple, Self

from lycosa.errors import InputError
from lycosa.results.archived_pages import ArchivedPages
from lycosa.results.search_query import SearchQuery
from lycosa.store.opening import open_shards, open_store
from lycosa.store.protocol import Reports
from lycosa.store.rows import SearchablePage
from lycosa.store.search_index import MARKS, Hit, IndexedPage, NamedPage, NoIndex, SearchIndex
from lycosa.store.search_index import MOST_RANKED as MOST_RANKED
from lycosa.workspace import Workspace

BATCH = 200
"""Number of pages indexed in one transaction."""
WORTH_TIDYING = 1_000
"""Number of new pages after which the index is merged into one piece."""
MAX_RESULTS = 10_000


class FoundText(NamedTuple):
    """A page that has the words."""

    url: str
    title: str
    relevance: float | None
    """None if the page was not judged."""
    is_relevant: bool
    snippet: str
    """Text of the page around the words; what is not text of a person's language may be in it, as it came."""
    marks: tuple[tuple[int, int], ...]
    """Where the words are in the snippet: start and end of each."""
    score: float
    """BM25: the higher, the better; to be compared within one search only."""
    number: int
    """Place of the page in the order of the crawl."""


class Snippet(NamedTuple):
    text: str
    marks: tuple[tuple[int, int], ...]


class SearchResults(NamedTuple):
    pages: list[FoundText]
    has_all_words: bool
    """False: no page has all words, and these have some of them."""
    has_ranked_all: bool
    """False: more than `store.search_index.MOST_RANKED` pages have the words; the best are of those found first."""
    indexed: int
    """Number of pages that were searched."""
    damaged: int
    """Number of pages that could not be read from the archive for the index, this time."""


def search(
    directory: str | Path,
    words: str,
    *,
    relevant: bool = False,
    limit: int = 10,
    progress: Callable[[int, int], None] | None = None,
) -> SearchResults:
    """Pages of a crawl that have the words, the best first: BM25 over title, URL and text.

    `words`: words, "phrases" and -words. Menus and the like are not searched, nor are exact duplicates of other pages.
    `relevant`: only relevant pages. `progress`: called with the number of pages indexed, and of those to be indexed.
    """
    query = SearchQuery.parse(words)
    if not 1 <= limit <= MAX_RESULTS:
        raise InputError(f"limit is {limit}: it must be from 1 to {MAX_RESULTS:,}")
    workspace = Workspace.existing(Path(directory))
    with ExitStack() as stack:
        indexes = [_of_part(part, stack) for part in workspace.parts()]
        damaged = _bring_all_up_to_date(indexes, progress)
        match = query.all_words()
        hits = _hits(indexes, query, match, limit=limit, is_relevant=relevant)
        has_all = bool(hits) or len(query.wanted) == 1
        if not has_all:
            match = query.any_word()
            hits = _hits(indexes, query, match, limit=limit, is_relevant=relevant)
        if workspace.has_shards:
            hits = _numbered(workspace, hits)
        ranks_all = all(each.index.ranks_all(match) for each in indexes)
        indexed = sum(each.index.count() for each in indexes)
        return SearchResults([_found(hit) for _, hit in hits], has_all, ranks_all, indexed, damaged)


@dataclass(frozen=True, slots=True)
class _IndexedPart:
    """The index of a crawl, or of one shard of a cluster: each has its own."""

    workspace: Workspace
    store: Reports
    index: SearchIndex


def _of_part(part: Workspace, stack: ExitStack) -> _IndexedPart:
    store = stack.enter_context(closing(open_store(part, read_only=True)))
    return _IndexedPart(part, store, stack.enter_context(closing(_opened(part, store))))


def _hits(
    indexes: Sequence[_IndexedPart], query: SearchQuery, match: str, *, limit: int, is_relevant: bool
) -> list[tuple[int, Hit]]:
    """The best of all shards, each with its shard."""
    scales = _scales([each.index for each in indexes], query)
    found = [
        (shard, hit._replace(score=hit.score * scale))
        for shard, (each, scale) in enumerate(zip(indexes, scales, strict=True))
        for hit in each.index.find(match, limit=limit, is_relevant=is_relevant)
    ]
    return sorted(found, key=lambda hit: -hit[1].score)[:limit] if len(indexes) > 1 else found


def _scales(indexes: Sequence[SearchIndex], query: SearchQuery) -> list[float]:
    """What the scores of each shard are to be multiplied by: there a word is as rare as among its own pages, and should
    be as rare as among all. Exact for one word; with several, for all of them together."""
    if len(indexes) < 2:
        return [1.0] * len(indexes)
    sizes = [index.count() for index in indexes]
    counts = [[index.matches(term) for term in query.terms()] for index in indexes]
    wanted = sum(_rarity(sum(each), sum(sizes)) for each in zip(*counts, strict=True))
    return [wanted / sum(_rarity(count, size) for count in each) for each, size in zip(counts, sizes, strict=True)]


def _rarity(count: int, pages: int) -> float:
    """The inverse document frequency as FTS5 has it."""
    return max(1e-6, math.log((pages - count + 0.5) / (count + 0.5)))


def _numbered(workspace: Workspace, hits: list[tuple[int, Hit]]) -> list[tuple[int, Hit]]:
    """Pages with their place in the order of the whole cluster."""
    with closing(open_shards(workspace)) as store:
        ids = [store.number_in(shard, hit.id) for shard, hit in hits]
        rows = store.pages_found(ids)
    numbers = [rows[page].number if page in rows else hit.number for page, (_, hit) in zip(ids, hits, strict=True)]
    return [(shard, hit._replace(number=number)) for (shard, hit), number in zip(hits, numbers, strict=True)]


def update_index(directory: str | Path, progress: Callable[[int, int], None] | None = None) -> None:
    """Index what was fetched since the last time."""
    with ExitStack() as stack:
        parts = Workspace.existing(Path(directory)).parts()
        _bring_all_up_to_date([_of_part(part, stack) for part in parts], progress)


class IndexedText:
    """Pages that have the words, of those that are indexed by now: for readers who do not wait for the others."""

    def __init__(self, workspace: Workspace, store: Reports, words: str, *, limit: int = MAX_RESULTS) -> None:
        query = SearchQuery.parse(words)
        self._store = store
        self._limit = limit
        self._stack = ExitStack()
        self._indexes: dict[int, SearchIndex] = {}
        """By shard; a crawl of one process is shard 0."""
        for shard, part in enumerate(workspace.parts()):
            own = self._stack.enter_context(closing(open_store(part, read_only=True))) if part != workspace else store
            if index := _existing(part, own):
                self._indexes[shard] = self._stack.enter_context(closing(index))
        self.indexed = sum(index.last for index in self._indexes.values())
        """Number of pages that were searched: the first ones of the crawl, or of each shard."""
        self.has_all_words = True
        """False: no page has all words, and these have some of them."""
        scales = _scales(list(self._indexes.values()), query)
        self._scales = dict(zip(self._indexes, scales, strict=True))
        self._match = query.all_words()
        self.pages = self._best()
        """Their ids, the best first."""
        if self._indexes and not self.pages and len(query.wanted) > 1:
            self._match, self.has_all_words = query.any_word(), False
            self.pages = self._best()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def _best(self) -> list[int]:
        found = [
            (score * self._scales[shard], self._store.number_in(shard, page))
            for shard, index in self._indexes.items()
            for page, score in index.best(self._match, self._limit)
        ]
        if len(self._indexes) > 1:
            found.sort(key=lambda each: -each[0])
        return [page for _, page in found[: self._limit]]

    def snippets(self, pages: Sequence[NamedPage]) -> dict[int, Snippet]:
        """Text around the words, by id of the page."""
        by_shard: dict[int, list[_ShownPage]] = {}
        for page in pages:
            shard, own = self._store.shard_of(page.id)
            by_shard.setdefault(shard, []).append(_ShownPage(own, page.title, page.url))
        return {
            self._store.number_in(shard, page): Snippet(*_marked(text))
            for shard, shown in by_shard.items()
            if shard in self._indexes
            for page, text in self._indexes[shard].snippets(shown, self._match).items()
        }


class _ShownPage(NamedTuple):
    id: int
    title: str
    url: str


def _existing(workspace: Workspace, store: Reports) -> SearchIndex | None:
    try:
        return _opened(workspace, store, read_only=True) if workspace.search.exists() else None
    except NoIndex:
        return None


def _opened(workspace: Workspace, store: Reports, *, read_only: bool = False) -> SearchIndex:
    begun = store.first_run()
    name = "" if begun is None else f"{begun.started_at!r} {begun.pid}"
    return SearchIndex(workspace.search, store=store, crawl=name, read_only=read_only)


def _bring_all_up_to_date(parts: Sequence[_IndexedPart], progress: Callable[[int, int], None] | None) -> int:
    waiting = [max(0, each.store.totals().pages - each.index.last) for each in parts]
    damaged = 0
    for place, each in enumerate(parts):
        before = sum(waiting[:place])

        def tell(done: int, _total: int, before: int = before) -> None:
            if progress is not None:
                progress(before + done, sum(waiting))

        damaged += _bring_up_to_date(each.index, each.workspace, each.store, tell)
    return damaged


def _bring_up_to_date(
    index: SearchIndex, workspace: Workspace, store: Reports, progress: Callable[[int, int], None]
) -> int:
    """Index the pages fetched or found changed since the last time; return how many of them could not be read."""
    last = index.last
    waiting = store.totals().pages - last
    renewed = store.renewed_pages(index.last_check)
    texts = ArchivedPages.of_text(workspace.archive, store)
    while changed := list(islice(renewed, BATCH)):
        index.renew([_indexed(page, texts) for page in changed], changed[-1].check)
    if waiting <= 0:
        return texts.damaged
    pages = (_indexed(page, texts) for page in store.searchable_pages(last))
    done = 0
    progress(0, waiting)
    while batch := list(islice(pages, BATCH)):
        index.add(batch)
        done = batch[-1].number - last
        progress(min(done, waiting), waiting)
    if done >= WORTH_TIDYING:
        index.tidy()
    return texts.damaged


def _indexed(page: SearchablePage, texts: ArchivedPages) -> IndexedPage:
    """A page with its own text. Duplicates, and pages whose text cannot be read, are counted and have no words."""
    if page.is_duplicate:
        return IndexedPage(page.id, page.number, "", "", "")
    again = texts.at(page.file, page.offset) if page.file else None
    text = again.page.content if again is not None and again.page is not None else ""
    return IndexedPage(page.id, page.number, page.title, page.url, text)


def _found(hit: Hit) -> FoundText:
    snippet, marks = _marked(hit.snippet)
    return FoundText(hit.url, hit.title, hit.relevance, hit.is_relevant, snippet, marks, hit.score, hit.number)


def _marked(text: str) -> tuple[str, tuple[tuple[int, int], ...]]:
    """The snippet as one line, and where its marked words are."""
    opening, closing_mark = MARKS
    plain: list[str] = []
    marks: list[tuple[int, int]] = []
    length = 0
    for part in " ".join(text.split()).split(opening):
        word, sign, rest = part.partition(closing_mark)
        if sign:
            marks.append((length, length + len(word)))
        plain += [word, rest]
        length += len(word) + len(rest)
    return "".join(plain), tuple(marks)
