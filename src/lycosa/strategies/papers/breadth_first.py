"""Breadth-first: links in the order in which they were found (paper TC, section 3.1.1: the baseline).

From a full buffer the link found last is dropped. Found again, it joins the end of the queue, and so does a link that
was not to be followed where it was found before: the queue is first in, first out by the time a link joined it, which
its score says; of links from one page, the order on the page. The target of a redirect takes the place of the link.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lycosa.model import Visit
from lycosa.strategies.protocol import Abilities, NoSettings, Strategy, StrategyParts
from lycosa.strategies.saved_state import seal, unseal


class BreadthFirst(Strategy):
    """The n-th link that was found, at first or again, has the score −n. A waiting link keeps its better, older one."""

    name = "breadth-first"

    def __init__(self, parts: StrategyParts, settings: NoSettings) -> None:  # noqa: ARG002 - as for all strategies
        self._found = 0

    @property
    def abilities(self) -> Abilities:
        return Abilities(uses_judgement=False)

    def seed_score(self) -> float:
        return 0.0

    def tell(self, visit: Visit, targets: NDArray[np.int64]) -> NDArray[np.float64]:  # noqa: ARG002 - nothing is learned
        first = self._found + 1
        self._found += len(targets)
        return -np.arange(first, first + len(targets), dtype=np.float64)

    def reason(self, score: float) -> str:
        if score >= 0:
            return "breadth-first: a seed, or what a seed redirects to"
        return f"breadth-first: links are fetched in the order in which they were found; this was number {-score:,.0f}"

    def save(self) -> bytes:
        return seal(self.name, {"found": self._found})

    def restore(self, state: bytes) -> None:
        if state:
            self._found = int(unseal(self.name, state)[0]["found"])
