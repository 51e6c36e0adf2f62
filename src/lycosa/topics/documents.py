"""A document as a book stores it: text compressed and capped, terms ready for training, a hash that detects copies.

Terms are two columns: the words, sorted and separated by spaces (no term contains white space), and their counts as
bytes, or as 32 bits each if one does not fit. Reading them back takes a tenth of the time of tokenising and stemming
the text again.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import blake2b
from heapq import nlargest
from typing import NamedTuple

import numpy as np

from lycosa.lib.bounds import require_at_least
from lycosa.model import Page

_LEVEL = 6
_BYTES, _WORDS = b"B", b"I"
_MAX_SOURCE = 8_192
_LARGEST = 2**32 - 1
_MAX_UNPACKED = 64 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class BookLimits:
    """What is kept of one example."""

    max_text: int = 50_000
    """Number of characters; the terms are still those of the whole document."""
    max_title: int = 300
    max_terms: int = 20_000
    """Number of distinct terms; the most frequent are kept."""

    def __post_init__(self) -> None:
        require_at_least(self, "book", max_text=0, max_title=0, max_terms=1)


class PackedDocument(NamedTuple):
    """The columns of `documents` that are derived from a page, in order."""

    hash: bytes
    source: str
    title: str
    language: str
    words: int
    text: bytes
    terms: bytes


def pack_document(page: Page, limits: BookLimits) -> PackedDocument:
    title = _storable(page.title[: limits.max_title])
    text = _storable(page.text[: limits.max_text])
    terms = pack_terms(page.terms, most=limits.max_terms)
    return PackedDocument(
        hash=content_hash(page),
        source=_storable(page.url[:_MAX_SOURCE]),
        title=title,
        language=_storable(page.language[:16]),
        words=page.words or sum(page.terms.values()),
        text=zlib.compress(text.encode(), _LEVEL) if text else b"",
        terms=terms,
    )


def unpack_document(source: str, title: str, language: str, words: int, text: bytes, terms: bytes) -> Page:
    """ValueError if the columns are not the output of `pack_document`."""
    return Page(
        url=source,
        title=title,
        text=_inflate(text).decode() if text else "",
        language=language,
        terms=unpack_terms(terms),
        words=words,
    )


def content_hash(page: Page) -> bytes:
    """16 bytes that identify a document's content: its whole text, or its terms if there is no text."""
    digest = blake2b(digest_size=16)
    if page.text:
        digest.update(page.title.encode("utf-8", "replace") + b"\0" + page.text.encode("utf-8", "replace"))
    else:
        for term in sorted(page.terms):
            digest.update(f"{term} {page.terms[term]}\n".encode("utf-8", "replace"))
    return digest.digest()


def pack_terms(terms: Mapping[str, int], *, most: int) -> bytes:
    if len(terms) > most:
        terms = dict(nlargest(most, terms.items(), key=lambda item: (item[1], item[0])))
    names = sorted(terms)
    counts = [min(terms[name], _LARGEST) for name in names]
    code = _BYTES if max(counts, default=0) < 256 else _WORDS
    column = bytes(counts) if code == _BYTES else np.array(counts, dtype="<u4").tobytes()
    joined = " ".join(names).encode("utf-8", "replace")
    return zlib.compress(code + len(joined).to_bytes(4, "little") + joined + column, _LEVEL)


def unpack_terms(packed: bytes) -> dict[str, int]:
    """ValueError if the bytes are not the output of `pack_terms`."""
    plain = _inflate(packed)
    end = 5 + int.from_bytes(plain[1:5], "little")
    names = plain[5:end].decode().split()
    column = plain[end:]
    counts = column if plain[:1] == _BYTES else np.frombuffer(column, dtype="<u4").tolist()
    return dict(zip(names, counts, strict=True))


def _inflate(packed: bytes) -> bytes:
    """Decompress within a bound: a book may come from elsewhere."""
    inflater = zlib.decompressobj()
    try:
        plain = inflater.decompress(packed, _MAX_UNPACKED)
    except zlib.error as error:
        raise ValueError(f"not valid compressed data: {error}") from error
    if not inflater.eof:
        raise ValueError("truncated, or larger than any document can be")
    return plain


def _storable(text: str) -> str:
    """Without lone surrogates, which HTML can spell but UTF-8 cannot encode."""
    return text.encode("utf-8", "replace").decode()
