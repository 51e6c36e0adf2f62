from __future__ import annotations

import numpy as np
import pytest

from lycosa.frontier.frontier import Frontier
from lycosa.model import Fetched, Kind, Lease, Outcome, Page, Visit
from lycosa.strategies.papers.breadth_first import BreadthFirst
from lycosa.strategies.protocol import NoSettings, StrategyParts

OUTCOME = Outcome(Kind.FETCHED)


def told(strategy: BreadthFirst, targets: list[int]) -> np.ndarray:
    visit = Visit(Fetched(Lease(0, "", 0, 0.0, 0, 0, 0), OUTCOME), OUTCOME, Page(""))
    return strategy.tell(visit, np.array(targets))


def test_a_dropped_link_that_is_found_again_joins_the_end_of_the_queue():
    strategy, frontier = BreadthFirst(StrategyParts(), NoSettings()), Frontier(buffer=3, slots_per_host=9)
    links = np.array([1, 2, 3, 4])
    assert frontier.push_many(links, links * 0, told(strategy, [1, 2, 3, 4])) == [4]  # found last
    assert strategy.ask(2, frontier, 0.0) == [1, 2]
    again = np.array([5, 4])
    frontier.push_many(again, again * 0, told(strategy, [5, 4]))
    assert strategy.ask(9, frontier, 0.0) == [3, 5, 4]  # not 3, 4, 5


def test_a_waiting_link_that_is_found_again_keeps_its_place():
    strategy = BreadthFirst(StrategyParts(), NoSettings())
    first, second = told(strategy, [1, 2]), told(strategy, [2, 3])
    assert second[0] < first[1]  # only a better score moves a waiting link


def test_it_goes_on_counting_after_a_break():
    strategy, other = (BreadthFirst(StrategyParts(), NoSettings()) for _ in range(2))
    told(strategy, [1, 2, 3])
    other.restore(strategy.save())
    assert told(other, [4]).tolist() == told(strategy, [4]).tolist() == [-4]
    assert "number 4" in strategy.reason(-4.0)
    assert "seed" in strategy.reason(strategy.seed_score())
    with pytest.raises(ValueError, match="breadth-first"):
        other.restore(b"something else")
