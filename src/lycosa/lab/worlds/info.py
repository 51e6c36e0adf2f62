"""Statistics of a world: size, reachability, topical locality."""

from __future__ import annotations

from typing import Any

import numpy as np

from lycosa.lab.worlds.world import World

HUBS = 20
"""Reachability is measured from this many pages with the most out-links."""


def info(world: World) -> dict[str, Any]:
    """Values for a table or JSON. Reads the whole file; InputError if it is damaged."""
    world.verify()
    is_document = world.statuses < 300
    documents = int(is_document.sum())
    edges = world.graph
    out_degree = np.diff(edges.offsets)
    hubs = np.argsort(-out_degree, kind="stable")[:HUBS]
    is_reached = world.distances(hubs) >= 0
    has_no_in_link = np.diff(world.back_graph.offsets) == 0
    locality, base_rate = topical_locality(world)
    is_labelled = np.zeros(len(world), np.bool_)
    for topic in world.topics:
        is_labelled[world.pages_of(topic)] = True
    return {
        "pages": documents,
        "redirects": len(world) - documents,
        "edges": len(edges.pages),
        "edges_across_hosts": int((world.host_of[edges.sources] != world.host_of[edges.pages]).sum()),
        "links": len(world.link_urls),
        "dangling_links": int((world.link_targets < 0).sum()),
        "hosts": len(np.unique(world.host_of)),
        "terms": len(world.vocabulary),
        "labelled_pages": int(is_labelled.sum()),
        "topics": {topic: len(world.pages_of(topic)) for topic in world.topics},
        "pages_without_in_link": int((has_no_in_link & is_document).sum()),
        "reachability": float((is_reached & is_document).sum() / documents),
        "topical_locality": locality,
        "topical_base_rate": base_rate,
    }


def topical_locality(world: World) -> tuple[float, float]:
    """Of the edges that start on a page of a topic, the share that ends on a page of the same topic; and that share if
    edges ended on any page with equal probability. A page of two topics counts for both."""
    edges = world.graph
    out_degree = np.diff(edges.offsets)
    source = edges.sources
    starting, staying, expected = 0, 0, 0.0
    for topic in world.topics:
        is_member = np.zeros(len(world), np.bool_)
        is_member[world.pages_of(topic)] = True
        count = int(out_degree[is_member].sum())
        starting += count
        staying += int((is_member[source] & is_member[edges.pages]).sum())
        # a page has no edge to itself
        expected += count * (int(is_member.sum()) - 1) / max(1, int((world.statuses < 300).sum()) - 1)
    return (staying / starting, expected / starting) if starting else (0.0, 0.0)
