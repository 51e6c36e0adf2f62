"""How good a strategy's crawls are: the fitness of its genome (paper GA, sections 2.1 and 3).

    harvest   good pages / all pages (equation 1)
    sites     the same, but at most `PER_SITE` good pages of a site count: finding another site is worth more
    lengths   the mean of the harvest after a quarter, a half and all of the pages: a good start counts, too

The last two are the paper's future work: a fitness that rewards exploration, and crawls of several lengths. Each is
averaged over the runs, and with several tasks over those. Random numbers depend on the run, not on the genome: all
genomes are tried under the same luck, a genome always has the same fitness, and processes may evaluate them in any
order.

Differs from GA: a genome of zeros has no weights to normalise; its fitness is 0.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from lycosa.errors import ConfigError
from lycosa.lab.evaluate.spread import capped_harvest
from lycosa.lab.evolve.encoding import Encoding
from lycosa.lab.evolve.simulator import CrawlPlan, Simulator
from lycosa.lib.evolve import Genome
from lycosa.strategies.papers.evolved import EvolvedSettings

PER_SITE = 10
LENGTHS = (0.25, 0.5, 1.0)

Pages = NDArray[np.int32]


@dataclass(frozen=True, slots=True, eq=False)
class Grading:
    """What the crawls are graded by. Strategies never see it."""

    is_good: NDArray[np.bool_]
    """By page: whether finding it counts."""
    sites: NDArray[np.int32]
    """By page: the number of its host."""


def harvest(downloads: Pages, grading: Grading, pages: int) -> float:
    """Share of the pages asked for: a crawl that ran dry early gains nothing by it."""
    return int(np.count_nonzero(grading.is_good[downloads])) / pages


def harvest_of_sites(downloads: Pages, grading: Grading, pages: int) -> float:
    if not len(downloads):
        return 0.0
    rates = capped_harvest(grading.is_good[downloads], grading.sites[downloads], PER_SITE)
    return float(rates[-1]) * len(downloads) / pages


def harvest_at_lengths(downloads: Pages, grading: Grading, pages: int) -> float:
    lengths = [max(1, round(pages * share)) for share in LENGTHS]
    return sum(harvest(downloads[:length], grading, length) for length in lengths) / len(lengths)


HARVEST = "harvest"
MEASURES: Mapping[str, Callable[[Pages, Grading, int], float]] = {
    HARVEST: harvest,
    "sites": harvest_of_sites,
    "lengths": harvest_at_lengths,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class CrawlFitness:
    """The mean of a measure over the simulated crawls of one task. Not to be shared between processes."""

    simulator: Simulator
    plans: Sequence[CrawlPlan]
    """One for each run."""
    grading: Grading
    seed: int
    measure: str = HARVEST
    encoding: Encoding = field(default_factory=Encoding)

    def __post_init__(self) -> None:
        if not self.plans:
            raise ConfigError("the fitness of a strategy needs at least one run")
        if self.measure not in MEASURES:
            raise ConfigError(f"there is no fitness {self.measure!r}; there are {', '.join(MEASURES)}")

    def __call__(self, genome: Genome) -> float:
        settings = self.encoding.settings(genome)
        return 0.0 if settings is None else self.of(settings)

    def of(self, settings: EvolvedSettings) -> float:
        """The fitness of this strategy, whether or not a genome encodes it."""
        return sum(self.by_run(settings)) / len(self.plans)

    def by_run(self, settings: EvolvedSettings) -> list[float]:
        """The measure of each crawl, whose seeds earn it nothing."""
        found = []
        for run, plan in enumerate(self.plans):
            downloads = self.simulator.crawl(settings, plan, np.random.default_rng([self.seed, run]))
            is_good = self.grading.is_good.copy()
            is_good[plan.seeds] = False
            found.append(MEASURES[self.measure](downloads, Grading(is_good, self.grading.sites), plan.pages))
        return found


@dataclass(frozen=True, slots=True)
class MeanFitness:
    """The mean over several tasks: a strategy for one topic only is not fit."""

    tasks: Sequence[CrawlFitness]

    def __call__(self, genome: Genome) -> float:
        return sum(task(genome) for task in self.tasks) / len(self.tasks)

    def of(self, settings: EvolvedSettings) -> float:
        return sum(task.of(settings) for task in self.tasks) / len(self.tasks)

    def by_run(self, settings: EvolvedSettings) -> list[float]:
        """Of all tasks, one after the other."""
        return [value for task in self.tasks for value in task.by_run(settings)]
