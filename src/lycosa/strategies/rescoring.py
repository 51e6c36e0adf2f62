"""Scores all waiting links again after the focus or the judge has changed, or those of one page that was fetched again.

The score of a link is the best that its strategy now gives it for any of the visited pages that cite it. Links that no
visited page cites (seeds, targets of redirects), or that the strategy leaves unchanged, keep theirs. A link that failed
before gets its new score, too, and stays behind those that were never tried.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lycosa.frontier.frontier import Frontier
from lycosa.model import Visit
from lycosa.strategies.protocol import Strategy


class Rescored(NamedTuple):
    """The links whose scores have changed."""

    links: NDArray[np.int64]
    scores: NDArray[np.float64]


def scores_of_revisit(strategy: Strategy, visit: Visit, targets: NDArray[np.int64]) -> NDArray[np.float64]:
    """What the links of a page that has been fetched again are worth (`Abilities.revisit`)."""
    abilities = strategy.abilities
    if abilities.revisit is not None:
        return abilities.revisit(visit, targets)
    return abilities.again(visit, targets) if abilities.is_retold else strategy.tell(visit, targets)


def score_again(strategy: Strategy, frontier: Frontier, visits: Iterable[tuple[Visit, NDArray[np.int64]]]) -> Rescored:
    """Score the links of all visits by `Abilities.again`, and move the waiting ones in the frontier."""
    waiting = frontier.waiting_links()
    best = np.full(len(waiting), -np.inf)
    again = strategy.abilities.again
    if len(waiting):
        for visit, targets in visits:
            scores = again(visit.guiding, targets)
            places = np.minimum(np.searchsorted(waiting, targets), len(waiting) - 1)
            is_meant = (waiting[places] == targets) & ~np.isnan(scores)
            np.maximum.at(best, places[is_meant], scores[is_meant])
    before = frontier.scores(waiting)
    has_news = (best > -np.inf) & (best.astype(np.float32) != before)
    if has_news.any():
        frontier.rescore_all(lambda _: np.where(has_news, best, before))
    return Rescored(waiting[has_news], best[has_news])
