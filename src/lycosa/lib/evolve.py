"""A genetic algorithm over bit strings (paper GA, section 3: the elitist half of CHC).

Each generation doubles the population: parents are drawn by roulette on their fitness and crossed at one point with
the crossover probability, and each child has one random bit flipped with the mutation probability. The fitter half of
the old and new individuals survives. `evolve` is the whole algorithm.

The caller passes in the random number generator and the `map` that evaluates fitness, so evaluation can be spread over
processes or a cluster. A genome is evaluated only once: its fitness must depend on the genome alone.

The paper leaves some details open; here, of equally fit individuals the older survives, all parents are equally likely
if all fitness is 0, and the first population is random unless it is given.

Two settings go beyond the paper, whose populations soon consist of copies of one genome. `is_diverse`: a child that is
in the population already, or was born before it in the same generation, is replaced by a random genome. `patience`:
after this many generations without a fitter individual the population starts anew (the other half of CHC, Eshelman
1991): the fittest stays, the others become copies of it with `RESTART_FLIPS` of their bits flipped.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, TypeVar

import numpy as np

from lycosa.errors import InputError
from lycosa.lib.bounds import require_at_least, require_at_most

RESTART_FLIPS = 0.35
"""Share of the bits flipped at a restart: CHC's own."""
TRIES = 8
Genome = str
"""A string of `0` and `1`: plain data that can be stored in a file and read by a person."""
Fitness = Callable[[Genome], float]
Map = Callable[[Fitness, Sequence[Genome]], Iterable[float]]
Individual = TypeVar("Individual")


@dataclass(frozen=True, slots=True, kw_only=True)
class GeneticSettings:
    population: int = 50
    generations: int = 50
    crossover_probability: float = 0.90
    mutation_probability: float = 0.01
    """Probability that one bit of a child is flipped."""
    genes: int = 9
    bits: int = 7
    """Length of a gene."""
    is_diverse: bool = False
    """No genome joins the population twice."""
    patience: int = 0
    """Generations without a fitter individual before the population starts anew; 0: it never does."""

    def __post_init__(self) -> None:
        require_at_least(self, "evolve", population=2, generations=0, genes=1, bits=1, patience=0)
        require_at_least(self, "evolve", crossover_probability=0, mutation_probability=0)
        require_at_most(self, "evolve", crossover_probability=1, mutation_probability=1)

    @property
    def length(self) -> int:
        return self.genes * self.bits


@dataclass(frozen=True, slots=True)
class Population:
    """The state after a generation, from which the next one can be computed."""

    generation: int
    genomes: tuple[Genome, ...]
    """In descending order of fitness."""
    fitness: tuple[float, ...]
    rng: Mapping[str, Any]
    stale: int = 0
    """Generations since the last one that had a fitter individual than all before it, or since the last restart."""

    @property
    def best(self) -> Genome:
        return self.genomes[0]

    @property
    def mean(self) -> float:
        return math.fsum(self.fitness) / len(self.fitness)

    def to_data(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_data(cls, data: object, settings: GeneticSettings) -> Population:
        """The reverse of `to_data`; InputError if the data is damaged or was made with other settings."""
        if not isinstance(data, dict) or set(data) != set(FIELDS):
            raise InputError(f"the saved population is damaged: it needs {', '.join(FIELDS)}")
        generation, genomes, fitness, rng, stale = (data[name] for name in FIELDS)
        for name, value in (("generation", generation), ("stale", stale)):
            if not isinstance(value, int) or value < 0:
                raise InputError(f"the saved population is damaged: its {name} is {value!r}")
        if not isinstance(genomes, list | tuple) or not all(is_genome(each, settings.length) for each in genomes):
            raise InputError(
                f"the saved population is damaged, or has other settings: its genomes must have {settings.length} bits"
            )
        if not isinstance(fitness, list | tuple) or not all(map(is_fitness, fitness)):
            raise InputError("the saved population is damaged: a fitness is not a number of 0 or more")
        if not len(genomes) == len(fitness) == settings.population:
            raise InputError(f"the saved population has {len(genomes)} individuals, not {settings.population}")
        if not is_rng_state(rng):
            raise InputError("the saved population is damaged: its random number generator cannot be restored")
        return cls(generation, tuple(genomes), tuple(map(float, fitness)), rng, stale)


FIELDS = ("generation", "genomes", "fitness", "rng", "stale")


def evolve(
    fitness: Fitness,
    settings: GeneticSettings,
    *,
    rng: np.random.Generator,
    start: Population | Sequence[Genome] = (),
    map: Map = map,
) -> Iterator[Population]:
    """Yield the population after each generation, beginning with generation 0 or with the one that follows `start`.

    `start` is either a population to continue from, or genomes to include in the first one, such as earlier winners.
    """
    known: dict[Genome, float] = {}
    evaluated = evaluated_once(fitness, map, known)
    if isinstance(start, Population):
        population = start
        rng.bit_generator.state = dict(start.rng)
        known.update(zip(start.genomes, start.fitness, strict=True))
    else:
        first = _first_genomes(start, settings, rng)
        population = _fittest(0, first, evaluated(first), settings, rng)
        yield population
    for generation in range(population.generation + 1, settings.generations + 1):
        best, stale = population.fitness[0], population.stale + 1
        if settings.patience and stale > settings.patience:
            genomes, stale = restarted(population.best, settings, rng), 0
        else:
            genomes = [*population.genomes, *children_of(population, settings, rng)]
        population = _fittest(generation, genomes, evaluated(genomes), settings, rng)
        population = replace(population, stale=0 if population.fitness[0] > best else stale)
        yield population


def children_of(population: Population, settings: GeneticSettings, rng: np.random.Generator) -> list[Genome]:
    """As many as the population has individuals."""
    wheel = np.cumsum(population.fitness)
    children: list[Genome] = []
    while len(children) < settings.population:
        one, other = (population.genomes[spin(wheel, rng)] for _ in range(2))
        if rng.random() < settings.crossover_probability:
            cut = int(rng.integers(0, settings.length + 1))
            one, other = one[:cut] + other[cut:], other[:cut] + one[cut:]
        for child in (one, other):
            is_mutant = rng.random() < settings.mutation_probability
            children.append(flip(child, int(rng.integers(settings.length))) if is_mutant else child)
    del children[settings.population :]
    return _all_different(children, population.genomes, settings, rng) if settings.is_diverse else children


def restarted(best: Genome, settings: GeneticSettings, rng: np.random.Generator) -> list[Genome]:
    """The best and copies of it with many bits flipped."""
    count = max(1, round(RESTART_FLIPS * settings.length))
    genomes = [best]
    while len(genomes) < settings.population:
        copy = best
        for at in rng.choice(settings.length, count, replace=False).tolist():
            copy = flip(copy, at)
        genomes.append(copy)
    return genomes


def _all_different(
    children: Sequence[Genome], parents: Sequence[Genome], settings: GeneticSettings, rng: np.random.Generator
) -> list[Genome]:
    """The children, with a random genome for each that is known; for short genomes a few copies may remain."""
    known = set(parents)
    found: list[Genome] = []
    for child in children:
        for _ in range(TRIES):
            if child not in known:
                break
            child = random_genome(settings, rng)
        known.add(child)
        found.append(child)
    return found


def genes(genome: Genome, bits: int) -> list[int]:
    """The genes of a genome as numbers of `bits` bits each."""
    return [int(genome[at : at + bits], 2) for at in range(0, len(genome), bits)]


def genome_of(numbers: Iterable[int], bits: int) -> Genome:
    """The reverse of `genes`: the genome with these numbers as its genes."""
    numbers = list(numbers)
    if any(not 0 <= number < 1 << bits for number in numbers):
        raise ValueError(f"a gene of {bits} bits is a number from 0 to {(1 << bits) - 1}, unlike some of {numbers}")
    return "".join(f"{number:0{bits}b}" for number in numbers)


def is_genome(value: object, length: int) -> bool:
    return isinstance(value, str) and len(value) == length and set(value) <= {"0", "1"}


def flip(genome: Genome, at: int) -> Genome:
    """The genome with the bit at this position inverted."""
    return genome[:at] + ("1" if genome[at] == "0" else "0") + genome[at + 1 :]


def spin(wheel: np.ndarray[Any, Any], rng: np.random.Generator) -> int:
    """Roulette: a random index, in proportion to its weight; `wheel` holds the running totals of the weights."""
    total = float(wheel[-1])
    ball = rng.random()
    if total <= 0:
        return int(ball * len(wheel))
    return min(int(np.searchsorted(wheel, ball * total, side="right")), len(wheel) - 1)


def _first_genomes(given: Sequence[Genome], settings: GeneticSettings, rng: np.random.Generator) -> list[Genome]:
    for genome in given:
        if not is_genome(genome, settings.length):
            raise InputError(f"{genome!r} is not a genome of {settings.genes} genes of {settings.bits} bits")
    drawn = [random_genome(settings, rng) for _ in range(settings.population)]
    return [*dict.fromkeys(given), *drawn][: settings.population]


def random_genome(settings: GeneticSettings, rng: np.random.Generator) -> Genome:
    return "".join(map(str, rng.integers(0, 2, settings.length).tolist()))


def _fittest(
    generation: int, genomes: list[Genome], fitness: list[float], settings: GeneticSettings, rng: np.random.Generator
) -> Population:
    order = sorted(range(len(genomes)), key=lambda at: -fitness[at])[: settings.population]
    best, values = tuple(genomes[at] for at in order), tuple(fitness[at] for at in order)
    return Population(generation, best, values, dict(rng.bit_generator.state))


def evaluated_once(
    fitness: Callable[[Individual], float],
    map: Callable[[Callable[[Individual], float], Sequence[Individual]], Iterable[float]],
    known: dict[Individual, float],
) -> Callable[[Sequence[Individual]], list[float]]:
    """A function that gives the fitness of individuals, and evaluates only those that are not in `known`, each once."""

    def evaluated(individuals: Sequence[Individual]) -> list[float]:
        new = [each for each in dict.fromkeys(individuals) if each not in known]
        for each, value in zip(new, map(fitness, new), strict=True):
            if not is_fitness(value):
                raise ValueError(f"a fitness must be a number of 0 or more, not {value!r}")
            known[each] = float(value)
        return [known[each] for each in individuals]

    return evaluated


def is_fitness(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value) and value >= 0


def is_rng_state(data: object) -> bool:
    """Whether numpy's default generator can go on from this state."""
    try:
        np.random.default_rng().bit_generator.state = data  # type: ignore[assignment]
    except (ValueError, TypeError, KeyError, OverflowError):
        return False
    return True
