"""Saved states of strategies: a head in JSON that names the strategy, followed by columns of numbers."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
from numpy.typing import NDArray


def seal(name: str, head: dict[str, Any], *columns: NDArray[Any]) -> bytes:
    shapes = [(column.dtype.str, column.shape) for column in columns]
    text = json.dumps({"strategy": name, "columns": shapes, **head}).encode()
    return b"".join((text, b"\n", *(column.tobytes() for column in columns)))


def unseal(name: str, state: bytes) -> tuple[dict[str, Any], list[NDArray[Any]]]:
    """The head and the columns, which are writable."""
    text, _, rest = state.partition(b"\n")
    try:
        head: dict[str, Any] = json.loads(text)
        owner, shapes = head["strategy"], head["columns"]
    except (ValueError, KeyError, TypeError):
        raise ValueError(f"{name} cannot read the saved state ({len(state)} bytes)") from None
    if owner != name:
        raise ValueError(f"the saved state is that of the strategy {owner}, not of {name}")
    columns = []
    at = 0
    for kind, shape in shapes:
        size = int(np.prod(shape))
        column = np.frombuffer(rest, dtype=np.dtype(kind), count=size, offset=at) if size else np.zeros(0, kind)
        columns.append(column.reshape(shape).copy())
        at += column.nbytes
    if at != len(rest):
        raise ValueError(f"{name}: the saved state has {len(rest)} bytes of columns, not {at}")
    return head, columns


def rng_state(rng: np.random.Generator) -> dict[str, Any]:
    """The state as values that JSON can hold: that of PCG64, which `default_rng` returns, consists of integers."""
    state = rng.bit_generator.state
    if state["bit_generator"] != "PCG64":
        raise ValueError(f"the random number generator of a strategy must be PCG64, not {state['bit_generator']}")
    return dict(state)
