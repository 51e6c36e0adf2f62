"""A deterministic web with planted topics, whose true relevance is known.

    web = GeneratedWeb(WebPlan(seed=7, pages=20_000, hosts=400))
    topic = web.topic_names.index("cycling")
    seeds = web.seeds(topic, 3, rng)
    wanted = web.targets(topic, seeds)          # what a perfect crawl from these seeds would find
    web.render("http://velo-club.test:8000/")   # the response of a server

Pages are numbered from 0. The graph is held in memory (about 100 MB for a million pages with 20 links each); pages are
rendered on request, always to the same bytes. A page has one topic or none. A part of each topic can be reached only
through pages off the topic (see `graph`).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from urllib.parse import urlsplit

import numpy as np

from lycosa.lab.generated.addresses import WebAddresses
from lycosa.lab.generated.graph import WebGraph, build, distances
from lycosa.lab.generated.html import Writer, origin
from lycosa.lab.generated.plan import WebPlan
from lycosa.lab.generated.prose import Prose
from lycosa.lab.generated.sites import Flags, Ints
from lycosa.lab.generated.vocabulary import topics

__all__ = ["GeneratedWeb", "Rendered", "WebPlan"]

HTML = (("Content-Type", "text/html; charset=utf-8"),)
TEXT = (("Content-Type", "text/plain; charset=utf-8"),)
XML = (("Content-Type", "application/xml"),)


@dataclass(frozen=True, slots=True)
class Rendered:
    """A response, without the headers that the server adds."""

    status: int
    headers: tuple[tuple[str, str], ...]
    body: bytes


class GeneratedWeb:
    def __init__(self, plan: WebPlan | None = None) -> None:
        self.plan = plan = plan or WebPlan()
        self._topics = topics(plan.topics)
        self.graph: WebGraph = build(plan)
        prose = Prose(topics=self._topics, topicality=plan.topicality)
        self._addresses = WebAddresses(plan=plan, graph=self.graph, topics=self._topics, prose=prose)
        self._writer = Writer(plan=plan, graph=self.graph, addresses=self._addresses, prose=prose)
        self._is_open: Flags = ~self.graph.sites.is_disallowed[self.graph.section]

    def __len__(self) -> int:
        """Number of pages."""
        return self.plan.pages

    # ── the truth ─────────────────────────────────────────────────────────────────────────────────────────

    @property
    def topic_names(self) -> tuple[str, ...]:
        return tuple(topic.name for topic in self._topics)

    def topic_keywords(self, topic: int) -> str:
        """A phrase with which a person would describe the topic."""
        return self._topics[topic].keywords

    def topic_of(self, page: int) -> int:
        """The page's topic; -1: none."""
        return int(self.graph.topic[page])

    def original(self, page: int) -> int:
        """The page that this one repeats, or the page itself."""
        return int(self.graph.original[page])

    def is_allowed(self, page: int) -> bool:
        """Whether robots.txt allows it."""
        return bool(self._is_open[page])

    def is_hidden(self, page: int) -> bool:
        """Whether it is in a community that no other page of its topic links to."""
        return bool(self.graph.sites.is_hidden[self.graph.section[page]])

    def out_links(self, page: int) -> Ints:
        """The pages it links to, each once, in the order of the links, without itself."""
        targets = dict.fromkeys(self.graph.links(page).tolist())
        targets.pop(page, None)
        return np.fromiter(targets, np.int32, len(targets))

    def distances(self, seeds: Iterable[int]) -> Ints:
        """By page: links from the nearest seed over allowed pages; -1: it cannot be reached."""
        return distances(self.graph.start, self.graph.target, list(seeds), is_open=self._is_open)

    def targets(self, topic: int, seeds: Iterable[int] | None = None) -> set[int]:
        """The pages of a topic that can be found: allowed, and reachable from the seeds if these are given.

        A copy counts as its original: `web.original(page) in targets`.
        """
        is_found = self._is_open if seeds is None else self.distances(seeds) >= 0
        return set(self.graph.original[is_found & (self.graph.topic == topic)].tolist())

    def seeds(self, topic: int, n: int, rng: np.random.Generator) -> list[int]:
        """n pages of a topic to start from, in its largest open community, which leaves the others to be found.

        If that has fewer than n pages, more are taken from the other open communities.
        """
        graph, sites = self.graph, self.graph.sites
        is_usable = self._is_open & (graph.topic == topic) & (graph.copy == 0) & ~sites.is_hidden[graph.section]
        pages = rng.permutation(np.flatnonzero(is_usable))
        if not len(pages):
            raise ValueError(f"this web has no page about {self.topic_names[topic]}: raise the number of pages")
        community = sites.community[graph.section[pages]]
        size = np.bincount(community)
        by_size = np.lexsort((community, -size[community]))
        return [int(page) for page in pages[by_size][:n]]

    # ── URLs and responses ────────────────────────────────────────────────────────────────────────────────

    @property
    def hosts(self) -> tuple[str, ...]:
        """Largest first."""
        return tuple(self._addresses.hosts)

    def host_of(self, page: int) -> int:
        return int(self.graph.sites.host[self.graph.section[page]])

    def url(self, page: int, *, port: int = 80) -> str:
        place = self._addresses.places([page])[0]
        return origin(self._addresses.hosts[place.host], port) + place.path

    def page_of(self, url: str) -> int | None:
        """The page with this URL, whatever the port. None for others: robots.txt, redirects, dead links."""
        parts = urlsplit(url)
        return self._addresses.find(parts.hostname or "", _target(parts.path, parts.query))

    def render(self, url: str) -> Rendered:
        """The response of the host; links in it have the port of the URL."""
        parts = urlsplit(url)
        return self.answer(parts.hostname or "", _target(parts.path, parts.query), port=parts.port or 80)

    def answer(self, host: str, target: str, *, port: int) -> Rendered:
        """The response of a host to a request for a path and query."""
        number = self._addresses.number_of_host.get(host)
        if number is None:
            return Rendered(421, TEXT, b"no such host here\n")
        page = self._addresses.find(host, target)
        if page is not None:
            return Rendered(200, HTML, self._writer.page(page, port=port))
        if target == "/robots.txt":
            return Rendered(200, TEXT, self._writer.robots(number, port=port))
        if target == "/sitemap.xml" and self._writer.has_sitemap(number):
            return Rendered(200, XML, self._writer.sitemap(number, port=port))
        moved = self._addresses.find_moved(host, target)
        if moved is not None:
            return Rendered(301, (*HTML, ("Location", self.url(moved, port=port))), b"<p>Moved.</p>\n")
        return Rendered(404, HTML, b"<!DOCTYPE html><title>Not found</title><p>Nothing here.</p>\n")


def _target(path: str, query: str) -> str:
    return f"{path or '/'}?{query}" if query else path or "/"
