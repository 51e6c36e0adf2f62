"""The words of all pages that a study has met, about a kilobyte each, in arrays that grow."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lycosa.judges.contrast.page_vector import COUNT_WEIGHT, Floats, PageVector, Words
from lycosa.judges.meaning import UNKNOWN
from lycosa.lib.growing import grown, with_room
from lycosa.lib.snapshot import Tree
from lycosa.lib.sparse import Rows, count_columns, unit_rows
from lycosa.lib.wordhash import NO_WORD, SIZE

_BLOCK = 4096
"""Pages processed together."""


class Block(NamedTuple):
    pages: slice
    vectors: Rows
    """Pages × words, each row of length 1."""
    norms: Floats
    """Lengths of the rows before they were scaled."""


class StudiedPages:
    """Pages by number, in the order in which they were added."""

    def __init__(self) -> None:
        self.count = 0
        self._words: Words = np.zeros(1 << 12, dtype=np.uint16)
        self._counts: NDArray[np.uint8] = np.zeros(1 << 12, dtype=np.uint8)
        self._starts: NDArray[np.int64] = np.zeros(64, dtype=np.int64)
        self._hosts: NDArray[np.int64] = np.zeros(64, dtype=np.int64)
        self._meanings: Floats = np.zeros(64, dtype=np.float32)

    def add(self, page: PageVector, *, host: int, meaning: float) -> int:
        """Add a page and return its number."""
        words, counts = page
        if not len(words):  # every page needs at least one word
            words, counts = np.array([NO_WORD], dtype=np.uint16), np.zeros(1, dtype=np.uint8)
        number, start = self.count, int(self._starts[self.count])
        end = start + len(words)
        if end > len(self._words):
            self._words, self._counts = grown(self._words, end), grown(self._counts, end)
        if number + 1 >= len(self._starts):
            self._starts = grown(self._starts, number + 2)
            self._hosts = grown(self._hosts, len(self._starts))
            self._meanings = grown(self._meanings, len(self._starts))
        self._words[start:end], self._counts[start:end] = words, counts
        self._starts[number + 1], self._hosts[number], self._meanings[number] = end, host, meaning
        self.count += 1
        return number

    def take(self) -> Tree:
        """`lib.snapshot.Snapshots.take`."""
        end = self._starts[self.count]
        return {
            "words": self._words[:end].copy(),
            "counts": self._counts[:end].copy(),
            "starts": self._starts[: self.count + 1].copy(),
            "hosts": self._hosts[: self.count].copy(),
            "meanings": self._meanings[: self.count].copy(),
        }

    def load(self, saved: Tree) -> None:
        words, counts, starts, hosts = saved["words"], saved["counts"], saved["starts"], saved["hosts"]
        meanings = saved.get("meanings", np.full(len(hosts), UNKNOWN, dtype=np.float32))
        if len(meanings) != len(hosts) or len(starts) != len(hosts) + 1 or not len(words) == len(counts) == starts[-1]:
            raise ValueError(f"{len(words)} words of {len(hosts)} pages")
        self._words, self._counts = with_room(words), with_room(counts)
        self._starts = with_room(starts)
        self._hosts = grown(hosts, len(self._starts))
        self._meanings = grown(meanings, len(self._starts))
        self.count = len(hosts)

    def __getitem__(self, number: int) -> PageVector:
        span = slice(*self._starts[number : number + 2].tolist())
        return PageVector(self._words[span], self._counts[span])

    @property
    def hosts(self) -> NDArray[np.int64]:
        """By page: any number that identifies its host; 0: unknown."""
        return self._hosts[: self.count]

    @property
    def meanings(self) -> Floats:
        """By page: how near its beginning is to the topic's words; NaN: unknown."""
        return self._meanings[: self.count]

    def are_empty(self, start: int) -> NDArray[np.bool_]:
        """For each page from `start` on: whether it has no words."""
        is_empty: NDArray[np.bool_] = self._counts[self._starts[start : self.count]] == 0
        return is_empty

    def frequencies(self, shares: Floats) -> NDArray[Any]:
        """By word: the number of pages that contain it, each counted as its share."""
        count, end = self.count, self._starts[self.count]
        return count_columns(self._words[:end], self._starts[: count + 1], shares)

    def blocks(self, idf: Floats, start: int = 0) -> Iterator[Block]:
        """The pages from `start` on as vectors, words weighed by `idf`."""
        for first in range(start, self.count, _BLOCK):
            last = min(first + _BLOCK, self.count)
            begin, end = int(self._starts[first]), int(self._starts[last])
            words = self._words[begin:end]
            starts = self._starts[first : last + 1] - begin
            values, norms = unit_rows(words, self._counts[begin:end], starts, COUNT_WEIGHT, idf)
            yield Block(slice(first, last), Rows(values, words, starts, SIZE), norms)
