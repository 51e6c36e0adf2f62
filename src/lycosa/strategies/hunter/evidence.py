"""What speaks for a waiting link, pooled over all visited pages that cite it, kept up to date visit by visit.

r is the relevance of a visited page, ρ what is expected where nothing is known: the mean of all hosts, words, … that
something is known of, at most 0.1. (Not the mean of all pages: these were chosen, what is unknown was not.) Of a link
that d visited pages cite:

    neighbours   (Σ r/distance over visited links at most 5 places away on each citing page + Σ of the pages' own hub
                 values + 4ρ) / (Σ 1/distance + d + 4)
    hubs         (Σ r/√cited over the visited pages that the citing pages link to + 4ρ) / (Σ 1/√cited + 4)
    parents      (Σ r of the citing pages + 3ρ) / (d + 3);      best parent: max r
    early        ln(0.05 + Σ r · e^(−3 · place on the page)), the place from 0 at the top to 1 at the end
    link text    the words near the link in the citing pages, by the judge's weights
    anchor       the link's own words alone, by the judge's weights: of the citation where that is most
    … learned    the same, by centroid(r) − centroid(1 − r) of the words near links whose pages were visited
    … words      the sum of the log-odds of r of each of these words; best: of one citation alone
    URL          its words by the same two measures
    host, folder (Σ r of its visited pages + 2ρ) / (links handed out + 2): what cannot be fetched is worth nothing
    citations    ln d

Probabilities go through the logit. A visit costs O(its links + citations of the page itself); when the judge changes
its mind about all pages, `restate` sums all up anew, O(all citations). Loops are in `sums` and `features`.
"""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lycosa.lib.wordhash import NO_WORD, SIZE
from lycosa.strategies.hunter.learner import Model
from lycosa.strategies.hunter.notes import PLACES, LinkAddresses, Words
from lycosa.strategies.hunter.tables import (
    CITATION_ROWS,
    FEATURES,
    LINK_ROWS,
    MOST_SIBLINGS,
    PAGE_ROWS,
    REACH,
    RING,
    CitationColumns,
    LinkColumns,
    PageColumns,
    longer,
    row_bytes,
    table,
)

Floats = NDArray[np.float32]
Ints = NDArray[np.int32]
Links = NDArray[np.int64]


MOST_EXPECTED = 0.1
"""However good the pages were that a crawl has chosen: of what nothing is known no more is expected."""


NO_LINKS: Links = np.zeros(0, dtype=np.int64)
_ONES: Floats = np.ones(len(FEATURES), dtype=np.float32)
NO_MODEL = Model(_ONES, _ONES, _ONES, 0.0, 0.0)


class Change(NamedTuple):
    """What a visit has changed."""

    dirty: Links
    """Waiting links it has changed things for, each once."""
    standing: Floats
    """By feature: the z by which the page was chosen; nothing, if nobody had cited it."""
    tried: int
    """How many links were handed out that had waited."""


@cache
def _sums() -> Any:
    """Loaded when it is needed: what it is compiled with takes half a second."""
    from lycosa.strategies.hunter import sums

    return sums


@cache
def _look() -> Any:
    from lycosa.strategies.hunter import features

    return features


class Evidence:
    """See the module."""

    def __init__(self, idf: Floats) -> None:
        self.links = table(LinkColumns, LINK_ROWS, 1024)
        self.citations = table(CitationColumns, CITATION_ROWS, 4096)
        self.pages = table(PageColumns, PAGE_ROWS, 64)
        self.count = 0
        """Visited pages."""
        self.rates = np.full(4, 0.1)
        """What is expected where nothing is known: of a citing page's links, of a citing page, a host, a folder."""
        self.highest = 0
        """The greatest link number met, and one."""
        self._end = REACH + 1
        """Where the next citation goes; row 0 is nobody's, and nobody's neighbour."""
        self.near_words = WordRecord(idf)
        self.url_words = WordRecord(idf)
        self._state = 1
        """Of the records of words: another number whenever they change."""
        self.hosts = PlaceRecord.empty()
        self.folders = PlaceRecord.empty()

    # ── visits ────────────────────────────────────────────────────────────────────────────────────────────

    def reserve(self, numbers: Links) -> None:
        """There are links with these numbers."""
        if len(numbers):
            top = int(numbers.max()) + 1
            self.links = longer(self.links, LINK_ROWS, top)
            self.highest = max(self.highest, top)

    def place(self, link: int, url: str) -> None:
        """A link that may not have been found on a page: a seed, the target of a redirect."""
        if link >= self.highest:
            self.reserve(np.array([link]))
        if not self.links.host[link]:
            words, places = LinkAddresses.of([url])
            self.links.url[link] = words[0]
            self.links.host[link], self.links.folder[link] = places[0]

    def visit(
        self,
        link: int,
        relevance: float,
        targets: Links,
        near: Words,
        addresses: LinkAddresses,
        *,
        gone: Links = NO_LINKS,
        model: Model = NO_MODEL,
    ) -> Change:
        """A page was visited, and links are `gone`, having been handed out; it was chosen by `model`."""
        self.count += 1
        number, begin = self.count, self._end
        self._end += len(targets) + REACH
        self.pages = longer(self.pages, PAGE_ROWS, number + 1)
        self.citations = longer(self.citations, CITATION_ROWS, self._end + REACH)
        if len(gone):
            self.links = longer(self.links, LINK_ROWS, int(gone.max()) + 1)
        dirty = np.empty(len(targets) + MOST_SIBLINGS + 2 * REACH * RING, dtype=np.int64)
        standing = np.empty(len(FEATURES), dtype=np.float32)
        tried, count = _sums().visit(
            number, link, np.float32(relevance), self.rates, model, gone, targets, near, addresses, begin,
            self.links, self.citations, self.pages, self.hosts, self.folders, standing, dirty,
        )  # fmt: skip
        return Change(dirty[:count], standing, tried)

    def tell(self, targets: Links) -> NDArray[np.float64]:
        """What the frontier is to know of the links on a page, and from now on does."""
        told = np.empty(len(targets))
        _look().tell(targets, self.links, told)
        return told

    def restate(self, relevance: Floats, judged: Floats) -> None:
        """All pages have another relevance, and words another weight in the judge's eyes."""
        links, pages, count = self.links, self.pages, self.count
        self._state += 1
        self.near_words.judge(judged)
        rate = (float(relevance.sum()) + 1) / (count + 10)
        pages.relevance[1 : count + 1] = relevance
        visited = pages.link[1 : count + 1]
        links.relevance[visited] = relevance
        _sums().restate(count, self.highest, links, self.citations, pages)
        self.near_words.restate(visited, links.near, relevance, rate)
        self.url_words.restate(visited, links.url, relevance, rate)
        self.hosts.restate(links.host[visited], relevance)
        self.folders.restate(links.folder[visited], relevance)
        everyone = slice(1, count + 1)
        self.rates[:] = (
            usual(pages.hub[everyone], pages.hub_weight[everyone], rate),
            usual(links.sum[: self.highest], links.cited[: self.highest], rate),
            usual(self.hosts.relevance, self.hosts.tries, rate),
            usual(self.folders.relevance, self.folders.tries, rate),
        )
        np.minimum(self.rates, MOST_EXPECTED, out=self.rates)
        _sums().tell_hubs(count, pages, self.rates[0])

    # ── what is known ─────────────────────────────────────────────────────────────────────────────────────

    def waiting(self, begin: int, end: int) -> Links:
        """Links with numbers in this range that were found and not handed out."""
        links, end = self.links, min(end, self.highest)
        found: Links = np.flatnonzero((links.cited[begin:end] > 0) & (links.page[begin:end] == 0)) + begin
        return found

    def waiting_of(self, chosen: Links) -> Links:
        """Those of the links that wait, each once."""
        different = np.unique(chosen)
        found: Links = different[self.links.page[different] == 0]
        return found

    def target(self, link: int, place: int) -> int | None:
        """The number of the link at this place of a visited page."""
        page = int(self.links.page[link]) if link < self.highest else 0
        if page <= 0 or place >= self.pages.links[page]:
            return None
        return int(self.citations.target[self.pages.begin[page] + place])

    @property
    def bytes_in_use(self) -> int:
        """Of the columns, as far as they are filled."""
        rows = ((LINK_ROWS, self.highest), (CITATION_ROWS, self._end), (PAGE_ROWS, self.count))
        return sum(row_bytes(layout) * count for layout, count in rows)

    def leads_on(self) -> Floats:
        """By visited page: the mean r of the visited pages it links to."""
        pages, rate = self.pages, np.float32(self.rates[0])
        all_pages = slice(1, self.count + 1)
        leads: Floats = (pages.hub[all_pages] + 2 * rate) / (pages.hub_weight[all_pages] + 2)
        return leads

    # ── what it comes to ──────────────────────────────────────────────────────────────────────────────────

    def features(self, chosen: Links) -> Floats:
        """Links × FEATURES, as things stand."""
        found = np.empty((len(chosen), len(FEATURES)), dtype=np.float32)
        _look().look(chosen, self.rates, *self._columns, found)
        return found

    def keep(self, chosen: Links, features: Floats) -> None:
        """What `features` has just given."""
        _look().keep(chosen, features, self._state, self.links)

    def kept(self, chosen: Links | int) -> Floats:
        """FEATURES as last looked at, of one link or many."""
        return self.links.features[chosen].view(np.float16).astype(np.float32)

    def score(self, chosen: Links, model: Model, bar: float, tolerance: float) -> tuple[Links, Links]:
        """Look at links and score them: those that reach the bar, and those of which the frontier is to hear."""
        found = np.empty((len(chosen), len(FEATURES)), dtype=np.float32)
        above, changed = np.empty_like(chosen), np.empty_like(chosen)
        counts = _look().score(
            chosen, self._state, model, bar, tolerance, self.rates, *self._columns, found, above, changed
        )  # fmt: skip
        return above[: counts[0]], changed[: counts[1]]

    def score_again(self, chosen: Links, model: Model) -> Floats:
        """By what was last seen of the links."""
        _look().score_again(chosen, model, self.links, self.hosts)
        return self.links.score[chosen]

    def hand_on(self, chosen: Links, bar: float) -> Links:
        """Those of the links whose scores the frontier is to hear of."""
        changed = np.empty(len(chosen), dtype=np.int64)
        return changed[: _look().hand_on(chosen, bar, self.links, changed)]

    @property
    def _columns(self) -> tuple[Any, ...]:
        words = self.near_words.table, self.url_words.table
        return self.links, self.citations, self.pages, *words, self.hosts, self.folders


class WordRecord:
    """What is known of words by the relevance of the pages they were said of."""

    def __init__(self, idf: Floats) -> None:
        self._idf = idf
        self.table = np.zeros((SIZE, 4), dtype=np.float32)
        """By word: idf², idf · the judge's weight, idf² · centroid, log-odds: what features are summed up from."""
        np.multiply(idf, idf, out=self.table[:, 0])
        self.table[NO_WORD] = 0

    def restate(self, visited: Ints, words: NDArray[np.uint16], relevance: Floats, rate: float) -> None:
        """Links × words: each word counts once for the page behind a link that was visited."""
        seen = np.zeros(SIZE, dtype=np.int32)
        speaks_for, speaks_against = np.zeros(SIZE, dtype=np.float32), np.zeros(SIZE, dtype=np.float32)
        _sums().count_words(visited, words, relevance, seen, speaks_for, speaks_against)
        said = np.flatnonzero(speaks_for + speaks_against)
        pro, contra = speaks_for[said], speaks_against[said]
        rate = usual(pro, pro + contra, rate)
        self.table[:, 2:] = 0
        self.table[said, 2] = self._idf[said] ** 2 * ((pro * (1 - rate) - contra * rate) / len(relevance))
        self.table[said, 3] = np.log((pro + 2 * rate) / (contra + 2 * (1 - rate)) * ((1 - rate) / rate))

    def judge(self, weights: Floats) -> None:
        """By word: how much it speaks for the topic in the judge's eyes."""
        np.multiply(self._idf, weights, out=self.table[:, 1])


def usual(sums: Floats, weights: NDArray[Any], rate: float) -> float:
    """The mean share of all that something is known of, each counted once; `rate` is one of them."""
    known = weights > 0
    return (float((sums[known] / weights[known]).sum()) + rate) / (int(known.sum()) + 1)


class PlaceRecord(NamedTuple):
    """Links handed out, and the relevance they had, by host or folder."""

    tries: Floats
    relevance: Floats

    @classmethod
    def empty(cls) -> PlaceRecord:
        return cls(np.zeros(PLACES, dtype=np.float32), np.zeros(PLACES, dtype=np.float32))

    def restate(self, places: NDArray[np.int32], relevance: Floats) -> None:
        self.relevance[places] = 0
        np.add.at(self.relevance, places, relevance)
