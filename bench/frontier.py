"""What the frontier costs at 10⁵, 10⁶ and 10⁷ links over 10⁵ hosts.

    python bench/frontier.py [--max 10000000]

Each size is measured in a process of its own, so that its memory is its own. Links come in batches of a
hundred, as pages bring them: hashes to numbers (`lib.hashindex`), then into the frontier. Host sizes follow
Zipf's law, scores are random. Once the size is reached, as many links leave as come: a round leases a hundred
links, cools their hosts for a second, gives them back as done, looks up a hundred known links and pushes a
hundred new ones. Times are CPU time, the median of three runs up to a million links.

Beside it stands what one would write first: a heapq of (-score, number, url) and a set of seen URLs, without
hosts, politeness or re-scoring.
"""

from __future__ import annotations

import argparse
import gc
import heapq
import json
import resource
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict, astuple, dataclass
from pathlib import Path
from statistics import median
from time import process_time

import numpy as np
from numpy.typing import NDArray

from lycosa.frontier.frontier import Frontier
from lycosa.lib.hashindex import HashIndex
from table import table

HOSTS = 100_000
SMALLEST = 100_000
LARGEST_PEER = 1_000_000
SHORT_RUN = 1_000_000
PAGE = 100
ROUNDS = 1_000
REST = 1.0
STEP = 0.001
MAX_GROWTH = 2.0
MAX_BYTES = 2 * 10**9

Columns = tuple[NDArray[np.uint64], NDArray[np.int64], NDArray[np.float64]]


@dataclass(frozen=True, slots=True)
class Figures:
    """Microseconds of each operation on one link, and bytes."""

    build: float
    push: float
    find: float
    lease: float
    resident: float
    peak: int


class Web:
    """Where links come from: 64-bit hashes, hosts by Zipf's law, random scores."""

    def __init__(self, seed: int) -> None:
        self._rng = np.random.default_rng(seed)
        weights = 1.0 / np.arange(1, HOSTS + 1)
        self._cumulated = np.cumsum(weights / weights.sum())
        self._numbers = self._rng.permutation(HOSTS)

    def links(self, count: int) -> Columns:
        where = np.searchsorted(self._cumulated, self._rng.random(count)).clip(max=HOSTS - 1)
        return (
            self._rng.integers(0, 2**64, count, dtype=np.uint64),
            self._numbers[where],
            self._rng.random(count),
        )

    def pages(self, count: int) -> Iterator[Columns]:
        """`count` links in batches of a page's size."""
        for _ in range(0, count, SMALLEST):
            hashes, hosts, scores = self.links(SMALLEST)
            for i in range(0, SMALLEST, PAGE):
                yield hashes[i : i + PAGE], hosts[i : i + PAGE], scores[i : i + PAGE]


class Stopwatch:
    """CPU seconds spent in what it is told to time."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self._started = 0.0

    def __enter__(self) -> None:
        self._started = process_time()

    def __exit__(self, *_: object) -> None:
        self.seconds += process_time() - self._started

    def microseconds(self, count: int) -> float:
        return self.seconds / count * 1e6


def measure_frontier(size: int) -> Figures:
    web = Web(size)
    before = resident()
    index, frontier = HashIndex(), Frontier()
    build, push, find, lease = Stopwatch(), Stopwatch(), Stopwatch(), Stopwatch()
    known: list[NDArray[np.uint64]] = []

    def enter(page: Columns, watch: Stopwatch) -> None:
        hashes, hosts, scores = page
        with watch:
            ids, is_new = index.find_or_add(hashes, len(index))
            frontier.push_many(ids[is_new], hosts[is_new], scores[is_new])

    for n, page in enumerate(web.pages(size)):
        enter(page, build)
        if n % (size // PAGE // ROUNDS) == 0:
            known.append(page[0].copy())
        report("frontier", size, n * PAGE)
    gc.collect()
    held = resident() - before

    now = 0.0
    for page, old in zip(web.pages(ROUNDS * PAGE), known, strict=True):
        with lease:
            for _ in range(PAGE):
                now += STEP
                link = frontier.lease(now)
                assert link is not None
                frontier.cool(frontier.host_of(link), now + REST)
                frontier.done(link)
        with find:
            index.find(old)
        enter(page, push)
    assert frontier.waiting == len(index) - ROUNDS * PAGE
    return Figures(
        build=build.microseconds(size),
        push=push.microseconds(ROUNDS * PAGE),
        find=find.microseconds(ROUNDS * PAGE),
        lease=lease.microseconds(ROUNDS * PAGE),
        resident=held / size,
        peak=peak(),
    )


def measure_peer(size: int) -> Figures:
    web = Web(size)
    before = resident()
    heap: list[tuple[float, int, str]] = []
    seen: set[str] = set()
    build, push, find, lease = Stopwatch(), Stopwatch(), Stopwatch(), Stopwatch()

    def enter(page: Columns, watch: Stopwatch) -> list[str]:
        hashes, hosts, scores = (column.tolist() for column in page)
        urls = [
            f"https://host-{host}.example/some/where/{value:x}.html" for value, host in zip(hashes, hosts, strict=True)
        ]
        with watch:
            for url, score in zip(urls, scores, strict=True):
                if url not in seen:
                    seen.add(url)
                    heapq.heappush(heap, (-score, len(seen), url))
        return urls

    known = []
    for n, page in enumerate(web.pages(size)):
        urls = enter(page, build)
        if n % (size // PAGE // ROUNDS) == 0:
            known.append(urls)
        report("heapq and set", size, n * PAGE)
    gc.collect()
    held = resident() - before

    for page, old in zip(web.pages(ROUNDS * PAGE), known, strict=True):
        with lease:
            for _ in range(PAGE):
                heapq.heappop(heap)
        with find:
            for url in old:
                assert url in seen
        enter(page, push)
    return Figures(
        build=build.microseconds(size),
        push=push.microseconds(ROUNDS * PAGE),
        find=find.microseconds(ROUNDS * PAGE),
        lease=lease.microseconds(ROUNDS * PAGE),
        resident=held / size,
        peak=peak(),
    )


MEASURES: dict[str, Callable[[int], Figures]] = {"frontier": measure_frontier, "peer": measure_peer}


def resident() -> int:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize()


def peak() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def report(what: str, size: int, done: int) -> None:
    if done % (size // 10) == 0:
        end = "\r" if sys.stderr.isatty() else "\n"
        print(f"{what}, {size:,} links: {done / size:4.0%} built ", end=end, file=sys.stderr, flush=True)


def in_own_process(what: str, size: int) -> Figures:
    command = [sys.executable, __file__, "--measure", what, str(size)]
    answer = subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True)
    return Figures(**json.loads(answer.stdout))


def typical(what: str, size: int) -> Figures:
    """The median of several runs where a run is so short that a busy moment of the machine would show."""
    runs = [in_own_process(what, size) for _ in range(3 if size <= SHORT_RUN else 1)]
    return Figures(*(median(values) for values in zip(*map(astuple, runs), strict=True)))


def compare(sizes: list[int]) -> bool:
    """Measure, print the table; True if all bounds hold."""
    ours = [typical("frontier", size) for size in sizes]
    peers = [typical("peer", size) for size in sizes if size <= LARGEST_PEER]
    holds = True

    def row(name: str, cells: list[str], result: str = "", bound: str = "", is_kept: bool = True) -> list[str]:
        nonlocal holds
        holds &= is_kept
        verdict = ("kept" if is_kept else "MISSED") if bound else ""
        return [name, *cells, *[""] * (len(sizes) - len(cells)), result, bound, verdict]

    def growing(name: str, values: list[float], bound: float | None = None) -> list[str]:
        growth = values[-1] / values[0]
        is_kept = bound is None or growth < bound
        return row(name, [f"{v:.2f}" for v in values], f"{growth:.2f}×", f"< {bound:g}×" if bound else "", is_kept)

    highest = max(figures.peak for figures in ours)
    rows = [
        growing("push, from the first link on, µs", [f.build for f in ours], MAX_GROWTH),
        growing("push, at this size, µs", [f.push for f in ours], MAX_GROWTH),
        growing("look up a known link, µs", [f.find for f in ours], MAX_GROWTH),
        growing("lease + cool + done, µs", [f.lease for f in ours], MAX_GROWTH),
        row("resident bytes a link", [f"{f.resident:.0f}" for f in ours]),
        row(
            "peak resident, MB",
            [f"{f.peak / 1e6:.0f}" for f in ours],
            f"{highest / 1e6:.0f}",
            f"< {MAX_BYTES / 1e6:.0f}",
            highest < MAX_BYTES,
        ),
        row("", []),
        growing("heapq and set: push, µs", [f.push for f in peers]),
        growing("heapq and set: look up, µs", [f.find for f in peers]),
        growing("heapq and set: pop, µs", [f.lease for f in peers]),
        row("heapq and set: resident bytes a link", [f"{f.resident:.0f}" for f in peers]),
    ]
    print(table([f"{HOSTS:,} hosts", *(f"{size:,}" for size in sizes), "growth", "bound", ""], rows))
    return holds


def main() -> int:
    parser = argparse.ArgumentParser(description="What the frontier costs by the number of links in it.")
    parser.add_argument("--max", type=int, default=10_000_000, help="the greatest number of links (default: 10000000)")
    parser.add_argument("--measure", nargs=2, metavar=("WHAT", "LINKS"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        what, size = options.measure
        print(json.dumps(asdict(MEASURES[what](int(size)))))
        return 0
    if options.max < SMALLEST:
        parser.error(f"--max {options.max}: the smallest measurement has {SMALLEST} links")
    sizes = [10**power for power in range(5, len(str(options.max)))]
    return 0 if compare(sizes) else 1


if __name__ == "__main__":
    sys.exit(main())
