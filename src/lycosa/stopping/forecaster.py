"""Asked often, works seldom: the latest forecast of a running crawl, for its stop rule and for those who watch.

A strategy whose scores are predictions (`Forecasting`) gets the forecast of `forecast`. Of any other only the pages it
has brought so far speak: the share of relevant ones among the latest `LATEST`, with the same drift, and no word on
what is left.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np

from lycosa.frontier.frontier import Frontier
from lycosa.stopping.forecast import (
    INFLATION,
    LEAST,
    PAGES,
    Estimate,
    Forecast,
    Forecasting,
    calibration_of,
    drift,
    forecast,
)
from lycosa.stopping.forecast_calibration import Calibration, Floats, probability

EVERY = 25
"""Pages after which it is worked out anew, at least; of a long crawl, after a twentieth of it."""
LATEST = 100
_DRAWS = 1_000


class Forecaster:
    """The forecast as a callable; see the module."""

    def __init__(
        self,
        forecasting: Forecasting | None,
        frontier: Frontier,
        *,
        visits: Callable[[], int],
        recent: Callable[[], Iterable[bool]],
        pages: int = PAGES,
    ) -> None:
        """`forecasting`: None if the strategy predicts nothing. `visits`: pages so far, over all runs. `recent`:
        whether the latest of them were relevant, oldest first.
        """
        self._forecasting = forecasting
        self._frontier = frontier
        self._visits = visits
        self._recent = recent
        self._pages = pages
        self._latest: Forecast | None = None
        self._next = 0

    def __call__(self) -> Forecast | None:
        """The latest one; None: too early, or nothing waits."""
        visits = self._visits()
        if visits >= self._next:
            self._next = visits + max(EVERY, visits // 20)
            self._latest = self._work_out()
        return self._latest

    def calibration(self) -> Calibration | None:
        """How good the predictions were; None: the strategy makes none."""
        return None if self._forecasting is None else calibration_of(self._forecasting.history())

    def _work_out(self) -> Forecast | None:
        if self._forecasting is not None:
            return forecast(self._forecasting.history(), self._forecasting.waiting(self._frontier), pages=self._pages)
        relevant = np.array(list(self._recent()), dtype=np.float64)
        return forecast_by_rate(relevant, waiting=self._frontier.waiting, pages=self._pages)


def forecast_by_rate(relevant: Floats, *, waiting: int, pages: int = PAGES, seed: int = 0) -> Forecast | None:
    """By what came out of the latest pages alone, 1 or 0 each. None: too few pages, or nothing waits."""
    if len(relevant) < LEAST or not waiting:
        return None
    rng = np.random.default_rng(seed)
    latest = relevant[-LATEST:]
    good = float(latest.sum())
    share = rng.beta(good / INFLATION + 0.5, (len(latest) - good) / INFLATION + 0.5, _DRAWS)
    odds = np.log(np.clip(share, 1e-9, 1 - 1e-9) / np.clip(1 - share, 1e-9, 1))
    wander = drift(_DRAWS, len(relevant), rng) * np.sqrt(pages / 2)
    rate = probability(odds + wander)
    low, high = np.quantile(rng.binomial(pages, rate), (0.05, 0.95))
    return Forecast(pages, Estimate(float(np.median(rate)) * pages, float(low), float(high)), None)
