"""A page's instructions for robots: `<meta name=robots>` and `X-Robots-Tag`.

Both contain directives separated by commas. Either can be addressed to a single crawler: the meta element by its name,
the header by a token and a colon (`lycosa: nofollow`), which applies to all directives up to the next token. If several
apply, the strictest wins.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

_WITH_VALUE = frozenset({"unavailable_after", "max-snippet", "max-image-preview", "max-video-preview"})
"""Directives that contain a colon themselves."""
_MAX_LENGTH = 4096


class RobotsDirectives(NamedTuple):
    is_noindex: bool = False
    is_nofollow: bool = False


def read_directives(
    metas: Iterable[tuple[str, str]], headers: Sequence[str], *, product_token: str
) -> RobotsDirectives:
    """The directives addressed to us, given (name, content) of meta elements and the values of X-Robots-Tag headers."""
    ours = product_token.lower()
    found: set[str] = set()
    for name, content in metas:
        if name.strip().lower() in ("robots", ours):
            found.update(part.strip() for part in content[:_MAX_LENGTH].lower().split(","))
    for value in headers:
        found.update(addressed_to(ours, value))
    is_none = "none" in found
    return RobotsDirectives(is_none or "noindex" in found, is_none or "nofollow" in found)


def addressed_to(ours: str, value: str) -> Iterable[str]:
    """The directives of an X-Robots-Tag that are for us, in lower case. `ours`: our product token, likewise."""
    agent = ""
    for part in value[:_MAX_LENGTH].lower().split(","):
        name, colon, directive = (piece.strip() for piece in part.partition(":"))
        if not colon:
            directive = name
        elif name in _WITH_VALUE:
            continue
        else:
            agent = name
        if agent in ("", "*", "robots", ours):
            yield directive
