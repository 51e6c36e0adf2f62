"""What engines are asked."""

from __future__ import annotations

import pytest

from lycosa.live import general_idf
from lycosa.seeds.metasearch.queries import FoundTexts, distinctive, first_query, next_queries

FOUND = FoundTexts(
    relevant=[
        "Harbour fees on Gotland | The Sailor",
        "Visby: harbour fees and berths | The Sailor",
        "Gotland in summer | The Sailor",
        "Skerries of Stockholm | The Sailor",
        "Harbour fees compared | The Sailor",
        "Skerries by night | The Sailor",
    ],
    others=["Knots for beginners | The Sailor", "Masthead | The Sailor", "Weather in summer | The Sailor"] * 3,
)


def flat(_: str) -> float:
    return 1.0


def test_the_first_query_is_the_topic_in_one_printable_line():
    assert first_query(" sailing\n on\x1b the  Baltic ") == "sailing on the Baltic"


def test_what_relevant_titles_have_and_others_do_not():
    best = distinctive(FOUND, idf=general_idf, say=flat)
    assert {best[0], best[1]} == {"harbour fees", "gotland"}
    assert "sailor" not in " ".join(best)  # it stands on every page of the site
    assert "summer" not in " ".join(best)


def test_each_is_asked_for_with_the_topics_own_words():
    queries = next_queries("sailing on the Baltic", FOUND, asked=[], count=2, idf=general_idf)
    assert sorted(queries) == ["sailing baltic gotland", "sailing baltic harbour fees"]


def test_no_query_is_asked_twice_in_whatever_order_or_form():
    asked = ["sailing baltic harbour fee", "gotland baltic sailing"]
    queries = next_queries("sailing on the Baltic", FOUND, asked=asked, count=2, idf=general_idf)
    assert queries
    assert not {"sailing baltic gotland", "sailing baltic harbour fees"} & set(queries)


def test_the_topics_own_words_are_no_news():
    queries = next_queries("gotland harbour fees", FOUND, asked=[], count=5, idf=general_idf)
    assert "gotland harbour fees" not in queries
    assert all("gotland" in query and "fees" in query for query in queries)


def test_a_word_that_the_judge_does_not_believe_in_comes_later():
    doubted = distinctive(FOUND, idf=flat, say=lambda stem: 0.1 if stem in ("harbour", "fee") else 1.0)
    assert doubted[0] == "gotland"


def test_a_rare_word_comes_before_a_common_one():
    found = FoundTexts(["people zyzzyva", "people zyzzyva"], ["x"])
    assert distinctive(found, idf=general_idf, say=flat)[0] in ("zyzzyva", "people zyzzyva")
    assert distinctive(FoundTexts(["people, yes", "zyzzyva"], ["x"]), idf=general_idf, say=flat)[0] == "zyzzyva"


@pytest.mark.parametrize(
    "found", [FoundTexts([], []), FoundTexts([], ["x y"]), FoundTexts(["", "12 345", "of the"], [])]
)
def test_without_anything_distinctive_nothing_is_asked(found):
    assert next_queries("sailing", found, asked=[], count=3, idf=flat) == []


def test_hostile_titles_cost_little_and_stay_words():
    found = FoundTexts(["w " * 100_000 + "\x1b[31m", '"; drop table -- site:evil.test'] * 4, [])
    for query in next_queries("sailing", found, asked=[], count=5, idf=flat):
        assert query.replace(" ", "").isalnum()
        assert len(query) < 200
