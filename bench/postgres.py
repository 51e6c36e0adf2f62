"""make bench-postgres: the store in PostgreSQL against SQLite's file: the same crawl, and ten million links.

    python bench/postgres.py                  # 3,000 pages; 10,000,000 links
    python bench/postgres.py --links 1000000

Both stores crawl an endless web (`endless_web`) in a process of its own, without an archive: pages a second, CPU of the
crawler and of the server, bytes in the database. Then links are pushed into each, 10,000 in a transaction, as a crawl
pushes them; a thousand times ten of them are leased; and what a resumed crawl reads of them is read (`hashes`,
`waiting`). The server is the one of LYCOSA_TEST_POSTGRES, or one that is started here as it is installed, with every
commit on the disk before it counts. SQLite writes as always: down to the disk at checkpoints only.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import psutil

from endless_web import EndlessWeb
from lycosa.engine import Crawl
from lycosa.fetch.urls import url_hash
from lycosa.store.opening import open_store, open_url
from lycosa.store.protocol import Reports
from lycosa.store.rows import Batch, HostRow, LinkRow
from lycosa.store.sqlite import SqliteStore
from lycosa.workspace import Workspace
from table import ratio, table

ROOT = Path(__file__).resolve().parents[1]
PAGES, LINKS = 3_000, 10_000_000
BATCH = 10_000
HOSTS = 10_000
LEASES, AT_ONCE = 1_000, 10
Result = TypeVar("Result")
SQLITE, POSTGRES = "SQLite", "PostgreSQL"
DATABASE_BYTES = """
select sum(pg_total_relation_size(oid)) from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace
"""


class Server(NamedTuple):
    url: str
    process: psutil.Process | None

    def cpu(self) -> float:
        """Seconds of CPU that the server and its sessions, ended ones included, have used."""
        if self.process is None:
            return 0.0
        while True:
            try:
                alive = [child.cpu_times() for child in self.process.children()]
                own = self.process.cpu_times()
                break
            except psutil.NoSuchProcess:  # it ended in between, and is among the ended ones now
                continue
        ended = own.children_user + own.children_system
        return float(own.user + own.system + ended + sum(times.user + times.system for times in alive))


class Crawled(NamedTuple):
    seconds: float
    cpu: float
    server_cpu: float
    bytes: int


class Took(NamedTuple):
    seconds: float
    cpu: float
    """Seconds of CPU, of this process and of the server."""

    def plus(self, other: Took) -> Took:
        return Took(self.seconds + other.seconds, self.cpu + other.cpu)


class Loaded(NamedTuple):
    push: Took
    lease: Took
    hashes: Took
    waiting: Took
    bytes: int


@contextmanager
def postgres() -> Iterator[Server]:
    if given := os.environ.get("LYCOSA_TEST_POSTGRES"):
        yield Server(given, None)
        return
    sys.path.append(str(ROOT / "tests"))
    tests: Any = importlib.import_module("postgres_server")
    with tests.running_server(options=()) as server:
        yield Server(server.url, psutil.Process(server.pid))


def crawl(directory: Path, store: str, pages: int) -> None:
    """In a process of its own; its time is that of the crawl alone, without Python's start."""
    web = EndlessWeb()
    polite = {"delay": 0.0, "fetch_time_factor": 0.0, "connections_per_host": 4}
    settings: dict[str, Any] = {"politeness": polite, "readers": {"count": 1}, "archive": {"is_on": False}}
    found = Crawl(
        web.topic_words,
        seeds=web.seeds(5),
        directory=directory,
        fetcher=web,
        store=store,
        strategy="best-first",
        network={"fetches": 16},
        **settings,
    )
    began, used = time.perf_counter(), time.process_time()
    found.run(pages=pages)
    print(json.dumps({"seconds": time.perf_counter() - began, "cpu": time.process_time() - used}))


def crawled(directory: Path, server: Server | None, pages: int) -> Crawled:
    before = server.cpu() if server else 0.0
    words = [sys.executable, __file__, "--crawl", str(directory), "--pages", str(pages)]
    done = subprocess.run(
        [*words, "--store", server.url if server else ""], check=True, stdout=subprocess.PIPE, text=True
    )
    figures = json.loads(done.stdout.splitlines()[-1])
    with closing(open_store(Workspace(directory), read_only=True)) as store:
        size = _bytes(store)
    return Crawled(figures["seconds"], figures["cpu"], (server.cpu() if server else 0.0) - before, size)


def _bytes(store: Reports) -> int:
    """Of the tables that a crawl fills."""
    if isinstance(store, SqliteStore):
        return sum(path.stat().st_size for path in store.path.parent.glob("crawl.db*"))
    return int(next(store.query(DATABASE_BYTES)[1])[0])


def loaded(store: Reports, links: int, server: Server | None) -> Loaded:
    def timed(work: Callable[[], Result]) -> tuple[Result, Took]:
        began, used = time.perf_counter(), time.process_time() + (server.cpu() if server else 0.0)
        done = work()
        cpu = time.process_time() + (server.cpu() if server else 0.0) - used
        return done, Took(time.perf_counter() - began, cpu)

    store.write(Batch(hosts={n: HostRow(n, f"h{n}.test", "", 0, 0, 0, 0, 0, 0, 0, "") for n in range(1, HOSTS + 1)}))
    chance = random.Random(1)
    push = Took(0.0, 0.0)
    for first in range(1, links + 1, BATCH):
        batch = Batch(links=[_link(number, chance) for number in range(first, min(first + BATCH, links + 1))])
        push = push.plus(timed(partial(store.write, batch))[1])
    picked = [[chance.randint(1, links) for _ in range(AT_ONCE)] for _ in range(LEASES)]
    _, lease = timed(lambda: [store.leases(ids) for ids in picked])
    hashes, hashed = timed(store.hashes)
    assert len(hashes[0]) == links
    del hashes
    waiting, read = timed(store.waiting)
    assert len(waiting.ids) == links
    return Loaded(push, lease, hashed, read, _bytes(store))


def _link(number: int, chance: random.Random) -> LinkRow:
    host = chance.randint(1, HOSTS)
    url = f"http://h{host}.test/{chance.randint(0, 999)}/a-page-of-some-kind-{number}.html"
    return LinkRow(number, url, url_hash(url), host, "waiting", chance.random(), 4, 0, 0, 1, "read more of it", "", "")


def print_crawls(found: dict[str, Crawled], pages: int) -> None:
    rows = [
        [name, f"{pages / each.seconds:.0f}", f"{each.cpu / pages * 1e3:.2f}", f"{each.server_cpu / pages * 1e3:.2f}",
         f"{each.bytes / pages:,.0f}"]
        for name, each in found.items()
    ]  # fmt: skip
    print(f"\nthe same crawl, {pages:,} pages of 30 links, best-first, one reader")
    print(table(["store", "pages/s", "ms CPU a page", "of the server", "bytes a page"], rows))
    print(f"SQLite / PostgreSQL, pages a second: {ratio(found[POSTGRES].seconds, found[SQLITE].seconds)}")


def print_loads(found: dict[str, Loaded], links: int) -> None:
    rows = [
        [name, f"{each.push.seconds:.1f}", f"{each.push.cpu:.1f}", f"{each.push.cpu / links * 1e6:.1f}",
         f"{each.lease.cpu / LEASES * 1e3:.2f}", f"{each.hashes.cpu:.1f}", f"{each.waiting.cpu:.1f}",
         f"{each.bytes / links:.0f}"]
        for name, each in found.items()
    ]  # fmt: skip
    print(f"\n{links:,} links pushed, {BATCH:,} in a transaction; {AT_ONCE} at a time leased; read as on a resume")
    print("times are of CPU, the server's included, but for the first")
    head = ["store", "push s", "CPU s", "µs a link", f"lease {AT_ONCE}, ms", "hashes s", "waiting s", "bytes a link"]
    print(table(head, rows))
    print(f"peak memory of this process: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6:.1f} GB")


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    options.add_argument("--pages", type=int, default=PAGES)
    options.add_argument("--links", type=int, default=LINKS, help="0 leaves this part out.")
    options.add_argument("--crawl", type=Path, default=None, help=argparse.SUPPRESS)
    options.add_argument("--store", default="", help=argparse.SUPPRESS)
    given = options.parse_args()
    if given.crawl:
        crawl(given.crawl, given.store, given.pages)
        return
    print(f"load of the machine: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    with tempfile.TemporaryDirectory(prefix="bench-postgres-") as name, postgres() as server:
        scratch = Path(name)
        if given.pages:
            crawls = {
                SQLITE: crawled(scratch / "file", None, given.pages),
                POSTGRES: crawled(scratch / "server", server, given.pages),
            }
            print_crawls(crawls, given.pages)
    if not given.links:
        return
    with tempfile.TemporaryDirectory(prefix="bench-postgres-") as name, postgres() as server:
        scratch = Path(name)
        loads = {}
        with closing(SqliteStore(scratch / "crawl.db")) as file:
            loads[SQLITE] = loaded(file, given.links, None)
        with closing(open_url(Workspace(scratch), server.url)) as there:
            loads[POSTGRES] = loaded(there, given.links, server)
        print_loads(loads, given.links)


if __name__ == "__main__":
    main()
