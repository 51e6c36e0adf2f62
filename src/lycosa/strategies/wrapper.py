"""A strategy around another: what it does not change it passes on."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from lycosa.frontier.frontier import Frontier
from lycosa.model import Link, Visit
from lycosa.strategies.protocol import Strategy


class Wrapped:
    """The inner strategy in all but name; those that inherit say what differs."""

    def __init__(self, inner: Strategy, name: str) -> None:
        self._inner = inner
        self._rule = name
        self.name = f"{name}+{inner.name}"
        self.needs_whole_pages = inner.needs_whole_pages
        self.digest = inner.digest
        self.is_retold = inner.is_retold

    def seed_score(self) -> float:
        return self._inner.seed_score()

    def tell(self, visit: Visit, targets: NDArray[np.int64]) -> NDArray[np.float64]:
        return self._inner.tell(visit, targets)

    def note(self) -> bytes:
        return self._inner.note()

    def again(self, visit: Visit, targets: NDArray[np.int64]) -> NDArray[np.float64]:
        return self._inner.again(visit, targets)

    def take_change(self) -> str:
        return self._inner.take_change()

    def ask(self, count: int, frontier: Frontier, now: float) -> list[int]:
        return self._inner.ask(count, frontier, now)

    def rescored(self) -> dict[int, float]:
        return self._inner.rescored()

    def retry_score(self, score: float, tries: int) -> float:
        return self._inner.retry_score(score, tries)

    def factors(self, visit: Visit, link: Link) -> Mapping[str, float]:
        return self._inner.factors(visit, link)

    def reason(self, score: float) -> str:
        return f"{self._rule}+{self._inner.reason(score)}"

    def save(self) -> bytes:
        return self._inner.save()

    def restore(self, state: bytes) -> None:
        self._inner.restore(state)
