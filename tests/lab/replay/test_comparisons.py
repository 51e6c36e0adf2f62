"""Comparisons with the judge of a crawl, which learns from its seeds; and topics taken together."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from lycosa.config import Config
from lycosa.judge_choice import judge_of as judge_of_crawl
from lycosa.judges.contrast.judge import ContrastJudge
from lycosa.judges.topic_judges import TopicJudge
from lycosa.lab.evaluate.runs import LOOK_AHEAD, ORACLE, RANDOM, Scores
from lycosa.lab.generated.web import GeneratedWeb, WebPlan
from lycosa.lab.replay import compare as comparing
from lycosa.lab.replay.compare import ComparePlan, compare, guide_of, judge_of, run_topic, runs_of_task, task_of
from lycosa.lab.replay.tasks import keywords, make_task
from lycosa.lab.worlds.build import build_generated
from lycosa.lab.worlds.world import World
from lycosa.strategies.protocol import StrategyParts
from lycosa.workspace import Workspace


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    target = tmp_path_factory.mktemp("compare") / "made.world"
    build_generated(GeneratedWeb(WebPlan(seed=5, pages=600, hosts=30, topics=5, out_degree=10)), target, readers=0)
    return World.open(target)


@pytest.fixture(scope="module")
def plan(world: World) -> ComparePlan:
    return ComparePlan(
        world=world.path,
        topics=tuple(world.topics[:2]),
        strategies=("hunter", "best-first", "shark", "breadth-first"),
        distance=0,
        pages=100,
        buffer=0,
        repeats=2,
        seeds=4,
        threshold=0.5,
        judge="contrast",
    )


def rng(number: int = 1) -> np.random.Generator:
    return np.random.default_rng(number)


class TestContrast:
    def test_it_learns_from_the_keywords_and_from_seeds_that_are_not_graded(self, world, plan):
        topic = plan.topics[0]
        task = task_of(plan, topic, rng())
        judge = judge_of(plan, topic, task.seeds)
        assert isinstance(judge, ContrastJudge)
        assert set(task.given.tolist()) == set(task.seeds.tolist()) < set(world.pages_of(topic).tolist())
        assert len(judge.study().topic.examples) == 4
        assert judge.keywords == {"astronomi": 1}
        assert judge.threshold == 0.5

    def test_seeds_farther_away_are_places_to_start_from_as_in_a_crawl(self, plan):
        away, topic = replace(plan, distance=2), plan.topics[0]
        task = task_of(away, topic, rng())
        assert not task.relevant[task.seeds].any()
        crawl = judge_of_crawl(Config(topic=keywords(topic), strategy="hunter"), Workspace(Path()))
        assert judge_of(away, topic, task.seeds).study().topic == crawl.study().topic
        assert judge_of(away, topic, task.seeds).threshold == crawl.threshold

    @pytest.mark.parametrize("is_timed", [True, False])
    def test_strategies_that_learn_in_the_crawl_can_begin_a_study(self, plan, is_timed):
        task = task_of(plan, plan.topics[0], rng())
        guide = guide_of(replace(plan, is_timed=is_timed), plan.topics[0], task.seeds)
        parts = StrategyParts.of(guide.topic, rng=rng())
        assert len(parts.study().topic.examples) == 4

    def test_sharing_what_is_known_changes_no_crawl(self, plan):
        task = task_of(plan, plan.topics[0], rng())
        ways = []
        for is_timed in (True, False):
            own = replace(plan, is_timed=is_timed)
            guide = guide_of(own, plan.topics[0], task.seeds)
            ways.append({run.strategy: run.pages.tolist() for run in runs_of_task(own, guide, task, 0)})
        assert ways[0] == ways[1]

    def test_the_hunter_finds_most_between_the_bounds(self, plan):
        scores = run_topic((plan, plan.topics[0]))
        assert isinstance(scores, Scores)
        assert scores.strategies == (*plan.strategies, RANDOM, LOOK_AHEAD, ORACLE)
        found = dict(zip(scores.strategies, scores.curves["relevant"].mean(axis=1).tolist(), strict=True))
        assert found[RANDOM] < found["breadth-first"] < found["hunter"] < found[LOOK_AHEAD]
        assert found[ORACLE] <= found[LOOK_AHEAD]

    def test_each_repeat_and_each_half_of_the_seeds_has_a_judge_of_its_own(self, plan, monkeypatch):
        shown = []
        make = comparing.judge_of

        def noted(plan, topic, seeds):
            shown.append(tuple(seeds.tolist()))
            return make(plan, topic, seeds)

        monkeypatch.setattr(comparing, "judge_of", noted)
        few = replace(plan, strategies=("breadth-first",), pages=10, has_overlap=True)
        run_topic((few, plan.topics[0]))
        first, half, other, second = shown
        assert sorted((*half, *other)) == list(first)
        assert len(half) == len(other) == 2
        assert first != second
        shown.clear()
        run_topic((replace(few, distance=1), plan.topics[0]))
        assert len(shown) == 1


class TestTogether:
    def test_pages_of_any_topic_are_relevant(self, world, plan):
        one, two = plan.topics
        task = make_task(world, "both", topics=plan.topics, distance=0, seeds=4, rng=rng())
        members = set(world.pages_of(one).tolist()) | set(world.pages_of(two).tolist())
        assert task.topic == "both"
        assert set(np.flatnonzero(task.relevant).tolist()) == members == set(world.pages_of(one, two).tolist())
        assert set(task.targets.tolist()) == members - set(task.seeds.tolist())
        assert task.keywords == f"{one} {two}"

    @pytest.mark.parametrize("judge", ["keywords", "contrast", "bayes"])
    def test_they_are_one_task(self, plan, judge):
        apart = replace(plan, judge=judge, strategies=("best-first",), pages=20, repeats=1)
        together = replace(apart, together="T* (together)")
        assert [scores.topic for scores in compare(apart).scores] == list(plan.topics)
        (scores,) = (found := compare(together)).scores
        assert scores.topic == "T* (together)"
        assert found.about["topics"] == "T* (together): one task of 2 topics"
        assert judge_of(together, scores.topic).keywords.keys() >= judge_of(apart, plan.topics[1]).keywords.keys()

    def test_a_trained_judge_takes_all_of_them_for_good(self, world, plan):
        own = replace(plan, judge="bayes", examples=5, together="both")
        judge = judge_of(own, "both")
        assert isinstance(judge, TopicJudge)
        assert judge.good == plan.topics
        task = task_of(own, "both", rng())
        assert len(task.examples) >= 10
        assert set(task.seeds.tolist()) <= set(task.examples.tolist())
        assert not set(task.targets.tolist()) & set(task.examples.tolist())
