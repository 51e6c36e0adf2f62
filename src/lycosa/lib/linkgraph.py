"""Link analysis of graphs given as two columns: edge i leads from node `sources[i]` to node `targets[i]`."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

MAX_ITERATIONS = 1_000
"""Never reached in practice: each iteration shrinks the changes by the damping factor, which is below 1."""
FRESH_SHARE = 1e-4
"""Share of the start scores that is spread evenly: otherwise a node with score 0 would keep it for ever."""


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

    A node without out-links is treated as linking to each node of `sinks_lead_to` (default: all nodes). The mean rank
    is then 1: these are the ranks of Brin and Page times the number of nodes. Ends when no rank changes by more than
    `tolerance`. Parallel edges count separately.
    """
    if not 0 <= damping < 1 or tolerance <= 0:
        raise ValueError(f"damping must be in [0, 1) and tolerance above 0, not {damping} and {tolerance}")
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


class Hits(NamedTuple):
    """Scores of nodes 0 … count − 1. Each of the two columns sums to 1, or to 0 if there are no edges."""

    hubs: NDArray[np.float64]
    authorities: NDArray[np.float64]
    edges: int
    """Number of edges that count: allowed by sites and threshold, parallel ones once."""
    iterations: int
    change: float
    """Sum of the absolute changes of all hub scores in the last iteration."""


def hits(
    sources: NDArray[np.integer[Any]],
    targets: NDArray[np.integer[Any]],
    *,
    count: int,
    relevance: NDArray[np.float64] | None = None,
    threshold: float | None = None,
    sites: NDArray[np.integer[Any]] | None = None,
    start: NDArray[np.floating[Any]] | None = None,
    iterations: int = 50,
    tolerance: float = 1e-8,
) -> Hits:
    """Hubs and authorities by relevance-weighted HITS (paper FC, section 3.2).

        a(v) ← Σ_{(u,v) ∈ E} h(u) · E_F[u,v],   E_F[u,v] = R(v), only for v with R(v) > ρ
        h(u) ← Σ_{(u,v) ∈ E} a(v) · E_B[u,v],   E_B[u,v] = R(u)

    E contains the edges between nodes of different `sites`, each once; R is `relevance`, ρ is `threshold`. Without
    these three arguments this is Kleinberg's HITS: all weights are 1, and every edge counts. The two steps are repeated
    until the hub scores change by no more than `tolerance` in total, or `iterations` times (FC, section 4.4: 50).

    `start` gives earlier hub scores to continue from (0 for a new node); by default all nodes start as equal hubs (FC
    does not say; those with R = 0 drop out in the first iteration). A result that has converged does not depend on it.

    Differs from FC: scores are scaled to sum to 1 instead of to unit length, so that a score is a share; order and
    ratios are the same.
    """
    if iterations < 1 or tolerance < 0:
        raise ValueError(f"iterations must be 1 or more and tolerance not negative, not {iterations} and {tolerance}")
    as_hub = np.ones(count) if relevance is None else relevance
    as_authority = as_hub if threshold is None else np.where(as_hub > threshold, as_hub, 0.0)
    sources, targets = _distinct(*_counting(sources, targets, as_hub, as_authority, sites), count=count)
    hubs = _start(start, count)
    authorities = np.zeros(count)
    done, change = 0, 0.0
    while done < iterations:
        authorities = _share(as_authority * np.bincount(targets, weights=hubs[sources], minlength=count))
        new = _share(as_hub * np.bincount(sources, weights=authorities[targets], minlength=count))
        change = float(np.abs(new - hubs).sum())
        hubs = new
        done += 1
        if change <= tolerance:
            break
    return Hits(hubs, authorities, len(sources), done, change)


def _counting(
    sources: NDArray[np.integer[Any]],
    targets: NDArray[np.integer[Any]],
    as_hub: NDArray[np.float64],
    as_authority: NDArray[np.float64],
    sites: NDArray[np.integer[Any]] | None,
) -> tuple[NDArray[np.integer[Any]], NDArray[np.integer[Any]]]:
    """The edges that can carry a score. The threshold is applied first, since it leaves few of a crawl's edges."""
    keep = (as_authority > 0)[targets]
    sources, targets = sources[keep], targets[keep]
    keep = (as_hub > 0)[sources]
    sources, targets = sources[keep], targets[keep]
    if sites is not None:
        keep = sites[sources] != sites[targets]
        sources, targets = sources[keep], targets[keep]
    return sources, targets


def _distinct(
    sources: NDArray[np.integer[Any]], targets: NDArray[np.integer[Any]], *, count: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Each edge once, in order of sources, then of targets."""
    both = np.sort(sources.astype(np.int64) * count + targets)
    is_first = np.ones(len(both), dtype=np.bool_)
    np.not_equal(both[1:], both[:-1], out=is_first[1:])
    return np.divmod(both[is_first], max(1, count))


def _start(start: NDArray[np.floating[Any]] | None, count: int) -> NDArray[np.float64]:
    even = np.full(count, 1.0 / max(1, count))
    if start is None:
        return even
    if len(start) != count or not (start >= 0).all() or not np.isfinite(start).all():
        raise ValueError(f"start must be {count} scores of 0 or more")
    if not start.any():
        return even
    return (1.0 - FRESH_SHARE) * _share(start.astype(np.float64)) + FRESH_SHARE * even


def _share(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    total = scores.sum()
    return scores / total if total > 0 else scores
