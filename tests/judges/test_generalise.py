from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lycosa.errors import InputError
from lycosa.judges.formula import And, Formula, Named, Not, Or, evaluate, join, parse
from lycosa.judges.generalise import ForLinks, Way, for_links, generalise, positive_part, with_given, without_not

RARE_FIRST = {"A": 0.01, "B": 0.1, "C": 0.2, "D": 0.3}


def steps(text: str, way: Way, frequency: dict[str, float]) -> list[str]:
    """The formula and all its generalisations."""
    found: list[str] = []
    formula: Formula | None = parse(text)
    while formula is not None:
        found.append(str(formula))
        assert len(found) < 50
        formula = generalise(formula, way, frequency)
    return found


class TestDrop:
    def test_the_more_frequent_topic_is_dropped(self):
        assert steps("A AND B", Way.DROP, RARE_FIRST) == ["A AND B", "A"]
        assert steps("B AND A", Way.DROP, RARE_FIRST) == ["B AND A", "A"]
        assert steps("C AND A AND B", Way.DROP, RARE_FIRST) == ["C AND A AND B", "A AND B", "A"]

    def test_the_first_of_equals_stays(self):
        assert steps("A AND B", Way.DROP, {}) == ["A AND B", "A"]

    def test_each_alternative_by_itself(self):
        assert steps("A AND B OR C AND D", Way.DROP, RARE_FIRST) == ["A AND B OR C AND D", "A OR C"]
        assert steps("A OR B", Way.DROP, RARE_FIRST) == ["A OR B"]

    def test_a_part_that_is_a_formula_is_as_frequent_as_its_value(self):
        assert steps("(A OR C) AND B", Way.DROP, RARE_FIRST)[1] == "B"
        assert steps("(A^2 AND C) AND B", Way.DROP, RARE_FIRST)[1] == "A^2 AND C"

    def test_exclusions_are_dropped_first(self):
        frequency = {"A": 0.9, "B": 0.8, "C": 0.5}
        assert steps("A AND NOT C AND B", Way.DROP, frequency) == ["A AND NOT C AND B", "A AND B", "B"]

    def test_weights_stay_with_their_parts(self):
        assert steps("A^3 AND C AND B^2", Way.DROP, RARE_FIRST)[1] == "A^3 AND B^2"


class TestWeight:
    def test_the_rarer_topic_gains_until_it_decides_nearly_alone(self):
        found = steps("A AND B", Way.WEIGHT, RARE_FIRST)
        assert found == ["A AND B", "A^2 AND B", "A^4 AND B", "A^8 AND B", "A^16 AND B"]
        assert steps("B^4 AND A", Way.WEIGHT, RARE_FIRST)[1] == "B^4 AND A^2"
        assert steps("A", Way.WEIGHT, RARE_FIRST) == ["A"]
        assert steps("A AND B OR C", Way.WEIGHT, RARE_FIRST)[1] == "A^2 AND B OR C"

    @given(st.fixed_dictionaries({"A": st.floats(0, 1), "B": st.floats(0, 1), "C": st.floats(0, 1)}))
    def test_no_page_scores_less(self, scores):
        before = parse("A AND B AND C")
        after = generalise(before, Way.WEIGHT, RARE_FIRST)
        assert after is not None
        assert evaluate(after, scores) >= evaluate(before, scores) - 1e-12


class TestParent:
    def test_the_papers_experiment(self):
        # AR, section 5: sailing on Rügen → water sports → sports → tourism on Rügen → tourism in Mecklenburg.
        sailing, ruegen = "Tourism/Sports/Water sports/Sailing", "Mecklenburg/Ruegen"
        frequency = {
            sailing: 0.001,
            "Tourism/Sports/Water sports": 0.002,
            "Tourism/Sports": 0.003,
            "Tourism": 0.01,
            ruegen: 0.005,
            "Mecklenburg": 0.05,
        }
        assert steps(f"{sailing} AND {ruegen}", Way.PARENT, frequency) == [
            f"{sailing} AND {ruegen}",
            f"Tourism/Sports/Water sports AND {ruegen}",
            f"Tourism/Sports AND {ruegen}",
            f"Tourism AND {ruegen}",
            "Tourism AND Mecklenburg",
        ]

    def test_a_single_topic_and_alternatives(self):
        assert steps("X/Y/Z", Way.PARENT, {}) == ["X/Y/Z", "X/Y", "X"]
        assert steps("X/Y OR V/W/U", Way.PARENT, {}) == ["X/Y OR V/W/U", "X OR V/W", "X OR V"]
        assert steps("X/Y OR X/Z", Way.PARENT, {}) == ["X/Y OR X/Z", "X"]

    def test_what_is_excluded_is_not_widened(self):
        assert steps("X/Y AND NOT V/W", Way.PARENT, {}) == ["X/Y AND NOT V/W", "X AND NOT V/W"]
        assert steps("NOT V/W", Way.PARENT, {}) == ["NOT V/W"]

    def test_weights_stay(self):
        assert steps("X/Y^2 AND V", Way.PARENT, {})[1] == "X^2 AND V"


class TestForLinks:
    @pytest.mark.parametrize(
        ("text", "rarer", "either"),
        [
            ("A", "A", "A"),
            ("B AND A", "A", "B OR A"),
            ("A OR B", "A OR B", "A OR B"),
            ("B AND (A OR C)", "B", "B OR A OR C"),
            ("A AND B OR C AND D", "A OR C", "A OR B OR C OR D"),
            ("B^2 AND A", "A", "B OR A"),
            ("B AND NOT A", "B", "B"),
            ("NOT (NOT B OR A)", "B", "B"),
            ("NOT A", "NOT A", "NOT A"),
        ],
    )
    def test_short_texts_are_about_one_thing(self, text, rarer, either):
        assert str(for_links(parse(text), RARE_FIRST)) == rarer
        assert str(for_links(parse(text), RARE_FIRST, by=ForLinks.EITHER)) == either

    def test_what_a_person_gives_replaces_what_is_estimated(self):
        estimated = {"X/A": 0.5, "X": 0.6, "B": 0.1}
        assert with_given(estimated, {"X/A": 0.05}) == {"X/A": 0.05, "X": 0.6, "B": 0.1}
        assert with_given(estimated, {"X/A": 0.7, "B": 0.2}) == {"X/A": 0.7, "X": 0.7, "B": 0.2}
        assert with_given({}, {"X/A": 0.7, "X": 0.1}) == {"X/A": 0.7, "X": 0.1}


class TestWithoutNot:
    def test_crawl_for_a_and_exclude_b_afterwards(self):
        split = without_not(parse("A AND NOT B"))
        assert split.crawl == Named("A")
        assert split.relevance({"A": 0.1, "B": 0.4}) >= 0.1
        assert split.relevance({"A": 0.1, "B": 0.5}) < 0.1
        assert split.relevance({"A": 0.09, "B": 0.0}) < 0.1
        assert split.relevance({"A": 0.1, "B": 0.5}, considerable=0.6) >= 0.1
        assert split.relevance({"A": 0.1, "B": 0.4}, considerable=0.4) < 0.1

    def test_an_alternative_that_does_not_mind_keeps_the_page(self):
        split = without_not(parse("A AND NOT B OR C"))
        assert str(split.crawl) == "A OR C"
        assert split.relevance({"A": 0.9, "B": 0.9, "C": 0.9}) >= 0.5
        assert split.relevance({"A": 0.9, "B": 0.9, "C": 0.1}) < 0.5

    def test_a_formula_without_not_stays(self):
        formula = parse("A^2 AND (B OR C)")
        assert without_not(formula).crawl == formula
        assert positive_part(formula) == formula

    def test_there_must_be_something_to_look_for(self):
        for text in ["NOT A", "NOT A AND NOT B", "NOT (A OR B)"]:
            with pytest.raises(InputError, match="only excludes topics: name one to look for"):
                without_not(parse(text))

    PARTS = st.recursive(
        st.sampled_from("ABCD").map(Named),
        lambda inner: (
            inner.map(Not)
            | st.builds(
                join,
                st.sampled_from([And, Or]),
                st.tuples(inner, inner),
                st.sampled_from([(), (2.0, 1.0), (0.5, 3.0)]),
            )
        ),
        max_leaves=8,
    )

    @given(PARTS, st.fixed_dictionaries(dict.fromkeys("ABCD", st.floats(0, 1))))
    def test_moving_not_inward_keeps_the_meaning(self, formula, scores):
        try:
            split = without_not(formula)
        except InputError:
            return
        assert evaluate(split.formula, scores) == pytest.approx(evaluate(formula, scores))
        assert "NOT" not in str(split.crawl)
