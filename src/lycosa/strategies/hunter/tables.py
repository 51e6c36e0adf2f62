"""The hunter's tables of links, citations (links on pages) and visited pages: columns that grow.

Columns that are used together are stored together, row by row, so the data of one link is in a few places of memory;
they are accessed as arrays by name. A table grows by doubling into fresh zeros, for which the system provides memory
only where something is written: that costs address space, not memory.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from lycosa.lib.snapshot import Tree
from lycosa.strategies.hunter.notes import NEAR, URL_WORDS

RING = 8
"""Number of latest citations of a link that are kept individually; sums and counts include all."""
TEXTS = 4
"""Number of latest citations of a link whose words are kept."""
GROUP_OF = {
    "neighbours": "pages",
    "hubs": "pages",
    "parents": "pages",
    "best parent": "pages",
    "early parents": "pages",
    "link text": "text",
    "link text learned": "text",
    "link words": "text",
    "best link words": "text",
    "URL learned": "urls",
    "URL words": "urls",
    "anchor": "text",
    "host": "places",
    "folder": "places",
    "citations": "pages",
}
"""The kind of evidence of each feature."""
FEATURES, GROUPS = tuple(GROUP_OF), tuple(GROUP_OF.values())
NEIGHBOURS, HUBS, PARENTS, BEST_PARENT, EARLY_PARENTS = range(5)
LINK_TEXT, LINK_TEXT_LEARNED, LINK_WORDS, BEST_LINK_WORDS, URL_LEARNED, WORDS_OF_URL, ANCHOR = range(5, 12)
HOST, FOLDER, CITATIONS = range(12, 15)
WORDS_FROM, WORDS_TO = LINK_TEXT, ANCHOR + 1
"""Features that depend only on the words of a link."""
HUB_RATE, PARENT_RATE, HOST_RATE, FOLDER_RATE, FOUND_RATE = range(5)
"""Indices of `Evidence.rates`."""
GUESSED = 0
"""The page that guesses stand on: none."""
SQUARE, JUDGED, LEARNED, LOG_ODDS = range(4)
"""Columns of `WordRecord.table`."""
MOST_SIBLINGS = 200
"""Maximum number of links of citing pages that are scored again in a visit, because a page's hub value has changed."""
MOST_Z = 6.0
"""Maximum absolute value of a z-score (`learner`)."""
REACH = 5
"""Maximum distance between neighbouring links on a page."""

Floats = NDArray[np.float32]
Ints = NDArray[np.int32]


Columns = TypeVar("Columns", "LinkColumns", "CitationColumns", "PageColumns")
Rows = tuple[np.dtype[Any], ...]


class LinkColumns(NamedTuple):
    """By link number."""

    page: Ints
    """Number of its page, from 1, once it has been visited; 0: waiting or unknown; −1: handed out."""
    cited: Ints
    """Number of visited pages that link to it; a guess counts as linked to by the page it was derived from."""
    host: Ints
    """A hash, as is the folder; 0: unknown."""
    folder: Ints
    relevance: Floats
    """Of its page; 0 until it is visited."""
    sum: Floats
    """Σ r of the pages that link to it."""
    early: Floats
    """The same, with larger weights for links near the top of their pages."""
    best: Floats
    """max r."""
    stamp: Ints
    """Number of the latest visit that affected it."""
    read: Ints
    """State of the word records when its words were last evaluated; 0: never, or there are new ones."""
    score: Floats
    told: Floats
    """The score that the frontier has; 0: none."""
    features: NDArray[np.uint16]
    """As last computed: the bits of 16-bit floats, which numba does not support."""
    ring: Ints
    """Numbers of its latest citations."""
    url: NDArray[np.uint16]
    near: NDArray[np.uint16]
    """The words near it in its latest citations."""


class CitationColumns(NamedTuple):
    """By citation: a link on a visited page. `REACH` empty rows between pages keep neighbours within a page."""

    target: Ints
    page: Ints
    near: Floats
    """Σ r / distance over visited links near it."""
    near_weight: Floats
    """Σ 1 / distance."""


class PageColumns(NamedTuple):
    """By number of the visited page, from 1."""

    link: Ints
    relevance: Floats
    hub: Floats
    """Σ r/√cited over the visited pages it links to."""
    hub_weight: Floats
    """Σ 1/√cited."""
    hub_told: Floats
    """Log-odds of the hub value with which its links were last scored."""
    begin: NDArray[np.int64]
    """Number of its first citation."""
    links: Ints
    """Number of its citations."""


def _all(kind: type, *names: str) -> list[tuple[str, type]]:
    return [(name, kind) for name in names]


_LINK_FLOATS = ("relevance", "sum", "early", "best", "score", "told")
LINK_ROWS = (
    np.dtype([*_all(np.int32, "page", "cited", "stamp"), *_all(np.float32, *_LINK_FLOATS)]),
    np.dtype(
        [
            *_all(np.int32, "host", "folder", "read"),
            ("ring", np.int32, RING),
            ("features", np.uint16, len(FEATURES)),
            ("url", np.uint16, URL_WORDS),
            ("near", np.uint16, TEXTS * NEAR),
        ],
        align=True,
    ),
)
CITATION_ROWS = (np.dtype([*_all(np.int32, "target", "page"), *_all(np.float32, "near", "near_weight")]),)
_PAGE_FLOATS = ("relevance", "hub", "hub_weight", "hub_told")
PAGE_ROWS = (np.dtype([("begin", np.int64), *_all(np.int32, "link", "links"), *_all(np.float32, *_PAGE_FLOATS)]),)


LINK_RINGS = {"ring": RING, "near": TEXTS}
"""Columns of links that have a slot for each of the latest citations: the number of slots."""
NO_RINGS: Mapping[str, int] = {}
_BLOCK = 4_096
"""Rows copied at a time."""


def table(kind: type[Columns], layout: Rows, rows: int) -> Columns:
    """A table of zeros."""
    columns = {}
    for row in layout:
        whole = np.zeros(rows, row)
        columns.update({name: whole[name] for name in row.names or ()})
    return kind(**columns)


def longer(columns: Columns, layout: Rows, rows: int) -> Columns:
    """The table itself if it has that many rows, otherwise a longer copy."""
    known = len(columns[0])
    if rows <= known:
        return columns
    grown = table(type(columns), layout, max(rows, 2 * known))
    for name, old in columns._asdict().items():
        getattr(grown, name)[:known] = old
    return grown


def taken(columns: Columns, rows: int, rings: Mapping[str, int] = NO_RINGS) -> Tree:
    """Copies of the first rows of all columns, by name; of rings only what has been filled."""
    whole: dict[str, NDArray[Any]] = {}
    filled = {name: _filled(columns, rows, slots) for name, slots in rings.items()}
    for name in columns._fields:
        column: NDArray[Any] = getattr(columns, name)
        shape = (int(filled[name][-1]), column.shape[1] // rings[name]) if name in rings else (rows, *column.shape[1:])
        whole[name] = np.empty(shape, column.dtype)
    for block in _blocks(rows):
        for name in columns._fields:
            part = getattr(columns, name)[block]
            if name in rings:
                at = slice(filled[name][block.start], filled[name][block.stop])
                whole[name][at] = _ring(part, rings[name])[_is_filled(columns, block, rings[name])]
            else:
                whole[name][block] = part
    return dict(whole)


def loaded(kind: type[Columns], layout: Rows, saved: Tree, rows: int, rings: Mapping[str, int] = NO_RINGS) -> Columns:
    """A table of these columns, with room for more rows. ValueError if they do not fit."""
    columns = table(kind, layout, rows + rows // 2)
    for name in columns._fields:
        column: NDArray[Any] = getattr(columns, name)
        if saved[name].dtype != column.dtype or (name not in rings and saved[name].shape != (rows, *column.shape[1:])):
            raise ValueError(
                f"{name}: {saved[name].dtype} {saved[name].shape} instead of {rows} rows of {column.dtype}"
            )
    begin = dict.fromkeys(rings, 0)
    for block in _blocks(rows):
        for name in columns._fields:  # `cited` comes before the rings
            part = getattr(columns, name)[block]
            if name in rings:
                is_filled = _is_filled(columns, block, rings[name])
                end = begin[name] + int(np.count_nonzero(is_filled))
                _ring(part, rings[name])[is_filled] = saved[name][begin[name] : end]
                begin[name] = end
            else:
                part[:] = saved[name][block]
    return columns


def _blocks(rows: int) -> Iterator[slice]:
    """Rows that fit the processor's cache: all columns of a block are copied before the next block."""
    return (slice(start, min(start + _BLOCK, rows)) for start in range(0, rows, _BLOCK))


def _ring(column: NDArray[Any], slots: int) -> NDArray[Any]:
    """A view, rows × slots × values of a slot."""
    return column.reshape(len(column), slots, column.shape[1] // slots)


def _is_filled(columns: Any, block: slice, slots: int) -> NDArray[np.bool_]:
    """Rows × slots. Most links are cited once."""
    is_filled: NDArray[np.bool_] = np.arange(slots) < columns.cited[block, None]
    return is_filled


def _filled(columns: Any, rows: int, slots: int) -> NDArray[np.int64]:
    """Number of filled slots in the rows before each row, and in all."""
    return np.concatenate([[0], np.cumsum(np.minimum(columns.cited[:rows], slots), dtype=np.int64)])


def row_bytes(layout: Rows) -> int:
    return sum(row.itemsize for row in layout)
