"""Best-first: a link is worth as much as the page it stands on (paper TC, section 3).

With the keyword judge the score is the cosine between the topic's words and the citing page. A link
cited by several visited pages has the largest of their scores.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lycosa.frontier.strategy import Ranked
from lycosa.model import Visit


class BestFirst(Ranked):
    name = "best-first"

    def tell(self, visit: Visit, targets: NDArray[np.int64]) -> NDArray[np.float64]:
        relevance = visit.judgement.relevance if visit.judgement else 0.0
        return np.full(len(targets), relevance)

    def reason(self, score: float) -> str:
        if score < 0:
            return f"best-first: tried before without success, waits behind untried links ({score:.3f})"
        return f"best-first: {score:.3f} is the relevance of the best visited page that links to it"
