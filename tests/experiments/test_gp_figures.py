"""The figures of paper GP's experiments: splits, what a crawl collected, which way a claim points, who asks engines."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from common import verdicts
from gp_crawls import CRAWLERS, Collected, collected, search_plan
from gp_page import PAIRS, crawl_claims, text_claims
from gp_texts import GP, METHODS, Outcome, split_of

from lycosa.lab.replay.tasks import Task


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


def outcomes(own: float, others: float, splits: int = 10) -> list[Outcome]:
    rng = np.random.default_rng(1)
    return [
        Outcome(
            {name: (0.5, 0.5, (own if name == GP else others) + 0.001 * rng.random()) for name in METHODS},
            *("body_cosine", 1, 0.5, 0.5, 10, 10, {}),
        )
        for _ in range(splits)
    ]


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
