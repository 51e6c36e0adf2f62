"""What strategies are tried on: a recorded web, a judge that guides the crawls, labels that grade them, and seeds.

    task = prepare(EvolutionPlan(world=Path("wiki.world"), topics=("Science/Biology/Birds",), pages=1_000))
    task.fitness()(genome)

As in paper GA (section 3) the judge learns from known pages of the topic against pages drawn at random, and crawls
begin at pages it has learned from. Labels decide the fitness, as this is training on a recorded web; what strategies
see (relevance, the community) depends on the judge alone. Finding a page the judge was shown counts for nothing.

Three sets of crawls, each from seeds of its own: strategies are bred on the first, the winner is chosen by the second,
and its score is reported on the third, which nothing was chosen by. Seeds of the last two are pages of the topic that
the judge was not shown.

A world without labels, made of a crawl of one's own, has what the crawl's judge said of each page (`by_judge`): pages
it called relevant are good. It then grades what it guides, as in the paper, and nothing has to be trained; the seeds of
the three sets are drawn from thirds of the good pages.

Differs from GA: each run has its own seeds among the examples, to keep strategies from fitting one set; the negatives
are known to be off the topic, as a person would choose them; fitness is by label unless there is none.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np

from lycosa.errors import ConfigError, InputError
from lycosa.judges.classifier import Example
from lycosa.judges.topic_judges import TopicJudge
from lycosa.lab.evolve.encoding import PAPER, PARENTS, SCORES, Encoding, weights_with
from lycosa.lab.evolve.fitness import HARVEST, MEASURES, CrawlFitness, Grading, MeanFitness
from lycosa.lab.evolve.link_arrays import Verdicts, link_arrays_of, verdicts_of
from lycosa.lab.evolve.simulator import CrawlMemory, CrawlPlan, Simulator
from lycosa.lab.replay.trained_judges import LARGEST_SHARE, TRAINED, lots_of, new_classifier, require_judge
from lycosa.lab.worlds.world import Ints, World
from lycosa.lib.bounds import require_at_least
from lycosa.model import Judgement
from lycosa.strategies.papers.current_list import CurrentListSettings

TRIALS = 10
"""Crawls by which the winner is chosen, and as many again by which it is reported."""
NEGATIVES = 5
"""Examples off the topic for each one on it: the paper has 139 on it and about 700 off it."""
ANCHOR = "anchor"
GOOD = "good"
"""What the judge calls the topics together."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EvolutionPlan:
    """One task. Several plans are several tasks (`fitnesses`)."""

    world: Path
    topics: tuple[str, ...]
    """Pages with any of these labels are good."""
    pages: int = 1_000
    """Pages of each crawl."""
    runs: int = 3
    seeds: int = 10
    """Seeds of each run."""
    examples: int = 50
    """Pages of the topics the judge learns from, at most half of them."""
    judge: str = "svm"
    connections: int = 100
    """Size of the paper's current list, refilled when half of it is left; 0: the best link is always next."""
    measure: str = HARVEST
    scores: str = PAPER
    """Which weights are evolved (`encoding.SCORES`)."""
    phases: int = 1
    """Phases with their own weights; when each begins is evolved, too."""
    parents: int = PARENTS
    """k: the largest number of links up to an ancestor that has a weight."""
    by_judge: bool = False
    """Good is what the judge of the world's own crawl called relevant; topics, examples and judge are not used."""
    seed: int = 1
    """Seed of the random number generator."""

    def __post_init__(self) -> None:
        require_at_least(self, "evolve", pages=1, runs=1, seeds=1, examples=2, connections=0, seed=0)
        require_judge(self.judge, TRAINED)
        for name, value, known in (("fitness", self.measure, MEASURES), ("set of scores", self.scores, SCORES)):
            if value not in known:
                raise ConfigError(f"there is no {name} {value!r}; there are {', '.join(known)}")
        if not self.topics and not self.by_judge:
            raise InputError("no topic is given: --topic says which pages are good, or --by-judge that a judge does")
        if self.by_judge and ANCHOR in SCORES[self.scores]:
            raise ConfigError("evolve.scores is all: a world's judgements say nothing of anchors (--scores paper)")
        _ = self.encoding  # checks the phases

    @property
    def encoding(self) -> Encoding:
        return Encoding(names=weights_with(self.scores, self.parents), phases=self.phases, pages=self.pages)

    @property
    def order(self) -> CurrentListSettings | None:
        size = self.connections
        return CurrentListSettings(size=size, refill=(size + 1) // 2) if size else None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class EvolutionTask:
    """Can be sent to other processes, which open the world again."""

    plan: EvolutionPlan
    world: World
    verdicts: Verdicts
    examples: Ints
    """Pages of the topics that the judge was shown."""
    crawls: tuple[CrawlPlan, ...]
    """That strategies are bred on."""
    validation: tuple[CrawlPlan, ...]
    """That choose the winner."""
    held_out: tuple[CrawlPlan, ...]
    """That it is reported on."""
    grading: Grading

    def fitness(self, memory: CrawlMemory | None = None, crawls: Sequence[CrawlPlan] | None = None) -> CrawlFitness:
        return CrawlFitness(
            simulator=Simulator(link_arrays_of(self.world, self.verdicts), memory),
            plans=self.crawls if crawls is None else crawls,
            grading=self.grading,
            seed=self.plan.seed,
            measure=self.plan.measure,
            encoding=self.plan.encoding,
        )


class Fitnesses(NamedTuple):
    """The mean over the tasks, on each of the three sets of crawls."""

    bred: MeanFitness
    validation: MeanFitness
    held_out: MeanFitness


def fitnesses(tasks: Sequence[EvolutionTask]) -> Fitnesses:
    """Of tasks in the same world, whose crawls share their memory."""
    memory = tasks[0].fitness().simulator.memory
    bred, validation, held_out = (
        MeanFitness([task.fitness(memory, getattr(task, name)) for task in tasks])
        for name in ("crawls", "validation", "held_out")
    )
    return Fitnesses(bred, validation, held_out)


def prepare(plan: EvolutionPlan, *, progress: Callable[[int], None] = lambda _: None) -> EvolutionTask:
    """Train the judge and judge every page; `progress` gets each page's number."""
    world = World.open(plan.world)
    is_good = good_pages(world, plan)
    if plan.by_judge:
        verdicts, examples = verdicts_of(world, partial(_as_in_the_crawl, world)), np.zeros(0, np.int32)
    else:
        examples, judge = trained_judge(world, plan, is_good)

        def judged(page: int) -> Judgement:
            progress(page)
            return judge.judge(world.page(page))

        verdicts = verdicts_of(world, judged, judge.score_text if ANCHOR in plan.encoding.names else None)
    unseen = np.setdiff1d(np.flatnonzero(is_good), examples)
    mixed = np.random.default_rng([plan.seed, 1]).permutation(unseen)
    parts = np.array_split(mixed, 3) if plan.by_judge else [examples, *np.array_split(mixed, 2)]
    rng = np.random.default_rng([plan.seed, 0])
    crawls, validation, held_out = (
        _crawls(plan, np.sort(pages), runs, rng) for pages, runs in zip(parts, (plan.runs, TRIALS, TRIALS), strict=True)
    )
    is_counted = is_good.copy()
    is_counted[examples] = False
    return EvolutionTask(
        plan=plan,
        world=world,
        verdicts=verdicts,
        examples=examples,
        crawls=crawls,
        validation=validation,
        held_out=held_out,
        grading=Grading(is_counted, np.asarray(world.host_of)),
    )


def _crawls(plan: EvolutionPlan, pages: Ints, runs: int, rng: np.random.Generator) -> tuple[CrawlPlan, ...]:
    """Crawls that start at some of these pages."""
    count = min(plan.seeds, len(pages))
    starts = [np.sort(rng.choice(pages, count, replace=False)).astype(np.int64) for _ in range(runs)]
    return tuple(CrawlPlan(seeds=seeds, pages=plan.pages, order=plan.order) for seeds in starts)


def _as_in_the_crawl(world: World, page: int) -> Judgement:
    assert world.judged_relevance is not None
    assert world.judged_relevant is not None
    relevance = float(world.judged_relevance[page])
    return Judgement(0.0 if np.isnan(relevance) else relevance, bool(world.judged_relevant[page]))


def good_pages(world: World, plan: EvolutionPlan) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """By page: whether it has one of the labels, or was called relevant by the crawl's judge."""
    if plan.by_judge and world.judged_relevant is None:
        raise InputError(
            f"{world.path.name} has no judgements: build it from the directory of a crawl (lycosa world build DIR), or "
            "give --topic where it has labels"
        )
    if not plan.by_judge and not world.topics:
        raise InputError(
            f"{world.path.name} was built without labels: which of its pages are good is not known; --by-judge takes "
            "the word of a crawl's judge"
        )
    if plan.pages > len(world):
        raise ConfigError(
            f"evolve.pages is {plan.pages:,}: {world.path.name} has {len(world):,} pages, and a crawl must be shorter"
        )
    is_good = np.zeros(len(world), dtype=np.bool_)
    if world.judged_relevant is not None and plan.by_judge:
        is_good[:] = world.judged_relevant
    else:
        is_good[world.pages_of(*plan.topics)] = True
    count = int(is_good.sum())
    if count < 2 / LARGEST_SHARE or count == len(world):
        what = "called relevant" if plan.by_judge else ", ".join(plan.topics)
        raise InputError(
            f"{what}: {count:,} of {len(world):,} pages are good: there must be some to learn from, some to find, and "
            "others"
        )
    return is_good


def trained_judge(
    world: World, plan: EvolutionPlan, is_good: np.ndarray[tuple[int], np.dtype[np.bool_]]
) -> tuple[Ints, TopicJudge]:
    """Examples of the topics, and a judge trained on them and on random other pages."""
    lots = lots_of(world, plan.seed)
    on, off = np.flatnonzero(is_good), np.flatnonzero(~is_good & (world.statuses < 300))
    count = min(plan.examples, int(len(on) * LARGEST_SHARE))
    examples = np.sort(on[np.argsort(lots[on])[:count]]).astype(np.int32)
    others = off[np.argsort(lots[off])[: count * NEGATIVES]]
    shown = [
        Example(world.page(page), (GOOD,) if is_good[page] else ()) for page in np.union1d(examples, others).tolist()
    ]
    return examples, TopicJudge(new_classifier(plan.judge).fit(shown, (GOOD,)), [GOOD])
