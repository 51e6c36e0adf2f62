"""An address that hosts of several shards share is asked by one shard at a time.

A shard leases an address in the store for as long as its next request may take, and for a turn of several requests, so
that the store is asked once a turn and not once a request. If another shard waits for it, the lease is not renewed: it
ends when the request under way has ended and its pause is over. So the delay per address is kept by all shards
together, also when one of them is killed: its lease ends by itself.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from lycosa.crawl.hosts import HostTable
from lycosa.crawl.shard import SharedStore
from lycosa.crawl.visits import Fetcher
from lycosa.fetch.politeness import Politeness
from lycosa.lib.clock import Clock
from lycosa.model import Fetched, Kind, Lease, Outcome

BUSY = "address busy"
REQUESTS_A_TURN = 20
SHORTEST_TURN = 0.5
"""Seconds."""
LOOK_EVERY = 0.2
"""Seconds between two looks for others who wait."""
LONGEST_WAIT = 1.0
"""Seconds after which a link whose address is another's goes back to the queue."""


@dataclass(slots=True)
class Turn:
    """An address that is ours."""

    until: float
    """By this process's own clock, read before the store was asked."""
    rests_until: float
    in_use: int = 0
    is_over: bool = False
    """Another shard waits for it."""


class AddressTurns:
    """A fetcher that asks an address only while it is this shard's turn."""

    def __init__(
        self,
        fetcher: Fetcher,
        store: SharedStore,
        *,
        hosts: HostTable,
        politeness: Politeness,
        deadline: float,
        clock: Clock,
    ) -> None:
        """`deadline`: seconds that a request may take."""
        self._fetcher = fetcher
        self._store = store
        self._hosts = hosts
        self._politeness = politeness
        self._turn = max(SHORTEST_TURN, REQUESTS_A_TURN * politeness.delay)
        self._deadline = deadline
        self._clock = clock
        self._turns: dict[str, Turn] = {}
        self._looked_at = 0.0

    async def fetch(self, lease: Lease) -> Fetched:
        address = self._hosts.address_of(lease.host)
        if not address:  # its name is resolved first, and nothing is sent
            return await self._fetcher.fetch(lease)
        turn = self._begun(address, lease.host)
        if turn is None:
            await asyncio.sleep(min(LONGEST_WAIT, self._turn))
            return Fetched(lease, Outcome(Kind.DEFERRED, BUSY, address), ended=self._clock.now())
        turn.in_use += 1
        seconds = self._deadline
        try:
            fetched = await self._fetcher.fetch(lease)
            seconds = fetched.seconds
            return fetched
        finally:
            turn.in_use -= 1
            turn.rests_until = max(turn.rests_until, self._clock.now() + self._pause(lease.host, seconds))
            self._give_up(address, turn)

    def look(self) -> None:
        """Give up what others wait for."""
        now = self._clock.now()
        if now - self._looked_at < LOOK_EVERY:
            return
        self._looked_at = now
        for address in self._store.wanted_addresses():
            turn = self._turns.get(address)
            if turn is None:  # of an earlier run, which may have been killed just now
                pauses = [self._pause(host.id, 0.0) for host in self._hosts if host.address == address]
                turn = Turn(now, now + max(pauses, default=self._politeness.delay))
            turn.is_over = True
            self._give_up(address, turn)

    def _begun(self, address: str, host: int) -> Turn | None:
        """Our turn, with time for one more request and the pause after it; None if it is another's."""
        needed = self._deadline + self._pause(host, self._deadline)
        turn, now = self._turns.get(address), self._clock.now()
        if turn is not None and (turn.is_over or turn.until - now >= needed):
            return None if turn.is_over else turn
        found = self._store.lease_address(address, needed + self._turn)
        if not found.is_ours or found.seconds < needed:  # another has it, or waits for it
            return None
        if turn is None:
            turn = self._turns[address] = Turn(now, now)
        turn.until = now + found.seconds
        return turn

    def _give_up(self, address: str, turn: Turn) -> None:
        if turn.is_over and not turn.in_use:
            self._turns.pop(address, None)
            self._store.release_address(address, max(0.0, turn.rests_until - self._clock.now()))

    def _pause(self, host: int, seconds: float) -> float:
        return self._politeness.pause(seconds=seconds, crawl_delay=self._hosts[host].crawl_delay)
