from __future__ import annotations

import pickle

import pytest

from lycosa.errors import InputError
from lycosa.judges.classifier import ANY
from lycosa.judges.taxonomy import MAX_DEPTH, MAX_NAME, MAX_TOPICS, Taxonomy, Topic, nearest_topics, relocated


@pytest.fixture
def leisure() -> Taxonomy:
    paths = ["Recreation/Cycling/Tours", "Recreation/Sailing", "Business/Cycling", "Business/Funds"]
    return Taxonomy({path: Topic(description=f"about {path}") for path in paths})


class TestTree:
    def test_topics_above_exist_implicitly(self, leisure):
        assert list(leisure.topics) == [
            "Business",
            "Business/Cycling",
            "Business/Funds",
            "Recreation",
            "Recreation/Cycling",
            "Recreation/Cycling/Tours",
            "Recreation/Sailing",
        ]
        assert leisure.topics["Recreation"] == Topic()

    def test_children(self, leisure):
        assert leisure.children() == ("Business", "Recreation")
        assert leisure.children("Recreation") == ("Recreation/Cycling", "Recreation/Sailing")
        assert leisure.children("Recreation/Sailing") == ()

    def test_a_name_that_begins_like_another_is_not_below_it(self):
        taxonomy = Taxonomy({"A/x": Topic(), "A b": Topic(), "A-b/c": Topic()})
        assert "A/x" not in taxonomy.remove("A")
        assert taxonomy.remove("A").children() == ("A b", "A-b")

    def test_it_is_a_value(self, leisure):
        before = pickle.dumps(leisure)
        leisure.add("Arts").mark_good("Arts").remove("Business").move("Recreation/Sailing", ANY)
        assert pickle.dumps(leisure) == before
        assert pickle.loads(before) == leisure
        words = {"sail": 1.0}
        topic = Topic(keywords=words)
        words["soup"] = 1.0
        assert topic.keywords == {"sail": 1.0}

    def test_composed_and_decomposed_accents_are_one_name(self):
        taxonomy = Taxonomy({"Ru\u0308gen": Topic()})
        assert "R\u00fcgen" in taxonomy
        assert taxonomy.resolve("ru\u0308gen") == "R\u00fcgen"
        with pytest.raises(InputError, match="differ only in how accents are encoded"):
            Taxonomy({"Ru\u0308gen": Topic(), "R\u00fcgen": Topic()})


class TestNames:
    @pytest.mark.parametrize(
        ("path", "why"),
        [
            ("", "empty name"),
            ("A//B", "empty name of a topic in 'A//B'"),
            ("/A", "empty name"),
            ("A/", "empty name"),
            ("A/ B", "begins or ends with white space"),
            ("A\nB", r"invisible character U\+000A"),
            ("A\u202eB", r"invisible character U\+202E"),
            ("A\ud800", r"invisible character U\+D800"),
            ("x" * (MAX_NAME + 1), f"at most {MAX_NAME} are allowed"),
            ("/".join("x" * (MAX_DEPTH + 1)), f"17 names deep: at most {MAX_DEPTH}"),
            ("x/" * 1_000_000, "names deep"),
        ],
    )
    def test_what_cannot_name_a_topic_is_refused(self, path, why):
        with pytest.raises(InputError, match=why):
            Taxonomy({path: Topic()})
        with pytest.raises(InputError, match=why):
            Taxonomy().add(path)

    def test_the_longest_path_there_is(self):
        path = "/".join(["x" * MAX_NAME] * MAX_DEPTH)
        assert Taxonomy().add(path).resolve(path) == path

    def test_words_that_are_spelt_with_a_joiner(self):
        assert "کتاب\u200cخانه" in Taxonomy({"کتاب\u200cخانه": Topic()})

    def test_there_is_a_bound(self):
        with pytest.raises(InputError, match=f"{MAX_TOPICS + 1} topics: a taxonomy has at most"):
            Taxonomy({f"t{number}": Topic() for number in range(MAX_TOPICS + 1)})


class TestTopic:
    @pytest.mark.parametrize("weight", [0.0, -1.0, float("nan"), float("inf"), 2e6])
    def test_a_weight_must_weigh(self, weight):
        with pytest.raises(InputError, match=r"keyword 'tandem' has the weight .* must be above 0"):
            Topic(keywords={"tandem": weight})

    @pytest.mark.parametrize("example", ["", "  ", "a\nb", "\x00"])
    def test_an_example_is_a_url_or_a_file(self, example):
        with pytest.raises(InputError, match="neither a URL nor a file name"):
            Topic(examples=(example,))

    def test_a_description_is_text_of_bounded_length(self):
        assert Topic(description="two\nlines\t…").description
        with pytest.raises(InputError, match="at most 10000"):
            Topic(description="x" * 10_001)
        with pytest.raises(InputError, match="lone surrogate"):
            Topic(description="\udcff")

    def test_keywords_by_topic(self, leisure):
        assert leisure.add("Arts", Topic(keywords={"paint": 2})).keywords == {"Arts": {"paint": 2}}


class TestChanges:
    def test_add_refuses_what_exists(self, leisure):
        assert "Arts/Music" in leisure.add("Arts/Music")
        with pytest.raises(InputError, match="there is already a topic 'Business'"):
            leisure.add("Business")

    def test_rename_moves_the_subtree(self, leisure):
        renamed = leisure.mark_good("Recreation/Cycling").rename("Recreation", "Leisure")
        assert renamed.good == ("Leisure/Cycling",)
        assert renamed.topics["Leisure/Cycling/Tours"].description == "about Recreation/Cycling/Tours"
        assert "Recreation" not in renamed
        assert leisure.rename("Recreation", "Recreation") == leisure

    def test_rename_refuses_a_taken_or_unfit_name(self, leisure):
        with pytest.raises(InputError, match="cannot become 'Business': there is already a topic of that name"):
            leisure.rename("Recreation", "Business")
        with pytest.raises(InputError, match="contains a '/', which separates names"):
            leisure.rename("Recreation", "Fun/Games")

    def test_move_carries_a_subtree(self, leisure):
        moved = leisure.move("Recreation/Cycling", "Sports/Wheels")
        assert [path for path in moved.topics if path.startswith("Sports")] == [
            "Sports",
            "Sports/Wheels",
            "Sports/Wheels/Cycling",
            "Sports/Wheels/Cycling/Tours",
        ]
        assert "Recreation/Cycling" not in moved
        assert moved.topics["Sports/Wheels/Cycling/Tours"].description == "about Recreation/Cycling/Tours"
        assert leisure.move("Recreation/Sailing", ANY).children() == ("Business", "Recreation", "Sailing")

    def test_move_refuses_what_makes_no_tree(self, leisure):
        for under in ["Recreation", "Recreation/Cycling", "Recreation/Cycling/New"]:
            with pytest.raises(InputError, match=r"cannot be moved under .* part of it"):
                leisure.move("Recreation", under)
        with pytest.raises(InputError, match="cannot become 'Business/Cycling'"):
            leisure.move("Recreation/Cycling", "Business")
        with pytest.raises(InputError, match="no topic 'Recreation/Sailng'; did you mean 'Recreation/Sailing'"):
            leisure.move("Recreation/Sailng", ANY)

    def test_a_move_under_a_good_topic_is_refused_if_it_carries_a_mark(self, leisure):
        marked = leisure.mark_good("Business").mark_good("Recreation/Cycling")
        with pytest.raises(InputError, match="cannot both be good"):
            marked.move("Recreation", "Business")
        with pytest.raises(InputError, match="cannot both be good"):
            marked.move("Business", "Recreation/Cycling/Tours")

    def test_remove(self, leisure):
        assert list(leisure.remove("Recreation").topics) == ["Business", "Business/Cycling", "Business/Funds"]
        with pytest.raises(InputError, match="there is no topic ''"):
            leisure.remove(ANY)

    def test_labels_kept_elsewhere_can_follow(self):
        assert relocated("A/B/C", "A/B", "X") == "X/C"
        assert relocated("A/B", "A/B", "X/Y") == "X/Y"
        assert relocated("A/Bc", "A/B", "X") == "A/Bc"


class TestGood:
    def test_marks_and_what_follows_from_them(self, leisure):
        marked = leisure.mark_good("Recreation/Cycling").mark_good("Business/Funds")
        assert marked.good == ("Business/Funds", "Recreation/Cycling")
        assert marked.path_topics == ("Business", "Recreation")
        assert marked.mark_good("Business/Funds") == marked
        assert marked.unmark("Recreation/Cycling").good == ("Business/Funds",)
        assert leisure.path_topics == ()

    def test_no_good_topic_under_another(self, leisure):
        reason = "topics 'Recreation' and 'Recreation/Cycling/Tours' cannot both be good: .* counted twice; unmark one"
        with pytest.raises(InputError, match=reason):
            leisure.mark_good("Recreation").mark_good("Recreation/Cycling/Tours")
        with pytest.raises(InputError, match=reason):
            leisure.mark_good("Recreation/Cycling/Tours").mark_good("Recreation")

    def test_unmark_what_is_not_marked(self, leisure):
        with pytest.raises(InputError, match="'Business' is not marked good; marked: none"):
            leisure.unmark("Business")

    def test_any_cannot_be_marked(self, leisure):
        with pytest.raises(InputError, match="there is no topic ''"):
            leisure.mark_good(ANY)


class TestResolve:
    @pytest.mark.parametrize(
        ("name", "path"),
        [
            ("Business/Funds", "Business/Funds"),
            ("Funds", "Business/Funds"),
            ("funds", "Business/Funds"),
            ("CYCLING/tours", "Recreation/Cycling/Tours"),
            (" /Recreation/Sailing/ ", "Recreation/Sailing"),
            ("business", "Business"),
        ],
    )
    def test_by_path_or_last_names(self, leisure, name, path):
        assert leisure.resolve(name) == path

    def test_a_full_path_takes_precedence_over_an_ending(self, leisure):
        assert leisure.add("Cycling").resolve("Cycling") == "Cycling"
        assert leisure.add("Cycling").resolve("cycling") == "Cycling"

    def test_case_decides_where_it_must(self):
        taxonomy = Taxonomy({"Food/Polish": Topic(), "Home/polish": Topic()})
        assert taxonomy.resolve("polish") == "Home/polish"
        with pytest.raises(InputError, match="'POLISH' may be 'Food/Polish' or 'Home/polish'"):
            taxonomy.resolve("POLISH")

    def test_several_that_fit_are_listed(self, leisure):
        with pytest.raises(
            InputError, match="'cycling' may be 'Business/Cycling' or 'Recreation/Cycling': give more of its path"
        ):
            leisure.resolve("cycling")
        many = Taxonomy({f"t{number}/same": Topic() for number in range(9)})
        with pytest.raises(InputError, match="'t4/same' or 4 more"):
            many.resolve("same")

    def test_a_misspelt_name_gets_suggestions(self, leisure):
        with pytest.raises(InputError, match="no topic 'Sialing'; did you mean 'Recreation/Sailing'"):
            leisure.resolve("Sialing")
        with pytest.raises(InputError, match="did you mean 'Recreation/Sailing'"):
            leisure.resolve("Recreation/Sayling")
        assert nearest_topics("Fund", leisure.topics) == ["Business/Funds"]

    @pytest.mark.parametrize("name", ["", "/", "zzzz", "ycling/", "x" * 100_000])
    def test_nothing_near(self, leisure, name):
        with pytest.raises(InputError, match="there is no topic"):
            leisure.resolve(name)

    def test_an_empty_taxonomy(self):
        with pytest.raises(InputError, match="the taxonomy is empty"):
            Taxonomy().resolve("A")

    def test_the_most_similar_comes_first(self):
        assert nearest_topics("cyclng", ["Cyclone", "A/Cycling", "Soup"]) == ["A/Cycling", "Cyclone"]
