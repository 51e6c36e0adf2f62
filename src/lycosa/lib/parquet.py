"""Writes rows as Parquet: duckdb converts them from lines of JSON.

Column types are given rather than inferred, since they must not depend on the values in the rows. duckdb is an optional
dependency and is loaded only when a Parquet file is written.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from lycosa.errors import InputError


def write_lines(rows: Iterable[Mapping[str, Any]], path: Path) -> int:
    """Write one JSON object per line; return the number of rows."""
    count = 0
    with path.open("w", encoding="utf-8") as stream:
        for row in rows:
            stream.write(json.dumps(row, ensure_ascii=False) + "\n")
            count += 1
    return count


def write_parquet(rows: Iterable[Mapping[str, Any]], path: Path, columns: Mapping[str, str]) -> int:
    """Write a Parquet file with columns `{name: duckdb type}`, null if missing in a row; return the number of rows."""
    try:
        import duckdb
    except ImportError as error:
        raise InputError("Parquet needs duckdb: pip install 'lycosa[parquet]'") from error
    with tempfile.NamedTemporaryFile("w", suffix=".jsonl", dir=path.parent, delete=True) as draft:
        count = write_lines(rows, Path(draft.name))
        source = draft.name.replace("'", "''")
        destination = str(path).replace("'", "''")
        try:
            duckdb.sql(
                f"copy (select * from read_json('{source}', format = 'newline_delimited', columns = {dict(columns)},"
                f" maximum_object_size = 100000000)) to '{destination}' (format parquet, compression zstd)"
            )
        except duckdb.Error as error:
            raise InputError(f"{path.parent}: cannot write Parquet there: {str(error).splitlines()[0]}") from error
    return count
