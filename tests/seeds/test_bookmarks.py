from __future__ import annotations

import pytest

from lycosa.errors import SeedError
from lycosa.fetch.urls import parse_seed
from lycosa.seeds import bookmarks as module
from lycosa.seeds.bookmarks import BROWSER, NO_ADDRESS, NOT_A_URL, OTHER_SCHEME, REPEATED, SCRIPT, Form, read_bookmarks

HEAD = """<!DOCTYPE NETSCAPE-Bookmark-file-1>
<META HTTP-EQUIV="Content-Type" CONTENT="text/html; charset=UTF-8">
<TITLE>Bookmarks</TITLE><H1>Bookmarks Menu</H1>
"""
FIREFOX = (
    HEAD
    + """<DL><p>
    <DT><A HREF="https://top.test/" ADD_DATE="1" ICON="data:image/png;base64,AAAA//BB==">Top &amp; first</A>
    <DT><H3 ADD_DATE="1" PERSONAL_TOOLBAR_FOLDER="true">Toolbar</H3>
    <DL><p>
        <DT><H3>Räder / Cycling</H3>
        <DD>a description
        <DL><p>
            <DT><A HREF="http://cycle.test/a?x=1&amp;y=2">A  <b>bold</b>
               tour</A>
            <DT><A HREF="http://cycle.test/a?x=1&amp;y=2">again</A>
            <DT><A HREF="javascript:alert(1)">run</A>
            <HR>
        </DL><p>
        <DT><A HREF="place:sort=8">Most visited</A>
        <DT><A HREF="https://bar.test/">Bar</A>
    </DL><p>
    <DT><A HREF="ftp://old.test/">FTP</A>
    <DT><A>nothing</A>
    <DT><A HREF="https://">broken</A>
    <DT><A HREF="https://last.test/">Last</A>
</DL>
"""
)


@pytest.fixture
def read(tmp_path):
    def read_content(content: str | bytes):
        path = tmp_path / "bookmarks.html"
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return read_bookmarks(path, parse=parse_seed)

    return read_content


def urls(found) -> list[str]:
    return [entry.url for entry in found.entries]


class TestNetscape:
    def test_entries_with_titles_and_folders(self, read):
        found = read(FIREFOX)
        assert found.form is Form.NETSCAPE
        assert [tuple(entry) for entry in found.entries] == [
            ("https://top.test/", "Top & first", ()),
            ("http://cycle.test/a?x=1&y=2", "A bold tour", ("Toolbar", "Räder / Cycling")),
            ("https://bar.test/", "Bar", ("Toolbar",)),
            ("https://last.test/", "Last", ()),
        ]
        assert found.notes == ()

    def test_what_was_dropped_is_counted(self, read):
        dropped = read(FIREFOX).dropped
        assert dropped == {REPEATED: 1, SCRIPT: 1, BROWSER: 1, OTHER_SCHEME: 1, NO_ADDRESS: 1, NOT_A_URL: 1}

    def test_one_url_in_two_folders_is_kept_twice(self, read):
        link = '<DT><A HREF="http://a.test/">A</A>'
        found = read(f"<DL><DT><H3>x</H3><DL>{link}</DL><DT><H3>y</H3><DL>{link}</DL></DL>")
        assert [entry.folder for entry in found.entries] == [("x",), ("y",)]

    def test_a_file_that_was_cut_off(self, read):
        found = read(FIREFOX[: FIREFOX.index("again") - 20])
        assert urls(found) == ["https://top.test/", "http://cycle.test/a?x=1&y=2"]
        assert found.entries[1].folder == ("Toolbar", "Räder / Cycling")
        assert any("middle of a tag" in note for note in found.notes)
        assert any("3 folders are never closed" in note for note in found.notes)

    def test_titles_and_headings_that_are_never_closed(self, read):
        found = read("<DL><DT><H3>open<DL><DT><A HREF='http://a.test/'>one<DT><A HREF=http://b.test/>two</DL></DL>")
        assert [(entry.url, entry.title, entry.folder) for entry in found.entries] == [
            ("http://a.test/", "one", ("open",)),
            ("http://b.test/", "two", ("open",)),
        ]

    def test_too_many_closing_tags(self, read):
        found = read("<DL></DL></DL></DL><DL><DT><H3>f</H3><DL><DT><A HREF='http://a.test/'>a</A></DL></DL></DL>")
        assert found.entries == (("http://a.test/", "a", ("f",)),)

    def test_scripts_are_not_bookmarks(self, read):
        found = read("<DL><script>'<a href=\"http://no.test/\">'</script><DT><A HREF='http://a.test/'>a</A></DL>")
        assert urls(found) == ["http://a.test/"]

    def test_nesting_is_bounded(self, read):
        deep = "<DL><DT><H3>f</H3>" * 20_000
        found = read(
            f"<DL><DT><H3>f</H3>{deep}<DT><A HREF='http://a.test/'>a</A>{'</DL>' * 20_000}<DT><A HREF='http://b.test/'>b</A></DL>"
        )
        assert [len(entry.folder) for entry in found.entries] == [module.MAX_FOLDERS, 0]

    def test_the_number_of_entries_is_bounded(self, read, monkeypatch):
        monkeypatch.setattr(module, "MAX_ENTRIES", 2)
        found = read("".join(f"<A HREF='http://{name}.test/'>x</A>" for name in "abcd"))
        assert urls(found) == ["http://a.test/", "http://b.test/"]
        assert found.dropped == {module.TOO_MANY: 2}

    def test_bytes_that_are_no_utf_8(self, read):
        found = read(b"<DL><DT><A HREF='http://a.test/'>R\xfcgen</A></DL>")
        assert found.entries[0].title == "R\ufffdgen"
        assert found.notes == ("1 characters cannot be read as UTF-8",)

    def test_utf_16(self, read):
        assert urls(read(FIREFOX.encode("utf-16")))[0] == "https://top.test/"

    @pytest.mark.parametrize(
        "unit", ["<h3><dt>", "<a><h3>", "<dt><a><p>", "<a><a>", "<dl><h3>", "</dl></a>", "<script>"]
    )
    def test_nothing_else_nests(self, read, unit):
        found = read(f"<DL><DT><A HREF='http://a.test/'>a</A>{unit * 20_000}")
        assert urls(found) == ["http://a.test/"]

    @pytest.mark.parametrize("junk", ["<a href=" * 50_000, "<dl " + "x=1 " * 100_000, 'ICON="' * 50_000, "<" * 200_000])
    def test_junk_is_passed_over_in_linear_time(self, read, junk):
        assert urls(read(f"<DL><DT><A HREF='http://a.test/'>a</A>{junk}")) == ["http://a.test/"]


class TestListsAndText:
    def test_a_list_of_urls(self, read):
        found = read("# mine\nhttps://a.test/\n\nb.test/x  A title\nhttp://c.test/\tanother one\njavascript:void(0)\n")
        assert found.form is Form.LIST
        assert [(entry.url, entry.title) for entry in found.entries] == [
            ("https://a.test/", ""),
            ("https://b.test/x", "A title"),
            ("http://c.test/", "another one"),
        ]
        assert found.dropped == {SCRIPT: 1}
        assert found.text == ""

    def test_text_is_an_example_and_may_name_urls(self, read):
        found = read("Touring by bicycle in spring.\nSee (https://a.test/tour) and http://b.test/.\nThe end. OK.")
        assert found.form is Form.TEXT
        assert urls(found) == ["https://a.test/tour", "http://b.test/"]
        assert found.text.startswith("Touring by bicycle in spring. See")

    def test_text_is_bounded(self, read):
        found = read("word " * 100_000)
        assert len(found.text) <= module.MAX_TEXT
        assert "characters of the text were used" in found.notes[0]


class TestErrors:
    @pytest.mark.parametrize("content", [b"", b"   \n", b"# only a comment\n"])
    def test_nothing_in_it(self, read, content):
        with pytest.raises(SeedError, match="contains no bookmark that can be fetched; give bookmarks exported"):
            read(content)

    def test_nothing_that_can_be_fetched_says_what_there_was(self, read):
        with pytest.raises(SeedError, match=r"can be fetched \(2 script\)"):
            read("<DL><DT><A HREF='javascript:1'>a</A><DT><A HREF='javascript:2'>b</A></DL>")

    @pytest.mark.parametrize("content", [b"\x89PNG\x00\x00\x00\x01" * 50, bytes(range(128, 192)) * 10])
    def test_binary_files(self, read, content):
        with pytest.raises(SeedError, match="not a text file"):
            read(content)

    def test_a_browsers_backup(self, read):
        with pytest.raises(SeedError, match="JSON; export the bookmarks as HTML"):
            read('{"roots": {}, "version": 1}')

    def test_no_such_file(self, tmp_path):
        with pytest.raises(SeedError, match="there is no such file"):
            read_bookmarks(tmp_path / "none", parse=parse_seed)

    def test_a_directory(self, tmp_path):
        with pytest.raises(SeedError, match="cannot be read: Is a directory"):
            read_bookmarks(tmp_path, parse=parse_seed)
