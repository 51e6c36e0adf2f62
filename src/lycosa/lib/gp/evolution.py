"""The generations of genetic programming (paper GP, section 3).

The next generation begins with the best of the last one, as they are. Until it is full, an operator is drawn:

    reproduction    a clone of an individual, drawn in proportion to its fitness
    crossover       the winners of two random groups exchange random sub-trees: two children
    mutation        an individual, drawn in proportion to its fitness, gets a random sub-tree

Individuals are ordered by fitness minus `parsimony` for each symbol; of equals, the smaller comes first, then the
older. The paper names operators, terminals, functions and fitness. It leaves their rates and the sizes of groups,
population and trees open ("as set in [19]"): the defaults here are ours.

`is_diverse` goes beyond the paper, whose populations soon consist of copies of a short tree: one that is in the next
generation already is mutated until it is new, or, after some tries, replaced by a random tree.

The caller passes in the random number generator and the `map` that evaluates fitness. A tree is evaluated once: its
fitness must depend on the tree alone. A generation is all that the next one depends on; saved and restored, evolution
goes on as if it had not been interrupted.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from lycosa.errors import InputError
from lycosa.lib.bounds import require_at_least, require_at_most
from lycosa.lib.evolve import evaluated_once, is_fitness, is_rng_state, spin
from lycosa.lib.gp.operators import TRIES, Limits, crossed, mutated, ramped_start, winners
from lycosa.lib.gp.simplify import simplified
from lycosa.lib.gp.text import parsed, written
from lycosa.lib.gp.trees import Expression, Language

TreeFitness = Callable[[Expression], float]
TreeMap = Callable[[TreeFitness, Sequence[Expression]], Iterable[float]]
_FIELDS = {"number", "trees", "fitness", "champions", "rng"}


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgramSettings:
    population: int = 100
    generations: int = 30
    reproduction_rate: float = 0.1
    crossover_rate: float = 0.7
    """What is left to 1 is mutation."""
    group: int = 4
    """Number of individuals whose best is a parent."""
    elite: int = 2
    """Number of individuals that survive as they are."""
    champions: int = 3
    """Number of the best of each generation that are remembered."""
    start_depth: int = 5
    mutation_depth: int = 3
    max_depth: int = 8
    max_size: int = 31
    """Number of symbols."""
    parsimony: float = 2e-4
    """Fitness that a symbol has to be worth."""
    is_diverse: bool = True
    """No tree is twice in a generation."""

    def __post_init__(self) -> None:
        require_at_least(self, "gp", population=2, generations=0, group=1, elite=0, champions=1)
        require_at_least(self, "gp", start_depth=1, mutation_depth=1, max_depth=1, max_size=1, parsimony=0)
        require_at_least(self, "gp", reproduction_rate=0, crossover_rate=0)
        require_at_most(self, "gp", reproduction_rate=1, crossover_rate=1 - self.reproduction_rate)
        require_at_most(self, "gp", elite=self.population, start_depth=self.max_depth)

    @property
    def limits(self) -> Limits:
        return Limits(self.max_depth, self.max_size)


@dataclass(frozen=True, slots=True)
class TreeGeneration:
    number: int
    trees: tuple[Expression, ...]
    """The best first."""
    fitness: tuple[float, ...]
    champions: tuple[Expression, ...]
    """The best of this generation and of those before, each once, in the order in which they came up."""
    rng: Mapping[str, Any]

    @property
    def best(self) -> Expression:
        return self.trees[0]

    def to_data(self) -> dict[str, Any]:
        """As plain values, for JSON."""
        return {
            "number": self.number,
            "trees": [*map(written, self.trees)],
            "fitness": [*self.fitness],
            "champions": [*map(written, self.champions)],
            "rng": dict(self.rng),
        }

    @classmethod
    def from_data(cls, data: object, language: Language, settings: ProgramSettings) -> TreeGeneration:
        """The reverse of `to_data`; InputError if the data is damaged or was made with other settings."""
        if not isinstance(data, dict) or set(data) != _FIELDS:
            raise InputError(f"the saved generation is damaged: it needs {', '.join(sorted(_FIELDS))}")
        number, fitness = data["number"], data["fitness"]
        if not isinstance(number, int) or number < 0:
            raise InputError(f"the saved generation is damaged: its number is {number!r}")
        if not isinstance(fitness, list) or not all(map(is_fitness, fitness)):
            raise InputError("the saved generation is damaged: a fitness is not a number of 0 or more")
        trees, champions = (_trees(data[name], language) for name in ("trees", "champions"))
        if not len(trees) == len(fitness) == settings.population:
            raise InputError(f"the saved generation has {len(trees)} individuals, not {settings.population}")
        if not is_rng_state(data["rng"]):
            raise InputError("the saved generation is damaged: its random numbers cannot be restored")
        return cls(number, trees, tuple(map(float, fitness)), champions, data["rng"])


def evolve_trees(
    fitness: TreeFitness,
    language: Language,
    settings: ProgramSettings,
    *,
    rng: np.random.Generator,
    start: TreeGeneration | Sequence[Expression] = (),
    map: TreeMap = map,
) -> Iterator[TreeGeneration]:
    """Yield each generation, from number 0 or from the one after `start`.

    `start`: a generation to go on from, or trees that are in the first one, beside random ones.
    """
    known: dict[Expression, float] = {}
    evaluated = evaluated_once(fitness, map, known)
    if isinstance(start, TreeGeneration):
        current = start
        rng.bit_generator.state = dict(start.rng)
        known.update(zip(start.trees, start.fitness, strict=True))
    else:
        given = [simplified(tree) for tree in start][: settings.population]
        trees = [*given, *_drawn(settings.population - len(given), given, language, settings, rng)]
        current = _ranked(0, trees, evaluated(trees), (), settings, rng)
        yield current
    for number in range(current.number + 1, settings.generations + 1):
        trees = next_trees(current, language, settings, rng)
        current = _ranked(number, trees, evaluated(trees), current.champions, settings, rng)
        yield current


def next_trees(
    current: TreeGeneration, language: Language, settings: ProgramSettings, rng: np.random.Generator
) -> list[Expression]:
    """The individuals of the generation after this one."""
    wheel = np.cumsum(current.fitness)
    limits = settings.limits
    trees = list(current.trees[: settings.elite])
    while len(trees) < settings.population:
        draw = rng.random()
        if draw < settings.reproduction_rate:
            trees.append(current.trees[spin(wheel, rng)])
        elif draw < settings.reproduction_rate + settings.crossover_rate:
            one, other = (current.trees[at] for at in winners(len(current.trees), settings.group, rng))
            trees += crossed(one, other, language, limits, rng)
        else:
            tree = current.trees[spin(wheel, rng)]
            trees.append(mutated(tree, language, limits, rng, depth=settings.mutation_depth))
    del trees[settings.population :]
    return _all_different(trees, language, settings, rng) if settings.is_diverse else trees


def _all_different(
    trees: Sequence[Expression], language: Language, settings: ProgramSettings, rng: np.random.Generator
) -> list[Expression]:
    """The trees, with a new one for each copy, in its place; where trees are few, copies may remain."""
    known = set(trees)
    met: set[Expression] = set()
    found = []
    for tree in trees:
        if tree in met:
            for _ in range(TRIES):
                tree = mutated(tree, language, settings.limits, rng, depth=settings.mutation_depth)
                if tree not in known:
                    break
            else:
                (tree,) = _drawn(1, known, language, settings, rng)
            known.add(tree)
        met.add(tree)
        found.append(tree)
    return found


def _drawn(
    count: int,
    beside: Collection[Expression],
    language: Language,
    settings: ProgramSettings,
    rng: np.random.Generator,
) -> list[Expression]:
    """Random trees that are not among those `beside` them."""
    return ramped_start(
        language, count, start_depth=settings.start_depth, limits=settings.limits, rng=rng, beside=beside
    )


def _ranked(
    number: int,
    trees: Sequence[Expression],
    fitness: Sequence[float],
    champions: Sequence[Expression],
    settings: ProgramSettings,
    rng: np.random.Generator,
) -> TreeGeneration:
    sizes = [tree.size for tree in trees]
    order = sorted(range(len(trees)), key=lambda at: (settings.parsimony * sizes[at] - fitness[at], sizes[at], at))
    best = tuple(trees[at] for at in order)
    front = list(dict.fromkeys(best))[: settings.champions]
    return TreeGeneration(
        number,
        best,
        tuple(fitness[at] for at in order),
        tuple(dict.fromkeys([*champions, *front])),
        dict(rng.bit_generator.state),
    )


def _trees(data: object, language: Language) -> tuple[Expression, ...]:
    if not isinstance(data, list) or not all(isinstance(text, str) for text in data):
        raise InputError("the saved generation is damaged: its trees are not a list of formulas")
    return tuple(parsed(text, language) for text in data)
