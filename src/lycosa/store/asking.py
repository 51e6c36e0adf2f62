"""How shared queries reach a database: SQLite and PostgreSQL each implement `Asking`, and `reading` and `reports` ask.

Statements are written once, in SQL that both understand, with `?` (or `?1`, `?2`) for values. Flags are 0 or 1 in both,
so a condition says `is_relevant = 1`; whatever is read in some order says so, as only SQLite's tables have one.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

Row = TypeVar("Row", bound=tuple[Any, ...])
Values = Sequence[Any]

CHUNK = 1 << 16
"""Number of rows in an array of `_chunks`."""


class Asking(ABC):
    path: Path
    where: str
    on_wait: Callable[[str], None] = staticmethod(lambda _: None)
    """Told why the database keeps the crawl waiting, while it does."""

    def passed_troubles(self) -> list[str]:
        """In words, each absence of the database that has ended since the last call."""
        return []

    @abstractmethod
    def _rows(self, sql: str, values: Values = ()) -> Iterator[tuple[Any, ...]]:
        """Rows, read while they are consumed: for what may be millions."""

    @abstractmethod
    def _all(self, make: Callable[[tuple[Any, ...]], Row], sql: str, values: Values = ()) -> list[Row]:
        """Rows, read at once."""

    @abstractmethod
    def _columns(self, sql: str, width: int, values: Values = (), kind: type[Any] = np.int64) -> list[NDArray[Any]]:
        """The rows of a query, `width` numbers each, as columns."""

    @abstractmethod
    def _chunks(self, sql: str, width: int, values: Values = (), kind: type[Any] = np.int64) -> Iterator[NDArray[Any]]:
        """The same as arrays of rows, CHUNK rows at a time."""

    @abstractmethod
    def _links_of(self, pages: Sequence[int], sql: str) -> Iterator[list[tuple[Any, ...]]]:
        """For each of these pages, the rows of a query that takes the page's number."""

    def _first(self, make: Callable[[tuple[Any, ...]], Row], sql: str, values: Values = ()) -> Row | None:
        found = self._all(make, sql, values)
        return found[0] if found else None

    def _number(self, sql: str, values: Values = ()) -> int:
        return int(self._all(tuple, sql, values)[0][0])


def select(row: type[tuple[Any, ...]], table: str) -> str:
    """A statement that reads the columns that the row has."""
    return f"select {', '.join(fields(row))} from {table}"


def fields(row: type[tuple[Any, ...]]) -> tuple[str, ...]:
    names: tuple[str, ...] = row._fields  # type: ignore[attr-defined]
    return names
