"""Arrays that grow by at least half of their length, so that the cost of appending does not depend on the length."""

from __future__ import annotations

from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

Scalar = TypeVar("Scalar", bound=np.generic)


def grown(array: NDArray[Scalar], length: int, *, fill: float = 0) -> NDArray[Scalar]:
    """The array itself if it has at least `length` rows; otherwise a longer copy, padded with `fill`."""
    if length <= len(array):
        return array
    # The system provides memory for fresh zeros only where something is written.
    longer = np.zeros((max(length, len(array) * 3 // 2), *array.shape[1:]), dtype=array.dtype)
    longer[: len(array)] = array
    if fill:
        longer[len(array) :] = fill
    return longer


def with_room(array: NDArray[Scalar]) -> NDArray[Scalar]:
    """A copy that has room for more, filled with zeros."""
    return grown(array, len(array) + 1)
