"""Best-first: the score of a link is the relevance of its page (paper TC, sections 3.1.2 and 4.1.1: BFS and BFSN).

With the keyword judge that is the cosine between the topic's words and the page. A link on several visited pages has
the largest of their scores.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lycosa.lib.bounds import require_at_least
from lycosa.model import Visit
from lycosa.strategies.papers.batches import Batched
from lycosa.strategies.protocol import Abilities, StrategyParts


@dataclass(frozen=True, slots=True, kw_only=True)
class BestFirstSettings:
    batch: int = 1
    """N: number of best links that are fetched in random order before the best are chosen again."""

    def __post_init__(self) -> None:
        require_at_least(self, "best-first", batch=1)


class BestFirst(Batched):
    def __init__(self, parts: StrategyParts, settings: BestFirstSettings) -> None:
        super().__init__(settings.batch, parts.rng)
        self.name = "best-first" if settings.batch == 1 else f"best-first-{settings.batch}"

    def tell(self, visit: Visit, targets: NDArray[np.int64]) -> NDArray[np.float64]:
        relevance = visit.judgement.relevance if visit.judgement else 0.0
        scores = np.empty(len(targets))
        scores.fill(relevance)  # np.full takes twice as long
        return scores

    @property
    def abilities(self) -> Abilities:
        return Abilities(again=self.tell)

    def reason(self, score: float) -> str:
        return f"{self.name}: {score:.3f} is the relevance of the best visited page that links to it"
