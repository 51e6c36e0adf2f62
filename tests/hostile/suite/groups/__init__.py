"""The table of behaviours, by group."""

from __future__ import annotations

from dataclasses import dataclass

from hostile.suite.behaviour import Behaviour
from hostile.suite.groups import encodings, http, lists, pages, politeness, redirects, robots, traps, urls


@dataclass(frozen=True)
class Group:
    title: str
    behaviours: tuple[Behaviour, ...]
    seconds: float = 45.0
    """Time that the crawler has for it."""
    delay: float = 0.05
    """Seconds that it is told to leave between two requests to a host."""


GROUPS = {
    "robots": Group("robots.txt", robots.BEHAVIOURS),
    "http": Group("HTTP", http.BEHAVIOURS),
    "redirects": Group("Redirects", redirects.BEHAVIOURS),
    "encodings": Group("Compression and character sets", encodings.BEHAVIOURS),
    "heavy": Group("Heavy pages", pages.HEAVY, seconds=60.0),
    "pages": Group("Pages", pages.BEHAVIOURS),
    "urls": Group("URLs", urls.BEHAVIOURS),
    "lists": Group("Feeds and sitemaps", lists.BEHAVIOURS),
    "politeness": Group("Politeness", politeness.BEHAVIOURS, delay=politeness.DELAY),
    "traps": Group("Traps", traps.BEHAVIOURS, seconds=90.0),
}
BEHAVIOURS = {behaviour.name: behaviour for group in GROUPS.values() for behaviour in group.behaviours}
