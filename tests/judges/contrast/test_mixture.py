"""Two groups of scores, told apart whatever their shares are."""

from __future__ import annotations

import numpy as np
import pytest

from lycosa.judges.contrast.mixture import Anchor, separate

ANCHOR = Anchor(low=0.2, high=1.0, low_pages=5.0, high_pages=1000.0)


def drawn(share: float, *, pages: int = 800, low: float = 0.2, high: float = 1.0, spread: float = 0.15):
    rng = np.random.default_rng(5)
    is_inside = np.arange(pages) < round(share * pages)
    return rng.normal(np.where(is_inside, high, low), spread), is_inside


def unknown(count: int):
    return np.full(count, np.nan)


@pytest.mark.parametrize("share", [0.01, 0.05, 0.2, 0.5, 0.8, 0.95, 0.99])
def test_the_share_is_found_whatever_it_is(share):
    z, is_inside = drawn(share)
    found = separate(z, ANCHOR, unknown(len(z)))
    assert found.share == pytest.approx(share, abs=0.02)
    assert ((found.probability(z) >= 0.5) == is_inside).mean() > 0.98


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9])
def test_probabilities_are_as_often_right_as_they_say(share):
    z, is_inside = drawn(share, pages=20_000, low=0.55, spread=0.25)
    said = separate(z, ANCHOR._replace(low=0.5), unknown(len(z))).probability(z)
    for least in np.arange(0, 1, 0.1):
        here = (said >= least) & (said < least + 0.1)
        if here.sum() > 300:
            assert is_inside[here].mean() == pytest.approx(said[here].mean(), abs=0.08)


def test_near_misses_are_not_taken_for_the_topic_where_it_is_anchored():
    rng = np.random.default_rng(2)
    z = np.concatenate([rng.normal(0.1, 0.1, 250), rng.normal(0.7, 0.1, 250)])  # none at 1
    anchored = separate(z, ANCHOR, unknown(len(z)))
    adrift = separate(z, ANCHOR._replace(high_pages=1.0), unknown(len(z)))
    assert (anchored.probability(z) >= 0.5).mean() < 0.1
    assert (adrift.probability(z) >= 0.5).mean() > 0.4


def test_known_pages_count_as_what_they_are():
    z, is_inside = drawn(0.5, high=0.6, low=0.4, spread=0.3)
    free = separate(z, ANCHOR._replace(high_pages=10.0), unknown(len(z)))
    told = separate(z, ANCHOR._replace(high_pages=10.0), np.where(is_inside, 1.0, 0.0))
    assert told.high == pytest.approx(0.6, abs=0.05)
    assert told.share == pytest.approx(0.5, abs=0.01)
    assert told.high != free.high


@pytest.mark.parametrize("scores", [[], [0.5], [0.0] * 40, [1.0] * 40, [1e30, -1e30, 0.0]])
def test_any_scores_give_probabilities(scores):
    z = np.array(scores, dtype=np.float64)
    said = separate(z, ANCHOR, unknown(len(z))).probability(z)
    assert np.isfinite(said).all()
    assert ((said >= 0) & (said <= 1)).all()


def test_more_is_always_likelier():
    z, _ = drawn(0.3)
    said = separate(z, ANCHOR, unknown(len(z))).probability(np.linspace(-3, 5, 100))
    assert (np.diff(said) >= 0).all()
