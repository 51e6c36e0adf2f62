"""What else the same number of trials could have bought: random search, and CMA-ES (Hansen 2016).

Both search among the genomes that the genetic algorithm searches among, begin with the same known strategies, and may
evaluate as many strategies. CMA-ES is that of the package `cma`, which its author keeps: it moves a normal distribution
over the genes, as numbers from 0 to 1, towards where strategies are fit. Genomes of the same genes are evaluated once,
and count once.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from lycosa.errors import InputError
from lycosa.lib.evolve import Fitness, GeneticSettings, Genome, Map, genes, genome_of, random_genome

STEP = 0.3
"""CMA-ES: the standard deviation it begins with."""
DRY = 20
"""Generations in a row in which it may propose nothing new."""


class LimitedTrials:
    """A fitness that is evaluated a limited number of times; counts what is new."""

    def __init__(self, fitness: Fitness, evaluations: int, map: Map) -> None:
        self.known: dict[Genome, float] = {}
        self.left = evaluations
        self._fitness, self._map = fitness, map

    def evaluate(self, genomes: Sequence[Genome]) -> list[float]:
        """As far as the trials allows; beyond it a genome is worth nothing."""
        new = [genome for genome in dict.fromkeys(genomes) if genome not in self.known][: self.left]
        self.left -= len(new)
        self.known.update(zip(new, self._map(self._fitness, new), strict=True))
        return [self.known.get(genome, 0.0) for genome in genomes]

    def fittest(self, count: int) -> list[Genome]:
        return sorted(self.known, key=lambda genome: -self.known[genome])[:count]


def random_search(
    trials: LimitedTrials, settings: GeneticSettings, *, start: Iterable[Genome], rng: np.random.Generator
) -> LimitedTrials:
    trials.evaluate(list(start))
    while trials.left:
        trials.evaluate([random_genome(settings, rng) for _ in range(min(settings.population, trials.left))])
    return trials


def cma_es(
    trials: LimitedTrials, settings: GeneticSettings, *, start: Sequence[Genome], rng: np.random.Generator
) -> LimitedTrials:
    """From the fittest of the known strategies; started again from the fittest so far when it has converged."""
    new_search = _cma()
    trials.evaluate(list(start))
    dry = 0
    while trials.left and dry < DRY:
        centre = [gene / _largest(settings) for gene in genes(trials.fittest(1)[0], settings.bits)]
        search = new_search(
            centre,
            STEP,
            {
                "bounds": [0, 1],
                "popsize": max(4, settings.population),
                "randn": lambda *shape: rng.standard_normal(shape),
                "seed": math.nan,  # leave the global generator alone
                "verbose": -9,
                "verb_log": 0,
                "maxiter": 10**6,
            },
        )
        while trials.left and not search.stop() and dry < DRY:
            points = search.ask()
            before = trials.left
            values = trials.evaluate([_genome(point, settings) for point in points])
            dry = 0 if trials.left < before else dry + 1
            search.tell(points, [-value for value in values])
    return trials


def _cma() -> Callable[..., Any]:
    try:
        from cma import CMAEvolutionStrategy
    except ImportError as error:
        raise InputError("CMA-ES needs the package cma: pip install 'lycosa[evolve]'") from error
    strategy: Callable[..., Any] = CMAEvolutionStrategy
    return strategy


def _largest(settings: GeneticSettings) -> int:
    return (1 << settings.bits) - 1


def _genome(point: np.ndarray[Any, Any], settings: GeneticSettings) -> Genome:
    return genome_of(np.clip(np.rint(point * _largest(settings)), 0, _largest(settings)).astype(int), settings.bits)
