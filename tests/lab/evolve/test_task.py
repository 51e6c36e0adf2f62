from __future__ import annotations

import dataclasses
import pickle
from pathlib import Path

import numpy as np
import pytest

from lycosa.errors import ConfigError, InputError
from lycosa.lab.evolve.task import EvolutionPlan, EvolutionTask, mean_fitness, prepare
from lycosa.lab.generated.web import GeneratedWeb, WebPlan
from lycosa.lab.worlds.build import build_generated
from lycosa.lab.worlds.world import World
from lycosa.lib.evolve import genome_of
from lycosa.strategies.papers.current_list import CurrentListSettings
from lycosa.strategies.papers.evolved import EvolvedSettings


@pytest.fixture(scope="module")
def path(tmp_path_factory) -> Path:
    target = tmp_path_factory.mktemp("task") / "made.world"
    web = GeneratedWeb(WebPlan(seed=4, pages=250, hosts=8, topics=3, out_degree=10))
    build_generated(web, target, is_rendered=True, readers=0)
    return target


@pytest.fixture(scope="module")
def plan(path) -> EvolutionPlan:
    topics = World.open(path).topics
    return EvolutionPlan(world=path, topics=tuple(topics[:2]), pages=60, runs=2, seeds=4, examples=12)


@pytest.fixture(scope="module")
def task(plan) -> EvolutionTask:
    return prepare(plan)


def test_the_judge_has_learned_the_topics_from_a_few_pages(task, plan):
    world = task.world
    members = np.union1d(*(world.pages_of(topic) for topic in plan.topics))
    assert len(task.examples) == 12
    assert set(task.examples) < set(members)
    unseen = np.setdiff1d(members, task.examples)
    others = np.setdiff1d(np.arange(len(world)), members)
    assert task.verdicts.is_relevant[unseen].mean() > 0.7
    assert task.verdicts.is_relevant[others].mean() < 0.2


def test_crawls_begin_at_examples_each_elsewhere_and_examples_earn_nothing(task, plan):
    starts = [set(crawl.seeds.tolist()) for crawl in task.crawls]
    assert len(starts) == plan.runs
    assert all(len(seeds) == 4 and seeds < set(task.examples.tolist()) for seeds in starts)
    assert starts[0] != starts[1]
    assert not task.grading.is_good[task.examples].any()
    members = np.union1d(*(task.world.pages_of(topic) for topic in plan.topics))
    assert task.grading.is_good.sum() == len(members) - len(task.examples)


def test_another_process_gets_the_same_task(task):
    sent = pickle.dumps(task)
    assert len(sent) < 40_000  # the world itself stays where it is
    assert pickle.loads(sent).fitness().of(EvolvedSettings()) == task.fitness().of(EvolvedSettings())


def test_the_same_plan_gives_the_same_task_and_another_seed_another(task, plan):
    same, other = prepare(plan), prepare(dataclasses.replace(plan, seed=2))
    assert same.examples.tolist() == task.examples.tolist() != other.examples.tolist()
    assert same.fitness().of(EvolvedSettings()) == task.fitness().of(EvolvedSettings())


def test_how_many_downloads_are_under_way(plan):
    assert plan.order == CurrentListSettings(size=100, refill=50)
    assert dataclasses.replace(plan, connections=7).order == CurrentListSettings(size=7, refill=4)
    assert dataclasses.replace(plan, connections=0).order is None


def test_anchors_are_heard_where_they_may_have_a_weight(task, plan):
    wide = prepare(dataclasses.replace(plan, scores="all"))
    assert len(task.verdicts.anchors) == 0
    assert len(wide.verdicts.anchors) == len(task.world.link_urls)
    is_link_to_good = wide.grading.is_good[np.maximum(task.world.link_targets, 0)] & (task.world.link_targets >= 0)
    assert wide.verdicts.anchors[is_link_to_good].mean() > wide.verdicts.anchors[~is_link_to_good].mean() + 0.1
    only_anchors = genome_of([0] * 9 + [127, 0], 7)
    assert wide.fitness()(only_anchors) > 0
    with pytest.raises(ValueError, match="11 genes of 7 bits, not 9"):
        wide.fitness()("0" * 63)


def test_phases_are_spelt_in_shares_of_the_pages(plan):
    encoding = dataclasses.replace(plan, phases=3).encoding
    assert (encoding.phases, encoding.pages, len(encoding.genes)) == (3, 60, 29)


def test_progress_is_told(plan):
    told: list[int] = []
    prepare(plan, progress=told.append)
    assert told == sorted(told)
    assert len(told) > 200


def test_the_mean_over_tasks_in_shared_memory_is_that_of_each_by_itself(plan):
    tasks = [prepare(dataclasses.replace(plan, topics=(topic,))) for topic in plan.topics]
    both = mean_fitness(tasks)
    assert both.tasks[0].simulator.memory is both.tasks[1].simulator.memory
    assert set(tasks[0].examples) != set(tasks[1].examples)
    for settings in (EvolvedSettings(), EvolvedSettings(hub=127)):
        alone = [task.fitness().of(settings) for task in tasks]
        assert len(set(alone)) == 2
        assert both.of(settings) == sum(alone) / 2
    genome = genome_of([0, 0, 0, 0, 127, 0, 0, 0, 0], 7)
    assert both(genome) == sum(task.fitness()(genome) for task in tasks) / 2


class TestMistakes:
    @pytest.mark.parametrize(
        ("change", "told"),
        [
            ({"pages": 0}, r"evolve\.pages is 0"),
            ({"runs": 0}, r"evolve\.runs is 0"),
            ({"seeds": 0}, r"evolve\.seeds is 0"),
            ({"examples": 1}, r"evolve\.examples is 1"),
            ({"judge": "keywords"}, "no judge 'keywords'; there are"),
            ({"phases": 4}, r"evolve\.phases is 4"),
            ({"connections": -1}, r"evolve\.connections is -1"),
            ({"scores": "some"}, "no set of scores 'some'; there are paper, all"),
            ({"measure": "size"}, "no fitness 'size'; there are harvest, sites, lengths"),
        ],
    )
    def test_impossible_plans(self, plan, change, told):
        with pytest.raises(ConfigError, match=told):
            dataclasses.replace(plan, **change)

    def test_more_pages_than_there_are(self, plan):
        with pytest.raises(ConfigError, match=r"evolve\.pages is 5,000: made\.world has"):
            prepare(dataclasses.replace(plan, pages=5_000))

    def test_no_topic(self, plan):
        with pytest.raises(InputError, match="no topic is given"):
            dataclasses.replace(plan, topics=())

    def test_too_few_good_pages(self, plan, monkeypatch):
        monkeypatch.setattr(World, "pages_of", lambda self, *topics: np.array([1, 2, 3]))
        with pytest.raises(InputError, match=r"3 of .* pages are good: there must be some to learn from"):
            prepare(plan)

    def test_a_world_without_labels(self, plan, monkeypatch):
        opened = World.open(plan.world)
        opened.topics.clear()
        monkeypatch.setattr(World, "open", lambda path: opened)
        with pytest.raises(InputError, match=r"made\.world was built without labels"):
            prepare(plan)
