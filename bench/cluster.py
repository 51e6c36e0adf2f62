"""make bench-cluster: the same work by one process and by clusters of 2 and 4 crawlers, on generated webs.

    python bench/cluster.py                          # 600 of 6,000 pages, three webs
    python bench/cluster.py --pages 300 --webs 1

One machine plays all: the web's server, PostgreSQL, Ray and the crawlers. So what a cluster costs can be seen here, and
not what several machines are worth: CPU of crawlers and of the database for each page, the links, letters and bytes
that travel, and the harvest, which is by the web's own truth, against that of the single process at equal pages. Pages
a second count from the first page to the last; Ray's start is told apart.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

import numpy as np
import psutil
import psycopg

from lycosa.lab.generated.server import Served, served
from lycosa.lab.generated.web import GeneratedWeb, WebPlan
from lycosa.opened import opened
from postgres import Server, postgres
from table import table

PAGES, WEBS, CRAWLERS = 600, 3, (1, 2, 4)
FETCHES = 16
"""At a time, by all crawlers together: what is under way was chosen without knowing what the rest would bring."""
ADDRESSES = 200
TRAVEL = """
select count(*), coalesce(sum(case when f.state = 'elsewhere' then 1 else 0 end), 0)
from links l join frontier f on f.id = l.target_id
"""
LETTERS = "select coalesce(sum(number), 0), coalesce(sum(bytes), 0) from received"
TIMES = "select max(fetched_at) - min(fetched_at) from pages"


class Cost(NamedTuple):
    harvest: float
    """Share of the pages that are about the topic, by the web's own truth."""
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


class Sampling(threading.Thread):
    """CPU of a process and of all that it has started, as long as they live."""

    def __init__(self, pid: int) -> None:
        super().__init__(daemon=True)
        self._root = psutil.Process(pid)
        self._used: dict[int, tuple[bool, float]] = {}
        self.over = threading.Event()

    def run(self) -> None:
        while not self.over.wait(0.3):
            try:
                family = [self._root, *self._root.children(recursive=True)]
            except psutil.NoSuchProcess:
                return
            for each in family:
                try:
                    times, words = each.cpu_times(), " ".join(each.cmdline())
                except psutil.Error:
                    continue
                is_crawling = "CrawlerActor" in words or "reader_pool" in words
                self._used[each.pid] = is_crawling, float(times.user + times.system)

    def seconds(self, *, is_crawling: bool) -> float:
        return sum(used for crawls, used in self._used.values() if crawls is is_crawling)


def crawled(web: GeneratedWeb, at: Served, server: Server, folder: Path, crawlers: int, pages: int) -> Cost:
    schema = f"bench_{folder.name}_{crawlers}"
    with psycopg.connect(server.url, autocommit=True) as db:
        db.execute(f"create schema {schema}".encode())
    store = f"{server.url}&options={quote(f'-csearch_path={schema}')}"
    seeds = web.seeds(0, 3, np.random.default_rng(1))
    config = folder / "settings.toml"
    names = "\n".join(f'"{host}" = "{address}"' for host, address in at.overrides.items())
    config.write_text(
        "[politeness]\ndelay = 0.0\nfetch_time_factor = 0.0\n[readers]\ncount = 1\n"
        f'[network]\nfetches = {FETCHES // crawlers}\nallow = ["127.0.0.0/8"]\n[network.resolve]\n{names}\n'
    )
    words = [sys.executable, "-c", "from lycosa.cli import main; main()", "crawl", web.topic_keywords(0), "-q"]
    words += ["-c", str(config), "-o", str(folder / str(crawlers)), "--store", store, "-n", str(pages)]
    words += [word for page in seeds for word in ("--seed", web.url(page, port=at.port))]
    if crawlers > 1:
        words += ["--cluster", str(crawlers)]
    before, began = server.cpu(), time.time()
    process = subprocess.Popen(words)
    sampling = Sampling(process.pid)
    sampling.start()
    if process.wait():
        sys.exit(f"the crawl by {crawlers} failed")
    sampling.over.set()
    sampling.join()
    with opened(folder / str(crawlers), over_shards=True) as (_, _, found):
        rows = list(found.pages())
        seconds = next(found.query(TIMES)[1])[0]
        links, travelled = next(found.query(TRAVEL)[1])
        letters, size = next(found.query(LETTERS)[1]) if crawlers > 1 else (0, 0)
    about = [page for row in rows if (page := web.page_of(row.url)) is not None and web.topic_of(page) == 0]
    own = sampling.seconds(is_crawling=True), sampling.seconds(is_crawling=False)
    cpu, driver = own if crawlers > 1 else (sum(own), 0.0)
    count = len(rows)
    return Cost(
        len(about) / count,
        count / float(seconds),
        min(row.fetched_at for row in rows) - began,
        1e3 * cpu / count,
        1e3 * driver / count,
        1e3 * (server.cpu() - before) / count,
        float(travelled) / links,
        float(letters) / count,
        float(size) / count,
    )


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    options.add_argument("--pages", type=int, default=PAGES)
    options.add_argument("--webs", type=int, default=WEBS)
    options.add_argument("--crawlers", type=int, nargs="+", default=CRAWLERS)
    given = options.parse_args()
    print(f"load of the machine: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    found: dict[int, list[Cost]] = {count: [] for count in given.crawlers}
    with postgres() as server:
        for number in range(given.webs):
            plan = WebPlan(seed=40 + number, pages=10 * given.pages, hosts=200, topics=6)
            web = GeneratedWeb(plan)
            with served(plan, addresses=ADDRESSES) as at, tempfile.TemporaryDirectory(prefix="cluster") as name:
                folder = Path(name) / f"web{number}"
                folder.mkdir()
                for count in given.crawlers:
                    cost = crawled(web, at, server, folder, count, given.pages)
                    found[count].append(cost)
                    print(f"web {number}, {count} crawlers: {cost}", flush=True)
    rows = [
        [str(count), *(f"{np.mean([each[place] for each in costs]):.3g}" for place in range(len(Cost._fields)))]
        for count, costs in found.items()
    ]
    print(f"\n{given.pages:,} of {10 * given.pages:,} pages, hunter, mean of {given.webs} webs")
    head = ["crawlers", "harvest", "pages/s", "start s", "CPU ms", "driver ms", "database ms"]
    print(table([*head, "links that travel", "letters", "bytes"], rows))
    if 1 in found:
        for count, costs in found.items():
            if count > 1:
                shares = [many.harvest / one.harvest for many, one in zip(costs, found[1], strict=True)]
                words = ", ".join(f"{share:.3f}" for share in shares)
                print(f"harvest of {count} crawlers / of one, by web: {words}; mean {np.mean(shares):.3f}")
    print(f"load of the machine: {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
