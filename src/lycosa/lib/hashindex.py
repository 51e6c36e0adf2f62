"""A map from 64-bit hashes to 32-bit numbers in 20 to 40 bytes an entry, asked and filled by the batch.

It answers "have we seen this URL, and under which number?" for tens of millions of URLs. A Python dict needs
about 150 bytes an entry for that; here keys and numbers lie packed in numpy arrays.

The table is made of buckets of sixteen keys, two cache lines. A hash belongs to the bucket that its leading
bits (after a multiplication that spreads them) name; where that is full, to the next one that is not. A bucket
fills from the left and nothing is ever removed, so an empty place needs no marker: any hash, 0 included, is a
valid key. A batch of lookups is one gather of whole buckets, one comparison, and another round only where a
bucket was full, which is rare: with narrower buckets most batches would need several rounds, and at a hundred
hashes a batch it is the number of numpy calls that costs. The table doubles before it is two thirds full.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Hashes = NDArray[np.uint64] | NDArray[np.int64]

_WIDTH = 16
_MAX_LOAD = 0.65
_SPREAD = np.array(
    0x9E3779B97F4A7C15, dtype=np.uint64
)  # 2⁶⁴ / golden ratio: multiplying by it mixes low bits into high ones
_CHUNK = 1 << 14  # a longer batch is cut up: a lookup gathers 128 bytes for each hash


class HashIndex:
    """Numbers by hash. Give `capacity` where the size is known, and it will not have to grow."""

    __slots__ = ("_count", "_fill", "_flat", "_ids", "_keys", "_last", "_shift")

    def __init__(self, *, capacity: int = 0) -> None:
        self._count = 0
        self._allocate(capacity)

    def __len__(self) -> int:
        return self._count

    def find(self, hashes: Hashes) -> NDArray[np.int64]:
        """The number of each hash, −1 where it is not known."""
        keys = hashes.view(np.uint64)
        if len(keys) <= _CHUNK:
            return self._locate(keys)[0]
        parts = [self._locate(keys[i : i + _CHUNK])[0] for i in range(0, len(keys), _CHUNK)]
        return np.concatenate(parts)

    def add(self, hashes: Hashes, ids: NDArray[np.integer]) -> None:
        """Enter hashes with their numbers. A hash that is already there keeps the number it has."""
        keys = hashes.view(np.uint64)
        if len(keys) != len(ids):
            raise ValueError(f"{len(keys)} hashes with {len(ids)} ids")
        self._reserve(len(keys))
        for i in range(0, len(keys), _CHUNK):
            chunk, numbers = keys[i : i + _CHUNK], ids[i : i + _CHUNK]
            known, bucket = self._locate(chunk)
            new = _first_of_each(chunk, (known < 0).nonzero()[0])
            self._insert(chunk[new], numbers[new].astype(np.uint32), bucket[new])

    def find_or_add(self, hashes: Hashes, first_new_id: int) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """The number of each hash, and which of them are new.

        New hashes are numbered from `first_new_id` on in the order in which they first appear; a second
        appearance in the same batch gets the same number and does not count as new.
        """
        keys = hashes.view(np.uint64)
        if len(keys) > _CHUNK:
            return self._find_or_add_long(keys, first_new_id)
        self._reserve(len(keys))
        ids, bucket = self._locate(keys)
        is_new = np.zeros(len(keys), dtype=np.bool_)
        missing = (ids < 0).nonzero()[0]
        if missing.size:
            new = _first_of_each(keys, missing)
            numbers = np.arange(first_new_id, first_new_id + new.size)
            ids[new] = numbers
            is_new[new] = True
            self._insert(keys[new], numbers.astype(np.uint32), bucket[new])
            if new.size < missing.size:
                again = (ids < 0).nonzero()[0]
                ids[again] = self._locate(keys[again])[0]
        return ids, is_new

    def _find_or_add_long(
        self, keys: NDArray[np.uint64], first_new_id: int
    ) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        ids = np.empty(len(keys), dtype=np.int64)
        is_new = np.empty(len(keys), dtype=np.bool_)
        for i in range(0, len(keys), _CHUNK):
            part = slice(i, i + _CHUNK)
            ids[part], is_new[part] = self.find_or_add(keys[part], first_new_id)
            first_new_id += int(np.count_nonzero(is_new[part]))
        return ids, is_new

    def _allocate(self, capacity: int) -> None:
        buckets = 16
        while capacity > buckets * _WIDTH * _MAX_LOAD:
            buckets *= 2
        self._last = buckets - 1
        self._shift = np.array(64 - self._last.bit_length(), dtype=np.uint64)
        self._flat: NDArray[np.uint64] = np.zeros(buckets * _WIDTH, dtype=np.uint64)
        self._keys = self._flat.reshape(buckets, _WIDTH)
        self._ids: NDArray[np.uint32] = np.zeros(buckets * _WIDTH, dtype=np.uint32)
        self._fill: NDArray[np.uint8] = np.zeros(buckets, dtype=np.uint8)

    def _reserve(self, more: int) -> None:
        """Make room for `more` entries."""
        if self._count + more <= self._ids.size * _MAX_LOAD:
            return
        keys, ids, fill = self._keys, self._ids.reshape(-1, _WIDTH), self._fill
        capacity = max(self._count + more, self._ids.size)
        self._count = 0
        self._allocate(capacity)
        step = _CHUNK // _WIDTH
        for i in range(0, len(keys), step):
            taken = np.arange(_WIDTH) < fill[i : i + step, None]
            chunk = keys[i : i + step][taken]
            self._insert(chunk, ids[i : i + step][taken], self._home(chunk))

    def _home(self, keys: NDArray[np.uint64]) -> NDArray[np.int64]:
        return ((keys * _SPREAD) >> self._shift).view(np.int64)

    def _locate(self, keys: NDArray[np.uint64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """For each key its number, or −1; and the bucket that holds it, or would have to take it."""
        bucket = self._home(keys)
        ids, is_open = self._probe(keys, bucket)
        pending = is_open.nonzero()[0]
        while pending.size:
            bucket[pending] = (bucket[pending] + 1) & self._last
            ids[pending], is_open = self._probe(keys[pending], bucket[pending])
            pending = pending[is_open]
        return ids, bucket

    def _probe(
        self, keys: NDArray[np.uint64], bucket: NDArray[np.int64]
    ) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """Look for each key in one bucket; it may still be in a later one where this one is full."""
        place = (self._keys.take(bucket, axis=0) == keys[:, None]).argmax(axis=1)
        fill = self._fill[bucket]
        at = bucket * _WIDTH + place
        # argmax is 0 where nothing is equal, and an empty place looks like the key 0.
        is_miss = (self._flat[at] != keys) | (place >= fill)
        ids = self._ids[at].astype(np.int64)
        ids[is_miss] = -1
        return ids, is_miss & (fill == _WIDTH)

    def _insert(self, keys: NDArray[np.uint64], ids: NDArray[np.uint32], bucket: NDArray[np.int64]) -> None:
        """Enter different keys that are not there yet, each into the first bucket from `bucket` on with room."""
        self._count += len(keys)
        while keys.size:
            place = self._fill[bucket]
            is_full = place == _WIDTH
            if np.count_nonzero(is_full):
                bucket = (bucket + is_full) & self._last
                continue
            at = bucket * _WIDTH + place
            self._flat[at] = keys
            self._ids[at] = ids
            self._fill[bucket] = place + 1
            # Of several keys for one place the last assignment holds; the others try again.
            lost = (self._flat[at] != keys).nonzero()[0]
            keys, ids, bucket = keys[lost], ids[lost], bucket[lost]


def _first_of_each(keys: NDArray[np.uint64], chosen: NDArray[np.intp]) -> NDArray[np.intp]:
    """Those of the positions `chosen` at which a key stands for the first time."""
    values = np.sort(keys[chosen])
    if not (values[1:] == values[:-1]).any():
        return chosen
    return chosen[np.sort(np.unique(keys[chosen], return_index=True)[1])]
