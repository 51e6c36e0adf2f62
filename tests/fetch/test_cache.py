"""Pages are downloaded once: across crawls, by crawls at the same time, and after a kill."""

import os
import signal
import sqlite3
import subprocess
import sys
import textwrap
from dataclasses import replace
from pathlib import Path

import pytest
from warcio.archiveiterator import ArchiveIterator

from lycosa.errors import InputError, StoreError
from lycosa.fetch.cache import PageCache, is_cacheable
from lycosa.model import Response

FIRST = "pages-00001.warc.gz"
SECOND = "pages-00002.warc.gz"


def page(
    url: str = "http://a.test/", *, status: int = 200, body: bytes = b"<p>wheel", ended: float = 1000.0
) -> Response:
    head = b"HTTP/1.1 %d X\r\nContent-Type: text/html\r\n" % status
    headers = (("content-type", "text/html"),)
    return Response(url, status, headers, body, head, b"GET / HTTP/1.1\r\n\r\n", "192.0.2.1", ended - 1, ended)


def bodies(path: Path) -> list[bytes]:
    """The records as warcio reads them, with their digests checked."""
    with path.open("rb") as file:
        records = ArchiveIterator(file, check_digests="raise")
        return [record.raw_stream.read() for record in records if record.rec_type == "response"]


def test_what_was_put_is_there_at_once_and_in_the_next_crawl(tmp_path: Path) -> None:
    with PageCache(tmp_path / "new" / "cache") as cache:
        assert cache.get("http://a.test/") is None
        assert cache.put(page()) is not None
        assert cache.get("http://a.test/") == page()
        cache.commit()
        assert cache.get("http://a.test/") == page()
    with PageCache(tmp_path / "new" / "cache") as cache:
        assert cache.get("http://a.test/") == page()
        assert cache.get("http://a.test/other") is None
        assert cache.unreadable == 0


def test_the_latest_answer_counts(tmp_path: Path) -> None:
    with PageCache(tmp_path) as cache:
        cache.put(page(body=b"old"))
        cache.commit()
        cache.put(page(body=b"newer"))
        cache.put(page(body=b"newest"))
        assert cache.get("http://a.test/") == page(body=b"newest")
    with PageCache(tmp_path) as cache:
        assert cache.get("http://a.test/") == page(body=b"newest")


@pytest.mark.parametrize(
    ("status", "kept"),
    [(200, True), (204, True), (301, True), (404, True), (410, True), (403, True)]
    + [(status, False) for status in (0, 100, 304, 408, 425, 429, 500, 503, 599)],
)
def test_which_answers_are_kept(tmp_path: Path, status: int, kept: bool) -> None:
    assert is_cacheable(status) is kept
    with PageCache(tmp_path) as cache:
        assert (cache.put(page(status=status)) is not None) is kept
        assert (cache.get("http://a.test/") is not None) is kept


def test_a_passing_failure_does_not_take_the_place_of_a_page(tmp_path: Path) -> None:
    with PageCache(tmp_path) as cache:
        cache.put(page())
        cache.put(page(status=503))
        assert cache.get("http://a.test/") == page()


def test_a_page_that_is_too_old_is_not_there(tmp_path: Path) -> None:
    now = [1000.0]
    with PageCache(tmp_path, max_age=60, clock=lambda: now[0]) as cache:
        cache.put(page(ended=1000.0))
        now[0] = 1060.0
        assert cache.get("http://a.test/") is not None
        now[0] = 1060.5
        assert cache.get("http://a.test/") is None
        cache.put(page(ended=1060.5, body=b"again"))
        assert cache.get("http://a.test/") == page(ended=1060.5, body=b"again")


@pytest.mark.parametrize(("chop", "serves"), [(0, False), (5, True), (10, True), (11, False)])
def test_a_chopped_page_serves_only_crawls_that_want_no_more(tmp_path: Path, chop: int, serves: bool) -> None:
    chopped = replace(page(body=b"0123456789"), is_chopped=True)
    with PageCache(tmp_path, chop=chop) as cache:
        cache.put(chopped)
        assert cache.get("http://a.test/") == (chopped if serves else None)
        cache.put(page(body=b"whole"))
        assert cache.get("http://a.test/") == page(body=b"whole")


def test_a_url_with_odd_characters_is_found_again(tmp_path: Path) -> None:
    url = "http://a.test/ü x"
    with PageCache(tmp_path) as cache:
        cache.put(page(url))
        cache.commit()
        found = cache.get(url)
        assert found is not None
        assert found.body == page().body


def test_two_crawls_use_it_at_the_same_time(tmp_path: Path) -> None:
    with PageCache(tmp_path) as one, PageCache(tmp_path) as two:
        one.put(page("http://a.test/1"))
        two.put(page("http://a.test/2"))
        assert two.get("http://a.test/1") is None
        one.commit()
        two.commit()
        assert two.get("http://a.test/1") == page("http://a.test/1")
        assert one.get("http://a.test/2") == page("http://a.test/2")
        one.put(page("http://a.test/3"))
    assert bodies(tmp_path / FIRST) == [page().body] * 2
    assert bodies(tmp_path / SECOND) == [page().body]


def test_opening_leaves_a_living_writers_file_alone(tmp_path: Path) -> None:
    with PageCache(tmp_path) as one:
        one.put(page("http://a.test/1"))
        one.commit()
        one.put(page("http://a.test/2"))
        assert one.get("http://a.test/2") is not None  # in the file, not committed
        with PageCache(tmp_path) as two:
            assert two.get("http://a.test/2") is None
            assert two.set_aside == []
        one.commit()
        assert one.get("http://a.test/2") == page("http://a.test/2")
    with PageCache(tmp_path) as three:
        assert three.get("http://a.test/2") == page("http://a.test/2")


def test_a_full_file_is_committed_before_it_is_left(tmp_path: Path) -> None:
    with PageCache(tmp_path, max_bytes=1000) as one:
        urls = [f"http://a.test/{n}" for n in range(6)]
        for url in urls:
            one.put(page(url))
        with PageCache(tmp_path) as two:
            committed = [url for url in urls if two.get(url)]
        assert len(list(tmp_path.glob("*.warc.gz"))) > 2
        assert urls[0] in committed
    with PageCache(tmp_path) as cache:
        assert [cache.get(url) for url in urls] == [page(url) for url in urls]


KILLED = """
    import os, signal, sys
    from pathlib import Path
    from lycosa.fetch.cache import PageCache
    from lycosa.model import Response

    def page(n):
        return Response(f"http://a.test/{n}", 200, (), b"<p>wheel", b"HTTP/1.1 200 X", b"", "", 1.0, 2.0)

    cache = PageCache(Path(sys.argv[1]))
    for n in range(3):
        cache.put(page(n))
    if sys.argv[2] == "commit":
        cache.commit()
    cache.put(page(3))
    cache._archive.flush()
    os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.parametrize("commit", ["commit", "none"])
def test_after_a_kill_what_was_committed_is_there_and_nothing_else(tmp_path: Path, commit: str) -> None:
    script = [sys.executable, "-c", textwrap.dedent(KILLED), str(tmp_path), commit]
    assert subprocess.run(script, timeout=60).returncode == -signal.SIGKILL
    with PageCache(tmp_path) as cache:
        found = [cache.get(f"http://a.test/{n}") is not None for n in range(4)]
        assert found == ([True, True, True, False] if commit == "commit" else [False] * 4)
        assert cache.unreadable == 0
        assert cache.set_aside == ([] if commit == "commit" else [f"{FIRST}.orphan-1"])
        cache.put(page("http://a.test/3"))
    expected = {FIRST: 3, SECOND: 1} if commit == "commit" else {FIRST: 1}
    assert {path.name: len(bodies(path)) for path in tmp_path.glob("*.warc.gz")} == expected


@pytest.fixture
def filled(tmp_path: Path) -> Path:
    with PageCache(tmp_path) as cache:
        for n in range(3):
            cache.put(page(f"http://a.test/{n}"))
    return tmp_path


def test_pages_whose_bytes_are_gone_are_fetched_again(filled: Path) -> None:
    size = (filled / FIRST).stat().st_size
    os.truncate(filled / FIRST, size - 10)
    for _ in range(2):
        with PageCache(filled) as cache:
            assert [cache.get(f"http://a.test/{n}") is not None for n in range(3)] == [True, True, False]
            assert cache.unreadable == 0


def test_a_file_that_was_deleted_is_forgotten(filled: Path) -> None:
    (filled / FIRST).unlink()
    with PageCache(filled) as cache:
        assert cache.get("http://a.test/0") is None
        assert cache.unreadable == 0
        cache.put(page("http://a.test/9"))
    with PageCache(filled) as cache:
        assert cache.get("http://a.test/9") is not None
        assert cache.get("http://a.test/0") is None


def test_a_spoilt_page_counts_as_not_there(filled: Path) -> None:
    with PageCache(filled) as cache:
        place = sqlite3.connect(filled / "index.db")
        (offset,) = place.execute("select offset from pages where url = 'http://a.test/1'").fetchone()
        place.close()
        with (filled / FIRST).open("r+b") as file:
            file.seek(offset + 20)
            file.write(b"\xff\xff\xff")
        assert cache.get("http://a.test/1") is None
        assert cache.unreadable == 1
        assert cache.get("http://a.test/2") == page("http://a.test/2")


def test_the_index_cannot_pass_one_page_off_as_another(filled: Path) -> None:
    with PageCache(filled) as cache:
        index = sqlite3.connect(filled / "index.db")
        index.execute("update pages set offset = (select offset from pages where url = 'http://a.test/0')")
        index.commit()
        index.close()
        assert cache.get("http://a.test/0") is not None
        assert cache.get("http://a.test/1") is None
        assert cache.unreadable == 1


def test_when_the_index_is_deleted_the_pages_are_set_aside(filled: Path) -> None:
    (filled / "index.db").unlink()
    with PageCache(filled) as cache:
        assert cache.set_aside == [f"{FIRST}.orphan-1"]
        assert cache.get("http://a.test/0") is None


def test_a_cache_that_cannot_be_used_says_why(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match=r"cannot use .*file/cache as page cache"):
        PageCache(tmp_path / "file" / "cache")
    (tmp_path / "index.db").write_bytes(b"not a database" * 100)
    with pytest.raises(StoreError, match=r"index\.db cannot be used: file is not a database"):
        PageCache(tmp_path)


def test_a_newer_cache_is_refused(filled: Path) -> None:
    index = sqlite3.connect(filled / "index.db")
    index.execute("pragma user_version = 99")
    index.close()
    with pytest.raises(StoreError, match="newer Lycosa"):
        PageCache(filled)
