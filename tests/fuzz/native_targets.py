"""What the compiled parts of reading are given, and what their twins in Python say of some of it."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any
from zlib import crc32

import numpy as np
from selectolax.lexbor import LexborHTMLParser
from tokenizers import Tokenizer

from lycosa.fetch.urls import UrlRules, Urls
from lycosa.judges import meaning
from lycosa.lib.half_rows import sum_of_rows
from lycosa.lib.text import counted, counts_in_python
from lycosa.lib.wordhash import numbers_in_python, piece_numbers
from lycosa.model import Link
from lycosa.page import furniture
from lycosa.page.fingerprint import simhash, simhash_in_python
from lycosa.page.limits import PageLimits
from lycosa.page.links import resolve_links
from lycosa.page.own_text import OwnText, block_hashes
from lycosa.page.slow_documents import simplified
from lycosa.page.walk import compiled, walk, walk_in_python
from lycosa.strategies.hunter import notes

COMPARED = 16
"""One input in this many goes through the twins, which take longer."""
URL = "http://a.test/d/e"
URLS = Urls(UrlRules())
LIMITS = PageLimits(context_reach=20, max_anchor=30)
_tree: Any = compiled()


def _is_compared(data: bytes) -> bool:
    return crc32(data) % COMPARED == 0


def tree(data: bytes) -> None:
    """The walk through a document, and the texts of its links."""
    depth, source = 2 + len(data) % 7, simplified(data.replace(b"\0", b""))
    if not _is_compared(data):
        _tree.walk(source, depth, True)
        return
    document = walk(source, path_depth=depth)
    assert document == walk_in_python(LexborHTMLParser(source), path_depth=depth)
    own = OwnText(document, block_hashes(document)[:8])
    resolve_links(document, own, url=URL, resolver=URLS.resolver, limits=LIMITS, glance=URLS.glance)


def words(data: bytes) -> None:
    """Cutting, counting, numbering, words near links."""
    text, language = data.decode("utf-8", "replace"), ("en", "de", "hi")[len(data) % 3]
    terms = counted(text, language=language)
    numbers = piece_numbers(text, language=language)
    fingerprint = simhash(terms)
    half = len(text) // 2
    links = [Link(f"http://a.test/{text}", text[half : half + 9], text), Link("http://a.test/", text[:3], text[half:])]
    near, places = notes.words_near(links, language), notes.LinkAddresses.of([link.url for link in links])
    if _is_compared(data):
        plain = counts_in_python(text, language=language)
        assert dict(terms) == plain
        assert fingerprint == (simhash_in_python(plain) if plain else 0)
        assert np.array_equal(numbers, numbers_in_python(text, language=language))
        assert np.array_equal(near, notes.words_near_in_python(links, language))
        assert np.array_equal(places.words, notes.url_words_in_python([link.url for link in links]))


def hrefs(data: bytes) -> None:
    """URLs of a page's links: the base, then an href a line."""
    base, *several = data.decode("utf-8", "replace").split("\n")
    for place in (URL, f"http://{base}/", f"https://a.test/{base}"):
        glanced = URLS.glance(place, several)
        if glanced is not None and _is_compared(data):
            resolve = Urls(UrlRules()).resolver(place)
            for href, url in zip(several, glanced, strict=True):
                assert url is None or resolve(href.partition("#")[0]) == (url, ""), (place, href)


def pieces(data: bytes) -> None:
    """The beginning of a page, cut into pieces of words, and their vectors."""
    text = data.decode("utf-8", "replace")
    vectors = meaning._vectors()
    found = vectors.pieces.of(text)
    total = sum_of_rows(vectors.table, found) if len(found) else None
    if _is_compared(data):
        assert found.tolist() == _tokenizer().encode(text, add_special_tokens=False).ids
        if total is not None:
            assert total.tobytes() == vectors.table[found].astype(np.float32).sum(axis=0).tobytes()


def blocks(data: bytes) -> None:
    """Pages of a host, whose blocks come in any order from a reader; in order, they are what the twin makes of them."""
    known = plain = furniture._NEW_HOST
    for page in data.split(b"\n")[:8]:
        some = np.frombuffer(page[: len(page) // 4 * 4], "u4")
        furniture._counted(known, some)
        ordered = np.unique(some % 97)
        known = furniture._counted(known, ordered)
        if _is_compared(data):
            plain = furniture.counted_in_python(plain, ordered)
            assert (known.pages, known.hashes.tolist(), known.counts.tolist()) == (
                plain.pages,
                plain.hashes.tolist(),
                plain.counts.tolist(),
            )


@cache
def _tokenizer() -> Any:
    folder = meaning._folder()
    assert folder is not None
    return Tokenizer.from_file(str(folder / meaning.TOKENIZER))


TARGETS: dict[str, Callable[[bytes], None]] = {
    "tree": tree,
    "words": words,
    "hrefs": hrefs,
    "pieces": pieces,
    "blocks": blocks,
}
