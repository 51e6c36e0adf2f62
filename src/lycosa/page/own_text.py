"""A page's own text: what is left of its text without furniture.

Furniture is what stands on many pages of a host: menus, rows of links to the next page, footers. A block is furniture
if its hash is among those that the crawl knows of the host (`furniture`), or if it stands in a region that the document
declares to be furniture (`walk`), which is all there is to go by on the first pages of a host. In a header, a footer or
an aside only short blocks are: some sites keep comments there.

A page may be left with next to nothing: an index whose list is also the menu of the host, or a document that declares
all of itself to be navigation. Then declared regions count as its own text, and if that is not enough, everything does.
"""

from __future__ import annotations

from array import array
from functools import cached_property, lru_cache
from itertools import accumulate, compress

from lycosa.page.walk import Document, compiled

_tree = compiled()

MIN_OWN = 40
"""Minimum number of characters of a page's own text."""
SHORT = 80
"""Maximum number of characters of a block that is furniture because it stands in a header, a footer or an aside."""
MAX_HASHES = 1024
"""Maximum number of blocks of a page that are told to others: the first and the last ones."""


class OwnText:
    """The own text of a document, and which of its links are in it."""

    def __init__(self, document: Document, furniture: bytes = b"") -> None:
        """`furniture`: hashes of blocks that are furniture on the host, as in `block_hashes`."""
        self._document = document
        self._is_own = own_blocks(document, furniture)
        self._is_all = all(self._is_own)
        self.text = document.text if self._is_all else " ".join(compress(document.blocks, self._is_own))

    def link_texts(self, max_anchor: int, reach: int) -> tuple[list[str], list[str]] | None:
        """The anchors of all links, without substitutes, and their contexts; None if nothing was compiled for it."""
        if _tree is None:
            return None
        at = self._document
        found: tuple[list[str], list[str]] = _tree.link_texts(
            at.text, at.starts, at.ends, at.blocks, at.lengths_before, at.link_blocks, self.text,
            None if self._is_all else self._is_own, max_anchor, reach,
        )  # fmt: skip
        return found

    def has(self, link: int) -> bool:
        """Whether a link stands in the own text."""
        return self._is_all or self._is_own[self._document.link_blocks[link]]

    def around(self, link: int, end: int) -> tuple[str, int, int]:
        """A text that may be the context of a link, and start and end of the link in it.

        Of a link in the own text, that is the own text; of others, their block. `end`: in the text of the document.
        """
        document = self._document
        start = document.starts[link]
        if self._is_all:
            return document.text, start, end
        block = document.link_blocks[link]
        text, first = document.blocks[block], document.block_start(block)
        start, end = start - first, min(end - first, len(text))
        if not self._is_own[block]:
            return text, start, end
        shift = self._own_start(block)
        return self.text, start + shift, end + shift

    def _own_start(self, block: int) -> int:
        before, lengths = self._own_places
        return lengths[before[block]] + before[block]

    @cached_property
    def _own_places(self) -> tuple[list[int], list[int]]:
        """By block: the number of own blocks before it. By own block: the number of characters in those before it."""
        own = compress(self._document.blocks, self._is_own)
        return list(accumulate(self._is_own, initial=0)), list(accumulate(map(len, own), initial=0))


def block_hashes(document: Document) -> bytes:
    """The hashes of a document's blocks in ascending order, each once: 4 bytes each, in native byte order."""
    hashes = document.block_hashes
    if len(hashes) > MAX_HASHES:
        hashes = hashes[: MAX_HASHES // 2] + hashes[-MAX_HASHES // 2 :]
    if _tree is not None:
        in_order: bytes = _tree.sorted_once(hashes)
        return in_order
    return array("I", sorted(set(hashes))).tobytes()


def own_blocks(document: Document, furniture: bytes) -> list[bool]:
    """For each block of a document, whether it is part of the own text."""
    known = _numbers(furniture)
    blocks = document.blocks
    is_new = [number not in known for number in document.block_hashes]
    is_own = is_new.copy()
    for first, end, is_outer in document.regions:
        for block in range(first, end):
            is_own[block] &= is_outer and len(blocks[block]) > SHORT
    for chosen in (is_own, is_new):
        if sum(map(len, compress(blocks, chosen))) >= MIN_OWN:
            return chosen
    return [True] * len(blocks)


@lru_cache(maxsize=64)
def _numbers(furniture: bytes) -> frozenset[int]:
    return frozenset(array("I", furniture))
