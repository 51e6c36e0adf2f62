"""A crawl that a command looks at, also while it runs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import typer

from lycosa.config import Config, build, load_crawl
from lycosa.results.check import naming_damage
from lycosa.store.sqlite import SqliteStore
from lycosa.workspace import Workspace

DIRECTORY = typer.Argument(help="The crawl's directory.")


@contextmanager
def opened(directory: Path) -> Iterator[tuple[Workspace, Config, SqliteStore]]:
    """A crawl, for reading only."""
    workspace = Workspace.existing(directory)
    config = build((str(workspace.config), load_crawl(workspace.config, is_begun=True)))
    with naming_damage(workspace), closing(SqliteStore(workspace.database, read_only=True)) as store:
        yield workspace, config, store
