"""Best-first in batches of N."""

from __future__ import annotations

import numpy as np
import pytest

from lycosa.frontier.frontier import Frontier
from lycosa.strategies.papers.best_first import BestFirst, BestFirstSettings
from lycosa.strategies.protocol import StrategyParts


def best_first(batch: int, *, seed: int = 1) -> BestFirst:
    return BestFirst(StrategyParts(rng=np.random.default_rng(seed)), BestFirstSettings(batch=batch))


def frontier_of(scores, *, hosts: int = 1000, buffer: int | None = None) -> Frontier:
    frontier = Frontier(buffer=buffer)
    for link, score in enumerate(scores):
        frontier.push(link, link % hosts, score)
    return frontier


def test_one_at_a_time_is_the_best_first():
    scores = [0.1, 0.9, 0.5, 0.7]
    assert best_first(1).ask(4, frontier_of(scores), 0.0) == [1, 3, 2, 0]


def test_a_batch_is_the_best_in_random_order():
    scores = [number / 20 for number in range(20)]
    orders = set()
    for seed in range(8):
        frontier = frontier_of(scores)
        strategy = best_first(5, seed=seed)
        first = strategy.ask(5, frontier, 0.0)
        assert sorted(first) == [15, 16, 17, 18, 19]
        assert sorted(strategy.ask(5, frontier, 0.0)) == [10, 11, 12, 13, 14]
        orders.add(tuple(first))
    assert len(orders) > 4


def test_what_is_found_meanwhile_waits_for_the_next_batch():
    frontier = frontier_of([0.2, 0.3, 0.1])
    strategy = best_first(3)
    got = strategy.ask(1, frontier, 0.0)
    frontier.push(3, 3, 0.9)
    got += strategy.ask(1, frontier, 0.0) + strategy.ask(1, frontier, 0.0)
    assert sorted(got) == [0, 1, 2]
    assert strategy.ask(1, frontier, 0.0) == [3]


def test_one_call_may_use_up_several_batches():
    assert len(best_first(2).ask(7, frontier_of([0.5] * 9), 0.0)) == 7


def test_a_link_whose_host_is_not_ready_waits_while_others_go():
    frontier = frontier_of([0.9, 0.8, 0.7, 0.1])
    frontier.cool(1, 10.0)
    strategy = best_first(3)
    assert sorted(strategy.ask(9, frontier, 0.0)) == [0, 2]
    assert strategy.ask(9, frontier, 5.0) == []  # the batch is not used up
    assert strategy.ask(9, frontier, 10.0) == [1, 3]


def test_a_link_dropped_from_the_frontier_leaves_the_batch():
    frontier = frontier_of([0.9, 0.8, 0.7])
    strategy = best_first(3)
    (first,) = strategy.ask(1, frontier, 0.0)
    dropped = next(link for link in range(3) if link != first)
    frontier.drop(dropped)
    assert strategy.ask(9, frontier, 0.0) == [3 - first - dropped]


def test_a_host_set_aside_does_not_hold_the_batch_up_for_ever():
    frontier = frontier_of([0.9, 0.8, 0.7, 0.1])
    strategy = best_first(3)
    frontier.cool(0, 5.0)
    for link in strategy.ask(9, frontier, 0.0):
        frontier.done(link)
    frontier.set_aside(0)
    assert strategy.ask(9, frontier, 6.0) == [3]


@pytest.mark.parametrize("count", [1, 3])
def test_the_rest_of_a_batch_is_saved(count):
    scores = [number / 20 for number in range(20)]
    frontier, strategy = frontier_of(scores), best_first(8)
    strategy.ask(count, frontier, 0.0)
    other = best_first(8, seed=99)
    other.restore(strategy.save())
    twin = frontier_of(scores)
    for link in range(20):
        if not frontier.is_waiting(np.array([link]))[0]:
            twin.take(link, 0.0)
    assert other.ask(12, twin, 0.0) == strategy.ask(12, frontier, 0.0)


def test_a_full_buffer_drops_nothing_of_the_batch_and_has_room_for_as_many_others():
    frontier = frontier_of([0.1, 0.2, 0.3, 0.4], buffer=4)
    strategy = best_first(4)
    got = strategy.ask(1, frontier, 0.0)
    for link in range(4, 10):
        frontier.push(link, link, link / 10)
    got += [link for _ in range(3) for link in strategy.ask(1, frontier, 0.0)]
    assert sorted(got) == [0, 1, 2, 3]
    assert sorted(strategy.ask(9, frontier, 0.0)) == [6, 7, 8, 9]


def test_links_set_apart_are_rescored_dropped_and_come_back_like_others():
    frontier = frontier_of([0.1, 0.2, 0.3], buffer=3)
    frontier.spare(np.array([0, 1, 7]))
    frontier.rescore(np.array([0, 2]), np.array([0.9, 0.05]))
    assert frontier.drop(1)
    assert frontier.lease(0.0) == 0
    assert frontier.release(0, tries=1) == []
    assert frontier.push(3, 3, 0.5) == []
    assert frontier.push(4, 4, 0.6) == [0]
    frontier.rescore_all(lambda links: np.full(len(links), 0.5))
    assert frontier.waiting == 3
