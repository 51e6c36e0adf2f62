"""What a distillation costs: relevance-weighted HITS over a million pages, from arrays and from a crawl's database.

    python bench/distill.py [--pages 1000000] [--database 100000]

The web is made up: sites of very different size, each with one of ten topics, one of which is the crawl's; twenty links
a page, half of them within the site, most others to pages on the same topic, few pages being cited by very many. Page
numbers are shuffled, so that no locality helps. It has 10,000 pages more than the first distillation sees: they arrive
before the second, with their links and the links to them.

Each measurement has a process of its own, so that its memory is its own; the web comes to it in a file. Times are
CPU seconds, all on one core. Beside ours stands networkx's HITS, unweighted as it is, on a graph it can hold, made
beforehand.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from time import process_time

import networkx
import numpy as np
from numpy.typing import NDArray

from lycosa.crawl.centrality import DistillSettings, relevance_threshold
from lycosa.crawl.citation_graph import CitationGraph
from lycosa.crawl.distiller import distill
from lycosa.lib.linkgraph import Hits, hits
from lycosa.store.rows import Batch, HostRow, JudgementRow, LinkRow, PageRow, State
from lycosa.store.sqlite import SqliteStore
from table import ratio, table

NEW_PAGES = 10_000
LINKS = 20
TOPICS = 10
PAGES_A_SITE = 20
PEER_PAGES = 50_000
SETTINGS = DistillSettings()
MAX_SECONDS, MAX_AGAIN, MAX_BYTES = 60.0, 10.0, 4e9

Figures = dict[str, float]


def make_web(pages: int, file: Path) -> Figures:
    """Links, sites and relevance of so many pages and the new ones, into one file."""
    rng = np.random.default_rng(pages)
    count = pages + NEW_PAGES
    # In the making, pages of a site stand side by side, and so do the sites of a topic.
    starts = np.sort(rng.choice(np.arange(1, count), count // PAGES_A_SITE, replace=False))
    sites = np.searchsorted(starts, np.arange(count), side="right")
    firsts, lasts = np.append(0, starts), np.append(starts, count)
    shuffled = rng.permutation(count).astype(np.int32)
    targets = np.empty((count, LINKS), dtype=np.int32)
    for begin in range(0, count, 100_000):
        page = np.arange(begin, min(begin + 100_000, count))[:, None]
        shape = (len(page), LINKS)
        site = sites[page]
        within = firsts[site] + (rng.random(shape) * (lasts - firsts)[site]).astype(np.int64)
        topic = np.where(rng.random(shape) < 0.8, page * TOPICS // count, rng.integers(0, TOPICS, shape))
        popular = ((topic + rng.random(shape) ** 4) * (count / TOPICS)).astype(np.int64).clip(max=count - 1)
        targets[shuffled[page[:, 0]]] = shuffled[np.where(rng.random(shape) < 0.5, within, popular)]
    is_on_topic = np.arange(count) < count // TOPICS
    relevance, site_of = np.empty(count), np.empty(count, dtype=np.int32)
    relevance[shuffled] = np.where(is_on_topic, rng.beta(4, 2, count), rng.beta(0.5, 6, count))
    site_of[shuffled] = sites
    np.savez(file, targets=targets, relevance=relevance, sites=site_of)
    return {}


def columns(targets: NDArray[np.int32], pages: int) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """The links between the first so many pages."""
    sources = np.repeat(np.arange(pages, dtype=np.int32), LINKS)
    flat = targets[:pages].ravel()
    keep = flat < pages
    return sources[keep], flat[keep]


def measure_arrays(pages: int, file: Path) -> Figures:
    web = np.load(file)
    targets, relevance, sites = web["targets"], web["relevance"], web["sites"]

    def run(count: int, start: NDArray[np.float64] | None = None) -> tuple[float, int, Hits]:
        edges = columns(targets, count)
        began = process_time()
        found = hits(
            *edges,
            count=count,
            relevance=relevance[:count],
            threshold=relevance_threshold(relevance[:count], SETTINGS.admitted),
            sites=sites[:count],
            start=start,
            tolerance=SETTINGS.tolerance,
        )
        return process_time() - began, len(edges[0]), found

    seconds, links, first = run(pages)
    again, _, second = run(len(relevance), np.append(first.hubs, np.zeros(NEW_PAGES)))
    _, _, anew = run(len(relevance))
    highest = peak()
    edges = columns(targets, pages)
    began = process_time()
    plain = hits(*edges, count=pages, tolerance=SETTINGS.tolerance)
    return {
        "links": links,
        "edges": first.edges,
        "first": seconds,
        "first iterations": first.iterations,
        "again": again,
        "again iterations": second.iterations,
        "anew iterations": anew.iterations,
        "peak": highest,
        "plain edges": plain.edges,
        "plain iterations": plain.iterations,
        "plain": process_time() - began,
        "plain peak": peak(),
    }


def measure_peer(pages: int, file: Path) -> Figures:
    edges = columns(np.load(file)["targets"], pages)
    began = process_time()
    ours = hits(*edges, count=pages, iterations=1000, tolerance=1e-8)
    seconds = process_time() - began
    graph = networkx.DiGraph()
    graph.add_nodes_from(range(pages))
    graph.add_edges_from(zip(*(column.tolist() for column in edges), strict=True))
    began = process_time()
    hubs, _ = networkx.hits(graph, max_iter=1000, tol=1e-8)
    theirs = process_time() - began
    apart = np.abs(ours.hubs - np.array([hubs[page] for page in range(pages)])).sum()
    return {"links": ours.edges, "ours": seconds, "theirs": theirs, "apart": float(apart)}


def measure_database(pages: int, file: Path) -> Figures:
    path = file.with_suffix(".db")
    store = SqliteStore(path, read_only=True)
    began = process_time()
    citations = CitationGraph(store)
    read = process_time()
    first = distill(citations, SETTINGS)
    ended = process_time()
    figures = {"links": citations.links, "read": read - began, "rank": ended - read, "first": ended - began}
    fill(path, file, first=pages, last=pages + NEW_PAGES)
    began = process_time()
    citations.update()
    read = process_time()
    second = distill(citations, SETTINGS, earlier=first.state)
    ended = process_time()
    assert second.pages == pages + NEW_PAGES
    store.close()
    return figures | {
        "read again": read - began,
        "again": ended - began,
        "state": len(second.state),
        "file": path.stat().st_size,
        "peak": peak(),
    }


def make_database(pages: int, file: Path) -> Figures:
    make_web(pages, file)
    fill(file.with_suffix(".db"), file, first=0, last=pages)
    return {}


def fill(path: Path, file: Path, *, first: int, last: int) -> None:
    """A crawl's database as a crawl would write it, with the pages from `first` up to `last` fetched."""
    web = np.load(file)
    sites, relevance, targets = web["sites"].tolist(), web["relevance"].tolist(), web["targets"]
    store = SqliteStore(path)
    batch = Batch()
    if first == 0:
        store.begin_run(started_at=0.0, pid=1, version="bench", config="")
        for site in set(sites):
            batch.hosts[site + 1] = HostRow(site + 1, f"www.site-{site}.example", "", 0, 0, 0, 0, 0, 0, 0, "")
        for page, site in enumerate(sites):
            url = f"https://www.site-{site}.example/some/where/{page}.html"
            state = State.DONE if page < last else State.WAITING
            batch.links.append(LinkRow(page + 1, url, page, site + 1, state, 0.5, 1, 0, 0, None, "", "", ""))
    for page in range(first, last):
        row = PageRow(
            page + 1, page + 1, 1, 0.0, "A title of some words", "en", "utf-8", 0, 0, 0, None, "", False, False, "", 0
        )
        batch.pages.append(row)
        verdict = relevance[page] > 0.5
        batch.judgements.append(JudgementRow(page + 1, "bench", relevance[page], verdict, "{}", "{}", ""))
        batch.edges.extend(
            (page + 1, position, target + 1, "the words of a link", "")
            for position, target in enumerate(targets[page].tolist())
        )
        if len(batch.pages) == 1_000:
            store.write(batch)
            batch = Batch()
    store.write(batch)
    store.close()


STEPS: dict[str, Callable[[int, Path], Figures]] = {
    "make web": make_web,
    "arrays": measure_arrays,
    "peer": measure_peer,
    "make database": make_database,
    "database": measure_database,
}


def peak() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def in_own_process(step: str, pages: int, file: Path) -> Figures:
    print(f"{step}: {pages:,} pages", file=sys.stderr, flush=True)
    command = [sys.executable, __file__, "--step", step, str(pages), str(file)]
    one_core = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}  # networkx's algebra takes all
    answer = subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True, env=one_core)
    figures: Figures = json.loads(answer.stdout)
    return figures


def compare(pages: int, database: int, scratch: Path) -> bool:
    """Measure, print the tables; True if all bounds hold."""
    in_own_process("make web", pages, scratch / "web.npz")
    arrays = in_own_process("arrays", pages, scratch / "web.npz")
    in_own_process("make web", PEER_PAGES, scratch / "peer.npz")
    peer = in_own_process("peer", PEER_PAGES, scratch / "peer.npz")
    in_own_process("make database", database, scratch / "crawl.npz")
    stored = in_own_process("database", database, scratch / "crawl.npz")
    holds = True

    def bounded(name: str, value: float, form: str, bound: float) -> list[str]:
        nonlocal holds
        holds &= value < bound
        return [name, form.format(value), f"< {bound:g}", "kept" if value < bound else "MISSED"]

    def plain(name: str, value: str) -> list[str]:
        return [name, value, "", ""]

    rows = [
        plain("links that count (admitted, between sites)", f"{arrays['edges']:,.0f}"),
        bounded("first distillation, s", arrays["first"], "{:.2f}", MAX_SECONDS),
        plain("  iterations", f"{arrays['first iterations']:.0f}"),
        bounded(f"again after {NEW_PAGES:,} new pages, s", arrays["again"], "{:.2f}", MAX_AGAIN),
        plain("  iterations (without the earlier scores)", "{again iterations} ({anew iterations})".format(**arrays)),
        bounded("peak resident, GB", arrays["peak"] / 1e9, "{:.2f}", MAX_BYTES / 1e9),
        plain("", ""),
        plain("if all links counted (parallel ones once)", f"{arrays['plain edges']:,.0f}"),
        bounded("first distillation, s", arrays["plain"], "{:.2f}", MAX_SECONDS),
        plain("  iterations", f"{arrays['plain iterations']:.0f}"),
        bounded("peak resident, GB", arrays["plain peak"] / 1e9, "{:.2f}", MAX_BYTES / 1e9),
    ]
    print(table([f"in arrays: {pages:,} pages, {arrays['links']:,.0f} links", "", "bound", ""], rows))
    rows = [
        bounded("first distillation, s", stored["first"], "{:.2f}", MAX_SECONDS),
        plain("  of it reading", f"{stored['read']:.2f}"),
        bounded(f"again after {NEW_PAGES:,} new pages, s", stored["again"], "{:.2f}", MAX_AGAIN),
        plain("  of it reading", f"{stored['read again']:.2f}"),
        bounded("peak resident, GB", stored["peak"] / 1e9, "{:.2f}", MAX_BYTES / 1e9),
        plain("scores kept for the next time, MB", f"{stored['state'] / 1e6:.2f}"),
    ]
    head = f"in crawl.db: {database:,} pages, {stored['links']:,.0f} links, {stored['file'] / 1e6:,.0f} MB"
    print(f"\n{table([head, '', 'bound', ''], rows)}")
    rows = [
        ["Lycosa", f"{peer['ours']:.2f}", ""],
        ["networkx", f"{peer['theirs']:.2f}", ratio(peer["theirs"], peer["ours"])],
        ["sum of differences of the hub scores", f"{peer['apart']:.0e}", ""],
    ]
    head = f"plain HITS: {PEER_PAGES:,} pages, {peer['links']:,.0f} links"
    print(f"\n{table([head, 's', ''], rows)}")
    return holds


def main() -> int:
    parser = argparse.ArgumentParser(description="What a distillation costs.")
    parser.add_argument("--pages", type=int, default=1_000_000, help="pages of the web in arrays (default: 1000000)")
    parser.add_argument("--database", type=int, default=100_000, help="pages of the database (default: 100000)")
    parser.add_argument("--step", nargs=3, metavar=("STEP", "PAGES", "FILE"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.step:
        step, pages, file = options.step
        print(json.dumps(STEPS[step](int(pages), Path(file))))
        return 0
    if min(options.pages, options.database) < NEW_PAGES:
        parser.error(f"--pages and --database must be {NEW_PAGES} or more")
    with tempfile.TemporaryDirectory() as scratch:
        return 0 if compare(options.pages, options.database, Path(scratch)) else 1


if __name__ == "__main__":
    sys.exit(main())
