"""The minimum relevance that start pages have decided: which of them did, and whether to trust it.

A page is relevant to a formula if it scores at least as high as the start page with the smallest positive score (paper
AR, section 2.3). One start page that the judge happens to score low then makes nearly every page relevant, so a
threshold that rests on few start pages, or on one that is far below the others, is said with what would be better.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from statistics import median
from typing import NamedTuple, Self

from lycosa.judges.topic_judges import threshold_from
from lycosa.store.rows import SeedPage

START_THRESHOLD = "threshold from"
"""Name of state in the store."""
LEAST_SCORE = 0.01
"""A start page with a smaller score is a stray one: a classifier is never quite certain."""
ENOUGH = 3
"""Minimum number of fitting start pages that do not need a warning."""
FAR_BELOW = 0.25
"""Share of the start pages' median score below which the smallest stands alone."""
INSTEAD = (
    f"begin again with at least {ENOUGH} start pages that fit (--seed), or say yourself what is relevant "
    "(--threshold 0.5)"
)


class StartThreshold(NamedTuple):
    value: float
    url: str
    """The start page that has this score."""
    pages: int
    """Number of start pages that were judged."""
    fitting: int
    """Number of those with a positive score."""
    median: float
    """Of the positive scores."""

    @classmethod
    def of(cls, seeds: Sequence[SeedPage]) -> Self:
        """InputError if no start page has a positive score."""
        judged = [(seed.relevance, seed.url) for seed in seeds if seed.relevance is not None]
        value = threshold_from((relevance for relevance, _ in judged), least=LEAST_SCORE)
        fitting = [(relevance, url) for relevance, url in judged if relevance > LEAST_SCORE]
        return cls(value, min(fitting)[1], len(judged), len(fitting), median(relevance for relevance, _ in fitting))

    @property
    def in_words(self) -> str:
        which = f"the smallest score of the {self.pages} start pages" if self.pages > 1 else "of the only start page"
        return f"minimum relevance {self.value:.3f}: {which}, {self.url}"

    @property
    def warning(self) -> str:
        """Why not to trust it, and what to do; empty if there is no reason."""
        if self.fitting < ENOUGH:
            decide = "one start page decides" if self.fitting == 1 else f"{self.fitting} start pages decide"
            return (
                f"{decide} what is relevant, all pages with {self.value:.3f} and more: a low score there makes nearly "
                f"everything relevant; {INSTEAD}"
            )
        if self.value < FAR_BELOW * self.median:
            return (
                f"one start page, {self.url}, decides that all pages with {self.value:.3f} and more are relevant; the "
                f"others score {self.median:.3f} in the median: leave it out, or {INSTEAD}"
            )
        return ""

    def to_bytes(self) -> bytes:
        return json.dumps(self._asdict()).encode()

    @classmethod
    def from_bytes(cls, stored: bytes | None) -> Self | None:
        return cls(**json.loads(stored)) if stored else None
