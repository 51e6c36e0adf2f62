"""Who cites whom among the pages of a crawl, as arrays: what the distiller works on."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
from numpy.typing import NDArray

from lycosa.crawl.centrality import site_of
from lycosa.errors import InputError
from lycosa.store.protocol import Store

NONE = -1


class CitationGraph:
    """The judged pages of a crawl and all links on its pages, as arrays: 8 bytes a link.

    The whole store is read at first; `update` then reads the pages that came since, those that were fetched again, and
    the judgements, which a retrained judge may have changed.
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

    def update(self, fetched_again: Collection[int] = ()) -> None:
        """Read what is new, and the links of these pages once more."""
        pages = self.store.pages_since(self._number)
        self._add_pages(pages.ids, pages.hosts)
        again = np.array(sorted(fetched_again), dtype=np.int64)
        self._forget_links_of(np.concatenate([pages.ids, again]))
        # A crawl may be writing: pages that are newer than the last one read here are left for the next update.
        last = int(pages.numbers.max(initial=self._number))
        sources, targets = [self._sources], [self._targets]
        for page in np.setdiff1d(again, pages.ids).tolist():
            cited = self.store.links_on(page)[:, 1]
            sources.append(np.full(len(cited), page, dtype=np.uint32))
            targets.append(cited.astype(np.uint32))
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
        last = max(int(self._sources.max(initial=0)), int(pages.max(initial=0)))
        is_new = np.zeros(max(len(self._hosts), last + 1), dtype=np.bool_)
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
