"""lycosa check: whether a crawl is whole, and mending it."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import typer

from lycosa.cli.opened import DIRECTORY
from lycosa.cli.terminal import out, plain
from lycosa.errors import LycosaError
from lycosa.results.check import check_archive, check_database, repair
from lycosa.store.damage import Flaw
from lycosa.store.opening import open_store
from lycosa.workspace import Workspace

SAID_EVERY = 500
"""Pages of the archive between two updates of what is shown."""


def check(
    directory: Path = DIRECTORY,
    repair_: bool = typer.Option(
        False, "--repair", help="Mend what can be mended; the damaged database is kept as crawl.db.damaged-1."
    ),
    archive: bool = typer.Option(True, "--archive/--no-archive", help="Also read every page in the archive."),
) -> None:
    """Whether a crawl's database and archive are whole and agree.

    Exit code 1: something is damaged. lycosa check cycling/ --repair
    """
    found: list[Flaw] = []
    for part in Workspace.existing(directory).parts():
        name = "" if part.directory == directory else f"shard {part.directory.name}: "
        if repair_:
            with part.locked():
                mended = repair(part)
            for damage in mended:
                out.print(f"[green]mended[/]  {name}{plain(damage)}")
        damages = _found(part, with_archive=archive)
        for damage in damages:
            hint = "" if not damage.can_be_mended or repair_ else "  [dim](can be mended)[/]"
            out.print(f"[red]damaged[/]  {name}{plain(damage)}{hint}")
        found += damages
    if not found:
        out.print(f"{plain(directory)}: whole")
        return
    if any(damage.can_be_mended for damage in found) and not repair_:
        out.print(f"mend what can be mended with: lycosa check {plain(directory)} --repair")
    if not all(damage.can_be_mended for damage in found):
        out.print("what cannot be mended: restore crawl.db from a copy, or begin in another directory")
    raise typer.Exit(1)


def _found(workspace: Workspace, *, with_archive: bool) -> list[Flaw]:
    with out.status("checking the database") as shown:
        found = check_database(workspace)
        if found or not with_archive:
            return found

        def look(count: int) -> None:
            if count % SAID_EVERY == 0:
                shown.update(f"checking the archive: {count:,} pages")

        try:
            with closing(open_store(workspace, read_only=True)) as store:
                return list(check_archive(workspace, store, look=look))
        except LycosaError as error:
            return [Flaw("crawl.db", str(error))]
