"""What a page may ask for while it is rendered, without a browser; and the rendered page in the archive."""

from __future__ import annotations

import asyncio
import gzip
import io
import json
from pathlib import Path
from zipfile import ZipFile

import pytest
from warcio.archiveiterator import ArchiveIterator

from lycosa.fetch.archive import Archive
from lycosa.fetch.requisites import KINDS, LOOKS, KeptAnswers, Requisites, Turns
from lycosa.fetch.transfer import TransferFailure, failure
from lycosa.fetch.warc_reader import Location, read
from lycosa.model import Rendering, Response
from lycosa.results.wacz import write_wacz

PAGES = {
    "http://a.test/data": Response("http://a.test/data", 200, [("content-type", "application/json")], b"{}"),
    "http://a.test/packed": Response(
        "http://a.test/packed", 200, [("content-encoding", "gzip")], gzip.compress(b"cycling", mtime=0)
    ),
    "http://a.test/moved": Response("http://a.test/moved", 302, [("location", "/data")], b""),
    "http://a.test/away": Response("http://a.test/away", 302, [("location", "http://private.test/x")], b""),
    "http://a.test/round": Response("http://a.test/round", 302, [("location", "/round")], b""),
}


def requisites(*, max_requests: int = 10, max_bytes: int = 1000, forbidden: str = "/forbidden") -> Requisites:
    async def get(url: str) -> Response | TransferFailure:
        if "private" in url:
            return failure("address refused", "loopback")
        return PAGES[url]

    async def allows(url: str) -> bool:
        return forbidden not in url

    return Requisites(get=get, allows=allows, max_requests=max_requests, max_bytes=max_bytes, max_redirects=3)


def ask(served: Requisites, url: str, *, method: str = "GET", kind: str = "fetch") -> str:
    got = asyncio.run(served.answer(url, method=method, kind=kind))
    return got if isinstance(got, str) else got.body.decode()


@pytest.mark.parametrize(
    ("url", "more", "expected"),
    [
        ("http://a.test/data", {}, "{}"),
        ("http://a.test/data#part", {"kind": "script"}, "{}"),
        ("http://a.test/packed", {}, "cycling"),
        ("http://a.test/moved", {}, "{}"),
        ("http://a.test/away", {}, "address refused"),
        ("http://a.test/round", {}, "too many redirects"),
        ("http://a.test/data", {"method": "POST"}, "method"),
        ("http://a.test/data", {"kind": "image"}, "kind"),
        ("file:///etc/passwd", {}, "scheme"),
        ("http://a.test/forbidden", {}, "robots"),
    ],
)
def test_each_request_is_under_the_rules_of_the_crawl(url: str, more: dict[str, str], expected: str) -> None:
    assert ask(requisites(), url, **more) == expected


def test_a_page_has_a_number_of_requests_and_of_bytes() -> None:
    served = requisites(max_requests=2)
    assert [ask(served, "http://a.test/data") for _ in range(3)] == ["{}", "{}", "too many requests"]
    served = requisites(max_bytes=3)
    assert [ask(served, "http://a.test/data") for _ in range(3)] == ["{}", "too large", "too large"]
    assert served.refused == {"too large": 2}
    assert len(served.fetched) == 2


def test_pages_rendered_at_the_same_time_ask_a_host_one_after_the_other() -> None:
    under_way, most = 0, 0

    async def get(url: str) -> Response | TransferFailure:
        nonlocal under_way, most
        under_way += 1
        most = max(most, under_way)
        await asyncio.sleep(0)
        under_way -= 1
        return PAGES["http://a.test/data"]

    async def allows(url: str) -> bool:
        return True

    async def ask_at_once() -> None:
        turns = Turns()
        pages = [
            Requisites(get=get, allows=allows, max_requests=9, max_bytes=100, max_redirects=0, turns=turns)
            for _ in range(3)
        ]
        await asyncio.gather(*(page.answer("http://a.test/data", method="GET", kind="xhr") for page in pages * 2))

    asyncio.run(ask_at_once())
    assert most == 1


def test_what_makes_a_page_look_right_is_fetched_on_request_and_once() -> None:
    asked: list[str] = []

    async def get(url: str) -> Response | TransferFailure:
        asked.append(url)
        return PAGES["http://a.test/packed"]

    async def allows(url: str) -> bool:
        return True

    kept = KeptAnswers()
    for _ in range(2):
        page = Requisites(
            get=get, allows=allows, max_requests=5, max_bytes=1000, max_redirects=0, kinds=KINDS | LOOKS, kept=kept
        )
        assert ask(page, "http://a.test/packed", kind="stylesheet") == "cycling"
        assert ask(page, "http://a.test/packed", kind="media") == "kind"
    assert asked == ["http://a.test/packed"]


def test_a_web_archive_holds_what_its_pages_asked_for(tmp_path: Path) -> None:
    def answer(path: str, kind: str) -> Response:
        return Response(f"http://a.test{path}", 200, [("content-type", kind)], path.encode(), ended=1.0)

    styles, other = answer("/s.css", "text/css"), answer("/other", "text/html")
    with Archive(tmp_path) as archive:
        page = archive.append(answer("/", "text/html"), Rendering(b"<p>dom", (styles, answer("/p.png", "image/png"))))
        archive.append(other)
    row = {"warc": f"{page.file}:{page.offset}", "number": 1, "url": "http://a.test/", "title": "Page"}
    assert write_wacz([row], tmp_path / "corpus.wacz", tmp_path) == 1
    with ZipFile(tmp_path / "corpus.wacz") as container:
        index = [json.loads(line.split(b" ", 2)[2]) for line in container.read("indexes/index.cdx").splitlines()]
        data = container.read("archive/data.warc.gz")
    assert {entry["url"].rpartition("test")[2]: entry["mime"] for entry in index} == {
        "/": "text/html",
        "/s.css": "text/css",
        "/p.png": "image/png",
    }
    for entry in index:
        at = int(entry["offset"])
        (record, *_) = ArchiveIterator(io.BytesIO(data[at : at + int(entry["length"])]))
        assert record.rec_headers.get_header("WARC-Target-URI") == entry["url"]


def test_the_rendered_document_stands_behind_the_answer_and_is_what_is_read(tmp_path: Path) -> None:
    headers = [("content-type", "text/html; charset=latin-1"), ("content-encoding", "gzip"), ("etag", "x")]
    answer = Response("http://a.test/", 200, headers, b"shell", request=b"GET / HTTP/1.1\r\n", ended=1.0)
    with Archive(tmp_path) as archive:
        plain = archive.append(answer)
        rendered = archive.append(answer, Rendering("<p>Radwege für alle".encode()))
    again = read(tmp_path, rendered._replace(length=0))
    assert again.body.decode() == "<p>Radwege für alle"
    assert (again.header("content-type"), again.header("content-encoding")) == ("text/html; charset=utf-8", "")
    assert again.header("etag") == "x"
    assert read(tmp_path, plain).body == b"shell"
    with (tmp_path / rendered.file).open("rb") as file:
        records = [(record.rec_type, record.rec_headers) for record in ArchiveIterator(file)]
    assert [kind for kind, _ in records] == ["warcinfo", *["response", "request"] * 2, "conversion"]
    assert records[-1][1].get_header("WARC-Refers-To") == records[-3][1].get_header("WARC-Record-ID")


def test_a_rendered_document_that_is_lost_leaves_the_answer(tmp_path: Path) -> None:
    answer = Response("http://a.test/", 200, [("content-type", "text/html")], b"shell", b"HTTP/1.1 200 OK")
    with Archive(tmp_path) as archive:
        place = archive.append(answer, Rendering(b"<p>rendered"))
    path = tmp_path / place.file
    path.write_bytes(path.read_bytes()[:-20])
    assert read(tmp_path, Location(place.file, place.offset, 0)).body == b"shell"
