"""One list out of many: reciprocal rank fusion (Cormack, Clarke and Buettcher, SIGIR 2009).

    score(page) = Σ over lists 1 / (K + rank of the page in the list)

It needs no scores, which engines do not tell or which mean something else with each of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

from lycosa.seeds.metasearch.engine import FoundUrl

K = 60
"""The constant of the paper: how little the first ranks differ."""


class Source(NamedTuple):
    """Where a page stood in one engine's answer."""

    query: str
    engine: str
    rank: int
    """From 1."""


class FusedPage(NamedTuple):
    url: str
    """Canonical."""
    title: str
    score: float
    sources: tuple[Source, ...]
    """The best rank first."""


def fused(
    lists: Iterable[tuple[str, str, Iterable[FoundUrl]]], canonical: Callable[[str], tuple[str, str]]
) -> tuple[list[FusedPage], dict[str, int]]:
    """Pages of all lists (query, engine, results), the best first; and how many results each URL rule turned away.

    `canonical`: the canonical URL, and why it may not be fetched (`fetch.urls`). A page that an engine lists twice
    counts where it comes first.
    """
    titles: dict[str, str] = {}
    sources: dict[str, list[Source]] = {}
    rejected: dict[str, int] = {}
    for query, engine, found in lists:
        seen: set[str] = set()
        for rank, (raw, title) in enumerate(found, start=1):
            url, reason = canonical(raw)
            if not url or reason:
                rejected[reason] = rejected.get(reason, 0) + 1
                continue
            if url not in seen:
                seen.add(url)
                titles[url] = titles.get(url) or title
                sources.setdefault(url, []).append(Source(query, engine, rank))
    pages = [
        FusedPage(url, titles[url], sum(1 / (K + source.rank) for source in found), tuple(sorted(found, key=_rank)))
        for url, found in sources.items()
    ]
    pages.sort(key=lambda page: (-page.score, page.url))
    return pages, rejected


def _rank(source: Source) -> tuple[int, str, str]:
    return source.rank, source.engine, source.query
