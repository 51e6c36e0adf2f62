"""The loops that are compiled with the package give the same bits as their twins."""
# ruff: noqa: B023 - every function that is made in a loop is called at once

from __future__ import annotations

import importlib
from collections.abc import Iterator
from types import FunctionType, SimpleNamespace

import numpy as np
import pytest

from lycosa.lib import compiled as compiled_module
from lycosa.lib import native
from lycosa.lib.wordhash import SIZE
from lycosa.strategies.hunter import evidence as evidence_module
from lycosa.strategies.hunter import features, sums
from lycosa.strategies.hunter.evidence import Evidence
from lycosa.strategies.hunter.learner import Model
from lycosa.strategies.hunter.loops import IN_FEATURES, IN_SUMS, twins
from lycosa.strategies.hunter.notes import NEAR, PLACES, URL_WORDS, LinkAddresses
from lycosa.strategies.hunter.tables import FEATURES

LOOPS = (*IN_SUMS, *IN_FEATURES)
compiled = native.load("lycosa.strategies.hunter._loops")
pytestmark = pytest.mark.skipif(compiled is None, reason="the loops were not compiled: there was no compiler")


class Both:
    """Two records of the same crawl, one by each kind of loop; every result must be the same."""

    def __init__(self, monkeypatch, idf: np.ndarray, other: object) -> None:
        self._patch = monkeypatch
        self.all = [(loops, Evidence(idf)) for loops in (compiled, other)]

    def do(self, act):
        results = []
        for loops, evidence in self.all:
            self._patch.setattr(evidence_module, "loops", lambda loops=loops: loops)
            results.append(act(evidence))
        assert_same(*results)
        return results[0]

    def compare(self) -> None:
        first, second = (evidence for _, evidence in self.all)
        for table in ("links", "citations", "pages", "hosts", "folders"):
            for name, column in getattr(first, table)._asdict().items():
                assert_same(column, getattr(getattr(second, table), name), f"{table}.{name}")
        for name in ("near_words", "url_words"):
            assert_same(getattr(first, name).table, getattr(second, name).table, name)
        assert_same(first.rates, second.rates)


def assert_same(one: object, other: object, what: str = "") -> None:
    if isinstance(one, np.ndarray):
        assert one.dtype == other.dtype, what
        assert one.tobytes() == other.tobytes(), what
    elif isinstance(one, tuple):
        for part, twin in zip(one, other, strict=True):
            assert_same(part, twin, what)
    else:
        assert one == other, what


def model(rng: np.random.Generator, diversity: float) -> Model:
    some = (rng.normal(0, 1, len(FEATURES)).astype(np.float32) for _ in range(2))
    spread = rng.uniform(0.05, 3, len(FEATURES)).astype(np.float32)
    mean, weights = some
    return Model(mean, spread, weights, float(rng.normal()), diversity)


@pytest.fixture
def interpreted(monkeypatch) -> Iterator[SimpleNamespace]:
    """The twins where neither a compiler nor numba is."""
    modules = [features, sums]
    with monkeypatch.context() as patch:
        patch.setattr(compiled_module, "numba", None)
        for module in modules:
            importlib.reload(module)
        yield SimpleNamespace(**{name: getattr(sums, name, None) or getattr(features, name) for name in LOOPS})
    for module in modules:
        importlib.reload(module)


@pytest.mark.parametrize("seed", range(6))
def test_a_crawl(seed: int, monkeypatch):
    compare_crawls(seed, monkeypatch, twins())


def test_a_crawl_without_numba(interpreted, monkeypatch):
    assert type(interpreted.visit) is FunctionType
    compare_crawls(4, monkeypatch, interpreted, steps=36)


def compare_crawls(seed: int, monkeypatch, other: object, *, steps: int = 70) -> None:
    rng = np.random.default_rng(seed)
    idf = rng.uniform(0, 9, SIZE).astype(np.float32)
    both = Both(monkeypatch, idf, other)
    both.do(lambda evidence: evidence.place(1, "http://a.test/b/c"))
    chosen_by, highest, diversity = model(rng, 0.0), 2, (0.0, 0.7)[seed % 2]
    for step in range(steps):
        waiting = both.all[0][1].waiting(0, highest)
        link = int(rng.choice(waiting)) if len(waiting) and step else 1
        many = 300 if seed == 5 else 25  # so many that not all links beside one are scored again
        targets = np.unique(rng.integers(1, highest + 30, rng.integers(0, many))).astype(np.int64)
        highest = max(highest, int(targets.max(initial=0)) + 1)
        near = rng.integers(0, 400, (len(targets), NEAR)).astype(np.uint16) * (rng.random((len(targets), NEAR)) < 0.7)
        addresses = LinkAddresses(
            rng.integers(0, 300, (len(targets), URL_WORDS)).astype(np.uint16),
            rng.integers(1, 40 if seed % 3 else PLACES, (len(targets), 2)).astype(np.int32),
        )
        gone = rng.choice(waiting, min(len(waiting), 3), replace=False) if step % 4 == 1 else np.zeros(0, np.int64)
        relevance = float(rng.choice([0.0, 1.0, rng.random()]))

        def visit(evidence: Evidence):
            evidence.reserve(targets)
            change = evidence.visit(
                link, relevance, targets, near.astype(np.uint16), addresses, gone=gone, model=chosen_by
            )
            return change.dirty, change.z_scores, change.tried

        dirty, _, _ = both.do(visit)
        if step % 5 == 2:
            both.do(lambda evidence: evidence.guess(highest, f"http://g{step}.test/"))
            dirty = np.append(dirty, highest)
            highest += 1
        chosen_by = model(rng, diversity)
        bar, tolerance = float(rng.uniform(0, 0.5)), float(rng.choice([0.0, 0.05]))
        both.do(lambda evidence: evidence.score(dirty, chosen_by, bar, tolerance))
        both.do(lambda evidence: evidence.tell(targets))
        both.do(lambda evidence: evidence.features(dirty))
        if step % 7 == 6:
            pages = step + 1
            told = rng.random(pages).astype(np.float32)
            judged = rng.normal(0, 1, SIZE).astype(np.float32)
            both.do(lambda evidence: evidence.restate(told, judged))
            every = both.all[0][1].waiting(0, highest)
            both.do(lambda evidence: evidence.keep(every, evidence.features(every)))
            both.do(lambda evidence: evidence.score_again(every, chosen_by))
            both.do(lambda evidence: evidence.hand_on(every, bar))
            both.compare()


def test_values_at_the_edges():
    """Of features: the least, the largest, those that are rounded, and none."""
    tiny, huge = np.float32(2**-15), np.float32(70_000)
    values = [
        0.0,
        -0.0,
        tiny,
        -tiny,
        2**-14,
        2**-14 * 1.0004,
        1.00049,
        1.00048,
        40_000,
        65_504,
        65_519,
        huge,
        -huge,
        np.inf,
    ]
    found = np.array(values + [1 / 3] * (2 * len(FEATURES) - len(values)), np.float32).reshape(2, -1)
    kept = []
    for loops in (compiled, twins()):
        record = Evidence(np.ones(SIZE, np.float32))
        loops.keep(np.array([3, 9]), found, 5, record.links)
        kept.append((record.links.features.copy(), record.links.read.copy()))
    assert_same(*kept)
    constants = Model(*(np.ones(len(FEATURES), np.float32) for _ in range(3)), 40.0, 0.0)
    scores = [np.empty(2, np.float32) for _ in range(2)]
    for loops, answer in zip((compiled, twins()), scores, strict=True):
        loops.predict(found, constants, answer)
    assert_same(*scores)


@pytest.mark.parametrize("name", LOOPS)
def test_what_does_not_fit_is_an_error(name: str):
    """Not a crash: the number of arguments, and arrays of another kind."""
    loop = getattr(compiled, name)
    with pytest.raises(TypeError):
        loop()
    for count in range(1, 18):
        with pytest.raises((TypeError, BufferError)):
            loop(*[SimpleNamespace()] * count)
        with pytest.raises(TypeError):
            loop(*[np.zeros((2, 3), np.float16)] * count)
