"""Encodes a Response as WARC 1.1: a `response` record and, if known, its `request` record, one gzip member each; of a
page that was rendered, also the document after its scripts ran, as a `conversion` record.

Responses are stored as received, except for the following changes, which other readers need and ours reverses:
- libcurl has removed the transfer encoding, so a Transfer-Encoding header, or a Content-Length that differs from that
  of the stored body, is renamed to `X-Archive-Orig-…`. If no Content-Length is left, one is added at the end of the
  head and noted in the record (`X-Lycosa-Added`). A server's own `X-Archive-Orig-…` gets the prefix twice.
- HTTP/2 and 3 have no status line; libcurl makes one up. It is written as HTTP/1.1, the form that WARC requires, and
  the record has `WARC-Protocol: h2`.
- Header lines end in CR LF. A line without a visible ASCII character is left out, since some readers take it for the
  end of the head. A head without a valid status line gets one.

The payload digest covers the body without transfer encoding but with its content encoding, as the standard demands (the
entity-body of RFC 2616): that is the body as we have it. `X-Lycosa-Ended` is the time at which the download ended.
"""

from __future__ import annotations

import hashlib
import os
import re
import time
import zlib
from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache

from lycosa.model import Response

try:  # takes a quarter of zlib's time for the same size; not available on every platform
    from isal import isal_zlib  # type: ignore[import-not-found, unused-ignore]
except ImportError:
    isal_zlib = None  # type: ignore[assignment, unused-ignore]

ORIGINAL = b"X-Archive-Orig-"
RENDERED = "X-Lycosa-Rendered"
"""Field of a response that is followed by a `conversion`: the document after its scripts ran."""
PROTOCOLS = {b"HTTP/2": "h2", b"HTTP/3": "h3"}

REQUISITE_OF = "X-Lycosa-Requisite-Of"
"""Field of a response that a page asked for while it was rendered: the URL of the page, whose records come before."""

_VISIBLE = re.compile(rb"[!-~]")
_STATUS_LINE = re.compile(rb"HTTP/[0-9](?:\.[0-9])? ([0-9]{3})(?![0-9])")
_BASE32 = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
_BASE32_PAIRS = [first + second for first in _BASE32 for second in _BASE32]
"""Two digits for ten bits. The standard library's encoder takes ten times as long."""
_ADDRESS = re.compile(r"[0-9A-Fa-f:.]{2,45}")


def encode_records(response: Response, *, dom: bytes = b"", page: str = "", level: int | None = None) -> bytes:
    """The compressed WARC records of a response, for `Archive.append_encoded`. `dom`: the document after its scripts
    ran, if it was rendered: a `conversion` record. `page`: the URL of the page that asked for it while it was rendered.

    By default the fastest good compressor is used; with a level, zlib at that level. A body with a content encoding
    would not get smaller and is only wrapped.
    """
    response_id, request_id = _record_ids()
    head, protocol, is_added = _stored_head(response)
    common = f"WARC-Date: {_date(response.started)}\r\nWARC-Target-URI: {target_uri(response.url)}\r\n"
    if _ADDRESS.fullmatch(response.address):
        common += f"WARC-IP-Address: {response.address}\r\n"
    fields = f"WARC-Payload-Digest: {_digest(response.body)}\r\nX-Lycosa-Ended: {_date(response.ended)}\r\n"
    if protocol:
        fields += f"WARC-Protocol: {protocol}\r\n"
    if response.is_chopped:
        fields += "WARC-Truncated: length\r\n"
    if is_added:
        fields += "X-Lycosa-Added: Content-Length\r\n"
    if dom:
        fields += f"{RENDERED}: yes\r\n"
    if page:
        fields += f"{REQUISITE_OF}: {target_uri(page)}\r\n"
    fields += "Content-Type: application/http;msgtype=response\r\n"
    is_encoded = response.header("content-encoding").strip().lower() not in ("", "identity")
    body_level = 0 if is_encoded else level
    encoded = _record("response", response_id, common + fields, head, response.body, level=body_level)
    if response.request:
        head, protocol = _stored_request(response.request)
        fields = f"WARC-Concurrent-To: {response_id}\r\nContent-Type: application/http;msgtype=request\r\n"
        if protocol:
            fields += f"WARC-Protocol: {protocol}\r\n"
        encoded += _record("request", request_id, common + fields, head, level=level)
    if dom:
        fields = f"WARC-Date: {_date(response.ended)}\r\nWARC-Target-URI: {target_uri(response.url)}\r\n"
        fields += f"WARC-Refers-To: {response_id}\r\nContent-Type: text/html; charset=utf-8\r\n"
        encoded += _record("conversion", _record_ids()[0], fields, dom, level=level)
    return encoded


NOT_MODIFIED = "http://netpreserve.org/warc/1.1/revisit/server-not-modified"
IDENTICAL = "http://netpreserve.org/warc/1.1/revisit/identical-payload-digest"


def encode_revisit(response: Response, known: Response, *, level: int | None = None) -> bytes:
    """A `revisit` record, and its `request`: an answer that brought no other body than one that is archived already.

    `known`: that one, to which the record refers by URL and date.
    """
    record_id, request_id = _record_ids()
    head, protocol, _ = _stored_head(replace(response, body=b""))
    common = f"WARC-Date: {_date(response.started)}\r\nWARC-Target-URI: {target_uri(response.url)}\r\n"
    if _ADDRESS.fullmatch(response.address):
        common += f"WARC-IP-Address: {response.address}\r\n"
    fields = (
        f"WARC-Profile: {NOT_MODIFIED if response.status == 304 else IDENTICAL}\r\n"
        f"WARC-Payload-Digest: {_digest(known.body)}\r\n"
        f"WARC-Refers-To-Target-URI: {target_uri(known.url)}\r\n"
        f"WARC-Refers-To-Date: {_date(known.started)}\r\n"
        f"X-Lycosa-Ended: {_date(response.ended)}\r\n"
        "WARC-Truncated: length\r\n"
        "Content-Type: application/http;msgtype=response\r\n"
    )
    if protocol:
        fields += f"WARC-Protocol: {protocol}\r\n"
    encoded = _record("revisit", record_id, common + fields, head, level=level)
    if response.request:
        head, protocol = _stored_request(response.request)
        fields = f"WARC-Concurrent-To: {record_id}\r\nContent-Type: application/http;msgtype=request\r\n"
        if protocol:
            fields += f"WARC-Protocol: {protocol}\r\n"
        encoded += _record("request", request_id, common + fields, head, level=level)
    return encoded


def encode_warcinfo(info: Mapping[str, str], *, file_name: str, now: float, level: int | None = None) -> bytes:
    """The record at the start of a file, which applies to all that follow."""
    lines = "".join(f"{key}: {' '.join(value.split())}\r\n" for key, value in info.items())
    fields = f"WARC-Date: {_date(now)}\r\nWARC-Filename: {file_name}\r\nContent-Type: application/warc-fields\r\n"
    return _record("warcinfo", _record_ids()[0], fields, lines.encode("utf-8", "replace"), level=level)


def target_uri(url: str) -> str:
    """The URL as stored in a record: characters that could break a header line are percent-encoded."""
    if url.isascii() and url.isprintable() and " " not in url:
        return url
    return "".join(chr(b) if 0x20 < b < 0x7F else f"%{b:02X}" for b in url.encode("utf-8", "replace"))


def _record(kind: str, record_id: str, fields: str, *block: bytes, level: int | None) -> bytes:
    digest = _digest(*block)
    head = (
        f"WARC/1.1\r\nWARC-Type: {kind}\r\nWARC-Record-ID: {record_id}\r\n{fields}"
        f"WARC-Block-Digest: {digest}\r\nContent-Length: {sum(map(len, block))}\r\n\r\n"
    )
    data = b"".join((head.encode(), *block, b"\r\n\r\n"))
    if isal_zlib is not None and level is None:
        compressed: bytes = isal_zlib.compress(data, 2, 31)
        return compressed
    return zlib.compress(data, 3 if level is None else level, 31)


def _digest(*parts: bytes) -> str:
    sha1 = hashlib.sha1(usedforsecurity=False)  # what WARC tools expect
    for part in parts:
        sha1.update(part)
    number = int.from_bytes(sha1.digest(), "big")
    return "sha1:" + "".join([_BASE32_PAIRS[number >> shift & 1023] for shift in range(150, -1, -10)])


def _record_ids() -> tuple[str, str]:
    """Two random UUIDs (version 4); `uuid.uuid4` takes four times as long."""
    digits = os.urandom(32).hex()
    first, second = (
        f"<urn:uuid:{d[:8]}-{d[8:12]}-4{d[13:16]}-{'89ab'[int(d[16], 16) & 3]}{d[17:20]}-{d[20:]}>"
        for d in (digits[:32], digits[32:])
    )
    return first, second


def _date(seconds: float) -> str:
    whole, micro = divmod(round(seconds * 1e6), 10**6)
    return f"{_second(whole)}.{micro:06d}Z"


@lru_cache(maxsize=16)  # a page has four dates, and a second has hundreds of pages
def _second(whole: int) -> str:
    t = time.gmtime(whole)
    return f"{t[0]:04d}-{t[1]:02d}-{t[2]:02d}T{t[3]:02d}:{t[4]:02d}:{t[5]:02d}"


def head_lines(head: bytes) -> list[bytes]:
    return [line for raw in head.split(b"\n") if _VISIBLE.search(line := raw.rstrip(b"\r"))]


def _stored_head(response: Response) -> tuple[bytes, str, bool]:
    """The head as stored, including the final empty line; the protocol; and whether a Content-Length was added."""
    lines = head_lines(response.head or _made_head(response))
    if not lines or not _STATUS_LINE.match(lines[0]):
        lines.insert(0, b"HTTP/1.1 %03d " % response.status)
    version, space, rest = lines[0].partition(b" ")
    protocol = PROTOCOLS.get(version, "")
    stored = [b"HTTP/1.1" + space + rest if protocol else lines[0]]
    length = b"%d" % len(response.body)
    has_length = False
    for line in lines[1:]:
        name, _, value = line.partition(b":")
        name = name.strip().lower()
        if name == b"content-length" and value.strip() == length:
            has_length = True
        elif name in (b"transfer-encoding", b"content-length") or name.startswith(ORIGINAL.lower()):
            line = ORIGINAL + line.lstrip()
        stored.append(line)
    if not has_length:
        stored.append(b"Content-Length: " + length)
    return b"\r\n".join(stored) + b"\r\n\r\n", protocol, not has_length


def _made_head(response: Response) -> bytes:
    """A head for a response that has none, made from its status and headers."""
    lines = [f"HTTP/1.1 {response.status:03d} ", *(f"{name}: {value}" for name, value in response.headers)]
    return b"\n".join(_encoded(line.replace("\r", " ").replace("\n", " ")) for line in lines)


def _encoded(line: str) -> bytes:
    try:
        return line.encode("latin-1")
    except UnicodeEncodeError:
        return line.encode("utf-8", "replace")


def _stored_request(request: bytes) -> tuple[bytes, str]:
    lines = head_lines(request) or [b""]
    start, space, version = lines[0].rpartition(b" ")
    protocol = PROTOCOLS.get(version, "")
    if protocol:
        lines[0] = start + space + b"HTTP/1.1"
    return b"\r\n".join(lines) + b"\r\n\r\n", protocol
