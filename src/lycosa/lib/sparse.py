"""A matrix most of whose values are 0, row by row, and its products with a vector.

What scipy.sparse does with such matrices, to the bit, for crawls: scipy takes 140 MB and a quarter of a second to load.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lycosa.lib import native

Floats = NDArray[np.float32]

_compiled: Any = native.load("lycosa.lib._sparse")


class Rows(NamedTuple):
    """Row i has values[starts[i]:starts[i + 1]] in the columns of the same places."""

    values: Floats
    columns: NDArray[np.uint16]
    starts: NDArray[np.int64]
    width: int
    """Number of columns."""

    def by_row(self, factors: Floats) -> Floats:
        """For each row Σ value · factor of its column: the product with a vector."""
        sums = np.zeros(len(self.starts) - 1, dtype=np.float32)
        if _compiled is not None:
            _compiled.by_row(self.values, self.columns, self.starts, _floats(factors), sums)
        else:
            rows = np.repeat(np.arange(len(sums)), np.diff(self.starts))
            np.add.at(sums, rows, self.values * factors[self.columns])  # in order, unlike np.add.reduceat
        return sums

    def by_column(self, factors: Floats) -> Floats:
        """For each column Σ value · factor of its row: the product of the transposed matrix with a vector."""
        sums = np.zeros(self.width, dtype=np.float32)
        if _compiled is not None:
            _compiled.by_column(self.values, self.columns, self.starts, _floats(factors), sums)
        else:
            np.add.at(sums, self.columns, self.values * np.repeat(factors, np.diff(self.starts)))
        return sums


def _floats(factors: Floats) -> Floats:
    return np.ascontiguousarray(factors, dtype=np.float32)
