"""What search engines name keeps its place, whatever the pages that link to it are worth."""

from __future__ import annotations

import numpy as np

from lycosa.frontier.frontier import Frontier
from lycosa.strategies.hunter.hunter import SEARCH_SCORE, SEED_SCORE
from lycosa.strategies.protocol import StrategyParts
from lycosa.strategies.table import strategy


def test_citations_do_not_lower_it():
    hunter, frontier = strategy("hunter", StrategyParts()), Frontier()
    links = np.array([5, 6, 7])
    frontier.push_many(links, np.array([1, 2, 3]), np.array([SEARCH_SCORE, 0.5, SEED_SCORE]))
    hunter._evidence.reserve(links)
    hunter._evidence.links.told[links] = 0.25
    hunter._due = [links]
    hunter._settle(frontier)
    assert frontier.scores(links).tolist() == [SEARCH_SCORE, 0.25, SEED_SCORE]


def test_it_is_between_seeds_and_predictions():
    assert 1.0 < strategy("hunter", StrategyParts()).search_score() < SEED_SCORE
    assert "search engine" in strategy("hunter", StrategyParts()).reason(SEARCH_SCORE)
