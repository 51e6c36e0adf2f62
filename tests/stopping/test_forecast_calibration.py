from __future__ import annotations

import numpy as np
import pytest

from lycosa.stopping.forecast_calibration import calibration, fit, log_odds, probability


class TestFit:
    @pytest.mark.parametrize(("intercept", "slope"), [(0.0, 1.0), (-1.5, 0.6), (1.0, 1.5)])
    def test_it_finds_what_scores_mean(self, intercept, slope):
        rng = np.random.default_rng(0)
        scores = rng.uniform(0.02, 0.98, 20_000)
        relevant = (rng.random(20_000) < probability(intercept + slope * log_odds(scores))).astype(float)
        found = fit(scores, relevant, np.ones(20_000))
        assert found.intercept == pytest.approx(intercept, abs=0.08)
        assert found.slope == pytest.approx(slope, abs=0.08)

    @pytest.mark.parametrize("outcome", [0.0, 1.0])
    def test_all_the_same_stays_finite(self, outcome):
        found = fit(np.full(500, 0.5), np.full(500, outcome), np.ones(500))
        assert 2 < abs(found.intercept) < 12
        assert np.isfinite(found.covariance).all()

    @pytest.mark.parametrize("score", [0.97, 0.02])
    def test_scores_that_are_far_off(self, score):
        """Full steps of Newton's method do not converge here."""
        scores = np.concatenate([np.full(200, score), np.full(20, 1 - score)])
        relevant = np.concatenate([np.arange(200) % 10 == 0, np.ones(20)]).astype(float)
        found = fit(scores, relevant, np.ones(220))
        assert probability(found.intercept + found.slope * log_odds(scores)).mean() == pytest.approx(
            relevant.mean(), abs=0.05
        )

    def test_better_scores_are_never_worse(self):
        scores = np.linspace(0.1, 0.9, 200)
        assert fit(scores, (scores < 0.5).astype(float), np.ones(200)).slope > 0

    def test_more_pages_are_more_certain(self):
        rng = np.random.default_rng(0)
        scores = rng.uniform(0.1, 0.9, 1000)
        relevant = (rng.random(1000) < scores).astype(float)
        few, many = (fit(scores[:n], relevant[:n], np.ones(n)) for n in (50, 1000))
        assert many.covariance[0, 0] < few.covariance[0, 0] / 4

    def test_draws_spread_as_the_covariance_says(self):
        found = fit(np.linspace(0.1, 0.9, 99), (np.arange(99) % 2).astype(float), np.ones(99))
        drawn = found.draws(20_000, inflation=2.0, rng=np.random.default_rng(0))
        assert drawn[0].tolist() == [found.intercept, found.slope]
        assert drawn[:, 0].var() == pytest.approx(2 * found.covariance[0, 0], rel=0.05)
        assert drawn[:, 1].min() > 0


class TestCalibration:
    def test_reliability_by_bins(self):
        found = calibration(np.array([0.72, 0.78, 0.75, 0.05, 1.0, np.nan]), np.array([1.0, 1, 0, 0, 1, 1]))
        assert found.count == 5
        assert [(each.low, each.pages) for each in found.bins] == [(0.0, 1), (0.7, 3), (0.9, 1)]
        assert found.bins[1].predicted == pytest.approx(0.75)
        assert found.bins[1].found == pytest.approx(2 / 3)
        assert found.brier == pytest.approx((0.28**2 + 0.22**2 + 0.75**2 + 0.05**2) / 5)
        assert found.brier_of_base_rate == pytest.approx(0.6 * 0.4)
        assert found.error == pytest.approx((0.05 + 3 * (0.75 - 2 / 3)) / 5)

    def test_in_words(self):
        scores = np.repeat([0.75, 0.15], [100, 50])
        relevant = np.concatenate([np.arange(100) < 68, np.arange(50) < 5]).astype(float)
        words = calibration(scores, relevant).as_words()
        assert words.startswith(
            "of the pages expected to be relevant at 70–80 %, 68% were (100); at 10–20 %, 10% were (50); off by 6.3%"
        )

    def test_nothing_predicted(self):
        found = calibration(np.array([np.nan]), np.array([1.0]))
        assert (found.count, found.bins) == (0, ())
        assert found.as_words() == "there are no predictions yet"
