"""A handful of pages by URL: examples for a topic, a page to judge.

They are fetched by a crawl like any other, into a directory that is thrown away: robots.txt, delays, the guard,
redirects and retries are those of every crawl. Only links are not followed.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from lycosa.cli.progress import Lines
from lycosa.cli.terminal import err
from lycosa.config import Config, load_file
from lycosa.crawl.reading import read_response
from lycosa.crawl.watching import Silence
from lycosa.engine import Crawl
from lycosa.fetch.urls import Urls
from lycosa.fetch.warc_reader import Location
from lycosa.fetch.warc_reader import read as read_archived
from lycosa.judge_choice import judge_of
from lycosa.model import Page
from lycosa.store.sqlite import SqliteStore
from lycosa.topics.importing import Failure
from lycosa.workspace import Workspace


def pages_by_url(
    urls: Sequence[str], settings: dict[str, Any] | None = None, *, minutes: float = 10.0
) -> list[Page | Failure]:
    """The page of each URL, or why there is none, in their order.

    Without settings those of the file that LYCOSA_CONFIG names hold, as for a crawl.
    """
    if not urls:
        return []
    named = os.environ.get("LYCOSA_CONFIG")
    if settings is None and named:
        settings = load_file(Path(named))
    with tempfile.TemporaryDirectory(prefix="lycosa-") as directory:
        layers = [(named or "settings", settings or {}), ("fetch", _plan(urls, minutes))]
        crawl = Crawl("page", seeds=urls, directory=directory, layers=layers)
        crawl.run(watcher=Lines() if err.is_terminal and len(urls) > 10 else Silence())
        return _answers(crawl.config, crawl.workspace, urls)


def _plan(urls: Sequence[str], minutes: float) -> dict[str, Any]:
    return {
        "topic": "page",
        "seeds": list(dict.fromkeys(urls)),
        "strategy": "breadth-first",
        "budget": {"pages": len(urls), "seconds": minutes * 60},
        "frontier": {"max_distance": 0},
    }


def _answers(config: Config, workspace: Workspace, urls: Sequence[str]) -> list[Page | Failure]:
    reading = config.reading(judge_of(config, workspace))
    canonical = Urls(config.urls).canonical
    store = SqliteStore(workspace.database, read_only=True)
    try:
        links = list(store.links())
        places = {place.page_id: Location(place.file, place.offset, 0) for place in store.archive_places()}
    finally:
        store.close()
    found: dict[str, Page | Failure] = {}
    seed_of: dict[int, str] = {}
    for link in links:
        if link.parent_id is not None and not link.redirects:
            continue
        # A redirect's target answers for the seed it came from.
        seed = seed_of[link.id] = link.url if link.parent_id is None else seed_of.get(link.parent_id, link.url)
        if link.id in places:
            page = read_response(read_archived(workspace.archive, places[link.id]), reading).page
            found[seed] = page or Failure(seed, "unreadable")
        elif seed not in found or link.parent_id is not None:
            found[seed] = Failure(seed, f"{link.reason} {link.detail}".strip() or link.state)
    missing = "no answer in time"
    return [found.get(canonical(url)[0]) or Failure(url, missing) for url in urls]
