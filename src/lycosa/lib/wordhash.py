"""Words as 16-bit numbers: tables over words become arrays of a fixed size, however many words a crawl encounters.

The number of a stem is the low bits of its CRC-32, the same in every process and on every machine. Two stems may share
a number; measured on 20 topics, judging with 2¹⁶ numbers is as accurate as with 2¹⁸.

`piece_numbers` splits a text like `lib.text` but returns numbers directly: the stemmer is called only once for each
distinct piece.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from lycosa.lib import native
from lycosa.lib.languages import CODES, stemmer_of
from lycosa.lib.text import pieces, stems

Numbers = NDArray[np.int32]

_words = native.load("lycosa.lib._words")

BITS = 16
SIZE = 1 << BITS
NO_WORD = 0
"""The number of stop words and empty slots."""
MARK = "\u2063"
"""Separates the parts of a text: an invisible character that no text needs."""
AT_MARK = -1

_MASK = SIZE - 1
_MOST_PIECES = 1 << 17
_LONGEST_PIECE = 160
_LONGEST_NUMBER = 4
_SEPARATORS = ("\u2013", "\u2014", "\u2019", "\u00a0", "\u201c", "\u201d", "\u2022", "\u00b7", "\u00bb", "\u00ab")
_SEPARATORS_IN_UTF8 = tuple(separator.encode() for separator in _SEPARATORS)
_MARK_IN_UTF8 = MARK.encode()


def number_of(stem: str) -> int:
    """The number of a stem, from 1 to SIZE − 1."""
    return crc32(stem.encode("utf-8", "replace")) & _MASK or 1


def numbers_of(found: Iterable[str]) -> NDArray[np.uint16]:
    """The numbers of stems, in their order."""
    if _words is None:
        return np.array(list(map(number_of, found)), np.uint16)
    return np.frombuffer(_words.stem_numbers(found), np.uint16)


def counted_numbers(terms: Mapping[str, int]) -> tuple[NDArray[np.uint16], NDArray[np.int64]]:
    """The numbers of counted stems, and their counts."""
    if _words is not None and isinstance(terms, _words.Terms):
        numbers, counts = terms.arrays()
        return np.frombuffer(numbers, np.uint16), np.frombuffer(counts, np.uint32).astype(np.int64)
    return numbers_of(terms), np.fromiter(terms.values(), np.int64, len(terms))


def stems_at(terms: Mapping[str, int], places: Iterable[int]) -> list[str]:
    """Some of counted stems, by their place in the order of first occurrence."""
    if _words is not None and isinstance(terms, _words.Terms):
        return list(map(terms.stem, places))
    names = list(terms)
    return [names[place] for place in places]


def strongest(numbers: NDArray[np.float32], most: int) -> list[int]:
    """The places of the numbers that are not 0 and, by absolute value, among the `most` largest, or equal to these."""
    if _words is not None:
        places: list[int] = _words.strongest(numbers, most)
        return places
    strength = np.abs(numbers)
    least = np.partition(strength, -most)[-most] if len(numbers) > most else np.float32(0)
    return np.flatnonzero((strength >= least) & (strength > 0)).tolist()


def piece_numbers(text: str, *, language: str = "en") -> Numbers:
    """The numbers of the words of a text in order: NO_WORD for stop words, AT_MARK for each isolated MARK."""
    compiled = _compiled_memo(stemmer_of(language))
    if compiled is not None:
        return np.frombuffer(compiled.numbers(text, _SEPARATORS_IN_UTF8), np.int32)
    return numbers_in_python(text, language=language)


def near_words(
    anchors: list[str], contexts: list[str], rows: NDArray[np.uint16], *, own: int, columns: int, language: str = "en"
) -> bool:
    """Fill `rows`, one for each anchor: its first words, up to `own`, then alternately the nearest before and after it
    in its context, up to `columns` in all. False if that is not possible here, and something else has to do it."""
    compiled = _compiled_memo(stemmer_of(language))
    return compiled is not None and compiled.near(
        anchors, contexts, _SEPARATORS_IN_UTF8, _MARK_IN_UTF8, own, columns, rows
    )


def last_words(texts: list[str], rows: NDArray[np.uint16], *, language: str = "en") -> bool:
    """Fill `rows`, one for each text: its last words, in order. False as above."""
    compiled = _compiled_memo(stemmer_of(language))
    return compiled is not None and compiled.last(texts, _SEPARATORS_IN_UTF8, _MARK_IN_UTF8, rows)


def numbers_in_python(text: str, *, language: str = "en") -> Numbers:
    """The twin of what is compiled."""
    if not text.isascii():
        for separator in _SEPARATORS:
            text = text.replace(separator, " ")
    return np.array(list(map(_memo(stemmer_of(language)).__getitem__, pieces(text))), np.int32)


class _Memo(dict[bytes, int]):
    """The number of each piece seen so far; cleared when it is full."""

    def __init__(self, stemmer: str) -> None:
        super().__init__()
        self._language = CODES[stemmer]

    def __missing__(self, piece: bytes) -> int:
        number = self.number_of(piece)
        if number is None:
            return NO_WORD
        if len(self) >= _MOST_PIECES:
            self.clear()
        self[piece] = number
        return number

    def number_of(self, piece: bytes) -> int | None:
        """The number of a piece, without looking it up; None for one that is no word and not worth remembering."""
        if piece == _MARK_IN_UTF8:
            return AT_MARK
        if len(piece) > _LONGEST_NUMBER and piece.isdigit():
            return None  # nearly every URL has other numbers
        found = stems(piece.decode("utf-8", "replace"), language=self._language) if len(piece) <= _LONGEST_PIECE else []
        return number_of(found[0]) if found else NO_WORD


@cache
def _compiled_memo(stemmer: str) -> Any:
    """Numbers by piece in compiled code; None without it."""
    return None if _words is None else _words.Memo(_memo(stemmer).number_of, _MOST_PIECES, _LONGEST_PIECE)


@cache
def _memo(stemmer: str) -> _Memo:
    return _Memo(stemmer)
