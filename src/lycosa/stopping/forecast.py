"""How much the next fetches will find, and how much is left to be found: each a number with a 90 % interval.

What is known: of every visited page the score it was chosen by and what came of it (`History`), and the scores of the
links that wait (`Waiting`). The harvest of the next N fetches is played through, many times over, each time with other
answers to what is not known:

    what scores mean   the fit of `forecast_calibration`, and what it might as well have been
    drift              the log-odds of all pages wander off, t-distributed, with the square root of the fetches ahead
                       over those so far; rather down than up, as topics run dry
    new links          a relevant page brings links of such scores, an irrelevant one of such: as the latest pages did,
                       blocks of them drawn with random weights, times a factor between 0 and `REFILL`, and less and
                       less as what is not discovered yet is used up
    chance             the pages themselves: binomial

In each play the best links are fetched first, in steps. Waiting links are counted by score, so that a step costs the
same for a thousand of them and for millions. Links that never become pages are left out, by their share lately.

What is not discovered yet is estimated by capture–recapture: relevant pages are captured by the visited pages
that cite them. Of f₁ that were cited once and f₂ cited twice follows (Chao 1984, in its bias-corrected form)

    undiscovered ≥ f₁ (f₁ − 1) / (2 (f₂ + 1))

where a waiting page counts as far as it is expected to be relevant. It is a lower bound if some pages are harder to
find than others, and they are; whole islands that no visited page leads to are not in it at all.
What is left is the sum of all expectations over the waiting links, and half of that bound: the first alone was too
small on some webs of development, with all of the second it was too large on others.

Constants were chosen on the development topics of bench/forecast.py; docs/forecast.md has what came of it on others.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from lycosa.frontier.frontier import Frontier
from lycosa.stopping.forecast_calibration import (
    LEAST_ODDS,
    MEMORY,
    Calibration,
    Fit,
    Floats,
    calibration,
    fit,
    log_odds,
    probability,
)

Ints = NDArray[np.int64]

PAGES = 1_000
LEAST = 50
"""Pages that must have been visited by a score, before anything is said."""
PLAYS = 200
STEPS = 40
WINDOW = 60
"""Visits whose new links say what the next ones will bring."""
BLOCK = 5
"""Visits that are drawn together: pages near each other in time are alike."""
INFLATION = 5.0
"""Of the fit's variance: pages are no independent draws."""
DRIFT, DRIFT_DOWN, DRIFT_TAIL = 0.8, 0.45, 3.0
"""Scale and loss of log-odds, and the degrees of freedom: after half as many fetches as there were, or after
`DRIFT_PAGES` if these are more."""
DRIFT_PAGES = 100
REFILL = 1.2
UNDISCOVERED_SPREAD = 1.0
"""Of the logarithm of the number of undiscovered pages."""
PRIOR_PAGES = 5.0
"""So many pages of any kind count along in what relevant and irrelevant pages bring."""
LEFT_LOW, LEFT_HIGH, LEFT_OFFSET = -1.8, 2.8, 3.0
"""The logarithm of (what was left + offset) / (estimate + offset) lay between them nine times out of ten."""
_GRID = 52
_TOP = float(-np.log(LEAST_ODDS))
_CENTRES = (np.arange(_GRID) + 0.5) * (2 * _TOP / _GRID) - _TOP


class History(NamedTuple):
    """The visited pages, in order; all columns have one length."""

    scores: Floats
    """What was predicted when it was chosen, in (0, 1); NaN: nothing (a seed)."""
    relevant: Floats
    """What came out: 1 or 0."""
    found: Ints
    """The visit, from 0, that found its link; −1: none, a seed."""
    cited: Ints
    """How many visited pages link to it, by now."""
    tried: Ints
    """How many links had been tried by then, itself included."""


class Waiting(NamedTuple):
    """The links that wait, or a sample of them."""

    scores: Floats
    found: Ints
    """The visit, from 0, that found it."""
    cited: Ints
    weights: Floats | None = None
    """How many links each stands for; None: one."""


class Estimate(NamedTuple):
    """A number, and the interval in which it lies nine times out of ten."""

    value: float
    low: float
    high: float

    def scaled(self, factor: float) -> Estimate:
        return Estimate(self.value * factor, self.low * factor, self.high * factor)


class Forecast(NamedTuple):
    """What is to be expected."""

    pages: int
    """How many fetches are looked ahead: as many as asked for, or fewer where less waits."""
    harvest: Estimate
    """Relevant pages among them."""
    left: Estimate | None
    """Relevant pages in reach that have not been visited; None: nothing is known of that."""

    @property
    def share(self) -> Estimate:
        """The harvest as share of the fetches."""
        return self.harvest.scaled(1 / max(1, self.pages))


class Forecasting(Protocol):
    """A strategy whose scores say what it expects."""

    def history(self) -> History: ...

    def waiting(self, frontier: Frontier) -> Waiting: ...


def forecast(history: History, waiting: Waiting, *, pages: int = PAGES, seed: int = 0) -> Forecast | None:
    """None: too little was seen, or nothing waits. The same for the same arguments."""
    is_known = np.isfinite(history.scores)
    if np.count_nonzero(is_known) < LEAST or not len(waiting.scores):
        return None
    rng = np.random.default_rng(seed)
    age = np.arange(len(history.scores))[::-1]
    meaning = fit(history.scores[is_known], history.relevant[is_known], np.exp(-age[is_known] / MEMORY))
    alive = _alive(history.tried)
    weights = alive * (np.ones(len(waiting.scores)) if waiting.weights is None else waiting.weights)
    expected = weights * probability(meaning.intercept + meaning.slope * log_odds(waiting.scores))
    undiscovered = _undiscovered(history, waiting.cited, expected)
    fetched, found = _Play(meaning, history, waiting, weights, rng).run(pages, undiscovered)
    chance = rng.binomial(np.round(fetched).astype(np.int64), np.clip(found / np.maximum(fetched, 1e-9), 0, 1))
    low, high = np.quantile(chance, (0.05, 0.95))
    count = max(1, round(float(np.median(fetched))))
    harvest = Estimate(float(np.median(found)), float(low), float(high))
    return Forecast(count, harvest, _left(float(expected.sum()) + undiscovered / 2))


def drift(count: int, visits: int, rng: np.random.Generator) -> Floats:
    """By play: how far log-odds wander in one fetch; times its square root in more."""
    wander: Floats = (DRIFT * rng.standard_t(DRIFT_TAIL, count) - DRIFT_DOWN) / np.sqrt(max(DRIFT_PAGES, visits / 2))
    return wander


def calibration_of(history: History) -> Calibration:
    """How good the scores themselves were as predictions, over the whole crawl."""
    return calibration(history.scores, history.relevant)


def _alive(tried: Ints) -> float:
    """The share of links that become pages, lately."""
    latest = tried[-WINDOW - 1 :]
    return (len(latest) + 1) / (max(int(latest[-1] - latest[0]), len(latest) - 1) + 2)


def _undiscovered(history: History, cited: Ints, expected: Floats) -> float:
    """Relevant pages that no visited page links to, at least: see the module."""
    by_count = np.bincount(np.minimum(history.cited, 3), history.relevant, 4)
    by_count += np.bincount(np.minimum(cited, 3), expected, 4)
    once, twice = float(by_count[1]), float(by_count[2])
    return once * max(once - 1, 0.0) / (2 * (twice + 1))


def _left(value: float) -> Estimate:
    low, high = (float((value + LEFT_OFFSET) * np.exp(end) - LEFT_OFFSET) for end in (LEFT_LOW, LEFT_HIGH))
    return Estimate(value, max(low, 0.0), high)


class _Play:
    """The next fetches, played through `PLAYS` times at once: rows are plays, columns places on the grid of scores."""

    def __init__(
        self, meaning: Fit, history: History, waiting: Waiting, weights: Floats, rng: np.random.Generator
    ) -> None:
        self._rng = rng
        self._visits = len(history.relevant)
        drawn = meaning.draws(PLAYS, inflation=INFLATION, rng=rng)
        self._odds = drawn[:, :1] + drawn[:, 1:] * _CENTRES
        places = _places(waiting.scores)
        self._stock = np.bincount(places, weights, _GRID)
        self._brought = self._bring(history, waiting, places, weights)

    def _bring(self, history: History, waiting: Waiting, places: Ints, weights: Floats) -> tuple[Floats, Floats]:
        """The new links that a relevant page brings, and those of an irrelevant one, by play and place."""
        visits = len(history.relevant)
        first = max(0, visits - WINDOW)
        count = visits - first
        new = np.zeros((count, _GRID))
        is_new = waiting.found >= first
        np.add.at(new, (np.minimum(waiting.found[is_new], visits - 1) - first, places[is_new]), weights[is_new])
        is_new = (history.found >= first) & np.isfinite(history.scores)
        chosen_at = _places(history.scores[is_new])
        np.add.at(new, (np.minimum(history.found[is_new], visits - 1) - first, chosen_at), 1.0)
        relevant = history.relevant[first:]
        shares = np.repeat(self._rng.exponential(1.0, (PLAYS, count // BLOCK + 1)), BLOCK, axis=1)[:, :count]
        usual = (shares @ new) / shares.sum(1, keepdims=True)
        refill = self._rng.uniform(0, REFILL, (PLAYS, 1))

        def mean(of: Floats) -> Floats:
            counted = shares * of
            means: Floats = (counted @ new + PRIOR_PAGES * usual) / (counted.sum(1, keepdims=True) + PRIOR_PAGES)
            return refill * means

        return mean(relevant), mean(1 - relevant)

    def run(self, pages: int, undiscovered: float) -> tuple[Floats, Floats]:
        """By play: how many pages are fetched, and how many of them are relevant."""
        pool = (undiscovered + 1) * np.exp(self._rng.normal(0, UNDISCOVERED_SPREAD, PLAYS))
        wander = drift(PLAYS, self._visits, self._rng)
        stock = np.tile(self._stock, (PLAYS, 1))
        fetched, found, came = np.zeros(PLAYS), np.zeros(PLAYS), np.zeros(PLAYS)
        size = pages / STEPS
        for step in range(STEPS):
            chances = probability(self._odds + (wander * np.sqrt((step + 0.5) * size))[:, None])
            best_first = stock[:, ::-1]
            before = np.cumsum(best_first, axis=1) - best_first
            taken = np.clip(size - before, 0, best_first)[:, ::-1]
            count, good = taken.sum(1), (taken * chances).sum(1)
            of_relevant, of_others = self._brought
            brought = good[:, None] * of_relevant + (count - good)[:, None] * of_others
            promise = (brought * chances).sum(1)
            kept = np.minimum(1 - came / pool, (pool - came) / np.maximum(promise, 1e-9))
            brought *= kept[:, None]
            came += kept * promise
            stock = stock - taken + brought
            fetched, found = fetched + count, found + good
        return fetched, found


def _places(scores: Floats) -> Ints:
    """On the grid of scores, from the lowest."""
    places: Ints = ((log_odds(scores) + _TOP) * (_GRID / (2 * _TOP))).astype(np.int64)
    return np.clip(places, 0, _GRID - 1)
