"""The words of a page: what a keyword near a link is worth, and that looking twice gives the same."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from lycosa.model import Link, Page
from lycosa.strategies.papers.page_words import KEPT_TERMS, Numbering, PageWords

KEYWORDS = ("bike", "road")


def evidence(links: list[Link], keywords: tuple[str, ...] = KEYWORDS) -> NDArray[np.float32]:
    return PageWords(Page("", links=links)).evidence(keywords)


class TestEvidence:
    def test_nearer_words_count_more_and_those_in_the_anchor_most(self):
        link = Link("", "fine bikes", "road maps, oil, fine bikes or roads, a bike")
        ((bike, road, bias),) = evidence([link]).tolist()
        # stems: road map oil [fine bike] road bike
        assert bike == pytest.approx(1 + 1 / 3)
        assert road == pytest.approx(1 / 4 + 1 / 2)
        assert bias == 1.0

    def test_nothing_near_is_nothing_but_the_bias(self):
        assert evidence([Link("", "soup", "some soup"), Link("")]).tolist() == [[0, 0, 1]] * 2

    def test_no_links_no_rows_and_no_keywords_no_columns(self):
        assert evidence([]).shape == (0, 3)
        assert evidence([Link("", "bike")], ()).tolist() == [[1]]

    def test_an_anchor_without_context_and_a_context_without_the_anchor(self):
        assert evidence([Link("", "my bike")])[0].tolist() == [1, 0, 1]
        assert 0 < evidence([Link("", "elsewhere", "one bike more")])[0, 0] <= 1

    def test_of_equal_words_the_middle_ones_are_the_anchor(self):
        link = Link("", "bike", "bike " + "soup " * 6 + "bike" + " soup" * 6 + " bike")
        assert evidence([link])[0, 0] == pytest.approx(1 + 2 / 8)

    def test_each_link_has_its_own(self):
        rows = evidence([Link("", "road"), Link("", "soup"), Link("", "bike", "road bike")]).tolist()
        assert rows == [[0, 1, 1], [0, 0, 1], [1, 0.5, 1]]

    def test_what_was_seen_of_other_pages_or_before_changes_nothing(self):
        numbering = Numbering()
        pages = [Page("", links=[Link("", "road", f"bike road {word}")]) for word in ("soup", "road", "bike")]
        shared = [PageWords(page, numbering) for page in pages]
        for keywords in (("soup",), KEYWORDS, ("road", "tour", "bike"), ("soup",)):
            for page, words in zip(pages, shared, strict=True):
                assert words.evidence(keywords).tolist() == PageWords(page).evidence(keywords).tolist()


class TestTerms:
    def test_the_norm_is_the_length_of_the_vector(self):
        assert PageWords(Page("", terms={"bike": 3, "road": 4})).norm == 5.0
        assert PageWords(Page("")).norm == 0.0

    @given(st.dictionaries(st.text("abc", min_size=1, max_size=5), st.integers(1, 4), max_size=90))
    def test_the_commonest_terms(self, terms: dict[str, int]):
        expected = sorted(terms.items(), key=lambda item: (-item[1], item[0]))[:KEPT_TERMS]
        assert list(PageWords(Page("", terms=terms)).commonest.items()) == expected
