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
@given(st.lists(st.integers(1, 1_100), min_size=0, max_size=8), st.integers(0, 2**32), st.booleans())
def test_rows_and_counts_are_numpys(lengths: list[int], seed: int, has_nothing: bool) -> None:
    """Rows of such lengths are added up in pieces of 8 and 128."""
    rng, count = np.random.default_rng(seed), sum(lengths)
    columns, counts = rng.integers(0, 1 << 16, count).astype(np.uint16), rng.integers(0, 256, count).astype(np.uint8)
    starts = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    by_count, by_column = (rng.random(size).astype(np.float32) * 100 for size in (256, 1 << 16))
    if has_nothing and count:
        by_count[counts[starts[0] : starts[1]]] = 0
    shares = rng.random(len(lengths)).astype(np.float32)
    found = (
        sparse.unit_rows(columns, counts, starts, by_count, by_column),
        sparse.count_columns(columns, starts, shares),
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sparse, "_compiled", None)
        by_numpy = (
            sparse.unit_rows(columns, counts, starts, by_count, by_column),
            sparse.count_columns(columns, starts, shares),
        )
    for ours, theirs in zip((*found[0], found[1]), (*by_numpy[0], by_numpy[1]), strict=True):
        assert (ours.dtype, ours.tobytes()) == (theirs.dtype, theirs.tobytes())


@pytest.mark.skipif(sparse._compiled is None, reason="not compiled: there was no compiler at installation")
def test_rows_and_counts_that_do_not_fit_are_refused() -> None:
    columns, counts = np.array([0, 1, 2], np.uint16), np.ones(3, np.uint8)
    factors, shares = np.ones(256, np.float32), np.ones(2, np.float32)
    for starts in ([0, 2], [0, 3, 3], [1, 2, 3], [0, 4], [0, 5, 3], []):
        at = np.array(starts, np.int64)
        with pytest.raises(ValueError, match=r"do not fit|negative"):
            sparse.unit_rows(columns, counts, at, factors, np.ones(3, np.float32))
        with pytest.raises(ValueError, match="do not fit"):
            sparse.count_columns(columns, at, shares)
    at = np.array([0, 3], np.int64)
    for by_count, by_column in ((factors[:255], factors), (factors, factors[:2])):
        with pytest.raises(ValueError, match="do not fit"):
            sparse.unit_rows(columns, counts, at, by_count, by_column)
    with pytest.raises(ValueError, match="do not fit"):
        sparse.unit_rows(columns, counts[:2], at, factors, factors)


@pytest.mark.skipif(sparse._compiled is None, reason="not compiled: there was no compiler at installation")
def test_arrays_that_do_not_fit_are_refused() -> None:
    values, columns = np.ones(3, np.float32), np.array([0, 1, 2], np.uint16)
    for starts, factors in (([0, 3], 2), ([0, 4], 3), ([1, 3], 3), ([0, 2, 1, 3], 3), ([0, 2], 3)):
        with pytest.raises(ValueError, match="do not fit"):
            Rows(values, columns, np.array(starts, np.int64), 3).by_row(np.ones(factors, np.float32))
    with pytest.raises(TypeError, match="another kind"):
        Rows(values, columns.astype(np.int64), np.array([0, 3]), 3).by_row(np.ones(3, np.float32))
