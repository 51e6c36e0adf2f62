"""Simplifies documents that would take quadratic time to parse, whether by design or because they are broken.

An HTML parser searches all open elements at many tags, and all attributes of a tag at each attribute: 100,000 nested
`<div>` keep Lexbor busy for 15 seconds, and so do 100,000 attributes. Browsers stop nesting at 512 levels. We do the
same before parsing: tags that would nest more deeply are replaced by a space, which keeps their text and links. Tags
with thousands of attributes are removed.

Most documents only cost the counting of one byte. The depth is an estimate, since only a parser knows it exactly; the
time limit of the reader process takes care of what slips through.
"""

from __future__ import annotations

import re
from collections import Counter

MAX_DEPTH = 512
_MANY_TAGS = 8_000
"""Number of tags up to which nesting cannot be deep enough to matter."""
_LARGE = 65_536
"""Number of bytes up to which there cannot be enough attributes to matter."""
_LONG_TAG = 16_384
_MANY_SEPARATORS = 2_048

# Stops at the next "<", so that an unclosed tag is not scanned again from each tag that follows it.
_TAG = re.compile(rb"<(/?)([a-zA-Z][^\s/<>]{0,31})[^<>]*>")
_SEPARATORS = (b" ", b"\n", b"\t", b"\r", b"\f", b"/")
_NEVER_NESTS = frozenset(
    # no content
    b"area base br col embed frame hr img input link meta param source track wbr "
    # closed by the next of their kind, or occur only once
    b"html head body p li dt dd tr td th tbody thead tfoot caption colgroup option optgroup rp rt a "
    # content is not markup, and would count as text without the tag
    b"script style title textarea iframe noembed noframes xmp".split()
)
"""Tags that are kept at any depth, including links."""


def simplified(body: bytes) -> bytes:
    """The document without anything that would keep a parser busy for seconds; nearly always unchanged."""
    if len(body) > _LARGE:
        body = _without_endless_tags(body)
    if body.count(b"<") > _MANY_TAGS:
        body = _without_deep_tags(body)
    return body


def _without_endless_tags(body: bytes) -> bytes:
    pieces = body.split(b">")
    if max(map(len, pieces)) <= _LONG_TAG:
        return body
    for index, piece in enumerate(pieces):
        start = piece.rfind(b"<") if len(piece) > _LONG_TAG else -1
        tag = piece[start:]
        if start >= 0 and len(tag) > _LONG_TAG and sum(map(tag.count, _SEPARATORS)) > _MANY_SEPARATORS:
            pieces[index] = piece[:start] + b"<wbr"
    return b">".join(pieces)


def _without_deep_tags(body: bytes) -> bytes:
    open_tags: Counter[bytes] = Counter()
    depth = 0

    def replace(match: re.Match[bytes]) -> bytes:
        nonlocal depth
        slash, name = match.group(1), match.group(2).lower()
        if name in _NEVER_NESTS:
            return match.group()
        if slash:
            if not open_tags[name]:
                # Closes a tag that was removed, or nothing at all.
                return b" "
            open_tags[name] -= 1
            depth -= 1
        elif depth >= MAX_DEPTH:
            return b" "
        else:
            open_tags[name] += 1
            depth += 1
        return match.group()

    return _TAG.sub(replace, body)
