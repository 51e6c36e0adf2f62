"""make bench-cluster: the same work by one process and by clusters of 2 and 4 crawlers.

    python bench/cluster.py                               # twelve generated webs, 300 of 3,000 pages, each twice
    python bench/cluster.py --recorded --topics 4         # pages of the recorded worlds, labelled by people
    python bench/cluster.py --webs 2 --repeats 1 --nodes 2

One machine plays all: the web's server, PostgreSQL, Ray and the crawlers. So what a cluster costs can be seen here, and
not what several machines are worth. With --nodes, Ray has this many nodes, which stand for machines: each has a raylet
and workers of its own. They are started once for all crawls; without, each crawl starts Ray and ends it.

The harvest is the share of relevant pages among those fetched, seeds left out, by the web's own truth or by people's
labels. It is compared with that of one process on the same web at equal pages and equal fetches under way. Two crawls
by the same command differ, as the order depends on what arrives first: so each is made several times, and the
difference between identical crawls of one process is printed beside the ratios. Standard errors are over webs.

CPU counts all processes from their start. Pages a second count from the first page to the last; Ray's start is told
apart. Ctrl-C ends the bench with the webs that are complete.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote

import numpy as np
import psutil
import psycopg
import tomli_w

from cluster_webs import Task, generated, recorded
from lycosa.opened import opened
from postgres import Server, postgres
from sites import ARTICLES, RECORDED, recorded_world
from table import table

PAGES, WEBS, TOPICS, REPEATS, CRAWLERS = 300, 12, 4, 2, (1, 2, 4)
WEB_SIZE = 10
"""Pages of a generated web for each one that is fetched."""
FETCHES = 16
"""At a time, by all crawlers together: what is under way was chosen without knowing what the rest would bring."""
TRAVEL = """
select count(*), coalesce(sum(case when f.state = 'elsewhere' then 1 else 0 end), 0)
from links l join frontier f on f.id = l.target_id
"""
LETTERS = "select coalesce(sum(number), 0), coalesce(sum(bytes), 0) from received"
TIMES = "select max(fetched_at) - min(fetched_at) from pages"
HEAD = ["crawlers", "harvest", "pages/s", "start s", "CPU ms", "driver and Ray ms", "database ms"]
HEAD += ["links that travel", "letters", "bytes in letters", "load"]

_schemas = count(1)


class Cost(NamedTuple):
    harvest: float
    speed: float
    start: float
    """Seconds from the command to the first page."""
    cpu: float
    """Of crawlers and their readers, ms a page."""
    driver_cpu: float
    """Of the driver and Ray, ms a page."""
    server_cpu: float
    travelled: float
    """Share of the links that belong to another shard."""
    letters: float
    """A page."""
    bytes: float
    """In letters, a page."""
    load: float

    @property
    def whole_cpu(self) -> float:
        return self.cpu + self.driver_cpu + self.server_cpu


Costs = dict[str, dict[int, list[Cost]]]
"""By web and number of crawlers: one for each time that it was crawled."""


class Sampling(threading.Thread):
    """CPU of a crawl and of all processes of Ray below this one, as long as they live."""

    def __init__(self, pid: int) -> None:
        super().__init__(daemon=True)
        self._root = psutil.Process(pid)
        self._first: dict[int, float] = {}
        self._used: dict[int, tuple[bool, float]] = {}
        self.over = threading.Event()
        self._look(is_first=True)

    def run(self) -> None:
        while not self.over.wait(0.3):
            self._look()

    def _look(self, *, is_first: bool = False) -> None:
        own = {self._root.pid}
        with suppress(psutil.NoSuchProcess):
            own.update(each.pid for each in self._root.children(recursive=True))
        for each in psutil.Process().children(recursive=True):
            with suppress(psutil.Error):
                words, times = " ".join(each.cmdline()), each.cpu_times()
                is_crawling = "CrawlerActor" in words or "reader_process" in words
                if not (is_crawling or each.pid in own or "ray" in words):
                    continue
                used = float(times.user + times.system)
                if is_first and each.pid not in own:
                    self._first[each.pid] = used
                self._used[each.pid] = is_crawling, used - self._first.get(each.pid, 0.0)

    def seconds(self, *, is_crawling: bool) -> float:
        return sum(used for crawls, used in self._used.values() if crawls is is_crawling)


@contextmanager
def ray_nodes(number: int, crawlers: int) -> Iterator[str]:
    """The address of a Ray cluster with this many nodes, or an empty string for none."""
    if not number:
        yield ""
        return
    from ray.cluster_utils import Cluster

    made: Any = Cluster(initialize_head=True, head_node_args={"num_cpus": 0, "include_dashboard": False})
    try:
        for _ in range(number):
            made.add_node(num_cpus=crawlers, wait=True)
        yield str(made.address)
    finally:
        made.shutdown()


class Bench:
    def __init__(self, server: Server, ray: str, pages: int) -> None:
        self._server = server
        self._ray = ray
        self._pages = pages

    def crawled(self, task: Task, crawlers: int) -> Cost:
        with tempfile.TemporaryDirectory(prefix="cluster") as name:
            return self._crawled(task, crawlers, Path(name))

    def _crawled(self, task: Task, crawlers: int, folder: Path) -> Cost:
        home = folder / "crawl"
        before, began = self._server.cpu(), time.time()
        process = subprocess.Popen(self._command(task, crawlers, folder))
        sampling = Sampling(process.pid)
        sampling.start()
        if process.wait():
            sys.exit(f"the crawl by {crawlers} failed")
        sampling.over.set()
        sampling.join()
        database = self._server.cpu() - before
        with opened(home, over_shards=True) as (_, _, found):
            rows = list(found.pages())
            seconds = next(found.query(TIMES)[1])[0]
            links, travelled = next(found.query(TRAVEL)[1])
            letters, size = next(found.query(LETTERS)[1]) if crawlers > 1 else (0, 0)
        graded = [row.url for row in rows if row.url not in task.seeds]
        own = sampling.seconds(is_crawling=True), sampling.seconds(is_crawling=False)
        cpu, driver = own if crawlers > 1 else (sum(own), 0.0)
        return Cost(
            sum(map(task.is_relevant, graded)) / len(graded),
            len(rows) / float(seconds),
            min(row.fetched_at for row in rows) - began,
            1e3 * cpu / len(rows),
            1e3 * driver / len(rows),
            1e3 * database / len(rows),
            float(travelled) / links,
            float(letters) / len(rows),
            float(size) / len(rows),
            os.getloadavg()[0],
        )

    def _command(self, task: Task, crawlers: int, folder: Path) -> list[str]:
        schema = f"bench_{next(_schemas)}"
        with psycopg.connect(self._server.url, autocommit=True) as db:
            db.execute(f"create schema {schema}".encode())
        store = f"{self._server.url}&options={quote(f'-csearch_path={schema}')}"
        settings = {
            "politeness": {"delay": 0.0, "fetch_time_factor": 0.0},
            "readers": {"count": 1},
            "judge": {"seeds_are_examples": task.seeds_are_examples},
            "network": {"fetches": FETCHES // crawlers, "allow": ["127.0.0.0/8"], "resolve": task.addresses},
        }
        config = folder / "settings.toml"
        config.write_text(tomli_w.dumps(settings))
        words = [sys.executable, "-c", "from lycosa.cli import main; main()", "crawl", task.topic, "-q"]
        words += ["-c", str(config), "-o", str(folder / "crawl"), "--store", store, "-n", str(self._pages)]
        words += [word for url in task.seeds for word in ("--seed", url)]
        if crawlers > 1:
            words += ["--cluster", str(crawlers), *(["--ray", self._ray] if self._ray else [])]
        return words


def mean(costs: Sequence[Cost], name: str) -> float:
    return float(np.mean([getattr(each, name) for each in costs]))


def error(values: Sequence[float]) -> str:
    return f"± {np.std(values, ddof=1) / np.sqrt(len(values)):.3f}" if len(values) > 1 else "(one web: no error)"


def ratios(found: Costs, crawlers: int) -> list[float]:
    """By web: the harvest of a cluster, against that of one process."""
    return [mean(costs[crawlers], "harvest") / mean(costs[1], "harvest") for costs in found.values()]


def pooled(found: Costs, crawlers: int) -> tuple[float, float]:
    """The harvest of a cluster on all webs together, against that of one process, and its standard error (jackknife):
    webs with little to find weigh little."""
    many, one = (np.array([mean(costs[each], "harvest") for costs in found.values()]) for each in (crawlers, 1))
    without = (many.sum() - many) / (one.sum() - one) if len(one) > 1 else np.zeros(1)
    spread = np.sqrt((len(one) - 1) / len(one) * np.square(without - without.mean()).sum())
    return float(many.sum() / one.sum()), float(spread)


def noise(found: Costs) -> str:
    """Between crawls of one process by the same command: the standard deviation, against the mean of their web."""
    squares = [
        np.var([each.harvest for each in costs[1]], ddof=1) / mean(costs[1], "harvest") ** 2
        for costs in found.values()
        if len(costs[1]) > 1
    ]
    return f"{np.sqrt(np.mean(squares)):.3f}" if squares else "not measured: --repeats 2"


def report(found: Costs, crawlers: Sequence[int]) -> None:
    by_crawlers = {each: [cost for costs in found.values() for cost in costs[each]] for each in crawlers}
    rows = [[str(each), *(f"{mean(costs, name):.3g}" for name in Cost._fields)] for each, costs in by_crawlers.items()]
    print(f"\nmean of {len(found)} webs; CPU, letters and bytes are by page")
    print(table(HEAD, rows))
    if 1 not in crawlers:
        return
    print(f"harvest of two crawls of one process by the same command differs by (standard deviation): {noise(found)}")
    for each in crawlers:
        if each > 1:
            shares = ratios(found, each)
            together, spread = pooled(found, each)
            more = mean(by_crawlers[each], "whole_cpu") - mean(by_crawlers[1], "whole_cpu")
            print(f"{each} crawlers, harvest against one process: {np.mean(shares):.3f} {error(shares)} (mean of webs)")
            print(
                f"    all webs together: {together:.3f} ± {spread:.3f}; by web: {', '.join(f'{x:.3f}' for x in shares)}"
            )
            print(f"    CPU beyond that of one process: {more:.1f} ms a page")
    loads = [cost.load for costs in by_crawlers.values() for cost in costs]
    print(f"load of the machine at the end of crawls: {min(loads):.1f} to {max(loads):.1f} on {os.cpu_count()} cores")


def webs(given: argparse.Namespace) -> Iterator[list[Task]]:
    """One list of tasks after the other, served while it is worked on."""
    if given.recorded:
        for world in (ARTICLES, RECORDED):
            if recorded_world(world) is None:
                print(f"{world} is not here: left out; LYCOSA_SHARED names the directory of worlds/", file=sys.stderr)
                continue
            with recorded(world, given.first, given.topics) as tasks:
                yield tasks
        return
    for number in range(given.first, given.first + given.webs):
        with generated(number, WEB_SIZE * given.pages) as tasks:
            yield tasks


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    options.add_argument("--pages", type=int, default=PAGES, help="to fetch in each crawl")
    options.add_argument("--webs", type=int, default=WEBS, help="number of generated webs")
    options.add_argument("--first", type=int, default=0, help="number of the first web or topic")
    options.add_argument("--recorded", action="store_true", help="recorded pages with labels by people instead")
    options.add_argument("--topics", type=int, default=TOPICS, help="of each recorded world")
    options.add_argument("--repeats", type=int, default=REPEATS, help="how often each crawl is made")
    options.add_argument("--crawlers", type=int, nargs="+", default=list(CRAWLERS))
    options.add_argument("--nodes", type=int, default=0, help="nodes of Ray that stand for machines; 0: none")
    given = options.parse_args()
    found: Costs = defaultdict(lambda: defaultdict(list))
    crawls_of_a_web = given.repeats * len(given.crawlers)
    crawls = crawls_of_a_web * (2 * given.topics if given.recorded else given.webs)
    began = time.monotonic()
    with postgres() as server, ray_nodes(given.nodes, max(given.crawlers)) as ray, suppress(KeyboardInterrupt):
        bench = Bench(server, ray, given.pages)
        turns = ((task, each) for tasks in webs(given) for task in tasks for each in given.repeats * given.crawlers)
        for done, (task, crawlers) in enumerate(turns, start=1):
            cost = bench.crawled(task, crawlers)
            found[task.name][crawlers].append(cost)
            left = (time.monotonic() - began) / done * (crawls - done) / 60
            figures = ", ".join(f"{name} {value:.3g}" for name, value in cost._asdict().items())
            print(f"{done} of {crawls}, {left:.0f} min left: {task.name}, {crawlers}: {figures}", flush=True)
    whole = {name: costs for name, costs in found.items() if sum(map(len, costs.values())) == crawls_of_a_web}
    if not whole:
        sys.exit("no web was crawled by all: nothing to compare")
    print(f"\n{given.pages:,} pages a crawl, hunter, {FETCHES} fetches under way in all, {given.nodes} nodes of Ray")
    report(whole, given.crawlers)


if __name__ == "__main__":
    main()
