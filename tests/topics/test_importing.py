from __future__ import annotations

import gzip
import json

import pytest

from lycosa.errors import InputError
from lycosa.judges.taxonomy_file import from_toml
from lycosa.lib.text import term_counts
from lycosa.model import Page
from lycosa.topics import importing
from lycosa.topics.importing import (
    Failure,
    Skips,
    fetched_pages,
    folder_examples,
    json_examples,
    label_examples,
    taxonomy_examples,
    urls_to_fetch,
)

HTML = "<html><head><title>A tour</title></head><body><p>bicycles <a href='/x'>and tandems</a></body></html>"


@pytest.fixture
def skips():
    return Skips()


def write(root, files):
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return root


class TestFolders:
    def test_sub_folders_are_topics(self, tmp_path, skips):
        write(
            tmp_path,
            {
                "Recreation/Cycling/tour.html": HTML,
                "Recreation/sails.TXT": "masts\n\nand   sails",
                "Business/note.md": "\n# Stocks\n\nbonds",
            },
        )
        found = list(folder_examples(tmp_path, skips))
        assert [(one.topics, one.page.title, one.page.text) for one in found] == [
            (("Business",), "Stocks", "# Stocks bonds"),
            (("Recreation",), "", "masts and sails"),
            (("Recreation/Cycling",), "A tour", "bicycles and tandems"),
        ]
        assert found[2].page.url == str(tmp_path / "Recreation/Cycling/tour.html")
        assert not found[2].page.links
        assert not skips.counts

    def test_skipped_files_are_counted_by_reason(self, tmp_path, skips, monkeypatch):
        write(
            tmp_path,
            {
                "README.txt": "about",
                "a/picture.png": b"\x89PNG",
                "a/program.txt": b"MZ\0\0\0\0",
                "a/large.txt": "x" * 101,
                "a/.hidden.txt": "x",
                ".git/x.txt": "x",
                " b/x.txt": "x",
                "a/fine.txt": "fine words",
            },
        )
        (tmp_path / "a" / "gone.txt").symlink_to(tmp_path / "nowhere")
        (tmp_path / "a" / "folder.txt").symlink_to(tmp_path / "a")
        monkeypatch.setattr(importing, "MAX_BYTES", 100)
        found = list(folder_examples(tmp_path, skips))
        assert [one.page.text for one in found] == ["fine words"]
        assert skips.counts == {
            "not in a topic's folder": 1,
            "neither HTML nor text": 1,
            "binary": 1,
            "too large": 1,
            "folder name cannot be a topic": 1,
            "no such file": 1,
        }
        assert (str(tmp_path / "README.txt"), "not in a topic's folder") in skips.first

    def test_not_a_folder(self, tmp_path, skips):
        with pytest.raises(InputError, match="not a folder; give one whose subfolders are topics"):
            list(folder_examples(tmp_path / "none", skips))

    def test_as_many_as_allowed(self, tmp_path, skips, monkeypatch):
        monkeypatch.setattr(importing, "MAX_EXAMPLES", 3)
        write(tmp_path, {f"a/{number}.txt": f"word{number}" for number in range(5)})
        assert len(list(folder_examples(tmp_path, skips))) == 3


class TestTaxonomies:
    TOML = """
    [topics."Cycling"]
    examples = ["tour.html", "http://a.test/1", "http://a.test/2", "none.txt"]
    [topics."Travel"]
    examples = ["http://a.test/1", "../travel.txt"]
    """

    @pytest.fixture
    def taxonomy(self):
        return from_toml(self.TOML)

    def test_files_and_urls(self, tmp_path, skips, taxonomy):
        write(tmp_path, {"book/tour.html": HTML, "travel.txt": "trains"})
        asked = []

        def fetch(urls):
            asked.extend(urls)
            yield Page(url="http://elsewhere.test/", text="one", terms={"one": 1})
            yield Failure("http://a.test/2", "http 404")

        found = list(taxonomy_examples(taxonomy, tmp_path / "book", skips, fetch=fetch))
        assert asked == ["http://a.test/1", "http://a.test/2"] == list(urls_to_fetch(taxonomy))
        assert [(one.page.text, one.topics) for one in found] == [
            ("bicycles and tandems", ("Cycling",)),
            ("trains", ("Travel",)),
            ("one", ("Cycling", "Travel")),
        ]
        assert found[2].page.url == "http://a.test/1"
        assert skips.counts == {"no such file": 1, "http 404": 1}

    def test_without_a_fetcher(self, tmp_path, skips, taxonomy):
        assert list(taxonomy_examples(taxonomy, tmp_path, skips)) == []
        assert skips.counts["to be fetched"] == 2

    def test_a_fetcher_that_gives_up(self, skips):
        pages = fetched_pages(["http://a.test/", "http://b.test/"], skips, fetch=lambda urls: [Page(url=urls[0])])
        assert [page.url for page in pages] == ["http://a.test/"]
        assert skips.first == [("http://b.test/", "no answer")]


class TestLabels:
    def test_rows_of_one_url_are_one_example(self, tmp_path, skips):
        labels = tmp_path / "labels.tsv"
        labels.write_text("url\ttopic\nhttp://a.test/\tA/B\nhttp://b.test/\tC\nhttp://a.test/\tC\nhttp://a.test/\tC\n")
        pages = {"http://a.test/": Page(url="", terms={"x": 1})}
        found = list(label_examples(labels, pages.get, skips))
        assert [(one.page.url, one.topics) for one in found] == [("http://a.test/", ("A/B", "C"))]
        assert skips.first == [("http://b.test/", "no such page")]

    def test_bad_rows_are_counted(self, tmp_path, skips):
        labels = tmp_path / "labels.tsv"
        labels.write_text("url\ttopic\r\nhttp://a.test/\r\n\r\nhttp://b.test/\tA//B\r\nhttp://c.test/\tA\r\n")
        found = list(label_examples(labels, lambda url: Page(url=url), skips))
        assert [one.topics for one in found] == [("A",)]
        assert skips.first == [
            ("labels.tsv, line 2", "not a URL and a topic"),
            ("labels.tsv, line 4", "not a valid topic name"),
        ]

    def test_another_kind_of_file(self, tmp_path, skips):
        (tmp_path / "x").write_text("a,b\n")
        with pytest.raises(InputError, match="its first line is 'a,b'; it must be 'url', a tab, 'topic'"):
            list(label_examples(tmp_path / "x", lambda _: None, skips))


class TestJsonLines:
    ROWS = (
        {"id": "1", "labels": ["rec.autos"], "split": "train", "title": "Cars", "body": "the  engine\nof cars"},
        {"id": "2", "labels": ["a", "b", "a"], "split": "test", "title": "", "body": "x ray"},
        {"id": "3", "labels": [], "split": "train", "title": "t", "body": "b"},
        {"id": "4", "labels": "a", "title": "t", "body": "b"},
        ["no object"],
    )

    @pytest.fixture
    def path(self, tmp_path):
        path = tmp_path / "texts.jsonl.gz"
        path.write_bytes(gzip.compress("\n".join([*map(json.dumps, self.ROWS), "{not", ""]).encode()))
        return path

    def test_rows(self, path, skips):
        found = list(json_examples(path, skips, topic_of=lambda label: label.replace(".", "/")))
        assert [(one.page.url, one.topics) for one in found] == [("1", ("rec/autos",)), ("2", ("a", "b"))]
        assert (found[0].page.title, found[0].page.text) == ("Cars", "the engine of cars")
        assert found[0].page.terms == term_counts("Cars the engine of cars")
        assert skips.counts == {"no label": 1, "not an object with labels, title and body": 2, "not JSON": 1}

    def test_splits(self, path, skips):
        assert [one.page.url for one in json_examples(path, skips, splits={"test"})] == ["2"]
        assert skips.counts["another split"] == 2

    def test_a_file_cut_off(self, path, skips):
        path.write_bytes(path.read_bytes()[:-20])
        with pytest.raises(InputError, match="damaged or truncated"):
            list(json_examples(path, skips))

    def test_deeply_nested_json(self, tmp_path, skips):
        path = tmp_path / "x.jsonl"
        path.write_text("[" * 200_000 + "\n")
        assert list(json_examples(path, skips)) == []
        assert skips.counts == {"not JSON": 1}

    def test_lines_without_end(self, path, skips, monkeypatch):
        monkeypatch.setattr(importing, "MAX_LINE", 50)
        with pytest.raises(InputError, match="line 1: longer than 50 characters"):
            list(json_examples(path, skips))

    def test_no_such_file(self, tmp_path, skips):
        with pytest.raises(InputError, match="there is no such file"):
            list(json_examples(tmp_path / "none", skips))
