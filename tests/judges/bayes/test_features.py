from __future__ import annotations

import numpy as np
import pytest

from lycosa.judges.bayes.features import (
    WEIGHT,
    TopicStatistics,
    best,
    choose,
    fisher_index,
)

CARS = [{"wheel": 2, "road": 1, "red": 1}, {"wheel": 1, "road": 2}]
HORSES = [{"hoof": 2, "road": 1}, {"hoof": 1, "road": 1, "red": 1}]


def counted(*classes: list[dict[str, int]], is_damped: bool = False, most_terms: int = 1_000) -> TopicStatistics:
    statistics = TopicStatistics(is_damped=is_damped, most_terms=most_terms)
    for topic, documents in enumerate(classes):
        for document in documents:
            statistics.add(topic, document)
    statistics.finish()
    return statistics


def sums_of(statistics: TopicStatistics, classes: dict[int, int]) -> dict[tuple[int, str], list[float]]:
    pairs = statistics.of_classes(classes)
    names = list(statistics.vocabulary)
    return {
        (int(number), names[term]): sums.tolist()
        for number, term, sums in zip(pairs.classes, pairs.terms, pairs.sums, strict=True)
    }


class TestStatistics:
    def test_weights_documents_shares_and_squares_are_summed(self):
        sums = sums_of(counted(CARS, HORSES), {0: 0, 1: 1})
        assert sums[0, "wheel"] == pytest.approx([3, 2, 2 / 4 + 1 / 3, 1 / 4 + 1 / 9])
        assert sums[1, "road"] == pytest.approx([2, 2, 1 / 3 + 1 / 3, 1 / 9 + 1 / 9])
        assert (1, "wheel") not in sums

    def test_topics_of_one_class_are_added_up(self):
        sums = sums_of(counted(CARS, HORSES), {0: 5, 1: 5})
        assert sums[5, "road"][:2] == [5, 4]

    def test_topics_that_are_not_named_are_left_out(self):
        assert {number for number, _ in sums_of(counted(CARS, HORSES), {1: 0})} == {0}
        assert (0, "wheel") not in sums_of(counted(CARS, HORSES), {1: 0})

    def test_damping_counts_repeats_less(self):
        sums = sums_of(counted([{"said": 3, "once": 1}], is_damped=True), {0: 0})
        assert (sums[0, "said"][WEIGHT], sums[0, "once"][WEIGHT]) == (2.0, 1.0)

    def test_the_rarest_terms_are_dropped_when_there_are_too_many(self):
        statistics = counted(CARS, HORSES, most_terms=2)
        assert list(statistics.vocabulary) == ["wheel", "road"]
        assert sums_of(statistics, {0: 0, 1: 1})[0, "road"][:2] == [3, 2]

    def test_flushing_in_between_changes_nothing(self, monkeypatch):
        at_once = sums_of(counted(CARS, HORSES), {0: 0, 1: 1})
        monkeypatch.setattr("lycosa.judges.bayes.features._FLUSH", 1)
        in_steps = sums_of(counted(CARS, HORSES), {0: 0, 1: 1})
        assert in_steps.keys() == at_once.keys()
        assert all(in_steps[key] == pytest.approx(at_once[key]) for key in at_once)

    def test_no_document_at_all(self):
        assert len(counted().of_classes({0: 0}).terms) == 0


class TestMeasures:
    def test_fisher_is_distance_of_means_over_spread(self):
        statistics = counted(CARS, HORSES)
        found = fisher_index(statistics.of_classes({0: 0, 1: 1}), np.array([2.0, 2.0]), size=4)
        shares = np.array([1 / 4, 2 / 3]), np.array([1 / 3, 1 / 3])
        apart = 2 * (shares[0].mean() - shares[1].mean()) ** 2
        assert found[statistics.vocabulary["road"]] == pytest.approx(apart / shares[0].var(ddof=1), rel=0.01)

    def test_words_of_one_topic_come_before_those_of_all(self):
        statistics = counted(CARS * 5, HORSES * 5)
        pairs = statistics.of_classes({0: 0, 1: 1})
        chosen = choose(pairs, np.array([10.0, 10.0]), count=2, size=4)
        assert {list(statistics.vocabulary)[term] for term in chosen} == {"wheel", "hoof"}

    def test_a_topic_with_one_document_does_not_crowd_out_the_others(self):
        chatter = {f"odd{number}": 1 for number in range(50)}
        statistics = counted(CARS * 5, HORSES * 5, [chatter])
        pairs = statistics.of_classes({0: 0, 1: 1, 2: 2})
        chosen = choose(pairs, np.array([10.0, 10.0, 1.0]), count=10, size=54)
        assert {"wheel", "hoof"} <= {list(statistics.vocabulary)[term] for term in chosen}


def test_ties_go_to_the_first():
    assert best(np.array([1.0, 2.0, 2.0, 2.0]), 2).tolist() == [1, 2]
    assert best(np.array([1.0, 2.0]), 5).tolist() == [0, 1]
