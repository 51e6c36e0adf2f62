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
its mind about all pages, `restate` sums everything up anew, O(all citations). Loops are in `hunter_kernel`.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lycosa.frontier.hunter_links import (
    FEATURES,
    MOST_SIBLINGS,
    REACH,
    RING,
    CitationColumns,
    LinkColumns,
    PageColumns,
)
from lycosa.frontier.hunter_note import PLACES, Addresses, Words
from lycosa.lib.wordhash import NO_WORD, SIZE

Floats = NDArray[np.float32]
Links = NDArray[np.int64]


HANDED_OUT = -1
MOST_EXPECTED = 0.1
"""However good the pages were that a crawl has chosen: of what nothing is known no more is expected."""


@cache
def _kernel() -> Any:
    """Loaded when it is needed: what it is compiled with takes half a second."""
    from lycosa.frontier import hunter_kernel

    return hunter_kernel


class Evidence:
    """See the module."""

    def __init__(self, idf: Floats) -> None:
        self.links = LinkColumns(1024)
        self.citations = CitationColumns(4096)
        self.pages = PageColumns(64)
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
        self.hosts = PlaceRecord()
        self.folders = PlaceRecord()

    # ── visits ────────────────────────────────────────────────────────────────────────────────────────────

    def reserve(self, numbers: Links) -> None:
        """There are links with these numbers."""
        if len(numbers):
            top = int(numbers.max()) + 1
            self.links.reserve(top)
            self.highest = max(self.highest, top)

    def place(self, link: int, url: str) -> None:
        """A link that may not have been found on a page: a seed, the target of a redirect."""
        self.reserve(np.array([link]))
        if not self.links.host[link]:
            words, places = Addresses.of([url])
            self.links.url[link] = words[0]
            self.links.host[link], self.links.folder[link] = places[0]

    def hand_out(self, chosen: Links) -> int:
        """These links do not wait any more; how many of them did until now."""
        if not len(chosen):
            return 0
        self.links.reserve(int(chosen.max()) + 1)
        # Of a seed no place is known before it is visited: then it counts.
        waited = chosen[(self.links.page[chosen] == 0) & (self.links.host[chosen] > 0)]
        if len(waited) > 1:
            waited = np.unique(waited)
        self.links.page[waited] = HANDED_OUT
        self.hosts.try_all(self.links.host[waited])
        self.folders.try_all(self.links.folder[waited])
        return len(waited)

    def visit(self, link: int, relevance: float, targets: Links, near: Words, addresses: Addresses) -> Links:
        """A page was visited; return the waiting links it has changed things for, those on it first of all."""
        links, citations, pages = self.links, self.citations, self.pages
        self.count += 1
        number, begin = self.count, self._end
        pages.reserve(number + 1)
        self._end += len(targets) + REACH
        citations.reserve(self._end + REACH)
        pages.link[number], pages.relevance[number] = link, relevance
        pages.begin[number], pages.links[number] = begin, len(targets)
        if links.page[link] != HANDED_OUT:
            self.hand_out(np.array([link]))
        links.page[link], links.relevance[link] = number, relevance
        self.hosts.relevance[links.host[link]] += np.float32(relevance)
        self.folders.relevance[links.folder[link]] += np.float32(relevance)
        dirty = np.empty(len(targets) + MOST_SIBLINGS + 2 * REACH * RING, dtype=np.int64)
        count = _kernel().visit(
            number, link, np.float32(relevance), self.rates, targets, near, addresses.words, addresses.places,
            begin, links.url, links.host, links.folder, links.page, links.relevance, links.cited, links.ring,
            links.near, links.sum, links.early, links.best, links.stamp,
            citations.target, citations.page, citations.near, citations.near_weight,
            pages.begin, pages.links, pages.hub, pages.hub_weight, pages.hub_told, dirty,
        )  # fmt: skip
        return dirty[:count]

    def restate(self, relevance: Floats, judged: Floats) -> None:
        """All pages have another relevance, and words another weight in the judge's eyes."""
        links, citations, pages = self.links, self.citations, self.pages
        count = self.count
        self.near_words.judge(judged)
        rate = (float(relevance.sum()) + 1) / (count + 10)
        pages.relevance[1 : count + 1] = relevance
        visited = pages.link[1 : count + 1]
        links.relevance[visited] = relevance
        _kernel().restate(
            count, self.highest, links.page, links.relevance, links.cited, links.sum, links.early,
            links.best, citations.target, citations.near, citations.near_weight,
            pages.relevance, pages.begin, pages.links, pages.hub, pages.hub_weight,
        )  # fmt: skip
        self.near_words.restate(links.near[visited], relevance, rate)
        self.url_words.restate(links.url[visited], relevance, rate)
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
        pages.hub_told[everyone] = _kernel().hub_odds(pages.hub[everyone], pages.hub_weight[everyone], self.rates[0])

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
        rows = ((self.links, self.highest), (self.citations, self._end), (self.pages, self.count))
        return sum(columns.row_bytes() * count for columns, count in rows)

    def leads_on(self) -> Floats:
        """By visited page: the mean r of the visited pages it links to."""
        pages, rate = self.pages, np.float32(self.rates[0])
        all_pages = slice(1, self.count + 1)
        leads: Floats = (pages.hub[all_pages] + 2 * rate) / (pages.hub_weight[all_pages] + 2)
        return leads

    # ── what it comes to ──────────────────────────────────────────────────────────────────────────────────

    def features(self, chosen: Links) -> Floats:
        """Links × FEATURES, as things stand."""
        links, citations, pages = self.links, self.citations, self.pages
        found = np.empty((len(chosen), len(FEATURES)), dtype=np.float32)
        _kernel().look(
            chosen, self.rates, links.cited, links.ring, links.near, links.url, links.host, links.folder,
            links.sum, links.early, links.best, citations.page, citations.near, citations.near_weight,
            pages.hub, pages.hub_weight, self.near_words.table, self.url_words.table,
            self.hosts.tries, self.hosts.relevance, self.folders.tries, self.folders.relevance, found,
        )  # fmt: skip
        return found


class WordRecord:
    """What is known of words by the relevance of the pages they were said of."""

    def __init__(self, idf: Floats) -> None:
        self._idf = idf
        self.table = np.zeros((SIZE, 4), dtype=np.float32)
        """By word: idf², idf · the judge's weight, idf² · centroid, log-odds: what features are summed up from."""
        np.multiply(idf, idf, out=self.table[:, 0])
        self.table[NO_WORD] = 0

    def restate(self, words: NDArray[np.uint16], relevance: Floats, rate: float) -> None:
        """Pages × words: each word of a page counts once."""
        ordered = np.sort(words, axis=1)
        is_first = ordered > 0
        is_first[:, 1:] &= ordered[:, 1:] != ordered[:, :-1]
        rows, _ = np.nonzero(is_first)
        flat = ordered[is_first]
        share = relevance[rows]
        speaks_for = np.bincount(flat, share, SIZE).astype(np.float32)
        speaks_against = np.bincount(flat, 1 - share, SIZE).astype(np.float32)
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


class PlaceRecord:
    """Links handed out, and the relevance they had, by host or folder."""

    def __init__(self) -> None:
        self.tries = np.zeros(PLACES, dtype=np.float32)
        self.relevance = np.zeros(PLACES, dtype=np.float32)

    def try_all(self, places: NDArray[np.int32]) -> None:
        """So many links of these places were handed out."""
        np.add.at(self.tries, places, np.float32(1))

    def restate(self, places: NDArray[np.int32], relevance: Floats) -> None:
        self.relevance[places] = 0
        np.add.at(self.relevance, places, relevance)
