"""Trees, their formulas, their simplification and their values."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lycosa.errors import InputError
from lycosa.lib.gp.interpret import LARGEST, TINY, Interpreter
from lycosa.lib.gp.simplify import simplified
from lycosa.lib.gp.text import MAX_NESTING, MAX_SYMBOLS, parsed, written
from lycosa.lib.gp.trees import ARITHMETIC, Expression, Language, Operation, number

LANGUAGE = Language(["a", "b", "c"])
RNG = np.random.default_rng(3)
VALUES = {name: RNG.gamma(1, 2, (5, 7)).astype(np.float32) * (RNG.random((5, 7)) < 0.7) for name in "abc"}


def tree(formula: str) -> Expression:
    return parsed(formula, LANGUAGE)


def value(formula: str | Expression, **terminals: float) -> float:
    arrays = {name: np.array([each], np.float32) for name, each in {"a": 0, "b": 0, "c": 0, **terminals}.items()}
    return float(Interpreter(arrays).value(tree(formula) if isinstance(formula, str) else formula)[0])


leaves = st.sampled_from([*map(Expression, "abc"), number(0), number(1), number(2.5)])
trees = st.recursive(
    leaves,
    lambda inner: st.one_of(
        st.tuples(st.sampled_from("+*/"), inner, inner).map(lambda parts: Expression(parts[0], parts[1:])),
        inner.map(lambda part: Expression("sqrt", (part,))),
    ),
    max_leaves=12,
)


class TestTree:
    def test_size_and_depth(self):
        assert (tree("a").size, tree("a").depth) == (1, 1)
        assert (tree("a + sqrt(b * c)").size, tree("a + sqrt(b * c)").depth) == (6, 4)

    def test_nodes_come_before_their_children_and_can_be_replaced(self):
        whole = tree("a + sqrt(b * c)")
        assert [node.name for node in whole.nodes()] == ["+", "a", "sqrt", "*", "b", "c"]
        replaced = [written(whole.with_node(at, Expression("z"))) for at in range(whole.size)]
        assert replaced == ["z", "z + sqrt(b * c)", "a + z", "a + sqrt(z)", "a + sqrt(z * c)", "a + sqrt(b * z)"]
        with pytest.raises(IndexError):
            whole.with_node(6, Expression("z"))

    def test_types_have_to_fit(self):
        mean = Operation("mean", ("table",), "array")
        language = Language({"a": "array", "t": "table"}, [*ARITHMETIC, mean])
        assert language.is_well_formed(parsed("a * mean(t)", language))
        assert not language.is_well_formed(Expression("mean", (Expression("a"),)))
        assert not language.is_well_formed(Expression("t"))
        assert not language.is_well_formed(Expression("+", (Expression("a"),)))
        assert not language.is_well_formed(Expression("unknown"))

    def test_a_language_whose_trees_could_not_end_is_refused(self):
        with pytest.raises(ValueError, match="no terminal of the type 'table'"):
            Language(["a"], [Operation("mean", ("table",), "array")])
        with pytest.raises(ValueError, match="'sqrt' is the name of a terminal and of a function"):
            Language(["sqrt"])


class TestText:
    @settings(deadline=None)
    @given(trees)
    def test_what_was_written_is_read_as_the_same_tree(self, whole):
        assert parsed(written(whole), LANGUAGE) == whole

    def test_no_more_parentheses_than_needed(self):
        for formula in ("a + b * c", "(a + b) * c", "a / (b / c)", "a / b / c", "a + (b + c)", "sqrt(a + b) / 2"):
            assert written(tree(formula)) == formula
        assert written(tree("((a)) +\n(b*c)")) == "a + b * c"

    @pytest.mark.parametrize(
        ("formula", "problem"),
        [
            ("", "line 1, column 1: expected a name, a number or a parenthesis, but it ends here"),
            ("a +", "line 1, column 4: expected a name, a number or a parenthesis, but it ends here"),
            ("a + bb", "line 1, column 5: .* found 'bb'; did you mean 'b'"),
            ("a\n + a b", "line 2, column 6: expected . . / or the end of the formula, found 'b'"),
            ("(a + b", "line 1, column 7: a parenthesis is not closed: expected ., but it ends here"),
            ("a - b", "line 1, column 3: expected .* found '-'"),
            ("-1 * a", "line 1, column 1: expected .* found '-'"),
            ("sqrt a", "line 1, column 6: sqrt needs parentheses"),
            ("sqrt(a, b)", "line 1, column 1: sqrt takes 1 argument, not 2"),
            ("(a, b)", "line 1, column 1: a comma stands only between"),
            ("a ** b", "line 1, column 4: expected a name"),
            ("a + __import__('os')", "line 1, column 5: .*found '__import__'"),
            ("a; b", "found ';'"),
            ("1e99 * a", "1e99 is too large: the maximum is 1e.15"),
            ("(" * (MAX_NESTING + 1) + "a", f"nested more than {MAX_NESTING} deep"),
            ("+".join("a" * MAX_SYMBOLS), f"the maximum is {MAX_SYMBOLS}"),
            ("a" * 20_000, "20,000 characters"),
        ],
    )
    def test_what_is_wrong_and_where(self, formula, problem):
        with pytest.raises(InputError, match=problem):
            tree(formula)

    def test_a_formula_of_the_wrong_type(self):
        language = Language({"a": "array", "t": "table"})
        with pytest.raises(InputError, match="gives something else"):
            parsed("t", language)


class TestValues:
    def test_the_four_functions(self):
        assert value("a + b", a=2, b=3) == 5
        assert value("a * b", a=2, b=3) == 6
        assert value("a / b", a=6, b=3) == 2
        assert value("sqrt(a)", a=9) == 3

    def test_division_by_zero_is_one(self):
        assert value("a / b", a=5, b=0) == 1
        assert value("a / b", a=0, b=0) == 1
        assert value("a / b", a=5, b=TINY / 2) == 1
        assert value("a / b", a=1, b=-2) == -0.5

    def test_the_root_of_a_negative_number_is_that_of_its_absolute_value(self):
        assert value("sqrt(a)", a=-4) == 2

    def test_nothing_is_infinite(self):
        huge = "a * a * a * a"
        assert value(huge, a=1e10) == pytest.approx(LARGEST)
        assert value(f"({huge}) / ({huge} + b)", a=1e10) == pytest.approx(1)
        assert value(f"({huge}) / b", a=1e10, b=2 * TINY) == pytest.approx(LARGEST)

    def test_numbers_have_the_shape_of_the_arrays(self):
        assert Interpreter(VALUES).value(number(2)).shape == (5, 7)
        assert value("2 * a + 0.5", a=3) == 6.5

    @settings(deadline=None)
    @given(trees)
    def test_always_finite(self, whole):
        assert np.isfinite(Interpreter(VALUES).value(whole)).all()


class TestCache:
    def test_sub_trees_are_computed_once_for_all_trees(self):
        interpreter = Interpreter(VALUES)
        interpreter.value(tree("sqrt(a * b)"))
        assert interpreter.computed == 2
        interpreter.value(tree("sqrt(a * b) + a * b"))
        assert interpreter.computed == 3
        interpreter.value(tree("sqrt(a * b)"))
        assert interpreter.computed == 3

    def test_its_memory_is_bounded_and_the_latest_used_stay(self):
        size = VALUES["a"].nbytes
        interpreter = Interpreter(VALUES, cache_bytes=2 * size)
        for formula in ("a * a", "b * b", "a * a", "c * c"):
            interpreter.value(tree(formula))
            assert interpreter.cached_bytes <= 2 * size
        assert interpreter.computed == 3
        interpreter.value(tree("a * a"))
        assert interpreter.computed == 3
        interpreter.value(tree("b * b"))
        assert interpreter.computed == 4

    def test_without_room_the_values_are_the_same(self):
        whole = tree("sqrt(a * b) + a * b / c")
        assert (Interpreter(VALUES, cache_bytes=0).value(whole) == Interpreter(VALUES).value(whole)).all()


class TestSimplification:
    @pytest.mark.parametrize(
        ("formula", "simple"),
        [
            ("1 * a", "a"),
            ("a / 1", "a"),
            ("a + 0", "a"),
            ("0 * a", "0"),
            ("a / a", "1"),
            ("(a + b) / (b + a)", "1"),
            ("sqrt(4) * a", "2 * a"),
            ("b + a", "a + b"),
            ("a * (1 + 2)", "3 * a"),
            ("sqrt(a / a + 3)", "2"),
            ("a / b", "a / b"),
            ("b / a", "b / a"),
        ],
    )
    def test_rules(self, formula, simple):
        assert written(simplified(tree(formula))) == simple

    @settings(deadline=None)
    @given(trees)
    def test_values_stay_as_they_are(self, whole):
        simple = simplified(whole)
        assert simple.size <= whole.size
        assert (Interpreter(VALUES).value(simple) == Interpreter(VALUES).value(whole)).all()
        assert simplified(simple) == simple
