"""Labels that answer a replayed crawl's questions, chosen as a live crawl would choose them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from lycosa.crawl.questions import choose
from lycosa.judges.contrast.judge import ContrastJudge, ContrastStudy
from lycosa.lab.generated.web import GeneratedWeb, WebPlan
from lycosa.lab.replay.person import Person
from lycosa.lab.replay.replay import JudgedWorld, Track, replay
from lycosa.lab.worlds.build import build_generated
from lycosa.lab.worlds.world import World
from lycosa.strategies.protocol import StrategyParts
from lycosa.strategies.table import strategy

PLAN = WebPlan(seed=3, pages=160, hosts=6, topics=3, out_degree=10, disallowing_hosts=0.0, crawl_delay=0.0)


@pytest.fixture(scope="module")
def world(tmp_path_factory) -> World:
    path = tmp_path_factory.mktemp("worlds") / "made.world"
    build_generated(GeneratedWeb(PLAN), path, is_rendered=True, readers=0)
    return World.open(path)


class Asked:
    """A replay with a person."""

    def __init__(self, world: World, moments: dict[int, int], truth=None, pages: int = 60) -> None:
        judge = ContrastJudge.fit((), GeneratedWeb(PLAN).topic_keywords(0))
        begun: list[ContrastStudy] = []

        def begin() -> ContrastStudy:
            begun.append(judge.study())
            return begun[0]

        self.asked: list[list[int]] = []

        def note(pages, *, middle, count):
            found = choose(pages, middle=middle, count=count)
            self.asked.append([len(pages.relevance), len(found)])
            return found

        self.truth = np.arange(len(world)) % 2 == 0 if truth is None else truth
        parts = replace(StrategyParts.of(judge.abilities, rng=np.random.default_rng(0)), study=begin)
        hunter = strategy("hunter", parts)
        self.person = Person(
            self.truth, moments=moments, relevance=lambda: begun[0].relevance, threshold=0.5, choice=note
        )
        self.track: Track = replay(JudgedWorld(world, judge), hunter, [0, 1], pages=pages, person=self.person)
        self.study = begun[0]


def test_questions_come_at_their_moments(world):
    asked = Asked(world, {20: 5, 40: 3})
    assert asked.asked == [[20, 5], [40, 3]]
    assert len(asked.person.answers) == 8  # none twice


def test_the_labels_answer_and_the_study_learns(world):
    asked = Asked(world, {20: 6})
    for page, is_relevant in asked.person.answers.items():
        assert is_relevant == asked.truth[page]
        assert asked.study.relevance[asked.track.pages.index(page)] == float(is_relevant)


def test_answers_change_the_way(world):
    plain, taught = Asked(world, {}), Asked(world, {20: 6})
    assert plain.track.pages[:20] == taught.track.pages[:20]
    assert plain.track.pages != taught.track.pages
    assert plain.person.answers == {}


def test_moments_that_have_passed_are_made_up_for(world):
    """Several pages may come at once."""
    person = Person(np.ones(9, np.bool_), moments={5: 2, 7: 1}, relevance=lambda: np.zeros(0))
    assert not person.is_due(4)
    assert person.is_due(9)
