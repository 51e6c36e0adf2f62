"""The distiller: which pages of a crawl are central to its topic (paper FC, sections 3.2, 3.3 and 4.7).

    read (CitationGraph.update) → hubs and authorities (centrality.central_pages) → look up the best

Hubs are pages that cite many relevant pages, authorities are relevant pages that good hubs cite. From the best hubs
follow the two things FC does with them: pages that they cite and nobody has fetched yet are worth fetching first, and
the hubs themselves are worth a second visit. Beside these stand the sites that specialise in the topic.

Where FC leaves a choice, or is left:

- Only judged pages have an R, so only they are nodes. FC admits the most relevant 10 to 20 % of the nodes: here the
  share is a setting, and pages as relevant as the last one admitted are admitted with it. R = 0 is never admitted.
- A site is a host without a leading `www.`, with its port where that is not the default one.
- Unvisited pages are those that a top hub cites on another site, by the same rule as for edges: links within a site
  are its menu more often than a citation. They are ordered by Σ h(u) over the top hubs u that cite them, which is what
  their a(v) would be but for the R(v) that nobody knows yet.
- Sites are ordered by the lower end of Wilson's 95 % interval around their share of relevant pages, so that one
  relevant page of one (0.21) stands behind ten of twelve (0.55).
- Unvisited pages that top hubs cite, and hubs to be fetched again, come before all other links (`frontier.keys`),
  however they are scored meanwhile: until they are fetched or fail, or the next distillation no longer names them.
- Differs from FC, whose queue counts tries with or without success, so that a hub would never be fetched again: here
  only failures count.
- Differs from FC: a link to a URL that redirects cites nobody, for the store does not lead on to the redirect's target.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lycosa.crawl.centrality import (
    NAME,
    Central,
    DistillingSettings,
    DistillSettings,
    UnvisitedPage,
    central_pages,
    cited_by_hubs,
    site_of,
)
from lycosa.crawl.citation_graph import CitationGraph
from lycosa.crawl.commit import CrawlLedger
from lycosa.lib.clock import Clock
from lycosa.store.rows import Batch, State

CONFIDENCE = 1.96
"""Standard errors to either side of a share: 95 %."""
DISTILLED_AT = "distilled at"
"""Name of state in the store: the number of pages at the last distillation."""


class RankedPage(NamedTuple):
    link: int
    """The number of the link in the store."""
    url: str
    title: str
    score: float
    """Of all scores of its kind, whose sum is 1."""
    relevance: float
    topic: str
    """The leaf of the taxonomy that fits best, where the judge has one; else empty."""
    fetched_at: float
    """The last time."""


class RankedSite(NamedTuple):
    name: str
    pages: int
    relevant: int
    density: float
    """relevant / pages, where pages are the judged ones."""
    bound: float
    """The lower end of the density's confidence interval, by which sites are ordered."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Distillation:
    hubs: Sequence[RankedPage]
    authorities: Sequence[RankedPage]
    sites: Sequence[RankedSite]
    unvisited: Sequence[UnvisitedPage]
    """Cited by the top hubs, waiting, never tried; best first."""
    pages: int
    """Judged pages: the nodes."""
    admitted: int
    """Of these, how many were allowed to be authorities."""
    threshold: float
    """ρ: they are the pages with R > ρ."""
    edges: int
    """Links that counted: to an admitted page, from a page with R > 0, and between sites unless others count, too."""
    iterations: int
    change: float
    is_warm: bool
    """Whether it went on from earlier scores."""
    state: bytes
    """The hub scores by link, for the next warm start."""

    def hubs_to_revisit(self, *, fetched_before: float) -> list[int]:
        """The links of the top hubs that were not fetched since that time, best first."""
        return [page.link for page in self.hubs if page.fetched_at < fetched_before]


def distill(citations: CitationGraph, settings: DistillSettings, *, earlier: bytes | None = None) -> Distillation:
    """Distill the pages and links that `citations` has read.

    A crawl that distills again and again keeps its `citations`, so that `update` reads but the new pages, and hands in
    the `state` of the last distillation as `earlier`, so that few iterations are needed. An unreadable one is as none.
    """
    found = central_pages(citations, settings, earlier=earlier)
    return Distillation(
        hubs=_pages(citations, found.hubs, found.scores.hubs),
        authorities=_pages(citations, found.authorities, found.scores.authorities),
        sites=rank_sites(citations)[: settings.top],
        unvisited=_unvisited(citations, found, settings),
        pages=len(citations.pages),
        admitted=int((citations.relevance > found.threshold).sum()),
        threshold=found.threshold,
        edges=found.scores.edges,
        iterations=found.scores.iterations,
        change=found.scores.change,
        is_warm=found.is_warm,
        state=found.state,
    )


def rank_sites(citations: CitationGraph) -> list[RankedSite]:
    """Sites with a relevant page, by the density of these."""
    pages = np.bincount(citations.sites, minlength=len(citations.site_names))
    relevant = np.bincount(citations.sites[citations.is_relevant], minlength=len(citations.site_names))
    places = np.flatnonzero(relevant)
    bounds = _wilson(relevant[places], pages[places])
    ranked = [
        RankedSite(citations.site_names[place], int(pages[place]), int(relevant[place]), float(density), float(bound))
        for place, density, bound in zip(places, relevant[places] / pages[places], bounds, strict=True)
    ]
    return sorted(ranked, key=lambda site: (-site.bound, site.name))


def _wilson(successes: NDArray[np.int64], tries: NDArray[np.int64]) -> NDArray[np.float64]:
    """The lower end of Wilson's score interval around successes / tries."""
    share = successes / tries
    square = CONFIDENCE**2 / tries
    spread = np.sqrt(square * (share * (1 - share) + square / 4))
    bound: NDArray[np.float64] = (share + square / 2 - spread) / (1 + square)
    return bound


def _pages(citations: CitationGraph, places: list[int], scores: NDArray[np.float64]) -> list[RankedPage]:
    fetched = citations.store.last_fetches(citations.pages[places].tolist())
    return [_page(citations, place, scores, fetched) for place in places]


def _page(
    citations: CitationGraph, place: int, scores: NDArray[np.float64], fetched: Mapping[int, float]
) -> RankedPage:
    link = int(citations.pages[place])
    row, page = citations.store.link(link), citations.store.page(link)
    judgement = citations.store.judgement(link, citations.judge)
    assert row is not None
    assert page is not None
    assert judgement is not None
    return RankedPage(
        link=link,
        url=row.url,
        title=page.title,
        score=float(scores[place]),
        relevance=float(citations.relevance[place]),
        topic=judgement.best,
        fetched_at=max(page.fetched_at, fetched.get(link, 0.0)),
    )


def _unvisited(citations: CitationGraph, central: Central, settings: DistillSettings) -> list[UnvisitedPage]:
    def cited(place: int) -> Iterable[tuple[int, str]]:
        own = citations.site_names[citations.sites[place]]
        for link, url, host in citations.store.unvisited_links(int(citations.pages[place])):
            if not settings.across_sites or site_of(host) != own:
                yield link, url

    return cited_by_hubs(((central.scores.hubs[place], cited(place)) for place in central.hubs), settings.unvisited)


class Distilling:
    """Distils a running crawl at regular intervals. `look` is called after each turn of the loop."""

    def __init__(self, settings: DistillingSettings, *, ledger: CrawlLedger, clock: Clock) -> None:
        self._settings = settings
        self._ledger = ledger
        self._clock = clock
        self._distilled_at = int(ledger.state.store.state(DISTILLED_AT) or 0)
        self._citations: CitationGraph | None = None

    def look(self) -> None:
        if self._settings.every and self._ledger.pages - self._distilled_at >= self._settings.every:
            self._distil()

    def _distil(self) -> None:
        store = self._ledger.state.store
        self._distilled_at = self._ledger.pages
        if self._citations is None:
            self._citations = CitationGraph(store)
        else:
            self._citations.update(self._ledger.state.fetched_again)
        self._ledger.state.fetched_again.clear()
        if not self._citations.has_relevant_pages:
            return
        found = distill(self._citations, self._settings, earlier=store.state(NAME))
        before = self._clock.now() - self._settings.revisit_after
        self._favour(found, found.hubs_to_revisit(fetched_before=before)[: self._settings.revisited])

    def _favour(self, found: Distillation, hubs: Sequence[int]) -> None:
        """What the hubs cite is fetched next, and the hubs themselves once more."""
        state = self._ledger.state
        batch = Batch()
        raised = state.urls.favour({page.link: page.hubs for page in found.unvisited}, batch)
        known = [state.store.link(hub) for hub in hubs if hub not in state.revisits]
        rows = [row for row in known if row is not None and row.state == State.DONE]
        state.urls.revisit(rows, batch)
        batch.state[NAME] = found.state
        batch.state[DISTILLED_AT] = str(self._ledger.pages).encode()
        told = f"{found.pages:,} pages, {found.edges:,} links that count, {len(found.hubs)} hubs"
        revisits = f"{raised:,} links raised, {len(rows)} hubs to be fetched again"
        self._ledger.write(batch, event=("distilled", f"{told}; {revisits}"))
