"""The examples of a topic book as a stream: read repeatedly from one snapshot, in bounded memory."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Self

from lycosa.errors import StoreError
from lycosa.judges.classifier import Example
from lycosa.topics.database import connect, store_errors
from lycosa.topics.documents import unpack_document

BELOW = "(path = :topic or (path > :topic || '/' and path < :topic || '0'))"
"""A topic and its subtree: '0' is the character after '/'."""
TOPICS = "(select group_concat(topic_id) from memberships where document_id = d.id)"
"""The numbers of a document's topics."""


def condition(topic: str | None, ids: Sequence[int] | None = None) -> tuple[str, dict[str, str]]:
    """The condition that selects documents in a query over `documents d`, and its values."""
    if ids is not None:
        return f"d.id in ({', '.join(str(int(number)) for number in ids)})", {}
    if topic is None:
        return "true", {}
    under = f"select document_id from memberships where topic_id in (select id from topics where {BELOW})"
    return f"d.id in ({under})", {"topic": topic}


def topic_names(db: sqlite3.Connection) -> dict[str, str]:
    """Paths by number; the numbers are text, as in `TOPICS`."""
    return {str(number): path for number, path in db.execute("select id, path from topics")}


def topics_of(numbers: str | None, names: Mapping[str, str]) -> tuple[str, ...]:
    return tuple(sorted(names[number] for number in numbers.split(","))) if numbers else ()


class Examples:
    """Each iteration yields the same documents in the same order, as they were when the first one began.

    A separate connection holds the snapshot until `close`, the end of a `with`, or the end of this object.
    """

    def __init__(
        self, path: Path, topic: str | None = None, *, ids: Sequence[int] | None = None, with_text: bool = True
    ) -> None:
        self.path = path
        self._condition = condition(topic, ids)
        self._text = "d.text" if with_text else "x''"
        self._db: sqlite3.Connection | None = None

    def __iter__(self) -> Iterator[Example]:
        with store_errors(self.path):
            db = self._snapshot()
            names = topic_names(db)
            where, values = self._condition
            rows = db.execute(
                f"select d.id, {TOPICS}, d.source, d.title, d.language, d.words, {self._text}, d.terms,"
                f" d.links"
                f" from documents d where {where} order by d.id",
                values,
            )
            for number, topics, *columns in rows:
                try:
                    page = unpack_document(*columns)
                except ValueError as error:
                    raise StoreError(f"{self.path}: example {number} is damaged: {error}; remove it") from error
                yield Example(page, topics_of(topics, names))

    def __len__(self) -> int:
        with store_errors(self.path):
            where, values = self._condition
            row = self._snapshot().execute(f"select count(*) from documents d where {where}", values).fetchone()
        return int(row[0])

    def _snapshot(self) -> sqlite3.Connection:
        if self._db is None:
            self._db = connect(self.path)
            self._db.execute("begin")
        return self._db

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        if self._db is not None:
            self._db.close()
            self._db = None

    def __del__(self) -> None:
        with suppress(Exception):  # when the interpreter exits, there may be nothing left to close
            self.close()
