"""Which topic of an interest is the rarer, by the pages visited so far (paper AR, section 3.3).

AR names several notions of "infrequent", of which these two can be had without a threshold: the topic with the lower
average score, and the one that was "in most of the cases responsible for lowering the score of a page". In a formula
whose AND is a minimum, that is the topic with the smallest score.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Self

from lycosa.judges.generalise import RarerBy


class TopicFigures:
    """Scores of the visited pages by topic, summed up."""

    def __init__(self) -> None:
        self._pages = 0
        self._sums: dict[str, float] = {}
        self._lowered: Counter[str] = Counter()
        """Number of pages on which the topic had the smallest score of those in the focus."""

    def add(self, scores: Mapping[str, float], topics: Sequence[str]) -> None:
        """A page with these scores. `topics`: those of the focus it was visited with."""
        self._pages += 1
        for topic, score in scores.items():
            self._sums[topic] = self._sums.get(topic, 0.0) + score
        known = [topic for topic in topics if topic in scores]
        if len(known) > 1:
            self._lowered[min(known, key=lambda topic: scores[topic])] += 1

    def frequencies(self, rarer_by: str) -> dict[str, float]:
        """By topic, in [0, 1]: the smaller, the rarer."""
        pages = max(1, self._pages)
        if rarer_by == RarerBy.LOWERING:
            return {topic: 1.0 - self._lowered[topic] / pages for topic in self._sums}
        return {topic: total / pages for topic, total in self._sums.items()}

    def to_plain(self) -> dict[str, Any]:
        return {"pages": self._pages, "sums": self._sums, "lowered": dict(self._lowered)}

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> Self:
        """States of earlier versions have no `lowered`."""
        figures = cls()
        figures._pages, figures._sums = plain["pages"], dict(plain["sums"])
        figures._lowered = Counter(plain.get("lowered", {}))
        return figures
