"""Links with their tiers and scores as integers: links leave the frontier in ascending order of their 64-bit keys.

    key = place (32 bits) · 2³² + number of the link (32 bits)

The place says when a link's turn comes: by its tier, then by its score. Tiers follow each other whatever the scores
are: favoured links, links that were never tried, links that failed once, twice, … (paper FC, section 3.3: number of
tries ascending, relevance descending).

The rank of a score is the bit pattern of the score as a 32-bit float, inverted so that a better score has a smaller
rank. The place of an untried link is this rank. The patterns of NaN, which no score has, leave room at both ends for
the other tiers, in which scores are compared by their first bits:

    0 … 0x7F_FFFE                  favoured      23 bits of the rank
    0x7F_FFFF … 0xFF80_0000        untried       the rank, from infinity to minus infinity
    0xFF81_0000 … 0xFFFF_FFFF      tried         7 bits for the number of tries, 16 of the rank

Links are numbered in order of discovery, so of two links with equal places the older has the smaller key: the smallest
key is always the next link, and ties are first in, first out.
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
UNTRIED = 0
"""Tier of a link that was never tried. The tier of one that failed is the number of its tries."""
MOST_TRIES = 127
"""Links that were tried more often are in one tier."""
FAVOURED = 255
"""Tier of links that come before all others."""

_SIGN = 0x8000_0000
_POSITIVE = 0x7FFF_FFFF  # inverts the patterns of numbers ≥ 0; those of negative numbers are in the right order already
_INFINITY = 0x7F80_0000
_BEST_UNTRIED, _WORST_UNTRIED = 0x007F_FFFF, 0xFF80_0000
_FAVOURED_SHIFT, _TRIED_SHIFT, _TRIES_SHIFT = 9, 16, 16
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


def place(rank: int, tier: int) -> int:
    """When the turn of a link of this tier comes: the smaller, the sooner."""
    if tier == UNTRIED:
        return rank
    if tier == FAVOURED:
        return rank >> _FAVOURED_SHIFT
    return _WORST_UNTRIED + (tier << _TRIES_SHIFT) + (rank >> _TRIED_SHIFT)


def places(ranks: NDArray[np.uint32], tiers: NDArray[np.uint8]) -> NDArray[np.uint32]:
    if not np.count_nonzero(tiers):
        return ranks
    numbers = tiers.astype(np.uint32)
    tried = np.uint32(_WORST_UNTRIED) + (numbers << np.uint32(_TRIES_SHIFT)) + (ranks >> np.uint32(_TRIED_SHIFT))
    found = np.where(
        numbers == UNTRIED, ranks, np.where(numbers == FAVOURED, ranks >> np.uint32(_FAVOURED_SHIFT), tried)
    )
    return found.astype(np.uint32)


def is_favoured(place: int) -> bool:
    return place < _BEST_UNTRIED


def is_tried(place: int) -> bool:
    return place > _WORST_UNTRIED


def keys(places: NDArray[np.uint32], links: NDArray[Any]) -> NDArray[np.uint64]:
    result = places.astype(np.uint64)
    result <<= _LINK_SHIFT
    result |= links.astype(np.uint64)
    return result


def _inverted(bits: NDArray[np.int32]) -> NDArray[np.int32]:
    """Invert the patterns without a sign bit; applied twice, it changes nothing."""
    return bits ^ (~(bits >> _SIGN_SHIFT) & _MASK)
