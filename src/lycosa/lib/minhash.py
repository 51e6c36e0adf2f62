"""Clusters of texts that are nearly the same, by MinHash (Broder 1997) with banding (Leskovec, Rajaraman and Ullman,
Mining of Massive Datasets, section 3.4).

A text is the set of its shingles, four words in a row. For each of 64 hash functions, the least hash of any shingle is
kept; two texts agree in as many of the 64 as their sets have in common (Jaccard). Only texts that agree in all four
values of one of 16 bands are compared: of those with four fifths in common, practically all are. (The fingerprints of
`near_duplicates` take 8 bytes a text instead of 256 and ignore the order of words, which suits a running crawl.)

A text is compared with the first of each cluster only, so a chain of small changes does not make one cluster of all.
"""

from __future__ import annotations

import re

import numpy as np
from numpy.typing import NDArray

MIN_COMMON = 0.8
"""Minimum share of the shingles of both that two texts of a cluster have in common."""
SHINGLE = 4
HASHES, BANDS = 64, 16
MAX_PER_BAND = 64
"""Maximum number of clusters remembered for each value of a band."""
_WORD = re.compile(r"\w+")
_WORD_BYTES = 16
_CHUNK = 4_096
_ODD = np.array([0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB], np.uint64)
_FACTORS = np.random.default_rng(1997).integers(1, 1 << 63, HASHES, np.uint64) * np.uint64(2) + np.uint64(1)


class TextClusters:
    """Tells for each text in turn which earlier one it is nearly the same as."""

    def __init__(self) -> None:
        self._signatures: dict[int, NDArray[np.uint32]] = {}
        """By number of the text; only those that are the first of a cluster."""
        self._by_band: dict[bytes, list[int]] = {}
        self._count = 0

    def add(self, text: str) -> int:
        """The number of the first text of the cluster: that of this one, if it is new. Texts are numbered from 0.

        A text without words is always new.
        """
        number = self._count
        self._count += 1
        found = signature(text)
        if found is None:
            return number
        rows = [bytes([band]) + part.tobytes() for band, part in enumerate(np.split(found, BANDS))]
        known = [self._by_band.setdefault(row, []) for row in rows]
        for other in sorted({other for others in known for other in others}):
            if np.mean(self._signatures[other] == found) >= MIN_COMMON:
                return other
        self._signatures[number] = found
        for others in known:
            if len(others) < MAX_PER_BAND:
                others.append(number)
        return number


def signature(text: str) -> NDArray[np.uint32] | None:
    """The least hashes of a text, the same on all machines; None if it has no words."""
    words = _WORD.findall(text.lower())
    if not words:
        return None
    encoded = [word.encode("utf-8", "replace") for word in words]
    halves = np.array(encoded, dtype=f"S{_WORD_BYTES}").view("<u8").reshape(-1, 2).astype(np.uint64)
    numbers = (halves[:, 0] + _ODD[0]) * _ODD[1] ^ (halves[:, 1] + _ODD[1]) * _ODD[0]
    width = min(SHINGLE, len(numbers))
    shingles = np.zeros(len(numbers) - width + 1, np.uint64)
    for place in range(width):
        shingles = (shingles ^ numbers[place : len(numbers) - width + 1 + place]) * _ODD[2]
        shingles ^= shingles >> np.uint64(29)
    least = np.full(HASHES, np.iinfo(np.uint32).max, np.uint32)
    for start in range(0, len(shingles), _CHUNK):
        hashed = (shingles[start : start + _CHUNK, None] * _FACTORS) >> np.uint64(32)
        least = np.minimum(least, hashed.min(axis=0).astype(np.uint32))
    return least
