"""Dots for the monitor: as bytes for the graphics card, and as a histogram where there are too many to draw."""

from __future__ import annotations

import bisect
import struct
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from lycosa.store.dashboard import DashboardStore
from lycosa.web.endpoints import Call, Download, Endpoint, Input
from lycosa.web.watch import RELEVANT, Dots, Watch

MOST_DOTS = 200_000
"""Number of dots in one answer."""
WINDOW = 100
"""Number of pages of the moving average."""
MARKED = frozenset(
    {"judge", "answers", "focus", "distilled", "advice", "stall", "command", "alarm", "host set aside", "seed"}
)
"""Kinds of events that are marked on the picture."""
HEAD = struct.Struct("<IIId")
"""Version, number of the first page, number of dots, time of the first page of the crawl."""


class Range(Input):
    first: int = Field(1, ge=1, description="Number of the first page.")
    last: int = Field(0, ge=0, description="Number of the last page; 0: the latest.")


class Overview(Range):
    bins: int = Field(240, ge=2, le=1000, description="Columns.")
    levels: int = Field(48, ge=2, le=200, description="Rows.")
    axis: Literal["pages", "time"] = Field("pages", description="What runs to the right.")


class After(Input):
    after: int = Field(0, ge=0, le=1 << 62, description="Number of the last event that is known.")


def dots(call: Call) -> Download:
    """A head (see `HEAD`), then a column each: seconds since the first page (float32), relevance (uint16), flags."""
    watch = call.house.watch(call.crawl)
    if watch.is_whole:
        known, offset = watch.dots, 0
        first, last = _bounds(call.query, known.count)
        start = float(known.times[0]) if known.count else 0.0
    else:
        with call.crawl.store() as store:
            first, last = _bounds(call.query, store.last_number())
            known, offset, start = _only(store, first, min(last, first + MOST_DOTS - 1)), first - 1, store.began_at()
    chosen = slice(first - 1 - offset, min(last, first + MOST_DOTS - 1) - offset)
    times, relevance, flags = known.times[chosen], known.relevance[chosen], known.flags[chosen]
    head = HEAD.pack(watch.version, first, len(flags), start)
    columns = (
        (times - start).astype("<f4"),
        np.round(np.clip(relevance, 0, 1) * 65535).astype("<u2"),
        flags,
    )
    return Download(head + b"".join(column.tobytes() for column in columns))


def overview(call: Call) -> dict[str, Any]:
    """How many pages are where, the moving averages, and the events; from a sample until all pages are read."""
    watch = call.house.watch(call.crawl)
    with call.crawl.store() as store:
        pages = store.last_number()
        source = watch.dots if watch.is_whole else watch.sample(store)
    if not source.count:
        return {"pages": pages, "is_sample": False, "columns": [], "marks": [], "version": watch.version}
    scale = pages / source.count if not watch.is_whole else 1.0
    first, last = _bounds(call.query, source.count, scale)
    chosen = slice(first - 1, last)
    query: Overview = call.query
    times, relevance, flags = source.times[chosen], source.relevance[chosen], source.flags[chosen]
    along = times if query.axis == "time" else np.arange(first, last + 1, dtype=np.float64)
    low, high = float(along[0]), float(along[-1])
    if query.axis == "pages":  # in numbers of pages, also of a sample
        low, high = low * scale if scale > 1 else low, high * scale
    places = _places(along, query.bins)
    levels = np.minimum((np.clip(relevance, 0, 1) * query.levels).astype(np.int64), query.levels - 1)
    is_relevant = (flags & RELEVANT) > 0
    shape = (query.bins, query.levels)
    counts = np.bincount(places * query.levels + levels, minlength=query.bins * query.levels).reshape(shape)
    good = np.bincount((places * query.levels + levels)[is_relevant], minlength=query.bins * query.levels).reshape(
        shape
    )
    return {
        "pages": pages,
        "is_sample": not watch.is_whole,
        "version": watch.version,
        "first": round(first * scale) if scale > 1 else first,
        "last": round(last * scale),
        "low": low,
        "high": high,
        "levels": query.levels,
        "counts": counts.ravel().tolist(),
        "relevant": good.ravel().tolist(),
        "harvest": _means(places, is_relevant, query.bins),
        "mean": _means(places, relevance, query.bins),
        "marks": _marks(watch),
    }


def events(call: Call) -> dict[str, Any]:
    watch = _ready(call)
    query: After = call.query
    found = [event for event in watch.events if event.id > query.after]
    return {"events": [event._asdict() for event in found[-500:]]}


def _ready(call: Call) -> Watch:
    watch = call.house.watch(call.crawl)
    if not watch.is_whole:
        watch.refresh()
    return watch


def _only(store: DashboardStore, first: int, last: int) -> Dots:
    """These pages alone, place 0 being the first of them: all of a large crawl need not be read for a few."""
    columns = store.dots_between(first, last)
    columns[0] -= first - 1
    found = Dots()
    found.put(columns)
    return found


def _bounds(query: Range, count: int, scale: float = 1.0) -> tuple[int, int]:
    first = max(1, min(round(query.first / scale), count))
    last = count if not query.last else max(first, min(round(query.last / scale), count))
    return first, last


def _places(along: NDArray[np.float64], bins: int) -> NDArray[np.int64]:
    span = max(float(along[-1] - along[0]), 1e-9)
    places: NDArray[np.int64] = np.clip(((along - along[0]) / span * bins).astype(np.int64), 0, bins - 1)
    return places


def _means(places: NDArray[np.int64], values: NDArray[Any], bins: int) -> list[float | None]:
    counts = np.bincount(places, minlength=bins)
    sums = np.bincount(places, weights=values.astype(np.float64), minlength=bins)
    return [
        round(total / count, 4) if count else None for total, count in zip(sums.tolist(), counts.tolist(), strict=True)
    ]


def _marks(watch: Watch) -> list[dict[str, Any]]:
    """Events, with the page that was fetched last before each."""
    times = watch.dots.times
    marked = [event for event in watch.events if event.kind in MARKED][-300:]
    return [
        {
            "id": event.id,
            "at": event.at,
            "page": bisect.bisect_right(times, event.at) if watch.is_whole else None,
            "kind": event.kind,
            "message": event.message,
        }
        for event in marked
    ]


ENDPOINTS = (
    Endpoint(
        "GET",
        "/api/crawls/{crawl}/dots",
        "A dot per page, as bytes.",
        dots,
        Range,
        media="application/octet-stream",
        tag="monitor",
    ),
    Endpoint(
        "GET", "/api/crawls/{crawl}/overview", "Pages as a histogram, with averages.", overview, Overview, tag="monitor"
    ),
    Endpoint(
        "GET", "/api/crawls/{crawl}/events", "What happened to the crawl as a whole.", events, After, tag="monitor"
    ),
)
