"""How often pages change, estimated from the times that they were looked at again.

A look says whether a page has changed since the one before, not how often. If changes come at a rate λ, the probability
of one within a time t is 1 − exp(−λt), so the likelihood of the looks at a page is

    Σ over looks that found a change  log(1 − exp(−λt))  −  λ · Σ over the others  t

which has its maximum where  Σ t / (exp(λt) − 1)  =  Σ t  (Cho and Garcia-Molina, "Estimating frequency of change",
ACM TOIT 3(3), 2003, for intervals that differ). A page with few looks says little, so its host speaks, too: as one more
look after the mean interval, which found a change in as large a part as the host's rate promises. For a host, all looks
at the crawl's pages speak likewise, and for the crawl a guess.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

DAY = 86_400.0
GUESSED_RATE = 1 / (30 * DAY)
"""Changes a second of a page about which nothing is known: one a month."""
LEAST_RATE, MOST_RATE = 1 / (3650 * DAY), 1 / 60.0
_STEPS = 60


class Looks(NamedTuple):
    """Looks at pages: of which group (page, host), after how long, and whether there was a change."""

    groups: NDArray[np.int64]
    seconds: NDArray[np.float64]
    is_change: NDArray[np.bool_]


def change_rates(looks: Looks, prior: NDArray[np.float64]) -> NDArray[np.float64]:
    """Changes a second by group. `prior`: by group, the rate that is assumed without any look."""
    count = np.bincount(looks.groups, minlength=len(prior))
    total = np.bincount(looks.groups, looks.seconds, len(prior))
    assumed = np.where(count > 0, total / np.maximum(count, 1), 1 / prior)
    share = chance_of_change(prior, assumed)
    group = np.concatenate((looks.groups, np.arange(len(prior))))
    seconds = np.maximum(1.0, np.concatenate((looks.seconds, assumed)))
    weight = np.concatenate((looks.is_change.astype(np.float64), share))
    unchanged = np.bincount(group, (1 - weight) * seconds, len(prior))
    low, high = np.full(len(prior), math.log(LEAST_RATE)), np.full(len(prior), math.log(MOST_RATE))
    for _ in range(_STEPS):
        middle = (low + high) / 2
        with np.errstate(over="ignore"):
            changed = np.bincount(group, weight * seconds / np.expm1(np.exp(middle)[group] * seconds), len(prior))
        is_low = changed > unchanged  # the likelihood still rises
        low, high = np.where(is_low, middle, low), np.where(is_low, high, middle)
    rates: NDArray[np.float64] = np.exp((low + high) / 2)
    return rates


def page_rates(looks: Looks, hosts: NDArray[np.int64]) -> NDArray[np.float64]:
    """Changes a second of each page. `looks.groups` are pages, by their place in `hosts`, which holds their hosts."""
    names, host_of = np.unique(hosts, return_inverse=True)
    everything = looks._replace(groups=np.zeros(len(looks.groups), np.int64))
    crawl = change_rates(everything, np.array([GUESSED_RATE]))[0]
    of_hosts = change_rates(looks._replace(groups=host_of[looks.groups]), np.full(len(names), crawl))
    return change_rates(looks, of_hosts[host_of])


def chance_of_change(rates: NDArray[np.float64], seconds: NDArray[np.float64]) -> NDArray[np.float64]:
    chance: NDArray[np.float64] = -np.expm1(-rates * np.maximum(0.0, seconds))
    return chance
