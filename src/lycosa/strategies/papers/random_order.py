"""Random order: the unfocused crawl that focused ones are compared with (paper FC, section 4.2).

Each link has one random score, no matter on which pages it is found: at any time every waiting link is equally likely
to be the next, and equally likely to be dropped from a full buffer. The score is a hash of the link's number and a
random number of the crawl, so nothing has to be stored per link.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lycosa.model import Visit
from lycosa.strategies.protocol import Abilities, NoSettings, Strategy, StrategyParts
from lycosa.strategies.saved_state import seal, unseal

_STEP = np.uint64(0x9E3779B97F4A7C15)
_FIRST = np.uint64(0xBF58476D1CE4E5B9)
_SECOND = np.uint64(0x94D049BB133111EB)


class RandomOrder(Strategy):
    name = "random"

    def __init__(self, parts: StrategyParts, settings: NoSettings) -> None:  # noqa: ARG002 - as for all strategies
        self._salt = int(parts.rng.integers(1 << 63))

    @property
    def abilities(self) -> Abilities:
        return Abilities(uses_judgement=False)

    def tell(self, visit: Visit, targets: NDArray[np.int64]) -> NDArray[np.float64]:  # noqa: ARG002 - nothing is learned
        """Scores in [0, 1), by the finaliser of SplitMix64."""
        mixed = (targets.astype(np.uint64) + np.uint64(1)) * _STEP + np.uint64(self._salt)
        mixed = (mixed ^ (mixed >> np.uint64(30))) * _FIRST
        mixed = (mixed ^ (mixed >> np.uint64(27))) * _SECOND
        mixed ^= mixed >> np.uint64(31)
        return (mixed >> np.uint64(11)) / float(1 << 53)

    def reason(self, score: float) -> str:
        return f"random: {score:.3f} is a random number; the link with the highest comes first"

    def save(self) -> bytes:
        return seal(self.name, {"salt": self._salt})

    def restore(self, state: bytes) -> None:
        if state:
            self._salt = unseal(self.name, state)[0]["salt"]
