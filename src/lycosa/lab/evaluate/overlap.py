"""How much the finds depend on the seeds: two crawls from disjoint halves of them (paper FC, sections 4.3 and 4.4).

    |U₁(t) ∩ U₂(t)| / |U₁(t)|    and    |S₁(t) ∩ S₂(t)| / |S₁(t)|,  |S₁(t) ∩ S₂(t)| / |S₂(t)|

U are the pages and S the hosts that each crawl has seen after t pages.
Differs from FC: servers are distinguished by host, not by address, and the top-rated pages are those of the highest
judged relevance, where FC ran its distiller.
"""

from __future__ import annotations

import numpy as np

from lycosa.lab.evaluate.curves import padded
from lycosa.lab.evaluate.runs import Floats, Ints, Run
from lycosa.lab.evaluate.spread import distinct_so_far

TOP = 100


def overlap_of(first: Run, second: Run, *, hosts: Ints, pages: int, top: int = TOP) -> dict[str, Floats]:
    """Curves over `pages` pages by name; `top pages` and `top hosts` have a single value, at the end.

    A crawl that ends early keeps what it has seen while the other continues.
    """
    first_hosts, second_hosts = hosts[first.pages], hosts[second.pages]
    common_hosts = _in_both(first_hosts, second_hosts, pages)
    best = [top_rated(run, top) for run in (first, second)]
    return {
        "pages": _ratio(_in_both(first.pages, second.pages, pages), first.pages, pages),
        "hosts of the first": _ratio(common_hosts, first_hosts, pages),
        "hosts of the second": _ratio(common_hosts, second_hosts, pages),
        "top pages": np.array([_share(best[0], best[1])]),
        "top hosts": np.array([_share(hosts[best[0]], hosts[best[1]])]),
    }


def top_rated(run: Run, count: int) -> Ints:
    """The pages of the highest judged relevance, best first; among equals, in the order of fetching."""
    return run.pages[np.argsort(-np.asarray(run.relevance), kind="stable")[:count]]


def _in_both(first: Ints, second: Ints, pages: int) -> Floats:
    """Number of values that have occurred in both sequences after t entries each, for each t."""
    (a, places_a), (b, places_b) = (np.unique(values, return_index=True) for values in (first, second))
    _, at_a, at_b = np.intersect1d(a, b, assume_unique=True, return_indices=True)
    moment = np.maximum(places_a[at_a], places_b[at_b])
    return np.cumsum(np.bincount(moment[moment < pages], minlength=pages)).astype(np.float64)


def _ratio(common: Floats, values: Ints, pages: int) -> Floats:
    """`common` by how many different values there are so far."""
    return np.asarray(common / np.maximum(1.0, padded(distinct_so_far(values), pages)))


def _share(first: Ints, second: Ints) -> float:
    distinct = np.unique(first)
    return float(np.isin(distinct, second).mean()) if len(distinct) else 0.0
