"""What people's marks on pages change in a book, and how that is undone.

A mark files a document under other topics, and may have brought the document into the book. For each document that a
mark refers to, the book keeps the topics it was under before the first one. Whenever marks change, those of all marked
documents are restored, and the marks that stand are applied anew, in order: a book is always what it was before, plus
the marks. (An edit of a marked document in between is lost; pages of a crawl are marked in the crawl's own copy.)
"""

from __future__ import annotations

import json
import sqlite3
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from hashlib import blake2b
from typing import NamedTuple

from lycosa.model import Page
from lycosa.topics import database
from lycosa.topics.documents import content_hash, pack_document

ROWS = "select url, is_useful, document_id, is_new, before, adds, takes from marks order by id"
INSERT = """
insert into marks (url, is_useful, document_id, is_new, before, adds, takes) values (?, ?, ?, ?, ?, ?, ?)
"""


class Refiling(NamedTuple):
    """Topics a document is put under, and taken away from."""

    adds: tuple[str, ...] = ()
    takes: tuple[str, ...] = ()


class Filing(NamedTuple):
    """A mark to be applied."""

    url: str
    is_useful: bool
    page: Page | None = None
    """None for a mark that stands already: its documents are known."""
    decide: Callable[[Sequence[str]], Refiling] | None = None
    """From the topics a document is under to what changes; None as for `page`."""


class MarkRow(NamedTuple):
    """A mark, and one of the documents it refers to."""

    url: str
    is_useful: bool
    document: int
    is_new: bool
    """The document is in the book only because of marks."""
    before: tuple[int, ...]
    """Numbers of the topics it was under before it was marked."""
    adds: tuple[int, ...]
    takes: tuple[int, ...]


def read(db: sqlite3.Connection) -> list[MarkRow]:
    return [
        MarkRow(url, bool(is_useful), document, bool(is_new), *(tuple(json.loads(text)) for text in topics))
        for url, is_useful, document, is_new, *topics in db.execute(ROWS)
    ]


def fingerprint(rows: Iterable[MarkRow]) -> str:
    """Equal for books with the same marks, and empty without any."""
    listed = sorted((row.url, row.is_useful, row.document, row.adds, row.takes) for row in rows)
    return blake2b(json.dumps(listed).encode(), digest_size=8).hexdigest() if listed else ""


def apply(db: sqlite3.Connection, filings: Sequence[Filing], topics: Mapping[str, int]) -> None:
    """Let these marks stand, and no others. `topics`: numbers by path. Call it in a transaction."""
    old: dict[str, list[MarkRow]] = defaultdict(list)
    origins: dict[int, MarkRow] = {}
    for row in read(db):
        old[row.url].append(row)
        origins[row.document] = row
    for row in origins.values():
        _file_under(db, row.document, row.before)
    db.execute("delete from marks")
    for filing in filings:
        for document, change in _changes(db, filing, old[filing.url], origins, topics):
            own = set(_topics_of(db, document))
            origin = origins[document]
            _file_under(db, document, (own | set(change.adds)) - set(change.takes))
            numbers = (origin.before, *change)
            db.execute(INSERT, (filing.url, filing.is_useful, document, origin.is_new, *map(json.dumps, numbers)))
    unused = [(row.document,) for row in origins.values() if row.is_new]
    db.executemany(
        "delete from documents where id = ?1 and not exists (select 1 from marks where document_id = ?1)", unused
    )


class _Numbers(NamedTuple):
    """The same by numbers."""

    adds: tuple[int, ...]
    takes: tuple[int, ...]


def _changes(
    db: sqlite3.Connection,
    filing: Filing,
    known: Sequence[MarkRow],
    origins: dict[int, MarkRow],
    topics: Mapping[str, int],
) -> list[tuple[int, _Numbers]]:
    """By document: what the mark changes. Documents met for the first time are added to `origins`.

    `known`: the rows of the page's last mark.
    """
    if filing.page is None or filing.decide is None:
        return [(row.document, _Numbers(row.adds, row.takes)) for row in known]
    found = {document for (document,) in db.execute("select id from documents where source = ?", (filing.url,))}
    found |= {row.document for row in known}
    same = db.execute("select id from documents where hash = ?", (content_hash(filing.page),)).fetchone()
    if same is not None:
        found.add(same[0])
    is_new = not found
    if is_new:
        packed = pack_document(filing.page)
        database.insert_example(db, (*packed, time.time()), packed.hash, ())
        found = {db.execute("select id from documents where hash = ?", (packed.hash,)).fetchone()[0]}
    names = {number: path for path, number in topics.items()}
    changes = []
    for document in sorted(found):
        own = _topics_of(db, document)
        origins.setdefault(document, MarkRow(filing.url, filing.is_useful, document, is_new, own, (), ()))
        change = filing.decide([names[number] for number in own])
        changes.append((document, _Numbers(*(tuple(topics[path] for path in paths) for paths in change))))
    return changes


def _topics_of(db: sqlite3.Connection, document: int) -> tuple[int, ...]:
    rows = db.execute("select topic_id from memberships where document_id = ? order by topic_id", (document,))
    return tuple(topic for (topic,) in rows)


def _file_under(db: sqlite3.Connection, document: int, topics: Iterable[int]) -> None:
    """Under these topics alone, as far as the book still has them."""
    db.execute("delete from memberships where document_id = ?", (document,))
    db.executemany(
        "insert into memberships select ?1, id from topics where id = ?2", [(document, topic) for topic in topics]
    )
