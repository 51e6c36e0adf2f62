"""Feeds and sitemaps: what becomes of their links, and sitemaps of hosts that proved relevant as a look ahead.

A list is no page: it is neither counted nor judged, and no strategy learns from it. Its links are worth what the share
of relevant pages of its host promises; those of a list that somebody named as a seed, what links on a relevant page
are. The sitemaps that an index names are fetched soon.

With `lists.sitemaps`, hosts that have brought enough relevant pages are asked for the sitemaps that their robots.txt
names, or for /sitemap.xml: one request that shows what a site has, instead of many pages that link to it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from lycosa.crawl.resume import CrawlState
from lycosa.fetch.fetcher import RobotsBook
from lycosa.fetch.robots import Robots
from lycosa.lib.bounds import require_above_zero
from lycosa.model import Judgement, Page, Visit
from lycosa.page.link_lists import INDEX
from lycosa.store.rows import Batch
from lycosa.strategies.protocol import Links, Scores

EVENT = "sitemap"
LEAST = 5
"""Pages between two looks for hosts whose sitemaps are worth a request; or a twentieth of the crawl."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ListSettings:
    """Sitemaps of hosts that proved relevant, as a look ahead."""

    sitemaps: bool = False
    """Ask hosts that proved relevant for their sitemaps, which robots.txt names, or for /sitemap.xml."""
    after: int = 3
    """Number of relevant pages after which a host is asked."""
    min_density: float = 0.3
    """Minimum share of relevant pages among those of the host."""
    max_files: int = 4
    """Maximum number of sitemaps that robots.txt names and that are asked for."""

    def __post_init__(self) -> None:
        require_above_zero(self, "lists", "after", "max_files")


def take_list(state: CrawlState, visit: Visit, page: Page, batch: Batch) -> None:
    """The links of a list join the frontier."""
    numbers, is_new = state.urls.number(page)
    scores = _scores(state, visit, numbers)
    state.urls.expand(visit.lease, page, numbers, is_new, scores, batch)


def _scores(state: CrawlState, visit: Visit, targets: Links) -> Scores:
    strategy, host = state.strategy, state.hosts[visit.lease.host]
    if visit.outcome.reason == INDEX:
        return np.full(len(targets), strategy.search_score())
    is_named = not visit.lease.distance
    relevance = 1.0 if is_named else host.relevant / max(1, host.pages)
    judged = replace(visit, judgement=Judgement(relevance, is_named))
    abilities = strategy.abilities
    if abilities.revisit is not None:
        return abilities.revisit(judged, targets)
    if abilities.is_retold:  # it may only be told what it will be told again
        return np.full(len(targets), relevance * strategy.seed_score())
    return strategy.tell(judged, targets)


class SitemapLookAhead:
    """Queues the sitemaps of hosts that proved relevant. `look` is called after each turn of the loop."""

    def __init__(self, settings: ListSettings, *, state: CrawlState, robots: RobotsBook) -> None:
        self._settings = settings
        self._state = state
        self._robots = robots
        self._next_at = 0
        self._asked: set[int] = set()

    def look(self) -> tuple[Batch, str] | None:
        """What to write, and of what to tell; None if there is nothing."""
        pages = self._state.tally.pages
        if not self._settings.sitemaps or pages < self._next_at:
            return None
        self._next_at = pages + max(LEAST, pages // 20)
        batch, named = Batch(), []
        for host in self._state.hosts:
            if host.id in self._asked or host.set_aside or host.relevant < self._settings.after:
                continue
            if host.relevant < self._settings.min_density * host.pages:
                continue
            self._asked.add(host.id)
            for place, robots in self._origins(host.name):
                for url in (robots.sitemaps or (f"{place}/sitemap.xml",))[: self._settings.max_files]:
                    if self._state.urls.find(url) is None:
                        self._state.urls.add_found(url, self._state.strategy.search_score(), batch)
                        named.append(url)
        if not named:
            return None
        others = f" and {len(named) - 1:,} more" if len(named) > 1 else ""
        return batch, f"{named[0]}{others}: hosts that proved relevant are asked what they have"

    def _origins(self, host: str) -> list[tuple[str, Robots]]:
        """The origin of a host whose robots.txt is known; https before http."""
        for scheme in ("https", "http"):
            robots = self._robots.get(f"{scheme}://{host}")
            if robots is not None:
                return [(f"{scheme}://{host}", robots)]
        return []
