"""A tarpit beside fair hosts: how many fetches go into it, and what that costs the fair ones.

    python -m hostile.tarpit --pages 20000        # in tests/

Crawls the same fair hosts without and with a maze of unique pages and links that every fair page links to, with all
parts of a crawl but the network and the clock. Prints JSON: fetches into the maze, fair pages fetched, links that wait
at the end, processor time, and the memory that the process needed.
"""

from __future__ import annotations

import argparse
import json
import resource
import sys
import tempfile
import time
from pathlib import Path

from conftest import Rig
from hostile.test_traps import EndlessWeb, maze
from lycosa.fetch.urls import host_key


def crawl(pages: int, hosts: int, *, has_trap: bool, strategy: str) -> dict[str, object]:
    web = EndlessWeb(maze, fair_hosts=hosts, fair_pages=pages // hosts)
    seeds = [f"http://fair-{host}.test/0" for host in range(hosts)] + (["http://trap.test/"] if has_trap else [])
    if not has_trap:
        for url, body in web.items():
            web[url] = str(body).replace('<a href="http://trap.test/">x</a>', "")
    began = time.process_time()
    with tempfile.TemporaryDirectory() as folder:
        rig = Rig(Path(folder), web)
        reason = rig.crawl(*seeds, strategy=strategy, pages=pages, width=64, delay=0.1)
        found = rig.pages
        said = [message for (message,) in rig.sql("select message from events where kind = 'trap'")]
        waiting = rig.frontier.waiting
        rig.store.close()
    is_fair = [host_key(url).startswith("fair-") for url in found]
    return {
        "strategy": strategy,
        "has trap": has_trap,
        "fetched": len(found),
        "into the trap": is_fair.count(False),
        "share": round(is_fair.count(False) / max(1, len(found)), 4),
        "fair pages": is_fair.count(True),
        "waiting": waiting,
        "processor seconds": round(time.process_time() - began, 1),
        "MB": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
        "ended": reason,
        "said": said,
    }


def main() -> int:
    parser = argparse.ArgumentParser(prog="hostile.tarpit", description=__doc__.splitlines()[0])
    parser.add_argument("--pages", type=int, default=20_000)
    parser.add_argument("--hosts", type=int, default=30)
    parser.add_argument("--strategy", default="breadth-first")
    arguments = parser.parse_args()
    for has_trap in (False, True):
        result = crawl(arguments.pages, arguments.hosts, has_trap=has_trap, strategy=arguments.strategy)
        print(json.dumps(result), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
