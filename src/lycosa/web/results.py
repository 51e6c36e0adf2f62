"""The pages of a crawl by relevance, host, language and date; and what is shown, as a file."""

from __future__ import annotations

import csv
import io
import json
from typing import Any, Literal

from pydantic import Field

from lycosa.results.export import harmless
from lycosa.store.sqlite_dashboard import PageFilter
from lycosa.web.endpoints import Call, Download, Endpoint, Input
from lycosa.web.pages import shown

MOST_EXPORTED = 100_000
EXPORTED = ("number", "url", "title", "relevance", "is_relevant", "language", "host", "fetched_at", "words", "distance")


class Search(Input):
    words: str = Field("", max_length=500, description="Words in title or URL.")
    host: str = Field("", max_length=300)
    language: str = Field("", max_length=8)
    min_relevance: float = Field(0, ge=0, le=1)
    is_relevant: bool = Field(False, description="Relevant pages only.")
    since: float = Field(0, ge=0, le=1e12, description="Fetched at or after this time.")
    until: float = Field(0, ge=0, le=1e12, description="Fetched before this time.")
    order: Literal["relevance", "newest", "oldest", "title", "host"] = "relevance"

    def wanted(self) -> PageFilter:
        return PageFilter(
            self.words, self.host, self.language, self.min_relevance, self.is_relevant, self.since, self.until
        )


class Part(Search):
    offset: int = Field(0, ge=0, le=100_000_000)
    count: int = Field(50, ge=1, le=500)


class Export(Search):
    form: Literal["csv", "jsonl"] = "csv"


def results(call: Call) -> dict[str, Any]:
    query: Part = call.query
    with call.crawl.store() as store:
        wanted = query.wanted()
        pages = store.pages_like(wanted, order=query.order, count=query.count, offset=query.offset)
        return {"total": store.count_like(wanted), "pages": [shown(page) for page in pages]}


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
    with call.crawl.store() as store:
        pages = store.pages_like(query.wanted(), order=query.order, count=MOST_EXPORTED)
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
        media="text/csv",
        tag="results",
    ),
)
