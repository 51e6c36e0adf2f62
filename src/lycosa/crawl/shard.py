"""One shard of a cluster: the part of a crawl that is this crawler's own.

    here            links that belong to other shards leave with the page's own transaction
    receiving       what others send is told to the strategy and enters the frontier, as if found here; orders
    letters         what is sent
    address_turns   an address that hosts of several shards share is asked by one of them at a time

The crawl itself is the same as any. Its frontier, clocks, judge and archive are its own; other shards are heard of by
letters in the store alone, each numbered and taken over in the transaction that writes what follows from it. So nothing
is lost or done twice, whoever is killed at whatever moment.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from lycosa.crawl.letters import link_letter, page_letter
from lycosa.crawl.link_rules import FoundLink
from lycosa.errors import ConfigError
from lycosa.fetch.urls import host_key
from lycosa.frontier.frontier import Frontier
from lycosa.model import Page, Visit
from lycosa.stopping.figures import Figures
from lycosa.stopping.rules import Stop
from lycosa.store.protocol import Store
from lycosa.store.rows import AddressLease, Batch, Letter, Orders, State
from lycosa.strategies.protocol import Abilities, Links

FIRST_PAGES = 400
"""Number of pages of all shards together that all of them are told of."""


class SharedStore(Store, Protocol):
    """What a shard asks of its store beyond what any crawl does."""

    shard: int

    def letters(self, most: int) -> list[Letter]: ...

    def sent(self) -> Mapping[int, int]:
        """By target: the number of the last letter that this shard has sent."""

    def taken(self) -> Mapping[int, int]:
        """By sender: the number of the last letter that this shard has taken over."""

    def orders(self) -> Orders: ...

    def lease_address(self, address: str, seconds: float) -> AddressLease: ...

    def wanted_addresses(self) -> list[str]:
        """Addresses that this shard has, and others wait for."""

    def release_address(self, address: str, seconds: float) -> None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Shard:
    """Which part of the web is a crawler's own."""

    number: int
    count: int
    owner_of: Callable[[str], int] = field(repr=False)
    """The shard of a host."""
    takes_over: bool = False
    """Whoever has this shard is given up for lost."""

    def owns(self, url: str) -> bool:
        return self.owner_of(host_key(url)) == self.number


class GrantedStop(Stop):
    """A shard fetches what it is granted, and goes on until it is told to stop: budgets are kept by the cluster. One
    that has finished what it has to do rests until it hears of more."""

    granted = 0
    is_limited = True
    """Whether it fetches only what it is granted; a refresh has its own plan."""
    _finished = ""

    def reason(self, figures: Figures, frontier: Frontier, *, now: float) -> str:  # noqa: ARG002
        return self._request or self._finished

    def pages_left(self, pages: int) -> int:
        return max(0, self.granted - pages) if self.is_limited else super().pages_left(pages)

    def finish(self, reason: str) -> None:
        self._finished = reason

    def wake(self) -> None:
        self._finished = ""


class Sending:
    """Letters to other shards. `CrawlLedger` calls it; what it adds to a batch is written with the rest."""

    def __init__(self, shard: Shard, sent: Mapping[int, int], abilities: Abilities) -> None:
        self._shard = shard
        self._last = dict(sent)
        self._part = abilities.digest_part
        self._told: set[int] = set()
        """Links in the batch that is being made whose owners need not be told of them alone."""
        if abilities.needs_whole_pages:
            raise ConfigError(
                "this strategy needs the text of the pages that cite a link, which does not travel between the "
                "crawlers of a cluster; choose another, such as hunter, best-first or shark"
            )

    def is_elsewhere(self, url: str) -> bool:
        return not self._shard.owns(url)

    def add_page(self, visit: Visit, page: Page, targets: Links, batch: Batch, *, number: int) -> None:
        """A page was told to the strategy: the owners of its links hear of it. Of a seed and of the shard's first pages
        all do, so that all know what the topic is and is not before they spend much. `number`: that of the page."""
        owners = [self._shard.owner_of(host_key(link.url)) for link in page.links]
        is_for_all = not visit.lease.distance or number * self._shard.count <= FIRST_PAGES
        listeners = set(range(self._shard.count)) if is_for_all else set(owners)
        for target in sorted(listeners - {self._shard.number}):
            places = [place for place, owner in enumerate(owners) if owner == target]
            digest = self._part(page.digest, np.array(places, dtype=np.int64)) if self._part and page.digest else b""
            self._add(target, page_letter(visit, page, [page.links[place] for place in places], digest), batch)
            self._told.update(targets[places].tolist())

    def add_known(self, link: int) -> None:
        """A link of another shard, which that shard itself has named."""
        self._told.add(link)

    def add_rest(self, batch: Batch) -> None:
        """New links that were found by other ways than on a page: redirects, lists, search engines."""
        for row in batch.links:
            if row.state == State.ELSEWHERE and row.id not in self._told:
                found = FoundLink(row.distance, row.redirects, row.score, row.reason)
                self._add(self._shard.owner_of(host_key(row.url)), link_letter(row.url, found), batch)
        self._told.clear()

    def _add(self, target: int, value: bytes, batch: Batch) -> None:
        self._last[target] = self._last.get(target, 0) + 1
        batch.letters.append(Letter(target, self._shard.number, self._last[target], value))
