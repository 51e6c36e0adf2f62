"""The crawl half of paper GP's experiments: collections that crawlers build, graded by labels.

The judge gp-knn learns from up to 20 examples of every topic of a web, and evolves its similarity from them. A crawl
for a topic starts at ten of the topic's examples; a fetched page joins the collection if its relevance is ½ or more.
Precision is the share of the collection that has the topic's label, recall the share of the topic's pages that are in
the collection; examples count in neither. The hunter is given the same examples of the topic, and none of other
topics; its collection is what its last verdicts call relevant.

A crawler is a row of `CRAWLERS`. One with meta-search asks three engines, each of which knows another 40 % of the web
(`lab/replay/search.py`: BM25, no labels), as a live crawl does: for the topic's words at the start, with distinctive
words of what was found every 100 pages, when 50 pages brought nothing relevant, and when nothing is left to fetch.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
from common import Results
from fc_crawls import webs

from lycosa.judges.contrast.judge import ContrastJudge
from lycosa.judges.gp.judge import GpKnnClassifier, GpKnnSettings
from lycosa.judges.protocol import Judge, LearnedTopic
from lycosa.judges.topic_judges import TopicJudge
from lycosa.lab.replay.replay import JudgedWorld, replay
from lycosa.lab.replay.search import SearchPlan, WorldEngine, partial_engines
from lycosa.lab.replay.tasks import Task
from lycosa.lab.replay.trained_judges import draw_examples, task_from_examples
from lycosa.lab.worlds.world import World
from lycosa.seeds.metasearch.settings import MetaSearchSettings
from lycosa.strategies.protocol import StrategyParts
from lycosa.strategies.table import studying_strategy

EXAMPLES, SEEDS, SEED = 20, 10, 1
SMALLEST = 80
"""Topics with fewer pages are left out."""
COLLECTED_FROM = 0.5


class Crawler(NamedTuple):
    strategy: str
    is_evolved: bool
    """Judged by gp-knn; otherwise by the hunter's own judge."""
    has_search: bool = False


HARD, DECAY = "hard+breadth-first", "decay-rigid+breadth-first"
CRAWLERS = {
    "GP": Crawler(HARD, is_evolved=True),
    "GP + meta-search": Crawler(HARD, is_evolved=True, has_search=True),
    "GP + meta-search + decay": Crawler(DECAY, is_evolved=True, has_search=True),
    "GP + decay": Crawler(DECAY, is_evolved=True),
    "GP, all links": Crawler("breadth-first", is_evolved=True),
    "hunter": Crawler("hunter", is_evolved=False),
    "hunter + meta-search": Crawler("hunter", is_evolved=False, has_search=True),
}


class CrawlScale(NamedTuple):
    topics: int
    pages: int
    population: int
    generations: int


class Collected(NamedTuple):
    """What one crawl collected."""

    precision: float
    recall: float
    f1: float
    collected: int
    fetched: int


class CrawlJob(NamedTuple):
    web: str
    path: Path
    topic: str
    scale: CrawlScale


def crawl_jobs(scale: CrawlScale) -> list[CrawlJob]:
    return [
        CrawlJob(web.name, web.path, topic, scale)
        for web in webs()
        for topic in replace(web, smallest=SMALLEST).topics()[: scale.topics]
    ]


def kept_judge(results: Results, web: str, path: Path, scale: CrawlScale) -> bytes:
    """The judge of a web, trained once: it knows all topics."""

    def make() -> bytes:
        examples = draw_examples(World.open(path), per_topic=EXAMPLES, seed=SEED)
        settings = GpKnnSettings(population=scale.population, generations=scale.generations)
        return GpKnnClassifier(settings).fit(examples, examples.topics).save()

    return results.kept(f"{web}: judge", f"judge {web} {scale.population} {scale.generations}", make)


@lru_cache(maxsize=1)
def _opened(path: Path, model: bytes) -> tuple[World, GpKnnClassifier, list[WorldEngine]]:
    world = World.open(path)
    return world, GpKnnClassifier.load(model), partial_engines(world, seed=SEED)


def run_crawls(job: CrawlJob, model: bytes) -> Mapping[str, Collected]:
    """By crawler."""
    world, classifier, engines = _opened(job.path, model)
    examples = draw_examples(world, per_topic=EXAMPLES, seed=SEED)
    rng = np.random.default_rng([SEED, *job.topic.encode()])
    task = task_from_examples(world, job.topic, examples, distance=0, seeds=SEEDS, rng=rng)
    own = ContrastJudge.fit([world.page(page) for page in examples.of(job.topic).tolist()])
    evolved = TopicJudge(classifier, [job.topic], threshold=COLLECTED_FROM)
    judged = {True: JudgedWorld(world, evolved), False: JudgedWorld(world, own)}
    found = {}
    for name, crawler in CRAWLERS.items():
        judge = evolved if crawler.is_evolved else own
        parts = StrategyParts.of(judge.abilities, rng=np.random.default_rng(SEED))
        study, strategy = studying_strategy(crawler.strategy, parts)
        plan = search_plan(task, judge, study, engines) if crawler.has_search else None
        track = replay(judged[crawler.is_evolved], strategy, task.seeds.tolist(), pages=job.scale.pages, search=plan)
        relevance = np.array(track.relevance)
        if study is not None:
            study.learn()
            relevance = study.verdicts()
        found[name] = collected(np.array(track.pages), relevance, task)
    return found


def search_plan(task: Task, judge: Judge, study: LearnedTopic | None, engines: Sequence[WorldEngine]) -> SearchPlan:
    """Where the judge learns in the crawl, its verdicts say which pages give words for queries, as in a live crawl."""
    return SearchPlan(
        words=task.keywords,
        engines=engines,
        settings=MetaSearchSettings(is_on=True),
        threshold=judge.abilities.threshold,
        relevance=None if study is None else lambda: study.recent_verdicts().tolist(),
    )


def collected(pages: np.ndarray, relevance: np.ndarray, task: Task) -> Collected:
    is_kept = (relevance >= COLLECTED_FROM) & task.is_graded[pages]
    right = int((task.relevant[pages] & is_kept).sum())
    count = int(is_kept.sum())
    precision, recall = right / max(count, 1), right / len(task.targets)
    return Collected(precision, recall, 2 * right / max(count + len(task.targets), 1), count, len(pages))
