"""Which links found on a page are followed: the rules that live crawls and replays share.

A link joins the frontier if it does not wait there yet, may be followed, and has a score. A link that was not followed
when it was first found, or was dropped from a full buffer, is dormant: it joins when it is found again and the rules
let it. The compiled simulator has the same rules in a form of its own (`lab.evolve.kernel`), and a test holds it to
them.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lycosa.frontier.frontier import Frontier
from lycosa.frontier.keys import FAVOURED, UNTRIED

TOO_FAR = "too far"
HOST_CAP = "host cap"


class FoundLink(NamedTuple):
    """What is known about a link when it is found, besides its URL."""

    distance: int
    """Links from the nearest seed."""
    redirects: int
    """Redirects in a row that led to it."""
    score: float
    reason: str = ""
    """Why it is turned away; empty if it is not."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkRules:
    """Which links a crawl follows."""

    follow_nofollow: bool = False
    """Follow links that their page asks crawlers not to follow."""
    max_distance: int | None = None
    """Maximum number of links from the nearest seed; None for no limit."""
    max_links_per_host: int = 0
    """Maximum number of URLs accepted per host; 0 means no limit."""
    max_redirects: int = 5
    """Maximum number of redirects in a row."""

    def why_not(self, *, distance: int, links_of_host: int) -> str:
        """Why a new link is turned away; empty if it is not."""
        if self.max_distance is not None and distance > self.max_distance:
            return TOO_FAR
        return HOST_CAP if 0 < self.max_links_per_host <= links_of_host else ""


def joining(
    frontier: Frontier, links: NDArray[np.int64], scores: NDArray[np.float64], may_follow: NDArray[np.bool_] | bool
) -> NDArray[np.bool_]:
    """Which links join the frontier: new or dormant, allowed to be followed, and with a score that is a number."""
    joins = frontier.is_new(links)
    joins &= scores == scores  # NaN is not equal to itself
    joins &= may_follow
    return joins


def rising(frontier: Frontier, links: NDArray[np.int64], scores: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Which links wait with a worse score than this one, to the precision the frontier has."""
    # Links that do not wait have the score NaN there, which nothing exceeds.
    is_better: NDArray[np.bool_] = scores.astype(np.float32) > frontier.scores(links)
    return is_better


class Favoured(NamedTuple):
    """Links that come before all others from now on, and those that no longer do."""

    first: NDArray[np.int64]
    last: NDArray[np.int64]
    added: int
    """Number of those that did not come first before."""


def favour(frontier: Frontier, links: Sequence[int], *, kept: Collection[int] = ()) -> Favoured:
    """Put those of the links first that wait and never failed, and no others but those `kept`."""
    candidates = np.array(links, dtype=np.int64)
    candidates = candidates[frontier.is_waiting(candidates)]
    first = candidates[~frontier.is_tried(candidates)]
    waiting = frontier.waiting_links()
    before = waiting[frontier.is_favoured(waiting)]
    last = before[~np.isin(before, first) & ~np.isin(before, list(kept))]
    frontier.set_tiers(first, FAVOURED)
    frontier.set_tiers(last, UNTRIED)
    return Favoured(first, last, int(np.count_nonzero(~np.isin(first, before))))
