"""Expression trees, and the language that they are written in.

A tree is a name and its arguments: the name of a function, of a terminal (an array that the caller has), or a number.
Each function declares the types of its arguments and of its result, and each terminal its type, so that sub-trees are
only ever exchanged for others of the same type (D. Montana, "Strongly typed genetic programming", 1995). Paper GP needs
a single type: `ARITHMETIC` is + × / √ over arrays.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

ARRAY = "array"
Type = str


class Expression(NamedTuple):
    name: str
    children: tuple[Expression, ...] = ()

    @property
    def size(self) -> int:
        """Number of names in it."""
        return 1 + sum(child.size for child in self.children)

    @property
    def depth(self) -> int:
        """Number of names on its longest branch: 1 for a terminal."""
        return 1 + max((child.depth for child in self.children), default=0)

    def nodes(self) -> Iterator[Expression]:
        """The tree itself and all sub-trees, parents before their children."""
        yield self
        for child in self.children:
            yield from child.nodes()

    def with_node(self, at: int, new: Expression) -> Expression:
        """The tree with the sub-tree at this position in `nodes` replaced."""
        if at == 0:
            return new
        children = list(self.children)
        at -= 1
        for place, child in enumerate(children):
            size = child.size
            if at < size:
                children[place] = child.with_node(at, new)
                return Expression(self.name, tuple(children))
            at -= size
        raise IndexError("there is no such position in the tree")


@dataclass(frozen=True, slots=True)
class Operation:
    name: str
    takes: tuple[Type, ...]
    gives: Type


PLUS, TIMES, OVER = (Operation(sign, (ARRAY, ARRAY), ARRAY) for sign in "+*/")
ROOT = Operation("sqrt", (ARRAY,), ARRAY)
ARITHMETIC = (PLUS, TIMES, OVER, ROOT)


class Language:
    """Terminals with their types, functions, and the type of a whole tree."""

    def __init__(
        self,
        terminals: Mapping[str, Type] | Sequence[str],
        functions: Sequence[Operation] = ARITHMETIC,
        *,
        goal: Type = ARRAY,
    ) -> None:
        """`terminals`: types by name; or names alone, of arrays."""
        self.terminals = dict(terminals) if isinstance(terminals, Mapping) else dict.fromkeys(terminals, ARRAY)
        self.functions = {function.name: function for function in functions}
        self.goal = goal
        if both := self.terminals.keys() & self.functions.keys():
            raise ValueError(f"{min(both)!r} is the name of a terminal and of a function")
        needed = {goal, *(kind for function in functions for kind in function.takes)}
        if missing := needed - set(self.terminals.values()):
            raise ValueError(f"there is no terminal of the type {min(missing)!r}: trees could not end")

    def terminals_of(self, kind: Type) -> list[str]:
        return [name for name, own in self.terminals.items() if own == kind]

    def functions_of(self, kind: Type) -> list[Operation]:
        return [function for function in self.functions.values() if function.gives == kind]

    def type_of(self, tree: Expression) -> Type:
        """By its name alone. A number is an array, with the same value everywhere."""
        if tree.name in self.functions:
            return self.functions[tree.name].gives
        return ARRAY if is_number(tree.name) else self.terminals[tree.name]

    def is_well_formed(self, tree: Expression, kind: Type | None = None) -> bool:
        """Whether all names are known, with arguments of the right types."""
        function = self.functions.get(tree.name)
        takes = function.takes if function else ()
        is_known = function is not None or tree.name in self.terminals or is_number(tree.name)
        return (
            is_known
            and self.type_of(tree) == (kind or self.goal)
            and len(takes) == len(tree.children)
            and all(map(self.is_well_formed, tree.children, takes))
        )


def is_number(name: str) -> bool:
    return name[:1].isdecimal()


def number(value: float) -> Expression:
    """A leaf with this value, which is not negative."""
    return Expression(f"{value:.9g}")
