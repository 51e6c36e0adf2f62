"""The waiting links of one host: a sorted set of keys at 8 bytes per key.

Keys (`frontier.keys`) are kept sorted in packed arrays of at most `BLOCK` keys. A host with few links has one such
array and nothing else, so a hundred thousand small hosts stay cheap. A large one has a list of blocks with their lower
bounds. To add or remove a key takes a search among the bounds, a search in a block, and moving at most 2 KB: O(log n)
with a small constant for any number of links that fits into memory, and nothing is allocated but the key. Since any key
can be removed, a queue contains only links that are waiting.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right, insort

import numpy as np
from numpy.typing import NDArray

BLOCK = 256


class HostQueue:
    """Keys in ascending order. `head[0]` is the smallest; `head` is empty only if the queue is."""

    __slots__ = ("_count", "_spread", "head")

    def __init__(self) -> None:
        self._count = 0
        self.head: array[int] = array("Q")
        self._spread: tuple[list[array[int]], list[int]] | None = None
        """If there are several blocks: all of them, `head` first, and a lower bound of each, 0 for the first."""

    def __len__(self) -> int:
        return self._count

    def push(self, key: int) -> None:
        """Add a key that is not in the queue."""
        self._count += 1
        if self._spread is None:
            block = self.head
            insort(block, key)
            if len(block) > BLOCK:
                self._spread = [block], [0]
                self._split(0, key)
        else:
            blocks, bounds = self._spread
            i = bisect_right(bounds, key) - 1
            block = blocks[i]
            insort(block, key)
            if len(block) > BLOCK:
                self._split(i, key)

    def pop(self) -> int:
        """Remove and return the smallest key."""
        key = self.head.pop(0)
        self._count -= 1
        if not self.head and self._spread is not None:
            self._join(0)
        return key

    def remove(self, key: int) -> None:
        """Remove a key; KeyError if it is not in the queue."""
        i, block = 0, self.head
        if self._spread is not None:
            blocks, bounds = self._spread
            i = bisect_right(bounds, key) - 1
            block = blocks[i]
        at = bisect_left(block, key)
        if at == len(block) or block[at] != key:
            raise KeyError(key)
        block.pop(at)
        self._count -= 1
        if self._spread is not None and len(block) <= BLOCK // 4:
            self._join(i)

    def move(self, key: int, new: int) -> None:
        """Replace a key by one that is not in the queue; KeyError if there is no such key."""
        block = self.head
        if self._spread is not None:
            blocks, bounds = self._spread
            i = bisect_right(bounds, key) - 1
            if i != bisect_right(bounds, new) - 1:
                self.remove(key)
                self.push(new)
                return
            block = blocks[i]
        at = bisect_left(block, key)
        if at == len(block) or block[at] != key:
            raise KeyError(key)
        block.pop(at)
        insort(block, new)

    def last(self) -> int:
        return self.head[-1] if self._spread is None else self._spread[0][-1][-1]

    def fill(self, keys: NDArray[np.uint64]) -> None:
        """Replace all keys by these, which must be in ascending order."""
        self._count = len(keys)
        step = BLOCK * 3 // 4  # leaves room, so that the next few pushes do not split every block
        blocks = [_packed(keys[i : i + step]) for i in range(0, len(keys), step)] or [array("Q")]
        self.head = blocks[0]
        self._spread = (blocks, [0, *(block[0] for block in blocks[1:])]) if len(blocks) > 1 else None

    def _split(self, i: int, newest: int) -> None:
        assert self._spread is not None
        blocks, bounds = self._spread
        block = blocks[i]
        # Keys that arrive in ascending order (equal scores) would otherwise leave half-empty blocks behind.
        is_appended = i == len(blocks) - 1 and block[-1] == newest
        middle = len(block) - 1 if is_appended else len(block) // 2
        blocks.insert(i + 1, block[middle:])
        bounds.insert(i + 1, block[middle])
        del block[middle:]

    def _join(self, i: int) -> None:
        """Merge block i, which has become small, with a neighbour if both fit into one. An empty block always does."""
        assert self._spread is not None
        blocks, bounds = self._spread
        left = min(i, len(blocks) - 2)
        if len(blocks[left]) + len(blocks[left + 1]) > BLOCK:
            return
        blocks[left].extend(blocks[left + 1])
        del blocks[left + 1], bounds[left + 1]
        if len(blocks) == 1:
            self._spread = None


def _packed(keys: NDArray[np.uint64]) -> array[int]:
    block = array("Q")
    block.frombytes(keys.tobytes())
    return block
