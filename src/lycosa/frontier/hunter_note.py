"""What the hunter keeps of a visit: the page's telling words and the words near each of its links, a few kilobytes.

Everything the hunter does follows from these notes, the links' URLs and the judgements. Told again on resume, a crawl
therefore goes on with the same numbers, though the store does not keep the words of pages or the context of links.

Near a link stand up to `NEAR` words: up to four of its text, then by turns the nearest before and behind it, so that
the first few are the best few where a page has so many links that each may have only so many.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lycosa.lib.wordhash import AT_MARK, MARK, NO_WORD, piece_numbers
from lycosa.model import Link

Words = NDArray[np.uint16]

NEAR = 16
OWN = 4
"""Of the words near a link those of its own text."""
MOST_LINK_WORDS = 3_500
"""Words near all links of a page together: 7 KB."""

MOST_GONE = 32
"""Links named as handed out."""

_HEAD = struct.Struct("<BHHBB")
_VERSION = 1


class Note(NamedTuple):
    """A visit in numbers (`lib.wordhash`)."""

    words: Words
    counts: NDArray[np.uint8]
    near: Words
    """Links × NEAR."""
    gone: NDArray[np.int64]
    """Links that were handed out since the last note; most have become pages since, or will."""

    def to_bytes(self) -> bytes:
        columns = _columns(len(self.near))
        rows = min(len(self.near), MOST_LINK_WORDS)
        head = _HEAD.pack(_VERSION, len(self.words), rows, columns, len(self.gone))
        near = np.ascontiguousarray(self.near[:rows, :columns])
        return b"".join((head, self.words.tobytes(), self.counts.tobytes(), near.tobytes(), self.gone.tobytes()))

    @classmethod
    def from_bytes(cls, note: bytes, links: int) -> Note:
        """ValueError if these bytes are not a note."""
        foreign = ValueError(f"{len(note)} bytes are not a note of the hunter")
        if len(note) < _HEAD.size:
            raise foreign
        version, count, rows, columns, gone = _HEAD.unpack_from(note)
        ends = np.cumsum([_HEAD.size, 2 * count, count, 2 * rows * columns, 8 * gone]).tolist()
        if version != _VERSION or columns > NEAR or len(note) != ends[-1]:
            raise foreign
        words = np.frombuffer(note, np.uint16, count, ends[0])
        counts = np.frombuffer(note, np.uint8, count, ends[1])
        found = np.frombuffer(note, np.uint16, rows * columns, ends[2]).reshape(rows, columns)
        near = np.zeros((links, NEAR), dtype=np.uint16)
        rows = min(rows, links)
        near[:rows, :columns] = found[:rows]
        return cls(words, counts, near, np.frombuffer(note, np.int64, gone, ends[3]))


def _columns(links: int) -> int:
    return min(NEAR, max(1, MOST_LINK_WORDS // max(1, links)))


def words_near(links: Sequence[Link]) -> Words:
    """The words near each link of a page: links × NEAR, cut as a note keeps them."""
    near = np.zeros((len(links), NEAR), dtype=np.uint16)
    if not links:
        return near
    numbers = np.array(piece_numbers(f" {MARK} ".join(map(_marked, links))), dtype=np.int32)
    part = np.cumsum(numbers == AT_MARK)
    if part[-1] != 3 * len(links) - 1:  # a page that uses the mark itself
        cleaned = [link._replace(anchor=_clean(link.anchor), context=_clean(link.context)) for link in links]
        numbers = np.array(piece_numbers(f" {MARK} ".join(map(_marked, cleaned))), dtype=np.int32)
        part = np.cumsum(numbers == AT_MARK)
    is_word = numbers > NO_WORD
    numbers, part = numbers[is_word], part[is_word]
    sizes = np.bincount(part, minlength=3 * len(links))
    ends = np.cumsum(sizes)
    at = np.arange(len(part))
    rank = at - (ends - sizes)[part]
    kind = part % 3
    rank = np.where(kind == _BEFORE, ends[part] - 1 - at, rank)
    slot = np.where(kind == _ANCHOR, rank, OWN + 2 * rank + (kind == _BEHIND))
    fits = (slot < _columns(len(links))) & ((kind != _ANCHOR) | (rank < OWN)) & (part < 3 * MOST_LINK_WORDS)
    near[part[fits] // 3, slot[fits]] = numbers[fits]
    return near


_ANCHOR, _BEFORE, _BEHIND = 0, 1, 2


def _marked(link: Link) -> str:
    anchor, context = link.anchor, link.context
    at = context.find(anchor, max(0, (len(context) - len(anchor)) // 2 - 8))
    if at < 0:
        at = context.rfind(anchor)
    if at < 0:
        return f"{anchor} {MARK} {context} {MARK}"
    return f"{anchor} {MARK} {context[:at]} {MARK} {context[at + len(anchor) :]}"


def _clean(text: str) -> str:
    return text.replace(MARK, " ")
