"""A refresh by a cluster: one plan for all becomes a plan for each shard.

The pages that are asked for are the most urgent ones of all shards together; links that are new are followed in equal
shares, as nobody knows beforehand where they will be. A shard that begins again, in another crawler, leaves out what it
has looked at since the refresh began.
"""

from __future__ import annotations

import math
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

from lycosa.crawl.refresh import RefreshPlan, due_pages
from lycosa.store.postgres import PostgresStore
from lycosa.store.postgres_cluster import shard_url


class SharedPlan(NamedTuple):
    plans: tuple[RefreshPlan, ...]
    """By shard."""
    planned: int
    """Number of pages to look at, in all."""
    began: float

    def of(self, shard: int, *, now: float) -> RefreshPlan:
        """The plan of a shard that begins, or begins again."""
        plan = self.plans[shard]
        return replace(plan, older=max(plan.older, now - self.began), began=self.began)


def shared_plan(url: str, path: Path, shards: int, plan: RefreshPlan, *, now: float) -> SharedPlan:
    """`url`: of the cluster's store. `path`: the file that names it."""
    urgency = []
    for shard in range(shards):
        with closing(PostgresStore(shard_url(url, shard), path=path, read_only=True)) as store:
            urgency.append(due_pages(store, plan, now=plan.at or now)[1])
    counts = [len(each) for each in urgency]
    if plan.requests:
        owners, together = np.repeat(np.arange(shards), counts), np.concatenate(urgency)
        chosen = owners[np.argsort(-together, kind="stable")[: plan.requests]]
        counts = np.bincount(chosen, minlength=shards).tolist()
    share, more = divmod(plan.new, shards)
    plans = tuple(
        # No number of pages means all: a shard without any has pages that are never old enough.
        replace(plan, requests=count if plan.requests else 0, older=plan.older if count else math.inf,
                new=share + (shard < more))
        for shard, count in enumerate(counts)
    )  # fmt: skip
    return SharedPlan(plans, sum(counts), now)
