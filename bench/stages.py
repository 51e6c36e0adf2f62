"""Where the time of a page goes: a crawl as always, with a stopwatch on each part of its process; then the same pages
read once more in this process, with a stopwatch on each part of the reading.

    python bench/stages.py CONFIG.toml DIRECTORY

A part's time is its own: what the parts it calls take is theirs. Where wall time exceeds CPU time the part waited: for
the disk, or for its turn. Prints JSON, in microseconds a page.
"""

from __future__ import annotations

import json
import marshal
import resource
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

from lycosa import config, engine
from lycosa.crawl import reader_answers, reader_pool, reading
from lycosa.crawl.commit import CrawlLedger
from lycosa.crawl.reader_requests import NOWHERE, Request, unpacked
from lycosa.crawl.reading import Reading
from lycosa.crawl.watching import Silence, View
from lycosa.fetch.archive import Archive
from lycosa.fetch.http import Http
from lycosa.fetch.robots import Robots
from lycosa.fetch.urls import Urls
from lycosa.frontier.frontier import Frontier
from lycosa.frontier.view import FrontierView
from lycosa.judges.keywords import KeywordJudge
from lycosa.page import html
from lycosa.page.language import detect_language
from lycosa.store.sqlite import SqliteStore
from lycosa.workspace import Workspace

Parts = tuple[tuple[str, Any, tuple[str, ...]], ...]
"""What the table says, the owner of functions, their names."""

CRAWL_PARTS: Parts = (
    ("HTTP: libcurl and its callbacks", Http, ("_act",)),
    ("robots.txt: matching", Robots, ("verdict",)),
    ("readers: hand over", reader_pool._Reader, ("give",)),
    ("readers: take back, unpack", reader_pool, ("unpack",)),
    ("readers: take back, unpack", reader_pool._Reader, ("buffer_updated",)),
    ("WARC: digests, compression", Archive, ("append",)),
    ("WARC: write, sync to disk", Archive, ("sync", "position")),
    ("ledger: numbers for links, rows", CrawlLedger, ("commit",)),
    ("frontier", Frontier, ("lease", "push_many", "rescore", "done", "release")),
    ("frontier", FrontierView, ("is_waiting", "scores")),
    ("SQLite: write", SqliteStore, ("write",)),
    ("SQLite: leases", SqliteStore, ("leases",)),
)
CRAWL_REST = "asyncio, sockets, fetcher, loop"
READER_PARTS: Parts = (
    ("content encoding", reading, ("decode",)),
    ("charset, slow documents", html, ("find_charset", "as_utf8", "simplified")),
    ("HTML: parse, walk, text", html, ("walk",)),
    ("own text, hashes of blocks", html, ("OwnText", "block_hashes")),
    ("links: URLs, rules, anchors", html, ("resolve_links",)),
    ("words: cut, stem, count", html, ("counted",)),
    ("language", html, ("detect_language",)),
    ("fingerprint", html, ("simhash",)),
    ("hashes of links", reading, ("_hashes",)),
    ("judge", KeywordJudge, ("judge",)),
    ("packing the answer", reader_answers, ("pack",)),
)
READER_REST = "reading, the rest"
WARM_UP = 100
SAMPLE = 1_000
FOREIGN = "größer und schöner, aber nicht auf Englisch " * 9
"""Makes the language model be loaded, which takes half a second once; plain English text does without it."""


class Stopwatch:
    """Time by part, each part's own, in nanoseconds."""

    def __init__(self) -> None:
        self.cpu: dict[str, int] = defaultdict(int)
        self.wall: dict[str, int] = defaultdict(int)
        self.calls: dict[str, int] = defaultdict(int)
        self._inner: list[list[int]] = []
        """For each part that is running: CPU and wall time of the parts it has called."""
        self._untimed: list[tuple[Any, str, Any]] = []

    def put_on(self, parts: Parts) -> None:
        for label, owner, names in parts:
            for name in names:
                self._untimed.append((owner, name, vars(owner)[name]))
                setattr(owner, name, self.timed(getattr(owner, name), label))

    def take_off(self) -> None:
        """Put everything back as it was."""
        while self._untimed:
            setattr(*self._untimed.pop())

    def timed(self, function: Callable[..., Any], label: str) -> Callable[..., Any]:
        def measured(*arguments: Any, **named: Any) -> Any:
            inner = [0, 0]
            self._inner.append(inner)
            wall, cpu = time.perf_counter_ns(), time.thread_time_ns()
            try:
                return function(*arguments, **named)
            finally:
                cpu, wall = time.thread_time_ns() - cpu, time.perf_counter_ns() - wall
                self._inner.pop()
                self.calls[label] += 1
                self.cpu[label] += cpu - inner[0]
                self.wall[label] += wall - inner[1]
                if self._inner:
                    self._inner[-1][0] += cpu
                    self._inner[-1][1] += wall

        return measured

    def account(self, rest: str, *, cpu: float, pages: int) -> list[dict[str, Any]]:
        """Each part's microseconds a page; `cpu` is the CPU time of them all in seconds, and what no stopwatch was on
        is the rest, without what the stopwatches themselves took."""
        parts = [
            {"part": label, "cpu": self.cpu[label] / 1e3 / pages, "wall": self.wall[label] / 1e3 / pages}
            for label in self.cpu
        ]
        left = cpu * 1e6 - sum(self.cpu.values()) / 1e3 - sum(self.calls.values()) * cost_of_measuring()
        parts.append({"part": rest, "cpu": left / pages, "wall": left / pages})
        return sorted(parts, key=lambda part: -float(part["cpu"]))


def cost_of_measuring(times: int = 20_000) -> float:
    """Microseconds a stopwatch takes for itself at each call."""
    nothing = Stopwatch().timed(lambda: None, "")
    begun = time.thread_time_ns()
    for _ in range(times):
        nothing()
    return (time.thread_time_ns() - begun) / times / 1e3


class Timer(Silence):
    """From the first lease to the last commit: what it takes to start is left out."""

    pages = 0
    cpu = wall = before = 0.0

    def begin(self, view: View) -> None:
        self._ledger = view.ledger
        self.wall, self.before = time.perf_counter(), time.process_time()

    def end(self) -> None:
        self.wall = time.perf_counter() - self.wall
        self.cpu = time.process_time() - self.before
        self.pages = self._ledger.pages


def time_crawl(settings: config.Config, workspace: Workspace, requests: list[Request]) -> dict[str, Any]:
    """Crawl; keep some of what is sent to the readers in `requests`."""
    packed = Request.packed

    def keep(request: Request, place: int = NOWHERE) -> bytes:
        if len(requests) < WARM_UP + SAMPLE:
            requests.append(request)
        return packed(request, place)

    Request.packed = keep  # type: ignore[method-assign, assignment]
    watch, timer = Stopwatch(), Timer()
    watch.put_on(CRAWL_PARTS)
    engine.Crawl(config=settings, directory=workspace.directory).run(watcher=timer)
    pages = max(1, timer.pages)
    return {
        "pages": timer.pages,
        "wall": timer.wall * 1e6 / pages,
        "cpu": timer.cpu * 1e6 / pages,
        "pages_per_commit": pages / max(1, watch.calls["ledger: numbers for links, rows"]),
        "parts": watch.account(CRAWL_REST, cpu=timer.cpu, pages=pages),
        "start": timer.before + start_of_a_reader() * settings.readers.processes,
    }


def time_reading(settings: config.Config, requests: list[Request]) -> dict[str, Any]:
    how = Reading(
        urls=Urls(settings.urls),
        judge=KeywordJudge(settings.topic),
        limits=settings.page,
        decode_limits=settings.decode,
        product_token=settings.robots.product_token,
    )

    def read_again(request: Request) -> None:
        sent = unpacked(marshal.loads(request.packed()), None)
        reader_answers.pack(reading.read_response(sent.response, how, sent.furniture), whole_pages=False)

    detect_language(FOREIGN)
    for request in requests[:WARM_UP]:  # fills the memos
        read_again(request)
    watch = Stopwatch()
    watch.put_on(READER_PARTS)
    begun = time.process_time()
    for request in requests[WARM_UP:]:
        read_again(request)
    cpu = time.process_time() - begun
    pages = max(1, len(requests) - WARM_UP)
    return {"cpu": cpu * 1e6 / pages, "parts": watch.account(READER_REST, cpu=cpu, pages=pages)}


def start_of_a_reader() -> float:
    """Seconds of CPU until a reader can be given a page: Python and its imports."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-c", "import lycosa.crawl.reader_process"], check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    file, workspace = Path(sys.argv[1]), Workspace(Path(sys.argv[2]))
    settings = config.build((str(file), config.load_file(file)))
    requests: list[Request] = []
    crawl = time_crawl(settings, workspace, requests)
    print(json.dumps({"crawl": crawl, "reader": time_reading(settings, requests)}))


if __name__ == "__main__":
    main()
