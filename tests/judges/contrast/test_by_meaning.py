"""What the meaning of pages adds where a topic is given in words alone."""

from __future__ import annotations

from math import nan

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lycosa.judges.contrast.by_meaning import UsualMeaning
from lycosa.judges.contrast.judge import ContrastJudge
from lycosa.judges.contrast.study import ContrastStudy
from lycosa.model import Page

WORDS = "recreational cycling"
FAR, NEAR = 0.1, 0.6


def study(*, has_meaning: bool = True, examples: int = 0) -> ContrastStudy:
    pages = [Page(f"http://e.test/{n}", terms={"recreat": 3, "cycl": 4, f"wheel{n}": 2}) for n in range(examples)]
    return ContrastJudge.fit(pages, WORDS, has_meaning=has_meaning).study()


def add(chosen: ContrastStudy, meanings: list[float]) -> None:
    """Pages that do not contain the words; they differ in their meaning alone."""
    for number, meaning in enumerate(meanings):
        terms = {f"some{number}": 3, "page": 1}
        chosen.add(chosen.vector(terms), host=1, meaning=meaning)
    chosen.learn()


class TestUsualMeaning:
    def test_it_begins_with_ten_pages(self):
        assert UsualMeaning.of(np.zeros(0)) == pytest.approx((0.12, 0.1))

    def test_mean_and_spread_are_those_of_all_pages(self):
        cosines = np.array([0.5, nan, 0.3, 0.4], dtype=np.float32)
        mean = (10 * 0.12 + 1.2) / 13
        squares = 10 * (0.01 + (0.12 - mean) ** 2) + sum((each - mean) ** 2 for each in (0.5, 0.3, 0.4))
        assert UsualMeaning.of(cosines) == pytest.approx((mean, np.sqrt(squares / 13)))

    @pytest.mark.parametrize(("z", "bonus"), [(-4, 0), (0, 0), (1, 0), (2, 0.5), (3, 1), (9, 1), (nan, 0)])
    def test_the_bonus(self, z, bonus):
        usual = UsualMeaning(0.2, 0.05)
        assert usual.bonus(np.array([0.2 + 0.05 * z])) == pytest.approx([bonus], abs=1e-6)

    @given(st.floats(-1, 1, width=32) | st.just(nan), st.floats(-1, 1), st.floats(1e-3, 1))
    def test_of_a_single_page_it_is_the_same_to_the_bit(self, cosine, mean, spread):
        usual = UsualMeaning(mean, spread)
        (bonus,) = usual.bonus(np.array([cosine], dtype=np.float32)).tolist()
        assert usual.bonus_of(np.float32(cosine)) == bonus


class TestNearness:
    def test_a_page_that_means_the_same_is_nearer(self):
        chosen = study()
        add(chosen, [FAR] * 20 + [NEAR])
        assert chosen.relevance[-1] > chosen.relevance[:-1].max() + 0.3

    def test_at_once_and_not_only_after_a_lesson(self):
        chosen = study()
        add(chosen, [FAR] * 20)
        page = chosen.vector({"other": 3})
        near, far = (chosen.add(page, host=1, meaning=meaning) for meaning in (NEAR, FAR))
        assert near > far + 0.3

    def test_it_counts_only_where_it_is_wanted(self):
        plain, with_meaning = study(has_meaning=False), study(has_meaning=False)
        add(plain, [nan] * 21)
        add(with_meaning, [FAR] * 20 + [NEAR])
        np.testing.assert_array_equal(plain.relevance, with_meaning.relevance)
        assert plain.meaning is None

    def test_examples_say_more(self):
        plain, with_meaning = study(examples=3), study(examples=3)
        add(plain, [nan] * 21)
        add(with_meaning, [FAR] * 20 + [NEAR])
        np.testing.assert_array_equal(plain.relevance, with_meaning.relevance)

    def test_verdicts_do_not_change_what_guides(self):
        chosen, judged = study(), study()
        for each in (chosen, judged):
            add(each, [FAR] * 20 + [NEAR])
        for number in range(5):
            for each in (chosen, judged):
                each.add(each.vector({f"late{number}": 2}), host=1, meaning=0.3)
            judged.verdicts()
        np.testing.assert_array_equal(chosen.relevance, judged.relevance)
