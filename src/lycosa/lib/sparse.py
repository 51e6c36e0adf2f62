"""A matrix most of whose values are 0, row by row, and its products with a vector.

What scipy.sparse does with such matrices, to the bit, for crawls: scipy takes 140 MB and a quarter of a second to load.
What has a twin in numpy gives the same bits as that.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lycosa.lib import native

Floats = NDArray[np.float32]
_COLUMNS = 1 << 16

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


def unit_rows(
    columns: NDArray[np.uint16],
    counts: NDArray[np.uint8],
    starts: NDArray[np.int64],
    by_count: Floats,
    by_column: Floats,
) -> tuple[Floats, Floats]:
    """The values of rows of length 1, proportional to the factor of each count times that of its column; and the
    lengths that the rows would have had, 1 for one without a value. No row is without columns; factors of counts are
    as many as there are counts, 256."""
    if _compiled is not None:
        values, norms = np.empty(len(columns), np.float32), np.empty(len(starts) - 1, np.float32)
        _compiled.unit_rows(columns, counts, starts, _floats(by_count), _floats(by_column), values, norms)
        return values, norms
    values = by_count[counts] * by_column[columns]
    norms = np.sqrt(np.add.reduceat(values * values, starts[:-1]))
    norms[norms == 0] = 1.0
    values /= np.repeat(norms, np.diff(starts))
    return values, norms


def count_columns(columns: NDArray[np.uint16], starts: NDArray[np.int64], shares: Floats) -> NDArray[np.float64]:
    """For each of 65,536 columns Σ share of the rows that have it. No row is without columns."""
    sums = np.zeros(_COLUMNS)
    if _compiled is not None:
        _compiled.count_columns(columns, starts, _floats(shares), sums)
    else:
        sums += np.bincount(columns, np.repeat(shares, np.diff(starts)), _COLUMNS)
    return sums


def _floats(factors: Floats) -> Floats:
    return np.ascontiguousarray(factors, dtype=np.float32)
