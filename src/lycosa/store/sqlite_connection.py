"""One SQLite file in write-ahead mode: opening and migrating it, reading rows, explaining errors.

One connection writes; any number of processes may read at the same time (`lycosa sql`, datasette).
`synchronous = normal`: a killed process loses nothing that was committed; after a power failure the last transactions
may be missing, but the rest is consistent.
"""

from __future__ import annotations

import math
import sqlite3
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from itertools import chain, islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lycosa.errors import StoreError
from lycosa.store.asking import CHUNK, Asking, Row, Values
from lycosa.store.damage import Flaw, damage_words, find_damage, integrity, mend, strangers
from lycosa.store.schema import MIGRATIONS, VERSION

STEPS_BETWEEN_LOOKS = 10_000
"""Instructions of SQLite's machine, well under a millisecond."""
MOST_MEMORY = 1 << 30
LONGEST_VALUE = 64 << 20
"""Bytes of a value in a query that somebody wrote: one call of printf can fill the memory, and cannot be ended."""
HARMLESS_PRAGMAS = frozenset(
    {"user_version", "table_list", "table_info", "integrity_check", "table_xinfo", "index_list", "index_info"}
)
"""Pragmas that describe the tables; in a file opened read-only they change nothing."""


@contextmanager
def explained(path: Path, *, limit: Callable[[], str] = str) -> Iterator[None]:
    """Turn SQLite's errors, which any row may raise, into a StoreError that says what to do.

    `limit`: why a query was ended; empty if it was not, or by Ctrl-C.
    """
    try:
        yield
    except sqlite3.Error as error:
        if "interrupted" in str(error):
            raise StoreError(f"{path}: the query was ended: {limit() or 'interrupted'}") from error
        raise StoreError(_explanation(path, error)) from error


@contextmanager
def transaction(db: sqlite3.Connection) -> Iterator[None]:
    """Take the write lock at once: what is read inside is still true when the changes are written."""
    db.execute("begin immediate")
    try:
        yield
    except BaseException:
        if db.in_transaction:
            db.execute("rollback")
        raise
    db.execute("commit")


class SqliteConnection(Asking):
    def __init__(self, path: Path, *, read_only: bool = False) -> None:
        self.path = path
        self.where = str(path)
        self._limit = ""
        """Why a query was ended."""
        if read_only and not path.exists():
            raise StoreError(f"{path}: there is no database here")
        with explained(path):
            self._db = connect(path, read_only=read_only)
            try:
                self._check_schema(read_only=read_only)
            except BaseException:
                self._db.close()
                raise

    def close(self) -> None:
        self._db.close()

    def limit(
        self, *, seconds: float = 0.0, memory: int = MOST_MEMORY, longest: int = LONGEST_VALUE, hint: str = ""
    ) -> None:
        """End queries after this time (0: never), those that need more memory, and those with longer values. Ctrl-C
        ends them, too. `hint`: what to do about the time. The memory is that of all connections of the process."""
        with explained(self.path):
            self._db.set_authorizer(None)
            self._db.execute(f"pragma hard_heap_limit = {memory:d}")
            self._db.set_authorizer(_only_reading)
        self._db.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, longest)
        deadline = time.monotonic() + seconds if seconds else math.inf

        def is_over() -> bool:
            if time.monotonic() > deadline:
                self._limit = f"it took more than {seconds:g} s; ask for less{hint}"
            return bool(self._limit)

        # Python handles signals when this function is called: Ctrl-C becomes an exception, which ends the query.
        self._db.set_progress_handler(is_over, STEPS_BETWEEN_LOOKS)

    def damage(self, *, is_quick: bool = False) -> list[Flaw]:
        """What is wrong with the file and the values in it. `is_quick`: only in its small tables."""
        try:
            if not is_quick and (broken := list(integrity(self._db))):
                return broken
            return list(find_damage(self._db, is_quick=is_quick))
        except sqlite3.Error as error:
            return [Flaw(self.path.name, str(error))]

    def mend(self) -> list[Flaw]:
        """Mend what can be; what was."""
        with self._transaction() as db:
            return mend(db)

    def copy_to(self, path: Path) -> None:
        with explained(path), closing(sqlite3.connect(path)) as copy:
            self._db.backup(copy)

    def refuse_damage(self) -> None:
        """StoreError if something is wrong in the small tables."""
        if found := self.damage(is_quick=True):
            raise StoreError(damage_words(self.path, self.path.parent, found))

    def _check_schema(self, *, read_only: bool) -> None:
        version = int(self._db.execute("pragma user_version").fetchone()[0])
        if version > VERSION:
            raise StoreError(
                f"{self.path}: written by a newer Lycosa (schema {version}, this one knows {VERSION}); upgrade Lycosa"
            )
        if read_only and version < VERSION:
            raise StoreError(
                f"{self.path}: has schema {version}, this Lycosa reads {VERSION}; "
                "continue the crawl once (lycosa crawl -o DIR) to migrate it"
            )
        for number in range(version, VERSION):
            self._db.executescript(f"begin; {MIGRATIONS[number]} pragma user_version = {number + 1}; commit;")
        if found := next(strangers(self._db), None):
            raise StoreError(f"{self.path}: damaged or not a Lycosa database ({found}); restore it from a copy")

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        with explained(self.path), transaction(self._db):
            yield self._db

    def _rows(self, sql: str, values: Values = ()) -> Iterator[tuple[Any, ...]]:
        """Rows, read while they are consumed."""
        with explained(self.path):
            cursor = self._db.execute(sql, values)
        return self._steps(cursor)

    def _steps(self, cursor: sqlite3.Cursor) -> Iterator[tuple[Any, ...]]:
        with explained(self.path, limit=lambda: self._limit):
            for row in cursor:  # noqa: UP028 - yield from would close the cursor, perhaps after the database
                yield row

    def _all(self, make: Callable[[tuple[Any, ...]], Row], sql: str, values: Values = ()) -> list[Row]:
        with explained(self.path):
            return [make(row) for row in self._db.execute(sql, values)]

    def _first(self, make: Callable[[tuple[Any, ...]], Row], sql: str, values: Values = ()) -> Row | None:
        with explained(self.path):
            row = self._db.execute(sql, values).fetchone()
        return None if row is None else make(row)

    def _number(self, sql: str, values: Values = ()) -> int:
        with explained(self.path):
            return int(self._db.execute(sql, values).fetchone()[0])

    def _columns(self, sql: str, width: int, values: Values = (), kind: type[Any] = np.int64) -> list[NDArray[Any]]:
        """The rows of a query, `width` numbers each, as columns."""
        with explained(self.path):
            flat = np.fromiter(chain.from_iterable(self._db.execute(sql, values)), dtype=kind)
        return [np.ascontiguousarray(flat[place::width]) for place in range(width)]

    def _chunks(self, sql: str, width: int, values: Values = (), kind: type[Any] = np.int64) -> Iterator[NDArray[Any]]:
        flat = chain.from_iterable(self._rows(sql, values))
        while len(chunk := np.fromiter(islice(flat, width * CHUNK), dtype=kind)):
            yield chunk.reshape(-1, width)

    def _links_of(self, pages: Sequence[int], sql: str) -> Iterator[list[tuple[Any, ...]]]:
        with explained(self.path):
            for page in pages:
                yield self._db.execute(sql, (page,)).fetchall()

    def query(self, sql: str, parameters: Values = ()) -> tuple[list[str], Iterator[tuple[Any, ...]]]:
        try:
            cursor = self._db.execute(sql, parameters)
        except (sqlite3.Error, sqlite3.Warning) as error:  # several statements at once are a Warning to Python 3.11
            is_denied = "authoriz" in str(error) or "readonly" in str(error)
            hint = "; a crawl can only be read here, with select" if is_denied else ""
            if self._limit and "interrupted" in str(error):
                hint = f": {self._limit}"
            raise StoreError(f"{error}: in the query {sql!r}{hint}") from error
        names = [column[0] for column in cursor.description or ()]
        return names, self._steps(cursor)


def connect(path: Path, *, read_only: bool) -> sqlite3.Connection:
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
    """Deny what `mode=ro` allows: writing to other files (VACUUM INTO attaches, too), and turning this off."""
    is_denied = action == sqlite3.SQLITE_ATTACH or (action == sqlite3.SQLITE_PRAGMA and name not in HARMLESS_PRAGMAS)
    return sqlite3.SQLITE_DENY if is_denied else sqlite3.SQLITE_OK


def _explanation(path: Path, error: sqlite3.Error) -> str:
    text = str(error)
    if "disk is full" in text or "disk I/O error" in text:
        return f"{path}: cannot write ({text}): the disk may be full; free some space and run the same command again"
    if "readonly" in text or "unable to open" in text:
        return f"{path}: cannot be written ({text}): check that the directory exists and belongs to you"
    if "not a database" in text or "malformed" in text:
        return f"{path}: damaged or not a Lycosa database ({text}); restore it from a copy or choose another directory"
    return f"{path}: {text}"
