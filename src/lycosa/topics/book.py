"""The topic book: a taxonomy, the documents under its topics, and the judges trained on them, in one file.

Several people and a running crawl may edit one book at the same time: each edit is a transaction that takes the write
lock first, loads the current tree, lets `Taxonomy` decide whether the edit is allowed, and writes the difference. The
second of two editors sees what the first has done, or is refused with a reason. Documents refer to topics by number, so
moving a subtree moves its examples at no cost.

A document is stored once, however many topics it is under and wherever it came from; documents under no topic are a
sample of everything else. `examples` streams them from one snapshot: a classifier that reads them several times sees
the same documents each time, whatever is edited meanwhile, and memory stays bounded.
"""

from __future__ import annotations

import json
import sqlite3
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any, Self

from lycosa.errors import InputError, StoreError
from lycosa.judges.classifier import ANY, Example, parent_of
from lycosa.judges.taxonomy import MAX_EXAMPLES, Taxonomy, Topic, checked_path, path_under, relocated, topic_hint
from lycosa.judges.taxonomy_file import to_toml
from lycosa.lib.languages import stemmed_as
from lycosa.store.sqlite_connection import transaction
from lycosa.topics import database, marks
from lycosa.topics.database import load_taxonomy, store_errors, write_taxonomy
from lycosa.topics.documents import pack_document
from lycosa.topics.example_stream import BELOW, TOPICS, Examples, condition, topic_names, topics_of
from lycosa.topics.marks import Filing, MarkRow
from lycosa.topics.rows import Added, ExampleRow, TrainedJudge
from lycosa.topics.schema import APPLICATION, MIGRATIONS, VERSION

KEPT_VERSIONS = 3
"""Number of judges that stay when old ones are pruned: the newest. What they learned from is in the book."""
_BATCH = 500
"""Number of examples written per transaction: other processes can write in between."""
_LISTED = 5
LEAST_OF_A_LANGUAGE = 0.05
"""Minimum share of the documents for a language to be one of the book's."""


class TopicBook:
    """A topic book, created if it does not exist. Close it, or use it in a `with`."""

    def __init__(self, path: Path) -> None:
        self.path = path
        with store_errors(path):
            self._db = database.connect(path)
        try:
            self._bring_up_to_date()
        except BaseException:
            self._db.close()
            raise

    def _bring_up_to_date(self) -> None:
        with self._transaction() as db:  # the second of two processes that create a book finds it complete
            application = int(db.execute("pragma application_id").fetchone()[0])
            version = int(db.execute("pragma user_version").fetchone()[0])
            is_new = not db.execute("select count(*) from sqlite_schema").fetchone()[0]
            if application != APPLICATION and not is_new:
                raise StoreError(f"{self.path}: a database, but not a topic book; choose another file")
            if version > VERSION:
                raise StoreError(
                    f"{self.path}: written by a newer Lycosa (topic book version {version}, this one knows {VERSION}); "
                    "upgrade Lycosa"
                )
            for number in range(version, VERSION):
                for statement in MIGRATIONS[number].split(";\n"):
                    db.execute(statement)
                db.execute(f"pragma user_version = {number + 1}")
            db.execute(f"pragma application_id = {APPLICATION}")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._db.close()

    def copy_to(self, path: Path) -> None:
        """Write a consistent copy, independent of later edits of this book. An existing file is replaced."""
        unfinished = path.with_name(f"{path.name}.part")
        unfinished.unlink(missing_ok=True)
        try:
            with store_errors(path), closing(sqlite3.connect(unfinished)) as copy:
                self._db.backup(copy)
                # Without write-ahead files the copy is a single file, which can be renamed.
                copy.execute("pragma journal_mode = delete")
            unfinished.replace(path)
        except OSError as error:
            raise StoreError(f"{path}: cannot be written: {error.strerror}") from error
        finally:
            unfinished.unlink(missing_ok=True)

    # The tree

    def taxonomy(self) -> Taxonomy:
        """The current tree. Examples are documents of the book and not listed in it."""
        with store_errors(self.path):
            return load_taxonomy(self._db)[0]

    def add_topic(self, path: str, *, description: str = "", keywords: Mapping[str, float] | None = None) -> str:
        """Add a topic, and missing topics above it. Return its path."""
        topic = Topic(description=description, keywords=keywords or {})
        with self._transaction() as db:
            tree, numbers = load_taxonomy(db)
            write_taxonomy(db, tree, tree.add(path, topic), numbers)
        return checked_path(path)

    def mark_good(self, name: str) -> str:
        return self._mark(name, Taxonomy.mark_good)

    def unmark(self, name: str) -> str:
        return self._mark(name, Taxonomy.unmark)

    def _mark(self, name: str, change: Callable[[Taxonomy, str], Taxonomy]) -> str:
        with self._transaction() as db:
            tree, numbers = load_taxonomy(db)
            path = tree.resolve(name)
            write_taxonomy(db, tree, change(tree, path), numbers)
        return path

    def rename_topic(self, name: str, new_name: str) -> str:
        """Give a topic another last name; its examples and subtree go along. Return the new path."""
        return self._relocate(
            name, lambda tree, path: (tree.rename(path, new_name), path_under(parent_of(path), new_name))
        )

    def move_topic(self, name: str, under: str) -> str:
        """Move a topic and its subtree under another topic or under ANY. Return the new path."""

        def moved(tree: Taxonomy, path: str) -> tuple[Taxonomy, str]:
            # A missing parent is not added, which would hide a misspelt name.
            above = tree.resolve(under) if under != ANY else ANY
            return tree.move(path, above), path_under(above, path.rpartition("/")[2])

        return self._relocate(name, moved)

    def remove_topic(self, name: str) -> int:
        """Remove a topic, its subtree, and the documents under no other topic. Return the number of documents."""
        with self._transaction() as db:
            tree, _ = load_taxonomy(db)
            path = tree.resolve(name)
            tree.remove(path)
            subtree = f"select id from topics where {BELOW}"
            removed = db.execute(
                f"delete from documents where id in (select document_id from memberships where topic_id in ({subtree}))"
                f" and id not in (select document_id from memberships where topic_id not in ({subtree}))",
                {"topic": path},
            ).rowcount
            gone = {number for (number,) in db.execute(f"select id from topics where {BELOW}", {"topic": path})}
            db.execute(f"delete from topics where {BELOW}", {"topic": path})
            database.forget_topics(db, gone)
        return removed

    def topic_numbers(self) -> dict[str, int]:
        """The number of each topic, by path: it stays when a topic is moved or renamed."""
        with store_errors(self.path):
            return dict(self._db.execute("select path, id from topics"))

    def import_taxonomy(self, given: Taxonomy) -> int:
        """Merge a tree into this one; its properties take precedence. Return the number of new topics."""
        with self._transaction() as db:
            tree, numbers = load_taxonomy(db)
            updated = {path: _updated(tree.topics.get(path, Topic()), new) for path, new in given.topics.items()}
            merged = Taxonomy({**tree.topics, **updated})
            write_taxonomy(db, tree, merged, numbers)
        return len(merged) - len(tree)

    def export_toml(self) -> str:
        """The tree with the sources of its examples that can be found again: URLs and files."""
        with store_errors(self.path), self._snapshot() as db:
            tree, _ = load_taxonomy(db)
            sources: dict[str, dict[str, None]] = {}
            for path, source in db.execute(
                "select t.path, d.source from memberships m join topics t on t.id = m.topic_id"
                " join documents d on d.id = m.document_id"
                " where d.source like 'http://%' or d.source like 'https://%' or d.source like '/%' order by d.id"
            ):
                if source.isprintable():
                    sources.setdefault(path, {})[source] = None
        named = {path: tuple(islice(sources.get(path, ()), MAX_EXAMPLES)) for path in tree.topics}
        return to_toml(Taxonomy({path: replace(topic, examples=named[path]) for path, topic in tree.topics.items()}))

    def _relocate(self, name: str, change: Callable[[Taxonomy, str], tuple[Taxonomy, str]]) -> str:
        with self._transaction() as db:
            tree, numbers = load_taxonomy(db)
            source = tree.resolve(name)
            changed, target = change(tree, source)
            target = checked_path(target)
            if target != source:
                places = {path: relocated(path, source, target) for path in tree.topics}
                # Via names no topic can have: a new path must not collide with one that is still to be moved.
                moves = [(new, numbers[old]) for old, new in places.items() if old != new]
                db.executemany(
                    "update topics set path = char(0) || id where id = ?", [(number,) for _, number in moves]
                )
                db.executemany("update topics set path = ? where id = ?", moves)
                shifted = Taxonomy({new: tree.topics[old] for old, new in places.items()})
                write_taxonomy(db, shifted, changed, {places[old]: number for old, number in numbers.items()})
        return target

    # Examples

    def add_examples(self, examples: Iterable[Example], *, makes_topics: bool = False) -> Added:
        """Put documents under topics. The page's URL (or file, or any name) is kept as its source.

        Unknown topics are added if `makes_topics`, otherwise refused. Written in batches, each a transaction: if the
        iterable raises, or a batch is refused, the earlier batches stay.
        """
        total = Added()
        stream = iter(examples)
        while batch := list(islice(stream, _BATCH)):
            # Compressed before the lock is taken.
            packed = [(pack_document(page), topics) for page, topics in batch if page.terms]
            total += Added(empty=len(batch) - len(packed))
            with self._transaction() as db:
                numbers = self._topic_numbers(db, {name for _, topics in packed for name in topics}, makes_topics)
                now = time.time()
                for document, topics in packed:
                    total += database.insert_example(
                        db, (*document, now), document.hash, [numbers[name] for name in topics if name]
                    )
        return total

    def _topic_numbers(self, db: sqlite3.Connection, names: set[str], makes_topics: bool) -> dict[str, int]:
        names.discard(ANY)
        places = {name: checked_path(name) for name in names}
        numbers: dict[str, int] = dict(db.execute("select path, id from topics"))
        missing = sorted(path for path in places.values() if path not in numbers)
        if missing:
            tree, numbers = load_taxonomy(db)
            if not makes_topics:
                raise InputError(f"there is no topic {missing[0]!r}{topic_hint(missing[0], tree.topics)}")
            write_taxonomy(db, tree, Taxonomy({**tree.topics, **{path: Topic() for path in missing}}), numbers)
            numbers = dict(db.execute("select path, id from topics"))
        return {name: numbers[path] for name, path in places.items()}

    def move_examples(self, ids: Sequence[int], to: str, *, away_from: str | None = None) -> str:
        """Move documents to a topic, away from one they are under, or from all. Return the path of the topic."""
        with self._transaction() as db:
            tree, numbers = load_taxonomy(db)
            target = tree.resolve(to)
            database.require_documents(db, ids)
            self._take_away(db, ids, tree, numbers, away_from)
            db.executemany(
                "insert or ignore into memberships values (?, ?)", [(number, numbers[target]) for number in ids]
            )
        return target

    def remove_examples(self, ids: Sequence[int], *, away_from: str | None = None) -> int:
        """Remove documents, or take them away from one topic and remove those then under none.

        Return the number of documents removed.
        """
        with self._transaction() as db:
            tree, numbers = load_taxonomy(db)
            database.require_documents(db, ids)
            self._take_away(db, ids, tree, numbers, away_from)
            rest = "and not exists (select 1 from memberships where document_id = id)"
            return sum(db.execute(f"delete from documents where id = ? {rest}", (number,)).rowcount for number in ids)

    def _take_away(
        self,
        db: sqlite3.Connection,
        ids: Sequence[int],
        tree: Taxonomy,
        numbers: Mapping[str, int],
        away_from: str | None,
    ) -> None:
        if away_from is None:
            db.executemany("delete from memberships where document_id = ?", [(number,) for number in ids])
            return
        path = tree.resolve(away_from)
        for number in ids:
            pair = (number, numbers[path])
            if not db.execute("delete from memberships where document_id = ? and topic_id = ?", pair).rowcount:
                raise InputError(f"example {number} is not under {path!r}; nothing was changed")

    def examples(self, topic: str | None = None, *, with_text: bool = True) -> Examples:
        """The documents at and below a topic, or all, as a stream that can be read repeatedly."""
        path = None if topic is None else self.taxonomy().resolve(topic)
        return Examples(self.path, path, with_text=with_text)

    def examples_numbered(self, ids: Sequence[int]) -> list[Example]:
        """The documents with these numbers, as far as they exist, with the topics they are under."""
        with Examples(self.path, ids=ids) as found:
            return list(found)

    def example_rows(
        self, topic: str | None = None, *, source: str | None = None, count: int = 100, start: int = 0
    ) -> list[ExampleRow]:
        """Examples for display, in the order they were added: at and below a topic, or from one source."""
        path = None if topic is None else self.taxonomy().resolve(topic)
        with store_errors(self.path), self._snapshot() as db:
            where, values = condition(path)
            if source is not None:
                where += " and d.source = :source"
            rows = db.execute(
                f"select d.id, d.source, d.title, d.language, d.words, {TOPICS} from documents d where {where}"
                " order by d.id limit :count offset :start",
                {**values, "source": source, "count": count, "start": start},
            ).fetchall()
            names = topic_names(db)
        return [ExampleRow._make((*columns, topics_of(topics, names))) for *columns, topics in rows]

    def example_urls(self, topic: str) -> list[str]:
        """Web addresses of the documents at and below a topic, in the order they were added."""
        where, values = condition(self.taxonomy().resolve(topic))
        with store_errors(self.path):
            rows = self._db.execute(
                f"select distinct d.source from documents d where {where}"
                " and (d.source like 'http://%' or d.source like 'https://%') order by d.id",
                values,
            ).fetchall()
        return [source for (source,) in rows]

    def example_counts(self) -> dict[str, int]:
        """Number of documents directly under each topic; ANY counts those under none."""
        with store_errors(self.path), self._snapshot() as db:
            counts: dict[str, int] = dict(
                db.execute(
                    "select t.path, count(m.document_id) from topics t left join memberships m on m.topic_id = t.id"
                    " group by t.id order by t.path"
                )
            )
            alone = "select count(*) from documents where id not in (select document_id from memberships)"
            return {ANY: int(db.execute(alone).fetchone()[0]), **counts}

    def languages(self) -> tuple[str, ...]:
        """The languages that enough documents are stemmed in, the most frequent first; English if there are none."""
        with store_errors(self.path), self._snapshot() as db:
            rows = db.execute("select language, count(*) from documents group by language").fetchall()
        counts: Counter[str] = Counter()
        for language, count in rows:
            counts[stemmed_as(language)] += count
        least = LEAST_OF_A_LANGUAGE * counts.total()
        return tuple(language for language, count in counts.most_common() if count >= least) or ("en",)

    # Marks

    def marks(self) -> list[MarkRow]:
        """What people said of pages, in order; a mark that concerns several documents is listed for each."""
        with store_errors(self.path):
            return marks.read(self._db)

    def set_marks(self, filings: Sequence[Filing]) -> None:
        """Let these marks stand, and no others."""
        with self._transaction() as db:
            marks.apply(db, filings, load_taxonomy(db)[1])

    # Judges

    def prune_judges(self) -> int:
        """Delete old versions, except the newest ones and the last that was trained without marks; return how many."""
        with self._transaction() as db:
            return db.execute(database.PRUNE_JUDGES, (KEPT_VERSIONS,)).rowcount

    def save_judge(
        self, kind: str, model: bytes, *, settings: Mapping[str, Any], report: Mapping[str, Any], trained_at: float
    ) -> int:
        """Store a trained classifier. Return its version."""
        values = (kind, trained_at, json.dumps(dict(settings)), json.dumps(dict(report)), model)
        with self._transaction() as db:
            cursor = db.execute(
                "insert into judges (kind, trained_at, settings, report, model) values (?, ?, ?, ?, ?)", values
            )
        assert cursor.lastrowid is not None
        return cursor.lastrowid

    def load_judge(self, version: int | None = None) -> TrainedJudge:
        """The judge of a version, or the newest."""
        where = "where version = :version" if version is not None else "order by version desc limit 1"
        with store_errors(self.path):
            row = self._db.execute(
                f"select version, kind, trained_at, settings, report, model from judges {where}", {"version": version}
            ).fetchone()
        if row is None:
            known = [str(judge.version) for judge in self.judges()]
            hint = f"the newest are {', '.join(known[-_LISTED:])}" if known else "train one with: lycosa topics train"
            which = "no trained judge" if version is None else f"no judge of version {version}"
            raise InputError(f"{self.path}: {which}; {hint}")
        return _judge(row)

    def newest_version(self) -> int:
        """Version of the newest judge; 0 if none was trained."""
        with store_errors(self.path):
            return int(self._db.execute("select coalesce(max(version), 0) from judges").fetchone()[0])

    def judges(self) -> list[TrainedJudge]:
        """All versions, oldest first, without their models."""
        with store_errors(self.path):
            rows = self._db.execute(
                "select version, kind, trained_at, settings, report, x'' from judges order by version"
            ).fetchall()
        return list(map(_judge, rows))

    # Transactions

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        with store_errors(self.path), transaction(self._db):
            yield self._db

    @contextmanager
    def _snapshot(self) -> Iterator[sqlite3.Connection]:
        """Several queries that see the same state."""
        self._db.execute("begin")
        try:
            yield self._db
        finally:
            self._db.execute("rollback")


def _updated(old: Topic, new: Topic) -> Topic:
    """The new properties take precedence; those it does not mention stay."""
    return Topic(
        description=new.description or old.description,
        keywords=new.keywords or old.keywords,
        is_good=new.is_good or old.is_good,
    )


def _judge(row: tuple[Any, ...]) -> TrainedJudge:
    version, kind, trained_at, settings, report, model = row
    return TrainedJudge(version, kind, trained_at, json.loads(settings), json.loads(report), model)
