"""Queries that a person types in: read-only, within limits of time, memory and rows."""

from __future__ import annotations

import csv
import io
import threading
import time
from itertools import islice
from typing import Any, NamedTuple

from pydantic import Field

from lycosa.errors import InputError
from lycosa.results.export import harmless
from lycosa.web.endpoints import Call, Download, Endpoint, Input

AT_ONCE = 3
"""Number of queries that may run at the same time."""
SECONDS = 10.0
MEMORY, LONGEST_VALUE = 256 << 20, 1_000_000
"""Bytes that queries may use, and of one value, also in between."""
SHOWN_ROWS, SHOWN_BYTES = 2_000, 5_000_000
SAVED_ROWS, SAVED_BYTES = 200_000, 50_000_000
_running = threading.BoundedSemaphore(AT_ONCE)


class Answered(NamedTuple):
    names: list[str]
    rows: list[list[Any]]
    is_cut: bool
    """There are more rows than these."""


class TypedQuery(Input):
    sql: str = Field(min_length=1, max_length=50_000)


def ask(call: Call) -> dict[str, Any]:
    began = time.perf_counter()
    found = _answered(call, SHOWN_ROWS, SHOWN_BYTES)
    return {**found._asdict(), "seconds": round(time.perf_counter() - began, 3)}


def ask_csv(call: Call) -> Download:
    found = _answered(call, SAVED_ROWS, SAVED_BYTES)
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(found.names)
    writer.writerows(map(harmless, row) for row in found.rows)
    return Download(out.getvalue().encode("utf-8", "replace"), "text/csv; charset=utf-8", f"{call.crawl.id}.csv")


def examples(call: Call) -> dict[str, Any]:
    with call.crawl.store() as store:
        return {"examples": [{"name": name, "sql": sql} for name, sql in store.examples.items()]}


def _answered(call: Call, most_rows: int, most_bytes: int) -> Answered:
    """Read-only, within limits of time, memory and size."""
    if not _running.acquire(blocking=False):
        raise InputError(f"{AT_ONCE} queries are running: wait for one of them")
    try:
        with call.crawl.store() as store:
            store.limit_typed(seconds=SECONDS, memory=MEMORY, longest=LONGEST_VALUE)
            names, found = store.query(call.body.sql)
            rows: list[list[Any]] = []
            size = 0
            for row in islice(found, most_rows):
                size += sum(len(cell) if isinstance(cell, (str, bytes)) else 8 for cell in row)
                if size > most_bytes:
                    return Answered(names, rows, True)
                rows.append([_cell(value) for value in row])
            return Answered(names, rows, next(found, None) is not None)
    finally:
        _running.release()


def _cell(value: Any) -> Any:
    if isinstance(value, bytes):
        return f"({len(value):,} bytes)"
    if isinstance(value, int) and abs(value) >= 1 << 53:  # JavaScript would round it
        return str(value)
    return value


ENDPOINTS = (
    Endpoint("GET", "/api/crawls/{crawl}/sql/examples", "Queries to begin with.", examples, tag="sql"),
    Endpoint(
        "POST", "/api/crawls/{crawl}/sql", "Ask the crawl's database; reading only.", ask, None, TypedQuery, tag="sql"
    ),
    Endpoint("POST", "/api/crawls/{crawl}/sql.csv", "As CSV.", ask_csv, None, TypedQuery, media="text/csv", tag="sql"),
)
