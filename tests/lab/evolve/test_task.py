from __future__ import annotations

import dataclasses
import pickle
from pathlib import Path

import numpy as np
import pytest

from lycosa.errors import ConfigError, InputError
from lycosa.lab.evolve.task import Course, CoursePlan, lay_out
from lycosa.lab.generated.web import GeneratedWeb, WebPlan
from lycosa.lab.worlds.build import build_generated
from lycosa.lab.worlds.world import World
from lycosa.lib.evolve import genome_of
from lycosa.strategies.papers.current_list import CurrentListSettings
from lycosa.strategies.papers.evolved import EvolvedSettings


@pytest.fixture(scope="module")
def path(tmp_path_factory) -> Path:
    target = tmp_path_factory.mktemp("course") / "made.world"
    web = GeneratedWeb(WebPlan(seed=4, pages=250, hosts=8, topics=3, out_degree=10))
    build_generated(web, target, is_rendered=True, readers=0)
    return target


@pytest.fixture(scope="module")
def plan(path) -> CoursePlan:
    topics = World.open(path).topics
    return CoursePlan(world=path, topics=tuple(topics[:2]), pages=60, runs=2, seeds=4, examples=12)


@pytest.fixture(scope="module")
def course(plan) -> Course:
    return lay_out(plan)


def test_the_judge_has_learned_the_topics_from_a_few_pages(course, plan):
    world = course.world
    members = np.union1d(*(world.pages_of(topic) for topic in plan.topics))
    assert len(course.examples) == 12
    assert set(course.examples) < set(members)
    unseen = np.setdiff1d(members, course.examples)
    others = np.setdiff1d(np.arange(len(world)), members)
    assert course.verdicts.is_relevant[unseen].mean() > 0.7
    assert course.verdicts.is_relevant[others].mean() < 0.2


def test_crawls_begin_at_examples_each_elsewhere_and_examples_earn_nothing(course, plan):
    starts = [set(crawl.seeds.tolist()) for crawl in course.crawls]
    assert len(starts) == plan.runs
    assert all(len(seeds) == 4 and seeds < set(course.examples.tolist()) for seeds in starts)
    assert starts[0] != starts[1]
    assert not course.truth.is_good[course.examples].any()
    members = np.union1d(*(course.world.pages_of(topic) for topic in plan.topics))
    assert course.truth.is_good.sum() == len(members) - len(course.examples)


def test_another_process_gets_the_same_course(course):
    sent = pickle.dumps(course)
    assert len(sent) < 40_000  # the world itself stays where it is
    assert pickle.loads(sent).fitness().of(EvolvedSettings()) == course.fitness().of(EvolvedSettings())


def test_the_same_plan_gives_the_same_course_and_another_seed_another(course, plan):
    same, other = lay_out(plan), lay_out(dataclasses.replace(plan, seed=2))
    assert same.examples.tolist() == course.examples.tolist() != other.examples.tolist()
    assert same.fitness().of(EvolvedSettings()) == course.fitness().of(EvolvedSettings())


def test_how_many_downloads_are_under_way(plan):
    assert plan.order == CurrentListSettings(size=100, refill=50)
    assert dataclasses.replace(plan, connections=7).order == CurrentListSettings(size=7, refill=4)
    assert dataclasses.replace(plan, connections=0).order is None


def test_anchors_are_heard_where_they_may_have_a_weight(course, plan):
    wide = lay_out(dataclasses.replace(plan, scores="all"))
    assert len(course.verdicts.anchors) == 0
    assert len(wide.verdicts.anchors) == len(course.world.link_urls)
    is_link_to_good = wide.truth.is_good[np.maximum(course.world.link_targets, 0)] & (course.world.link_targets >= 0)
    assert wide.verdicts.anchors[is_link_to_good].mean() > wide.verdicts.anchors[~is_link_to_good].mean() + 0.1
    only_anchors = genome_of([0] * 9 + [127, 0], 7)
    assert wide.fitness()(only_anchors) > 0
    with pytest.raises(ValueError, match="11 genes of 7 bits, not 9"):
        wide.fitness()("0" * 63)


def test_phases_are_spelt_in_shares_of_the_pages(plan):
    spelling = dataclasses.replace(plan, phases=3).spelling
    assert (spelling.phases, spelling.pages, len(spelling.genes)) == (3, 60, 29)


def test_progress_is_told(plan):
    told: list[int] = []
    lay_out(plan, progress=told.append)
    assert told == sorted(told)
    assert len(told) > 200


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
            lay_out(dataclasses.replace(plan, pages=5_000))

    def test_no_topic(self, plan):
        with pytest.raises(InputError, match="no topic is given"):
            dataclasses.replace(plan, topics=())

    def test_too_few_good_pages(self, plan, monkeypatch):
        monkeypatch.setattr(World, "pages_of", lambda self, topic: np.array([1, 2, 3]))
        with pytest.raises(InputError, match=r"3 of .* pages are good: some must be learned from"):
            lay_out(plan)

    def test_a_world_without_labels(self, plan, monkeypatch):
        opened = World.open(plan.world)
        opened.topics.clear()
        monkeypatch.setattr(World, "open", lambda path: opened)
        with pytest.raises(InputError, match=r"made\.world was built without labels"):
            lay_out(plan)
