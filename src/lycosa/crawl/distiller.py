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
- Differs from FC: a link to a URL that redirects cites nobody, for the store does not lead on to the redirect's target.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lycosa.errors import ConfigError, InputError
from lycosa.lib.bounds import require_above_zero, require_at_least
from lycosa.lib.linkgraph import Hits, hits
from lycosa.store.protocol import Store
from lycosa.strategies.saved_state import seal, unseal

NAME = "distiller"
"""Under this name the caller keeps `Distillation.state` in the store's `state` table."""
CONFIDENCE = 1.96
"""Standard errors to either side of a share: 95 %."""
NONE = -1


@dataclass(frozen=True, slots=True, kw_only=True)
class DistillSettings:
    admitted: float = 0.15
    """Share of the judged pages, the most relevant ones, that may be authorities."""
    top: int = 25
    """Hubs, authorities and sites that are told; these hubs say which unvisited pages are worth fetching."""
    unvisited: int = 500
    """Unvisited pages that are told, at most."""
    iterations: int = 50
    """At most."""
    tolerance: float = 1e-6
    """The iteration ends when all hub scores together, whose sum is 1, change by no more."""
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
    """Links that counted: between sites, to an admitted page, from a page with R > 0."""
    iterations: int
    change: float
    is_warm: bool
    """Whether it went on from earlier scores."""
    state: bytes
    """The hub scores by link, for the next warm start."""

    def hubs_to_revisit(self, *, fetched_before: float) -> list[int]:
        """The links of the top hubs that were not fetched since that time, best first."""
        return [page.link for page in self.hubs if page.fetched_at < fetched_before]


class CitationGraph:
    """The judged pages of a crawl and all links on its pages, as arrays: 8 bytes a link.

    The whole store is read at first; `update` then reads the pages that came since, and the judgements, which a
    retrained judge may have changed. A page that was fetched again brings its links anew.
    """

    def __init__(self, store: Store, *, judge: str = "") -> None:
        """`judge` names the one whose judgements count; needed only where a crawl was judged by several."""
        self.store = store
        self.judge = judge
        self._number = 0
        """The last page that was read."""
        self._hosts = np.zeros(0, dtype=np.int32)
        """By link, the number of its host if it is a page that was read; else NONE."""
        self._sources = np.zeros(0, dtype=np.uint32)
        self._targets = np.zeros(0, dtype=np.uint32)
        self.site_names: list[str] = []
        self.pages = np.zeros(0, dtype=np.int64)
        """The links of the judged pages, ascending. The next three columns are in the same order."""
        self.relevance = np.zeros(0)
        self.is_relevant = np.zeros(0, dtype=np.bool_)
        self.sites = np.zeros(0, dtype=np.int64)
        """Place in `site_names`."""
        self.update()

    @property
    def has_relevant_pages(self) -> bool:
        """Without any there is nothing to distill yet."""
        return bool((self.relevance > 0).any())

    @property
    def links(self) -> int:
        """On all pages that were read, to whatever page."""
        return len(self._sources)

    def update(self) -> None:
        """Read what is new."""
        pages = self.store.pages_since(self._number)
        self._add_pages(pages.ids, pages.hosts)
        self._forget_links_of(pages.ids)
        # A crawl may be writing: pages that are newer than the last one read here are left for the next update.
        last = int(pages.numbers.max(initial=self._number))
        sources, targets = [self._sources], [self._targets]
        for chunk in self.store.citations(self._number, last) if self._number else self.store.citations():
            sources.append(chunk[:, 0].astype(np.uint32))
            targets.append(chunk[:, 1].astype(np.uint32))
        self._sources, self._targets = np.concatenate(sources), np.concatenate(targets)
        self._number = last
        self._read_judgements()
        self._read_sites()

    def edges_to(self, is_wanted: NDArray[np.bool_]) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """The links from judged pages to those judged pages that are wanted, each page by its place in `pages`."""
        # Whatever lies beyond the last page was not fetched: it shares the extra place at the end.
        beyond = len(self._hosts)
        is_target = np.zeros(beyond + 1, dtype=np.bool_)
        is_target[self.pages[is_wanted]] = True
        keep = is_target[np.minimum(self._targets, np.uint32(beyond))]
        sources, targets = self._sources[keep], self._targets[keep]
        places = np.full(beyond + 1, NONE, dtype=np.int32)
        places[self.pages] = np.arange(len(self.pages), dtype=np.int32)
        citing = places[np.minimum(sources, np.uint32(beyond))]
        keep = citing != NONE
        return citing[keep], places[targets[keep]]

    def _add_pages(self, links: NDArray[np.int64], hosts: NDArray[np.int64]) -> None:
        size = int(links.max(initial=-1)) + 1
        if size > len(self._hosts):
            self._hosts = np.concatenate([self._hosts, np.full(size - len(self._hosts), NONE, np.int32)])
        self._hosts[links] = hosts

    def _forget_links_of(self, pages: NDArray[np.int64]) -> None:
        """What was read of them before: they have been fetched again, or came while the links were being read."""
        is_new = np.zeros(max(len(self._hosts), int(self._sources.max(initial=0)) + 1), dtype=np.bool_)
        is_new[pages] = True
        keep = ~is_new[self._sources]
        if not keep.all():
            self._sources, self._targets = self._sources[keep], self._targets[keep]

    def _read_judgements(self) -> None:
        pages, relevance, is_relevant = self.store.judged_pages(self.judge)
        if (pages[1:] == pages[:-1]).any():
            names = ", ".join(self.store.judges())
            raise InputError(f"{self.store.path}: pages were judged by several judges ({names}); say whose word counts")
        is_read = pages < len(self._hosts)  # not so a page that was committed a moment ago
        is_read[is_read] = self._hosts[pages[is_read]] != NONE
        self.pages = pages[is_read]
        self.relevance = relevance[is_read]
        self.is_relevant = is_relevant[is_read]

    def _read_sites(self) -> None:
        numbers: dict[str, int] = {}
        hosts = [(host.id, site_of(host.name)) for host in self.store.hosts()]
        site_of_host = np.zeros(max((host for host, _ in hosts), default=0) + 1, dtype=np.int64)
        for host, site in hosts:
            site_of_host[host] = numbers.setdefault(site, len(numbers))
        self.site_names = list(numbers)
        self.sites = site_of_host[self._hosts[self.pages]]


def distill(citations: CitationGraph, settings: DistillSettings, *, earlier: bytes | None = None) -> Distillation:
    """Distill the pages and links that `citations` has read.

    A crawl that distills again and again keeps its `citations`, so that `update` reads but the new pages, and hands in
    the `state` of the last distillation as `earlier`, so that few iterations are needed. An unreadable one is as none.
    """
    threshold = relevance_threshold(citations.relevance, settings.admitted)
    is_admitted = citations.relevance > threshold
    sources, targets = citations.edges_to(is_admitted)
    start = _earlier_hubs(earlier, citations.pages)
    result = hits(
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
    hubs = _best(result.hubs, settings.top)
    return Distillation(
        hubs=[_page(citations, place, result.hubs) for place in hubs],
        authorities=[_page(citations, place, result.authorities) for place in _best(result.authorities, settings.top)],
        sites=rank_sites(citations)[: settings.top],
        unvisited=_unvisited(citations, hubs, result.hubs, settings),
        pages=len(citations.pages),
        admitted=int(is_admitted.sum()),
        threshold=threshold,
        edges=result.edges,
        iterations=result.iterations,
        change=result.change,
        is_warm=start is not None,
        state=_state(citations.pages, result),
    )


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


def site_of(host: str) -> str:
    return host.removeprefix("www.")


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


def _page(citations: CitationGraph, place: int, scores: NDArray[np.float64]) -> RankedPage:
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
        fetched_at=page.fetched_at,
    )


def _unvisited(
    citations: CitationGraph, hubs: list[int], scores: NDArray[np.float64], settings: DistillSettings
) -> list[UnvisitedPage]:
    found: dict[int, UnvisitedPage] = {}
    for place in hubs:
        own = citations.site_names[citations.sites[place]]
        # Several links to one page on one hub are one citation.
        for link, url, host in dict.fromkeys(citations.store.unvisited_links(int(citations.pages[place]))):
            if not settings.across_sites or site_of(host) != own:
                known = found.get(link, UnvisitedPage(link, url, 0.0, 0))
                found[link] = UnvisitedPage(link, url, known.score + float(scores[place]), known.hubs + 1)
    return sorted(found.values(), key=lambda page: (-page.score, page.link))[: settings.unvisited]


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
