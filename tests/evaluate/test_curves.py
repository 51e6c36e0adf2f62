from __future__ import annotations

import pytest

from lycosa.evaluate.curves import harvest_rate, moving_harvest_rate, recall

HITS = [True, False, False, True, True, False]


def test_the_harvest_rate_is_the_share_so_far():
    assert harvest_rate(HITS).tolist() == pytest.approx([1, 1 / 2, 1 / 3, 2 / 4, 3 / 5, 3 / 6])


@pytest.mark.parametrize("window", [1, 2, 3, 5, 6, 100])
def test_the_moving_rate_looks_back_no_further_than_its_window(window):
    expected = []
    for end in range(1, len(HITS) + 1):
        seen = HITS[max(0, end - window) : end]
        expected.append(sum(seen) / len(seen))
    assert moving_harvest_rate(HITS, window).tolist() == pytest.approx(expected)


def test_recall_is_the_share_of_all_targets():
    assert recall(HITS, 6).tolist() == pytest.approx([1 / 6, 1 / 6, 1 / 6, 2 / 6, 3 / 6, 3 / 6])


def test_recall_of_nothing_is_nothing():
    assert recall([False, False], 0).tolist() == [0.0, 0.0]


def test_curves_of_an_empty_crawl_are_empty():
    assert [len(curve) for curve in (harvest_rate([]), moving_harvest_rate([], 10), recall([], 5))] == [0, 0, 0]
