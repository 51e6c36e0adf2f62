"""Curves over the pages of a crawl, in the order of fetching."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray


def harvest_rate(relevant: ArrayLike) -> NDArray[np.float64]:
    """Share of relevant pages among the first n, for each n (paper FC, section 4.2: harvest ratio).

    With flags by label this is precision by label; with the judge's flags, precision by judge; with judged relevance
    in [0, 1], FC's own measure, the mean of R over the pages fetched.
    """
    return mean_so_far(relevant)


def moving_harvest_rate(relevant: ArrayLike, window: int) -> NDArray[np.float64]:
    """Share of relevant pages among the last `window` up to each page (paper FC, section 4.2, figures 3 and 4)."""
    values = np.asarray(relevant, dtype=np.float64)
    sums = np.cumsum(values)
    sums[window:] = sums[window:] - sums[:-window]
    return np.asarray(sums / np.minimum(np.arange(1, len(values) + 1), window))


def recall(is_target: ArrayLike, targets: int) -> NDArray[np.float64]:
    """ρ = |S ∩ T| / |T| of the first n pages S, for each n (paper TC, section 2.4, equation 1)."""
    return np.asarray(np.cumsum(np.asarray(is_target, dtype=np.float64)) / max(1, targets))


def mean_so_far(values: ArrayLike) -> NDArray[np.float64]:
    """Mean of the first n values, for each n."""
    sums = np.cumsum(np.asarray(values, dtype=np.float64))
    return np.asarray(sums / np.arange(1, len(sums) + 1))


def padded(curve: NDArray[np.float64], pages: int) -> NDArray[np.float64]:
    """The curve over exactly `pages` pages.

    A run that stopped early because its frontier was empty keeps its last value: it would never find more. A run that
    fetched nothing is 0 throughout.
    """
    if len(curve) >= pages:
        return curve[:pages]
    return np.concatenate([curve, np.full(pages - len(curve), curve[-1] if len(curve) else 0.0)])
