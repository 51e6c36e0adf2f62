"""What the headers of an answer mean: where a redirect leads, and for how long a server wants to be left alone."""

from __future__ import annotations

import email.utils
from urllib.parse import quote, urljoin

from lycosa.model import Response

REDIRECTS = frozenset({301, 302, 303, 307, 308})


def redirect_location(response: Response) -> str:
    """The target of a Location header, joined to the URL that sent it; empty if there is none.

    A Location that cannot be joined is returned as it is: the URL rules will reject it.
    """
    location = _as_browsers_read(response.header("location"))
    if not location:
        return ""
    try:
        return urljoin(response.url, location)
    except ValueError:
        return location


def _as_browsers_read(value: str) -> str:
    """Bytes outside ASCII, which a Location must not have, are UTF-8; where they are not, they are kept as they are."""
    if value.isascii():
        return value
    raw = value.encode("latin-1", "replace")  # as `transfer` decodes headers
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        return quote(raw, safe="".join(map(chr, range(0x21, 0x7F))))


def retry_after(value: str, *, now: float) -> float:
    """Seconds given by a Retry-After header, which is a number or a date; 0 if it is missing or makes no sense."""
    value = value.strip()
    if value.isascii() and value.isdigit():
        return float(value[:9])
    try:
        return max(0.0, email.utils.parsedate_to_datetime(value).timestamp() - now)
    except (ValueError, TypeError, OverflowError):
        return 0.0
