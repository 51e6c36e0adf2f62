from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from lycosa.errors import ConfigError
from lycosa.frontier.frontier import Frontier
from lycosa.strategies.papers.current_list import CurrentList, CurrentListSettings
from lycosa.strategies.table import strategy


def made(size: int = 4, refill: int = 2, seed: int = 1, inner: str = "best-first") -> CurrentList:
    settings = CurrentListSettings(size=size, refill=refill)
    return CurrentList(strategy(inner), rng=np.random.default_rng(seed), settings=settings)


def filled(count: int, *, hosts: int = 1) -> Frontier:
    """Links from 0 on, each worth less than the one before."""
    frontier = Frontier(slots_per_host=1)
    for link in range(count):
        frontier.push(link, link % hosts, 1.0 - link / count)
    return frontier


def drain(chosen: CurrentList, frontier: Frontier, count: int) -> list[int]:
    links = []
    for _ in range(count):
        (link,) = chosen.ask(1, frontier, 0.0)
        frontier.done(link)
        links.append(link)
    return links


def test_only_the_best_are_in_the_list():
    for seed in range(20):
        chosen, frontier = made(seed=seed), filled(50)
        # 2 join, one is drawn, 1 is left: 2 join, and so on.
        for number, link in enumerate(drain(chosen, frontier, 20)):
            assert link < 2 * (number + 2)


def test_what_has_waited_longer_is_likelier_to_come():
    """Two with stamp 2 and two with stamp 1: a third each against a sixth each."""
    seconds: Counter[int] = Counter()
    for seed in range(600):
        chosen, frontier = made(size=5, refill=3, seed=seed), filled(50)
        first, second = drain(chosen, frontier, 2)
        seconds["waited" if second in {0, 1, 2} - {first} else "new"] += 1
    # 2 · 2 stamps against 3 · 1.
    assert 0.5 < seconds["waited"] / 600 < 0.64


def test_everything_comes_in_the_end():
    assert sorted(drain(made(), filled(30), 30)) == list(range(30))


def test_an_empty_frontier_gives_nothing():
    chosen, frontier = made(), filled(3)
    drain(chosen, frontier, 3)
    assert chosen.ask(1, frontier, 0.0) == []


def test_resting_hosts_hold_nothing_up():
    chosen, frontier = made(), filled(40, hosts=10)
    for host in range(4):  # those of the links in the list
        frontier.cool(host, 100.0)
    leased = chosen.ask(6, frontier, 0.0)
    assert leased == [4, 5, 6, 7, 8, 9]  # the frontier's best ready ones
    assert chosen.ask(6, frontier, 1.0) == []


def test_links_dropped_meanwhile_leave_the_list():
    chosen, frontier = made(), filled(10)
    drain(chosen, frontier, 1)
    kept = chosen._links[0]
    frontier.drop(kept)
    assert kept not in drain(chosen, frontier, 8)


def test_it_goes_on_from_what_was_saved():
    whole, part, frontiers = made(), made(), (filled(60), filled(60))
    way = drain(whole, frontiers[0], 50)
    begun = drain(part, frontiers[1], 20)
    resumed = made(seed=99)
    resumed.restore(part.save())
    assert begun + drain(resumed, frontiers[1], 30) == way


def test_a_state_of_another_strategy_is_refused():
    with pytest.raises(ValueError, match=r"of the strategy current-list\+best-first, not of"):
        made(inner="breadth-first").restore(made().save())


@pytest.mark.parametrize(("size", "refill"), [(0, 1), (10, 0), (10, 11)])
def test_impossible_sizes(size, refill):
    with pytest.raises(ConfigError, match="current-list"):
        CurrentListSettings(size=size, refill=refill)
