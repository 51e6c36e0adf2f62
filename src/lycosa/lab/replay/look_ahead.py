"""A higher bound than `oracle`: an order that knows where the ways lead, not only what waits.

The plain oracle takes a relevant page wherever one waits; where none does it is as blind as anybody: on sparse webs
most of the time. This one then takes the way that pays best. A page that links to g relevant pages not found yet
earns g in 1 + g fetches; one that is k − 1 links before such a page earns them in k + g:

    G₁(u) = relevant pages not found yet that u links to,    G_k(u) = max of G_{k−1} over the pages u links to
    worth(u) = max over k ≤ HOPS of G_k(u) / (k + G_k(u))

It is greedy, one way at a time: no proof that nothing is better, but far above what can be done without the truth.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lycosa.frontier.frontier import Frontier
from lycosa.lab.replay.oracle import Oracle
from lycosa.lab.replay.replay import Discovery
from lycosa.lab.worlds.world import World
from lycosa.model import Visit

HOPS = 8
RELEVANT = 2.0
"""The score of a relevant page; ways to others are worth less than 1."""


class LookAhead(Oracle):
    """Only for comparisons: it is handed the truth and the whole graph."""

    name = "look-ahead"

    def __init__(self, world: World, relevant: NDArray[np.bool_], discovery: Discovery) -> None:
        super().__init__(world, relevant, discovery)
        self._relevant = relevant
        self._worth = np.where(relevant, RELEVANT, 0.0)
        self._is_found = np.zeros(len(world), dtype=np.bool_)
        edges = world.graph
        self._sources = np.flatnonzero(np.diff(edges.offsets))
        self._starts = edges.offsets[self._sources]
        self._targets = edges.pages

    def tell(self, visit: Visit, targets: NDArray[np.int64]) -> NDArray[np.float64]:
        pages = self.pages(targets)
        self._is_found[pages[pages < len(self._world)]] = True
        return super().tell(visit, targets)

    def ask(self, count: int, frontier: Frontier, now: float) -> list[int]:
        leased: list[int] = []
        while len(leased) < count:
            best = frontier.best_score()
            if best is not None and best < RELEVANT:
                self._look(frontier)
            found = super().ask(1, frontier, now)
            if not found:
                break
            leased += found
        return leased

    def seed_score(self) -> float:
        return RELEVANT

    def reason(self, score: float) -> str:
        return f"{self.name}: {'relevant' if score >= RELEVANT else f'{score:.3f} is what the way pays'}"

    def _look(self, frontier: Frontier) -> None:
        """Give waiting links the worth of their ways, as far as that has changed."""
        waiting = frontier.waiting_links()
        worth = np.where(self._relevant, RELEVANT, self._worth_of_ways())
        scores = self.scores(self.pages(waiting), worth)
        is_changed = (frontier.scores(waiting) < RELEVANT) & (frontier.scores(waiting) != scores.astype(np.float32))
        waiting, scores = waiting[is_changed], scores[is_changed]
        frontier.revise(waiting, scores)

    def _worth_of_ways(self) -> NDArray[np.float64]:
        size = len(self._world)
        worth = np.zeros(size)
        if not len(self._sources):
            return worth
        gain = np.zeros(size)
        gain[self._sources] = np.add.reduceat(
            (self._relevant & ~self._is_found)[self._targets], self._starts, dtype=float
        )
        for hops in range(1, HOPS + 1):
            worth = np.maximum(worth, gain / (hops + gain))
            best = np.zeros(size)
            best[self._sources] = np.maximum.reduceat(gain[self._targets], self._starts)
            gain = best
        return worth
