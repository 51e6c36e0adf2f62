"""A bound of a comparison: an order that knows what it cannot know.

Among the waiting links it takes those whose page is truly relevant first. It still has to find them: it sees no
further than the links of the pages it has fetched.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lycosa.lab.replay.replay import Discovery
from lycosa.lab.worlds.world import World
from lycosa.model import Visit
from lycosa.strategies.protocol import Strategy


class Oracle(Strategy):
    """Only for comparisons: it is handed the truth, which no strategy is."""

    name = "oracle"

    def __init__(self, world: World, relevant: NDArray[np.bool_], discovery: Discovery) -> None:
        self._worth = relevant.astype(np.float64)
        self._world = world
        self._discovery = discovery

    def tell(self, visit: Visit, targets: NDArray[np.int64]) -> NDArray[np.float64]:  # noqa: ARG002 - the truth will do
        return self.scores(self.pages(targets), self._worth)

    def pages(self, links: NDArray[np.int64]) -> NDArray[np.int64]:
        return np.array([self._discovery.url_of[link] for link in links.tolist()], dtype=np.int64)

    def scores(self, pages: NDArray[np.int64], worth: NDArray[np.float64]) -> NDArray[np.float64]:
        """The worth of each page; -1 for those that are not recorded."""
        is_recorded = pages < len(self._world)
        return np.where(is_recorded, worth[np.where(is_recorded, pages, 0)], -1.0)

    def reason(self, score: float) -> str:
        return f"oracle: {'relevant' if score > 0 else 'not relevant'} by its label"
