"""What owners of pages say about their use: as search results, by AI models, for the training of these.

Owners say it in several vocabularies. All of them come down to whether a use is allowed; whoever says nothing about a
use neither allows nor forbids it:

    search, ai-input, ai-train      Content Signals: `Content-Signal: search=yes, ai-train=no` (contentsignals.org)
    search, ai-use, train-ai        AI Preferences of the IETF: `Content-Usage: train-ai=n` (draft-ietf-aipref-vocab)
    noai, noimageai                 directives for robots, first used by DeviantArt
    tdm-reservation                 TDM Reservation Protocol of a W3C community group: 1 reserves text and data mining

`fetch.robots` reads what robots.txt says, `page.usage` what a page and the headers of its answer say. If they disagree,
the strictest wins. Labels and values that are not known are ignored, as both drafts want it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

SEARCH, AI_INPUT, AI_TRAIN = "search", "ai-input", "ai-train"
PURPOSES = (SEARCH, AI_INPUT, AI_TRAIN)
"""Uses for which pages are collected."""
AI_IMAGES = "ai-images"
"""Use of a page's images by AI. It is recorded alone: images are not collected."""
BY_AI = (AI_INPUT, AI_TRAIN)
OPTED_OUT = "opted out"
"""Reason for which a page is refused whose owner does not want it to be used for the crawl's purpose."""
MAX_LENGTH = 4096
"""Number of characters of a statement that are read."""

_MEANT: Mapping[str, tuple[str, ...]] = {
    "search": (SEARCH,),
    "ai-input": (AI_INPUT,),
    "ai-use": (AI_INPUT,),
    "ai-train": (AI_TRAIN,),
    "train-ai": (AI_TRAIN,),
    "train-genai": (AI_TRAIN,),  # earlier drafts
    "ai": BY_AI,
}
_VALUES = {"yes": True, "y": True, "no": False, "n": False}


class Saying(NamedTuple):
    """What an owner says about one use."""

    is_allowed: bool
    by: str
    """Where it is said: `X-Robots-Tag`, `robots.txt Content-Signal`."""


Usage = dict[str, Saying]
"""By use; a use of which nothing is said is left out."""


def read_statement(value: str) -> dict[str, bool]:
    """What the value of Content-Signal or Content-Usage says: `search=yes, ai-train=no`, `train-ai=n;note=…`."""
    found: dict[str, bool] = {}
    for part in value[:MAX_LENGTH].lower().split(","):
        label, _, said = part.partition("=")
        is_allowed = _VALUES.get(said.partition(";")[0].strip())
        if is_allowed is not None:
            for use in _MEANT.get(label.strip(), ()):
                found[use] = found.get(use, True) and is_allowed
    return found


def say(usage: Usage, use: str, is_allowed: bool, by: str) -> None:
    """Add a saying; the strictest wins, and of equal ones the first."""
    known = usage.get(use)
    if known is None or (known.is_allowed and not is_allowed):
        usage[use] = Saying(is_allowed, by)


def strictest(*usages: Mapping[str, Saying]) -> Usage:
    together: Usage = {}
    for usage in usages:
        for use, saying in usage.items():
            say(together, use, saying.is_allowed, saying.by)
    return together


def in_words(usage: Mapping[str, Saying]) -> str:
    """`ai-input: no (tdm-reservation), search: yes (robots.txt Content-Signal)`; empty if nothing is said."""
    return ", ".join(
        f"{use}: {'yes' if saying.is_allowed else 'no'} ({saying.by})" for use, saying in sorted(usage.items())
    )


def forbids(usage: Mapping[str, Saying], purpose: str) -> str:
    """How the owner forbids what the crawl is for, in words; empty if not."""
    saying = usage.get(purpose)
    if saying is None or saying.is_allowed:
        return ""
    return f"{in_words({purpose: saying})}, and robots.purpose is {purpose}"
