"""Words as numbers of 16 bits: tables over words become arrays of a fixed size, however many words a crawl meets.

The number of a stem is the low bits of its CRC-32: the same in every process and on every machine. Two stems may
share a number; measured on 20 topics, judging by 2¹⁶ numbers is as good as by 2¹⁸.

`piece_numbers` cuts a text like `lib.text`, but gives numbers at once: for each distinct piece the stemmer is asked
only the first time it is met.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from zlib import crc32

from lycosa.lib.text import stems

BITS = 16
SIZE = 1 << BITS
NO_WORD = 0
"""The number of nothing: stop words, and places that are empty."""
MARK = "\u2063"
"""Cuts a text into parts; an invisible separator that no text needs."""
AT_MARK = -1

_MASK = SIZE - 1
_FOLD = bytes(ord(chr(byte).lower()) if chr(byte).isalnum() else 32 for byte in range(128)) + bytes(range(128, 256))
_MOST_PIECES = 1 << 17
_LONGEST_PIECE = 160
_LONGEST_NUMBER = 4
_SEPARATORS = ("\u2013", "\u2014", "\u2019", "\u00a0", "\u201c", "\u201d", "\u2022", "\u00b7", "\u00bb", "\u00ab")


def number_of(stem: str) -> int:
    """From 1 to SIZE − 1."""
    return crc32(stem.encode("utf-8", "replace")) & _MASK or 1


def numbers_of(found: Iterable[str]) -> list[int]:
    """The numbers of many stems."""
    mask = _MASK
    return [crc32(stem.encode("utf-8", "replace")) & mask or 1 for stem in found]


def piece_numbers(text: str) -> list[int]:
    """The numbers of a text's words in order: NO_WORD for stop words, AT_MARK for each MARK that stands alone."""
    if not text.isascii():
        for separator in _SEPARATORS:
            text = text.replace(separator, " ")
    return list(map(_memo().__getitem__, text.encode("utf-8", "replace").translate(_FOLD).split()))


class _Memo(dict[bytes, int]):
    """The number of each piece met so far; when there are too many all are forgotten."""

    def __missing__(self, piece: bytes) -> int:
        if len(piece) > _LONGEST_NUMBER and piece.isdigit():
            return NO_WORD  # in URLs there are as many as links: not worth remembering
        found = stems(piece.decode("utf-8", "replace")) if len(piece) <= _LONGEST_PIECE else []
        number = number_of(found[0]) if found else NO_WORD
        if len(self) >= _MOST_PIECES:
            self.clear()
            self[MARK.encode()] = AT_MARK
        self[piece] = number
        return number


@cache
def _memo() -> _Memo:
    return _Memo({MARK.encode(): AT_MARK})
