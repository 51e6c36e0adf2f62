"""What an engine is, and what comes of asking it.

Whatever an engine does, the answer is a value: results, or an outcome with a reason that can be counted. What it says
is never trusted: its URLs pass the rules that links pass, its texts are cut and shown as plain text only.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Sequence
from typing import NamedTuple, Protocol
from urllib.parse import urlsplit

ANSWERED, NOTHING = "answered", "nothing found"
QUOTA, CAPTCHA, REDIRECT, GARBAGE = "quota", "captcha", "redirect", "not understood"
TIMEOUT, NO_KEY, RESTING, DAILY, NO_SITE = "timeout", "no key", "resting", "daily quota", "no relevant site yet"
HOST_BUSY = "host busy"
LONGEST_TEXT = 300
MAX_BYTES = 2_000_000
"""Of an answer, over the wire and unpacked."""
_CAPTCHA = re.compile(rb"captcha|unusual traffic|are you a (?:robot|human)|challenge-platform|verify you are", re.I)
_SNIFFED = 200_000


class FoundUrl(NamedTuple):
    """A result, as the engine gave it."""

    url: str
    title: str = ""


class EngineAnswer(NamedTuple):
    found: tuple[FoundUrl, ...] = ()
    """The best first."""
    outcome: str = ANSWERED
    detail: str = ""
    retry_after: float = 0.0
    """Seconds for which the engine asked to be left alone."""
    is_contact: bool = True
    """A request was sent to it."""


class Engine(Protocol):
    name: str

    async def ask(self, query: str, count: int) -> EngineAnswer:
        """Up to `count` results for a query in plain words."""
        ...


class Got(NamedTuple):
    """What came of a request."""

    status: int = 0
    body: bytes = b""
    """Without its content encoding."""
    content_type: str = ""
    location: str = ""
    retry_after: float = 0.0
    failure: str = ""
    """Why there is no answer: a reason that can be counted."""
    detail: str = ""


class Get(Protocol):
    """Fetches one URL, without following redirects; never raises."""

    def __call__(self, url: str, *, headers: Sequence[str] = (), max_bytes: int = MAX_BYTES) -> Awaitable[Got]: ...


def refusal(got: Got, hint: Callable[[int], str] = lambda _: "") -> EngineAnswer | None:
    """What is wrong with an answer as such; None if it may have results. `hint`: what helps, by status."""
    if got.failure:
        return EngineAnswer(outcome=got.failure, detail=got.detail, retry_after=got.retry_after)
    is_captcha = _CAPTCHA.search(got.body[:_SNIFFED]) is not None
    if 300 <= got.status < 400:
        # Not the whole target: it may repeat the key.
        host = urlsplit(got.location).hostname if got.location.startswith(("http://", "https://")) else ""
        outcome = CAPTCHA if _CAPTCHA.search(got.location.encode("utf-8", "replace")) else REDIRECT
        return EngineAnswer(outcome=outcome, detail=f"to {host}" if host else "", retry_after=got.retry_after)
    if got.status == 429:
        return EngineAnswer(outcome=QUOTA, detail="http 429", retry_after=got.retry_after)
    if not 200 <= got.status < 300:
        outcome = CAPTCHA if is_captcha else f"http {got.status}"
        return EngineAnswer(outcome=outcome, detail=hint(got.status), retry_after=got.retry_after)
    if is_captcha and _is_page(got):
        return EngineAnswer(outcome=CAPTCHA, detail="a page that asks for a person")
    return None


def _is_page(got: Got) -> bool:
    return "html" in got.content_type or b"<html" in got.body[:2000].lower()


def not_understood(got: Got, expected: str) -> EngineAnswer:
    what = "a web page" if _is_page(got) else "an empty answer" if not got.body.strip() else "something else"
    return EngineAnswer(outcome=GARBAGE, detail=f"{what} instead of {expected}")


def results(found: Sequence[FoundUrl], count: int) -> EngineAnswer:
    """An answer with the first `count` of these."""
    kept = tuple(FoundUrl(url, shortened(title)) for url, title in found[:count])
    return EngineAnswer(kept) if kept else EngineAnswer(outcome=NOTHING)


def shortened(text: str) -> str:
    """One printable line."""
    printed = "".join(char if char.isprintable() else " " for char in text[: 4 * LONGEST_TEXT])
    return " ".join(printed.split())[:LONGEST_TEXT]
