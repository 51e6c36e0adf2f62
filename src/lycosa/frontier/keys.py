"""Links with their scores as integers: links leave the frontier in ascending order of their 64-bit keys.

    key = rank of the score (32 bits) · 2³² + number of the link (32 bits)

The rank is the bit pattern of the score as a 32-bit float, inverted so that a better score has a smaller rank. Links
are numbered in order of discovery, so of two links with equal scores the older has the smaller key: the smallest key is
always the next link, and ties are first in, first out.
"""

from __future__ import annotations

import struct
from typing import Any

import numpy as np
from numpy.typing import NDArray

LINK_BITS = 32
LINK_MASK = (1 << LINK_BITS) - 1
MAX_LINKS = 1 << LINK_BITS
WORST = 1 << 64
"""Worse than any key."""

_SIGN = 0x8000_0000
_POSITIVE = 0x7FFF_FFFF  # inverts the patterns of numbers ≥ 0; those of negative numbers are in the right order already
_INFINITY = 0x7F80_0000
_FLOAT = struct.Struct("<f")
_BITS = struct.Struct("<I")
# Operands as arrays: with Python numbers, a numpy call on the few dozen links of a page takes twice as long.
_ZERO = np.array(0.0, dtype=np.float32)
_MASK = np.array(_POSITIVE, dtype=np.int32)
_SIGN_SHIFT = np.array(31, dtype=np.int32)
_LINK_SHIFT = np.array(LINK_BITS, dtype=np.uint64)


def rank(score: float) -> int:
    """The rank of one score: the smaller, the better."""
    if score != score:
        raise ValueError("a score must be a number, not NaN")
    try:
        (bits,) = _BITS.unpack(_FLOAT.pack(score))
    except OverflowError:
        bits = _INFINITY if score > 0 else _INFINITY | _SIGN
    if bits == _SIGN:  # minus zero, which is equal to zero
        bits = 0
    return int(bits if bits & _SIGN else bits ^ _POSITIVE)


def ranks(scores: NDArray[Any]) -> NDArray[np.uint32]:
    with np.errstate(over="ignore"):
        values = scores.astype(np.float32) + _ZERO  # -0.0 + 0.0 is 0.0
    if np.count_nonzero(np.isnan(values)):
        raise ValueError("a score must be a number, not NaN")
    return _inverted(values.view(np.int32)).view(np.uint32)


def score(rank: int) -> float:
    """The score of a rank, with the precision of a 32-bit float."""
    (value,) = _FLOAT.unpack(_BITS.pack(rank if rank & _SIGN else rank ^ _POSITIVE))
    return float(value)


def scores(ranks: NDArray[np.uint32]) -> NDArray[np.float32]:
    return _inverted(ranks.view(np.int32)).view(np.float32)


def keys(ranks: NDArray[np.uint32], links: NDArray[Any]) -> NDArray[np.uint64]:
    result = ranks.astype(np.uint64)
    result <<= _LINK_SHIFT
    result |= links.astype(np.uint64)
    return result


def _inverted(bits: NDArray[np.int32]) -> NDArray[np.int32]:
    """Invert the patterns without a sign bit; applied twice, it changes nothing."""
    return bits ^ (~(bits >> _SIGN_SHIFT) & _MASK)
