"""What the hunter needs of a page (a digest), and what it stores of a visit (a note, a few kilobytes).

A digest is computed by the reader process, so that the main process has no text to split: the distinctive words of the
page, how near its meaning is to the topic's words, and for each link the words near it, the words of its URL, its host
and its folder.

Everything the hunter does is determined by its notes, the URLs of links and the judgements. A crawl that is told them
again on resume therefore continues with the same numbers, though the store does not keep the words of pages or the
context of links.

There are up to `NEAR` words near a link: up to four of its own text, then alternately the nearest before and after it.
So the first few are the best ones, if a page has so many links that each gets only a few.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from math import isnan
from typing import NamedTuple
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from lycosa.judges.meaning import UNKNOWN
from lycosa.lib import native
from lycosa.lib.wordhash import AT_MARK, MARK, NO_WORD, last_words, near_words, piece_numbers
from lycosa.model import Link, Page
from lycosa.strategies.hunter.guesses import MOST_ABOVE

_words = native.load("lycosa.lib._words")

Words = NDArray[np.uint16]
Counts = NDArray[np.uint8]
Vector = Callable[[Mapping[str, int]], tuple[Words, Counts]]
"""Turns the terms of a page into the words to keep of it, with their counts."""

NEAR = 16
OWN = 4
"""Maximum number of words of its own text among those near a link."""
MOST_LINK_WORDS = 3_200
"""Maximum number of words near all links of a page together: 6 KB."""
MOST_GONE = 32
"""Maximum number of links in a note that were handed out."""
URL_WORDS = 6
PLACES = 1 << 18
"""Number of different hashes of hosts and folders."""
HOST_HASH, FOLDER_HASH = range(2)
"""Columns of `LinkAddresses.places`."""

_HEAD = struct.Struct("<BHHBBQ")
_MEANING = struct.Struct("<f")
_VERSION, _WITH_MEANING = 2, 3
"""Of a note: without the meaning of its page, and with it, which follows the head."""


class LinkAddresses(NamedTuple):
    words: Words
    """Links × URL_WORDS."""
    places: NDArray[np.int32]
    """Links × (host, folder): hashes, from 1."""

    @classmethod
    def of(cls, urls: Sequence[str]) -> LinkAddresses:
        return cls(url_words(urls), url_places(urls))


class Digest(NamedTuple):
    """A page in numbers (`lib.wordhash`)."""

    words: Words
    counts: Counts
    near: Words
    """Links × NEAR."""
    addresses: LinkAddresses
    meaning: float = UNKNOWN
    """How near the page's beginning is to the topic's words (`judges.meaning`)."""

    def to_bytes(self) -> bytes:
        head = _DIGEST_HEAD.pack(len(self.words), len(self.near), self.meaning)
        columns = (self.addresses.places, self.addresses.words, self.near, self.words, self.counts)
        return b"".join((head, *(column.tobytes() for column in columns)))

    def part(self, places: NDArray[np.int64]) -> Digest:
        """Of the same page with only the links at these places."""
        words, hashes = self.addresses
        return self._replace(near=self.near[places], addresses=LinkAddresses(words[places], hashes[places]))

    @classmethod
    def from_bytes(cls, digest: bytes) -> Digest:
        """The reverse of `to_bytes`, in the same crawl."""
        count, links, meaning = _DIGEST_HEAD.unpack_from(digest)
        at = _DIGEST_HEAD.size
        places = np.frombuffer(digest, np.int32, 2 * links, at).reshape(links, 2)
        at += 8 * links
        urls = np.frombuffer(digest, np.uint16, URL_WORDS * links, at).reshape(links, URL_WORDS)
        at += 2 * URL_WORDS * links
        near = np.frombuffer(digest, np.uint16, NEAR * links, at).reshape(links, NEAR)
        at += 2 * NEAR * links
        words = np.frombuffer(digest, np.uint16, count, at)
        counts = np.frombuffer(digest, np.uint8, count, at + 2 * count)
        return cls(words, counts, near, LinkAddresses(urls, places), meaning)


_DIGEST_HEAD = struct.Struct("<IIf")


def digest_part(digest: bytes, places: NDArray[np.int64]) -> bytes:
    return Digest.from_bytes(digest).part(places).to_bytes()


def digest(page: Page, vector: Vector, meaning: Callable[[Page], float] | None = None) -> bytes:
    """What the hunter needs of a page. Pure; picklable if `vector` and `meaning` are."""
    words, counts = vector(page.terms)
    near = words_near(page.links, page.stemmed_in)
    addresses = LinkAddresses.of([link.url for link in page.links])
    return Digest(words, counts, near, addresses, meaning(page) if meaning else UNKNOWN).to_bytes()


class Note(NamedTuple):
    """A visit in numbers (`lib.wordhash`)."""

    words: Words
    counts: Counts
    near: Words
    """Links × NEAR."""
    gone: NDArray[np.int64]
    """Links that were handed out since the last note; most have become pages by now, or will."""
    fingerprint: int
    """Of the page's text."""
    guesses: tuple[int, ...] = ()
    """Numbers of the URLs above the page (`guesses.urls_above`) that were adopted; 0 for those that were not."""
    meaning: float = UNKNOWN
    """As in the digest."""

    def to_bytes(self) -> bytes:
        columns = _columns(len(self.near))
        rows = min(len(self.near), MOST_LINK_WORDS)
        version = _VERSION if isnan(self.meaning) else _WITH_MEANING
        head = _HEAD.pack(version, len(self.words), rows, columns, len(self.gone), self.fingerprint)
        if version == _WITH_MEANING:
            head += _MEANING.pack(self.meaning)
        near = np.ascontiguousarray(self.near[:rows, :columns])
        parts = (self.words, self.counts, near, self.gone, np.array(self.guesses, dtype=np.int64))
        return b"".join((head, *(part.tobytes() for part in parts)))

    @classmethod
    def from_bytes(cls, note: bytes, links: int) -> Note:
        """The reverse of `to_bytes`; ValueError if these bytes are not a note."""
        foreign = ValueError(f"{len(note)} bytes are not a note of the hunter")
        if len(note) < _HEAD.size:
            raise foreign
        version, count, rows, columns, gone, fingerprint = _HEAD.unpack_from(note)
        start = _HEAD.size + (_MEANING.size if version == _WITH_MEANING else 0)
        ends = np.cumsum([start, 2 * count, count, 2 * rows * columns, 8 * gone]).tolist()
        guesses, odd = divmod(len(note) - ends[-1], 8)
        if version not in (_VERSION, _WITH_MEANING) or columns > NEAR or odd or not 0 <= guesses <= MOST_ABOVE:
            raise foreign
        meaning = _MEANING.unpack_from(note, _HEAD.size)[0] if version == _WITH_MEANING else UNKNOWN
        words = np.frombuffer(note, np.uint16, count, ends[0])
        counts = np.frombuffer(note, np.uint8, count, ends[1])
        found = np.frombuffer(note, np.uint16, rows * columns, ends[2]).reshape(rows, columns)
        near = np.zeros((links, NEAR), dtype=np.uint16)
        rows = min(rows, links)
        near[:rows, :columns] = found[:rows]
        handed_out, guessed = np.frombuffer(note, np.int64, gone, ends[3]), np.frombuffer(note, np.int64, -1, ends[4])
        return cls(words, counts, near, handed_out, fingerprint, tuple(guessed.tolist()), meaning)


def _columns(links: int) -> int:
    return min(NEAR, max(1, MOST_LINK_WORDS // max(1, links)))


def words_near(links: Sequence[Link], language: str = "en") -> Words:
    """The words near each link of a page in this language: links × NEAR, with as many as a note can hold."""
    near = np.zeros((len(links), NEAR), dtype=np.uint16)
    anchors, contexts = [link.anchor for link in links], [link.context for link in links]
    most = MOST_LINK_WORDS
    if near_words(
        anchors[:most], contexts[:most], near[:most], own=OWN, columns=_columns(len(links)), language=language
    ):
        return near
    return words_near_in_python(links, language)


def words_near_in_python(links: Sequence[Link], language: str = "en") -> Words:
    """The twin of what is compiled."""
    near = np.zeros((len(links), NEAR), dtype=np.uint16)
    if not links:
        return near
    numbers = _numbers(links, language)
    part = np.cumsum(numbers == AT_MARK)
    if part[-1] != 3 * len(links) - 1:  # the page contains the mark itself
        cleaned = [link._replace(anchor=_clean(link.anchor), context=_clean(link.context)) for link in links]
        numbers = _numbers(cleaned, language)
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


def _numbers(links: Sequence[Link], language: str) -> NDArray[np.int32]:
    return piece_numbers(f" {MARK} ".join(map(_marked, links)), language=language)


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


def url_words(urls: Sequence[str]) -> NDArray[np.uint16]:
    """The last words of each URL's path, which are the most specific, in order: URLs × URL_WORDS."""
    found = np.zeros((len(urls), URL_WORDS), dtype=np.uint16)
    return found if last_words([_path(url) for url in urls], found) else url_words_in_python(urls)


def url_words_in_python(urls: Sequence[str]) -> NDArray[np.uint16]:
    """The twin of what is compiled."""
    found = np.zeros((len(urls), URL_WORDS), dtype=np.uint16)
    numbers = piece_numbers(f" {MARK} ".join([_path(url) for url in urls]))
    part = np.cumsum(numbers == AT_MARK)
    is_word = numbers > NO_WORD
    numbers, part = numbers[is_word], part[is_word]
    sizes = np.bincount(part, minlength=len(urls))
    rank = np.arange(len(part)) - (np.cumsum(sizes) - sizes)[part]
    rank += np.minimum(0, URL_WORDS - sizes)[part]
    fits = rank >= 0
    found[part[fits], rank[fits]] = numbers[fits]
    return found


def _path(url: str) -> str:
    parts = url.split("/", 3)
    return parts[3].replace(MARK, " ") if len(parts) > 3 else ""


def url_places(urls: Sequence[str]) -> NDArray[np.int32]:
    """Hashes of host and folder of each URL: URLs × 2."""
    if _words is not None:
        return np.frombuffer(_words.url_places(list(urls), PLACES), np.int32).reshape(-1, 2)
    return np.array([_places(url) for url in urls], dtype=np.int32).reshape(-1, 2)


def _places(url: str) -> tuple[int, int]:
    """Hashes of host and folder, from 1."""
    return _places_of_folder(url.partition("?")[0].rpartition("/")[0])


@lru_cache(maxsize=4096)
def _places_of_folder(folder: str) -> tuple[int, int]:
    host = folder.split("/", 3)[2] if folder.count("/") >= 2 else folder
    return crc32(host.encode()) % (PLACES - 1) + 1, crc32(folder.encode()) % (PLACES - 1) + 1
