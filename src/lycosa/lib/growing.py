"""Arrays that grow: by half as much again, so that appending costs the same however long they are."""

from __future__ import annotations

from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

Scalar = TypeVar("Scalar", bound=np.generic)


def grown(array: NDArray[Scalar], length: int, *, fill: float = 0) -> NDArray[Scalar]:
    """The array itself if it has that many rows; else a longer one that begins with it, the rest being `fill`."""
    if length <= len(array):
        return array
    # Fresh zeros take memory from the system only where something is written.
    longer = np.zeros((max(length, len(array) * 3 // 2), *array.shape[1:]), dtype=array.dtype)
    longer[: len(array)] = array
    if fill:
        longer[len(array) :] = fill
    return longer
