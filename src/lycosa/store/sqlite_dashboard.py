"""The embedded store, SQLite, for the dashboard: reading only, and typed queries within limits."""

from __future__ import annotations

from pathlib import Path

from lycosa.store.dashboard import DashboardStore
from lycosa.store.sqlite import SqliteStore


class SqliteDashboard(SqliteStore, DashboardStore):
    def __init__(self, path: Path) -> None:
        super().__init__(path, read_only=True)

    def limit_typed(self, *, seconds: float, memory: int, longest: int) -> None:
        """Also by the connection and its authoriser, which deny all but reading."""
        self.limit(seconds=seconds, memory=memory, longest=longest)
