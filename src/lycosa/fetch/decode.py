"""Removes the content encoding of a body, within limits.

A few hundred bytes can unpack to gigabytes, so every decoder works in small steps and stops at the first byte over the
limit: the cost of a decompression bomb is bounded by the limit, not by the bomb. Like browsers, we accept whatever can
be read: a stream that breaks off yields what came before the break, `deflate` may or may not have its zlib wrapper, and
text that is labelled as compressed but is not is taken as it is.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass

import brotli
import zstandard

from lycosa.lib.bounds import require_above_zero, require_at_least

MAX_ENCODINGS = 3
"""Maximum number of nested encodings; more than one is rare, more than three is an attack."""

_STEP_IN = 64 * 1024
_STEP_OUT = 256 * 1024
_ZSTD_STEP_IN = 256
"""A zstd block of 4 bytes can unpack to 128 KiB, and its decoder cannot limit its output: 8 MiB per step."""
_ZSTD_MAX_WINDOW = 8 * 1024 * 1024
"""RFC 9659: the largest window a zstd content encoding may ask for."""
_MAX_MEMBERS = 1000
"""Maximum number of gzip members or zstd frames; empty ones are short, and each takes a new decoder."""
_TEXT_SAMPLE = 1024
_TEXT_BYTES = bytes({7, 8, 9, 10, 12, 13, 27} | set(range(0x20, 0x100)))
"""Bytes that the WHATWG's sniffing rules do not count as binary."""


@dataclass(frozen=True, slots=True)
class DecodeLimits:
    """Limits on the size of compressed pages once decoded."""

    max_bytes: int = 10_000_000
    """Maximum number of decoded bytes."""
    max_ratio: int = 200
    """Maximum number of decoded bytes per byte that came over the wire."""
    ratio_floor: int = 1_000_000
    """Number of decoded bytes up to which any ratio is allowed: a short page of one repeated line is no attack."""

    def __post_init__(self) -> None:
        require_above_zero(self, "decode", "max_bytes", "max_ratio")
        require_at_least(self, "decode", ratio_floor=0)


@dataclass(frozen=True, slots=True)
class Decoded:
    body: bytes
    reason: str = ""
    """Why there is no body: `too large`, `ratio` or `bad encoding`; empty if there is one."""
    detail: str = ""
    is_truncated: bool = False
    """The stream broke off or its checksum is wrong: the body is what came before."""


class _BrokenOffError(Exception):
    pass


class _GarbageError(Exception):
    """The bytes are not in the encoding that the label says."""


def decode(body: bytes, content_encoding: str, *, limits: DecodeLimits) -> Decoded:
    """The body without its content encodings, which are given as in the header, or why it cannot be decoded."""
    names = [name.strip().lower() for name in content_encoding.split(",")]
    names = [name for name in names if name not in ("", "identity")]
    if len(names) > MAX_ENCODINGS:
        return Decoded(b"", "bad encoding", f"{len(names)} encodings, at most {MAX_ENCODINGS} are decoded")
    wire_bytes = len(body)
    is_truncated = False
    for name in reversed(names):
        if not body:
            break
        layer = _decode_layer(body, name, wire_bytes=wire_bytes, limits=limits)
        if layer.reason:
            return layer
        body = layer.body
        is_truncated = is_truncated or layer.is_truncated
    if len(body) > limits.max_bytes:
        return Decoded(b"", "too large", f"over {limits.max_bytes} bytes")
    return Decoded(body, is_truncated=is_truncated)


def _decode_layer(body: bytes, name: str, *, wire_bytes: int, limits: DecodeLimits) -> Decoded:
    decoder = _DECODERS.get(name)
    if decoder is None:
        if _is_text(body):
            return Decoded(body)
        return Decoded(b"", "bad encoding", f"unknown encoding {name[:40]!r}")
    out = bytearray()
    is_truncated = False
    try:
        for piece in decoder(body):
            out += piece
            if len(out) > limits.max_bytes:
                return Decoded(b"", "too large", f"{name}: over {limits.max_bytes} bytes")
            if len(out) > max(limits.ratio_floor, limits.max_ratio * wire_bytes):
                return Decoded(b"", "ratio", f"{name}: over {limits.max_ratio} times {wire_bytes} bytes")
    except _BrokenOffError:
        is_truncated = True
    except _GarbageError as error:
        if _is_text(body):
            return Decoded(body)
        return Decoded(b"", "bad encoding", f"{name}: {error}")
    if is_truncated and not out:
        return Decoded(b"", "bad encoding", f"{name}: it ends before anything can be decoded")
    return Decoded(bytes(out), is_truncated=is_truncated)


def _is_text(body: bytes) -> bool:
    return not body[:_TEXT_SAMPLE].translate(None, _TEXT_BYTES)


def _slices(data: bytes | memoryview, size: int) -> Iterator[memoryview]:
    view = memoryview(data)
    for start in range(0, len(view), size):
        yield view[start : start + size]


def _gzip(body: bytes) -> Iterator[bytes]:
    rest = memoryview(body)
    for _ in range(_MAX_MEMBERS):
        used = yield from _inflate(rest, zlib.MAX_WBITS | 16)
        rest = rest[used:]
        # Whatever follows a member and is not another member is padding, which nobody reads.
        if bytes(rest[:2]) != b"\x1f\x8b":
            return
    raise _BrokenOffError


def _deflate(body: bytes) -> Iterator[bytes]:
    """RFC 9110 requires a zlib wrapper, but servers often send the bare stream. The zlib header tells them apart."""
    has_header = len(body) >= 2 and body[0] & 0x0F == 8 and (body[0] << 8 | body[1]) % 31 == 0
    yield from _inflate(memoryview(body), zlib.MAX_WBITS if has_header else -zlib.MAX_WBITS)


def _inflate(data: memoryview, window_bits: int) -> Generator[bytes, None, int]:
    """Yield the decoded bytes of one zlib stream; return the number of bytes it took up."""
    decoder = zlib.decompressobj(window_bits)
    used = 0
    try:
        for piece in _slices(data, _STEP_IN):
            used += len(piece)
            rest: bytes | memoryview = piece
            while rest and not decoder.eof:
                yield decoder.decompress(rest, _STEP_OUT)
                rest = decoder.unconsumed_tail
            if decoder.eof:
                return used - len(decoder.unused_data)
        # The decoder may still hold a few bytes that did not fit into the last step.
        yield decoder.flush()
        if decoder.eof:
            return used - len(decoder.unused_data)
    except zlib.error as error:
        # When a checksum turns out to be wrong, everything has been decoded already: browsers show it.
        if "check" in str(error) and "header" not in str(error):
            raise _BrokenOffError from error
        raise _GarbageError(error) from error
    raise _BrokenOffError


def _brotli(body: bytes) -> Iterator[bytes]:
    decoder = brotli.Decompressor()
    try:
        for piece in _slices(body, _STEP_IN):
            out = decoder.process(bytes(piece), output_buffer_limit=_STEP_OUT)
            # It accepts more input as soon as it has consumed the last, even if output is still to come.
            while out or not decoder.can_accept_more_data():
                yield out
                out = decoder.process(b"", output_buffer_limit=_STEP_OUT)
            if decoder.is_finished():
                return
    except brotli.error as error:
        raise _GarbageError(error) from error
    raise _BrokenOffError


def _zstd(body: bytes) -> Iterator[bytes]:
    decoder = zstandard.ZstdDecompressor(max_window_size=_ZSTD_MAX_WINDOW)
    rest = memoryview(body)
    try:
        for _ in range(_MAX_MEMBERS):
            frame = decoder.decompressobj()
            used = 0
            for piece in _slices(rest, _ZSTD_STEP_IN):
                yield frame.decompress(piece)
                used += len(piece)
                if frame.eof:
                    break
            else:
                raise _BrokenOffError
            rest = rest[used - len(frame.unused_data) :]
            if not rest:
                return
    except zstandard.ZstdError as error:
        raise _GarbageError(error) from error
    raise _BrokenOffError


_DECODERS: dict[str, Callable[[bytes], Iterator[bytes]]] = {
    "gzip": _gzip,
    "x-gzip": _gzip,
    "deflate": _deflate,
    "br": _brotli,
    "zstd": _zstd,
}
