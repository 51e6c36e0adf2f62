"""What is stored can be read back, also by other tools, and a kill at any byte leaves a valid archive."""

import gzip
import io
import os
import random
import tempfile
import zlib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from fastwarc.warc import ArchiveIterator as FastIterator
from fastwarc.warc import WarcRecordType
from hypothesis import given, settings
from hypothesis import strategies as st
from warcio.archiveiterator import ArchiveIterator as WarcioIterator

from lycosa.errors import ArchiveError
from lycosa.fetch import warc_writer
from lycosa.fetch.archive import Archive, Position, Recovery, recover
from lycosa.fetch.warc_reader import Damage, Location, iterate, read
from lycosa.fetch.warc_writer import encode_records
from lycosa.model import Response

REQUEST = b"GET /wheels HTTP/1.1\r\nHost: cycling.test\r\nUser-Agent: Lycosa/0.1\r\n\r\n"


@pytest.fixture(autouse=True, scope="module")
def synced() -> Iterator[list[int]]:
    """Record syncs instead of making them: disks are slow and not under test."""
    calls: list[int] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", calls.append)
        yield calls


def response_of(
    head: bytes,
    body: bytes = b"",
    *,
    url: str = "http://cycling.test/wheels",
    request: bytes = REQUEST,
    is_chopped: bool = False,
) -> Response:
    """A response as the fetcher makes it: names in lower case, values stripped."""
    status, *lines = head.removesuffix(b"\r\n").split(b"\r\n")
    headers = []
    for line in lines:
        name, _, value = line.partition(b":")
        headers.append((name.strip().lower().decode("latin-1"), value.strip().decode("latin-1")))
    return Response(
        url=url,
        status=int(status.split()[1]),
        headers=tuple(headers),
        body=body,
        head=head,
        request=request,
        address="192.0.2.7",
        started=1_700_000_000.25,
        ended=1_700_000_001.123456,
        is_chopped=is_chopped,
    )


PAGE = response_of(
    b"HTTP/1.1 200 OK\r\nServer: x\r\nContent-Type: text/html\r\nContent-Length: 13\r\nSet-Cookie: a=1\r\n"
    b"Set-Cookie: b=2\r\n",
    b"<p>wheels</p>",
)


def warcio_records(data: bytes) -> list[tuple[str, dict[str, str], list[tuple[str, str]], bytes]]:
    found = []
    for record in WarcioIterator(io.BytesIO(data), check_digests="raise"):
        http = list(record.http_headers.headers) if record.http_headers else []
        body = record.raw_stream.read()
        assert record.digest_checker.passed is not False
        found.append((record.rec_type, dict(record.rec_headers.headers), http, body))
    return found


def fastwarc_bodies(data: bytes) -> list[tuple[WarcRecordType, bytes]]:
    """fastwarc skips records without a valid block digest; payload digests are checked here."""
    found = []
    for record in FastIterator(io.BytesIO(data), verify_digests=True):
        if record.record_type == WarcRecordType.response:
            assert record.verify_payload_digest()
        found.append((record.record_type, record.reader.read()))
    return found


def archived(directory: Path, response: Response) -> Response:
    with Archive(directory) as archive:
        location = archive.append(response)
    return read(directory, location)


# One record


def test_both_readers_read_what_is_written(tmp_path: Path) -> None:
    info = {"robots": "obey", "operator": "Ada\r\nWARC-Type: forged", "http-header-user-agent": "Lycosa"}
    with Archive(tmp_path, crawl_info=info, software="Lycosa/9") as archive:
        archive.append(PAGE)
    data = (tmp_path / "lycosa-00001.warc.gz").read_bytes()

    head, response, request = warcio_records(data)
    assert head[0] == "warcinfo"
    assert head[1]["WARC-Filename"] == "lycosa-00001.warc.gz"
    assert b"software: Lycosa/9\r\n" in head[3]
    assert b"operator: Ada WARC-Type: forged\r\n" in head[3]
    assert response[0] == "response"
    assert response[1]["WARC-Target-URI"] == PAGE.url
    assert response[1]["WARC-Date"] == "2023-11-14T22:13:20.250000Z"
    assert response[1]["WARC-IP-Address"] == "192.0.2.7"
    assert response[1]["Content-Type"] == "application/http;msgtype=response"
    assert "WARC-Truncated" not in response[1]
    assert [(name.lower(), value) for name, value in response[2]] == list(PAGE.headers)
    assert response[3] == PAGE.body
    assert request[0] == "request"
    assert request[1]["WARC-Concurrent-To"] == response[1]["WARC-Record-ID"]
    assert ("Host", "cycling.test") in request[2]

    kinds = [WarcRecordType.warcinfo, WarcRecordType.response, WarcRecordType.request]
    assert [kind for kind, _ in fastwarc_bodies(data)] == kinds
    assert fastwarc_bodies(data)[1][1] == PAGE.body


def test_each_record_is_a_gzip_member_of_its_own() -> None:
    data, members = encode_records(PAGE), 0
    while data:
        inflate = zlib.decompressobj(31)
        assert inflate.decompress(data).startswith(b"WARC/1.1\r\n")
        assert inflate.eof
        data, members = inflate.unused_data, members + 1
    assert members == 2


def test_record_ids_are_random_uuids_of_version_4() -> None:
    ids = {record[1]["WARC-Record-ID"] for _ in range(50) for record in warcio_records(encode_records(PAGE))}
    assert len(ids) == 100
    for record_id in ids:
        assert record_id.startswith("<urn:uuid:")
        assert record_id[24] == "4"
        assert record_id[29] in "89ab"


def test_a_response_comes_back_whole(tmp_path: Path) -> None:
    assert archived(tmp_path, PAGE) == PAGE


def test_without_a_request_there_is_no_request_record(tmp_path: Path) -> None:
    page = replace(PAGE, request=b"")
    assert [kind for kind, *_ in warcio_records(encode_records(page))] == ["response"]
    assert archived(tmp_path, page) == page


def test_a_chopped_page_is_marked(tmp_path: Path) -> None:
    page = response_of(b"HTTP/1.1 200 OK\r\nContent-Length: 99999\r\n", b"x" * 100, is_chopped=True)
    [(_, fields, http, _), _] = warcio_records(encode_records(page))
    assert fields["WARC-Truncated"] == "length"
    assert ("Content-Length", "100") in http
    assert ("X-Archive-Orig-Content-Length", "99999") in http
    assert archived(tmp_path, page) == page


def test_the_transfer_encoding_that_libcurl_took_off_is_renamed(tmp_path: Path) -> None:
    page = response_of(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nA: b\r\n", b"no chunks here")
    [(_, _, http, body), _] = warcio_records(encode_records(page))
    assert http == [
        ("X-Archive-Orig-Transfer-Encoding", "chunked"),
        ("A", "b"),
        ("Content-Length", "14"),
    ]
    assert body == page.body
    record = next(iter(FastIterator(io.BytesIO(encode_records(page)), auto_decode="all")))
    assert record.reader.read() == page.body
    assert archived(tmp_path, page) == page


def test_a_server_cannot_forge_the_renamed_headers(tmp_path: Path) -> None:
    head = b"HTTP/1.1 200 OK\r\nx-archive-orig-content-length: 7\r\nX-Archive-Orig-Content-Encoding: gzip\r\n"
    head += b"X-Lycosa-Added: Content-Length\r\nContent-Length: 2\r\n"
    page = response_of(head, b"ok")
    assert archived(tmp_path, page) == page


@pytest.mark.parametrize(("version", "protocol"), [(b"HTTP/2", "h2"), (b"HTTP/3", "h3")])
def test_newer_protocols_are_written_as_http_1_1(tmp_path: Path, version: bytes, protocol: str) -> None:
    request = b"GET / " + version + b"\r\nHost: a.test\r\n\r\n"
    page = response_of(version + b" 200 \r\ncontent-type: text/html\r\n", b"x", request=request)
    first, second = warcio_records(encode_records(page))
    assert first[1]["WARC-Protocol"] == protocol
    assert gzip.decompress(encode_records(page)).count(version) == 0
    assert second[3] == b""
    assert archived(tmp_path, page) == page


@pytest.mark.parametrize(
    "head",
    [
        b"HTTP/1.1 204 No Content\r\n",
        b"HTTP/1.1 304 Not Modified\r\nContent-Length: 500\r\n",
        b"HTTP/1.0 404 Not Found\r\n",
        b"HTTP/1.1 301\r\nLocation: /x\r\n",
        b"HTTP/2 200\r\n",
    ],
)
def test_answers_without_a_body(tmp_path: Path, head: bytes) -> None:
    page = response_of(head)
    assert warcio_records(encode_records(page))[0][3] == b""
    assert fastwarc_bodies(encode_records(page))[0][1] == b""
    assert archived(tmp_path, page) == page


@pytest.mark.parametrize(
    "head",
    [
        b"HTTP/1.1 200 OK\nA: b\nC: d\n",  # bare line feeds
        b"HTTP/1.1 200 OK\r\n\r\nA: b\r\n \r\n\xa0\r\n\xe2\x80\x83\r\nC: d\r\n\r\n",  # lines that look empty
        b"HTTP/1.1 200 OK\r\nA: b\r\nC: d",  # no end of line
    ],
)
def test_a_crooked_head_is_straightened_so_that_every_reader_finds_its_end(tmp_path: Path, head: bytes) -> None:
    page = replace(PAGE, head=head, body=b"\r\nbody", headers=(("a", "b"), ("c", "d")))
    data = encode_records(page)
    assert warcio_records(data)[0][2:] == ([("A", "b"), ("C", "d"), ("Content-Length", "6")], b"\r\nbody")
    assert fastwarc_bodies(data)[0][1] == b"\r\nbody"
    assert archived(tmp_path, page) == replace(page, head=b"HTTP/1.1 200 OK\r\nA: b\r\nC: d\r\n")


def test_a_head_that_is_missing_or_no_head_is_made_up(tmp_path: Path) -> None:
    headers = (("content-type", "text/html"), ("x-name", "caf\xe9\r\nx-forged: 1"))
    for head in (b"", b"ICY 200 OK\r\n"):
        back = archived(tmp_path, replace(PAGE, head=head, headers=headers))
        assert back.status == 200
        assert back.body == PAGE.body
        assert back.head.startswith(b"HTTP/1.1 200 \r\n")
    made = archived(tmp_path, replace(PAGE, head=b"", headers=headers))
    assert made.headers == (("content-type", "text/html"), ("x-name", "caf\xe9  x-forged: 1"))


def test_a_url_cannot_break_out_of_its_line() -> None:
    page = replace(PAGE, url="http://a.test/\r\nWARC-Type: resource\r\n x\x00é")
    fields = warcio_records(encode_records(page))[0][1]
    assert fields["WARC-Target-URI"] == "http://a.test/%0D%0AWARC-Type:%20resource%0D%0A%20x%00%C3%A9"


def test_an_address_that_is_none_is_left_out() -> None:
    fields = warcio_records(encode_records(replace(PAGE, address="x\r\nEvil: 1")))[0][1]
    assert "WARC-IP-Address" not in fields
    assert "Evil" not in fields


def test_an_encoded_body_is_stored_as_it_came(tmp_path: Path) -> None:
    body = gzip.compress(bytes(random.Random(1).randbytes(5000)))
    page = response_of(b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n", body)
    assert archived(tmp_path, page) == page
    assert body in encode_records(page)


def test_zlib_serves_where_isal_is_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(warc_writer, "isal_zlib", None)
    page = response_of(b"HTTP/1.1 200 OK\r\n", b"<p>wheel</p>" * 1000)
    assert archived(tmp_path, page) == page
    assert len(encode_records(page)) < len(page.body) / 5


def test_a_level_is_obeyed(tmp_path: Path) -> None:
    page = response_of(b"HTTP/1.1 200 OK\r\n", b"".join(b"<li>%d" % n for n in range(5000)))
    assert len(encode_records(page, level=9)) < len(encode_records(page, level=1)) < len(encode_records(page, level=0))


TOKEN = st.text("abcdefghijklmnopqrstuvwxyz-ABC0123456789", min_size=1, max_size=20).map(str.encode)
NAMES = TOKEN | st.sampled_from([b"Content-Length", b"transfer-encoding", b"Content-Encoding", b"Content-Type"])
VALUES = st.binary(max_size=60).map(lambda v: v.replace(b"\n", b"").replace(b"\r", b"").strip())
VERSIONS = st.sampled_from([b"HTTP/1.0", b"HTTP/1.1", b"HTTP/2", b"HTTP/3"])
REASONS = st.sampled_from([b"", b" ", b" OK", b" \xfc\x00 odd"])
FRAGMENTS = [
    b"HTTP/1.1 200 OK",
    b"HTTP/2 200",
    b"HTTP/0 000",
    b"\r\n",
    b"\n",
    b"\r",
    b" ",
    b"\t",
    b":",
    b"A: b",
    b"\x00",
    b"\xff",
]
FRAGMENTS += [
    b"Content-Length: 3",
    b"Transfer-Encoding: chunked",
    b"X-Archive-Orig-Content-Length: 3",
    b"\x0b",
    b"\x85",
]


@st.composite
def responses(draw: st.DrawFn) -> Response:
    line = draw(VERSIONS) + b" %d" % draw(st.integers(200, 599)) + draw(REASONS)
    pairs = draw(st.lists(st.tuples(NAMES, VALUES), max_size=8))
    head = b"".join([line + b"\r\n", *(b"%s: %s\r\n" % pair for pair in pairs)])
    body = draw(st.binary(max_size=300) | st.sampled_from([b"", b"\r\n\r\n", b"\n\nWARC/1.1\r\n", b"\x00" * 3000]))
    page = response_of(head, body, is_chopped=draw(st.booleans()))
    return replace(page, started=draw(st.integers(0, 2**51)) / 1e6, ended=draw(st.integers(1, 2**51)) / 1e6)


@settings(max_examples=100, deadline=None)
@given(pages=st.lists(responses(), min_size=1, max_size=3))
def test_any_head_and_body_come_back_and_pass_both_readers(pages: list[Response]) -> None:
    with tempfile.TemporaryDirectory() as name:
        with Archive(Path(name)) as archive:
            places = [archive.append(page) for page in pages]
        assert [read(Path(name), place) for place in places] == pages
        path = Path(name) / "lycosa-00001.warc.gz"
        assert list(iterate(path)) == [replace(page, request=b"") for page in pages]
        data = path.read_bytes()
    bodies = [page.body for page in pages]
    assert [body for kind, _, _, body in warcio_records(data) if kind == "response"] == bodies
    assert [body for kind, body in fastwarc_bodies(data) if kind == WarcRecordType.response] == bodies


@settings(max_examples=120, deadline=None)
@given(
    head=st.binary(max_size=80) | st.lists(st.sampled_from(FRAGMENTS), max_size=12).map(b"".join),
    body=st.sampled_from([b"", b"abc", b"\r\n\r\n", b"\nabc", b"WARC/1.1\r\n\r\n"]),
)
def test_not_even_a_head_of_rubbish_moves_the_body(head: bytes, body: bytes) -> None:
    page = replace(PAGE, head=head, body=body)
    data = encode_records(page)
    assert [record[3] for record in warcio_records(data)] == [body, b""]
    assert [found for _, found in fastwarc_bodies(data)] == [body, b""]
    with tempfile.TemporaryDirectory() as name:
        back = archived(Path(name), page)
        assert back.body == body
        assert archived(Path(name), back) == back


# Files


def test_a_new_file_begins_when_the_current_one_is_full(tmp_path: Path) -> None:
    pages = [replace(PAGE, url=f"http://a.test/{n}") for n in range(7)]
    with Archive(tmp_path, max_bytes=1500) as archive:
        places = [archive.append(page) for page in pages]
    names = sorted(path.name for path in tmp_path.iterdir())
    assert len(names) > 2
    assert names == [f"lycosa-{n:05d}.warc.gz" for n in range(1, len(names) + 1)]
    assert [place.file for place in places] == sorted(place.file for place in places)
    assert [read(tmp_path, place) for place in places] == pages
    for name in names:
        records = warcio_records((tmp_path / name).read_bytes())
        assert records[0][0] == "warcinfo"
        assert records[0][1]["WARC-Filename"] == name
        assert (tmp_path / name).stat().st_size < 1500 + 2 * len(encode_records(PAGE))


def test_each_run_begins_a_file_of_its_own(tmp_path: Path) -> None:
    with Archive(tmp_path) as archive:
        first = archive.append(PAGE)
        end = archive.position()
    with Archive(tmp_path, committed=end) as archive:
        assert archive.position() == end
        assert len(list(tmp_path.iterdir())) == 1
        second = archive.append(PAGE)
    assert (first.file, second.file) == ("lycosa-00001.warc.gz", "lycosa-00002.warc.gz")


def test_a_place_that_was_committed_is_never_given_again(tmp_path: Path) -> None:
    with Archive(tmp_path) as archive:
        archive.append(PAGE)
        end = archive.position()
    (tmp_path / end.file).unlink()
    with Archive(tmp_path, committed=end) as archive:
        assert archive.append(PAGE).file == "lycosa-00002.warc.gz"


def test_the_position_is_in_the_file(tmp_path: Path) -> None:
    archive = Archive(tmp_path)
    assert archive.position() == Position("", 0)
    place = archive.append(PAGE)
    end = archive.position()
    assert end == Position(place.file, place.offset + place.length)
    assert (tmp_path / end.file).stat().st_size == end.offset
    assert read(tmp_path, place) == PAGE
    archive.close()
    assert Archive(tmp_path).position() == end


def test_sync_reaches_the_disk_and_so_does_a_file_that_is_left(tmp_path: Path, synced: list[int]) -> None:
    before = list(synced)
    archive = Archive(tmp_path, max_bytes=100)
    archive.sync()
    assert synced == before
    place = archive.append(PAGE)
    archive.sync()
    assert len(synced) == len(before) + 2  # the file, and the directory for its name
    assert (tmp_path / place.file).stat().st_size == archive.position().offset
    archive.sync()
    assert len(synced) == len(before) + 3
    archive.append(PAGE)  # leaves the first file
    archive.close()
    assert len(synced) == len(before) + 6


def test_a_record_encoded_elsewhere_is_appended(tmp_path: Path) -> None:
    with Archive(tmp_path) as archive:
        place = archive.append_encoded(encode_records(PAGE))
    assert read(tmp_path, place) == PAGE


def test_what_a_full_disk_refused_is_written_later_in_its_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    archive = Archive(tmp_path)
    places = [archive.append(PAGE)]
    real = os.pwrite
    room = [100]

    def pwrite(file: int, data: bytearray, offset: int) -> int:
        if not room[0]:
            raise OSError(28, "No space left on device")
        written = real(file, bytes(data[: room[0]]), offset)
        room[0] -= written
        return written

    monkeypatch.setattr(os, "pwrite", pwrite)
    with pytest.raises(ArchiveError, match=r"lycosa-00001\.warc\.gz: No space left on device"):
        archive.flush()
    with pytest.raises(ArchiveError, match="No space left"):
        archive.close()
    places.append(archive.append(PAGE))
    monkeypatch.setattr(os, "pwrite", real)
    archive.close()
    assert [read(tmp_path, place) for place in places] == [PAGE, PAGE]
    assert len(warcio_records((tmp_path / places[0].file).read_bytes())) == 5


def test_a_directory_that_cannot_be_used_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ArchiveError, match="file/archive"):
        Archive(tmp_path / "file" / "archive")


@pytest.mark.parametrize("name", ["../x.warc.gz", "/etc/passwd", "a/b", "", ".", "..", "x\x00y", "a\n"])
def test_read_refuses_names_that_lead_elsewhere(tmp_path: Path, name: str) -> None:
    with pytest.raises(ArchiveError, match="not a location"):
        read(tmp_path, Location(name, 0, 10))


def test_read_says_what_is_wrong(tmp_path: Path) -> None:
    with Archive(tmp_path) as archive:
        place = archive.append_encoded(encoded := encode_records(PAGE))
    inflate = zlib.decompressobj(31)
    inflate.decompress(encoded)
    response = len(encoded) - len(inflate.unused_data)
    wrong = {
        place._replace(file="lycosa-00009.warc.gz"): "No such file",
        place._replace(offset=0): "has no response at byte 0",
        place._replace(offset=place.offset + response, length=0): "has no response",
        place._replace(offset=place.offset + 1): "damaged",
        place._replace(length=response - 40): "damaged",
        place._replace(offset=10**6): "ends there",
        place._replace(length=-1): "not a location",
    }
    for case, words in wrong.items():
        with pytest.raises(ArchiveError, match=words):
            read(tmp_path, case)


def test_file_and_offset_are_enough(tmp_path: Path) -> None:
    other = replace(PAGE, url="http://a.test/other", request=b"")
    with Archive(tmp_path) as archive:
        places = [archive.append(page) for page in (PAGE, other, PAGE)]
    found = [read(tmp_path, place._replace(length=0)) for place in places]
    assert found == [PAGE, other, PAGE]


def test_a_response_is_read_even_if_its_request_is_torn(tmp_path: Path) -> None:
    with Archive(tmp_path) as archive:
        place = archive.append(PAGE)
    os.truncate(tmp_path / place.file, place.offset + place.length - 40)
    assert read(tmp_path, place) == replace(PAGE, request=b"")


# After a kill


def test_wherever_the_tail_is_torn_the_file_ends_again_at_the_commit(tmp_path: Path) -> None:
    source = tmp_path / "source"
    with Archive(source) as archive:
        place = archive.append(PAGE)
        committed = archive.position()
        archive.append(replace(PAGE, url="http://a.test/uncommitted"))
    whole = (source / committed.file).read_bytes()
    path = tmp_path / committed.file
    for size in range(committed.offset, len(whole) + 1):
        path.write_bytes(whole[:size])
        assert recover(tmp_path, committed) == Recovery(cut=size - committed.offset)
        assert path.read_bytes() == whole[: committed.offset]
    assert [kind for kind, *_ in warcio_records(path.read_bytes())] == ["warcinfo", "response", "request"]
    assert read(tmp_path, place) == PAGE


def test_files_begun_after_the_commit_are_removed_and_older_ones_stay(tmp_path: Path) -> None:
    (tmp_path / "notes.warc.gz").write_bytes(b"someone else's")
    (tmp_path / "lycosa-7.warc.gz").write_bytes(b"someone else's")
    committed = Position("", 0)
    sizes = []
    for n in range(4):
        with Archive(tmp_path, committed=committed) as archive:
            archive.append(PAGE)
            sizes.append(archive.position().offset)
            committed = archive.position() if n < 2 else committed
    later = ("lycosa-00003.warc.gz", "lycosa-00004.warc.gz")
    assert recover(tmp_path, committed) == Recovery(cut=sizes[2] + sizes[3], removed=later)
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "lycosa-00001.warc.gz",
        "lycosa-00002.warc.gz",
        "lycosa-7.warc.gz",
        "notes.warc.gz",
    ]
    assert recover(tmp_path, committed) == Recovery()
    with Archive(tmp_path, committed=committed) as archive:
        assert archive.append(PAGE).file == "lycosa-00003.warc.gz"


def test_a_commit_of_nothing_leaves_nothing(tmp_path: Path) -> None:
    with Archive(tmp_path) as archive:
        archive.append(PAGE)
    assert recover(tmp_path, Position("", 0)).removed == ("lycosa-00001.warc.gz",)
    assert list(tmp_path.iterdir()) == []


def test_without_any_commit_files_are_set_aside_not_deleted(tmp_path: Path) -> None:
    for n in (1, 2):
        with Archive(tmp_path) as archive:
            archive.append(PAGE)
        data = (tmp_path / "lycosa-00001.warc.gz").read_bytes()
        aside = f"lycosa-00001.warc.gz.orphan-{n}"
        assert recover(tmp_path, None) == Recovery(set_aside=(aside,))
        assert (tmp_path / aside).read_bytes() == data
    assert list(tmp_path.glob("*.warc.gz")) == []


def test_committed_bytes_that_are_missing_are_told_and_the_rest_is_readable(tmp_path: Path) -> None:
    with Archive(tmp_path) as archive:
        places = [archive.append(replace(PAGE, url=f"http://a.test/{n}")) for n in range(3)]
        committed = archive.position()
    path = tmp_path / committed.file
    whole = path.read_bytes()
    boundary = places[2].offset
    request = boundary + len(encode_records(replace(PAGE, url="http://a.test/2", request=b"")))
    for size in (boundary, boundary + 1, boundary + 25, request - 30):
        path.write_bytes(whole[:size])
        assert recover(tmp_path, committed) == Recovery(missing=committed.offset - boundary)
        assert path.read_bytes() == whole[:boundary]
    with pytest.raises(ArchiveError):
        read(tmp_path, places[2])
    assert read(tmp_path, places[1]).url == "http://a.test/1"

    path.write_bytes(whole[:10])
    assert recover(tmp_path, committed) == Recovery(missing=committed.offset)
    assert not path.exists()
    assert recover(tmp_path, committed) == Recovery(missing=committed.offset)


def test_a_position_that_is_no_archives_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ArchiveError, match="not the name"):
        recover(tmp_path, Position("../lycosa-00001.warc.gz", 5))


# Any producer's files


def foreign(block: bytes, *, url: str = "http://b.test/", fields: bytes = b"", kind: bytes = b"response") -> bytes:
    head = (
        b"WARC/1.0\r\nWARC-Type: " + kind + b"\r\nWARC-Record-ID: <urn:uuid:0>\r\nWARC-Date: 2020-01-01T00:00:00Z\r\n"
    )
    head += b"WARC-Target-URI: " + url.encode() + b"\r\n" + fields
    if b"Content-Type" not in fields:
        head += b"Content-Type: application/http; msgtype=response\r\n"
    return head + b"Content-Length: %d\r\n\r\n" % len(block) + block + b"\r\n\r\n"


def reading(path: Path, data: bytes, *, largest: int = 1 << 20) -> tuple[list[Response], Damage]:
    path.write_bytes(data)
    damage = Damage()
    return list(iterate(path, damage=damage, largest=largest)), damage


def test_other_producers_files_are_read(tmp_path: Path) -> None:
    records = [
        foreign(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nbody\r\n0\r\n\r\n"),
        foreign(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nno chunks"),
        foreign(b"HTTP/1.0 404 Not Found\nA: b\n\nline feeds", url="<http://b.test/2>"),
        foreign(b"GET / HTTP/1.1\r\n\r\n", kind=b"request"),
        foreign(b"20200101 1.2.3.4", url="dns:b.test", fields=b"Content-Type: text/dns\r\n"),
        foreign(b"HTTP/1.1 200 OK\r\nX-Archive-Orig-Content-Encoding: br\r\nA: b\r\n  c\r\n\r\nplain"),
    ]
    for pack in (b"".join, lambda parts: b"".join(map(gzip.compress, parts)), lambda p: gzip.compress(b"".join(p))):
        pages, damage = reading(tmp_path / "x.warc", pack(records))
        assert damage == Damage()
        assert [page.body for page in pages] == [b"body", b"no chunks", b"line feeds", b"plain"]
        assert [page.status for page in pages] == [200, 200, 404, 200]
        assert pages[2].url == "http://b.test/2"
        assert pages[2].headers == (("a", "b"),)
        assert pages[3].headers == (("x-archive-orig-content-encoding", "br"), ("a", "b c"))
        assert {page.started for page in pages} == {1577836800.0}


GOOD = [
    gzip.compress(foreign(b"HTTP/1.1 200 OK\r\n\r\n%d" % n + bytes(random.Random(n).randbytes(500)))) for n in range(5)
]


def spoilt(member: bytes, at: int) -> bytes:
    return member[:at] + bytes([member[at] ^ 0xFF]) + member[at + 1 :]


@pytest.mark.parametrize(
    ("members", "survivors", "damaged"),
    [
        ([GOOD[0], spoilt(GOOD[1], 60), GOOD[2]], [0, 2], 1),  # in the record's head
        ([GOOD[0], spoilt(GOOD[1], len(GOOD[1]) - 6), GOOD[2]], [0, 2], 1),  # only the checksum tells
        ([spoilt(GOOD[0], 0), GOOD[1]], [1], 1),  # no gzip at all at the start
        ([GOOD[0], spoilt(GOOD[1], 60), spoilt(GOOD[2], 60), GOOD[3]], [0, 3], 2),
        ([GOOD[0], b"\x00" * 70_000, GOOD[1], GOOD[2]], [0, 1, 2], 1),
        ([GOOD[0], GOOD[1][:-40]], [0], 1),  # torn at the end
        ([GOOD[0], b"noise"], [0], 1),
        ([GOOD[0], gzip.compress(foreign(b"no status line\r\n\r\nx")), GOOD[1]], [0, 1], 1),
    ],
)
def test_damaged_records_are_counted_and_passed_over(
    tmp_path: Path, members: list[bytes], survivors: list[int], damaged: int
) -> None:
    pages, damage = reading(tmp_path / "x.warc.gz", b"".join(members))
    assert [int(page.body[:1]) for page in pages] == survivors
    assert damage == Damage(damaged=damaged)


def test_a_record_inside_a_page_is_not_taken_for_one_behind_it(tmp_path: Path) -> None:
    """A page can be a WARC file itself, stored without compression."""
    nested = response_of(b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n", encode_records(PAGE))
    data = encode_records(nested) + spoilt(GOOD[0], 60) + GOOD[1]
    pages, damage = reading(tmp_path / "x.warc.gz", data)
    assert [page.body for page in pages][:1] == [nested.body]
    assert [page.url for page in pages] == [nested.url, "http://b.test/"]
    assert damage.damaged == 1


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(ArchiveError, match=r"absent\.warc\.gz: No such file"):
        next(iterate(tmp_path / "absent.warc.gz"))


def test_records_that_are_too_large_are_counted(tmp_path: Path) -> None:
    large = gzip.compress(foreign(b"HTTP/1.1 200 OK\r\n\r\n" + b"x" * 100_000))
    pages, damage = reading(tmp_path / "x.warc.gz", GOOD[0] + large + GOOD[1], largest=50_000)
    assert len(pages) == 2
    assert damage == Damage(oversized=1)


def test_any_spoilt_byte_costs_at_most_the_records_it_touches(tmp_path: Path) -> None:
    data = b"".join(GOOD)
    rng = random.Random(5)
    for _ in range(200):
        pages, _ = reading(tmp_path / "x.warc.gz", spoilt(data, rng.randrange(len(data))))
        assert len(pages) >= 4
        pages, _ = reading(tmp_path / "x.warc.gz", data[: rng.randrange(len(data))] + rng.randbytes(30) + GOOD[4])
        assert pages[-1].body[:1] == b"4"
