"""A small coverage-guided fuzzer: mutates inputs, and keeps those that reach lines nothing has reached before."""

from __future__ import annotations

import hashlib
import random
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple

CORPUS = Path(__file__).parent / "corpus"
LONGEST = 20_000
TOO_LONG = 5.0
"""Seconds of processor time for one input, after which it counts as hanging."""
WORDS = (b"\x00", b"\xff\xfe", b"\n", b"\r\n", b"%", b"%00", b"&#x110000;", b"<", b">", b'"', b"'", b"//", b"..", b"*",
         b"$", b"9" * 40, b"-1", b"1e999", b"nan", b"\xf0\x9f\x92\xa9", b"\xe2\x80\xae", b"(" * 50, b"[" * 50,
         b"<div>" * 50, b"{", b"}", b"=", b"\x80", b"\xed\xa0\x80")  # fmt: skip


class Finding(NamedTuple):
    target: str
    error: str
    data: bytes


class Hanging(Exception):
    pass


@contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    def ring(*_: object) -> None:
        raise Hanging(f"took more than {seconds:g} s of processor time")

    before = signal.signal(signal.SIGVTALRM, ring)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def lines_of(target: Callable[[bytes], object], data: bytes) -> set[tuple[int, int]]:
    """Lines of Lycosa that the input reaches."""
    reached: set[tuple[int, int]] = set()

    def trace(frame: FrameType, event: str, _: Any) -> Any:
        if "/lycosa/" not in frame.f_code.co_filename:
            return None
        if event == "line":
            reached.add((hash(frame.f_code.co_filename), frame.f_lineno))
        return trace

    sys.settrace(trace)
    try:
        with time_limit(10 * TOO_LONG):
            target(data)
    finally:
        sys.settrace(None)
    return reached


def mutated(data: bytes, others: list[bytes], some: random.Random) -> bytes:
    out = bytearray(data)
    for _ in range(1 << some.randrange(5)):
        at = some.randrange(len(out) + 1)
        match some.randrange(7):
            case 0 if out:
                out[at % len(out)] ^= 1 << some.randrange(8)
            case 1:
                out[at:at] = some.choice(WORDS)
            case 2:
                del out[at : at + some.randrange(1, 30)]
            case 3:
                end = at + some.randrange(1, 60)
                out[at:at] = out[at:end] * some.randrange(1, 4)
            case 4:
                other = some.choice(others)
                begin = some.randrange(len(other) + 1)
                out[at : at + some.randrange(20)] = other[begin : begin + some.randrange(1, 200)]
            case 5:
                out[at : at + 1] = bytes([some.randrange(256)])
            case _:
                out[at:at] = some.randbytes(some.randrange(1, 6))
    return bytes(out[:LONGEST])


def corpus_of(name: str, seeds: tuple[bytes, ...]) -> list[bytes]:
    files = sorted((CORPUS / name).glob("*")) if (CORPUS / name).is_dir() else []
    return [*seeds, *(path.read_bytes() for path in files)]


def keep(name: str, data: bytes) -> Path:
    folder = CORPUS / name
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / hashlib.sha256(data).hexdigest()[:16]
    path.write_bytes(data)
    return path


def attempt(name: str, target: Callable[[bytes], object], data: bytes) -> Finding | None:
    try:
        with time_limit(TOO_LONG):
            target(data)
    except Exception as error:
        return Finding(name, f"{type(error).__name__}: {error}"[:300], data)
    return None


def fuzz(
    name: str,
    target: Callable[[bytes], object],
    seeds: tuple[bytes, ...],
    *,
    seconds: float = 0.0,
    tries: int = 0,
    some: random.Random,
) -> tuple[list[Finding], list[bytes], int]:
    """Findings, inputs that reached something new, and the number of tries. Ends after the time or the tries."""
    known: set[tuple[int, int]] = set()
    pool = corpus_of(name, seeds)
    findings = [found for data in pool if (found := attempt(name, target, data))]
    if findings:
        return findings, [], len(pool)
    for data in pool:
        known |= lines_of(target, data)
    new: list[bytes] = []
    errors: set[str] = set()
    deadline = time.monotonic() + seconds
    count = 0
    while (seconds and time.monotonic() < deadline) or count < tries:
        count += 1
        data = mutated(some.choice(pool), pool, some)
        found = attempt(name, target, data)
        if found is not None:
            if found.error[:60] not in errors:
                errors.add(found.error[:60])
                findings.append(found)
        elif count % 8 == 0:  # looking at lines takes ten times as long
            reached = lines_of(target, data)
            if not reached <= known:
                known |= reached
                pool.append(data)
                new.append(data)
    return findings, new, count
