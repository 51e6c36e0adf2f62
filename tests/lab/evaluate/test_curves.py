from __future__ import annotations

import numpy as np
import pytest

from lycosa.lab.evaluate.curves import harvest_rate, mean_so_far, moving_harvest_rate, padded, recall

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


def test_a_run_that_ended_early_keeps_its_last_value():
    assert padded(np.array([0.5, 0.25]), 4).tolist() == [0.5, 0.25, 0.25, 0.25]
    assert padded(np.array([0.5, 0.25]), 1).tolist() == [0.5]
    assert padded(np.zeros(0), 2).tolist() == [0.0, 0.0]


def test_the_mean_so_far():
    assert mean_so_far([0.5, 1.0, 0.0]).tolist() == pytest.approx([0.5, 0.75, 0.5])
