"""How widely a crawl spread: hosts, distinct content, distance from the seeds, relevance of the pages fetched.

A crawler that stays on one good site, or fetches one text under many addresses, has a high harvest rate but has found
little. These measures show the difference.
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lycosa.lab.evaluate.runs import NEAR_BITS, Bools, Fingerprints, Floats, Ints

DISTANCES = 21
"""Distances 0 to 19, and all larger ones."""
RELEVANCES = 20


class Likeness(NamedTuple):
    """Which pages of a set are near-duplicates of each other."""

    kinds: NDArray[np.int64]
    """By page: the number of its fingerprint."""
    first: NDArray[np.int64]
    second: NDArray[np.int64]
    """Fingerprints (by number) that differ in at most NEAR_BITS bits: pair by pair."""
    textless: NDArray[np.int64]
    """The number of the fingerprint 0, if there is one: pages without text are duplicates of none."""


def distinct_so_far(values: Ints) -> Floats:
    """Number of distinct values among the first n, for each n."""
    _, places = np.unique(values, return_index=True)
    return np.cumsum(np.bincount(places, minlength=len(values))).astype(np.float64)


def likeness(fingerprints: Fingerprints, bits: int = NEAR_BITS) -> Likeness:
    """All pairs of fingerprints that differ in at most `bits` bits.

    Split into bits + 1 bands, two such fingerprints agree in at least one band (Manku, Jain and Das Sarma 2007, section
    3): only those that do are compared. Equal fingerprints are one kind: a thousand copies make no pairs.
    """
    distinct, kinds = np.unique(fingerprints, return_inverse=True)
    pairs = []
    edges = np.linspace(0, 64, bits + 2).astype(np.uint64)
    for low, high in pairwise(edges):
        mask = np.uint64((1 << int(high - low)) - 1)
        band = (distinct >> low) & mask
        pairs.append(_near_in_band(distinct, band, bits))
    found = np.unique(np.concatenate(pairs), axis=0)
    return Likeness(kinds.reshape(-1), found[:, 0], found[:, 1], np.flatnonzero(distinct == 0))


def _near_in_band(distinct: Fingerprints, band: Fingerprints, bits: int) -> NDArray[np.int64]:
    """Near pairs that share their band. Sorted by band, neighbours are compared, then next but one, and so on."""
    order = np.argsort(band, kind="stable")
    ordered, values = band[order], distinct[order]
    found = [np.zeros((0, 2), dtype=np.int64)]
    for step in range(1, len(order)):
        shares = ordered[step:] == ordered[:-step]
        if not shares.any():
            break
        at = np.flatnonzero(shares)
        near = at[_set_bits(values[at] ^ values[at + step]) <= bits]
        found.append(np.sort(np.column_stack([order[near], order[near + step]]), axis=1))
    return np.concatenate(found)


def _set_bits(numbers: Fingerprints) -> NDArray[np.int64]:
    bits = np.unpackbits(numbers.view(np.uint8).reshape(-1, 8), axis=1)
    return np.asarray(bits.sum(axis=1, dtype=np.int64))


def is_new_content(pages: Ints, alike: Likeness) -> Bools:
    """Whether each page is unlike every page fetched before it; `pages` are positions in the pages of `alike`."""
    kinds = alike.kinds[pages]
    count = len(pages)
    never = np.int64(count)
    appeared = np.full(int(alike.kinds.max(initial=-1)) + 1, never)
    distinct, places = np.unique(kinds, return_index=True)
    appeared[distinct] = places
    is_new = np.zeros(count, dtype=np.bool_)
    is_new[places] = True
    a, b = appeared[alike.first], appeared[alike.second]
    is_both = (a < never) & (b < never) & ~np.isin(alike.first, alike.textless) & ~np.isin(alike.second, alike.textless)
    is_new[np.maximum(a, b)[is_both]] = False
    is_new[np.isin(kinds, alike.textless)] = True
    return is_new


def capped_harvest(relevant: Bools, hosts: Ints, cap: int) -> Floats:
    """Harvest rate where at most `cap` relevant pages of a host count."""
    counted = np.zeros(len(relevant), dtype=np.float64)
    places = np.flatnonzero(relevant)
    order = np.argsort(hosts[places], kind="stable")
    ordered = hosts[places][order]
    _, starts, sizes = np.unique(ordered, return_index=True, return_counts=True)
    rank = np.arange(len(ordered)) - np.repeat(starts, sizes)
    counted[places[order][rank < cap]] = 1.0
    return np.asarray(np.cumsum(counted) / np.arange(1, len(counted) + 1))


def distance_histogram(distance: Ints) -> Floats:
    """Share of the pages at each distance from the seeds, in links (paper GA, figure 9; FC, section 4.5)."""
    counts = np.bincount(np.clip(distance, 0, DISTANCES - 1).astype(np.int64), minlength=DISTANCES)
    return np.asarray(counts / max(1, len(distance)))


def relevance_histogram(relevance: Floats) -> Floats:
    """Share of the pages in each of equal intervals of judged relevance (paper FC, section 4.2, figure 5)."""
    counts, _ = np.histogram(np.clip(relevance, 0.0, 1.0), bins=RELEVANCES, range=(0.0, 1.0))
    return np.asarray(counts / max(1, len(relevance)))
