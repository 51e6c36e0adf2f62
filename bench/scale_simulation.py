"""What a cluster of 10 to 1,000 crawlers would do: a simulation with the real partition function, in discrete events.

    python bench/scale_simulation.py                       # six minutes of 300 domains a crawler
    python bench/scale_simulation.py --domains 50 --minutes 2

A web of domains whose sizes are spread as those of the web are (Pareto): few are huge, most have some pages. A domain
is asked for one page at a time, and rests a second after each answer; a crawler handles as many pages a second as its
core can. Each fetches from whichever domain of its shard is ready. The web grows with the number of crawlers. Nothing
is discovered on the way: all pages are known at the start, so this is what politeness and partitions alone allow.

    largest share     of the domains' pages, the share that the busiest crawler has, against the mean
    pages/s           of all crawlers in this time, and the share of what their cores could have done
    slowest           pages of the crawler with the fewest, against the mean
    travel            share of all links that lead to another shard
"""

from __future__ import annotations

import argparse
import heapq
import time

import numpy as np
from numpy.typing import NDArray

from lycosa.cluster.partitions import PARTITIONS, partition_of, shards_of_partitions
from table import table

CRAWLERS = (10, 30, 100, 300, 1_000)
DELAY, ANSWER = 1.0, 0.3
"""Seconds that a host rests, and that it takes to answer."""
SHAPE, SMALLEST, LARGEST = 1.1, 20, 1_000_000
"""Of the sizes of domains, in pages."""
LEAVING = 0.25
"""Share of links that lead to another domain."""
LINKS = 200_000
"""Number of links that are drawn."""


def crawled(sizes: NDArray[np.int64], *, seconds: float, capacity: float) -> int:
    """Pages that one crawler fetches of its domains in this time."""
    ready = [(0.0, domain) for domain in range(len(sizes))]
    left = sizes.tolist()
    now, done, service = 0.0, 0, 1.0 / capacity
    while ready:
        at, domain = heapq.heappop(ready)
        now = max(now, at) + service
        if now >= seconds:
            break
        done += 1
        left[domain] -= 1
        if left[domain]:
            heapq.heappush(ready, (now + ANSWER + DELAY, domain))
    return done


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    options.add_argument("--domains", type=int, default=300, help="for each crawler")
    options.add_argument("--minutes", type=float, default=6.0)
    options.add_argument("--cpu", type=float, default=20.0, help="ms of a core for each page (make bench-cluster)")
    given = options.parse_args()
    chance = np.random.default_rng(1)
    seconds, capacity = 60 * given.minutes, 1_000 / given.cpu
    rows = []
    for crawlers in CRAWLERS:
        began, count = time.perf_counter(), given.domains * crawlers
        sizes = np.minimum(SMALLEST * (chance.pareto(SHAPE, count) + 1), LARGEST).astype(np.int64)
        partitions = np.array([partition_of(f"www.domain-{number}.org") for number in range(count)])
        shard = np.array(shards_of_partitions(crawlers))[partitions]
        load = np.bincount(shard, weights=sizes, minlength=crawlers)
        order = np.argsort(shard, kind="stable")
        owned = np.split(sizes[order], np.cumsum(np.bincount(shard, minlength=crawlers))[:-1])
        done = np.array([crawled(each, seconds=seconds, capacity=capacity) for each in owned])
        sources = chance.choice(count, LINKS, p=sizes / sizes.sum())
        targets = chance.choice(count, LINKS, p=sizes / sizes.sum())
        travel = LEAVING * float((shard[sources] != shard[targets])[sources != targets].mean())
        rows.append(
            [f"{crawlers:,}", f"{PARTITIONS / crawlers:.1f}", f"{load.max() / load.mean():.1f}",
             f"{done.sum() / seconds:,.0f}", f"{done.sum() / seconds / capacity / crawlers:.0%}",
             f"{done.min() / done.mean():.2f}", f"{travel:.1%}"]
        )  # fmt: skip
        print(f"{crawlers:,} crawlers, {count:,} domains: simulated in {time.perf_counter() - began:.0f} s", flush=True)
    head = ["crawlers", "partitions each", "largest share", "pages/s", "of the cores", "slowest", "travel"]
    print(f"\n{given.domains} domains a crawler, {given.minutes:g} minutes, {given.cpu:g} ms a page")
    print(table(head, rows))


if __name__ == "__main__":
    main()
