"""Where a crawl's database is: `crawl.db` in its directory, or the place that `store.url` there names."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from lycosa.errors import ConfigError, WorkspaceError
from lycosa.store.protocol import Reports
from lycosa.store.sqlite import SqliteStore
from lycosa.workspace import Workspace

if TYPE_CHECKING:
    from lycosa.store.dashboard import DashboardStore
    from lycosa.store.postgres import PostgresStore
    from lycosa.store.postgres_cluster import ShardStore
    from lycosa.store.transfer import Progress, TableSum


def open_store(
    workspace: Workspace, *, read_only: bool = False, is_crawler: bool = False, over_shards: bool = False
) -> Reports:
    """The store of a crawl that was begun. `is_crawler`: whoever opens it crawls, and nobody else may meanwhile.
    `over_shards`: whoever opens it for reading can also read a cluster's, in which numbers have gaps."""
    if workspace.has_shards and not is_crawler:
        if not (read_only and over_shards):
            raise WorkspaceError(
                f"{workspace.directory}: the crawl of a cluster, of which this cannot be asked as a whole; name one of "
                f"its shards: {workspace.shards / '0000'}"
            )
        return open_shards(workspace)
    if workspace.has_remote_store:
        return open_url(workspace, workspace.remote_store(), read_only=read_only, is_crawler=is_crawler)
    return SqliteStore(workspace.database, read_only=read_only)


def open_shards(workspace: Workspace) -> Reports:
    """All shards of a cluster, for reading only."""
    require_postgres()
    from lycosa.store.postgres_whole import WholeCluster

    return WholeCluster(workspace.remote_store(), path=workspace.remote_name)


def open_graph(workspace: Workspace) -> Reports:
    """The store for whoever keeps arrays by the numbers of pages, for reading only: there are no gaps in them."""
    if not workspace.has_shards:
        return open_store(workspace, read_only=True)
    require_postgres()
    from lycosa.store.postgres_whole import GraphOfCluster

    return GraphOfCluster(workspace.remote_store(), path=workspace.remote_name)


def move_shards(workspace: Workspace, url: str, progress: Progress) -> dict[str, TableSum]:
    """Copy the crawl of a cluster to another database, and compare; the directories of all shards name it then."""
    require_postgres()
    from lycosa.store.postgres_cluster import shard_url
    from lycosa.store.postgres_transfer import copy_cluster

    moved = copy_cluster(workspace.remote_store(), url, path=workspace.remote_name, progress=progress)
    for part in workspace.parts():
        part.name_remote_store(shard_url(url, int(part.directory.name)))
    return moved


def stop_shards(workspace: Workspace, reason: str) -> None:
    """Ask whoever runs a cluster to end it."""
    require_postgres()
    from lycosa.store.postgres_whole import stop_cluster

    stop_cluster(workspace.remote_store(), path=workspace.remote_name, reason=reason)


def open_dashboard(workspace: Workspace) -> DashboardStore:
    """The store of a crawl that was begun, for reading only, and for what the dashboard asks."""
    if workspace.has_shards:
        require_postgres()
        from lycosa.store.postgres_whole import ClusterDashboard

        return ClusterDashboard(workspace.remote_store(), path=workspace.remote_name)
    if workspace.has_remote_store:
        require_postgres()
        from lycosa.store.postgres_dashboard import PostgresDashboard

        return PostgresDashboard(workspace.remote_store(), path=workspace.remote_name, read_only=True)
    from lycosa.store.sqlite_dashboard import SqliteDashboard

    return SqliteDashboard(workspace.database)


def begin_store(workspace: Workspace, url: str) -> Reports:
    """The store of a crawl that begins or goes on, in the place that was given for it, if one was."""
    if not url or (workspace.has_remote_store and workspace.remote_store() == url):
        return open_store(workspace, is_crawler=True)
    if workspace.has_remote_store and not is_same_place(workspace.remote_store(), url):
        raise WorkspaceError(
            f"{workspace.directory}: the database of this crawl is {shown(workspace.remote_store())}, not "
            f"{shown(url)}; leave --store out, or choose another directory with -o"
        )
    if workspace.database.exists() and not workspace.has_remote_store:
        raise WorkspaceError(
            f"{workspace.directory}: the database of this crawl is crawl.db; move it first: "
            f"lycosa move {workspace.directory} {shown(url)}"
        )
    store = open_url(workspace, url, is_crawler=True)
    if not workspace.has_remote_store and store.last_run() is not None:
        store.close()
        raise WorkspaceError(
            f"{shown(url)}: holds a crawl that was begun in another directory; go on with it there, or give another "
            "--store"
        )
    workspace.name_remote_store(url)
    return store


def begin_shard_store(workspace: Workspace, url: str, shard: int, *, takes_over: bool = False) -> ShardStore:
    """The store of one shard of a cluster. `takes_over`: whoever has it is given up for lost."""
    from lycosa.store.postgres_cluster import ShardStore

    workspace.name_remote_store(url)
    return ShardStore(url, path=workspace.remote_name, shard=shard, patience=math.inf, takes_over=takes_over)


def open_url(workspace: Workspace, url: str, *, read_only: bool = False, is_crawler: bool = False) -> PostgresStore:
    require_postgres()
    from lycosa.store.postgres import PostgresStore
    from lycosa.store.postgres_connection import PATIENCE

    return PostgresStore(
        url,
        path=workspace.remote_name,
        read_only=read_only,
        is_crawler=is_crawler,
        patience=math.inf if is_crawler else PATIENCE,
    )


def check_url(url: str) -> None:
    """ConfigError or InputError if a store could not be at this URL, whether or not there is a server."""
    require_postgres()
    shown(url)


def require_postgres() -> None:
    try:
        import psycopg  # noqa: F401
    except ImportError as error:
        raise ConfigError(
            f"a store in PostgreSQL needs psycopg, which cannot be loaded ({str(error).splitlines()[0]}): pip install "
            "'lycosa[postgres]'"
        ) from error


def shown(url: str) -> str:
    """The URL without its password."""
    from lycosa.store.postgres_connection import place_of

    return place_of(url)


def is_same_place(first: str, second: str) -> bool:
    """Whether both name the same tables, whoever asks for them."""
    from psycopg.conninfo import conninfo_to_dict

    keys = ("host", "hostaddr", "port", "dbname", "options")
    found = [conninfo_to_dict(url) for url in (first, second)]
    return all(found[0].get(key) == found[1].get(key) for key in keys)
