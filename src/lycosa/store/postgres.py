"""The store in PostgreSQL: one session writes, everything in transactions that are known by a number.

Whoever writes has a row in `writers` with a token and the number of its last transaction, which each transaction
counts up. If the connection is lost while one is committed, nobody can tell whether it was; the next session sees it
by that number, and does not write it a second time. A crawl holds an advisory lock of the database, and its row there
is named `crawl`: another crawl that takes it over changes the token, and whatever the first one still sends is refused.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import closing, suppress
from functools import cache, partial
from pathlib import Path
from typing import Any, TypeVar

import psycopg

from lycosa.errors import StoreError, WorkspaceBusy
from lycosa.model import Lease
from lycosa.store import rows
from lycosa.store.changes import (
    BEGIN_RUN,
    END_RUN,
    FORGET_ARCHIVED,
    FORGET_STATE,
    SET_SCORE,
    SHIFT_CLOCKS,
    Change,
    NewRows,
    Statement,
    changes,
)
from lycosa.store.damage import Flaw, Speech, damage_words, find_damage, mend
from lycosa.store.postgres_connection import PATIENCE, Database, PostgresConnection
from lycosa.store.postgres_dialect import NUMBERED_BY_STORE, condition, spoken
from lycosa.store.postgres_schema import LOCKS
from lycosa.store.reading import CrawlReading
from lycosa.store.reports import ReportReading
from lycosa.store.schema import all_rows, parts, tables
from lycosa.store.sqlite import SqliteStore

Result = TypeVar("Result")

CRAWL = "crawl"
"""Name of the crawl among the writers; others are named by their tokens."""
FEW = 8
"""Number of rows up to which they are sent with other statements rather than by a COPY of their own."""
MANY = 2_000
"""Number of scores from which they go to the server by COPY."""
CRAWLING, WRITING = "crawling in ", "writing to "
TRY_LOCK = "select pg_try_advisory_lock($1::int, hashtext($2 || current_schema()))"
WRITE_LOCK = "select pg_advisory_xact_lock($1::int, hashtext($2 || current_schema()))"
HOLDER = """
select l.pid, a.client_addr::text from pg_locks l left join pg_stat_activity a on a.pid = l.pid
where l.locktype = 'advisory' and l.classid = $1::oid
      and l.objid = hashtext($2 || current_schema())::bit(32)::bigint::oid
      and l.objsubid = 2 and l.granted and l.database = (select oid from pg_database where datname = current_database())
"""
COUNT_UP = "update writers set commits = $3, at = $4 where name = $1 and token = $2 and commits = $3 - 1"
JOIN = """
insert into writers values ($1, $2, 1, 0, $3)
on conflict (name) do update set token = excluded.token, epoch = writers.epoch + 1, commits = 0, at = excluded.at
"""
LEASES = "select id, url, host_id, score, distance, tries, redirects from frontier where id = any($1)"
HAS_LINKS = "select exists (select 1 from links where source_id = any($1))"
REPLACED_LINKS = """
delete from links using unnest($1::bigint[], $2::bigint[]) as again (source_id, position)
where links.source_id = again.source_id and links.position = again.position
"""


GO_ON_NUMBERING = "select setval(pg_get_serial_sequence('{0}', 'id'), coalesce(max(id), 0) + 1, false) from {0}"


class Written(Exception):
    """The transaction has been committed before: its end was not heard of."""


class PostgresStore(PostgresConnection, CrawlReading, ReportReading):
    """A crawl's memory in a PostgreSQL database; implements `Reports`, and so `Store`."""

    def __init__(
        self,
        url: str,
        *,
        path: Path,
        read_only: bool = False,
        is_crawler: bool = False,
        patience: float = PATIENCE,
    ) -> None:
        """`is_crawler`: nobody else may crawl with this database; WorkspaceBusy if somebody does."""
        self._token = secrets.token_hex(16)
        self._name = CRAWL if is_crawler else self._token
        self._commits = 0
        self._has_joined = False
        self._session = 0
        super().__init__(url, path=path, read_only=read_only, patience=patience)

    def _open(self, db: Database) -> None:
        super()._open(db)
        if self._name == CRAWL:
            self._lock(db)
            self._join(db)

    def close(self) -> None:
        if self._has_joined and self._name != CRAWL and not self._db.closed:
            with suppress(psycopg.Error):  # a row that nobody reads stays
                self._db.execute("delete from writers where name = $1", (self._name,))
        super().close()

    # ── who writes ────────────────────────────────────────────────────────────────────────────────────────

    def _lock(self, db: Database) -> None:
        for _ in range(2):
            row = db.execute(TRY_LOCK, (LOCKS, CRAWLING)).fetchone()
            if row and row[0]:
                self._session = db.info.backend_pid
                return
            holder = db.execute(HOLDER, (LOCKS, CRAWLING)).fetchone()
            if holder and holder[0] == self._session:  # our own, of which the server has not noticed that it is lost
                db.execute("select pg_terminate_backend($1::int, 5000)", (self._session,))
                continue
            session, address = holder or ("unknown", None)
            raise WorkspaceBusy(
                f"{self.where}: another process is crawling with this database (session {session} of the server, from "
                f"{address or 'the same machine'}); wait for it, stop it, or give another --store"
            )

    def _join(self, db: Database) -> None:
        db.execute(JOIN, (self._name, self._token, time.time()))
        self._has_joined = True

    def _begin_again(self, db: Database) -> None:
        if self._has_joined and self._name == CRAWL:
            self._lock(db)

    def transact(self, work: Callable[[Database], Result]) -> Result:
        """Do it in a transaction, once, whatever becomes of the connection."""
        if not self._has_joined:
            self._again(self._join)
        number = self._commits + 1
        done: list[Result] = []

        def attempt(db: Database) -> None:
            try:
                with db.transaction():
                    self._count_up(db, number)
                    done[:] = [work(db)]
            except Written:
                pass

        self._again(attempt)
        self._commits = number
        return done[0]

    def _count_up(self, db: Database, number: int) -> None:
        """Nobody else writes at the same time, and this writer's transactions come in order."""
        db.execute(WRITE_LOCK, (LOCKS, WRITING))
        if db.execute(COUNT_UP, (self._name, self._token, number, time.time())).rowcount:
            return
        found = db.execute("select token, commits from writers where name = $1", (self._name,)).fetchone()
        if found == (self._token, number):
            raise Written
        if found is not None and found[0] != self._token:
            raise StoreError(
                f"{self.where}: another process has gone on with this crawl meanwhile, and this one must not write any "
                "more; nothing is lost"
            )
        raise StoreError(
            f"{self.where}: the server has lost transactions that it had confirmed (it was restored from a copy, or "
            "its disk is not to be trusted); the same command goes on from what it has"
        )

    # ── writing ───────────────────────────────────────────────────────────────────────────────────────────

    def begin_run(self, *, started_at: float, pid: int, version: str, config: str) -> int:
        values = (started_at, pid, version, config)

        def begin(db: Database) -> int:
            row = db.execute(f"{spoken(BEGIN_RUN)} returning id".encode(), values).fetchone()
            assert row is not None
            return int(row[0])

        return self.transact(begin)

    def end_run(self, run: int, *, ended_at: float, stop_reason: str) -> None:
        self.transact(lambda db: db.execute(spoken(END_RUN), (ended_at, stop_reason, run)))

    def write(self, batch: rows.Batch) -> None:
        found = list(changes(batch))
        self.transact(lambda db: _carry_out(db, found))

    def shift_clocks(self, seconds: float, *, forget: str) -> None:
        def shift(db: Database) -> None:
            for statement in SHIFT_CLOCKS:
                db.execute(spoken(statement), (seconds,))
            db.execute(spoken(FORGET_STATE), (forget,))

        self.transact(shift)

    def forget_archived(self, places: Collection[tuple[str, int]]) -> None:
        if places:
            self.transact(lambda db: _carry_out(db, [(Statement(text), places) for text in FORGET_ARCHIVED]))

    def leases(self, ids: Sequence[int]) -> list[Lease]:
        if not ids:
            return []
        found = {row[0]: row for row in self._again(lambda db: db.execute(LEASES, (list(ids),)).fetchall())}
        return [Lease(*found[link]) for link in ids]

    # ── upkeep ────────────────────────────────────────────────────────────────────────────────────────────

    def damage(self, *, is_quick: bool = False) -> list[Flaw]:
        def look(db: Database) -> list[Flaw]:
            with db.transaction():
                db.execute("set local work_mem = '256MB'")  # to look up many rows at once
                return list(find_damage(db, _speech(db), is_quick=is_quick))

        return self._again(look)

    def mend(self) -> list[Flaw]:
        return self.transact(lambda db: mend(db, _speech(db)))

    def refuse_damage(self) -> None:
        if found := self.damage(is_quick=True):
            raise StoreError(damage_words(self.where, self.path.parent, found))

    def copy_to(self, path: Path) -> None:
        with closing(SqliteStore(path)) as copy:
            copy.fill(lambda table: (tuple(map(_for_sqlite, row)) for row in self.table_rows(table)))

    def table_rows(self, table: str) -> Iterator[tuple[Any, ...]]:
        return self._rows(all_rows(table))

    def streamed(self, sql: str) -> Iterator[tuple[Any, ...]]:
        """Rows of a query that says in which order they come."""
        return self._rows(sql)

    def fill(self, rows_of: Callable[[str], Iterable[tuple[Any, ...]]]) -> None:
        def put(db: Database) -> None:
            for table in tables():
                copy_rows(db, table.name, table.columns, rows_of(table.name))
                if table.name in NUMBERED_BY_STORE:
                    db.execute(GO_ON_NUMBERING.format(table.name).encode())

        self.transact(put)


def _for_sqlite(value: object) -> object:
    """SQLite has no NaN: in a copy of what is damaged it is a word."""
    return "NaN" if value != value else value


def _speech(db: Database) -> Speech:
    return Speech(False, "$1", partial(condition, release=db.info.server_version // 10_000))


def _carry_out(db: Database, found: Collection[Change]) -> None:
    """Many new rows go by COPY, and first; all else in one go. Changes of one table stay in order."""
    small: list[Change] = []
    for change, values in found:
        if isinstance(change, NewRows) and change.table == "links":
            _copy_links(db, change, values)
        elif isinstance(change, NewRows) and not change.key and len(values) > FEW:
            copy_rows(db, change.table, change.columns, values)
        elif isinstance(change, Statement) and change.sql == SET_SCORE and len(values) > MANY:
            _copy_scores(db, values)
        else:
            small.append((change, values))
    with db.pipeline():
        for change, values in small:
            sql = spoken(change.sql) if isinstance(change, Statement) else _put(change)
            db.cursor().executemany(sql.encode(), list(values))


def copy_rows(db: Database, table: str, columns: Iterable[str], values: Iterable[Any]) -> None:
    with db.cursor().copy(f"copy {table} ({', '.join(columns)}) from stdin".encode()) as copy:
        for row in values:
            copy.write_row(row)


def _copy_links(db: Database, change: NewRows, values: Iterable[tuple[Any, ...]]) -> None:
    """A page that is fetched again may replace a link; first visits, nearly all of them, cannot."""
    edges = {row[:2]: row for row in values}
    sources = list({source for source, _ in edges})
    row = db.execute(HAS_LINKS, (sources,)).fetchone()
    if row and row[0]:
        db.execute(REPLACED_LINKS, ([source for source, _ in edges], [position for _, position in edges]))
    copy_rows(db, change.table, change.columns, edges.values())


def _copy_scores(db: Database, values: Iterable[tuple[float, int]]) -> None:
    db.execute("create temp table new_scores (id bigint, score float8) on commit drop")
    copy_rows(db, "new_scores", ("id", "score"), {link: score for score, link in values}.items())
    db.execute("update frontier set score = n.score from new_scores n where n.id = frontier.id")


@cache
def _put(new: NewRows) -> str:
    """A statement that puts a row; with a key, it replaces the one that has it, in all columns."""
    places = ", ".join(f"${number}" for number in range(1, len(new.columns) + 1))
    sql = f"insert into {new.table} ({', '.join(new.columns)}) values ({places})"
    if not new.key:
        return sql
    every = parts()[new.table].columns
    values = ", ".join(f"{name} = {f'excluded.{name}' if name in new.columns else 'default'}" for name in every)
    return f"{sql} on conflict ({', '.join(new.key)}) do update set {values}"
