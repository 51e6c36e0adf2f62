"""Joins hrefs so plain that nothing has to be parsed: most links of most pages.

A plain href is made of path segments that no standard would spell otherwise, perhaps with `../` before them. If the
directory of the base is canonical, so is what the two make together. Everything else is left to the URL parser.
"""

from __future__ import annotations

import re

from lycosa.lib import native

_compiled = native.load("lycosa.fetch._plain_hrefs")

LONGEST = 200
"""Number of characters of a plain href."""

_SEGMENT = r"[A-Za-z0-9_~-][A-Za-z0-9_.~-]*+"
_PATH = re.compile(rf"(?:{_SEGMENT}/)*+(?:{_SEGMENT})?+")
_UP = "../"


def joined(directory: str, root: str, href: str) -> str | None:
    """The URL that an href stands for; None if it is not plain.

    `directory`: the canonical URL of the base up to its last slash; `root`: its origin, without a slash.
    """
    if len(href) > LONGEST:
        return None
    if href.startswith("/"):
        return root + href if _PATH.fullmatch(href, 1) else None
    start, end, first = 2 if href.startswith("./") else 0, len(directory), len(root)
    while href.startswith(_UP, start):
        start += 3
        if end > first + 1:  # above the root is the root
            end = directory.rindex("/", 0, end - 1) + 1
    return directory[:end] + href[start:] if _PATH.fullmatch(href, start) else None


def joined_all(
    hrefs: list[str], directory: str, root: str, *, longest: int, deepest: int, extensions: frozenset[str]
) -> list[str | None] | None:
    """The URLs of those hrefs that are plain, fragments left out, and to which no rule about length, depth or file
    extensions can object; None for others. None altogether if nothing was compiled for it: one by one is as good.

    `longest`: characters of a URL; `deepest`: number of slashes in its path. `directory` and `root` as in `joined`.
    """
    if _compiled is None:
        return None
    urls: list[str | None] = _compiled.joined_all(hrefs, directory, root, longest, deepest, extensions)
    return urls


def split_absolute(href: str) -> tuple[str, str]:
    """Origin and path of an absolute href; both empty if it is not plain."""
    slash = href.find("/", 8)
    if slash < 0 or len(href) > LONGEST or not _PATH.fullmatch(href, slash + 1):
        return "", ""
    return href[:slash], href[slash:]
