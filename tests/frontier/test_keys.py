"""Keys are ordered like scores, and ties like links."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lycosa.frontier import keys

SCORES = st.floats(allow_nan=False)


def as_float32(score: float) -> float:
    with np.errstate(over="ignore"):
        return float(np.float64(score).astype(np.float32))


@given(SCORES, SCORES)
def test_a_better_score_has_a_smaller_rank(one: float, other: float) -> None:
    a, b = as_float32(one), as_float32(other)
    assert (keys.rank(one) < keys.rank(other)) == (a > b)
    assert (keys.rank(one) == keys.rank(other)) == (a == b)


@given(st.lists(SCORES))
def test_one_by_one_is_the_same_as_all_at_once(scores: list[float]) -> None:
    ranks = keys.ranks(np.array(scores, dtype=np.float64))
    assert ranks.tolist() == [keys.rank(score) for score in scores]
    assert keys.scores(ranks).tolist() == [as_float32(score) for score in scores]
    assert [keys.score(rank) for rank in ranks.tolist()] == [as_float32(score) for score in scores]


def test_equal_scores_are_ordered_by_link() -> None:
    made = keys.keys(keys.ranks(np.array([0.5, -0.0, 0.0, 0.5])), np.array([2**32 - 1, 3, 1, 7]))
    assert np.argsort(made).tolist() == [3, 0, 2, 1]
    assert (made & np.uint64(keys.LINK_MASK)).tolist() == [2**32 - 1, 3, 1, 7]


def test_nan_is_refused() -> None:
    with pytest.raises(ValueError, match="NaN"):
        keys.rank(float("nan"))
    with pytest.raises(ValueError, match="NaN"):
        keys.ranks(np.array([1.0, float("nan")]))


TIERS = (keys.FAVOURED, keys.UNTRIED, 1, 2, 3, keys.MOST_TRIES)


@given(SCORES, SCORES)
def test_tiers_follow_each_other_whatever_the_scores(one: float, other: float) -> None:
    places = [keys.place(keys.rank(score), tier) for tier in TIERS for score in sorted((one, other), reverse=True)]
    assert places == sorted(places)
    assert all(earlier < later for earlier, later in zip(places[1::2], places[2::2], strict=False))
    assert [keys.is_favoured(place) for place in places[::2]] == [True, *[False] * 5]
    assert [keys.is_tried(place) for place in places[::2]] == [False, False, *[True] * 4]
    assert 0 <= places[0] < places[-1] < 1 << 32


@given(st.lists(st.tuples(SCORES, st.sampled_from(TIERS))))
def test_one_place_by_one_is_the_same_as_all_at_once(links: list[tuple[float, int]]) -> None:
    ranks = keys.ranks(np.array([score for score, _ in links], dtype=np.float64))
    tiers = np.array([tier for _, tier in links], dtype=np.uint8)
    expected = [keys.place(rank, tier) for rank, (_, tier) in zip(ranks.tolist(), links, strict=True)]
    assert keys.places(ranks, tiers).tolist() == expected


def test_within_a_tier_a_better_score_comes_first() -> None:
    for tier in TIERS:
        places = [keys.place(keys.rank(score), tier) for score in (2.0, 1.0, 0.5, 0.25, 0.24, 0.0, -1.0)]
        assert places == sorted(set(places))
