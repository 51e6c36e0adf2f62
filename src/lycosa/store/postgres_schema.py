"""The tables in PostgreSQL: made, migrated, and compared with what they should be.

They are in the first schema of the connection's search path, which is `public` unless the URL says otherwise
(`?options=-csearch_path%3Dcycling`): so one database can hold several crawls.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from psycopg import Connection

from lycosa.errors import StoreError
from lycosa.store.damage import Flaw
from lycosa.store.postgres_dialect import OWN_TABLES, in_postgres
from lycosa.store.postgres_errors import OLDEST
from lycosa.store.schema import MIGRATIONS, VERSION, parts

LOCKS = 0x6C79636F
"""First half of the numbers of our advisory locks; the second says of what schema, and of what kind."""
MIGRATING = "select pg_advisory_xact_lock($1::int, hashtext(current_schema()))"
CLUSTER = "cluster"
"""A table that only the schema has that the shards of a cluster share (`postgres_cluster`)."""
RELATIONS = "select relname from pg_class where relnamespace = current_schema()::regnamespace and relkind in ('r', 'v')"
COLUMNS = """
select c.relname, a.attname from pg_attribute a join pg_class c on c.oid = a.attrelid
where c.relnamespace = current_schema()::regnamespace and c.relkind = 'r' and a.attnum > 0 and not a.attisdropped
order by c.relname, a.attnum
"""
TRIGGERS = """
select t.tgname from pg_trigger t join pg_class c on c.oid = t.tgrelid
where c.relnamespace = current_schema()::regnamespace and not t.tgisinternal
union all
select r.rulename from pg_rewrite r join pg_class c on c.oid = r.ev_class
where c.relnamespace = current_schema()::regnamespace and c.relkind = 'r'
"""


def prepare(db: Connection[Any], where: str, *, read_only: bool) -> None:
    """Make the tables if there are none, migrate older ones; StoreError if they are not ours or cannot be used."""
    refuse_old_server(db, where)
    found = db.execute("select current_schema()").fetchone()
    if found is None or found[0] is None:
        raise StoreError(f"{where}: no schema of the search path exists; make it: create schema NAME")
    if CLUSTER in relations(db):
        raise StoreError(f"{where}: holds a crawl of a cluster; go on with it by lycosa crawl -o DIR --cluster N")
    version = _version(db)
    if version > VERSION:
        raise StoreError(
            f"{where}: written by a newer Lycosa (schema {version}, this one knows {VERSION}); upgrade Lycosa"
        )
    if read_only and not version:
        raise StoreError(f"{where}: there is no crawl in this database; begin one with lycosa crawl … --store URL")
    if read_only and version < VERSION:
        raise StoreError(
            f"{where}: has schema {version}, this Lycosa reads {VERSION}; "
            "continue the crawl once (lycosa crawl -o DIR) to migrate it"
        )
    if version < VERSION:
        with db.transaction():
            db.execute(MIGRATING, (LOCKS,))
            _migrate(db, where, _version(db))  # somebody else may have done it meanwhile
    if flaw := next(strangers(db), None):
        raise StoreError(f"{where}: damaged or not a Lycosa database ({flaw}); restore it from a copy")


def refuse_old_server(db: Connection[Any], where: str) -> None:
    release = db.info.server_version // 10_000
    if release < OLDEST:
        raise StoreError(f"{where}: the server is PostgreSQL {release}; Lycosa needs {OLDEST} or newer")


def _version(db: Connection[Any]) -> int:
    """0: there are no tables of ours."""
    if "lycosa" not in relations(db):
        return 0
    row = db.execute("select max(version) from lycosa").fetchone()
    return int(row[0]) if row and row[0] is not None else 0


def _migrate(db: Connection[Any], where: str, version: int) -> None:
    if version:
        for number in range(version, VERSION):
            db.execute(in_postgres(MIGRATIONS[number]).encode())
        db.execute("update lycosa set version = $1", (VERSION,))
        return
    if theirs := sorted(relations(db) & {*parts(), "lycosa", "writers"}):
        raise StoreError(
            f"{where}: has a table {theirs[0]} that is not Lycosa's; give an empty database, or a schema of its own"
        )
    for part in parts().values():
        db.execute(in_postgres(part.sql).encode())
    db.execute(OWN_TABLES.encode())
    db.execute("insert into lycosa values ($1)", (VERSION,))


def relations(db: Connection[Any]) -> set[str]:
    return {name for (name,) in db.execute(RELATIONS)}


def strangers(db: Connection[Any]) -> Iterator[Flaw]:
    """Tables and views that are missing or not ours, and triggers and rules, which could do anything."""
    found: dict[str, list[str]] = {}
    for table, column in db.execute(COLUMNS):
        found.setdefault(table, []).append(column)
    known = relations(db)
    for part in parts().values():
        if part.kind != "index" and part.name not in known:
            yield Flaw(part.name, f"the {part.kind} is missing")
        elif part.kind == "table" and tuple(found[part.name]) != part.columns:
            yield Flaw(part.name, "is not the table that Lycosa makes")
    for (name,) in db.execute(TRIGGERS):
        yield Flaw(name, "is a trigger or a rule, and a crawl's database has none")
