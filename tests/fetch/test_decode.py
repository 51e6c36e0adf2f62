from __future__ import annotations

import gzip
import random
import subprocess
import sys
import zlib

import brotli
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from lycosa.fetch.decode import Decoded, DecodeLimits, decode

LIMITS = DecodeLimits()
WORDS = " ".join(random.Random(1).choices([f"word{n}" for n in range(5000)], k=40_000))
PAGE = f"<!doctype html><p>{WORDS}".encode()


def raw_deflate(data: bytes) -> bytes:
    encoder = zlib.compressobj(wbits=-15)
    return encoder.compress(data) + encoder.flush()


ENCODERS = {
    "gzip": gzip.compress,
    "x-gzip": gzip.compress,
    "deflate": zlib.compress,
    "br": lambda data: brotli.compress(data, quality=4),
    "zstd": zstandard.compress,
}


@pytest.mark.parametrize("name", ENCODERS)
def test_takes_the_encoding_off(name: str) -> None:
    assert decode(ENCODERS[name](PAGE), name, limits=LIMITS) == Decoded(PAGE)
    assert decode(ENCODERS[name](b""), name, limits=LIMITS) == Decoded(b"")


@pytest.mark.parametrize("label", ["", "identity", " , ", "identity, identity"])
def test_nothing_to_take_off(label: str) -> None:
    assert decode(PAGE, label, limits=LIMITS) == Decoded(PAGE)


def test_deflate_without_its_wrapper() -> None:
    assert decode(raw_deflate(PAGE), "deflate", limits=LIMITS) == Decoded(PAGE)


def test_one_over_the_other() -> None:
    body = gzip.compress(brotli.compress(zlib.compress(PAGE)))
    assert decode(body, "deflate, BR ,identity,GZip", limits=LIMITS) == Decoded(PAGE)


def test_too_many_one_over_the_other() -> None:
    body = PAGE
    for _ in range(4):
        body = gzip.compress(body)
    assert decode(body, "gzip, gzip, gzip, gzip", limits=LIMITS).reason == "bad encoding"


def test_members_and_frames_in_a_row() -> None:
    half = len(PAGE) // 2
    members = gzip.compress(PAGE[:half]) + gzip.compress(PAGE[half:])
    assert decode(members, "gzip", limits=LIMITS) == Decoded(PAGE)
    frames = zstandard.compress(PAGE[:half]) + zstandard.compress(PAGE[half:])
    assert decode(frames, "zstd", limits=LIMITS) == Decoded(PAGE)


def test_padding_after_the_end() -> None:
    assert decode(gzip.compress(PAGE) + b"\0" * 50, "gzip", limits=LIMITS) == Decoded(PAGE)


@pytest.mark.parametrize("name", ENCODERS)
def test_what_came_before_a_stream_broke_off(name: str) -> None:
    body = ENCODERS[name](PAGE)
    decoded = decode(body[: len(body) * 2 // 3], name, limits=LIMITS)
    assert decoded.is_truncated
    assert decoded.reason == ""
    assert len(decoded.body) > 1000
    assert PAGE.startswith(decoded.body)


def test_a_stream_of_which_nothing_can_be_decoded_is_no_empty_page() -> None:
    decoded = decode(gzip.compress(PAGE)[:12], "gzip", limits=LIMITS)
    assert (decoded.reason, decoded.detail) == ("bad encoding", "gzip: it ends before anything can be decoded")


def test_wrong_checksum() -> None:
    body = bytearray(gzip.compress(PAGE))
    body[-6] ^= 0xFF
    decoded = decode(bytes(body), "gzip", limits=LIMITS)
    assert (decoded.is_truncated, decoded.reason) == (True, "")
    assert PAGE.startswith(decoded.body)


@pytest.mark.parametrize("name", [*ENCODERS, "utf-8", "compress"])
def test_text_that_is_labelled_wrongly_is_taken_as_it_is(name: str) -> None:
    text = "<html><p>plain, whatever the label says: ä</html>".encode()
    assert decode(text, name, limits=LIMITS) == Decoded(text)


@pytest.mark.parametrize("name", [*ENCODERS, "compress"])
def test_garbage(name: str) -> None:
    garbage = b"\xff\x00\x01\x02\x03" * 100
    decoded = decode(garbage, name, limits=LIMITS)
    assert (decoded.body, decoded.reason) == (b"", "bad encoding")
    assert name in decoded.detail


@given(st.binary(max_size=300), st.sampled_from([*ENCODERS, "gzip, br", "zstd, deflate"]))
def test_any_bytes_give_a_value(body: bytes, label: str) -> None:
    decoded = decode(body, label, limits=LIMITS)
    assert not (decoded.reason and decoded.body)


@given(st.sampled_from(sorted(ENCODERS)), st.integers(0, 10**6), st.integers(0, 255))
def test_a_damaged_byte_gives_a_value(name: str, place: int, value: int) -> None:
    body = bytearray(ENCODERS[name](PAGE[:2000]))
    body[place % len(body)] = value
    decoded = decode(bytes(body), name, limits=LIMITS)
    assert decoded.reason in ("", "bad encoding")


@pytest.mark.parametrize("name", ["", *ENCODERS])
def test_cap_on_bytes(name: str) -> None:
    body = ENCODERS[name](PAGE) if name else PAGE
    fits = DecodeLimits(max_bytes=len(PAGE))
    assert decode(body, name, limits=fits).body == PAGE
    one_less = DecodeLimits(max_bytes=len(PAGE) - 1)
    assert decode(body, name, limits=one_less).reason == "too large"
    assert decode(body, name, limits=one_less).body == b""


def test_cap_on_the_ratio_begins_at_its_floor() -> None:
    body = gzip.compress(b"<br>" * 500_000)
    assert decode(body, "gzip", limits=LIMITS).reason == "ratio"
    below = DecodeLimits(ratio_floor=2_000_000)
    assert len(decode(body, "gzip", limits=below).body) == 2_000_000


def test_cap_on_the_ratio_counts_from_the_wire() -> None:
    """Two layers with a ratio of 100 each have a ratio of 10,000 together."""
    zeros = bytes(4_000_000)
    body = gzip.compress(brotli.compress(zeros))
    assert decode(body, "br, gzip", limits=LIMITS).reason == "ratio"


@pytest.mark.parametrize("name", ENCODERS)
def test_few_bytes_that_unpack_to_many_steps(name: str) -> None:
    zeros = bytes(3_000_000)
    generous = DecodeLimits(max_ratio=10**6)
    assert decode(ENCODERS[name](zeros), name, limits=generous) == Decoded(zeros)


def test_a_zstd_window_of_more_than_8_mib_is_not_granted() -> None:
    parameters = zstandard.ZstdCompressionParameters(window_log=27, enable_ldm=True)
    encoder = zstandard.ZstdCompressor(compression_params=parameters).compressobj()
    body = encoder.compress(bytes(100_000)) + encoder.flush()
    assert decode(body, "zstd", limits=LIMITS).reason == "bad encoding"


def test_empty_members_without_end() -> None:
    assert decode(gzip.compress(b"") * 2000, "gzip", limits=LIMITS).reason == "bad encoding"
    assert decode(zstandard.compress(b"") * 2000, "zstd", limits=LIMITS).reason == "bad encoding"


BOMBS = """
import sys, resource, zlib
from lycosa.fetch.decode import DecodeLimits, decode
import brotli, zstandard

name = sys.argv[1]
block = bytes(10_000_000)
if name == "gzip":
    encoder = zlib.compressobj(9, wbits=31)
    first = encoder.compress(block) + encoder.flush(zlib.Z_FULL_FLUSH)
    # After a full flush the stream starts afresh, so a piece of it can be repeated.
    pieces = [first] + [encoder.compress(block) + encoder.flush(zlib.Z_FULL_FLUSH)] * 99
elif name == "br":
    encoder = brotli.Compressor(quality=1)
    pieces = [encoder.process(block) for _ in range(100)] + [encoder.finish()]
else:
    # A block of 4 bytes for each 128 KiB: the densest zstd there is.
    pieces = [bytes.fromhex("28b52ffd 00 58")]
    pieces += [(131072 << 3 | 1 << 1).to_bytes(3, "little") + b"x"] * 8000
    pieces += [(0 << 3 | 1).to_bytes(3, "little")]
bomb = b"".join(pieces)
del pieces
used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + 64_000_000, used + 64_000_000))
decoded = decode(bomb, name, limits=DecodeLimits(max_bytes=10_000_000))
assert not decoded.body
print(decoded.reason)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="reads its memory from /proc")
@pytest.mark.parametrize("name", ["gzip", "br", "zstd"])
def test_a_bomb_of_a_gigabyte_costs_the_cap_at_most(name: str) -> None:
    """Decodes in a process that may not grow by more than 64 MB."""
    done = subprocess.run([sys.executable, "-c", BOMBS, name], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() in ("too large", "ratio")
