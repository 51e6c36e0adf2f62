"""Random trees, crossover, mutation, and the winner of a group (paper GP, section 3).

Every operator takes the random number generator. A child beyond the limits of depth or size is given up for its parent,
so that trees do not grow without end.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np

from lycosa.lib.gp.simplify import simplified
from lycosa.lib.gp.trees import Expression, Language, Type

SMALLEST_START = 2
"""Depth of the smallest trees of the first population."""
TRIES = 10
"""Draws after which a tree that the population already has is taken nevertheless."""


@dataclass(frozen=True, slots=True)
class Limits:
    depth: int
    size: int

    def admit(self, tree: Expression) -> bool:
        return tree.size <= self.size and tree.depth <= self.depth


def random_tree(
    language: Language, depth: int, rng: np.random.Generator, *, is_full: bool, kind: Type | None = None
) -> Expression:
    """A tree of at most this depth. Full: all branches have this depth, as far as the types allow; otherwise each name
    is drawn from the terminals and functions together, so branches may end sooner."""
    kind = kind or language.goal
    terminals, functions = language.terminals_of(kind), language.functions_of(kind)
    choices = len(terminals) + len(functions)
    is_leaf = depth <= 1 or not functions or (not is_full and rng.integers(choices) < len(terminals))
    if is_leaf:
        return Expression(terminals[int(rng.integers(len(terminals)))])
    function = functions[int(rng.integers(len(functions)))]
    children = (random_tree(language, depth - 1, rng, is_full=is_full, kind=each) for each in function.takes)
    return Expression(function.name, tuple(children))


def ramped_start(
    language: Language,
    count: int,
    *,
    start_depth: int,
    limits: Limits,
    rng: np.random.Generator,
    beside: Collection[Expression] = (),
) -> list[Expression]:
    """Ramped half and half (Koza): equally many trees of each depth from 2 to `start_depth`, every other one full.

    Trees are simplified. One that is there already, or among those `beside`, or beyond the limits, is drawn again, a
    few times.
    """
    found: list[Expression] = []
    known = set(beside)
    depths = range(min(SMALLEST_START, start_depth), start_depth + 1)
    while len(found) < count:
        depth, is_full = depths[len(found) // 2 % len(depths)], len(found) % 2 == 0
        for _ in range(TRIES):
            tree = simplified(random_tree(language, depth, rng, is_full=is_full))
            if limits.admit(tree) and tree not in known:
                break
        found.append(tree if limits.admit(tree) else Expression(language.terminals_of(language.goal)[0]))
        known.add(found[-1])
    return found


def crossed(
    one: Expression, other: Expression, language: Language, limits: Limits, rng: np.random.Generator
) -> tuple[Expression, Expression]:
    """Two children: each parent with a random sub-tree exchanged for one of the other parent, of the same type."""
    parts, other_parts = list(one.nodes()), list(other.nodes())
    at = int(rng.integers(len(parts)))
    kind = language.type_of(parts[at])
    places = [place for place, part in enumerate(other_parts) if language.type_of(part) == kind]
    if not places:
        return one, other
    place = places[int(rng.integers(len(places)))]
    children = one.with_node(at, other_parts[place]), other.with_node(place, parts[at])
    return _within(children[0], one, limits), _within(children[1], other, limits)


def mutated(
    tree: Expression, language: Language, limits: Limits, rng: np.random.Generator, *, depth: int
) -> Expression:
    """The tree with a random sub-tree replaced by a random one of at most this depth."""
    parts = list(tree.nodes())
    at = int(rng.integers(len(parts)))
    new = random_tree(language, int(rng.integers(1, depth + 1)), rng, is_full=False, kind=language.type_of(parts[at]))
    return _within(tree.with_node(at, new), tree, limits)


def winners(population: int, group: int, rng: np.random.Generator) -> tuple[int, int]:
    """The best of two random groups of a population that is sorted, the best first.

    The groups have no member in common, unless the population is too small for that.
    """
    group = min(group, max(1, population // 2))
    members = rng.permutation(population)[: 2 * group]
    return int(members[:group].min()), int(members[group:].min() if population > 1 else 0)


def _within(child: Expression, parent: Expression, limits: Limits) -> Expression:
    child = simplified(child)
    return child if limits.admit(child) else parent
