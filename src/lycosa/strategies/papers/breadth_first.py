"""Breadth-first: links in the order in which they were found (paper TC, section 3.1.1: the baseline).

From a full buffer the link found last is dropped.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lycosa.model import Visit
from lycosa.strategies.protocol import NoSettings, Strategy, StrategyParts


class BreadthFirst(Strategy):
    """All scores are equal; the frontier hands out equal scores first in, first out."""

    name = "breadth-first"

    def __init__(self, parts: StrategyParts, settings: NoSettings) -> None:
        """Has the parameters of all strategies, but needs neither."""

    def seed_score(self) -> float:
        return 0.0

    def tell(self, visit: Visit, targets: NDArray[np.int64]) -> NDArray[np.float64]:  # noqa: ARG002 - nothing is learned
        return np.zeros(len(targets))

    def reason(self, score: float) -> str:  # noqa: ARG002 - every link waits for the same reason
        return "breadth-first: links are fetched in the order in which they were found"
