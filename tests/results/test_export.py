"""What is exported can be read back by other tools, with the same values."""

from __future__ import annotations

import csv
import json

import duckdb
import pytest

from lycosa.errors import ArchiveError, InputError
from lycosa.results.archived_pages import ArchivedPages
from lycosa.results.export import COLUMNS, export
from lycosa.results.page_rows import FROM_ARCHIVE

A, B, C = (f"http://a.test/{name}" for name in ("", "b", "c"))
TEXT = 'Recreational cycling, “quiet” roads;\n\tüber, \'"comma", 東京. '


@pytest.fixture
def crawled(rig, html):
    crawl = rig(
        {
            A: html(f"{B} =cmd|' /C calc'!A0", f"{C} soup, with 'salt' rel=nofollow", text=TEXT * 3, title="=1+1"),
            B: html(A, text="Soup " * 20, title="@SUM(1)"),
            C: html(text="Soup " * 20),
        }
    )
    crawl.crawl(A, with_archive=True, follow_nofollow=True)
    return crawl


def write(crawl, name: str, *, with_text: bool = True):
    target = crawl.directory / name
    texts = ArchivedPages(crawl.directory / "archive", crawl.store, crawl.reading()) if with_text else None
    count = export(crawl.store, target, texts=texts)
    assert [path for path in crawl.directory.iterdir() if path.name.startswith(".")] == []
    return target, count


def rows_of(path) -> list[dict]:
    if path.suffix == ".jsonl":
        return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    if path.suffix == ".csv":
        with path.open(encoding="utf-8", newline="") as stream:
            return list(csv.DictReader(stream))
    result = duckdb.sql(f"select * from '{path}'")
    return [dict(zip(result.columns, row, strict=True)) for row in result.fetchall()]


class TestPages:
    def test_lines_of_json(self, crawled):
        path, count = write(crawled, "pages.jsonl")
        first, second, third = rows_of(path)
        assert count == 3
        assert list(first) == list(COLUMNS["pages"])
        assert (first["url"], first["title"], first["number"], first["distance"]) == (A, "=1+1", 1, 0)
        assert (first["is_relevant"], second["is_relevant"]) == (True, False)
        assert first["relevance"] > 0.3
        assert (second["duplicate_of"], third["duplicate_of"]) == (None, B)
        assert first["warc"].startswith("lycosa-00001.warc.gz:")

    def test_text_comes_out_of_the_archive(self, crawled):
        path, _ = write(crawled, "pages.jsonl")
        first, second, _ = rows_of(path)
        assert first["text"].startswith('Recreational cycling, “quiet” roads; über, \'"comma", 東京.')
        assert first["markdown"].startswith('Recreational cycling, “quiet” roads; über, \'"comma", 東京.')
        assert second["text"].startswith("Soup Soup")

    def test_without_text(self, crawled):
        path, _ = write(crawled, "pages.jsonl", with_text=False)
        assert list(rows_of(path)[0]) == [name for name in COLUMNS["pages"] if name not in FROM_ARCHIVE]

    def test_a_crawl_without_an_archive_has_no_text(self, rig, html):
        crawl = rig({A: html(text="words")})
        crawl.crawl(A)
        ((row),) = rows_of(write(crawl, "pages.jsonl")[0])
        assert (row["warc"], row["text"]) == ("", "")

    def test_a_damaged_record_costs_its_own_page_only(self, crawled):
        (file, offset) = crawled.sql("select archive_file, archive_offset from pages where number = 2")[0]
        path = crawled.directory / "archive" / file
        body = bytearray(path.read_bytes())
        body[offset + 20 : offset + 60] = bytes(40)
        path.write_bytes(body)
        target, count = write(crawled, "pages.jsonl")
        assert count == 3
        assert [bool(row["text"]) for row in rows_of(target)] == [True, False, True]

    def test_an_archive_that_is_gone_is_told(self, crawled):
        for path in (crawled.directory / "archive").iterdir():
            path.unlink()
        with pytest.raises(ArchiveError, match=r"lycosa-00001\.warc\.gz"):
            write(crawled, "pages.jsonl")
        assert not (crawled.directory / "pages.jsonl").exists()

    @pytest.mark.parametrize("form", ["csv", "parquet"])
    def test_all_formats_say_the_same(self, crawled, form):
        expected = rows_of(write(crawled, "pages.jsonl")[0])
        found = rows_of(write(crawled, f"pages.{form}")[0])
        assert len(found) == len(expected) == 3
        for row, wanted in zip(found, expected, strict=True):
            assert list(row) == list(wanted)
            for name, value in wanted.items():
                if form == "parquet":
                    assert row[name] == value
                elif name not in ("title", "relevance", "fetched_at"):
                    assert row[name] == ("" if value is None else str(value))


class TestLinksAndSites:
    def test_links(self, crawled):
        path, count = write(crawled, "links.jsonl")
        assert count == 3
        assert rows_of(path) == [
            {"source": A, "target": B, "position": 0, "anchor": "=cmd|' /C calc'!A0", "rel": ""},
            {"source": A, "target": C, "position": 1, "anchor": "soup, with 'salt'", "rel": "nofollow"},
            {"source": B, "target": A, "position": 0, "anchor": "link", "rel": ""},
        ]
        assert rows_of(write(crawled, "links.parquet")[0]) == rows_of(path)

    def test_sites(self, crawled):
        path, count = write(crawled, "sites.parquet")
        assert count == 1
        ((row),) = rows_of(path)
        assert row == {
            "name": "a.test",
            "pages": 3,
            "relevant": 1,
            "failed": 0,
            "links": 3,
            "set_aside": "",
            "density": pytest.approx(1 / 3),
        }


class TestCsv:
    def test_no_cell_begins_like_a_formula(self, crawled):
        titles = [row["title"] for row in rows_of(write(crawled, "pages.csv")[0])]
        assert titles == ["'=1+1", "'@SUM(1)", ""]
        anchors = [row["anchor"] for row in rows_of(write(crawled, "links.csv")[0])]
        assert anchors[0] == "'=cmd|' /C calc'!A0"

    @pytest.mark.parametrize("sign", ["=", "+", "-", "@"])
    def test_every_sign_that_spreadsheets_run(self, rig, html, sign):
        crawl = rig({A: html(title=f"{sign}1+1")})
        crawl.crawl(A)
        ((row),) = rows_of(write(crawl, "pages.csv")[0])
        assert row["title"] == f"'{sign}1+1"


class TestNothing:
    @pytest.mark.parametrize("form", ["jsonl", "csv", "parquet"])
    @pytest.mark.parametrize("kind", COLUMNS)
    def test_an_empty_crawl_exports_no_rows(self, rig, kind, form):
        crawl = rig({})
        path, count = write(crawl, f"{kind}.{form}")
        assert (count, rows_of(path)) == (0, [])
        if form == "csv":
            assert path.read_text().strip().split(",") == list(COLUMNS[kind])

    def test_types_do_not_depend_on_what_was_found(self, rig, html):
        crawl = rig({A: html(title="2024-01-01", text="12")})
        crawl.crawl(A, with_archive=True)
        path, _ = write(crawl, "pages.parquet")
        types = {name: kind.lower() for name, kind, *_ in duckdb.sql(f"describe select * from '{path}'").fetchall()}
        assert types == COLUMNS["pages"]
        ((row),) = rows_of(path)
        assert (row["title"], row["text"]) == ("2024-01-01", "12")


class TestTargets:
    @pytest.mark.parametrize(
        "name", ["pages.txt", "links", "links.wacz", "page.jsonl", "pages.json", "x.csv", "sites.csv.gz", ".csv"]
    )
    def test_a_name_that_says_nothing(self, crawled, name):
        with pytest.raises(
            InputError, match=rf"{name}: cannot tell what to export; name the file pages, links or sites"
        ):
            write(crawled, name)

    def test_a_name_may_say_more(self, crawled):
        assert write(crawled, "my-cycling-links.csv")[1] == 3

    @pytest.mark.parametrize("form", ["jsonl", "csv", "parquet"])
    def test_a_place_that_cannot_be_written(self, crawled, form):
        (crawled.directory / "file").touch()
        with pytest.raises(InputError, match=rf"links\.{form}: cannot be written: Not a directory"):
            write(crawled, f"file/links.{form}")
        with pytest.raises(InputError, match=r"cannot be written: No such file or directory"):
            write(crawled, f"nowhere/links.{form}")

    def test_a_directory_of_that_name_is_left_alone(self, crawled):
        (crawled.directory / "links.csv").mkdir()
        with pytest.raises(InputError, match="cannot be written"):
            write(crawled, "links.csv")
        assert (crawled.directory / "links.csv").is_dir()

    def test_an_older_export_is_replaced_whole_or_not_at_all(self, crawled):
        target = crawled.directory / "pages.jsonl"
        target.write_text("older")
        for path in (crawled.directory / "archive").iterdir():
            path.unlink()
        with pytest.raises(ArchiveError):
            write(crawled, "pages.jsonl")
        assert target.read_text() == "older"
        assert write(crawled, "pages.jsonl", with_text=False)[1] == 3
        assert target.read_text() != "older"

    def test_quotes_in_the_path_are_no_trouble(self, crawled):
        (crawled.directory / "o'clock").mkdir()
        target, count = write(crawled, "o'clock/links.parquet")
        assert count == 3
        assert target.exists()
