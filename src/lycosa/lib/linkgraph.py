"""Link analysis over graphs given as two columns: edge i leads from node `sources[i]` to node `targets[i]`."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

MAX_ITERATIONS = 1_000
"""With a damping factor below 1 the changes shrink by that factor each time; this is never reached in practice."""


def pagerank(
    sources: NDArray[np.int64],
    targets: NDArray[np.int64],
    *,
    count: int,
    sinks_lead_to: NDArray[np.int64] | None = None,
    damping: float = 0.8,
    tolerance: float = 0.01,
) -> NDArray[np.float64]:
    """PageRank of nodes 0 … count − 1 by power iteration (paper TC, section 3.1.3, equation 5).

        PR(p) = (1 − γ) + γ · Σ_{d links to p} PR(d) / |out(d)|

    A node without out-links is taken to link to each node of `sinks_lead_to` (all nodes, if not given). The mean
    rank is then 1: these are the ranks of Brin and Page times the number of nodes. Ends when no rank changes by
    more than `tolerance`. Parallel edges count as often as they are there.
    """
    if not 0 <= damping < 1 or tolerance <= 0:
        raise ValueError(f"damping must lie in [0, 1) and tolerance above 0, not {damping} and {tolerance}")
    out_degree = np.bincount(sources, minlength=count)
    is_sink = out_degree == 0
    share = 1.0 / np.maximum(out_degree, 1)
    from_sinks = np.zeros(count)
    landing = np.arange(count) if sinks_lead_to is None else sinks_lead_to
    if len(landing):
        from_sinks[landing] = 1.0 / len(landing)
    ranks: NDArray[np.float64] = np.ones(count)
    for _ in range(MAX_ITERATIONS):
        cited = np.bincount(targets, weights=(ranks * share)[sources], minlength=count)
        new: NDArray[np.float64] = (1.0 - damping) + damping * (cited + from_sinks * ranks[is_sink].sum())
        change = np.abs(new - ranks).max(initial=0.0)
        ranks = new
        if change <= tolerance:
            break
    return ranks
