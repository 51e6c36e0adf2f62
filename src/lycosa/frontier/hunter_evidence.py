"""What speaks for a waiting link, pooled over all visited pages that cite it, kept up to date visit by visit.

r is the relevance of a visited page, ρ the share of relevant pages so far. Of a link that d visited pages cite:

    neighbours   (Σ r/distance over visited links at most 5 places away on each citing page + Σ of the pages' own hub
                 values + 4ρ) / (Σ 1/distance + d + 4)
    hubs         (Σ r/√cited over the visited pages that the citing pages link to + 4ρ) / (Σ 1/√cited + 4)
    parents      (Σ r of the citing pages + 3ρ) / (d + 3);      best parent: max r
    early        ln(0.05 + Σ r · e^(−3 · place on the page)), the place from 0 at the top to 1 at the end
    link text    the words near the link in the citing pages, by the judge's weights
    … learned    the same, by centroid(r) − centroid(1 − r) of the words near links whose pages were visited
    … words      the sum of the log-odds of r of each of these words; best: of one citation alone
    URL          its words by the same two measures
    host, folder (Σ r of its visited pages + 2ρ) / (visits + 2)
    citations    ln d

Probabilities go through the logit. A visit costs O(its links + citations of the page itself); when the judge changes
its mind about all pages, `restate` sums everything up anew, O(all citations) with small constants.
"""

from __future__ import annotations

from collections.abc import Sequence
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from lycosa.frontier.hunter_links import (
    FEATURES,
    REACH,
    RING,
    TEXTS,
    URL_WORDS,
    CitationColumns,
    LinkColumns,
    PageColumns,
)
from lycosa.frontier.hunter_note import NEAR, OWN
from lycosa.lib.wordhash import AT_MARK, MARK, NO_WORD, SIZE, piece_numbers

Floats = NDArray[np.float32]
Links = NDArray[np.int64]

PLACES = 1 << 18
"""Hosts and folders are told apart by so many hashes."""
_KERNEL = np.array([1 / abs(d) if d else 0.0 for d in range(-REACH, REACH + 1)], dtype=np.float32)
_STEPS = np.array([d for d in range(-REACH, REACH + 1) if d], dtype=np.int64)
_STEP_WEIGHTS = (1 / np.abs(_STEPS)).astype(np.float32)
_SLOTS = np.where(np.arange(NEAR) < OWN, 2.0, 1.0)
"""By place among the words near a link: how much a word counts."""
_NEAR_SUMS = np.concatenate([np.diag([slot**2, slot, slot, slot]) for slot in _SLOTS]).astype(np.float32)
_URL_SUMS = np.tile(np.eye(4), (URL_WORDS, 1)).astype(np.float32)
_SHARES = [0, 1, 2, 3, 11, 12]
"""Features that are shares, and go through the logit."""
_FADE = 3.0
_LEAST_ODDS = 0.02


class Evidence:
    """See the module."""

    def __init__(self, idf: Floats) -> None:
        self.links = LinkColumns(1024)
        self.citations = CitationColumns(4096)
        self.pages = PageColumns(64)
        self.count = 0
        """Visited pages."""
        self.base_rate = 0.1
        self.highest = 0
        """The greatest link number met, and one."""
        self._end = REACH + 1
        """Where the next citation goes; row 0 is nobody's, and nobody's neighbour."""
        self.near_words = WordRecord(idf)
        self.url_words = WordRecord(idf)
        self.hosts = PlaceRecord()
        self.folders = PlaceRecord()

    # ── visits ────────────────────────────────────────────────────────────────────────────────────────────

    def meet(self, targets: Links, urls: Sequence[str]) -> None:
        """Links that may be new."""
        if not len(targets):
            return
        top = int(targets.max()) + 1
        self.links.reserve(top)
        self.highest = max(self.highest, top)
        links = self.links
        new = np.flatnonzero((links.cited[targets] == 0) & (links.host[targets] == 0))
        if len(new):
            found = [urls[at] for at in new.tolist()]
            numbers = targets[new]
            places = np.array([_places(url) for url in found], dtype=np.int32)
            links.host[numbers], links.folder[numbers] = places[:, 0], places[:, 1]
            links.url[numbers] = url_words(found)

    def hand_out(self, chosen: Links) -> None:
        """These links do not wait any more."""
        if len(chosen):
            self.links.reserve(int(chosen.max()) + 1)
            self.links.page[chosen[self.links.page[chosen] == 0]] = -1

    def visit(self, link: int, relevance: float, targets: Links, near: NDArray[np.uint16]) -> Links:
        """A page was visited; return the waiting links it has changed things for, its own links not among them."""
        links, pages = self.links, self.pages
        self.count += 1
        number = self.count
        pages.reserve(number + 1)
        pages.link[number], pages.relevance[number] = link, relevance
        links.page[link], links.relevance[link] = number, relevance
        dirty = self._tell_neighbours(link, relevance)
        words = links.near[link]
        self.near_words.add(np.unique(words), relevance)
        self.url_words.add(np.unique(links.url[link]), relevance)
        self.hosts.add(int(links.host[link]), relevance)
        self.folders.add(int(links.folder[link]), relevance)
        self._cite(number, relevance, targets, near)
        return dirty

    def _tell_neighbours(self, link: int, relevance: float) -> Links:
        """The citations of the page just visited hear of it, and those near them, and the pages they stand on."""
        links, citations, pages = self.links, self.citations, self.pages
        known = min(int(links.cited[link]), RING)
        if not known:
            return np.zeros(0, dtype=np.int64)
        cited = links.ring[link, :known].astype(np.int64)
        weight = 1 / np.sqrt(links.cited[link])
        parents = citations.page[cited]
        pages.hub[parents] += np.float32(relevance * weight)
        pages.hub_weight[parents] += np.float32(weight)
        near = (cited[:, None] + _STEPS).ravel()
        weights = np.tile(_STEP_WEIGHTS, known)
        citations.near[near] += weights * np.float32(relevance)
        citations.near_weight[near] += weights
        found = citations.target[near].astype(np.int64)
        is_waiting = (citations.page[near] > 0) & (links.page[found] == 0)
        dirty: Links = found[is_waiting]
        return dirty

    def _cite(self, number: int, relevance: float, targets: Links, near: NDArray[np.uint16]) -> None:
        links, citations, pages = self.links, self.citations, self.pages
        count = len(targets)
        begin = self._end
        self._end += count + REACH
        citations.reserve(self._end + REACH)
        pages.begin[number], pages.links[number] = begin, count
        if not count:
            return
        here = slice(begin, begin + count)
        citations.target[here], citations.page[here] = targets, number
        before = links.cited[targets]
        links.cited[targets] = before + 1
        links.ring[targets, before % RING] = np.arange(begin, begin + count, dtype=np.int32)
        slots = (before % TEXTS * NEAR)[:, None] + np.arange(NEAR)
        links.near[targets[:, None], slots] = near
        is_visited = (links.page[targets] > 0).astype(np.float32)
        found = links.relevance[targets]
        citations.near[here] = _spread(found * is_visited)
        citations.near_weight[here] = _spread(is_visited)
        weights = is_visited / np.sqrt(links.cited[targets])
        pages.hub[number], pages.hub_weight[number] = weights @ found, weights.sum()
        links.sum[targets] += np.float32(relevance)
        links.early[targets] += np.float32(relevance) * _early(count)
        links.best[targets] = np.maximum(links.best[targets], np.float32(relevance))

    def restate(self, relevance: Floats, judged: Floats) -> None:
        """All pages have another relevance, and words another weight in the judge's eyes."""
        links, citations, pages = self.links, self.citations, self.pages
        count, size = self.count, self.highest
        self.near_words.judge(judged)
        self.base_rate = (float(relevance.sum()) + 1) / (count + 10)
        pages.relevance[1 : count + 1] = relevance
        visited = pages.link[1 : count + 1]
        links.relevance[visited] = relevance
        end = self._end
        target, page = citations.target[:end], citations.page[:end]
        is_visited = ((links.page[target] > 0) & (page > 0)).astype(np.float32)
        found = links.relevance[target] * is_visited
        citations.near[:end] = _spread(found)
        citations.near_weight[:end] = _spread(is_visited)
        weights = is_visited / np.sqrt(np.maximum(links.cited[target], 1))
        pages.hub[: count + 1] = np.bincount(page, weights * found, count + 1)
        pages.hub_weight[: count + 1] = np.bincount(page, weights, count + 1)
        of_page = pages.relevance[page]
        links.sum[:size] = np.bincount(target, of_page, size)[:size]
        depth = np.arange(end) - pages.begin[page]
        early = np.exp(-_FADE * depth / np.maximum(pages.links[page], 1)) * of_page
        links.early[:size] = np.bincount(target, np.where(page > 0, early, 0.0), size)[:size]
        links.best[:size] = 0
        np.maximum.at(links.best, target, of_page)
        self.near_words.restate(links.near[visited], relevance, self.base_rate)
        self.url_words.restate(links.url[visited], relevance, self.base_rate)
        self.hosts.restate(links.host[visited], relevance)
        self.folders.restate(links.folder[visited], relevance)

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
        pages, rate = self.pages, np.float32(self.base_rate)
        all_pages = slice(1, self.count + 1)
        leads: Floats = (pages.hub[all_pages] + 2 * rate) / (pages.hub_weight[all_pages] + 2)
        return leads

    # ── what it comes to ──────────────────────────────────────────────────────────────────────────────────

    def features(self, chosen: Links) -> Floats:
        """Links × FEATURES, as things stand."""
        links, rate = self.links, np.float32(self.base_rate)
        found = np.zeros((len(chosen), len(FEATURES)), dtype=np.float32)
        cited = links.cited[chosen].astype(np.float32)
        # Most links have been cited once: only of the others there is more than one citation to look at.
        once, often = np.flatnonzero(cited <= 1), np.flatnonzero(cited > 1)
        self._look_around(chosen, once, 1, found)
        self._look_around(chosen, often, RING, found)
        found[:, 2] = (links.sum[chosen] + 3 * rate) / (cited + 3)
        found[:, 3] = links.best[chosen]
        found[:, 4] = np.log(0.05 + links.early[chosen])
        self._hear(chosen, once, 1, found)
        self._hear(chosen, often, TEXTS, found)
        found[:, 9:11] = self.url_words.of_urls(links.url[chosen])
        found[:, 11] = self.hosts.rate(links.host[chosen], rate)
        found[:, 12] = self.folders.rate(links.folder[chosen], rate)
        found[:, _SHARES] = _logit(found[:, _SHARES])
        found[:, 13] = np.log(np.maximum(cited, 1))
        return found

    def _look_around(self, chosen: Links, rows: Links, most: int, found: Floats) -> None:
        """The features of neighbours and hubs, of links with up to `most` citations."""
        citations, pages, rate = self.citations, self.pages, np.float32(self.base_rate)
        ring = self.links.ring[chosen[rows], :most]
        page = citations.page[ring]  # empty places are 0, and so are citation 0, page 0 and what is known of it
        hub, hub_weight = pages.hub[page], pages.hub_weight[page]
        is_known = ring > 0
        own = (hub + 4 * rate) / (hub_weight + 4) * is_known
        found[rows, 0] = (citations.near[ring].sum(1) + own.sum(1) + 4 * rate) / (
            citations.near_weight[ring].sum(1) + is_known.sum(1) + 4
        )
        found[rows, 1] = (hub.sum(1) + 4 * rate) / (hub_weight.sum(1) + 4)

    def _hear(self, chosen: Links, rows: Links, texts: int, found: Floats) -> None:
        """The features of the words near links, of links with up to so many texts."""
        words = self.links.near[chosen[rows], : texts * NEAR]
        heard = self.near_words.of_texts(words.reshape(-1, NEAR)).reshape(len(rows), texts, 4)
        squares, judged, learned = (heard[:, :, column].sum(1) for column in range(3))
        norms = np.sqrt(squares) + np.float32(1e-6)
        found[rows, 5] = judged / norms
        found[rows, 6] = learned / norms
        odds = heard[:, :, 3]
        found[rows, 7] = odds.sum(1) / np.sqrt(np.maximum((heard[:, :, 0] > 0).sum(1), 1))
        found[rows, 8] = odds.max(1)


class WordRecord:
    """What is known of words by the relevance of the pages they were said of."""

    def __init__(self, idf: Floats) -> None:
        self._for = np.zeros(SIZE, dtype=np.float32)
        self._against = np.zeros(SIZE, dtype=np.float32)
        self._idf = idf
        self._table = np.zeros((SIZE, 4), dtype=np.float32)
        """By word: idf², idf · the judge's weight, idf · centroid, log-odds: what features are summed up from."""
        np.multiply(idf, idf, out=self._table[:, 0])
        self._table[NO_WORD] = 0

    def add(self, words: NDArray[np.uint16], relevance: float) -> None:
        self._for[words] += np.float32(relevance)
        self._against[words] += np.float32(1 - relevance)

    def restate(self, words: NDArray[np.uint16], relevance: Floats, rate: float) -> None:
        """Pages × words."""
        ordered = np.sort(words, axis=1)
        is_first = ordered > 0
        is_first[:, 1:] &= ordered[:, 1:] != ordered[:, :-1]
        rows, _ = np.nonzero(is_first)
        flat = ordered[is_first]
        share = relevance[rows]
        self._for = np.bincount(flat, share, SIZE).astype(np.float32)
        self._against = np.bincount(flat, 1 - share, SIZE).astype(np.float32)
        said = np.flatnonzero(self._for + self._against)
        pro, contra = self._for[said], self._against[said]
        mass, rest = float(relevance.sum()) + 1, float((1 - relevance).sum()) + 1
        self._table[:, 2:] = 0
        self._table[said, 2] = self._idf[said] ** 2 * (pro / mass - contra / rest)
        self._table[said, 3] = np.log((pro + 2 * rate) / (contra + 2 * (1 - rate)) * ((1 - rate) / rate))

    def judge(self, weights: Floats) -> None:
        """By word: how much it speaks for the topic in the judge's eyes."""
        np.multiply(self._idf, weights, out=self._table[:, 1])

    def of_texts(self, words: NDArray[np.uint16]) -> Floats:
        """Texts × (squared length, by the judge, by what was learned, log-odds); the link's own words count double."""
        heard: Floats = self._table[words].reshape(len(words), NEAR * 4) @ _NEAR_SUMS
        return heard

    def of_urls(self, words: NDArray[np.uint16]) -> Floats:
        """URLs × (by what was learned, log-odds)."""
        heard = self._table[words].reshape(len(words), URL_WORDS * 4) @ _URL_SUMS
        heard[:, 2] /= np.sqrt(heard[:, 0]) + np.float32(1e-6)
        return heard[:, 2:]


class PlaceRecord:
    """Visits and relevance by host or folder."""

    def __init__(self) -> None:
        self.visits = np.zeros(PLACES, dtype=np.float32)
        self.relevance = np.zeros(PLACES, dtype=np.float32)

    def add(self, place: int, relevance: float) -> None:
        self.visits[place] += 1
        self.relevance[place] += np.float32(relevance)

    def restate(self, places: NDArray[np.int32], relevance: Floats) -> None:
        self.relevance[places] = 0
        np.add.at(self.relevance, places, relevance)

    def rate(self, places: NDArray[np.int32], base: np.float32) -> Floats:
        rates: Floats = (self.relevance[places] + 2 * base) / (self.visits[places] + 2)
        return rates


def url_words(urls: Sequence[str]) -> NDArray[np.uint16]:
    """The first words of each URL's path, URLs × URL_WORDS."""
    found = np.zeros((len(urls), URL_WORDS), dtype=np.uint16)
    numbers = np.array(piece_numbers(f" {MARK} ".join([_path(url) for url in urls])), dtype=np.int32)
    part = np.cumsum(numbers == AT_MARK)
    is_word = numbers > NO_WORD
    numbers, part = numbers[is_word], part[is_word]
    sizes = np.bincount(part, minlength=len(urls))
    rank = np.arange(len(part)) - (np.cumsum(sizes) - sizes)[part]
    # The last words of a path say most.
    rank += np.minimum(0, URL_WORDS - sizes)[part]
    fits = rank >= 0
    found[part[fits], rank[fits]] = numbers[fits]
    return found


def _path(url: str) -> str:
    parts = url.split("/", 3)
    return parts[3].replace(MARK, " ") if len(parts) > 3 else ""


def _places(url: str) -> tuple[int, int]:
    """Hashes of host and folder, from 1 on."""
    folder, _, _ = url.partition("?")[0].rpartition("/")
    host = folder.split("/", 3)[2] if folder.count("/") >= 2 else folder
    return crc32(host.encode()) % (PLACES - 1) + 1, crc32(folder.encode()) % (PLACES - 1) + 1


def _spread(values: Floats) -> Floats:
    """By place: Σ value / distance over the places at most REACH away."""
    spread: Floats = np.convolve(values, _KERNEL)[REACH : REACH + len(values)]
    return spread


def _early(count: int) -> Floats:
    return np.exp(-_FADE * np.arange(count, dtype=np.float32) / count)


def _logit(values: Floats) -> Floats:
    inside = np.clip(values, _LEAST_ODDS, 1 - _LEAST_ODDS)
    logits: Floats = np.log(inside / (1 - inside))
    return logits
