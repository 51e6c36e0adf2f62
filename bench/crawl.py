"""make bench-crawl: Lycosa against Scrapy on the same site, on the same machine, in one run.

A site of static files is served on loopback (`sites`, `webserver`). Scrapy crawls it to the end: every link followed,
robots.txt obeyed, nothing stored. Lycosa crawls it to the end as its users do: pages judged, everything written to
SQLite and to WARC, robots.txt obeyed; only the delays between requests are off. Then Lycosa once more for each number
of reader processes, and once with stopwatches (`stages`). What was fetched, and when, is told by the server's log.
As bounds, the same pages are fetched by libcurl alone, and by libcurl with a parser in C (`bounds`).

Where it is installed (`make rust-peer`), spider-rs, a crawler in Rust, crawls the site as well (`rust_peer.mjs`). It
fetches, finds links, knows what it has seen and obeys robots.txt, wildcards in it apart; it judges nothing, extracts no
text, writes neither archive nor database, and has none of Lycosa's checks of pages and addresses. It has up to 30
connections to a host, which cannot be set, follows no links to other hosts, and finds none in pages that begin with an
XML declaration.

The benchmark prints what it finds and asserts nothing.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

import tomli_w

from lycosa.config import ReaderSettings
from measure import Usage, run
from sites import ARTICLES, GENERATED, LARGE, RECORDED, Site, available, build
from table import ratio, table
from webserver import ADDRESS, Request, find_nginx, serving

AIM = 12
"""Times Scrapy's pages a second."""
PAGES = {RECORDED: 5_000, ARTICLES: 5_000, GENERATED: 4_000, LARGE: 1_500}
QUICK_PAGES = {RECORDED: 400, ARTICLES: 400, GENERATED: 300, LARGE: 150}
CONNECTIONS = 16
"""To one host at the same time, for Lycosa and Scrapy. Scrapy's work is bound by its CPU: 8 or 64 make no difference
to it."""
FETCHES = 64
PLAIN, DEFAULT = "best-first", "hunter"
"""Strategies: one that costs next to nothing beside the fetch, as Scrapy's order does; and the one users get."""
"""Lycosa's default for pages under way, those being read included; here they may all be at one address."""
LONGEST = 240.0
"""Seconds after which a crawl is ended."""
SAFE = "/:@!$&'()*+,;=-._~?"
HERE = Path(__file__).resolve().parent
SCRAPY, SPIDER = "Scrapy", "spider-rs"
RUST_PEER = "@spider-rs/spider-rs"
"""The package of the peer in Rust, in a directory of node's modules."""


@dataclass(frozen=True, slots=True)
class Crawl:
    """One crawl: what the crawler used, what the server saw."""

    usage: Usage
    requests: list[Request]
    server: str
    server_cpu: float

    @property
    def pages(self) -> set[str]:
        """What was fetched with success, robots.txt left out; one spelling for percent-escapes."""
        return {unquote(request.url) for request in self.requests if request.status == 200 and _is_page(request)}

    @property
    def others(self) -> set[str]:
        """What was asked for and is not there."""
        return {unquote(request.url) for request in self.requests if request.status != 200 and _is_page(request)}

    @property
    def seconds(self) -> float:
        """From the first page asked for to the last one: without the time to start and to end."""
        times = [request.at for request in self.requests if _is_page(request)]
        return max(times) - min(times) if len(times) > 1 else 0.0

    @property
    def rate(self) -> float:
        return len(self.pages) / self.seconds if self.seconds else 0.0

    @property
    def whole_rate(self) -> float:
        return len(self.pages) / self.usage.seconds

    @property
    def cpu(self) -> float:
        """Milliseconds of CPU a page."""
        return self.usage.cpu * 1e3 / max(1, len(self.pages))


def _is_page(request: Request) -> bool:
    return not request.url.endswith("/robots.txt")


class Course:
    """A site, and a place to crawl it from."""

    def __init__(self, site: Site, scratch: Path, *, nginx: str | None) -> None:
        self.site = site
        self._scratch = scratch
        self._nginx = nginx

    def scrapy(self, python: str) -> Crawl:
        task = {
            "hosts": self.site.hosts,
            "address": ADDRESS,
            "seeds": self.site.seeds,
            "domain": f"{self.site.domain}:{self.site.port}",
            "concurrency": CONNECTIONS,
        }
        # -P: the names of the benchmark's files must not stand before those of installed packages.
        return self._crawl("scrapy", [python, "-P", str(HERE / "scrapy_peer.py"), json.dumps(task)])

    def spider(self, modules: Path) -> Crawl:
        task = {
            "package": str(modules / RUST_PEER),
            "proxy": f"http://{ADDRESS}:{self.site.port}",
            "seeds": self.site.seeds,
        }
        return self._crawl(SPIDER, ["node", str(HERE / "rust_peer.mjs"), json.dumps(task)])

    def lycosa(self, *, readers: int, strategy: str = PLAIN) -> Crawl:
        label = f"lycosa-{readers}" if strategy == PLAIN else f"lycosa-{readers}-{strategy}"
        settings, directory = self._settings(label, readers, strategy)
        seeds = self._scratch / "seeds.txt"
        seeds.write_text("\n".join(self.site.seeds), encoding="utf-8")
        program = [sys.executable, "-c", "from lycosa.cli import main; main()", "crawl", self.site.topic]
        options = ["--seeds", str(seeds), "--config", str(settings), "--output", str(directory), "--quiet"]
        return self._crawl(label, program + options)

    def bound(self, urls: Sequence[str], *, parses: bool) -> Crawl:
        """The same pages by libcurl, from a list; with `parses`, through a parser in C."""
        site = self.site
        task = {
            "urls": list(urls),
            "resolve": [f"{host}:{site.port}:{ADDRESS}" for host in site.hosts],
            "connections": CONNECTIONS,
            "parses": parses,
        }
        file = self._scratch / "bound.json"
        file.write_text(json.dumps(task), encoding="utf-8")
        return self._crawl(
            "libcurl and parser" if parses else "libcurl", [sys.executable, str(HERE / "bounds.py"), str(file)]
        )

    def stages(self, *, readers: int) -> dict[str, Any]:
        """What `stages` prints; empty if it failed, with the reason under "problem"."""
        settings, directory = self._settings("stages", readers, PLAIN)
        usage = self._crawl("stages", [sys.executable, str(HERE / "stages.py"), str(settings), str(directory)]).usage
        if usage.problem:
            return {"problem": usage.problem}
        result: dict[str, Any] = json.loads(usage.output)
        return result

    def _crawl(self, label: str, command: Sequence[str]) -> Crawl:
        site = self.site
        with serving(
            site.root,
            site.port,
            self._scratch,
            label=label.replace(" ", "-"),
            nginx=self._nginx,
            certificate=site.certificate,
        ) as server:
            before = server.cpu_seconds()
            usage = run(command, scratch=self._scratch, longest=LONGEST)
            cpu = server.cpu_seconds() - before
            requests = server.stop()
        crawl = Crawl(usage, requests, server.name, cpu)
        trouble = f"  ({usage.problem})" if usage.problem else ""
        progress(f"  {label}: {len(crawl.pages):,} pages in {usage.seconds:.1f} s, {crawl.rate:.0f} pages/s{trouble}")
        return crawl

    def _settings(self, label: str, readers: int, strategy: str) -> tuple[Path, Path]:
        """A configuration file and an empty directory for a crawl of Lycosa's."""
        site = self.site
        names = sorted({site.domain, f"*.{site.domain}"} if len(site.hosts) > 1 else {site.domain})
        settings: dict[str, Any] = {
            "topic": site.topic,
            "seeds": list(site.seeds),
            "strategy": strategy,
            "budget": {"pages": 10**9},
            "politeness": {
                "delay": 0.0,
                "fetch_time_factor": 0.0,
                "connections_per_host": CONNECTIONS,
                "connections_per_address": FETCHES,
            },
            "network": {
                "allow": [f"{ADDRESS}/32"],
                "resolve": dict.fromkeys(site.hosts, ADDRESS),
                "fetches": FETCHES,
            },
            "urls": {"include": [f"{site.scheme}://{name}:{site.port}/*" for name in names]},
            "readers": {"count": readers},
            # Scrapy does not look at nofollow: so that both fetch the same pages, Lycosa is told not to either.
            "frontier": {"follow_nofollow": True},
        }
        if site.certificate:
            settings["http"] = {"ca_file": str(site.certificate)}
        file, directory = self._scratch / f"{label}.toml", self._scratch / label
        file.write_text(tomli_w.dumps(settings), encoding="utf-8")
        shutil.rmtree(directory, ignore_errors=True)
        return file, directory


def progress(message: str) -> None:
    print(message, file=sys.stderr, flush=True)


def compare(lycosa: Crawl, peers: dict[str, Crawl], *, readers: int) -> str:
    """The main table: next to each peer, Lycosa's figure as a multiple of the peer's."""
    figures: list[tuple[str, Callable[[Crawl], str], Callable[[Crawl], float] | None]] = [
        ("pages fetched", lambda crawl: f"{len(crawl.pages):,}", None),
        ("other answers (404, …)", lambda crawl: f"{len(crawl.others):,}", None),
        ("pages/s, first to last request", lambda crawl: f"{crawl.rate:.1f}", lambda crawl: crawl.rate),
        ("pages/s, whole process", lambda crawl: f"{crawl.whole_rate:.1f}", lambda crawl: crawl.whole_rate),
        ("CPU a page, ms (start-up included)", lambda crawl: f"{crawl.cpu:.2f}", lambda crawl: crawl.cpu),
        (
            "peak memory of all processes, MB",
            lambda crawl: f"{crawl.usage.peak / 1e6:.0f}",
            lambda crawl: crawl.usage.peak,
        ),
        (
            "memory of a reader, its share of what is shared, MB",
            lambda crawl: f"{crawl.usage.child / 1e6:.0f}" if crawl is lycosa else "–",
            None,
        ),
        (
            f"CPU a page of {lycosa.server}, ms",
            lambda crawl: f"{crawl.server_cpu * 1e3 / max(1, len(crawl.pages)):.2f}",
            None,
        ),
    ]
    head = ["", f"Lycosa, {readers} reader{'s' * (readers > 1)}"]
    rows = [[name, show(lycosa)] for name, show, _ in figures]
    for peer, crawl in peers.items():
        head += [peer, "ratio"]
        for row, (_, show, figure) in zip(rows, figures, strict=True):
            row += [show(crawl), times(figure(lycosa), figure(crawl)) if figure else ""]
    return table(head, rows)


def times(value: float, other: float) -> str:
    """A ratio; below one as a fraction."""
    return f"1/{ratio(other, value)[:-1]}" if 0 < value < other else ratio(value, other)


def bounds_table(lycosa: Crawl, hunter: Crawl, bounds: dict[str, Crawl]) -> str:
    """What cannot be faster, and the share of it that Lycosa reaches, per core that was busy."""

    def per_core(crawl: Crawl) -> float:
        return len(crawl.pages) / crawl.usage.cpu if crawl.usage.cpu else 0.0

    rows = [
        [
            name,
            f"{crawl.rate:.0f}",
            f"{per_core(crawl):.0f}",
            *(f"{per_core(ours) / per_core(crawl):.0%}" if per_core(crawl) else "–" for ours in (lycosa, hunter)),
        ]
        for name, crawl in bounds.items()
    ]
    return "bounds: the same pages, from a list\n" + table(
        ["", "pages/s", "pages a second of CPU", f"{PLAIN}'s share", f"{DEFAULT}'s share"], rows
    )


def differences(lycosa: Crawl, peer: str, crawl: Crawl) -> str:
    """Pages that only one of the two has fetched, with a few of them by name."""

    def alone(name: str, urls: list[str]) -> str:
        examples = f" ({', '.join(urls[:3])}{', …' if len(urls) > 3 else ''})" if urls else ""
        return f"only {name}: {len(urls)}{examples}"

    return "; ".join(
        [
            f"pages fetched by Lycosa and {peer}: {len(lycosa.pages & crawl.pages):,}",
            alone("Lycosa", sorted(lycosa.pages - crawl.pages)),
            alone(peer, sorted(crawl.pages - lycosa.pages)),
        ]
    )


def explain_stages(found: dict[str, Any], lycosa: Crawl) -> str:
    """Where the time of a page goes."""
    if "problem" in found:
        return f"where the time goes: could not be measured: {found['problem']}"
    crawl, reader = found["crawl"], found["reader"]
    total = crawl["cpu"] + reader["cpu"]
    rows: list[list[str]] = []
    for title, side in (("crawl process", crawl), ("reader processes", reader)):
        rows.append([title, f"{side['cpu']:.0f}", f"{side['cpu'] / total:.0%}", ""])
        rows.extend(
            [f"  {part['part']}", f"{part['cpu']:.0f}", f"{part['cpu'] / total:.0%}", f"{part['wall']:.0f}"]
            for part in side["parts"]
        )
    rows.append(["both", f"{total:.0f}", "100%", ""])
    start = found["crawl"]["start"] * 1e6 / max(1, crawl["pages"])
    measured = lycosa.cpu * 1e3
    return "\n".join(
        [
            "where Lycosa's time goes, µs a page",
            table(["", "CPU", "share", "wall"], rows),
            f"The crawl above took {measured:.0f} µs CPU a page: {start:.0f} of them for the start of its processes "
            f"(imports), {total:.0f} as listed, {measured - start - total:+.0f} for the rest (models on first use, …).",
            f"A commit has {crawl['pages_per_commit']:.1f} pages. "
            f"The crawl process used its core for {crawl['cpu'] / crawl['wall']:.0%} of the time.",
        ]
    )


def readers_table(crawls: dict[int, Crawl]) -> str:
    first = next(iter(crawls.values()))
    return table(
        ["readers", "pages/s", "to 1 reader", "cores busy", "peak MB"],
        (
            [
                str(count),
                f"{crawl.rate:.1f}",
                ratio(crawl.rate, first.rate),
                f"{(crawl.usage.cpu + crawl.server_cpu) / crawl.usage.seconds:.2f}",
                f"{crawl.usage.peak / 1e6:.0f}",
            ]
            for count, crawl in crawls.items()
        ),
    )


def bench(
    name: str, *, pages: int, scrapy_python: str | None, rust_peer: Path | None, nginx: str | None, scratch: Path
) -> str:
    """All crawls of one site; the report."""
    begun = time.monotonic()
    progress(f"{name}: writing the site …")
    course = Course(build(name, scratch / "site", pages=pages), scratch, nginx=nginx)
    cores = len(os.sched_getaffinity(0))
    progress(f"{name}: {course.site.describe()}; written in {time.monotonic() - begun:.0f} s")
    peers: dict[str, Crawl] = {}
    if scrapy_python:
        peers[SCRAPY] = course.scrapy(scrapy_python)
    # nginx is also a proxy for its own pages, as far as plain HTTP goes; the benchmark's own server is not.
    has_proxy = nginx is not None and not course.site.certificate
    if rust_peer and has_proxy:
        peers[SPIDER] = course.spider(rust_peer)
    usual = ReaderSettings().processes
    crawls = {readers: course.lycosa(readers=readers) for readers in range(1, cores + 2)}
    lycosa, hunter = crawls[usual], course.lycosa(readers=usual, strategy=DEFAULT)
    parts = [
        f"\n== {name}: {course.site.describe()}, served by {lycosa.server}\n",
        compare(lycosa, peers, readers=usual),
    ]
    parts.extend(differences(lycosa, peer, crawl) for peer, crawl in peers.items())
    if rust_peer and not has_proxy:
        parts.append(f"note: without {SPIDER}, which finds the site's hosts through nginx, and over plain HTTP only")
    parts.extend(f"note: {label} {crawl.usage.problem}" for label, crawl in _all(crawls, peers) if crawl.usage.problem)
    parts.append(f"with the {DEFAULT}: {hunter.rate:.1f} pages/s, {ratio(hunter.rate, lycosa.rate)} of {PLAIN}'s")
    urls = sorted(f"{course.site.scheme}://{_with_port(url, course.site)}" for url in lycosa.pages)
    bounds = {
        "libcurl alone": course.bound(urls, parses=False),
        "libcurl, and a parser in C": course.bound(urls, parses=True),
    }
    parts.append("\n" + bounds_table(lycosa, hunter, bounds))
    parts.append("\nmore readers\n" + readers_table(crawls))
    parts.append("\n" + explain_stages(course.stages(readers=usual), lycosa))
    parts.append("")
    for peer, crawl in peers.items():
        aim = f" (aim: {AIM}×)" if peer == SCRAPY else ""
        parts.append(f"{name}: {times(lycosa.rate, crawl.rate)} of {peer}'s pages/s{aim}")
    return "\n".join(parts)


def _with_port(url: str, site: Site) -> str:
    """Host and path as the log has them, which leaves the port out."""
    host, slash, path = url.partition("/")
    return f"{host.partition(':')[0]}:{site.port}{slash}{quote(path, safe=SAFE)}"


def _all(crawls: dict[int, Crawl], peers: dict[str, Crawl]) -> Iterator[tuple[str, Crawl]]:
    for peer, crawl in peers.items():
        yield f"{peer}:", crawl
    for count, crawl in crawls.items():
        yield f"Lycosa with {count} readers:", crawl


def machine() -> str:
    cores = len(os.sched_getaffinity(0))
    return f"{cores} cores ({platform.machine()}), Python {platform.python_version()}, Lycosa {version('lycosa')}"


def scrapy_version(python: str) -> str:
    """Empty where Scrapy is not installed."""
    asked = subprocess.run(
        [python, "-c", "import scrapy; print(scrapy.__version__)"], capture_output=True, text=True, check=False
    )
    return asked.stdout.strip() if asked.returncode == 0 else ""


def rust_peer_version(modules: Path) -> str:
    """Empty where node, the package, or its binary for this machine is not there."""
    if not shutil.which("node"):
        return ""
    script = "const [, name] = process.argv; require(name); console.log(require(name + '/package.json').version)"
    asked = subprocess.run(
        ["node", "-e", script, str(modules / RUST_PEER)], capture_output=True, text=True, check=False
    )
    return asked.stdout.strip() if asked.returncode == 0 else ""


@contextmanager
def scratch_directory() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="lycosa-bench-", ignore_cleanup_errors=True) as name:
        yield Path(name).resolve()


def main() -> None:
    parser = argparse.ArgumentParser(description="Lycosa against Scrapy and spider-rs on the same loopback site.")
    parser.add_argument("--site", choices=available(), help="only this site (default: every one that is at hand)")
    parser.add_argument("--pages", type=int, help="about so many pages a site")
    parser.add_argument("--quick", action="store_true", help="a few hundred pages: does it work, not how fast is it")
    parser.add_argument("--own-server", action="store_true", help="do without nginx even if it is installed")
    parser.add_argument("--scrapy-python", default=sys.executable, help="the Python that Scrapy is installed for")
    parser.add_argument(
        "--rust-peer",
        type=Path,
        metavar="DIR",
        default=os.environ.get("LYCOSA_RUST_PEER") or HERE.parent / "out" / "rust-peer" / "node_modules",
        help="node's modules, spider-rs among them (default: $LYCOSA_RUST_PEER, or where `make rust-peer` puts them)",
    )
    options = parser.parse_args()
    modules = options.rust_peer.resolve()
    versions = {SCRAPY: scrapy_version(options.scrapy_python), SPIDER: rust_peer_version(modules)}
    if not versions[SCRAPY]:
        progress(f"Scrapy is not installed for {options.scrapy_python}: it is not measured")
    if not versions[SPIDER]:
        progress(f"{SPIDER} is not installed: it is not measured (`make rust-peer` installs it; needs node and npm)")
    sizes = QUICK_PAGES if options.quick else PAGES
    print(", ".join([machine(), *(f"{peer} {number}" for peer, number in versions.items() if number)]), flush=True)
    for name in [options.site] if options.site else available():
        with scratch_directory() as scratch:
            report = bench(
                name,
                pages=options.pages or sizes[name],
                scrapy_python=options.scrapy_python if versions[SCRAPY] else None,
                rust_peer=modules if versions[SPIDER] else None,
                nginx=None if options.own_server else find_nginx(),
                scratch=scratch,
            )
        print(report, flush=True)


if __name__ == "__main__":
    main()
