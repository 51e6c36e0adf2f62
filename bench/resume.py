"""What it costs to resume a long crawl: from a snapshot, and told all its visits again.

    python bench/resume.py                    # 100,000 pages: half an hour, nearly all of it to make the crawl
    python bench/resume.py --quick            # 5,000

A crawl by the hunter of an endless web (`endless_web`, 30 links a page, 21 of them new) is made once and kept in out/.
Then it is killed after some more pages and resumed, in a process of its own each time, from a snapshot and without one.
The figure is the CPU time of that process, from its start until the first page is committed: Python, imports, opening
the database, frontier and URL index, the snapshot or the telling, the first turn of the loop. Readers are not counted.
The same process then fetches more pages, one at a time: both must choose the same.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, NamedTuple

from endless_web import EndlessWeb
from lycosa.crawl.watching import Silence, View
from lycosa.engine import Crawl
from lycosa.workspace import Workspace
from table import ratio, table

ROOT = Path(__file__).resolve().parents[1]
PAGES, QUICK_PAGES = 100_000, 5_000
KILLED_AFTER = 200
"""Pages since the snapshot."""
COMPARED = 100
"""Pages fetched after the resume."""
RUNS = 3
"""Resumes from a snapshot, of which the fastest counts: others use the machine, too."""
BOUND = 5.0
"""Seconds of CPU that a resume from a snapshot may take."""


class Resumed(NamedTuple):
    first_page: float
    """Seconds of CPU until the first page was committed."""
    order: list[str]
    """URLs of the pages fetched since."""


class UntilKilled(Silence):
    """Kills its own process after some pages, as SIGKILL would at any moment."""

    def __init__(self, pages: int) -> None:
        self._more = pages
        self._first_page = 0.0

    def begin(self, view: View) -> None:
        self._ledger, self._begun = view.ledger, view.ledger.pages

    def look(self) -> None:
        pages = self._ledger.pages - self._begun
        if pages and not self._first_page:
            self._first_page = time.process_time()
        if pages >= self._more:
            print(json.dumps({"first_page": self._first_page}), flush=True)
            os.kill(os.getpid(), signal.SIGKILL)


def crawl(directory: Path, *, fetches: int) -> Crawl:
    web = EndlessWeb()
    polite = {"delay": 0.0, "fetch_time_factor": 0.0, "connections_per_host": 4}
    settings: dict[str, Any] = {
        "politeness": polite,
        "readers": {"count": 1},
        "archive": {"is_on": False},
        "traps": {"is_on": False},  # the web is endless: its hosts would rest longer and longer, by the clock
    }
    return Crawl(
        web.topic_words,
        seeds=web.seeds(5),
        directory=directory,
        fetcher=web,
        network={"fetches": fetches},
        **settings,
    )


def made(directory: Path, pages: int) -> None:
    """The crawl, resumed where an earlier try left it, with a snapshot of its end."""
    crawl(directory, fetches=16).run(pages=pages)


def resumed(directory: Path, pages: int) -> Resumed:
    """Resume in a process of its own, and kill it after some pages."""
    words = (sys.executable, __file__, "--directory", str(directory), "--resume", str(pages))
    output = subprocess.run(words, capture_output=True, check=False, text=True)
    if output.returncode != -signal.SIGKILL:
        sys.exit(f"the resumed crawl ended by itself:\n{output.stderr}")
    database = sqlite3.connect(Workspace(directory).database)
    urls = "select f.url from pages p join frontier f on f.id = p.id order by p.number desc limit ?"
    order = [url for (url,) in database.execute(urls, (pages,))]
    database.close()
    return Resumed(float(json.loads(output.stdout)["first_page"]), order)


def compare(directory: Path) -> None:
    """Resume copies of a killed crawl both ways."""
    scratch = directory.with_name(directory.name + "-killed")
    copies = [directory.with_name(f"{directory.name}-{way}") for way in ("snapshot", "told")]
    try:
        shutil.copytree(directory, scratch)
        resumed(scratch, KILLED_AFTER)
        by_snapshot = [_resumed_copy(scratch, copies[0]) for _ in range(RUNS)]
        told = _resumed_copy(scratch, copies[1], with_snapshot=False)
        size = sum(path.stat().st_size for path in Workspace(directory).snapshots.iterdir())
    finally:
        for path in (scratch, *copies):
            shutil.rmtree(path, ignore_errors=True)
    fastest = min(each.first_page for each in by_snapshot)
    slowest = max(each.first_page for each in by_snapshot)
    rows = [
        ["told all visits", f"{told.first_page:.1f}", ""],
        [f"from a snapshot, {size / 1e6:,.0f} MB", f"{fastest:.1f}", f"{slowest:.1f} in the slowest of {RUNS} runs"],
    ]
    print(table(["resume", "s of CPU", ""], rows))
    print(f"told / snapshot: {ratio(told.first_page, fastest)}")
    is_same = all(each.order == told.order for each in by_snapshot)
    print(f"the next {COMPARED} pages are {'the same' if is_same else 'NOT THE SAME'}")
    print(f"bound: {BOUND:g} s, {'kept' if fastest < BOUND else 'NOT KEPT'}")
    sys.exit(not is_same)


def _resumed_copy(source: Path, copy: Path, *, with_snapshot: bool = True) -> Resumed:
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(source, copy)
    if not with_snapshot:
        shutil.rmtree(Workspace(copy).snapshots)
    return resumed(copy, COMPARED)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    options.add_argument("--quick", action="store_true", help=f"{QUICK_PAGES:,} pages.")
    options.add_argument("--directory", type=Path, default=None, help="Where the crawl is, or will be.")
    options.add_argument("--resume", type=int, default=0, help=argparse.SUPPRESS)
    given = options.parse_args()
    pages = QUICK_PAGES if given.quick else PAGES
    directory = given.directory or ROOT / "out" / f"resume-{pages}"
    if given.resume:
        crawl(directory, fetches=1).run(pages=10 * PAGES, watcher=UntilKilled(given.resume))
        return
    made(directory, pages)
    compare(directory)


if __name__ == "__main__":
    main()
