"""The settings of a generated web. The same plan gives the same web."""

from __future__ import annotations

from dataclasses import dataclass, fields

from lycosa.errors import ConfigError


@dataclass(frozen=True, slots=True)
class WebPlan:
    """Shares and probabilities are in [0, 1]."""

    seed: int = 1
    pages: int = 2_000
    """Pages with status 200 and HTML, including duplicates."""
    hosts: int = 40
    topics: int = 8
    """At least 2: tunnels lead through other topics."""
    out_degree: int = 20
    """Mean number of links on a page, including navigation."""
    paragraphs: int = 6
    """Paragraphs of about 45 words; with the defaults a page has 2–6 KB. 100, with an out_degree of 120, gives about
    40 KB."""

    general: float = 0.4
    """Share of pages about no topic."""
    strays: float = 0.1
    """Share of pages in a topic's directory that are about no topic."""
    host_skew: float = 0.9
    """Zipf exponent of host sizes."""
    topical_hosts: float = 0.6
    """Share of the smaller hosts that have a single topic."""
    section_pages: int = 20
    """Mean number of pages in a directory."""
    community_pages: int = 50
    """Mean number of pages in a community: a part of a topic that links to itself."""

    locality: float = 0.7
    """Probability that a content link stays on its page's topic."""
    cohesion: float = 0.6
    """Share of these links that also stay in the community."""
    authority: float = 2.0
    """Skew of in-degrees: a link goes to the page at the share u**authority of its pool, u uniform."""
    hubs: float = 0.02
    """Share of pages that are hubs: four times the links, nine in ten on the topic."""
    tunnelled: float = 0.4
    """Share of each topic's pages in communities that no other page of the topic links to."""
    tunnel_depth: int = 3
    """Those are reached through 1 to tunnel_depth off-topic pages in a row."""
    host_locality: float = 0.0
    """Share of content links that stay on their page's host, half of them in its directory, whatever the topic. Near 1
    the web is sparse: hosts are islands with few links between them."""
    navigation: float = 1.0
    """Share of hosts with a navigation bar. On the others nothing leads from a page to its index or the home page."""
    sidebars: float = 0.0
    """Share of hosts that keep links to other topics in a box of its own, most of them, under a class of the host's
    choice."""

    duplicates: float = 0.05
    """Share of pages that repeat another one: half are exact copies on the same host, half near copies."""
    dead_links: float = 0.03
    """Number of links to missing pages (404) per content link."""
    redirects: float = 0.03
    """Share of content links that go through a 301."""
    vague_anchors: float = 0.15
    """Share of content links with text such as "click here"."""
    topicality: float = 0.35
    """Mean share of topic words in a page's text; it varies by half of that from page to page."""

    disallowing_hosts: float = 0.1
    """Share of hosts whose robots.txt disallows one of their directories."""
    crawl_delay: float = 1.0
    """Crawl delay in seconds in the robots.txt of the smallest host; 0: none."""
    sitemaps: float = 0.5
    """Share of hosts with a sitemap."""

    def __post_init__(self) -> None:
        for name, least in (("hosts", 1), ("topics", 2), ("out_degree", 1), ("paragraphs", 1)):
            self._require(name, getattr(self, name) >= least, f"at least {least}")
        for name in ("section_pages", "community_pages", "tunnel_depth"):
            self._require(name, getattr(self, name) >= 1, "at least 1")
        self._require("pages", self.hosts <= self.pages < 2**31, "at least one per host, below 2**31")
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
