"""How sure a verdict is that rests on words alone: as far as something else confirms it."""

from __future__ import annotations

from math import nan

import numpy as np
import pytest

from lycosa.judges.contrast.by_words import BY_MEANING, BY_WORDS_ALONE, MOST_ODDS, Hedge

ODDS = np.array([9.0] * 20 + [-9.0] * 80)
"""Of a mixture that is sure of its two groups."""
NOISE = np.random.default_rng(1).normal(0.0, 0.01, 100)


def spread(on: float, off: float) -> np.ndarray:
    return np.array([on] * 20 + [off] * 80) + NOISE


class TestTrust:
    def test_groups_that_differ_in_meaning_are_trusted(self):
        assert Hedge.by_meaning(ODDS, spread(0.5, 0.1)).odds == BY_MEANING.odds

    def test_groups_that_mean_the_same_are_not(self):
        assert Hedge.by_meaning(ODDS, spread(0.2, 0.2)).odds == 0.0
        assert Hedge.by_meaning(ODDS, spread(0.1, 0.5)).odds == 0.0  # nor those that mean the opposite

    def test_there_is_something_in_between(self):
        assert 0.0 < Hedge.by_meaning(ODDS, spread(0.22, 0.12) + 9 * NOISE).odds < BY_MEANING.odds

    def test_pages_without_text_do_not_count(self):
        cosines = spread(0.5, 0.1)
        cosines[[3, 50]] = nan
        hedge = Hedge.by_meaning(ODDS, cosines)
        assert hedge.odds == BY_MEANING.odds
        assert 0.1 < hedge.usual_meaning < 0.3

    def test_without_meaning_the_words_confirm(self):
        assert Hedge.by_words(ODDS, spread(1.0, 0.0)).odds == BY_WORDS_ALONE.odds
        assert Hedge.by_words(ODDS, NOISE).odds == 0.0
        assert Hedge.by_words(ODDS, np.zeros(100)).odds == 0.0


class TestSaid:
    def test_the_formula(self):
        hedge = Hedge(-2.0, 0.5, 0.25, 6.0, 0.1)
        odds, near, meaning = np.array([2.0, -40.0, 1.0]), np.array([1.0, 0.0, 0.0]), np.array([0.4, 0.0, nan])
        expected = [-2.0 + 1.0 + 0.25 + 2.4, -2.0 - 0.5 * MOST_ODDS, -2.0 + 0.5 + 0.6]
        assert hedge.said(odds, near, meaning) == pytest.approx(expected)
