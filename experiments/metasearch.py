"""What search engines are worth to a crawl: from words alone, without any seed, against the same crawl with seeds.

    make metasearch                 all of it: about ten minutes on two cores
    make metasearch QUICK=1         two topics, one repeat: does it work

Three engines each know another 40 % of a recorded web (`lab/replay/search.py`: BM25 over titles and words, no labels)
and are asked as in a live crawl: the topic's words at the start, then every 100 pages, when nothing relevant has come
for 50 pages, and when nothing is left. A crawl fetches 500 pages. Topics are development topics only. Two figures, by
label: the share of the fetched pages that are relevant, and recall, the share of the topic's pages that were found. The
five pages that some crawls are given as examples are not counted for any crawl of the topic. Means over repeats, then
over topics, ± standard error over topics; differences paired by topic, Wilcoxon, Holm over all of them. A repeat draws
other seeds and other parts of the web for the engines. Results are kept in out/metasearch/ topic by topic, and printed
as the tables of docs/metasearch.md.
"""

from __future__ import annotations

import argparse
import multiprocessing
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
from common import Results, built_world

from lycosa.config import Config
from lycosa.judge_choice import judge_of
from lycosa.judges.contrast.judge import ContrastJudge
from lycosa.judges.keywords import KeywordJudge
from lycosa.judges.protocol import Judge
from lycosa.lab.evaluate.significance import holm, wilcoxon
from lycosa.lab.replay.replay import JudgedWorld, replay
from lycosa.lab.replay.search import SearchPlan, WorldEngine, partial_engines
from lycosa.lab.replay.tasks import Task, make_task, split_topics
from lycosa.lab.worlds.world import World
from lycosa.model import Page
from lycosa.seeds.metasearch.settings import MetaSearchSettings
from lycosa.strategies.protocol import StrategyParts
from lycosa.strategies.table import strategy
from lycosa.workspace import Workspace

RESULTS = Results("metasearch")
WORLDS = ("wikispeedia", "debian-docs")
ENGINES, COVERAGE = 3, 0.4
SEEDS, OFF_TOPIC = 5, 2
"""Number of seeds; steps back from the topic's pages to seeds off the topic."""
LEAST_PAGES = 30
"""Topics with fewer pages are left out."""
PAGES = 500
"""Pages that a crawl may fetch."""
DEFAULTS = MetaSearchSettings(is_on=True)
AT_START = replace(DEFAULTS, every=0, dry_pages=0)


@dataclass(frozen=True)
class Arm:
    """One way to crawl for a topic."""

    seeds: str
    """none, examples (of the topic), off (the topic)."""
    search: MetaSearchSettings | None
    strategy: str = "hunter"


ARMS = {
    "words, no seed, search": Arm("none", DEFAULTS),
    "words, no seed, search at the start only": Arm("none", AT_START),
    "words, five seeds off the topic": Arm("off", None),
    "words, five seeds off the topic, search": Arm("off", DEFAULTS),
    "words, five examples": Arm("examples", None),
    "words, five examples, search": Arm("examples", DEFAULTS),
    "best-first by keywords: no seed, search": Arm("none", DEFAULTS, "best-first"),
    "best-first by keywords: five seeds off the topic": Arm("off", None, "best-first"),
    "breadth-first: no seed, search": Arm("none", DEFAULTS, "breadth-first"),
    "breadth-first: five seeds off the topic": Arm("off", None, "breadth-first"),
}
PAIRS = (
    ("words, no seed, search", "words, five seeds off the topic"),
    ("words, no seed, search", "words, five examples"),
    ("words, no seed, search", "words, no seed, search at the start only"),
    ("words, five seeds off the topic, search", "words, five seeds off the topic"),
    ("words, five examples, search", "words, five examples"),
    ("best-first by keywords: no seed, search", "best-first by keywords: five seeds off the topic"),
    ("breadth-first: no seed, search", "breadth-first: five seeds off the topic"),
)


class Figures(NamedTuple):
    share: float
    recall: float


class Course:
    """A world, and its pages read once for all crawls in a process."""

    def __init__(self, path: Path) -> None:
        self.world = World.open(path)
        self._read: dict[int, Page] = {}

    @lru_cache(maxsize=4)  # noqa: B019 - a course lives as long as its process
    def engines(self, seed: int) -> list[WorldEngine]:
        return partial_engines(self.world, ENGINES, coverage=COVERAGE, seed=seed)

    def page(self, number: int) -> Page:
        known = self._read.get(number)
        if known is None:
            known = self._read[number] = self.world.page(number)
        return known

    def crawl(self, arm: Arm, topic: str, repeat: int) -> Figures | None:
        """None: there are no such seeds."""
        rng = np.random.default_rng([repeat, zlib.crc32(topic.encode())])
        examples = make_task(self.world, topic, distance=0, seeds=SEEDS, rng=rng)
        task = examples
        if arm.seeds == "off":
            task = make_task(self.world, topic, distance=OFF_TOPIC, seeds=SEEDS, rng=rng)
            if not task.distance:
                return None
        wanted = examples.relevant & examples.is_graded
        judge = self._judge(arm, task)
        parts = StrategyParts.of(judge.abilities, rng=np.random.default_rng(repeat))
        order = strategy(arm.strategy, parts)
        plan = None
        if arm.search is not None:
            study = getattr(order, "study", None)  # the hunter's own opinion of its pages is what a live crawl stores
            plan = SearchPlan(
                words=task.keywords,
                engines=self.engines(repeat),
                settings=arm.search,
                threshold=judge.abilities.threshold,
                relevance=None if study is None else lambda: study.recent_verdicts().tolist(),
            )
        seeds = [] if arm.seeds == "none" else task.seeds.tolist()
        track = replay(JudgedWorld(self.world, judge, read=self.page), order, seeds, pages=PAGES, search=plan)
        found = int(wanted[np.array(track.pages, dtype=np.int64)].sum()) if track.pages else 0
        return Figures(found / max(1, len(track.pages)), found / int(wanted.sum()))

    def _judge(self, arm: Arm, task: Task) -> Judge:
        if arm.strategy != "hunter":
            return KeywordJudge(task.keywords)
        if arm.seeds == "examples":
            return ContrastJudge.fit([self.page(int(seed)) for seed in task.seeds], task.keywords)
        return judge_of(Config(topic=task.keywords, strategy="hunter"), Workspace(Path()))  # nothing is written there


@lru_cache(maxsize=1)
def _course(path: Path) -> Course:
    return Course(path)


def run_topic(job: tuple[Path, str, int]) -> dict[str, Figures]:
    """Figures by arm: means over repeats. An arm without such seeds is missing. Kept as soon as it is there."""
    path, topic, repeats = job
    key = f"{path.name} {topic} {repeats} {ARMS} {COVERAGE} {ENGINES} {PAGES}"
    return RESULTS.kept(f"{path.stem}: {topic}", key, partial(_run_topic, path, topic, repeats))


def _run_topic(path: Path, topic: str, repeats: int) -> dict[str, Figures]:
    course = _course(path)
    means: dict[str, Figures] = {}
    for name, arm in ARMS.items():
        found = [course.crawl(arm, topic, repeat) for repeat in range(repeats)]
        known = [each for each in found if each is not None]
        if known:
            means[name] = Figures(*np.mean(known, axis=0).tolist())
    return means


def topics_of(path: Path, count: int) -> list[str]:
    """Development topics, drawn by a hash of their names."""
    world = World.open(path)
    large = [topic for topic in split_topics(world.topics)[0] if len(world.pages_of(topic)) >= LEAST_PAGES]
    return sorted(sorted(large, key=lambda topic: zlib.crc32(topic.encode()))[:count])


def measured(path: Path, topics: list[str], repeats: int, processes: int) -> dict[str, dict[str, Figures]]:
    """By topic and arm."""
    with multiprocessing.get_context("spawn").Pool(processes) as pool:
        found = pool.map(run_topic, [(path, topic, repeats) for topic in topics], chunksize=1)
    return dict(zip(topics, found, strict=True))


def report(name: str, found: Mapping[str, Mapping[str, Figures]]) -> None:
    print(f"\n### {name}: {len(found)} topics\n\n| crawl | topics | share relevant | recall |\n|---|---|---|---|")
    for arm in ARMS:
        values = np.array([each[arm] for each in found.values() if arm in each])
        if len(values):
            cells = [f"{column.mean():.3f} ± {_error(column):.3f}" for column in values.T]
            print(f"| {arm} | {len(values)} | {' | '.join(cells)} |")
    differences = {
        pair: np.array([np.subtract(each[pair[0]], each[pair[1]]) for each in found.values() if set(pair) <= set(each)])
        for pair in PAIRS
    }
    rows = [(pair, values) for pair, values in differences.items() if len(values)]
    tested = holm([wilcoxon(values[:, 1]).p for _, values in rows])
    print("\n| difference in recall | topics | mean | better / worse | p |\n|---|---|---|---|---|")
    for (pair, values), p in zip(rows, tested, strict=True):
        recall = values[:, 1]
        counts = f"{int((recall > 0).sum())} / {int((recall < 0).sum())}"
        mean = f"{recall.mean():+.3f} ± {_error(recall):.3f}"
        print(f"| {pair[0]} − {pair[1]} | {len(recall)} | {mean} | {counts} | {p:.3g} |")


def _error(values: np.ndarray) -> float:
    return float(values.std(ddof=1) / np.sqrt(len(values))) if len(values) > 1 else 0.0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="two topics, one repeat")
    parser.add_argument("--topics", type=int, default=8, help="topics of each world")
    parser.add_argument("--repeats", type=int, default=2)
    parser.add_argument("--processes", type=int, default=2)
    given = parser.parse_args()
    topics, repeats = (2, 1) if given.quick else (given.topics, given.repeats)
    for name in WORLDS:
        path = built_world(name)
        if path is None:
            print(f"{name}: not here, left out")
            continue
        report(name, measured(path, topics_of(path, topics), repeats, given.processes))


if __name__ == "__main__":
    main()
