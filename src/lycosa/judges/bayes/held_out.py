"""Scores that naive Bayes gives held-out examples, and the temperatures fitted to them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lycosa.judges.bayes.node import Node
from lycosa.judges.calibration import Temperature

Floats = NDArray[np.float64]

_ENOUGH = 100
"""Minimum number of examples for a node to be calibrated by itself."""
_POOL = 4_000
"""Maximum number of examples used for the calibration that small nodes share."""


class _HeldOutTable(NamedTuple):
    """Examples × columns, as `Temperature.fit` takes them."""

    scores: Floats
    offsets: Floats
    """−∞ where a column had no other examples, 0 elsewhere."""
    truth: NDArray[np.int64]
    lengths: Floats


class HeldOutScores:
    """Logits of examples at one node, by counts that exclude them, and the column each belongs to."""

    def __init__(self) -> None:
        self._logits: list[NDArray[np.float32]] = []
        self._truth: list[int] = []
        self._lengths: list[float] = []

    def __len__(self) -> int:
        return len(self._truth)

    def add(self, node: Node, scores: Floats, columns: Sequence[int]) -> None:
        """Add an example that belongs to these columns; the likeliest of them counts as the true one.

        It is ignored if none of them has other examples, or if fewer than two columns of the node have any.
        """
        known = [column for column in columns if node.documents[column] > 0]
        if not known or np.count_nonzero(node.documents) < 2:
            return
        logits = node.logits(scores)
        # Relative to the best the numbers are small, and float32 loses little.
        self._logits.append((logits - logits.max()).astype(np.float32))
        self._truth.append(max(known, key=lambda column: (logits[column], column)))
        self._lengths.append(float(scores[-1]))

    def table(self, most: int) -> _HeldOutTable:
        """At most `most` examples, evenly spaced."""
        stride = max(1, -(-len(self) // most))
        logits = np.array(self._logits[::stride], dtype=np.float64)
        has_examples = np.isfinite(logits)
        return _HeldOutTable(
            np.where(has_examples, logits, 0.0),
            np.where(has_examples, 0.0, -np.inf),
            np.array(self._truth[::stride]),
            np.array(self._lengths[::stride]),
        )


def set_temperatures(nodes: Sequence[Node], held_out: Sequence[HeldOutScores]) -> None:
    """Fit each node that has enough held-out examples, and all the others together."""
    small = [scores for scores in held_out if 0 < len(scores) < _ENOUGH]
    if sum(map(len, small)) < _ENOUGH:
        small = [scores for scores in held_out if len(scores)]
    shared = _fit([scores.table(max(_POOL // len(small), 20)) for scores in small])
    for node, scores in zip(nodes, held_out, strict=True):
        node.temperature = _fit([scores.table(len(scores))]) if len(scores) >= _ENOUGH else shared


def _fit(tables: Sequence[_HeldOutTable]) -> Temperature:
    if not tables:
        return Temperature()
    width = max(table.scores.shape[1] for table in tables)

    def joined(arrays: Sequence[Floats], filling: float) -> Floats:
        return np.concatenate([np.pad(a, ((0, 0), (0, width - a.shape[1])), constant_values=filling) for a in arrays])

    return Temperature.fit(
        joined([table.scores for table in tables], 0.0),
        np.concatenate([table.truth for table in tables]),
        lengths=np.concatenate([table.lengths for table in tables]),
        offsets=joined([table.offsets for table in tables], -np.inf),
    )
