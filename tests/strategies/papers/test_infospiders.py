"""InfoSpiders: what one of them does, and the population."""

from __future__ import annotations

import math

import numpy as np
import pytest

from lycosa.errors import ConfigError
from lycosa.frontier.frontier import Frontier
from lycosa.model import Fetched, Judgement, Kind, Lease, Link, Outcome, Page, Visit
from lycosa.strategies.papers.infospiders import DISMISSED, InfoSpiders, InfoSpidersSettings
from lycosa.strategies.papers.page_words import PageWords
from lycosa.strategies.papers.spider import PageSeen, Spider
from lycosa.strategies.protocol import StrategyParts

OUTCOME = Outcome(Kind.FETCHED)
KEYWORDS = {"bike": 1.0, "road": 1.0}
BIKES = {"bike": 5, "road": 5, "tour": 3}


def spiders(*, buffer: int | None = None, seed: int = 1, **settings) -> InfoSpiders:
    parts = StrategyParts(keywords={"bike": 1, "road": 1}, rng=np.random.default_rng(seed), buffer=buffer)
    return InfoSpiders(parts, InfoSpidersSettings(**settings))


def page_of(link: int, terms: dict[str, int], *links: Link) -> Visit:
    lease = Lease(link, "", 0, 0.5, 0, 0, 0)
    return Visit(Fetched(lease, OUTCOME), OUTCOME, Page("", links=links, terms=terms), Judgement(0.0, False))


def frontier_of(count: int, **options) -> Frontier:
    frontier = Frontier(slots_per_host=100, **options)
    for link in range(count):
        frontier.push(link, link % 3, 1.0)
    return frontier


class TestSpider:
    def spider(self, size: int = 10) -> Spider:
        return Spider(dict(KEYWORDS), size, np.array([1.0, 1.0, 0.0]))

    def add(self, spider: Spider, *entries: tuple[int, float]) -> None:
        links, scores = zip(*entries, strict=True)
        spider.add(np.array(links), np.array(scores), np.ones((len(links), 3), dtype=np.float32))

    def test_the_net_is_a_sigmoid_of_the_weighted_sum(self):
        assert self.spider().predict(np.array([[1, 0.5, 1]], dtype=np.float32)) == pytest.approx(
            1 / (1 + math.exp(-1.5))
        )

    def test_one_step_of_learning(self):
        spider = self.spider()
        out = 1 / (1 + math.exp(-1.5))
        spider.learn(np.array([1, 0.5, 1], dtype=np.float32), 0.2, 0.5)
        step = 0.5 * (0.2 - out) * out * (1 - out)
        assert spider.weights == pytest.approx([1 + step, 1 + step / 2, step])

    def test_similarity_is_the_cosine(self):
        assert self.spider().similarity({"bike": 3, "soup": 4}, 5.0) == pytest.approx(3 / (5 * math.sqrt(2)))

    def test_of_two_entries_for_a_link_the_better_stays(self):
        spider = self.spider()
        self.add(spider, (5, 0.2), (3, 0.4))
        self.add(spider, (5, 0.7), (3, 0.1))
        assert dict(zip(spider.links.tolist(), spider.scores.tolist(), strict=True)) == {5: 0.7, 3: 0.4}

    def test_of_equal_entries_the_older_stays_and_the_list_is_in_order(self):
        spider = self.spider()
        for seen, order in ((1, [4, 9, 2]), (2, [7, 2, 9]), (3, [1])):
            inputs = np.full((len(order), 3), seen, dtype=np.float32)
            spider.add(np.array(order), np.array([0.5] * len(order)), inputs)
        assert spider.links.tolist() == [1, 2, 4, 7, 9]
        assert spider.all_inputs()[:, 0].tolist() == [3, 1, 1, 2, 1]

    def test_of_two_entries_in_one_batch_the_better_stays(self):
        spider = self.spider()
        inputs = np.array([[1] * 3, [2] * 3, [3] * 3], dtype=np.float32)
        spider.add(np.array([5, 5, 5]), np.array([0.2, 0.7, 0.3]), inputs)
        assert (spider.links.tolist(), spider.scores.tolist()) == ([5], [0.7])
        assert spider.all_inputs().tolist() == [[2] * 3]

    def test_what_was_seen_of_links_that_left_is_cleared_up(self):
        spider = self.spider(size=2)
        for link in range(1000):
            self.add(spider, (link, link / 1000))
            spider.trim()
        assert len(spider.inputs) < 100
        assert spider.all_inputs().tolist() == [[1] * 3] * 2

    def test_a_link_is_taken_off(self):
        spider = self.spider()
        self.add(spider, (1, 0.1), (2, 0.2), (3, 0.3))
        spider.remove(1)
        assert (spider.links.tolist(), spider.scores.tolist()) == ([1, 3], [0.1, 0.3])

    def test_the_worst_leave_a_full_list(self):
        spider = self.spider(size=2)
        self.add(spider, (1, 0.2), (2, 0.4), (3, 0.3), (4, 0.3))
        assert spider.trim().tolist() == [4, 1]
        assert sorted(spider.links.tolist()) == [2, 3]

    def test_a_child_has_half_of_everything_and_a_keyword_more(self):
        spider = self.spider(size=9)
        spider.energy = 2.5
        spider.place = PageSeen.of(PageWords(Page("", terms={"bike": 9, "tour": 4, "cafe": 4, "soup": 1})), KEYWORDS)
        self.add(spider, *((link, link / 10) for link in range(7)))
        child = spider.child(np.random.default_rng(1), 1.0)
        assert child.keywords == {**KEYWORDS, "cafe": 1.0}
        assert (spider.size, child.size) == (5, 4)
        assert (spider.energy, child.energy) == (0.0, 0.0)
        assert (len(spider.links), len(child.links)) == (4, 3)
        assert sorted([*spider.links.tolist(), *child.links.tolist()]) == list(range(7))
        assert child.weights.tolist() == [1.0, 1.0, 1.0, 0.0]
        assert child.all_inputs().tolist() == [[1, 1, 0, 1]] * 3


class TestPicking:
    def test_the_probability_grows_with_the_score(self):
        strategy = spiders(greediness=5.0)
        frontier = Frontier(slots_per_host=10_000)
        counts = [0, 0]
        for _ in range(2000):
            frontier.push(0, 0, 0.2)
            frontier.push(1, 0, 0.5)
            (link,) = strategy.ask(1, frontier, 0.0)
            counts[link] += 1
            for each in (0, 1):
                frontier.take(each, 0.0)
                frontier.done(each)
        expected = math.exp(5 * 0.5) / (math.exp(5 * 0.5) + math.exp(5 * 0.2))
        assert counts[1] / 2000 == pytest.approx(expected, abs=0.03)

    def test_without_greediness_all_are_equally_likely(self):
        got = [tuple(spiders(greediness=0, seed=seed).ask(6, frontier_of(6), 0.0)) for seed in range(20)]
        assert len(set(got)) > 15

    def test_a_host_that_is_not_ready_is_passed_over(self):
        frontier = frontier_of(6)
        frontier.cool(0, 10.0)
        frontier.cool(1, 10.0)
        assert sorted(spiders().ask(6, frontier, 0.0)) == [2, 5]

    def test_a_link_that_comes_back_returns_to_its_agent(self):
        strategy, frontier = spiders(), frontier_of(1)
        (link,) = strategy.ask(1, frontier, 0.0)
        frontier.push(7, 0, 0.0)
        frontier.release(link)
        assert sorted(strategy.ask(2, frontier, 0.0)) == [0, 7]

    def test_the_target_of_a_redirect_is_adopted(self):
        strategy, frontier = spiders(greediness=500.0), frontier_of(3)
        (link,) = strategy.ask(1, frontier, 0.0)
        frontier.done(link)
        frontier.push(9, 0, 2.0)
        assert strategy.ask(1, frontier, 0.0) == [9]


class TestPopulation:
    def crawl(self, strategy: InfoSpiders, frontier: Frontier, visits: int, terms: dict[str, int]) -> int:
        """Visit pages of one kind, with five new links each; the number of the next new link."""
        new = 100
        for _ in range(visits):
            (link,) = strategy.ask(1, frontier, 0.0)
            targets = np.arange(new, new + 5)
            new += 5
            links = [Link("", "bike" if n % 2 else "soup", position=n) for n in range(5)]
            scores = strategy.tell(page_of(link, terms, *links), targets)
            frontier.done(link)
            frontier.push_many(targets, targets % 3, scores)
        return new

    def test_scores_join_the_page_and_the_net(self):
        strategy, frontier = spiders(is_learning=False, parent_share=0.25), frontier_of(1)
        strategy.ask(1, frontier, 0.0)
        scores = strategy.tell(page_of(0, {"bike": 1, "road": 1}, Link("", "bike"), Link("", "soup")), np.array([4, 5]))
        assert scores == pytest.approx([0.25 + 0.75 / (1 + math.exp(-1)), 0.25 + 0.75 * 0.5])

    def test_success_makes_agents_and_failure_does_not(self):
        rich, poor = spiders(buffer=64), spiders(buffer=64)
        self.crawl(rich, frontier_of(10), 40, BIKES)
        self.crawl(poor, frontier_of(10), 40, {"soup": 3})
        assert len(rich._spiders) == 8
        assert len(poor._spiders) == 1
        assert sum(spider.size for spider in rich._spiders) == 64
        assert all("tour" in spider.keywords for spider in rich._spiders[1:])

    def test_the_paper_s_constants(self):
        settings = InfoSpidersSettings()
        assert (settings.threshold, settings.agents, settings.temperature) == (2.0, 8, 0.1)
        assert (settings.parent_share, settings.greediness, settings.learning_rate) == (0.5, 5.0, 0.5)

    def test_an_agent_has_offspring_as_soon_as_its_energy_is_above_theta(self):
        strategy, frontier = spiders(buffer=64), frontier_of(10)
        similarity = strategy._spiders[0].similarity(BIKES, math.sqrt(59))
        due = math.floor(2.0 / similarity) + 1
        self.crawl(strategy, frontier, due - 1, BIKES)
        assert len(strategy._spiders) == 1
        self.crawl(strategy, frontier, 1, BIKES)
        assert len(strategy._spiders) == 2

    @pytest.mark.parametrize(("gain", "least", "most"), [(0.3, 0.9, 1.0), (-0.3, 0.0, 0.1), (0.0, 0.35, 0.65)])
    def test_an_agent_moves_to_better_pages_and_seldom_to_worse_ones(self, gain, least, most):
        """Equation 7: with probability 1 / (1 + e^(−gain / T)), T = 0.1."""
        strategy, moved = spiders(), 0
        spider = strategy._spiders[0]
        for _ in range(200):
            here = PageSeen({"bike": 1}, 1.0)
            spider.place = here
            words = PageWords(Page("", terms={"soup": 1}))
            similarity = spider.similarity(here.terms, here.norm) + gain
            strategy._move(spider, words, similarity)
            moved += spider.place is not here
        assert least <= moved / 200 <= most

    def test_the_buffer_drops_no_link_of_an_agent_s_own_list(self):
        """New links with high scores push none out of the list of another agent: only agents drop links."""
        strategy, frontier = spiders(buffer=8, is_learning=False, is_evolving=False), frontier_of(0, buffer=8)
        poor, rich = strategy._spiders[0], Spider(dict(KEYWORDS), 4, np.array([1.0, 1.0, 0.0]))
        poor.size = 4
        strategy._spiders.append(rich)
        low = np.arange(1, 5)
        frontier.push_many(low, low % 3, np.full(4, 0.01))
        poor.add(low, np.full(4, 0.01), np.ones((4, 3), dtype=np.float32))
        strategy._joined.append(low)
        strategy._put_in_order(frontier)
        high = np.arange(10, 18)
        rich.add(high, np.full(8, 0.9), np.ones((8, 3), dtype=np.float32))
        strategy._joined.append(high)
        assert frontier.push_many(high, high % 3, np.full(8, 0.9)) == []
        strategy._put_in_order(frontier)
        assert poor.links.tolist() == low.tolist()
        assert frontier.is_waiting(low).all()
        assert rich.links.tolist() == [10, 11, 12, 13]
        behind = [link for link in high.tolist() if frontier.score_of(link) < DISMISSED / 2]
        assert behind == [14, 15, 16, 17]
        more = np.arange(20, 26)  # with the four behind, two too many: the buffer drops those
        assert sorted(frontier.push_many(more, more % 3, np.full(6, 0.5))) == [16, 17]

    def test_without_evolution_there_is_one(self):
        strategy = spiders(is_evolving=False)
        self.crawl(strategy, frontier_of(10), 40, BIKES)
        assert len(strategy._spiders) == 1

    def test_without_learning_the_nets_stay_as_they_were_made(self):
        learning, other = spiders(), spiders(is_learning=False)
        for strategy in (learning, other):
            self.crawl(strategy, frontier_of(10), 10, {"soup": 3})
        assert other._spiders[0].weights.tolist() == [1.0, 1.0, 0.0]
        assert learning._spiders[0].weights[-1] < 0

    def test_lists_keep_within_the_buffer_and_the_rest_waits_behind(self):
        strategy, frontier = spiders(buffer=16, is_learning=False), frontier_of(3)
        self.crawl(strategy, frontier, 30, BIKES)
        strategy.ask(1, frontier, 0.0)
        held = set(np.concatenate([spider.links for spider in strategy._spiders]).tolist())
        assert len(held) <= 16
        waiting = frontier.waiting_links()
        behind = {link for link in waiting.tolist() if frontier.score_of(link) < DISMISSED / 2}
        assert behind == set(waiting.tolist()) - held
        assert frontier.take_revised().keys() == behind
        assert "no agent" in strategy.reason(DISMISSED + 0.5)

    def test_a_dismissed_link_that_is_found_again_is_on_a_list_again(self):
        strategy, frontier = spiders(buffer=4, is_evolving=False), frontier_of(12)
        (link,) = strategy.ask(1, frontier, 0.0)
        dismissed = min(frontier.take_revised())
        strategy.tell(page_of(link, BIKES, Link("", "bike road")), np.array([dismissed]))
        assert dismissed in strategy._spiders[0].links

    def test_agents_take_turns(self):
        strategy, frontier = spiders(buffer=64), frontier_of(10)
        self.crawl(strategy, frontier, 40, BIKES)
        before = [len(spider.links) for spider in strategy._spiders]
        strategy.ask(8, frontier, 0.0)
        assert all(len(spider.links) < count for spider, count in zip(strategy._spiders, before, strict=True))


@pytest.mark.parametrize("wrong", [{"parent_share": 1.1}, {"temperature": 0.0}, {"threshold": -1.0}, {"agents": 0}])
def test_constants_out_of_range_are_refused(wrong):
    with pytest.raises(ConfigError):
        InfoSpidersSettings(**wrong)
