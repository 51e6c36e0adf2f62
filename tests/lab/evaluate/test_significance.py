"""The expected p-values were computed with scipy 1.17 (`scipy.stats.wilcoxon`), or by trying every sign."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from lycosa.lab.evaluate.significance import confidence, holm, least_p, pairwise, rank_biserial, stars, wilcoxon

TEN = [0.8, -0.3, 1.1, 2.5, -0.7, 1.9, 0.4, 3.2, -1.5, 2.2]
TIED = [1, 1, -1, 2, 2, 2, -3, 3, 0, 0, 4]
TWENTY_FIVE = [(i * 11 % 26 + 1) * (1 if i % 3 else -1) for i in range(25)]
THIRTY = [(7 * i * i + 3 * i) % 41 - 14 + (i % 5) / 10 for i in range(30)]
FORTY = [i * 5 % 9 - 3 for i in range(40)]


@pytest.mark.parametrize(
    ("differences", "positive_ranks", "n", "p"),
    [
        (TEN, 45, 10, 0.083984375),
        ([1, 2, 3, 4, 5, 6], 21, 6, 0.03125),
        (TIED, 35.5, 9, 0.1484375),  # scipy: PermutationMethod, all 2⁹ signs
        (TWENTY_FIVE, 223, 25, 0.10731470584869385),
        (THIRTY, 373, 30, 0.003980287434925895),  # scipy: asymptotic, correction
        (FORTY, 463, 36, 0.040532669270636555),  # with ties and zeros
    ],
)
def test_agrees_with_scipy(differences, positive_ranks, n, p):
    result = wilcoxon(differences)
    assert (result.positive_ranks, result.n) == (positive_ranks, n)
    assert result.p == pytest.approx(p, rel=1e-9)


@pytest.mark.parametrize("seed", range(5))
def test_exact_p_is_the_share_of_signs_at_least_as_extreme(seed):
    values = np.random.default_rng(seed).integers(-4, 6, 9)
    values = values[values != 0]
    magnitudes = np.abs(values)
    ranks = [(magnitudes < value).sum() + ((magnitudes == value).sum() + 1) / 2 for value in magnitudes]
    middle = sum(ranks) / 2
    observed = abs(sum(rank for rank, value in zip(ranks, values, strict=True) if value > 0) - middle)
    sums = [
        sum(rank * sign for rank, sign in zip(ranks, signs, strict=True))
        for signs in product((0, 1), repeat=len(ranks))
    ]
    expected = np.mean([abs(total - middle) >= observed - 1e-9 for total in sums])
    assert wilcoxon(values).p == pytest.approx(expected)


def test_the_order_of_the_two_does_not_matter():
    assert wilcoxon(TIED).p == wilcoxon([-value for value in TIED]).p


def test_without_a_difference_nothing_is_significant():
    assert wilcoxon([0.0, 0.0]) == (0.0, 0, 1.0)
    assert wilcoxon([]).p == 1.0


def test_rounding_makes_no_differences():
    noisy = [0.1 + 0.2 - 0.3, 0.5, -0.5 + 1e-16, 0.25]
    assert wilcoxon(noisy) == wilcoxon([0.0, 0.5, -0.5, 0.25])


def test_a_figure_that_is_no_number_is_refused():
    with pytest.raises(ValueError, match="finite"):
        wilcoxon([1.0, float("nan")])


def test_holm():
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.5, 0.6]) == [1.0, 1.0]
    assert holm([]) == []


def test_pairs_are_corrected_together():
    values = np.array([[topic, topic + 1 + topic / 10, topic + (-1) ** topic] for topic in range(8)], dtype=float)
    pairs = pairwise(["a", "b", "c"], values)
    assert [(pair.first, pair.second) for pair in pairs] == [("a", "b"), ("a", "c"), ("b", "c")]
    assert pairs[0].p == pytest.approx(2 / 2**8)
    assert pairs[0].adjusted == pytest.approx(3 * 2 / 2**8)
    assert pairs[0].difference == pytest.approx(-1.35)
    assert pairs[1].p == 1.0


def test_stars():
    assert [stars(p) for p in (0.0005, 0.005, 0.049, 0.05)] == ["***", "**", "*", ""]


class TestEffects:
    def test_the_interval_is_student_s(self):
        stats = pytest.importorskip("scipy.stats")
        values = np.array([0.1, 0.3, -0.05, 0.2, 0.15])
        low, high = confidence(values)
        expected = stats.t.interval(0.95, 4, values.mean(), stats.sem(values))
        assert (low, high) == pytest.approx(expected)
        assert np.isnan(confidence(values[:1])).all()

    def test_the_effect_is_the_share_of_ranks_for_minus_that_against(self):
        assert rank_biserial(wilcoxon([1, 2, 3])) == 1
        assert rank_biserial(wilcoxon([-1, -2, -3])) == -1
        assert rank_biserial(wilcoxon([3, -1, -2])) == 0
        assert rank_biserial(wilcoxon([4, -1, 2, 3])) == pytest.approx((9 - 1) / 10)
        assert rank_biserial(wilcoxon([0, 0])) == 0

    def test_pairs_have_both(self):
        values = np.array([[0.1, 0.3], [0.2, 0.35], [0.2, 0.5]])
        (pair,) = pairwise(["a", "b"], values)
        assert pair.effect == -1
        assert pair.low < pair.difference < pair.high < 0

    def test_the_least_p_is_that_of_differences_of_one_sign(self):
        for n in range(2, 12):
            assert least_p(n) == pytest.approx(wilcoxon(np.arange(1, n + 1)).p)
        assert least_p(3, tests=10) == 1.0
