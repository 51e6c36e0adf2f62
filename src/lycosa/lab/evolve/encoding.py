"""How a genome encodes a strategy: a gene of 7 bits for each weight that is evolved (paper GA, section 3).

Each phase has its own weights. A gene v before them says when the phase begins: after a share of (v + 1) / 128 of the
crawl's pages. Of two such genes the smaller one belongs to the middle phase. Strategies count switches in visits, which
crawls of any length can use.

    early weights | middle_from | middle weights | late_from | late weights
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from lycosa.errors import ConfigError
from lycosa.lib.bounds import require_at_least
from lycosa.lib.evolve import Genome, genes, genome_of
from lycosa.strategies.papers.evolved import GA2003, PHASES, WEIGHTS, EvolvedSettings

GENES = tuple(GA2003)
"""Paper GA's nine weights, in the order of the genome."""
PAPER = "paper"
SCORES: Mapping[str, tuple[str, ...]] = {PAPER: GENES, "all": WEIGHTS}
"""Which weights are evolved: the paper's, or also those of anchors and hosts (its future work)."""
PARENTS = 5
"""k of the paper's experiments: ancestors up to this many links away have weights. More are not kept."""
BITS = 7
VALUES = 1 << BITS


def weights_with(scores: str, parents: int) -> tuple[str, ...]:
    """The names of the weights of one of `SCORES`, with PARENT_1 to PARENT_k alone for k = `parents`."""
    if not 1 <= parents <= PARENTS:
        raise ConfigError(f"evolve.parents is {parents}: it must be from 1 to {PARENTS}")
    above = {f"parent_{generation}" for generation in range(parents + 1, PARENTS + 1)}
    return tuple(name for name in SCORES[scores] if name not in above)


@dataclass(frozen=True, slots=True, kw_only=True)
class Encoding:
    names: tuple[str, ...] = GENES
    """Weights that are evolved; all others are 0."""
    phases: int = 1
    pages: int = 1
    """Pages of a crawl, which the switches between phases are shares of."""

    def __post_init__(self) -> None:
        require_at_least(self, "evolve", phases=1, pages=1)
        if self.phases > len(PHASES):
            raise ConfigError(f"evolve.phases is {self.phases}: there are at most {len(PHASES)}: {', '.join(PHASES)}")

    @property
    def switches(self) -> tuple[str, ...]:
        """The genes that say when a phase begins."""
        return tuple(f"{phase}_from" for phase in PHASES[1 : self.phases])

    @property
    def genes(self) -> tuple[str, ...]:
        """What each gene encodes, by the names of the strategy's constants."""
        later = ((f"{phase}_from", *(f"{phase}_{name}" for name in self.names)) for phase in PHASES[1 : self.phases])
        return (*self.names, *(name for phase in later for name in phase))

    def settings(self, genome: Genome) -> EvolvedSettings | None:
        """The strategy that a genome encodes; None if all weights of a phase are 0."""
        values = genes(genome, BITS)
        if len(values) != len(self.genes):
            raise ValueError(f"a strategy's genome has {len(self.genes)} genes of {BITS} bits, not {len(values)}")
        decoded: dict[str, int] = dict(zip(self.genes, values, strict=True))
        begins = sorted(decoded[name] for name in self.switches)
        decoded |= {name: self._visits(gene) for name, gene in zip(self.switches, begins, strict=True)}
        count = len(self.names) + 1
        if any(not any(values[at : at + count - 1]) for at in range(0, len(values), count)):
            return None
        return EvolvedSettings(**{**dict.fromkeys(WEIGHTS, 0), **decoded})

    def genome(self, settings: EvolvedSettings) -> Genome:
        """The genome nearest to a strategy, to start from a winner. In each phase the largest weight gets the largest
        gene. If the strategy has fewer phases, its last one is split into equal parts, which may evolve apart."""
        if settings.phases > self.phases:
            raise ConfigError(f"a strategy of {settings.phases} phases cannot be evolved further in {self.phases}")
        begins = [min(1.0, visits / self.pages) for visits in settings.switches()]
        while len(begins) < self.phases - 1:
            last = begins[-1] if begins else 0.0
            begins.append(last + (1 - last) / (self.phases - len(begins)))
        values: list[int] = []
        for phase in range(self.phases):
            if phase:
                values.append(min(max(round(begins[phase - 1] * VALUES) - 1, 0), VALUES - 1))
            weights = settings.weights(min(phase, settings.phases - 1))[[WEIGHTS.index(name) for name in self.names]]
            if not weights.any():
                raise ConfigError(f"none of the weights that are evolved ({', '.join(self.names)}) is more than 0")
            values += np.rint(weights / weights.max() * (VALUES - 1)).astype(int).tolist()
        return genome_of(values, BITS)

    def shares(self, settings: EvolvedSettings | None) -> dict[str, float]:
        """By gene, for tables: the weights of each phase, their sum 1, and the visits after which it begins."""
        found = dict.fromkeys(self.genes, 0.0)
        if settings is None:
            return found
        for phase, name in enumerate(PHASES[: self.phases]):
            weights = dict(zip(WEIGHTS, settings.weights(phase).tolist(), strict=True))
            found |= {f"{name}_{weight}" if phase else weight: weights[weight] for weight in self.names}
        return found | dict(zip(self.switches, map(float, settings.switches()), strict=True))

    def _visits(self, gene: int) -> int:
        return max(1, round(self.pages * (gene + 1) / VALUES))
