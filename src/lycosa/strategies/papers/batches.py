"""Batches: the best N links are fetched in random order, then the next N (paper TC, section 4.1).

The larger N, the more the crawl explores and the less it exploits what it has just found. With N = 1 the batch is the
best link, which the frontier hands out by itself.

Differs from TC, which removes a batch from the frontier at once: here its links wait in the frontier until they are
fetched, so a link whose host is not ready does not hold up the others; a full buffer does not drop them. The next batch
is drawn when no link of the batch is waiting, even if some are still being fetched. A link that is returned (because
robots.txt had to be fetched first) may be in the next batch.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from lycosa.frontier.frontier import Frontier
from lycosa.frontier.links import LinkState
from lycosa.strategies.protocol import Strategy
from lycosa.strategies.saved_state import rng_state, seal, unseal


def best_together(frontier: Frontier, count: int) -> NDArray[Any]:
    """The best waiting links that may change places with each other: links that failed only if no others wait."""
    best = frontier.top(count)
    untried = best[~frontier.is_tried(best)]
    return untried if len(untried) else best


class Batched(Strategy):
    def __init__(self, size: int, rng: np.random.Generator) -> None:
        self._size = size
        self._rng = rng
        self._batch: list[int] = []
        """The remaining links, the next one last."""

    def ask(self, count: int, frontier: Frontier, now: float) -> list[int]:
        if self._size == 1:
            return super().ask(count, frontier, now)
        leased: list[int] = []
        while len(leased) < count:
            if not self._batch and not self._draw(frontier):
                break
            before = len(leased)
            self._go_through(leased, count, frontier, now)
            if self._batch and len(leased) == before:
                # All remaining links wait for their hosts. If no fetch is in progress either, some of these hosts may
                # have been set aside for good: another batch is drawn, without their links.
                if leased or frontier.leased or not self._draw(frontier):
                    break
                self._go_through(leased, count, frontier, now)
                break
        return leased

    def save(self) -> bytes:
        if self._size == 1:
            return b""
        return seal(self.name, {"rng": rng_state(self._rng)}, np.array(self._batch, dtype=np.uint32))

    def restore(self, state: bytes) -> None:
        if self._size == 1 or not state:
            super().restore(state)
            return
        head, (batch,) = unseal(self.name, state)
        self._rng.bit_generator.state = head["rng"]
        self._batch = batch.tolist()

    def _draw(self, frontier: Frontier) -> bool:
        best = best_together(frontier, self._size)
        frontier.spare(best)
        self._rng.shuffle(best)
        self._batch = best.tolist()
        return bool(self._batch)

    def _go_through(self, leased: list[int], count: int, frontier: Frontier, now: float) -> None:
        """Lease the links of the batch whose hosts are ready; remove those that are no longer waiting."""
        kept: list[int] = []
        batch = self._batch
        while batch and len(leased) < count:
            link = batch.pop()
            if frontier.take(link, now):
                leased.append(link)
            elif frontier.state_of(link) is LinkState.WAITING:
                kept.append(link)
        kept.reverse()
        batch.extend(kept)
