"""The distiller: which pages of a crawl are central to its topic (paper FC, sections 3.2, 3.3 and 4.7).

    read (CitationGraph.update) → admit (relevance_threshold) → iterate (lib.linkgraph.hits) → look up the best

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
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from lycosa.crawl.citation_graph import CitationGraph, site_of
from lycosa.crawl.commit import CrawlLedger
from lycosa.errors import ConfigError
from lycosa.lib.bounds import require_above_zero, require_at_least
from lycosa.lib.clock import Clock
from lycosa.lib.linkgraph import Hits, hits
from lycosa.store.rows import Batch, State
from lycosa.strategies.saved_state import seal, unseal

NAME = "distiller"
"""Under this name the caller keeps `Distillation.state` in the store's `state` table."""
CONFIDENCE = 1.96
"""Standard errors to either side of a share: 95 %."""
DISTILLED_AT = "distilled at"
"""Name of state in the store: the number of pages at the last distillation."""


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


def _best(scores: NDArray[np.float64], count: int) -> list[int]:
    """The places of the greatest scores above 0; of equal ones the page found first."""
    places = np.flatnonzero(scores)
    if len(places) > count:
        least = np.partition(scores[places], len(places) - count)[len(places) - count]
        places = places[scores[places] >= least]
    return [int(place) for place in places[np.argsort(-scores[places], kind="stable")][:count]]


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


def cited_by_hubs(hubs: Iterable[tuple[float, Iterable[tuple[int, str]]]], most: int) -> list[UnvisitedPage]:
    """The pages that top hubs cite, best first. `hubs`: of each its score, and (link, URL) of what it cites."""
    found: dict[int, UnvisitedPage] = {}
    for score, cited in hubs:
        # Several links to one page on one hub are one citation.
        for link, url in dict.fromkeys(cited):
            known = found.get(link, UnvisitedPage(link, url, 0.0, 0))
            found[link] = UnvisitedPage(link, url, known.score + float(score), known.hubs + 1)
    return sorted(found.values(), key=lambda page: (-page.score, page.link))[:most]


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
