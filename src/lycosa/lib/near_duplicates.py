"""Which texts are nearly the same as an earlier one, by their fingerprints (`page.fingerprint`).

Two fingerprints of 64 bits that differ in at most three are equal in one of four bands of 16 bits (Manku, Jain and Das
Sarma, WWW 2007, section 3): only those that share a band are compared.
"""

from __future__ import annotations

MOST_BITS = 3
_BANDS = range(0, 64, 16)
_MASK = 0xFFFF
MOST_IN_A_BAND = 256
"""Fingerprints that are remembered for each value of a band: the first ones."""


class NearDuplicates:
    """Fingerprints met so far."""

    def __init__(self) -> None:
        self._by_band: dict[int, list[int]] = {}

    def add(self, fingerprint: int) -> bool:
        """Whether it is new: no earlier one is the same, or nearly. 0 stands for no text, and is always new."""
        if not fingerprint:
            return True
        keys = [(fingerprint >> band & _MASK) << 2 | number for number, band in enumerate(_BANDS)]
        known = [self._by_band.setdefault(key, []) for key in keys]
        if any((fingerprint ^ other).bit_count() <= MOST_BITS for others in known for other in others):
            return False
        for others in known:
            if len(others) < MOST_IN_A_BAND:
                others.append(fingerprint)
        return True
