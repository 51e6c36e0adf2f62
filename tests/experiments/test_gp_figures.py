"""The figures of paper GP's experiments: splits, what a crawl collected, which way a claim points, who asks engines."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from common import verdicts
from gp_crawls import CRAWLERS, Collected, collected, search_plan
from gp_page import (
    FOUND_WITH_LINKS,
    LINK_PAIRS,
    PAIRS,
    READ,
    _collection,
    _with_links,
    crawl_claims,
    link_claims,
    text_claims,
)
from gp_texts import CITED_FIELDS, GP, GP_CITED, GP_LINKS, METHODS, METHODS_BY_LINKS, Citations, Outcome, split_of

from lycosa.lab.replay.tasks import Task
from lycosa.model import Link, Page


def task(relevant: list[int], graded: list[int], pages: int = 10) -> Task:
    """Pages `relevant` have the label; those not `graded` were given."""
    truth, is_graded = np.zeros(pages, bool), np.zeros(pages, bool)
    truth[relevant], is_graded[graded] = True, True
    targets = np.flatnonzero(truth & is_graded)
    return SimpleNamespace(relevant=truth, is_graded=is_graded, targets=targets, keywords="sea harbour")  # type: ignore[return-value]


def test_the_collection_is_what_was_called_relevant_and_not_given() -> None:
    given = task(relevant=[0, 1, 2, 3, 4], graded=[1, 2, 3, 4, 5, 6])  # page 0 is an example
    pages = np.array([0, 1, 2, 5, 6])
    found = collected(pages, np.array([1.0, 0.5, 0.49, 0.9, 0.1]), given)
    assert found == Collected(precision=1 / 2, recall=1 / 4, f1=pytest.approx(2 / 6), collected=2, fetched=5)
    nothing = collected(pages, np.zeros(5), given)
    assert nothing == Collected(0, 0, 0, 0, 5)


def test_splits_are_stratified_and_have_nothing_in_common() -> None:
    classes = np.repeat([0, 1, 2], [600, 300, 100])
    split = split_of(classes, 30, 4, drawn=500, tested=200)
    parts = [split.training, split.validation, split.test]
    assert len(np.unique(np.concatenate(parts))) == sum(map(len, parts))
    assert np.bincount(classes[split.examples]).tolist() == [90, 45, 15]  # 30 % of half of each class
    assert len(split.test) == 200
    assert len(split.validation) / len(split.examples) == pytest.approx(0.25, abs=0.02)
    again, other = (split_of(classes, 30, number, drawn=500, tested=200) for number in (4, 5))
    assert again.test.tolist() == split.test.tolist()
    assert other.test.tolist() != split.test.tolist()


def outcomes(own: float, others: float, splits: int = 10, *, has_links: bool = True) -> list[Outcome]:
    rng = np.random.default_rng(1)
    methods = [name for name in METHODS if has_links or name not in METHODS_BY_LINKS]
    return [
        Outcome(
            {name: (0.5, 0.5, (own if name == GP else others) + 0.001 * rng.random()) for name in methods},
            *("body_cosine", 1, 0.5, 0.5, 10, 10, {}),
            ((GP_LINKS, "links_bag"),) if has_links else (),
        )
        for _ in range(splits)
    ]


def test_methods_by_links_are_shown_where_there_are_links() -> None:
    linked = {("web", percent): outcomes(0.5, 0.6) for percent in (10, 30)}
    plain = {("texts", percent): outcomes(0.5, 0.6, has_links=False) for percent in (10, 30)}
    both = {**plain, **linked}
    claims = list(link_claims(both))
    assert [(each.differences > 0.05).all() for each in claims] == [True, True, False]  # GP_CITED is as GP_LINKS
    assert len(claims) == len(LINK_PAIRS)
    assert "**better**" in verdicts(claims)[0]
    scale = READ._replace(splits=2)
    assert not list(_with_links(plain, READ))
    said = "\n".join(_with_links(both, scale))
    assert FOUND_WITH_LINKS not in said  # what was found is said of the runs that it was found in
    assert FOUND_WITH_LINKS in [*_with_links(both, READ)]
    assert said.count("web, 10 %, with links: `links_bag`") == 3
    assert "evidence of links in 20 of 20 splits; with links and citations, it has evidence of citations in 0." in said
    assert "texts, 10 %" not in said
    assert not any(GP_CITED in line for line in _collection("texts", both))
    assert all(any(method in line for line in _collection("web", both)) for method in METHODS_BY_LINKS)


def test_citations_are_those_of_examples_alone() -> None:
    def page(name: str, *links: tuple[str, str]) -> Page:
        return Page(f"http://a.test/{name}", links=[Link(f"http://a.test/{to}", anchor) for to, anchor in links])

    first = page("one", ("two", "fast boats"), ("three", "boat"), ("one", "myself"))
    second = page("two", ("three", "Boats"), ("unknown", "wind"))
    third = page("three", ("one", "never read"))
    citations = Citations([first, second])
    found = {each.url[-3:]: citations.fields_of(each) for each in (first, second, third)}
    assert all(tuple(fields) == CITED_FIELDS for fields in found.values())
    assert (found["one"]["citing"], found["one"]["anchors"]) == ({}, {})  # neither by itself, nor by the third
    assert found["two"]["citing"] == {first.url: 1}
    assert found["two"]["anchors"] == {"fast": 1, "boat": 1}
    assert found["ree"]["citing"] == {first.url: 1, second.url: 1}
    assert found["ree"]["anchors"] == {"boat": 2}


@pytest.mark.parametrize(("own", "others", "said"), [(0.6, 0.5, "GP is better"), (0.5, 0.6, "GP is worse")])
def test_a_claim_points_the_right_way(own: float, others: float, said: str) -> None:
    found = {("texts", percent): outcomes(own, others) for percent in (10, 30)}
    claims = list(text_claims(found))
    assert all(len(each.differences) == 20 for each in claims)  # both shares of examples
    assert all(f"**{said}**" in row for row in verdicts(claims))


def test_crawlers_are_compared_over_the_topics_of_all_webs() -> None:
    def crawls(topics: int) -> dict[str, dict[str, Collected]]:
        return {
            f"topic {at}": {
                name: Collected(1, 1, 0.2 + 0.1 * crawler.has_search + 0.001 * at, 5, 9)
                for name, crawler in CRAWLERS.items()
            }
            for at in range(topics)
        }

    claims = list(crawl_claims({"one": crawls(6), "other": crawls(8)}))
    assert [len(each.differences) for each in claims] == [14] * len(PAIRS)
    rows = verdicts(claims)
    assert "**GP + meta-search is better**" in rows[0]
    assert "no difference shown" in rows[PAIRS.index(("hunter", "GP"))]


def test_engines_are_asked_by_the_crawlers_that_say_so() -> None:
    searching = {name for name, crawler in CRAWLERS.items() if crawler.has_search}
    assert searching == {name for name in CRAWLERS if "meta-search" in name}
    for name in searching:
        rest = name.replace(" + meta-search", "")
        assert CRAWLERS[name]._replace(has_search=False) == CRAWLERS[rest]


def test_who_says_what_is_relevant_for_queries() -> None:
    judge = SimpleNamespace(abilities=SimpleNamespace(threshold=0.3))
    fixed = search_plan(task([1], [1]), judge, None, [])  # type: ignore[arg-type]
    assert (fixed.words, fixed.threshold, fixed.relevance, fixed.settings.is_on) == ("sea harbour", 0.3, None, True)
    study = SimpleNamespace(recent_verdicts=lambda: np.array([0.25, 1.0]))
    learning = search_plan(task([1], [1]), judge, study, [])  # type: ignore[arg-type]
    assert learning.relevance is not None
    assert learning.relevance() == [0.25, 1.0]
