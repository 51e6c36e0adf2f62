"""Replaces a study of the topic if another judge decides relevance: a taxonomy, an SVM, keywords."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from lycosa.lib.snapshot import Snapshots, Tree
from lycosa.lib.wordhash import SIZE, numbers_of
from lycosa.strategies.hunter.notes import Counts, Words

Floats = NDArray[np.float32]


def no_words(terms: Mapping[str, int]) -> tuple[Words, Counts]:  # noqa: ARG001 - nothing is kept of a page
    return np.zeros(0, np.uint16), np.zeros(0, np.uint8)


class FixedRelevance:
    """A `Study` that keeps the relevance given by the judge and learns nothing."""

    def __init__(self, keywords: Mapping[str, int]) -> None:
        self.weights: Floats = np.zeros(SIZE, dtype=np.float32)
        if keywords:
            self.weights[numbers_of(keywords)] = 1 / np.sqrt(len(keywords))
        self.vector = no_words
        self.meaning = None
        self.idf_of_table: Floats = np.ones(SIZE, dtype=np.float32)
        self.idf_of_table[0] = 0
        self._relevance: list[float] = []
        self._answers: dict[int, bool] = {}

    @property
    def snapshots(self) -> Snapshots:
        return Snapshots(self._take, self._load)

    def _take(self) -> Tree:
        return {"relevance": np.array(self._relevance, dtype=np.float64), "answers": list(self._answers.items())}

    def _load(self, saved: Tree) -> None:
        self._relevance = saved["relevance"].tolist()
        self._answers = dict(saved["answers"])

    @property
    def relevance(self) -> Floats:
        relevance = np.array(self._relevance, dtype=np.float32)
        relevance[list(self._answers)] = list(self._answers.values())
        return relevance

    def add(
        self,
        page: tuple[Words, Counts],  # noqa: ARG002 - judged elsewhere
        *,
        host: int,  # noqa: ARG002 - judged elsewhere
        is_seed: bool,  # noqa: ARG002 - judged elsewhere
        relevance: float,
        meaning: float,  # noqa: ARG002 - judged elsewhere
    ) -> float:
        self._relevance.append(relevance)
        return relevance

    def learn(self) -> None:
        """Nothing to learn."""

    def recent_verdicts(self) -> Floats:
        return self.relevance

    def answer(self, place: int, is_relevant: bool | None) -> None:
        self._answers.pop(place, None)
        if is_relevant is not None:
            self._answers[place] = is_relevant
