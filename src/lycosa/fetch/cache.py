"""Pages shared between crawls: download once, experiment often.

A cache is a directory: the WARC files `pages-00001.warc.gz`, … contain the answers (an `Archive`), and `index.db` has
the location of each URL's latest one. Several crawls can use a cache at the same time: each writes WARC files of its
own, locked while it is alive, and SQLite serialises their commits. A crawl sees what others have committed.

Opening a cache repairs what dead processes left behind: a file that is not locked is truncated to its committed length,
and pages whose bytes are missing are removed from the index, so that they will be fetched again.
"""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Self

from lycosa.errors import ArchiveError, InputError, StoreError
from lycosa.fetch.archive import Archive, Position, cut_back, own_files, put_aside, try_lock
from lycosa.fetch.warc_reader import Location, read
from lycosa.fetch.warc_writer import target_uri
from lycosa.model import Response

PREFIX = "pages"
SCHEMA_VERSION = 1
SCHEMA = """
create table pages (
    url text primary key,       -- canonical
    file text not null,         -- the WARC file, in this directory
    offset integer not null,    -- where the response starts in it
    length integer not null,    -- bytes, including the request's record
    status integer not null,    -- HTTP
    fetched real not null       -- seconds since 1970 when the download ended
) without rowid;
create table files (
    name text primary key,
    length integer not null     -- committed bytes
) without rowid;
"""
BUSY_SECONDS = 60.0


def is_cacheable(status: int) -> bool:
    """Whether the answer is worth keeping: not server errors, 'not now', and 304, which has no page."""
    return 200 <= status < 500 and status not in (304, 408, 425, 429)


class PageCache:
    """The cache in a directory, which is created if necessary.

    Pages older than `max_age` seconds are ignored. `chop` is the crawl's own limit on the bytes of a page (0: whole
    pages): a page that an earlier crawl cut off at fewer bytes is ignored, too.
    """

    def __init__(
        self,
        directory: Path,
        *,
        max_age: float | None = None,
        chop: int = 0,
        max_bytes: int = 1 << 30,
        crawl_info: Mapping[str, str] | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.unreadable = 0
        """Number of pages in the index that could not be read from their WARC files. They are ignored."""
        self.set_aside: list[str] = []
        """WARC files that are not in the index: a crawl died before its first commit, or the index was deleted."""
        self._directory = directory
        self._max_age = max_age
        self._chop = chop
        self._clock = clock
        self._pending: dict[str, tuple[Location, int, float]] = {}
        try:
            directory.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(f"cannot use {directory} as page cache: {error.strerror}") from error
        self._path = directory / "index.db"
        with self._faults():
            self._database = sqlite3.connect(self._path, timeout=BUSY_SECONDS, isolation_level=None)
        try:
            self._open()
            self._recover()
            self._archive = Archive(
                directory,
                prefix=PREFIX,
                max_bytes=max_bytes,
                crawl_info=crawl_info,
                committed=Position("", 0),  # the index keeps the end of each file
                clock=clock,
            )
        except BaseException:
            self._database.close()
            raise

    def get(self, url: str) -> Response | None:
        """The latest answer for a canonical URL, if there is a usable one."""
        location, fetched = self._find(url)
        if location is None or (self._max_age is not None and self._clock() - fetched > self._max_age):
            return None
        if url in self._pending:
            self._archive.flush()
        try:
            response: Response | None = read(self._directory, location)
        except ArchiveError:
            response = None
        if response is None or response.url != target_uri(url):
            self.unreadable += 1
            return None
        is_too_short = response.is_chopped and not 0 < self._chop <= len(response.body)
        return None if is_too_short else response

    def put(self, response: Response) -> Location | None:
        """Keep an answer with the next commit; None if its status is not cacheable."""
        if not is_cacheable(response.status):
            return None
        if self._archive.is_full:
            self.commit()  # a complete file loses its lock, so everything in it must be committed
        location = self._archive.append(response)
        self._pending[response.url] = (location, response.status, response.ended or response.started)
        return location

    def commit(self) -> None:
        """Make the new answers permanent, and visible to other crawls."""
        if not self._pending:
            return
        self._archive.flush()
        rows = [(url, *location, status, fetched) for url, (location, status, fetched) in self._pending.items()]
        lengths: dict[str, int] = {}
        for file, offset, length in (location for location, _, _ in self._pending.values()):
            lengths[file] = max(lengths.get(file, 0), offset + length)
        with self._transaction():
            self._database.executemany("insert or replace into pages values (?, ?, ?, ?, ?, ?)", rows)
            self._database.executemany("insert or replace into files values (?, ?)", lengths.items())
        self._pending.clear()

    def close(self) -> None:
        try:
            self.commit()
            self._archive.close()
        finally:
            self._database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _find(self, url: str) -> tuple[Location | None, float]:
        if url in self._pending:
            location, _, fetched = self._pending[url]
            return location, fetched
        with self._faults():
            query = "select file, offset, length, fetched from pages where url = ?"
            row = self._database.execute(query, (url,)).fetchone()
        return (Location(*row[:3]), row[3]) if row else (None, 0.0)

    def _open(self) -> None:
        with self._faults():
            self._database.execute("pragma journal_mode = wal")
            self._database.execute("pragma synchronous = normal")
        with self._transaction():
            (version,) = self._database.execute("pragma user_version").fetchone()
            if version > SCHEMA_VERSION:
                raise StoreError(f"{self._path} was written by a newer Lycosa: use that one, or another cache")
            if version == 0:
                for statement in SCHEMA.split(";"):
                    self._database.execute(statement)
                self._database.execute(f"pragma user_version = {SCHEMA_VERSION}")

    def _recover(self) -> None:
        """Repair the files of dead processes. Those of living ones are left alone."""
        for path in own_files(self._directory, PREFIX):
            try:
                file = os.open(path, os.O_RDWR | os.O_CLOEXEC)
            except FileNotFoundError:
                continue  # another crawl is repairing the cache, too
            except OSError as error:
                raise InputError(f"cannot use {path} in the page cache: {error.strerror}") from error
            try:
                if try_lock(file, path):
                    self._recover_file(path)
            finally:
                os.close(file)
        with self._transaction():
            for (name,) in self._database.execute("select name from files").fetchall():
                if not (self._directory / name).exists():
                    self._forget(name, 0)

    def _recover_file(self, path: Path) -> None:
        with self._faults():
            row = self._database.execute("select length from files where name = ?", (path.name,)).fetchone()
        if row is None:
            self.set_aside.append(put_aside(path))
            return
        _, missing = cut_back(path, row[0])
        if missing:
            with self._transaction():
                self._forget(path.name, row[0] - missing)

    def _forget(self, name: str, length: int) -> None:
        """Remove pages from the index that lie beyond the first `length` bytes of a file."""
        self._database.execute("delete from pages where file = ? and offset + length > ?", (name, length))
        if length:
            self._database.execute("update files set length = ? where name = ?", (length, name))
        else:
            self._database.execute("delete from files where name = ?", (name,))

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        with self._faults():
            self._database.execute("begin immediate")
            try:
                yield
            except BaseException:
                self._database.execute("rollback")
                raise
            self._database.execute("commit")

    @contextmanager
    def _faults(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            raise StoreError(f"the page cache's index {self._path} cannot be used: {error}") from error
