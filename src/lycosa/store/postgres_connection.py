"""Sessions of a PostgreSQL server: opening them, reading rows and columns, and waiting for a server that went away.

One session serves what is asked and written; long reads have sessions of their own, so that rows can be read while
others are written. A lost connection is no fault: whatever was asked is asked again once the server is back. The
owner of the store hears of it at once (`on_wait`) and when it is over (`passed_troubles`).
"""

from __future__ import annotations

import re
import signal
import threading
import time
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from itertools import count, groupby, islice
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import psycopg
from numpy.typing import NDArray
from psycopg import RawCursor, RawServerCursor, sql
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from lycosa.errors import InputError, StoreError
from lycosa.store.asking import CHUNK, Asking, Row, Values
from lycosa.store.postgres_dialect import spoken, teach
from lycosa.store.postgres_errors import explained, may_try_again, passes, words
from lycosa.store.postgres_schema import prepare

Result = TypeVar("Result")
Database = psycopg.Connection[Any]

DEFAULTS: dict[str, str | int] = {
    "application_name": "lycosa",
    "connect_timeout": 10,
    "keepalives_idle": 30,
    "keepalives_interval": 10,
    "keepalives_count": 3,
    "tcp_user_timeout": 30_000,
}
"""What the URL does not say: a connection that is cut without a word is noticed within half a minute."""
SESSION = "set tcp_keepalives_idle = 30; set tcp_keepalives_interval = 10; set tcp_keepalives_count = 3"
"""The server notices as soon that we are gone, and lets go of what we held."""
PATIENCE = 30.0
"""Seconds that a command of a person waits for a server that went away; a crawl waits as long as it takes."""
PAUSES = (0.0, 0.1, 0.3, 1.0, 2.0, 5.0)
"""Seconds between attempts to connect again."""
ROWS_AT_ONCE = 5_000
ENDED_BY_TIME = "57014"
PLAIN = (str, int, float, bytes, type(None))
"""Types of values that SQLite has, too; others are shown as text."""
PLACE = re.compile(r"\$(\d+)")
HEADER, TRAILER = 19, 2
"""Bytes around the rows of a binary COPY."""


def place_of(url: str) -> str:
    """The URL without its password, for people to read; InputError if it is none."""
    try:
        parts = conninfo_to_dict(url)
    except psycopg.Error as error:
        raise InputError(
            f"{' '.join(str(error).split())}: give the store as postgresql://user@host:5432/database"
        ) from error
    if not url.startswith(("postgresql://", "postgres://")):
        raise InputError("a store's URL begins with postgresql://: postgresql://user@host:5432/database")
    if not str(parts.get("port") or "0").replace(",", "").isdigit():
        raise InputError(f"{parts['port']!r} is not a port: give the store as postgresql://user@host:5432/database")
    user = f"{parts['user']}@" if parts.get("user") else ""
    port = f":{parts['port']}" if parts.get("port") else ""
    host = str(parts.get("host") or "localhost")
    return f"postgresql://{user}{'[local]' if host.startswith('/') else host}{port}/{parts.get('dbname') or ''}"


class PostgresConnection(Asking):
    _rows_at_once = ROWS_AT_ONCE
    """Number of rows of a person's query that are fetched at once."""
    _settings: Mapping[str, int] = {}
    """Of the session, for such a query."""

    def __init__(self, url: str, *, path: Path, read_only: bool = False, patience: float = PATIENCE) -> None:
        """`path`: the file that names the URL, in the crawl's directory."""
        self.path = path
        self.where = place_of(url)
        self._conninfo = make_conninfo(url, **{name: value for name, value in DEFAULTS.items() if name not in url})
        self._read_only = read_only
        self._patience = patience
        self._away_since: float | None = None
        self._tries = 0
        self._why_away = ""
        self._passed: list[str] = []
        self._idle: list[Database] = []
        self._unread: list[Generator[tuple[Any, ...]]] = []
        """Answers to queries of people, who may not read them to the end."""
        self._names = count(1)
        self._seconds = 0.0
        """Longest time of a query of a person; 0 means any."""
        self._hint = ""
        """What to do about it."""
        with explained(self.where):
            self._db = self._reach()
        try:
            self._patience = min(patience, PATIENCE)  # nobody listens yet why it would wait
            self._again(self._begin)
        except BaseException:
            self._db.close()
            raise
        self._patience = patience

    def _begin(self, db: Database) -> None:
        self._set_up(db)
        self._open(db)

    def _open(self, db: Database) -> None:
        """What has to be done once; it may be begun again if the connection is lost meanwhile."""
        prepare(db, self.where, read_only=self._read_only)

    def close(self) -> None:
        for rows in self._unread:
            with suppress(psycopg.Error):
                rows.close()
        for db in (self._db, *self._idle):
            with suppress(psycopg.Error):
                db.close()

    def passed_troubles(self) -> list[str]:
        found, self._passed = self._passed, []
        return found

    # ── sessions ──────────────────────────────────────────────────────────────────────────────────────────

    def _connect(self) -> Database:
        db = self._reach()
        try:
            self._set_up(db)
        except BaseException:
            db.close()
            raise
        return db

    def _reach(self) -> Database:
        """A new session, as the server gives it."""
        db = psycopg.connect(self._conninfo, autocommit=True)
        db.cursor_factory = RawCursor
        db.server_cursor_factory = RawServerCursor
        db.read_only = self._read_only
        teach(db)
        return db

    def _set_up(self, db: Database) -> None:
        """What the server has to be told of a session; it may be lost meanwhile."""
        db.execute(SESSION)
        if self._read_only:
            db.execute("set default_transaction_read_only = on")

    def _connected(self) -> Database:
        """The session, a new one if it was lost."""
        if self._db.closed:
            db = self._connect()
            try:
                self._begin_again(db)
            except BaseException:
                db.close()
                raise
            self._db = db
        return self._db

    def _begin_again(self, db: Database) -> None:
        """What has to be done in a new session."""

    def _again(self, work: Callable[[Database], Result]) -> Result:
        """Do it, and once more after the server was away."""
        while True:
            try:
                done = work(self._connected())
            except psycopg.Error as error:
                self._wait(error)
            else:
                self._is_back()
                return done

    def _wait(self, error: psycopg.Error) -> None:
        """Wait a little for a server that went away; StoreError if that is not what happened, or takes too long."""
        if may_try_again(error) and self._tries < len(PAUSES):
            self._tries += 1
            return
        if not passes(error):
            raise StoreError(words(self.where, error)) from error
        now = time.monotonic()
        if self._away_since is None:
            self._away_since, self._tries, self._why_away = now, 0, words(self.where, error)
        if now - self._away_since > self._patience:
            raise StoreError(f"{self._why_away}; gave up after {self._patience:g} s") from error
        with suppress(psycopg.Error):
            self._db.close()
        pause = PAUSES[min(self._tries, len(PAUSES) - 1)]
        if self._tries == 1:  # it is not back at once
            self.on_wait(f"waiting for the database: {self._why_away}")
        self._tries += 1
        with _interruptible():
            time.sleep(pause)

    def _is_back(self) -> None:
        if self._away_since is not None:
            seconds = time.monotonic() - self._away_since
            self._passed.append(f"the database was away for {seconds:.1f} s: {self._why_away}")
        self._away_since, self._tries = None, 0

    @contextmanager
    def _beside(self) -> Iterator[Database]:
        """Another session, which one long read has to itself."""
        db = self._idle.pop() if self._idle else self._connect()
        try:
            yield db
        finally:
            if not db.closed:
                self._idle.append(db)

    # ── reading ───────────────────────────────────────────────────────────────────────────────────────────

    def _all(self, make: Callable[[tuple[Any, ...]], Row], sql: str, values: Values = ()) -> list[Row]:
        asked = spoken(sql)
        return self._again(lambda db: [make(row) for row in db.execute(asked, values)])

    def _rows(self, sql: str, values: Values = ()) -> Iterator[tuple[Any, ...]]:
        return self._resumed(lambda: self._streamed(spoken(sql), values))

    def _resumed(self, read: Callable[[], Iterator[Result]]) -> Iterator[Result]:
        """What is read, from where it stopped once the server is back: all queries say in which order they read."""
        given = 0
        while True:
            try:
                for item in islice(read(), given, None):
                    given += 1
                    yield item
            except psycopg.Error as error:
                self._wait(error)
            else:
                self._is_back()
                return

    def _streamed(self, sql: str, values: Values) -> Iterator[tuple[Any, ...]]:
        with self._beside() as db, db.transaction(), db.cursor(name=f"rows_{next(self._names)}") as cursor:
            cursor.itersize = ROWS_AT_ONCE
            cursor.execute(sql, values)
            yield from cursor

    def _columns(self, sql: str, width: int, values: Values = (), kind: type[Any] = np.int64) -> list[NDArray[Any]]:
        def read(db: Database) -> bytes:
            with db.cursor().copy(self._copy(sql, width, values, kind)) as copy:
                data = bytearray()
                for block in copy:
                    data += block
                return bytes(data)

        data = self._again(read)
        rows = _numbers(data[HEADER : len(data) - TRAILER], width, kind)
        return [np.ascontiguousarray(rows[:, place]) for place in range(width)]

    def _chunks(self, sql: str, width: int, values: Values = (), kind: type[Any] = np.int64) -> Iterator[NDArray[Any]]:
        asked = self._copy(sql, width, values, kind)
        return self._resumed(lambda: self._copied(asked, width, kind))

    def _copied(self, asked: bytes, width: int, kind: type[Any]) -> Iterator[NDArray[Any]]:
        with self._beside() as db, db.cursor().copy(asked) as copy:
            data = bytearray()
            start, size = HEADER, CHUNK * (2 + 12 * width)
            for block in copy:
                data += block
                if len(data) - start >= size:
                    yield _numbers(bytes(data[start : start + size]), width, kind)
                    del data[: start + size]
                    start = 0
            if len(data) - start > TRAILER:
                yield _numbers(bytes(data[start : len(data) - TRAILER]), width, kind)

    def _copy(self, query: str, width: int, values: Values, kind: type[Any]) -> bytes:
        """A COPY takes no values: they are written into it."""
        text = PLACE.sub(lambda found: sql.Literal(values[int(found[1]) - 1]).as_string(), spoken(query))
        cast = "float8" if kind is np.float64 else "int8"
        names = [f"c{place}" for place in range(width)]
        wanted = ", ".join(f"{name}::{cast}" for name in names)
        return (f"copy (select {wanted} from ({text}) as rows ({', '.join(names)})) to stdout (format binary)").encode()

    def _links_of(self, pages: Sequence[int], sql: str) -> Iterator[list[tuple[Any, ...]]]:
        one = "l.source_id = ?"
        assert one in sql
        many = sql.replace(one, "l.source_id = any(?)").replace("order by", "order by l.source_id,")
        found = self._all(tuple, many, (list(pages),))
        links = {page: list(rows) for page, rows in groupby(found, key=lambda row: row[-1])}
        for page in pages:
            yield links.get(page, [])

    # ── queries of people ─────────────────────────────────────────────────────────────────────────────────

    def limit(self, *, seconds: float = 0.0, hint: str = "") -> None:
        self._seconds, self._hint = seconds, hint

    def query(self, sql: str, parameters: Values = ()) -> tuple[list[str], Iterator[tuple[Any, ...]]]:
        """A cursor can only be declared for a query: nothing else is run, and nothing can be changed."""
        asked = spoken(sql) if parameters else self._typed(sql.rstrip().rstrip(";"))
        rows = self._queried(asked, parameters)
        self._unread.append(rows)
        try:
            names = next(rows)
        except psycopg.Error as error:
            is_query = sql.lstrip().lower().startswith(("select", "with", "values", "table"))
            hint = "" if is_query else "; a crawl can only be read here, with select"
            raise StoreError(f"{self._why(error)}: in the query {sql!r}{hint}") from error
        return list(names), self._explained_rows(rows)

    def _queried(self, sql: str, values: Values) -> Generator[tuple[Any, ...]]:
        """First the names of the columns, then the rows."""
        until = time.monotonic() + self._seconds

        def leave_the_rest() -> None:
            if self._seconds:
                left = max(1, int((until - time.monotonic()) * 1000))
                db.execute(f"set local statement_timeout = {left:d}")

        with self._beside() as db, db.transaction():
            db.execute("set transaction read only")
            for setting, value in self._settings.items():
                db.execute(f"set local {setting} = {value:d}".encode())
            leave_the_rest()
            with db.cursor(name=f"rows_{next(self._names)}") as cursor:
                cursor.execute(sql.encode(), values or None)
                yield tuple(column.name for column in cursor.description or ())
                while found := cursor.fetchmany(self._rows_at_once):
                    yield from found
                    leave_the_rest()  # the limit of the server is one for each part

    def _typed(self, sql: str) -> str:
        """A query that a person has typed in, as it is sent."""
        return sql

    def _why(self, error: psycopg.Error) -> str:
        if error.sqlstate == ENDED_BY_TIME and self._seconds:
            return f"{self.where}: the query was ended: it took more than {self._seconds:g} s; ask for less{self._hint}"
        return words(self.where, error)

    def _explained_rows(self, rows: Iterator[tuple[Any, ...]]) -> Iterator[tuple[Any, ...]]:
        try:
            for row in rows:
                yield tuple(value if isinstance(value, PLAIN) else str(value) for value in row)
        except psycopg.Error as error:
            raise StoreError(self._why(error)) from error


def _numbers(data: bytes, width: int, kind: type[Any]) -> NDArray[Any]:
    """The rows of a binary COPY: for each the number of values, and each with its length in bytes."""
    of = ">f8" if kind is np.float64 else ">i8"
    fields = [
        ("width", ">i2"),
        *(field for place in range(width) for field in ((f"l{place}", ">i4"), (f"v{place}", of))),
    ]
    found = np.frombuffer(data, dtype=np.dtype(fields))
    if not all((found[f"l{place}"] == 8).all() for place in range(width)):
        raise StoreError("a number is missing in the database; see what is wrong: lycosa check DIR")
    return np.stack([found[f"v{place}"].astype(kind) for place in range(width)], axis=1)


@contextmanager
def _interruptible() -> Iterator[None]:
    """A crawl hears of Ctrl-C in its event loop, which stands still here: let it be an exception."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
