"""What a crawler of a cluster does, a process on some node: it runs shards, each as a crawl of its own.

It keeps nothing: what a shard knows is in its store, and its files in its directory. One that dies is replaced by
another, which goes on from there.
"""

from __future__ import annotations

import time
import tomllib
from pathlib import Path
from typing import NamedTuple

from lycosa.cluster.partitions import shard_by_host
from lycosa.cluster.refreshing import SharedPlan
from lycosa.crawl.shard import Shard
from lycosa.engine import Crawl
from lycosa.errors import WorkspaceBusy
from lycosa.seeds.metasearch.settings import MetaSearchSettings
from lycosa.store.opening import begin_shard_store
from lycosa.store.postgres_cluster import shard_url
from lycosa.workspace import Workspace

WAIT_FOR_PREDECESSOR = 10.0
"""Seconds that a predecessor has to end by itself, before its sessions are ended and what it sends is refused."""
SEARCHING = 0
"""The shard that asks search engines; what they find goes to others as any link does."""
GIVE_UP_AFTER = 300.0
"""Seconds after which a predecessor that keeps the shard's directory, and cannot be shut out, is an error."""


class CrawlerTask(NamedTuple):
    """What a crawler needs to know: it may be started on another machine."""

    directory: str
    """Of the whole crawl; that of a shard is below it."""
    url: str
    """Of the cluster's store."""
    shard_count: int
    """Number of shards of the cluster."""
    config: str
    """Settings, as TOML."""
    refresh: SharedPlan | None = None
    """If pages are to be looked at again instead."""


def run_shard(task: CrawlerTask, shard: int) -> str:
    """Crawl until there is a reason to stop; which it is.

    A predecessor may not have ended yet: it is waited for, and then shut out. If it is alive, and only Ray has lost
    sight of it, it ends by what it tries to write next, and so gives the directory free.
    """
    began = time.monotonic()
    while True:
        waited = time.monotonic() - began
        try:
            takes_over = waited > WAIT_FOR_PREDECESSOR
            if takes_over:
                _shut_out_others(task, shard)
            crawl = crawl_of_shard(task, shard, takes_over=takes_over)
            if task.refresh is not None:
                return crawl.refresh(task.refresh.of(shard, now=time.time())).reason
            return crawl.run().reason
        except WorkspaceBusy:
            if waited > GIVE_UP_AFTER:
                raise
            time.sleep(0.5)


def _shut_out_others(task: CrawlerTask, shard: int) -> None:
    workspace = Workspace(shard_directory(Path(task.directory), shard))
    begin_shard_store(workspace, shard_url(task.url, shard), shard, takes_over=True).close()


def shard_directory(home: Path, shard: int) -> Path:
    return Workspace(home).shards / f"{shard:04d}"


def crawl_of_shard(task: CrawlerTask, shard: int, *, takes_over: bool = False) -> Crawl:
    home = Path(task.directory)
    directory = shard_directory(home, shard)
    directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    place = Shard(number=shard, count=task.shard_count, owner_of=shard_by_host(task.shard_count), takes_over=takes_over)
    settings = tomllib.loads(task.config)
    if not settings.get("readers", {}).get("count"):
        settings.setdefault("readers", {})["count"] = 1
    # The cluster decides when all is over, not a shard.
    settings.setdefault("stall", {}).update(seed_patience=0, longest_rest=0)
    if searching := settings.get("metasearch"):
        # By the pages of one shard: as often as by those of all.
        every = searching.get("every", MetaSearchSettings().every)
        searching.update(
            is_on=searching.get("is_on", False) and shard == SEARCHING, every=-(-every // task.shard_count)
        )
    return Crawl(
        config=settings, directory=directory, store=shard_url(task.url, shard), shard=place, book=home / "topics.db"
    )
