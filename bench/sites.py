"""The sites that are crawled, as static files: one directory a host, under one root.

    debian-docs   real manuals: some hosts of the recorded world of that name, where it is at hand
    wikispeedia   articles of an encyclopedia, of all sizes, on one host: the recorded world of that name
    generated     one host of pages of about 40 KB with about 120 links each
    large         the same, of about 240 KB, over TLS

Links in the files carry the port the site will be served on. A link that leads out of the site does not get it,
so one rule, "this name and this port", tells both crawlers what belongs to the site. The recorded world is a sample,
and many of its links lead beyond it: three requests in five would be for pages that are not there. Such a link leads
to some other page of its host instead.
"""

from __future__ import annotations

import os
import random
import re
import shutil
import socket
import subprocess
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote, urljoin, urlsplit
from zlib import crc32

from fastwarc.warc import ArchiveIterator, WarcRecordType

from lycosa.lab.generated.web import GeneratedWeb, WebPlan
from webserver import ADDRESS

RECORDED = "debian-docs"
ARTICLES = "wikispeedia"
GENERATED = "generated"
LARGE = "large"
TOPICS = {RECORDED: "database index", ARTICLES: "science biology birds"}
DOMAINS = {RECORDED: "docs.test", ARTICLES: "wikispeedia.test"}
PARAGRAPHS = {GENERATED: 100, LARGE: 864}
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
    certificate: Path | None = None
    """Of a site over TLS: its certificate, with the key."""

    @property
    def scheme(self) -> str:
        return "https" if self.certificate else "http"

    def describe(self) -> str:
        hosts = f"{len(self.hosts)} hosts" if len(self.hosts) > 1 else "one host"
        size = f"{self.bytes / max(1, self.files) / 1000:.1f} KB"
        return f"{self.files:,} pages of {size} on {hosts}{' over TLS' if self.certificate else ''}"


def recorded_world(name: str) -> Path | None:
    """Where a recorded world lies, if it does."""
    path = worlds() / name / "pages.warc.gz"
    return path if path.is_file() else None


def worlds() -> Path:
    """The directory of the recorded worlds: under $LYCOSA_SHARED, or beside the repository."""
    beside = Path(__file__).resolve().parents[2] / "shared"
    return Path(os.environ.get("LYCOSA_SHARED") or beside) / "worlds"


def available() -> list[str]:
    recorded = [name for name in (RECORDED, ARTICLES) if recorded_world(name)]
    return [*recorded, GENERATED, *([LARGE] if shutil.which("openssl") else [])]


def build(name: str, root: Path, *, pages: int) -> Site:
    """Write the files of a site of about so many pages."""
    port = free_port()
    if name in TOPICS:
        return _build_recorded(name, root, pages=pages, port=port)
    return _build_generated(name, root, pages=pages, port=port)


def _build_recorded(name: str, root: Path, *, pages: int, port: int) -> Site:
    """Whole hosts, in an order drawn once and for all, until there are enough pages: a crawl can then go on to the
    end, and both crawlers end with the same pages."""
    world = recorded_world(name)
    assert world is not None, "the recorded world is not there; see `available`"
    bodies: dict[str, dict[str, bytes]] = defaultdict(dict)
    with world.open("rb") as stream:
        for record in ArchiveIterator(stream, record_types=WarcRecordType.response, parse_http=True):
            url = urlsplit(record.headers["WARC-Target-URI"])
            bodies[url.netloc][url.path] = record.reader.read()
    order = sorted(bodies)
    random.Random(name).shuffle(order)
    chosen: list[str] = []
    while order and sum(len(bodies[host]) for host in chosen) < pages:
        chosen.append(order.pop())
    rewrite = _Rewriter({host: list(bodies[host]) for host in chosen}, port)
    written = [
        write_page(root / host, path, rewrite.page(host, path, body))
        for host in chosen
        for path, body in bodies[host].items()
    ]
    for host in chosen:
        write_page(root / host, "/robots.txt", ROBOTS)
    return Site(
        name=name,
        topic=TOPICS[name],
        root=root,
        port=port,
        domain=DOMAINS[name],
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


def _build_generated(name: str, root: Path, *, pages: int, port: int) -> Site:
    plan = WebPlan(
        seed=3,
        pages=pages,
        hosts=1,
        out_degree=120,
        paragraphs=PARAGRAPHS[name],
        duplicates=0.0,
        dead_links=0.0,
        redirects=0.0,
        disallowing_hosts=0.0,
        crawl_delay=0.0,
    )
    web = GeneratedWeb(plan)
    (host,) = web.hosts
    certificate = _certificate(root.with_suffix(".pem"), host) if name == LARGE else None
    scheme = "https" if certificate else "http"
    written = []
    for page in range(len(web)):
        url = web.url(page, port=port)
        body = web.render(url).body.replace(f"http://{host}".encode(), f"{scheme}://{host}".encode())
        written.append(write_page(root / host, urlsplit(url).path, body))
    write_page(root / host, "/robots.txt", ROBOTS)
    return Site(
        name=name,
        topic=web.topic_keywords(0),
        root=root,
        port=port,
        domain=host,
        hosts=(host,),
        seeds=(web.url(0, port=port).replace("http:", f"{scheme}:"),),
        files=len(written),
        bytes=sum(written),
        certificate=certificate,
    )


def _certificate(file: Path, host: str) -> Path:
    """A certificate for the host that nobody but we vouch for, and its key, in one file."""
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "7", "-subj", f"/CN={host}"]
    command += ["-addext", f"subjectAltName=DNS:{host}", "-keyout", f"{file}.key", "-out", str(file)]
    subprocess.run(command, check=True, capture_output=True)
    with file.open("ab") as both:
        both.write(Path(f"{file}.key").read_bytes())
    return file


def write_page(directory: Path, path: str, body: bytes) -> int:
    """A page as the file a static server looks for."""
    path = unquote(path)
    file = directory / (path + "index.html" if path.endswith("/") else path).lstrip("/")
    assert ".." not in file.parts, f"{path} leads out of its host's directory"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(body)
    return len(body)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind((ADDRESS, 0))
        return int(probe.getsockname()[1])
