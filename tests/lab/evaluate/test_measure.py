"""Every metric on a web of eight pages, against values computed by hand."""

from __future__ import annotations

from dataclasses import replace
from math import log, sqrt
from unittest import mock

import numpy as np
import pytest

from lycosa.lab.evaluate.cohesion import cohesiveness
from lycosa.lab.evaluate.cost import performance_per_cost, relative_costs
from lycosa.lab.evaluate.measure import METRICS, checkpoints_of, measure
from lycosa.lab.evaluate.overlap import overlap_of, top_rated
from lycosa.lab.evaluate.runs import Run, Terms, TermVector, Truth, rows_of
from lycosa.lab.evaluate.similarity import inverse_document_frequency, similarities
from lycosa.lab.evaluate.spread import (
    capped_harvest,
    distance_histogram,
    distinct_so_far,
    is_new_content,
    likeness,
    relevance_histogram,
)

LINKS = [[1, 2], [2, 3], [0, 3, 4], [4], [], [0], [5, 7], [6]]
OFFSETS = np.array([0, 2, 4, 7, 8, 8, 9, 11, 12])
TARGETS = np.array([target for links in LINKS for target in links])
FAR = 0xFFFF0000FFFF0000
WORDS = [{0: 1}, {0: 1, 1: 2}, {1: 1, 2: 1}, {2: 3}, {}, {0: 2}, {1: 1}, {3: 1}]
TERMS = Terms(
    counts=np.array([count for words in WORDS for count in words.values()]),
    indices=np.array([term for words in WORDS for term in words]),
    offsets=np.cumsum([0, *(len(words) for words in WORDS)]),
    width=4,
)
TRUTH = Truth(
    topic="birds",
    relevant=np.isin(np.arange(8), [2, 3, 6]),
    targets=np.isin(np.arange(8), [3, 6]),
    description=TermVector(counts=np.array([1, 1]), indices=np.array([1, 2])),
    hosts=np.array([0, 0, 1, 1, 1, 2, 3, 3]),
    fingerprints=np.array([0b1, FAR, 0b1110, 0b1, 0, FAR ^ 1, 0, 0b11111 << 40], dtype=np.uint64),
    link_offsets=OFFSETS,
    link_targets=TARGETS,
)


def run_of(pages, strategy="first", repeat=0, cpu=None, relevance=None, seeds=(0,)) -> Run:
    count = len(pages)
    return Run(
        strategy=strategy,
        topic="birds",
        repeat=repeat,
        pages=np.array(pages, dtype=np.int32),
        relevance=np.array(relevance if relevance is not None else [0.5] * count),
        distance=np.arange(count),
        cpu=np.array(cpu if cpu is not None else np.arange(1.0, count + 1)),
        frontier=np.arange(count) * 2,
        seeds=np.array(seeds),
    )


def approx(values):
    return pytest.approx(values, abs=1e-6)


def test_rows_of_a_compressed_matrix():
    places, owner = rows_of(OFFSETS, np.array([2, 4, 0]))
    assert TARGETS[places].tolist() == [0, 3, 4, 1, 2]
    assert owner.tolist() == [0, 0, 0, 2, 2]


def test_arrays_of_a_run_are_of_one_length():
    with pytest.raises(ValueError, match="differ in length"):
        replace(run_of([0, 1]), cpu=np.array([1.0]))


class TestSimilarity:
    def test_weights_are_over_the_pages_crawled(self):
        weights = inverse_document_frequency(TERMS, np.array([0, 1, 2]))
        assert weights.tolist() == approx([log(3 / 2), log(3 / 2), log(3), log(3)])

    def test_cosine_to_the_description(self):
        a, b = log(3 / 2), log(3)
        found = similarities(TERMS, np.array([2, 0, 1]), TRUTH.description)
        assert found.tolist() == approx([1.0, 0.0, 2 * a * a / (sqrt(5) * a * sqrt(a * a + b * b))])

    def test_a_page_without_words_is_like_nothing(self):
        assert similarities(TERMS, np.array([4, 2, 0]), TRUTH.description)[0] == 0.0

    def test_words_that_stand_everywhere_say_nothing(self):
        assert similarities(TERMS, np.array([2]), TRUTH.description).tolist() == [0.0]

    def test_batches_do_not_change_the_result(self, monkeypatch):
        whole = similarities(TERMS, np.arange(8), TRUTH.description)
        monkeypatch.setattr("lycosa.lab.evaluate.similarity.BATCH", 3)
        assert similarities(TERMS, np.arange(8), TRUTH.description).tolist() == whole.tolist()


class TestCohesion:
    def curves(self, pages, seeds):
        pages = np.array(pages)
        return cohesiveness(
            pages,
            is_relevant=TRUTH.relevant[pages],
            seeds=np.array(seeds),
            link_offsets=OFFSETS,
            link_targets=TARGETS,
        )

    def test_by_hand(self):
        # In the community: 0 (a seed), 2 and 3. Links into it: 0→2, 1→2, 2→0 from the third page, then 1→3, 2→3.
        found = self.curves([0, 1, 2, 3, 4], [0])
        assert found.overall.tolist() == approx([0, 0, 3 / 3, 5 / 4, 5 / 5])
        assert found.community.tolist() == approx([0, 0, 2 / 2, 3 / 3, 3 / 3])

    def test_a_seed_counts_before_it_is_fetched(self):
        found = self.curves([5], [0])
        assert (found.overall.tolist(), found.community.tolist()) == ([1.0], [0.0])

    def test_an_empty_crawl(self):
        found = self.curves(np.zeros(0, dtype=int), [0])
        assert (len(found.overall), len(found.community)) == (0, 0)


class TestOverlap:
    def test_by_hand(self):
        first = run_of([0, 2, 3, 6], relevance=[0.1, 0.9, 0.8, 0.7])
        second = run_of([2, 0, 7, 5], relevance=[0.9, 0.2, 0.3, 0.1])
        found = overlap_of(first, second, hosts=TRUTH.hosts, pages=5, top=2)
        assert found["pages"].tolist() == approx([0, 2 / 2, 2 / 3, 2 / 4, 2 / 4])
        # Hosts: 0 1 1 3 and 1 0 3 2.
        assert found["hosts of the first"].tolist() == approx([0, 2 / 2, 2 / 2, 3 / 3, 3 / 3])
        assert found["hosts of the second"].tolist() == approx([0, 2 / 2, 2 / 3, 3 / 4, 3 / 4])
        assert found["top pages"].tolist() == [0.5]  # 2 3 and 2 7
        assert found["top hosts"].tolist() == [1.0]  # host 1, and hosts 1 3

    def test_of_equals_the_first_fetched_is_top_rated(self):
        assert top_rated(run_of([4, 1, 7], relevance=[0.5, 0.9, 0.9]), 2).tolist() == [1, 7]


class TestCost:
    def test_by_hand(self):
        cpu = {"a": [np.array([1.0, 2.0])], "b": [np.array([3.0, 6.0]), np.array([5.0])], "oracle": [np.array([50.0])]}
        # t_MAX: 2 for a, 5.5 for b; the mean is 3.75, the oracle does not count.
        costs = relative_costs(cpu, 2, bounds=["oracle"])
        assert costs["a"][0].tolist() == approx([1 / 3.75, 2 / 3.75])
        assert [run.tolist() for run in costs["b"]] == [approx([3 / 3.75, 6 / 3.75]), approx([5 / 3.75, 5 / 3.75])]
        assert costs["oracle"][0].tolist() == approx([50 / 3.75, 50 / 3.75])

    def test_the_mean_strategy_costs_one(self):
        costs = relative_costs({name: [np.array([cpu])] for name, cpu in (("a", 1.0), ("b", 2.0), ("c", 9.0))}, 1)
        assert sum(runs[0][-1] for runs in costs.values()) / 3 == pytest.approx(1.0)

    def test_a_clock_too_coarse_to_see_anything_costs_nothing(self):
        assert relative_costs({"a": [np.zeros(2)]}, 2)["a"][0].tolist() == [0, 0]

    def test_performance_per_cost(self):
        found = performance_per_cost(np.array([0.5, 0.5]), np.array([0.2, 0.2]), np.array([2.0, 0.0]))
        assert found.tolist() == approx([0.05, 0.0])


class TestSpread:
    def test_hosts(self):
        assert distinct_so_far(np.array([4, 4, 9, 4, 1])).tolist() == [1, 1, 2, 2, 3]

    def test_pages_of_one_host_count_up_to_the_cap(self):
        relevant = np.array([True, True, False, True, True, True])
        hosts = np.array([5, 5, 5, 2, 5, 2])
        assert capped_harvest(relevant, hosts, 2).tolist() == approx([1, 2 / 2, 2 / 3, 3 / 4, 3 / 5, 4 / 6])

    def test_near_duplicates_within_three_bits(self):
        fingerprints = np.array([0b1, FAR, 0b1110 | 1, 0b1, 0b11110, 0, 0], dtype=np.uint64)
        # 1: other. 2: three bits from 0. 3: same as 0. 4: two bits from 2, which is not new. 5, 6: without text.
        new = is_new_content(np.arange(7), likeness(fingerprints))
        assert new.tolist() == [True, True, False, False, False, True, True]

    def test_four_bits_are_too_many(self):
        assert is_new_content(np.arange(2), likeness(np.array([1, 0b11111], dtype=np.uint64))).all()
        assert not is_new_content(np.arange(2), likeness(np.array([1, 0b1111], dtype=np.uint64))).all()

    def test_only_pages_of_the_crawl_count(self):
        alike = likeness(np.array([7, 7, 3, FAR], dtype=np.uint64))
        assert is_new_content(np.array([1, 3]), alike).tolist() == [True, True]
        assert is_new_content(np.array([2, 3, 1]), alike).tolist() == [True, True, False]

    def test_bands_find_what_comparing_all_pairs_finds(self):
        rng = np.random.default_rng(3)
        base = rng.integers(1, 2**63, 40, dtype=np.uint64)
        flips = [np.bitwise_or.reduce(np.uint64(1) << rng.integers(0, 64, 2, dtype=np.uint64)) for _ in range(200)]
        fingerprints = base[rng.integers(0, 40, 200)] ^ np.array(flips)
        new = is_new_content(np.arange(200), likeness(fingerprints)).tolist()
        numbers = fingerprints.tolist()
        expected = [all((numbers[n] ^ earlier).bit_count() > 3 for earlier in numbers[:n]) for n in range(len(numbers))]
        assert new == expected
        assert 40 < sum(new) < 200

    def test_histograms(self):
        assert distance_histogram(np.array([0, 1, 1, 3]))[:5].tolist() == [0.25, 0.5, 0, 0.25, 0]
        assert distance_histogram(np.array([500]))[-1] == 1.0
        found = relevance_histogram(np.array([0.0, 0.04, 1.0, 0.5]))
        assert (found[0], found[10], found[-1], found.sum()) == (0.5, 0.25, 0.25, 1.0)
        assert not relevance_histogram(np.zeros(0)).any()


class TestMeasure:
    def scores(self, runs=None, **options):
        runs = runs or [
            run_of([0, 1, 2, 3, 4], relevance=[0.1, 0.2, 0.9, 0.6, 0.5]),
            run_of([0, 6], strategy="second", cpu=[1.0, 3.0]),
            run_of([6, 3, 2], strategy="second", repeat=1, cpu=[1.0, 2.0, 3.0]),
        ]
        with mock.patch.multiple("lycosa.lab.evaluate.measure", WINDOW=2, HOST_CAP=1):
            return measure(TRUTH, runs, terms=TERMS, strategies=("second", "first"), pages=5)

    @pytest.mark.parametrize(
        ("metric", "expected"),
        [
            ("recall", [0, 0, 0, 1 / 2, 1 / 2]),
            ("harvest", [0, 0, 1 / 3, 2 / 4, 2 / 5]),
            ("recent_harvest", [0, 0, 1 / 2, 2 / 2, 1 / 2]),
            ("judged", [0, 0, 1 / 3, 2 / 4, 3 / 5]),
            ("relevance", [0.1, 0.15, 0.4, 0.45, 0.46]),
            ("relevant", [0, 0, 1, 2, 2]),
            ("capped_harvest", [0, 0, 1 / 3, 1 / 4, 1 / 5]),
            ("hosts", [1, 1, 2, 2, 2]),
            ("distinct", [1, 2, 3, 3, 4]),
            ("community_cohesion", [0, 0, 1, 1, 1]),
            ("overall_cohesion", [0, 0, 1, 5 / 4, 1]),
            ("cost", [1 / 4, 2 / 4, 3 / 4, 4 / 4, 5 / 4]),
            ("frontier", [0, 2, 4, 6, 8]),
        ],
    )
    def test_a_single_run(self, metric, expected):
        assert self.scores().curves[metric][1].tolist() == approx(expected)

    def test_similarity_is_the_mean_so_far(self):
        cosines = similarities(TERMS, np.array([0, 1, 2, 3, 4, 6]), TRUTH.description)
        expected = [cosines[: n + 1].mean() for n in range(5)]
        assert expected[-1] > 0.2
        assert self.scores().curves["similarity"][1].tolist() == approx(expected)

    def test_repeats_are_averaged_and_short_runs_keep_their_last_value(self):
        scores = self.scores()
        assert scores.curves["recall"][0].tolist() == approx([1 / 4, 3 / 4, 3 / 4, 3 / 4, 3 / 4])
        assert scores.curves["harvest"][0].tolist() == approx([1 / 2, 3 / 4, 3 / 4, 3 / 4, 3 / 4])
        assert scores.runs == (("second", 0), ("second", 1), ("first", 0))
        assert scores.fetched.tolist() == [2, 3, 5]

    def test_what_a_crawl_was_given_earns_nothing(self):
        runs = [replace(run_of([0, 1, 2, 3, 4]), given=np.array([3])), run_of([3], strategy="second")]
        scores = self.scores(runs)
        assert scores.curves["relevant"][1].tolist() == approx([0, 0, 1, 1, 1])
        assert scores.curves["harvest"][1].tolist() == approx([0, 0, 1 / 3, 1 / 4, 1 / 5])
        assert scores.curves["recall"][1].tolist() == approx([0, 0, 0, 0, 0])  # of the one target that is left
        assert scores.curves["recall"][0].tolist() == approx([1 / 2] * 5)

    def test_checkpoints_keep_every_run(self):
        scores = self.scores()
        assert scores.checkpoints == (1, 2, 3, 4, 5)
        assert scores.at_checkpoints["recall"].tolist() == approx_rows(
            [[0, 0.5, 0.5, 0.5, 0.5], [0.5, 1, 1, 1, 1], [0, 0, 0, 0.5, 0.5]]
        )
        assert set(scores.at_checkpoints) == set(scores.curves) == set(METRICS)

    def test_histograms_are_averaged_over_repeats(self):
        assert self.scores().distances[0, :4].tolist() == approx([5 / 12, 5 / 12, 1 / 6, 0])
        assert self.scores().relevances.sum(axis=1).tolist() == approx([1, 1])

    def test_a_crawl_that_fetched_nothing(self):
        scores = self.scores([run_of([]), run_of([0, 2], strategy="second")])
        assert not any(curve[1].any() for curve in scores.curves.values())

    def test_every_strategy_must_have_run(self):
        with pytest.raises(ValueError, match="no run of second"):
            self.scores([run_of([0])])


def approx_rows(rows):
    return [approx(row) for row in rows]


def test_checkpoints_end_at_the_last_page():
    assert checkpoints_of(1000)[:2] == (50, 100)
    assert checkpoints_of(1000)[-1] == 1000
    assert checkpoints_of(7) == (1, 2, 3, 4, 5, 6, 7)
