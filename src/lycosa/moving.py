"""A crawl's database moves to PostgreSQL, from one database there to another, or back into its directory; archive,
judge and snapshots stay where they are.

The crawl counts as moved when `store.url` is written, or removed: up to then it is where it was.
"""

from __future__ import annotations

from contextlib import closing

from lycosa.errors import WorkspaceError
from lycosa.store.opening import check_url, is_same_place, move_shards, open_store, open_url, shown
from lycosa.store.sqlite import SqliteStore
from lycosa.store.transfer import Progress, TableSum, copy_crawl
from lycosa.workspace import Workspace


def move_to_postgres(workspace: Workspace, url: str, progress: Progress) -> tuple[dict[str, TableSum], str]:
    """What was moved, and the name of what was the database and is kept."""
    check_url(url)
    if workspace.has_remote_store:
        return _move_elsewhere(workspace, url, progress)
    with workspace.locked():
        with closing(SqliteStore(workspace.database)) as source, source.held():
            source.refuse_damage()
            with closing(open_url(workspace, url, is_crawler=True)) as target:
                moved = copy_crawl(source, target, progress)
            workspace.name_remote_store(url)
        kept = workspace.set_aside_database()
    return moved, kept


def _move_elsewhere(workspace: Workspace, url: str, progress: Progress) -> tuple[dict[str, TableSum], str]:
    before = workspace.remote_store()
    if is_same_place(before, url):
        raise WorkspaceError(f"{workspace.directory}: the database of this crawl is {shown(url)} already")
    with workspace.locked():
        if workspace.has_shards:
            moved = move_shards(workspace, url, progress)
        else:
            stores = open_store(workspace, is_crawler=True), open_url(workspace, url, is_crawler=True)
            with closing(stores[0]) as source, closing(stores[1]) as target:
                moved = copy_crawl(source, target, progress)
        workspace.name_remote_store(url)
    return moved, shown(before)


def move_to_sqlite(workspace: Workspace, progress: Progress) -> dict[str, TableSum]:
    if not workspace.has_remote_store:
        raise WorkspaceError(f"{workspace.directory}: the database of this crawl is crawl.db already")
    if workspace.has_shards:
        raise WorkspaceError(
            f"{workspace.directory}: the crawl of a cluster cannot become one of a single process, as each shard has "
            "numbers and an archive of its own; move it to another PostgreSQL database, or take its pages along with "
            "lycosa export"
        )
    with workspace.locked():
        draft = workspace.directory / "crawl.db.part"
        for left in workspace.directory.glob("crawl.db.part*"):
            left.unlink()
        with closing(open_store(workspace, is_crawler=True)) as source, closing(SqliteStore(draft)) as target:
            moved = copy_crawl(source, target, progress)
        draft.replace(workspace.database)
        workspace.remote_name.unlink()
    return moved
