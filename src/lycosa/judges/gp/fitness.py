"""How well a similarity classifies by its nearest neighbours (paper GP, section 3.1).

The paper's procedure predicts the class of each document by its k nearest neighbours, counts the right predictions R,
P = R and the documents T, and sets p = P/T, r = R/|C|, F = 2pr/(p + r). Over all documents, that is accuracy. Done
class by class, over the documents of the class, T is |C| and F is the share of the class that is recognised; `paper_f`
is the mean of that over the classes. `macro_f1` is what the paper calls its F: the mean over the classes of
2pr/(p + r), with p = right / predicted as the class and r = right / in the class. Both are by class, so that rare
classes count as much as others.

A document may have several classes. It counts for its home: the predicted class, if it is one of them; else the first.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lycosa.errors import ConfigError
from lycosa.judges.gp.evidence import Floats32
from lycosa.judges.labels import Truth
from lycosa.lib.extras import required
from lycosa.lib.gp.interpret import CACHE_BYTES, Interpreter
from lycosa.lib.gp.trees import Expression

Predictions = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class ClassCounts:
    """By class."""

    right: NDArray[np.int64]
    said: NDArray[np.int64]
    true: NDArray[np.int64]

    @classmethod
    def of(cls, predicted: Predictions, truth: Truth) -> ClassCounts:
        """`predicted`: a class by row, or −1; `truth`: rows × classes."""
        count = truth.shape[1]
        is_right = (predicted >= 0) & truth[np.arange(len(truth)), np.maximum(predicted, 0)]
        home = np.where(is_right, predicted, truth.argmax(axis=1))
        kinds = (home[is_right], predicted[predicted >= 0], home)
        return cls(*(np.bincount(each, minlength=count) for each in kinds))

    @property
    def tested(self) -> NDArray[np.bool_]:
        return self.true > 0

    @property
    def precision(self) -> NDArray[np.float64]:
        return self.right / np.maximum(self.said, 1)

    @property
    def recall(self) -> NDArray[np.float64]:
        return self.right / np.maximum(self.true, 1)

    @property
    def f1(self) -> NDArray[np.float64]:
        """2pr/(p + r), which is 2·right/(said + true)."""
        found: NDArray[np.float64] = 2 * self.right / np.maximum(self.said + self.true, 1)
        return found


def macro_f1(counts: ClassCounts) -> float:
    return float(counts.f1[counts.tested].mean())


def paper_f(counts: ClassCounts) -> float:
    return float(counts.recall[counts.tested].mean())


MEASURES_OF_FITNESS: Mapping[str, Callable[[ClassCounts], float]] = {"macro-f1": macro_f1, "paper": paper_f}


def fitness_measure(name: str) -> Callable[[ClassCounts], float]:
    if name not in MEASURES_OF_FITNESS:
        raise ConfigError(f"gp-knn.measure is {name!r}: there are {', '.join(MEASURES_OF_FITNESS)}")
    return MEASURES_OF_FITNESS[name]


class NeighbourFitness:
    """The fitness of a similarity on documents whose evidence to the examples is known."""

    def __init__(
        self,
        evidence: Mapping[str, Floats32],
        truth: Truth,
        examples: Truth,
        *,
        k: int,
        measure: str = "macro-f1",
        own: NDArray[np.int64] | None = None,
        cache_bytes: int = CACHE_BYTES,
    ) -> None:
        """`evidence`: documents × examples, by name; `truth`: documents × classes; `examples`: examples × classes;
        `own`: the column of each document, if it is one of the examples, or −1."""
        self._interpreter = Interpreter(evidence, cache_bytes=cache_bytes)
        self.evidence = tuple(evidence)
        self._truth = truth
        self._own = np.full(len(truth), -1, np.int64) if own is None else own.astype(np.int64)
        self._starts = np.concatenate([[0], np.cumsum(examples.sum(axis=1))]).astype(np.int64)
        self._classes = examples.nonzero()[1].astype(np.int64)
        self._k = max(1, min(k, len(examples)))
        self._measure = fitness_measure(measure)
        self.evaluations = 0

    def __call__(self, tree: Expression) -> float:
        self.evaluations += 1
        return self.score(self._interpreter.value(tree))

    def score(self, similarity: Floats32) -> float:
        """For a similarity that is computed already: documents × examples."""
        return self._measure(ClassCounts.of(self.predictions_by(similarity), self._truth))

    def predictions(self, tree: Expression) -> Predictions:
        return self.predictions_by(self._interpreter.value(tree))

    def predictions_by(self, similarity: Floats32) -> Predictions:
        required("numba", extra="learn", what="gp-knn")
        from lycosa.judges.gp.neighbours import predicted_classes  # here, as numba loads slowly

        found: Predictions = predicted_classes(
            np.ascontiguousarray(similarity, np.float32),
            self._own,
            self._starts,
            self._classes,
            self._truth.shape[1],
            self._k,
        )
        return found

    def nearest(self, tree: Expression) -> float:
        """The similarity of the nearest example, in the median over the documents that have one; 1 if none has."""
        similarity = self._interpreter.value(tree).copy()
        rows = np.flatnonzero(self._own >= 0)
        similarity[rows, self._own[rows]] = 0.0
        tops = similarity.max(axis=1)
        return float(np.median(tops[tops > 0])) if (tops > 0).any() else 1.0
