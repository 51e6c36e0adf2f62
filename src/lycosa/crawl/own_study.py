"""What a study says of the pages that a shard has fetched itself.

In a cluster a strategy, and the study that it began, are also told of pages of other shards. Whoever takes over
verdicts knows pages by their place in the crawl of this shard: here the others are left out, and the rest renumbered.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray

from lycosa.judges.protocol import Judge, LearnedTopic, WordCounts
from lycosa.lib.snapshot import Snapshots
from lycosa.model import Page

Floats = NDArray[np.float32]


def own_places(foreign: list[int], told: int) -> NDArray[np.int64]:
    """Of `told` pages that a strategy was told of, the places of those that this shard has fetched.

    `foreign`: for each page of another shard, in order, the number of own pages by then.
    """
    is_own = np.ones(told, dtype=np.bool_)
    others = np.array(foreign, dtype=np.int64) + np.arange(len(foreign))
    is_own[others[others < told]] = False
    return np.flatnonzero(is_own)


class OwnStudy(LearnedTopic):
    def __init__(self, study: LearnedTopic, foreign: list[int]) -> None:
        """`foreign`: as in `own_places`; it grows as the crawl goes on."""
        self._study = study
        self._foreign = foreign

    def _own(self, values: Floats) -> Floats:
        return values[own_places(self._foreign, len(values))] if self._foreign else values

    @property
    def relevance(self) -> Floats:
        return self._own(self._study.relevance)

    def recent_verdicts(self) -> Floats:
        return self._own(self._study.recent_verdicts())

    def verdicts(self) -> Floats:
        return self._own(self._study.verdicts())

    @property
    def said(self) -> Floats:
        return self._own(self._study.said)

    @property
    def judged_pages(self) -> int:
        return len(own_places(self._foreign, self._study.judged_pages))

    @property
    def examples(self) -> Mapping[int, WordCounts]:
        found = self._study.examples
        places = own_places(self._foreign, max(found, default=-1) + 1).tolist()
        return {own: found[place] for own, place in enumerate(places) if place in found}

    def answer(self, place: int, is_relevant: bool | None) -> None:
        self._study.answer(int(own_places(self._foreign, place + len(self._foreign) + 1)[place]), is_relevant)

    # What concerns all pages alike.

    @property
    def weights(self) -> Floats:
        return self._study.weights

    @property
    def vector(self) -> Callable[[Mapping[str, int]], WordCounts]:
        return self._study.vector

    @property
    def meaning(self) -> Callable[[Page], float] | None:
        return self._study.meaning

    @property
    def idf_of_table(self) -> Floats:
        return self._study.idf_of_table

    @property
    def snapshots(self) -> Snapshots | None:
        return self._study.snapshots

    def add(self, page: WordCounts, *, host: int, is_seed: bool, relevance: float, meaning: float) -> float:
        return self._study.add(page, host=host, is_seed=is_seed, relevance=relevance, meaning=meaning)

    def learn(self) -> None:
        self._study.learn()

    @property
    def has_words(self) -> bool:
        return self._study.has_words

    @property
    def learns_from_seeds(self) -> bool:
        return self._study.learns_from_seeds

    @property
    def seeds_are_in_doubt(self) -> bool:
        return self._study.seeds_are_in_doubt

    @property
    def drift(self) -> float:
        return self._study.drift

    def as_judge(self, threshold: float) -> Judge:
        return self._study.as_judge(threshold)

    def near_misses(self) -> tuple[int, NDArray[np.int64]]:
        return self._study.near_misses()

    def word_strengths(self) -> Floats:
        return self._study.word_strengths()
