"""The embedded store, SQLite: writing, and what it reads in its own way."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from typing import Any

from lycosa.model import Lease
from lycosa.store import rows
from lycosa.store.changes import (
    BEGIN_RUN,
    END_RUN,
    FORGET_ARCHIVED,
    FORGET_STATE,
    SHIFT_CLOCKS,
    NewRows,
    Statement,
    changes,
)
from lycosa.store.reading import CrawlReading
from lycosa.store.reports import ReportReading
from lycosa.store.schema import all_rows, tables
from lycosa.store.sqlite_connection import SqliteConnection, explained

LEASE = "select id, url, host_id, score, distance, tries, redirects from frontier where id = ?"


class SqliteStore(SqliteConnection, CrawlReading, ReportReading):
    """A crawl's memory in one file; implements `Reports`, and so `Store`."""

    def begin_run(self, *, started_at: float, pid: int, version: str, config: str) -> int:
        with self._transaction() as db:
            cursor = db.execute(BEGIN_RUN, (started_at, pid, version, config))
        assert cursor.lastrowid is not None
        return cursor.lastrowid

    def end_run(self, run: int, *, ended_at: float, stop_reason: str) -> None:
        with self._transaction() as db:
            db.execute(END_RUN, (ended_at, stop_reason, run))

    def write(self, batch: rows.Batch) -> None:
        with self._transaction() as db:
            for change, values in changes(batch):
                db.executemany(change.sql if isinstance(change, Statement) else _insert(change), values)

    def shift_clocks(self, seconds: float, *, forget: str) -> None:
        with self._transaction() as db:
            for sql in SHIFT_CLOCKS:
                db.execute(sql, (seconds,))
            db.execute(FORGET_STATE, (forget,))

    def forget_archived(self, places: Collection[tuple[str, int]]) -> None:
        with self._transaction() as db:
            for sql in FORGET_ARCHIVED:
                db.executemany(sql, places)

    def leases(self, ids: Sequence[int]) -> list[Lease]:
        execute = self._db.execute
        with explained(self.path):
            return [Lease(*execute(LEASE, (link,)).fetchone()) for link in ids]

    @contextmanager
    def held(self) -> Iterator[None]:
        """Nobody else writes meanwhile."""
        with self._transaction():
            yield

    def table_rows(self, table: str) -> Iterator[tuple[Any, ...]]:
        return self._rows(all_rows(table))

    def fill(self, rows_of: Callable[[str], Iterable[tuple[Any, ...]]]) -> None:
        with self._transaction() as db:
            for table in tables():
                db.executemany(_insert(NewRows(table.name, table.columns)), rows_of(table.name))


@cache
def _insert(new: NewRows) -> str:
    verb = "insert or replace" if new.key else "insert"
    return f"{verb} into {new.table} ({', '.join(new.columns)}) values ({', '.join('?' * len(new.columns))})"
