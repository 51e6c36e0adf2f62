"""Where to go next: strategies are told visits and asked for links.

A strategy gives each link of a visited page a score, and picks among the waiting links whose host is
ready. Most leave the picking to the frontier, which hands out the best score; one that chooses for
itself overrides `ask`. It sees only what is known before a fetch: the pages that cite a link, the words
around it, what came of earlier visits.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from lycosa.frontier.frontier import Frontier
from lycosa.model import Visit


class Strategy(Protocol):
    name: str

    def seed_score(self) -> float:
        """The score of a link a person gave."""
        ...

    def tell(self, visit: Visit, targets: NDArray[np.int64]) -> NDArray[np.float64]:
        """Take note of a visit to a page; return a score for each of its links, whose numbers are `targets`.

        A new link joins the frontier with this score; a waiting one moves up if this is better than what it has.
        """
        ...

    def ask(self, count: int, frontier: Frontier, now: float) -> list[int]:
        """Lease up to `count` links whose hosts are ready."""
        ...

    def retry_score(self, score: float, tries: int) -> float:
        """The score of a link that failed and will be tried again."""
        ...

    def reason(self, score: float) -> str:
        """In words, how a waiting link came by its score."""
        ...

    def save(self) -> bytes:
        """Everything learned, to be stored with the commit it belongs to."""
        ...

    def restore(self, state: bytes) -> None: ...


class Ranked:
    """The habits most strategies share: the frontier hands out the best score, nothing is learned."""

    name = ""

    def seed_score(self) -> float:
        return 1.0

    def ask(self, count: int, frontier: Frontier, now: float) -> list[int]:
        leased: list[int] = []
        while len(leased) < count:
            link = frontier.lease(now)
            if link is None:
                break
            leased.append(link)
        return leased

    def retry_score(self, score: float, tries: int) -> float:
        """Ordered by tries first, then by score (paper FC, section 3.2: numtries ascending, relevance descending)."""
        return score - tries

    def save(self) -> bytes:
        return b""

    def restore(self, state: bytes) -> None:
        if state:
            raise ValueError(f"{self.name} keeps no state, but {len(state)} bytes were saved")
