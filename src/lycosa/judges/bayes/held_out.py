"""What naive Bayes said about examples that were held out, and the temperatures that follow from it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lycosa.judges.bayes.node import Node
from lycosa.judges.calibration import Temperature

Floats = NDArray[np.float64]

_ENOUGH = 100
"""Examples from which on a node is calibrated by itself."""
_POOL = 4_000
"""Examples looked at for the calibration that small nodes share."""


class _Table(NamedTuple):
    """Trials × columns, as `Temperature.fit` takes them."""

    scores: Floats
    offsets: Floats
    """−∞ where a column had no examples at the time, 0 elsewhere."""
    truth: NDArray[np.int64]
    lengths: Floats


class Trials:
    """Logits of examples at one node by counts that did not hold them, and the column each belongs to."""

    def __init__(self) -> None:
        self._logits: list[NDArray[np.float32]] = []
        self._truth: list[int] = []
        self._lengths: list[float] = []

    def __len__(self) -> int:
        return len(self._truth)

    def add(self, node: Node, scores: Floats, columns: Sequence[int]) -> None:
        """An example that belongs to these columns; of several the likeliest is the true one.

        Nothing is learned where none of them has other examples, or nothing but them has.
        """
        known = [column for column in columns if node.documents[column] > 0]
        if not known or np.count_nonzero(node.documents) < 2:
            return
        logits = node.logits(scores)
        # Relative to the best: small numbers lose little as floats of half the size.
        self._logits.append((logits - logits.max()).astype(np.float32))
        self._truth.append(max(known, key=lambda column: (logits[column], column)))
        self._lengths.append(float(scores[-1]))

    def table(self, most: int) -> _Table:
        """At most so many trials, evenly taken."""
        stride = max(1, -(-len(self) // most))
        logits = np.array(self._logits[::stride], dtype=np.float64)
        is_there = np.isfinite(logits)
        return _Table(
            np.where(is_there, logits, 0.0),
            np.where(is_there, 0.0, -np.inf),
            np.array(self._truth[::stride]),
            np.array(self._lengths[::stride]),
        )


def set_temperatures(nodes: Sequence[Node], trials: Sequence[Trials]) -> None:
    """A fit for each node that has enough trials, and one for all that have not."""
    small = [trial for trial in trials if 0 < len(trial) < _ENOUGH]
    if sum(map(len, small)) < _ENOUGH:
        small = [trial for trial in trials if len(trial)]
    shared = _fit([trial.table(max(_POOL // len(small), 20)) for trial in small])
    for node, trial in zip(nodes, trials, strict=True):
        node.temperature = _fit([trial.table(len(trial))]) if len(trial) >= _ENOUGH else shared


def _fit(tables: Sequence[_Table]) -> Temperature:
    if not tables:
        return Temperature()
    width = max(table.scores.shape[1] for table in tables)

    def joined(arrays: Sequence[Floats], filling: float) -> Floats:
        missing = [((0, 0), (0, width - array.shape[1])) for array in arrays]
        return np.concatenate([np.pad(a, pad, constant_values=filling) for a, pad in zip(arrays, missing, strict=True)])

    return Temperature.fit(
        joined([table.scores for table in tables], 0.0),
        np.concatenate([table.truth for table in tables]),
        lengths=np.concatenate([table.lengths for table in tables]),
        offsets=joined([table.offsets for table in tables], -np.inf),
    )
