"""A cluster's crawl goes from one PostgreSQL database to another, shard by shard, and both are compared."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

import psycopg

from lycosa.errors import StoreError
from lycosa.store.postgres import PostgresStore, copy_rows
from lycosa.store.postgres_cluster import cluster_row, prepare_cluster, shard_url
from lycosa.store.postgres_connection import Database, place_of
from lycosa.store.postgres_errors import explained
from lycosa.store.transfer import Progress, TableSum, copy_crawl, table_sum

OF_SHARD = ("foreign_pages",)
OF_ALL = ("outbox", "received", "shards", "cluster")
"""Tables that a crawl of one process does not have. Leases of addresses are not among them: they are over."""


def copy_cluster(source: str, target: str, *, path: Path, progress: Progress) -> dict[str, TableSum]:
    """What was copied, by table; StoreError if something in the target is not as it was in the source. Nobody crawls
    meanwhile: each shard is locked while it is read."""
    shards = _shards(source)
    if prepare_cluster(target, where=place_of(target), path=path, shards=shards) != shards:
        raise StoreError(f"{place_of(target)}: holds the crawl of another cluster; give an empty database")
    moved: dict[str, TableSum] = {}
    for shard in range(shards):
        stores = [PostgresStore(shard_url(url, shard), path=path, is_crawler=True) for url in (source, target)]
        with closing(stores[0]) as old, closing(stores[1]) as new:
            told = partial(_tell, progress, shard)
            found = copy_crawl(old, new, told)
            found |= {table: _copy(old, new, table, told) for table in OF_SHARD}
            if shard == shards - 1:  # what all share, when they are all there
                found |= {table: _copy(old, new, table, told) for table in OF_ALL}
        moved |= {f"{shard:04d}.{table}": each for table, each in found.items()}
    return moved


def _shards(url: str) -> int:
    with explained(place_of(url)), psycopg.connect(url, autocommit=True) as db:
        found = cluster_row(db)
    if found is None:
        raise StoreError(f"{place_of(url)}: there is no crawl of a cluster in this database")
    return found[1]


def _tell(progress: Progress, shard: int, what: str, table: str, count: int) -> None:
    progress(f"shard {shard}: {what}", table, count)


def _copy(old: PostgresStore, new: PostgresStore, table: str, progress: Progress) -> TableSum:
    def put(db: Database) -> None:
        db.execute(f"delete from {table}".encode())
        copy_rows(db, table, _columns(db, table), _rows(old, table))

    new.transact(put)
    wanted, found = (table_sum(_rows(each, table), table, progress) for each in (old, new))
    if wanted != found:
        raise StoreError(
            f"{new.where}: the table {table} is not as it was ({found.rows:,} of {wanted.rows:,} rows, or a value "
            "differs); the crawl stays where it is, and nothing is lost"
        )
    return found


def _columns(db: Database, table: str) -> list[str]:
    return [column.name for column in db.execute(f"select * from {table} limit 0".encode()).description or ()]


def _rows(store: PostgresStore, table: str) -> Iterator[tuple[Any, ...]]:
    return store.streamed(f"select * from {table} order by 1, 2, 3")
