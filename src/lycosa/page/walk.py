"""One traversal of the tree of a document, which yields its text, its blocks and the positions of its links.

The text is one string with white space collapsed, and links are positions in it, so anchors and contexts are slices. To
achieve this, pieces of text are collected as they are, with a mark (a NUL, which no HTML parser lets through) before
the first visible character after the start or end of a link. A mark thus always touches a word, and white space is
collapsed as if it were a letter. Afterwards the marks are located and removed.

A block is a run of text between two boundaries of block-level elements: a paragraph, a list item, a cell, a heading,
the text of a div beside its inner blocks. Boundaries are collected as pieces, too: a control character between spaces,
which no text needs; a document that has one of its own has one block more. Some blocks stand in regions that the
document itself declares to be no content: navigation, banners, footers and the like.

The traversal keeps its own stack instead of recursing, so any nesting is safe. `tags` says which elements cut the text.

Compiled code (`_tree`) parses and walks in one go, in a fifth of the time, and leaves to this walk what it cannot tell.
Whoever changes a rule here changes it there.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from itertools import accumulate
from types import ModuleType
from typing import Any, NamedTuple
from zlib import crc32

import selectolax.lexbor
from selectolax.lexbor import LexborHTMLParser, LexborNode

from lycosa.lib import native
from lycosa.page.tags import (
    ANCHOR,
    AREA,
    BASE,
    BLOCK,
    CONTENT,
    CONTENT_ROLES,
    FRAME,
    FURNITURE_ROLES,
    HTML,
    IMAGE,
    INLINE,
    LANDMARK,
    LINK,
    META,
    OUTER_ROLES,
    REGION,
    ROLE_BEARERS,
    ROLE_OF_TAG,
    SKIPPED,
    TAGS,
    TAGS_WITH_ROLES,
    TITLE,
    UNKNOWN_TAG,
)

_MARK = "\0"
_EDGE = "\x02"
_BOUNDARY = f" {_EDGE} "
_SOFT_HYPHEN = "\xad"

_SEVERAL, _LONGEST_FRAME = 2, 400
"""Minimum number of links, and maximum number of characters, of a block that is known by the words around its links."""
_TWO_WORDS = re.compile(r"[^\W\d_]{2}.*?[\W\d_][^\W\d_]{2}")
_MAX_NAME = 32


class Region(NamedTuple):
    """A part of a document that is declared to be no content."""

    first: int
    """Number of its first piece or block."""
    end: int
    """Number of the first one after it."""
    is_outer: bool
    """It is a header, a footer or an aside, rather than navigation."""


class Relation(NamedTuple):
    """A link element, as written; what it lacks is empty."""

    rel: str
    href: str
    hreflang: str
    type: str
    title: str


@dataclass(slots=True)
class Document:
    """The result of a walk. Links are stored in columns: an object for each would double their cost."""

    text: str = ""
    title: str = ""
    language: str = ""
    """The lang attribute of the root element."""
    base: str | None = None
    canonical: str | None = None
    metas: list[tuple[str, str]] = field(default_factory=list)
    """Name and content of each meta element that has both."""
    http_equivs: list[tuple[str, str]] = field(default_factory=list)
    """http-equiv and content of each meta element that has both, and does not stand in a noscript: what is there for
    browsers without scripts mostly is a page that asks for scripts."""
    relations: list[Relation] = field(default_factory=list)
    """Link elements that have a relation and a target."""
    hrefs: list[str] = field(default_factory=list)
    """As written in the document, one for each link, as in the columns below."""
    rels: list[str] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)
    starts: list[int] = field(default_factory=list)
    """Position in the text at which the link starts."""
    ends: list[int] = field(default_factory=list)
    """Position at which the text after the link starts."""
    labels: dict[int, str] = field(default_factory=dict)
    """Substitutes for the anchors of links without text, by link number: the alt of an image, the title of a frame."""
    blocks: list[str] = field(default_factory=list)
    """The text in pieces; a space joins each to the next."""
    block_hashes: list[int] = field(default_factory=list)
    """32 bits of each block: equal texts have equal hashes, in every process and on every machine. Of a short block
    with several links, only the words around these count: `Next: …, Up: …` is the same on every page."""
    lengths_before: list[int] = field(default_factory=list)
    """Number of characters in the blocks before each block."""
    link_blocks: list[int] = field(default_factory=list)
    """By link: the block in which it starts."""
    regions: list[Region] = field(default_factory=list)
    """What the document declares to be furniture."""
    is_amp: bool = False
    """The root element says that this is a version for phones."""

    def block_start(self, block: int) -> int:
        """Position in the text at which a block starts."""
        return self.lengths_before[block] + block


def walk(source: bytes, *, path_depth: int, has_roles: bool = True) -> Document:
    """Text, blocks, links and declarations of a document in UTF-8, which must not contain NULs.

    Without `has_roles`, role attributes are not looked for.
    """
    found = _tree.walk(source, path_depth, has_roles) if _tree is not None else None
    if found is not None:
        return _document_of(**found)
    return walk_in_python(LexborHTMLParser(source), path_depth=path_depth, has_roles=has_roles)


def walk_in_python(parser: LexborHTMLParser, *, path_depth: int, has_roles: bool = True) -> Document:
    """The twin of what is compiled."""
    walker = _Walker(path_depth, TAGS_WITH_ROLES if has_roles else TAGS)
    if parser.root is not None:
        walker.go_through(parser.root)
    return walker.finish()


@cache
def compiled() -> ModuleType | None:
    """The compiled walk and what goes with it; None if there is none, or if Lexbor lacks a function that it needs."""
    tree = native.load("lycosa.page._tree")
    if tree is None:
        return None
    tags = [
        (number, kind, name in ROLE_BEARERS, name, ROLE_OF_TAG.get(name, "")) for number, (kind, name) in TAGS.items()
    ]
    try:
        tree.prepare(selectolax.lexbor.__file__, tags)
    except ImportError:
        return None
    return tree


_tree = compiled()


def _document_of(titles: list[str], **columns: Any) -> Document:
    """What the compiled walk has found, with what is left to be made of it."""
    columns["regions"] = [Region(*region) for region in columns["regions"]]
    columns["relations"] = [Relation(*relation) for relation in columns["relations"]]
    document = Document(**columns)
    document.title = next(filter(None, (" ".join(title.split()) for title in titles)), "")
    document.canonical = next((each.href for each in document.relations if _is_canonical(each.rel)), None)
    return document


def _is_canonical(rel: str) -> bool:
    return "canonical" in rel.lower().split()


def _hash_frames(document: Document) -> None:
    """Give short blocks with several links the hash of the words around these, if there are two or more."""
    text, starts, ends = document.text, document.starts, document.ends
    first = 0
    for block, count in Counter(document.link_blocks).items():
        if count >= _SEVERAL and len(document.blocks[block]) <= _LONGEST_FRAME:
            place = document.block_start(block)
            end = place + len(document.blocks[block])
            around = []
            for link in range(first, first + count):
                around.append(text[place : starts[link]])
                place = min(ends[link], end)
            frame = _MARK.join([*around, text[place:end]])
            if _TWO_WORDS.search(frame):
                document.block_hashes[block] = crc32(frame.encode("utf-8", "replace"))
        first += count


class _Walker:
    def __init__(self, path_depth: int, tags: Mapping[int, tuple[int, str]]) -> None:
        self._document = Document()
        self._path_depth = path_depth
        self._tags = tags
        self._pieces: list[str] = []
        self._names: list[str] = []
        """Tags from the root to the current element."""
        self._marked: list[int] = []
        """For each mark in the pieces: the number of the link that starts there, or ~number if it ends there."""
        self._waiting: list[int] = []
        """The same for marks that will be placed before the next visible text."""
        self._open_links: list[int] = []
        self._regions: list[Region] = []
        """Of pieces, not of blocks."""
        self._is_in_region = False
        self._region_links = -1
        """Number of links before the region that is open, if it is a banner."""
        self._content_depth = 0

    def go_through(self, node: LexborNode) -> None:
        """Visit a node, its descendants and what follows. A single loop: a call per node would cost too much."""
        names, waiting, open_links = self._names, self._waiting, self._open_links
        add_piece, tag_of = self._pieces.append, self._tags.get
        open_elements: list[tuple[LexborNode, int]] = []
        is_edge = True  # the last piece is a boundary
        while True:
            text = node.text_content
            if text is not None:
                if not is_edge or not text.isspace():
                    add_piece(self._with_marks(text) if waiting else text)
                    is_edge = False
            else:
                kind, name = tag_of(node.tag_id, UNKNOWN_TAG)
                if kind == BLOCK:
                    if not is_edge:
                        add_piece(_BOUNDARY)
                        is_edge = True
                elif kind == LANDMARK:
                    add_piece(_BOUNDARY)
                    is_edge = True
                    kind = self._open_landmark(node, name)
                elif kind != INLINE:
                    kind = self._at_anchor(node) if kind == ANCHOR else self._at_special(node, kind, name)
                child = None if kind == SKIPPED else node.first_child
                if child is not None:
                    open_elements.append((node, kind))
                    names.append(name or (node.tag or "")[:_MAX_NAME].lower())
                    node = child
                    continue
                if kind == ANCHOR:
                    waiting.append(~open_links.pop())
                elif kind > LANDMARK:
                    self._close_landmark(kind)
            following = node.next
            while following is None:
                if not open_elements:
                    return
                node, kind = open_elements.pop()
                names.pop()
                if kind == BLOCK:
                    if not is_edge:
                        add_piece(_BOUNDARY)
                        is_edge = True
                elif kind == ANCHOR:
                    waiting.append(~open_links.pop())
                elif kind > LANDMARK:
                    self._close_landmark(kind)
                    is_edge = True
                following = node.next
            node = following

    def finish(self) -> Document:
        """Collapse white space, tell blocks apart, locate the marks and remove them."""
        document = self._document
        marked_blocks = self._blocks()
        parts = "\n".join(marked_blocks).split(_MARK)
        lines = "".join(parts)
        document.text = lines.replace("\n", " ")
        starts = document.starts = [len(document.text)] * len(document.hrefs)
        ends = document.ends = starts.copy()
        if not lines:
            return document
        document.blocks = lines.split("\n")
        document.lengths_before = list(accumulate(map(len, document.blocks), initial=0))
        document.block_hashes = list(map(crc32, lines.encode("utf-8", "replace").split(b"\n")))
        blocks = document.link_blocks = [len(document.blocks) - 1] * len(starts)
        # Marks still waiting found no more text: they belong at the end, the initial value of all positions.
        block_of_mark = [block for block, text in enumerate(marked_blocks) for _ in range(text.count(_MARK))]
        for number, place, block in zip(self._marked, accumulate(map(len, parts)), block_of_mark, strict=False):
            if number >= 0:
                starts[number] = place
                blocks[number] = block
            else:
                ends[~number] = place
        _hash_frames(document)
        return document

    def _blocks(self) -> list[str]:
        """The text of each block, with marks; regions are noted in the document."""
        blocks: list[str] = []
        place = 0
        for region in self._regions:
            blocks += self._blocks_of(place, region.first)
            first, place = len(blocks), region.end
            blocks += self._blocks_of(region.first, region.end)
            self._document.regions.append(Region(first, len(blocks), region.is_outer))
        return blocks + self._blocks_of(place, len(self._pieces))

    def _blocks_of(self, first: int, end: int) -> list[str]:
        raw = "".join(self._pieces[first:end]).replace(_SOFT_HYPHEN, "")
        return [block for part in " ".join(raw.split()).split(_EDGE) if (block := part.strip())]

    def _with_marks(self, text: str) -> str:
        text = text.replace(_SOFT_HYPHEN, "").replace(_EDGE, "")
        visible = text.lstrip()
        space = " " if len(visible) < len(text) else ""
        if not visible:
            return space
        marks = _MARK * len(self._waiting)
        self._marked += self._waiting
        self._waiting.clear()
        return space + marks + visible

    def _at_anchor(self, node: LexborNode) -> int:
        attributes = node.attributes
        if "href" not in attributes:
            return INLINE
        self._open_links.append(self._begin_link(attributes["href"], attributes.get("rel"), "a"))
        return ANCHOR

    def _open_landmark(self, node: LexborNode, name: str) -> int:
        """The kind as which an element is closed again that may be content or furniture."""
        role = ""
        if self._tags is TAGS_WITH_ROLES:
            role = (node.attributes.get("role") or "").strip().lower()
        role = role or ROLE_OF_TAG.get(name, "")
        if role in CONTENT_ROLES:
            self._content_depth += 1
            return CONTENT
        is_outer = role in OUTER_ROLES
        if self._is_in_region or not (role in FURNITURE_ROLES or (is_outer and not self._content_depth)):
            return BLOCK
        self._is_in_region = True
        self._regions.append(Region(len(self._pieces), 0, is_outer))
        self._region_links = len(self._document.hrefs) if role == "banner" else -1
        return REGION

    def _close_landmark(self, kind: int) -> None:
        self._pieces.append(_BOUNDARY)
        if kind == CONTENT:
            self._content_depth -= 1
            return
        self._is_in_region = False
        region = self._regions.pop()
        # A banner without a link is the heading of the page.
        if self._region_links != len(self._document.hrefs):
            self._regions.append(region._replace(end=len(self._pieces)))

    def _at_special(self, node: LexborNode, kind: int, name: str) -> int:
        """Record what an element contains or declares. Returns the kind as which the walk treats it from here."""
        if kind == SKIPPED:
            return SKIPPED
        attributes = node.attributes
        if kind == HTML:
            self._document.language = attributes.get("lang") or attributes.get("xml:lang") or ""
            if not self._names:
                self._document.is_amp = "amp" in attributes or "⚡" in attributes
            return BLOCK
        if kind == IMAGE:
            if self._open_links:
                self._label(self._open_links[-1], attributes.get("alt"))
        elif kind == AREA:
            if "href" in attributes:
                number = self._begin_link(attributes["href"], attributes.get("rel"), name)
                self._waiting.append(~number)
                self._label(number, attributes.get("alt"))
        elif kind == FRAME:
            if "src" in attributes:
                number = self._begin_link(attributes["src"], "", name)
                self._waiting.append(~number)
                self._label(number, attributes.get("title") or attributes.get("name"))
        else:
            self._declare(node, kind, attributes)
        return SKIPPED

    def _begin_link(self, href: str | None, rel: str | None, name: str) -> int:
        document, names = self._document, self._names
        number = len(document.hrefs)
        document.hrefs.append(href or "")
        document.rels.append(rel or "")
        if len(names) < self._path_depth:
            document.paths.append("/".join([*names, name]))
        else:
            document.paths.append("/".join(["…", *names[1 - self._path_depth :], name]))
        self._waiting.append(number)
        return number

    def _label(self, number: int, label: str | None) -> None:
        if label:
            self._document.labels.setdefault(number, label)

    def _declare(self, node: LexborNode, kind: int, attributes: dict[str, str | None]) -> None:
        document = self._document
        if kind == META:
            name, equivalent, content = map(attributes.get, ("name", "http-equiv", "content"))
            if equivalent and content and self._names[-1:] != ["noscript"]:
                document.http_equivs.append((equivalent, content))
            if name and content:
                document.metas.append((name, content))
        elif kind == TITLE:
            # SVG drawings have titles, too.
            if not document.title and "svg" not in self._names:
                document.title = " ".join(node.text().split())
        elif kind == BASE:
            if document.base is None:
                document.base = attributes.get("href")
        elif kind == LINK:
            relation = Relation(*(attributes.get(name) or "" for name in Relation._fields))
            if relation.rel and relation.href:
                document.relations.append(relation)
                if document.canonical is None and _is_canonical(relation.rel):
                    document.canonical = relation.href
