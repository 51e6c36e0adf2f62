"""Which shard may fetch how many pages more: the page budget is one, and goes where the best links are.

A single crawl fetches the best link of all. Here each shard says what its best waiting links are worth, and the next
pages are granted to the best of all shards together. A shard never fetches more than it was granted, and what is
granted never exceeds the budget, so the budget is exact.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

MOST_AHEAD = 24
"""Number of pages that a shard may have been granted and not fetched, unless it is faster than that."""
AHEAD_SECONDS = 2.0
"""Seconds' worth of pages that are granted in advance."""
FIRST = 2
"""Number of pages granted to a shard of whose links nothing is known."""


class Standing(NamedTuple):
    """A shard, when pages are granted."""

    shard: int
    ahead: int
    """Number of pages that it was granted and has not fetched."""
    speed: float
    """Pages a second of late."""
    scores: NDArray[np.float32]
    """What its best waiting links are worth, best first."""


def grants(shards: Sequence[Standing], left: int) -> Mapping[int, int]:
    """Number of pages to grant to each shard; `left`: of the budget, not granted yet."""
    found: dict[int, int] = {}
    offers: list[tuple[float, int]] = []
    room = used = 0.0
    for each in shards:
        most = max(MOST_AHEAD, AHEAD_SECONDS * each.speed)
        room += most
        # Of a shard whose hosts all rest, what lies idle keeps no other from being granted more.
        used += min(each.ahead, AHEAD_SECONDS * each.speed + 1)
        waiting = each.scores[each.ahead : each.ahead + max(0, int(most) - each.ahead)]
        offers += [(float(score), each.shard) for score in waiting]
        if not each.ahead and not len(each.scores) and left > 0:
            found[each.shard] = min(FIRST, left)
            left -= found[each.shard]
    count = max(0, min(left, int(room - used)))
    offers.sort(key=lambda offer: (-offer[0], offer[1]))
    for _, shard in offers[:count]:
        found[shard] = found.get(shard, 0) + 1
    return found
