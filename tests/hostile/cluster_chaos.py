"""Crawls by a cluster whose crawlers, driver and sessions are killed; whether they keep what they promise.

    python -m hostile.cluster_chaos --kills 200 --output ../out/cluster-chaos      # in tests/; or: make chaos-cluster

An episode crawls a generated web to its end with three crawlers on Ray and a PostgreSQL of its own. On the way crawlers
are killed (SIGKILL) or stopped for a while, the driver is killed with all that it has started, and sessions of the
database are ended, each at a random moment. In every other pair of episodes Ray has nodes, as on several machines: they
outlive the driver, and a node is lost with all that runs on it, and another one comes. Or they are cut off from each
other for longer than Ray waits for a word: the driver stands still, or a node does, whose crawlers go on meanwhile.
Afterwards every reachable page has to be there once, in the database and in the archives, and the server's log has to
show that no host and no address was asked too soon.

Every finished episode is a line of results.jsonl; the same command goes on after the last one. Ctrl-C loses at most the
episode under way.
"""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import psycopg

from hostile.chaos import serving
from hostile.episodes import Result, run_episodes
from hostile.promises import check_archive, check_nothing_lost, check_politeness
from lycosa.lab.generated.web import GeneratedWeb, WebPlan
from lycosa.opened import opened
from postgres_server import running_server

TESTS = Path(__file__).parents[1]
DELAY = 0.1
CRAWLERS = 3
DISTURBANCES = (*["crawler"] * 6, *["sessions"] * 4, "driver", "stop")
"""How often each comes up."""
OF_NODES = (*["node"] * 4, "cut node", "cut driver")
"""Where Ray has nodes."""
CUT_SECONDS = 90.0
"""For which the driver stands still: Ray has given up a silent node after 66 s here."""
LONGEST_CUT = 180.0
WHILE_CUT = 20.0
"""Seconds for which a node stays cut off once Ray has given it up: others take over its shards, and shut it out."""
NODES = 2
NODE_PROCESSORS = 3
"""As many as there are crawlers: one node must be enough while another is lost."""
KILLS_AN_EPISODE = 25
LONGEST_WAIT = 60.0
"""Seconds for requests that a disturbance waits for."""
LONGEST_EPISODE = 900.0
END_SESSIONS = """
select count(pg_terminate_backend(pid)) from pg_stat_activity where application_name = 'lycosa'
"""


class Nodes:
    """A Ray cluster with a head and some nodes, each with processes of its own, on this machine."""

    def __init__(self) -> None:
        from ray.cluster_utils import Cluster

        self._cluster: Any = Cluster(initialize_head=True, head_node_args={"num_cpus": 0, "include_dashboard": False})
        self.address: str = self._cluster.address
        self._nodes = [self._new() for _ in range(NODES)]

    def _new(self) -> Any:
        return self._cluster.add_node(num_cpus=NODE_PROCESSORS, wait=True)

    def lose_one(self, some: random.Random) -> None:
        """At once, without a word to anybody; then another one comes."""
        self._cluster.remove_node(self._nodes.pop(some.randrange(len(self._nodes))), allow_graceful=False)
        self._nodes.append(self._new())

    def cut_one(self, some: random.Random) -> None:
        """Nobody hears of a node any more, but what runs on it goes on; another one comes. When it is heard again, it
        was given up."""
        node = self._nodes.pop(some.randrange(len(self._nodes)))
        raylet = psutil.Process(node.all_processes["raylet"][0].process.pid)
        raylet.suspend()
        self._nodes.append(self._new())
        deadline = time.monotonic() + LONGEST_CUT
        while self._is_alive(node):
            assert time.monotonic() < deadline, "Ray has not given up the node that it cannot hear"
            time.sleep(0.5)
        time.sleep(WHILE_CUT)
        raylet.resume()
        with suppress(psutil.TimeoutExpired):
            raylet.wait(15)
        self._cluster.remove_node(node, allow_graceful=False)

    def _is_alive(self, node: Any) -> bool:
        """As far as Ray knows."""
        return any(row["Alive"] for row in self._cluster.global_state.node_table() if row["NodeID"] == node.unique_id)

    def close(self) -> None:
        self._cluster.shutdown()


class ClusterEpisode:
    def __init__(self, number: int, folder: Path, store: str) -> None:
        self.number = number
        self.folder = folder
        self.store = store
        self.some = random.Random(number)
        self.strategy = ("hunter", "best-first")[number % 2]
        self.plan = WebPlan(seed=number + 1, pages=400, hosts=16, topics=3, out_degree=12, crawl_delay=0.2)
        self.done: Counter[str] = Counter()
        self.driver: subprocess.Popen[bytes] | None = None
        self.nodes: Nodes | None = None

    @property
    def crawl(self) -> Path:
        return self.folder / "crawl"

    def run(self) -> dict[str, object]:
        began = time.monotonic()
        try:
            if self.number % 4 > 1:
                self.nodes = Nodes()
            with serving(self.plan, self.folder) as facts:
                web = GeneratedWeb(self.plan)
                seeds = web.seeds(0, 3, np.random.default_rng(3))
                command = self.command(web, [web.url(page, port=facts["port"]) for page in seeds], facts["overrides"])
                while sum(self.done.values()) < KILLS_AN_EPISODE:
                    process = self.started(command)
                    if not self.wait_for_requests(process, self.some.randrange(0, 20)):
                        break
                    self.disturb(process, self.some.choice((*DISTURBANCES, *(OF_NODES if self.nodes else ()))))
                    print(f"\repisode {self.number}: {dict(self.done)}", end="", file=sys.stderr, flush=True)
                code = self.started(command).wait(timeout=LONGEST_EPISODE)
                assert code == 0, f"the last run ended with {code}: {self.said()}"
                pages = self.check(web, seeds)
                requests = check_politeness(self.folder / "requests.jsonl", DELAY)
        finally:
            self.end_driver()
            if self.nodes is not None:
                self.nodes.close()
        return {
            "episode": self.number, "nodes": NODES * bool(self.nodes), "strategy": self.strategy,
            "pages": pages, "requests": requests,
            "seconds": round(time.monotonic() - began), "kills": sum(self.done.values()), **self.done,
        }  # fmt: skip

    def check(self, web: GeneratedWeb, seeds: list[int]) -> int:
        with opened(self.crawl, over_shards=True) as (_, _, store):
            found = [(page.url, page.archive_file) for page in store.pages()]
            assert store.totals().waiting == 0, f"{store.totals().waiting} links still wait"
            tries = [row.link_id for row in store.outcomes() if row.kind == "fetched"]
            assert len(tries) == len(set(tries)) == len(found), "a page was counted twice"
        check_nothing_lost(web, seeds, [url for url, _ in found])
        for shard in range(CRAWLERS):
            urls = [url for url, file in found if file.startswith(f"{shard:04d}/")]
            check_archive(self.crawl / "shards" / f"{shard:04d}" / "archive", urls)
        return len(found)

    def said(self) -> str:
        return (self.folder / "stderr").read_text(errors="replace")[-800:]

    def command(self, web: GeneratedWeb, urls: list[str], overrides: object) -> list[str]:
        assert isinstance(overrides, dict)
        lines = "\n".join(f'"{host}" = "{address}"' for host, address in overrides.items())
        config = self.folder / "settings.toml"
        config.write_text(
            f"[politeness]\ndelay = {DELAY}\nfetch_time_factor = 0.0\n[readers]\ncount = 1\n[budget]\npages = 100000\n"
            f'[http]\ndeadline = 5.0\n[network]\nallow = ["127.0.0.0/8"]\n[network.resolve]\n{lines}\n'
        )
        words = [sys.executable, "-c", "from lycosa.cli import main; main()", "crawl", web.topic_keywords(0)]
        words += ["--quiet", "--strategy", self.strategy, "--store", self.store, "--cluster", str(CRAWLERS)]
        words += ["--ray", self.nodes.address] if self.nodes is not None else []
        return [*words, "-o", str(self.crawl), "-c", str(config), *(word for url in urls for word in ("--seed", url))]

    def started(self, command: list[str]) -> subprocess.Popen[bytes]:
        """The driver, which may be running."""
        if self.driver is None:
            with (self.folder / "stderr").open("ab") as errors:
                self.driver = subprocess.Popen(command, stderr=errors, stdout=errors, start_new_session=True)
        return self.driver

    def family(self) -> list[psutil.Process]:
        """All that the driver has started; crawlers on nodes are not among it."""
        with suppress(psutil.NoSuchProcess):
            if self.driver is not None:
                return psutil.Process(self.driver.pid).children(recursive=True)
        return []

    def crawlers(self) -> list[psutil.Process]:
        found = []
        for process in psutil.Process().children(recursive=True):
            with suppress(psutil.Error):
                if "CrawlerActor" in " ".join(process.cmdline()):
                    found.append(process)
        return found

    def disturb(self, process: subprocess.Popen[bytes], what: str) -> None:
        time.sleep(self.some.uniform(0, 0.1))
        if what == "sessions":
            with psycopg.connect(self.store, autocommit=True) as db:
                row = db.execute(END_SESSIONS.encode()).fetchone()
            self.done["sessions"] += bool(row and row[0])
        elif what == "driver":
            self.end_driver()
            self.done["driver"] += 1
        elif what == "node":
            assert self.nodes is not None
            self.nodes.lose_one(self.some)
            self.done["node"] += 1
        elif what == "cut node":
            assert self.nodes is not None
            self.nodes.cut_one(self.some)
            self.done[what] += 1
        elif what == "cut driver":
            process.send_signal(signal.SIGSTOP)
            time.sleep(CUT_SECONDS)
            process.send_signal(signal.SIGCONT)
            self.done[what] += 1
        elif crawlers := self.crawlers():
            victim = self.some.choice(crawlers)
            with suppress(psutil.NoSuchProcess):
                if what == "stop":
                    victim.send_signal(signal.SIGSTOP)
                    time.sleep(self.some.uniform(0.5, 4.0))
                    victim.send_signal(signal.SIGCONT)
                else:
                    victim.kill()
                self.done[what] += 1

    def end_driver(self) -> None:
        """Kill the driver; what it has started should end by itself, and is killed if it has not."""
        family = self.family()
        if self.driver is not None:
            self.driver.kill()
            self.driver.wait()
            self.driver = None
        _, alive = psutil.wait_procs(family, timeout=30)
        for process in alive:
            with suppress(psutil.NoSuchProcess):
                process.kill()

    def wait_for_requests(self, process: subprocess.Popen[bytes], count: int) -> bool:
        """Whether the crawl still runs."""
        log = self.folder / "requests.jsonl"
        before = log.read_bytes().count(b"\n") if log.exists() else 0
        deadline = time.monotonic() + LONGEST_WAIT
        while process.poll() is None and time.monotonic() < deadline:
            if log.exists() and log.read_bytes().count(b"\n") >= before + count:
                return True
            time.sleep(0.05)
        return process.poll() is None


def main(words: list[str] | None = None) -> int:
    def episode(number: int, folder: Path) -> Result:
        with running_server() as server:
            return ClusterEpisode(number, folder, server.url).run()

    return run_episodes(episode, words, name="cluster_chaos", about=__doc__.splitlines()[0], kills=200)


if __name__ == "__main__":
    sys.exit(main())
