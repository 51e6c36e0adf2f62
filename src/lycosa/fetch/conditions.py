"""Conditional requests (RFC 9110, section 13): a server is told which version of a page is known."""

from __future__ import annotations

from lycosa.model import Response

LONGEST = 200
"""Maximum number of characters of what a server says of its version, and gets back."""
_HEADERS = (("etag", "If-None-Match"), ("last-modified", "If-Modified-Since"))


def conditions(known: Response) -> list[str]:
    """Header lines for a request that need only be answered in full if the page has changed since this answer.

    A value that could not have come in a valid header is left out, so that no server can write our request.
    """
    values = [(name, known.header(header).strip()) for header, name in _HEADERS]
    return [f"{name}: {value}" for name, value in values if _is_sendable(value)]


def _is_sendable(value: str) -> bool:
    return 0 < len(value) <= LONGEST and value.isascii() and value.isprintable()
