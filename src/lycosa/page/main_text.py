"""Which blocks of a document are its main text.

What repeats on the host is known by its hash, and some regions are declared to be no content (`own_text`). That is all
the crawl needs. For a text that people read, further cues are taken, which cost more:

- A `main` element, or one with that role, holds the content, if there is text in it.
- Elements whose class or id says navigation, footer, search and the like do not, unless they hold half of the text.
- What repeats on the host and yet stands amid the main text belongs to it, unless it is made of links: headings such as
  "Parameters", notes, licences.
- A row of links to the next page, the one before, the contents is none, nor is a short line at the end that says when
  the page was changed, who made it by which program, or how to edit it.
- What stands before the first heading and is made of links is none, either.

None of it may empty a page: if next to nothing is left, the cues are dropped, and if that is not enough, `own_text`
keeps everything.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from lycosa.page.content import HEADING, LINKED, NOWHERE, Content, ContentBlock, Start
from lycosa.page.own_text import MIN_OWN, own_blocks
from lycosa.page.walk import Document

_LINK_SHARE = 0.7
"""Minimum share of its characters that are links, of a block that is only a row of links."""
_LINKED_ASIDE = 0.3
"""The same of an element that is called a sidebar or the like: some of these are boxes within the text."""
_SHORT = 200
"""Maximum number of characters of a row of links or a closing line."""
_TURNING = re.compile(
    r"(?:\W|\b(?:next|prev|previous|up|top|home|first|last|contents?|table of contents|index|back|forward|"
    r"module|modules|page|chapter|section|topic|and|to|the|of|go|list)\b)+",
    re.IGNORECASE,
)
_STEP = re.compile(r"\b(?:next|prev|previous|up)\b", re.IGNORECASE)
_CLOSING = re.compile(
    r"^\W*(?:(?:this )?(?:page|document|article)?\s*(?:was )?(?:last |first )?"
    r"(?:updated|modified|edited|changed|revised)\b|"
    r"(?:created|generated|built|made|powered|maintained|hosted) (?:by|using|with|on|at)\b|"
    r"copyright\b|©|\(c\) |all rights reserved|retrieved from|edit (?:this|on|page)|"
    r"(?:view|show|page) (?:page )?source|found a (?:bug|mistake|error)|report a (?:bug|mistake|problem|error)|"
    r"printed? version|permalink|back to top|go to top)",
    re.IGNORECASE,
)
_END = 0.25
"""Share of the blocks, at the end, among which closing lines are looked for; of few blocks, the last five."""
_LAST = 5


def main_blocks(content: Content, document: Document, furniture: bytes = b"") -> list[bool]:
    """For each block of the content, whether it belongs to the main text.

    `furniture`: what is known of the host (`Furniture.of`).
    """
    blocks = content.blocks
    if content.walked != len(document.blocks):
        return [True] * len(blocks)
    own = _spread(blocks, own_blocks(document, furniture))
    undeclared = _spread(blocks, own_blocks(document, b"")) if furniture else own
    is_possible = _declared(blocks, undeclared)
    declared = [is_own and is_open for is_own, is_open in zip(own, is_possible, strict=True)]
    whole = _with_repeated(blocks, declared, is_possible, document.block_hashes) if furniture else declared
    for chosen in (_without_rows(blocks, whole), whole, declared, own):
        if _size(blocks, chosen) >= MIN_OWN:
            return chosen
    return own if any(own) else [True] * len(blocks)


def _size(blocks: Sequence[ContentBlock], chosen: Sequence[bool]) -> int:
    return sum(block.size for block, is_chosen in zip(blocks, chosen, strict=True) if is_chosen)


def _spread(blocks: Sequence[ContentBlock], is_own: Sequence[bool]) -> list[bool]:
    """What holds of the walk's blocks. A block without text, such as a picture, goes with the one before it."""
    chosen, last = [], False
    for block in blocks:
        if block.first != NOWHERE:
            last = is_own[block.first] if block.count == 1 else any(is_own[block.first : block.first + block.count])
        chosen.append(last)
    return chosen


def _declared(blocks: Sequence[ContentBlock], own: Sequence[bool]) -> list[bool]:
    """Without what elements around the blocks declare to be no content."""
    total = _size(blocks, own)
    mains: Counter[int] = Counter()
    menus: Counter[int] = Counter()
    linked: Counter[int] = Counter()
    for block, is_own in zip(blocks, own, strict=True):
        if is_own:
            mains[block.main] += block.size
            menus[block.navigation] += block.size
            linked[block.navigation] += block.linked
    is_main = {
        number
        for number, size in mains.items()
        if number != NOWHERE and (size >= MIN_OWN if number > 0 else 4 * size >= total)
    }
    is_menu = {
        number
        for number, size in menus.items()
        if 2 * size <= total and (number > 0 or (number != NOWHERE and linked[number] >= _LINKED_ASIDE * size))
    }
    return [
        is_own and (not is_main or block.main in is_main) and block.navigation not in is_menu
        for block, is_own in zip(blocks, own, strict=True)
    ]


def _with_repeated(
    blocks: Sequence[ContentBlock], chosen: Sequence[bool], is_possible: Sequence[bool], hashes: Sequence[int]
) -> list[bool]:
    """With what repeats on the host amid the main text. Links do so only if they repeat because they are also in a
    menu, as in a list of the pages below this one."""
    firm = [number for number, is_chosen in enumerate(chosen) if is_chosen and _is_firm(blocks[number])]
    if not firm:
        return list(chosen)
    in_main = any(blocks[number].main != NOWHERE for number in firm)
    elsewhere = {
        hashes[block.first]
        for block, is_open in zip(blocks, is_possible, strict=True)
        if not is_open and block.first != NOWHERE
    }
    again = list(chosen)
    for number, block in enumerate(blocks):
        if again[number] or not is_possible[number] or block.first == NOWHERE:
            continue
        if in_main or firm[0] < number < firm[-1]:
            again[number] = _is_firm(block) or (in_main and hashes[block.first] in elsewhere)
    return again


def _is_firm(block: ContentBlock) -> bool:
    """Whether a block is text rather than links."""
    return block.linked < _LINK_SHARE * block.size


def _without_rows(blocks: Sequence[ContentBlock], chosen: Sequence[bool]) -> list[bool]:
    """Without rows of links that lead elsewhere, and without closing lines."""
    kept = list(chosen)
    numbers = [number for number, is_kept in enumerate(kept) if is_kept]
    first_heading = next((number for number in numbers if _is_heading(blocks[number])), NOWHERE)
    end = len(numbers) - max(_LAST, int(_END * len(numbers)))
    for place, number in enumerate(numbers):
        block = blocks[number]
        if block.size > _SHORT or _is_heading(block):
            continue
        is_row = _is_turning(block) or (number < first_heading and block.linked > _LINK_SHARE * block.size)
        kept[number] = not is_row and not (place >= end and _CLOSING.match(_text(block)))
    return kept


def _is_turning(block: ContentBlock) -> bool:
    """Whether a block only leads to other pages: 'Next', '« previous | up | next »', 'Next: Functions, Up: Top'."""
    if not block.linked:
        return False
    around = _text(block, is_linked=False)
    return bool(_TURNING.fullmatch(_text(block)) or (_STEP.search(around) and _TURNING.fullmatch(around)))


def _is_heading(block: ContentBlock) -> bool:
    return block.outer == HEADING


def _text(block: ContentBlock, *, is_linked: bool = True) -> str:
    """The text of a block on one line, with that of its links or without."""
    pieces: list[str] = []
    is_open = False
    for part in block.parts:
        if type(part) is str:
            if is_linked or not is_open:
                pieces.append(part)
        elif type(part) is Start:
            is_open = is_open or part.kind == LINKED
        elif part == LINKED:
            is_open = False
    return " ".join("".join(pieces).split())
