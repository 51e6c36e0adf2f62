"""The main text of a document as Markdown and as plain text with lines.

Markdown is CommonMark with tables as GitHub writes them. A definition list becomes a list whose items begin with the
term in bold. A table whose cells hold lists, code, headings or further tables is layout, not data: its cells follow one
another, except for rows of a few words. Code keeps its lines and is fenced by more backticks than it contains. `inline`
makes lines harmless.

Containers are nested at most `content.MAX_NESTING` deep, so recursion is safe, and every step is linear in the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from lycosa.page.content import (
    CELL,
    CODE_BLOCK,
    DEFINITION,
    HEADER_CELL,
    HEADING,
    ITEM,
    LIST,
    NUMBERED,
    QUOTE,
    ROW,
    TABLE,
    TERM,
    ContentBlock,
    ContentElement,
    Part,
)
from lycosa.page.inline import Absolute, markdown_line, markdown_span, plain_line

MAX_COLUMNS = 64
"""Maximum number of columns for which a table's head is completed; longer rows are written as they are."""
_TICKS = re.compile(r"`+")
_PIPE = re.compile(r"(?<!\\)((?:\\\\)*)\|")
_LINE_NUMBERS = re.compile(r"[\s\d]+")
_INDENT = "  "
_LONGEST_ROW = 300
"""Maximum number of characters of a row in a layout that is one line."""


class PlainText:
    """Writes lines of plain text."""

    line_break = ""
    """End of a line that another line of the same paragraph follows."""

    def __init__(self, max_text: int) -> None:
        """`max_text`: number of characters of text after which no further block is written."""
        self._left = max_text

    def write(self, root: ContentElement) -> str:
        """The blocks of the tree that are kept."""
        return "\n".join(_without_gaps(self._children(root))).strip("\n")

    # What Markdown does otherwise.

    def line(self, parts: Sequence[Part]) -> str:
        return plain_line(parts)

    def span(self, parts: Sequence[Part]) -> str:
        return plain_line(parts)

    def heading(self, text: str, _level: int) -> str:
        return text

    def term(self, text: str) -> str:
        return text

    def quote(self, lines: list[str]) -> list[str]:
        return lines

    def code(self, lines: list[str], _language: str) -> list[str]:
        return lines

    def table(self, rows: list[list[str]]) -> list[str]:
        return [" | ".join(cells) for cells in rows]

    # The tree.

    def _children(self, container: ContentElement) -> list[str]:
        lines: list[str] = []
        number = _first_number(container)
        has_term = False
        for child in container.children:
            if self._left <= 0:
                break
            if isinstance(child, ContentBlock):
                self._add_paragraph(lines, child)
                continue
            if container.kind == ITEM and child.kind in (LIST, NUMBERED) and lines and not lines[-1]:
                lines.pop()  # a list within an item follows without a gap
            inner = self._container(child, number)
            if child.kind == DEFINITION and has_term:
                inner = _definition(inner)
            has_term = has_term or (child.kind == TERM and bool(inner))
            number += child.kind == ITEM
            lines += inner
        return lines

    def _add_paragraph(self, lines: list[str], block: ContentBlock) -> None:
        text = self.line(block.parts) if block.is_kept else ""
        if not text:
            return
        self._left -= len(text)
        if block.is_joined and len(lines) > 1 and not lines[-1]:
            lines[-2] += self.line_break
            lines[-1:] = [text, ""]
        else:
            lines += ["", text, ""]

    def _container(self, child: ContentElement, number: int) -> list[str]:
        """`number`: that of an item in a numbered list."""
        kind = child.kind
        if kind == HEADING:
            return self._heading(child)
        if kind == CODE_BLOCK:
            return self._code(child)
        if kind == TABLE:
            return self._table(child)
        inner = list(_without_gaps(self._children(child)))
        if not any(inner):
            return []
        if kind == ITEM:
            return _item(inner, f"{number}. " if child.outer == NUMBERED else "- ")
        if kind == TERM:
            return _item([self.term(" ".join(line.strip() for line in inner if line))], "- ")
        if kind == QUOTE:
            return ["", *self.quote(inner), ""]
        if kind == LIST and child.outer == ITEM:
            return [*inner, ""]
        return ["", *inner, ""]

    def _heading(self, heading: ContentElement) -> list[str]:
        text = self.span([part for block in _blocks(heading) if block.is_kept for part in (*block.parts, " ")])
        self._left -= len(text)
        return ["", self.heading(text, int(heading.detail)), ""] if text else []

    def _code(self, code: ContentElement) -> list[str]:
        kept = (block for block in _blocks(code) if block.is_kept)
        raw = "".join(part for block in kept for part in block.parts if type(part) is str)
        text = raw.replace("\r\n", "\n").replace("\r", "\n")[: self._left]
        self._left -= len(text)
        lines = [line.rstrip() for line in text.split("\n")]
        filled = [number for number, line in enumerate(lines) if line]
        if not filled or (len(filled) > 1 and _LINE_NUMBERS.fullmatch(text)):
            return []
        return ["", *self.code(lines[filled[0] : filled[-1] + 1], code.detail), ""]

    def _table(self, table: ContentElement) -> list[str]:
        rows = [child for child in table.children if isinstance(child, ContentElement) and child.kind == ROW]
        if not _is_data(rows):
            return ["", *self._layout(table), ""]
        lines: list[str] = []
        for child in table.children:
            if isinstance(child, ContentBlock):
                self._add_paragraph(lines, child)  # the caption
        written = []
        for row in rows:
            cells = [self._cell(cell) for cell in row.children if isinstance(cell, ContentElement)]
            if any(cells) and self._left > 0:
                written.append(cells)
                self._left -= sum(map(len, cells))
        return [*lines, "", *self.table(written), ""] if written else lines

    def _layout(self, part: ContentElement) -> list[str]:
        """The cells of a table, one after the other."""
        lines: list[str] = []
        for child in part.children:
            if isinstance(child, ContentBlock):
                self._add_paragraph(lines, child)
            elif child.kind == ROW:
                lines += self._row_in_layout(child)
            elif child.kind in (CELL, HEADER_CELL):
                lines += ["", *self._children(child), ""]
            else:
                lines += self._container(child, 1)
        return lines

    def _row_in_layout(self, row: ContentElement) -> list[str]:
        """Cells of a few words each are one line, others follow one another."""
        cells = [cell for cell in row.children if isinstance(cell, ContentElement)]
        kept = [[block for block in _blocks(cell) if block.is_kept] for cell in cells]
        is_line = all(len(blocks) <= 1 for blocks in kept) and not any(_has_structure(cell) for cell in cells)
        if not is_line or sum(block.size for blocks in kept for block in blocks) > _LONGEST_ROW:
            return self._layout(row)
        text = self.line([part for blocks in kept for block in blocks for part in (*block.parts, " ")])
        self._left -= len(text)
        return ["", text, ""] if text else []

    def _cell(self, cell: ContentElement) -> str:
        return " ".join(filter(None, (self.span(block.parts) for block in _blocks(cell) if block.is_kept)))


class Markdown(PlainText):
    """Writes Markdown."""

    line_break = "  "

    def __init__(self, max_text: int, absolute: Absolute) -> None:
        super().__init__(max_text)
        self._absolute = absolute

    def line(self, parts: Sequence[Part]) -> str:
        return markdown_line(parts, self._absolute)

    def span(self, parts: Sequence[Part]) -> str:
        return markdown_span(parts, self._absolute)

    def heading(self, text: str, level: int) -> str:
        return f"{'#' * level} {text[:-1]}\\#" if text.endswith("#") else f"{'#' * level} {text}"

    def term(self, text: str) -> str:
        # A term that is nothing but a link is an entry of a table of contents.
        return text if "*" in text or text[:1] in ("_", "[") else f"**{text}**"

    def quote(self, lines: list[str]) -> list[str]:
        return [f"> {line}" if line else ">" for line in lines]

    def code(self, lines: list[str], language: str) -> list[str]:
        longest = max((len(ticks) for line in lines for ticks in _TICKS.findall(line)), default=0)
        fence = "`" * max(3, longest + 1)
        return [fence + language, *lines, fence]

    def table(self, rows: list[list[str]]) -> list[str]:
        rows = [[_PIPE.sub(r"\1\|", cell) for cell in cells] for cells in rows]
        width = min(MAX_COLUMNS, max(map(len, rows)))
        head = rows[0] + [""] * (width - len(rows[0]))
        ruled = [head, ["---"] * len(head), *rows[1:]]
        return [f"| {' | '.join(cells)} |" for cells in ruled]


def _without_gaps(lines: Iterable[str]) -> Iterator[str]:
    """Without empty lines at the start and at the end, and never two in a row."""
    has_gap, is_begun = False, False
    for line in lines:
        if line:
            if has_gap and is_begun:
                yield ""
            has_gap, is_begun = False, True
            yield line
        else:
            has_gap = True


def _item(lines: Sequence[str], marker: str) -> list[str]:
    indent = " " * len(marker)
    return [marker + lines[0], *(indent + line if line else "" for line in lines[1:])]


def _definition(lines: Sequence[str]) -> list[str]:
    """What belongs to the item of a term; a list follows without a gap."""
    inner = [_INDENT + line if line else "" for line in _without_gaps(lines)]
    return inner if inner and inner[0].startswith(f"{_INDENT}- ") else ["", *inner, ""]


def _first_number(container: ContentElement) -> int:
    detail = container.detail if container.kind == NUMBERED else ""
    return int(detail) if detail.isascii() and detail.isdigit() and len(detail) < 9 else 1


def _blocks(container: ContentElement) -> Iterator[ContentBlock]:
    """All blocks within a container."""
    for child in container.children:
        if isinstance(child, ContentBlock):
            yield child
        else:
            yield from _blocks(child)


def _is_data(rows: Sequence[ContentElement]) -> bool:
    """Whether the rows of a table are rows of values, rather than parts of a page side by side."""
    cells = [[cell for cell in row.children if isinstance(cell, ContentElement)] for row in rows]
    return (
        len(rows) > 1
        and any(len(row) > 1 for row in cells)
        and not any(_has_structure(cell) for row in cells for cell in row)
    )


def _has_structure(cell: ContentElement) -> bool:
    return any(
        isinstance(child, ContentElement) and (child.kind in (CODE_BLOCK, HEADING, TABLE) or _has_structure(child))
        for child in cell.children
    )
