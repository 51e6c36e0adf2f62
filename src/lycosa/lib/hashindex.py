"""A map from 64-bit hashes to 32-bit numbers that takes 20 to 40 bytes per entry and works on batches.

It answers "have we seen this URL, and under which number?" for tens of millions of URLs. A Python dict would take about
150 bytes per entry; here keys and numbers are packed in numpy arrays.

The table consists of buckets of sixteen keys, two cache lines each. The leading bits of a hash (after a multiplication
that spreads them) select its bucket; if that is full, the hash goes to the next bucket with room. Buckets fill from the
left and nothing is ever removed, so an empty slot needs no marker: any hash, including 0, is a valid key. A batch of
lookups is one gather of whole buckets and one comparison. A further round is needed only where a bucket is full, which
is rare: with narrower buckets most batches would need several rounds, and at a hundred hashes per batch the number of
numpy calls dominates the cost. The table doubles before it is two thirds full.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from lycosa.lib import native
from lycosa.lib.snapshot import Tree

Hashes = NDArray[np.uint64] | NDArray[np.int64]

_WIDTH = 16
_MAX_LOAD = 0.65
# 2⁶⁴ / golden ratio: multiplying by it mixes low bits into high ones
_SPREAD = np.array(0x9E3779B97F4A7C15, dtype=np.uint64)
_ALL_BITS = (1 << 64) - 1
_compiled: Any = native.load("lycosa.lib._hashindex")
_CHUNK = 1 << 14  # a longer batch is split: a lookup gathers 128 bytes per hash


class HashIndex:
    """Numbers by hash. A table that is given its `capacity` in advance need not grow."""

    __slots__ = ("_count", "_fill", "_flat", "_ids", "_keys", "_last", "_shift")

    def __init__(self, *, capacity: int = 0) -> None:
        self._count = 0
        self._allocate(capacity)

    def __len__(self) -> int:
        return self._count

    def take(self) -> Tree:
        """All of it (`lib.snapshot`)."""
        return {"keys": self._flat.copy(), "ids": self._ids.copy(), "fill": self._fill.copy()}

    @classmethod
    def loaded(cls, saved: Tree) -> Self:
        """The reverse of `take`. ValueError if the parts do not fit together."""
        index = cls(capacity=int(len(saved["ids"]) * _MAX_LOAD))
        for part, own in (("keys", index._flat), ("ids", index._ids), ("fill", index._fill)):
            if saved[part].dtype != own.dtype or saved[part].shape != own.shape:
                raise ValueError(f"{part}: {saved[part].dtype} {saved[part].shape} in a map of {len(own)}")
            own[:] = saved[part]
        index._count = int(index._fill.sum(dtype=np.int64))
        return index

    def find(self, hashes: Hashes) -> NDArray[np.int64]:
        """The number of each hash; −1 if it is unknown."""
        keys = hashes.view(np.uint64)
        if len(keys) <= _CHUNK:
            return self._locate(keys)[0]
        parts = [self._locate(keys[i : i + _CHUNK])[0] for i in range(0, len(keys), _CHUNK)]
        return np.concatenate(parts)

    def add(self, hashes: Hashes, ids: NDArray[np.integer]) -> None:
        """Add hashes with their numbers. A hash that is already known keeps its number."""
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
        """The number of each hash, and whether it is new.

        New hashes are numbered from `first_new_id` in order of first appearance; if a new hash is repeated in the
        batch, only its first appearance counts as new.
        """
        keys = hashes.view(np.uint64)
        if len(keys) > _CHUNK:
            return self._find_or_add_long(keys, first_new_id)
        self._reserve(len(keys))
        return self._find_or_add(keys, first_new_id)

    def _find_or_add(self, keys: NDArray[np.uint64], first_new_id: int) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """The same where there is room."""
        if _compiled is not None:
            found, is_added = np.empty(len(keys), dtype=np.int64), np.empty(len(keys), dtype=np.bool_)
            table = self._flat, self._ids, self._fill, int(self._shift)
            self._count += _compiled.find_or_add(*table, np.ascontiguousarray(keys), first_new_id, found, is_added)
            return found, is_added
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

    def find_or_add_one(self, value: int, new_id: int) -> tuple[int, bool]:
        """The same for a single hash, signed or not: ten times as fast as an array of one."""
        self._reserve(1)
        key = value & _ALL_BITS
        bucket = (key * int(_SPREAD) & _ALL_BITS) >> int(self._shift)
        while True:
            start, fill = bucket * _WIDTH, int(self._fill[bucket])
            row = self._flat[start : start + fill].tolist()
            if key in row:
                return int(self._ids[start + row.index(key)]), False
            if fill < _WIDTH:
                break
            bucket = (bucket + 1) & self._last
        self._flat[start + fill], self._ids[start + fill] = key, new_id
        self._fill[bucket] = fill + 1
        self._count += 1
        return new_id, True

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
        """The number of each key, or −1; and the bucket that holds it or would have to."""
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
        """Look for each key in one bucket. Also returns which keys may still be in a later one, as this one is full."""
        place = (self._keys.take(bucket, axis=0) == keys[:, None]).argmax(axis=1)
        fill = self._fill[bucket]
        at = bucket * _WIDTH + place
        # argmax is 0 if nothing is equal, and an empty slot looks like the key 0.
        is_miss = (self._flat[at] != keys) | (place >= fill)
        ids = self._ids[at].astype(np.int64)
        ids[is_miss] = -1
        return ids, is_miss & (fill == _WIDTH)

    def _insert(self, keys: NDArray[np.uint64], ids: NDArray[np.uint32], bucket: NDArray[np.int64]) -> None:
        """Add distinct new keys, each to the first bucket with room, starting at `bucket`."""
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
            # If several keys were assigned to one slot the last one wins; the others try again.
            lost = (self._flat[at] != keys).nonzero()[0]
            keys, ids, bucket = keys[lost], ids[lost], bucket[lost]


def _first_of_each(keys: NDArray[np.uint64], chosen: NDArray[np.intp]) -> NDArray[np.intp]:
    """Those of the positions `chosen` at which a key appears for the first time."""
    values = np.sort(keys[chosen])
    if not (values[1:] == values[:-1]).any():
        return chosen
    return chosen[np.sort(np.unique(keys[chosen], return_index=True)[1])]
