"""Large tables of half-precision numbers: read where they lie in a file, and rows of them added up.

A table is mapped, not loaded: processes that use the same one share its memory, and what is never looked up takes none.
numpy widens such numbers one by one, which takes ten times as long as to add them.
"""

from __future__ import annotations

import json
import struct
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lycosa.lib import native

Halves = NDArray[np.float16]

_HEAD = struct.Struct("<Q")
_LONGEST_HEAD = 1 << 20

_compiled: Any = native.load("lycosa.lib._half_rows")


def mapped(path: Path, name: str) -> Halves:
    """A table from a file in the format of safetensors, read-only. `ValueError` if it is no table of this kind."""
    with path.open("rb") as file:
        (size,) = _HEAD.unpack(file.read(_HEAD.size))
        described = json.loads(file.read(min(size, _LONGEST_HEAD)))[name]
    if described["dtype"] != "F16" or len(described["shape"]) != 2:
        raise ValueError(f"{path}: {name} is no table of half-precision numbers: {described}")
    begin = _HEAD.size + size + described["data_offsets"][0]
    table: Halves = np.memmap(path, np.float16, mode="r", offset=begin, shape=tuple(described["shape"]))
    return table


def sum_of_rows(table: Halves, rows: NDArray[np.uint16]) -> NDArray[np.float32]:
    """The sum of these rows, at least one; all their numbers have to be finite."""
    if _compiled is None:
        return table[rows].astype(np.float32).sum(axis=0)  # type: ignore[no-any-return]
    sums = np.empty(table.shape[1], dtype=np.float32)
    _compiled.sum_rows(table, rows, sums)
    return sums
