"""What strategies are tried on: a recorded web, a judge that guides, labels that grade, and where crawls begin.

    course = lay_out(CoursePlan(world=Path("wiki.world"), topics=("Science/Biology/Birds",), pages=1_000))
    course.fitness()(genome)

As in paper GA (section 3) the judge learns from known pages of the topic against pages drawn at random, and the
crawls begin at pages it has learned from. Labels are the truth for the fitness, for that is training on a recorded web;
what the strategies go by (relevance, the community) comes from the judge alone. To find what the judge was shown
earns nothing.

Differs from GA: every run has seeds of its own among the examples, so that a strategy does not get used to one set; the
negatives are known to be off the topic, as a person would choose them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from lycosa.errors import ConfigError, InputError
from lycosa.judges.classifier import Example
from lycosa.judges.table import CLASSIFIER_NAMES, classifier_class
from lycosa.judges.topic_judges import TopicJudge
from lycosa.lab.evolve.encoding import PAPER, SCORES, Spelling
from lycosa.lab.evolve.fitness import HARVEST, MEASURES, CrawlFitness, Truth
from lycosa.lab.evolve.link_arrays import Verdicts, verdicts_of, web_of
from lycosa.lab.evolve.simulator import CrawlPlan, Simulator
from lycosa.lab.replay.trained_judges import LARGEST_SHARE, lots_of
from lycosa.lab.worlds.world import Ints, World
from lycosa.lib.bounds import require_at_least
from lycosa.model import Judgement
from lycosa.strategies.papers.current_list import CurrentListSettings

NEGATIVES = 5
"""Examples off the topic for each one on it: the paper has 139 and about 700."""
JUDGES = tuple(kind for kind in CLASSIFIER_NAMES if kind != "keywords")
"""Those that learn from examples alone."""
ANCHOR = "anchor"
GOOD = "good"
"""What the judge calls the topics together."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CoursePlan:
    world: Path
    topics: tuple[str, ...]
    """Pages with any of these labels are good."""
    pages: int = 1_000
    """Of each crawl."""
    runs: int = 3
    seeds: int = 10
    """Of each run."""
    examples: int = 50
    """Pages of the topics that the judge learns from, at most half of them."""
    judge: str = "svm"
    connections: int = 100
    """Size of the paper's current list, which is refilled when half of it is left; 0: the best link is next."""
    measure: str = HARVEST
    scores: str = PAPER
    """Which weights are evolved: `spelling.SCORES`."""
    phases: int = 1
    """With weights of their own; when they begin is evolved, too."""
    seed: int = 1
    """Of the random numbers."""

    def __post_init__(self) -> None:
        require_at_least(self, "evolve", pages=1, runs=1, seeds=1, examples=2, connections=0, seed=0)
        for name, value, known in (
            ("judge", self.judge, JUDGES),
            ("fitness", self.measure, MEASURES),
            ("set of scores", self.scores, SCORES),
        ):
            if value not in known:
                raise ConfigError(f"there is no {name} {value!r}; there are {', '.join(known)}")
        if not self.topics:
            raise InputError("no topic is given: which pages would be good?")
        _ = self.spelling  # checks the phases

    @property
    def spelling(self) -> Spelling:
        return Spelling(names=SCORES[self.scores], phases=self.phases, pages=self.pages)

    @property
    def order(self) -> CurrentListSettings | None:
        size = self.connections
        return CurrentListSettings(size=size, refill=(size + 1) // 2) if size else None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Course:
    """A value that can be sent to other processes: the world is opened there anew, the verdicts go along."""

    plan: CoursePlan
    world: World
    verdicts: Verdicts
    examples: Ints
    """On the topics."""
    crawls: tuple[CrawlPlan, ...]
    truth: Truth

    def fitness(self) -> CrawlFitness:
        return CrawlFitness(
            simulator=Simulator(web_of(self.world, self.verdicts)),
            plans=self.crawls,
            truth=self.truth,
            seed=self.plan.seed,
            measure=self.plan.measure,
            spelling=self.plan.spelling,
        )


def lay_out(plan: CoursePlan, *, progress: Callable[[int], None] = lambda _: None) -> Course:
    """Train the judge and let it judge every page; `progress` is told each page's number."""
    world = World.open(plan.world)
    is_good = good_pages(world, plan)
    examples, judge = _trained(world, plan, is_good)

    def judged(page: int) -> Judgement:
        progress(page)
        return judge.judge(world.page(page))

    rng = np.random.default_rng([plan.seed, 0])
    count = min(plan.seeds, len(examples))
    starts = [np.sort(rng.choice(examples, count, replace=False)).astype(np.int64) for _ in range(plan.runs)]
    is_paying = is_good.copy()
    is_paying[examples] = False
    return Course(
        plan=plan,
        world=world,
        verdicts=verdicts_of(world, judged, judge.score_text if ANCHOR in plan.spelling.names else None),
        examples=examples,
        crawls=tuple(CrawlPlan(seeds=seeds, pages=plan.pages, order=plan.order) for seeds in starts),
        truth=Truth(is_paying, np.asarray(world.host_of)),
    )


def good_pages(world: World, plan: CoursePlan) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """By page: whether it has one of the labels."""
    if not world.topics:
        raise InputError(f"{world.path.name} was built without labels: nobody knows which of its pages are good")
    if plan.pages > len(world):
        raise ConfigError(
            f"evolve.pages is {plan.pages:,}: {world.path.name} has {len(world):,} pages, and a crawl must be shorter"
        )
    is_good = np.zeros(len(world), dtype=np.bool_)
    for topic in plan.topics:
        is_good[world.pages_of(topic)] = True
    count = int(is_good.sum())
    if count < 2 / LARGEST_SHARE or count == len(world):
        raise InputError(
            f"{', '.join(plan.topics)}: {count:,} of {len(world):,} pages are good: some must be learned from, some be "
            "found, and others be neither"
        )
    return is_good


def _trained(
    world: World, plan: CoursePlan, is_good: np.ndarray[tuple[int], np.dtype[np.bool_]]
) -> tuple[Ints, TopicJudge]:
    """Examples on the topics, and a judge that knows them and random others."""
    lots = lots_of(world, plan.seed)
    on, off = np.flatnonzero(is_good), np.flatnonzero(~is_good & (world.statuses < 300))
    count = min(plan.examples, int(len(on) * LARGEST_SHARE))
    examples = np.sort(on[np.argsort(lots[on])[:count]]).astype(np.int32)
    others = off[np.argsort(lots[off])[: count * NEGATIVES]]
    shown = [
        Example(world.page(page), (GOOD,) if is_good[page] else ()) for page in np.union1d(examples, others).tolist()
    ]
    return examples, TopicJudge(classifier_class(plan.judge)().fit(shown, (GOOD,)), [GOOD])
