from __future__ import annotations

import pickle
import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lycosa.errors import InputError
from lycosa.judges.formula import (
    MAX_LENGTH,
    MAX_NESTING,
    And,
    Formula,
    Named,
    Not,
    Or,
    evaluate,
    join,
    parse,
    topics_of,
)
from lycosa.judges.taxonomy import Taxonomy, Topic

A, B, C, D = map(Named, "ABCD")

NAMES = st.one_of(
    st.sampled_from(
        ["A", "B", "C/D", "Black & white", "not", "and or", "a  b", "it's", "'x", 'say "hi"', "\\", "木", "^2"]
    ),
    st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=6),
)
LEAVES = NAMES.map(lambda name: Named(unicodedata.normalize("NFC", name))).filter(lambda leaf: leaf.topic.strip())
WEIGHTS = st.floats(min_value=1e-300, max_value=1e6) | st.sampled_from([1.0, 2.0, 0.5])


@st.composite
def groups(draw: st.DrawFn, inner: st.SearchStrategy[Formula]) -> Formula:
    parts = draw(st.lists(inner, min_size=2, max_size=4))
    weights = draw(st.lists(WEIGHTS, min_size=len(parts), max_size=len(parts)) | st.just([]))
    return join(draw(st.sampled_from([And, Or])), parts, weights)


FORMULAS = st.recursive(LEAVES, lambda inner: groups(inner) | inner.map(Not), max_leaves=12)
SCORES = st.fixed_dictionaries(dict.fromkeys("ABC", st.floats(0, 1)))


class TestGrammar:
    @pytest.mark.parametrize(
        ("text", "formula"),
        [
            ("A", A),
            ("A AND B OR C", Or((And((A, B)), C))),
            ("A OR B AND C", Or((A, And((B, C))))),
            ("(A OR B) AND C", And((Or((A, B)), C))),
            ("NOT A AND B", And((Not(A), B))),
            ("NOT (A AND B)", Not(And((A, B)))),
            ("NOT NOT A", Not(Not(A))),
            ("a and b Or nOT c", Or((And((Named("a"), Named("b"))), Not(Named("c"))))),
            ("A&B|!C", Or((And((A, B)), Not(C)))),
            ("A && B || ! C", Or((And((A, B)), Not(C)))),
            ("A ∧ B ∨ ¬C", Or((And((A, B)), Not(C)))),
            ("((A))", A),
            ("\tA\n AND\u3000B ", And((A, B))),
        ],
    )
    def test_precedence_and_spelling(self, text, formula):
        assert parse(text) == formula

    @pytest.mark.parametrize(
        ("text", "name"),
        [
            ("Recreation/Cycling", "Recreation/Cycling"),
            ("water   sports", "water sports"),
            ("comp.os.ms-windows_misc 2", "comp.os.ms-windows_misc 2"),
            ("Children's books", "Children's books"),
            ('"Black & white"', "Black & white"),
            ("'Black & white'", "Black & white"),
            (r'"say \"hi\" \\"', 'say "hi" \\'),
            ('"AND"', "AND"),
            ("Ru\u0308gen", "R\u00fcgen"),
            ("हिन्दी", "हिन्दी"),
            ("android", "android"),
        ],
    )
    def test_names(self, text, name):
        assert parse(text) == Named(name)
        assert parse(str(Named(name))) == Named(name)

    def test_weights_belong_to_the_parts_of_one_operator(self):
        assert parse("A^0.7 AND B^0.3") == And((A, B), (0.7, 0.3))
        assert parse("A^2 OR B") == Or((A, B), (2.0, 1.0))
        assert parse("(A OR B)^3 AND NOT C^0.5") == And((Or((A, B)), Not(C)), (3.0, 0.5))
        assert parse("A^2 AND B OR C") == Or((And((A, B), (2.0, 1.0)), C))
        assert parse("A ^ 1e-5 AND B") == And((A, B), (1e-5, 1.0))

    def test_names_are_resolved(self):
        taxonomy = Taxonomy({"Recreation/Sailing": Topic(), "Places/Ruegen": Topic()})
        assert parse("sailing AND ruegen", resolve=taxonomy.resolve) == And(
            (Named("Recreation/Sailing"), Named("Places/Ruegen"))
        )

    def test_the_normal_form(self):
        assert parse("A AND (B AND C) AND A") == And((A, B, C))
        assert parse("A OR A") == A
        assert parse("A^2 AND (B AND C)^2") == And((A, B, C))
        assert parse("A^2 AND (B AND C)") == And((A, And((B, C))), (2.0, 1.0))
        assert parse("(A^2 AND B) AND C") == And((And((A, B), (2.0, 1.0)), C))


class TestErrors:
    @pytest.mark.parametrize(
        ("text", "position", "why"),
        [
            ("", 1, r"expected a topic name, '\(' or NOT; found the end"),
            ("tourism AND )", 13, r"expected a topic name, '\(' or NOT; found '\)'"),
            ("A AND", 6, r"expected a topic name, '\(' or NOT; found the end"),
            ("A B) C", 4, r"expected AND, OR or the end; found '\)'"),
            ("(A OR B", 8, r"expected AND, OR or the '\)' for the '\(' at position 1; found the end"),
            ("A AND OR B", 7, "expected a topic name, .* found 'OR'"),
            (
                "Love not war",
                6,
                "expected AND, OR or the end; found 'not'; put a name that contains this word in quotes",
            ),
            ('"A" "B"', 5, "expected AND, OR or the end; found 'B'"),
            ('A AND "B', 7, 'the name that begins here has no closing "'),
            ('A AND "B\\', 7, "no closing"),
            ('A AND " "', 7, "a topic name cannot be empty"),
            ("A # B", 3, "unexpected '#': put a name that contains it in quotes"),
            ("A\ud800", 2, "unexpected"),
            ("A^0.5", 2, "a weight needs another part beside it"),
            ("(A^0.5) AND B", 3, "a weight needs another part beside it"),
            ("A^ AND B", 4, "expected a weight above 0 and at most 1000000, such as 0.7; found 'AND'"),
            ("A^0 AND B", 3, "expected a weight above 0"),
            ("A^x AND B", 3, "expected a weight above 0"),
            ("A^nan AND B", 3, "expected a weight above 0"),
            ("A^1_0 AND B", 3, "expected a weight above 0"),
            ("A^1e999 AND B", 3, "expected a weight above 0"),
            ("(A^2 AND B", 11, "AND, OR or the '.' for the"),
            ("A^2 B AND C", 5, "expected AND, OR or the end; found 'B'"),
        ],
    )
    def test_they_say_where_and_what(self, text, position, why):
        with pytest.raises(InputError, match=why) as caught:
            parse(text)
        head, _, pointer = str(caught.value).split("\n")
        assert head.startswith(f"formula, position {position}: ")
        assert pointer.index("^") == 4 + position - 1

    def test_they_point_at_the_error(self):
        with pytest.raises(InputError) as caught:
            parse("tourism\nAND )")
        assert str(caught.value).split("\n")[1:] == ["    tourism AND )", "                ^"]

    def test_only_the_part_of_a_long_formula_around_the_error_is_shown(self):
        with pytest.raises(InputError) as caught:
            parse("A AND " * 1000 + ")" + " OR B" * 500)
        _, shown, pointer = str(caught.value).split("\n")
        assert len(shown) < 130
        assert shown[pointer.index("^")] == ")"

    def test_an_unknown_topic_gets_the_nearest_names(self):
        taxonomy = Taxonomy({"Recreation/Sailing": Topic()})
        with pytest.raises(
            InputError, match=r"position 9: there is no topic 'Sialing'; did you mean 'Recreation/Sailing'\?"
        ):
            parse("NOT NOT Sialing", resolve=taxonomy.resolve)

    def test_nesting_and_length_are_bounded(self):
        deep = "(" * MAX_NESTING + "A" + ")" * MAX_NESTING
        assert parse(deep) == A
        assert parse("NOT " * MAX_NESTING + "A") is not None
        for text in ["(" + deep + ")", "NOT " * (MAX_NESTING + 1) + "A", "(" * 9000]:
            with pytest.raises(InputError, match=f"nested parentheses and NOTs: at most {MAX_NESTING}"):
                parse(text)
        with pytest.raises(InputError, match=f"at most {MAX_LENGTH}"):
            parse("A" * (MAX_LENGTH + 1))
        assert parse(" AND ".join(["(A)", "NOT B"] * MAX_NESTING)) == And((A, Not(B)))
        wide = parse(" OR ".join(f"t{number}" for number in range(1000)))
        assert len(topics_of(wide)) == 1000

    @given(st.text("AB ()^&|!\"'\\ 0.5NOTandor\n#", max_size=30))
    def test_any_text_is_a_formula_or_an_input_error(self, text):
        try:
            formula = parse(text)
        except InputError as error:
            assert str(error).startswith("formula, position ")  # noqa: PT017 - either outcome is right
        else:
            assert parse(str(formula)) == formula


class TestText:
    @settings(max_examples=200, deadline=None)
    @given(FORMULAS)
    def test_it_parses_back_to_the_same_formula(self, formula):
        assert parse(str(formula)) == formula

    def test_it_has_no_needless_parentheses(self):
        text = "A AND (B OR NOT C) OR NOT (A AND D)"
        assert str(parse(f"(({text}))")) == text
        assert str(parse("(A&B)^2|C")) == "(A AND B)^2 OR C"
        assert str(parse('"water sports" & "Black & white"')) == 'water sports AND "Black & white"'

    def test_formulas_travel(self):
        formula = parse("A^2 AND NOT (B OR C)")
        assert pickle.loads(pickle.dumps(formula)) == formula
        assert hash(formula) == hash(parse(str(formula)))


class TestMeaning:
    @pytest.mark.parametrize(
        ("text", "value"),
        [("A", 0.2), ("A AND B", 0.2), ("A OR B", 0.7), ("NOT A", 0.8), ("NOT (A OR B) OR A AND B", 0.3)],
    )
    def test_min_max_and_complement(self, text, value):
        assert evaluate(parse(text), {"A": 0.2, "B": 0.7}) == pytest.approx(value)

    def test_weights_by_hand(self):
        # θ = 0.7, 0.3: (0.7 − 0.3)·A + 2·0.3·min(A, B)
        scores = {"A": 0.9, "B": 0.2}
        assert evaluate(parse("A^0.7 AND B^0.3"), scores) == pytest.approx(0.4 * 0.9 + 0.6 * 0.2)
        assert evaluate(parse("B^3 AND A^7"), scores) == pytest.approx(0.4 * 0.9 + 0.6 * 0.2)
        assert evaluate(parse("B^0.7 OR A^0.3"), scores) == pytest.approx(0.4 * 0.2 + 0.6 * 0.9)
        # θ = 0.5, 0.3, 0.2: 0.2·A + 2·0.1·min(A, B) + 3·0.2·min(A, B, C)
        scores = {"A": 0.9, "B": 0.4, "C": 0.1}
        assert evaluate(parse("A^5 AND B^3 AND C^2"), scores) == pytest.approx(0.2 * 0.9 + 0.2 * 0.4 + 0.6 * 0.1)

    @given(SCORES, st.lists(WEIGHTS, min_size=3, max_size=3), st.sampled_from([And, Or]))
    def test_properties_of_fagin_and_wimmers_rule(self, scores, weights, kind):
        pick = min if kind is And else max
        values = [scores[name] for name in "ABC"]
        value = evaluate(kind((A, B, C), tuple(weights)), scores)
        assert min(values) - 1e-9 <= value <= max(values) + 1e-9
        # Equal weights are no weights; a part with hardly any weight does not count.
        assert evaluate(kind((A, B, C), (weights[0],) * 3), scores) == pytest.approx(pick(values))
        assert evaluate(kind((A, B, C), (1.0, 1.0, 1e-12)), scores) == pytest.approx(pick(values[:2]), abs=1e-9)

    @given(SCORES, st.sampled_from(["A^2 AND B AND C^0.3", "A AND B OR C", "A^2 OR B^5"]))
    def test_more_of_a_topic_is_never_less(self, scores, text):
        formula = parse(text)
        better = {**scores, "A": min(1.0, scores["A"] + 0.1)}
        assert evaluate(formula, better) >= evaluate(formula, scores) - 1e-12

    def test_a_topic_without_a_score(self):
        with pytest.raises(InputError, match="names topic 'B', which has no score"):
            evaluate(parse("A AND B"), {"A": 1.0})
