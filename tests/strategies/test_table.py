"""The table of strategies and their constants."""

from __future__ import annotations

import dataclasses

import pytest

from lycosa.errors import ConfigError
from lycosa.strategies.table import STRATEGIES, strategy


@pytest.mark.parametrize("name", ["best-first-256", "shark-16", "fish-2"])
def test_a_number_is_the_size_of_the_batch(name):
    assert strategy(name).name == name


def test_a_batch_of_one_is_no_batch():
    assert strategy("best-first-1").name == "best-first"


@pytest.mark.parametrize(
    ("name", "near"),
    [("bestfirst", "best-first"), ("infospider", "infospiders"), ("sharks", "shark"), ("pagerang", "pagerank")],
)
def test_the_nearest_name_is_offered(name, near):
    with pytest.raises(ConfigError, match=f"did you mean '{near}'"):
        strategy(name)


@pytest.mark.parametrize(
    "name", ["best-first-0", "best-first--1", "shark-x", "breadth-first-3", "best-first-99999999", ""]
)
def test_not_every_number_goes_with_every_name(name):
    with pytest.raises(ConfigError, match="is not known"):
        strategy(name)


class TestConstants:
    def test_a_strategy_takes_its_own(self):
        settings = {"shark.batch": 3, "best-first.batch": 5, "infospiders.temperature": 1}
        assert strategy("shark", settings=settings).name == "shark-3"
        assert strategy("best-first", settings=settings).name == "best-first-5"

    def test_the_name_decides(self):
        assert strategy("shark-4", settings={"shark.batch": 3}).name == "shark-4"
        name = "infospiders-no-learning"
        assert strategy(name, settings={"infospiders.is_learning": True}).name == name

    @pytest.mark.parametrize("name", ["shark.dephth", "depth", "sharks.depth", "shark."])
    def test_an_unknown_one_is_an_error_also_for_other_strategies(self, name):
        with pytest.raises(ConfigError, match="is not a constant of a strategy"):
            strategy("breadth-first", settings={name: 1})
        with pytest.raises(ConfigError, match=r"did you mean 'shark\.depth'"):
            strategy("shark", settings={"shark.dephth": 1})

    @pytest.mark.parametrize(
        ("name", "value"),
        [("shark.depth", 1.5), ("shark.decay", "much"), ("shark.depth", True), ("infospiders.is_learning", 1)],
    )
    def test_one_of_the_wrong_kind_is_an_error(self, name, value):
        with pytest.raises(ConfigError, match="must be of the same type as"):
            strategy("breadth-first", settings={name: value})

    @pytest.mark.parametrize("name", STRATEGIES)
    def test_every_constant_can_be_given(self, name):
        entry = STRATEGIES[name]
        settings = {f"{entry.family}.{each.name}": each.default for each in dataclasses.fields(entry.settings)}
        assert strategy(name, settings=settings).name == name
