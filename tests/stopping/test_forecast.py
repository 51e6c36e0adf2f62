from __future__ import annotations

import numpy as np
import pytest

from lycosa.stopping import forecast as module
from lycosa.stopping.forecast import MIN_PAGES, History, Waiting, forecast


def pages(count: int, *, seed: int = 0, low: float = 0.05, high: float = 0.95, dead: int = 0) -> History:
    """Pages with accurate scores, none of which found links that were chosen later."""
    rng = np.random.default_rng(seed)
    scores = rng.uniform(low, high, count)
    relevant = (rng.random(count) < scores).astype(np.float64)
    nothing = np.full(count, -1)
    return History(scores, relevant, nothing, np.full(count, 5), np.arange(1, count + 1) * (dead + 1))


def links(*scores: float, count: int = 1, found: int = 0, cited: int = 5) -> Waiting:
    """`count` waiting links with each of these scores, found long ago and cited by many pages."""
    values = np.repeat(np.array(scores), count)
    return Waiting(values, np.full(len(values), found), np.full(len(values), cited))


class TestHarvest:
    def test_nothing_is_said_too_early_or_where_nothing_waits(self):
        assert forecast(pages(MIN_PAGES - 1), links(0.5)) is None
        assert forecast(pages(MIN_PAGES), links()) is None
        assert forecast(pages(MIN_PAGES), links(0.5)) is not None

    def test_seeds_do_not_count_as_predicted(self):
        history = pages(MIN_PAGES)
        history.scores[0] = np.nan
        assert forecast(history, links(0.5)) is None

    @pytest.mark.parametrize("score", [0.1, 0.5, 0.9])
    def test_honest_scores_are_believed(self, score):
        found = forecast(pages(600), links(score, count=1000), pages=100)
        assert found is not None
        assert found.pages == 100
        assert found.share.value == pytest.approx(score, abs=0.12)
        assert found.harvest.low < 100 * score < found.harvest.high

    def test_scores_that_promise_too_much_are_read_as_what_came_of_them(self):
        rng = np.random.default_rng(1)
        history = pages(600, low=0.8)
        history.relevant[:] = rng.random(600) < 0.1
        found = forecast(history, links(0.9, count=1000), pages=100)
        assert found is not None
        assert found.share.value < 0.2

    def test_the_latest_pages_count_most(self):
        history = pages(600, low=0.45, high=0.55)
        history.relevant[:] = np.arange(600) < 450
        found = forecast(history, links(0.5, count=1000), pages=100)
        assert found is not None
        assert found.share.value < 0.1

    def test_the_best_are_fetched_first(self):
        few, many = (forecast(pages(600), links(0.9, 0.02, count=count), pages=200) for count in (50, 200))
        assert few is not None
        assert many is not None
        assert few.pages == 100
        assert few.harvest.value == pytest.approx(45, abs=12)
        assert many.harvest.value > 2.5 * few.harvest.value

    def test_fewer_pages_than_asked_for_where_less_waits(self):
        found = forecast(pages(600), links(0.5, count=30), pages=1000)
        assert found is not None
        assert found.pages == 30
        assert found.harvest.high <= 30

    def test_links_that_never_become_pages_are_left_out(self):
        found = forecast(pages(600, dead=2), links(0.5, count=300), pages=1000)
        assert found is not None
        assert found.pages == pytest.approx(100, abs=5)

    def test_new_links_come_on_the_way(self):
        history = pages(600)
        history.cited[:] = 1  # cited once: much is undiscovered
        fresh = Waiting(np.full(300, 0.9), np.repeat(np.arange(540, 600), 5), np.full(300, 1))
        stale = fresh._replace(found=np.zeros(300, dtype=np.int64))
        growing, fixed = (forecast(history, waiting, pages=1000) for waiting in (fresh, stale))
        assert growing is not None
        assert fixed is not None
        assert fixed.pages == 300
        assert growing.pages > 600

    def test_where_nothing_is_undiscovered_new_links_dry_up(self):
        history = pages(600)
        fresh = Waiting(np.full(300, 0.9), np.repeat(np.arange(540, 600), 5), np.full(300, 5))
        found = forecast(history, fresh, pages=1000)
        assert found is not None
        assert found.pages < 330

    def test_farther_ahead_is_less_certain(self):
        near, far = (forecast(pages(600), links(0.5, count=5000), pages=count) for count in (50, 2000))
        assert near is not None
        assert far is not None
        assert far.share.high - far.share.low > near.share.high - near.share.low

    def test_the_same_twice(self):
        assert forecast(pages(100), links(0.3, count=99)) == forecast(pages(100), links(0.3, count=99))

    def test_intervals_hold_where_scores_are_honest_and_nothing_drifts(self):
        held = []
        for seed in range(40):
            rng = np.random.default_rng([7, seed])
            scores = rng.uniform(0.02, 0.98, 400)
            best = np.sort(scores)[::-1][:100]
            found = forecast(pages(150, seed=seed), Waiting(scores, *[np.full(400, 0)] * 2), pages=100)
            assert found is not None
            held.append(found.harvest.low <= (rng.random(100) < best).sum() <= found.harvest.high)
        assert np.mean(held) >= 0.9


class TestLeft:
    def test_it_is_the_sum_of_what_is_expected_where_all_is_well_known(self):
        found = forecast(pages(600), links(0.5, count=1000))
        assert found is not None
        assert found.left is not None
        assert found.left.value == pytest.approx(500, rel=0.25)
        assert found.left.low < 500 < found.left.high

    def test_capture_and_recapture(self):
        history = pages(10)._replace(
            relevant=np.array([1.0] * 8 + [0] * 2), cited=np.array([1, 1, 1, 1, 1, 2, 2, 3, 1, 2])
        )
        # five relevant pages were cited once and two twice; of the waiting ones, one of each is expected
        expected = module._undiscovered(history, np.array([1, 1, 2, 2, 9]), np.array([0.5, 0.5, 0.3, 0.7, 1.0]))
        assert expected == pytest.approx(6 * 5 / (2 * 4))

    def test_half_of_the_undiscovered_pages_are_left_besides_those_expected(self, monkeypatch):
        known = forecast(pages(600), links(0.5, count=1000))
        monkeypatch.setattr(module, "_undiscovered", lambda *_: 400.0)
        more = forecast(pages(600), links(0.5, count=1000))
        assert more.left.value - known.left.value == pytest.approx(200, abs=1)

    def test_nothing_cited_once_means_nothing_undiscovered(self):
        assert module._undiscovered(pages(10), np.array([5]), np.array([1.0])) == 0

    def test_a_number_cannot_be_below_zero(self):
        assert module._left(0.0).low == 0
        assert module._left(0.0).high > 0
