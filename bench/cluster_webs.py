"""What bench/cluster.py crawls: webs on loopback whose relevant pages are known.

    generated      new webs of the generator; what each page is about is part of the plan
    recorded       pages of the recorded worlds, labelled by people: articles of an encyclopedia, software manuals

A recorded world has one domain, and so would be one shard's business alone. Its pages are served under many domains:
each host of manuals becomes a domain; articles are dealt out to domains by a hash of their path, which is the hardest
case for a cluster, as links between articles then lead anywhere. Links to pages that were not recorded are taken out.
Start pages of a recorded topic count as examples of it: its name ("cloud", "prog_languages") is not in its pages, and a
judge that has nothing but the name finds none of them relevant.

Seeds of generators, topics and start pages are drawn by numbers that were settled before any of them was crawled.
"""

from __future__ import annotations

import csv
import random
import re
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urljoin, urlsplit
from zlib import crc32

import numpy as np
from fastwarc.warc import ArchiveIterator, WarcRecordType

from lycosa.lab.generated.server import served
from lycosa.lab.generated.web import GeneratedWeb, WebPlan
from lycosa.lab.replay.tasks import keywords
from sites import ARTICLES, RECORDED, free_port, recorded_world, write_page
from webserver import serving

FIRST_SEED = 7_100
"""Of the generator; 40 to 42 were looked at while the cluster was made."""
TOPIC_SEED = 2_026
SEEDS = {"generated": 3, "recorded": 5}
ADDRESSES = 200
DOMAINS = 60
"""Over which the articles of the encyclopedia are spread."""
LEAST_PAGES = {ARTICLES: 60, RECORDED: 300}
"""Of a topic: there has to be something to find."""

_HREF = re.compile(rb"""(href\s{0,9}=\s{0,9}["'])([^"'<>]{1,2000})""", re.IGNORECASE)


class Task(NamedTuple):
    """One crawl to make, by however many crawlers."""

    name: str
    topic: str
    """In words, as a person would put it."""
    seeds: tuple[str, ...]
    addresses: dict[str, str]
    """By host: what name resolution would say."""
    is_relevant: Callable[[str], bool]
    """By URL: the truth."""
    seeds_are_examples: str = "auto"
    """As judge.seeds_are_examples."""


@contextmanager
def generated(number: int, pages: int) -> Iterator[list[Task]]:
    plan = WebPlan(seed=FIRST_SEED + number, pages=pages, hosts=200, topics=6)
    web = GeneratedWeb(plan)

    def is_relevant(url: str) -> bool:
        page = web.page_of(url)
        return page is not None and web.topic_of(page) == 0

    with served(plan, addresses=ADDRESSES) as at:
        seeds = web.seeds(0, SEEDS["generated"], np.random.default_rng(1))
        urls = tuple(web.url(page, port=at.port) for page in seeds)
        yield [Task(f"web {number}", web.topic_keywords(0), urls, dict(at.overrides), is_relevant)]


@contextmanager
def recorded(world: str, first: int, topics: int) -> Iterator[list[Task]]:
    """One task for each of some topics, from the first on."""
    archive = recorded_world(world)
    assert archive is not None, "the recorded world is not there; see sites.available"
    port = free_port()
    bodies, place = _pages(archive)
    with tempfile.TemporaryDirectory(prefix="cluster-web") as name:
        root = Path(name) / "files"
        for url, body in bodies.items():
            write_page(root / place(url), urlsplit(url).path, _with_moved_links(url, body, bodies, place, port))
        hosts = sorted({place(url) for url in bodies})
        addresses = {host: f"127.0.0.{number % ADDRESSES + 1}" for number, host in enumerate(hosts)}
        moved = {url: _moved_url(url, place, port) for url in bodies}
        used = len(set(addresses.values()))
        with serving(root, port, Path(name), label="cluster", nginx=None, addresses=used):
            yield [
                _task(world, topic, pages, moved, addresses) for topic, pages in _topics(world, archive, first, topics)
            ]


def _task(world: str, topic: str, pages: list[str], moved: dict[str, str], addresses: dict[str, str]) -> Task:
    seeds = random.Random(f"{TOPIC_SEED} {topic}").sample(pages, SEEDS["recorded"])
    relevant = {moved[url] for url in pages}
    return Task(
        f"{world}, {topic}",
        keywords(topic),
        tuple(moved[url] for url in seeds),
        addresses,
        relevant.__contains__,
        seeds_are_examples="yes",
    )


def _pages(archive: Path) -> tuple[dict[str, bytes], Callable[[str], str]]:
    """By URL, the recorded pages; and the domain at which each is served."""
    bodies = {}
    with archive.open("rb") as stream:
        for record in ArchiveIterator(stream, record_types=WarcRecordType.response, parse_http=True):
            if record.http_headers.status_code == 200:
                bodies[record.headers["WARC-Target-URI"]] = record.reader.read()
    has_hosts = len({urlsplit(url).netloc for url in bodies}) > 1

    def place(url: str) -> str:
        parts = urlsplit(url)
        if has_hosts:
            return f"{parts.netloc.partition('.')[0]}-docs.test"
        return f"articles-{crc32(parts.path.encode()) % DOMAINS}.test"

    return bodies, place


def _moved_url(url: str, place: Callable[[str], str], port: int) -> str:
    return f"http://{place(url)}:{port}{urlsplit(url).path}"


def _with_moved_links(
    base: str, body: bytes, bodies: dict[str, bytes], place: Callable[[str], str], port: int
) -> bytes:
    def href(match: re.Match[bytes]) -> bytes:
        try:
            url, _, fragment = urljoin(base, match[2].decode("utf-8", "replace")).partition("#")
        except ValueError:
            url, fragment = base, ""
        target = f"#{fragment}" if url == base or url not in bodies else _moved_url(url, place, port)
        return bytes(match[1]) + target.encode()

    return _HREF.sub(href, body)


def _topics(world: str, archive: Path, first: int, count: int) -> list[tuple[str, list[str]]]:
    """Some topics, drawn once and for all, with the URLs of their pages."""
    pages: dict[str, list[str]] = defaultdict(list)
    with (archive.parent / "labels.tsv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file, delimiter="\t"):
            pages[row["topic"]].append(row["url"])
    large = sorted(topic for topic, urls in pages.items() if len(urls) >= LEAST_PAGES[world])
    random.Random(TOPIC_SEED).shuffle(large)
    return [(topic, pages[topic]) for topic in large[first : first + count]]
