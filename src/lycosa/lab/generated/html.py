"""The HTML of a generated web's pages, and its hosts' robots.txt and sitemap.xml.

A page depends only on its number and the seed. It has a navigation bar, a heading, on index pages a list of the pages
below, paragraphs with links in sentences, a "See also" list with the other links, and a footer. On some hosts (the
plan's `sidebars`) most links to other topics are in a box instead, before the text or behind it.
"""

from __future__ import annotations

import random
from typing import NamedTuple

import numpy as np

from lycosa.lab.generated.addresses import WebAddresses
from lycosa.lab.generated.graph import EXACT, WebGraph
from lycosa.lab.generated.plan import WebPlan
from lycosa.lab.generated.prose import Prose, mixed

BODY, FOOTER, BOX, BOXED = 11, 12, 13, 14
"""Salts of hashes, by purpose."""
SENTENCES = 4
"""Sentences of a paragraph."""
SHORTEST, LONGEST = 7, 16
"""Words of a sentence."""
LINKS_IN_PARAGRAPH = 2
LINK_WORDS = 8
"""Words around a link."""
VAGUE_ANCHORS = ("click here", "more", "read on", "this page", "here", "link", "see this", "continue")
BOXES = ("sidebar", "links", "more", "box", "partners", "elsewhere", "col-right", "widget popular")
"""Classes of the boxes with links to other topics."""
BOXED_OTHERS, BOXED_OWN = 80, 10
"""Percentages of links in such a box: of those to other topics, and of those to the page's own."""
SITEMAP_LIMIT = 5_000


class _Anchor(NamedTuple):
    href: str
    text: str
    hint: str
    """A word of the target's topic, for the sentence around the link."""
    topic: int
    """Of the target."""


class Writer:
    def __init__(self, *, plan: WebPlan, graph: WebGraph, addresses: WebAddresses, prose: Prose) -> None:
        self._plan = plan
        self._graph = graph
        self._addresses = addresses
        self._prose = prose

    def page(self, page: int, *, port: int) -> bytes:
        graph = self._graph
        source = int(graph.original[page])
        if graph.copy[page] == EXACT:
            page = source
        topic = int(graph.topic[source])
        rng = random.Random(mixed(self._plan.seed, BODY, source))
        host = int(graph.sites.host[graph.section[page]])
        drawn = graph.links(source)[graph.structural[source] :].tolist()
        anchors = self._anchors(drawn, host=host, port=port, rng=rng)
        title = self._addresses.places([source])[0].title
        parts = [
            f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>{title}</title>'
            f'<meta name="viewport" content="width=device-width"></head>\n<body>',
            self._frame(page, host),
            f"<main><h1>{title}</h1>",
        ]
        parts += self._listing(page)
        in_text, boxed = self._divided(source, host, topic, anchors)
        box = self._box(host, boxed)
        is_first = mixed(self._plan.seed, BOX, host) & 1
        parts += [*(box if is_first else ()), *self._body(topic, in_text, rng), *(() if is_first else box)]
        parts.append(f"</main>\n<footer><p>{self._footer(page, host)}</p></footer></body></html>\n")
        return "\n".join(parts).encode()

    def _frame(self, page: int, host: int) -> str:
        """The navigation bar: links within the host, labelled with their sections."""
        targets = self._graph.links(page)[: self._graph.navigation(page)].tolist()
        items = []
        if not targets:
            return f'<header><p class="site">{self._label(host)}</p></header>'
        for _, path, _ in self._addresses.places(targets):
            name = path.strip("/").partition("-")[0] or "home"
            items.append(f'<li><a href="{path}">{name.capitalize()}</a></li>')
        return f'<header><p class="site">{self._label(host)}</p><nav><ul>{"".join(items)}</ul></nav></header>'

    def _label(self, host: int) -> str:
        return self._addresses.hosts[host].removesuffix(".test").replace("-", " ").title()

    def _listing(self, page: int) -> list[str]:
        """The list of pages below a home or index page; empty on others."""
        targets = self._graph.links(page)[self._graph.navigation(page) : self._graph.structural[page]]
        if not len(targets):
            return []
        places = self._addresses.places(targets.tolist())
        items = [f'<li><a href="{path}">{title}</a></li>' for _, path, title in places]
        return [f'<ul class="index">{"".join(items)}</ul>']

    def _anchors(self, targets: list[int], *, host: int, port: int, rng: random.Random) -> list[_Anchor]:
        """The content links: some with vague text, some through a redirect, some followed by a dead one."""
        plan, addresses = self._plan, self._addresses
        topics = self._graph.topic[targets].tolist()
        anchors = []
        for target, topic, (target_host, path, text) in zip(targets, topics, addresses.places(targets), strict=True):
            site = "" if target_host == host else origin(addresses.hosts[target_host], port)
            hint = self._prose.topic_word(topic, rng.getrandbits(12))
            chance = rng.random()
            if chance < plan.vague_anchors:
                text = VAGUE_ANCHORS[rng.getrandbits(3)]
            elif chance > 0.8:
                text = f"{hint} {self._prose.topic_word(topic, rng.getrandbits(12))}"
            if rng.random() < plan.redirects:
                path = addresses.moved(target, target_host)
            anchors.append(_Anchor(href=site + path, text=text, hint=hint, topic=topic))
            if rng.random() < plan.dead_links:
                dead = f"{site}/old/{hint}-{rng.getrandbits(16)}.html"
                anchors.append(_Anchor(href=dead, text=text, hint=hint, topic=topic))
        return anchors

    def _divided(
        self, source: int, host: int, topic: int, anchors: list[_Anchor]
    ) -> tuple[list[_Anchor], list[_Anchor]]:
        """The links that stand in the text, and those in the host's box, if it has one."""
        if mixed(self._plan.seed, BOX, host) % 1000 >= self._plan.sidebars * 1000:
            return anchors, []
        parts: tuple[list[_Anchor], list[_Anchor]] = ([], [])
        for at, anchor in enumerate(anchors):
            share = BOXED_OWN if anchor.topic == topic else BOXED_OTHERS
            parts[mixed(self._plan.seed, BOXED, source, at) % 100 < share].append(anchor)
        return parts

    def _box(self, host: int, anchors: list[_Anchor]) -> list[str]:
        if not anchors:
            return []
        name = BOXES[mixed(self._plan.seed, BOX, host, 1) % len(BOXES)]
        items = [f'<li><a href="{anchor.href}">{anchor.text}</a></li>' for anchor in anchors]
        return [f'<div class="{name}"><ul>{"".join(items)}</ul></div>']

    def _body(self, topic: int, anchors: list[_Anchor], rng: random.Random) -> list[str]:
        count = self._plan.paragraphs
        words = self._prose.words(topic, count * (SENTENCES * LONGEST + 3) + len(anchors) * LINK_WORDS, rng)
        place = 0

        def take(number: int) -> str:
            nonlocal place
            place += number
            return " ".join(words[place - number : place])

        waiting = iter(anchors[: count * LINKS_IN_PARAGRAPH])
        parts = []
        for number in range(count):
            if number % 2 == 0:
                parts.append(f"<h2>{take(3).capitalize()}</h2>")
            lengths = [SHORTEST + byte % (LONGEST - SHORTEST + 1) for byte in rng.randbytes(SENTENCES)]
            sentences = [take(length).capitalize() + "." for length in lengths]
            for anchor in (next(waiting, None), next(waiting, None)):
                if anchor:
                    link = f'<a href="{anchor.href}">{anchor.text}</a>'
                    sentence = f"{take(3).capitalize()} {anchor.hint} {link} {take(LINK_WORDS - 3)}."
                    sentences.insert(rng.getrandbits(2) + 1, sentence)
            parts.append(f"<p>{' '.join(sentences)}</p>")
        rest = anchors[count * LINKS_IN_PARAGRAPH :]
        if rest:
            items = [f'<li><a href="{each.href}">{each.text}</a> {take(LINK_WORDS - 2)}</li>' for each in rest]
            parts.append(f'<h2>See also</h2>\n<ul class="related">{"".join(items)}</ul>')
        return parts

    def _footer(self, page: int, host: int) -> str:
        """Words that differ from page to page: with the site's name, the only difference of a near copy."""
        rng = random.Random(mixed(self._plan.seed, FOOTER, page))
        return f"{self._addresses.hosts[host]}: {' '.join(self._prose.words(-1, 10, rng))}"

    def robots(self, host: int, *, port: int) -> bytes:
        sites = self._graph.sites
        lines = ["User-agent: *"]
        low, high = int(sites.first_section[host]), int(sites.first_section[host + 1])
        closed = np.flatnonzero(sites.is_disallowed[low:high]) + low
        for _, path, _ in self._addresses.places(sites.first_page[closed].tolist()):
            lines.append(f"Disallow: {path}")
        if host == self._plan.hosts - 1 and self._plan.crawl_delay:  # hosts are sorted by size
            lines.append(f"Crawl-delay: {self._plan.crawl_delay:g}")
        if self.has_sitemap(host):
            lines.append(f"Sitemap: {origin(self._addresses.hosts[host], port)}/sitemap.xml")
        return ("\n".join(lines) + "\n").encode()

    def has_sitemap(self, host: int) -> bool:
        return mixed(self._plan.seed, host) % 1000 < self._plan.sitemaps * 1000

    def sitemap(self, host: int, *, port: int) -> bytes:
        """The host's pages that are allowed and not copies, at most SITEMAP_LIMIT."""
        graph, sites = self._graph, self._graph.sites
        low, high = (int(sites.first_page[sites.first_section[host + step]]) for step in (0, 1))
        is_listed = ~sites.is_disallowed[graph.section[low:high]] & (graph.copy[low:high] == 0)
        pages = (np.flatnonzero(is_listed)[:SITEMAP_LIMIT] + low).tolist()
        site = origin(self._addresses.hosts[host], port)
        rows = "".join(f"<url><loc>{site}{path}</loc></url>\n" for _, path, _ in self._addresses.places(pages))
        namespace = "http://www.sitemaps.org/schemas/sitemap/0.9"
        return f'<?xml version="1.0" encoding="UTF-8"?>\n<urlset xmlns="{namespace}">\n{rows}</urlset>\n'.encode()


def origin(host: str, port: int) -> str:
    return f"http://{host}" if port == 80 else f"http://{host}:{port}"
