"""The frontier: waiting links, best first, as far as politeness towards hosts and addresses allows.

    push ──▶ WAITING ── lease, take ──▶ LEASED ── done ──▶ GONE
                ▲ │                        │                ▲
                │ └──────── drop ──────────│────────────────┘
                └──────────── release ─────┘

`lease` hands out exactly the best waiting link among the hosts that are ready: not cooling, not set aside, and with a
free slot; likewise their address. The best link is of the first tier (`keys`: favoured, untried, tried once, twice, …);
of these it has the highest score; of equal scores it is the one found first. Scores never move a link to another tier.
The frontier has no clock: the caller passes in the time, and an earlier time than before is ignored.

Every operation on one link takes O(log n). Operations on all links (`load`, `rescore_all`) sort once. The methods
that only look, such as `top` and `best_score`, are in `view`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lycosa.frontier import keys
from lycosa.frontier.host_queue import HostQueue
from lycosa.frontier.keys import FAVOURED, LINK_BITS, LINK_MASK, MOST_TRIES, UNTRIED
from lycosa.frontier.links import GONE, LEASED, NEW, WAITING
from lycosa.frontier.patience import Patience
from lycosa.frontier.schedule import Schedule, ScheduledHost
from lycosa.frontier.view import FrontierView

FEW = 8
"""Number of links up to which they are processed one by one: a numpy call takes as long as the work on one link."""
REBUILT_FROM = FEW
"""Number of links up to which new scores are always given one by one, rather than by rebuilding all queues."""


class Frontier(FrontierView):
    """The waiting and the leased links of a crawl.

    `buffer` is the maximum number of waiting links (paper TC: MAX_BUFFER). Beyond it the worst link is dropped, of
    equal ones the newest: the frontier forgets it, and it may be pushed again when it is found again. Spared links
    (`spare`) are neither counted nor dropped. `host_buffer` is the maximum for each host, beyond which its worst link
    is dropped likewise.
    """

    def __init__(
        self,
        *,
        buffer: int | None = None,
        host_buffer: int | None = None,
        slots_per_host: int = 1,
        slots_per_address: int = 1,
    ) -> None:
        if (buffer is not None and buffer < 1) or (host_buffer is not None and host_buffer < 1):
            raise ValueError(f"a buffer must hold at least 1 link, not {min(buffer or 1, host_buffer or 1)}")
        super().__init__(Schedule(slots_per_host=slots_per_host, slots_per_address=slots_per_address))
        self._buffer = buffer
        self._host_buffer = host_buffer or sys.maxsize
        self._crowded: set[ScheduledHost] = set()
        """Hosts with more waiting links than they may have, until the next `_trim`."""
        self._buffered: HostQueue | None = None if buffer is None else HostQueue()
        """All waiting links except the spared ones in one queue, of which the last is the worst."""
        self._spared: set[int] = set()
        self._patience: Patience | None = None
        self._is_favoured_only = False
        self._revised: dict[int, float] = {}

    # Adding links.

    def push(self, link: int, host: int, score: float) -> list[int]:
        """Add a link, or rescore a waiting one, but no leased one. Returns links dropped from a full buffer."""
        return self._push_each([link], [host], [score])

    def push_many(self, links: NDArray[Any], hosts: NDArray[Any], scores: NDArray[Any]) -> list[int]:
        _check_lengths(links, hosts, scores)
        if len(links) <= FEW:
            return self._push_each(links.tolist(), hosts.tolist(), scores.tolist())
        ranks = keys.ranks(scores)
        self._links.reserve(_greatest(links))
        self._schedule.host(_greatest(hosts))
        if self._links.are_all_new(links):
            made = keys.keys(keys.places(ranks, self._links.tiers[links]), links)
            return self._put_new(made, links, hosts, ranks)
        for link, rank, number in zip(links.tolist(), ranks.tolist(), hosts.tolist(), strict=True):
            self._put(link, rank, self._schedule.host(number))
        return self._trim([])

    def load(self, links: NDArray[Any], hosts: NDArray[Any], scores: NDArray[Any]) -> list[int]:
        """Push very many links at once, by rebuilding all queues."""
        _check_lengths(links, hosts, scores)
        if not len(links):
            return []
        ranks = keys.ranks(scores)
        table = self._links
        self._schedule.host(_greatest(hosts))
        table.reserve(_greatest(links))
        known = table.states[links]
        table.hosts[links] = np.where(known == NEW, hosts, table.hosts[links])
        table.ranks[links] = np.where(known == LEASED, table.ranks[links], ranks)
        table.states[links] = np.where(known == LEASED, LEASED, WAITING)
        self._rebuild()
        return self._trim([])

    def be_patient(self, share: float) -> None:
        """Hand out no link with a score below this share of the best one available soon (`patience`); 0: any link."""
        self._patience = Patience(share, self._schedule) if share else None

    def best_soon(self) -> float:
        """The best score that others are measured by (`patience`); 0 if any link is handed out."""
        return self._patience.best() if self._patience is not None else 0.0

    def hand_out_favoured_only(self) -> None:
        """From now on no link is handed out but favoured ones; the others keep waiting."""
        self._is_favoured_only = True

    def rescore(self, links: NDArray[Any], scores: NDArray[Any]) -> None:
        """Give waiting links new scores. Links that are not waiting are left alone."""
        is_waiting = self.is_waiting(links)
        _check_lengths(links, scores)
        links, scores = links[is_waiting], scores[is_waiting]
        if len(links) <= FEW:
            self._move(links.tolist(), [keys.rank(score) for score in scores.tolist()])
            return
        ranks = keys.ranks(scores)
        if len(links) > self._cost_of_rebuilding():
            self._links.ranks[links] = ranks
            self._rebuild()
        else:
            self._move(links.tolist(), ranks.tolist())

    def revise(self, links: NDArray[Any], scores: NDArray[np.float64]) -> None:
        """`rescore` on a strategy's own initiative: the scores are kept, in full, for the next commit to store."""
        self.rescore(links, scores)
        self._revised.update(zip(links.tolist(), scores.tolist(), strict=True))

    def take_revised(self) -> dict[int, float]:
        """Scores given by `revise` since the last call, by link."""
        if not self._revised:  # asked for at every turn
            return self._revised
        revised, self._revised = self._revised, {}
        return revised

    def rescore_all(self, score: Callable[[NDArray[np.int64]], NDArray[Any]]) -> None:
        """Give every waiting link a new score. `score` is called with their numbers in ascending order."""
        links = self._links.waiting()
        if links.size:
            scores = score(links)
            _check_lengths(links, scores)
            self._links.ranks[links] = keys.ranks(scores)
            self._rebuild()

    def set_tiers(self, links: NDArray[Any], tier: int) -> None:
        """Put links into this tier. Those that do not wait will be in it when they do."""
        if not len(links):
            return
        table = self._links
        table.reserve(_greatest(links))
        for link in links.tolist():
            if table.state[link] == WAITING:
                self._move([link], [table.rank[link]], tier)
            else:
                table.tier[link] = tier

    # Leasing links, and returning them.

    def lease(self, now: float) -> int | None:
        """Hand out the best waiting link of all ready hosts; None if there is none."""
        self._schedule.advance(now)
        host = self._schedule.best()
        if host is None or self._is_held_back(host):
            return None
        key = host.pop()
        self._hand_out(key, host)
        return key & LINK_MASK

    def take(self, link: int, now: float) -> bool:
        """Hand out this link if it is waiting and its host is ready: for strategies that choose links themselves."""
        self._schedule.advance(now)
        if self._links.state_of(link) != WAITING:
            return False
        if self._is_favoured_only and self._links.tier[link] != FAVOURED:
            return False
        host = self._host_of(link)
        if not self._schedule.may_start(host):
            return False
        key = self._links.key(link)
        host.remove(key)
        self._hand_out(key, host)
        return True

    def done(self, link: int) -> None:
        host = self._take_back(link)
        self._links.state[link], self._links.tier[link] = GONE, UNTRIED
        self._schedule.end(host)

    def release(self, link: int, *, tries: int | None = None) -> list[int]:
        """A leased link waits again; `tries`: it failed, and was tried this often. Returns links dropped from a full
        buffer."""
        host = self._take_back(link)
        self._links.state[link] = NEW
        if tries is not None:
            self._links.tier[link] = min(tries, MOST_TRIES)
        self._put(link, self._links.rank[link], host)
        self._schedule.end(host)
        return self._trim([])

    def drop(self, link: int, *, forget: bool = False) -> bool:
        """Remove a waiting link; `forget`: it is new when it is found again. False if it is not waiting."""
        if self._links.state_of(link) != WAITING:
            return False
        self._remove(self._links.key(link), self._host_of(link), NEW if forget else GONE)
        self._links.tier[link] = UNTRIED
        return True

    def spare(self, links: NDArray[Any], *, is_spared: bool = True) -> None:
        """Exempt waiting links from the buffer: until they are leased or dropped, or are spared no more, it neither
        counts nor drops them."""
        if self._buffered is not None:
            for link in links.tolist():
                if self._links.state_of(link) == WAITING and (link in self._spared) != is_spared:
                    (self._buffered.remove if is_spared else self._buffered.push)(self._links.key(link))
                    (self._spared.add if is_spared else self._spared.discard)(link)

    # Hosts and addresses.

    def cool(self, host: int, until: float) -> None:
        """Do not contact the host before that time. Cheapest while its link is still leased."""
        self._schedule.cool(self._schedule.host(host), until)

    def set_address(self, host: int, address: str) -> None:
        """Set the address of the host, whose clock and slots it shares with other hosts; empty if it is unknown."""
        self._schedule.set_address(self._schedule.host(host), address)

    def cool_address(self, address: str, until: float) -> None:
        """Do not contact any host at that address before that time."""
        self._schedule.cool_address(address, until)

    def set_aside(self, host: int) -> None:
        """Hand out no more links of the host; they keep waiting."""
        self._schedule.set_aside(self._schedule.host(host), True)

    def readmit(self, host: int) -> None:
        self._schedule.set_aside(self._schedule.host(host), False)

    def next_ready(self, now: float) -> float | None:
        """When to ask for a lease: `now` if a host is ready, otherwise when the next one has cooled.

        The time is never too late, but may be too early, if the address of that host is not free then. None: no host
        will become ready with time alone, but perhaps when a leased link is returned.
        """
        self._schedule.advance(now)
        host = self._schedule.best()
        return now if host is not None and not self._is_held_back(host) else self._schedule.next_time()

    # Implementation.

    def _is_held_back(self, host: ScheduledHost) -> bool:
        """Whether to wait for a better link, which makes sense only if something will change with time."""
        if self._is_favoured_only and not keys.is_favoured(host.head[0] >> keys.LINK_BITS):
            return True
        if self._patience is None or not self._patience.holds_back(host):
            return False
        return self.leased > 0 or self._schedule.next_time() is not None

    def _host_of(self, link: int) -> ScheduledHost:
        return self._schedule.host(self._links.host[link])

    def _push_each(self, links: list[int], hosts: list[int], scores: list[float]) -> list[int]:
        ranks = [keys.rank(score) for score in scores]
        for link in links:
            self._links.reserve(link)
        found = [self._schedule.host(number) for number in hosts]
        for rank, link, host in zip(ranks, links, found, strict=True):
            self._put(link, rank, host)
        return self._trim([])

    def _put(self, link: int, rank: int, host: ScheduledHost) -> None:
        """Let a link wait at that host; if it is waiting already, change its score."""
        table = self._links
        state = table.state[link]
        if state == WAITING:
            self._move([link], [rank])
        elif state != LEASED:
            table.state[link] = WAITING
            table.host[link] = host.number
            table.rank[link] = rank
            key = table.key(link)
            self.waiting += 1
            host.push(key)
            if len(host) > self._host_buffer:
                self._crowded.add(host)
            if self._buffered is not None:
                self._buffered.push(key)
            if key < host.bound:
                self._schedule.settle(host)

    def _move(self, links: list[int], ranks: list[int], tier: int | None = None) -> None:
        """Give waiting links other ranks, and another tier if one is named."""
        buffered, spared, hosts = self._buffered, self._spared, self._schedule.hosts
        rank_of, tier_of, host_of = self._links.rank, self._links.tier, self._links.host
        risen = set()
        for link, rank in zip(links, ranks, strict=True):
            old_rank, old_tier = rank_of[link], tier_of[link]
            new_tier = old_tier if tier is None else tier
            if old_tier == new_tier == UNTRIED:  # as most are: the place is the rank
                old, key = old_rank << LINK_BITS | link, rank << LINK_BITS | link
            else:
                old = keys.place(old_rank, old_tier) << LINK_BITS | link
                key = keys.place(rank, new_tier) << LINK_BITS | link
            rank_of[link], tier_of[link] = rank, new_tier
            if old == key:
                continue
            host = hosts[host_of[link]]
            assert host is not None
            host.move(old, key)
            if buffered is not None and link not in spared:
                buffered.move(old, key)
            if key < host.bound:
                risen.add(host)
        for host in risen:
            self._schedule.settle(host)

    def _unbuffer(self, key: int) -> None:
        if self._buffered is not None and key & LINK_MASK not in self._spared:
            self._buffered.remove(key)

    def _put_new(
        self, made: NDArray[np.uint64], links: NDArray[Any], hosts: NDArray[Any], ranks: NDArray[np.uint32]
    ) -> list[int]:
        """`_put` for links that are new to the frontier, without checking their states; includes `_trim`."""
        order = made.argsort()
        new = made[order].tolist()
        dropped = self._trim(new)
        if not new:
            return dropped
        order = order[: len(new)]
        hosts = hosts[order]
        self._links.enter(links[order], hosts, ranks[order])
        known, settle = self._schedule.hosts, self._schedule.settle
        for key, number in zip(new, hosts.tolist(), strict=True):
            host = known[number]
            if host is None:
                host = self._schedule.host(number)
            host.push(key)
            if key < host.bound:
                settle(host)
            if len(host) > self._host_buffer:
                self._crowded.add(host)
        self.waiting += len(new)
        if self._buffered is not None:
            for key in new:
                self._buffered.push(key)
        return dropped + self._thin_out() if self._crowded else dropped

    def _thin_out(self) -> list[int]:
        """Drop the worst links of hosts that have too many; return them."""
        dropped = []
        for host in self._crowded:
            while len(host) > self._host_buffer:
                dropped.append(self._forget(host.last(), host))
        self._crowded.clear()
        return dropped

    def _forget(self, key: int, host: ScheduledHost) -> int:
        """Drop a waiting link, which may be pushed again; return it."""
        link = key & LINK_MASK
        self._remove(key, host, NEW)
        if self._links.tier[link] == FAVOURED:
            self._links.tier[link] = UNTRIED
        return link

    def _remove(self, key: int, host: ScheduledHost, state: int) -> None:
        host.remove(key)
        self._unbuffer(key)
        self._spared.discard(key & LINK_MASK)
        self._links.state[key & LINK_MASK] = state
        self.waiting -= 1
        if not host.head:
            self._schedule.settle(host)

    def _hand_out(self, key: int, host: ScheduledHost) -> None:
        """Lease the link of a key that has been removed from its host's queue."""
        self._unbuffer(key)
        self._spared.discard(key & LINK_MASK)
        self._links.state[key & LINK_MASK] = LEASED
        self.waiting -= 1
        self.leased += 1
        self._schedule.start(host)

    def _take_back(self, link: int) -> ScheduledHost:
        if self._links.state_of(link) != LEASED:
            raise ValueError(f"link {link} is not leased")
        self.leased -= 1
        return self._host_of(link)

    def _trim(self, new: list[int]) -> list[int]:
        """Drop the worst links until the buffer has room for the new keys; return the dropped links.

        The new keys are in ascending order and not yet in the queues; the dropped ones are removed from the list.
        """
        dropped = self._thin_out() if self._crowded else []
        buffered = self._buffered
        if self._buffer is None or buffered is None:
            return dropped
        excess = len(dropped) + len(buffered) + len(new) - self._buffer
        while len(dropped) < excess:
            worst = buffered.last() if buffered.head else 0
            while new and new[-1] > worst and len(dropped) < excess:
                dropped.append(new.pop() & LINK_MASK)
            if len(dropped) < excess:
                dropped.append(self._forget(worst, self._host_of(worst & LINK_MASK)))
        return dropped

    def _cost_of_rebuilding(self) -> int:
        """The cost of `_rebuild`, as a number of links moved one by one; measured."""
        return REBUILT_FROM + self.waiting // 40 + len(self._schedule.hosts) // 2 + self._links.size // 30_000

    def _rebuild(self) -> None:
        table = self._links
        links = table.waiting()
        waiting = table.keys(links)
        hosts = table.hosts[links]
        self.waiting = len(links)
        if self._buffered is not None:
            counted = waiting
            if self._spared:
                spared = np.fromiter(self._spared, dtype=np.int64, count=len(self._spared))
                counted = waiting[~np.isin(links, spared)]
            self._buffered.fill(np.sort(counted))
        order = _by_host(waiting, hosts)
        waiting, hosts = waiting[order], hosts[order]
        for host in self._schedule.hosts:
            if host is not None and host.head:
                host.fill(waiting[:0])
        bounds = [*np.flatnonzero(np.diff(hosts, prepend=-1)).tolist(), len(hosts)]
        for start, end in pairwise(bounds):
            host = self._schedule.host(int(hosts[start]))
            host.fill(waiting[start:end])
            if end - start > self._host_buffer:
                self._crowded.add(host)
        self._schedule.settle_all()


def _by_host(keys_of: NDArray[Any], hosts: NDArray[Any]) -> NDArray[np.int64]:
    """The order by host, then by key, which takes half as long as np.lexsort if there are fewer than 65,536 hosts."""
    order: NDArray[np.int64] = np.argsort(keys_of)  # keys are distinct
    narrow = hosts.astype(np.uint16) if hosts.max(initial=0) < 1 << 16 else hosts
    return order[np.argsort(narrow[order], kind="stable")]


def _greatest(numbers: NDArray[Any]) -> int:
    """The greatest number; a negative one becomes very large, and thus invalid."""
    return int(np.maximum.reduce(numbers.astype(np.uint64)))  # .max() takes twice as long


def _check_lengths(*columns: NDArray[Any]) -> None:
    if len({len(column) for column in columns}) > 1:
        raise ValueError(f"columns of different lengths: {', '.join(str(len(column)) for column in columns)}")
