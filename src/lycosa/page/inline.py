"""The text of a block as a line of Markdown, or as plain text.

A page may contain anything. Markdown made of it has no structure but what is written here: every character that could
begin a tag, an entity, a link, emphasis, code, a table cell or, at the start of a line, a heading, list, quote, rule or
fence is escaped; links and images lead to http and https only. Control characters, and those that turn the direction of
text around, must have been removed from the parts (`printable`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from itertools import groupby

from lycosa.page.content import CODE, EMPHASIS, LINKED, STRONG, Image, Part, Start

Absolute = Callable[[str], str]
"""Turns an href into an absolute http(s) URL; empty if it is none, or leads to the page itself."""

MAX_ALT = 300
_UNWANTED = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\xad\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufdd0-\ufdef\ufeff\ufff9-\uffff]"
    "|[\ud800-\udfff]|[\U000e0000-\U000e0fff]"
)
_SPECIAL = re.compile(r"[\\`*\[\]|_<&~]")  # one set of characters, which is found faster than alternatives
_ENTITY = re.compile(r"&#?\w+;")
_LINE_START = re.compile(r"(?:#{1,6}(?=\s|$)|[-+](?=\s|$)|[-=]+\s*$|[-_](?:\s*[-_]){2,}\s*$|>|~|:(?=\s))")
_NUMBERED = re.compile(r"(\d{1,9})([.)])(?=\s|$)")
_UNSAFE_IN_URL = re.compile(r"[\s()<>\[\]\"'`\\|{}^]|[^\x21-\x7e]")
_TICKS = re.compile(r"`+")
_WORD = re.compile(r"\w")
_LONGEST_SIGN = 3
NO_LINK = Start(LINKED)
_SEPARATOR = "\0"
"""A character that no text contains: documents are read without NULs."""
_TO_SOURCES = frozenset(["[source]", "[docs]", "[edit]"])
"""Links to the source of what is described, or of the page."""
_SIGNS = {EMPHASIS: "*", STRONG: "**"}


def printable(text: str) -> str:
    """The text without control characters and the like; newlines and tabs stay."""
    return _UNWANTED.sub("", text)


def has_unprintable(text: str) -> bool:
    return _UNWANTED.search(text) is not None


def plain_line(parts: Sequence[Part]) -> str:
    """The words of a block, on one line."""
    pieces: list[str] = []
    link_at, opened = -1, NO_LINK
    for part in parts:
        if type(part) is str:
            pieces.append(part)
        elif type(part) is Image:
            pieces.append(f" {printable(part.alt[:MAX_ALT])} ")
        elif type(part) is Start:
            if part.kind == LINKED:
                link_at, opened = len(pieces), part
        elif part == LINKED and link_at >= 0:
            if _is_tool("".join(pieces[link_at:]), opened):
                del pieces[link_at:]
            link_at = -1
    return _one_line("".join(pieces))


def _is_tool(text: str, link: Start) -> bool:
    """Whether this is the text of a link by which a heading can be cited, or its source seen.

    A link to a place on the page itself is such a one if it is no more than a sign: ¶, #, ◆.
    """
    text = text.strip()
    is_sign = link.href.startswith("#") and len(text) <= _LONGEST_SIGN and not _WORD.search(text)
    return is_sign or link.is_tool or text in _TO_SOURCES


def _one_line(text: str) -> str:
    return " ".join(text.split())


def markdown_line(parts: Sequence[Part], absolute: Absolute) -> str:
    """A block as a line of Markdown, safe at the start of a line."""
    return guarded(markdown_span(parts, absolute))


def markdown_span(parts: Sequence[Part], absolute: Absolute) -> str:
    """The same for a place that is not the start of a line, such as a heading or a cell."""
    parts = _joined(parts)
    frames: list[list[str]] = [[]]
    starts: list[Start] = []
    codes = 0
    """Number of open starts that are of code: nothing is escaped in it, and nothing can be emphasised."""

    def end() -> int:
        nonlocal codes
        start, inner = starts.pop(), frames.pop()
        codes -= start.kind == CODE
        if codes:
            frames[-1] += _in_code(start, inner, absolute)
        elif start.kind == CODE:
            frames[-1].append(_code(inner))
        else:
            frames[-1].append(_marked(start, "".join(inner), absolute))
        return start.kind

    for part, escaped in zip(parts, _escaped_parts(parts), strict=True):
        if type(part) is str:
            frames[-1].append(part if codes else escaped)
        elif type(part) is Image:
            frames[-1].append(_Made(_image(part, absolute)))
        elif type(part) is Start:
            starts.append(part)
            frames.append([])
            codes += part.kind == CODE
        else:
            while starts and end() != part:  # marks are balanced, but may overlap
                pass
    while starts:
        end()
    return " ".join("".join(frames[0]).split())


def _joined(parts: Sequence[Part]) -> Sequence[Part]:
    """Emphasis or code that ends where the same begins goes on: two signs that meet would mean something else."""
    if not any(type(part) is int and part != LINKED for part in parts):
        return parts
    kept: list[Part] = []
    for part in parts:
        goes_on = kept and type(kept[-1]) is int and type(part) is Start and kept[-1] == part.kind != LINKED
        if goes_on:
            kept.pop()
        else:
            kept.append(part)
    return kept


class _Made(str):
    """Markdown among the texts of a piece of code: a link, an image."""


def _in_code(start: Start, inner: list[str], absolute: Absolute) -> list[str]:
    """What has been marked within code: a link stands by itself, with code as its text; else the text alone counts."""
    if start.kind == LINKED and _is_tool("".join(inner), start):
        return []
    url = absolute(start.href) if start.kind == LINKED else ""
    return [_Made(f"[{text}]({_url(url)})")] if url and (text := _code(inner).strip()) else inner


def _code(pieces: list[str]) -> str:
    """Texts as code, with the links between them."""
    spans: list[str] = []
    for is_made, run in groupby(pieces, lambda piece: type(piece) is _Made):
        text = "".join(run)
        if is_made:
            spans.append(text)
        else:
            before, after = " " * text[:1].isspace(), " " * text[-1:].isspace()
            spans.append(before + code_span(text) + after if text.strip() else " " * bool(text))
    return "".join(spans)


def _escaped_parts(parts: Sequence[Part]) -> list[str]:
    """The texts among the parts, escaped, all at once; other parts are empty."""
    if not parts:
        return []
    return _escaped(_SEPARATOR.join([part if type(part) is str else "" for part in parts])).split(_SEPARATOR)


def guarded(line: str) -> str:
    """The line, escaped where its start would be structure."""
    if _LINE_START.match(line):
        return "\\" + line
    return _NUMBERED.sub(r"\1\\\2", line, count=1) if line[:1].isdigit() and _NUMBERED.match(line) else line


def code_span(text: str) -> str:
    """Text as inline code, whatever backticks it contains."""
    text = _one_line(text)
    fence = "`" * (max(map(len, _TICKS.findall(text)), default=0) + 1)
    pad = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{fence}{pad}{text}{pad}{fence}" if text else ""


def escaped_text(text: str) -> str:
    """Text that is nothing but text, on one line."""
    return guarded(" ".join(_escaped(printable(text)).split()))


def _escaped(text: str) -> str:
    return _SPECIAL.sub(_escape, text)


def _escape(found: re.Match[str]) -> str:
    """Most of these characters are always escaped, some only where they would mean something."""
    sign, text, place = found[0], found.string, found.start()
    if sign == "_":
        # Within a word, as in snake_case, it is an underscore.
        if 0 < place < len(text) - 1 and text[place - 1].isalnum() and text[place + 1].isalnum():
            return sign
    elif (sign == "<" and not (text[place + 1 : place + 2].isalpha() or text[place + 1 : place + 2] in "/!?")) or (
        sign == "&" and not _ENTITY.match(text, place)
    ):
        return sign
    return "\\" + sign


def _marked(start: Start, inner: str, absolute: Absolute) -> str:
    text = inner.strip()
    if not text:
        return " " if inner else ""
    before = " " if inner[:1].isspace() else ""
    after = " " if inner[-1:].isspace() else ""
    if start.kind == LINKED:
        if _is_tool(text.replace("\\", ""), start):
            return ""
        url = absolute(start.href)
        # A link in a link, or one whose text ends in an escape of its own, must not close the bracket early.
        return f"{before}[{text}]({_url(url)}){after}" if url else inner
    sign = _SIGNS[start.kind]
    return f"{before}{sign}{text}{sign}{after}" if text[0] != "*" and text[-1] != "*" else inner


def _image(image: Image, absolute: Absolute) -> str:
    alt = " ".join(_escaped(printable(image.alt[:MAX_ALT])).split())
    url = absolute(image.source) if alt else ""
    return f"![{alt}]({_url(url)})" if url else f" {alt} "


def _url(url: str) -> str:
    """A URL that cannot end its parenthesis, nor be anything but a URL."""
    return _UNSAFE_IN_URL.sub(
        lambda match: "".join(f"%{byte:02X}" for byte in match[0].encode("utf-8", "replace")), url
    )
