"""How much the hunter finds, next to every other strategy with the same judge; and what it costs.

    make bench-hunter                     # about five minutes of CPU
    python bench/hunter.py --quick        # a try
    python bench/hunter.py --half development

Five pages of a topic are seeds and the judge's only examples, with the topic's words; they are not graded. Figure: the
area under the curve of relevant pages found, as share of the way from a random order to an oracle (which knows
whether a waiting page is relevant) and to a look-ahead oracle (which knows the ways, too). Topics are split into halves
by `tasks.split_topics`: constants were chosen on the development half, the other one is what counts.
"""

from __future__ import annotations

import argparse
import os
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import wilcoxon

from hunter_cost import grow
from lycosa.frontier.strategies import strategy
from lycosa.frontier.strategy import StrategyParts
from lycosa.model import Page
from lycosa.relevance.contrast import ContrastJudge, ContrastSettings
from lycosa.worlds.build import build, build_generated
from lycosa.worlds.generated import GeneratedWeb, WebPlan
from lycosa.worlds.lookahead import LookAhead
from lycosa.worlds.oracle import Oracle
from lycosa.worlds.replay import JudgedWorld, Track, replay
from lycosa.worlds.tasks import Task, make_task, split_topics
from lycosa.worlds.world import World
from table import table

ROOT = Path(__file__).resolve().parents[1]
SHARED = Path(os.environ.get("LYCOSA_SHARED") or ROOT.parent / "shared")
LEAST_PAGES = 30
"""Of a topic."""
SEEDS = 5
RANDOMS = 2
OTHERS = ("best-first", "breadth-first", "shark", "evolved", "pagerank", "infospiders")
ABLATIONS: dict[str, dict[str, Any]] = {
    "without citing pages": {"hunter.has_pages": False},
    "without link texts": {"hunter.has_text": False},
    "without URLs": {"hunter.has_urls": False},
    "without hosts and folders": {"hunter.has_places": False},
    "without learning weights": {"hunter.freedom": 0.0},
}
NO_NEGATIVES = "without the judge's negatives"
ABLATED_TOPICS = 6


@dataclass(frozen=True, slots=True)
class Result:
    """One topic. By name of the order: area under the curve, pages found, hosts with one."""

    area: dict[str, float]
    found: dict[str, float]
    hosts: dict[str, float]

    def share(self, name: str, bound: str = "oracle") -> float:
        low, high = self.area["random"], self.area[bound]
        return (self.area[name] - low) / (high - low)


class Course:
    """A world, and pages read once for all crawls."""

    def __init__(self, world: World, pages: int) -> None:
        self.world = world
        self.pages = pages
        self._read: dict[int, Page] = {}

    def page(self, number: int) -> Page:
        known = self._read.get(number)
        if known is None:
            known = self._read[number] = self.world.page(number)
        return known

    def run(self, topic: str, repeat: int, *, has_ablations: bool) -> Result | None:
        """None: nothing can be found from these seeds, or everything is found whatever the order."""
        rng = np.random.default_rng([repeat, zlib.crc32(topic.encode())])
        task = make_task(self.world, topic, distance=0, seeds=SEEDS, rng=rng)
        result = Result({}, {}, {})
        wanted = task.relevant & task.is_graded
        judge = self._judge(task, ContrastSettings())
        judged = JudgedWorld(self.world, judge, read=self.page)
        for name, kind in (("oracle", Oracle), ("look-ahead", LookAhead)):
            self._grade(result, name, judged, task, lambda found, kind=kind: kind(self.world, wanted, found))
        areas = []
        for number in range(RANDOMS):
            parts = StrategyParts(rng=np.random.default_rng([repeat, number]))
            self._grade(result, "random", judged, task, strategy("random", parts))
            areas.append(result.area["random"])
        result.area["random"] = float(np.mean(areas))
        if result.area["oracle"] - result.area["random"] < 1:
            return None
        for name, order, settings in _orders(has_ablations):
            parts = StrategyParts.of(judge, rng=np.random.default_rng(repeat))
            self._grade(result, name, judged, task, strategy(order, parts, settings))
        if has_ablations:
            parts = StrategyParts.of(self._judge(task, ContrastSettings(negative_pages=1e9)), rng=rng)
            self._grade(result, NO_NEGATIVES, judged, task, strategy("hunter", parts))
        return result

    def _judge(self, task: Task, settings: ContrastSettings) -> ContrastJudge:
        return ContrastJudge.fit([self.page(int(seed)) for seed in task.seeds], task.keywords, settings=settings)

    def _grade(self, result: Result, name: str, judged: JudgedWorld, task: Task, order: Any) -> None:
        track: Track = replay(judged, order, task.seeds.tolist(), pages=self.pages)
        visited = np.array(track.pages)
        is_found = (task.relevant & task.is_graded)[visited]
        is_found &= _is_first(self.world.fingerprints[visited])
        curve = np.cumsum(is_found)
        curve = np.concatenate([curve, np.full(self.pages - len(curve), curve[-1])])
        result.area[name] = float(curve.mean())
        result.found[name] = float(curve[-1])
        result.hosts[name] = float(len(np.unique(self.world.host_of[visited[is_found]])))


def _orders(has_ablations: bool) -> Iterator[tuple[str, str, dict[str, Any]]]:
    yield "hunter", "hunter", {}
    for name in OTHERS:
        yield name, name, {}
    for name, settings in ABLATIONS.items() if has_ablations else ():
        yield name, "hunter", settings


def _is_first(prints: NDArray[np.uint64]) -> NDArray[np.bool_]:
    """Which pages are not copies of an earlier one."""
    is_first = np.asarray(prints == 0)
    is_first[np.unique(prints, return_index=True)[1]] = True
    return is_first


def report(title: str, results: list[Result]) -> str:
    rows = []
    for name in ("hunter", *OTHERS, *ABLATIONS, NO_NEGATIVES):
        known = [result for result in results if name in result.area]
        if not known:
            continue
        shares = np.array([result.share(name) for result in known])
        ahead = [result.share(name, "look-ahead") for result in known]
        hunter = np.array([result.share("hunter") for result in known])
        p = (
            wilcoxon(hunter, shares).pvalue
            if name != "hunter" and len(known) > 4 and (hunter != shares).any()
            else None
        )
        rows.append(
            (
                name,
                f"{shares.mean():.3f} ± {shares.std(ddof=1) / np.sqrt(len(shares)):.3f}" if len(shares) > 1 else "–",
                f"{np.mean(ahead):.3f}",
                "" if name == "hunter" else f"{(shares - hunter).mean():+.3f}",
                "" if p is None else f"{p:.3f}",
                f"{np.mean([result.found[name] for result in known]):.1f}",
                f"{np.mean([result.hosts[name] for result in known]):.1f}",
                str(len(known)),
            )
        )
    head = (title, "to oracle", "to look-ahead", "against hunter", "p", "found", "hosts", "crawls")
    return table(head, rows)


def worlds(is_quick: bool) -> Iterator[tuple[str, Callable[[], World]]]:
    out = ROOT / "out"
    out.mkdir(exist_ok=True)
    for name in ("wikispeedia", "debian-docs"):
        shared, path = SHARED / "worlds" / name, out / f"{name}.world"
        if path.exists() or (shared / "pages.warc.gz").exists():
            yield name, partial(_opened, shared, path)
        else:
            print(f"{name} is left out: there is no {shared}")
    size = 2_000 if is_quick else 6_000
    yield "generated", lambda: _generated(out / f"hunter-{size}.world", size)


def _opened(shared: Path, path: Path) -> World:
    if not path.exists():
        build([shared / "pages.warc.gz"], shared / "labels.tsv", path)
    return World.open(path)


def _generated(path: Path, size: int) -> World:
    if not path.exists():
        build_generated(GeneratedWeb(WebPlan(seed=11, pages=size, hosts=size // 25, topics=10, out_degree=12)), path)
    return World.open(path)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--half", choices=("development", "test"), default="test")
    parser.add_argument("--topics", type=int, default=10, help="of each world")
    parser.add_argument("--repeats", type=int, default=1)
    parser.add_argument("--pages", type=int, default=500)
    parser.add_argument("--world", default="", help="only this one")
    given = parser.parse_args()
    topics, pages = (2, 150) if given.quick else (given.topics, given.pages)
    for name, opened in worlds(given.quick):
        if given.world not in ("", name):
            continue
        world = opened()
        halves = split_topics([topic for topic in world.topics if len(world.pages_of(topic)) >= LEAST_PAGES])
        chosen = halves[0 if given.half == "development" else 1][:topics]
        course = Course(world, pages)
        results = [
            result
            for at, topic in enumerate(chosen)
            for repeat in range(given.repeats)
            if (result := course.run(topic, repeat, has_ablations=at < ABLATED_TOPICS and not repeat)) is not None
        ]
        print(report(f"{name}, {given.half} topics, {pages} pages", results), "\n", flush=True)
    if not given.world:
        sizes = (3_000, 10_000) if given.quick else (10_000, 30_000, 100_000)
        rows = [
            (
                f"{cost.waiting:,}",
                f"{cost.fetches:,}",
                f"{cost.fetch_us:,.0f}",
                f"{cost.longest_ms:.0f}",
                f"{cost.bytes_per_link:.0f}",
                f"{cost.overlap:.3f}",
                f"{cost.correlation:.3f}",
            )
            for cost in grow(sizes)
        ]
        head = (
            "links waiting",
            "fetches",
            "µs a fetch",
            "longest, ms",
            "bytes a link",
            "best 1,000",
            "rank correlation",
        )
        print(table(head, rows))


if __name__ == "__main__":
    main()
