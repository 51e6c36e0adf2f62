"""The evidence for each waiting link, pooled over all visited pages that cite it, and updated with each visit.

r is the relevance of a visited page, ρ the relevance expected without evidence: the mean over all hosts, words, … for
which there is some, at most 0.1. (Not the mean over all pages: these were chosen, unknown links were not.) The features
of a link that is cited by d visited pages:

    neighbours   (Σ r/distance over visited links at most 5 positions away on each citing page + Σ of the pages' own
                 hub values + 4ρ) / (Σ 1/distance + d + 4)
    hubs         (Σ r/√cited over the visited pages that the citing pages link to + 4ρ) / (Σ 1/√cited + 4)
    parents      (Σ r of the citing pages + 3ρ) / (d + 3);      best parent: max r
    early        ln(0.05 + Σ r · e^(−3 · position)), the position on the page from 0 at the top to 1 at the end
    link text    the words near the link on the citing pages, by the judge's weights
    anchor       the link's own words alone, by the judge's weights: the maximum over citations
    … learned    the same, by centroid(r) − centroid(1 − r) of the words near links whose pages were visited
    … words      the sum of the log-odds of r over these words; best: the maximum over citations
    URL          its words by the same two measures
    host, folder (Σ r of its visited pages + 2ρ) / (links handed out + 2): links that cannot be fetched count as 0
    citations    ln d

Probabilities are logit-transformed. A visit costs O(its links + citations of the page itself). When the judge has
reassessed all pages, `restate` recomputes all sums in O(all citations). The loops are in `sums` and `features`, and
compiled (`loops`).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lycosa.lib.snapshot import Tree
from lycosa.lib.wordhash import NO_WORD, SIZE
from lycosa.strategies.hunter import tables
from lycosa.strategies.hunter.learner import Model
from lycosa.strategies.hunter.loops import loops
from lycosa.strategies.hunter.notes import PLACES, LinkAddresses, Words
from lycosa.strategies.hunter.tables import (
    CITATION_ROWS,
    FEATURES,
    LINK_RINGS,
    LINK_ROWS,
    MOST_SIBLINGS,
    PAGE_ROWS,
    REACH,
    RING,
)

Floats = NDArray[np.float32]
Ints = NDArray[np.int32]
Links = NDArray[np.int64]

MOST_EXPECTED = 0.1
"""Maximum relevance that is expected without evidence."""
NO_LINKS: Links = np.zeros(0, dtype=np.int64)
_ONES: Floats = np.ones(len(FEATURES), dtype=np.float32)
NO_MODEL = Model(_ONES, _ONES, _ONES, 0.0, 0.0)


class Change(NamedTuple):
    """The effects of a visit."""

    dirty: Links
    """Waiting links that it affects, each once."""
    z_scores: Floats
    """By feature, as of the time when the page was chosen; meaningless if no visited page cited it."""
    tried: int
    """Number of waiting links that were handed out."""


class Evidence:
    def __init__(self, idf: Floats) -> None:
        self.links = tables.table(tables.LinkColumns, LINK_ROWS, 1024)
        self.citations = tables.table(tables.CitationColumns, CITATION_ROWS, 4096)
        self.pages = tables.table(tables.PageColumns, PAGE_ROWS, 64)
        self.count = 0
        """Number of visited pages."""
        self.rates = np.array([0.1, 0.1, 0.1, 0.1, 0.5])
        """Relevance expected without evidence: of the links of a citing page, a citing page, a host, a folder; and the
        probability that there is a page behind a guess."""
        self.highest = 0
        """The greatest link number so far, plus one."""
        self._end = REACH + 1
        """Number of the next citation; row 0 means none, and has no neighbours."""
        self.near_words = WordRecord(idf)
        self.url_words = WordRecord(idf)
        self._state = 1
        """State of the word records: incremented whenever they change."""
        self.hosts = PlaceRecord.empty()
        self.folders = PlaceRecord.empty()
        self._guesses: list[tuple[int, int]] = []
        """Links that were guessed, each with the page from whose URL it was derived."""

    def reserve(self, numbers: Links) -> None:
        """Make room for links with these numbers."""
        if len(numbers):
            top = int(numbers.max()) + 1
            self.links = tables.longer(self.links, LINK_ROWS, top)
            self.highest = max(self.highest, top)

    def place(self, link: int, url: str) -> None:
        """Record the URL of a link that may not have been found on a page: a seed, the target of a redirect."""
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
        """Add a visited page that was chosen by `model`. The links in `gone` have been handed out since the last."""
        self.count += 1
        number, begin = self.count, self._end
        self._end += len(targets) + REACH
        self.pages = tables.longer(self.pages, PAGE_ROWS, number + 1)
        self.citations = tables.longer(self.citations, CITATION_ROWS, self._end + REACH)
        if len(gone):
            self.links = tables.longer(self.links, LINK_ROWS, int(gone.max()) + 1)
        dirty = np.empty(len(targets) + MOST_SIBLINGS + 2 * REACH * RING, dtype=np.int64)
        z_scores = np.empty(len(FEATURES), dtype=np.float32)
        tried, count = loops().visit(
            number, link, np.float32(relevance), self.rates, model, gone, targets, near, addresses, begin,
            self.links, self.citations, self.pages, self.hosts, self.folders, z_scores, dirty,
        )  # fmt: skip
        return Change(dirty[:count], z_scores, tried)

    def guess(self, link: int, url: str) -> None:
        """Add a waiting link that nobody cites, derived from the URL of the last visited page, as if that cited it.

        It stands on no page: its hub value is that of all guesses together. Its score is what would be expected of a
        link, times the share of guesses behind which there was a page.
        """
        self.place(link, url)
        at = self._end
        self._end += 1 + REACH
        self.citations = tables.longer(self.citations, CITATION_ROWS, self._end + REACH)
        self.citations.target[at], self.citations.page[at] = link, tables.GUESSED
        self.links.cited[link], self.links.ring[link, 0], self.links.read[link] = 1, at, 0
        self._guesses.append((link, self.count))
        self._cite_guesses(self._guesses[-1:])

    def _cite_guesses(self, guesses: list[tuple[int, int]]) -> None:
        links = self.links
        for link, page in guesses:
            relevance = self.pages.relevance[page]
            links.sum[link] += relevance
            links.early[link] += relevance
            links.best[link] = max(links.best[link], relevance)

    def _restate_guesses(self) -> None:
        self._cite_guesses(self._guesses)
        number = np.array([link for link, _ in self._guesses], dtype=np.int64)
        pages, cited = self.links.page[number], self.links.cited[number]
        tried, found = np.count_nonzero(pages), pages > 0
        weights = found / np.sqrt(np.maximum(cited, 1))
        self.pages.hub[tables.GUESSED] = weights @ self.links.relevance[number]
        self.pages.hub_weight[tables.GUESSED] = weights.sum()
        self.rates[tables.FOUND_RATE] = (np.count_nonzero(found) + 1) / (tried + 2)

    def tell(self, targets: Links) -> NDArray[np.float64]:
        """The scores of the links on a page for the frontier, which are recorded as told."""
        told = np.empty(len(targets))
        loops().tell(targets, self.links, told)
        return told

    def restate(self, relevance: Floats, judged: Floats) -> None:
        """Recompute everything for a new relevance of each page, and new weights `judged` of words by the judge."""
        links, pages, count = self.links, self.pages, self.count
        self._state += 1
        self.near_words.judge(judged)
        rate = (float(relevance.sum()) + 1) / (count + 10)
        pages.relevance[1 : count + 1] = relevance
        visited = pages.link[1 : count + 1]
        links.relevance[visited] = relevance
        loops().restate(count, self.highest, links, self.citations, pages)
        self._restate_guesses()
        self.near_words.restate(visited, links.near, relevance, rate)
        self.url_words.restate(visited, links.url, relevance, rate)
        self.hosts.restate(links.host[visited], relevance)
        self.folders.restate(links.folder[visited], relevance)
        everyone = slice(1, count + 1)
        self.rates[: tables.FOUND_RATE] = (
            usual(pages.hub[everyone], pages.hub_weight[everyone], rate),
            usual(links.sum[: self.highest], links.cited[: self.highest], rate),
            usual(self.hosts.relevance, self.hosts.tries, rate),
            usual(self.folders.relevance, self.folders.tries, rate),
        )
        np.minimum(self.rates[: tables.FOUND_RATE], MOST_EXPECTED, out=self.rates[: tables.FOUND_RATE])
        loops().tell_hubs(count, pages, self.rates[tables.HUB_RATE])

    def waiting(self, begin: int, end: int) -> Links:
        """Links with numbers in this range that were found but not handed out."""
        links, end = self.links, min(end, self.highest)
        return np.flatnonzero((links.cited[begin:end] > 0) & (links.page[begin:end] == 0)) + begin

    def waiting_of(self, chosen: Links) -> Links:
        """The waiting ones of these links, each once, ascending."""
        different = np.unique(chosen)
        found: Links = different[self.links.page[different] == 0]
        return found

    def target(self, link: int, place: int) -> int | None:
        """Number of the link at this position of a visited page."""
        page = int(self.links.page[link]) if link < self.highest else 0
        if page <= 0 or place >= self.pages.links[page]:
            return None
        return int(self.citations.target[self.pages.begin[page] + place])

    @property
    def bytes_in_use(self) -> int:
        rows = ((LINK_ROWS, self.highest), (CITATION_ROWS, self._end), (PAGE_ROWS, self.count))
        return sum(tables.row_bytes(layout) * count for layout, count in rows)

    def leads_on(self) -> Floats:
        """The mean r of the visited pages that each visited page links to."""
        pages, rate = self.pages, np.float32(self.rates[tables.HUB_RATE])
        all_pages = slice(1, self.count + 1)
        return (pages.hub[all_pages] + 2 * rate) / (pages.hub_weight[all_pages] + 2)

    def features(self, chosen: Links) -> Floats:
        """The current features, links × FEATURES."""
        found = np.empty((len(chosen), len(FEATURES)), dtype=np.float32)
        loops().look(chosen, self.rates, *self._columns, found)
        return found

    def is_guess(self, chosen: Links) -> NDArray[np.bool_]:
        """By link: whether it is waiting though no page cites it."""
        links = self.links
        stands_nowhere = self.citations.page[links.ring[chosen, 0]] == tables.GUESSED
        found: NDArray[np.bool_] = (links.cited[chosen] == 1) & stands_nowhere
        return found

    def found_share(self, chosen: Links) -> Floats:
        """By link: the probability that there is a page behind it if it is a guess, otherwise 1."""
        return np.where(self.is_guess(chosen), self.rates[tables.FOUND_RATE], 1.0).astype(np.float32)

    def keep(self, chosen: Links, features: Floats) -> None:
        """Store the result of `features`."""
        loops().keep(chosen, features, self._state, self.links)

    def kept(self, chosen: Links | int) -> Floats:
        """The stored FEATURES of one link or many."""
        return self.links.features[chosen].view(np.float16).astype(np.float32)

    def score(self, chosen: Links, model: Model, bar: float, tolerance: float) -> tuple[Links, Links]:
        """Compute and store features and scores. Returns the links that reach the bar, and those for the frontier."""
        found = np.empty((len(chosen), len(FEATURES)), dtype=np.float32)
        above, changed = np.empty_like(chosen), np.empty_like(chosen)
        counts = loops().score(
            chosen, self._state, model, bar, tolerance, self.rates, *self._columns, found, above, changed
        )  # fmt: skip
        return above[: counts[0]], changed[: counts[1]]

    def score_again(self, chosen: Links, model: Model) -> Floats:
        """Score links by their stored features."""
        loops().score_again(chosen, model, self.rates, self.links, self.citations, self.hosts)
        return self.links.score[chosen]

    def hand_on(self, chosen: Links, bar: float) -> Links:
        """The links whose new scores are to be passed on to the frontier."""
        changed = np.empty(len(chosen), dtype=np.int64)
        return changed[: loops().hand_on(chosen, bar, self.links, changed)]

    def take(self) -> Tree:
        """`lib.snapshot.Snapshots.take`."""
        return {
            "features": ",".join(FEATURES),
            "counts": [self.count, self.highest, self._end, self._state],
            "links": tables.taken(self.links, self.highest, LINK_RINGS),
            "citations": tables.taken(self.citations, self._end),
            "pages": tables.taken(self.pages, self.count + 1),
            "rates": self.rates.copy(),
            "guesses": np.array(self._guesses, dtype=np.int64).reshape(-1, 2),
            "near_words": self.near_words.table.copy(),
            "url_words": self.url_words.table.copy(),
            "hosts": {name: column.copy() for name, column in self.hosts._asdict().items()},
            "folders": {name: column.copy() for name, column in self.folders._asdict().items()},
        }

    def load(self, saved: Tree) -> None:
        if saved["features"] != ",".join(FEATURES):
            raise ValueError(f"features {saved['features']}")
        self.count, self.highest, self._end, self._state = saved["counts"]
        self.links = tables.loaded(tables.LinkColumns, LINK_ROWS, saved["links"], self.highest, LINK_RINGS)
        self.citations = tables.loaded(tables.CitationColumns, CITATION_ROWS, saved["citations"], self._end)
        self.pages = tables.loaded(tables.PageColumns, PAGE_ROWS, saved["pages"], self.count + 1)
        self.rates[:] = saved["rates"]
        self._guesses = [(link, page) for link, page in saved["guesses"].tolist()]
        self.near_words.table[:] = saved["near_words"]
        self.url_words.table[:] = saved["url_words"]
        self.hosts, self.folders = PlaceRecord.loaded(saved["hosts"]), PlaceRecord.loaded(saved["folders"])

    @property
    def _columns(self) -> tuple[Any, ...]:
        words = self.near_words.table, self.url_words.table
        return self.links, self.citations, self.pages, *words, self.hosts, self.folders


class WordRecord:
    """Words, and the relevance of the pages behind the links that they describe."""

    def __init__(self, idf: Floats) -> None:
        self._idf = idf
        self.table = np.zeros((SIZE, 4), dtype=np.float32)
        """By word: idf², idf · the judge's weight, idf² · centroid, log-odds. Features are sums over these."""
        np.multiply(idf, idf, out=self.table[:, tables.SQUARE])
        self.table[NO_WORD] = 0

    def restate(self, visited: Ints, words: NDArray[np.uint16], relevance: Floats, rate: float) -> None:
        """Recompute centroid and log-odds, given links × words: a word counts once for each visited page."""
        seen = np.zeros(SIZE, dtype=np.int32)
        speaks_for, speaks_against = np.zeros(SIZE, dtype=np.float32), np.zeros(SIZE, dtype=np.float32)
        loops().count_words(visited, words, relevance, seen, speaks_for, speaks_against)
        said = np.flatnonzero((speaks_for + speaks_against) != 0)
        pro, contra = speaks_for[said], speaks_against[said]
        rate = usual(pro, pro + contra, rate)
        self.table[:, tables.LEARNED] = self.table[:, tables.LOG_ODDS] = 0
        self.table[said, tables.LEARNED] = self._idf[said] ** 2 * ((pro * (1 - rate) - contra * rate) / len(relevance))
        self.table[said, tables.LOG_ODDS] = np.log((pro + 2 * rate) / (contra + 2 * (1 - rate)) * ((1 - rate) / rate))

    def judge(self, weights: Floats) -> None:
        """Set the judge's weight of each word."""
        np.multiply(self._idf, weights, out=self.table[:, tables.JUDGED])


def usual(sums: Floats, weights: NDArray[Any], rate: float) -> float:
    """The mean of sum / weight over all rows with a weight, and of `rate`."""
    known = np.flatnonzero(weights > 0)  # few, where rows are places
    return (float((sums[known] / weights[known]).sum()) + rate) / (len(known) + 1)


class PlaceRecord(NamedTuple):
    """By host or folder."""

    tries: Floats
    """Number of links handed out."""
    relevance: Floats
    """Σ r of the visited pages."""

    @classmethod
    def empty(cls) -> PlaceRecord:
        return cls(np.zeros(PLACES, dtype=np.float32), np.zeros(PLACES, dtype=np.float32))

    @classmethod
    def loaded(cls, saved: Tree) -> PlaceRecord:
        record = cls.empty()
        record.tries[:], record.relevance[:] = saved["tries"], saved["relevance"]
        return record

    def restate(self, places: NDArray[np.int32], relevance: Floats) -> None:
        self.relevance[places] = 0
        np.add.at(self.relevance, places, relevance)
