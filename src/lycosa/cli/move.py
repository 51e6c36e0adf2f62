"""lycosa move: a crawl's database to PostgreSQL, and back."""

from __future__ import annotations

from pathlib import Path

import typer

from lycosa.cli.terminal import out, plain
from lycosa.errors import InputError
from lycosa.moving import move_to_postgres, move_to_sqlite
from lycosa.store.opening import check_url, is_same_place, shown
from lycosa.store.transfer import TableSum
from lycosa.workspace import Workspace


def move(
    source: str = typer.Argument(help="The crawl's directory, or the URL of its database."),
    target: str = typer.Argument(help="postgresql://user@host/name of an empty database, or the crawl's directory."),
) -> None:
    """Move what a crawl knows from a file to PostgreSQL, from there to another database, or back.

    lycosa move cycling/ postgresql://me@db.example.org/cycling   and back:   lycosa move postgresql://… cycling/

    The crawl of a cluster moves as a whole, with all its shards, to another database of PostgreSQL.

    Archive, judge and snapshots stay in the directory. All tables are compared, by number of rows and checksum, before
    the crawl counts as moved; interrupted before that, it is where it was. What was the database is kept.
    """
    to_postgres = _is_url(target)
    if to_postgres == _is_url(source):
        raise InputError("one of the two must be a crawl's directory, the other a URL that begins with postgresql://")
    workspace = Workspace.existing(Path(source if to_postgres else target))
    with out.status("moving") as status:

        def progress(what: str, table: str, rows: int) -> None:
            status.update(f"{what} {table}: {rows:,} rows")

        if to_postgres:
            moved, kept = move_to_postgres(workspace, target, progress)
            rest = f"what was the database is kept as {kept}; remove it when you no longer need it"
        else:
            check_url(source)
            if workspace.has_remote_store and not is_same_place(workspace.remote_store(), source):
                raise InputError(
                    f"{workspace.directory}: the database of this crawl is {shown(workspace.remote_store())}, not "
                    f"{shown(source)}, or it is in another schema; see its {workspace.remote_name.name}"
                )
            moved = move_to_sqlite(workspace, progress)
            rest = f"{shown(source)} still has its tables; drop them when you no longer need them"
    _report(moved)
    out.print(f"moved to {plain(shown(target) if to_postgres else workspace.database)}; {plain(rest)}")


def _is_url(text: str) -> bool:
    return "://" in text


def _report(moved: dict[str, TableSum]) -> None:
    filled = {table: found for table, found in moved.items() if found.rows}
    for table, found in filled.items():
        out.print(f"{table:15} {found.rows:>12,} rows  {found.checksum}")
    out.print(f"{sum(found.rows for found in filled.values()):,} rows in {len(filled)} tables, the same on both sides")
