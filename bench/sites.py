"""The two sites that are crawled, as static files: one directory a host, under one root.

    debian-docs   real manuals: some hosts of the recorded world of that name, where it is at hand
    generated     one host of pages of about 40 KB with about 120 links each

Links in the files carry the port the site will be served on. A link that leads out of the site does not get it,
so one rule, "this name and this port", tells both crawlers what belongs to the site. The recorded world is a sample,
and many of its links lead beyond it: three requests in five would be for pages that are not there. Such a link leads
to some other page of its host instead.
"""

from __future__ import annotations

import os
import random
import re
import socket
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote, urljoin, urlsplit
from zlib import crc32

from fastwarc.warc import ArchiveIterator, WarcRecordType

from lycosa.lab.generated.web import GeneratedWeb, WebPlan
from webserver import ADDRESS

RECORDED = "debian-docs"
GENERATED = "generated"
ROBOTS = b"User-agent: *\nDisallow: /search\nDisallow: /_sources/\nDisallow: /*?print=\n"
"""A few rules, so that both crawlers have something to match."""

_HREF = re.compile(rb"""(href\s{0,9}=\s{0,9}["'])([^"'<>]{1,2000})""", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Site:
    name: str
    topic: str
    """What the crawl's judge looks for."""
    root: Path
    port: int
    domain: str
    """Each of its hosts is this one or below it."""
    hosts: tuple[str, ...]
    seeds: tuple[str, ...]
    files: int
    bytes: int

    def describe(self) -> str:
        hosts = f"{len(self.hosts)} hosts" if len(self.hosts) > 1 else "one host"
        return f"{self.files:,} pages of {self.bytes / max(1, self.files) / 1000:.1f} KB on {hosts}"


def recorded_world() -> Path | None:
    """Where the recorded world lies, if it does."""
    path = worlds() / RECORDED / "pages.warc.gz"
    return path if path.is_file() else None


def worlds() -> Path:
    """The directory of the recorded worlds: under $LYCOSA_SHARED, or beside the repository."""
    beside = Path(__file__).resolve().parents[2] / "shared"
    return Path(os.environ.get("LYCOSA_SHARED") or beside) / "worlds"


def available() -> list[str]:
    return [RECORDED, GENERATED] if recorded_world() else [GENERATED]


def build(name: str, root: Path, *, pages: int) -> Site:
    """Write the files of a site of about so many pages."""
    port = _free_port()
    if name == RECORDED:
        world = recorded_world()
        assert world is not None, "the recorded world is not there; see `available`"
        return _build_recorded(world, root, pages=pages, port=port)
    return _build_generated(root, pages=pages, port=port)


def _build_recorded(world: Path, root: Path, *, pages: int, port: int) -> Site:
    """Whole hosts, in an order drawn once and for all, until there are enough pages: a crawl can then go on to the
    end, and both crawlers end with the same pages."""
    bodies: dict[str, dict[str, bytes]] = defaultdict(dict)
    with world.open("rb") as stream:
        for record in ArchiveIterator(stream, record_types=WarcRecordType.response, parse_http=True):
            url = urlsplit(record.headers["WARC-Target-URI"])
            bodies[url.netloc][url.path] = record.reader.read()
    order = sorted(bodies)
    random.Random(RECORDED).shuffle(order)
    chosen: list[str] = []
    while order and sum(len(bodies[host]) for host in chosen) < pages:
        chosen.append(order.pop())
    rewrite = _Rewriter({host: list(bodies[host]) for host in chosen}, port)
    written = [
        _write(root / host, path, rewrite.page(host, path, body))
        for host in chosen
        for path, body in bodies[host].items()
    ]
    for host in chosen:
        _write(root / host, "/robots.txt", ROBOTS)
    return Site(
        name=RECORDED,
        topic="database index",
        root=root,
        port=port,
        domain="docs.test",
        hosts=tuple(chosen),
        seeds=tuple(f"http://{host}:{port}{_front_page(list(bodies[host]))}" for host in chosen),
        files=len(written),
        bytes=sum(written),
    )


class _Rewriter:
    """Makes the links of a page fit the site it becomes part of."""

    def __init__(self, paths: dict[str, list[str]], port: int) -> None:
        self._paths = paths
        self._known = {host: {unquote(path) for path in own} for host, own in paths.items()}
        self._port = port

    def page(self, host: str, path: str, body: bytes) -> bytes:
        base = f"http://{host}{path}"
        return _HREF.sub(lambda match: match[1] + self._href(base, match[2].decode("utf-8", "replace")).encode(), body)

    def _href(self, base: str, href: str) -> str:
        if href.startswith("#"):
            return href
        try:
            url = urlsplit(urljoin(base, href))
        except ValueError:
            return href
        if url.scheme != "http" or url.netloc not in self._paths:
            return href
        paths = self._paths[url.netloc]
        # A choice that is the same for everyone, always: Python's own hash is not.
        path = (
            url.path if unquote(url.path) in self._known[url.netloc] else paths[crc32(url.path.encode()) % len(paths)]
        )
        return f"http://{url.netloc}:{self._port}{path}" + (f"#{url.fragment}" if url.fragment else "")


def _front_page(paths: list[str]) -> str:
    """The page of a host that most likely leads to all others."""
    return min(paths, key=lambda path: (path.rpartition("/")[2] != "index.html", path.count("/"), len(path), path))


def _build_generated(root: Path, *, pages: int, port: int) -> Site:
    plan = WebPlan(
        seed=3,
        pages=pages,
        hosts=1,
        out_degree=120,
        paragraphs=100,
        duplicates=0.0,
        dead_links=0.0,
        redirects=0.0,
        disallowing_hosts=0.0,
        crawl_delay=0.0,
    )
    web = GeneratedWeb(plan)
    (host,) = web.hosts
    written = []
    for page in range(len(web)):
        url = web.url(page, port=port)
        written.append(_write(root / host, urlsplit(url).path, web.render(url).body))
    _write(root / host, "/robots.txt", ROBOTS)
    return Site(
        name=GENERATED,
        topic=web.topic_keywords(0),
        root=root,
        port=port,
        domain=host,
        hosts=(host,),
        seeds=(web.url(0, port=port),),
        files=len(written),
        bytes=sum(written),
    )


def _write(directory: Path, path: str, body: bytes) -> int:
    """A page as the file a static server looks for."""
    path = unquote(path)
    file = directory / (path + "index.html" if path.endswith("/") else path).lstrip("/")
    assert ".." not in file.parts, f"{path} leads out of its host's directory"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(body)
    return len(body)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind((ADDRESS, 0))
        return int(probe.getsockname()[1])
