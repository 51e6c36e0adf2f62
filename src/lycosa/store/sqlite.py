"""The embedded store: one SQLite file in write-ahead mode.

One connection writes; any number of processes may read at the same time (`lycosa sql`, datasette).
`synchronous = normal`: a killed process loses nothing that was committed; after a power failure the
last moments may be missing, but what is there is consistent.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from typing import Any, Concatenate, ParamSpec, TypeVar

import numpy as np
from numpy.typing import NDArray

from lycosa.errors import StoreError
from lycosa.model import Lease, Visit
from lycosa.store.protocol import Totals, Waiting
from lycosa.store.rows import (
    Batch,
    HostRow,
    JudgementRow,
    LinkRow,
    OutcomeRow,
    PageRow,
    RobotsRow,
    State,
)
from lycosa.store.schema import MIGRATIONS, VERSION
from lycosa.store.stored_visits import visits

Row = TypeVar("Row", bound=tuple[Any, ...])
Given = ParamSpec("Given")
Result = TypeVar("Result")


def _insert(table: str, row: type[tuple[Any, ...]], *, verb: str = "insert") -> str:
    columns: tuple[str, ...] = row._fields  # type: ignore[attr-defined]
    return f"{verb} into {table} ({', '.join(columns)}) values ({', '.join('?' * len(columns))})"


INSERT_LINK = _insert("frontier", LinkRow)
INSERT_HOST = _insert("hosts", HostRow, verb="insert or replace")
INSERT_ROBOTS = _insert("robots", RobotsRow, verb="insert or replace")
INSERT_PAGE = _insert("pages", PageRow, verb="insert or replace")
INSERT_JUDGEMENT = _insert("judgements", JudgementRow, verb="insert or replace")
INSERT_OUTCOME = _insert("outcomes", OutcomeRow)
GRADE = "update judgements set relevance = ?, is_relevant = ? where page_id = (select id from pages where number = ?)"
RECOUNT_HOSTS = """
update hosts set relevant = found.relevant
from (select f.host_id, sum(j.is_relevant) as relevant from judgements j join frontier f on f.id = j.page_id group by 1)
     as found
where found.host_id = hosts.id
"""
SHOWING = frozenset({"user_version", "table_list", "table_info", "table_xinfo", "index_list", "index_info"})
"""Pragmas that tell about the tables; in a file opened read-only they change nothing."""
LEASE = "select id, url, host_id, score, distance, tries, redirects from frontier where id = ?"


def _told(
    method: Callable[Concatenate[SqliteStore, Given], Result],
) -> Callable[Concatenate[SqliteStore, Given], Result]:
    """SQLite's errors, which may come with any row, in words a person can act on."""

    @wraps(method)
    def telling(store: SqliteStore, /, *args: Given.args, **options: Given.kwargs) -> Result:
        try:
            return method(store, *args, **options)
        except sqlite3.Error as error:
            raise StoreError(_in_words(store.path, error)) from error

    return telling


class SqliteStore:
    """A crawl's memory in one file."""

    def __init__(self, path: Path, *, read_only: bool = False) -> None:
        self.path = path
        if read_only and not path.exists():
            raise StoreError(f"{path}: there is no database here")
        try:
            self._db = _connect(path, read_only=read_only)
        except sqlite3.Error as error:
            raise StoreError(_in_words(path, error)) from error
        try:
            self._check_schema(read_only=read_only)
        except BaseException:
            self._db.close()
            raise

    @_told
    def _check_schema(self, *, read_only: bool) -> None:
        version = int(self._db.execute("pragma user_version").fetchone()[0])
        if version > VERSION:
            raise StoreError(
                f"{self.path}: written by a newer Lycosa (schema {version}, this one knows {VERSION}); upgrade Lycosa"
            )
        if read_only and version < VERSION:
            raise StoreError(
                f"{self.path}: has schema {version}, this Lycosa reads {VERSION}; "
                "go on with the crawl once (lycosa crawl -o DIR) to bring it up to date"
            )
        for number in range(version, VERSION):
            self._db.executescript(f"begin; {MIGRATIONS[number]} pragma user_version = {number + 1}; commit;")

    # Writing

    def begin_run(self, *, started_at: float, pid: int, version: str, config: str) -> int:
        with self._transaction() as db:
            cursor = db.execute(
                "insert into runs (started_at, pid, version, config) values (?, ?, ?, ?)",
                (started_at, pid, version, config),
            )
        assert cursor.lastrowid is not None
        return cursor.lastrowid

    def end_run(self, run: int, *, ended_at: float, stop_reason: str) -> None:
        with self._transaction() as db:
            db.execute("update runs set ended_at = ?, stop_reason = ? where id = ?", (ended_at, stop_reason, run))

    @_told
    def was_cut_off(self) -> bool:
        row = self._db.execute("select ended_at from runs order by id desc limit 1").fetchone()
        return row is not None and row[0] is None

    def write(self, batch: Batch) -> None:
        with self._transaction() as db:
            if batch.hosts:
                db.executemany(INSERT_HOST, batch.hosts.values())
            if batch.links:
                db.executemany(INSERT_LINK, batch.links)
            if batch.states:
                db.executemany(
                    "update frontier set state = ?, tries = ?, reason = ?, detail = ? where id = ?",
                    batch.states,
                )
            if batch.scores:
                db.executemany("update frontier set score = ? where id = ?", batch.scores)
            if batch.pages:
                db.executemany(INSERT_PAGE, batch.pages)
            if batch.judgements:
                db.executemany(INSERT_JUDGEMENT, batch.judgements)
            if batch.threshold is not None:
                db.execute("update judgements set is_relevant = relevance >= ?", (batch.threshold,))
            if batch.grades:
                db.executemany(GRADE, batch.grades)
            if batch.recounts_hosts:
                db.execute("update hosts set relevant = 0 where relevant != 0")
                db.execute(RECOUNT_HOSTS)
            if batch.relinked:
                db.executemany("delete from links where source_id = ?", [(page,) for page in batch.relinked])
            if batch.edges:
                db.executemany("insert or replace into links values (?, ?, ?, ?, ?)", batch.edges)
            if batch.outcomes:
                db.executemany(INSERT_OUTCOME, batch.outcomes)
            if batch.addresses:
                db.executemany("insert or replace into addresses values (?, ?)", batch.addresses.items())
            if batch.robots:
                db.executemany(INSERT_ROBOTS, batch.robots.values())
            if batch.events:
                db.executemany("insert into events (run_id, at, kind, message) values (?, ?, ?, ?)", batch.events)
            if batch.notes:
                db.executemany("insert or replace into notes values (?, ?)", batch.notes)
            if batch.feedback:
                db.executemany("insert into feedback (at, url, is_useful, topic) values (?, ?, ?, ?)", batch.feedback)
            if batch.state:
                db.executemany("insert or replace into state values (?, ?)", batch.state.items())

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        try:
            self._db.execute("begin immediate")
            try:
                yield self._db
            except BaseException:
                if self._db.in_transaction:
                    self._db.execute("rollback")
                raise
            self._db.execute("commit")
        except sqlite3.Error as error:
            raise StoreError(_in_words(self.path, error)) from error

    # Reading, for the crawl

    @_told
    def leases(self, ids: Sequence[int]) -> list[Lease]:
        execute = self._db.execute
        return [Lease(*execute(LEASE, (link,)).fetchone()) for link in ids]

    @_told
    def url_of(self, link: int) -> str:
        row = self._db.execute("select url from frontier where id = ?", (link,)).fetchone()
        return str(row[0]) if row else ""

    @_told
    def hashes(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        hashes, ids = self._columns("select hash, id from frontier", 2)
        return hashes, ids

    @_told
    def fingerprints(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        prints, ids = self._columns(
            "select fingerprint, id from pages where fingerprint != 0 and duplicate_of is null order by number",
            2,
        )
        return prints, ids

    @_told
    def waiting(self) -> Waiting:
        sql = f"from frontier where state = '{State.WAITING}' order by id"
        ids, hosts = self._columns(f"select id, host_id {sql}", 2)
        scores = np.fromiter((row[0] for row in self._db.execute(f"select score {sql}")), dtype=np.float64)
        return Waiting(ids, hosts, scores)

    def _columns(self, sql: str, count: int) -> list[NDArray[np.int64]]:
        flat = np.fromiter((value for row in self._db.execute(sql) for value in row), dtype=np.int64)
        return [np.ascontiguousarray(flat[start::count]) for start in range(count)]

    def hosts(self) -> Iterator[HostRow]:
        return self._rows("hosts", HostRow._make, HostRow._fields)

    def robots(self) -> Iterator[RobotsRow]:
        return self._rows("robots", RobotsRow._make, RobotsRow._fields)

    @_told
    def _rows(self, table: str, make: Callable[[Any], Row], fields: tuple[str, ...]) -> Iterator[Row]:
        return map(make, self._db.execute(f"select {', '.join(fields)} from {table}").fetchall())

    @_told
    def addresses(self) -> dict[str, float]:
        return dict(self._db.execute("select address, ready_at from addresses"))

    @_told
    def state(self, name: str) -> bytes | None:
        row = self._db.execute("select value from state where name = ?", (name,)).fetchone()
        return None if row is None else bytes(row[0])

    @_told
    def totals(self) -> Totals:
        return Totals(
            links=self._count("frontier"),
            pages=self._count("pages"),
            relevant=self._count("judgements where is_relevant"),
            waiting=self._count(f"frontier where state = '{State.WAITING}'"),
        )

    def _count(self, what: str) -> int:
        return int(self._db.execute(f"select count(*) from {what}").fetchone()[0])

    @_told
    def recent_relevance(self, count: int) -> list[tuple[float, bool]]:
        rows = self._db.execute(
            "select j.relevance, j.is_relevant from pages p join judgements j on j.page_id = p.id"
            " order by p.number desc limit ?",
            (count,),
        ).fetchall()
        return [(relevance, bool(relevant)) for relevance, relevant in reversed(rows)]

    def visits(self) -> Iterator[tuple[Visit, NDArray[np.int64]]]:
        return visits(self.path, self._db)

    # Reading, for people

    def query(self, sql: str, parameters: Sequence[Any] = ()) -> tuple[list[str], Iterator[tuple[Any, ...]]]:
        try:
            cursor = self._db.execute(sql, parameters)
        except (sqlite3.Error, sqlite3.Warning) as error:  # several statements at once are a Warning to Python 3.11
            is_denied = "authoriz" in str(error) or "readonly" in str(error)
            hint = "; a crawl can only be read here, with select" if is_denied else ""
            raise StoreError(f"{error}: in the query {sql!r}{hint}") from error
        names = [column[0] for column in cursor.description or ()]
        return names, _stepping(self.path, cursor)

    def close(self) -> None:
        self._db.close()


def _connect(path: Path, *, read_only: bool) -> sqlite3.Connection:
    if read_only:
        db = sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True, isolation_level=None)
        db.execute("pragma query_only = on")
        db.set_authorizer(_only_reading)
        return db
    db = sqlite3.connect(path, isolation_level=None, cached_statements=64)
    try:
        db.execute("pragma journal_mode = wal")
        db.execute("pragma synchronous = normal")
        db.execute("pragma cache_size = -65536")
        db.execute("pragma wal_autocheckpoint = 4000")
    except sqlite3.Error:
        db.close()
        raise
    return db


def _only_reading(action: int, name: str | None, *_: object) -> int:
    """Says no to what `mode=ro` lets through: writing to other files (VACUUM INTO attaches, too), turning this off."""
    is_denied = action == sqlite3.SQLITE_ATTACH or (action == sqlite3.SQLITE_PRAGMA and name not in SHOWING)
    return sqlite3.SQLITE_DENY if is_denied else sqlite3.SQLITE_OK


def _stepping(path: Path, cursor: sqlite3.Cursor) -> Iterator[tuple[Any, ...]]:
    try:
        for row in cursor:  # noqa: UP028 - yield from would close the cursor, perhaps after the database
            yield row
    except sqlite3.Error as error:
        raise StoreError(_in_words(path, error)) from error


def _in_words(path: Path, error: sqlite3.Error) -> str:
    """SQLite's error with what to do about it."""
    text = str(error)
    if "disk is full" in text or "disk I/O error" in text:
        return f"{path}: cannot write ({text}): the disk may be full; free some space and run the same command again"
    if "readonly" in text or "unable to open" in text:
        return f"{path}: cannot be written ({text}): check that the directory exists and is yours"
    if "not a database" in text or "malformed" in text:
        return f"{path}: damaged or not a Lycosa database ({text}); restore it from a copy or choose another directory"
    return f"{path}: {text}"
