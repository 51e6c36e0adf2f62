"""Simulated crawls of one web, one after the other: what the kernel needs, kept for it.

The kernel is loaded when there is a web to crawl: what it is compiled with takes half a second.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lycosa.errors import ConfigError
from lycosa.lab.evolve.link_arrays import Web
from lycosa.strategies.papers.current_list import CurrentListSettings
from lycosa.strategies.papers.evolved import ANCHOR, GENERATIONS, HOST, EvolvedSettings


@dataclass(frozen=True, slots=True, kw_only=True)
class CrawlPlan:
    """One simulated crawl, but for the weights."""

    seeds: NDArray[np.int64]
    """Pages, each once."""
    pages: int
    """How many are downloaded, unless nothing is left before."""
    order: CurrentListSettings | None = None
    """The paper's current list; None: the best link next."""

    def __post_init__(self) -> None:
        if not len(self.seeds) or len(np.unique(self.seeds)) < len(self.seeds):
            raise ConfigError("a crawl needs seeds, and each only once")


class Simulator:
    """Crawls one web again and again, in memory that is taken once and used as far as a crawl gets. For one thread."""

    def __init__(self, web: Web) -> None:
        from lycosa.lab.evolve import kernel  # what it is compiled with takes half a second to load

        self._crawl = kernel.crawl
        links, pages, urls = len(web.link_urls), len(web), web.urls
        self._web = web
        self._base = 0
        self._number_of = np.zeros(urls, np.int32)
        """By URL: `base` + its number in this run; if that is not above `base`, it has not been met."""
        known = np.empty((urls + 1, kernel.WIDTH), np.int32)
        self._memory = (
            np.empty(urls + 1, np.int32),  # by number: the URL
            known,  # by number: the record, as integers
            known.view(np.float32),  # and as floats
            np.empty(links + 1, np.int32),  # by citation, from 1 on: the link
            np.empty(links + 1, np.int32),  # by citation: the how-manieth download the citing page was
            np.empty(links + 1, np.int32),  # by citation: the one of the same link before it; 0: none
            np.empty(pages + 1, np.int32),  # by download: its first citation; one more at the end
            np.empty(pages, np.int32),  # by download: when it last was changed
            np.empty((GENERATIONS + 1, pages), np.int32),  # by generation: pages with news of ancestors
            np.empty(links + 2 * urls + 2, np.uint64),  # the heap
            np.empty(urls + 1 if len(web.anchors) else 0, np.float32),  # by number: the best anchor that leads there
            np.zeros((int(web.hosts.max()) + 1 if len(web.hosts) else 0, 2), np.int64),  # by host: pages, relevant ones
        )

    def crawl(self, settings: EvolvedSettings, plan: CrawlPlan, rng: np.random.Generator) -> NDArray[np.int32]:
        """The pages in the order of their download."""
        web = self._web
        pages = len(web)
        if not 1 <= plan.pages <= pages:
            raise ConfigError(f"a crawl of {plan.pages:,} pages in a web of {pages:,}: it can be 1 to {pages:,}")
        if not 0 <= int(plan.seeds.min()) <= int(plan.seeds.max()) < pages:
            raise ConfigError(f"a seed is not among the {pages:,} pages of the web")
        phases = np.array([settings.weights(phase) for phase in range(settings.phases)])
        for weight, part in ((ANCHOR, "anchors"), (HOST, "hosts")):
            if phases[:, weight].any() and not len(getattr(web, part)):
                raise ConfigError(f"this web knows nothing of {part}: their weight must be 0")
        if self._base > np.iinfo(np.int32).max - 2 * web.urls:
            self._base = 0
            self._number_of[:] = 0
        downloads = np.empty(plan.pages, np.int32)
        count, met = self._crawl(
            web.link_offsets,
            web.link_urls,
            web.nofollow,
            web.redirects,
            web.standing,
            web.is_relevant,
            web.anchors,
            web.hosts,
            plan.seeds,
            phases,
            np.array(settings.switches(), np.int64),
            plan.order.size if plan.order else 0,
            plan.order.refill if plan.order else 0,
            rng,
            self._base,
            self._number_of,
            *self._memory,
            downloads,
        )
        self._base += met
        return downloads[:count]
