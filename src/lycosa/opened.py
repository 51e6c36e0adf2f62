"""A crawl that somebody looks at, also while it runs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from lycosa.config import Config, build, load_crawl
from lycosa.results.check import naming_damage
from lycosa.store.opening import open_store
from lycosa.store.protocol import Reports
from lycosa.workspace import Workspace


@contextmanager
def opened(directory: Path, *, over_shards: bool = False) -> Iterator[tuple[Workspace, Config, Reports]]:
    """A crawl, for reading only. `over_shards`: also that of a cluster as a whole."""
    workspace = Workspace.existing(directory)
    config = config_of(workspace)
    with naming_damage(workspace), closing(open_store(workspace, read_only=True, over_shards=over_shards)) as store:
        yield workspace, config, store


def config_of(workspace: Workspace) -> Config:
    """The settings of a crawl that was begun."""
    return build((str(workspace.config), load_crawl(workspace.config, is_begun=True)))
