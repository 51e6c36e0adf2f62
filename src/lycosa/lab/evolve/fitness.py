"""How good a strategy's crawls are: the fitness of its genome (paper GA, sections 2.1 and 3).

    harvest   good pages / all pages (equation 1)
    sites     the same, but of a site at most `PER_SITE` good pages count: to find another site is worth more
    lengths   the mean of the harvest after a quarter, a half and all of the pages: a good start counts, too

The last two are the paper's future work: a fitness that rewards exploration, and crawls of several lengths. Each is
averaged over the runs. What a genome means is said in `spelling`. Random numbers belong to the run, not
to the genome: all are tried under the same luck, a genome always has the same fitness, and processes may evaluate them
in any order.

Differs from GA: a genome of nothing but zeros has no weights to be normalised, and is not fit at all.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from lycosa.errors import ConfigError
from lycosa.lab.evaluate.spread import capped_harvest
from lycosa.lab.evolve.encoding import Spelling
from lycosa.lab.evolve.simulator import CrawlPlan, Simulator
from lycosa.lib.evolve import Genome
from lycosa.strategies.papers.evolved import EvolvedSettings

PER_SITE = 10
LENGTHS = (0.25, 0.5, 1.0)

Pages = NDArray[np.int32]


@dataclass(frozen=True, slots=True, eq=False)
class Truth:
    """What the crawls are graded by; the strategies see nothing of it."""

    is_good: NDArray[np.bool_]
    """By page: to find it earns something."""
    sites: NDArray[np.int32]
    """By page: the number of its host."""


def harvest(downloads: Pages, truth: Truth, pages: int) -> float:
    """Of the pages asked for: a crawl that ran dry early is not the better for it."""
    return int(np.count_nonzero(truth.is_good[downloads])) / pages


def harvest_of_sites(downloads: Pages, truth: Truth, pages: int) -> float:
    if not len(downloads):
        return 0.0
    rates = capped_harvest(truth.is_good[downloads], truth.sites[downloads], PER_SITE)
    return float(rates[-1]) * len(downloads) / pages


def harvest_at_lengths(downloads: Pages, truth: Truth, pages: int) -> float:
    lengths = [max(1, round(pages * share)) for share in LENGTHS]
    return sum(harvest(downloads[:length], truth, length) for length in lengths) / len(lengths)


HARVEST = "harvest"
MEASURES: Mapping[str, Callable[[Pages, Truth, int], float]] = {
    HARVEST: harvest,
    "sites": harvest_of_sites,
    "lengths": harvest_at_lengths,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class CrawlFitness:
    """The mean of a measure over simulated crawls. For one process: it has a simulator of its own."""

    simulator: Simulator
    plans: Sequence[CrawlPlan]
    """One for each run."""
    truth: Truth
    seed: int
    measure: str = HARVEST
    spelling: Spelling = field(default_factory=Spelling)

    def __post_init__(self) -> None:
        if not self.plans:
            raise ConfigError("the fitness of a strategy needs at least one run")
        if self.measure not in MEASURES:
            raise ConfigError(f"there is no fitness {self.measure!r}; there are {', '.join(MEASURES)}")

    def __call__(self, genome: Genome) -> float:
        settings = self.spelling.settings(genome)
        return 0.0 if settings is None else self.of(settings)

    def of(self, settings: EvolvedSettings) -> float:
        """The fitness of this strategy, whether or not a genome spells it."""
        total = 0.0
        for run, plan in enumerate(self.plans):
            downloads = self.simulator.crawl(settings, plan, np.random.default_rng([self.seed, run]))
            total += MEASURES[self.measure](downloads, self.truth, plan.pages)
        return total / len(self.plans)
