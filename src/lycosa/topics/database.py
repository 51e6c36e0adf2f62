"""A topic book's connection to SQLite, its taxonomy as rows, and the insertion of documents."""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from lycosa.errors import InputError, StoreError
from lycosa.judges.taxonomy import Taxonomy, Topic
from lycosa.topics.rows import Added

BUSY_SECONDS = 60.0
"""How long an edit waits for another process's edit."""
INSERT_DOCUMENT = """
insert into documents (hash, source, title, language, words, text, terms, links, added_at)
values (?, ?, ?, ?, ?, ?, ?, ?, ?)
on conflict (hash) do nothing
"""
PRUNE_JUDGES = """
delete from judges where version not in (select version from judges order by version desc limit ?) and version !=
    (select coalesce(max(version), 0) from judges where coalesce(json_extract(settings, '$.marks'), '') = '')
"""
_TRIES = 100
_PAUSE = 0.05


def connect(path: Path) -> sqlite3.Connection:
    db = sqlite3.connect(path, timeout=BUSY_SECONDS, isolation_level=None)
    try:
        db.execute("pragma foreign_keys = on")
        _write_ahead(db)
        db.execute("pragma synchronous = normal")
    except sqlite3.Error:
        db.close()
        raise
    return db


def _write_ahead(db: sqlite3.Connection) -> None:
    """Retried, as SQLite does not wait here: of two processes that create a book at once, one would fail."""
    for attempt in range(_TRIES):
        try:
            db.execute("pragma journal_mode = wal")
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or attempt == _TRIES - 1:
                raise
            time.sleep(_PAUSE)
        else:
            return


@contextmanager
def store_errors(path: Path) -> Iterator[None]:
    """Turn errors of SQLite, and of the JSON in its rows, into messages a person can act on."""
    try:
        yield
    except (sqlite3.Error, json.JSONDecodeError) as error:
        text = str(error)
        if "locked" in text:
            hint = f"another process has been editing it for more than {BUSY_SECONDS:.0f} seconds; try again"
        elif "readonly" in text or "unable to open" in text:
            hint = "check that the directory exists and that you may write to it"
        elif "full" in text or "disk I/O" in text:
            hint = "the disk may be full; free some space and run the same command again"
        elif "not a database" in text or "malformed" in text:
            hint = "damaged or not a topic book; restore it from a copy or choose another file"
        else:
            hint = "the topic book cannot be used"
        raise StoreError(f"{path}: {text}: {hint}") from error


def load_taxonomy(db: sqlite3.Connection) -> tuple[Taxonomy, dict[str, int]]:
    """The tree, and the row number of each topic."""
    topics: dict[str, Topic] = {}
    numbers: dict[str, int] = {}
    for number, path, is_good, description, keywords in db.execute(
        "select id, path, is_good, description, keywords from topics"
    ):
        numbers[path] = number
        topics[path] = Topic(description=description, keywords=json.loads(keywords), is_good=bool(is_good))
    return Taxonomy(topics), numbers


def write_taxonomy(db: sqlite3.Connection, old: Taxonomy, new: Taxonomy, numbers: Mapping[str, int]) -> None:
    """Write the difference of two trees: new topics and changed properties. No topic may have been removed."""
    assert old.topics.keys() <= new.topics.keys()
    for path, topic in new.topics.items():
        if path in old and _values(old.topics[path]) == _values(topic):
            continue
        if path in old:
            db.execute(
                "update topics set is_good = ?, description = ?, keywords = ? where id = ?",
                (*_values(topic), numbers[path]),
            )
        else:
            db.execute(
                "insert into topics (is_good, description, keywords, path) values (?, ?, ?, ?)",
                (*_values(topic), path),
            )


def _values(topic: Topic) -> tuple[int, str, str]:
    return int(topic.is_good), topic.description, json.dumps(dict(topic.keywords))


def forget_topics(db: sqlite3.Connection, numbers: Collection[int]) -> None:
    """Let no judge refer to topics that were removed: a topic added later may get the number of one of them."""
    for version, text in db.execute("select version, settings from judges").fetchall():
        settings = json.loads(text)
        known = settings.get("topics", {})
        kept = {path: number for path, number in known.items() if number not in numbers}
        if len(kept) < len(known):
            changed = json.dumps({**settings, "topics": kept})
            db.execute("update judges set settings = ? where version = ?", (changed, version))


def insert_example(db: sqlite3.Connection, values: Sequence[Any], content: bytes, topics: Sequence[int]) -> Added:
    is_new = bool(db.execute(INSERT_DOCUMENT, values).rowcount)
    (number,) = db.execute("select id from documents where hash = ?", (content,)).fetchone()
    fresh = sum(
        db.execute("insert or ignore into memberships values (?, ?)", (number, topic)).rowcount for topic in topics
    )
    if is_new:
        return Added(added=1)
    return Added(elsewhere=1) if fresh else Added(duplicates=1)


def require_documents(db: sqlite3.Connection, ids: Sequence[int]) -> None:
    for number in ids:
        if not db.execute("select 1 from documents where id = ?", (number,)).fetchone():
            raise InputError(f"there is no example {number}; nothing was changed")
