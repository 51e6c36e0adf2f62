"""What the hunter keeps of links, of links on pages, and of visited pages: tables of columns that grow.

Columns that are looked at together lie together row by row, so that what is known of one link is in a few places of
memory; compiled loops and others see them as arrays by name. A longer table is made of fresh zeros, which take memory
from the system only where something is written: growing by doubling therefore costs address space, not memory.
"""

from __future__ import annotations

from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from lycosa.strategies.hunter.notes import NEAR, URL_WORDS

RING = 8
"""Citations of a link that are remembered one by one, the latest; sums and counts know them all."""
TEXTS = 4
"""Citations of a link whose words are remembered, the latest."""
FEATURES = (
    "neighbours",
    "hubs",
    "parents",
    "best parent",
    "early parents",
    "link text",
    "link text learned",
    "link words",
    "best link words",
    "URL learned",
    "URL words",
    "anchor",
    "host",
    "folder",
    "citations",
)
"""What a link is scored by; see `evidence`."""
GROUPS = (*("pages",) * 5, *("text",) * 4, *("urls",) * 2, "text", *("places",) * 2, "pages")
"""By feature: which kind of evidence it is of."""
WORDS_FROM, WORDS_TO = FEATURES.index("link text"), FEATURES.index("anchor") + 1
"""Features that follow from the words of a link alone."""
MOST_SIBLINGS = 200
"""Links of citing pages that are looked at again in one visit, because the page's hub value has changed."""
MOST_Z = 6.0
"""How far a feature may stand out (`learner`)."""
REACH = 5
"""How far on a page links are neighbours."""

Floats = NDArray[np.float32]
Ints = NDArray[np.int32]


Columns = TypeVar("Columns", "LinkColumns", "CitationColumns", "PageColumns")
Rows = tuple[np.dtype[Any], ...]
"""What lies together in memory."""


class LinkColumns(NamedTuple):
    """By link number."""

    page: Ints
    """The number of its page, from 1 on, once it was visited; −1: handed out."""
    cited: Ints
    """Visited pages that link to it."""
    host: Ints
    """A hash."""
    folder: Ints
    """A hash."""
    relevance: Floats
    """Of its page; 0 until it is visited."""
    sum: Floats
    """Σ r of the pages that link to it."""
    early: Floats
    """The same, of links far up on their pages more."""
    best: Floats
    """max r."""
    stamp: Ints
    """The latest visit that changed things for it."""
    read: Ints
    """The state of the records of words by which its words were last looked at; 0: none."""
    score: Floats
    told: Floats
    """The score that the frontier knows."""
    features: NDArray[np.uint16]
    """As last looked at: the bits of floats of two bytes, which compiled loops do not know."""
    ring: Ints
    """Its latest citations, by number."""
    url: NDArray[np.uint16]
    """The words of its URL."""
    near: NDArray[np.uint16]
    """The words near it in its latest citations."""


class CitationColumns(NamedTuple):
    """By citation: a link on a visited page. `REACH` empty rows between pages keep neighbours on one page."""

    target: Ints
    page: Ints
    near: Floats
    """Σ r / distance over visited links near it."""
    near_weight: Floats
    """Σ 1 / distance."""


class PageColumns(NamedTuple):
    """By visited page, from 1 on."""

    link: Ints
    relevance: Floats
    hub: Floats
    """Σ r/√cited over the visited pages it links to."""
    hub_weight: Floats
    """Σ 1/√cited."""
    hub_told: Floats
    """The hub value its links were last looked at with, as log-odds."""
    begin: NDArray[np.int64]
    """Its first citation."""
    links: Ints
    """How many it has."""


def _ints(*names: str) -> list[tuple[str, type]]:
    return [(name, np.int32) for name in names]


def _floats(*names: str) -> list[tuple[str, type]]:
    return [(name, np.float32) for name in names]


LINK_ROWS = (
    np.dtype(
        [
            *_ints("page", "cited", "stamp"),
            *_floats("relevance", "sum", "early", "best", "score", "told"),
        ]
    ),
    np.dtype(
        [
            *_ints("host", "folder", "read"),
            ("ring", np.int32, RING),
            ("features", np.uint16, len(FEATURES)),
            ("url", np.uint16, URL_WORDS),
            ("near", np.uint16, TEXTS * NEAR),
        ],
        align=True,
    ),
)
CITATION_ROWS = (np.dtype([("target", np.int32), ("page", np.int32), *_floats("near", "near_weight")]),)
PAGE_ROWS = (
    np.dtype(
        [
            ("begin", np.int64),
            ("link", np.int32),
            ("links", np.int32),
            *_floats("relevance", "hub", "hub_weight", "hub_told"),
        ]
    ),
)


def table(kind: type[Columns], layout: Rows, rows: int) -> Columns:
    """Columns of so many zeros."""
    columns = {}
    for row in layout:
        whole = np.zeros(rows, row)
        columns.update({name: whole[name] for name in row.names or ()})
    return kind(**columns)


def longer(columns: Columns, layout: Rows, rows: int) -> Columns:
    """The same with room for so many rows, if it has not."""
    known = len(columns[0])
    if rows <= known:
        return columns
    grown = table(type(columns), layout, max(rows, 2 * known))
    for name, old in columns._asdict().items():
        getattr(grown, name)[:known] = old
    return grown


def row_bytes(layout: Rows) -> int:
    return sum(row.itemsize for row in layout)
