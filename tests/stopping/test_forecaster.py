from __future__ import annotations

import numpy as np
import pytest

from lycosa.frontier.frontier import Frontier
from lycosa.stopping.forecast import MIN_PAGES, History, Waiting
from lycosa.stopping.forecaster import EVERY, Forecaster, forecast_by_rate


def frontier(links: int = 1) -> Frontier:
    made = Frontier()
    for link in range(1, links + 1):
        made.push(link, 1, 0.5)
    return made


class Open:
    """A strategy whose scores are predictions."""

    def __init__(self) -> None:
        self.asked = 0

    def history(self) -> History:
        self.asked += 1
        rng = np.random.default_rng(0)
        scores = rng.uniform(0.1, 0.9, 80)
        relevant = (rng.random(80) < scores).astype(float)
        return History(scores, relevant, np.full(80, -1), np.full(80, 3), np.arange(1, 81))

    def waiting(self, frontier: Frontier) -> Waiting:
        count = len(frontier.waiting_links())
        return Waiting(np.full(count, 0.5), np.zeros(count, dtype=np.int64), np.full(count, 3))


class TestForecaster:
    def test_predictions_are_used_where_there_are_any(self):
        ask = Forecaster(Open(), frontier(40), visits=lambda: 80, recent=lambda: pytest.fail("asked"), pages=500)
        found = ask()
        assert found is not None
        assert found.pages == 40
        assert found.left is not None
        assert ask.calibration() is not None

    def test_it_works_seldom(self):
        strategy, visits = Open(), [80]
        ask = Forecaster(strategy, frontier(), visits=lambda: visits[0], recent=list)
        first = ask()
        for visits[0] in range(80, 80 + EVERY):
            assert ask() is first
        assert strategy.asked == 1
        visits[0] = 80 + EVERY
        ask()
        assert strategy.asked == 2
        visits[0] = 10_000
        ask()
        visits[0] = 10_499
        ask()
        assert strategy.asked == 3

    def test_other_strategies_are_forecast_by_what_they_brought(self):
        ask = Forecaster(None, frontier(), visits=lambda: 90, recent=lambda: [True] * 90, pages=100)
        found = ask()
        assert found is not None
        assert found.harvest.value > 80
        assert found.left is None
        assert ask.calibration() is None


class TestByRate:
    def test_nothing_is_said_too_early_or_where_nothing_waits(self):
        assert forecast_by_rate(np.ones(MIN_PAGES - 1), waiting=1) is None
        assert forecast_by_rate(np.ones(MIN_PAGES), waiting=0) is None

    def test_the_latest_pages_decide(self):
        relevant = np.concatenate([np.ones(300), np.arange(100) % 5 == 0])
        found = forecast_by_rate(relevant, waiting=9, pages=1000)
        assert found is not None
        assert 0.08 < found.share.value < 0.2
        assert found.harvest.low < 200 < found.harvest.high

    def test_farther_ahead_is_less_certain(self):
        relevant = (np.arange(100) % 2).astype(float)
        near, far = (forecast_by_rate(relevant, waiting=9, pages=count) for count in (100, 2000))
        assert near is not None
        assert far is not None
        assert far.share.high - far.share.low > near.share.high - near.share.low
