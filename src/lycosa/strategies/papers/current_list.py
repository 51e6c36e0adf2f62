"""The order of downloads of the simulator of paper GA, section 2.1, for any strategy.

A crawler has many open connections, and which page arrives first depends on more than the order of the requests. The
paper models this by a current list of at most `size` links. When `size` − `refill` or fewer are left, the `refill` best
of the frontier join it with time stamp 1, and the stamps of those already in it grow by 1. The next link is drawn by
roulette on the stamps: the longer it has waited, the more likely it is.

Differs from GA: seeds do not join the list at once but through the frontier, like all links (their scores make them
come first). If the host of a drawn link is resting, another link is drawn; if all hosts of the list are resting, the
best ready link of the frontier is fetched instead.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lycosa.errors import ConfigError
from lycosa.frontier.frontier import Frontier
from lycosa.frontier.links import LinkState
from lycosa.lib.bounds import require_at_least
from lycosa.strategies.papers.batches import best_together
from lycosa.strategies.protocol import Strategy
from lycosa.strategies.saved_state import rng_state, seal, unseal
from lycosa.strategies.wrapper import Wrapper


@dataclass(frozen=True, slots=True, kw_only=True)
class CurrentListSettings:
    size: int = 100
    refill: int = 50

    def __post_init__(self) -> None:
        require_at_least(self, "current-list", size=1, refill=1)
        if self.refill > self.size:
            raise ConfigError(f"current-list.refill is {self.refill}: it must not be above the size, {self.size}")


class CurrentList(Wrapper):
    """The scores of another strategy, in this order. Each draw takes one random number."""

    def __init__(self, inner: Strategy, *, rng: np.random.Generator, settings: CurrentListSettings) -> None:
        super().__init__(inner, "current-list")
        self._rng = rng
        self._size, self._refill = settings.size, settings.refill
        self._links: list[int] = []
        """The current list. Its links wait in the frontier until they are drawn."""
        self._stamps: list[int] = []

    def ask(self, count: int, frontier: Frontier, now: float) -> list[int]:
        leased: list[int] = []
        if count > 0:
            self._inner.ask(0, frontier, now)  # lets it update scores
        while len(leased) < count:
            if len(self._links) <= self._size - self._refill:
                self._fill(frontier)
            link = self._draw(frontier, now)
            if link is None:
                link = frontier.lease(now)
            if link is None:
                break
            leased.append(link)
        return leased

    def save(self) -> bytes:
        return seal(
            self.name,
            {"rng": rng_state(self._rng)},
            np.array(self._links, dtype=np.uint32),
            np.array(self._stamps, dtype=np.int64),
            np.frombuffer(self._inner.save(), dtype=np.uint8),
        )

    def restore(self, state: bytes) -> None:
        if not state:
            self._inner.restore(state)
            return
        head, (links, stamps, inner) = unseal(self.name, state)
        self._rng.bit_generator.state = head["rng"]
        self._links, self._stamps = links.tolist(), stamps.tolist()
        self._inner.restore(inner.tobytes())

    def _fill(self, frontier: Frontier) -> None:
        """Add the best links of the frontier that are not in the list."""
        best = best_together(frontier, self._refill + len(self._links))
        new = best[~np.isin(best, self._links)][: self._refill]
        if not len(new):
            return
        frontier.spare(new)
        self._stamps = [stamp + 1 for stamp in self._stamps] + [1] * len(new)
        self._links += new.tolist()

    def _draw(self, frontier: Frontier, now: float) -> int | None:
        """Lease a link of the list whose host is ready, by roulette; None if no host is ready."""
        is_passed = [False] * len(self._links)
        while not all(is_passed):
            wheel = np.cumsum([0 if passed else stamp for stamp, passed in zip(self._stamps, is_passed, strict=True)])
            at = int(np.searchsorted(wheel, self._rng.random() * float(wheel[-1]), side="right"))
            at = min(at, len(wheel) - 1)  # the product may be rounded up
            link = self._links[at]
            is_taken = frontier.take(link, now)
            if not is_taken and frontier.state_of(link) is LinkState.WAITING:
                is_passed[at] = True
                continue
            # It is leased now, or was leased or dropped elsewhere.
            del self._links[at], self._stamps[at], is_passed[at]
            if is_taken:
                return link
        return None
