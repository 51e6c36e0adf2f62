"""Reads responses from WARC files: one by its location in our archive, or all of a file of any origin.

The changes that `warc_writer` makes to a head are reversed here.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from fastwarc.stream_io import ChunkedReader
from fastwarc.warc import ArchiveIterator, WarcRecord, WarcRecordType

from lycosa.errors import ArchiveError
from lycosa.fetch.archive_places import Pread, open_archived, pread_of
from lycosa.fetch.rendered import with_dom
from lycosa.fetch.warc_writer import ORIGINAL, PROTOCOLS, RENDERED, head_lines
from lycosa.model import Response

SCAN_BYTES = 1 << 16
LARGEST_RECORD = 64 << 20
LARGEST_HEAD = 1 << 20

_STATUS_LINE = re.compile(rb"HTTP/[0-9](?:\.[0-9])? ([0-9]{3})(?![0-9])")
_HEAD_END = re.compile(rb"\r?\n\r?\n")
_FILE_NAME = re.compile(r"(?:[0-9]{4}/archive/)?[A-Za-z0-9][A-Za-z0-9._-]{0,200}")


class Location(NamedTuple):
    """Location of a response in the archive: its record, and that of the request after it."""

    file: str
    offset: int
    length: int


def read(directory: Path, location: Location) -> Response:
    """One stored response, as it was before it was stored; of a page that was rendered, with the rendered document.

    A length of 0 means that it is unknown.
    """
    if not _FILE_NAME.fullmatch(location.file) or location.offset < 0 or location.length < 0:
        raise ArchiveError(f"{location} is not a location in an archive")
    path = directory / location.file
    with open_archived(path) as file:
        file.seek(location.offset)
        records = ArchiveIterator(io.BytesIO(file.read(location.length)) if location.length else file, parse_http=False)
        try:
            record = next(iter(records))
            if record.record_type != WarcRecordType.response:
                raise ArchiveError(f"{path} has no response at byte {location.offset}")
            response, response_id = _response(record), record.record_id
            is_rendered = RENDERED in record.headers
        except (OSError, ValueError, StopIteration) as error:
            raise ArchiveError(
                f"{path} is damaged at byte {location.offset}: {str(error) or 'it ends there'}"
            ) from error
        response = replace(response, request=_request(records, response_id))
        dom = _dom(records, response_id) if is_rendered else b""
        return with_dom(response, dom) if dom else response


def _dom(records: ArchiveIterator, response_id: str | None) -> bytes:
    """The rendered document, if it is the next record; a rendered page that has lost it is read as it was fetched."""
    with contextlib.suppress(OSError, ValueError, StopIteration):
        record = next(iter(records))
        is_conversion = record.record_type == WarcRecordType.conversion
        if is_conversion and record.headers.get("WARC-Refers-To") == response_id:
            return _block(record)
    return b""


def _request(records: ArchiveIterator, response_id: str | None) -> bytes:
    """The request, if it is the next record; empty if not, since a response is useful without it."""
    with contextlib.suppress(OSError, ValueError, StopIteration):
        record = next(iter(records))
        is_request = record.record_type == WarcRecordType.request
        if is_request and record.headers.get("WARC-Concurrent-To") == response_id:
            return _restored_request(_block(record), _version(record))
    return b""


@dataclass(slots=True)
class Damage:
    """Counts of the records that `iterate` skips."""

    damaged: int = 0
    """Number of unreadable records. A damaged stretch counts as one if its records cannot be told apart."""
    oversized: int = 0
    others: int = field(default=0, compare=False)
    """Number of whole records that are no HTTP responses, such as those of pages found unchanged: no damage."""


def iterate(path: Path, *, damage: Damage | None = None, largest: int = LARGEST_RECORD) -> Iterator[Response]:
    """Yield all HTTP responses of a WARC file from any producer, without their requests.

    Damaged parts are counted and skipped, up to the next gzip member that starts like a record. Files that are not
    compressed record by record have no such member: there, reading ends at the damage.
    """
    damage = damage or Damage()
    try:
        file = path.open("rb")
    except OSError as error:
        raise ArchiveError(f"cannot read {path}: {error.strerror}") from error
    with file:
        start, is_uncounted = 0, False
        while start >= 0:
            file.seek(start)
            last, has_read = start, False
            try:
                for record in ArchiveIterator(file, parse_http=False):
                    damage.damaged += is_uncounted
                    last, has_read, is_uncounted = record.stream_pos, True, False
                    response = _response_or_none(record, damage, largest)
                    if response is not None:
                        yield response
                break
            except OSError:
                damage.damaged += not has_read
                is_uncounted = has_read
                end = member_end(pread_of(file), last) if has_read else last
                start = _next_record(file.fileno(), max(end, last + 1))
        damage.damaged += is_uncounted


def member_end(pread: Pread, start: int) -> int:
    """End of the gzip member that starts at `start`; `start` itself if there is none or it is incomplete."""
    inflate = zlib.decompressobj(31)
    position = start
    while chunk := pread(SCAN_BYTES, position):
        position += len(chunk)
        try:
            inflate.decompress(chunk)
        except zlib.error:
            return start
        if inflate.eof:
            return position - len(inflate.unused_data)
    return start


def _next_record(file: int, position: int) -> int:
    """Offset of the next gzip member that contains a WARC record, at `position` or later; -1 if there is none."""
    while len(chunk := os.pread(file, SCAN_BYTES, position)) > 2:
        found = chunk.find(b"\x1f\x8b\x08")
        while found >= 0:
            with contextlib.suppress(zlib.error):
                data = os.pread(file, 1024, position + found)
                if zlib.decompressobj(31).decompress(data, 5) == b"WARC/":
                    return position + found
            found = chunk.find(b"\x1f\x8b\x08", found + 1)
        position += len(chunk) - 2
    return -1


def _response_or_none(record: WarcRecord, damage: Damage, largest: int) -> Response | None:
    content_type = (record.headers.get("Content-Type") or "").lower()
    if record.record_type != WarcRecordType.response or not content_type.startswith("application/http"):
        damage.others += 1
        return None
    if record.content_length > largest:
        damage.oversized += 1
        return None
    try:
        return _response(record)
    except ValueError:
        damage.damaged += 1
        return None


def _block(record: WarcRecord) -> bytes:
    block = record.reader.read() if record.reader else b""
    if len(block) != int(record.headers.get("Content-Length") or -1):
        raise ValueError("a record is shorter than its Content-Length")
    return block


def _response(record: WarcRecord) -> Response:
    block = _block(record)
    end = _HEAD_END.search(block, 0, LARGEST_HEAD)
    lines = head_lines(block[: end.start()]) if end else []
    status_line = _STATUS_LINE.match(lines[0]) if lines else None
    if end is None or status_line is None:
        raise ValueError("a response has no HTTP head")
    body = block[end.end() :]
    if any(name == "transfer-encoding" and "chunked" in value.lower() for name, value in _headers(lines)):
        body = _without_chunks(body)
    lines = _restored_lines(lines, _version(record), is_added="X-Lycosa-Added" in record.headers)
    started = _seconds(record.headers.get("WARC-Date") or "")
    return Response(
        url=(record.headers.get("WARC-Target-URI") or "").removeprefix("<").removesuffix(">"),
        status=int(status_line[1]),
        headers=_headers(lines),
        body=body,
        head=b"".join(line + b"\r\n" for line in lines),
        address=record.headers.get("WARC-IP-Address") or "",
        started=started,
        ended=_seconds(record.headers.get("X-Lycosa-Ended") or "") or started,
        is_chopped=record.headers.get("WARC-Truncated") == "length",
    )


def _version(record: WarcRecord) -> bytes:
    """The HTTP version that was used, unless it was 1.0 or 1.1."""
    spoken = record.headers.get_multiple("WARC-Protocol")
    return next((version for version, protocol in PROTOCOLS.items() if protocol in spoken), b"")


def _restored_lines(lines: list[bytes], version: bytes, *, is_added: bool) -> list[bytes]:
    """Reverse the changes of `_stored_head`."""
    restored = [version + lines[0][len(b"HTTP/1.1") :] if version and lines[0].startswith(b"HTTP/1.1 ") else lines[0]]
    for line in lines[1 : -1 if is_added else None]:
        if line.lower().startswith(ORIGINAL.lower()):
            original = line[len(ORIGINAL) :]
            name = original.partition(b":")[0].strip().lower()
            if name in (b"transfer-encoding", b"content-length") or name.startswith(ORIGINAL.lower()):
                line = original
        restored.append(line)
    return restored


def _restored_request(request: bytes, version: bytes) -> bytes:
    line, end, rest = request.partition(b"\r\n")
    return line.removesuffix(b"HTTP/1.1") + version + end + rest if version else request


def _headers(lines: list[bytes]) -> tuple[tuple[str, str], ...]:
    """Names and values of the header lines after the status line. A folded value is put on one line."""
    found: list[tuple[str, list[str]]] = []
    for line in lines[1:]:
        name, colon, value = line.partition(b":")
        if line[:1] in b" \t" and found:
            found[-1][1].append(line.strip().decode("latin-1"))
        elif colon:
            found.append((name.strip().lower().decode("latin-1"), [value.strip().decode("latin-1")]))
    return tuple((name, " ".join(parts)) for name, parts in found)


def _without_chunks(body: bytes) -> bytes:
    """The body without chunked encoding. Other producers store chunks; some remove them but keep the header."""
    try:
        return ChunkedReader(io.BytesIO(body)).read()
    except OSError:
        return body


def _seconds(date: str) -> float:
    try:
        moment = datetime.fromisoformat(date)
    except ValueError:
        return 0.0
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
