"""The frontier against a model that examines every link each time, and its edge cases one by one.

Blocks and heaps are made tiny, so that a few steps are enough to split, join, spill and sweep.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from lycosa.frontier import frontier as frontier_module
from lycosa.frontier import host_queue, keys, schedule
from lycosa.frontier.frontier import Frontier
from lycosa.frontier.links import LinkState

NEVER = -math.inf
LINKS = 24
HOSTS = 5
ADDRESSES = ["", "10.0.0.1", "10.0.0.2"]
links = st.integers(0, LINKS - 1)
hosts = st.integers(0, HOSTS - 1)
SCORES = [0.0, 0.25, 0.5, 1.0, -1.0, 2.0]
SPANS = [0, 0, 1, 3]
TIERS = [keys.FAVOURED, keys.UNTRIED, 1, 2, keys.MOST_TRIES]
"""In the order in which they leave the frontier."""
scores = st.sampled_from(SCORES)
spans = st.sampled_from(SPANS)


def host_of(link: int) -> int:
    return link * link % HOSTS


@pytest.fixture(autouse=True, scope="module")
def _tiny():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(host_queue, "BLOCK", 2)
        patch.setattr(schedule, "SLACK", 2)
        patch.setattr(frontier_module, "REBUILT_FROM", 0)
        yield


@dataclass
class Model:
    """What the frontier promises, without any of its data structures."""

    buffer: int | None
    slots_per_host: int
    slots_per_address: int
    now: float = NEVER
    waiting: dict[int, float] = field(default_factory=dict)
    leased: dict[int, float] = field(default_factory=dict)
    gone: set[int] = field(default_factory=set)
    until: dict[int, float] = field(default_factory=dict)
    address: dict[int, str] = field(default_factory=dict)
    address_until: dict[str, float] = field(default_factory=dict)
    aside: set[int] = field(default_factory=set)
    tiers: dict[int, int] = field(default_factory=dict)

    def order(self) -> list[int]:
        return sorted(self.waiting, key=lambda link: (TIERS.index(self.tier(link)), -self.waiting[link], link))

    def tier(self, link: int) -> int:
        return self.tiers.get(link, keys.UNTRIED)

    def in_flight(self, host: int) -> int:
        return sum(host_of(link) == host for link in self.leased)

    def has_slots(self, host: int) -> bool:
        if host in self.aside or self.in_flight(host) >= self.slots_per_host:
            return False
        address = self.address.get(host, "")
        neighbours = [other for other in range(HOSTS) if address and self.address.get(other, "") == address]
        return sum(map(self.in_flight, neighbours)) < self.slots_per_address

    def ready_at(self, host: int) -> float:
        address = self.address.get(host, "")
        cooled = self.address_until.get(address, NEVER) if address else NEVER
        return max(self.until.get(host, NEVER), cooled)

    def is_ready(self, host: int) -> bool:
        return self.has_slots(host) and self.ready_at(host) <= self.now

    def best(self) -> int | None:
        return next((link for link in self.order() if self.is_ready(host_of(link))), None)

    def next_ready(self) -> float | None:
        times = [self.ready_at(host_of(link)) for link in self.waiting if self.has_slots(host_of(link))]
        return max(min(times), self.now) if times else None

    def push(self, link: int, score: float) -> None:
        if link not in self.leased:
            self.gone.discard(link)
            self.waiting[link] = score

    def trim(self) -> list[int]:
        dropped = []
        while self.buffer is not None and len(self.waiting) > self.buffer:
            dropped.append(self.order()[-1])
            del self.waiting[dropped[-1]]
            if self.tier(dropped[-1]) == keys.FAVOURED:
                del self.tiers[dropped[-1]]
        return dropped

    def lease(self, link: int) -> None:
        self.leased[link] = self.waiting.pop(link)

    def state(self, link: int) -> LinkState:
        if link in self.waiting:
            return LinkState.WAITING
        if link in self.leased:
            return LinkState.LEASED
        return LinkState.GONE if link in self.gone else LinkState.NEW


class Comparison(RuleBasedStateMachine):
    @initialize(
        buffer=st.sampled_from([None, None, 1, 4, 9]), per_host=st.integers(1, 2), per_address=st.integers(1, 2)
    )
    def begin(self, buffer: int | None, per_host: int, per_address: int) -> None:
        self.frontier = Frontier(buffer=buffer, slots_per_host=per_host, slots_per_address=per_address)
        self.model = Model(buffer, per_host, per_address)

    @rule(link=links, score=scores)
    def push(self, link: int, score: float) -> None:
        self.model.push(link, score)
        assert self.frontier.push(link, host_of(link), score) == self.model.trim()

    @rule(batch=st.lists(st.tuples(links, scores), max_size=12), is_load=st.booleans())
    def push_many(self, batch: list[tuple[int, float]], is_load: bool) -> None:
        for link, score in batch:
            self.model.push(link, score)
        numbers = np.array([link for link, _ in batch], dtype=np.int64)
        push = self.frontier.load if is_load else self.frontier.push_many
        dropped = push(numbers, numbers * numbers % HOSTS, np.array([score for _, score in batch]))
        assert dropped == self.model.trim()

    @rule(score=scores, batch=st.sets(links, min_size=1))
    def push_new(self, score: float, batch: set[int]) -> None:
        """Ascending and new, as a crawl pushes them."""
        fresh = np.array([link for link in sorted(batch) if self.model.state(link) is LinkState.NEW], dtype=np.int64)
        for link in fresh.tolist():
            self.model.push(link, score)
        dropped = self.frontier.push_many(fresh, fresh * fresh % HOSTS, np.full(len(fresh), score))
        assert dropped == self.model.trim()

    @rule(batch=st.lists(st.tuples(st.integers(0, LINKS * 100), scores), max_size=8))
    def rescore(self, batch: list[tuple[int, float]]) -> None:
        for link, score in batch:
            if link in self.model.waiting:
                self.model.waiting[link] = score
        numbers = np.array([link for link, _ in batch], dtype=np.int64)
        self.frontier.rescore(numbers, np.array([score for _, score in batch]))

    @rule(factor=st.sampled_from([-1.0, 0.0, 7.0]))
    def rescore_all(self, factor: float) -> None:
        self.model.waiting = {link: factor * (link % 5) for link in self.model.waiting}
        self.frontier.rescore_all(lambda numbers: factor * (numbers % 5))

    @rule(passed=spans, count=st.integers(1, 6))
    def lease(self, passed: int, count: int) -> None:
        self.model.now = now = max(self.model.now, 0.0) + passed
        for _ in range(count):
            expected = self.model.best()
            assert self.frontier.lease(now) == expected
            if expected is not None:
                self.model.lease(expected)

    @rule(link=links, passed=spans)
    def take(self, link: int, passed: int) -> None:
        self.model.now = now = max(self.model.now, 0.0) + passed
        may = link in self.model.waiting and self.model.is_ready(host_of(link))
        assert self.frontier.take(link, now) is may
        if may:
            self.model.lease(link)

    @precondition(lambda self: self.model.leased)
    @rule(which=links)
    def done(self, which: int) -> None:
        link = sorted(self.model.leased)[which % len(self.model.leased)]
        del self.model.leased[link]
        self.model.gone.add(link)
        self.model.tiers.pop(link, None)
        self.frontier.done(link)

    @precondition(lambda self: self.model.leased)
    @rule(which=links, tries=st.sampled_from([None, 1, 2, 1000]))
    def release(self, which: int, tries: int | None) -> None:
        link = sorted(self.model.leased)[which % len(self.model.leased)]
        self.model.waiting[link] = self.model.leased.pop(link)
        if tries is not None:
            self.model.tiers[link] = min(tries, keys.MOST_TRIES)
        assert self.frontier.release(link, tries=tries) == self.model.trim()

    @rule(batch=st.sets(links), tier=st.sampled_from(TIERS))
    def set_tiers(self, batch: set[int], tier: int) -> None:
        chosen = [link for link in sorted(batch) if tier != keys.FAVOURED or link in self.model.waiting]
        self.model.tiers.update(dict.fromkeys(chosen, tier))
        self.frontier.set_tiers(np.array(chosen, dtype=np.int64), tier)

    @rule(link=links)
    def drop(self, link: int) -> None:
        assert self.frontier.drop(link) is (link in self.model.waiting)
        if link in self.model.waiting:
            del self.model.waiting[link]
            self.model.gone.add(link)
            self.model.tiers.pop(link, None)

    @rule(host=hosts, span=st.integers(-1, 5))
    def cool(self, host: int, span: int) -> None:
        self.model.until[host] = max(self.model.now, 0.0) + span
        self.frontier.cool(host, self.model.until[host])

    @rule(address=st.sampled_from(ADDRESSES[1:]), span=st.integers(-1, 5))
    def cool_address(self, address: str, span: int) -> None:
        self.model.address_until[address] = max(self.model.now, 0.0) + span
        self.frontier.cool_address(address, self.model.address_until[address])

    @rule(host=hosts, address=st.sampled_from(ADDRESSES))
    def set_address(self, host: int, address: str) -> None:
        self.model.address[host] = address
        self.frontier.set_address(host, address)

    @rule(host=hosts, is_aside=st.booleans())
    def set_aside(self, host: int, is_aside: bool) -> None:
        if is_aside:
            self.model.aside.add(host)
            self.frontier.set_aside(host)
        else:
            self.model.aside.discard(host)
            self.frontier.readmit(host)

    @rule(passed=spans)
    def next_ready(self, passed: int) -> None:
        """Never too late; exact if a host is ready or no address is shared; and repeated waiting always succeeds."""
        self.model.now = now = max(self.model.now, 0.0) + passed
        found, expected = self.frontier.next_ready(now), self.model.next_ready()
        if self.model.best() is not None:
            assert found == now
            return
        assert found is None or found > now
        assert expected is None or (found is not None and found <= expected)
        if not any(self.model.address.values()):
            assert found == expected
        while found is not None and found != expected:
            self.model.now = now = found
            found, expected = self.frontier.next_ready(now), self.model.next_ready()
            assert found is None or found >= now
        assert found == expected

    @invariant()
    def counts_agree(self) -> None:
        if not hasattr(self, "model"):
            return
        frontier, model = self.frontier, self.model
        assert (frontier.waiting, frontier.leased) == (len(model.waiting), len(model.leased))
        waiting_hosts = {host_of(link) for link in model.waiting}
        own = [h for h in waiting_hosts - model.aside if model.in_flight(h) < model.slots_per_host]
        cooling = sum(model.until.get(host, NEVER) > model.now for host in own)
        assert frontier.hosts == len(waiting_hosts)
        assert (frontier.hosts_cooling, frontier.hosts_ready) == (cooling, len(own) - cooling)

    @rule()
    def views_agree(self) -> None:
        frontier, model = self.frontier, self.model
        order = [link for link in model.order() if host_of(link) not in model.aside]
        assert frontier.waiting_links().tolist() == sorted(model.waiting)
        assert frontier.top(LINKS).tolist() == order
        assert frontier.top(3).tolist() == order[:3]
        best = math.inf if order and model.tier(order[0]) == keys.FAVOURED else model.waiting.get((*order, -1)[0])
        assert frontier.best_score() == best
        everything = np.arange(LINKS)
        assert [frontier.state_of(link) for link in range(LINKS)] == [model.state(link) for link in range(LINKS)]
        assert frontier.is_waiting(everything).tolist() == [link in model.waiting for link in range(LINKS)]
        is_new = [model.state(link) is LinkState.NEW for link in range(LINKS)]
        assert frontier.is_new(everything).tolist() == is_new
        np.testing.assert_array_equal(
            frontier.scores(everything), [model.waiting.get(link, math.nan) for link in range(LINKS)]
        )
        for link, score in (model.waiting | model.leased).items():
            assert (frontier.host_of(link), frontier.score_of(link)) == (host_of(link), score)
            assert frontier.tier_of(link) == model.tier(link)
        for host in range(HOSTS):
            assert frontier.waiting_of(host) == sum(host_of(link) == host for link in model.waiting)


def test_hands_out_exactly_the_best_ready_link() -> None:
    run_state_machine_as_test(Comparison, settings=settings(max_examples=60, stateful_step_count=40, deadline=None))


def random_step(machine: Comparison, rng: random.Random) -> None:
    link, host, score, passed = rng.randrange(LINKS), rng.randrange(HOSTS), rng.choice(SCORES), rng.choice(SPANS)
    address, span = rng.choice(ADDRESSES), rng.randint(-1, 5)
    batch = [(rng.randrange(LINKS), rng.choice(SCORES)) for _ in range(rng.randrange(8))]
    steps: list[Callable[[], None]] = [
        lambda: machine.push(link=link, score=score),
        lambda: machine.push_many(batch=batch, is_load=rng.random() < 0.1),
        lambda: machine.push_new(score=score, batch={link for link, _ in batch}),
        lambda: machine.rescore(batch=batch),
        lambda: machine.rescore_all(factor=score) if rng.random() < 0.1 else None,
        lambda: machine.lease(passed=passed, count=rng.randint(1, 6)),
        lambda: machine.take(link=link, passed=passed),
        lambda: machine.done(which=link) if machine.model.leased else None,
        lambda: machine.release(which=link, tries=rng.choice([None, 1, 2])) if machine.model.leased else None,
        lambda: machine.set_tiers(batch={link for link, _ in batch}, tier=rng.choice(TIERS)),
        lambda: machine.drop(link=link),
        lambda: machine.cool(host=host, span=span),
        lambda: machine.cool_address(address=address, span=span) if address else None,
        lambda: machine.set_address(host=host, address=address),
        lambda: machine.set_aside(host=host, is_aside=rng.random() < 0.3),
        lambda: machine.next_ready(passed=passed),
    ]
    rng.choice(steps)()
    machine.counts_agree()


@pytest.mark.parametrize("seed", range(8))
def test_hands_out_the_best_on_a_long_walk(seed: int) -> None:
    """The same comparison without Hypothesis, whose search takes most of the time: far more steps."""
    rng = random.Random(seed)
    for _ in range(60):
        machine = Comparison()
        machine.begin(
            buffer=rng.choice([None, None, None, 9]), per_host=rng.choice([1, 1, 2]), per_address=rng.choice([1, 1, 2])
        )
        for _ in range(100):
            random_step(machine, rng)
        machine.views_agree()


def frontier_with(*rows: tuple[int, int, float], **options: int) -> Frontier:
    frontier = Frontier(**options)
    for link, host, score in rows:
        frontier.push(link, host, score)
    return frontier


def test_equal_scores_leave_in_order_of_discovery() -> None:
    frontier = frontier_with((7, 0, 0.5), (3, 1, 0.5), (5, 0, 0.5), slots_per_host=3)
    assert [frontier.lease(0.0) for _ in range(4)] == [3, 5, 7, None]


def test_where_only_favoured_links_are_handed_out_the_others_wait() -> None:
    """Also while the host of the favoured one rests, and for strategies that choose links themselves."""
    frontier = frontier_with((1, 1, 0.9), (2, 2, 0.1))
    frontier.set_tiers(np.array([2]), keys.FAVOURED)
    frontier.cool(2, 10.0)
    frontier.hand_out_favoured_only()
    assert frontier.lease(0.0) is None
    assert frontier.next_ready(0.0) == 10.0
    assert not frontier.take(1, 0.0)
    assert frontier.lease(10.0) == 2
    frontier.done(2)
    assert frontier.lease(20.0) is None
    assert frontier.next_ready(20.0) is None
    assert frontier.waiting == 1


def test_hosts_of_one_address_go_through_its_gate_one_by_one() -> None:
    frontier = frontier_with(*((n, n, n / 100) for n in range(50)), (99, 99, 0.0))
    for host in range(50):
        frontier.set_address(host, "192.0.2.1")
    assert frontier.lease(0.0) == 49
    assert frontier.lease(0.0) == 99
    assert frontier.next_ready(0.0) is None
    for expected in range(48, -1, -1):
        now = 50.0 - expected
        frontier.cool_address("192.0.2.1", now)
        frontier.done(expected + 1)
        assert frontier.lease(now - 0.5) is None
        assert frontier.next_ready(now - 0.5) == now
        assert frontier.lease(now) == expected


def test_a_gate_admits_only_as_many_hosts_as_it_has_slots() -> None:
    """No stampede: when the address is free again, one host becomes ready, the others stay parked."""
    frontier = frontier_with(*((n, n, 1.0) for n in range(200)))
    for host in range(200):
        frontier.set_address(host, "192.0.2.1")
    assert frontier.lease(0.0) == 0
    assert frontier.lease(0.0) is None
    frontier.done(0)
    assert frontier.lease(0.0) == 1
    assert frontier._schedule.count(schedule.PARKED) == 198


def parked_pair() -> Frontier:
    """Links 1 and 2 on hosts 1 and 2, parked at an address that link 0 on host 0 keeps busy."""
    frontier = frontier_with((0, 0, 1.0), (1, 1, 0.9), (2, 2, 0.8))
    for host in range(3):
        frontier.set_address(host, "192.0.2.1")
    assert frontier.lease(0.0) == 0
    assert frontier.lease(0.0) is None
    return frontier


def test_a_host_let_in_and_then_withdrawn_makes_way_for_the_next() -> None:
    frontier = parked_pair()
    frontier.done(0)
    assert frontier.next_ready(0.0) == 0.0
    frontier.set_aside(1)
    assert frontier.lease(0.0) == 2


def test_a_host_that_moves_away_makes_way_for_the_next() -> None:
    frontier = parked_pair()
    frontier.done(0)
    frontier.set_address(1, "192.0.2.2")
    frontier.cool(1, 5.0)
    assert frontier.lease(0.0) == 2


def test_a_host_that_waits_at_another_gate_now_is_in_nobodys_way() -> None:
    frontier = parked_pair()
    frontier.push(3, 3, 0.7)
    frontier.set_address(3, "192.0.2.1")
    frontier.cool_address("192.0.2.2", 9.0)
    frontier.set_address(2, "192.0.2.2")
    assert frontier.lease(0.0) is None
    frontier.done(0)
    assert frontier.lease(0.0) == 1
    assert frontier.lease(0.0) is None
    frontier.done(1)
    assert frontier.lease(0.0) == 3
    assert frontier.lease(9.0) == 2


def test_a_gate_that_nobody_waited_for_is_waited_for_again() -> None:
    frontier = parked_pair()
    frontier.cool_address("192.0.2.1", 5.0)
    frontier.done(0)
    assert frontier.next_ready(0.0) == 5.0
    frontier.set_aside(1)
    frontier.set_aside(2)
    assert frontier.next_ready(0.0) is None
    frontier.readmit(1)
    assert frontier.lease(0.0) is None
    assert frontier.next_ready(0.0) == 5.0
    assert frontier.lease(5.0) == 1


def test_an_address_learned_during_a_fetch_is_busy_with_it() -> None:
    frontier = frontier_with((0, 0, 1.0), (1, 1, 0.5))
    frontier.set_address(1, "192.0.2.1")
    assert frontier.lease(0.0) == 0
    frontier.set_address(0, "192.0.2.1")
    assert frontier.lease(0.0) is None
    frontier.done(0)
    assert frontier.lease(0.0) == 1


def test_a_parked_host_with_a_better_link_goes_first() -> None:
    frontier = parked_pair()
    frontier.push(3, 2, 2.0)
    frontier.done(0)
    assert frontier.lease(0.0) == 3


def test_addresses_without_hosts_are_forgotten_once_they_have_cooled() -> None:
    frontier = frontier_with((0, 0, 1.0))
    frontier.cool_address("still cooling", 1e9)
    for n in range(5_000):
        frontier.set_address(0, f"address {n}")
        frontier.cool_address(f"address {n}", float(n))
        frontier.next_ready(float(n))
    assert len(frontier._schedule._gates) < 10
    frontier.set_address(0, "still cooling")
    assert frontier.lease(1e8) is None
    assert frontier.lease(1e9) == 0


def test_clocks_set_again_and_again_take_no_more_room() -> None:
    frontier = parked_pair()
    frontier.done(0)
    for n in range(2_000):
        frontier.cool(0, 1e6 + n)
        frontier.cool(1, 1e6 + n)
        frontier.cool_address("192.0.2.1", 1e6 + n)
    state = frontier._schedule
    assert max(len(state._cooling), len(state._opening)) < 20


def test_links_better_and_better_take_no_more_room_than_their_own() -> None:
    frontier = parked_pair()
    for n in range(2_000):
        frontier.push(10 + n, 2, float(n))
        frontier.push(10_000 + n, 3, float(n))
    state = frontier._schedule
    assert max(len(state._ready), len(state._gates["192.0.2.1"].parked)) < 20


def test_a_buffer_of_equal_scores_drops_the_last() -> None:
    frontier = Frontier(buffer=4)
    numbers = np.arange(10)
    assert frontier.push_many(numbers, numbers, np.zeros(10)) == [9, 8, 7, 6, 5, 4]
    assert frontier.push(20, 0, 1.0) == [3]
    assert frontier.push(3, 3, 2.0) == [2]
    assert frontier.top(9).tolist() == [3, 20, 0, 1]


def test_links_beyond_all_known_ones_are_new() -> None:
    frontier = frontier_with((0, 0, 1.0), (1, 1, 0.5))
    asked = np.array([1_000_000, 1, 2])
    assert frontier.is_new(asked).tolist() == [True, False, True]
    assert frontier.is_waiting(asked).tolist() == [False, True, False]
    np.testing.assert_array_equal(frontier.scores(asked), [math.nan, 0.5, math.nan])


@pytest.mark.parametrize("buffer", [None, 15])
def test_small_and_large_batches_do_the_same(buffer: int | None) -> None:
    rng = np.random.default_rng(0)
    links, scores, again = rng.permutation(40), rng.random(40).round(1), rng.random(40).round(1)
    whole, parts = Frontier(buffer=buffer), Frontier(buffer=buffer)
    dropped = set(whole.push_many(links, links % 3, scores))
    for part in np.split(np.arange(40), 10):
        dropped ^= set(parts.push_many(links[part], links[part] % 3, scores[part]))
    assert not dropped
    whole.rescore(links, again)
    for part in np.split(np.arange(40), 10):
        parts.rescore(links[part], again[part])
    assert [whole.top(40).tolist(), whole.lease(0.0)] == [parts.top(40).tolist(), parts.lease(0.0)]


def test_a_retry_can_overflow_the_buffer() -> None:
    frontier = frontier_with((0, 0, 1.0), (1, 1, 0.5), buffer=2)
    assert frontier.lease(0.0) == 0
    assert frontier.push(2, 2, 0.7) == []
    assert frontier.release(0, tries=1) == [0]
    assert frontier.state_of(0) is LinkState.NEW
    assert frontier.push(0, 0, 1.0) == [0]  # it was tried before: what was not goes on waiting


def test_a_leased_link_that_is_found_again_is_left_alone() -> None:
    frontier = frontier_with((0, 0, 1.0))
    assert frontier.lease(0.0) == 0
    frontier.push(0, 0, 5.0)
    frontier.load(np.array([0]), np.array([0]), np.array([5.0]))
    assert (frontier.waiting, frontier.leased, frontier.score_of(0)) == (0, 1, 1.0)


def test_time_does_not_go_back() -> None:
    frontier = frontier_with((0, 0, 1.0))
    frontier.cool(0, 5.0)
    assert frontier.next_ready(6.0) == 6.0
    assert frontier.lease(4.0) == 0


def test_loading_is_pushing() -> None:
    rng = np.random.default_rng(5)
    columns = rng.permutation(3_000), rng.integers(0, 40, 3_000), rng.random(3_000).round(2)
    pushed, loaded = Frontier(slots_per_host=3_000), Frontier(slots_per_host=3_000)
    pushed.push_many(*columns)
    loaded.load(*columns)
    order = [pushed.lease(0.0) for _ in range(3_001)]
    assert order == [loaded.lease(0.0) for _ in range(3_001)]
    assert sorted(order[:-1]) == list(range(3_000))


@pytest.mark.parametrize("method", ["done", "release"])
def test_giving_back_what_was_not_leased_is_a_fault(method: str) -> None:
    frontier = frontier_with((0, 0, 1.0))
    for link in (0, 5, 10**6, -1):
        with pytest.raises(ValueError, match="is not leased"):
            getattr(frontier, method)(link)
    assert frontier.lease(0.0) == 0


def test_bad_input_is_refused_and_changes_nothing() -> None:
    frontier = frontier_with((0, 0, 1.0))
    one, two = np.array([1]), np.array([1, 2])
    for push in (frontier.push_many, frontier.load):
        with pytest.raises(ValueError, match="NaN"):
            push(two, two, np.array([1.0, math.nan]))
        with pytest.raises(ValueError, match="different lengths"):
            push(two, two, np.array([1.0]))
        with pytest.raises(ValueError, match="number of a link"):
            push(-one, one, one)
        with pytest.raises(ValueError, match="number of a host"):
            push(one, -one, one)
    with pytest.raises(ValueError, match="number of a link"):
        frontier.push(2**32, 0, 1.0)
    with pytest.raises(ValueError, match="NaN"):
        frontier.rescore_all(lambda numbers: numbers * math.nan)
    with pytest.raises(ValueError, match="different lengths"):
        frontier.rescore_all(lambda numbers: np.zeros(len(numbers) + 1))
    with pytest.raises(KeyError, match="link 1 "):
        frontier.score_of(1)
    assert frontier.waiting_links().tolist() == [0]
    assert frontier.score_of(0) == 1.0


@pytest.mark.parametrize("options", [{"buffer": 0}, {"slots_per_host": 0}, {"slots_per_address": 0}])
def test_a_frontier_that_could_do_nothing_is_refused(options: dict[str, int]) -> None:
    with pytest.raises(ValueError, match=r"at least (1 link|one slot)"):
        Frontier(**options)


@pytest.mark.parametrize("hosts", [3, 1 << 16, 1 << 20])
def test_links_are_ordered_by_host_and_key_however_many_hosts(hosts):
    rng = np.random.default_rng(hosts)
    numbers, waiting = rng.integers(0, hosts, 3_000), rng.permutation(3_000).astype(np.uint64)
    assert frontier_module._by_host(waiting, numbers).tolist() == np.lexsort((waiting, numbers)).tolist()
