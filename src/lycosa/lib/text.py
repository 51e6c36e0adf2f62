"""Words: splitting, stemming, counting.

A word is a run of letters and digits, in lower case. Words of one character, words of more than 40, and stop words are
dropped; the others are reduced to their Snowball stems. Stop words and stemmer are those of the text's language
(`languages`), English by default; in other languages than English, marks belong to the letter they follow, without
which there are no words in Hindi or Tamil.

This is the most expensive step of reading a page, so it is done in two passes. First, C code lower-cases the text,
splits it into pieces at every ASCII character that is neither a letter nor a digit, and counts equal pieces. Then each
distinct piece is looked up in a memo. Only an unknown piece is examined closely: if it is not all ASCII, it may contain
further separators (`1914–1918`), which a regular expression finds. Stemming each word separately takes twice the time.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache, lru_cache
from typing import Any

import Stemmer

from lycosa.lib import native, stopwords
from lycosa.lib.languages import ENGLISH, stemmer_of

_words = native.load("lycosa.lib._words")
if _words is not None:
    Mapping.register(_words.Terms)

MIN_LENGTH = 2
MAX_LENGTH = 40

_WORD = re.compile(r"[^\W_]+")
_FOLD = bytes(ord(chr(byte).lower()) if chr(byte).isalnum() else 32 for byte in range(128)) + bytes(range(128, 256))
"""Translation of each byte of UTF-8: ASCII letters to lower case, ASCII separators to spaces, the rest unchanged."""

_GENERATION = 1 << 16
_MEMO_PIECE = 4 * MAX_LENGTH
"""Length in bytes above which pieces are not memoised: they are rubbish and seldom recur."""

_Stems = str | tuple[str, ...]
"""The stems of one piece: nearly always one; an empty string if the piece is dropped."""


def stems(text: str, *, language: str = "en") -> list[str]:
    """The stems of a text in order, without stop words. `language`: ISO 639-1 code of the text."""
    memo = _memo(language)
    result: list[str] = []
    for found in map(memo.__getitem__, pieces(text)):
        if found.__class__ is str:
            if found:
                result.append(found)
        else:
            result.extend(found)
    return result


def term_counts(text: str, *, language: str = "en") -> dict[str, int]:
    """The number of occurrences of each stem, in order of first occurrence: same as counting `stems`, but faster."""
    compiled = _compiled_memo(stemmer_of(language))
    if compiled is not None:
        counts: dict[str, int] = compiled.counts(text)
        return counts
    return counts_in_python(text, language=language)


def counted(text: str, *, language: str = "en") -> Mapping[str, int]:
    """The same as `term_counts`, but compiled code makes words of it only when it is asked for words."""
    compiled = _compiled_memo(stemmer_of(language))
    if compiled is not None:
        terms: Mapping[str, int] = compiled.terms(text)
        return terms
    return counts_in_python(text, language=language)


def total(terms: Mapping[str, int]) -> int:
    """The sum of all counts."""
    if _words is not None and isinstance(terms, _words.Terms):
        found: int = terms.total()
        return found
    return sum(terms.values())


def squares(terms: Mapping[str, int]) -> int:
    """The sum of the squares of all counts."""
    if _words is not None and isinstance(terms, _words.Terms):
        found: int = terms.squares()
        return found
    return sum(count * count for count in terms.values())


def counts_in_python(text: str, *, language: str = "en") -> dict[str, int]:
    """The twin of what is compiled."""
    memo = _memo(language)
    counted = Counter(pieces(text))
    counts: dict[str, int] = {}
    count_of = counts.get
    for times, found in zip(counted.values(), map(memo.__getitem__, counted), strict=True):
        if found.__class__ is str:
            counts[found] = count_of(found, 0) + times
        else:
            for stem in found:
                counts[stem] = count_of(stem, 0) + times
    counts.pop("", None)
    return counts


@lru_cache(maxsize=256)
def aliases(words: str, language: str) -> Mapping[str, str]:
    """For the words of a query: the English stem by the stem in another language, where they differ."""
    found: dict[str, str] = {}
    for word in split_words(words):
        theirs, ours = stems(word, language=language), stems(word)
        if len(theirs) == len(ours) == 1 and theirs != ours:
            found[theirs[0]] = ours[0]
    return found


def readings(text: str, languages: Iterable[str], words: str = "") -> Iterator[dict[str, int]]:
    """The counts of a text of which only the possible languages are known, in each of them.

    `words`: those of a query, whose stems are English ones.
    """
    for language in languages:
        counts = term_counts(text, language=language)
        yield counts if language == "en" else renamed(counts, aliases(words, language))


def renamed(terms: Mapping[str, int], names: Mapping[str, str]) -> dict[str, int]:
    """Counts by stem, with other names for some stems."""
    counts: dict[str, int] = {}
    for stem, times in terms.items():
        name = names.get(stem, stem)
        counts[name] = counts.get(name, 0) + times
    return counts


def split_words(text: str, *, has_marks: bool = True) -> list[str]:
    """The words of a text in lower case, of any length. `has_marks`: marks are part of words."""
    # NFC: otherwise a letter followed by a combining accent would be split.
    pattern = _word_with_marks() if has_marks else _WORD
    return pattern.findall(unicodedata.normalize("NFC", text).lower())


@cache  # looks at every character there is, which takes a moment
def _word_with_marks() -> re.Pattern[str]:
    """A letter or digit, and what follows it: more of them, marks, and joiners, which are within words."""
    marks = "".join(chr(code) for code in range(0x300, 0x10000) if unicodedata.category(chr(code)) in ("Mn", "Mc"))
    return re.compile(rf"[^\W_](?:[^\W_]|[{marks}\u200c\u200d])*")


def pieces(text: str) -> list[bytes]:
    """The text in UTF-8, with ASCII letters in lower case, split at all other ASCII characters except digits."""
    return text.encode("utf-8", "replace").translate(_FOLD).split()


class _StemMemo(dict[bytes, _Stems]):
    """The stems of each piece seen so far, in two generations.

    When the young generation is full it replaces the old one, which is discarded. A piece found in the old generation
    is promoted to the young one. Common words thus stay and rare ones go, and a hit costs nothing extra.
    """

    __slots__ = ("_has_marks", "_old", "_stem", "_stop_words")

    def __init__(self, stemmer: str) -> None:
        super().__init__()
        # The stemmer's own cache is turned off: this memo replaces it.
        self._stem: Callable[[str], str] = Stemmer.Stemmer(stemmer, 0).stemWord
        self._stop_words = stopwords.of(stemmer)
        self._has_marks = stemmer != ENGLISH
        self._old: dict[bytes, _Stems] = {}

    def __missing__(self, piece: bytes) -> _Stems:
        if len(piece) > _MEMO_PIECE:
            return self.stems_of(piece)
        found = self._old.get(piece)
        if found is None:
            found = self.stems_of(piece)
        if len(self) >= _GENERATION:
            self._old = dict(self)
            self.clear()
        self[piece] = found
        return found

    def stems_of(self, piece: bytes) -> _Stems:
        """Without looking it up."""
        if piece.isascii():
            word = piece.decode()
            return self._stem(word) if self._is_kept(word) else ""
        words = split_words(piece.decode(), has_marks=self._has_marks)
        kept = [self._stem(word) for word in words if self._is_kept(word)]
        return kept[0] if len(kept) == 1 else tuple(kept) if kept else ""

    def _is_kept(self, word: str) -> bool:
        return MIN_LENGTH <= len(word) <= MAX_LENGTH and word not in self._stop_words


def _memo(language: str) -> _StemMemo:
    memo = _MEMOS.get(language)
    if memo is None:
        # Languages with the same stemmer share a memo.
        memo = _MEMOS[language] = _memo_of_stemmer(stemmer_of(language))
    return memo


@cache
def _compiled_memo(stemmer: str) -> Any:
    """Stems by piece in compiled code; None without it."""
    return None if _words is None else _words.Memo(_memo_of_stemmer(stemmer).stems_of, 2 * _GENERATION, _MEMO_PIECE)


@cache
def _memo_of_stemmer(stemmer: str) -> _StemMemo:
    return _StemMemo(stemmer)


_MEMOS: dict[str, _StemMemo] = {}
"""By language. Codes come from a model or a document: two letters each, so there are few."""
