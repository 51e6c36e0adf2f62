"""Trees of values and arrays come back from their files to the last bit, or not at all."""

from __future__ import annotations

import json
import math
from hashlib import sha256
from pathlib import Path

import numpy as np
import pytest

from lycosa.lib.snapshot import FORMAT, Damaged, loaded_list, read, size_of, taken_list, write

TREE = {
    "count": 3,
    "share": 0.1 + 0.2,
    "nothing": None,
    "names": ["é", "b"],
    "empty": {},
    "inner": {"words": np.arange(7, dtype=np.uint16), "deeper": {"flags": np.array([True, False])}},
    "wide": np.arange(12, dtype=np.float32).reshape(3, 4) / 7,
    "none": np.zeros((0, 5), dtype=np.int64),
    "odd": np.array([math.nan, math.inf, -0.0]),
    "big": np.array([2**64 - 1], dtype=np.uint64),
}


def assert_same(one, other) -> None:
    assert one.keys() == other.keys()
    for name, value in one.items():
        if isinstance(value, dict):
            assert_same(value, other[name])
        elif isinstance(value, np.ndarray):
            assert (value.dtype, value.shape) == (other[name].dtype, other[name].shape)
            assert value.tobytes() == other[name].tobytes()
        else:
            assert value == other[name]


def handmade(path: Path, arrays: object, data: bytes = b"", *, values: object = None, length: int | None = None) -> str:
    """A file as somebody might forge it; its SHA-256."""
    head = json.dumps({"values": values or {"a": {"<array>": 0}}, "arrays": arrays}).encode()
    head += b" " * (-(len(FORMAT) + 8 + len(head)) % 8)
    size = len(head) if length is None else length
    path.write_bytes(FORMAT + size.to_bytes(8, "little") + head + data)
    return sha256(path.read_bytes()).hexdigest()


def test_what_is_read_is_what_was_written(tmp_path):
    digest = write(tmp_path / "tree", TREE)
    assert digest == sha256((tmp_path / "tree").read_bytes()).hexdigest()
    found = read(tmp_path / "tree", digest)
    assert_same(found, TREE)
    assert not found["wide"].flags.writeable


def test_what_is_forged_here_would_be_read_if_it_were_right(tmp_path):
    digest = handmade(tmp_path / "right", [["|u1", [8]]], bytes(range(8)))
    assert read(tmp_path / "right", digest)["a"].tolist() == list(range(8))


def test_the_size_is_that_of_the_arrays():
    assert size_of(TREE) == 7 * 2 + 2 + 12 * 4 + 3 * 8 + 8


def test_slices_and_columns_are_written_as_they_look(tmp_path):
    table = np.zeros(5, np.dtype([("one", np.int32), ("other", np.float32)]))
    table["one"] = range(5)
    digest = write(tmp_path / "tree", {"column": table["one"][1:4]})
    assert read(tmp_path / "tree", digest)["column"].tolist() == [1, 2, 3]


def test_lists_of_arrays_keep_their_parts():
    parts = [np.array([3, 1]), np.zeros(0, np.int64), np.array([2])]
    assert [part.tolist() for part in loaded_list(taken_list(parts))] == [[3, 1], [], [2]]
    assert loaded_list(taken_list([])) == []


def test_every_byte_counts(tmp_path):
    digest = write(tmp_path / "tree", TREE)
    whole = (tmp_path / "tree").read_bytes()
    for at in range(len(whole)):
        (tmp_path / "tree").write_bytes(whole[:at] + bytes([whole[at] ^ 0x10]) + whole[at + 1 :])
        with pytest.raises(Damaged):
            read(tmp_path / "tree", digest)


def test_a_torn_file_is_refused_at_any_length(tmp_path):
    digest = write(tmp_path / "tree", TREE)
    whole = (tmp_path / "tree").read_bytes()
    for length in (*range(len(whole)), len(whole) + 1):
        (tmp_path / "tree").write_bytes((whole + b"x")[:length])
        with pytest.raises(Damaged):
            read(tmp_path / "tree", digest)


@pytest.mark.parametrize("kind", ["|O", "|V8", "<U4", "<M8[s]", "[('a', '<i4')]", "<f2", 7])
def test_only_numbers_are_read(tmp_path, kind):
    digest = handmade(tmp_path / "forged", [[kind, [1]]], b"\0" * 16)
    with pytest.raises(Damaged):
        read(tmp_path / "forged", digest)


@pytest.mark.parametrize("shape", [[-1], [2.0], ["2"], [10**12], [2**62, 4], 3, [True]])
def test_shapes_must_fit_the_file(tmp_path, shape):
    digest = handmade(tmp_path / "forged", [["|u1", shape]], b"\0" * 8)
    with pytest.raises(Damaged):
        read(tmp_path / "forged", digest)


@pytest.mark.parametrize("length", [0, 2**63, 2**64 - 1])
def test_the_head_must_fit_the_file(tmp_path, length):
    digest = handmade(tmp_path / "forged", [], length=length)
    with pytest.raises(Damaged):
        read(tmp_path / "forged", digest)


@pytest.mark.parametrize("values", [[1], "text", {"a": {"<array>": 9}}])
def test_values_must_be_a_tree_of_its_arrays(tmp_path, values):
    digest = handmade(tmp_path / "forged", [["|u1", [8]]], b"\0" * 8, values=values)
    with pytest.raises(Damaged):
        read(tmp_path / "forged", digest)


def test_other_arrays_are_not_written(tmp_path):
    with pytest.raises(TypeError, match="object"):
        write(tmp_path / "tree", {"things": np.array([object()])})
