"""Words: cutting, stemming, counting, comparing.

A word is a run of letters and digits, in lower case. Words of one character, of more than 40, and stop
words are dropped; the others are reduced to their Snowball stem.

This is the dearest step of reading a page, so it is done in two. First C code cuts the text into
pieces at everything in ASCII that is neither letter nor digit, lowers it, and counts equal pieces.
Then each distinct piece is looked up in a memo. Only a piece that was never met is looked at closely:
where it is not all ASCII it may hold further separators (`1914–1918`), which a regular expression finds.
Stemming every word as it comes takes twice the time.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Mapping
from functools import cache
from math import sqrt

import Stemmer

from lycosa.lib import stopwords

MIN_LENGTH = 2
MAX_LENGTH = 40

_WORD = re.compile(r"[^\W_]+")
_FOLD = bytes(ord(chr(byte).lower()) if chr(byte).isalnum() else 32 for byte in range(128)) + bytes(range(128, 256))
"""What becomes of each byte of UTF-8: ASCII letters are lowered, other ASCII separates, the rest stays."""

_GENERATION = 1 << 16
_MEMO_PIECE = 4 * MAX_LENGTH
"""Longer pieces, in bytes, are not remembered: they are rubbish, seldom met twice."""

_Stems = str | tuple[str, ...]
"""The stems of one piece: nearly always one, or an empty string where it is dropped."""


def stems(text: str, *, language: str = "english") -> list[str]:
    """The stems of a text in order, stop words left out."""
    memo = _memo(language)
    result: list[str] = []
    for found in map(memo.__getitem__, _pieces(text)):
        if found.__class__ is str:
            if found:
                result.append(found)
        else:
            result.extend(found)
    return result


def term_counts(text: str, *, language: str = "english") -> dict[str, int]:
    """How often each stem occurs in a text: what counting `stems` gives, for half the time."""
    memo = _memo(language)
    pieces = Counter(_pieces(text))
    counts: dict[str, int] = {}
    count_of = counts.get
    for times, found in zip(pieces.values(), map(memo.__getitem__, pieces), strict=True):
        if found.__class__ is str:
            counts[found] = count_of(found, 0) + times
        else:
            for stem in found:
                counts[stem] = count_of(stem, 0) + times
    counts.pop("", None)
    return counts


def cosine(a: Mapping[str, float], b: Mapping[str, float]) -> float:
    """Cosine similarity of two weighted word lists, Σ a·b / √(Σ a² · Σ b²); 0 where either is empty."""
    if len(a) > len(b):
        a, b = b, a
    weight_in_b = b.get
    product = sum(weight * weight_in_b(term, 0.0) for term, weight in a.items())
    if not product:
        return 0.0
    squares_of_a = sum(weight * weight for weight in a.values())
    squares_of_b = sum(weight * weight for weight in b.values())
    # Two roots, not the root of the product: that may overflow, or vanish, where these do not.
    return product / (sqrt(squares_of_a) * sqrt(squares_of_b))


def _pieces(text: str) -> list[bytes]:
    return text.encode("utf-8", "replace").translate(_FOLD).split()


class _StemMemo(dict[bytes, _Stems]):
    """The stems of each piece met so far, in two generations.

    When the young generation is full it becomes the old one, and the old one is forgotten. A piece
    found in the old one moves up. So common words stay and rare ones go, at no cost for a hit.
    """

    __slots__ = ("_old", "_stem", "_stop_words")

    def __init__(self, language: str) -> None:
        super().__init__()
        # The stemmer's own cache is turned off: this memo stands before it.
        self._stem: Callable[[str], str] = Stemmer.Stemmer(language, 0).stemWord
        self._stop_words = stopwords.BY_LANGUAGE.get(language, frozenset())
        self._old: dict[bytes, _Stems] = {}

    def __missing__(self, piece: bytes) -> _Stems:
        if len(piece) > _MEMO_PIECE:
            return self._stems_of(piece)
        found = self._old.get(piece)
        if found is None:
            found = self._stems_of(piece)
        if len(self) >= _GENERATION:
            self._old = dict(self)
            self.clear()
        self[piece] = found
        return found

    def _stems_of(self, piece: bytes) -> _Stems:
        if piece.isascii():
            word = piece.decode()
            return self._stem(word) if self._is_kept(word) else ""
        # NFC: a letter followed by a combining accent would otherwise be cut in two.
        words = _WORD.findall(unicodedata.normalize("NFC", piece.decode()).lower())
        kept = [self._stem(word) for word in words if self._is_kept(word)]
        return kept[0] if len(kept) == 1 else tuple(kept) if kept else ""

    def _is_kept(self, word: str) -> bool:
        return MIN_LENGTH <= len(word) <= MAX_LENGTH and word not in self._stop_words


@cache  # one memo a language, and there are some thirty languages
def _memo(language: str) -> _StemMemo:
    if language not in Stemmer.algorithms():
        known = ", ".join(sorted(Stemmer.algorithms()))
        raise ValueError(f"no stemmer for the language {language!r}; known are {known}")
    return _StemMemo(language)
