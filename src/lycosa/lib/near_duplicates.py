"""Recognises near-duplicates of earlier texts by their fingerprints (`page.fingerprint`).

Two 64-bit fingerprints that differ in at most three bits agree in at least one of their four 16-bit bands (Manku, Jain
and Das Sarma, WWW 2007, section 3), so only fingerprints that share a band are compared.
"""

from __future__ import annotations

from itertools import accumulate, chain, pairwise

import numpy as np

from lycosa.lib.snapshot import Tree

MAX_DIFFERING_BITS = 3
_BANDS = range(0, 64, 16)
_MASK = 0xFFFF
MAX_PER_BAND = 256
"""Number of fingerprints remembered for each value of a band: the first ones."""


class NearDuplicates:
    def __init__(self) -> None:
        self._by_band: dict[int, list[int]] = {}

    def add(self, fingerprint: int) -> bool:
        """Remember a fingerprint; False if it is a near-duplicate of an earlier one. 0 means no text, always new."""
        if not fingerprint:
            return True
        keys = [(fingerprint >> band & _MASK) << 2 | number for number, band in enumerate(_BANDS)]
        known = [self._by_band.setdefault(key, []) for key in keys]
        if any((fingerprint ^ other).bit_count() <= MAX_DIFFERING_BITS for others in known for other in others):
            return False
        for others in known:
            if len(others) < MAX_PER_BAND:
                others.append(fingerprint)
        return True

    def take(self) -> Tree:
        """`lib.snapshot.Snapshots.take`."""
        known = self._by_band.values()
        return {
            "bands": np.fromiter(self._by_band, np.int64, len(known)),
            "lengths": np.fromiter(map(len, known), np.int64, len(known)),
            "fingerprints": np.fromiter(chain.from_iterable(known), np.uint64),
        }

    def load(self, saved: Tree) -> None:
        fingerprints = saved["fingerprints"].tolist()
        ends = pairwise(accumulate(saved["lengths"].tolist(), initial=0))
        known = (fingerprints[begin:end] for begin, end in ends)
        self._by_band = dict(zip(saved["bands"].tolist(), known, strict=True))
