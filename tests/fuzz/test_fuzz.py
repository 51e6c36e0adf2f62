"""A short run of the fuzzer: the corpus, and some hundred inputs made from it; always the same ones."""

from __future__ import annotations

import random

import pytest

from fuzz.fuzzer import TOO_LONG, Finding, attempt, fuzz
from fuzz.targets import SEEDS, TARGETS

TRIES = 150


@pytest.mark.parametrize("name", TARGETS)
def test_no_input_gets_through(name):
    findings, _, _ = fuzz(name, TARGETS[name], SEEDS[name], tries=TRIES, some=random.Random(19))
    assert not findings


def test_what_is_wrong_is_found():
    def target(data: bytes) -> None:
        if b"%00" in data:
            raise KeyError("found")

    findings, _, _ = fuzz("test", target, (b"aa",), tries=2000, some=random.Random(1))
    assert isinstance(findings[0], Finding)
    assert b"%00" in findings[0].data


def test_what_hangs_is_found(monkeypatch):
    monkeypatch.setattr("fuzz.fuzzer.TOO_LONG", 0.05)

    def target(_: bytes) -> None:
        while True:
            pass

    assert TOO_LONG > 1
    found = attempt("test", target, b"")
    assert found is not None
    assert "processor time" in found.error
