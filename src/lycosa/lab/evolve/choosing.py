"""Which of the strategies bred is kept, and what it is worth on crawls that nothing was chosen by.

The fittest on the crawls it was bred on is the luckiest there, too. So all that were ever the fittest of their
generation, the fittest of the last one, and the known strategies that every population starts with are tried on other
crawls (validation), and the best there is the winner: if that is a known strategy, evolution has found nothing better.
Its score on the third set of crawls (held out) is the one to expect.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from lycosa.lab.evaluate.significance import wilcoxon
from lycosa.lab.evolve.encoding import Encoding
from lycosa.lab.evolve.task import Fitnesses
from lycosa.lib.evolve import Genome
from lycosa.strategies.papers.evolved import WEIGHTS, EvolvedSettings

REFERENCES: Mapping[str, EvolvedSettings] = {
    "best-first": EvolvedSettings(**{**dict.fromkeys(WEIGHTS, 0), "parent_1": 1}),
    "ga2003": EvolvedSettings(),
}
FINALISTS = 10
"""Of the last generation."""


@dataclass(frozen=True, slots=True)
class Score:
    """Mean fitness of one strategy on each set of crawls."""

    bred: float
    validation: float
    held_out: float


@dataclass(frozen=True, slots=True)
class ChosenStrategy:
    winner: EvolvedSettings
    name: str
    """`evolved`, or the name of a known strategy that nothing evolved was better than."""
    scores: Mapping[str, Score]
    """Of the winner, as `winner`, and of each known strategy."""
    p: Mapping[str, float]
    """By known strategy: Wilcoxon's p of the winner's difference on the crawls held out."""


def choose(candidates: Sequence[Genome], encoding: Encoding, on: Fitnesses) -> ChosenStrategy:
    """The best on the crawls of the validation; of equally good ones the first, known strategies before all others."""
    strategies = {name: settings for name, settings in REFERENCES.items() if is_within(settings, encoding)}
    for genome in dict.fromkeys(candidates):
        settings = encoding.settings(genome)
        if settings is not None:
            strategies[genome] = settings
    validation = {name: on.validation.of(settings) for name, settings in strategies.items()}
    best = max(validation, key=lambda name: validation[name])
    known = dict(REFERENCES) | {"winner": strategies[best]}
    held_out = {name: on.held_out.by_run(settings) for name, settings in known.items()}
    return ChosenStrategy(
        winner=strategies[best],
        name=best if best in REFERENCES else "evolved",
        scores={
            name: Score(on.bred.of(settings), on.validation.of(settings), sum(held_out[name]) / len(held_out[name]))
            for name, settings in known.items()
        },
        p={
            name: wilcoxon([ours - theirs for ours, theirs in zip(held_out["winner"], held_out[name], strict=True)]).p
            for name in REFERENCES
        },
    )


def is_within(settings: EvolvedSettings, encoding: Encoding) -> bool:
    """Whether it has no weight that the encoding has no gene for."""
    return all(not weight or name in encoding.names for name, weight in zip(WEIGHTS, settings.weights(), strict=True))


def first_genomes(encoding: Encoding, winners: Sequence[Genome]) -> list[Genome]:
    """What every first population has: earlier winners, and the known strategies, as near as genes come to them."""
    return [*winners, *(encoding.genome(settings) for settings in REFERENCES.values())]
