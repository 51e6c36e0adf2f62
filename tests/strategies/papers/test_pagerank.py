"""PageRank as a crawl order."""

from __future__ import annotations

import numpy as np
import pytest

from lycosa.errors import ConfigError
from lycosa.frontier.frontier import Frontier
from lycosa.lib.linkgraph import pagerank
from lycosa.model import Fetched, Judgement, Kind, Lease, Outcome, Page, Visit
from lycosa.strategies.papers.pagerank import MAX_LINKS, PageRank, PageRankSettings
from lycosa.strategies.protocol import StrategyParts

OUTCOME = Outcome(Kind.FETCHED)


def crawler(*, buffer: int | None = None, **settings) -> PageRank:
    return PageRank(StrategyParts(buffer=buffer), PageRankSettings(**settings))


def tell(strategy: PageRank, page: int, *targets: int, relevance: float = 0.5, score: float = 1.0) -> list[float]:
    lease = Lease(page, "", 0, score, 0, 0, 0)
    visit = Visit(Fetched(lease, OUTCOME), OUTCOME, Page(""), Judgement(relevance, True))
    return strategy.tell(visit, np.array(targets, dtype=np.int64)).tolist()


def frontier_of(*links: int, score: float = 0.3) -> Frontier:
    frontier = Frontier()
    for link in links:
        frontier.push(link, link, score)
    return frontier


def test_between_computations_a_link_has_its_share_of_the_page():
    assert tell(crawler(), 0, 1, 2, 3, 4, score=2.0) == pytest.approx([0.2 + 0.8 * 2.0 / 4] * 4)


def test_the_waiting_links_get_their_ranks():
    strategy = crawler(interval=2)
    frontier = frontier_of(10, 11, 12, 13)
    tell(strategy, 0, 10, 11)
    tell(strategy, 1, 11, 0)
    frontier.push(14, 14, 0.3)  # no buffered page cites it
    frontier.release(frontier.lease(0.0), tries=1)  # 10
    assert strategy.ask(1, frontier, 0.0) == [11]
    # nodes 0, 1, 10, 11 as 0 … 3; the pages that wait lead to the two that are buffered
    edges = np.array([(0, 2), (0, 3), (1, 3), (1, 0)])
    ranks = pagerank(edges[:, 0], edges[:, 1], count=4, sinks_lead_to=np.array([0, 1]))
    scores = {link: frontier.score_of(link) for link in (10, 11, 12, 13, 14)}
    assert scores == {
        10: pytest.approx(ranks[2]),
        11: pytest.approx(ranks[3]),
        12: pytest.approx(0.2),
        13: pytest.approx(0.2),
        14: pytest.approx(0.2),
    }
    assert frontier.take_revised() == pytest.approx({10: ranks[2], 11: ranks[3], 12: 0.2, 13: 0.2, 14: 0.2})
    assert frontier.top(9).tolist()[-1] == 10
    assert frontier.take_revised() == {}


def test_it_computes_only_every_so_many_pages():
    strategy, frontier = crawler(interval=3), frontier_of(10, 11)
    for page in (0, 1):
        tell(strategy, page, 11)
        strategy.ask(0, frontier, 0.0)
        assert frontier.score_of(11) == pytest.approx(0.3)
    tell(strategy, 2, 11)
    assert strategy.ask(1, frontier, 0.0) == [11]
    assert frontier.score_of(10) == pytest.approx(0.2)


def test_a_full_buffer_keeps_the_most_similar_pages():
    strategy, frontier = crawler(buffer=2, interval=3), frontier_of(10, 11, 12)
    tell(strategy, 0, 10, relevance=0.9)
    tell(strategy, 1, 11, relevance=0.1)
    tell(strategy, 2, 12, relevance=0.5)
    strategy.ask(1, frontier, 0.0)
    assert frontier.score_of(11) == pytest.approx(0.2)
    assert frontier.score_of(10) == frontier.score_of(12) > 0.3


def test_a_page_with_very_many_links_does_not_fill_the_memory():
    strategy = crawler()
    assert len(tell(strategy, 0, *range(1, 3 * MAX_LINKS))) == 3 * MAX_LINKS - 1
    assert len(strategy.save()) < 4 * MAX_LINKS + 1000


@pytest.mark.parametrize("wrong", [{"damping": 1.0}, {"tolerance": 0.0}, {"interval": 0}, {"pages": 0}])
def test_constants_out_of_range_are_refused(wrong):
    with pytest.raises(ConfigError):
        PageRankSettings(**wrong)
