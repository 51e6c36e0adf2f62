"""The hunter and best-first on a web of many hosts over real connections: what politeness and parallel fetches cost.

    python bench/hunter_live.py               # about a quarter of an hour, hardly any of it CPU
    python bench/hunter_live.py --quick       # a try

A replay fetches the best link, learns, and chooses the next. A live crawl may ask a host only once a second, and has
several fetches under way whose results it does not know yet: it takes the best link of the hosts that are ready. Here
both orders crawl the same generated web, served on loopback by a process of its own, one address a host, each answer
after a fifth of a second. Seeds, words and the judge (contrast) are the same, the machine is that of `lycosa crawl`.
Each crawl has the same time. Four settings take the two causes apart: delay of a second (the default) or next to none,
16 fetches at a time or 4.

Relevant is what the plan of the web says, copies and seeds left out. "of first" is the share of relevant pages among
the first pages, as many as every crawl of the topic has fetched: crawls that got further have less left to find. "of
allowed" is the share of what could be found in this time by one who knows everything from the start. How far readiness
bent the order is seen at each lease: how many waiting links had a better score, and by how much the best of them (at
most 1: hunter's seeds have more) was better.

Differs from bench/hunter.py: there best-first's judge has read the seeds. In a live crawl only a strategy that learns
makes examples of them, so best-first's has the words alone.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from lycosa.config import Config, build
from lycosa.crawl.watching import Silence, View
from lycosa.engine import Crawl
from lycosa.frontier.frontier import Frontier
from lycosa.lab.generated.web import GeneratedWeb, WebPlan
from lycosa.store.sqlite import SqliteStore
from lycosa.workspace import Workspace
from table import ratio, table

PLAN = WebPlan(seed=17, pages=30_000, hosts=120, topics=10, crawl_delay=0.0)
LATENCY = 0.2
"""Seconds a host takes to answer."""
SEEDS = 5
STRATEGIES = ("hunter", "best-first")
TOPICS = ("railways", "astronomy", "beekeeping")
SECONDS, QUICK_SECONDS = 40.0, 10.0
BEST = 1.0
"""No score but those of hunter's seeds is better."""


@dataclass(frozen=True, slots=True)
class Setting:
    delay: float
    fetches: int

    def __str__(self) -> str:
        return f"{self.delay:g} s, {self.fetches} at a time"


SETTINGS = (Setting(1.0, 16), Setting(1.0, 4), Setting(0.01, 16), Setting(0.01, 4))


@dataclass(frozen=True, slots=True)
class Result:
    """One crawl, by the truth."""

    is_relevant: Sequence[bool]
    """By page, in the order in which they were fetched."""
    hosts: int
    """With a relevant page."""
    allowed: float
    """Relevant pages that delay, latency and the number of fetches let anyone fetch in this time."""
    seconds: float
    cpu: float
    """Seconds of CPU, readers included, the server's not."""
    passed_over: float
    """Mean number of waiting links with a better score than the one that was leased."""
    gap: float
    """Mean difference of the best waiting score and the one that was leased."""
    under_way: float
    """Mean number of fetches."""

    @property
    def relevant(self) -> int:
        return sum(self.is_relevant)

    @property
    def per_hour(self) -> float:
        return self.relevant / self.seconds * 3600


class Onlooker(Silence):
    """Sees, lease by lease, what had to wait although it was better."""

    def __init__(self) -> None:
        self.passed_over: list[int] = []
        self.gaps: list[float] = []
        self._busy = 0.0
        self._looked = 0.0
        self._began = 0.0

    def begin(self, view: View) -> None:
        frontier = view.frontier
        # The frontier does not say what it passes over: every lease goes through here instead.
        vars(frontier)["lease"] = self._watched(frontier, frontier.lease)
        self._view = view
        self._began = self._looked = time.monotonic()

    def _watched(self, frontier: Frontier, lease: Callable[[float], int | None]) -> Callable[[float], int | None]:
        def watched(now: float) -> int | None:
            best = frontier.best_score()
            link = lease(now)
            if link is not None and best is not None:
                score = frontier.score_of(link)
                waiting = frontier.scores(frontier.waiting_links())
                self.passed_over.append(int(np.count_nonzero(waiting > score)))
                self.gaps.append(min(best, BEST) - min(score, BEST))
            return link

        return watched

    def look(self) -> None:
        now = time.monotonic()
        self._busy += (now - self._looked) * self._view.visitor.in_flight
        self._looked = now

    @property
    def under_way(self) -> float:
        return self._busy / (self._looked - self._began)


class Course:
    """A web that is being served, and a place for crawls of it."""

    def __init__(self, web: GeneratedWeb, server: dict[str, Any], scratch: Path) -> None:
        self._web = web
        self._server = server
        self._scratch = scratch

    def run(self, topic: str, strategy: str, setting: Setting, seconds: float) -> Result:
        number = self._web.topic_names.index(topic)
        seeds = self._web.seeds(number, SEEDS, np.random.default_rng(number))
        workspace = Workspace(Path(tempfile.mkdtemp(dir=self._scratch)) / strategy)
        onlooker = Onlooker()
        config = self._config(number, seeds, strategy, setting, seconds)
        began, cpu = time.monotonic(), _cpu_seconds()
        Crawl(config=config, directory=workspace.directory).run(watcher=onlooker)
        took, cpu = time.monotonic() - began, _cpu_seconds() - cpu
        pages = self._fetched(workspace)
        wanted = self._web.targets(number, seeds).difference(map(self._web.original, seeds))
        allowed = self._allowed(wanted, setting, took)
        is_relevant = []
        hosts = set()
        for page in pages:
            original = None if page is None else self._web.original(page)
            is_relevant.append(original in wanted)
            if page is not None and original in wanted:
                wanted.discard(original)
                hosts.add(self._web.host_of(page))
        return Result(
            is_relevant=is_relevant,
            hosts=len(hosts),
            allowed=allowed,
            seconds=took,
            cpu=cpu,
            passed_over=float(np.mean(onlooker.passed_over)),
            gap=float(np.mean(onlooker.gaps)),
            under_way=onlooker.under_way,
        )

    def _config(self, topic: int, seeds: list[int], strategy: str, setting: Setting, seconds: float) -> Config:
        return build(
            (
                "bench",
                {
                    "topic": self._web.topic_keywords(topic),
                    "seeds": [self._web.url(page, port=self._server["port"]) for page in seeds],
                    "strategy": strategy,
                    "judge": {"kind": "contrast"},
                    "budget": {"pages": len(self._web), "seconds": seconds},
                    "politeness": {"delay": setting.delay, "fetch_time_factor": 0.0},
                    "network": {
                        "fetches": setting.fetches,
                        "allow": ["127.0.0.0/8"],
                        "resolve": self._server["overrides"],
                    },
                },
            )
        )

    def _allowed(self, wanted: set[int], setting: Setting, seconds: float) -> float:
        """Of each host as many as its clock allows, of all together as many as can be under way."""
        by_host = Counter(map(self._web.host_of, wanted))
        most = seconds / (setting.delay + LATENCY)
        return min(sum(min(count, most) for count in by_host.values()), setting.fetches * seconds / LATENCY)

    def _fetched(self, workspace: Workspace) -> list[int | None]:
        store = SqliteStore(workspace.database, read_only=True)
        try:
            return [self._web.page_of(url) for (url,) in store.query("select url from harvest order by number")[1]]
        finally:
            store.close()


def _cpu_seconds() -> float:
    """Of this process and of the children it has waited for."""
    return sum(os.times()[:4])


@contextmanager
def _serving(web: GeneratedWeb) -> Iterator[dict[str, Any]]:
    """The web, an address for each host; what the server says of itself."""
    options = [f"--{name.replace('_', '-')}={value}" for name, value in asdict(web.plan).items()]
    slow = [f"--fault={host}=slow/{LATENCY}" for host in web.hosts]
    command = [sys.executable, "-m", "hostile.server", *options, *slow, f"--addresses={web.plan.hosts}"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, cwd=Path(__file__).parents[1] / "tests")
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        if not line:
            raise SystemExit("the web server did not start; its message is above")
        yield json.loads(line)
    finally:
        process.terminate()
        process.wait()


def report(results: dict[tuple[str, Setting, str], Result], seconds: float) -> str:
    """Means over topics; the hunter's harvest an hour as a multiple of best-first's, topic by topic."""
    topics = list(dict.fromkeys(topic for topic, _, _ in results))
    least = {
        topic: min(len(result.is_relevant) for (of, _, _), result in results.items() if of == topic) for topic in topics
    }
    rows = []
    for setting in SETTINGS:
        for strategy in STRATEGIES:
            own = [results[topic, setting, strategy] for topic in topics]
            first = [np.mean(result.is_relevant[: least[topic]]) for topic, result in zip(topics, own, strict=True)]
            others = [results[topic, setting, STRATEGIES[1]] for topic in topics]
            times = [ratio(a.per_hour, b.per_hour) for a, b in zip(own, others, strict=True)]
            pages = [len(result.is_relevant) for result in own]
            rows.append(
                (
                    f"{setting}: {strategy}",
                    f"{np.mean(pages):,.0f}",
                    f"{np.mean([result.relevant for result in own]):,.0f}",
                    f"{np.mean([result.hosts for result in own]):.0f}",
                    f"{np.mean([result.relevant / len(result.is_relevant) for result in own]):.1%}",
                    f"{np.mean(first):.1%}",
                    f"{np.mean([result.per_hour for result in own]):,.0f}",
                    f"{np.mean([result.relevant / result.allowed for result in own]):.0%}",
                    " ".join(times) if strategy == STRATEGIES[0] else "",
                    f"{np.mean([result.passed_over for result in own]):,.0f}",
                    f"{np.mean([result.gap for result in own]):.2f}",
                    f"{np.mean([result.under_way for result in own]):.1f}",
                    f"{np.mean([result.cpu / result.seconds for result in own]):.0%}",
                )
            )
    head = (
        f"live: {', '.join(topics)}; {seconds:g} s each",
        "pages",
        "relevant",
        "hosts",
        "of pages",
        f"of first {'/'.join(f'{count:,}' for count in least.values())}",
        "an hour",
        "of allowed",
        "to best-first",
        "passed over",
        "gap",
        "under way",
        "CPU of a core",
    )
    cpu = sum(result.cpu for result in results.values())
    took = sum(result.seconds for result in results.values())
    return f"{table(head, rows)}\n{cpu:.0f} s of CPU in {took:.0f} s, without the server's"


def live(*, is_quick: bool, seconds: float = 0.0, topics: Sequence[str] = TOPICS) -> str:
    """Crawl in every setting; the table. `seconds`: of each crawl, 0 for the usual."""
    seconds = seconds or (QUICK_SECONDS if is_quick else SECONDS)
    topics = topics[:1] if is_quick else topics
    web = GeneratedWeb(PLAN)
    results = {}
    with tempfile.TemporaryDirectory() as scratch, _serving(web) as server:
        course = Course(web, server, Path(scratch))
        course.run(topics[0], STRATEGIES[0], SETTINGS[-1], 2.0)  # loads compiled code, which would count for the first
        for topic in topics:
            for setting in SETTINGS:
                for strategy in STRATEGIES:
                    results[topic, setting, strategy] = course.run(topic, strategy, setting, seconds)
    return report(results, seconds)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--seconds", type=float, default=0.0, help="of each crawl")
    parser.add_argument("--topics", nargs="+", default=TOPICS, choices=GeneratedWeb(PLAN).topic_names)
    given = parser.parse_args()
    print(live(is_quick=given.quick, seconds=given.seconds, topics=given.topics))


if __name__ == "__main__":
    main()
