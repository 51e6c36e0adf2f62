"""A corpus as other tools take it: clean text, clusters, Markdown files, web archives."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import re
from pathlib import Path
from zipfile import ZIP_STORED, ZipFile

import duckdb
import pandas
import pytest
from hypothesis import given
from hypothesis import strategies as st
from warcio.archiveiterator import ArchiveIterator as Records

from lycosa.errors import InputError
from lycosa.results.archived_pages import ArchivedPages
from lycosa.results.export import export
from lycosa.results.markdown_folder import MAX_NAME, file_name, front_matter
from lycosa.results.page_rows import PAGE_COLUMNS, Selection
from lycosa.results.wacz import surt

START = "http://a.test/"
PROSE = "Recreational cycling on quiet roads is a pleasure that costs little and keeps people in good health. "
LONG = PROSE + " ".join(f"word{number}" for number in range(150))
MENU = "<ul><li><a href=/one>One</a><li><a href=/two>Two</a></ul>"
HEAD = """<html lang=en><head><title>{title}</title><meta name=author content='A: "quoted" # author'>
    <meta property=article:published_time content=2024-01-31><link rel=license href=/licence></head>"""


def document(title: str, text: str, links: str = "") -> str:
    return f"{HEAD.format(title=title)}<body>{MENU}<h1>{title}</h1><p>{text}</p><pre>{title}\n  b</pre>{links}"


@pytest.fixture
def crawled(rig):
    names = ("one", "two", "copy", "../up", "Case", "case", "q?x=1&y=/etc/passwd", "")
    links = "".join(f'<p>to <a href="/{name}">page {name}</a></p>' for name in names)
    web = {START: document("Start", PROSE + "Here it begins.", links)}
    for number, name in enumerate(names[:-1]):
        url = f"{START}{name.removeprefix('../')}"
        text = LONG if name in ("one", "copy") else " ".join(f"w{number}x{n}" for n in range(40))
        web[url] = document(name, text)
    crawl = rig(web)
    crawl.crawl(START, with_archive=True)
    return crawl


def write(crawl, name: str, wanted: Selection = Selection()) -> tuple[Path, int]:  # noqa: B008
    target = crawl.directory / name
    texts = ArchivedPages.of_text(crawl.directory / "archive", crawl.store)
    count = export(crawl.store, target, texts=texts, wanted=wanted)
    assert [path for path in crawl.directory.iterdir() if path.name.startswith(".")] == []
    return target, count


def lines(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


class TestRows:
    def test_text_is_clean_and_has_lines(self, crawled):
        row = next(row for row in lines(write(crawled, "corpus.jsonl")[0]) if row["url"].endswith("/one"))
        assert row["text"] == f"one\n\n{LONG}\n\none\n  b"
        assert row["markdown"] == f"# one\n\n{LONG}\n\n```\none\n  b\n```"

    def test_what_pages_say_of_themselves(self, crawled):
        row = lines(write(crawled, "corpus.jsonl")[0])[0]
        assert (row["author"], row["published"], row["licence"]) == (
            'A: "quoted" # author',
            "2024-01-31",
            "http://a.test/licence",
        )

    def test_near_duplicates_are_one_cluster(self, crawled):
        rows = {row["url"]: row for row in lines(write(crawled, "corpus.jsonl")[0])}
        assert rows[f"{START}copy"]["cluster"] == rows[f"{START}one"]["cluster"] == f"{START}one"
        assert rows[f"{START}two"]["cluster"] == f"{START}two"

    def test_distinct_takes_the_first_of_each(self, crawled):
        every, few = (
            lines(write(crawled, "corpus.jsonl")[0]),
            lines(write(crawled, "corpus.jsonl", Selection(is_distinct=True))[0]),
        )
        assert {row["url"] for row in every} - {row["url"] for row in few} == {f"{START}copy"}

    def test_distinct_needs_texts(self, crawled):
        with pytest.raises(InputError, match=r"pages\.jsonl: near-duplicates are found .* leave out --no-text"):
            export(crawled.store, crawled.directory / "pages.jsonl", texts=None, wanted=Selection(is_distinct=True))

    def test_duckdb_and_pandas_read_the_same(self, crawled):
        as_lines, as_parquet = write(crawled, "corpus.jsonl")[0], write(crawled, "corpus.parquet")[0]
        expected = lines(as_lines)
        for path in (as_lines, as_parquet):
            result = duckdb.sql(f"select * from '{path}' order by number")
            assert result.columns == list(PAGE_COLUMNS)
            assert [row[result.columns.index("markdown")] for row in result.fetchall()] == [
                row["markdown"] for row in expected
            ]
        frame = pandas.read_json(as_lines, lines=True)
        assert list(frame.columns) == list(PAGE_COLUMNS)
        assert list(frame["text"]) == [row["text"] for row in expected]
        assert "\n" in frame["text"][0]

    def test_the_columns_are_documented(self):
        told = (Path(__file__).parents[2] / "docs" / "corpus.md").read_text(encoding="utf-8")
        assert [name for name in PAGE_COLUMNS if f"`{name}`" not in told] == []


class TestFolder:
    def test_one_file_a_page(self, crawled):
        folder, count = write(crawled, "corpus")
        files = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*.md"))
        assert len(files) == count == 8
        assert all(re.fullmatch(r"a\.test/[\w.-]+-[0-9a-f]{12}\.md", file) for file in files)
        index = lines(folder / "index.jsonl")
        assert sorted(line["file"] for line in index) == files
        assert json.loads((folder / "corpus.json").read_text())["pages"] == count

    def test_front_matter_then_markdown(self, crawled):
        folder, _ = write(crawled, "corpus")
        file = next(line["file"] for line in lines(folder / "index.jsonl") if line["url"].endswith("/one"))
        empty, head, body = (folder / file).read_text(encoding="utf-8").split("---\n", 2)
        values = dict(line.split(": ", 1) for line in head.splitlines())
        assert empty == ""
        assert json.loads(values["author"]) == 'A: "quoted" # author'
        assert json.loads(values["url"]) == f"{START}one"
        assert json.loads(values["fetched_at"]).startswith("2023-11-14T22:13:")
        assert body.startswith("\n# one\n\nRecreational")

    def test_an_older_folder_is_replaced_as_a_whole(self, crawled):
        folder, _ = write(crawled, "corpus")
        (folder / "a.test" / "stale.md").write_text("old")
        write(crawled, "corpus", Selection(is_distinct=True))
        assert not (folder / "a.test" / "stale.md").exists()
        assert len(lines(folder / "index.jsonl")) == 7

    def test_a_folder_of_somebody_else_is_left_alone(self, crawled):
        folder = crawled.directory / "corpus"
        folder.mkdir()
        (folder / "thesis.md").write_text("years of work")
        with pytest.raises(InputError, match="is no folder of a former export"):
            write(crawled, "corpus")
        assert (folder / "thesis.md").read_text() == "years of work"

    def test_an_interrupted_export_leaves_nothing_behind(self, crawled):
        folder, _ = write(crawled, "corpus")
        before = sorted(folder.rglob("*"))

        def interrupt(count: int) -> None:
            if count == 3:
                raise KeyboardInterrupt

        texts = ArchivedPages.of_text(crawled.directory / "archive", crawled.store)
        for name in ("corpus", "corpus.jsonl", "corpus.wacz", "corpus.parquet", "corpus.csv"):
            with pytest.raises(KeyboardInterrupt):
                export(crawled.store, crawled.directory / name, texts=texts, watch=interrupt)
        assert sorted(folder.rglob("*")) == before
        assert [path.name for path in crawled.directory.iterdir() if path.name.startswith((".", "corpus"))] == [
            "corpus"
        ]


class TestFileNames:
    @pytest.mark.parametrize(
        ("url", "expected"),
        [
            ("http://a.test/", "a.test/index-"),
            ("https://En.Wikipedia.org/wiki/Wolf_spider", "en.wikipedia.org/wiki-Wolf_spider-"),
            ("http://a.test:8080/x.html", "a.test_8080/x-"),
            ("http://a.test/../../etc/passwd", "a.test/etc-passwd-"),
            ("http://a.test/%2e%2e%2f%2e%2e/x", "a.test/x-"),
            ("http://a.test/a?b=c/d", "a.test/a-b-c-d-"),
            ("http://a.test/東京", "a.test/index-"),
            ("http://a.test/con", "a.test/con-"),
            ("http://[::1]/x", "1/x-"),
        ],
    )
    def test_names(self, url, expected):
        assert re.fullmatch(re.escape(expected) + r"[0-9a-f]{12}\.md", file_name(url))

    @given(st.text(max_size=300), st.text(max_size=50))
    def test_no_url_leads_out_of_the_folder(self, path, host):
        try:
            name = file_name(f"http://{host}/{path}")
        except ValueError:
            return  # not a URL at all
        assert re.fullmatch(r"[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*\.md", name, re.ASCII)
        assert ".." not in name.split("/")
        assert max(map(len, name.split("/"))) < MAX_NAME + 20

    def test_case_and_queries_make_other_names(self):
        urls = ["http://a.test/A", "http://a.test/a", "http://a.test/a/", "http://a.test/a?", "http://a.test/a.html"]
        assert len({file_name(url).lower() for url in urls}) == len(urls)

    @pytest.mark.parametrize("text", ["---\nevil: yes", '"', "\\", "x: y", "# c", "a\u2028b", "\x1b[0m", "!!python/x"])
    def test_no_value_breaks_out_of_the_front_matter(self, text):
        written = front_matter({"url": "http://a.test/", "title": text})
        assert written.count("\n") == 4
        assert len(written.splitlines()) == 4
        title = written.splitlines()[2]
        assert json.loads(title.removeprefix("title: ")) == text.replace("\u2028", "").replace("\x1b", "")


class TestWacz:
    def test_sizes_and_hashes(self, crawled):
        path, count = write(crawled, "corpus.wacz")
        with ZipFile(path) as container:
            assert container.testzip() is None
            package = json.loads(container.read("datapackage.json"))
            digest = json.loads(container.read("datapackage-digest.json"))
            assert digest["hash"] == "sha256:" + hashlib.sha256(container.read("datapackage.json")).hexdigest()
            assert (package["profile"], package["wacz_version"]) == ("data-package", "1.1.1")
            for resource in package["resources"]:
                data = container.read(resource["path"])
                assert resource["bytes"] == len(data)
                assert resource["hash"] == "sha256:" + hashlib.sha256(data).hexdigest()
            assert container.getinfo("archive/data.warc.gz").compress_type == ZIP_STORED
            head, *pages = map(json.loads, container.read("pages/pages.jsonl").decode().splitlines())
        assert head["format"] == "json-pages-1.0"
        assert count == len(pages) == 8
        assert pages[0]["url"] == START
        assert pages[0]["text"].startswith("Start\n\nRecreational")

    def test_the_directory_says_where_data_has_something_before_it(self, crawled):
        """As ReplayWeb.page reads it: it looks at the head of an entry only if the directory has extra fields."""
        path, _ = write(crawled, "corpus.wacz")
        with ZipFile(path) as container, path.open("rb") as stream:
            for entry in container.infolist():
                stream.seek(entry.header_offset + 28)
                assert entry.extra or int.from_bytes(stream.read(2), "little") == 0, entry.filename

    def test_the_index_leads_to_the_records(self, crawled):
        path, _ = write(crawled, "corpus.wacz")
        with ZipFile(path) as container:
            data = container.read("archive/data.warc.gz")
            index = container.read("indexes/index.cdx").decode().splitlines()
        assert index == sorted(index)
        for line in index:
            key, moment, values = line.split(" ", 2)
            entry = json.loads(values)
            record = next(iter(Records(io.BytesIO(data[int(entry["offset"]) :]))))
            assert record.rec_type == "response"
            assert record.rec_headers["WARC-Target-URI"] == entry["url"]
            assert record.rec_headers["WARC-Payload-Digest"] == entry["digest"]
            assert record.http_headers.get_statuscode() == entry["status"] == "200"
            assert (key, len(moment), entry["mime"]) == (surt(entry["url"]), 14, "text/html")
            gzip.decompress(data[int(entry["offset"]) :][: int(entry["length"])])
        kinds = [record.rec_type for record in Records(io.BytesIO(data))]
        assert kinds[0] == "warcinfo"
        assert kinds.count("response") == 8

    def test_only_what_is_wanted_is_in_it(self, crawled):
        path, count = write(crawled, "corpus.wacz", Selection(is_relevant=True, is_distinct=True))
        relevant = {page.url for page in crawled.store.pages() if page.is_relevant} - {f"{START}copy"}
        with ZipFile(path) as container:
            index = container.read("indexes/index.cdx").decode().splitlines()
        assert {json.loads(line.split(" ", 2)[2])["url"] for line in index} == relevant
        assert 0 < count == len(relevant) < 8

    def test_an_index_of_the_archive_itself(self, crawled):
        path, count = write(crawled, "corpus.cdxj")
        assert count == 8
        for line in path.read_text(encoding="utf-8").splitlines():
            entry = json.loads(line.split(" ", 2)[2])
            with (crawled.directory / "archive" / entry["filename"]).open("rb") as stream:
                stream.seek(int(entry["offset"]))
                assert next(iter(Records(stream))).rec_headers["WARC-Target-URI"] == entry["url"]

    def test_without_an_archive_there_is_none(self, rig, html):
        crawl = rig({START: html(text="words")})
        crawl.crawl(START)
        with pytest.raises(InputError, match="there is no page in the archive"):
            write(crawl, "corpus.wacz")
        assert not (crawl.directory / "corpus.wacz").exists()

    def test_the_wacz_tool_finds_it_valid(self, crawled):
        validate = pytest.importorskip("wacz.validate", reason="pip install wacz, with its forty dependencies")
        path, _ = write(crawled, "corpus.wacz")
        checks = validate.Validation(str(path))
        assert checks.version == "1.1.1"
        for check in ("check_required_contents", "check_datapackage", "check_compression", "check_indexes"):
            result = getattr(checks, check, lambda: True)()
            assert result is not False

    @pytest.mark.parametrize(
        ("url", "key"),
        [
            ("http://www.Example.org/Path/?b=2&a=1", "org,example)/path?a=1&b=2"),
            ("https://example.org:443/", "org,example)/"),
            ("http://example.org:8080/a b", "org,example:8080)/a%20b"),
            ("http://127.0.0.1/x", "1,0,0,127)/x"),
        ],
    )
    def test_keys(self, url, key):
        assert surt(url) == key
