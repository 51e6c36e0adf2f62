"""What the comparisons of paper TC do not record: how far seeds are from targets, and how wrong an agent is.

Figure 21 is of a single InfoSpiders agent (no evolution): of each link that it follows, the error of the net, which is
what it learns from, and of the estimate that the link was picked by, against the similarity of the page reached.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from lycosa.judges.keywords import KeywordJudge
from lycosa.lab.evaluate.runs import Floats
from lycosa.lab.replay.compare import ComparePlan, task_of, task_rng
from lycosa.lab.replay.replay import JudgedWorld, replay
from lycosa.lab.worlds.world import World
from lycosa.model import Visit
from lycosa.strategies.papers.infospiders import InfoSpiders, InfoSpidersSettings
from lycosa.strategies.protocol import StrategyParts

FARTHEST = 4
"""Seeds at this distance and farther are counted together."""


def seed_distances(plan: ComparePlan) -> Floats:
    """Share of all seeds by the length of the shortest way to a target; those that no way leads from come last."""
    world = World.open(plan.world)
    counts = np.zeros(FARTHEST + 2)
    for topic in plan.topics:
        for repeat in range(plan.repeats):
            task = task_of(plan, topic, task_rng(plan, topic, repeat))
            links = world.distances(task.targets, is_backward=True)[task.seeds]
            places = np.where(links < 0, FARTHEST + 1, np.minimum(links, FARTHEST))
            counts += np.bincount(places, minlength=len(counts))
    return np.asarray(counts / counts.sum())


class WatchedAgent(InfoSpiders):
    """One agent that learns; keeps the errors of every link it follows, in order."""

    def __init__(self, parts: StrategyParts) -> None:
        super().__init__(parts, InfoSpidersSettings(is_evolving=False))
        self.net: list[float] = []
        self.estimate: list[float] = []

    def tell(self, visit: Visit, targets: NDArray[np.int64]) -> NDArray[np.float64]:
        errand = self._errands.get(visit.lease.id)
        if errand is not None and errand.inputs is not None and visit.page is not None:
            spider, words = self._spiders[errand.spider], self._words_of(visit.page)
            similarity = spider.similarity(words.terms, words.norm)
            self.net.append(abs(float(spider.predict(errand.inputs[None, :])[0]) - similarity))
            self.estimate.append(abs(errand.score - similarity))
        return super().tell(visit, targets)


def agent_errors(world: Path, topics: Sequence[str], *, pages: int, buffer: int, seed: int) -> tuple[Floats, Floats]:
    """Topics × pages: errors of the net and of the estimates; NaN after the end of a crawl."""
    opened = World.open(world)
    errors = np.full((2, len(topics), pages), np.nan)
    for number, topic in enumerate(topics):
        plan = ComparePlan(world=world, topics=(topic,), strategies=("infospiders",), pages=pages, seed=seed)
        task = task_of(plan, topic, task_rng(plan, topic, 0))
        judge = KeywordJudge(task.keywords)
        rng = np.random.default_rng([seed, number])
        agent = WatchedAgent(StrategyParts.of(judge.abilities, rng=rng, buffer=buffer))
        replay(JudgedWorld(opened, judge), agent, task.seeds.tolist(), pages=pages, buffer=buffer)
        for row, found in enumerate((agent.net, agent.estimate)):
            errors[row, number, : len(found[:pages])] = found[:pages]
    return errors[0], errors[1]


def smoothed(errors: Floats, window: int) -> Floats:
    """The mean over topics, and over the last `window` pages of each."""
    mean = np.nanmean(errors, axis=0)
    sums = np.cumsum(mean)
    sums[window:] = sums[window:] - sums[:-window]
    return np.asarray(sums / np.minimum(np.arange(1, len(mean) + 1), window))
