"""Queries that a person types in: read-only, within limits of time, memory and rows."""

from __future__ import annotations

import csv
import io
import threading
from typing import Any

from pydantic import Field

from lycosa.errors import InputError
from lycosa.results.export import harmless
from lycosa.store.sqlite_dashboard import EXAMPLES, Answered, QueryLimits, limited_query
from lycosa.web.endpoints import Call, Download, Endpoint, Input

AT_ONCE = 3
"""Number of queries that may run at the same time."""
_running = threading.BoundedSemaphore(AT_ONCE)


class TypedQuery(Input):
    sql: str = Field(min_length=1, max_length=50_000)


def ask(call: Call) -> dict[str, Any]:
    found = _answered(call, QueryLimits())
    return {
        "names": found.names,
        "rows": [[_cell(value) for value in row] for row in found.rows],
        "is_cut": found.is_cut,
        "seconds": round(found.seconds, 3),
    }


def ask_csv(call: Call) -> Download:
    found = _answered(call, QueryLimits(rows=200_000, bytes=50_000_000))
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(found.names)
    writer.writerows([harmless(_cell(value)) for value in row] for row in found.rows)
    return Download(out.getvalue().encode("utf-8", "replace"), "text/csv; charset=utf-8", f"{call.crawl.id}.csv")


def examples(call: Call) -> dict[str, Any]:  # noqa: ARG001 - the same for all
    return {"examples": [{"name": name, "sql": sql} for name, sql in EXAMPLES.items()]}


def _answered(call: Call, limits: QueryLimits) -> Answered:
    if not _running.acquire(blocking=False):
        raise InputError(f"{AT_ONCE} queries are running: wait for one of them")
    try:
        return limited_query(call.crawl.workspace.database, call.body.sql, limits)
    finally:
        _running.release()


def _cell(value: Any) -> Any:
    if isinstance(value, bytes):
        return f"({len(value):,} bytes)"
    if isinstance(value, int) and abs(value) >= 1 << 53:  # JavaScript would round it
        return str(value)
    return value


ENDPOINTS = (
    Endpoint("GET", "/api/sql/examples", "Queries to begin with.", examples, tag="sql"),
    Endpoint(
        "POST", "/api/crawls/{crawl}/sql", "Ask the crawl's database; reading only.", ask, None, TypedQuery, tag="sql"
    ),
    Endpoint("POST", "/api/crawls/{crawl}/sql.csv", "As CSV.", ask_csv, None, TypedQuery, media="text/csv", tag="sql"),
)
