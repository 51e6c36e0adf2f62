"""Quantiles of Student's t distribution, for intervals of a mean: scipy would be 140 MB for this one number.

    P(|T| > t) = I_x(n/2, 1/2),   x = n / (n + t²),   n degrees of freedom

I is the regularised incomplete beta function, by its continued fraction (Lentz's method; Press et al., Numerical
Recipes, section 6.4); t is found by bisection.
"""

from __future__ import annotations

import math

_TINY = 1e-300


def quantile(probability: float, degrees: int) -> float:
    """The t that T does not exceed with this probability, at least 0.5."""
    if not 0.5 <= probability < 1 or degrees < 1:
        raise ValueError(f"no quantile of {probability} with {degrees} degrees of freedom")
    outside = 2 * (1 - probability)
    low, high = 0.0, 1.0
    while _outside(high, degrees) > outside:
        low, high = high, 2 * high
    while (middle := (low + high) / 2) not in (low, high):
        low, high = (middle, high) if _outside(middle, degrees) > outside else (low, middle)
    return middle


def _outside(t: float, degrees: int) -> float:
    """P(|T| > t)."""
    x = degrees / (degrees + t * t)
    a, b = degrees / 2, 0.5
    if x >= 1:
        return 1.0
    log_front = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x)
    if x < (a + 1) / (a + b + 2):  # where the fraction converges quickly
        return math.exp(log_front) * _fraction(a, b, x) / a
    return 1 - math.exp(log_front) * _fraction(b, a, 1 - x) / b


def _fraction(a: float, b: float, x: float) -> float:
    c, d = 1.0, 1 / (1 - (a + b) * x / (a + 1) or _TINY)
    value = d
    for m in range(1, 1000):
        for numerator in (
            m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)),
        ):
            d = 1 / (1 + numerator * d or _TINY)
            c = 1 + numerator / c or _TINY
            value *= c * d
        if abs(c * d - 1) < 1e-15:
            break
    return value
