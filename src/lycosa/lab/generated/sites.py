"""The hosts of a generated web, their sections, and the topic and community of each section.

Host sizes follow a Zipf law. A host is divided into sections (directories) of different sizes. Smaller hosts often have
a single topic; on the others each section has its own. The sections of a topic are grouped into communities, some of
them hidden (see `graph`).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lycosa.lab.generated.plan import WebPlan

Ints = NDArray[np.int32]
Longs = NDArray[np.int64]
Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Sites:
    """Hosts and their sections. A home page is a section by itself, the first of its host."""

    first_section: Ints
    """By host; one more entry at the end."""
    host_topic: Ints
    """By host: its only topic; -1: it has several or none."""
    first_page: Ints
    """By section; one more entry at the end."""
    host: Ints
    """By section."""
    topic: Ints
    """By section."""
    community: Ints
    """By section."""
    is_hidden: Flags
    """By section: whether its community is hidden."""
    is_disallowed: Flags
    """By section: whether robots.txt disallows it."""
    has_navigation: Flags
    """By host: whether its pages have a navigation bar."""


def lay_out(plan: WebPlan, rng: np.random.Generator) -> Sites:
    """All hosts and sections of a web."""
    weights = np.arange(1, plan.hosts + 1, dtype=np.float64) ** -plan.host_skew
    sizes = _split(np.array([plan.pages]), np.array([plan.hosts]), weights)
    below = -(-(sizes - 1) // plan.section_pages)
    section_sizes = _split(sizes - 1, below, rng.random(int(below.sum())) + 0.4)
    first_section = np.concatenate(([0], np.cumsum(below + 1)))
    homes = first_section[:-1]
    size_of_section = np.ones(int(first_section[-1]), np.int64)
    is_home = np.zeros(len(size_of_section), np.bool_)
    is_home[homes] = True
    size_of_section[~is_home] = section_sizes
    host = np.repeat(np.arange(plan.hosts), below + 1)

    host_topic, topic = _topics(plan, rng, sizes, host, is_home, size_of_section)
    is_single = host_topic[host] >= 0
    community, is_hidden = _communities(plan, rng, host, topic, size_of_section, is_single)
    is_disallowed = np.zeros(len(host), np.bool_)
    closing = np.flatnonzero((rng.random(plan.hosts) < plan.disallowing_hosts) & (below >= 2))
    is_disallowed[first_section[closing + 1] - 1] = True
    has_navigation = np.ones(plan.hosts, np.bool_)
    if plan.navigation < 1:
        has_navigation = rng.random(plan.hosts) < plan.navigation
    return Sites(
        first_section=first_section.astype(np.int32),
        host_topic=host_topic.astype(np.int32),
        first_page=np.concatenate(([0], np.cumsum(size_of_section))).astype(np.int32),
        host=host.astype(np.int32),
        topic=topic.astype(np.int32),
        community=community.astype(np.int32),
        is_hidden=is_hidden,
        is_disallowed=is_disallowed,
        has_navigation=has_navigation,
    )


def _split(totals: Longs, counts: Longs, weights: Floats) -> Longs:
    """Split each total into `counts` parts of at least 1, in proportion to the weights of the parts."""
    ends = np.cumsum(counts)
    running = np.concatenate(([0.0], np.cumsum(weights)))
    before = np.repeat(running[ends - counts], counts)
    whole = np.repeat(running[ends] - running[ends - counts], counts)
    spare = np.repeat(totals - counts, counts)
    upper = np.floor((running[1:] - before) / whole * spare + 1e-6)
    lower = np.concatenate(([0.0], upper[:-1]))
    is_first = np.zeros(len(weights), np.bool_)
    is_first[(ends - counts)[counts > 0]] = True
    is_last = np.zeros(len(weights), np.bool_)
    is_last[(ends - 1)[counts > 0]] = True
    upper[is_last] = spare[is_last]
    parts: Longs = (upper - np.where(is_first, 0.0, lower)).astype(np.int64) + 1
    return parts


def _topics(
    plan: WebPlan, rng: np.random.Generator, sizes: Longs, host: Longs, is_home: Flags, section_sizes: Longs
) -> tuple[Longs, Longs]:
    """Topics of hosts and sections, drawn by what is left of each topic's quota, which makes the shares even."""
    quota = np.full(plan.topics + 1, plan.pages * (1 - plan.general) / plan.topics)
    quota[-1] = plan.pages * plan.general
    fair = np.maximum(quota, 1e-9)
    topic_quota = quota[0]

    def draw(size: int) -> int:
        left = np.cumsum(np.maximum(quota / fair, 1e-9) ** 2 * fair)
        chosen = int(np.searchsorted(left, rng.random() * left[-1], side="right"))
        quota[chosen] -= size
        return chosen if chosen < plan.topics else -1

    host_topic = np.full(plan.hosts, -1)
    is_single = (rng.random(plan.hosts) < plan.topical_hosts) & (sizes <= topic_quota / 2)
    for number in np.flatnonzero(is_single):
        host_topic[number] = draw(int(sizes[number]))
    topic = np.where(is_single[host], host_topic[host], -1)
    for number in rng.permutation(np.flatnonzero(~is_single[host] & ~is_home)):
        topic[number] = draw(int(section_sizes[number]))
    return host_topic, topic


def _communities(
    plan: WebPlan, rng: np.random.Generator, host: Longs, topic: Longs, sizes: Longs, is_single: Flags
) -> tuple[Longs, Flags]:
    """By section: its community, and whether that is hidden.

    All sections of one topic on one host are in the same community, as navigation connects them.
    """
    _, unit_of_section = np.unique(host * (plan.topics + 1) + topic + 1, return_inverse=True)
    unit_size = np.bincount(unit_of_section, weights=sizes)
    unit_topic = np.zeros(len(unit_size), np.int64)
    unit_topic[unit_of_section] = topic
    unit_is_single = np.zeros(len(unit_size), np.bool_)
    unit_is_single[unit_of_section] = is_single
    community = np.zeros(len(unit_size), np.int64)
    is_hidden = np.zeros(len(unit_size), np.bool_)
    used = 0
    for number in range(-1, plan.topics):
        units = np.flatnonzero(unit_topic == number)
        if not len(units):
            continue
        if number < 0:  # of pages without a topic, each host is a community
            community[units] = used + np.arange(len(units))
            used += len(units)
            continue
        # hide hosts of a single topic rather than parts of mixed hosts, which can be entered in many places
        units = units[np.argsort(rng.random(len(units)) + 0.5 * unit_is_single[units])]
        middle = (np.cumsum(unit_size[units]) - unit_size[units] / 2) / unit_size[units].sum()
        parts = max(2, round(unit_size[units].sum() / plan.community_pages))
        part = np.floor(middle * parts).astype(np.int64)
        community[units] = used + part
        is_hidden[units] = ((part + 0.5) / parts > 1 - plan.tunnelled) & (part > part[0])
        used += parts
    return community[unit_of_section], is_hidden[unit_of_section]
