"""The value of a tree over arrays. Nothing is executed but the operations of this table.

Division and root are protected: x / y is 1 where y is 0 (|y| < `TINY`), as in Koza's "Genetic programming" (1992), and
√ takes the absolute value. No result is beyond ±`LARGEST`, so there are no infinities and, without these, no NaN.

Trees of a population share many sub-trees. Results are kept, the latest used ones up to a number of bytes.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lycosa.lib.gp.trees import Expression, is_number

TINY = 1e-9
LARGEST = 1e15
"""Its square is a number, too, of 32 bits."""
CACHE_BYTES = 256 << 20

Array = NDArray[np.float32]


def _ratio(x: Array, y: Array) -> Array:
    found = np.ones(np.broadcast_shapes(np.shape(x), np.shape(y)), np.float32)
    return np.divide(x, y, out=found, where=np.abs(y) >= TINY)


def _root(x: Array) -> Array:
    found: Array = np.sqrt(np.abs(x))
    return found


def _bounded(operation: Callable[..., Any]) -> Callable[..., Any]:
    def bounded(*values: Array) -> Any:
        return np.clip(operation(*values), np.float32(-LARGEST), np.float32(LARGEST))

    return bounded


OPERATIONS: Mapping[str, Callable[..., Any]] = {
    "+": _bounded(np.add),
    "*": _bounded(np.multiply),
    "/": _bounded(_ratio),
    "sqrt": _root,
}


def number_value(name: str) -> np.float32:
    return np.float32(min(float(name), LARGEST))


class Interpreter:
    """Computes trees over these terminals, which are arrays of one shape."""

    def __init__(
        self,
        terminals: Mapping[str, Array],
        *,
        operations: Mapping[str, Callable[..., Any]] = OPERATIONS,
        cache_bytes: int = CACHE_BYTES,
    ) -> None:
        self._terminals = terminals
        self._operations = operations
        self._shape = next(iter(terminals.values())).shape
        self._cache: OrderedDict[Expression, Array] = OrderedDict()
        self._limit = cache_bytes
        self.cached_bytes = 0
        self.computed = 0
        """Number of operations so far: results that were not in the cache."""

    def value(self, tree: Expression) -> Array:
        """Of the terminals' shape. To be read only: it may be a terminal, or be handed out again."""
        return np.broadcast_to(self._value(tree), self._shape)

    def _value(self, tree: Expression) -> Array:
        if not tree.children:
            return np.asarray(number_value(tree.name)) if is_number(tree.name) else self._terminals[tree.name]
        if (known := self._cache.get(tree)) is not None:
            self._cache.move_to_end(tree)
            return known
        found = np.asarray(self._operations[tree.name](*map(self._value, tree.children)))
        self.computed += 1
        self._keep(tree, found)
        return found

    def _keep(self, tree: Expression, found: Array) -> None:
        if found.nbytes > self._limit:
            return
        self._cache[tree] = found
        self.cached_bytes += found.nbytes
        while self.cached_bytes > self._limit:
            _, oldest = self._cache.popitem(last=False)
            self.cached_bytes -= oldest.nbytes
