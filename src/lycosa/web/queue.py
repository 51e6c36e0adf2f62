"""What comes next and why; what people have asked to raise, drop or exclude, and undo."""

from __future__ import annotations

import json
import time
from typing import Any

import numpy as np
from pydantic import Field

from lycosa.crawl.commands import REASONS
from lycosa.store.rows import Command
from lycosa.web.endpoints import Call, Endpoint, Input
from lycosa.web.processes import command_output

EXPLAIN_WITHIN = 120.0
"""Seconds; for some strategies, all visits are told again."""
BINS = 30


class Wanted(Input):
    words: str = Field("", max_length=500, description="Part of the URL.")
    aside: bool = Field(False, description="Also links on hosts that were set aside.")
    count: int = Field(100, ge=1, le=1_000)


class AnyUrl(Input):
    url: str = Field(min_length=1, max_length=4_000)


def queue(call: Call) -> dict[str, Any]:
    query: Wanted = call.query
    now = time.time()
    with call.crawl.store() as store:
        links = store.queue(words=query.words, with_set_aside=query.aside, count=query.count)
    return {
        "links": [
            {**link._asdict(), "rests_for": round(max(0.0, link.ready_at - now), 1), "place": place}
            for place, link in enumerate(links, start=1)
        ],
        "is_running": call.crawl.workspace.holder() is not None,
    }


def scores(call: Call) -> dict[str, Any]:
    """The queue by score."""
    with call.crawl.store() as store:
        found = store.queue_scores()
    found = found[np.isfinite(found)]
    if not len(found):
        return {"waiting": 0, "edges": [], "counts": []}
    low, high = np.quantile(found, [0.001, 0.999])
    counts, edges = np.histogram(np.clip(found, low, high), bins=BINS, range=(low, high) if high > low else None)
    return {"waiting": len(found), "edges": [round(edge, 5) for edge in edges.tolist()], "counts": counts.tolist()}


def explain(call: Call) -> dict[str, Any]:
    """In a process of its own: a strategy that has learned is told everything again."""
    directory = str(call.crawl.workspace.directory)
    printed = command_output("explain", "--json", "--", directory, call.query.url, seconds=EXPLAIN_WITHIN)
    return {"url": call.query.url, "facts": json.loads(printed)}


def commands(call: Call) -> dict[str, Any]:
    with call.crawl.store() as store:
        rows = store.commands()
    undone = {row.target for row in rows if row.kind == Command.UNDO}
    return {
        "commands": [
            {**row._asdict(), "can_be_undone": row.kind in REASONS and str(row.id) not in undone}
            for row in reversed(rows[-200:])
        ]
    }


ENDPOINTS = (
    Endpoint("GET", "/api/crawls/{crawl}/queue", "What comes next.", queue, Wanted, tag="queue"),
    Endpoint("GET", "/api/crawls/{crawl}/queue/scores", "The queue by score.", scores, tag="queue"),
    Endpoint(
        "GET", "/api/crawls/{crawl}/explain", "Why a URL was fetched, skipped or waits.", explain, AnyUrl, tag="queue"
    ),
    Endpoint("GET", "/api/crawls/{crawl}/commands", "What people have asked of the crawl.", commands, tag="queue"),
)
