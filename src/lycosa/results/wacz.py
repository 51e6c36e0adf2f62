"""Pages as web archives that other tools replay: WACZ 1.1.1 (specs.webrecorder.net), and an index alone (CDXJ).

    archive/data.warc.gz     the records of the pages, byte for byte as the crawl has archived them
    indexes/index.cdx        where each is, sorted by SURT, which is the host turned around, and time
    pages/pages.jsonl        URL, time, title and text of each page
    datapackage.json         size and SHA-256 of these; datapackage-digest.json: that of datapackage.json

The ZIP stores its members uncompressed where others must find records by their offset. An index alone, `corpus.cdxj`,
refers to the files in the archive of the crawl. A page whose record is damaged, or that is not in an archive, is left
out.
"""

from __future__ import annotations

import hashlib
import json
import re
import struct
import time
import zlib
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Any, NamedTuple
from urllib.parse import urlsplit
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile, ZipInfo

from lycosa import __version__
from lycosa.errors import ArchiveAway, ArchiveError, InputError
from lycosa.fetch.archive_places import Pread, has_file, open_archived, pread_of
from lycosa.fetch.warc_reader import Location, member_end, read
from lycosa.fetch.warc_writer import REQUISITE_OF, encode_warcinfo

VERSION = "1.1.1"
WARC = "data.warc.gz"
_DIGEST = re.compile(rb"^WARC-Payload-Digest: *(\S+)", re.IGNORECASE | re.MULTILINE)
_REQUEST = re.compile(rb"^WARC-Type: *request\b", re.IGNORECASE | re.MULTILINE)
_CONVERSION = re.compile(rb"^WARC-Type: conversion\r?$", re.MULTILINE)
_REQUISITE = re.compile(rb"^%s: " % REQUISITE_OF.encode(), re.MULTILINE)
_HEAD_BYTES = 4_096
_WWW = re.compile(r"^www\d*\.")
_SPOILED = re.compile(r"[\s\x00-\x1f\x7f]+")
_TIMESTAMP = struct.pack("<HHBI", 0x5455, 5, 1, 315_532_800)
"""The time of an entry, 1980 as in its head, once more. ReplayWeb.page takes an entry without extra fields in the
directory to have none before its data, either; ZIP64's, for archives that may become large, is only there."""


class ArchivedRecord(NamedTuple):
    """A response in the archive, and the bytes of its record and that of its request."""

    data: bytes
    length: int
    """Of the response's record, at the start of the data."""
    url: str
    started: float
    status: int
    media_type: str
    digest: str


class _Counted:
    """A stream that knows how much was written to it, and the hash of it."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream
        self.size = 0
        self.hash = hashlib.sha256()

    def write(self, data: bytes) -> None:
        self._stream.write(data)
        self.size += len(data)
        self.hash.update(data)


def write_wacz(rows: Iterable[Mapping[str, Any]], path: Path, archive: Path) -> int:
    """Write a WACZ file of the pages; return their number. `archive`: the directory of the crawl's WARC files."""
    count = 0
    index: list[str] = []
    listed = [json.dumps({"format": "json-pages-1.0", "id": "pages", "title": "All Pages", "hasText": True})]
    with ZipFile(path, "w") as container:
        resources = []
        with container.open(_entry(f"archive/{WARC}", ZIP_STORED), "w", force_zip64=True) as stream:
            out = _Counted(stream)
            info = {"software": f"Lycosa/{__version__}", "format": "WARC File Format 1.1"}
            out.write(encode_warcinfo(info, file_name=WARC, now=time.time()))
            for row, record in _records(rows, archive):
                count += 1
                for each in (record, *_requisites(archive, row["warc"], record)):
                    index.append(_index_line(each, WARC, out.size))
                    out.write(each.data)
                page = {"id": str(row["number"]), "url": row["url"], "ts": _iso(record.started), "title": row["title"]}
                listed.append(json.dumps(page | {"text": row.get("text", "")}, ensure_ascii=False))
        resources.append(_resource(f"archive/{WARC}", out))
        for name, lines, method in (
            ("indexes/index.cdx", sorted(index), ZIP_STORED),
            ("pages/pages.jsonl", listed, ZIP_DEFLATED),
        ):
            with container.open(_entry(name, method), "w", force_zip64=True) as stream:
                out = _Counted(stream)
                for line in lines:
                    out.write(f"{line}\n".encode("utf-8", "replace"))
            resources.append(_resource(name, out))
        _describe(container, resources)
    return count


def write_index(rows: Iterable[Mapping[str, Any]], path: Path, archive: Path) -> int:
    """Write a CDXJ index of the pages in the crawl's own archive; return their number."""
    lines = []
    for row, record in _records(rows, archive):
        file, _, offset = row["warc"].rpartition(":")
        lines.append(_index_line(record, file, int(offset)))
    with path.open("w", encoding="utf-8", newline="\n") as stream:
        stream.writelines(f"{line}\n" for line in sorted(lines))
    return len(lines)


def surt(url: str) -> str:
    """The key of a URL in an index: `org,example)/path?query`, as replay tools look it up.

    In lower case, without www and default ports, the query sorted, no slash at the end.
    """
    parts = urlsplit(url.lower())
    host, colon, port = parts.netloc.rpartition(":")
    if not colon or not port.isdigit():
        host, port = parts.netloc, ""
    if port == {"http": "80", "https": "443"}.get(parts.scheme):
        port = ""
    turned = ",".join(reversed(_WWW.sub("", host).split(".")))  # addresses, too: so do pywb and cdxj-indexer
    path = parts.path.rstrip("/") or "/"
    query = "?" + "&".join(sorted(parts.query.split("&"))) if parts.query else ""
    return _SPOILED.sub("%20", f"{turned}{':' + port if port else ''}){path}{query}")


def _records(rows: Iterable[Mapping[str, Any]], archive: Path) -> Iterator[tuple[Mapping[str, Any], ArchivedRecord]]:
    has_any = False
    for row in rows:
        file, _, offset = row["warc"].rpartition(":")
        record = _record(archive, file, int(offset)) if file else None
        if record is not None:
            has_any = True
            yield row, record
    if not has_any:
        raise InputError("there is no page in the archive to export: archive.is_on was off, or nothing was fetched")


def _record(archive: Path, file: str, offset: int) -> ArchivedRecord | None:
    """A response with its request as they are archived; None if it is damaged."""
    try:
        response = read(archive, Location(file, offset, 0))
    except ArchiveAway:
        raise
    except ArchiveError:
        if not has_file(archive / file):
            raise
        return None
    with open_archived(archive / file) as stream:
        pread = pread_of(stream)
        end = member_end(pread, offset)
        if end == offset:
            return None
        head = _head(pread, offset)
        last = member_end(pread, end) if _REQUEST.search(_head(pread, end)) else end
        data = pread(last - offset, offset)
    digest = _DIGEST.search(head)
    media_type = response.header("content-type").partition(";")[0].strip().lower()
    return ArchivedRecord(
        data,
        end - offset,
        response.url,
        response.started,
        response.status,
        _SPOILED.sub("", media_type)[:100] or "unk",
        digest[1].decode("ascii", "replace") if digest else "",
    )


def _requisites(archive: Path, place: str, page: ArchivedRecord) -> Iterator[ArchivedRecord]:
    """What a page asked for when it was rendered: the records that follow its own."""
    file, _, offset = place.rpartition(":")
    at = int(offset) + len(page.data)
    with open_archived(archive / file) as stream:
        pread = pread_of(stream)
        while head := _head(pread, at):
            if _CONVERSION.search(head):
                at = member_end(pread, at)
            elif _REQUISITE.search(head) and (found := _record(archive, file, at)) is not None:
                yield found
                at += len(found.data)
            else:
                return


def _head(pread: Pread, offset: int) -> bytes:
    """The beginning of the record whose gzip member starts here; empty if there is none."""
    try:
        return zlib.decompressobj(31).decompress(pread(_HEAD_BYTES, offset), _HEAD_BYTES).partition(b"\r\n\r\n")[0]
    except zlib.error:
        return b""


def _index_line(record: ArchivedRecord, file: str, offset: int) -> str:
    moment = datetime.fromtimestamp(record.started, UTC).strftime("%Y%m%d%H%M%S")
    values = {
        "url": record.url,
        "mime": record.media_type,
        "status": str(record.status),
        "digest": record.digest,
        "length": str(record.length),
        "offset": str(offset),
        "filename": file,
    }
    return f"{surt(record.url)} {moment} {json.dumps(values)}"


def _describe(container: ZipFile, resources: list[dict[str, Any]]) -> None:
    package = {
        "profile": "data-package",
        "wacz_version": VERSION,
        "software": f"Lycosa/{__version__}",
        "created": _iso(time.time()),
        "resources": resources,
    }
    described = json.dumps(package, indent=2).encode()
    digest = {"path": "datapackage.json", "hash": f"sha256:{hashlib.sha256(described).hexdigest()}"}
    container.writestr(_entry("datapackage.json", ZIP_DEFLATED), described)
    container.writestr(_entry("datapackage-digest.json", ZIP_DEFLATED), json.dumps(digest, indent=2))


def _entry(name: str, method: int) -> ZipInfo:
    entry = ZipInfo(name)
    entry.compress_type = method
    entry.extra = _TIMESTAMP
    return entry


def _resource(path: str, written: _Counted) -> dict[str, Any]:
    return {
        "name": path.rpartition("/")[2],
        "path": path,
        "hash": f"sha256:{written.hash.hexdigest()}",
        "bytes": written.size,
    }


def _iso(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
