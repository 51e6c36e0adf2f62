"""Hubs and authorities of judged pages as arrays, in live crawls and in replays (paper FC, section 3.2).

    admit (relevance_threshold) → iterate (lib.linkgraph.hits) → the best of both, and what the best hubs cite

`distiller` says where FC is left, and does with the result what FC does.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from lycosa.errors import ConfigError
from lycosa.lib.bounds import require_above_zero, require_at_least
from lycosa.lib.linkgraph import Hits, hits
from lycosa.strategies.saved_state import seal, unseal

NAME = "distiller"
"""Under this name the caller keeps `Distillation.state` in the store's `state` table."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DistillSettings:
    admitted: float = 0.15
    """Share of the judged pages, the most relevant ones, that may be authorities."""
    top: int = 25
    """Number of hubs, authorities and sites reported; these hubs say which unvisited pages are worth fetching."""
    unvisited: int = 500
    """Maximum number of unvisited pages reported."""
    iterations: int = 50
    """Maximum number of iterations."""
    tolerance: float = 1e-6
    """The iteration ends when all hub scores together, whose sum is 1, change by less."""
    across_sites: bool = True
    """Count only links between different sites. A crawl of a single site has no others: turn it off there."""

    def __post_init__(self) -> None:
        require_at_least(self, "distill", top=1, unvisited=0, iterations=1)
        require_above_zero(self, "distill", "admitted", "tolerance")
        if self.admitted > 1:
            raise ConfigError(
                f"distill.admitted is {self.admitted}: it is a share of the pages, above 0 and at most 1; "
                "0.15 admits the most relevant 15 %"
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class DistillingSettings(DistillSettings):
    """Hubs and authorities, found while the crawl goes on (paper FC, section 3.3)."""

    every: int = 0
    """Number of pages between two distillations; 0 means none. Pages that the top hubs cite are then fetched first."""
    revisited: int = 5
    """Number of top hubs fetched again after a distillation, for new links."""
    revisit_after: float = 3600.0
    """Minimum number of seconds between two fetches of a hub."""

    def __post_init__(self) -> None:
        DistillSettings.__post_init__(self)
        require_at_least(self, "distill", every=0, revisited=0, revisit_after=0)


class UnvisitedPage(NamedTuple):
    link: int
    url: str
    score: float
    """The sum of the scores of the top hubs that cite it."""
    hubs: int
    """How many these are."""


class Citing(Protocol):
    """Judged pages, and the links between them: of a store (`CitationGraph`), or of a replayed crawl."""

    pages: NDArray[np.int64]
    """The numbers of their links, ascending. The next two columns are in the same order."""
    relevance: NDArray[np.float64]
    sites: NDArray[np.int64]

    def edges_to(self, is_wanted: NDArray[np.bool_]) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """The links from pages to those that are wanted, each page by its place in `pages`."""


class Central(NamedTuple):
    """Hubs and authorities of some pages."""

    scores: Hits
    hubs: list[int]
    """Places of the top hubs in the citing pages, best first."""
    authorities: list[int]
    threshold: float
    """ρ: authorities are among the pages with R > ρ."""
    is_warm: bool
    state: bytes
    """The hub scores by link, for the next warm start."""


def central_pages(citations: Citing, settings: DistillSettings, *, earlier: bytes | None = None) -> Central:
    """`earlier`: the `state` of the last time."""
    threshold = relevance_threshold(citations.relevance, settings.admitted)
    sources, targets = citations.edges_to(citations.relevance > threshold)
    start = _earlier_hubs(earlier, citations.pages)
    scores = hits(
        sources,
        targets,
        count=len(citations.pages),
        relevance=citations.relevance,
        threshold=threshold,
        sites=citations.sites if settings.across_sites else None,
        start=start,
        iterations=settings.iterations,
        tolerance=settings.tolerance,
    )
    hubs, authorities = (_best(each, settings.top) for each in (scores.hubs, scores.authorities))
    state = _state(citations.pages, scores)
    return Central(scores, hubs, authorities, threshold, start is not None, state)


def relevance_threshold(relevance: NDArray[np.float64], admitted: float) -> float:
    """ρ, so that R > ρ holds for the share `admitted` of the pages, and for those that tie with the last of them."""
    if not (relevance > 0).any():
        raise ConfigError(
            f"distill.admitted = {admitted} admits none of {len(relevance)} judged pages: "
            "none has a relevance above 0; distill later in the crawl, or widen the topic"
        )
    wanted = min(len(relevance), max(1, int(np.ceil(admitted * len(relevance) - 1e-9))))
    last = np.partition(relevance, len(relevance) - wanted)[len(relevance) - wanted]
    return float(relevance[relevance < last].max(initial=0.0)) if last > 0 else 0.0


def cited_by_hubs(hubs: Iterable[tuple[float, Iterable[tuple[int, str]]]], most: int) -> list[UnvisitedPage]:
    """The pages that top hubs cite, best first. `hubs`: of each its score, and (link, URL) of what it cites."""
    found: dict[int, UnvisitedPage] = {}
    for score, cited in hubs:
        # Several links to one page on one hub are one citation.
        for link, url in dict.fromkeys(cited):
            known = found.get(link, UnvisitedPage(link, url, 0.0, 0))
            found[link] = UnvisitedPage(link, url, known.score + float(score), known.hubs + 1)
    return sorted(found.values(), key=lambda page: (-page.score, page.link))[:most]


def _best(scores: NDArray[np.float64], count: int) -> list[int]:
    """The places of the greatest scores above 0; of equal ones the page found first."""
    places = np.flatnonzero(scores)
    if len(places) > count:
        least = np.partition(scores[places], len(places) - count)[len(places) - count]
        places = places[scores[places] >= least]
    return [int(place) for place in places[np.argsort(-scores[places], kind="stable")][:count]]


def _state(pages: NDArray[np.int64], result: Hits) -> bytes:
    """Hub scores are enough: the authorities follow from them in the first half of an iteration."""
    is_hub = result.hubs > 0
    return seal(NAME, {}, pages[is_hub].astype(np.uint32), result.hubs[is_hub].astype(np.float32))


def _earlier_hubs(earlier: bytes | None, pages: NDArray[np.int64]) -> NDArray[np.float32] | None:
    """By page its earlier score, 0 where it had none; None if there is nothing to go on from."""
    if not earlier:
        return None
    try:
        _, (links, scores) = unseal(NAME, earlier)
    except ValueError:
        return None
    if not len(links):
        return None
    at = np.minimum(np.searchsorted(links, pages), len(links) - 1)
    start: NDArray[np.float32] = np.where(links[at] == pages, scores[at], np.float32(0))
    return start if start.any() else None


def site_of(host: str) -> str:
    return host.removeprefix("www.")
