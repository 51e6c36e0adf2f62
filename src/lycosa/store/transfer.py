"""A crawl's database goes from one store to another, and both are compared table by table before it counts.

All tables are written in one transaction: whoever is interrupted has either nothing there, or all. A target that has
the same rows already is the end of a move that was interrupted later, and is taken as it is.
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

from lycosa.errors import StoreError
from lycosa.store.protocol import Reports
from lycosa.store.schema import tables

TOLD_EVERY = 10_000
"""Number of rows between two calls of `progress`."""

Progress = Callable[[str, str, int], None]
"""Called with what is done (`copying`, `comparing`), the table, and the number of rows so far."""


class TableSum(NamedTuple):
    """What a table holds."""

    rows: int
    checksum: str
    """BLAKE2b of all rows in order of their key."""


def copy_crawl(source: Reports, target: Reports, progress: Progress) -> dict[str, TableSum]:
    """Copy all tables, and compare; StoreError if something in the target is not as it was in the source."""
    wanted = sums(source, progress)
    if target.last_run() is not None or target.count_links():
        if sums(target, progress) != wanted:
            raise StoreError(f"{target.where}: holds another crawl already; give an empty database")
        return wanted

    def rows_of(table: str) -> Iterator[tuple[Any, ...]]:
        return _counted(source.table_rows(table), lambda count: progress("copying", table, count))

    target.fill(rows_of)
    found = sums(target, progress)
    for table, expected in wanted.items():
        if found[table] != expected:
            raise StoreError(
                f"{target.where}: the table {table} is not as it was ({found[table].rows:,} of {expected.rows:,} "
                "rows, or a value differs); the crawl stays where it is, and nothing is lost"
            )
    return wanted


def sums(store: Reports, progress: Progress) -> dict[str, TableSum]:
    return {part.name: table_sum(store.table_rows(part.name), part.name, progress) for part in tables()}


def table_sum(rows: Iterable[tuple[Any, ...]], table: str, progress: Progress) -> TableSum:
    digest, count = hashlib.blake2b(digest_size=16), 0
    for row in _counted(rows, lambda done: progress("comparing", table, done)):
        count += 1
        for value in row:
            digest.update(_bytes(value))
    return TableSum(count, digest.hexdigest())


def _bytes(value: object) -> bytes:
    """A value with its type and length, the same whichever store it comes from."""
    if value is None:
        return b"-"
    if isinstance(value, str):
        data = value.encode("utf-8", "replace").replace(b"\x00", b"\xef\xbf\xbd")  # PostgreSQL holds no NUL
        return b"t%d:%b" % (len(data), data)
    if isinstance(value, bytes):
        return b"b%d:%b" % (len(value), value)
    if isinstance(value, float):
        return b"f" + struct.pack("<d", value)
    assert isinstance(value, int)
    return b"i%d;" % value


def _counted(rows: Iterable[tuple[Any, ...]], look: Callable[[int], None]) -> Iterator[tuple[Any, ...]]:
    for count, row in enumerate(rows, start=1):
        if count % TOLD_EVERY == 0:
            look(count)
        yield row
