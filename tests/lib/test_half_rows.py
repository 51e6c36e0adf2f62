"""Sums of rows as numpy computes them, compiled or not, and tables from files that may be no tables."""

from __future__ import annotations

import json
import struct
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lycosa.lib import half_rows
from lycosa.lib.half_rows import mapped, sum_of_rows

needs_compiled = pytest.mark.skipif(half_rows._compiled is None, reason="not compiled: there was no compiler")

FINITE = np.arange(1 << 16, dtype=np.uint16).view(np.float16)
FINITE = FINITE[np.isfinite(FINITE)]
"""Every finite half-precision number, those next to zero included."""


def written(folder: Path, table: np.ndarray, **changes: object) -> Path:
    described = {"dtype": "F16", "shape": list(table.shape), "data_offsets": [0, table.nbytes], **changes}
    head = json.dumps({"weights": described}).encode()
    path = folder / "table.safetensors"
    path.write_bytes(struct.pack("<Q", len(head)) + head + table.tobytes())
    return path


@needs_compiled
def test_every_number_is_widened_as_numpy_does():
    for table in (FINITE, FINITE[:-1]):  # as many columns as processors like, and not
        wide = sum_of_rows(table[None], np.zeros(1, dtype=np.uint16))
        assert wide.tobytes() == table.astype(np.float32).tobytes()


@needs_compiled
@given(
    st.integers(1, 300), st.integers(2, 90) | st.sampled_from([8, 64, 256]), st.integers(1, 60), st.integers(0, 2**32)
)
def test_sums_have_the_bits_of_numpy_s(height: int, width: int, count: int, seed: int):
    rng = np.random.default_rng(seed)
    table = rng.choice(FINITE, (height, width))
    rows = rng.integers(0, height, count).astype(np.uint16)
    found = sum_of_rows(table, rows)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(half_rows, "_compiled", None)
        assert found.tobytes() == sum_of_rows(table, rows).tobytes()


@needs_compiled
def test_rows_that_are_not_there_and_other_arrays_are_refused():
    table = np.ones((4, 8), dtype=np.float16)
    for rows in ([4], [0, 65535], []):
        with pytest.raises(ValueError, match="does not have"):
            sum_of_rows(table, np.array(rows, dtype=np.uint16))
    with pytest.raises(TypeError, match="another kind"):
        sum_of_rows(table, np.zeros(2, dtype=np.int64))


def test_a_table_is_read_where_it_lies_and_cannot_be_changed(tmp_path):
    table = np.arange(24, dtype=np.float16).reshape(6, 4)
    found = mapped(written(tmp_path, table), "weights")
    assert found.tobytes() == table.tobytes()
    with pytest.raises(ValueError, match="read-only"):
        found[0, 0] = 1


@pytest.mark.parametrize("changes", [{"dtype": "F32"}, {"shape": [24]}, {"shape": [7, 4]}], ids=str)
def test_what_is_no_such_table_is_refused(tmp_path, changes):
    with pytest.raises(ValueError, match=r"no table of half-precision|mmap length"):
        mapped(written(tmp_path, np.zeros((6, 4), dtype=np.float16), **changes), "weights")
