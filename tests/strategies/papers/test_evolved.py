from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from lycosa.errors import ConfigError
from lycosa.frontier.frontier import Frontier
from lycosa.model import Fetched, Judgement, Kind, Lease, Link, Outcome, Page, Visit
from lycosa.strategies.papers import evolved
from lycosa.strategies.papers.evolved import GA2003, SEED_SCORE, WEIGHTS, Evolved, EvolvedSettings, Ga2003
from lycosa.strategies.protocol import StrategyParts

NOTHING = dict.fromkeys(WEIGHTS, 0.0)


def only(**weights: float) -> EvolvedSettings:
    return EvolvedSettings(**{**NOTHING, **weights})


def visit(
    page: int, targets, *, relevance: float = 0.5, is_relevant: bool = False, distance: int = 1, anchors=(), margin=None
):
    url = f"http://h{page % 3}.test/{page}"
    outcome = Outcome(Kind.FETCHED)
    links = [
        Link(f"http://h{target % 3}.test/{target}", anchor)
        for target, anchor in zip(targets, anchors or [""] * len(targets), strict=True)
    ]
    lease = Lease(page, url, 1, 0.5, distance, 0, 0)
    judgement = Judgement(relevance, is_relevant, margin=margin)
    return Visit(Fetched(lease, outcome), outcome, Page(url, links=links), judgement)


def tell(strategy: Evolved, page: int, targets: list[int], **more) -> list[float]:
    """Ranks of the page's links."""
    scores = strategy.tell(visit(page, targets, **more), np.array(targets, dtype=np.int64))
    return (scores - 1).tolist()


def made(settings: EvolvedSettings, **parts) -> Evolved:
    return Evolved(StrategyParts(**parts), settings)


class Definitions:
    """The paper's formulas, word for word, over sets."""

    def __init__(self) -> None:
        self.links: dict[int, list[int]] = {}
        self.score: dict[int, float] = {}
        self.community: set[int] = set()

    def parents(self, link: int) -> set[int]:
        return {page for page, links in self.links.items() if link in links}

    def ancestor_score(self, link: int, generation: int) -> float:
        pages = {link}
        for _ in range(generation):
            pages = set().union(*(self.parents(page) for page in pages))
        scores = [self.score[page] for page in pages]
        if not scores:
            return 0.0
        if all(score > 0 for score in scores) or all(score <= 0 for score in scores):
            return max(scores, key=abs)
        return max(scores)

    def ranks(self, targets: list[int], weights) -> list[float]:
        total = sum(map(len, self.links.values()))
        seen = set(self.links).union(*self.links.values())
        found = []
        for link in targets:
            parents = self.parents(link)
            scores = [
                max(len(self.links[page]) for page in parents) / (total / len(self.links)),
                len(parents) / (total / len(seen)),
                len(parents & self.community) / len(parents),
                sum(len(self.community.intersection(self.links[page])) for page in parents)
                / sum(len(self.links[page]) for page in parents),
                *(self.ancestor_score(link, generation) for generation in range(1, 6)),
            ]
            found.append(float(np.dot(weights[:9], scores)))
        return found


@pytest.mark.parametrize("seed", range(6))
def test_ranks_are_those_of_the_definitions(seed):
    rng = np.random.default_rng(seed)
    settings = EvolvedSettings(**dict(zip(WEIGHTS, rng.integers(0, 128, 9).tolist(), strict=False)))
    strategy, truth = made(settings), Definitions()
    for number, page in enumerate(rng.permutation(60).tolist()):
        targets = rng.choice(60, rng.integers(0, 7), replace=False).tolist()
        relevance, is_relevant = float(rng.integers(0, 9) / 8), bool(rng.random() < 0.4)
        ranks = tell(strategy, page, targets, relevance=relevance, is_relevant=is_relevant, distance=number // 3)
        truth.links[page], truth.score[page] = targets, 2 * relevance - 1
        if is_relevant or number // 3 == 0:
            truth.community.add(page)
        assert ranks == pytest.approx(truth.ranks(targets, settings.weights()), abs=1e-6)


class TestScores:
    def test_parents_of_one_sign_and_of_both(self):
        strategy = made(only(parent_1=1))
        assert tell(strategy, 1, [9], relevance=0.4) == pytest.approx([-0.2])
        assert tell(strategy, 2, [9], relevance=0.1) == pytest.approx([-0.8])  # both negative: the larger magnitude
        assert tell(strategy, 3, [9], relevance=0.3) == pytest.approx([-0.8])
        assert tell(strategy, 4, [9], relevance=0.6) == pytest.approx([0.2])  # mixed: the largest
        assert tell(strategy, 5, [9], relevance=0.9) == pytest.approx([0.8])

    def test_a_margin_counts_as_it_is_and_0_is_its_boundary(self):
        strategy = made(only(parent_1=1, comm_in=1))
        assert tell(strategy, 1, [9], relevance=0.9, is_relevant=True, margin=-0.5) == pytest.approx([-0.25])
        assert tell(strategy, 2, [8], relevance=0.1, is_relevant=False, margin=3.0) == pytest.approx([2.0])
        assert tell(strategy, 3, [7], margin=0.0, is_relevant=True) == [0.0]

    def test_ranks_below_minus_1_keep_their_order(self):
        strategy = made(only(parent_1=1))
        margins = [-0.5, -0.9995, -1.0, -1.5, -4.0, -1000.0]
        scores = [
            strategy.tell(visit(page, [100 + page], margin=margin), np.array([100 + page]))[0]
            for page, margin in enumerate(margins, 1)
        ]
        assert (np.diff(np.array(scores, np.float32)) < 0).all()
        assert min(scores) > 0
        assert scores[:1] == pytest.approx([0.5])
        assert "-1.500 is its rank" in strategy.reason(scores[3])
        assert "-0.500 is its rank" in strategy.reason(scores[0])

    def test_margins_are_noted_and_told_again_on_resume(self):
        first, again = made(only(parent_1=1, comm_in=1)), made(only(parent_1=1, comm_in=1))
        for page, margin in ((1, -0.75), (2, 0.5), (3, None)):
            told = visit(page, [9, page + 20], margin=margin)
            scores = first.tell(told, np.array([9, page + 20]))
            note = first.abilities.note()
            assert bool(note) == (margin is not None)
            stored = dataclasses.replace(told, judgement=Judgement(0.5, False), note=note)
            assert again.tell(stored, np.array([9, page + 20])).tolist() == scores.tolist()
            assert again.abilities.note() == note

    def test_news_of_an_ancestor_reaches_links_that_were_known_before(self):
        strategy = made(only(parent_3=1))
        tell(strategy, 2, [3])
        tell(strategy, 3, [9])
        assert tell(strategy, 1, [2], relevance=1.0) == [0.0]
        assert tell(strategy, 4, [9]) == [1.0]  # 1 → 2 → 3 → 9, though 1 came last

    def test_news_is_not_handed_down_to_more_links_than_the_limit(self, monkeypatch):
        monkeypatch.setattr(evolved, "MAX_SPREAD", 1)
        strategy = made(only(parent_3=1))
        tell(strategy, 2, [3, 5])
        tell(strategy, 3, [9])
        tell(strategy, 1, [2], relevance=1.0)
        assert tell(strategy, 4, [9]) == [0.0]

    def test_the_community_grows_after_its_parents_were_counted(self):
        strategy = made(only(comm_out=1))
        assert tell(strategy, 1, [2, 3]) == [0.0, 0.0]
        tell(strategy, 2, [], is_relevant=True)
        assert tell(strategy, 4, [3, 5, 6]) == pytest.approx([1 / 5, 0, 0])  # 2 of the links of 1 and 4 is in

    def test_anchors_are_heard(self):
        strategy = made(only(anchor=1), similarity=lambda text: len(text) / 10)
        assert tell(strategy, 1, [8, 9], anchors=("abc", "")) == pytest.approx([0.3, 0])
        assert tell(strategy, 2, [8, 9], anchors=("a", "abcd")) == pytest.approx([0.3, 0.4])

    def test_hosts_have_a_record(self):
        strategy = made(only(host=1))
        assert tell(strategy, 3, [6, 7], is_relevant=True) == pytest.approx([2 / 3, 1 / 2])
        assert tell(strategy, 4, [6, 7]) == pytest.approx([2 / 3, 1 / 3])

    def test_a_page_visited_again_is_not_counted_twice(self):
        strategy = made(only(authority=1))
        first = tell(strategy, 1, [2, 3])
        assert tell(strategy, 1, [2, 3]) == first


class TestPhases:
    PHASED = only(comm_in=1, middle_from=2, middle_hub=1, late_from=4, late_parent_2=1)

    def test_weights_change_when_so_many_pages_have_been_visited(self):
        strategy = made(self.PHASED)
        assert tell(strategy, 1, [8, 9], is_relevant=True, relevance=0.9) == [1, 1]
        assert tell(strategy, 2, [8]) == pytest.approx([2 / 1.5])  # the hub 1 has two links, pages have 1.5
        assert tell(strategy, 8, [7]) == pytest.approx([1 / (4 / 3)])
        assert tell(strategy, 3, [7]) == pytest.approx([0.8])  # the parent of 8 was known though nobody had asked

    def test_all_waiting_links_are_ranked_anew_at_once(self):
        strategy, frontier = made(self.PHASED), Frontier()
        frontier.push(5, 0, strategy.seed_score())
        frontier.push(6, 0, 1.25)  # a redirect led there: nobody cites it
        for page, targets in ((1, [5, 8, 9]), (2, [7])):
            scores = strategy.tell(visit(page, targets, is_relevant=True), np.array(targets))
            new = np.array(targets) > 6
            frontier.push_many(np.array(targets)[new], np.zeros(new.sum(), np.int64), scores[new])
        strategy.ask(0, frontier, 0.0)
        assert frontier.take_revised() == {8: 2.5, 9: 2.5}  # 7 has the score it was pushed with
        assert [frontier.score_of(link) for link in (5, 6, 7, 8, 9)] == [SEED_SCORE, 1.25, 1.5, 2.5, 2.5]

    def test_a_phase_may_be_empty(self):
        strategy = made(only(comm_in=1, middle_from=1, middle_hub=1, late_from=1, late_authority=1))
        assert tell(strategy, 1, [8, 9]) == pytest.approx([3 / 2, 3 / 2])

    def test_told_everything_again_it_is_in_the_same_phase(self):
        one, other = made(self.PHASED), made(self.PHASED)
        for strategy in (one, other):
            for page in (1, 2, 3):
                tell(strategy, page, [8])
        other.restore(one.save())
        assert one._weights == other._weights == self.PHASED.weights(1).tolist()
        assert len(other._phases) == 1


class TestFrontier:
    def test_a_waiting_link_moves_down_when_its_rank_falls(self):
        strategy, frontier = made(only(comm_in=1)), Frontier()
        score = strategy.tell(visit(1, [5], is_relevant=True), np.array([5]))[0]
        frontier.push(5, 0, score)
        frontier.push(6, 0, 1.8)
        lower = strategy.tell(visit(2, [5]), np.array([5]))[0]
        assert (score, lower) == (2.0, 1.5)
        assert strategy.ask(0, frontier, 0.0) == []
        assert frontier.score_of(5) == 1.5
        assert frontier.take_revised() == {5: 1.5}
        assert frontier.take_revised() == {}
        assert strategy.ask(1, frontier, 0.0) == [6]

    def test_seeds_are_left_alone_and_links_that_failed_stay_behind(self):
        strategy, frontier = made(only(comm_in=1)), Frontier()
        frontier.push(5, 0, strategy.seed_score())
        frontier.push(6, 1, 1.5)
        frontier.set_tiers(np.array([6]), 1)
        frontier.push(7, 2, 0.1)
        strategy.tell(visit(1, [5, 6]), np.array([5, 6]))
        strategy.ask(0, frontier, 0.0)
        assert frontier.score_of(5) == SEED_SCORE
        assert frontier.take_revised() == {6: 1.0}
        assert frontier.top(3).tolist() == [5, 7, 6]

    def test_the_latest_rank_counts_where_several_came_at_once(self):
        strategy, frontier = made(only(comm_in=1)), Frontier()
        frontier.push(5, 0, 1.2)
        for page, is_relevant in ((1, True), (2, False), (3, True)):
            strategy.tell(visit(page, [5], is_relevant=is_relevant), np.array([5]))
        strategy.ask(0, frontier, 0.0)
        assert frontier.take_revised() == {5: pytest.approx(1 + 2 / 3)}

    def test_told_everything_again_it_stands_where_it_stood(self, monkeypatch):
        monkeypatch.setattr(evolved, "DUE", 4)
        rng = np.random.default_rng(4)
        visits = [
            visit(page, rng.choice(200, 5, replace=False).tolist(), relevance=rng.random(), is_relevant=page % 3 == 0)
            for page in rng.permutation(200).tolist()[:50]
        ]
        targets = [np.array([int(link.url.rpartition("/")[2]) for link in each.page.links]) for each in visits]
        one, other = made(EvolvedSettings()), made(EvolvedSettings())
        for strategy in (one, other):
            for each, numbers in zip(visits, targets, strict=True):
                strategy.tell(each, numbers)
        other.restore(one.save())
        frontiers = Frontier(), Frontier()
        everything = np.arange(200)
        for strategy, frontier in zip((one, other), frontiers, strict=True):
            frontier.push_many(everything, everything * 0, np.full(200, 1.0))
            strategy.ask(0, frontier, 0.0)
        assert frontiers[0].scores(everything).tolist() == frontiers[1].scores(everything).tolist()
        np.testing.assert_array_equal(one.again(visits[0], everything), other.again(visits[0], everything))


class TestSettings:
    def test_the_papers_weights(self):
        assert sum(GA2003.values()) == 387
        assert Ga2003(StrategyParts(), EvolvedSettings()).name == "ga2003"
        assert EvolvedSettings().weights()[3] == 121 / 387

    @pytest.mark.parametrize(
        ("weights", "message"),
        [
            (NOTHING, "evolved: all weights are 0"),
            ({"hub": -1.0}, "evolved.hub is -1.0: it must be 0 or more"),
            ({"parent_2": float("nan")}, "evolved.parent_2 is nan"),
            ({"middle_from": 5}, "evolved: all weights of the middle phase are 0"),
            ({"late_hub": 5}, "weights for a late phase, but evolved.late_from is 0"),
            ({"late_from": 5, "late_hub": 1.0, "middle_hub": 1.0}, "evolved.late_from is 5, middle_from 0: the middle"),
            (
                {"middle_from": 6, "middle_hub": 1.0, "late_from": 5, "late_hub": 1.0},
                "evolved.late_from is 5, middle_from 6: the middle one must come first",
            ),
        ],
    )
    def test_impossible_weights(self, weights, message):
        with pytest.raises(ConfigError, match=message):
            EvolvedSettings(**weights)

    def test_foreign_state_is_refused(self):
        with pytest.raises(ValueError, match="keeps no state"):
            made(EvolvedSettings()).restore(b"something")
