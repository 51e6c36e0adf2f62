from __future__ import annotations

import numpy as np
import pytest

from lycosa.judges.calibration import (
    Platt,
    Temperature,
    expected_calibration_error,
    logistic_fit,
    sigmoid,
    softmax,
)


def drawn(logits: np.ndarray, seed: int) -> np.ndarray:
    """A class for each row, drawn with the probabilities of its logits."""
    shares = softmax(logits)
    points = np.random.default_rng(seed).random((len(logits), 1))
    return (points > shares.cumsum(axis=1)).sum(axis=1).clip(max=logits.shape[1] - 1)


class TestTemperature:
    def test_it_finds_the_scale_that_made_the_data(self):
        logits = np.random.default_rng(1).normal(size=(20_000, 4))
        fitted = Temperature.fit(logits * 50.0, drawn(logits, 2))
        assert fitted.scale == pytest.approx(1 / 50, rel=0.05)
        assert fitted.exponent == 0.0

    def test_it_finds_how_length_matters(self):
        rng = np.random.default_rng(3)
        logits, lengths = rng.normal(size=(20_000, 3)), rng.integers(5, 2_000, 20_000)
        fitted = Temperature.fit(logits * lengths[:, None] ** 0.7, drawn(logits, 4), lengths=lengths)
        assert fitted.exponent == pytest.approx(0.7, abs=0.101)
        found = fitted.apply(logits * lengths[:, None] ** 0.7, lengths=lengths)
        assert np.abs(found - softmax(logits)).mean() < 0.02

    def test_offsets_are_not_scaled(self):
        rng = np.random.default_rng(5)
        logits, offsets = rng.normal(size=(20_000, 2)), np.log([0.9, 0.1])
        fitted = Temperature.fit(logits * 10, drawn(logits + offsets, 6), offsets=offsets)
        assert fitted.scale == pytest.approx(0.1, rel=0.1)
        assert fitted.apply(np.zeros(2), offsets=offsets) == pytest.approx([0.9, 0.1])

    def test_scores_that_are_always_right_stay_finite(self):
        fitted = Temperature.fit(np.array([[5.0, 0.0], [0.0, 5.0]]), np.array([0, 1]))
        assert np.isfinite(fitted.scale)
        assert fitted.apply(np.array([1e6, -1e6])) == pytest.approx([1.0, 0.0])

    def test_without_examples_nothing_is_changed(self):
        assert Temperature.fit(np.zeros((0, 3)), np.zeros(0, int)) == Temperature(1.0, 0.0)


class TestPlatt:
    def test_it_finds_the_curve_that_made_the_data(self):
        rng = np.random.default_rng(7)
        scores = rng.normal(scale=3.0, size=20_000)
        is_true = rng.random(20_000) < sigmoid(1.5 * scores - 2.0)
        fitted = Platt.fit(scores, is_true)
        assert (fitted.slope, fitted.intercept) == (pytest.approx(1.5, rel=0.06), pytest.approx(-2.0, rel=0.06))

    def test_scores_that_separate_do_not_become_certain(self):
        fitted = Platt.fit([-1.0, -2.0, 1.0, 2.0], [False, False, True, True])
        assert 0.5 < fitted.apply(1.0) < 1.0

    def test_misleading_scores_give_the_base_rate(self):
        fitted = Platt.fit([3.0, 2.0, 1.0, 0.0], [False, False, False, True])
        assert fitted.slope == 0.0
        assert fitted.apply([-5.0, 5.0]) == pytest.approx([2 / 6, 2 / 6])

    def test_scores_that_are_all_equal_give_the_base_rate(self):
        assert Platt.fit([2.0, 2.0, 2.0], [True, True, False]).apply(2.0) == pytest.approx(3 / 5)

    def test_scores_of_any_size_do_not_overflow(self):
        assert Platt(1.0, 0.0).apply([-1e9, 1e9]).tolist() == [0.0, 1.0]


class TestCalibrationError:
    def test_perfect_predictions_have_none(self):
        assert expected_calibration_error([0.5, 0.5, 1.0, 0.0], [True, False, True, False]) == 0.0

    def test_it_weighs_bins_by_what_is_in_them(self):
        # Three predictions of 0.9, one of which came true; one of 0.1 that did not.
        found = expected_calibration_error([0.9, 0.9, 0.9, 0.1], [True, False, False, False], bins=10)
        assert found == pytest.approx(3 / 4 * (0.9 - 1 / 3) + 1 / 4 * 0.1)

    def test_bins_are_of_equal_width_and_the_last_holds_certainty(self):
        found = expected_calibration_error([0.0, 0.5, 1.0], [False, True, True], bins=2)
        assert found == pytest.approx(2 / 3 * (1.0 - 0.75))

    def test_no_predictions_have_none(self):
        assert expected_calibration_error([], []) == 0.0

    def test_each_probability_needs_its_truth(self):
        with pytest.raises(ValueError, match="2 probabilities but 1 outcomes"):
            expected_calibration_error([0.1, 0.2], [True])


def test_what_was_learned_survives_as_plain_numbers():
    for fitted in (Temperature(0.3, 0.7), Platt(2.0, -1.0)):
        assert type(fitted).from_array(fitted.to_array()) == fitted


@pytest.mark.parametrize("kind", [Temperature, Platt])
def test_invalid_numbers_are_refused(kind):
    for numbers in ([1.0], [np.nan, 1.0]):
        with pytest.raises(ValueError, match="2 finite numbers"):
            kind.from_array(np.array(numbers))


class TestLogisticFit:
    def test_it_finds_the_coefficients_that_made_the_data(self):
        rng = np.random.default_rng(20)
        columns, offset = rng.normal(size=(20_000, 2)), rng.normal(size=20_000)
        is_true = rng.random(20_000) < sigmoid(columns @ [2.0, -0.5] + offset)
        found, _ = logistic_fit(columns, is_true, offset=offset, start=(1.0, -1.0))
        assert found == pytest.approx((2.0, -0.5), rel=0.1)

    def test_few_examples_stay_where_they_are_pulled(self):
        columns, is_true = np.array([[1.0, 1.0], [-1.0, 1.0]]), [True, False]
        free, _ = logistic_fit(columns, is_true, start=(1.0, 1.0), pull=1e-6)
        held, _ = logistic_fit(columns, is_true, start=(1.0, 1.0), pull=100.0)
        assert free[0] > 5
        assert held == pytest.approx((1.0, 1.0), abs=0.05)
