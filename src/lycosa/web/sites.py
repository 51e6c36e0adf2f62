"""Hubs and authorities, sites by density, link distances, the graph of the relevant pages, who cites whom."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from pydantic import Field

from lycosa.judges.taxonomy import is_at_or_below
from lycosa.topics.suggest import JudgedPage, neighbouring_topics
from lycosa.web.endpoints import Call, Endpoint, Input
from lycosa.web.processes import command_output

DISTIL_WITHIN = 300.0
"""Seconds; a million pages take about one."""
MOST_EDGES = 3_000
LATEST = 20_000
"""Number of pages whose links are counted: the latest ones."""
MOST_CITED = 14
"""Number of topics or sites in the matrix."""


class Top(Input):
    count: int = Field(100, ge=1, le=1_000)


class Distilled(Input):
    top: int = Field(25, ge=1, le=200)
    within_sites: bool = Field(False, description="Count links within a site, too.")


def sites(call: Call) -> dict[str, Any]:
    with call.crawl.store() as store:
        rows = [site._asdict() for site, _ in zip(store.sites(), range(call.query.count), strict=False)]
        distances = store.distances()
    return {
        "sites": rows,
        "distances": [{"distance": far, "pages": pages, "relevant": relevant} for far, pages, relevant in distances],
    }


def hubs(call: Call) -> dict[str, Any]:
    """In a process of its own: the link graph of a large crawl takes memory. The links among them are for a picture."""
    query: Distilled = call.query
    words = ["distill", "--json", "--top", str(query.top), *(["--within-sites"] if query.within_sites else [])]
    directory = str(call.crawl.workspace.directory)
    found = json.loads(command_output(*words, "--", directory, seconds=DISTIL_WITHIN))
    with call.crawl.store() as store:
        pages = {row["link"] for row in (*found["hubs"], *found["authorities"])}
        edges = store.edges_among(json.dumps(sorted(pages)), MOST_EDGES)
        for row in (*found["hubs"], *found["authorities"]):
            page = store.page(row["link"])
            row["number"] = page.number if page else None
    return {**found, "links": [{"source": source, "target": target} for source, target in edges]}


def neighbours(call: Call) -> dict[str, Any]:
    """Topics that relevant pages link to, where the judge knows topics; and whether to widen the focus."""
    config = call.crawl.config()
    if not config.topics:
        return {"pages": 0, "focus": 0.0, "neighbours": [], "advice": []}
    with call.crawl.store() as store:
        pages = (JudgedPage(json.loads(page.scores), page.citing) for page in store.topic_scores())
        found = neighbouring_topics(pages, list(config.topics))
    return {
        "pages": found.pages,
        "focus": found.focus,
        "neighbours": [each._asdict() for each in found.neighbours],
        "advice": [each._asdict() for each in found.advice],
    }


def citations(call: Call) -> dict[str, Any]:
    """Who links to whom: topics where the judge knows them, the focus first; otherwise sites of relevant pages."""
    good = call.crawl.config().topics
    with call.crawl.store() as store:
        found = store.topic_citations(LATEST)
        kind = "topics" if found else "sites"
        found = found or store.site_citations(LATEST)
    return {"kind": kind, "latest": LATEST, **matrix(found, good)}


def matrix(links: Iterable[tuple[str, str, int]], good: Sequence[str]) -> dict[str, Any]:
    """The names with most links, those of the focus first, and how many links lead from each to each."""
    rows = list(links)
    weight: Counter[str] = Counter()
    for source, target, count in rows:
        weight.update({source: count, target: count} if source != target else {source: count})
    near = [name for name in weight if any(is_at_or_below(name, topic) for topic in good)]
    order = [*sorted(near, key=lambda name: (-weight[name], name)), *(name for name, _ in weight.most_common())]
    names = list(dict.fromkeys(order))[:MOST_CITED]
    place = {name: number for number, name in enumerate(names)}
    counts = [[0] * len(names) for _ in names]
    outside = 0
    for source, target, count in rows:
        if source in place and target in place:
            counts[place[source]][place[target]] = count
        else:
            outside += count
    is_good = [name in near for name in names]
    return {"names": names, "is_good": is_good, "counts": counts, "outside": outside}


ENDPOINTS = (
    Endpoint(
        "GET", "/api/crawls/{crawl}/sites", "Sites by relevant pages; pages by distance.", sites, Top, tag="sites"
    ),
    Endpoint(
        "GET", "/api/crawls/{crawl}/hubs", "Hubs and authorities, and links among them.", hubs, Distilled, tag="sites"
    ),
    Endpoint("GET", "/api/crawls/{crawl}/citations", "Which topics, or sites, link to which.", citations, tag="sites"),
    Endpoint("GET", "/api/crawls/{crawl}/neighbours", "Topics near the focus.", neighbours, tag="sites"),
)
