"""How sure a crawl is of what it says of its pages, in figures and in words.

Verdicts are probabilities (`judges.contrast.verdict`), so they add up: of pages that are each 70 % likely to be about
the topic, 70 in a hundred are expected to be.
"""

from __future__ import annotations

import json
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

CERTAINTY = "certainty"
"""Name of state in the store."""
SURE = 0.9
"""Minimum probability of a page that is surely relevant."""
MUCH_MISSED = 0.25
"""Share of the relevant pages; more among the others are worth asking about."""


class Certainty(NamedTuple):
    relevant: int
    sure: int
    right: float
    """Number of pages called relevant that are expected to be."""
    missed: float
    """Number of other pages that are expected to be relevant all the same."""

    @classmethod
    def of(cls, verdicts: NDArray[Any], threshold: float) -> Certainty:
        is_relevant = verdicts >= threshold
        return cls(
            int(is_relevant.sum()),
            int((is_relevant & (verdicts >= SURE)).sum()),
            round(float(verdicts[is_relevant].sum(dtype=np.float64)), 1),
            round(float(verdicts[~is_relevant].sum(dtype=np.float64)), 1),
        )

    def to_bytes(self) -> bytes:
        return json.dumps(self._asdict()).encode()

    @classmethod
    def from_bytes(cls, state: bytes | None) -> Certainty | None:
        return cls(**json.loads(state)) if state else None

    @property
    def in_words(self) -> str:
        if not self.relevant:
            return ""
        sure = "all" if self.sure == self.relevant else f"{self.sure:,}" if self.sure else "none"
        words = (
            f"of the {self.relevant:,} relevant, {sure} surely; about {round(self.right):,} are expected to be right"
        )
        if self.missed >= max(1.0, MUCH_MISSED * self.relevant):
            words += f", and about {round(self.missed):,} of the others to be relevant after all"
        return words
