"""lycosa crawl --cluster, lycosa refresh --cluster: how a crawl by several crawlers is run, and shows itself."""

from __future__ import annotations

import json
import time

from lycosa.cli.terminal import err, is_terminal, out, plain
from lycosa.cluster.driver import Cluster, ClusterProgress
from lycosa.crawl.refresh import RefreshPlan
from lycosa.engine import Crawl
from lycosa.results.report import Report

LINES_EVERY = 5.0
"""Seconds between two lines of progress where no terminal shows one that changes."""


class ClusterLines:
    """One line for all crawlers."""

    def __init__(self, pages: int, *, as_json: bool, quiet: bool) -> None:
        self._pages = pages
        self._as_json = as_json
        self._quiet = quiet
        self._next = 0.0

    def progress(self, now: ClusterProgress) -> None:
        if self._quiet or time.monotonic() < self._next:
            return
        self._next = time.monotonic() + (1.0 if self._as_json or is_terminal() else LINES_EVERY)
        if self._as_json:
            print(json.dumps({"event": "progress", **now._asdict()}), flush=True)
            return
        share = now.relevant / max(1, now.pages)
        words = (
            f"{now.pages:,} pages of {self._pages:,}, {now.relevant:,} relevant ({share:.1%}); {now.waiting:,} links "
            f"wait; {now.speed:.1f} pages/s by {now.crawlers} crawlers"
        )
        if now.planned:
            words = f"looked at {now.looked_at:,} of {now.planned:,} pages again by {now.crawlers} crawlers"
        out.print(words, end="\r" if is_terminal() else "\n")

    def event(self, kind: str, message: str) -> None:
        if self._as_json:
            print(json.dumps({"event": kind, "message": message}), flush=True)
        elif not self._quiet or kind == "stall":
            err.print(f"[yellow]{plain(kind)}:[/] {plain(message, 300)}")


def run_cluster(
    crawl: Crawl, *, store: str, crawlers: int, shards: int, ray: str, as_json: bool, quiet: bool
) -> Report:
    cluster = Cluster(crawl, store=store, crawlers=crawlers, shards=shards, address=ray)
    return cluster.run(ClusterLines(crawl.config.budget.pages, as_json=as_json, quiet=quiet))


def refresh_cluster(
    crawl: Crawl, plan: RefreshPlan, *, minutes: float | None, crawlers: int, ray: str, as_json: bool, quiet: bool
) -> Report:
    cluster = Cluster(crawl, store="", crawlers=crawlers, address=ray)
    return cluster.refresh(plan, ClusterLines(0, as_json=as_json, quiet=quiet), minutes=minutes)
