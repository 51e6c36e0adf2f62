"""Strategies on equal terms: the same world, topics, seeds, judge, pages and buffer for each (paper TC, section 2).

A topic, or several topics together, is one job: its tasks are drawn, each strategy and the bounds (random, look-ahead,
oracle) crawl them in replay, and the runs are measured against the truth. Jobs are independent and may run in parallel.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, lru_cache, partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from lycosa import __version__
from lycosa.errors import ConfigError, InputError
from lycosa.judges.classifier import Classifier
from lycosa.judges.contrast.judge import ContrastJudge
from lycosa.judges.keywords import KeywordJudge
from lycosa.judges.meaning import is_installed
from lycosa.judges.protocol import Judge, JudgeAbilities
from lycosa.judges.table import own_judge
from lycosa.judges.topic_judges import TopicJudge
from lycosa.lab.evaluate.measure import measure
from lycosa.lab.evaluate.overlap import overlap_of
from lycosa.lab.evaluate.runs import BOUNDS, Comparison, Floats, Ints, Run, Scores, Skipped, Terms, Truth
from lycosa.lab.replay.distilling import ReplayDistilling
from lycosa.lab.replay.look_ahead import LookAhead
from lycosa.lab.replay.manifest import manifest_of
from lycosa.lab.replay.oracle import Oracle
from lycosa.lab.replay.replay import JudgedWorld, replay
from lycosa.lab.replay.tasks import Task, keywords, make_task
from lycosa.lab.replay.trained_judges import (
    CONTRAST,
    JUDGES,
    KEYWORDS,
    TRAINED,
    ExampleSet,
    draw_examples,
    highest,
    require_judge,
    task_from_examples,
    train,
)
from lycosa.lab.worlds.world import World
from lycosa.lib.bounds import require_at_least
from lycosa.model import Page
from lycosa.strategies.papers.page_words import Numbering, PageWords
from lycosa.strategies.protocol import Strategy, StrategyParts
from lycosa.strategies.table import strategy as strategy_named

ORACLES = {order.name: order for order in (LookAhead, Oracle)}
"""The bounds that know the truth."""
MOST_PAGES = 10_000
"""Pages, of some 0.1 MB each, that are kept from topic to topic."""
Job = tuple["ComparePlan", str]


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparePlan:
    """What is compared, and how."""

    world: Path
    topics: tuple[str, ...]
    """Each is a task, unless `together` is set."""
    strategies: tuple[str | Callable[..., Strategy], ...]
    """Names, or classes of one's own."""
    distance: int = 3
    """Links between the seeds and the targets."""
    pages: int = 1_000
    buffer: int = 256
    """Maximum number of waiting links; 0: no limit."""
    repeats: int = 10
    seeds: int = 10
    seed: int = 1
    """Seed of the random number generator: the same seed gives the same comparison."""
    threshold: float = 0.1
    """Minimum judged relevance of a page that the judge calls relevant."""
    settings: Mapping[str, Any] = field(default_factory=dict)
    """Constants of strategies that differ from their defaults."""
    is_timed: bool = True
    """Each crawl computes its own similarities, as the cost figures require. False: crawls for the same topic share
    them, which is several times faster and changes nothing but the cost."""
    has_overlap: bool = False
    """Also crawl each topic from two disjoint halves of its seeds: how much do the finds depend on them?"""
    judge: str = KEYWORDS
    """The judge that guides the crawls (`trained_judges.JUDGES`)."""
    examples: int = 20
    """Examples of each topic, for a judge that is trained."""
    together: str = ""
    """The name of all topics as a single task, in which pages of any of them are relevant."""
    bounds: tuple[str, ...] = BOUNDS
    """Orders that crawl beside the strategies."""

    def __post_init__(self) -> None:
        require_at_least(self, "compare", distance=0, pages=1, buffer=0, repeats=1, seeds=1, examples=1)
        require_judge(self.judge)
        if self.has_overlap and self.seeds < 2:
            raise ConfigError(
                "one seed cannot be halved: compare.seeds is 1, but overlap needs 2 or more (--no-overlap)"
            )
        if not self.strategies:
            raise ConfigError("no strategy is given: --strategies hunter,best-first-1,…")
        if not self.topics:
            raise InputError("no topic is given")

    @property
    def names(self) -> tuple[str, ...]:
        """Strategies in the order of the tables, the bounds last."""
        return (*(name for name in self.by_name if name not in BOUNDS), *self.bounds)

    @property
    def by_name(self) -> dict[str, str | Callable[..., Strategy]]:
        return {each if isinstance(each, str) else strategy_named(each).name: each for each in self.strategies}

    @property
    def tasks(self) -> tuple[str, ...]:
        return (self.together,) if self.together else self.topics

    def topics_of(self, task: str) -> tuple[str, ...]:
        return self.topics if self.together else (task,)

    @property
    def seeds_are_examples(self) -> bool:
        """Whether the judge learns from the seeds, as it would in a crawl that starts at pages of the topic."""
        return self.judge == CONTRAST and not self.distance


def compare(
    plan: ComparePlan,
    *,
    title: str = "Comparison of crawl strategies",
    run_jobs: Callable[[Callable[[Job], Scores | Skipped], Iterable[Job]], Iterator[Scores | Skipped]] = map,
    progress: Callable[[str], None] | None = None,
) -> Comparison:
    """Compare; `run_jobs` is `map`, or the map of a pool that keeps the order."""
    for name, chosen in plan.by_name.items():
        if name not in ORACLES:
            strategy_named(chosen, settings=plan.settings)  # a misspelt name is reported before anything runs
    scores: list[Scores] = []
    skipped: list[Skipped] = []
    for topic, result in zip(plan.tasks, run_jobs(run_topic, [(plan, topic) for topic in plan.tasks]), strict=True):
        if isinstance(result, Skipped):
            skipped.append(result)
        else:
            scores.append(result)
        if progress is not None:
            progress(topic)
    if not scores:
        first = f": {skipped[0].topic}: {skipped[0].reason}" if skipped else ""
        raise InputError(f"none of the {len(plan.tasks)} topics could be used{first}")
    return Comparison(
        title=title,
        about=_about(plan, scores),
        strategies=plan.names,
        scores=scores,
        pages=plan.pages,
        skipped=skipped,
        manifest=manifest_of(plan),
    )


class SharedPages:
    """A cache of a world's pages and their words for all topics. When it is full, the oldest are dropped."""

    def __init__(self, world: World) -> None:
        self.read = lru_cache(maxsize=MOST_PAGES)(world.page)
        self._words: dict[str, PageWords] = {}
        self._numbering = Numbering()

    def words_of(self, page: Page) -> PageWords:
        words = self._words.get(page.url)
        if words is None:
            if len(self._words) >= MOST_PAGES:
                del self._words[next(iter(self._words))]
            words = self._words[page.url] = PageWords(page, self._numbering)
        return words


class Guide(NamedTuple):
    """The world as the judge of a topic sees it, and what strategies may know about the topic."""

    judged: JudgedWorld
    topic: JudgeAbilities
    words_of: Callable[[Page], PageWords] = PageWords


def run_topic(job: Job) -> Scores | Skipped:
    """All strategies on one task, in this process."""
    plan, topic = job
    world = _open(plan.world)
    runs: list[Run] = []
    truth: Truth | None = None
    guide: Guide | None = None
    overlaps: dict[str, Mapping[str, Floats]] = {}
    for repeat in range(plan.repeats):
        rng = task_rng(plan, topic, repeat)
        try:
            task = task_of(plan, topic, rng)
            if guide is None or plan.seeds_are_examples:
                guide = guide_of(plan, topic, task.seeds)
        except (InputError, ConfigError) as error:
            return Skipped(topic, str(error))
        runs += runs_of_task(plan, guide, task, repeat)
        truth = truth or _truth(world, task)
        if plan.has_overlap and repeat == 0 and len(task.seeds) > 1:
            overlaps = dict(_overlaps(plan, guide, task, rng))
    assert truth is not None
    return measure(
        truth,
        runs,
        terms=_terms(world),
        strategies=plan.names,
        pages=plan.pages,
        relevant_from=plan.threshold,
        overlaps=overlaps,
    )


def guide_of(plan: ComparePlan, topic: str, seeds: Ints | None = None) -> Guide:
    world, judge = _open(plan.world), judge_of(plan, topic, seeds)
    if plan.is_timed:
        return Guide(JudgedWorld(world, judge), judge.abilities)
    pages = _pages(plan.world)
    shared = replace(judge.abilities, similarity=cache(judge.abilities.similarity))
    return Guide(JudgedWorld(world, judge, read=pages.read), shared, pages.words_of)


def judge_of(plan: ComparePlan, topic: str, seeds: Ints | None = None) -> Judge:
    """The judge of a task; `seeds` are those of the crawl, for a judge that learns from them."""
    topics = plan.topics_of(topic)
    if plan.judge == KEYWORDS:
        return KeywordJudge(keywords(*topics), threshold=plan.threshold)
    if plan.judge == CONTRAST:
        shown = seeds if seeds is not None and plan.seeds_are_examples else ()
        return ContrastJudge.fit(
            [_open(plan.world).page(int(page)) for page in shown],
            keywords(*topics),
            # Off the topic, as in `lycosa crawl WORDS --seeds …`: a seed is an example only if it fits the words.
            learns_from_seeds=not plan.seeds_are_examples,
            seeds_must_fit=not plan.seeds_are_examples,
            has_meaning=_has_meaning(plan),
            threshold=plan.threshold,
        )
    if plan.judge not in TRAINED:
        available = {"topic": keywords(*topics), "seeds": (), "threshold": plan.threshold}
        return own_judge(plan.judge, available, known=JUDGES, threshold=plan.threshold)
    _, classifier = _trained(plan.world, plan.judge, plan.examples, plan.seed)
    return TopicJudge(classifier, highest(topics), threshold=plan.threshold)


def task_of(plan: ComparePlan, topic: str, rng: np.random.Generator) -> Task:
    """A task drawn by `rng`; the examples of a trained judge are always the same."""
    world, topics = _open(plan.world), plan.topics_of(topic)
    if plan.judge not in TRAINED:
        return make_task(world, topic, distance=plan.distance, seeds=plan.seeds, topics=topics, rng=rng)
    examples, _ = _trained(plan.world, plan.judge, plan.examples, plan.seed)
    return task_from_examples(world, topic, examples, distance=plan.distance, seeds=plan.seeds, topics=topics, rng=rng)


def runs_of_task(plan: ComparePlan, guide: Guide, task: Task, repeat: int) -> Iterator[Run]:
    """One crawl for each strategy, from the same seeds."""
    return (run_of_task(plan, guide, task, repeat, name) for name in plan.names)


def run_of_task(
    plan: ComparePlan, guide: Guide, task: Task, repeat: int, name: str, *, distilling: ReplayDistilling | None = None
) -> Run:
    """One crawl by one of the plan's strategies; `distilling`: puts first what hubs cite."""
    if name in ORACLES:
        chosen: Any = partial(ORACLES[name], guide.judged.world, task.relevant & task.is_graded)
    else:
        parts = StrategyParts.of(
            guide.topic,
            rng=_rng(plan.seed, task.topic, repeat, name),
            buffer=plan.buffer or None,
            words_of=guide.words_of,
        )
        chosen = strategy_named(plan.by_name.get(name, name), parts, plan.settings)
    seeds, buffer = task.seeds.tolist(), plan.buffer or None
    track = replay(guide.judged, chosen, seeds, pages=plan.pages, buffer=buffer, distilling=distilling)
    pages, shortest = np.array(track.pages, dtype=np.int32), guide.judged.world.distances(task.seeds)
    # A page that a strategy guessed may be one that no way leads to.
    distance = np.where(shortest[pages] >= 0, shortest[pages], np.array(track.distance, dtype=np.int32))
    return Run(
        strategy=name,
        topic=task.topic,
        repeat=repeat,
        pages=pages,
        relevance=np.array(track.relevance),
        distance=distance,
        cpu=np.array(track.cpu),
        frontier=np.array(track.frontier, dtype=np.int32),
        seeds=task.seeds,
        given=task.given,
    )


def _overlaps(
    plan: ComparePlan, guide: Guide, task: Task, rng: np.random.Generator
) -> Iterator[tuple[str, Mapping[str, Floats]]]:
    """Two crawls of each strategy from disjoint halves of the seeds (paper FC, section 4.3)."""
    mixed = rng.permutation(task.seeds)
    runs = []
    for half in (np.sort(mixed[0::2]), np.sort(mixed[1::2])):
        own = guide_of(plan, task.topic, half) if plan.seeds_are_examples else guide
        runs.append(list(runs_of_task(plan, own, replace(task, seeds=half), 0)))
    for one, other in zip(*runs, strict=True):
        yield one.strategy, overlap_of(one, other, hosts=guide.judged.world.host_of, pages=plan.pages)


def _truth(world: World, task: Task) -> Truth:
    is_target = np.zeros(len(world), dtype=np.bool_)
    is_target[task.targets] = True
    is_target[task.given] = True  # other repeats start elsewhere; what a run was given does not count for it
    edges = world.graph
    return Truth(
        topic=task.topic,
        relevant=task.relevant,
        targets=is_target,
        description=task.description,
        hosts=world.host_of,
        fingerprints=world.fingerprints,
        link_offsets=edges.offsets,
        link_targets=edges.pages,
    )


def _terms(world: World) -> Terms:
    matrix = world.term_matrix()
    return Terms(matrix.data, matrix.indices, matrix.indptr, len(world.vocabulary))


def _rng(seed: int, *names: str | int) -> np.random.Generator:
    """A generator that depends only on the seed and the names, not on the order in which jobs run."""
    return np.random.default_rng([seed, *(zlib.crc32(str(name).encode()) for name in names)])


def task_rng(plan: ComparePlan, topic: str, repeat: int) -> np.random.Generator:
    """What the task of a topic's repeat is drawn by."""
    return _rng(plan.seed, topic, repeat)


@lru_cache(maxsize=2)
def _open(path: Path) -> World:
    return World.open(path)


@lru_cache(maxsize=2)
def _pages(path: Path) -> SharedPages:
    return SharedPages(_open(path))


@lru_cache(maxsize=2)
def _trained(path: Path, kind: str, per_topic: int, seed: int) -> tuple[ExampleSet, Classifier]:
    """One classifier for all topics of a world, trained once in each process."""
    world = _open(path)
    examples = draw_examples(world, per_topic=per_topic, seed=seed)
    return examples, train(world, examples, kind=kind)


def _about(plan: ComparePlan, scores: Sequence[Scores]) -> dict[str, str]:
    topics = f"{len(scores)} of {len(plan.topics)}"
    return {
        "world": plan.world.name,
        "topics": f"{plan.together}: one task of {len(plan.topics)} topics" if plan.together else topics,
        "seeds": f"{plan.seeds} {_place_of_seeds(plan)}",
        "pages": f"{plan.pages:,}",
        "buffer": f"{plan.buffer:,} links" if plan.buffer else "no limit",
        "repeats": str(plan.repeats),
        "judge": f"{_described_judge(plan)}, threshold {plan.threshold:g}",
        "random seed": str(plan.seed),
        "version": f"Lycosa {__version__}",
    }


def _has_meaning(plan: ComparePlan) -> bool:
    """As in a crawl whose settings say nothing about it."""
    return not plan.seeds_are_examples and is_installed()


def _described_judge(plan: ComparePlan) -> str:
    if plan.judge == KEYWORDS:
        return "keywords of the topic"
    if plan.judge == CONTRAST:
        source = "the seeds" if plan.seeds_are_examples else "seeds that fit them"
        meaning = "; the meaning of pages counts" if _has_meaning(plan) else ""
        return f"contrast, which learns from the topic's keywords and {source}{meaning}"
    return f"{plan.judge}, trained on up to {plan.examples} examples a topic, which are not graded"


def _place_of_seeds(plan: ComparePlan) -> str:
    if plan.distance:
        return f"pages {plan.distance} links before the targets"
    if plan.judge in (KEYWORDS, CONTRAST):
        return "pages of the topic, which are not graded"
    return "examples of the topic"
