"""Bounds on what is kept of one document, whatever is in it."""

from __future__ import annotations

from dataclasses import dataclass

from lycosa.lib.bounds import require_at_least


@dataclass(frozen=True, slots=True)
class PageLimits:
    """Bounds on what is kept of one document."""

    max_text: int = 200_000
    """Characters of text; what comes after is neither kept nor counted. Links are found all the same."""
    max_title: int = 300
    """Characters."""
    max_links: int = 10_000
    """Distinct URLs kept, and as many turned away; further ones are only counted."""
    max_href: int = 4_096
    """Characters of an href; longer ones are not resolved."""
    max_anchor: int = 200
    """Characters of a link's text."""
    context_reach: int = 80
    """Characters of context on either side of a link, cut at words: about 12 words of English."""
    path_depth: int = 32
    """Tags in a link's path; of deeper ones the innermost are kept, after an ellipsis."""

    def __post_init__(self) -> None:
        require_at_least(self, "page", max_text=0, max_title=0, max_links=0, max_href=1, max_anchor=0)
        require_at_least(self, "page", context_reach=0, path_depth=2)
