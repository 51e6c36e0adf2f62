"""Questions are about pages in doubt, on which much depends, and no two are alike."""

from __future__ import annotations

import numpy as np
import pytest

from lycosa.crawl.questions import AskablePages, choose, doubt, middle_of_doubt
from lycosa.judges.contrast.page_vector import PageVector


def vector(*words: int) -> PageVector:
    return PageVector(np.array(words, dtype=np.uint16), np.ones(len(words), dtype=np.uint8))


def pages(*relevance: float, **columns) -> AskablePages:
    """Pages that differ in everything unless columns say otherwise."""
    count = len(relevance)
    given = {
        "waiting": np.zeros(count, dtype=np.int64),
        "hosts": [f"h{n}" for n in range(count)],
        "vectors": [vector(*(100 * n % 60_000 + np.arange(1, 4)).tolist()) for n in range(count)],
        "fingerprints": [n * 0x9E3779B97F4A7C15 % (1 << 64) for n in range(1, count + 1)],
        "is_first": np.zeros(count, dtype=np.bool_),
        "is_settled": np.zeros(count, dtype=np.bool_),
    }
    given |= {name: np.array(value) if name in ("waiting",) else value for name, value in columns.items()}
    for name in ("is_first", "is_settled"):
        given[name] = np.isin(np.arange(count), columns.get(name, []))
    return AskablePages(relevance=np.array(relevance), **given)


def chosen(found: AskablePages, count: int = 3, threshold: float = 0.5) -> list[int]:
    return choose(found, middle=threshold, count=count)


@pytest.mark.parametrize("threshold", [0.1, 0.5, 0.8])
def test_doubt_is_greatest_at_the_threshold(threshold):
    given = doubt(np.array([0.0, threshold / 2, threshold, (1 + threshold) / 2, 1.0]), threshold)
    np.testing.assert_allclose(given, [0, 0.5, 1, 0.5, 0], atol=1e-9)


class TestMiddle:
    def test_it_is_the_threshold_where_the_judge_is_right_half_the_time(self):
        assert middle_of_doubt(0.5, []) == 0.5
        assert middle_of_doubt(0.2, [True, False, None, True, False]) == pytest.approx(0.2)
        assert middle_of_doubt(0.5, [True] * 9) == 0.5

    def test_it_is_higher_while_most_answers_are_no(self):
        assert middle_of_doubt(0.5, [False] * 3) == pytest.approx(0.8)
        assert middle_of_doubt(0.5, [False] * 98) == pytest.approx(0.99)
        assert middle_of_doubt(0.5, [False] * 98 + [True] * 99) == 0.5

    def test_it_is_higher_while_there_are_few_examples(self):
        assert middle_of_doubt(0.5, [], examples=0) == 1.0
        assert middle_of_doubt(0.5, [True, True], examples=1) == pytest.approx(0.7)
        assert middle_of_doubt(0.5, [True] * 5, examples=0) == 0.5


def test_without_an_example_the_most_relevant_come_first():
    assert choose(pages(0.5, 0.95, 1.0, 0.1), middle=1.0, count=3) == [2, 1, 0]


def test_the_doubtful_come_first():
    assert chosen(pages(0.95, 0.45, 0.02, 0.7)) == [1, 3, 0]


def test_by_the_crawls_own_threshold():
    assert chosen(pages(0.95, 0.45, 0.12, 0.0), threshold=0.1) == [2, 1, 0]


def test_what_is_certain_is_not_asked():
    assert chosen(pages(1.0, 0.0, 0.5)) == [2]
    assert chosen(pages(1.0, 0.0)) == []
    assert chosen(pages()) == []


def test_what_many_links_depend_on_comes_first():
    assert chosen(pages(0.5, 0.45, 0.4, waiting=[0, 90, 3])) == [1, 2, 0]


def test_no_two_of_one_host_if_there_are_others():
    assert chosen(pages(0.5, 0.49, 0.48, 0.4, hosts=["a", "a", "a", "b"])) == [0, 3, 1]


def test_no_two_that_say_the_same():
    same = [vector(1, 2, 3, 4), vector(1, 2, 3, 5), vector(1, 2, 3, 6), vector(9, 10)]
    assert chosen(pages(0.5, 0.49, 0.48, 0.35, vectors=same), 2) == [0, 3]


def test_near_duplicates_are_asked_about_once():
    assert chosen(pages(0.5, 0.49, 0.2, fingerprints=[0b1111, 0b1110, 1 << 60])) == [0, 2]


def test_none_twice():
    assert chosen(pages(0.5, 0.49, 0.48, is_settled=[0])) == [1, 2]


def test_nor_one_like_it():
    same = [vector(1, 2, 3, 4), vector(1, 2, 3, 5), vector(9, 10)]
    assert chosen(pages(0.5, 0.49, 0.4, is_settled=[0], vectors=same)) == [2, 1]
    assert chosen(pages(0.5, 0.49, 0.4, is_settled=[0], hosts=["a", "a", "b"])) == [2, 1]
    assert chosen(pages(0.5, 0.49, 0.4, is_settled=[0], fingerprints=[0b1111, 0b1110, 1 << 60])) == [2]


def test_seeds_in_doubt_come_first():
    assert chosen(pages(0.5, 0.85, 0.5, is_first=[1], waiting=[50, 0, 0])) == [1, 0, 2]
    assert chosen(pages(0.5, 0.97, 0.5, is_first=[1])) == [0, 2, 1]


def test_pages_without_words():
    empty = [vector(), vector(), vector(7)]
    assert sorted(chosen(pages(0.5, 0.49, 0.4, vectors=empty))) == [0, 1, 2]


def test_many_pages():
    """Only as many as asked for, in a moment."""
    rng = np.random.default_rng(1)
    count = 20_000
    vectors = [vector(*rng.integers(1, 60_000, 40)) for _ in range(count)]
    found = chosen(pages(*rng.random(count), vectors=vectors), 10)
    assert len(set(found)) == 10
