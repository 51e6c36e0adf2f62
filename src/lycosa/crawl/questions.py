"""Which pages to ask a person about: those whose answers teach the most.

    value of a page      doubt² · (1 + ln(1 + waiting links on it))
    of pages chosen      each next page is the one of greatest value · (1 − greatest similarity to those asked about)
                         / (1 + pages of its host asked about)

Doubt is 1 where the relevance equals a middle value and falls to 0 towards both ends. The middle is the threshold if as
many answers are yes as no. It is higher while there are few examples, and as long as most answers are no: a judge that
knows little overrates pages, and a yes teaches it more than a no. A page that many waiting links are
on decides how these are scored. Ten pages that say the same teach what one does: hence the second line. Near-duplicates
of a page that was asked about are never chosen. Seeds in doubt come first, if the topic was given in words: they decide
whether the crawl has examples at all.

Pure: the same columns serve a crawl's store (`results.open_questions`) and replays (`lab.replay.person`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lycosa.judges.contrast.page_vector import PageVector, table_row
from lycosa.lib.near_duplicates import NearDuplicates

Floats = NDArray[np.float32]

ENOUGH_EXAMPLES = 5
"""Number of examples from which on the threshold is in the middle of doubt. With none, it is at the top."""
LOOKED_AT = 150
"""Number of pages of greatest value that are compared with each other."""
IN_DOUBT = 0.5
"""Minimum doubt of a page that is counted as being in doubt: a relevance from 0.25 to 0.75 by a threshold of 0.5."""
EXAMPLE_RELEVANCE = 0.85
"""Minimum relevance of a seed that is counted as an example."""
SEED_IN_DOUBT = 0.2
"""The same for a seed that comes first; a seed that is an example has a relevance of 0.9 or more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AskablePages:
    """Pages by position, and what is known of them."""

    relevance: NDArray[Any]
    waiting: NDArray[Any]
    """Number of waiting links on the page."""
    hosts: Sequence[object]
    vectors: Sequence[PageVector]
    """Words and their counts; of the title alone where nothing else is known."""
    fingerprints: Sequence[int]
    is_first: NDArray[np.bool_]
    """Seeds to be asked about first if they are in doubt."""
    is_settled: NDArray[np.bool_]
    """Asked about before, or an example: others should differ from them."""


def doubt(relevance: NDArray[Any], middle: float) -> NDArray[np.float64]:
    """From 0 (certain) to 1 (where the relevance is `middle`)."""
    given = relevance.astype(np.float64)
    return np.where(given <= middle, given / middle, (1 - given) / max(1 - middle, 1e-9))


def middle_of_doubt(threshold: float, answers: Iterable[bool | None], *, examples: int = ENOUGH_EXAMPLES) -> float:
    """The relevance of the most doubtful pages.

    `answers`: what a person said so far. `examples`: number of seeds that the judge learns from; leave it out for a
    judge that learns nothing.
    """
    counts = Counter(answers)
    has_few = 1 - (examples + counts[True]) / ENOUGH_EXAMPLES
    is_overrating = 1 - 2 * (counts[True] + 1) / (counts[True] + counts[False] + 2)
    return threshold + (1 - threshold) * max(0.0, has_few, is_overrating)


def choose(pages: AskablePages, *, middle: float, count: int) -> list[int]:
    """Positions of the pages to ask about, the most telling first. `middle`: the relevance of the most doubtful."""
    doubts = doubt(pages.relevance, middle)
    value = doubts**2 * (1 + np.log1p(pages.waiting))
    value += np.where(pages.is_first & (doubts >= SEED_IN_DOUBT), 1 + value.max(initial=0.0), 0.0)
    value[pages.is_settled] = 0.0
    texts = NearDuplicates()
    for place in np.flatnonzero(pages.is_settled).tolist():
        texts.add(pages.fingerprints[place])
    order = np.argsort(-value, kind="stable")[: LOOKED_AT + int(pages.is_settled.sum())].tolist()
    near = [place for place in order if value[place] > 0 and texts.add(pages.fingerprints[place])][:LOOKED_AT]
    if not near:
        return []
    company = _Company(pages, near)
    for place in np.flatnonzero(pages.is_settled).tolist()[-LOOKED_AT:]:
        company.add(place)
    chosen: list[int] = []
    left = value[near]
    while len(chosen) < min(count, len(near)):
        best = int(np.argmax(left * company.novelty))
        if left[best] * company.novelty[best] <= 0:
            break
        chosen.append(near[best])
        left[best] = 0.0
        company.add(near[best])
    return chosen


class _Company:
    """How much each of some pages differs from those that were asked about."""

    def __init__(self, pages: AskablePages, near: list[int]) -> None:
        self._pages = pages
        self._hosts = np.array([hash(pages.hosts[place]) for place in near])
        self._of_host = np.zeros(len(near))
        self._likeness = np.zeros(len(near), dtype=np.float32)
        rows = [_filled(pages.vectors[place]) for place in near]
        self._starts = np.cumsum([0, *(len(row.words) for row in rows[:-1])])
        self._words = np.concatenate([row.words for row in rows])
        self._values = np.concatenate([table_row(row)[row.words] for row in rows])

    @property
    def novelty(self) -> NDArray[np.float64]:
        return (1.0 - np.clip(self._likeness, 0, 1)) / (1.0 + self._of_host)

    def add(self, place: int) -> None:
        """This page is asked about."""
        row = table_row(_filled(self._pages.vectors[place]))
        likeness = np.add.reduceat(self._values * row[self._words], self._starts)
        np.maximum(self._likeness, likeness, out=self._likeness)
        self._of_host += self._hosts == hash(self._pages.hosts[place])


def _filled(page: PageVector) -> PageVector:
    """With at least one word, one that counts for nothing."""
    return page if len(page.words) else PageVector(np.zeros(1, np.uint16), np.zeros(1, np.uint8))
