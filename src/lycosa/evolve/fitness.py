"""How good a strategy's crawls are: the fitness of its genome (paper GA, sections 2.1 and 3).

    harvest   good pages / all pages (equation 1)
    sites     the same, but of a site at most `PER_SITE` good pages count: to find another site is worth more
    lengths   the mean of the harvest after a quarter, a half and all of the pages: a good start counts, too

The last two are the paper's future work: a fitness that rewards exploration, and crawls of several lengths. Each is
averaged over the runs. A genome has a gene for each weight of the evolved rank. Random numbers belong to the run, not
to the genome: all are tried under the same luck, a genome always has the same fitness, and processes may evaluate them
in any order.

Differs from GA: a genome of nothing but zeros has no weights to be normalised, and is not fit at all.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lycosa.errors import ConfigError
from lycosa.evaluate.spread import capped_harvest
from lycosa.evolve.simulator import CrawlPlan, Simulator
from lycosa.frontier.evolved import GA2003, WEIGHTS, EvolvedSettings
from lycosa.lib.evolve import Genome, genes, genome_of

GENES = tuple(GA2003)
"""Paper GA's nine weights, in the order of the genome."""
PAPER = "paper"
SCORES: Mapping[str, tuple[str, ...]] = {PAPER: GENES, "all": WEIGHTS}
"""Which weights are evolved: the paper's, or those for anchors and hosts, too (its future work)."""
BITS = 7
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
    names: tuple[str, ...] = GENES
    """The weights that a genome spells."""

    def __post_init__(self) -> None:
        if not self.plans:
            raise ConfigError("the fitness of a strategy needs at least one run")
        if self.measure not in MEASURES:
            raise ConfigError(f"there is no fitness {self.measure!r}; there are {', '.join(MEASURES)}")

    def __call__(self, genome: Genome) -> float:
        settings = settings_of(genome, self.names)
        return 0.0 if settings is None else self.of(settings)

    def of(self, settings: EvolvedSettings) -> float:
        """The fitness of these weights, whether or not a genome spells them."""
        weights = settings.weights()
        total = 0.0
        for run, plan in enumerate(self.plans):
            downloads = self.simulator.crawl(weights, plan, np.random.default_rng([self.seed, run]))
            total += MEASURES[self.measure](downloads, self.truth, plan.pages)
        return total / len(self.plans)


def settings_of(genome: Genome, names: tuple[str, ...] = GENES) -> EvolvedSettings | None:
    """The weights that a genome spells, all others 0; None: these are 0, too."""
    values = genes(genome, BITS)
    if len(values) != len(names):
        raise ValueError(f"a strategy's genome has {len(names)} genes of {BITS} bits, not {len(values)}")
    if not any(values):
        return None
    return EvolvedSettings(**{**dict.fromkeys(WEIGHTS, 0), **dict(zip(names, values, strict=True))})


def genome_of_settings(settings: EvolvedSettings, names: tuple[str, ...] = GENES) -> Genome:
    """The genome nearest to these weights, the largest of which gets the largest gene: to start from a winner."""
    values = np.array([getattr(settings, name) for name in names])
    if not values.any():
        raise ConfigError(f"none of the weights that are evolved ({', '.join(names)}) is more than 0")
    return genome_of(np.rint(values / values.max() * ((1 << BITS) - 1)).astype(int).tolist(), BITS)
