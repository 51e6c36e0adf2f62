"""A crawler of a cluster: the process on some node that runs shards, each as a crawl of its own.

It keeps nothing: what a shard knows is in its store, and its files in its directory. One that dies is replaced by
another, which goes on from there.
"""

from __future__ import annotations

import threading
import time
import tomllib
from pathlib import Path
from typing import NamedTuple

from lycosa.cluster.partitions import shard_by_host
from lycosa.crawl.shard import Shard
from lycosa.engine import Crawl
from lycosa.errors import WorkspaceBusy
from lycosa.store.postgres_cluster import shard_url
from lycosa.workspace import Workspace

WAIT_FOR_PREDECESSOR = 10.0
"""Seconds that a predecessor has to end by itself, before its sessions are ended and what it sends is refused."""
GIVE_UP_AFTER = 60.0


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
    shards: tuple[int, ...]
    """The shards that it runs."""


def run_shards(task: CrawlerTask) -> dict[int, str]:
    """Crawl until all of these shards have ended; why each did. What ended one by a fault ends all."""
    ends: dict[int, str] = {}
    failed: list[BaseException] = []
    crawls: dict[int, Crawl] = {}

    def run(shard: int) -> None:
        try:
            ends[shard] = _run_shard(task, shard, crawls)
        except BaseException as error:  # raised again below, for whoever started this crawler
            failed.append(error)
            for other in list(crawls.values()):
                other.stop("another shard of this crawler has failed")

    threads = [threading.Thread(target=run, args=(shard,), name=f"shard {shard}", daemon=True) for shard in task.shards]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failed:
        raise failed[0]
    return ends


def _run_shard(task: CrawlerTask, shard: int, crawls: dict[int, Crawl]) -> str:
    """A predecessor may not have ended yet: it is waited for, and then shut out."""
    began = time.monotonic()
    while True:
        waited = time.monotonic() - began
        crawls[shard] = crawl_of_shard(task, shard, takes_over=waited > WAIT_FOR_PREDECESSOR)
        try:
            return crawls[shard].run().reason
        except WorkspaceBusy:
            if waited > GIVE_UP_AFTER:
                raise
            time.sleep(0.5)


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
    return Crawl(
        config=settings, directory=directory, store=shard_url(task.url, shard), shard=place, book=home / "topics.db"
    )
