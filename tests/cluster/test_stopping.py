"""Stop rules over all shards: what the driver makes of the figures that shards write down."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from lycosa.config import build

pytest.importorskip("psycopg", reason="psycopg is not installed: pip install 'lycosa[postgres]'")
from lycosa.cluster import driver
from lycosa.store.postgres_cluster import ShardRow


def row(shard: int, **figures) -> ShardRow:
    scores = np.array(figures.pop("scores", [0.9]), dtype=np.float32)
    plain = {"granted": 9, "is_idle": 0, "pages": 5, "relevant": 3, "downloaded": 0, "waiting": 7, "in_flight": 0}
    known = {**plain, "at": 1.0, "front": scores.tobytes(), "best_soon": 0.0, "letters": 0, "stop": "", **figures}
    return ShardRow(shard=shard, **known)


class Store:
    def __init__(self, latest: list[bool]) -> None:
        self.latest = latest
        self.granted: list[dict[int, int]] = []

    def recent_relevance(self, count: int) -> list[bool]:
        return self.latest[:count]


def why(latest=(), **stop):
    """A function that says why to stop, given the rows of shards one look after the other."""
    config = build(("test", {"topic": "x", "seeds": ["http://a.test/"], "stop": stop}))
    nobody = SimpleNamespace(count=0, name="")
    run = driver._Run(None, Store(list(latest)), config, None, nobody)
    return lambda *rows: run._why_stop(list(rows))


def test_irrelevant_pages_in_a_row_of_all_shards_together():
    assert why([False, False, True], irrelevant_in_a_row=3)(row(0), row(1)) == ""
    assert why([False] * 3, irrelevant_in_a_row=3)(row(0), row(1)).startswith("irrelevant pages in a row: 3 since")


def test_precision_of_the_latest_pages_of_all_shards():
    assert why([False, True, False, False], precision=0.25, window=4)(row(0), row(1)) == ""
    assert why([False, True, False], precision=0.9, window=4)(row(0), row(1)) == ""  # not so many yet
    assert why([False, True, False, False], precision=0.5, window=4)(row(0), row(1)) == (
        "precision: 25.0% of the last 4 pages are relevant, 50.0% is required"
    )


class TestBestScore:
    def test_one_good_link_of_one_shard_is_enough(self):
        assert why(best_score=0.5)(row(0, scores=[0.1]), row(1, scores=[0.6])) == ""

    def test_without_the_rule_any_score_will_do(self):
        ask = why()
        assert [ask(row(0, scores=[-0.5], at=at)) for at in (1.0, 2.0)] == ["", ""]

    def test_what_is_under_way_may_bring_better_ones(self):
        ask = why(best_score=0.5)
        low = {"scores": [0.2, 0.1]}
        assert ask(row(0, **low), row(1, **low)) == ""  # written before anybody looked
        assert ask(row(0, **low, at=2.0), row(1, **low)) == ""
        assert ask(row(0, **low, at=2.0), row(1, **low, at=2.0, in_flight=1)) == ""
        assert ask(row(0, **low, at=2.0, letters=1), row(1, **low, at=2.0)) == ""
        assert ask(row(0, **low, at=2.0), row(1, **low, at=2.0)) == (
            "best score: 0.2 is the best of 14 waiting links, 0.5 is required"
        )

    def test_a_better_one_that_came_starts_it_all_over(self):
        ask = why(best_score=0.5)
        assert ask(row(0, scores=[0.2])) == ""
        assert ask(row(0, scores=[0.7], at=2.0)) == ""
        assert ask(row(0, scores=[0.2], at=3.0)) == ""
        assert ask(row(0, scores=[0.2], at=4.0)).startswith("best score: 0.2")

    def test_an_idle_shard_says_nothing_more(self):
        ask = why(best_score=0.5)
        assert ask(row(0, scores=[0.2]), row(1, scores=[], is_idle=1)) == ""
        assert ask(row(0, scores=[0.2], at=2.0), row(1, scores=[], is_idle=1)).startswith("best score: 0.2")
