"""The pages of a crawl by their words, relevance, host, language and date; and what is shown, as a file.

Words are looked up in the crawl's full-text index (`results.search`), as far as it has come. If pages were fetched
since, a process of its own brings it up to date, and the answer says how far it is.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any, Literal

from pydantic import Field

from lycosa.results.export import harmless
from lycosa.results.search import IndexedText
from lycosa.store.dashboard import DashboardPage, DashboardStore, PageFilter
from lycosa.web.endpoints import Call, Download, Endpoint, Input
from lycosa.web.pages import shown

MOST_EXPORTED = 100_000
EXPORTED = ("number", "url", "title", "relevance", "is_relevant", "language", "host", "fetched_at", "words", "distance")


class Search(Input):
    words: str = Field("", max_length=500, description='Words, "phrases" and -words, in title, URL and text.')
    host: str = Field("", max_length=300)
    language: str = Field("", max_length=8)
    min_relevance: float = Field(0, ge=0, le=1)
    is_relevant: bool = Field(False, description="Relevant pages only.")
    since: float = Field(0, ge=0, le=1e12, description="Fetched at or after this time.")
    until: float = Field(0, ge=0, le=1e12, description="Fetched before this time.")
    order: Literal["match", "relevance", "newest", "oldest", "title", "host"] = Field(
        "relevance", description="match: as the words fit; without words, by relevance."
    )

    def wanted(self, among: Sequence[int] | None) -> PageFilter:
        return PageFilter(among, self.host, self.language, self.min_relevance, self.is_relevant, self.since, self.until)


class Part(Search):
    offset: int = Field(0, ge=0, le=100_000_000)
    count: int = Field(50, ge=1, le=500)


class Export(Search):
    form: Literal["csv", "jsonl"] = "csv"


def results(call: Call) -> dict[str, Any]:
    query: Part = call.query
    with call.crawl.store() as store, _searched(call, store) as found:
        wanted = query.wanted(None if found is None else found.pages)
        pages = store.pages_like(wanted, order=query.order, count=query.count, offset=query.offset)
        answer: dict[str, Any] = {"total": store.count_like(wanted), "pages": [shown(page) for page in pages]}
        if found is None:
            return answer
        _show_snippets(answer["pages"], pages, found)
        return {**answer, "search": _progress(call, store, found)}


def _searched(call: Call, store: DashboardStore) -> AbstractContextManager[IndexedText | None]:
    """What the words find; None if there are none."""
    words = call.query.words.strip()
    return IndexedText(call.crawl.workspace, store, words) if words else nullcontext()


def _show_snippets(rows: list[dict[str, Any]], pages: list[DashboardPage], found: IndexedText) -> None:
    """Text around the words in pieces, each with whether it was looked for."""
    snippets = found.snippets(pages)
    for row in rows:
        row["snippet"] = pieces(*snippets[row["id"]]) if row["id"] in snippets else []


def pieces(text: str, marks: Iterable[tuple[int, int]]) -> list[tuple[str, bool]]:
    found: list[tuple[str, bool]] = []
    end = 0
    for first, last in marks:
        found += [(text[end:first], False), (text[first:last], True)]
        end = last
    return [(piece, is_marked) for piece, is_marked in (*found, (text[end:], False)) if piece]


def _progress(call: Call, store: DashboardStore, found: IndexedText) -> dict[str, Any]:
    pages = store.last_number()
    if found.indexed < pages:
        call.house.indexing.begin(call.crawl.workspace)
    return {"has_all_words": found.has_all_words, "indexed": found.indexed, "pages": pages}


def facets(call: Call) -> dict[str, Any]:
    """Languages and sites to choose from."""
    with call.crawl.store() as store:
        sites = [(site.name, site.relevant, site.pages) for site, _ in zip(store.sites(), range(200), strict=False)]
        return {
            "languages": [{"language": name, "pages": count} for name, count in store.languages()],
            "sites": [{"name": name, "relevant": relevant, "pages": pages} for name, relevant, pages in sites],
        }


def export(call: Call) -> Download:
    query: Export = call.query
    with call.crawl.store() as store, _searched(call, store) as found:
        wanted = query.wanted(None if found is None else found.pages)
        pages = store.pages_like(wanted, order=query.order, count=MOST_EXPORTED)
    rows = [{name: value for name, value in shown(page).items() if name in EXPORTED} for page in pages]
    if query.form == "jsonl":
        body = "".join(json.dumps({name: row[name] for name in EXPORTED}) + "\n" for row in rows)
        return Download(body.encode(), "application/jsonl", f"{call.crawl.id}-pages.jsonl")
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(EXPORTED)
    writer.writerows([harmless(row[name]) for name in EXPORTED] for row in rows)
    return Download(out.getvalue().encode("utf-8", "replace"), "text/csv; charset=utf-8", f"{call.crawl.id}-pages.csv")


ENDPOINTS = (
    Endpoint("GET", "/api/crawls/{crawl}/results", "Pages of the crawl.", results, Part, tag="results"),
    Endpoint("GET", "/api/crawls/{crawl}/facets", "Languages and sites of its pages.", facets, tag="results"),
    Endpoint(
        "GET",
        "/api/crawls/{crawl}/export",
        "What is shown, as a file.",
        export,
        Export,
        media="text/csv application/jsonl",
        tag="results",
    ),
)
