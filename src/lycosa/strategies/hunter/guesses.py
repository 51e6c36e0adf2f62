"""URLs that no page need link to: the home page of a host, and the folders above a page.

A host that has a relevant page may have more of them, which no page met so far links to. What lists them is often found
by cutting the page's URL short. Such a guess costs a request like any link, and may lead to nothing.
"""

from __future__ import annotations

MOST_ABOVE = 3
"""Maximum number of guesses for a page: the nearest folders, and the home page."""


def urls_above(url: str) -> list[str]:
    """The folders that a page is in, nearest first, and the home page of its host; without the URL itself."""
    scheme, _, rest = url.partition("//")
    host, _, path = rest.partition("?")[0].partition("/")
    folders = path.split("/")[:-1]
    inner = [f"{scheme}//{host}/{'/'.join(folders[:depth])}/" for depth in range(len(folders), 0, -1)]
    above = [*inner[: MOST_ABOVE - 1], f"{scheme}//{host}/"]
    return [each for each in dict.fromkeys(above) if each != url]
