"""Shark-Search and Fish-Search against values worked out by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lycosa.errors import ConfigError
from lycosa.frontier.keys import rank
from lycosa.model import Fetched, Judgement, Kind, Lease, Link, Outcome, Page, Visit
from lycosa.strategies.papers.shark import Fish, FishSettings, Shark, SharkSettings, pack, pack_many, payload, unpack
from lycosa.strategies.protocol import StrategyParts

TEXTS = {"bikes": 0.6, "about bikes and roads": 0.3}
OUTCOME = Outcome(Kind.FETCHED)


def similarity(text: str) -> float:
    return TEXTS.get(text, 0.0)


def shark(**settings) -> Shark:
    return Shark(StrategyParts(similarity=similarity), SharkSettings(**settings))


def visit(score: float, relevance: float, *links: Link) -> Visit:
    lease = Lease(1, "http://a.test/", 0, score, 0, 0, 0)
    return Visit(Fetched(lease, OUTCOME), OUTCOME, Page("", links=links), Judgement(relevance, relevance >= 0.5))


PLAIN = Link("http://b.test/", "soup", "nothing")
ANCHOR = Link("http://c.test/", "bikes", "nothing")
CONTEXT = Link("http://d.test/", "there", "about bikes and roads")


def told(strategy, score: float, relevance: float, *links: Link) -> list[float]:
    return strategy.tell(visit(score, relevance, *links), np.arange(len(links))).tolist()


class TestScores:
    def test_links_of_a_relevant_page(self):
        scores = told(shark(), shark().seed_score(), 0.4, PLAIN, ANCHOR, CONTEXT)
        inherited = 0.5 * 0.4
        assert scores == pytest.approx(
            [0.1 * inherited, 0.9 * (0.8 * 0.6 + 0.2 * 1) + 0.1 * inherited, 0.9 * 0.2 * 0.3 + 0.1 * inherited]
        )
        assert [unpack(score) for score in scores] == [(3, pytest.approx(inherited, abs=1e-6))] * 3

    def test_links_of_a_page_without_relevance_inherit_less_and_lie_deeper(self):
        (score,) = told(shark(), pack(0.3, payload(3, 0.2)), 0.0, PLAIN)
        assert score == pytest.approx(0.1 * 0.5 * 0.2, rel=1e-4)
        assert unpack(score) == (2, pytest.approx(0.1, abs=1e-6))

    def test_the_constants_can_be_set(self):
        strategy = shark(inherited_share=0.5, anchor_share=0.4, decay=0.25, depth=7)
        scores = told(strategy, strategy.seed_score(), 0.8, ANCHOR)
        assert scores == pytest.approx([0.5 * (0.4 * 0.6 + 0.6) + 0.5 * 0.25 * 0.8])
        assert unpack(scores[0]) == (7, pytest.approx(0.2, abs=1e-6))

    def test_after_so_many_links_without_relevance_nothing_is_followed(self):
        strategy, score = shark(depth=3), shark().seed_score()
        for depth in (2, 1, 0):
            (score,) = told(strategy, score, 0.0, CONTEXT)
            assert unpack(score)[0] == depth
        assert math.isnan(told(strategy, score, 0.0, CONTEXT)[0])
        # As in the paper's figure 8, a relevant page found there is not expanded either.
        assert math.isnan(told(strategy, score, 0.9, CONTEXT)[0])

    def test_relevance_on_the_way_resets_the_depth(self):
        strategy = shark()
        (score,) = told(strategy, pack(0.3, payload(1, 0.0)), 0.2, PLAIN)
        assert unpack(score)[0] == 3

    def test_a_score_given_by_another_strategy_counts_as_a_seed(self):
        (score,) = told(shark(), 0.5, 0.0, PLAIN)
        assert unpack(score)[0] == 2

    def test_more_anchors_than_are_remembered(self, monkeypatch):
        monkeypatch.setattr("lycosa.strategies.papers.shark.MEMO", 3)
        strategy = shark()
        links = [Link(f"http://{n}.test/", f"{n}") for n in range(10)] + [ANCHOR]
        assert told(strategy, strategy.seed_score(), 0.0, *links)[-1] > 0.5


class TestFish:
    def fish(self) -> Fish:
        return Fish(StrategyParts(), FishSettings())

    def test_a_page_is_relevant_or_not(self):
        strategy = self.fish()
        assert told(strategy, strategy.seed_score(), 0.5, PLAIN, ANCHOR) == pytest.approx([0.5, 0.5], rel=1e-5)
        assert told(strategy, strategy.seed_score(), 0.9, PLAIN) == pytest.approx([0.5], rel=1e-5)
        (score,) = told(strategy, pack(0.5, payload(3, 0.5)), 0.49, PLAIN)
        assert score == pytest.approx(0.25, rel=1e-5)
        assert unpack(score)[0] == 2


class TestWhatTravelsInAScore:
    @given(st.floats(0, 1), st.integers(0, 127), st.floats(0, 1))
    def test_it_comes_back_and_the_frontier_does_not_see_it(self, score, depth, inherited):
        packed = pack(score, payload(depth, inherited))
        found = unpack(packed)
        assert found is not None
        assert found[0] == depth
        assert found[1] == pytest.approx(inherited, abs=1e-6)
        assert rank(packed) == rank(max(score, 2.0**-40))
        assert pack_many(np.array([score]), payload(depth, inherited)).tolist() == [packed]

    @given(st.floats(-3, -1e-9))
    def test_also_below_zero(self, score):
        packed = pack(score, payload(2, 0.5))
        assert unpack(packed) == (2, pytest.approx(0.5, abs=1e-6))
        assert rank(packed) == rank(score)


@pytest.mark.parametrize(
    "wrong",
    [{"depth": 200}, {"depth": -1}, {"decay": 1.5}, {"inherited_share": 2.0}, {"anchor_share": -1.0}, {"batch": 0}],
)
def test_constants_out_of_range_are_refused(wrong):
    with pytest.raises(ConfigError):
        SharkSettings(**wrong)
