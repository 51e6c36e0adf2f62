"""Bounds on what is kept of one document, whatever is in it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PageLimits:
    max_text: int = 200_000
    """Characters of text; what comes after is neither kept nor counted. Links are found all the same."""
    max_title: int = 300
    max_links: int = 10_000
    """Distinct URLs kept, and as many turned away; further ones are only counted."""
    max_href: int = 4_096
    """Characters of an href; longer ones are not resolved."""
    max_anchor: int = 200
    context_reach: int = 80
    """Characters of context on either side of a link, cut at words: about 12 words of English."""
    path_depth: int = 32
    """Tags in a link's path; of deeper ones the innermost are kept, after an ellipsis."""
