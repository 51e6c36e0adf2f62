"""The operators of genetic programming, and the generations. Each test fails if its operator is changed."""

from __future__ import annotations

import json
from collections import Counter

import numpy as np
import pytest

from lycosa.errors import ConfigError, InputError
from lycosa.lib.gp import evolution
from lycosa.lib.gp.evolution import ProgramSettings, TreeGeneration, evolve_trees, next_trees
from lycosa.lib.gp.operators import Limits, crossed, mutated, ramped_start, random_tree, winners
from lycosa.lib.gp.simplify import simplified
from lycosa.lib.gp.text import parsed, written
from lycosa.lib.gp.trees import ARITHMETIC, Expression, Language, Operation

NAMES = [f"x{at}" for at in range(10)]
LANGUAGE = Language(NAMES)
WIDE = Limits(100, 1000)


def rng(seed: int = 1) -> np.random.Generator:
    return np.random.default_rng(seed)


def tree(formula: str) -> Expression:
    return parsed(formula, LANGUAGE)


def leaves(whole: Expression) -> Counter[str]:
    return Counter(node.name for node in whole.nodes() if not node.children)


def generation(formulas: list[str], fitness: list[float]) -> TreeGeneration:
    return TreeGeneration(0, tuple(map(tree, formulas)), tuple(fitness), (), rng().bit_generator.state)


def only(operator: str, **more: float) -> ProgramSettings:
    """Settings by which nothing but this operator makes the next generation."""
    rates = {"reproduction": (1, 0), "crossover": (0, 1), "mutation": (0, 0)}[operator]
    given = {"elite": 0, "is_diverse": False, **more}
    return ProgramSettings(reproduction_rate=rates[0], crossover_rate=rates[1], **given)


class TestReproduction:
    def test_clones_are_drawn_in_proportion_to_fitness(self):
        now = generation(NAMES[:4], [0.4, 0.3, 0.2, 0.1])
        found = Counter(map(written, next_trees(now, LANGUAGE, only("reproduction", population=20_000), rng())))
        shares = [found[name] / 20_000 for name in NAMES[:4]]
        assert shares == pytest.approx([0.4, 0.3, 0.2, 0.1], abs=0.015)

    def test_all_are_equally_likely_if_none_is_fit(self):
        now = generation(NAMES[:4], [0.0] * 4)
        found = Counter(map(written, next_trees(now, LANGUAGE, only("reproduction", population=8_000), rng())))
        assert [found[name] / 8_000 for name in NAMES[:4]] == pytest.approx([0.25] * 4, abs=0.02)


class TestCrossover:
    def test_parents_are_the_best_of_two_groups(self):
        """The best of 4 among 10 is at position i with probability C(9 - i, 3) / C(10, 4)."""
        drawn = np.array([winners(10, 4, generator) for generator in [rng()] for _ in range(20_000)])
        expected = np.array([84, 56, 35, 20, 10, 4, 1, 0, 0, 0]) / 210
        for column in drawn.T:
            assert np.bincount(column, minlength=10) / 20_000 == pytest.approx(expected, abs=0.015)
        assert (drawn[:, 0] != drawn[:, 1]).all()

    @pytest.mark.parametrize(("population", "group"), [(2, 4), (3, 4), (1, 1), (5, 1)])
    def test_small_populations_have_small_groups(self, population, group):
        one, other = winners(population, group, rng())
        assert 0 <= one < population
        assert 0 <= other < population

    def test_the_next_generation_uses_the_winners(self):
        now = generation([f"{name} * {name}" for name in NAMES], [1.0] * 10)
        found = next_trees(now, LANGUAGE, only("crossover", population=10_000, group=4), rng())
        counted = sum((leaves(each) for each in found), Counter())
        assert counted["x0"] / counted.total() == pytest.approx(0.4, abs=0.03)
        assert counted["x5"] / counted.total() == pytest.approx(4 / 210, abs=0.01)
        assert counted["x8"] == counted["x9"] == 0

    def test_two_children_exchange_one_sub_tree(self):
        one, other = tree("x0 + x1 * x2"), tree("sqrt(x3) / x4")
        for seed in range(50):
            first, second = crossed(one, other, LANGUAGE, WIDE, rng(seed))
            assert leaves(first) + leaves(second) == leaves(one) + leaves(other)
            assert first.size + second.size == one.size + other.size
            assert first != one
            assert second != other

    def test_every_position_of_both_parents_is_cut(self):
        one, other = tree("x0 + x1 * x2"), tree("x4 / sqrt(x3)")
        generator = rng()
        pairs = Counter(crossed(one, other, LANGUAGE, WIDE, generator) for _ in range(8_000))
        assert len(pairs) == one.size * other.size
        assert min(pairs.values()) > 0.7 * 8_000 / len(pairs)

    def test_only_sub_trees_of_the_same_type(self):
        mean = Operation("mean", ("table",), "array")
        language = Language({"a": "array", "t": "table", "u": "table"}, [*ARITHMETIC, mean])
        one, other = parsed("a + mean(t)", language), parsed("a * mean(u)", language)
        generator = rng()
        found = [crossed(one, other, language, WIDE, generator) for _ in range(200)]
        assert all(language.is_well_formed(child) for pair in found for child in pair)
        assert (parsed("a + mean(u)", language), parsed("a * mean(t)", language)) in found

    def test_parents_without_a_common_type_stay(self):
        language = Language({"a": "array", "t": "table"}, [Operation("mean", ("table",), "array")])
        one = Expression("t")
        assert crossed(one, Expression("a"), language, WIDE, rng()) == (one, Expression("a"))


class TestMutation:
    def test_a_random_sub_tree_is_replaced_at_every_position(self):
        whole = tree("x0 + x1 * x2")
        generator = rng()
        found = [mutated(whole, LANGUAGE, WIDE, generator, depth=1) for _ in range(4_000)]
        replaced = {0: 0, 1: 0, 2: 0, 3: 0, 4: 0}
        for child in found:
            for at in replaced:
                if child in {simplified(whole.with_node(at, Expression(name))) for name in NAMES} - {whole}:
                    replaced[at] += 1
        assert min(replaced.values()) > 0.7 * 4_000 / 5

    def test_it_brings_in_what_no_parent_has(self):
        now = generation(["x0 + x1"] * 4, [1.0] * 4)
        found = next_trees(now, LANGUAGE, only("mutation", population=200), rng())
        assert {*sum(map(leaves, found), Counter())} >= {*NAMES}
        assert sum(child != now.best for child in found) > 150

    def test_those_changed_are_drawn_in_proportion_to_fitness(self):
        formulas = ["sqrt(sqrt(x0 * x0) * sqrt(x0 * x0))", "sqrt(sqrt(x1 * x1) * sqrt(x1 * x1))"]
        now = generation(formulas, [0.9, 0.1])
        found = sum(map(leaves, next_trees(now, LANGUAGE, only("mutation", population=2_000), rng())), Counter())
        assert found["x0"] > 5 * found["x1"]

    def test_new_sub_trees_are_of_the_right_type(self):
        mean = Operation("mean", ("table",), "array")
        language = Language({"a": "array", "t": "table", "u": "table"}, [*ARITHMETIC, mean])
        generator = rng()
        found = [mutated(parsed("a + mean(t)", language), language, WIDE, generator, depth=3) for _ in range(100)]
        assert all(map(language.is_well_formed, found))
        assert parsed("a + mean(u)", language) in found

    def test_its_depth_is_that_of_the_setting(self):
        generator = rng()
        depths = {mutated(tree("x0"), LANGUAGE, WIDE, generator, depth=4).depth for _ in range(300)}
        assert depths == {1, 2, 3, 4}
        sums = Language(["a"], [ARITHMETIC[0]])
        found = [mutated(Expression("a"), sums, WIDE, generator, depth=4).depth for _ in range(4_000)]
        assert found.count(1) / 4_000 == pytest.approx(1 / 4 + 3 / 4 * 1 / 2, abs=0.03)  # depths are drawn evenly


class TestLimits:
    @pytest.mark.parametrize(("depth", "size"), [(3, 1000), (100, 7)])
    def test_no_child_is_beyond_them(self, depth, size):
        limits = Limits(depth, size)
        one, other = tree("(x0 + x1) * (x2 + x3)"), tree("(x4 + x5) * (x6 + x7)")
        generator = rng()
        for _ in range(300):
            children = [*crossed(one, other, LANGUAGE, limits, generator)]
            children.append(mutated(one, LANGUAGE, limits, generator, depth=5))
            assert max(child.depth for child in children) <= depth
            assert max(child.size for child in children) <= size

    def test_a_child_beyond_them_is_given_up_for_its_parent(self):
        one, other = tree("(x0 + x1) * (x2 + x3)"), tree("(x4 + x5) * (x6 + x7)")
        generator = rng()
        found = {crossed(one, other, LANGUAGE, Limits(3, 7), generator) for _ in range(300)}
        assert any(first == one and second != other for first, second in found)

    def test_generations_keep_to_them(self):
        settings = ProgramSettings(
            population=40, generations=8, start_depth=3, max_depth=4, max_size=9, parsimony=0, crossover_rate=0.6
        )
        for now in evolve_trees(lambda each: float(each.size), LANGUAGE, settings, rng=rng()):
            assert max(each.depth for each in now.trees) <= 4
            assert max(each.size for each in now.trees) <= 9
        assert max(each.size for each in now.trees) == 9


class TestStart:
    def test_full_trees_are_full_and_grown_ones_are_not(self):
        generator = rng()
        language = Language(["a"], [ARITHMETIC[0]])
        full = [random_tree(language, 4, generator, is_full=True) for _ in range(20)]
        grown = [random_tree(language, 4, generator, is_full=False) for _ in range(200)]
        assert {each.size for each in full} == {15}
        assert {each.depth for each in grown} == {1, 2, 3, 4}
        assert 1 in {each.size for each in grown}

    def test_half_are_full_and_depths_are_ramped(self):
        language = Language(NAMES, [ARITHMETIC[0]])  # nothing but sums: simplification keeps their depth
        found = ramped_start(language, 400, start_depth=5, limits=WIDE, rng=rng())
        full = Counter(each.depth for each in found[0::2])
        assert full == {2: 50, 3: 50, 4: 50, 5: 50}
        assert all(each.size == 2**each.depth - 1 for each in found[0::2])
        assert any(each.size < 2**each.depth - 1 for each in found[1::2])

    def test_no_tree_twice_and_all_are_simple(self):
        found = ramped_start(LANGUAGE, 100, start_depth=4, limits=WIDE, rng=rng())
        assert len(set(found)) >= 95
        assert all(tree(written(each)) == each for each in found)
        assert not any(node.name == "/" and node.children[0] == node.children[1] for e in found for node in e.nodes())

    def test_a_language_with_few_trees(self):
        found = ramped_start(Language(["a"], []), 5, start_depth=3, limits=WIDE, rng=rng())
        assert found == [Expression("a")] * 5

    def test_given_trees_come_first(self):
        settings = ProgramSettings(population=6, generations=0, champions=6)
        (now,) = evolve_trees(
            lambda each: float(each == tree("x1 * x2")), LANGUAGE, settings, rng=rng(), start=[tree("x2 * x1")]
        )
        assert now.best == tree("x1 * x2")
        assert len(now.trees) == 6


class TestDiversity:
    def test_a_copy_is_mutated_until_it_is_new(self):
        now = generation(["sqrt(x0) + x1"] * 20, [1.0] * 20)
        copies = next_trees(now, LANGUAGE, only("reproduction", population=20), rng())
        found = next_trees(now, LANGUAGE, only("reproduction", population=20, is_diverse=True), rng())
        assert len(set(copies)) == 1
        assert len(set(found)) == 20
        assert found[0] == now.best
        kept = [{*leaves(each)} & {"x0", "x1"} for each in found[1:]]
        assert sum(map(bool, kept)) > 10  # part of the tree is still there: a mutant, not a random tree

    def test_what_is_there_once_stays_where_it_is(self):
        now = generation(NAMES, [1.0] * 10)
        drawn = next_trees(now, LANGUAGE, only("reproduction", population=10), rng())
        found = next_trees(now, LANGUAGE, only("reproduction", population=10, is_diverse=True), rng())
        firsts = [at for at, each in enumerate(drawn) if each not in drawn[:at]]
        assert len(firsts) < 10
        assert [found[at] for at in firsts] == [drawn[at] for at in firsts]
        assert len(set(found)) == 10

    def test_a_mutant_is_no_copy_of_one_that_comes_later(self):
        few = Language(["a", "b", "c"], [])
        now = TreeGeneration(0, (Expression("a"), Expression("b")), (1, 1), (), rng().bit_generator.state)
        for seed in range(20):
            settings = only("reproduction", population=3, is_diverse=True)
            assert len(set(next_trees(now, few, settings, rng(seed)))) == 3

    def test_after_some_tries_a_random_tree_takes_the_place(self):
        sums = Language(NAMES, [ARITHMETIC[0]])
        tight = only("mutation", population=12, is_diverse=True, max_depth=2, max_size=3, start_depth=2)
        now = TreeGeneration(0, (Expression("x0"),) * 12, (1.0,) * 12, (), rng().bit_generator.state)
        monotonous = next_trees(now, Language(["x0"], []), tight, rng())
        assert monotonous == [Expression("x0")] * 12  # nothing else can be said
        assert len(set(next_trees(now, sums, tight, rng()))) == 12

    def test_every_generation_is_diverse_by_default(self):
        settings = ProgramSettings(population=30, generations=10)
        first = [Expression(name) for name in NAMES]
        for now in evolve_trees(lambda each: 1 / each.size, LANGUAGE, settings, rng=rng(), start=first):
            assert len(set(now.trees)) == 30


class TestGenerations:
    def test_the_operators_are_drawn_by_their_rates(self, monkeypatch):
        calls: Counter[str] = Counter()

        def counted(name, result):
            def call(*_args, **_more):
                calls[name] += 1
                return result

            return call

        one = Expression("x0")
        monkeypatch.setattr(evolution, "crossed", counted("crossover", (one, one)))
        monkeypatch.setattr(evolution, "mutated", counted("mutation", one))
        rates = {"reproduction_rate": 0.2, "crossover_rate": 0.5}
        settings = ProgramSettings(population=20_000, elite=0, is_diverse=False, **rates)
        found = next_trees(generation(["x1", "x2"], [1, 1]), LANGUAGE, settings, rng())
        clones = sum(each.name in ("x1", "x2") for each in found)
        draws = clones + calls.total()
        assert [clones / draws, calls["crossover"] / draws, calls["mutation"] / draws] == pytest.approx(
            [0.2, 0.5, 0.3], abs=0.015
        )

    def test_the_best_survive_as_they_are(self):
        now = generation(NAMES, [1 - at / 10 for at in range(10)])
        found = next_trees(now, LANGUAGE, only("mutation", population=10, elite=3), rng())
        assert found[:3] == list(now.trees[:3])
        assert len(found) == 10
        with_none = next_trees(now, LANGUAGE, only("mutation", population=10, elite=0), rng())
        assert with_none[:3] != list(now.trees[:3])

    def test_the_best_fitness_never_falls(self):
        target = {"x1", "x3", "x5", "x7"}
        settings = ProgramSettings(population=30, generations=12, elite=1, parsimony=0)
        best = [
            now.fitness[0]
            for now in evolve_trees(lambda each: float(len(target & {*leaves(each)})), LANGUAGE, settings, rng=rng())
        ]
        assert best == sorted(best)
        assert best[-1] == 4

    def test_of_equals_the_smaller_comes_first_then_the_older(self):
        settings = ProgramSettings(population=4, generations=0, parsimony=0)
        start = [tree("x3 * x4"), tree("x2"), tree("x0 + x1"), tree("x1")]
        (now,) = evolve_trees(lambda _: 0.5, LANGUAGE, settings, rng=rng(), start=start)
        assert [*map(written, now.trees)] == ["x2", "x1", "x3 * x4", "x0 + x1"]

    def test_a_symbol_has_to_be_worth_its_price(self):
        fitness = {tree("x0"): 0.500, tree("x1 * x2"): 0.505}
        for parsimony, best in ((0.0, "x1 * x2"), (0.002, "x1 * x2"), (0.003, "x0")):
            settings = ProgramSettings(population=2, generations=0, parsimony=parsimony)
            (now,) = evolve_trees(fitness.__getitem__, LANGUAGE, settings, rng=rng(), start=list(fitness))
            assert written(now.best) == best

    def test_each_tree_is_evaluated_once_by_the_map_that_is_given(self):
        asked: list[Expression] = []

        def own_map(function, trees):
            asked.extend(trees)
            return [function(each) for each in trees]

        settings = ProgramSettings(population=30, generations=6)
        list(evolve_trees(lambda each: 1 / each.size, LANGUAGE, settings, rng=rng(), map=own_map))
        assert len(asked) == len(set(asked)) > 30

    def test_champions_are_the_best_of_all_generations(self):
        settings = ProgramSettings(population=20, generations=5, champions=2, elite=0)
        seen: list[Expression] = []
        for now in evolve_trees(lambda each: (len(leaves(each)) % 4) / 4, LANGUAGE, settings, rng=rng()):
            seen += [each for each in list(dict.fromkeys(now.trees))[:2] if each not in seen]
            assert list(now.champions) == seen

    def test_the_same_seed_gives_the_same_trees_and_another_gives_others(self):
        settings = ProgramSettings(population=20, generations=4)
        runs = [list(evolve_trees(lambda each: 1 / each.size, LANGUAGE, settings, rng=rng(s))) for s in (1, 1, 2)]
        assert runs[0] == runs[1]
        assert runs[0] != runs[2]

    @pytest.mark.parametrize("wrong", [-1.0, float("nan"), float("inf"), None, True])
    def test_a_fitness_is_a_number_of_zero_or_more(self, wrong):
        with pytest.raises(ValueError, match="a fitness must be a number"):
            list(evolve_trees(lambda _: wrong, LANGUAGE, ProgramSettings(population=2), rng=rng()))


class TestResuming:
    SETTINGS = ProgramSettings(population=24, generations=8)

    def run(self, start=(), seed=1):
        return list(
            evolve_trees(lambda each: len(leaves(each)) / 40, LANGUAGE, self.SETTINGS, rng=rng(seed), start=start)
        )

    @pytest.mark.parametrize("at", [0, 3, 7, 8])
    def test_it_goes_on_as_if_it_had_not_been_interrupted(self, at):
        whole = self.run()
        saved = json.loads(json.dumps(whole[at].to_data()))
        restored = TreeGeneration.from_data(saved, LANGUAGE, self.SETTINGS)
        assert restored == whole[at]
        assert self.run(restored, seed=99) == whole[at + 1 :]

    @pytest.mark.parametrize(
        ("change", "problem"),
        [
            ({"number": -1}, "its number is -1"),
            ({"fitness": ["x"]}, "a fitness is not a number"),
            ({"trees": ["x0 +"] * 24}, "line 1, column 5"),
            ({"trees": [1]}, "not a list of formulas"),
            ({"trees": ["x0"]}, "1 individuals, not 24"),
            ({"rng": {}}, "random numbers cannot be restored"),
            ({"more": 1}, "damaged: it needs champions, fitness"),
        ],
    )
    def test_a_damaged_generation_is_refused(self, change, problem):
        data = {**self.run()[0].to_data(), **change}
        with pytest.raises(InputError, match=problem):
            TreeGeneration.from_data(data, LANGUAGE, self.SETTINGS)


@pytest.mark.parametrize(
    "wrong",
    [
        {"population": 1},
        {"generations": -1},
        {"crossover_rate": 0.95},
        {"group": 0},
        {"elite": 101},
        {"start_depth": 9},
        {"parsimony": -1},
        {"max_size": 0},
    ],
)
def test_settings_are_checked(wrong):
    with pytest.raises(ConfigError, match=f"gp.{next(iter(wrong))}"):
        ProgramSettings(**wrong)
