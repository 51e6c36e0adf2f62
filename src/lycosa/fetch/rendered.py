"""A response with the document that scripts have made of it."""

from __future__ import annotations

from dataclasses import replace

from lycosa.model import Response

_REPLACED = ("content-encoding", "content-type", "content-length")


def with_dom(response: Response, dom: bytes) -> Response:
    """The response as if the server had sent the rendered document, in UTF-8."""
    kept = [(name, value) for name, value in response.headers if name not in _REPLACED]
    return replace(response, headers=(("content-type", "text/html; charset=utf-8"), *kept), body=dom)
