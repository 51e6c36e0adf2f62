"""What the shards of a cluster share: the tables in the schema that the store's URL names, and views over all shards.

Each shard has a schema of its own with the tables of any crawl (`NAME_shard_3`), and its search path names both: a
transaction of a shard can also write to the shared tables. These are:

    cluster          one row: the number of shards, and why all should stop
    shards           how far each shard is, and how many pages it may fetch
    outbox           letters that have not been taken over, by target, sender and number
    received         the number of the last letter that each shard has taken over from each other, and the bytes of all
    address_leases   which shard may ask an address, and until when

All else there are views with the names and columns of a crawl's tables, over the rows of all shards and with the shard
as a last column, so that whoever reads a crawl can read a cluster's. Numbers of rows are made unique: that of the shard
times `NUMBERS` apart.
"""

from __future__ import annotations

import re
import time
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote

import numpy as np
import psycopg
from psycopg.conninfo import conninfo_to_dict

from lycosa.errors import InputError, StoreError, WorkspaceBusy
from lycosa.store import rows
from lycosa.store.asking import select
from lycosa.store.postgres import CRAWLING, HOLDER, PostgresStore
from lycosa.store.postgres_connection import PATIENCE, Database, PostgresConnection
from lycosa.store.postgres_dialect import in_postgres
from lycosa.store.postgres_errors import explained
from lycosa.store.postgres_schema import CLUSTER, LOCKS, refuse_old_server, relations
from lycosa.store.schema import VERSION, parts

MOST_SHARDS = 1_024
NOBODY = -1
FIRST_CALL = 3.0
"""Seconds for which an address that was given up is kept for whoever asked first."""
_NAME = re.compile(r"[a-z_][a-z0-9_]{0,40}")
SHARED_TABLES = f"""
create table {CLUSTER} (
    version bigint not null, shards bigint not null, run bigint not null default 0, stop text not null default ''
);
create table shards (
    shard bigint primary key, granted bigint not null default 0, is_idle bigint not null default 0,
    pages bigint not null default 0, relevant bigint not null default 0, downloaded bigint not null default 0,
    waiting bigint not null default 0, in_flight bigint not null default 0, at double precision not null default 0,
    front bytea not null default '', is_leaving bigint not null default 0, best_soon double precision not null default 0
) with (fillfactor = 50);
create table outbox (
    target bigint not null, sender bigint not null, number bigint not null, value bytea not null,
    primary key (target, sender, number)
);
create table received (
    target bigint not null, sender bigint not null, number bigint not null, bytes bigint not null,
    primary key (target, sender)
);
create table address_leases (
    address text collate "C" primary key, shard bigint not null, until timestamptz not null,
    wanted_by bigint
);
create index address_leases_wanted on address_leases (shard) where wanted_by is not null;
"""
FOREIGN_PAGES = """
create table if not exists foreign_pages (
    id bigint primary key, after_pages bigint not null, link_id bigint not null, host_id bigint not null,
    targets bytea not null, value bytea not null, note bytea not null
)
"""
LETTERS = """
select o.target, o.sender, o.number, o.value from outbox o
left join received r on r.target = o.target and r.sender = o.sender
where o.target = ? and o.number > coalesce(r.number, 0) order by o.sender, o.number limit ?
"""
SENT = """
select target, max(number) from (
    select target, number from received where sender = ?1
    union all select target, max(number) from outbox where sender = ?1 group by 1
) as numbers group by 1 order by 1
"""
TAKEN = "select sender, number from received where target = ? order by 1"
LEAVES = "its shard moves to another crawler"
ORDERS = f"""
select s.granted, case when s.is_leaving = 1 and c.stop = '' then '{LEAVES}' else c.stop end
from shards s, {CLUSTER} c where s.shard = ?
"""
LEAVE = "update shards set is_leaving = $1 where shard = $2"
ADD_COLUMNS = """
alter table shards add column if not exists is_leaving bigint not null default 0,
    add column if not exists best_soon double precision not null default 0
"""
FOREIGN = f"{select(rows.ForeignPage, 'foreign_pages')} where id > ? order by id"
OVERVIEW = f"""
select shard, granted, is_idle, pages, relevant, downloaded, waiting, in_flight, at, front, best_soon,
       (select count(*) from outbox), (select stop from {CLUSTER})
from shards order by shard
"""
VIEWS = "select quote_ident(viewname) from pg_views where schemaname = current_schema()"
RECENT = """
(select p.fetched_at, j.is_relevant from {0}.pages p join {0}.judgements j on j.page_id = p.id
 order by p.number desc limit $1)
"""
RECLAIM = "update shards set granted = pages where shard = $1 and is_idle = 1 and granted > pages"
GRANT = "update shards set granted = granted + $1 where shard = $2"
FREE = f"""
(lease.until < clock_timestamp() and (lease.wanted_by is null or lease.wanted_by = $2
                                      or lease.until < clock_timestamp() - interval '{FIRST_CALL} seconds'))
"""
GOING_ON = "(lease.shard = $2 and lease.until >= clock_timestamp() and lease.wanted_by is null)"
LEASE = f"""
insert into address_leases as lease (address, shard, until)
values ($1, $2, clock_timestamp() + make_interval(secs => $3))
on conflict (address) do update set
    shard = case when {FREE} then $2 else lease.shard end,
    until = case when {FREE} or {GOING_ON} then excluded.until else lease.until end,
    wanted_by = case when {FREE} then null when lease.shard != $2 then coalesce(lease.wanted_by, $2)
                else lease.wanted_by end
returning shard = $2 and until > clock_timestamp(), extract(epoch from until - clock_timestamp())::float8
"""
WANTED = "select address from address_leases where shard = ? and wanted_by is not null and until >= clock_timestamp()"
RELEASE = f"""
update address_leases set shard = {NOBODY}, until = clock_timestamp() + make_interval(secs => $3)
where address = $1 and shard = $2
"""


class ShardRow(NamedTuple):
    shard: int
    granted: int
    is_idle: int
    pages: int
    relevant: int
    downloaded: int
    waiting: int
    in_flight: int
    at: float
    front: bytes
    best_soon: float
    letters: int
    """Number of letters under way in the whole cluster."""
    stop: str

    @property
    def scores(self) -> np.ndarray[Any, np.dtype[np.float32]]:
        """Of the links that it would fetch next, best first."""
        return np.frombuffer(self.front, dtype=np.float32)


def base_schema(url: str) -> str:
    """The schema that a store's URL names; InputError if it is none that schemas of shards can be named after."""
    found = re.search(r"search_path\s*=\s*([^\s,]+)", str(conninfo_to_dict(url).get("options") or ""))
    name = found[1].strip('"') if found else "public"
    if not _NAME.fullmatch(name):
        raise InputError(
            f"the schema {name!r} cannot hold a cluster: give one with a name of up to 40 small letters, digits and "
            "underscores in ?options=-csearch_path%3DNAME"
        )
    return name


def shard_schema(base: str, shard: int) -> str:
    return f"{base}_shard_{shard}"


def shard_url(url: str, shard: int) -> str:
    """The URL of a shard's store, given that of the cluster's."""
    base = base_schema(url)
    place, _, query = url.partition("?")
    kept = [part for part in query.split("&") if part and not part.startswith("options=")]
    path = quote(f"-csearch_path={shard_schema(base, shard)},{base}")
    return f"{place}?{'&'.join([*kept, f'options={path}'])}"


class ShardStore(PostgresStore):
    """The store of one shard, which also writes to the tables that all share."""

    def __init__(self, url: str, *, path: Path, shard: int, patience: float, takes_over: bool = False) -> None:
        """`takes_over`: whoever has this shard is given up for lost; what it still sends will be refused."""
        self.shard = shard
        self._takes_over = takes_over
        super().__init__(url, path=path, is_crawler=True, patience=patience)

    def _open(self, db: Database) -> None:
        super()._open(db)
        db.execute(FOREIGN_PAGES.encode())

    def _lock(self, db: Database) -> None:
        try:
            super()._lock(db)
        except WorkspaceBusy as error:
            if self._has_joined:  # it was ours: no reason to wait for it, and to take it over in turn
                raise StoreError(
                    f"{self.where}: another crawler has gone on with shard {self.shard} meanwhile, and this one must "
                    "not write any more; nothing is lost"
                ) from error
            if not self._takes_over:
                raise
            holder = db.execute(HOLDER, (LOCKS, CRAWLING)).fetchone()
            if holder:
                db.execute("select pg_terminate_backend($1::int, 5000)", (holder[0],))
            super()._lock(db)

    def letters(self, most: int) -> list[rows.Letter]:
        """To this shard, not taken over yet: of each sender in order."""
        return self._all(rows.Letter._make, LETTERS, (self.shard, most))

    def sent(self) -> dict[int, int]:
        """By target: the number of the last letter that this shard has sent."""
        return dict(self._all(tuple, SENT, (self.shard,)))

    def taken(self) -> dict[int, int]:
        """By sender: the number of the last letter that this shard has taken over."""
        return dict(self._all(tuple, TAKEN, (self.shard,)))

    def orders(self) -> rows.Orders:
        found = self._first(rows.Orders._make, ORDERS, (self.shard,))
        if found is None:
            raise StoreError(f"{self.where}: the cluster has no shard {self.shard}")
        return found

    def foreign_pages(self, after: int = 0) -> Iterator[rows.ForeignPage]:
        """In the order in which the strategy was told of them."""
        return (rows.ForeignPage._make(row) for row in self._rows(FOREIGN, (after,)))

    def lease_address(self, address: str, seconds: float) -> rows.AddressLease:
        """Have an address to oneself for this time, unless another shard has it, or waits for it."""

        def lease(db: Database) -> rows.AddressLease:
            row = db.execute(LEASE, (address, self.shard, seconds)).fetchone()
            assert row is not None
            return rows.AddressLease(bool(row[0]), max(0.0, float(row[1])))

        return self._again(lease)

    def wanted_addresses(self) -> list[str]:
        """Addresses that this shard has, and others wait for."""
        return [address for (address,) in self._all(tuple, WANTED, (self.shard,))]

    def release_address(self, address: str, seconds: float) -> None:
        """Others may have it after this time."""
        self._again(lambda db: db.execute(RELEASE, (address, self.shard, seconds)))


class ClusterStore(PostgresConnection):
    """What the process that runs a cluster reads and writes."""

    def __init__(self, url: str, *, path: Path, patience: float = PATIENCE) -> None:
        self._base = base_schema(url)
        self._latest = ""
        super().__init__(url, path=path, patience=patience)

    def _open(self, db: Database) -> None:
        """Nothing: `prepare_cluster` has."""

    def begin(self) -> None:
        self._again(lambda db: db.execute(f"update {CLUSTER} set stop = '', run = run + 1".encode()))
        # Nobody has begun yet: those that were idle when all was killed have to look for themselves.
        self._again(lambda db: db.execute("update shards set is_leaving = 0, is_idle = 0"))

    def overview(self) -> list[ShardRow]:
        """All shards as they are at one moment."""
        return self._all(ShardRow._make, OVERVIEW)

    def recent_relevance(self, count: int) -> list[bool]:
        """Whether the latest pages of all shards are relevant, the latest first."""
        if not self._latest:
            shards = range(len(self.overview()))
            each = " union all ".join(RECENT.format(shard_schema(self._base, shard)) for shard in shards)
            self._latest = f"select is_relevant from ({each}) as each_shard order by fetched_at desc limit $1"
        return self._again(lambda db: [bool(row[0]) for row in db.execute(self._latest.encode(), (count,)).fetchall()])

    def looks(self) -> dict[str, int]:
        """Number of looks at pages that were fetched before, over all runs, by what became of these."""
        return self._again(lambda db: dict(db.execute("select change, count(*) from checks group by 1").fetchall()))

    def grant(self, pages: dict[int, int]) -> None:
        """Let shards fetch this many pages more."""
        given = [(count, shard) for shard, count in pages.items() if count]

        def write(db: Database) -> None:
            with db.transaction():
                db.cursor().executemany(GRANT.encode(), given)

        if given:
            self._again(write)

    def reclaim(self, shards: Collection[int]) -> None:
        """Take back what idle shards were granted and have not used."""

        def write(db: Database) -> None:
            with db.transaction():
                db.cursor().executemany(RECLAIM.encode(), [(shard,) for shard in shards])

        if shards:
            self._again(write)

    def leave(self, shard: int) -> None:
        """Ask a shard to end in order where it runs: it will go on elsewhere."""
        self._again(lambda db: db.execute(LEAVE, (1, shard)))

    def stay(self, shard: int) -> None:
        """Whoever begins with this shard is to keep it."""
        self._again(lambda db: db.execute(LEAVE, (0, shard)))

    def stop(self, reason: str) -> None:
        self._again(lambda db: db.execute(f"update {CLUSTER} set stop = $1".encode(), (reason,)))


class ClusterReports(PostgresStore):
    """All shards of a cluster, for reading only."""

    def _open(self, db: Database) -> None:
        found = cluster_row(db)
        if found is None or found[0] != VERSION:
            raise StoreError(
                f"{self.where}: the cluster has schema {found and found[0]}, this Lycosa reads {VERSION}; go on with "
                "the crawl once to migrate it"
            )

    def totals(self) -> rows.Totals:
        links = self._number(f"select count(*) from frontier where state != '{rows.State.ELSEWHERE}'")
        return super().totals()._replace(links=links)


def cluster_row(db: Database) -> tuple[int, int] | None:
    """(version of the schema, number of shards) of the cluster in this database; None if there is none."""
    if CLUSTER not in relations(db):
        return None
    row = db.execute(f"select version, shards from {CLUSTER}".encode()).fetchone()
    return (int(row[0]), int(row[1])) if row else None


def prepare_cluster(url: str, *, where: str, path: Path, shards: int, is_begun: bool = True) -> int:
    """Make what the shards share, and their schemas, unless they are there; the number of shards.

    `shards`: of a new cluster. One that is there keeps its own. `is_begun`: whether the crawl was begun in this
    directory; StoreError if it was begun in another.
    """
    with explained(where):
        if not is_begun:
            _refuse_begun(url, where)
        return _prepared(url, where, path, shards)


def _refuse_begun(url: str, where: str) -> None:
    with psycopg.connect(url, autocommit=True) as db:
        row = db.execute(f"select run from {CLUSTER}".encode()).fetchone() if cluster_row(db) else None
    if row and row[0]:
        raise StoreError(
            f"{where}: holds the crawl of a cluster that was begun in another directory; go on with it there, or give "
            "another --store"
        )


def _prepared(url: str, where: str, path: Path, shards: int) -> int:
    base = base_schema(url)
    with psycopg.connect(url, autocommit=True) as db:
        refuse_old_server(db, where)
        found = cluster_row(db)
        if found is not None:
            version, shards = found
            db.execute(ADD_COLUMNS.encode())
            if version != VERSION:
                _migrate(db, url, where, path, version, shards)
            return shards
        if "lycosa" in relations(db):
            raise StoreError(
                f"{where}: holds a crawl of one process; a cluster begins with an empty database, or a schema of its "
                "own: ?options=-csearch_path%3DNAME"
            )
        for shard in range(shards):
            db.execute(f"create schema if not exists {shard_schema(base, shard)}".encode())
    _make_tables_of_shards(url, path, shards)
    with psycopg.connect(url, autocommit=True) as db, db.transaction():
        for shard in range(shards):
            db.execute(f"set local search_path to {shard_schema(base, shard)}".encode())
            db.execute(FOREIGN_PAGES.encode())
        db.execute(f"set local search_path to {base}".encode())
        for statement in views(base, shards):
            db.execute(statement.encode())
        db.execute(SHARED_TABLES.encode())
        db.execute(f"insert into {CLUSTER} (version, shards) values (%s, %s)".encode(), (VERSION, shards))
        for shard in range(shards):
            db.execute(b"insert into shards (shard, at) values (%s, %s)", (shard, time.time()))
    return shards


def _make_tables_of_shards(url: str, path: Path, shards: int) -> None:
    """Make or migrate them: any store does so with its own."""
    for shard in range(shards):
        PostgresStore(shard_url(url, shard), path=path).close()


def _migrate(db: psycopg.Connection[Any], url: str, where: str, path: Path, version: int, shards: int) -> None:
    """The tables of all shards become those of this version. Views are in the way, and made anew; a migration that was
    cut off begins again."""
    if version > VERSION:
        raise StoreError(
            f"{where}: written by a newer Lycosa (schema {version}, this one knows {VERSION}); upgrade Lycosa"
        )
    for view in db.execute(VIEWS.encode()).fetchall():
        db.execute(f"drop view if exists {view[0]} cascade".encode())
    _make_tables_of_shards(url, path, shards)
    with db.transaction():
        for statement in views(base_schema(url), shards):
            db.execute(statement.encode())
        db.execute(f"update {CLUSTER} set version = %s".encode(), (VERSION,))


NUMBERS = MOST_SHARDS
_NUMBER = {
    "runs": ("id",),
    "hosts": ("id",),
    "frontier": ("id", "host_id", "parent_id"),
    "pages": ("id", "run_id", "duplicate_of"),
    "judgements": ("page_id",),
    "earlier_judgements": ("page_id",),
    "links": ("source_id", "target_id"),
    "outcomes": ("id", "link_id", "run_id"),
    "events": ("id", "run_id"),
    "answers": ("id", "page_id"),
    "notes": ("page_id",),
    "searches": ("id", "run_id"),
    "search_answers": ("search_id",),
    "search_results": ("link_id", "search_id"),
    "commands": ("id",),
    "checks": ("id", "page_id", "run_id"),
}
"""Columns of the tables that hold numbers of rows."""


def views(base: str, shards: int) -> Iterator[str]:
    """Statements that make the tables and views of a crawl as views over all shards."""
    for part in parts().values():
        if part.kind == "view":
            yield in_postgres(part.sql)
        elif part.kind == "table":
            each = [_rows_of(base, shard, part.name, part.columns) for shard in range(shards)]
            yield f"create view {part.name} as {_in_order(part.name, part.columns, ' union all '.join(each))}"


def _rows_of(base: str, shard: int, table: str, columns: tuple[str, ...]) -> str:
    """Rows of one shard, with the numbers they have among all."""
    values = []
    for column in columns:
        if column in _NUMBER.get(table, ()):
            values.append(f"{column} * {NUMBERS} + {shard} as {column}")
        elif column == "archive_file":
            place = f"'{shard:04d}/archive/' || archive_file"
            values.append(f"case when archive_file = '' then '' else {place} end as {column}")
        else:
            values.append(column)
    # What a crawl keeps for itself alone says nothing of the others.
    only = " where name = 'threshold'" if table == "state" and not shard else " where false" if table == "state" else ""
    return f"select {', '.join(values)}, {shard} as shard from {shard_schema(base, shard)}.{table}{only}"


def _in_order(table: str, columns: tuple[str, ...], rows_of_all: str) -> str:
    """Pages are numbered in the order in which they were fetched by all."""
    if table != "pages":
        return rows_of_all
    values = [
        "row_number() over (order by fetched_at, id) as number" if column == "number" else column for column in columns
    ]
    return f"select {', '.join(values)}, shard from ({rows_of_all}) as each_shard"
