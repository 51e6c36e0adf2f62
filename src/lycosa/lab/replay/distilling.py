"""The distiller in a replay: the same scores and the same rules as in a live crawl, without a store (paper FC, 4.7).

What top hubs cite and nobody has fetched comes before all other links. Hubs are not fetched again here: a recorded web
does not change, so that nothing could come of it. How many fetches a live crawl would spend on it is counted.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from lycosa.crawl.centrality import (
    Central,
    DistillingSettings,
    UnvisitedPage,
    central_pages,
    cited_by_hubs,
    site_of,
)
from lycosa.crawl.link_rules import favour
from lycosa.frontier.frontier import Frontier
from lycosa.lab.worlds.world import World


class ReplayedCitations:
    """The fetched pages of a replay as the distiller wants them."""

    def __init__(
        self, world: World, *, fetched: Sequence[int], links: NDArray[np.int64], relevance: Sequence[float]
    ) -> None:
        """`fetched`: pages of the world, each once; `links`: their numbers, which order them, in a live crawl."""
        order = np.argsort(links, kind="stable")
        self._world = world
        self.numbers = np.array(fetched, dtype=np.int64)[order]
        """By place: the page of the world."""
        self.pages = links[order]
        self.relevance = np.array(relevance, dtype=np.float64)[order]
        self.sites = _sites(world)[world.host_of[self.numbers]]

    def edges_to(self, is_wanted: NDArray[np.bool_]) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        world = self._world
        place_of = np.full(len(world.urls), -1, dtype=np.int32)
        place_of[self.numbers[is_wanted]] = np.flatnonzero(is_wanted)
        spans = [slice(*world.link_offsets[number : number + 2]) for number in self.numbers.tolist()]
        targets = place_of[np.concatenate([world.link_urls[span] for span in spans])]
        sources = np.repeat(np.arange(len(spans), dtype=np.int32), [span.stop - span.start for span in spans])
        return sources[targets >= 0], targets[targets >= 0]


@dataclass(slots=True)
class ReplayDistilling:
    """Distils a replay at regular intervals. One for each crawl."""

    settings: DistillingSettings
    raised: set[int] = field(default_factory=set)
    """URLs of the world that have come first at some time."""
    times: int = 0
    """Number of distillations."""
    revisits: int = 0
    """Number of fetches of hubs that a live crawl would have made, if all of them were due."""
    _state: bytes | None = None
    _distilled_at: int = 0

    def is_due(self, pages: int) -> bool:
        return bool(self.settings.every) and pages - self._distilled_at >= self.settings.every

    def distil(
        self, citations: ReplayedCitations, *, frontier: Frontier, links_of: NDArray[np.int64], world: World
    ) -> None:
        """`links_of`: by URL of the world, the number of its link; 0 if it was not met."""
        self._distilled_at = len(citations.pages)
        if not (citations.relevance > 0).any():
            return
        central = central_pages(citations, self.settings, earlier=self._state)
        cited = unvisited(citations, central, self.settings, frontier=frontier, links_of=links_of, world=world)
        found = favour(frontier, [page.link for page in cited])
        number_of = {page.link: int(page.url) for page in cited}
        self.raised |= {number_of[link] for link in found.first.tolist()}
        self.times += 1
        self.revisits += min(self.settings.revisited, len(central.hubs))
        self._state = central.state


def unvisited(
    citations: ReplayedCitations,
    central: Central,
    settings: DistillingSettings,
    *,
    frontier: Frontier,
    links_of: NDArray[np.int64],
    world: World,
) -> list[UnvisitedPage]:
    """What the top hubs cite and still waits; in place of a URL its number in the world."""
    sites = _sites(world)

    def cited(place: int) -> Iterator[tuple[int, str]]:
        number = int(citations.numbers[place])
        urls = world.link_urls[slice(*world.link_offsets[number : number + 2])]
        if settings.across_sites:
            urls = urls[sites[world.url_hosts[urls]] != citations.sites[place]]
        urls = urls[frontier.is_waiting(links_of[urls])]
        urls = urls[~frontier.is_tried(links_of[urls])]
        return zip(links_of[urls].tolist(), map(str, urls.tolist()), strict=True)

    return cited_by_hubs(((central.scores.hubs[place], cited(place)) for place in central.hubs), settings.unvisited)


def _sites(world: World) -> NDArray[np.int64]:
    """By host of the world, the number of its site."""
    numbers: dict[str, int] = {}
    return np.array([numbers.setdefault(site_of(host), len(numbers)) for host in world.hosts], dtype=np.int64)
