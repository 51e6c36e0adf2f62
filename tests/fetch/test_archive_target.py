"""Finished files of an archive go elsewhere, and what was read from them is read from there."""

from __future__ import annotations

import json
import os
import uuid
from contextlib import closing
from pathlib import Path

import pytest

from lycosa.engine import Crawl
from lycosa.errors import ArchiveAway, ArchiveError, ConfigError
from lycosa.fetch import archive_target
from lycosa.fetch.archive import Archive, recover
from lycosa.fetch.archive_places import MOVED, MovedFile, open_archived
from lycosa.fetch.archive_target import ArchiveTarget, HandingOver, target_url
from lycosa.fetch.warc_reader import Location, read
from lycosa.model import Fetched, Kind, Lease, Outcome, Response
from lycosa.opened import opened
from lycosa.results.archived_pages import ArchivedPages
from lycosa.results.check import check_archive, repair
from lycosa.results.export import export
from lycosa.store.opening import open_store
from lycosa.workspace import Workspace

fsspec = pytest.importorskip("fsspec", reason="fsspec is not installed: pip install 'lycosa[archive]'")


@pytest.fixture(scope="module")
def s3():
    """A server of our own that speaks S3."""
    pytest.importorskip("s3fs", reason="s3fs is not installed: pip install 'lycosa[s3]'")
    moto = pytest.importorskip("moto.server", reason="moto is not installed: pip install 'moto[server]'")
    server = moto.ThreadedMotoServer(port=0)
    server.start()
    host, port = server.get_host_and_port()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AWS_ACCESS_KEY_ID", "test")
        patch.setenv("AWS_SECRET_ACCESS_KEY", "test")
        patch.setenv("AWS_ENDPOINT_URL", f"http://{'127.0.0.1' if host == '0.0.0.0' else host}:{port}")
        patch.setenv("AWS_DEFAULT_REGION", "us-east-1")
        files = fsspec.filesystem("s3", skip_instance_cache=True)
        files.mkdir("archives")
        yield "s3://archives"
    server.stop()


@pytest.fixture(params=["directory", "file", "memory", "s3"])
def target(request, tmp_path) -> str:
    match request.param:
        case "directory":
            return target_url(str(tmp_path / "there"))
        case "file":
            return (tmp_path / "there").as_uri()
        case "memory":
            return f"memory://{uuid.uuid4().hex}"
        case _:
            return f"{request.getfixturevalue('s3')}/{uuid.uuid4().hex}"


def response(number: int, size: int = 2_000) -> Response:
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/html"
    headers = (("content-type", "text/html"),)
    return Response(f"http://a.test/{number}", 200, headers, os.urandom(size), head=head, started=1.7e9, ended=1.7e9)


def filled(directory: Path, count: int = 6) -> tuple[Archive, list[tuple[Response, Location]]]:
    """Two pages in each file."""
    archive = Archive(directory, max_bytes=3_000)
    return archive, [(each, archive.append(each)) for each in map(response, range(count))]


def test_files_are_read_wherever_they_are(target, tmp_path):
    archive, kept = filled(tmp_path / "here")
    committed = archive.position()
    place = ArchiveTarget(tmp_path / "here", target)
    files = place.finished(committed.file)
    assert [path.name for path in files] == ["lycosa-00001.warc.gz", "lycosa-00002.warc.gz"]
    bytes_before = [path.read_bytes() for path in files]
    for path in files:
        place.take(path)
    assert not any(path.exists() for path in files)
    for each, location in kept:
        found = read(tmp_path / "here", location)
        assert (found.url, found.body) == (each.url, each.body)
        assert read(tmp_path / "here", location._replace(length=0)).body == each.body
    for path, before in zip(files, bytes_before, strict=True):
        with open_archived(path) as there:
            assert there.read() == before
    archive.close()
    assert recover(tmp_path / "here", committed).missing == 0
    again = Archive(tmp_path / "here", max_bytes=3_000, committed=committed)
    with again:
        assert again.append(response(99)).file == "lycosa-00004.warc.gz"
    place.take(place.finished(again.position().file, inclusive=True)[0])
    assert recover(tmp_path / "here", committed).missing == 0  # the last committed one is elsewhere, not lost


def test_of_a_large_file_only_what_is_read_is_fetched(s3, tmp_path):
    with Archive(tmp_path / "here") as archive:
        kept = [(each, archive.append(each)) for each in (response(number, 700_000) for number in range(5))]
        last = archive.position().file
    place = ArchiveTarget(tmp_path / "here", f"{s3}/large")
    place.take(place.finished(last, inclusive=True)[0])
    each, location = kept[3]
    assert read(tmp_path / "here", location).body == each.body
    with open_archived(tmp_path / "here" / location.file) as file:
        file.seek(location.offset)
        assert len(file.read(1_000)) == 1_000
        assert 0 < file._file.cache.total_requested_bytes < 600_000 < location.offset


def test_what_was_interrupted_is_done_again(tmp_path, monkeypatch):
    archive, kept = filled(tmp_path / "here", 4)
    place = ArchiveTarget(tmp_path / "here", target_url(str(tmp_path / "there")))
    (path,) = place.finished(archive.position().file)
    put = place._files.put_file

    def half(local: str, remote: str) -> None:
        put(local, remote)
        there = Path(remote)
        there.write_bytes(there.read_bytes()[:100])
        raise ConnectionResetError("the line went dead")

    monkeypatch.setattr(place._files, "put_file", half)
    with pytest.raises(ArchiveError, match="the line went dead"):
        place.take(path)
    assert path.exists()
    monkeypatch.setattr(place._files, "put_file", lambda _local, remote: Path(remote).write_bytes(b"something else"))
    with pytest.raises(ArchiveError, match="is not what was written there"):
        place.take(path)
    assert path.exists()
    assert MovedFile.of(path) is None
    monkeypatch.undo()
    whole = path.read_bytes()
    place.take(path)
    path.write_bytes(whole)  # killed before the local file was removed
    ArchiveTarget(tmp_path / "here", place.url).take(path)
    assert not path.exists()
    assert read(tmp_path / "here", kept[0][1]).body == kept[0][0].body
    archive.close()


def test_two_crawls_do_not_share_a_place(tmp_path):
    for name in ("one", "two"):
        archive, _ = filled(tmp_path / name, 4)
        archive.close()
    place = target_url(str(tmp_path / "there"))
    ArchiveTarget(tmp_path / "one", place).take(tmp_path / "one" / "lycosa-00001.warc.gz")
    with pytest.raises(ArchiveError, match="another crawl"):
        ArchiveTarget(tmp_path / "two", place).take(tmp_path / "two" / "lycosa-00001.warc.gz")
    assert (tmp_path / "two" / "lycosa-00001.warc.gz").exists()


def test_a_place_that_cannot_be_reached_is_told_once_and_tried_again(tmp_path, monkeypatch):
    monkeypatch.setattr(archive_target, "RETRY_AFTER", 0.01)
    archive, _ = filled(tmp_path / "here")
    place = ArchiveTarget(tmp_path / "here", target_url(str(tmp_path / "there")))
    tries: list[str] = []
    put = place._files.put_file

    def refused(local: str, remote: str) -> None:
        tries.append(remote)
        if len(tries) < 4:
            raise ConnectionRefusedError("nobody listens")
        put(local, remote)

    monkeypatch.setattr(place._files, "put_file", refused)
    over = HandingOver(place)
    over.committed(archive.position().file)
    assert over._thread is not None
    while len(tries) < 5:  # both files
        over._thread.join(0.01)
    archive.close()
    assert over.finish(archive.position().file) == []
    news = over.take_news()
    assert len(news) == 2
    assert "nobody listens; the file stays here" in news[0]
    assert "takes files over again" in news[1]
    assert not list((tmp_path / "here").glob("*.warc.gz"))


def test_a_target_that_nothing_knows_is_an_error_in_words(tmp_path):
    with pytest.raises(ConfigError, match="gopher"):
        ArchiveTarget(tmp_path, "gopher://a.test/x")


class Site:
    """Each page links to the next."""

    async def fetch(self, lease: Lease) -> Fetched:
        number = int(lease.url.rpartition("/")[2])
        text = f"<title>bicycle {number}</title><p>cycling word{number} touring</p><a href='/{number + 1}'>next</a>"
        head = b"HTTP/1.1 200 OK\r\nContent-Type: text/html"
        page = Response(lease.url, 200, (("content-type", "text/html"),), text.encode(), head=head, ended=1.7e9)
        return Fetched(lease, Outcome(Kind.FETCHED, "http 200", status=200), page, is_contact=True, ended=1.7e9)


def crawled(directory: Path, target: str, pages: int) -> None:
    Crawl(
        "cycling",
        seeds=["http://a.test/1"],
        directory=directory,
        strategy="best-first",
        fetcher=Site(),
        politeness={"delay": 0.0, "fetch_time_factor": 0.0},
        budget={"pages": pages},
        readers={"count": 1},
        archive={"target": target, "max_bytes": 3_000},
    ).run()


def test_a_crawl_whose_archive_is_elsewhere(tmp_path):
    """Gone on with, read, searched through, exported and checked; and not robbed of pages while it is out of reach."""
    home, there = tmp_path / "crawl", tmp_path / "there"
    crawled(home, str(there), 8)
    crawled(home, str(there), 12)
    archive = home / "archive"
    assert not list(archive.glob("*.warc.gz"))
    assert len(list(there.glob("*.warc.gz"))) == len(list(archive.glob(f"*{MOVED}"))) >= 3
    with opened(home) as (workspace, _, store):
        assert list(check_archive(workspace, store)) == []
        texts = ArchivedPages.of_text(workspace.archive, store)
        assert export(store, tmp_path / "pages.jsonl", texts=texts) == 12
        assert export(store, tmp_path / "corpus.wacz", texts=texts) == 12
    lines = [json.loads(line) for line in (tmp_path / "pages.jsonl").read_text().splitlines()]
    assert all(f"word{line['number']}" in line["text"] for line in lines)
    there.rename(tmp_path / "away")
    with pytest.raises(ArchiveAway):
        repair(Workspace(home))
    (tmp_path / "away").rename(there)
    with closing(open_store(Workspace(home), read_only=True)) as store:
        assert len(list(store.archived_urls())) == 12
