from __future__ import annotations

import sqlite3
import subprocess
import sys
import zlib
from contextlib import closing

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lycosa.errors import InputError, StoreError
from lycosa.judges.classifier import ANY, Example
from lycosa.judges.taxonomy import Taxonomy, Topic
from lycosa.judges.taxonomy_file import from_toml
from lycosa.lib.text import term_counts
from lycosa.model import Page
from lycosa.topics import documents
from lycosa.topics.book import TopicBook
from lycosa.topics.documents import pack_terms, unpack_terms
from lycosa.topics.rows import Added


def page(text: str, *, url: str = "", title: str = "") -> Page:
    return Page(url=url or f"http://a.test/{text[:20]}", title=title, text=text, terms=term_counts(f"{title} {text}"))


def example(text: str, *topics: str, url: str = "") -> Example:
    return Example(page(text, url=url), topics)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "topics.db"


@pytest.fixture
def book(path):
    with TopicBook(path) as opened:
        yield opened


@pytest.fixture
def sports(book):
    """Two topics under Recreation, one elsewhere, a document in each and one in two."""
    for topic in ("Recreation/Cycling", "Recreation/Sailing", "Business"):
        book.add_topic(topic)
    book.add_examples(
        [
            example("bicycles and tandems", "Recreation/Cycling", url="http://a.test/cycling"),
            example("sails and masts", "Recreation/Sailing"),
            example("stocks and bonds", "Business"),
            example("selling bicycles", "Recreation/Cycling", "Business", url="/home/me/selling.txt"),
        ]
    )
    return book


def topics_of(book) -> dict[str, tuple[str, ...]]:
    return {found.page.text: found.topics for found in book.examples()}


class TestTree:
    def test_topics_with_their_properties(self, book, path):
        book.add_topic("Recreation/Cycling", description="for pleasure", keywords={"bicycle": 2.0})
        book.mark_good("cycling")
        with TopicBook(path) as again:
            assert again.taxonomy() == Taxonomy(
                {"Recreation/Cycling": Topic(description="for pleasure", keywords={"bicycle": 2.0}, is_good=True)}
            )

    def test_edits_of_a_misspelt_topic_are_refused(self, sports):
        with pytest.raises(InputError, match=r"no topic 'Cyclng'; did you mean 'Recreation/Cycling'"):
            sports.mark_good("Cyclng")

    def test_a_good_topic_under_a_good_one_is_refused_and_nothing_written(self, sports):
        sports.mark_good("Recreation/Cycling")
        with pytest.raises(InputError, match="cannot both be good"):
            sports.mark_good("Recreation")
        assert sports.taxonomy().good == ("Recreation/Cycling",)
        sports.unmark("Cycling")
        assert sports.mark_good("recreation") == "Recreation"

    def test_renaming_moves_examples_and_children(self, sports):
        sports.add_topic("Recreation/Cycling/Tandems")
        assert sports.rename_topic("Recreation", "Leisure") == "Leisure"
        assert [*sports.taxonomy().topics] == [
            "Business",
            "Leisure",
            "Leisure/Cycling",
            "Leisure/Cycling/Tandems",
            "Leisure/Sailing",
        ]
        assert topics_of(sports)["bicycles and tandems"] == ("Leisure/Cycling",)

    def test_renaming_where_names_repeat(self, book):
        book.add_topic("a/a/a")
        assert book.rename_topic("a", "b") == "b"
        assert [*book.taxonomy().topics] == ["b", "b/a", "b/a/a"]
        with pytest.raises(InputError):
            book.move_topic("b/a", "b/a/a")

    def test_moving(self, sports):
        assert sports.move_topic("Cycling", "Business") == "Business/Cycling"
        assert topics_of(sports)["selling bicycles"] == ("Business", "Business/Cycling")
        assert sports.move_topic("Cycling", ANY) == "Cycling"
        with pytest.raises(InputError, match="no topic 'Nowhere'"):
            sports.move_topic("Cycling", "Nowhere")

    def test_removing_removes_documents_under_no_other_topic(self, sports):
        sports.add_topic("Recreation-al")  # sorts between Recreation and what is below it
        assert sports.remove_topic("Recreation") == 2
        assert [*sports.taxonomy().topics] == ["Business", "Recreation-al"]
        assert topics_of(sports) == {"stocks and bonds": ("Business",), "selling bicycles": ("Business",)}

    def test_importing_a_tree_merges_it(self, sports):
        sports.import_taxonomy(Taxonomy({"Recreation/Cycling": Topic(description="old", keywords={"bicycle": 1.0})}))
        said = Taxonomy({"Recreation/Cycling": Topic(description="new", is_good=True), "Arts": Topic()})
        assert sports.import_taxonomy(said) == 1
        assert sports.taxonomy().topics["Recreation/Cycling"] == Topic(
            description="new", keywords={"bicycle": 1.0}, is_good=True
        )
        with pytest.raises(InputError, match="cannot both be good"):
            sports.import_taxonomy(Taxonomy({"Recreation": Topic(is_good=True)}))

    def test_exporting_names_the_sources_that_can_be_found_again(self, sports):
        sports.add_examples([example("typed by hand", "Business", url="note 1")])
        read = from_toml(sports.export_toml())
        assert read.topics["Recreation/Cycling"].examples == ("http://a.test/cycling", "/home/me/selling.txt")
        assert read.topics["Business"].examples == ("http://a.test/stocks and bonds", "/home/me/selling.txt")


class TestExamples:
    def test_what_goes_in_comes_out(self, book):
        book.add_topic("Räder")
        given_page = Page(
            url="http://a.test/", title="Ein Rad", text="Räder rollen", language="de", terms={"rad": 300, "roll": 1}
        )
        book.add_examples([Example(given_page, ("Räder",))])
        (found,) = book.examples()
        assert found.topics == ("Räder",)
        assert (found.page.url, found.page.title, found.page.text) == ("http://a.test/", "Ein Rad", "Räder rollen")
        assert (found.page.language, found.page.terms, found.page.words) == ("de", {"rad": 300, "roll": 1}, 301)

    def test_text_is_capped_and_terms_are_not(self, book, monkeypatch):
        monkeypatch.setattr(documents, "MAX_TEXT", 10)
        monkeypatch.setattr(documents, "MAX_TERMS", 2)
        book.add_examples([example("one two three three two four", "a")], makes_topics=True)
        (found,) = book.examples()
        assert found.page.text == "one two th"
        assert found.page.terms == {"three": 2, "two": 2}
        assert found.page.words == 6

    def test_counts(self, book):
        text = "bicycles and tandems"
        first = book.add_examples([example(text, "a"), example("", "a"), example(text, "a")], makes_topics=True)
        assert first == Added(added=1, duplicates=1, empty=1)
        again = [example(text, "b"), example(text, "a", "b"), example("sails", "a", "b")]
        assert book.add_examples(again, makes_topics=True) == Added(added=1, elsewhere=1, duplicates=1)
        assert topics_of(book) == {text: ("a", "b"), "sails": ("a", "b")}

    def test_pages_without_text_are_told_apart_by_their_terms(self, book):
        pages = [Page(url="http://a.test/1", terms={"x": 1}), Page(url="http://a.test/2", terms={"x": 2})]
        assert book.add_examples([Example(one, ("a",)) for one in pages], makes_topics=True) == Added(added=2)

    def test_unknown_topics_are_refused_with_the_nearest(self, sports):
        with pytest.raises(InputError, match=r"no topic 'Recreation/Cyclin'; did you mean 'Recreation/Cycling'"):
            sports.add_examples([example("x ray", "Recreation/Cyclin")])

    def test_documents_under_no_topic(self, sports):
        sports.add_examples([example("anything else"), example("something new", ANY)])
        assert topics_of(sports)["anything else"] == topics_of(sports)["something new"] == ()
        assert sports.example_counts() == {
            ANY: 2,
            "Business": 2,
            "Recreation": 0,
            "Recreation/Cycling": 2,
            "Recreation/Sailing": 1,
        }

    def test_more_than_one_batch(self, book):
        many = [example(f"document number{number}", f"t{number % 3}") for number in range(1203)]
        assert book.add_examples(iter(many), makes_topics=True) == Added(added=1203)
        examples = book.examples()
        assert len(examples) == 1203
        assert [one.page.text for one in examples] == [one.page.text for one in examples]

    def test_of_a_topic_and_below(self, sports):
        assert sorted(found.page.text for found in sports.examples("Recreation")) == [
            "bicycles and tandems",
            "sails and masts",
            "selling bicycles",
        ]
        assert len(sports.examples("sailing")) == 1
        assert [found.page.text for found in sports.examples("sailing", with_text=False)] == [""]

    def test_a_stream_sees_one_state_whatever_is_edited(self, sports):
        with sports.examples() as examples:
            first = list(examples)
            sports.remove_topic("Recreation")
            assert list(examples) == first
        assert len(sports.examples()) == 2

    def test_rows_for_display(self, sports):
        rows = sports.example_rows("Business")
        assert [(row.title, row.source, row.words, row.topics) for row in rows] == [
            ("", "http://a.test/stocks and bonds", 2, ("Business",)),
            ("", "/home/me/selling.txt", 2, ("Business", "Recreation/Cycling")),
        ]
        assert sports.example_rows(source="/home/me/selling.txt") == rows[1:]
        assert sports.example_rows(count=1, start=3) == rows[1:]

    def test_moving_documents(self, sports):
        (row,) = sports.example_rows(source="/home/me/selling.txt")
        sports.move_examples([row.id], "Sailing", away_from="Cycling")
        assert topics_of(sports)["selling bicycles"] == ("Business", "Recreation/Sailing")
        assert sports.move_examples([row.id], "cycling") == "Recreation/Cycling"
        assert topics_of(sports)["selling bicycles"] == ("Recreation/Cycling",)

    def test_moving_is_all_or_nothing(self, sports):
        before = topics_of(sports)
        first = sports.example_rows("Cycling")[0].id
        with pytest.raises(InputError, match="no example 99; nothing was changed"):
            sports.move_examples([first, 99], "Sailing")
        with pytest.raises(InputError, match="is not under 'Business'; nothing was changed"):
            sports.move_examples([first], "Sailing", away_from="Business")
        assert topics_of(sports) == before

    def test_removing_documents(self, sports):
        ids = [row.id for row in sports.example_rows("Cycling")]
        assert sports.remove_examples(ids, away_from="Cycling") == 1
        assert topics_of(sports)["selling bicycles"] == ("Business",)
        assert sports.remove_examples(ids[1:]) == 1
        assert len(sports.examples()) == 2

    def test_a_damaged_document_is_named(self, sports, path):
        with closing(sqlite3.connect(path)) as db:
            db.execute("update documents set terms = x'00' where id = 2")
            db.commit()
        with pytest.raises(StoreError, match="example 2 is damaged"):
            list(sports.examples())


class TestJudges:
    def test_versions(self, book):
        first = book.save_judge("bayes", b"one", settings={"features": 10}, report={"accuracy": 0.5}, trained_at=1.0)
        second = book.save_judge("svm", b"two", settings={}, report={}, trained_at=2.0)
        assert second > first
        assert book.load_judge().model == b"two"
        judge = book.load_judge(first)
        assert (judge.kind, judge.settings, judge.report) == ("bayes", {"features": 10}, {"accuracy": 0.5})
        assert [(one.version, one.model) for one in book.judges()] == [(first, b""), (second, b"")]

    def test_none(self, book):
        with pytest.raises(InputError, match="no trained judge; train one with: lycosa topics train"):
            book.load_judge()
        book.save_judge("svm", b"", settings={}, report={}, trained_at=0.0)
        with pytest.raises(InputError, match="no judge of version 7; the newest are 1"):
            book.load_judge(7)


class TestFile:
    def test_a_copy(self, sports, tmp_path):
        copy = tmp_path / "crawl.topics"
        copy.write_bytes(b"something older")
        sports.copy_to(copy)
        sports.remove_topic("Business")
        with TopicBook(copy) as other:
            assert "Business" in other.taxonomy()
            assert len(other.examples()) == 4
        assert not list(tmp_path.glob("*.part"))

    def test_a_copy_into_nowhere(self, book, tmp_path):
        with pytest.raises(StoreError, match="check that the directory exists"):
            book.copy_to(tmp_path / "none" / "copy")

    def test_other_databases_are_refused(self, path):
        with closing(sqlite3.connect(path)) as db:
            db.execute("create table topics (x)")
        with pytest.raises(StoreError, match="a database, but not a topic book"):
            TopicBook(path)

    def test_books_from_before_links_were_kept(self, path, monkeypatch):
        monkeypatch.setattr("lycosa.topics.book.VERSION", 2)
        with TopicBook(path) as older:
            columns = "hash, source, title, language, words, text, terms, added_at"
            values = (b"h", "http://a.test/", "A", "en", 1, b"", pack_terms({"sail": 1}, most=1), 0.0)
            older._db.execute(f"insert into documents ({columns}) values (?, ?, ?, ?, ?, ?, ?, ?)", values)
        monkeypatch.undo()
        with TopicBook(path) as book:
            linked = Page("http://b.test/", terms={"mast": 1}, link_hashes=bytes(8))
            book.add_examples([Example(linked, ())])
            first, second = (example.page for example in book.examples())
            assert (first.terms, first.link_hashes) == ({"sail": 1}, b"")
            assert (second.terms, second.link_hashes) == ({"mast": 1}, bytes(8))

    def test_newer_books_are_refused(self, book, path):
        book._db.execute("pragma user_version = 99")
        with pytest.raises(StoreError, match="written by a newer Lycosa"):
            TopicBook(path)

    def test_not_a_database(self, path):
        path.write_bytes(b"rubbish " * 1000)
        with pytest.raises(StoreError, match="damaged or not a topic book"):
            TopicBook(path)

    def test_no_such_directory(self, tmp_path):
        with pytest.raises(StoreError, match="check that the directory exists"):
            TopicBook(tmp_path / "none" / "topics.db")


EDITOR = """
import sys
from pathlib import Path
from lycosa.errors import InputError
from lycosa.judges.classifier import Example
from lycosa.model import Page
from lycosa.judges.taxonomy import Taxonomy, Topic
from lycosa.topics.book import TopicBook

path, me = Path(sys.argv[1]), sys.argv[2]
refused = 0
with TopicBook(path) as book:
    book.import_taxonomy(Taxonomy({"shared/below": Topic()}))
    for number in range(25):
        book.add_topic(f"{me}/t{number}")
        book.rename_topic(f"{me}/t{number}", f"done{number}")
        page = Page(url="u", terms={f"word{number}": 1})
        book.add_examples([Example(page, (f"{me}/done{number}",))])
    try:
        book.mark_good("shared" if me == "a" else "shared/below")
    except InputError as error:
        assert "both be good" in str(error)
        refused = 1
print(refused)
"""


def test_editing_by_several_processes_at_once(path):
    """All create the file, then edit the same tree; one of two incompatible edits is refused."""
    editors = [
        subprocess.Popen([sys.executable, "-c", EDITOR, str(path), name], stdout=subprocess.PIPE, text=True)
        for name in ("a", "b", "c")
    ]
    refused = [int(editor.communicate(timeout=60)[0]) for editor in editors]
    assert [editor.returncode for editor in editors] == [0, 0, 0]
    with TopicBook(path) as book:
        taxonomy = book.taxonomy()
        assert {f"{name}/done{number}" for name in "abc" for number in range(25)} <= taxonomy.topics.keys()
        assert len(taxonomy) == 3 * 26 + 2
        assert len(book.examples()) == 25
        assert all(len(found.topics) == 3 for found in book.examples())
        assert taxonomy.good in {("shared",), ("shared/below",)}
        assert sum(refused) == (2 if taxonomy.good == ("shared",) else 1)


class TestPacking:
    def test_links_come_back_the_first_of_many(self, monkeypatch):
        monkeypatch.setattr(documents, "MAX_LINKS", 2)
        hashes = np.array([7, -(2**63), 5], np.int64).tobytes()
        packed = documents.pack_document(Page("http://a.test/", terms={"a": 1}, link_hashes=hashes))
        assert packed.links == b"\7" + bytes(7) + bytes(7) + b"\x80"
        _, *columns = packed
        assert documents.unpack_document(*columns).link_hashes == hashes[:16]

    def test_half_a_hash_is_refused(self):
        with pytest.raises(ValueError, match="multiple"):
            documents.unpack_document("", "", "", 0, b"", pack_terms({}, most=1), bytes(12))

    @settings(max_examples=40)
    @given(st.dictionaries(st.from_regex(r"[a-zé]{1,9}", fullmatch=True), st.integers(1, 2**32 - 1)))
    def test_terms_come_back(self, terms):
        assert unpack_terms(pack_terms(terms, most=1000)) == terms

    @pytest.mark.parametrize(
        "packed", [b"", b"rubbish", zlib.compress(b"B\xff\0\0\0a b\1"), pack_terms({"a": 1}, most=1)[:-1]]
    )
    def test_what_was_not_packed_is_refused(self, packed):
        with pytest.raises(ValueError):  # noqa: PT011 - of several kinds
            unpack_terms(packed)

    def test_bombs_are_refused(self, monkeypatch):
        monkeypatch.setattr(documents, "_MAX_UNPACKED", 1000)
        with pytest.raises(ValueError, match="larger than any document"):
            documents.unpack_document("", "", "", 0, zlib.compress(b" " * 1001), pack_terms({}, most=1))
