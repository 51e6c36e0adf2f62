"""The unfocused baseline."""

from __future__ import annotations

import numpy as np

from lycosa.model import Fetched, Judgement, Kind, Lease, Outcome, Page, Visit
from lycosa.strategies.papers.random_order import RandomOrder
from lycosa.strategies.protocol import NoSettings, StrategyParts

OUTCOME = Outcome(Kind.FETCHED)
VISIT = Visit(Fetched(Lease(1, "", 0, 1.0, 0, 0, 0), OUTCOME), OUTCOME, Page(""), Judgement(0.5, True))


def lots(seed: int, links) -> np.ndarray:
    return RandomOrder(StrategyParts(rng=np.random.default_rng(seed)), NoSettings()).tell(VISIT, links)


def test_lots_are_spread_evenly_below_one():
    found = lots(1, np.arange(20_000))
    counts = np.histogram(found, bins=20, range=(0, 1))[0]
    assert counts.sum() == 20_000
    assert counts.min() > 850
    assert counts.max() < 1150
    assert abs(np.corrcoef(found[1:], found[:-1])[0, 1]) < 0.03


def test_a_link_has_the_same_lot_wherever_it_is_found():
    assert lots(1, np.array([5, 9, 7]))[2] == lots(1, np.array([7]))[0]


def test_another_seed_gives_another_order():
    links = np.arange(100)
    assert (np.argsort(lots(1, links)) != np.argsort(lots(2, links))).any()
