"""The names of hosts and the URLs of pages in a generated web, and the way back from a URL to its page.

    /                            home page of a host
    /touring-3/                  index of its fourth section
    /touring-3/wheel-hub-17.html page 17 of that section (hosts differ in how they spell this)
    /go/1234                     moved: redirects to page 1234 of the host

URLs are not stored: each follows from the page's number. To find a page, the numbers are read out of the URL and
the page's own URL is rebuilt; only if both are equal is it that page.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from lycosa.lab.generated.graph import WebGraph
from lycosa.lab.generated.plan import WebPlan
from lycosa.lab.generated.prose import Prose, mixed
from lycosa.lab.generated.sites import Sites
from lycosa.lab.generated.vocabulary import NEUTRAL_NAMES, SITE_NOUNS, TopicVocabulary

TELLING_HOSTS = 60
"""Of a hundred hosts that keep to a topic, those whose names tell it."""
SPELLINGS = ("/{directory}/{slug}-{number}.html", "/{directory}/{slug}-{number}", "/{directory}/view?id={number}")
MOVED = "/go/"
DIGITS = 9
"""More than a page number ever has."""
SUBJECT, NAME, SECTION, SPELLING = range(1, 5)
"""Salts: what a hash is for."""


def host_names(plan: WebPlan, sites: Sites, topics: tuple[TopicVocabulary, ...]) -> list[str]:
    """A name for each host, all different."""
    names: dict[str, None] = {}
    for host, topic in enumerate(sites.host_topic.tolist()):
        chance = mixed(plan.seed, NAME, host)
        if topic >= 0 and chance % 100 < TELLING_HOSTS:
            first = topics[topic].words[(chance >> 8) % 20]
        else:
            first = NEUTRAL_NAMES[(chance >> 8) % len(NEUTRAL_NAMES)]
        stem = name = f"{first}-{SITE_NOUNS[(chance >> 24) % len(SITE_NOUNS)]}"
        number = 2
        while f"{name}.test" in names:
            name = f"{stem}-{number}"
            number += 1
        names[f"{name}.test"] = None
    return list(names)


class PageAddress(NamedTuple):
    """Where a page is, and what it is called."""

    host: int
    path: str
    """With its query."""
    title: str


class WebAddresses:
    """Page numbers to URLs and back."""

    def __init__(self, *, plan: WebPlan, graph: WebGraph, topics: tuple[TopicVocabulary, ...], prose: Prose) -> None:
        self._seed = plan.seed
        self._graph = graph
        self._prose = prose
        self.hosts = host_names(plan, graph.sites, topics)
        self.number_of_host = {name: number for number, name in enumerate(self.hosts)}
        self._spellings = [SPELLINGS[mixed(plan.seed, SPELLING, host) % len(SPELLINGS)] for host in range(plan.hosts)]
        self._directory = lru_cache(maxsize=1 << 16)(self._name_directory)

    def _name_directory(self, section: int, rank: int, topic: int) -> str:
        """The name of a section; half of them tell their topic."""
        chance = mixed(self._seed, SECTION, section)
        word = self._prose.topic_word(topic if chance & 1 else -1, chance >> 1)
        return f"{word}-{rank}" if rank else word

    def places(self, pages: list[int]) -> list[PageAddress]:
        graph, sites = self._graph, self._graph.sites
        numbers = np.array(pages, np.int64)
        section = graph.section[numbers]
        host = sites.host[section]
        rows = zip(
            pages,
            graph.original[numbers].tolist(),
            section.tolist(),
            host.tolist(),
            (section - sites.first_section[host] - 1).tolist(),
            (numbers - sites.first_page[section]).tolist(),
            graph.topic[numbers].tolist(),
            sites.topic[section].tolist(),
            strict=True,
        )
        return [self._place(*row) for row in rows]

    def _place(
        self,
        page: int,
        original: int,
        section: int,
        host: int,
        rank: int,
        offset: int,
        topic: int,
        section_topic: int,
    ) -> PageAddress:
        subject = self._prose.subject(topic, mixed(self._seed, SUBJECT, page))
        if rank < 0:
            path = "/"
        elif offset == 0:
            path = f"/{self._directory(section, rank, section_topic)}/"
        else:
            path = self._spellings[host].format(
                directory=self._directory(section, rank, section_topic),
                slug=f"{subject[0]}-{subject[1]}",
                number=offset,
            )
        if original != page:
            subject = self._prose.subject(topic, mixed(self._seed, SUBJECT, original))
        return PageAddress(host, path, " ".join(subject).capitalize())

    def find(self, host: str, target: str) -> int | None:
        """The page that a host has under a path and query, None if there is none."""
        number = self.number_of_host.get(host)
        if number is None:
            return None
        sites = self._graph.sites
        first = int(sites.first_section[number])
        if target == "/":
            return int(sites.first_page[first])
        _, _, inner = target.partition("/")
        directory, _, leaf = inner.partition("/")
        section = first + 1 + (_last_number(directory) or 0)
        if not directory or section >= sites.first_section[number + 1]:
            return None
        offset = _last_number(leaf.removesuffix(".html")) if leaf else 0
        if offset is None or offset >= sites.first_page[section + 1] - sites.first_page[section]:
            return None
        page = int(sites.first_page[section]) + offset
        return page if self.places([page])[0].path == target else None

    def find_moved(self, host: str, target: str) -> int | None:
        """The page that a path of the form /go/<number> redirects to."""
        number = self.number_of_host.get(host)
        rest = target.removeprefix(MOVED)
        if number is None or rest == target or not _is_number(rest):
            return None
        sites = self._graph.sites
        first, after = (int(sites.first_page[sites.first_section[number + step]]) for step in (0, 1))
        return first + int(rest) if int(rest) < after - first else None

    def moved(self, page: int, host: int) -> str:
        """The path that redirects to a page."""
        sites = self._graph.sites
        return f"{MOVED}{page - int(sites.first_page[sites.first_section[host]])}"


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdecimal() and len(text) <= DIGITS


def _last_number(text: str) -> int | None:
    """The number behind the last `-` or `=`."""
    tail = text[max(text.rfind("-"), text.rfind("=")) + 1 :]
    return int(tail) if _is_number(tail) else None
