"""make bench-scale: whether a crawl stays as fast as it grows, in memory that stays in bounds.

    python bench/scale.py                      # a million pages from a fetcher, 200,000 over loopback: an hour or more
    python bench/scale.py --quick              # 5,000 and 2,000: does it work, not how fast is it
    python bench/scale.py --only live

Pages are those of an endless web (`endless_web`): 30 links each, about 20 of them new, on 400 hosts. In `replay` a
fetcher makes them up in the crawl's own process, so that nothing but the crawl is measured, the making of the page
included; in `live` a server makes them up, and they come over HTTP through the archive, as in any crawl. Everything
else is as users have it: readers, judge, SQLite, frontier, snapshots; only the delays between requests are off.

The course of the crawl is written down a hundredth at a time, beside the crawl in out/. After Ctrl-C the same command
goes on. The last tenth is compared with the first: the aim is at most 1.3 times the time a page.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import psutil

from endless_web import HOSTS, EndlessWeb
from lycosa.crawl.watching import Silence, View
from lycosa.engine import Crawl
from lycosa.store.sqlite import SqliteStore
from lycosa.workspace import Workspace
from table import table

ROOT = Path(__file__).resolve().parents[1]
PAGES = {"replay": 1_000_000, "live": 200_000}
QUICK_PAGES = {"replay": 5_000, "live": 2_000}
AIM = 1.3
PARTS = 100
"""Samples of a crawl."""
ADDRESS = "127.0.0.1"


class Sample(NamedTuple):
    """A hundredth of a crawl."""

    pages: int
    """Number of pages at its end."""
    added: int
    seconds: float
    cpu: float
    """Of the crawl's own process, in seconds."""
    commits: int
    commit_seconds: float
    longest_commit: float
    memory: int
    """Bytes at its end: the crawl's own process, as are `readers`, what is shared counted in shares."""
    readers: int
    database: int
    waiting: int


class Course(Silence):
    """Writes down how a crawl goes, a sample each `every` pages."""

    def __init__(self, file: Path, workspace: Workspace, *, every: int) -> None:
        self._file = file
        self._workspace = workspace
        self._every = every
        self._commits: list[float] = []

    def begin(self, view: View) -> None:
        self._ledger, self._frontier = view.ledger, view.frontier
        write = SqliteStore.write

        def timed(store: SqliteStore, batch: Any) -> None:
            begun = time.perf_counter()
            write(store, batch)
            self._commits.append(time.perf_counter() - begun)

        SqliteStore.write = timed  # type: ignore[method-assign,assignment]
        self._restart()

    def look(self) -> None:
        if self._ledger.pages - self._pages >= self._every:
            self._take()
            self._restart()

    def _restart(self) -> None:
        self._pages, self._commits = self._ledger.pages, []
        self._wall, self._cpu = time.perf_counter(), time.process_time()

    def _take(self) -> None:
        crawl = psutil.Process()
        readers = list(crawl.children())
        sample = Sample(
            pages=self._ledger.pages,
            added=self._ledger.pages - self._pages,
            seconds=time.perf_counter() - self._wall,
            cpu=time.process_time() - self._cpu,
            commits=len(self._commits),
            commit_seconds=sum(self._commits),
            longest_commit=max(self._commits, default=0.0),
            memory=share_of_memory(crawl),
            readers=sum(map(share_of_memory, readers)),
            database=sum(file.stat().st_size for file in database_files(self._workspace)),
            waiting=self._frontier.waiting,
        )
        with self._file.open("a", encoding="utf-8") as file:
            file.write(json.dumps(sample) + "\n")
        print(f"  {sample.pages:,} pages, {sample.added / sample.seconds:.0f} pages/s", file=sys.stderr, flush=True)


def share_of_memory(process: psutil.Process) -> int:
    """The proportional set size: what is shared with n processes counts for an nth."""
    try:
        return int(process.memory_full_info().pss)
    except psutil.Error:
        return 0


def database_files(workspace: Workspace) -> list[Path]:
    return list(workspace.database.parent.glob(workspace.database.name + "*"))


def samples(file: Path) -> list[Sample]:
    if not file.exists():
        return []
    return [Sample(*json.loads(line)) for line in file.read_text(encoding="utf-8").splitlines()]


def crawl(kind: str, directory: Path, *, pages: int, strategy: str, port: int) -> None:
    """Crawl on to this many pages."""
    web = EndlessWeb(port=port)
    polite = {"delay": 0.0, "fetch_time_factor": 0.0, "connections_per_host": 4, "connections_per_address": 64}
    settings: dict[str, Any] = {
        "politeness": polite,
        "traps": {"is_on": False},  # the web is endless: its hosts would rest longer and longer, by the clock
        "network": {"fetches": 64},
        "strategy": strategy,
    }
    if kind == "live":
        settings["network"] |= {
            "allow": [f"{ADDRESS}/32"],
            "resolve": dict.fromkeys((f"h{host}.test" for host in range(HOSTS)), ADDRESS),
        }
    else:
        settings |= {"fetcher": web, "archive": {"is_on": False}}
    started = Crawl(web.topic_words, seeds=web.seeds(5), directory=directory / "crawl", **settings)
    course = Course(directory / "course.jsonl", started.workspace, every=max(1, pages // PARTS))
    started.run(watcher=course, pages=pages)


class _Connection(asyncio.Protocol):
    """Takes one request after the other off a connection: GET, no body."""

    def __init__(self, web: EndlessWeb) -> None:
        self._web = web
        self._waiting = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        self._waiting += data
        while b"\r\n\r\n" in self._waiting:
            head, _, self._waiting = self._waiting.partition(b"\r\n\r\n")
            number = re.match(rb"GET /\S*-(\d+) ", head)
            status, body = ("200 OK", self._web.html(int(number[1])).encode()) if number else ("404 Not Found", b"")
            start = (
                f"HTTP/1.1 {status}\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: {len(body)}\r\n\r\n"
            )
            self._transport.write(start.encode() + body)


async def serve(port: int) -> None:
    web, loop, ended = EndlessWeb(port=port), asyncio.get_running_loop(), asyncio.Event()
    loop.add_signal_handler(signal.SIGTERM, ended.set)
    loop.add_signal_handler(signal.SIGINT, ended.set)
    server = await loop.create_server(lambda: _Connection(web), ADDRESS, port, backlog=1024)
    await ended.wait()
    server.close()


@contextmanager
def serving(port: int) -> Iterator[None]:
    process = subprocess.Popen([sys.executable, __file__, "--serve", str(port)])
    try:
        for _ in range(200):
            with socket.socket() as probe:
                if not probe.connect_ex((ADDRESS, port)):
                    break
            time.sleep(0.05)
        yield
    finally:
        process.terminate()
        process.wait()


def mean(chosen: Sequence[Sample], value: Callable[[Sample], float]) -> float:
    """A figure a page."""
    return sum(map(value, chosen)) / max(1, sum(sample.added for sample in chosen))


def report(kind: str, found: list[Sample]) -> str:
    """The course by tenths, and the last against the first."""
    most = found[-1].pages
    tenths = [[sample for sample in found if (sample.pages - 1) * 10 // most == tenth] for tenth in range(10)]
    rows = []
    for chosen in filter(None, tenths):
        last = chosen[-1]
        rows.append(
            [
                f"{last.pages:,}",
                f"{1 / mean(chosen, lambda sample: sample.seconds):.0f}",
                f"{1e3 * mean(chosen, lambda sample: sample.cpu):.2f}",
                f"{1e3 * mean(chosen, lambda sample: sample.commit_seconds):.2f}",
                f"{1e3 * max(sample.longest_commit for sample in chosen):.0f}",
                f"{last.memory / 1e6:.0f}",
                f"{last.readers / 1e6:.0f}",
                f"{last.database / 1e6:,.0f}",
                f"{last.database / last.pages:,.0f}",
                f"{last.waiting:,}",
            ]
        )
    head = ["pages", "pages/s", "CPU ms a page", "commit ms a page", "longest", "MB", "readers MB", "database MB"]
    parts = [f"{kind}: {most:,} pages", table([*head, "bytes a page", "links waiting"], rows)]
    if tenths[0] and tenths[-1]:
        first, last_tenth = tenths[0], tenths[-1]
        ratios = {
            "time": mean(last_tenth, lambda sample: sample.seconds) / mean(first, lambda sample: sample.seconds),
            "CPU": mean(last_tenth, lambda sample: sample.cpu) / mean(first, lambda sample: sample.cpu),
            "commit": mean(last_tenth, lambda sample: sample.commit_seconds)
            / mean(first, lambda sample: sample.commit_seconds),
        }
        said = ", ".join(f"{name} a page {ratio:.2f}×" for name, ratio in ratios.items())
        parts.append(f"last tenth against first: {said} (aim: at most {AIM}×)")
    return "\n".join(parts)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind((ADDRESS, 0))
        return int(probe.getsockname()[1])


def measured(kind: str, *, pages: int, strategy: str, is_new: bool) -> str:
    """Crawl in a process of its own, or go on with the crawl that is there; the report."""
    directory = ROOT / "out" / f"scale-{kind}-{strategy}-{pages}"
    if is_new:
        shutil.rmtree(directory, ignore_errors=True)
    directory.mkdir(parents=True, exist_ok=True)
    chosen = directory / "port"  # is part of the URLs of a crawl over loopback
    if not chosen.exists():
        chosen.write_text(str(free_port() if kind == "live" else 0), encoding="utf-8")
    port = int(chosen.read_text(encoding="utf-8"))
    words = [sys.executable, __file__, "--crawl", kind, "--pages", str(pages), "--strategy", strategy]
    words += ["--directory", str(directory), "--port", str(port)]
    if kind == "live":
        with serving(port):
            subprocess.run(words, check=True)
    else:
        subprocess.run(words, check=True)
    found = samples(directory / "course.jsonl")
    return report(kind, found) if found else f"{kind}: too few pages for a sample"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", choices=list(PAGES), help="one of the two crawls")
    parser.add_argument("--pages", type=int, help="of each crawl")
    parser.add_argument("--strategy", default="best-first")
    parser.add_argument("--quick", action="store_true", help="a few thousand pages")
    parser.add_argument("--new", action="store_true", help="begin again instead of going on")
    parser.add_argument("--serve", type=int, metavar="PORT", help=argparse.SUPPRESS)
    parser.add_argument("--crawl", choices=list(PAGES), help=argparse.SUPPRESS)
    parser.add_argument("--directory", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--port", type=int, default=0, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve:
        asyncio.run(serve(options.serve))
    elif options.crawl:
        crawl(
            options.crawl,
            options.directory,
            pages=options.pages,
            strategy=options.strategy,
            port=options.port,
        )
    else:
        for kind, pages in (QUICK_PAGES if options.quick else PAGES).items():
            if options.only in (None, kind):
                wanted = options.pages or pages
                print(measured(kind, pages=wanted, strategy=options.strategy, is_new=options.new), flush=True)


if __name__ == "__main__":
    main()
