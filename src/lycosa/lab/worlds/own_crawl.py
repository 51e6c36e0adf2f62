"""A crawl of one's own as a source of a world: its archive, and what its judge said of the pages.

    source = own_crawl(Path("baltic"))
    build(source.warcs, None, Path("baltic.world"), rules=source.rules, judgements=source.judgements)

The judgements take the place of labels for strategies that are evolved on the crawl (`lab.evolve`, --by-judge). They
are the crawl's last word: of a judge that learned, what it says at the end; of pages a person has answered for, the
answer.
"""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from lycosa.config import build as build_config
from lycosa.config import load_crawl
from lycosa.errors import InputError
from lycosa.fetch.archive_places import MOVED
from lycosa.fetch.urls import UrlRules
from lycosa.lab.worlds.writer import Judgements
from lycosa.store.opening import open_store
from lycosa.workspace import Workspace


@dataclass(frozen=True, slots=True)
class OwnCrawl:
    warcs: list[Path]
    rules: UrlRules
    """By which its URLs are canonical."""
    judgements: Judgements


def own_crawl(directory: Path) -> OwnCrawl:
    """InputError, or WorkspaceError, if the directory holds no crawl, or one without an archive."""
    workspace = Workspace.existing(directory)
    warcs = sorted(workspace.archive.glob("*.warc.gz"))
    if moved := sorted(workspace.archive.glob(f"*.warc.gz{MOVED}")):
        raise InputError(
            f"{directory}: {len(moved):,} files of the archive are at archive.target; bring them to "
            f"{workspace.archive} first, and remove the files *{MOVED} there"
        )
    if not warcs:
        raise InputError(f"{directory}: the crawl has no archive (archive.is_on = false?): a world needs its pages")
    stored = load_crawl(workspace.config, is_begun=True) if workspace.config.exists() else {}
    config = build_config((str(workspace.config), stored))
    with closing(open_store(workspace, read_only=True)) as store:
        judges = store.judges()
        found = {
            page.url: (page.relevance, bool(page.is_relevant)) for page in store.pages() if page.relevance is not None
        }
    return OwnCrawl(warcs, config.urls, Judgements(judges[0] if judges else "", found))
