"""Documents that are built, or broken, so that parsing them takes quadratic time.

An HTML parser looks through all open elements at many tags, and through all attributes of a tag at
each attribute: 100,000 nested `<div>` keep Lexbor busy for 15 seconds, 100,000 attributes as long.
Browsers stop nesting at 512 levels. We do alike, before parsing: tags that would nest deeper become a
space, so their text stays, and so do links. Tags with thousands of attributes are taken out.

Most documents pay for one count of a byte and nothing else. The nesting is an estimate, as only a
parser knows it exactly; what slips through is left to the time limit of the reader process.
"""

from __future__ import annotations

import re
from collections import Counter

MAX_DEPTH = 512
_MANY_TAGS = 8_000
"""Fewer tags than this cannot nest deep enough to matter."""
_LARGE = 65_536
"""In fewer bytes there is no room for enough attributes to matter."""
_LONG_TAG = 16_384
_MANY_SEPARATORS = 2_048

# Stops at the next "<", so an unclosed tag is not read again from each tag that follows it.
_TAG = re.compile(rb"<(/?)([a-zA-Z][^\s/<>]{0,31})[^<>]*>")
_SEPARATORS = (b" ", b"\n", b"\t", b"\r", b"\f", b"/")
_NEVER_NESTS = frozenset(
    # no content
    b"area base br col embed frame hr img input link meta param source track wbr "
    # closed by the next of their kind, or there only once
    b"html head body p li dt dd tr td th tbody thead tfoot caption colgroup option optgroup rp rt a "
    # content that is not markup: without the tag it would count as text
    b"script style title textarea iframe noembed noframes xmp".split()
)
"""Tags that stay however deep they stand, links among them."""


def simplified(body: bytes) -> bytes:
    """The document, without what would keep a parser busy for seconds; nearly always as it came."""
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
        if len(piece) <= _LONG_TAG:
            continue
        start = piece.rfind(b"<")
        tag = piece[start:]
        if start < 0 or len(tag) <= _LONG_TAG:
            continue
        if sum(map(tag.count, _SEPARATORS)) > _MANY_SEPARATORS:
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
                # Closes a tag that was taken out, or nothing at all.
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
