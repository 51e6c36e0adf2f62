"""A document as a book stores it: text compressed and capped, terms ready for training, a hash that detects copies.

Terms are two columns: the words, sorted and separated by spaces (no term contains white space), and their counts as
bytes, or as 32 bits each if one does not fit. Reading them back takes a tenth of the time of tokenising and stemming
the text again. Of links, the hashes of their targets are kept, for judges that compare what pages link to.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from hashlib import blake2b
from heapq import nlargest
from typing import NamedTuple

import numpy as np

from lycosa.lib.languages import stemmed_as
from lycosa.model import Page

MAX_TEXT = 50_000
"""Maximum number of characters kept of an example; its terms are still those of the whole document."""
MAX_TITLE = 300
MAX_TERMS = 20_000
"""Maximum number of distinct terms kept of an example: the most frequent."""
MAX_LINKS = 1_000
"""Maximum number of links kept of an example: the first."""
_LEVEL = 6
_HASH = "<i8"
_BYTES, _WORDS = b"B", b"I"
_MAX_SOURCE = 8_192
_LARGEST = 2**32 - 1
_MAX_UNPACKED = 64 << 20


class PackedDocument(NamedTuple):
    """The columns of `documents` that are derived from a page, in order."""

    hash: bytes
    source: str
    title: str
    language: str
    words: int
    text: bytes
    terms: bytes
    links: bytes


def pack_document(page: Page) -> PackedDocument:
    text = _storable(page.content[:MAX_TEXT])
    return PackedDocument(
        hash=content_hash(page),
        source=_storable(page.url[:_MAX_SOURCE]),
        title=_storable(page.title[:MAX_TITLE]),
        language=_storable(page.language[:16]),
        words=page.words or sum(page.terms.values()),
        text=zlib.compress(text.encode(), _LEVEL) if text else b"",
        terms=pack_terms(page.terms, most=MAX_TERMS),
        links=np.frombuffer(page.link_hashes, np.int64)[:MAX_LINKS].astype(_HASH).tobytes(),
    )


def unpack_document(
    source: str, title: str, language: str, words: int, text: bytes, terms: bytes, links: bytes = b""
) -> Page:
    """ValueError if the columns are not the output of `pack_document`."""
    return Page(
        url=source,
        title=title,
        text=_inflate(text).decode() if text else "",
        language=language,
        terms=unpack_terms(terms),
        words=words,
        link_hashes=np.frombuffer(links, _HASH).astype(np.int64).tobytes(),
        stemmed_in=stemmed_as(language),
    )


def content_hash(page: Page) -> bytes:
    """16 bytes that identify a document's content: all of its own text, or its terms if there is no text."""
    if not page.content:
        return terms_hash(page, 16)
    return blake2b(f"{page.title}\0{page.content}".encode("utf-8", "replace"), digest_size=16).digest()


def terms_hash(page: Page, size: int) -> bytes:
    """This many bytes that identify a document's words and their counts."""
    lines = "".join(f"{term} {count}\n" for term, count in sorted(page.terms.items()))
    return blake2b(lines.encode("utf-8", "replace"), digest_size=size).digest()


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
