"""Quantiles beside scipy's."""

from __future__ import annotations

import pytest
from scipy.special import stdtrit

from lycosa.lab.evaluate.student_t import quantile


@pytest.mark.parametrize("degrees", [1, 2, 3, 7, 19, 60, 499, 20_000])
@pytest.mark.parametrize("probability", [0.5, 0.6, 0.9, 0.975, 0.995, 0.9999])
def test_agrees_with_scipy(probability: float, degrees: int) -> None:
    assert quantile(probability, degrees) == pytest.approx(float(stdtrit(degrees, probability)), rel=1e-9, abs=1e-9)


@pytest.mark.parametrize(("probability", "degrees"), [(0.4, 3), (1.0, 3), (0.9, 0)])
def test_what_has_no_quantile(probability: float, degrees: int) -> None:
    with pytest.raises(ValueError, match="no quantile"):
        quantile(probability, degrees)
