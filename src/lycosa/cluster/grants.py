"""Which shard may fetch how many pages more: the page budget is one, and goes where the best links are.

A single crawl fetches the best link of all. Here each shard says what its best waiting links are worth, and the next
pages are granted to the best of all shards together. Where one process would rather wait for a far better link
(`frontier.patience`), so does a shard for one of another shard: otherwise shards without anything good would spend the
budget while the hosts of the others rest. A shard never fetches more than it was granted, and what is
granted never exceeds the budget, so the budget is exact.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

AHEAD_SECONDS = 2.0
"""Seconds' worth of pages of all shards that are granted ahead: more would be granted before the best links are known,
less would keep crawlers waiting for the driver's next look."""
LEAST_AHEAD = 6
"""Number of pages that a shard may have ahead, however slow it is."""
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


def grants(shards: Sequence[Standing], left: int, *, least: float = 0.0) -> Mapping[int, int]:
    """Number of pages to grant to each shard; `left`: of the budget, not granted yet. `least`: what a link must be
    worth, if far better ones are to be had soon."""
    found: dict[int, int] = {}
    offers: list[tuple[float, int]] = []
    # Not enough for all of them: so that those with the best links get most of it, and become the fastest.
    room = max(LEAST_AHEAD * len(shards) / 2, AHEAD_SECONDS * sum(each.speed for each in shards))
    for each in shards:
        # Of a shard whose hosts all rest, what lies idle keeps no other from being granted more.
        room -= min(each.ahead, AHEAD_SECONDS * each.speed + 1)
        most = int(max(LEAST_AHEAD, 2 * AHEAD_SECONDS * each.speed))
        offered = each.scores[each.ahead : max(most, each.ahead)]
        offers += [(float(score), each.shard) for score in offered if score >= least]
        if not each.ahead and not len(each.scores) and left > 0:
            found[each.shard] = min(FIRST, left)
            left -= found[each.shard]
    count = max(0, min(left, math.ceil(room)))
    offers.sort(key=lambda offer: (-offer[0], offer[1]))
    for _, shard in offers[:count]:
        found[shard] = found.get(shard, 0) + 1
    return found
