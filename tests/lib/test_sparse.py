"""Rows beside scipy's sparse matrices: the same bits, compiled or not."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

from lycosa.lib import sparse
from lycosa.lib.sparse import Rows

WIDTH = 700


@st.composite
def matrices(draw) -> Rows:
    lengths = draw(st.lists(st.integers(0, 60), min_size=1, max_size=30))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    count = sum(lengths)
    values = (rng.standard_normal(count) * 10.0 ** rng.integers(-6, 6, count)).astype(np.float32)
    columns = rng.integers(0, WIDTH, count).astype(np.uint16)
    return Rows(values, columns, np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64), WIDTH)


@pytest.mark.parametrize("is_compiled", [True, False])
@given(matrices(), st.integers(0, 99))
def test_products_are_scipys(is_compiled: bool, rows: Rows, seed: int) -> None:
    if is_compiled and sparse._compiled is None:
        pytest.skip("not compiled: there was no compiler at installation")
    rng, count = np.random.default_rng(seed), len(rows.starts) - 1
    of_columns, of_rows = rng.random(WIDTH).astype(np.float32), rng.random(count).astype(np.float32)
    theirs = csr_array((rows.values, rows.columns, rows.starts), shape=(count, WIDTH))
    with pytest.MonkeyPatch.context() as patch:
        if not is_compiled:
            patch.setattr(sparse, "_compiled", None)
        by_row, by_column = rows.by_row(of_columns), rows.by_column(of_rows)
    assert by_row.tobytes() == (theirs @ of_columns).tobytes()
    assert by_column.tobytes() == (theirs.T @ of_rows).tobytes()


@pytest.mark.skipif(sparse._compiled is None, reason="not compiled: there was no compiler at installation")
def test_arrays_that_do_not_fit_are_refused() -> None:
    values, columns = np.ones(3, np.float32), np.array([0, 1, 2], np.uint16)
    for starts, factors in (([0, 3], 2), ([0, 4], 3), ([1, 3], 3), ([0, 2, 1, 3], 3), ([0, 2], 3)):
        with pytest.raises(ValueError, match="do not fit"):
            Rows(values, columns, np.array(starts, np.int64), 3).by_row(np.ones(factors, np.float32))
    with pytest.raises(TypeError, match="another kind"):
        Rows(values, columns.astype(np.int64), np.array([0, 3]), 3).by_row(np.ones(3, np.float32))
