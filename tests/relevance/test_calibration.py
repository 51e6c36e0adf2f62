from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lycosa.relevance.calibration import (
    Isotonic,
    Platt,
    Temperature,
    expected_calibration_error,
    reliability,
    sigmoid,
    softmax,
)


def drawn(logits: np.ndarray, seed: int) -> np.ndarray:
    """A class for each row, drawn by the probabilities its logits stand for."""
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

    def test_scores_that_lie_give_the_base_rate(self):
        fitted = Platt.fit([3.0, 2.0, 1.0, 0.0], [False, False, False, True])
        assert fitted.slope == 0.0
        assert fitted.apply([-5.0, 5.0]) == pytest.approx([2 / 6, 2 / 6])

    def test_scores_that_are_all_equal_give_the_base_rate(self):
        assert Platt.fit([2.0, 2.0, 2.0], [True, True, False]).apply(2.0) == pytest.approx(3 / 5)

    def test_scores_of_any_size_do_not_overflow(self):
        assert Platt(1.0, 0.0).apply([-1e9, 1e9]).tolist() == [0.0, 1.0]


class TestIsotonic:
    def test_neighbours_that_fall_are_pooled(self):
        fitted = Isotonic.fit([1, 2, 3, 4], [False, True, False, True])
        assert fitted.apply([0, 1, 2, 3, 4, 9]).tolist() == [0.0, 0.0, 0.5, 0.5, 1.0, 1.0]

    def test_equal_scores_get_equal_probabilities(self):
        assert Isotonic.fit([1, 1, 1, 2], [True, False, False, True]).apply([1, 2]) == pytest.approx([1 / 3, 1.0])

    def test_it_is_what_scikit_learn_finds(self):
        peer = pytest.importorskip("sklearn.isotonic").IsotonicRegression(out_of_bounds="clip")
        rng = np.random.default_rng(8)
        scores = rng.normal(size=500).round(2)
        is_true = rng.random(500) < sigmoid(scores)
        weights = rng.integers(1, 4, 500)
        points = np.linspace(-4, 4, 200)
        ours = Isotonic.fit(scores, is_true, weights=weights).apply(points)
        assert ours == pytest.approx(peer.fit(scores, is_true, weights).predict(points))

    @given(st.lists(st.tuples(st.floats(-1e6, 1e6), st.booleans()), min_size=1, max_size=50))
    def test_it_never_falls(self, pairs):
        scores, is_true = zip(*pairs, strict=True)
        found = Isotonic.fit(scores, is_true).apply(np.sort(scores))
        assert (np.diff(found) >= 0).all()
        assert ((found >= 0) & (found <= 1)).all()


class TestCalibrationError:
    def test_promises_kept_have_none(self):
        assert expected_calibration_error([0.5, 0.5, 1.0, 0.0], [True, False, True, False]) == 0.0

    def test_it_weighs_bins_by_what_is_in_them(self):
        # Three promises of 0.9 of which one came true; one of 0.1 that did not.
        found = expected_calibration_error([0.9, 0.9, 0.9, 0.1], [True, False, False, False], bins=10)
        assert found == pytest.approx(3 / 4 * (0.9 - 1 / 3) + 1 / 4 * 0.1)

    def test_bins_are_of_equal_width_and_the_last_holds_certainty(self):
        table = reliability([0.0, 0.5, 1.0], [False, True, True], bins=2)
        assert [(row.least, row.most, row.pages) for row in table] == [(0.0, 0.5, 1), (0.5, 1.0, 2)]
        assert (table[1].promised, table[1].came) == (0.75, 1.0)

    def test_no_predictions_have_none(self):
        assert expected_calibration_error([], []) == 0.0

    def test_each_probability_needs_its_truth(self):
        with pytest.raises(ValueError, match="2 probabilities for 1 truths"):
            reliability([0.1, 0.2], [True])


def test_what_was_learned_survives_as_plain_numbers():
    for fitted in (Temperature(0.3, 0.7), Platt(2.0, -1.0)):
        assert type(fitted).from_array(fitted.to_array()) == fitted
    curve = Isotonic.fit([1, 2, 3], [False, True, True])
    assert Isotonic.from_array(curve.to_array()).apply([1.5]) == curve.apply([1.5])


@pytest.mark.parametrize("kind", [Temperature, Platt])
def test_numbers_that_are_none_are_refused(kind):
    for numbers in ([1.0], [np.nan, 1.0]):
        with pytest.raises(ValueError, match="2 finite numbers"):
            kind.from_array(np.array(numbers))


def test_a_curve_that_falls_is_refused():
    with pytest.raises(ValueError, match="rises"):
        Isotonic.from_array(np.array([[0.0, 1.0], [0.8, 0.2]]))
