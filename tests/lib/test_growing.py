"""Arrays that grow."""

from __future__ import annotations

import numpy as np

from lycosa.lib.growing import grown


def test_what_is_long_enough_stays_the_same_array() -> None:
    array = np.arange(4)
    assert grown(array, 4) is array
    assert grown(array, 0) is array


def test_a_longer_one_begins_with_it_and_is_filled_up() -> None:
    longer = grown(np.array([7, 8], dtype=np.uint8), 10, fill=255)
    assert longer.tolist() == [7, 8] + [255] * 8
    assert longer.dtype == np.uint8


def test_it_grows_by_half_at_least_and_in_rows() -> None:
    assert len(grown(np.zeros(100), 101)) == 150
    assert grown(np.ones((2, 3)), 3).shape == (3, 3)
    assert len(grown(np.zeros(0), 1)) == 1
