"""The latest forecast of a running crawl, for its stop rule and its progress display; recomputed only now and then.

For a strategy whose scores are predictions (`Forecasting`) it is made by `forecast`. For any other it is based on the
share of relevant pages among the latest `LATEST` pages, with the same drift and no estimate of what is left.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np

from lycosa.frontier.frontier import Frontier
from lycosa.stopping.forecast import (
    INFLATION,
    MIN_PAGES,
    PAGES,
    Estimate,
    Forecast,
    Forecasting,
    drift,
    forecast,
)
from lycosa.stopping.forecast_calibration import Calibration, Floats, calibration, probability

EVERY = 25
"""Number of pages after which the forecast is recomputed; in a long crawl, after a twentieth of its pages."""
LATEST = 100
_DRAWS = 1_000


class Forecaster:
    def __init__(
        self,
        forecasting: Forecasting | None,
        frontier: Frontier,
        *,
        visits: Callable[[], int],
        recent: Callable[[], Iterable[bool]],
        pages: int = PAGES,
    ) -> None:
        """`forecasting` is None if the strategy predicts nothing. `visits`: number of pages so far, over all runs;
        `recent`: whether the latest were relevant, oldest first.
        """
        self._forecasting = forecasting
        self._frontier = frontier
        self._visits = visits
        self._recent = recent
        self._pages = pages
        self._latest: Forecast | None = None
        self._next = 0

    def __call__(self) -> Forecast | None:
        """The latest forecast; None if it is too early for one, or no links are waiting."""
        visits = self._visits()
        if visits >= self._next:
            self._next = visits + max(EVERY, visits // 20)
            self._latest = self._compute()
        return self._latest

    def calibration(self) -> Calibration | None:
        """How accurate the predictions were, over the whole crawl; None if the strategy makes none."""
        history = self._forecasting.history() if self._forecasting is not None else None
        return None if history is None else calibration(history.scores, history.relevant)

    def _compute(self) -> Forecast | None:
        if self._forecasting is not None:
            return forecast(self._forecasting.history(), self._forecasting.waiting(self._frontier), pages=self._pages)
        relevant = np.array(list(self._recent()), dtype=np.float64)
        return forecast_by_rate(relevant, waiting=self._frontier.reachable, pages=self._pages)


def forecast_by_rate(relevant: Floats, *, waiting: int, pages: int = PAGES, seed: int = 0) -> Forecast | None:
    """A forecast from the relevance (1 or 0) of the latest pages; None if there are too few, or no waiting links."""
    if len(relevant) < MIN_PAGES or not waiting:
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
