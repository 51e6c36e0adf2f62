"""What strategies are tried on: a recorded web, a judge that guides the crawls, labels that grade them, and seeds.

    task = prepare(EvolutionPlan(world=Path("wiki.world"), topics=("Science/Biology/Birds",), pages=1_000))
    task.fitness()(genome)

As in paper GA (section 3) the judge learns from known pages of the topic against pages drawn at random, and crawls
begin at pages it has learned from. Labels decide the fitness, as this is training on a recorded web; what strategies
see (relevance, the community) depends on the judge alone. Finding a page the judge was shown counts for nothing.

Differs from GA: each run has its own seeds among the examples, to keep strategies from fitting one set; the negatives
are known to be off the topic, as a person would choose them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from lycosa.errors import ConfigError, InputError
from lycosa.judges.classifier import Example
from lycosa.judges.topic_judges import TopicJudge
from lycosa.lab.evolve.encoding import PAPER, SCORES, Encoding
from lycosa.lab.evolve.fitness import HARVEST, MEASURES, CrawlFitness, Grading, MeanFitness
from lycosa.lab.evolve.link_arrays import Verdicts, link_arrays_of, verdicts_of
from lycosa.lab.evolve.simulator import CrawlMemory, CrawlPlan, Simulator
from lycosa.lab.replay.trained_judges import LARGEST_SHARE, TRAINED, lots_of, new_classifier, require_judge
from lycosa.lab.worlds.world import Ints, World
from lycosa.lib.bounds import require_at_least
from lycosa.model import Judgement
from lycosa.strategies.papers.current_list import CurrentListSettings

NEGATIVES = 5
"""Examples off the topic for each one on it: the paper has 139 on it and about 700 off it."""
ANCHOR = "anchor"
GOOD = "good"
"""What the judge calls the topics together."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EvolutionPlan:
    """One task. Several plans are several tasks (`mean_fitness`)."""

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
    seed: int = 1
    """Seed of the random number generator."""

    def __post_init__(self) -> None:
        require_at_least(self, "evolve", pages=1, runs=1, seeds=1, examples=2, connections=0, seed=0)
        require_judge(self.judge, TRAINED)
        for name, value, known in (("fitness", self.measure, MEASURES), ("set of scores", self.scores, SCORES)):
            if value not in known:
                raise ConfigError(f"there is no {name} {value!r}; there are {', '.join(known)}")
        if not self.topics:
            raise InputError("no topic is given: --topic says which pages are good")
        _ = self.encoding  # checks the phases

    @property
    def encoding(self) -> Encoding:
        return Encoding(names=SCORES[self.scores], phases=self.phases, pages=self.pages)

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
    grading: Grading

    def fitness(self, memory: CrawlMemory | None = None) -> CrawlFitness:
        return CrawlFitness(
            simulator=Simulator(link_arrays_of(self.world, self.verdicts), memory),
            plans=self.crawls,
            grading=self.grading,
            seed=self.plan.seed,
            measure=self.plan.measure,
            encoding=self.plan.encoding,
        )


def mean_fitness(tasks: Sequence[EvolutionTask]) -> MeanFitness:
    """Of tasks in the same world, whose crawls share their memory."""
    first, *others = tasks
    fitness = first.fitness()
    return MeanFitness([fitness, *(task.fitness(fitness.simulator.memory) for task in others)])


def prepare(plan: EvolutionPlan, *, progress: Callable[[int], None] = lambda _: None) -> EvolutionTask:
    """Train the judge and judge every page; `progress` gets each page's number."""
    world = World.open(plan.world)
    is_good = good_pages(world, plan)
    examples, judge = _trained(world, plan, is_good)

    def judged(page: int) -> Judgement:
        progress(page)
        return judge.judge(world.page(page))

    rng = np.random.default_rng([plan.seed, 0])
    count = min(plan.seeds, len(examples))
    starts = [np.sort(rng.choice(examples, count, replace=False)).astype(np.int64) for _ in range(plan.runs)]
    is_counted = is_good.copy()
    is_counted[examples] = False
    return EvolutionTask(
        plan=plan,
        world=world,
        verdicts=verdicts_of(world, judged, judge.score_text if ANCHOR in plan.encoding.names else None),
        examples=examples,
        crawls=tuple(CrawlPlan(seeds=seeds, pages=plan.pages, order=plan.order) for seeds in starts),
        grading=Grading(is_counted, np.asarray(world.host_of)),
    )


def good_pages(world: World, plan: EvolutionPlan) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """By page: whether it has one of the labels."""
    if not world.topics:
        raise InputError(f"{world.path.name} was built without labels: which of its pages are good is not known")
    if plan.pages > len(world):
        raise ConfigError(
            f"evolve.pages is {plan.pages:,}: {world.path.name} has {len(world):,} pages, and a crawl must be shorter"
        )
    is_good = np.zeros(len(world), dtype=np.bool_)
    is_good[world.pages_of(*plan.topics)] = True
    count = int(is_good.sum())
    if count < 2 / LARGEST_SHARE or count == len(world):
        raise InputError(
            f"{', '.join(plan.topics)}: {count:,} of {len(world):,} pages are good: there must be some to learn from, "
            "some to find, and others"
        )
    return is_good


def _trained(
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
