"""Evolves a similarity from examples: on one part of them, chosen on another.

    training      three quarters of the examples. A tree's fitness is how well each of up to `max_queries` of them is
                  classified by its nearest neighbours among the others.
    validation    the last quarter. Of the best trees of each generation, the one that classifies these best by their
                  neighbours in the training part is the similarity; of equals, the smaller, then the earlier.

How good it is on examples that it never saw, neither part can say: that is what cross-validation is for
(`topics.training`), which evolves once for each fold. The paper gives neither population nor generations nor k.

A generation is saved as soon as it is there; interrupted, the same examples and settings go on from it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from lycosa.errors import InputError
from lycosa.judges.gp.evidence import EvidenceIndex
from lycosa.judges.gp.fields import EVIDENCE, LINK_EVIDENCE
from lycosa.judges.gp.fitness import NeighbourFitness
from lycosa.judges.labels import Truth, folds
from lycosa.lib.gp.evolution import ProgramSettings, TreeGeneration, evolve_trees
from lycosa.lib.gp.interpret import CACHE_BYTES
from lycosa.lib.gp.text import written
from lycosa.lib.gp.trees import Expression, Language

SIMILARITIES = Language((*EVIDENCE, *LINK_EVIDENCE))
"""The language that people write similarities in. Evolution knows only the evidence that there is."""
PARTS = 4
"""One of them is for validation."""

Told = Callable[[str, int, int], None]
"""Called with what is going on, how much of it is done, and of how much."""


class Checkpoints(Protocol):
    """Where generations are kept until the judge is trained."""

    def load(self, key: str) -> object:
        """What was saved under the key last, as plain values; None if nothing was, or it cannot be read."""

    def save(self, key: str, data: Mapping[str, Any]) -> None: ...


class NoCheckpoints:
    def load(self, key: str) -> object:  # noqa: ARG002 - whatever it is
        return None

    def save(self, key: str, data: Mapping[str, Any]) -> None: ...


def tell_nobody(_step: str, _done: int, _total: int) -> None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class SimilarityLearning:
    """How a similarity is evolved."""

    program: ProgramSettings = field(default_factory=ProgramSettings)
    k: int = 10
    measure: str = "macro-f1"
    max_queries: int = 500
    """Maximum number of documents that a tree is tried on, of each part."""
    seed: int = 1
    cache_bytes: int = CACHE_BYTES
    """Memory for results of sub-trees, of each part."""


@dataclass(frozen=True, slots=True)
class EvolvedFormula:
    """What was learned."""

    tree: Expression
    nearest: float
    """The similarity of the nearest other example, in the median: what a high similarity is."""
    training: float
    validation: float | None
    """None: there were too few examples for a part of their own."""
    generations: int

    @property
    def formula(self) -> str:
        return written(self.tree)


class Parts:
    """Evidence and fitness on both parts of the examples."""

    def __init__(self, index: EvidenceIndex, by_class: Truth, learning: SimilarityLearning) -> None:
        is_validation = folds(by_class, PARTS) == 0
        known = by_class[~is_validation].any(axis=0)
        # A document whose classes have no other example cannot be recognised by one.
        is_validation &= by_class[:, known].any(axis=1)
        rng = np.random.default_rng(learning.seed)
        self.trained = np.flatnonzero(~is_validation)
        self.validated = _some(np.flatnonzero(is_validation), learning.max_queries, rng)
        queries = _some(np.arange(len(self.trained)), learning.max_queries, rng)
        matrices = index.matrices
        documents = tuple(matrix[self.trained] for matrix in matrices)
        self._documents, self._matrices, self._index = documents, matrices, index
        self._by_class, self._learning = by_class, learning
        self.training = self._fitness(self.trained[queries], queries)
        self.validation = self._fitness(self.validated, None) if len(self.validated) else None

    def _fitness(self, rows: NDArray[np.int64], own: NDArray[np.int64] | None) -> NeighbourFitness:
        evidence = self._index.rows(tuple(matrix[rows] for matrix in self._matrices), self._documents)
        return NeighbourFitness(
            evidence,
            self._by_class[rows],
            self._by_class[self.trained],
            k=self._learning.k,
            measure=self._learning.measure,
            own=own,
            cache_bytes=self._learning.cache_bytes,
        )


def evolved_similarity(
    index: EvidenceIndex,
    by_class: Truth,
    learning: SimilarityLearning,
    *,
    progress: Told = tell_nobody,
    checkpoints: Checkpoints | None = None,
) -> EvolvedFormula:
    """`by_class`: examples × classes."""
    checkpoints = checkpoints or NoCheckpoints()
    progress("comparing examples", 0, 1)
    parts = Parts(index, by_class, learning)
    last = run_generations(parts.training, learning, checkpoints, _key(index, by_class, learning), progress)
    return chosen(parts, last)


def given_similarity(
    tree: Expression, index: EvidenceIndex, by_class: Truth, learning: SimilarityLearning
) -> EvolvedFormula:
    """A formula as it is, tried on the same parts."""
    parts = Parts(index, by_class, learning)
    return _result(parts, tree, 0)


def run_generations(
    fitness: NeighbourFitness, learning: SimilarityLearning, checkpoints: Checkpoints, key: str, progress: Told
) -> TreeGeneration:
    """The last generation; the first one begins with each evidence alone."""
    settings, language = learning.program, Language(fitness.evidence)
    start = _restored(checkpoints.load(key), language, settings)
    last = start
    rng = np.random.default_rng(learning.seed)
    begin = start if start is not None else [Expression(name) for name in fitness.evidence]
    for generation in evolve_trees(fitness, language, settings, rng=rng, start=begin):
        last = generation
        checkpoints.save(key, generation.to_data())
        progress(f"evolving: {generation.fitness[0]:.3f}", generation.number, settings.generations)
    assert last is not None
    return last


def chosen(parts: Parts, last: TreeGeneration) -> EvolvedFormula:
    """Of all champions, the best on the validation part."""
    judge = parts.validation or parts.training
    scored = [(-judge(tree), tree.size, at) for at, tree in enumerate(last.champions)]
    return _result(parts, last.champions[min(scored)[-1]], last.number)


def _result(parts: Parts, tree: Expression, generations: int) -> EvolvedFormula:
    validation = parts.validation(tree) if parts.validation else None
    return EvolvedFormula(tree, parts.training.nearest(tree), parts.training(tree), validation, generations)


def _restored(data: object, language: Language, settings: ProgramSettings) -> TreeGeneration | None:
    if data is None:
        return None
    try:
        found = TreeGeneration.from_data(data, language, settings)
    except InputError:  # from other settings, or another version
        return None
    return found if found.number <= settings.generations else None


def _some(rows: NDArray[np.int64], count: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """At most this many, in order."""
    return np.sort(rng.permutation(rows)[:count])


def _key(index: EvidenceIndex, by_class: Truth, learning: SimilarityLearning) -> str:
    """Equal for the same examples and settings, whatever the number of generations."""
    program = {name: getattr(learning.program, name) for name in ProgramSettings.__dataclass_fields__}
    program.pop("generations")
    plain = [program, learning.k, learning.measure, learning.max_queries, learning.seed]
    digest = blake2b(json.dumps(plain, sort_keys=True).encode(), digest_size=12)
    for name, values in sorted({**index.to_arrays(), "classes": by_class}.items()):
        digest.update(name.encode() + np.ascontiguousarray(values).tobytes())
    return digest.hexdigest()
