"""A week of crawling in half an hour: whether memory, descriptors and the database grow with the crawl alone.

    make bench-soak                           # half a million visits: half an hour on two cores
    python bench/soak.py --visits 20000       # a simulated seven hours

A generated web is served over loopback, some of its hosts faulty all the time, and crawled by the whole machine:
libcurl, readers, archive and database. Only the clock is not the machine's: it runs faster, so that the visits take a
week of it. Delays, rests, retries, the lifetimes of robots.txt and the looks beside the line come as they would in a
week. When the web is exhausted, the crawl is refreshed until there were enough visits. What is left of the week then
passes in days of rest, each with a refresh of some pages at its end.

A sample is taken every fiftieth of the visits, into out/soak-N/course.jsonl. After Ctrl-C, the same command goes on. At
the end: the course by tenths, and what grew since the middle.
"""

from __future__ import annotations

import argparse
import asyncio
import ctypes
import json
import shutil
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import fields
from pathlib import Path
from typing import NamedTuple

import numpy as np
import psutil

from lycosa.crawl.refresh import RefreshPlan
from lycosa.crawl.watching import Silence, View
from lycosa.engine import Crawl
from lycosa.lab.generated.web import GeneratedWeb, WebPlan
from lycosa.lib.clock import SystemClock, steady_seconds
from scale import share_of_memory
from table import table

ROOT = Path(__file__).resolve().parents[1]
TESTS = ROOT / "tests"
DAY = 86_400.0
WEEK = 7 * DAY
VISITS = 500_000
PARTS = 50
PAGES_A_VISIT = 0.7
"""Size of the web: the rest of the visits are faults, robots.txt apart, and looks at known pages."""
SPEED = 200.0
"""Simulated seconds a second, to begin with: about as many visits a second, times the seconds a visit has in a week."""
ADDRESSES = 40
ENOUGH = "there were enough visits"
READER = "lycosa.crawl.reader_process"
"""In the command line of a reader; the web server, which knows all pages, is a child of this process, too."""
LOOK_EVERY = 2.0
"""Seconds between two looks at the number of visits."""
FAULTS = (
    "500", "500/2", "503", "429", "silent", "stall", "reset", "garbage", "garbage-body", "empty", "wrong-length",
    "wrong-charset", "redirect-loop", "redirect-chain/3", "redirect-private", "broken-html", "nesting", "links/2000",
    "gzip-bomb/20", "huge/8", "giant-headers", "drip", "robots-500", "robots-redirect", "calendar", "binary",
)  # fmt: skip
"""Laid over a host each."""


class Sample(NamedTuple):
    visits: int
    pages: int
    links: int
    hours: float
    """Simulated, since the crawl began."""
    seconds: float
    """Of the machine's own time, since the last sample."""
    memory: int
    """Bytes: of the crawl's own process, as are `descriptors` and `threads`; what is shared counts in shares."""
    readers: int
    descriptors: int
    threads: int
    database: int
    archive: int
    used: int = 0
    """Bytes that the C library has handed out, in the crawl's own process: arrays, buffers of SQLite and libcurl."""
    kept: int = 0
    """Bytes that were given back to the C library and that it keeps; those of whole pages need not be in memory."""


class _Mallinfo(ctypes.Structure):
    """`struct mallinfo2` of glibc."""

    NAMES = ("arena", "ordblks", "smblks", "hblks", "hblkhd", "usmblks", "fsmblks", "uordblks", "fordblks", "keepcost")
    _fields_ = tuple((name, ctypes.c_size_t) for name in NAMES)


def handed_out() -> tuple[int, int]:
    """Bytes that the C library has handed out, and bytes it keeps; zeros where it does not tell."""
    try:
        mallinfo = ctypes.CDLL(None).mallinfo2
    except AttributeError:
        return 0, 0
    mallinfo.restype = _Mallinfo
    found = mallinfo()
    return found.uordblks + found.hblkhd, found.fordblks


def hurry(speed: float, wall: float) -> None:
    """From now on, every clock of a crawl in this process runs so many times as fast, and it is `wall` o'clock."""
    steady = steady_seconds()

    def fast_steady() -> float:
        return steady + speed * (steady_seconds() - steady)

    def fast_wall() -> float:
        return wall + fast_steady() - steady

    async def sleep(_clock: SystemClock, seconds: float) -> None:
        await asyncio.sleep(max(0.0, seconds) / speed)

    SystemClock.__init__.__kwdefaults__.update(wall=fast_wall, steady=fast_steady)  # type: ignore[union-attr]
    SystemClock.sleep = sleep  # type: ignore[method-assign,assignment]


class Course(Silence):
    """Takes a sample each `every` visits, and ends the run after `visits` of them."""

    def __init__(self, crawl: Crawl, file: Path, *, every: int, visits: int) -> None:
        self._crawl, self._file, self._every, self._most = crawl, file, every, visits
        taken = samples(file)
        self._next = (taken[-1].visits if taken else 0) + every

    def begin(self, view: View) -> None:
        self._view = view
        self._database = sqlite3.connect(f"file:{self._crawl.workspace.database}?mode=ro", uri=True)
        self._taken_at = self._looked_at = time.monotonic()

    def end(self) -> None:
        self._database.close()
        del self._view  # and with it all that this run knew

    def look(self) -> None:
        now = time.monotonic()
        if now < self._looked_at + LOOK_EVERY:
            return
        self._looked_at = now
        visits = int(self._number("select max(id) from outcomes"))
        if visits >= self._next:
            self._take(visits, now - self._taken_at)
            self._taken_at, self._next = now, visits + self._every
        if visits >= self._most:
            self._crawl.stop(ENOUGH)

    def _number(self, sql: str) -> float:
        return float(self._database.execute(sql).fetchone()[0] or 0)

    def _take(self, visits: int, seconds: float) -> None:
        process, workspace = psutil.Process(), self._crawl.workspace
        used, kept = handed_out()
        hours = self._number("select (max(at) - min(at)) / 3600 from outcomes")
        sample = Sample(
            visits=visits,
            pages=self._view.ledger.pages,
            links=int(self._number("select max(id) from frontier")),
            hours=hours,
            seconds=seconds,
            memory=share_of_memory(process),
            readers=sum(share_of_memory(each) for each in process.children() if READER in each.cmdline()),
            descriptors=process.num_fds(),
            threads=process.num_threads(),
            database=sum(file.stat().st_size for file in workspace.directory.glob("crawl.db*")),
            archive=sum(file.stat().st_size for file in workspace.archive.iterdir()),
            used=used,
            kept=kept,
        )
        with self._file.open("a", encoding="utf-8") as file:
            file.write(json.dumps(sample) + "\n")
        done = f"{sample.visits:,} visits, {sample.pages:,} pages, {hours:.0f} simulated hours"
        print(f"  {done}, {sample.memory / 1e6:.0f} MB, {sample.descriptors} descriptors", file=sys.stderr, flush=True)


def samples(file: Path) -> list[Sample]:
    if not file.exists():
        return []
    return [Sample(*json.loads(line)) for line in file.read_text(encoding="utf-8").splitlines()]


@contextmanager
def serving(plan: WebPlan, faults: dict[str, str], folder: Path) -> Iterator[dict[str, str]]:
    """The web, on a port that stays the same when the crawl goes on; by host, the addresses."""
    ready, kept = folder / "ready.json", folder / "port"
    ready.unlink(missing_ok=True)
    options = [f"--{field.name.replace('_', '-')}={getattr(plan, field.name)}" for field in fields(plan)]
    options += [f"--addresses={ADDRESSES}", f"--ready-file={ready}"]
    options += [f"--port={kept.read_text(encoding='utf-8')}"] if kept.exists() else []
    options += [f"--fault={host}={fault}" for host, fault in faults.items()]
    process = subprocess.Popen([sys.executable, "-m", "hostile.server", *options], stdout=subprocess.DEVNULL, cwd=TESTS)
    try:
        while not ready.exists():
            if process.poll() is not None:
                sys.exit("the server did not start")
            time.sleep(0.05)
        said = json.loads(ready.read_text(encoding="utf-8"))
        kept.write_text(str(said["port"]), encoding="utf-8")
        yield said["overrides"]
    finally:
        process.terminate()
        process.wait()


def span(database: Path) -> tuple[float, float]:
    """When the first visit of the crawl was, and when the last, by its own clock."""
    if not database.exists():
        return 0.0, 0.0
    with closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True)) as db:
        first, last = db.execute("select coalesce(min(at), 0), coalesce(max(at), 0) from outcomes").fetchone()
    return float(first), float(last)


def soak(folder: Path, visits: int) -> None:
    """Crawl, or go on, until there were so many visits, and the week is over."""
    plan = WebPlan(seed=7, pages=max(2_000, int(visits * PAGES_A_VISIT)), hosts=max(60, visits // 500), crawl_delay=0)
    web = GeneratedWeb(plan)
    topic = web.topic_names.index("cycling")
    numbers = range(1, len(web.hosts), max(1, len(web.hosts) // len(FAULTS)))
    faulty = dict(zip(numbers, FAULTS, strict=False))
    seeds = [each for each in web.seeds(topic, 20, np.random.default_rng(3)) if web.host_of(each) not in faulty][:5]
    database = folder / "crawl" / "crawl.db"
    with serving(plan, {web.hosts[number]: fault for number, fault in faulty.items()}, folder) as addresses:
        hurry(SPEED, max(time.time(), span(database)[1]))
        port = int((folder / "port").read_text(encoding="utf-8"))
        crawl = Crawl(
            web.topic_keywords(topic),
            seeds=[web.url(seed, port=port) for seed in seeds],
            directory=folder / "crawl",
            network={"allow": ["127.0.0.0/8"], "resolve": addresses, "fetches": 32},
            http={"deadline": 4.0, "connect_timeout": 2.0},
            politeness={"delay": 1.0, "connections_per_address": 8},
        )
        every = max(1, visits // PARTS)
        course = Course(crawl, folder / "course.jsonl", every=every, visits=visits)
        report = crawl.run(pages=visits, watcher=course)
        while report.reason != ENOUGH and not report.reason.startswith("interrupted"):
            report = crawl.refresh(RefreshPlan(is_all=True), watcher=course)
        while not report.reason.startswith("interrupted") and np.diff(span(database)) < WEEK - DAY:
            hurry(SPEED, span(database)[1] + DAY)
            nightly = Course(crawl, folder / "course.jsonl", every=every // 2, visits=sys.maxsize)
            report = crawl.refresh(RefreshPlan(requests=every), watcher=nightly)
    print(f"ended: {report.reason}", file=sys.stderr)


def report_of(taken: Sequence[Sample]) -> str:
    """The course by tenths, and what grew since the middle."""
    most = taken[-1].visits
    tenths = [[each for each in taken if (each.visits - 1) * 10 // most == tenth] for tenth in range(10)]
    rows = [
        [
            f"{last.visits:,}",
            f"{last.pages:,}",
            f"{last.links:,}",
            f"{last.hours:.0f}",
            f"{sum(each.seconds for each in part):.0f}",
            f"{last.memory / 1e6:.0f}",
            f"{last.readers / 1e6:.0f}",
            f"{last.descriptors}",
            f"{last.threads}",
            f"{last.database / 1e6:,.0f}",
            f"{last.archive / 1e6:,.0f}",
        ]
        for part in tenths
        if part
        for last in part[-1:]
    ]
    head = ["visits", "pages", "links", "hours", "seconds", "MB", "readers MB", "descriptors", "threads"]
    middle, last = taken[len(taken) // 2], taken[-1]
    links, grown = last.links - middle.links, last.memory - middle.memory
    parts = [table([*head, "database MB", "archive MB"], rows)]
    parts.append(f"since the middle: {grown / 1e6:+.0f} MB of memory for {links:,} links and ")
    parts[-1] += f"{last.pages - middle.pages:,} pages more; descriptors {last.descriptors - middle.descriptors:+d}"
    return "\n".join(parts)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--visits", type=int, default=VISITS)
    parser.add_argument("--new", action="store_true", help="begin again instead of going on")
    arguments = parser.parse_args()
    folder = ROOT / "out" / f"soak-{arguments.visits}"
    if arguments.new:
        shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True, exist_ok=True)
    soak(folder, arguments.visits)
    taken = samples(folder / "course.jsonl")
    print(report_of(taken) if taken else "too few visits for a sample")
    return 0


if __name__ == "__main__":
    sys.exit(main())
