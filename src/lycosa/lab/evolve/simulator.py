"""Simulated crawls of one web, one after the other, in arrays that are allocated once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lycosa.errors import ConfigError
from lycosa.lab.evolve.link_arrays import LinkArrays
from lycosa.lib.extras import required
from lycosa.strategies.papers.current_list import CurrentListSettings
from lycosa.strategies.papers.evolved import ANCHOR, GENERATIONS, HOST, EvolvedSettings


@dataclass(frozen=True, slots=True, kw_only=True)
class CrawlPlan:
    """One simulated crawl, without the weights."""

    seeds: NDArray[np.int64]
    """Pages, each once."""
    pages: int
    """Pages to download, unless the crawl runs dry."""
    order: CurrentListSettings | None = None
    """The paper's current list; None: the best link is always next."""

    def __post_init__(self) -> None:
        if not len(self.seeds) or len(np.unique(self.seeds)) < len(self.seeds):
            raise ConfigError("a crawl needs seeds, and each only once")


class CrawlMemory:
    """The kernel's arrays. Webs of the same links, as different judges see them, can share them; threads cannot."""

    def __init__(self, web: LinkArrays) -> None:
        required("numba", extra="evolve", what="lycosa evolve")
        from lycosa.lab.evolve import kernel  # here because numba takes half a second to load

        self.crawl = kernel.crawl
        links, pages, urls = len(web.link_urls), len(web), web.urls
        hosts = int(web.hosts.max()) + 1 if len(web.hosts) else 0
        self.base = 0
        self.number_of = np.zeros(urls, np.int32)
        """By URL: `base` + its number in this run; not above `base`: it has not been met."""
        known = np.empty((urls + 1, kernel.WIDTH), np.int32)
        self.arrays = (
            np.empty(urls + 1, np.int32),  # by number: the URL
            known,  # by number: the record, as integers
            known.view(np.float32),  # and as floats
            np.empty(links + 1, np.int32),  # by citation, from 1: the link
            np.empty(links + 1, np.int32),  # by citation: the download of the citing page, from 0
            np.empty(links + 1, np.int32),  # by citation: the previous one of the same link; 0: none
            np.empty(pages + 1, np.int32),  # by download: its first citation; one more entry at the end
            np.empty(pages, np.int32),  # by download: when it was last changed
            np.empty((GENERATIONS + 1, pages), np.int32),  # by generation: pages whose ancestors have changed
            np.empty(links + 2 * urls + 2, np.uint64),  # the heap
            np.empty(urls + 1 if len(web.anchors) else 0, np.float32),  # by number: the best anchor that leads there
            np.zeros((hosts, kernel.HOST_WIDTH), np.int64),  # by host: pages visited, relevant ones
        )


class Simulator:
    """Crawls one web repeatedly."""

    def __init__(self, web: LinkArrays, memory: CrawlMemory | None = None) -> None:
        self._web = web
        self.memory = memory or CrawlMemory(web)

    def crawl(self, settings: EvolvedSettings, plan: CrawlPlan, rng: np.random.Generator) -> NDArray[np.int32]:
        """The pages in the order of their download."""
        web, memory = self._web, self.memory
        pages = len(web)
        if not 1 <= plan.pages <= pages:
            raise ConfigError(f"a crawl of {plan.pages:,} pages in a web of {pages:,}: it must be 1 to {pages:,}")
        if not 0 <= int(plan.seeds.min()) <= int(plan.seeds.max()) < pages:
            raise ConfigError(f"a seed is not among the {pages:,} pages of the web")
        phases = np.array([settings.weights(phase) for phase in range(settings.phases)])
        for weight, part in ((ANCHOR, "anchors"), (HOST, "hosts")):
            if phases[:, weight].any() and not len(getattr(web, part)):
                raise ConfigError(f"this web has no {part}: their weight must be 0")
        if memory.base > np.iinfo(np.int32).max - 2 * web.urls:
            memory.base = 0
            memory.number_of[:] = 0
        downloads = np.empty(plan.pages, np.int32)
        count, met = memory.crawl(
            web.link_offsets, web.link_urls, web.nofollow, web.redirects, web.ordered_score, web.is_relevant,
            web.anchors, web.hosts, plan.seeds, phases, np.array(settings.switches(), np.int64),
            plan.order.size if plan.order else 0, plan.order.refill if plan.order else 0, rng,
            memory.base, memory.number_of, *memory.arrays, downloads,
        )  # fmt: skip
        memory.base += met
        return downloads[:count]
