"""The links of a generated web: a few numpy arrays, filled in chunks.

Pages are numbered by host, and within a host by directory ("section"): page 0 of a host is its home page, page 0 of a
section its index. The pages of a section belong to one community, and a community to one topic (-1: none). The links
of a page are in this order:

    navigation   home, the host's first sections, the page's own section; not on hosts without a navigation bar
    listing      on indexes: the pages below; on home pages: the sections below
    content      drawn from the page's community, its topic, a neighbouring topic, or anywhere; on sparse webs most
                 from the page's own host

Hidden communities are in no pool from which links from outside are drawn. They are reached through chains of 1 to
`tunnel_depth` off-topic pages ("tunnels") that start on an open page of the topic and, on hosts of mixed topics,
through the navigation of the host, which is also on off-topic pages.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lycosa.lab.generated.plan import WebPlan
from lycosa.lab.generated.sites import Flags, Ints, Longs, Sites, lay_out

NAVIGATION = 5
"""Sections in a navigation bar."""
FANOUT = 20
"""A home page lists its first 20 sections, each of these lists the next 20 of the host, and so on."""
HUB_FACTOR = 4
HUB_LOCALITY = 0.9
NEIGHBOUR_SHARE = 0.5
"""Share of the links leaving a topic that go to one of the two neighbouring topics."""
NEAR_SHARE = 0.5
"""Share of the links kept on a host (`WebPlan.host_locality`) that stay in their directory."""
CHUNK = 1 << 16
TRIES = 50

EXACT, NEAR = 1, 2


@dataclass(frozen=True, slots=True)
class WebGraph:
    sites: Sites
    section: Ints
    """By page."""
    topic: NDArray[np.int16]
    """By page; -1: none."""
    original: Ints
    """By page: the page it repeats, or itself."""
    copy: NDArray[np.uint8]
    """By page: 0, EXACT or NEAR."""
    start: Longs
    """By page: where its links begin in `target`; one more entry at the end."""
    target: Ints
    structural: Ints
    """By page: number of its first links that are navigation and listing."""

    def links(self, page: int) -> Ints:
        """All links of a page, in order; targets may repeat, or be the page itself."""
        return self.target[self.start[page] : self.start[page + 1]]

    def navigation(self, page: int) -> int:
        """Number of links in its navigation bar."""
        own = int(self.section[page])
        host = int(self.sites.host[own])
        if not self.sites.has_navigation[host]:
            return 0
        home, after = int(self.sites.first_section[host]), int(self.sites.first_section[host + 1])
        return 1 + min(after - home - 1, NAVIGATION) + (own - home - 1 >= NAVIGATION)


def gather(starts: NDArray[np.integer], counts: NDArray[np.integer]) -> Longs:
    """For each i the `counts[i]` indices starts[i], starts[i] + 1, …, concatenated."""
    ends = np.cumsum(counts, dtype=np.int64)
    total = int(ends[-1]) if len(ends) else 0
    return np.arange(total, dtype=np.int64) + np.repeat(starts - (ends - counts), counts)


def distances(
    offsets: Longs, targets: Ints, starts: Sequence[int] | Ints, *, is_open: Flags | None = None, limit: int = 1 << 30
) -> Ints:
    """Links from the nearest start, over open pages only; -1 where none leads there within the limit."""
    distance = np.full(len(offsets) - 1, -1, np.int32)
    is_free = np.ones(len(distance), np.bool_) if is_open is None else is_open.copy()
    wave = np.unique(np.asarray(starts, np.int64))
    wave = wave[is_free[wave]]
    step = 0
    while len(wave) and step <= limit:
        distance[wave] = step
        is_free[wave] = False
        step += 1
        is_reached = np.zeros(len(distance), np.bool_)
        for low in range(0, len(wave), CHUNK):
            part = wave[low : low + CHUNK]
            is_reached[targets[gather(offsets[part], offsets[part + 1] - offsets[part])]] = True
        wave = np.flatnonzero(is_reached & is_free)
    return distance


def build(plan: WebPlan) -> WebGraph:
    rng = np.random.default_rng(plan.seed)
    sites = lay_out(plan, rng)
    section = np.repeat(np.arange(len(sites.host), dtype=np.int32), np.diff(sites.first_page))
    is_front = np.zeros(plan.pages, np.bool_)
    is_front[sites.first_page[:-1]] = True
    topic = sites.topic[section].astype(np.int16)
    topic[(rng.random(plan.pages) < plan.strays) & ~is_front] = -1
    pools = _pools(plan, rng, sites, section, topic, is_front)
    original, copy = _duplicates(plan, rng, sites, section, is_front, pools)
    topic = topic[original]

    structural = _structural_counts(sites, section, is_front)
    is_hub = (rng.random(plan.pages) < plan.hubs)[original]
    mean = max(1.0, plan.out_degree - float(structural.mean()))
    content = (1 + rng.poisson(max(0.0, mean - 1) * rng.gamma(4.0, 0.25, plan.pages))).astype(np.int32)
    content = (np.where(is_hub, content * HUB_FACTOR, content) / (1 + plan.hubs * (HUB_FACTOR - 1))).astype(np.int32)
    content = np.maximum(content, 1)[original]
    tunnel_from, tunnel_to = _tunnels(plan, rng, sites, section, topic, copy, pools)
    extra = np.bincount(tunnel_from, minlength=plan.pages).astype(np.int32)[original]

    start = np.zeros(plan.pages + 1, np.int64)
    np.cumsum(structural + content + extra, out=start[1:])
    target = np.empty(int(start[-1]), np.int32)
    for low in range(0, plan.pages, CHUNK):
        pages = np.arange(low, min(low + CHUNK, plan.pages), dtype=np.int32)
        _fill_structural(sites, section, is_front, pages, start, target)
        places = gather(start[pages] + structural[pages], content[pages])
        sources = np.repeat(pages, content[pages])
        drawn = _draw(plan, rng, sources, topic, is_hub, pools)
        target[places] = _kept_on_host(plan, rng, sources, drawn, sites, section) if plan.host_locality else drawn
    order = np.argsort(tunnel_from, kind="stable")
    doors = np.unique(tunnel_from)
    target[gather(start[doors] + structural[doors] + content[doors], extra[doors])] = tunnel_to[order]
    copies = np.flatnonzero(copy)
    sources = original[copies]
    drawn = content[copies] + extra[copies]
    target[gather(start[copies] + structural[copies], drawn)] = target[
        gather(start[sources] + structural[sources], drawn)
    ]
    return WebGraph(sites, section, topic, original, copy, start, target, structural)


@dataclass(frozen=True, slots=True)
class _Pools:
    """Lists of pages to draw from, the most popular first, concatenated in `pages`."""

    pages: Ints
    start: Longs
    """By pool: communities first, then open pages by topic (last those of no topic), then all open pages."""
    community_of: Ints
    """By page."""
    topics: int
    anywhere: int

    def draw(self, rng: np.random.Generator, pool: Longs, authority: float) -> Ints:
        size = self.start[pool + 1] - self.start[pool]
        pool = np.where(size > 0, pool, self.anywhere)
        size = self.start[pool + 1] - self.start[pool]
        place = (rng.random(len(pool)) ** authority * size).astype(np.int64)
        drawn: Ints = self.pages[self.start[pool] + np.minimum(place, size - 1)]
        return drawn

    def of_topic(self, topic: NDArray[np.integer]) -> Longs:
        return self.anywhere - 1 - self.topics + topic.astype(np.int64) % (self.topics + 1)


def _pools(
    plan: WebPlan,
    rng: np.random.Generator,
    sites: Sites,
    section: Ints,
    topic: NDArray[np.int16],
    is_front: Flags,
) -> _Pools:
    popularity = rng.random(plan.pages) * np.where(is_front, 0.3, 1.0)
    by_popularity = np.argsort(popularity).astype(np.int32)
    community = sites.community[section]
    communities = int(sites.community.max()) + 1
    everyone = by_popularity[np.argsort(community[by_popularity], kind="stable")]
    opened = by_popularity[~sites.is_hidden[section[by_popularity]]]
    pool_of = topic[opened].astype(np.int64) % (plan.topics + 1)
    by_topic = opened[np.argsort(pool_of, kind="stable")]
    sizes = np.concatenate(
        (
            np.bincount(community, minlength=communities),
            np.bincount(pool_of, minlength=plan.topics + 1),
            [len(opened)],
        )
    )
    return _Pools(
        pages=np.concatenate((everyone, by_topic, opened)),
        start=np.concatenate(([0], np.cumsum(sizes))),
        community_of=community,
        topics=plan.topics,
        anywhere=communities + plan.topics + 1,
    )


def _duplicates(
    plan: WebPlan, rng: np.random.Generator, sites: Sites, section: Ints, is_front: Flags, pools: _Pools
) -> tuple[Ints, NDArray[np.uint8]]:
    """Which page repeats which: an exact copy repeats a page of its section, a near copy one of its community."""
    original = np.arange(plan.pages, dtype=np.int32)
    copy = np.zeros(plan.pages, np.uint8)
    is_copy = (rng.random(plan.pages) < plan.duplicates) & ~is_front
    copies = np.flatnonzero(is_copy)
    first, after = sites.first_page[section[copies]], sites.first_page[section[copies] + 1]
    beside = first + (rng.random(len(copies)) * (after - first)).astype(np.int32)
    elsewhere = pools.draw(rng, pools.community_of[copies].astype(np.int64), 1.0)
    is_exact = rng.random(len(copies)) < 0.5
    source = np.where(is_exact, beside, elsewhere)
    is_usable = ~is_copy[source] & ~is_front[source]
    original[copies[is_usable]] = source[is_usable]
    copy[copies[is_usable]] = np.where(is_exact, EXACT, NEAR)[is_usable]
    return original, copy


def _structural_counts(sites: Sites, section: Ints, is_front: Flags) -> Ints:
    """Number of navigation and listing links of each page, as written by `_fill_structural`."""
    sections = np.diff(sites.first_section) - 1
    host = sites.host
    rank = np.arange(len(host)) - sites.first_section[host] - 1
    navigation = 1 + np.minimum(sections[host], NAVIGATION) + (rank >= NAVIGATION)
    navigation = np.where(sites.has_navigation[host], navigation, 0)
    children = np.clip(sections[host] - FANOUT * (rank + 1), 0, FANOUT)
    listing = children + np.diff(sites.first_page) - 1
    counts: Ints = (navigation[section] + np.where(is_front, listing[section], 0)).astype(np.int32)
    return counts


def _fill_structural(sites: Sites, section: Ints, is_front: Flags, pages: Ints, start: Longs, target: Ints) -> None:
    own = section[pages]
    host = sites.host[own]
    home = sites.first_section[host]
    rank = own - home - 1
    sections = sites.first_section[host + 1] - home - 1
    has_bar = sites.has_navigation[host]
    bar = np.where(has_bar, np.minimum(sections, NAVIGATION), 0)
    place = start[pages]
    target[place[has_bar]] = sites.first_page[home[has_bar]]
    place = place + has_bar
    target[gather(place, bar)] = sites.first_page[gather(home + 1, bar)]
    place = place + bar
    is_deep = has_bar & (rank >= NAVIGATION)
    target[place[is_deep]] = sites.first_page[own[is_deep]]
    place = place + is_deep

    fronts = np.flatnonzero(is_front[pages])
    place, own, home, rank = place[fronts], own[fronts], home[fronts], rank[fronts]
    children = np.clip(sections[fronts] - FANOUT * (rank + 1), 0, FANOUT)
    target[gather(place, children)] = sites.first_page[gather(home + 1 + FANOUT * (rank + 1), children)]
    first = sites.first_page[own]
    below = sites.first_page[own + 1] - first - 1
    target[gather(place + children, below)] = gather(first + 1, below)


def _draw(
    plan: WebPlan,
    rng: np.random.Generator,
    source: Ints,
    topic: NDArray[np.int16],
    is_hub: Flags,
    pools: _Pools,
) -> Ints:
    """A target for the content link of each source."""
    own = topic[source].astype(np.int64)
    locality = np.where(is_hub[source], max(HUB_LOCALITY, plan.locality), plan.locality)
    chance = rng.random(len(source))
    stays = chance < locality
    in_community = chance < locality * plan.cohesion
    neighbour = (own + rng.choice(np.array([-1, 1]), len(source))) % plan.topics
    goes_near = (rng.random(len(source)) < NEIGHBOUR_SHARE) & (own >= 0)
    pool = np.where(goes_near, pools.of_topic(neighbour), pools.anywhere)
    pool = np.where(stays, pools.of_topic(own), pool)
    pool = np.where(in_community, pools.community_of[source], pool)
    return pools.draw(rng, pool, plan.authority)


def _kept_on_host(
    plan: WebPlan, rng: np.random.Generator, source: Ints, target: Ints, sites: Sites, section: Ints
) -> Ints:
    """The targets, most of which are replaced by pages of the sources' hosts."""
    stays, is_near = rng.random(len(source)) < plan.host_locality, rng.random(len(source)) < NEAR_SHARE
    own = section[source]
    host = sites.host[own]
    low = sites.first_page[np.where(is_near, own, sites.first_section[host])]
    high = sites.first_page[np.where(is_near, own + 1, sites.first_section[host + 1])]
    drawn = (low + rng.random(len(source)) * (high - low)).astype(np.int32)
    return np.where(stays, drawn, target)


def _tunnels(
    plan: WebPlan,
    rng: np.random.Generator,
    sites: Sites,
    section: Ints,
    topic: NDArray[np.int16],
    copy: NDArray[np.uint8],
    pools: _Pools,
) -> tuple[Ints, Ints]:
    """Links (from, to) from a topic through off-topic pages into its hidden communities."""
    hidden = np.unique(sites.community[sites.is_hidden])
    community_topic = np.zeros(int(sites.community.max()) + 1, np.int64)
    community_topic[sites.community] = sites.topic
    size = (pools.start[1:] - pools.start[:-1])[hidden]
    behind = np.repeat(hidden, np.maximum(2, size // 25)).astype(np.int64)
    subject = community_topic[behind]
    is_closed = sites.is_disallowed[section] | (copy > 0)

    def draw(pool: Longs, wanted_topic: bool | None) -> Ints:
        """Pages that may be fetched, on or off the topic; -1 if none was drawn."""
        drawn = pools.draw(rng, pool, 1.0)
        for _ in range(TRIES):
            is_wrong = is_closed[drawn]
            if wanted_topic is not None:
                is_wrong = is_wrong | ((topic[drawn] == subject) != wanted_topic)
            if not is_wrong.any():
                return drawn
            drawn[is_wrong] = pools.draw(rng, pool[is_wrong], 1.0)
        return np.where(is_wrong, -1, drawn)

    anywhere = np.full(len(behind), pools.anywhere)
    length = rng.integers(1, plan.tunnel_depth + 1, len(behind))
    stations = [draw(pools.of_topic(subject), True)]
    for step in range(plan.tunnel_depth):
        stations.append(np.where(step < length, draw(anywhere, False), stations[-1]))
    stations.append(draw(behind, None))
    chain = np.array(stations)
    chain = chain[:, (chain >= 0).all(axis=0)]
    source, target = chain[:-1].ravel(), chain[1:].ravel()
    moves = source != target
    return source[moves], target[moves]
