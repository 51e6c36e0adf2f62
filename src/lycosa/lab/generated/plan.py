"""The settings of a generated web. A plan decides everything: same plan, same web."""

from __future__ import annotations

from dataclasses import dataclass, fields

from lycosa.errors import ConfigError


@dataclass(frozen=True, slots=True)
class WebPlan:
    """What a generated web is like. Shares and probabilities are in [0, 1]."""

    seed: int = 1
    pages: int = 2_000
    """Pages that answer 200 with HTML, duplicates included."""
    hosts: int = 40
    topics: int = 8
    """At least 2: tunnels lead through other topics."""
    out_degree: int = 20
    """Mean number of links on a page, navigation included."""
    paragraphs: int = 6
    """Of about 45 words each; with the defaults a page has 2–6 KB. 100, with an out_degree of 120, makes about
    40 KB."""

    general: float = 0.4
    """Share of pages about no topic."""
    strays: float = 0.1
    """Share of pages in a topic's directory that are about no topic all the same."""
    host_skew: float = 0.9
    """Zipf exponent of host sizes."""
    topical_hosts: float = 0.6
    """Share of the smaller hosts that keep to one topic."""
    section_pages: int = 20
    """Mean pages in a directory."""
    community_pages: int = 50
    """Mean pages in a community: a part of a topic that links to itself."""

    locality: float = 0.7
    """Probability that a content link stays on its page's topic."""
    cohesion: float = 0.6
    """Of the links that do, the share that stays in the community too."""
    authority: float = 2.0
    """Skew of in-degrees: a link goes to the page at the share u**authority of its pool, u uniform."""
    hubs: float = 0.02
    """Share of pages that are hubs: four times the links, nine in ten on the topic."""
    tunnelled: float = 0.4
    """Share of each topic's pages in communities no page of the topic links to from outside."""
    tunnel_depth: int = 3
    """Those are reached through 1 to tunnel_depth off-topic pages in a row."""

    duplicates: float = 0.05
    """Share of pages that repeat another one: half exactly on the same host, half nearly."""
    dead_links: float = 0.03
    """Links that answer 404, for each content link."""
    redirects: float = 0.03
    """Share of content links that go through a 301."""
    vague_anchors: float = 0.15
    """Share of content links whose text says nothing: "click here"."""
    topicality: float = 0.35
    """Mean share of topic words in a page's text; it varies from page to page by half of that."""

    disallowing_hosts: float = 0.1
    """Share of hosts whose robots.txt closes one of their directories."""
    crawl_delay: float = 1.0
    """Seconds the smallest host asks for in its robots.txt; 0 for none."""
    sitemaps: float = 0.5
    """Share of hosts with a sitemap."""

    def __post_init__(self) -> None:
        for name, least in (("hosts", 1), ("topics", 2), ("out_degree", 1), ("paragraphs", 1)):
            self._require(name, getattr(self, name) >= least, f"at least {least}")
        for name in ("section_pages", "community_pages", "tunnel_depth"):
            self._require(name, getattr(self, name) >= 1, "at least 1")
        self._require("pages", self.hosts <= self.pages < 2**31, "at least one for each host, below 2**31")
        self._require("authority", self.authority >= 1, "at least 1")
        self._require("host_skew", self.host_skew >= 0, "at least 0")
        self._require("crawl_delay", self.crawl_delay >= 0, "at least 0")
        unbounded = {"authority", "host_skew", "crawl_delay"}
        for field in fields(self):
            if field.type == "float" and field.name not in unbounded:
                self._require(field.name, 0 <= getattr(self, field.name) <= 1, "between 0 and 1")

    def _require(self, name: str, is_met: bool, rule: str) -> None:
        if not is_met:
            raise ConfigError(f"{name} = {getattr(self, name)!r} in the plan of a generated web: must be {rule}")
