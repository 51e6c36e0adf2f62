from __future__ import annotations

import pytest

from lycosa.errors import SeedError
from lycosa.fetch.urls import parse_seed
from lycosa.seeds.files import read_seeds


@pytest.fixture
def write(tmp_path):
    def write_bytes(content: bytes):
        path = tmp_path / "seeds.txt"
        path.write_bytes(content)
        return path

    return write_bytes


class TestGood:
    def test_a_url_a_line(self, write):
        path = write(b"https://a.test/\nhttp://b.test/x?y=1\n")
        assert read_seeds(path, parse=parse_seed) == ["https://a.test/", "http://b.test/x?y=1"]

    def test_blank_lines_and_comments_are_passed_over(self, write):
        path = write(b"# my seeds\n\n   \n  https://a.test/  \n\t# more\nb.test/#part\n")
        assert read_seeds(path, parse=parse_seed) == ["https://a.test/", "https://b.test/#part"]

    @pytest.mark.parametrize("content", [b"\xef\xbb\xbfhttps://a.test/", b"https://a.test/\r\n", b"https://a.test/\r"])
    def test_files_of_other_systems(self, write, content):
        assert read_seeds(write(content), parse=parse_seed) == ["https://a.test/"]

    def test_the_order_is_kept(self, write):
        lines = [f"https://{name}.test/" for name in "cab"]
        assert read_seeds(write("\n".join(lines).encode()), parse=parse_seed) == lines


class TestBad:
    def test_no_such_file(self, tmp_path):
        with pytest.raises(SeedError, match=r"nowhere: there is no such seeds file; give a text file"):
            read_seeds(tmp_path / "nowhere", parse=parse_seed)

    @pytest.mark.parametrize("content", [b"\x89PNG\r\n\x1a\n\x00\xff\xfe", "https://a.test/ü".encode("latin-1")])
    def test_not_text(self, write, content):
        with pytest.raises(SeedError, match=r"seeds\.txt: cannot be read as text: .*; give a UTF-8 file") as caught:
            read_seeds(write(content), parse=parse_seed)
        assert "\n" not in str(caught.value)

    def test_a_directory(self, tmp_path):
        with pytest.raises(SeedError, match="cannot be read as text"):
            read_seeds(tmp_path, parse=parse_seed)

    def test_a_bad_line_is_named(self, write):
        path = write(b"https://a.test/\n# fine\nftp://b.test/\n")
        with pytest.raises(SeedError, match=r"seeds\.txt, line 3: seed 'ftp://b\.test/': scheme 'ftp' is not http"):
            read_seeds(path, parse=parse_seed)

    @pytest.mark.parametrize("content", [b"", b"\n\n", b"# nothing but a comment\n"])
    def test_nothing_in_it(self, write, content):
        with pytest.raises(SeedError, match=r"contains no URL: .*; write one on each line"):
            read_seeds(write(content), parse=parse_seed)

    @pytest.mark.parametrize(
        "content", [b"https://a.test/ https://b.test/", b"a word", b"https://", b"https://u:p@a.test/"]
    )
    def test_lines_that_are_no_url(self, write, content):
        with pytest.raises(SeedError, match="line 1: seed"):
            read_seeds(write(content), parse=parse_seed)

    def test_a_binary_file_that_is_valid_utf_8(self, write):
        with pytest.raises(SeedError, match="line 1: seed"):
            read_seeds(write(b"\x00\x01\x02\x03" * 100), parse=parse_seed)
