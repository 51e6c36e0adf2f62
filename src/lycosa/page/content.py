"""The content of a document with its structure: headings, paragraphs, lists, tables, code, quotes, links.

It is made for people who export or read a page, not for the crawl, which needs the words alone (`walk`). Both
traversals cut a document into the same blocks (`tags`), so what is known of a block there, such as that it stands on
every page of the host, holds here: the n-th block with text is the n-th block of the walk.

The result is a tree of containers (lists, items, tables, rows, cells, quotes, code) with blocks as leaves. A block has
parts: text as it stands in the document, and marks where links, code, emphasis begin and end. Marks are balanced within
each block, whatever the document does, and at most one of a kind is open. Past `MAX_NESTING` containers, further ones
are left out, and their text stays.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from selectolax.lexbor import LexborHTMLParser, LexborNode

from lycosa.page.tags import (
    ANCHOR,
    AREA,
    BASE,
    BLOCK,
    CONTENT_ROLES,
    FRAME,
    IMAGE,
    INLINE,
    LINK,
    META,
    ROLE_OF_TAG,
    SKIPPED,
    TAGS,
    TITLE,
)

MAX_NESTING = 24
NOWHERE = -1

# Kinds of containers.
ROOT, LIST, NUMBERED, ITEM, QUOTE, TABLE, ROW, CELL, HEADER_CELL, TERM, DEFINITION, CODE_BLOCK, HEADING = range(13)
# Kinds of marks.
LINKED, CODE, EMPHASIS, STRONG = range(4)

_CONTAINERS = {
    "ul": LIST,
    "ol": NUMBERED,
    "menu": LIST,
    "dir": LIST,
    "dl": LIST,
    "li": ITEM,
    "blockquote": QUOTE,
    "table": TABLE,
    "tr": ROW,
    "td": CELL,
    "th": HEADER_CELL,
    "dt": TERM,
    "dd": DEFINITION,
    "pre": CODE_BLOCK,
    "listing": CODE_BLOCK,
    "xmp": CODE_BLOCK,
    "plaintext": CODE_BLOCK,
    **{f"h{level}": HEADING for level in range(1, 7)},
}
_MARKS = {
    **dict.fromkeys(("code", "tt", "kbd", "samp"), CODE),
    **dict.fromkeys(("em", "i", "cite", "dfn", "var"), EMPHASIS),
    **dict.fromkeys(("strong", "b"), STRONG),
}
_CONTROLS = frozenset(["button", "input", "option", "optgroup", "select", "textarea"])
_NO_TEXT = frozenset([SKIPPED, AREA, FRAME, TITLE, BASE, LINK, META])
_TREATMENTS = {
    number: (kind if kind in (INLINE, ANCHOR, IMAGE, SKIPPED) else SKIPPED if kind in _NO_TEXT else BLOCK, name)
    for number, (kind, name) in TAGS.items()
    if kind != INLINE or name in _MARKS
}
"""Kind and name of the tags that mean something here, by Lexbor's number: marks, blocks, anchors, images, no text."""
_DECLARING = frozenset(
    ["main", "article", "header", "footer", "aside", "nav", "section", "div", "form", "body", "ul", "table"]
)
"""Elements whose role, class or id may say what they are for."""
_NAVIGATION = re.compile(
    r"(?:^|[\s_-])(?:nav(?!y)\w*|\w+nav|breadcrumbs?|crumbs|menu\w*|\w+menu|pag(?:er|ination)|prev|next|footer|"
    r"search\w*|toolbar|cookies?|gdpr|consent|share|sharing|social|skip|sponsors?|advert\w*|newsletter|byline|"
    r"printfooter|editsection|magnify)(?:$|[\s_-])",
    re.IGNORECASE,
)
_ASIDE = re.compile(
    r"(?:^|[\s_-])(?:(?<!has.)(?<!with.)(?<!no.)(?:sphinx)?sidebar|related|promo|versions?)(?:$|[\s_-])", re.IGNORECASE
)
"""Names of elements that are navigation if they are made of links, and may be content otherwise."""
_PERMALINK = re.compile(r"(?:^|[\s_-])(?:headerlink|permalink|heading-link|header-anchor|anchorjs-link|anchor)(?:$|\s)")
_LANGUAGE = re.compile(r"(?:^|\s)(?:language|lang|highlight|highlight-source|brush:)[\s-]?([\w+#.]{1,20})")
_HINT = re.compile("lang|highlight|brush|sourceCode")
_SOURCE_CODE = re.compile(r"(?:^|\s)sourceCode\s+([\w+#.]{1,20})")
_NO_LANGUAGE = frozenset(["default", "none", "text", "plain", "source", "notranslate", "plaintext", "hljs"])
_EDGE = "\x02"
_SOFT_HYPHEN = "\xad"


class Start(NamedTuple):
    """The beginning of a mark; its end is the `int` of its kind."""

    kind: int
    href: str = ""
    is_tool: bool = False
    """It is a link by which its heading can be cited, whatever its text is."""


class Image(NamedTuple):
    alt: str
    source: str


Part = str | Start | Image | int


class ContentElement:
    """An element with structure. Its children are blocks and containers, in document order.

    Nothing refers back to it, so that a tree is freed as soon as nobody has it."""

    __slots__ = ("children", "depth", "detail", "kind", "outer")

    def __init__(self, kind: int, outer: int = ROOT, depth: int = 0, detail: str = "") -> None:
        self.kind = kind
        self.outer = outer
        """Kind of the container around it."""
        self.depth = depth
        self.detail = detail
        """Language of code, level of a heading, first number of a list."""
        self.children: list[ContentElement | ContentBlock] = []


class ContentBlock:
    """A run of text between two boundaries of block-level elements."""

    __slots__ = ("count", "first", "is_joined", "is_kept", "linked", "main", "navigation", "outer", "parts", "size")

    def __init__(self, parts: list[Part], outer: int, main: int, navigation: int, is_joined: bool) -> None:
        self.parts = parts
        self.outer = outer
        """Kind of the container around it."""
        self.main, self.navigation = main, navigation
        """Numbers of the outermost elements around it that are declared to be the main content, or look like no
        content by their class or id; negative where that is less certain."""
        self.is_joined = is_joined
        """Only a line break parts it from the block before it."""
        self.first = NOWHERE
        """Number of its block in the walk; `NOWHERE` if it has no text."""
        self.count = 0
        """Number of blocks in the walk; more than one only in documents that contain control characters."""
        self.size = self.linked = 0
        """Number of characters, and of those that are the text of links."""
        self.is_kept = True
        """It is part of the main text (`main_text`)."""


class Content(NamedTuple):
    root: ContentElement
    blocks: list[ContentBlock]
    """All blocks, in document order."""
    walked: int
    """Number of blocks of the walk over the same document."""
    has_soft_hyphens: bool


class _State:
    """What holds within an element. Never changed, only replaced."""

    __slots__ = ("container", "is_code", "is_control", "language", "main", "navigation")

    def __init__(
        self,
        container: ContentElement,
        main: int = NOWHERE,
        navigation: int = NOWHERE,
        language: str = "",
        *,
        is_code: bool = False,
        is_control: bool = False,
    ) -> None:
        self.container = container
        self.main = main
        self.navigation = navigation
        self.language = language
        self.is_code = is_code
        self.is_control = is_control


def structured(parser: LexborHTMLParser) -> Content:
    """The content of a parsed document."""
    root = ContentElement(ROOT)
    builder = _Builder(root)
    if parser.root is not None:
        builder.go_through(parser.root)
    return Content(root, builder.blocks, builder.walked, builder.has_soft_hyphens)


class _Builder:
    def __init__(self, root: ContentElement) -> None:
        self.blocks: list[ContentBlock] = []
        self.walked = 0
        self.has_soft_hyphens = False
        self._state = _State(root)
        self._parts: list[Part] = []
        self._marks: list[Start] = []
        """Marks that are open, at most one of each kind."""
        self._is_joined = False
        self._declared = 0

    def go_through(self, node: LexborNode) -> None:
        """Visit a node, its descendants and what follows, with a stack of its own: a call per node would cost more."""
        treatment_of, parts, add_part = _TREATMENTS.get, self._parts, self._parts.append
        open_elements: list[tuple[LexborNode, _State | Start | None]] = []
        while True:
            closing: _State | Start | None = None
            text = node.text_content
            child = None
            if text is not None:
                # White space matters between words, and within code.
                if parts or not text.isspace() or self._state.is_code:
                    add_part(text)
            else:
                treatment = treatment_of(node.tag_id)
                if treatment is None:  # inline, without a meaning of its own: nearly half of all elements
                    child = node.first_child
                else:
                    kind, name = treatment
                    if kind == INLINE:
                        closing = self._open_mark(node, name)
                        child = node.first_child
                    elif kind == BLOCK:
                        closing = self._open_block(node, name)
                        child = node.first_child
                    elif kind == ANCHOR:
                        closing = self._open_link(node)
                        child = node.first_child
                    elif kind == IMAGE:
                        self._add_image(node)
                if child is not None:
                    open_elements.append((node, closing))
                    node = child
                    continue
                if closing is not None:
                    self._close(closing)
            following = node.next
            while following is None:
                if not open_elements:
                    return
                node, closing = open_elements.pop()
                if closing is not None:
                    self._close(closing)
                following = node.next
            node = following

    def end_block(self, *, is_break: bool = False) -> None:
        """What was collected becomes a block, if it has text or an image."""
        is_joined, self._is_joined = self._is_joined, False
        state, marks = self._state, self._marks
        parts = self._parts.copy()
        self._parts[:] = marks
        block = ContentBlock(parts, state.container.kind, state.main, state.navigation, is_joined)
        self._measure(block)
        if block.first == NOWHERE and not state.is_code and not any(type(part) is Image for part in parts):
            return
        if marks:
            parts += [mark.kind for mark in reversed(marks)]
        self._is_joined = is_break
        if not state.is_control:
            self.blocks.append(block)
            state.container.children.append(block)

    def _measure(self, block: ContentBlock) -> None:
        parts = block.parts
        if len(parts) == 1 and type(parts[0]) is str:
            whole = parts[0]
        else:
            texts = []
            is_linked = False
            for part in parts:
                if type(part) is str:
                    texts.append(part)
                    if is_linked:
                        block.linked += len(part)
                elif part == LINKED:
                    is_linked = False
                elif type(part) is Start and part.kind == LINKED:
                    is_linked = True
            whole = "".join(texts)
        if _EDGE in whole or _SOFT_HYPHEN in whole:
            self.has_soft_hyphens |= _SOFT_HYPHEN in whole
            count = sum(1 for text in whole.replace(_SOFT_HYPHEN, "").split(_EDGE) if text.strip())
        else:
            count = 1 if whole and not whole.isspace() else 0
        if count:
            block.first, block.count, block.size = self.walked, count, len(whole)
            self.walked += count

    def _close(self, closing: _State | Start) -> None:
        if type(closing) is Start:
            if closing in self._marks:
                self._marks.remove(closing)
                self._parts.append(closing.kind)
            return
        assert isinstance(closing, _State)
        if self._state.is_code and not closing.is_code:
            self._end_line()
        if self._parts:
            self.end_block()
        else:
            self._is_joined = False
        self._state = closing

    def _open_mark(self, node: LexborNode, name: str) -> Start | None:
        kind = _MARKS[name]
        if self._state.is_code:
            if kind == CODE and not self._state.container.detail:
                self._state.container.detail = _language(node.attributes.get("class") or "")
            return None
        return self._begin(Start(kind))

    def _open_link(self, node: LexborNode) -> Start | None:
        attributes = node.attributes
        href = attributes.get("href")
        if not href or self._state.is_code:
            return None
        is_tool = href[0] == "#" and bool(_PERMALINK.search(attributes.get("class") or ""))
        return self._begin(Start(LINKED, href, is_tool))

    def _begin(self, mark: Start) -> Start | None:
        for other in self._marks:
            if other.kind == mark.kind:
                return None
        self._marks.append(mark)
        self._parts.append(mark)
        return mark

    def _add_image(self, node: LexborNode) -> None:
        attributes = node.attributes
        alt = attributes.get("alt")
        if alt and not self._state.is_code:
            self._parts.append(Image(alt, attributes.get("src") or ""))

    def _open_block(self, node: LexborNode, name: str) -> _State | None:
        before = self._state
        if before.is_code:
            self._end_line(is_break=name == "br")
            if self._parts:
                self.end_block()
            return before
        if self._parts:
            self.end_block(is_break=name == "br")
        else:
            self._is_joined = False
        if name == "br":
            return None
        kind = _CONTAINERS.get(name)
        if kind is not None:
            self._state = self._inside(node, name, kind)
        elif name in _CONTROLS:
            self._state = _State(before.container, before.main, before.navigation, is_control=True)
        if name in _DECLARING:
            self._declare(node, name)
        return before

    def _inside(self, node: LexborNode, name: str, kind: int) -> _State:
        """The state within an element that is a container."""
        before = self._state
        detail = ""
        if kind == CODE_BLOCK:
            detail = _language(node.attributes.get("class") or "") or before.language
        elif kind == HEADING:
            detail = name[1]
        elif kind == NUMBERED:
            detail = node.attributes.get("start") or ""
        container = before.container
        if container.depth < MAX_NESTING:
            container = ContentElement(kind, container.kind, container.depth + 1, detail)
            before.container.children.append(container)
        return _State(
            container,
            before.main,
            before.navigation,
            before.language,
            is_code=kind == CODE_BLOCK,
            is_control=before.is_control,
        )

    def _declare(self, node: LexborNode, name: str) -> None:
        """Note what an element says of itself by role, class and id."""
        attributes = node.attributes
        role = attributes.get("role") or ROLE_OF_TAG.get(name, "")
        if not attributes and not role:
            return
        state = self._state
        main, navigation = state.main, state.navigation
        classes = attributes.get("class") or ""
        if main == NOWHERE and (role in CONTENT_ROLES or attributes.get("itemprop") == "articleBody"):
            self._declared += 1
            # A main element is alone; articles may be many, and some are teasers.
            main = -2 - self._declared if name == "article" else self._declared
            navigation = NOWHERE
        elif navigation == NOWHERE and name != "body":
            navigation = self._navigation(f"{classes} {attributes.get('id') or ''}", is_hidden="hidden" in attributes)
        language = _language(classes) or state.language
        self._state = _State(
            state.container, main, navigation, language, is_code=state.is_code, is_control=state.is_control
        )

    def _navigation(self, names: str, *, is_hidden: bool) -> int:
        """A number for an element that looks like navigation by its class and id."""
        if is_hidden or _NAVIGATION.search(names):
            self._declared += 1
            return self._declared
        if _ASIDE.search(names):
            self._declared += 1
            return -2 - self._declared
        return NOWHERE

    def _end_line(self, *, is_break: bool = False) -> None:
        """Within code, boundaries of blocks are ends of lines."""
        last = self._parts[-1] if self._parts else None
        children = self._state.container.children
        if last is None and not is_break and children and isinstance(children[-1], ContentBlock):
            last = children[-1].parts[-1]
        if is_break or (type(last) is str and not last.endswith("\n")):
            self._parts.append("\n")


def _language(classes: str) -> str:
    """The programming language that a class names."""
    if not classes or not _HINT.search(classes):
        return ""
    found = _LANGUAGE.search(classes) or _SOURCE_CODE.search(classes)
    language = found[1].lower() if found else ""
    return "" if language in _NO_LANGUAGE else language
