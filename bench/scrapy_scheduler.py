"""A spider in the style of Scrapy's tutorial, in the hunter's order and in Scrapy's own: what the same requests find.

    python bench/scrapy_scheduler.py            # eight topics: some seven minutes
    python bench/scrapy_scheduler.py --quick    # two topics: a try

The spider follows every link. Settings, seeds and web are the same; only the order differs: the hunter's, which knows
the topic's words, Scrapy's default (the newest request first), and breadth-first as Scrapy's documentation sets it up.
The web is generated and served on loopback by a process of its own. Relevant is what the plan of the web says, seeds
left out; counted are the relevant pages, each text once, among the first responses, dead links included. Differences
are tested over topics (Wilcoxon, two-sided, corrected for both comparisons by Holm).
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from lycosa.lab.evaluate.significance import holm, wilcoxon
from lycosa.lab.generated.server import Served, served
from lycosa.lab.generated.web import GeneratedWeb, WebPlan
from table import ratio, table

PLAN = WebPlan(seed=23, pages=20_000, hosts=120, topics=10, crawl_delay=0.0)
ADDRESSES = 8
REQUESTS, QUICK_REQUESTS = 600, 300
SEEDS = 5
TOPICS, QUICK_TOPICS = 8, 2
SPIDER = Path(__file__).with_name("scrapy_spider.py")
LONGEST = 1800.0
"""Seconds after which a crawl is ended."""
HUNTER = {"ADDONS": {"lycosa.scrapy.Addon": 500}}
BREADTH_FIRST = {
    "DEPTH_PRIORITY": 1,
    "SCHEDULER_DISK_QUEUE": "scrapy.squeues.PickleFifoDiskQueue",
    "SCHEDULER_MEMORY_QUEUE": "scrapy.squeues.FifoMemoryQueue",
}
ORDERS: dict[str, dict[str, Any]] = {
    "lycosa.scrapy": HUNTER,
    "Scrapy's default": {},
    "Scrapy, breadth-first": BREADTH_FIRST,
}


class Found(NamedTuple):
    responses: int
    relevant: int


def run(web: GeneratedWeb, server: Served, topic: int, seeds: Sequence[int], settings: Any, requests: int) -> Found:
    task = {
        "seeds": [web.url(page, port=server.port) for page in seeds],
        "topic": web.topic_keywords(topic),
        "overrides": server.overrides,
        "requests": requests,
        "settings": settings,
    }
    # -P: the names of the benchmark's files must not stand before those of installed packages.
    command = [sys.executable, "-P", str(SPIDER), json.dumps(task)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=LONGEST, check=False)
    if done.returncode:
        sys.exit(f"the crawl failed: {done.stderr[-2000:]}")
    urls = json.loads(done.stdout.splitlines()[-1])
    wanted = web.targets(topic, seeds) - {web.original(page) for page in seeds}
    pages = (web.page_of(url) for url in urls)
    return Found(len(urls), len({web.original(page) for page in pages if page is not None} & wanted))


def main() -> None:
    parser = argparse.ArgumentParser(description="The hunter's order and Scrapy's own, in the same spider.")
    parser.add_argument("--quick", action="store_true", help="two topics, fewer requests")
    options = parser.parse_args()
    requests = QUICK_REQUESTS if options.quick else REQUESTS
    web = GeneratedWeb(PLAN)
    found: dict[str, list[int]] = {order: [] for order in ORDERS}
    rows = []
    with served(PLAN, addresses=ADDRESSES) as server:
        for topic in range(QUICK_TOPICS if options.quick else TOPICS):
            seeds = web.seeds(topic, SEEDS, np.random.default_rng(topic))
            results = {order: run(web, server, topic, seeds, settings, requests) for order, settings in ORDERS.items()}
            for order, result in results.items():
                found[order].append(result.relevant)
            cells = [f"{result.relevant} of {result.responses}" for result in results.values()]
            rows.append([web.topic_names[topic], *cells])
            print(f"  {rows[-1]}", file=sys.stderr, flush=True)
    means = {order: float(np.mean(counts)) for order, counts in found.items()}
    errors = {order: float(np.std(counts, ddof=1) / len(counts) ** 0.5) for order, counts in found.items()}
    rows.append(["mean ± standard error", *(f"{means[order]:.1f} ± {errors[order]:.1f}" for order in ORDERS)])
    print(
        f"Scrapy {version('scrapy')}, Lycosa {version('lycosa')}; relevant pages among the first {requests} responses"
    )
    print(table(["", *ORDERS], rows))
    first, *others = ORDERS
    differences = [np.subtract(found[first], found[other]) for other in others]
    tested = holm([wilcoxon(each).p for each in differences])
    for other, difference, p in zip(others, differences, tested, strict=True):
        wins = f"better in {int((difference > 0).sum())} of {len(difference)} crawls, p = {p:.3g}"
        print(f"{first}: {ratio(means[first], means[other])} {other}, {wins}")


if __name__ == "__main__":
    main()
