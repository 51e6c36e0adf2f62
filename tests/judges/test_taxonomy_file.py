from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lycosa.errors import InputError
from lycosa.judges.taxonomy import Taxonomy, Topic
from lycosa.judges.taxonomy_file import MAX_FILE, from_toml, load_taxonomy, to_toml

CYCLING = """
[topics."Recreation/Cycling"]
good = true
description = "For pleasure."
keywords = { bicycle = 2.0, tandem = 1 }
examples = ["https://cycling.example/", "pages/tandem.html"]
"""

NAME_CHARACTERS = st.one_of(
    st.sampled_from(list("aB \"'\\.[]#=é木-_😀")),
    st.characters(categories=["L", "N", "P", "S"], exclude_characters="/"),
)
NAMES = st.text(NAME_CHARACTERS, min_size=1, max_size=8).map(str.strip).filter(bool)
TEXTS = st.text(st.characters(codec="utf-8"), max_size=20)
WEIGHTS = st.floats(min_value=0, max_value=1e6, exclude_min=True)
LINES = st.text(st.characters(categories=["L", "N", "P", "S"]), min_size=1, max_size=12)
TOPICS = st.builds(
    Topic,
    description=TEXTS,
    keywords=st.dictionaries(NAMES, WEIGHTS, max_size=3),
    examples=st.lists(LINES, max_size=3).map(tuple),
)


@st.composite
def taxonomies(draw: st.DrawFn) -> Taxonomy:
    paths = st.lists(NAMES, min_size=1, max_size=3).map("/".join)
    given = draw(st.lists(st.tuples(paths, TOPICS), max_size=5))
    taxonomy = Taxonomy()
    for path, topic in given:
        try:
            taxonomy = taxonomy.add(path, topic)
        except InputError:
            continue  # the name is taken
    leaves = [path for path in taxonomy.topics if not taxonomy.children(path)]
    for path in draw(st.lists(st.sampled_from(leaves), max_size=3)) if leaves else []:
        taxonomy = taxonomy.mark_good(path)
    return taxonomy


class TestReading:
    def test_what_a_person_writes(self):
        assert from_toml(CYCLING) == Taxonomy(
            {
                "Recreation/Cycling": Topic(
                    is_good=True,
                    description="For pleasure.",
                    keywords={"bicycle": 2.0, "tandem": 1.0},
                    examples=("https://cycling.example/", "pages/tandem.html"),
                )
            }
        )

    def test_an_empty_file_is_an_empty_taxonomy(self):
        assert from_toml("") == Taxonomy()

    @pytest.mark.parametrize(
        ("text", "error"),
        [
            ("[topics", "t.toml: not valid TOML: "),
            ("a = " + "[" * 50_000, "t.toml: not valid TOML: "),
            ("[topic.A]", r"t.toml: unknown key 'topic': a topic is a table \[topics\.\"its/path\"\]"),
            ("topics = 3", "t.toml: topics is 3: it must be tables like"),
            ("topics.A = 1", 't.toml: topics."A" is 1: it must be a table, with good, description'),
            ("[topics.A]\ngod = true", "t.toml: topics.\"A\": unknown key 'god'; did you mean 'good'?"),
            ("[topics.A.B]\ngood = true", r"unknown key 'B'; a subtopic is written \[topics.\"A/B\"\]"),
            ("[topics.A]\nzzz = 1", "unknown key 'zzz'; the keys are good, description, keywords, examples"),
            ('[topics.A]\ngood = "yes"', "topics.\"A\".good is 'yes': it must be true or false"),
            ('[topics.A]\nkeywords = ["b"]', "keywords is .*: it must be words with weights, { bicycle = 2.0"),
            ("[topics.A]\nkeywords = { b = true }", "keywords is .*: it must be words with weights"),
            ("[topics.A]\nkeywords = { b = -1 }", "topics.\"A\": keyword 'b' has the weight -1.0: it must be above 0"),
            ("[topics.A]\nkeywords = { b = 1" + "0" * 400 + " }", "keyword 'b' has the weight inf"),
            ("[topics.A]\nkeywords = { b = nan }", "keyword 'b' has the weight nan"),
            ('[topics.A]\nexamples = "http://a.test/"', "examples is .*: it must be a list of URLs and file names"),
            ("[topics.A]\nexamples = [1]", "it must be a list of URLs and file names"),
            ('[topics."A//B"]', "t.toml: empty name of a topic in 'A//B'"),
            (
                '[topics.A]\ngood = true\n[topics."A/B"]\ngood = true',
                "t.toml: topics 'A' and 'A/B' cannot both be good",
            ),
        ],
    )
    def test_errors_say_where_and_what_would_be_right(self, text, error):
        with pytest.raises(InputError, match=error):
            from_toml(text, where="t.toml")

    def test_files(self, tmp_path):
        file = tmp_path / "topics.toml"
        with pytest.raises(InputError, match=r"topics\.toml: there is no such file"):
            load_taxonomy(file)
        file.write_text(CYCLING, encoding="utf-8")
        assert load_taxonomy(file) == from_toml(CYCLING)
        file.write_bytes(b'[topics."R\xfcgen"]')
        with pytest.raises(InputError, match=r"topics\.toml: cannot be read as UTF-8 text"):
            load_taxonomy(file)
        with file.open("wb") as opened:
            opened.truncate(MAX_FILE + 1)
        with pytest.raises(InputError, match="a taxonomy file has at most"):
            load_taxonomy(file)
        with pytest.raises(InputError, match="cannot be read"):
            load_taxonomy(tmp_path)


class TestRoundTrip:
    @settings(max_examples=100, deadline=None)
    @given(taxonomies())
    def test_what_is_written_reads_back_as_the_same(self, taxonomy):
        again = from_toml(to_toml(taxonomy))
        assert again == taxonomy
        assert again.good == taxonomy.good
        assert list(again.topics) == list(taxonomy.topics)

    def test_inner_topics_without_a_word_stay(self):
        taxonomy = Taxonomy({"A/B": Topic()}).remove("A/B")
        assert list(from_toml(to_toml(taxonomy)).topics) == ["A"]
