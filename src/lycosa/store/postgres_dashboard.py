"""The store in PostgreSQL for the dashboard: reading only, and typed queries within limits."""

from __future__ import annotations

from typing import ClassVar

import psycopg

from lycosa.store.dashboard import EXAMPLES, DashboardStore
from lycosa.store.postgres import PostgresStore
from lycosa.store.postgres_dialect import for_people
from lycosa.store.postgres_typed import TOO_LONG, guarded

FEW_ROWS = 100
"""Number of rows of a typed query that are in memory at once, each as long as it may be."""


class PostgresDashboard(PostgresStore, DashboardStore):
    examples: ClassVar = {name: for_people(sql) for name, sql in EXAMPLES.items()}
    _longest = 0
    """Bytes of a row of a typed query; 0 means any."""

    def limit_typed(self, *, seconds: float, memory: int, longest: int) -> None:
        """`memory` is for sorting and grouping; how much else a query takes is up to the server."""
        self.limit(seconds=seconds)
        self._longest = longest
        self._rows_at_once = FEW_ROWS
        self._settings = {"work_mem": memory // 4 >> 10, "max_parallel_workers_per_gather": 0}

    def _typed(self, sql: str) -> str:
        return guarded(sql, longest=self._longest) if self._longest else sql

    def _why(self, error: psycopg.Error) -> str:
        if found := TOO_LONG.search(str(error)):
            return f"{self.where}: a row has {int(found[1]):,} bytes, and {self._longest:,} are the most"
        return super()._why(error)
