"""One traversal of the tree of a document, which yields its text and the positions of its links.

The text is one string with white space collapsed, and links are positions in it, so anchors and contexts are slices. To
achieve this, pieces of text are collected as they are, with a mark (a NUL, which no HTML parser lets through) before
the first visible character after the start or end of a link. A mark thus always touches a word, and white space is
collapsed as if it were a letter. Afterwards the marks are located and removed.

The traversal keeps its own stack instead of recursing, so any nesting is safe. Elements are identified by Lexbor's
number of their tag, since getting its name takes three times as long.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import accumulate

from selectolax.lexbor import LexborHTMLParser, LexborNode

_MARK = "\0"
_SOFT_HYPHEN = "\xad"

# How the walk treats an element. Nearly all elements are inline or block, so these are tested first.
_INLINE, _BLOCK, _ANCHOR, _SKIPPED, _AREA, _FRAME, _IMAGE, _TITLE, _BASE, _LINK, _META, _HTML = range(12)

_TAGS_OF_KIND = {
    _INLINE: """abbr acronym b bdi bdo big cite code data del dfn em font i ins kbd label map mark math meter
        noscript output progress q rp rt ruby s samp small span strike strong sub sup svg time tt u var wbr""",
    _BLOCK: """address article aside audio blockquote body br button canvas caption center col colgroup dd
        details dialog dir div dl dt fieldset figcaption figure footer form frameset h1 h2 h3 h4 h5 h6 head
        header hgroup hr input legend li listing main menu nav object ol optgroup option p plaintext pre
        search section select summary table tbody td textarea tfoot th thead tr ul video xmp""",
    _ANCHOR: "a",
    _SKIPPED: "script style template noembed noframes",
    _AREA: "area",
    _FRAME: "frame iframe",
    _IMAGE: "img",
    _TITLE: "title",
    _BASE: "base",
    _LINK: "link",
    _META: "meta",
    _HTML: "html",
}
"""The text of noscript counts: it is for readers without scripts, like us."""


def _tag_table() -> dict[int, tuple[int, str]]:
    maker = LexborHTMLParser("")
    return {maker.create_node(tag).tag_id: (kind, tag) for kind, tags in _TAGS_OF_KIND.items() for tag in tags.split()}


_TAGS = _tag_table()
_UNKNOWN_TAG = (_INLINE, "")
_MAX_NAME = 32


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


def walk(parser: LexborHTMLParser, *, path_depth: int) -> Document:
    """Text, links and declarations of a parsed document, which must not contain NULs."""
    walker = _Walker(path_depth)
    if parser.root is not None:
        walker.go_through(parser.root)
    return walker.finish()


class _Walker:
    def __init__(self, path_depth: int) -> None:
        self._document = Document()
        self._path_depth = path_depth
        self._pieces: list[str] = []
        self._names: list[str] = []
        """Tags from the root to the current element."""
        self._marked: list[int] = []
        """For each mark in the pieces: the number of the link that starts there, or ~number if it ends there."""
        self._waiting: list[int] = []
        """The same for marks that will be placed before the next visible text."""
        self._open_links: list[int] = []

    def go_through(self, node: LexborNode) -> None:
        """Visit a node, its descendants and what follows. A single loop: a call per node would cost too much."""
        names, waiting, open_links = self._names, self._waiting, self._open_links
        add_piece, tag_of = self._pieces.append, _TAGS.get
        open_elements: list[tuple[LexborNode, int]] = []
        while True:
            text = node.text_content
            if text is not None:
                add_piece(self._with_marks(text) if waiting else text)
            else:
                kind, name = tag_of(node.tag_id, _UNKNOWN_TAG)
                if kind == _BLOCK:
                    add_piece(" ")
                elif kind != _INLINE:
                    kind = self._at_anchor(node) if kind == _ANCHOR else self._at_special(node, kind, name)
                child = None if kind == _SKIPPED else node.first_child
                if child is not None:
                    open_elements.append((node, kind))
                    names.append(name or (node.tag or "")[:_MAX_NAME].lower())
                    node = child
                    continue
                if kind == _ANCHOR:
                    waiting.append(~open_links.pop())
            following = node.next
            while following is None:
                if not open_elements:
                    return
                node, kind = open_elements.pop()
                names.pop()
                if kind == _BLOCK:
                    add_piece(" ")
                elif kind == _ANCHOR:
                    waiting.append(~open_links.pop())
                following = node.next
            node = following

    def finish(self) -> Document:
        """Collapse white space, locate the marks and remove them."""
        document = self._document
        raw = "".join(self._pieces)
        if _SOFT_HYPHEN in raw:
            raw = raw.replace(_SOFT_HYPHEN, "")
        parts = " ".join(raw.split()).split(_MARK)
        document.text = "".join(parts)
        starts = document.starts = [len(document.text)] * len(document.hrefs)
        ends = document.ends = starts.copy()
        # Marks still waiting found no more text: they belong at the end, the initial value of all positions.
        for number, place in zip(self._marked, accumulate(map(len, parts)), strict=False):
            if number >= 0:
                starts[number] = place
            else:
                ends[~number] = place
        return document

    def _with_marks(self, text: str) -> str:
        marks = _MARK * len(self._waiting)
        text = text.replace(_SOFT_HYPHEN, "")
        if text[:1].isspace():
            text = text.lstrip()
            marks = " " + marks
        if not text:
            return " "
        self._marked += self._waiting
        self._waiting.clear()
        return marks + text

    def _at_anchor(self, node: LexborNode) -> int:
        attributes = node.attributes
        if "href" not in attributes:
            return _INLINE
        self._open_links.append(self._begin_link(attributes["href"], attributes.get("rel"), "a"))
        return _ANCHOR

    def _at_special(self, node: LexborNode, kind: int, name: str) -> int:
        """Record what an element contains or declares. Returns the kind as which the walk treats it from here."""
        if kind == _SKIPPED:
            return _SKIPPED
        attributes = node.attributes
        if kind == _HTML:
            self._document.language = attributes.get("lang") or attributes.get("xml:lang") or ""
            return _BLOCK
        if kind == _IMAGE:
            if self._open_links:
                self._label(self._open_links[-1], attributes.get("alt"))
        elif kind == _AREA:
            if "href" in attributes:
                number = self._begin_link(attributes["href"], attributes.get("rel"), name)
                self._waiting.append(~number)
                self._label(number, attributes.get("alt"))
        elif kind == _FRAME:
            if "src" in attributes:
                number = self._begin_link(attributes["src"], "", name)
                self._waiting.append(~number)
                self._label(number, attributes.get("title") or attributes.get("name"))
        else:
            self._declare(node, kind, attributes)
        return _SKIPPED

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
        if kind == _META:
            name, content = attributes.get("name"), attributes.get("content")
            if name and content:
                document.metas.append((name, content))
        elif kind == _TITLE:
            # SVG drawings have titles, too.
            if not document.title and "svg" not in self._names:
                document.title = " ".join(node.text().split())
        elif kind == _BASE:
            if document.base is None:
                document.base = attributes.get("href")
        elif kind == _LINK and "canonical" in (attributes.get("rel") or "").lower().split():
            document.canonical = document.canonical or attributes.get("href")
