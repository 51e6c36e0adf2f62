"""A person's answers change the queue at once, and are told again where they were told first."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from lycosa.strategies.hunter.fixed_relevance import FixedRelevance
from lycosa.strategies.protocol import StrategyParts
from lycosa.strategies.table import strategy
from strategies.hunter.test_hunter import Crawl, Web, given_judge, is_good, own_judge


@pytest.fixture(params=[own_judge, given_judge])
def make(request):
    return request.param


def opposite(crawl: Crawl, count: int) -> dict[int, bool | None]:
    """Of the latest pages, the opposite of what they are."""
    return {link: not is_good(link) for link in crawl.visited[-count:]}


def test_waiting_links_get_other_scores_before_the_next_visit(make):
    crawl = Crawl(Web(400), make())
    crawl.run(40)
    waiting = crawl.frontier.waiting_links()
    before = crawl.frontier.scores(waiting).copy()
    crawl.strategy.abilities.answer(opposite(crawl, 40))
    crawl.strategy.ask(0, crawl.frontier, 0.0)
    after = crawl.frontier.scores(waiting)
    assert np.mean(before != after) > 0.3
    is_right = np.array([is_good(link) for link in waiting.tolist()])
    gap_before = before[is_right].mean() - before[~is_right].mean()
    assert after[is_right].mean() - after[~is_right].mean() < gap_before - 0.05


def test_the_study_has_them_at_the_places_of_the_visits(make):
    crawl = Crawl(Web(400), make())
    crawl.run(40)
    said = opposite(crawl, 10)
    crawl.strategy.abilities.answer(said)
    crawl.run(60)
    relevance = crawl.strategy.study.relevance
    assert {link: bool(relevance[crawl.visited.index(link)]) for link in said} == said
    assert set(relevance[[crawl.visited.index(link) for link in said]].tolist()) <= {0.0, 1.0}


def test_told_again_at_the_same_place_it_goes_the_same_way(make):
    straight = Crawl(Web(400), make())
    straight.run(40)
    said = opposite(straight, 10)
    straight.strategy.abilities.answer(said)
    straight.run(60)
    resumed = make()
    for number, (visit, targets) in enumerate(straight.told, start=1):
        resumed.tell(visit, targets)
        if number == 40:
            resumed.abilities.answer(said)
    waiting = straight.frontier.waiting_links()
    np.testing.assert_array_equal(resumed.look(waiting), straight.strategy.look(waiting))
    elsewhere = make()
    for visit, targets in straight.told:
        elsewhere.tell(visit, targets)
    assert (elsewhere.look(waiting) != straight.strategy.look(waiting)).any()


def test_a_fixed_relevance_can_be_taken_back():
    study = FixedRelevance({})
    for relevance in (0.25, 0.5, 0.75):
        page = (np.zeros(0, np.uint16), np.zeros(0, np.uint8))
        study.add(page, host=1, is_seed=False, relevance=relevance, meaning=np.nan)
    study.answer(0, True)
    study.answer(2, False)
    assert study.relevance.tolist() == [1.0, 0.5, 0.0]
    study.answer(0, None)
    assert study.relevance.tolist() == [0.25, 0.5, 0.0]


def test_wrappers_pass_it_on():
    parts = replace(StrategyParts(keywords={"cycl": 1}), is_good=lambda _: True)
    assert strategy("hard+hunter", parts).abilities.answer is not None
    assert strategy("best-first", parts).abilities.answer is None
