"""What a page says about its use: in `meta` elements, and in the headers of the answer that it came with."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from lycosa.page.robots import addressed_to
from lycosa.usage import AI_IMAGES, AI_TRAIN, BY_AI, MAX_LENGTH, Usage, read_statement, say

STATEMENTS = {"content-usage": "Content-Usage", "content-signal": "Content-Signal"}
TDM_RESERVATION, TDM_POLICY = "tdm-reservation", "tdm-policy"
ROBOTS_TAG = "x-robots-tag"
USAGE_HEADERS = frozenset({*STATEMENTS, TDM_RESERVATION, TDM_POLICY, ROBOTS_TAG})
"""Headers in which something may be said, in lower case."""
MAX_POLICY = 200
_DIRECTIVES = {"noai": BY_AI, "noml": (AI_TRAIN,), "noimageai": (AI_IMAGES,)}


def read_usage(metas: Iterable[tuple[str, str]], headers: Sequence[tuple[str, str]], *, product_token: str) -> Usage:
    """What is said to us, given (name, content) of meta elements and (name, value) of headers, in lower case."""
    usage: Usage = {}
    ours = product_token.lower()
    reserved: list[tuple[str, str]] = []
    policy = ""
    for name, content in metas:
        name = name.strip().lower()
        if name in ("robots", ours):
            _take_directives(usage, content[:MAX_LENGTH].lower().split(","), "meta robots")
        elif name == TDM_RESERVATION:
            reserved.append((content, f"meta {TDM_RESERVATION}"))
        elif name == TDM_POLICY:
            policy = policy or content
    for name, value in headers:
        if name == ROBOTS_TAG:
            _take_directives(usage, addressed_to(ours, value), "X-Robots-Tag")
        elif name in STATEMENTS:
            for use, is_allowed in read_statement(value).items():
                say(usage, use, is_allowed, STATEMENTS[name])
        elif name == TDM_RESERVATION:
            reserved.append((value, TDM_RESERVATION))
        elif name == TDM_POLICY:
            policy = policy or value
    for value, by in reserved:
        if value.strip() in ("0", "1"):
            for use in BY_AI:
                say(usage, use, value.strip() == "0", by + _shown(policy))
    return usage


def _take_directives(usage: Usage, directives: Iterable[str], by: str) -> None:
    for directive in directives:
        for use in _DIRECTIVES.get(directive.strip(), ()):
            say(usage, use, False, by)


def _shown(policy: str) -> str:
    """The URL of the licence that the owner offers, if it is one."""
    url = policy.strip()
    is_url = url.lower().startswith(("http://", "https://")) and url.isascii() and url.isprintable()
    return f", policy {url}" if is_url and len(url) <= MAX_POLICY else ""
