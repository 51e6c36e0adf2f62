from __future__ import annotations

import duckdb
import pytest

from lycosa.errors import InputError
from lycosa.lib.parquet import write_parquet


def test_rows_come_back_with_the_types_asked_for(tmp_path):
    path = tmp_path / "it's.parquet"
    rows = [{"name": "ä'\n\"", "value": 1.5}, {"name": None, "value": 2}, {"name": "7"}]
    assert write_parquet(iter(rows), path, {"name": "varchar", "value": "double"}) == 3
    found = duckdb.read_parquet(str(path))
    assert found.fetchall() == [("ä'\n\"", 1.5), (None, 2.0), ("7", None)]
    assert [str(kind) for kind in found.types] == ["VARCHAR", "DOUBLE"]
    assert [entry.name for entry in tmp_path.iterdir()] == ["it's.parquet"]


def test_no_rows_make_an_empty_table(tmp_path):
    path = tmp_path / "none.parquet"
    assert write_parquet([], path, {"name": "varchar"}) == 0
    assert duckdb.read_parquet(str(path)).columns == ["name"]


def test_a_path_that_cannot_be_written_is_named(tmp_path):
    (tmp_path / "taken.parquet").mkdir()
    with pytest.raises(InputError, match="cannot write Parquet"):
        write_parquet([{"name": "a"}], tmp_path / "taken.parquet", {"name": "varchar"})
