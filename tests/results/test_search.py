"""Full-text search over a crawl: what is found, what is shown, and that nothing a page or a person writes breaks it."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from loopback import lycosa as command
from lycosa.errors import InputError, StoreError
from lycosa.results import search as module
from lycosa.results.search import search
from lycosa.results.search_query import SearchQuery
from lycosa.store import search_index
from lycosa.store.search_index import SearchIndex


@pytest.fixture
def crawled(rig, html, tmp_path):
    """A crawl of five pages, its store closed. Returns its directory, the rig, and its web."""
    web = {
        "http://a.test/": html("http://a.test/1", "http://a.test/2", text="start here", title="Start"),
        "http://a.test/1": html(
            "http://a.test/3", text="Recreational cycling harbours. The harbour fee is five crowns. ", title="Prices"
        ),
        "http://a.test/2": html("http://a.test/4", text="fees and nothing else, by the sea", title="Harbour"),
        "http://a.test/3": html(text="\x1b[31mCafé\u202e [bold]crème[/] \x07 au bord", title="[red]Menu\x1b]0;x\x07"),
        "http://a.test/4": html(text="recreational cycling along the fjord of harbours", title="Ride"),
    }
    made = rig(web)
    made.crawl("http://a.test/", with_archive=True)
    return made


def urls(results) -> list[str]:
    return [page.url.removeprefix("http://a.test/") for page in results.pages]


class TestFinding:
    def test_all_words_in_any_form_the_best_first(self, crawled):
        found = search(crawled.directory, "harbour fees")
        assert urls(found) == ["2", "1"]  # in the title it counts more
        assert found.has_all_words
        assert found.indexed == 5
        assert all(page.score > 0 for page in found.pages)

    def test_of_very_many_pages_those_found_first_are_ranked_and_it_says_so(self, crawled, monkeypatch):
        whole = search(crawled.directory, "harbour")
        assert urls(whole) == ["2", "1", "4"]
        assert urls(search(crawled.directory, "harbour", relevant=True)) == ["1", "4"]
        assert whole.has_ranked_all
        monkeypatch.setattr(search_index, "MOST_RANKED", 3)
        assert search(crawled.directory, "harbour") == whole
        monkeypatch.setattr(search_index, "MOST_RANKED", 2)
        found = search(crawled.directory, "harbour")
        assert urls(found) == ["2", "1"]
        assert not found.has_ranked_all
        assert urls(search(crawled.directory, "harbour", relevant=True)) == ["1"]
        assert search(crawled.directory, "cafe").has_ranked_all
        monkeypatch.setattr(search_index, "MOST_RANKED", 1)
        assert urls(search(crawled.directory, "harbour")) == ["1"]  # the first, not the best of all: that takes longer

    def test_a_phrase(self, crawled):
        assert urls(search(crawled.directory, '"harbour fee"')) == ["1"]

    def test_words_that_must_not_be_there(self, crawled):
        assert urls(search(crawled.directory, "harbour -crowns")) == ["2", "4"]
        assert urls(search(crawled.directory, 'harbour -"harbour fee" -fjord')) == ["2"]

    def test_accents_and_case_make_no_difference(self, crawled):
        assert urls(search(crawled.directory, "CAFE creme")) == ["3"]

    def test_pages_with_some_of_the_words_if_none_has_all(self, crawled):
        found = search(crawled.directory, "fjord crowns")
        assert not found.has_all_words
        assert set(urls(found)) == {"1", "4"}

    def test_nothing(self, crawled):
        found = search(crawled.directory, "volcano")
        assert found.pages == []
        assert found.has_all_words

    def test_relevant_pages_only_by_the_judgement_as_it_is_now(self, crawled):
        assert set(urls(search(crawled.directory, "harbours", relevant=True))) == {"1", "4"}
        crawled.store._db.execute("update judgements set is_relevant = 0, relevance = .01 where page_id in "
                                  "(select id from frontier where url like '%/4')")  # fmt: skip
        found = search(crawled.directory, "harbours", relevant=True)
        assert urls(found) == ["1"]
        assert found.pages[0].relevance > 0.1

    def test_limit(self, crawled):
        assert len(search(crawled.directory, "harbour", limit=2).pages) == 2
        with pytest.raises(InputError, match="limit is 0: it must be from 1"):
            search(crawled.directory, "harbour", limit=0)

    def test_duplicates_are_not_searched(self, rig, html):
        made = rig({
            "http://a.test/": html("http://a.test/1", "http://b.test/1", title="Start"),
            "http://a.test/1": html(text="a lighthouse on the skerry", title="Light"),
            "http://b.test/1": html(text="a lighthouse on the skerry", title="Light"),
        })  # fmt: skip
        made.crawl("http://a.test/", with_archive=True)
        assert len(search(made.directory, "lighthouse").pages) == 1

    def test_snippet_with_its_marks(self, crawled):
        (page,) = search(crawled.directory, '"fee is five"').pages
        marked = {page.snippet[start:end] for start, end in page.marks}
        assert marked == {"fee is five"}
        assert "\x02" not in page.snippet


class TestIndex:
    def test_only_new_pages_are_read(self, crawled, monkeypatch):
        search(crawled.directory, "harbour")
        monkeypatch.setattr(module.ArchivedPages, "at", lambda *_: pytest.fail("read again"))
        assert len(search(crawled.directory, "harbour").pages) == 3

    def test_it_grows_with_the_crawl(self, rig, html):
        made = rig({
            "http://a.test/": html("http://a.test/1", text="buoy"),
            "http://a.test/1": html(text="buoy again"),
        })  # fmt: skip
        made.crawl("http://a.test/", pages=1, with_archive=True)
        assert len(search(made.directory, "buoy").pages) == 1
        made.crawl(pages=2, with_archive=True)
        told = []
        assert len(search(made.directory, "buoy", progress=lambda *each: told.append(each)).pages) == 2
        assert told == [(0, 1), (1, 1)]

    def test_an_interrupted_index_goes_on(self, crawled, monkeypatch):
        monkeypatch.setattr(module, "BATCH", 2)
        read = module.ArchivedPages.at
        count = []

        def interrupted(self, *place):
            count.append(place)
            if len(count) == 4:
                raise KeyboardInterrupt
            return read(self, *place)

        monkeypatch.setattr(module.ArchivedPages, "at", interrupted)
        with pytest.raises(KeyboardInterrupt):
            search(crawled.directory, "harbour")
        assert urls(search(crawled.directory, "harbour")) == ["2", "1", "4"]
        assert len(count) == 7  # two of the three pages read first were indexed: one transaction

    def test_another_crawl_in_the_same_directory_gets_another_index(self, crawled, rig, html):
        search(crawled.directory, "harbour")
        crawled.store.close()
        for path in crawled.directory.glob("crawl.db*"):
            path.unlink()
        other = rig({"http://c.test/": html(text="harbour of another crawl")})
        other.clock._now += 5
        other.crawl("http://c.test/", with_archive=True)
        assert [page.url for page in search(other.directory, "harbour").pages] == ["http://c.test/"]

    def test_a_deleted_index_is_made_anew(self, crawled):
        search(crawled.directory, "harbour")
        (crawled.directory / "search.db").unlink()
        assert len(search(crawled.directory, "harbour").pages) == 3

    def test_two_who_index_at_once_add_each_page_once(self, crawled):
        search(crawled.directory, "harbour")
        run = crawled.store.first_run()
        name = f"{run.started_at!r} {run.pid}"
        with closing(SearchIndex(crawled.directory / "search.db", store=crawled.store, crawl=name)) as index:
            again = [module.IndexedPage(1, 1, "x", "http://x.test/", "harbour")]
            assert index.add(again) == 0
            assert index.count() == 5

    def test_a_page_that_is_damaged_is_found_by_its_title(self, crawled):
        (archive,) = (crawled.directory / "archive").glob("*.warc.gz")
        place = crawled.sql("select archive_offset from pages join frontier using (id) where url like '%/2'")[0][0]
        data = bytearray(archive.read_bytes())
        data[place : place + 40] = b"\0" * 40
        archive.write_bytes(data)
        found = search(crawled.directory, "harbour")
        assert found.damaged == 1
        assert "2" in urls(found)
        assert next(page for page in found.pages if page.url.endswith("2")).snippet == ""

    def test_without_fts5_it_says_so(self, crawled, monkeypatch):
        monkeypatch.setattr("lycosa.store.search_index._has_fts5", lambda _: False)
        with pytest.raises(StoreError, match="built without FTS5"):
            search(crawled.directory, "harbour")

    def test_a_file_that_is_no_database_is_named(self, crawled):
        (crawled.directory / "search.db").write_text("x" * 5000)
        with pytest.raises(StoreError, match=r"search\.db: damaged"):
            search(crawled.directory, "harbour")

    def test_crawl_db_cannot_be_reached_through_the_index(self, crawled):
        search(crawled.directory, "harbour")
        run = crawled.store.first_run()
        name = f"{run.started_at!r} {run.pid}"
        with closing(SearchIndex(crawled.directory / "search.db", store=crawled.store, crawl=name)) as index:
            index.find("harbour", limit=3)
            files = {Path(file).name for _, _, file in index._db.execute("pragma database_list") if file}
        assert files == {"search.db"}


class TestQuery:
    @pytest.mark.parametrize(
        ("text", "wanted", "unwanted"),
        [
            ("harbour fees", ("harbour", "fees"), ()),
            ('"harbour fees" -marina', ("harbour fees",), ("marina",)),
            ('"not closed', ("not closed",), ()),
            ('-"a b" c', ("c",), ("a b",)),
            ("a AND b OR NEAR(c)", ("a", "AND", "b", "OR", "NEAR(c)"), ()),
            ("title:x ^y *", ("title:x", "^y"), ()),
            ("twice twice", ("twice",), ()),
        ],
    )
    def test_parts(self, text, wanted, unwanted):
        assert SearchQuery.parse(text) == SearchQuery(wanted, unwanted)

    @pytest.mark.parametrize("text", ["", "   ", '""', "-x", "*** !!", "_"])
    def test_without_a_word_it_says_what_to_write(self, text):
        with pytest.raises(InputError, match="no word to look for"):
            SearchQuery.parse(text)

    @pytest.mark.parametrize("text", ["x" * 1001, " ".join(f"w{n}" for n in range(33))])
    def test_too_much_is_refused(self, text):
        with pytest.raises(InputError, match="at most"):
            SearchQuery.parse(text)

    @settings(max_examples=300, deadline=None)
    @given(st.text(alphabet=st.one_of(st.characters(), st.sampled_from("\"-*():^{}+ ANDORTN'\\;")), max_size=60))
    def test_nothing_a_person_types_is_an_error_of_the_database(self, text):
        try:
            query = SearchQuery.parse(text)
        except InputError:
            return
        with closing(sqlite3.connect(":memory:")) as db:
            db.execute("create virtual table t using fts5 (x)")
            for match in (query.all_words(), query.any_word()):
                db.execute("select * from t where t match ?", (match,)).fetchall()


class TestCommand:
    def test_it_prints_nothing_that_moves_a_cursor(self, crawled):
        shown = command("search", crawled.directory, "creme")
        assert shown.returncode == 0
        assert "\x1b" not in shown.stdout
        assert "\x07" not in shown.stdout
        assert "\u202e" not in shown.stdout
        assert "[bold]crème[/]" in shown.stdout  # as it stood on the page
        assert "[red]Menu" in shown.stdout

    def test_json(self, crawled):
        lines = command("search", crawled.directory, "harbour fee", "--json", "--limit", 1).stdout.splitlines()
        (page,) = map(json.loads, lines)
        assert page["url"] == "http://a.test/2"
        assert page["title"] == "Harbour"
        assert page["is_relevant"] is False
        assert page["has_all_words"] is True
        assert {page["snippet"][start:end] for start, end in page["marks"]} <= {"fees", "harbour", "Harbour"}

    def test_some_words(self, crawled):
        assert "has all of these words" in command("search", crawled.directory, "fjord crowns").stdout
        assert "none of 5 pages has these words" in command("search", crawled.directory, "volcano").stdout

    def test_where_no_crawl_is(self, tmp_path):
        failed = command("search", tmp_path, "x")
        assert failed.returncode == 2
        assert "no crawl here" in failed.stderr
