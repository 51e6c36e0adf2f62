"""What the meaning of a page's beginning adds to its score, where a topic is given in words alone.

The cosine between the topic's words and the beginning of a page (`judges.meaning`) says little by itself: some topics
are near everything, others near nothing. Among the pages of one crawl it tells apart. So it counts as a z-score among
these, whose mean and spread begin as if ten pages of .12 ± .1 had been seen:

    bonus = ½ · clip((cosine − mean) / spread − 1, 0, 2)

in units of the scale from pages off the topic (0) to pages on it (1). A page as near as most gets nothing, and a page
whose words are not the topic's, but mean the same, up to what a page on the topic has. Nothing is ever taken away.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

FIRST_PAGES, FIRST_MEAN, FIRST_SPREAD = 10.0, 0.12, 0.1
LEAST_Z, MOST_Z = 1.0, 3.0
"""z from which on a page gets a bonus, and at which it gets all of it."""
EACH = 0.5
"""Bonus per unit of z."""


class UsualMeaning(NamedTuple):
    """Of the pages of a crawl."""

    mean: float = FIRST_MEAN
    spread: float = FIRST_SPREAD

    @classmethod
    def of(cls, cosines: NDArray[Any]) -> UsualMeaning:
        known = cosines[~np.isnan(cosines)].astype(np.float64)
        count = FIRST_PAGES + len(known)
        mean = (FIRST_PAGES * FIRST_MEAN + float(known.sum())) / count
        first = FIRST_PAGES * (FIRST_SPREAD**2 + (FIRST_MEAN - mean) ** 2)
        return cls(mean, float(np.sqrt((first + float(((known - mean) ** 2).sum())) / count)))

    def bonus(self, cosines: NDArray[Any]) -> NDArray[np.float32]:
        known = np.where(np.isnan(cosines), cosines.dtype.type(self.mean), cosines)
        z = (known - self.mean) / self.spread
        bonus: NDArray[np.float32] = (EACH * np.clip(z - LEAST_Z, 0.0, MOST_Z - LEAST_Z)).astype(np.float32)
        return bonus

    def bonus_of(self, cosine: np.float32) -> float:
        """The same for a single page, to the bit."""
        mean = np.float32(self.mean)
        z = (mean if np.isnan(cosine) else cosine) - mean
        above = z / np.float32(self.spread) - np.float32(LEAST_Z)
        return float(np.float32(EACH) * min(max(above, np.float32(0.0)), np.float32(MOST_Z - LEAST_Z)))
