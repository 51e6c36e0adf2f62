"""What the hunter keeps of links, of links on pages, and of visited pages: columns that grow.

A new column is made of fresh zeros, which take memory from the system only where something is written: growing by
doubling therefore costs address space, not memory.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lycosa.frontier.hunter_note import NEAR, URL_WORDS

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
    "host",
    "folder",
    "citations",
    "anchor",
)
"""What a link is scored by; see `hunter_evidence`."""
GROUPS = (*("pages",) * 5, *("text",) * 4, *("urls",) * 2, *("places",) * 2, "pages", "text")
"""By feature: which kind of evidence it is of."""
MOST_SIBLINGS = 200
"""Links of citing pages that are looked at again in one visit, because the page's hub value has changed."""
MOST_Z = 6.0
"""How far a feature may stand out (`hunter_learner`)."""
REACH = 5
"""How far on a page links are neighbours."""

Floats = NDArray[np.float32]
Ints = NDArray[np.int32]


class Columns(ABC):
    """Columns of one length; those that inherit say which."""

    def __init__(self, room: int) -> None:
        self.room = room
        for name, (kind, width) in self.layout().items():
            setattr(self, name, np.zeros((room, width) if width else room, dtype=kind))

    @classmethod
    @abstractmethod
    def layout(cls) -> dict[str, tuple[Any, int]]:
        """By column: its type, and how many values a row has; 0: one, without a dimension of its own."""

    def reserve(self, rows: int) -> None:
        if rows <= self.room:
            return
        room = max(rows, 2 * self.room)
        for name in self.layout():
            column: NDArray[Any] = getattr(self, name)
            longer = np.zeros((room, *column.shape[1:]), dtype=column.dtype)
            longer[: self.room] = column
            setattr(self, name, longer)
        self.room = room

    @classmethod
    def row_bytes(cls) -> int:
        return sum(np.dtype(kind).itemsize * max(1, width) for kind, width in cls.layout().values())


class LinkColumns(Columns):
    """By link number."""

    page: Ints
    """The number of its page, from 1 on, once it was visited; −1: handed out."""
    cited: Ints
    """Visited pages that link to it."""
    ring: Ints
    """Its latest citations, by number."""
    near: NDArray[np.uint16]
    """The words near it in its latest citations."""
    url: NDArray[np.uint16]
    """The words of its URL."""
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
    features: NDArray[np.float16]
    """As last looked at."""
    score: Floats
    told: Floats
    """The score that the frontier knows."""

    @classmethod
    def layout(cls) -> dict[str, tuple[Any, int]]:
        return {
            "page": (np.int32, 0),
            "cited": (np.int32, 0),
            "ring": (np.int32, RING),
            "near": (np.uint16, TEXTS * NEAR),
            "url": (np.uint16, URL_WORDS),
            "host": (np.int32, 0),
            "folder": (np.int32, 0),
            "relevance": (np.float32, 0),
            "sum": (np.float32, 0),
            "early": (np.float32, 0),
            "best": (np.float32, 0),
            "stamp": (np.int32, 0),
            "features": (np.float16, len(FEATURES)),
            "score": (np.float32, 0),
            "told": (np.float32, 0),
        }


class CitationColumns(Columns):
    """By citation: a link on a visited page. `REACH` empty rows between pages keep neighbours on one page."""

    target: Ints
    page: Ints
    near: Floats
    """Σ r / distance over visited links near it."""
    near_weight: Floats
    """Σ 1 / distance."""

    @classmethod
    def layout(cls) -> dict[str, tuple[Any, int]]:
        return {
            "target": (np.int32, 0),
            "page": (np.int32, 0),
            "near": (np.float32, 0),
            "near_weight": (np.float32, 0),
        }


class PageColumns(Columns):
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

    @classmethod
    def layout(cls) -> dict[str, tuple[Any, int]]:
        return {
            "link": (np.int32, 0),
            "relevance": (np.float32, 0),
            "hub": (np.float32, 0),
            "hub_weight": (np.float32, 0),
            "hub_told": (np.float32, 0),
            "begin": (np.int64, 0),
            "links": (np.int32, 0),
        }
