"""A crawl's database moves to PostgreSQL, or back into its directory; archive, judge and snapshots stay where they are.

The crawl counts as moved when `store.url` is written, or removed: up to then it is where it was.
"""

from __future__ import annotations

from contextlib import closing

from lycosa.errors import WorkspaceError
from lycosa.store.opening import check_url, open_store, open_url
from lycosa.store.sqlite import SqliteStore
from lycosa.store.transfer import Progress, TableSum, copy_crawl
from lycosa.workspace import Workspace


def move_to_postgres(workspace: Workspace, url: str, progress: Progress) -> tuple[dict[str, TableSum], str]:
    """What was moved, and the name of the file that was the database and is kept."""
    check_url(url)
    if workspace.has_remote_store:
        raise WorkspaceError(f"{workspace.directory}: the database of this crawl is in PostgreSQL already")
    with workspace.locked():
        with closing(SqliteStore(workspace.database)) as source, source.held():
            source.refuse_damage()
            with closing(open_url(workspace, url, is_crawler=True)) as target:
                moved = copy_crawl(source, target, progress)
            workspace.name_remote_store(url)
        kept = workspace.set_aside_database()
    return moved, kept


def move_to_sqlite(workspace: Workspace, progress: Progress) -> dict[str, TableSum]:
    if not workspace.has_remote_store:
        raise WorkspaceError(f"{workspace.directory}: the database of this crawl is crawl.db already")
    with workspace.locked():
        draft = workspace.directory / "crawl.db.part"
        for left in workspace.directory.glob("crawl.db.part*"):
            left.unlink()
        with closing(open_store(workspace, is_crawler=True)) as source, closing(SqliteStore(draft)) as target:
            moved = copy_crawl(source, target, progress)
        draft.replace(workspace.database)
        workspace.remote_name.unlink()
    return moved
