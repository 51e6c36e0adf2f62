"""Hard focus and decay around other strategies."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from lycosa.errors import ConfigError
from lycosa.model import Fetched, Judgement, Kind, Lease, Link, Outcome, Page, Visit
from lycosa.strategies.focus import RESETS, DecaySettings
from lycosa.strategies.protocol import StrategyParts
from lycosa.strategies.table import strategy

FETCHED = Outcome(Kind.FETCHED, "http 200", status=200)
SKIPPED = [True, True]
FOLLOWED = [False, False]


def visit(link: int, relevance: float, *, best: str = "", distance: int = 1) -> Visit:
    lease = Lease(link, f"http://a.test/{link}", 1, 1.0, distance, 0, 0)
    page = Page(lease.url, links=[Link(f"http://a.test/{link}/{n}") for n in range(2)])
    return Visit(Fetched(lease, FETCHED), FETCHED, page, Judgement(relevance, relevance >= 0.5, best=best))


class TestHard:
    def is_skipped(self, made, told: Visit) -> list[bool]:
        return np.isnan(made.tell(told, np.array([8, 9]))).tolist()

    def test_by_the_best_leaf(self):
        parts = StrategyParts(is_good=lambda topic: topic.startswith("Sport/Cycling"))
        made = strategy("hard+best-first", parts)
        assert self.is_skipped(made, visit(1, 0.1, best="Sport/Cycling/Touring")) == FOLLOWED
        assert self.is_skipped(made, visit(2, 0.9, best="Sport/Rowing")) == SKIPPED
        assert made.name == "hard+best-first"

    def test_by_the_judge_where_there_are_no_leaves(self):
        made = strategy("hard+best-first")
        assert self.is_skipped(made, visit(1, 0.6)) == FOLLOWED
        assert self.is_skipped(made, visit(2, 0.4)) == SKIPPED

    def test_scored_again_pruned_pages_say_nothing(self):
        made = strategy("hard+best-first")
        assert np.isnan(made.again(visit(2, 0.4), np.array([8]))).all()
        assert made.again(visit(2, 0.7), np.array([8])).tolist() == [0.7]


@pytest.mark.parametrize("rule", ["hard", "decay"])
def test_what_is_guessed_is_guessed_where_links_are_followed(rule):
    settings = {"decay.stop": 1.0} if rule == "decay" else {}
    made = strategy(f"{rule}+hunter", StrategyParts(is_good=lambda topic: topic != "Sport/Rowing"), settings)
    targets = np.array([8, 9])
    guessing = made.abilities.guessing
    assert guessing is not None
    made.tell(visit(1, 0.9), targets)
    assert guessing.guesses(visit(1, 0.9)) == ["http://a.test/"]
    poor = replace(visit(8, 0.2), judgement=Judgement(0.2, True, best="Sport/Rowing"))
    made.tell(poor, targets)
    assert made._inner.guesses(poor) == ["http://a.test/"]
    assert guessing.guesses(poor) == ()


class TestDecay:
    """T_d = 0.3: 1 at the seed, 1/2 at its children, 1/4 at theirs, which is too little."""

    def chain(self, name: str, *relevances: float, **settings: float) -> list[bool]:
        """Whether each page of a chain from a seed on has its links followed."""
        made = strategy(name, StrategyParts(), {f"decay.{key}": value for key, value in settings.items()})
        followed = []
        for step, relevance in enumerate(relevances):
            scores = made.tell(visit(step, relevance, distance=step), np.array([step + 1]))
            followed.append(not np.isnan(scores).any())
        return followed

    def test_nothing_relevant_ends_after_two_pages(self):
        assert self.chain("decay+breadth-first", 0, 0, 0) == [True, True, False]

    def test_a_relevant_page_begins_again(self):
        assert self.chain("decay+breadth-first", 0, 0.31, 0, 0) == [True, True, True, False]
        assert self.chain("decay+breadth-first", 0, 0.3, 0) == [True, True, False]  # above T_r, not at it

    def test_presets(self):
        assert [self.chain(f"decay-{name}+best-first", 0, 0.15, 0)[2] for name in RESETS] == [True, False, False]
        assert [self.chain(f"decay-{name}+best-first", 0, 0.25, 0)[2] for name in RESETS] == [True, True, False]

    def test_half_as_much_is_one_link_more(self):
        assert self.chain("decay+best-first", 0, 0, 0, 0, stop=0.25) == [True, True, True, False]
        assert self.chain("decay+best-first", 0, 0, stop=1.0) == [True, False]

    def test_the_best_of_several_parents_counts(self):
        made = strategy("decay+best-first")
        made.tell(visit(1, 0.0, distance=1), np.array([5]))  # a child of a seed: halved once
        made.tell(visit(2, 0.9, distance=3), np.array([5]))  # a relevant page
        assert not np.isnan(made.tell(visit(5, 0.0, distance=2), np.array([6]))).any()

    @pytest.mark.parametrize("wrong", [{"stop": 1.5}, {"reset": 1.1}, {"stop": 0.0}, {"reset": -0.1}])
    def test_impossible_constants(self, wrong):
        with pytest.raises(ConfigError, match="decay"):
            DecaySettings(**wrong)


def test_an_unknown_rule_is_named():
    with pytest.raises(ConfigError, match="'hart' in strategy 'hart\\+best-first' is not a rule: did you mean 'hard'"):
        strategy("hart+best-first")
    with pytest.raises(ConfigError, match=r"decay\.sotp"):
        strategy("decay+best-first", settings={"decay.sotp": 0.3})
