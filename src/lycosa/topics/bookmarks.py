"""Bookmarks as topics: each folder is a topic, each bookmark in it an example (paper FC, section 2.1)."""

from __future__ import annotations

from collections.abc import Iterable

from lycosa.judges.taxonomy import MAX_DEPTH, MAX_NAME, checked_path
from lycosa.seeds.bookmarks import Bookmark

NO_FOLDER = "Bookmarks"
"""The topic of bookmarks in no folder, if none is named."""


def bookmark_topics(entries: Iterable[Bookmark], under: str = "") -> dict[str, tuple[str, ...]]:
    """The topics of each URL: its folders, below `under`. InputError if that cannot name a topic."""
    above = checked_path(under.strip("/")).split("/") if under.strip("/") else []
    topics: dict[str, tuple[str, ...]] = {}
    for entry in entries:
        names = [*above, *map(topic_name, entry.folder)][:MAX_DEPTH] or [NO_FOLDER]
        path = checked_path("/".join(names))
        if path not in topics.get(entry.url, ()):
            topics[entry.url] = (*topics.get(entry.url, ()), path)
    return topics


def topic_name(folder: str) -> str:
    """A folder's name as that of a topic: without slashes, which separate names, and without invisible characters."""
    shown = "".join(char if char.isprintable() else " " for char in folder.replace("/", "-"))
    return " ".join(shown.split())[:MAX_NAME].strip() or "unnamed"
