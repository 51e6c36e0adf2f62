"""HashIndex against a dict."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lycosa.lib import hashindex
from lycosa.lib.hashindex import HashIndex

# Few different values, so that batches repeat themselves; the limits of both integer types; and multiples of a high
# power of two, many of which fall into one bucket.
HASHES = st.one_of(
    st.integers(0, 40),
    st.sampled_from([2**63 - 1, 2**63, 2**64 - 1]),
    st.integers(0, 100).map(lambda n: n * pow(0x9E3779B97F4A7C15, -1, 2**64) % 2**64),
    st.integers(0, 2**64 - 1),
)
BATCHES = st.lists(st.lists(HASHES, max_size=60), max_size=12)


def hashes(values: list[int]) -> np.ndarray:
    return np.array(values, dtype=np.uint64)


@settings(deadline=None)
@given(st.lists(st.one_of(HASHES, st.integers(-(2**63), -1)), max_size=300))
def test_one_at_a_time_or_together(values: list[int]) -> None:
    single, together, model = HashIndex(), HashIndex(), {}
    for value in values:
        known = model.setdefault(value % 2**64, len(model))
        is_new = len(model) - 1 == known and known == len(single)
        assert single.find_or_add_one(value, len(single)) == (known, is_new)
        ids, _ = together.find_or_add(hashes([value % 2**64]), len(together))
        assert ids.tolist() == [known]
    assert len(single) == len(together) == len(model)
    for part, array in single.take().items():
        np.testing.assert_array_equal(array, together.take()[part])
    assert single.find(hashes(list(model))).tolist() == list(model.values())


@given(BATCHES)
def test_find_or_add_is_a_dict(batches: list[list[int]]) -> None:
    index, model = HashIndex(), {}
    for batch in batches:
        expected_new = []
        first = len(model)
        for value in batch:
            expected_new.append(value not in model)
            model.setdefault(value, len(model))
        ids, is_new = index.find_or_add(hashes(batch), first)
        assert ids.tolist() == [model[value] for value in batch]
        assert is_new.tolist() == expected_new
        assert len(index) == len(model)
    assert index.find(hashes(list(model))).tolist() == list(model.values())


@pytest.mark.skipif(hashindex._compiled is None, reason="not compiled: there was no compiler at installation")
class TestCompiled:
    """The function in C beside its twin."""

    @given(BATCHES)
    def test_finds_the_same(self, batches: list[list[int]]) -> None:
        ours, theirs = HashIndex(), HashIndex()
        for batch in batches:
            found = ours.find_or_add(hashes(batch), len(ours))
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(hashindex, "_compiled", None)
                expected = theirs.find_or_add(hashes(batch), len(theirs))
            for own, their in zip(found, expected, strict=True):
                np.testing.assert_array_equal(own, their)
                assert own.dtype == their.dtype
            assert len(ours) == len(theirs)
        both = hashes([value for batch in batches for value in batch])
        np.testing.assert_array_equal(ours.find(both), theirs.find(both))

    def test_refuses_what_is_no_table(self) -> None:
        flat, ids, fill = np.zeros(32, np.uint64), np.zeros(32, np.uint32), np.full(2, 16, np.uint8)
        keys, found, is_new = hashes([7]), np.zeros(1, np.int64), np.zeros(1, np.bool_)
        find_or_add = hashindex._compiled.find_or_add
        with pytest.raises(ValueError, match="full"):
            find_or_add(flat, ids, fill, 63, keys, 1, found, is_new)
        for wrong in (
            (flat, ids, fill, 62, keys, 1, found, is_new),
            (flat[1:], ids, fill, 63, keys, 1, found, is_new),
            (flat, ids, fill, 63, keys, 1, found[:0], is_new),
            (flat, ids.astype(np.uint64), fill, 63, keys, 1, found, is_new),
        ):
            with pytest.raises((TypeError, ValueError), match=r"an array|arrays"):
                find_or_add(*wrong)


@given(BATCHES, st.lists(HASHES))
def test_add_keeps_the_first_number(batches: list[list[int]], others: list[int]) -> None:
    index, model = HashIndex(), {}
    number = 0
    for batch in batches:
        for i, value in enumerate(batch):
            model.setdefault(value, number + i)
        index.add(hashes(batch), np.arange(number, number + len(batch)))
        number += len(batch)
    assert index.find(hashes(others)).tolist() == [model.get(value, -1) for value in others]
    assert len(index) == len(model)


@pytest.mark.parametrize("capacity", [0, 100_000])
def test_growth_and_long_batches_lose_nothing(capacity: int) -> None:
    rng = np.random.default_rng(3)
    values = rng.integers(0, 2**64, 100_000, dtype=np.uint64)
    index = HashIndex(capacity=capacity)
    for part in np.split(values, [10, 50, 300, 5_000]):
        index.find_or_add(part, len(index))
    assert len(index) == len(values)
    assert (index.find(values) == np.arange(len(values))).all()
    ids, is_new = index.find_or_add(np.concatenate((values, values + np.uint64(1))), len(index))
    assert np.count_nonzero(is_new) == len(values)
    assert (ids[is_new] == np.arange(len(values), 2 * len(values))).all()


def test_one_bucket_for_all_spills_over_the_end_of_the_table() -> None:
    """Hashes that are chosen to share the last bucket are stored and found, too."""
    inverse = pow(0x9E3779B97F4A7C15, -1, 2**64)
    values = hashes([(2**64 - 1 - i) * inverse % 2**64 for i in range(80)])
    index = HashIndex()
    index.add(values, np.arange(80))
    assert index.find(values).tolist() == list(range(80))
    assert index.find(hashes([(2**64 - 200) * inverse % 2**64])).tolist() == [-1]


def test_signed_and_unsigned_hashes_are_the_same() -> None:
    index = HashIndex()
    index.add(np.array([-1, 0, 7]), np.array([5, 6, 7]))
    assert index.find(hashes([2**64 - 1, 0, 7, 8])).tolist() == [5, 6, 7, -1]


def test_numbers_go_up_to_32_bits() -> None:
    index = HashIndex()
    index.add(np.array([1]), np.array([2**32 - 1]))
    assert index.find(np.array([1])).tolist() == [2**32 - 1]


def test_hashes_and_numbers_of_different_lengths_are_refused() -> None:
    with pytest.raises(ValueError, match="2 hashes with 1 ids"):
        HashIndex().add(np.array([1, 2]), np.array([1]))


def test_memory_stays_within_forty_bytes_an_entry() -> None:
    count = 200_000
    index = HashIndex()
    index.add(np.random.default_rng(1).integers(0, 2**64, count, dtype=np.uint64), np.arange(count))
    size = sum(getattr(index, column).nbytes for column in ("_flat", "_ids", "_fill"))
    assert size / count < 40
    assert hashindex._MAX_LOAD < 1


def test_loaded_from_a_snapshot_it_knows_the_same():
    index = HashIndex()
    keys = np.random.default_rng(5).integers(0, 2**63, 5_000)
    index.add(keys, np.arange(1, 5_001))
    saved = index.take()
    index.find_or_add(keys + 1, 5_001)  # what was taken does not change
    loaded = HashIndex.loaded(saved)
    assert len(loaded) == 5_000
    assert loaded.find(keys).tolist() == list(range(1, 5_001))
    numbers, is_new = loaded.find_or_add(keys[:3] + 1, 5_001)
    assert (numbers.tolist(), is_new.all()) == ([5_001, 5_002, 5_003], True)


@pytest.mark.parametrize("part", ["keys", "ids", "fill"])
def test_parts_that_do_not_fit_together_are_refused(part):
    saved = HashIndex().take()
    with pytest.raises(ValueError, match=part):
        HashIndex.loaded({**saved, part: saved[part][:-16]} if part != "ids" else {**saved, "ids": saved["ids"] * 1.0})
