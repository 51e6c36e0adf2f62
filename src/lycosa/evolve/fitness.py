"""How good a strategy's crawls are: the fitness of its genome (paper GA, sections 2.1 and 3).

    fitness = good pages / all pages, averaged over the runs

A genome has a gene for each weight of the evolved rank. Random numbers belong to the run, not to the genome: all are
tried under the same luck, a genome always has the same fitness, and processes may evaluate them in any order.

Differs from GA: a genome of nothing but zeros has no weights to be normalised, and is not fit at all.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lycosa.errors import ConfigError
from lycosa.evolve.simulator import CrawlPlan, Simulator
from lycosa.frontier.evolved import GA2003, WEIGHTS, EvolvedSettings
from lycosa.lib.evolve import Genome, genes, genome_of

GENES = tuple(GA2003)
"""The weights that are evolved, in the order of the genome: paper GA's nine."""
BITS = 7


@dataclass(frozen=True, slots=True)
class HarvestFitness:
    """The share of good pages. A value that can be sent to other processes, each with a simulator of its own."""

    simulator: Simulator
    plans: Sequence[CrawlPlan]
    """One for each run: the paper makes three of the same, which differ by their luck."""
    is_good: NDArray[np.bool_]
    """By page. The truth, where it is known; else what guides the crawl."""
    seed: int

    def __post_init__(self) -> None:
        if not self.plans:
            raise ConfigError("the fitness of a strategy needs at least one run")

    def __call__(self, genome: Genome) -> float:
        settings = settings_of(genome)
        if settings is None:
            return 0.0
        weights = settings.weights()
        total = 0.0
        for run, plan in enumerate(self.plans):
            downloads = self.simulator.crawl(weights, plan, np.random.default_rng([self.seed, run]))
            # Of the pages asked for: a crawl that ran dry early is not the better for it.
            total += np.count_nonzero(self.is_good[downloads]) / plan.pages
        return total / len(self.plans)


def settings_of(genome: Genome) -> EvolvedSettings | None:
    """The weights that a genome spells; None: all are 0."""
    values = genes(genome, BITS)
    if len(values) != len(GENES):
        raise ValueError(f"a strategy's genome has {len(GENES)} genes of {BITS} bits, not {len(values)}")
    if not any(values):
        return None
    return EvolvedSettings(**{**dict.fromkeys(WEIGHTS, 0), **dict(zip(GENES, values, strict=True))})


def genome_of_settings(settings: EvolvedSettings) -> Genome:
    """The genome nearest to these weights, the largest of which gets the largest gene: to start from a winner."""
    values = np.array([getattr(settings, name) for name in GENES])
    if not values.any():
        raise ConfigError(f"none of the weights that are evolved ({', '.join(GENES)}) is more than 0")
    return genome_of(np.rint(values / values.max() * ((1 << BITS) - 1)).astype(int).tolist(), BITS)
