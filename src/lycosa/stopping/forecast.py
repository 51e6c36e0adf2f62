"""How many relevant pages the next fetches will find, and how many are left: two estimates with 90 % intervals.

Known are the score with which each visited page was chosen and whether it turned out to be relevant (`History`), and
the scores of the waiting links (`Waiting`). The next N fetches are simulated many times, each time with other values
for what is unknown:

    what scores mean   the fit of `forecast_calibration`, and other parameters that would have been plausible
    drift              the log-odds of all pages drift by a t-distributed amount that grows with the square root of the
                       fetches ahead over those so far; more likely down than up, as topics run dry
    new links          relevant and irrelevant pages each contribute new links with the scores that the latest pages
                       contributed: blocks of pages drawn with random weights, times a factor between 0 and `REFILL`,
                       and fewer and fewer as the undiscovered pages are used up
    chance             the relevance of each page: binomial

Each simulation fetches the best links first, in steps. Waiting links are counted by score, so that a step costs the
same for a thousand links as for millions. The share of links that do not become pages is taken from the latest visits.

The number of undiscovered pages is estimated by capture–recapture: a relevant page is captured by each visited page
that cites it. If f₁ were cited once and f₂ twice, then (Chao 1984, bias-corrected form)

    undiscovered ≥ f₁ (f₁ − 1) / (2 (f₂ + 1))

where a waiting page counts with its probability of being relevant. It is a lower bound if some pages are harder to find
than others, as is the case; islands that no visited page leads to are not included at all. The number of pages left is
the sum of the probabilities of all waiting links plus half of that bound: without the bound it was too small on some of
the webs used for development, with the whole bound it was too large on others.

Constants were chosen on the development topics of bench/forecast.py; docs/forecast.md has the results on other topics.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from lycosa.frontier.frontier import Frontier
from lycosa.stopping.forecast_calibration import (
    LEAST_ODDS,
    MEMORY,
    Fit,
    Floats,
    fit,
    log_odds,
    probability,
)

Ints = NDArray[np.int64]

PAGES = 1_000
MIN_PAGES = 50
"""Minimum number of pages chosen by a prediction, below which there is no forecast."""
SIMULATIONS = 200
STEPS = 40
WINDOW = 60
"""Number of latest visits whose new links predict those of the next."""
BLOCK = 5
"""Number of successive visits drawn together, since they are similar."""
INFLATION = 5.0
"""Factor on the variance of the fit, as pages are not independent draws."""
DRIFT, DRIFT_DOWN, DRIFT_TAIL = 0.8, 0.45, 3.0
"""Scale and mean loss of the drift of log-odds, and its degrees of freedom: after half as many fetches as there were so
far, or after `DRIFT_PAGES` if that is more."""
DRIFT_PAGES = 100
REFILL = 1.2
UNDISCOVERED_SPREAD = 1.0
"""Standard deviation of the logarithm of the number of undiscovered pages."""
PRIOR_PAGES = 5.0
"""Number of average pages included in the estimates of what relevant and irrelevant pages contribute."""
LEFT_LOW, LEFT_HIGH, LEFT_OFFSET = -1.8, 2.8, 3.0
"""Interval in which the logarithm of (number left + offset) / (estimate + offset) was nine times out of ten."""
_GRID = 52
_TOP = float(-np.log(LEAST_ODDS))
_CENTRES = (np.arange(_GRID) + 0.5) * (2 * _TOP / _GRID) - _TOP


class History(NamedTuple):
    """The visited pages in order, as columns of equal length."""

    scores: Floats
    """Prediction with which the page was chosen, in (0, 1); NaN if there was none (a seed)."""
    relevant: Floats
    """1 if the page turned out to be relevant, otherwise 0."""
    found: Ints
    """Number of the visit, from 0, that found its link; −1 for a seed."""
    cited: Ints
    """Number of visited pages that link to it, by now."""
    tried: Ints
    """Number of links tried by then, including itself."""


class Waiting(NamedTuple):
    """The waiting links."""

    scores: Floats
    found: Ints
    """Number of the visit, from 0, that found the link."""
    cited: Ints
    """Number of visited pages that link to it."""


class Estimate(NamedTuple):
    """An estimate and its 90 % interval."""

    value: float
    low: float
    high: float


class Forecast(NamedTuple):
    pages: int
    """Number of fetches ahead: as many as requested, or fewer if there are not enough links."""
    harvest: Estimate
    """Number of relevant pages among them."""
    left: Estimate | None
    """Number of relevant pages in reach that have not been visited; None if it cannot be estimated."""

    @property
    def share(self) -> Estimate:
        factor = 1 / max(1, self.pages)
        return Estimate(*(value * factor for value in self.harvest))


class Forecasting(Protocol):
    """A strategy whose scores are predictions."""

    def history(self) -> History: ...

    def waiting(self, frontier: Frontier) -> Waiting: ...


def forecast(history: History, waiting: Waiting, *, pages: int = PAGES, seed: int = 0) -> Forecast | None:
    """A forecast of the next `pages` fetches; None if there are too few visited pages, or no waiting links."""
    is_known = np.isfinite(history.scores)
    if np.count_nonzero(is_known) < MIN_PAGES or not len(waiting.scores):
        return None
    rng = np.random.default_rng(seed)
    age = np.arange(len(history.scores))[::-1]
    meaning = fit(history.scores[is_known], history.relevant[is_known], np.exp(-age[is_known] / MEMORY))
    live = _share_of_live_links(history.tried)
    weights = np.full(len(waiting.scores), live)
    expected = weights * probability(meaning.intercept + meaning.slope * log_odds(waiting.scores))
    undiscovered = _undiscovered(history, waiting.cited, expected)
    fetched, found = _Simulation(meaning, history, waiting, weights, rng).run(pages, undiscovered)
    chance = rng.binomial(np.round(fetched).astype(np.int64), np.clip(found / np.maximum(fetched, 1e-9), 0, 1))
    low, high = np.quantile(chance, (0.05, 0.95))
    count = max(1, round(float(np.median(fetched))))
    harvest = Estimate(float(np.median(found)), float(low), float(high))
    return Forecast(count, harvest, _left(float(expected.sum()) + undiscovered / 2))


def drift(count: int, visits: int, rng: np.random.Generator) -> Floats:
    """Drift of log-odds in one fetch, for each of `count` simulations; in n fetches it is √n times that."""
    wander: Floats = (DRIFT * rng.standard_t(DRIFT_TAIL, count) - DRIFT_DOWN) / np.sqrt(max(DRIFT_PAGES, visits / 2))
    return wander


def _share_of_live_links(tried: Ints) -> float:
    """Share of tried links that became pages, over the latest visits."""
    latest = tried[-WINDOW - 1 :]
    return (len(latest) + 1) / (max(int(latest[-1] - latest[0]), len(latest) - 1) + 2)


def _undiscovered(history: History, cited: Ints, expected: Floats) -> float:
    """Lower bound of the number of relevant pages that no visited page links to: see the module."""
    by_count = np.bincount(np.minimum(history.cited, 3), history.relevant, 4)
    by_count += np.bincount(np.minimum(cited, 3), expected, 4)
    once, twice = float(by_count[1]), float(by_count[2])
    return once * max(once - 1, 0.0) / (2 * (twice + 1))


def _left(value: float) -> Estimate:
    low, high = (float((value + LEFT_OFFSET) * np.exp(end) - LEFT_OFFSET) for end in (LEFT_LOW, LEFT_HIGH))
    return Estimate(value, max(low, 0.0), high)


class _Simulation:
    """All simulations of the next fetches at once: rows are simulations, columns are cells of the score grid."""

    def __init__(
        self, meaning: Fit, history: History, waiting: Waiting, weights: Floats, rng: np.random.Generator
    ) -> None:
        self._rng = rng
        self._visits = len(history.relevant)
        drawn = meaning.draws(SIMULATIONS, inflation=INFLATION, rng=rng)
        self._odds = drawn[:, :1] + drawn[:, 1:] * _CENTRES
        cells = _cells(waiting.scores)
        self._stock = np.bincount(cells, weights, _GRID)
        self._contributed = self._contributions(history, waiting, cells, weights)

    def _contributions(self, history: History, waiting: Waiting, cells: Ints, weights: Floats) -> tuple[Floats, Floats]:
        """The numbers of new links that a relevant and an irrelevant page contribute, by simulation and cell."""
        visits = len(history.relevant)
        first = max(0, visits - WINDOW)
        count = visits - first
        new = np.zeros((count, _GRID))
        is_new = waiting.found >= first
        np.add.at(new, (np.minimum(waiting.found[is_new], visits - 1) - first, cells[is_new]), weights[is_new])
        is_new = (history.found >= first) & np.isfinite(history.scores)
        chosen_at = _cells(history.scores[is_new])
        np.add.at(new, (np.minimum(history.found[is_new], visits - 1) - first, chosen_at), 1.0)
        relevant = history.relevant[first:]
        shares = np.repeat(self._rng.exponential(1.0, (SIMULATIONS, count // BLOCK + 1)), BLOCK, axis=1)[:, :count]
        usual = (shares @ new) / shares.sum(1, keepdims=True)
        refill = self._rng.uniform(0, REFILL, (SIMULATIONS, 1))

        def mean(of: Floats) -> Floats:
            counted = shares * of
            means: Floats = (counted @ new + PRIOR_PAGES * usual) / (counted.sum(1, keepdims=True) + PRIOR_PAGES)
            return refill * means

        return mean(relevant), mean(1 - relevant)

    def run(self, pages: int, undiscovered: float) -> tuple[Floats, Floats]:
        """The number of fetched pages, and of relevant ones among them, by simulation."""
        pool = (undiscovered + 1) * np.exp(self._rng.normal(0, UNDISCOVERED_SPREAD, SIMULATIONS))
        wander = drift(SIMULATIONS, self._visits, self._rng)
        stock = np.tile(self._stock, (SIMULATIONS, 1))
        fetched, found, came = np.zeros(SIMULATIONS), np.zeros(SIMULATIONS), np.zeros(SIMULATIONS)
        size = pages / STEPS
        for step in range(STEPS):
            chances = probability(self._odds + (wander * np.sqrt((step + 0.5) * size))[:, None])
            best_first = stock[:, ::-1]
            before = np.cumsum(best_first, axis=1) - best_first
            taken = np.clip(size - before, 0, best_first)[:, ::-1]
            count, good = taken.sum(1), (taken * chances).sum(1)
            of_relevant, of_others = self._contributed
            brought = good[:, None] * of_relevant + (count - good)[:, None] * of_others
            promise = (brought * chances).sum(1)
            kept = np.minimum(1 - came / pool, (pool - came) / np.maximum(promise, 1e-9))
            brought *= kept[:, None]
            came += kept * promise
            stock = stock - taken + brought
            fetched, found = fetched + count, found + good
        return fetched, found


def _cells(scores: Floats) -> Ints:
    """The cells of the score grid in which scores lie, from the lowest."""
    cells: Ints = ((log_odds(scores) + _TOP) * (_GRID / (2 * _TOP))).astype(np.int64)
    return np.clip(cells, 0, _GRID - 1)
