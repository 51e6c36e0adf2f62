from __future__ import annotations

from random import Random

import pytest

from lycosa.lib.near_duplicates import MAX_DIFFERING_BITS, NearDuplicates


def turned(fingerprint: int, bits: int, rng: Random) -> int:
    for bit in rng.sample(range(64), bits):
        fingerprint ^= 1 << bit
    return fingerprint


@pytest.mark.parametrize("bits", range(MAX_DIFFERING_BITS + 1))
def test_what_differs_in_few_bits_is_not_new(bits):
    rng = Random(bits)
    texts = NearDuplicates()
    for _ in range(200):
        fingerprint = rng.getrandbits(64) | 1
        assert texts.add(fingerprint)
        assert not texts.add(turned(fingerprint, bits, rng))


def test_what_differs_in_more_is_new():
    rng = Random(9)
    for bits in (MAX_DIFFERING_BITS + 1, 12, 32):
        texts = NearDuplicates()
        fingerprint = rng.getrandbits(64)
        assert texts.add(fingerprint)
        assert texts.add(turned(fingerprint, bits, rng))


def test_pages_without_text_are_all_new():
    texts = NearDuplicates()
    assert texts.add(0)
    assert texts.add(0)
