"""Curves over the pages of a crawl, in the order in which they were fetched."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray


def harvest_rate(relevant: Sequence[bool]) -> NDArray[np.float64]:
    """Share of relevant pages among the first n, for each n (paper FC, section 4: harvest ratio)."""
    hits = np.cumsum(np.asarray(relevant, dtype=np.float64))
    return np.asarray(hits / np.arange(1, len(hits) + 1))


def moving_harvest_rate(relevant: Sequence[bool], window: int) -> NDArray[np.float64]:
    """Share of relevant pages among the last `window` up to each page."""
    values = np.asarray(relevant, dtype=np.float64)
    sums = np.cumsum(values)
    sums[window:] = sums[window:] - sums[:-window]
    return np.asarray(sums / np.minimum(np.arange(1, len(values) + 1), window))


def recall(is_target: Sequence[bool], targets: int) -> NDArray[np.float64]:
    """Share of the targets that are among the first n pages, for each n (paper TC, section 2)."""
    return np.asarray(np.cumsum(np.asarray(is_target, dtype=np.float64)) / max(1, targets))
