"""How sure a crawl is of what it says."""

from __future__ import annotations

import numpy as np

from lycosa.crawl.certainty import Certainty


def test_probabilities_add_up():
    verdicts = np.array([1.0] * 8 + [0.75] * 4 + [0.25] * 8, dtype=np.float32)
    assert Certainty.of(verdicts, 0.5) == Certainty(relevant=12, sure=8, right=11.0, missed=2.0)


def test_the_threshold_decides():
    assert Certainty.of(np.array([0.3, 0.6]), 0.2).relevant == 2


def test_it_is_kept_as_it_is():
    certainty = Certainty(12, 8, 11.0, 2.0)
    assert Certainty.from_bytes(certainty.to_bytes()) == certainty
    assert Certainty.from_bytes(None) is None


def test_words():
    assert Certainty(0, 0, 0.0, 3.0).in_words == ""
    assert Certainty(12, 8, 11.0, 2.0).in_words == "of the 12 relevant, 8 surely; about 11 are expected to be right"
    assert Certainty(3, 3, 3.0, 0.0).in_words == "of the 3 relevant, all surely; about 3 are expected to be right"
    assert Certainty(4, 0, 2.6, 9.8).in_words.endswith(
        "none surely; about 3 are expected to be right, and about 10 of the others to be relevant after all"
    )
