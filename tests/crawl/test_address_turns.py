"""An address that several shards have hosts at is asked in turn, and given up when others wait."""

from __future__ import annotations

import asyncio

import pytest

from lycosa.crawl import address_turns
from lycosa.crawl.address_turns import BUSY, AddressTurns
from lycosa.crawl.hosts import HostTable
from lycosa.fetch.politeness import Politeness
from lycosa.frontier.frontier import Frontier
from lycosa.model import Fetched, Kind, Lease, Outcome
from lycosa.store.rows import AddressLease, HostRow

ADDRESS = "127.0.0.1"
DELAY, DEADLINE = 2.0, 10.0


class Leases:
    """A store with one address."""

    def __init__(self) -> None:
        self.is_ours = True
        self.is_wanted = False
        self.asked: list[float] = []
        self.released: list[float] = []

    def lease_address(self, address: str, seconds: float) -> AddressLease:
        assert address == ADDRESS
        self.asked.append(seconds)
        return AddressLease(self.is_ours, 0.5 if self.is_wanted else seconds)

    def wanted_addresses(self) -> list[str]:
        return [ADDRESS] if self.is_wanted and not self.released else []

    def release_address(self, address: str, seconds: float) -> None:
        self.released.append(seconds)


class Slow:
    """A fetcher that answers when it is told to."""

    def __init__(self, clock: Clock) -> None:
        self.fetches = 0
        self.clock = clock
        self.may_answer = asyncio.Event()
        self.may_answer.set()

    async def fetch(self, lease: Lease) -> Fetched:
        self.fetches += 1
        await self.may_answer.wait()
        return Fetched(lease, Outcome(Kind.FETCHED), is_contact=True, ended=self.clock.now())


class Clock:
    time = 1_000.0

    def now(self) -> float:
        return self.time

    async def sleep(self, seconds: float) -> None:
        self.time += seconds


@pytest.fixture(autouse=True)
def _no_waiting(monkeypatch):
    monkeypatch.setattr(address_turns, "LONGEST_WAIT", 0.0)


def made(address: str = ADDRESS) -> tuple[AddressTurns, Leases, Slow, Clock]:
    politeness = Politeness(delay=DELAY, fetch_time_factor=0.0)
    rows = [HostRow(1, "a.test", address, 0.0, 5.0, 0, 0, 0, 0, 0, "")]  # its robots.txt asks for 5 s
    hosts = HostTable(rows, politeness=politeness, frontier=Frontier())
    leases, clock = Leases(), Clock()
    slow = Slow(clock)
    turns = AddressTurns(slow, leases, hosts=hosts, politeness=politeness, deadline=DEADLINE, clock=clock)
    return turns, leases, slow, clock


LEASE = Lease(1, "http://a.test/", 1, 0.5, 1, 0, 0)


def test_one_lease_serves_many_requests():
    async def go() -> None:
        turns, leases, slow, clock = made()
        for _ in range(8):
            assert (await turns.fetch(LEASE)).outcome.kind is Kind.FETCHED
            clock.time += 5.0
        assert slow.fetches == 8
        assert len(leases.asked) == 1
        assert leases.asked[0] >= DEADLINE + 5.0 + 20 * DELAY  # with time for the longest request and its pause
        clock.time += 30.0
        await turns.fetch(LEASE)
        assert len(leases.asked) == 2  # before the lease could end during a request

    asyncio.run(go())


def test_another_shard_has_it():
    async def go() -> None:
        turns, leases, slow, _ = made()
        leases.is_ours = False
        fetched = await turns.fetch(LEASE)
        assert (fetched.outcome.kind, fetched.outcome.reason, fetched.is_contact) == (Kind.DEFERRED, BUSY, False)
        assert slow.fetches == 0

    asyncio.run(go())


def test_a_host_whose_address_is_not_known_is_resolved_first():
    async def go() -> None:
        turns, leases, slow, _ = made(address="")
        await turns.fetch(LEASE)
        assert slow.fetches == 1
        assert leases.asked == []

    asyncio.run(go())


def test_it_is_given_up_after_the_request_under_way_and_its_pause():
    async def go() -> None:
        turns, leases, slow, clock = made()
        slow.may_answer.clear()
        under_way = asyncio.create_task(turns.fetch(LEASE))
        await asyncio.sleep(0)
        leases.is_wanted = True
        turns.look()
        assert leases.released == []
        assert (await turns.fetch(LEASE)).outcome.reason == BUSY  # no further request begins
        clock.time += 3.0
        slow.may_answer.set()
        await under_way
        assert leases.released == [5.0]
        assert slow.fetches == 1

    asyncio.run(go())


def test_an_address_that_lies_idle_is_given_up_with_what_is_left_of_its_pause():
    async def go() -> None:
        turns, leases, _, clock = made()
        await turns.fetch(LEASE)
        clock.time += 4.0
        leases.is_wanted = True
        turns.look()
        assert leases.released == [pytest.approx(1.0)]

    asyncio.run(go())


def test_a_lease_of_an_earlier_run_is_given_up_with_a_whole_pause():
    """That run may have been killed just now."""
    turns, leases, _, _ = made()
    leases.is_wanted = True
    turns.look()
    assert leases.released == [5.0]
