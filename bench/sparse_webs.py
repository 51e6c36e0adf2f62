"""Sparse webs: few links lead from host to host, and much of a topic lies behind pages about something else.

Two kinds. The generated ones have hundreds of hosts, of which only some have a navigation bar; nearly all content links
stay on their host, and half of each topic is reached only through pages off it. The recorded one, wikispeedia, has most
of its links taken out at random: what is left are chains of articles.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from lycosa.lab.generated.plan import WebPlan
from lycosa.lab.worlds.container import Container
from lycosa.lab.worlds.world import World
from lycosa.lab.worlds.writer import LINK_COLUMNS

PLANS = {
    "sparse": WebPlan(
        seed=5,
        pages=8_000,
        hosts=500,
        topics=10,
        out_degree=6,
        section_pages=8,
        general=0.6,
        topical_hosts=0.5,
        tunnelled=0.7,
        tunnel_depth=4,
        host_locality=0.985,
        navigation=0.3,
        sidebars=0.5,
    ),
    "sparse, another": WebPlan(
        seed=612,
        pages=9_000,
        hosts=800,
        topics=16,
        out_degree=7,
        section_pages=10,
        host_skew=0.7,
        general=0.55,
        topical_hosts=0.4,
        tunnelled=0.6,
        tunnel_depth=3,
        host_locality=0.98,
        navigation=0.5,
        sidebars=0.3,
    ),
    "sparse anew": WebPlan(
        seed=4099,
        pages=7_000,
        hosts=350,
        topics=24,
        out_degree=8,
        section_pages=12,
        general=0.5,
        tunnelled=0.5,
        tunnel_depth=2,
        host_locality=0.98,
        navigation=0.4,
        sidebars=0.7,
    ),
}
"""For development, for the test set, and for topics of made-up words."""
THINNED = "wikispeedia, thinned"
KEPT = 0.1
"""Share of links that are left in a thinned web."""


def thinned(path: Path, *, kept: float = KEPT, seed: int = 1) -> World:
    """The world of a file with this share of its links, drawn at random."""
    container = Container(path)
    arrays = container.arrays
    is_kept = np.random.default_rng(seed).random(len(arrays["link_urls"])) < kept
    before = np.concatenate([[0], np.cumsum(is_kept)])
    names = [*LINK_COLUMNS, "link_targets", "link_hashes"]
    fewer = {name: arrays[name][is_kept] for name in names}
    container.arrays = {**arrays, **fewer, "link_offsets": before[arrays["link_offsets"]]}
    return World(container)
