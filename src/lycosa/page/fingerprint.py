"""Near-duplicates by simhash (Charikar 2002; Manku, Jain and Das Sarma 2007, section 3).

Each stem has a 64-bit hash and casts a weighted vote on each bit of the fingerprint: for 1 if the bit is set in its
hash, otherwise for 0. The majority decides. Texts that share most of their words share most of the votes and differ in
few bits; Manku et al. take 3 bits as the limit.

Departure: the weight of a stem is 1 + log₂ of its count rather than the count. With raw counts a handful of frequent
words would decide every bit, and all pages of one manual would look alike.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from lycosa.lib import native

_words = native.load("lycosa.lib._words")
_HASHED_BYTES = 16
_ODD = np.array([0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB], dtype="<u8")


def simhash(terms: Mapping[str, int]) -> int:
    """The fingerprint of a text, from its stems and their counts; 0 if there are none. The same on all machines."""
    if not terms:
        return 0
    fingerprint: int | None = None
    if _words is not None and terms.__class__ is dict:
        fingerprint = _words.simhash(terms, _WEIGHTS)
    elif _words is not None and isinstance(terms, _words.Terms):
        fingerprint = terms.simhash(_WEIGHTS)
    if fingerprint is not None:
        return fingerprint
    return simhash_in_python(terms)


def simhash_in_python(terms: Mapping[str, int]) -> int:
    """The twin of what is compiled."""
    bits = np.unpackbits(_hashes(terms).view(np.uint8).reshape(-1, 8), axis=1, bitorder="little")
    counts = np.fromiter(terms.values(), dtype=np.float32, count=len(terms))
    weights = _weights(counts)
    votes = weights @ bits
    fingerprint = np.packbits(2 * votes > weights.sum(), bitorder="little")
    return int.from_bytes(fingerprint.tobytes(), "little")


def _weights(counts: NDArray[np.float32]) -> NDArray[np.float32]:
    # Integers: their sum does not depend on the order of addition, which differs between processors.
    weights: NDArray[np.float32] = np.rint(16 * (1 + np.log2(counts)))
    return weights


_WEIGHTS = np.concatenate(([0], _weights(np.arange(1, 4096, dtype=np.float32)))).astype(np.int32)
"""By count, for compiled code."""


def _hashes(terms: Mapping[str, int]) -> NDArray[np.uint64]:
    """A 64-bit hash of each stem: its first 16 bytes as two numbers, mixed as in splitmix64. Faster than a memo."""
    encoded = "\n".join(terms).encode().split(b"\n")
    halves = np.array(encoded, dtype=f"S{_HASHED_BYTES}").view("<u8").reshape(-1, 2)
    hashes: NDArray[np.uint64] = (halves[:, 0] + _ODD[0]) * _ODD[1] ^ (halves[:, 1] + _ODD[1]) * _ODD[0]
    for shift, factor in ((30, _ODD[2]), (27, _ODD[3])):
        hashes ^= hashes >> np.uint64(shift)
        hashes *= factor
    hashes ^= hashes >> np.uint64(31)
    return hashes.astype("<u8", copy=False)
