from __future__ import annotations

from math import sqrt

import numpy as np
import pytest

from lycosa.lab.evaluate.measure import METRICS
from lycosa.lab.evaluate.runs import Comparison, Scores
from lycosa.lab.evaluate.summary import (
    COLUMNS,
    curve,
    final_values,
    pairs_of,
    performance,
    rows,
    share_of_way,
    table,
    too_few_topics,
)

NAMES = ("plain", "clever", "random", "look-ahead")


def scores_of(topic: str, figures: dict[str, list[list[float]]], strategies=NAMES) -> Scores:
    """Scores of one repeat with these curves (strategies × pages), 0 where none is given."""
    pages = len(next(iter(figures.values()))[0])
    curves = {
        name: np.array(figures.get(name, np.zeros((len(strategies), pages))), dtype=np.float32) for name in METRICS
    }
    return Scores(
        topic=topic,
        strategies=strategies,
        curves=curves,
        runs=tuple((name, 0) for name in strategies),
        fetched=np.full(len(strategies), pages),
        checkpoints=tuple(range(1, pages + 1)),
        at_checkpoints=curves,
        distances=np.zeros((len(strategies), 3)),
        relevances=np.zeros((len(strategies), 3)),
    )


def comparison_of(*topics: dict[str, list[list[float]]], strategies=NAMES, **more) -> Comparison:
    scores = [scores_of(f"topic {number}", figures, strategies) for number, figures in enumerate(topics)]
    pages = scores[0].curves["recall"].shape[1]
    return Comparison("a title", {}, strategies, scores, pages, **more)


def test_mean_and_standard_error_are_over_topics():
    figures = [{"recall": [[0, value], [0, 0.5], [0, 0], [0, 1]]} for value in (0.2, 0.4, 0.9)]
    found = curve(comparison_of(*figures), "recall")
    assert found.mean[0].tolist() == pytest.approx([0, 0.5])
    assert found.error[0, 1] == pytest.approx(sqrt((0.09 + 0.01 + 0.16) / 2) / sqrt(3))
    assert found.error[1].tolist() == pytest.approx([0, 0])


def test_one_topic_has_no_error():
    assert np.isnan(curve(comparison_of({"recall": [[0.5]] * 4}), "recall").error).all()


def test_performance_per_cost_is_a_ratio_of_means():
    topics = [
        {"recall": [[0.2]] * 4, "similarity": [[0.5]] * 4, "cost": [[1.0], [2.0], [1.0], [1.0]]},
        {"recall": [[0.6]] * 4, "similarity": [[0.1]] * 4, "cost": [[3.0], [2.0], [1.0], [1.0]]},
    ]
    found = performance(comparison_of(*topics))
    assert found.mean[0, 0] == pytest.approx(0.4 * 0.3 / 2)
    # Leaving out one topic or the other gives 0.6·0.1/3 and 0.2·0.5/1; the jackknife error is half their distance.
    assert found.error[0, 0] == pytest.approx((0.1 - 0.02) / 2)


class TestShareOfWay:
    def test_by_hand(self):
        topics = [{"relevant": [[0, 2], [1, 3], [0, 1], [1, 4]]}, {"relevant": [[1, 2], [1, 4], [0, 1], [1, 5]]}]
        # Areas (means): plain 1, 1.5; clever 2, 2.5; random 0.5, 0.5; look-ahead 2.5, 3.
        found = share_of_way(comparison_of(*topics))
        assert found.mean.tolist() == pytest.approx([0.75 / 2.25, 1.75 / 2.25, 0, 1])
        assert found.error[1] == pytest.approx(abs(1.5 / 2 - 2 / 2.5) / 2)

    def test_needs_both_bounds(self):
        assert share_of_way(comparison_of({"relevant": [[1.0]]}, strategies=("plain",))) is None
        assert share_of_way(comparison_of({"relevant": [[1.0]] * 2}, strategies=("random", "oracle"))) is None

    def test_the_plain_oracle_is_on_the_way_to_the_one_that_looks_ahead(self):
        names = ("plain", "random", "look-ahead", "oracle")
        made = comparison_of({"relevant": [[1], [0], [4], [3]]}, strategies=names)
        assert share_of_way(made).mean.tolist() == pytest.approx([0.25, 0, 1, 0.75])
        assert made.bounds == ("random", "look-ahead", "oracle")
        assert made.tested == ("plain", "random")
        column = table(made)[0]
        assert column.metric.title == "random → look-ahead"
        assert [cell.is_best for cell in column.cells] == [True, False, False, False]

    def test_results_of_earlier_versions_keep_their_upper_bound(self):
        old = comparison_of(
            {"relevant": [[1], [0], [2]]}, strategies=("plain", "random", "oracle"), upper_bound="oracle"
        )
        assert share_of_way(old).mean.tolist() == pytest.approx([0.5, 0, 1])
        assert table(old)[0].metric.title == "random → oracle"

    def test_bounds_without_room_between_them(self):
        assert np.isnan(share_of_way(comparison_of({"relevant": [[1.0]] * 4})).mean).all()


def eight_topics():
    return comparison_of(
        *({"recall": [[0.1 * n], [0.1 * n + 0.2 + n / 100], [0.05 * n], [1]], "cost": [[1], [2], [0.1], [0.1]]}
          for n in range(8))
    )  # fmt: skip


class TestTable:
    def column(self, name: str):
        return next(column for column in table(eight_topics()) if column.name == name)

    def test_the_best_is_marked_and_is_no_bound(self):
        assert [cell.is_best for cell in self.column("recall").cells] == [False, True, False, False]
        assert [cell.is_best for cell in self.column("cost").cells] == [True, False, False, False]

    def test_nothing_is_marked_as_best_inside_the_error(self):
        close = comparison_of(
            *({"recall": [[0.5 + swing], [0.51 - swing], [0], [1]]} for swing in (0.1, -0.1, 0.2, -0.2))
        )
        (recall,) = (column for column in table(close) if column.name == "recall")
        assert not any(cell.is_best for cell in recall.cells)  # ahead by 0.01, which is less than the error
        (one,) = (
            column for column in table(comparison_of({"recall": [[0.1], [0.9], [0], [1]]})) if column.name == "recall"
        )
        assert not any(cell.is_best for cell in one.cells)  # one topic has no error

    def test_a_share_of_the_way_is_best_beyond_both_errors(self):
        topics = [{"relevant": [[1], [2], [0], [4]]}, {"relevant": [[1], [2.1], [0], [4]]}]
        assert [cell.is_best for cell in table(comparison_of(*topics))[0].cells] == [False, True, False, False]

    def test_stars_are_against_the_baseline(self):
        # Exact p of 8 differences of one sign is 2/2⁸, times 3 for three pairs; random is 0 below in one topic.
        assert eight_topics().baseline == "plain"
        assert [cell.stars for cell in self.column("recall").cells] == ["", "*", "*", ""]

    def test_bounds_have_no_cost(self):
        assert [np.isnan(cell.mean) for cell in self.column("cost").cells] == [False, False, True, True]

    def test_neither_many_nor_few_hosts_are_best(self):
        assert not any(cell.is_best for cell in self.column("hosts").cells)

    def test_orders_that_know_the_truth_are_in_no_test(self):
        pairs = pairs_of(eight_topics(), "recall")
        assert {pair.first for pair in pairs} | {pair.second for pair in pairs} == {"plain", "clever", "random"}
        assert pairs[0].adjusted == pytest.approx(3 * 2 / 2**8)


class TestTooFew:
    def some(self, topics: int) -> Comparison:
        return comparison_of(*({"recall": [[0.1], [0.2], [0], [1]]} for _ in range(topics)))

    def test_a_warning_where_no_difference_can_be_significant(self):
        # Three names make three pairs: 3 · 2 / 2ⁿ < 0.05 from n = 7 on.
        assert too_few_topics(self.some(6)).startswith("6 topics: too few for any difference between 3 strategies")
        assert "7 or more may do" in too_few_topics(self.some(6))
        assert too_few_topics(self.some(7)) == ""
        assert too_few_topics(self.some(1)).startswith("1 topic: ")

    def test_it_is_right(self):
        best = [pair.adjusted for pair in pairs_of(self.some(6), "recall")]
        assert min(best) >= 0.05
        assert min(pair.adjusted for pair in pairs_of(self.some(7), "recall")) < 0.05


def test_final_values_are_topics_by_strategies():
    assert final_values(eight_topics(), "recall").shape == (8, 4)


def test_a_row_for_every_strategy_topic_repeat_and_checkpoint():
    found = list(rows(comparison_of({"recall": [[0.25, 0.5]] * 4}, {"recall": [[0, 0]] * 4})))
    assert len(found) == 2 * 4 * 2
    assert all(list(row) == list(COLUMNS) for row in found)
    key = {"strategy": "plain", "topic": "topic 0", "repeat": 0, "pages": 2, "fetched": 2, "recall": 0.5}
    assert key.items() <= found[1].items()


def test_topics_must_have_been_measured_for_the_same_strategies():
    scores = scores_of("birds", {"recall": [[0.5]] * 4})
    with pytest.raises(ValueError, match="birds"):
        Comparison("a title", {}, ("plain",), [scores], 1)
