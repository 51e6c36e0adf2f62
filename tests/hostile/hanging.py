"""Hosts whose pages hang their reader beside fair hosts: what they cost the fair ones.

    python -m hostile.hanging --hanging 0,1,4        # in tests/

Crawls 30 hosts that may be asked once a second, and beside them hosts all of whose pages keep a reader busy for good,
by the clock, with reader processes as any crawl has them. Prints JSON: pages of the fair hosts in that time.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from pathlib import Path
from urllib.parse import urlsplit

import lycosa


class Web:
    """Hosts of pages without end, which link to the next pages of their host."""

    async def fetch(self, lease: lycosa.Lease) -> lycosa.Fetched:
        host = urlsplit(lease.url).hostname or ""
        number = int(lease.url.rpartition("/")[2])
        links = "".join(f'<a href="/{number * 4 + step}">page {number * 4 + step}</a> ' for step in range(1, 5))
        return lycosa.Fetched.page(lease, f"<title>{host}</title><p>{host} has a page {number} {links}")


class SpinningJudge:
    """Never finishes with pages of hosts that hang."""

    name = "spinning"

    def judge(self, page: lycosa.Page) -> float:
        while page.title.startswith("hanging"):
            pass
        return 1.0


def crawl(seconds: float, *, fair: int, hanging: int, readers: int) -> dict[str, object]:
    hosts = [f"hanging-{number}.test" for number in range(hanging)] + [f"fair-{number}.test" for number in range(fair)]
    with tempfile.TemporaryDirectory() as folder:
        report = lycosa.Crawl(
            judge=SpinningJudge(),
            strategy="breadth-first",
            seeds=[f"http://{host}/0" for host in hosts],
            directory=Path(folder) / "crawl",
            fetcher=Web(),
            archive={"is_on": False},
            readers={"count": readers},
        ).run(pages=1_000_000, minutes=seconds / 60)
        rows = report.rows(text=False)
        return {"hanging hosts": hanging, "fair pages": sum("//fair-" in str(row["url"]) for row in rows)}


def main() -> int:
    parser = argparse.ArgumentParser(prog="hostile.hanging", description=__doc__.splitlines()[0])
    parser.add_argument("--hanging", default="0,1,4", help="numbers of hanging hosts, a crawl each")
    parser.add_argument("--fair", type=int, default=30)
    parser.add_argument("--seconds", type=float, default=90.0)
    parser.add_argument("--readers", type=int, default=0)
    arguments = parser.parse_args()
    for hanging in map(int, arguments.hanging.split(",")):
        result = crawl(arguments.seconds, fair=arguments.fair, hanging=hanging, readers=arguments.readers)
        print(json.dumps(result), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
