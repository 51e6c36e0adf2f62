"""The dashboard on a large crawl: how soon it paints and updates, what it needs, and what it takes from the crawl.

    python bench/dashboard.py                 # 1,000,000 pages
    python bench/dashboard.py --quick         # 50,000

A workspace of that size is made once and kept in out/: pages with judgements, outcomes and links, as a crawl leaves
them, without an archive. The dashboard is a process of its own, as always. First paint is measured in chromium where
there is one: from the beginning of the navigation until the pages are drawn, by a server that has just been started and
has read nothing yet; without a browser it is the time of the requests for it. Then a crawl of a generated web runs with
and without somebody who watches, in turns; the figure is CPU time of the crawl's process for each page, which other
people's load changes little: medians, with the standard error of the rounds.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import resource
import shutil
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from lycosa.config import Config
from lycosa.fetch.urls import url_hash
from lycosa.lab.generated.server import served
from lycosa.lab.generated.web import GeneratedWeb, WebPlan
from lycosa.store.rows import Batch, HostRow, JudgementRow, LinkRow, OutcomeRow, PageRow, State
from lycosa.store.sqlite import SqliteStore
from lycosa.workspace import Workspace
from table import table

ROOT = Path(__file__).resolve().parents[1]
PAGES, QUICK_PAGES = 1_000_000, 50_000
WAITING_PER_PAGE = 2
HOSTS = 20_000
CHUNK = 20_000
WATCHERS = 10
BOUNDS = {"first paint": 1.0, "update": 0.2, "memory": 300.0, "slowdown": 0.03}
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), "")
FLAGS = ("--no-sandbox", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-sync")
CRAWLED, ROUNDS = 1_200, 3


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--quick", action="store_true", help="50,000 pages, one round")
    options.add_argument("--part", choices=("watching", "crawl"), help="only the large crawl, or only the slowdown")
    given = options.parse_args()
    quick = given.quick
    pages = QUICK_PAGES if quick else PAGES
    rows: list[tuple[str, str, str, str]] = []
    if given.part != "crawl":
        rows += watching(made(ROOT / "out" / f"dashboard-{pages}", pages), pages)
    if given.part != "watching":
        rows += slowdown(1 if quick else ROUNDS)
    print(table(("", "measured", "bound", ""), rows))


# ── a large crawl ─────────────────────────────────────────────────────────────────────────────────────────────


def made(directory: Path, pages: int) -> Workspace:
    workspace = Workspace(directory)
    if (directory / "complete").exists():
        return workspace
    shutil.rmtree(directory, ignore_errors=True)
    workspace.archive.mkdir(parents=True)
    config = Config(topic="recreational cycling", seeds=("http://h1.test/1",), strategy="best-first")
    workspace.write_config(config.to_toml())
    rng = np.random.default_rng(1)
    print(f"making a crawl of {pages:,} pages in {directory.relative_to(ROOT)} …", flush=True)
    with closing(SqliteStore(workspace.database)) as store:
        run = store.begin_run(started_at=1.7e9, pid=1, version="0", config="")
        store.write(Batch(hosts={number: host(number, pages) for number in range(1, HOSTS + 1)}))
        for first in range(1, pages + 1, CHUNK):
            store.write(chunk(run, range(first, min(first + CHUNK, pages + 1)), rng))
        for first in range(pages + 1, pages * (1 + WAITING_PER_PAGE) + 1, CHUNK):
            links = range(first, min(first + CHUNK, pages * (1 + WAITING_PER_PAGE) + 1))
            store.write(Batch(links=[link(number, State.WAITING, float(rng.random())) for number in links]))
        events = [(run, 1.7e9 + n * pages / 500, "judge", f"version {n}") for n in range(100)]
        store.write(Batch(events=events))
        store.end_run(run, ended_at=1.7e9 + pages / 5, stop_reason="page budget")
    (directory / "complete").touch()
    return workspace


def host(number: int, pages: int) -> HostRow:
    return HostRow(number, f"h{number}.test", "192.0.2.1", 0.0, 0.0, 0, pages // HOSTS, 1, 0, 3 * pages // HOSTS, "")


def link(number: int, state: str, score: float) -> LinkRow:
    of = number % HOSTS + 1
    url = f"http://h{of}.test/section/{number % 97}/page-{number}.html"
    parent = None if number == 1 else max(1, number // 20)
    return LinkRow(
        number, url, url_hash(url), of, state, score, min(12, number % 13), 0, 0, parent, "an anchor", "", ""
    )


def chunk(run: int, numbers: range, rng: np.random.Generator) -> Batch:
    """A focused crawl: many pages near 0 and 1, the share of relevant ones falling slowly."""
    relevance = rng.beta(0.4, 0.5 + np.arange(len(numbers)) / len(numbers), len(numbers))
    batch = Batch()
    for number, value in zip(numbers, relevance.tolist(), strict=True):
        at = 1.7e9 + number / 5
        title = f"Page {number} of a large crawl with a title of usual length"
        batch.links.append(link(number, State.DONE, value))
        batch.pages.append(
            PageRow(
                number,
                number,
                run,
                at,
                title,
                "en",
                "utf-8",
                30_000,
                400,
                number * 7919,
                None,
                "",
                False,
                False,
                "",
                -1,
            )
        )
        terms = '{"bicycl": 2.1, "tour": 1.4, "saddl": 0.9}'
        batch.judgements.append(JudgementRow(number, "contrast", value, value >= 0.5, "{}", terms, ""))
        batch.outcomes.append(
            OutcomeRow(number, run, at, "fetched", "http 200", "", 200, 0.2, 30_000, "192.0.2.1", False, "", -1)
        )
    return batch


# ── the dashboard on it ───────────────────────────────────────────────────────────────────────────────────────


@contextmanager
def dashboard(directory: Path) -> Iterator[tuple[str, int]]:
    """Its address, and the number of its process."""
    words = [sys.executable, "-m", "lycosa", "dashboard", str(directory), "--port", "0"]
    process = subprocess.Popen(words, stdout=subprocess.PIPE)
    try:
        assert process.stdout is not None
        yield process.stdout.readline().decode().split()[1].rstrip("/"), process.pid
    finally:
        process.terminate()
        process.wait()


def get(url: str) -> bytes:
    with urllib.request.urlopen(url) as answer:
        body: bytes = answer.read()
    return body


def megabytes(process: int, what: str = "VmRSS") -> float:
    found = re.search(rf"{what}:\s+(\d+) kB", Path(f"/proc/{process}/status").read_text())
    return int(found[1]) / 1024 if found else 0.0


def cpu(process: int) -> float:
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def watching(workspace: Workspace, pages: int) -> Iterator[tuple[str, str, str, str]]:
    with dashboard(workspace.directory) as (base, process):
        name = json.loads(get(f"{base}/api/openapi.json")) and workspace.directory.name
        crawl = f"{base}/api/crawls/{name}"
        before = cpu(process)
        painted, answered = first_paint(base, name) if CHROMIUM else (requests_for_paint(crawl), 0)
        yield row("first paint", painted, "s", "in chromium" if CHROMIUM else "requests only: no chromium here")
        spent = f"{cpu(process) - before:.2f} s of CPU in the server, with what follows the paint at once"
        yield "", f"{answered} requests", "", spent
        began = time.perf_counter()
        figures = json.loads(get(f"{crawl}/figures"))
        assert figures["pages"] >= pages  # an earlier run may have added some
        yield "all pages read", f"{time.perf_counter() - began:.2f} s", "", "in the background, after the first paint"
        whole = timed(lambda: get(f"{crawl}/overview?bins=300&levels=48"))
        yield "histogram of all pages", f"{whole:.3f} s", "", ""
        yield row("update", update(workspace, crawl, pages), "s", "200 new pages: figures and their dots")
        zoomed = timed(lambda: get(f"{crawl}/dots?first={pages // 2}&last={pages // 2 + 49_999}"))
        yield "50,000 dots", f"{zoomed:.3f} s", "", ""
        yield from ten_watchers(crawl, process)
        yield row("memory", megabytes(process), "MB", f"peak {megabytes(process, 'VmHWM'):.0f} MB")


def row(name: str, value: float, unit: str, words: str) -> tuple[str, str, str, str]:
    bound = BOUNDS[name]
    digits = 0 if unit == "MB" else 3
    return name, f"{value:.{digits}f} {unit}", f"{bound:g} {unit}", f"{'holds' if value < bound else 'MISSED'}; {words}"


def timed(action: Any) -> float:
    began = time.perf_counter()
    action()
    return time.perf_counter() - began


def first_paint(base: str, name: str) -> tuple[float, int]:
    """Seconds, and the number of requests that were answered by then."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as started:
        browser = started.chromium.launch(executable_path=CHROMIUM, args=list(FLAGS))
        page = browser.new_page(viewport={"width": 1300, "height": 900})
        page.goto(f"{base}/static/spider.svg")  # the browser itself has started
        page.add_init_script(
            "new MutationObserver(() => { if (!window.painted && document.querySelector('.plot[data-drawn]'))"
            " window.painted = performance.now(); })"
            ".observe(document, {subtree: true, childList: true, attributes: true});"
        )
        page.goto(f"{base}/#/crawl/{name}")
        page.wait_for_selector(".plot[data-drawn]", timeout=60_000)
        seconds = float(page.evaluate("() => window.painted")) / 1000
        ended = page.evaluate("() => performance.getEntriesByType('resource').map((each) => each.responseEnd)")
        browser.close()
    return seconds, sum(0 < each <= 1000 * seconds for each in ended)


def requests_for_paint(crawl: str) -> float:
    paths = ("", "/overview?bins=2&levels=2", "/overview?bins=300&levels=48")
    return sum(timed(lambda path=path: get(crawl + path)) for path in paths)


def update(workspace: Workspace, crawl: str, pages: int) -> float:
    """The second of two: the first opens what the system had not in memory."""
    seconds = 0.0
    with closing(SqliteStore(workspace.database)) as store:
        for turn in range(2):
            known = json.loads(get(f"{crawl}/figures"))["pages"]
            first = store.count_links() + 1
            batch = chunk(1, range(first, first + 200), np.random.default_rng(turn))
            batch.pages = [page._replace(number=known + place + 1) for place, page in enumerate(batch.pages)]
            store.write(batch)
            began = time.perf_counter()
            figures = json.loads(get(f"{crawl}/figures"))
            get(f"{crawl}/dots?first={known + 1}&last={figures['pages']}")
            seconds = time.perf_counter() - began
            assert figures["pages"] == known + 200
    assert known >= pages
    return seconds


def ten_watchers(crawl: str, process: int) -> Iterator[tuple[str, str, str, str]]:
    heard: list[float] = []

    def watch() -> None:
        with urllib.request.urlopen(f"{crawl}/stream") as stream:
            began = time.perf_counter()
            for line in stream:
                if line.startswith(b"data:"):
                    heard.append(time.perf_counter() - began)
                    return

    threads = [threading.Thread(target=watch, daemon=True) for _ in range(WATCHERS)]
    before, began = cpu(process), time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    time.sleep(max(0.0, 5 - (time.perf_counter() - began)))
    spent = (cpu(process) - before) / (time.perf_counter() - began)
    words = f"{len(heard)} of {WATCHERS} heard the figures; the last after {max(heard, default=0):.2f} s"
    yield f"{WATCHERS} watchers", f"{spent:.1%} of a core", "", words


# ── the crawl that is watched ─────────────────────────────────────────────────────────────────────────────────


def slowdown(rounds: int) -> Iterator[tuple[str, str, str, str]]:
    plan = WebPlan(seed=7, pages=6_000, hosts=100, topics=6, crawl_delay=0)
    costs: dict[bool, list[float]] = {False: [], True: []}
    folder = ROOT / "out" / "dashboard-crawls"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    with served(plan, addresses=100) as server:
        config = folder / "config.toml"
        hosts = ", ".join(f'"{name}" = "{address}"' for name, address in server.overrides.items())
        config.write_text(
            f'[network]\nallow = ["127.0.0.0/8"]\nfetches = 8\nresolve = {{{hosts}}}\n[politeness]\ndelay = 0.02\n'
            f"fetch_time_factor = 0\n[readers]\ncount = 1\n[budget]\npages = {CRAWLED}\n"
        )
        web = GeneratedWeb(plan)
        topic = web.topic_names.index("cycling")
        seeds = [web.url(seed, port=server.port) for seed in web.seeds(topic, 3, np.random.default_rng(3))]
        for number in range(2 * rounds):
            is_watched = number % 2 == 1
            directory = folder / f"crawl-{number}"
            words = ["crawl", web.topic_keywords(topic), "-o", str(directory), "-c", str(config), "-q"]
            words += [word for seed in seeds for word in ("-s", seed)]
            costs[is_watched].append(crawl_cost(words, directory, is_watched))
    plain, watched = (float(np.median(costs[key])) for key in (False, True))
    share = watched / plain - 1
    spread = [float(np.std(each, ddof=1)) for each in costs.values()] if rounds > 1 else [0.0, 0.0]
    error = (spread[0] ** 2 + spread[1] ** 2) ** 0.5 / rounds**0.5 / plain if rounds > 1 else 0.0
    each = ", ".join(f"{value * 1000:.2f}" for value in (*costs[False], *costs[True]))
    held = "holds" if share < BOUNDS["slowdown"] else "MISSED"
    remark = f"{held}; ms of CPU a page, unwatched then watched: {each}"
    measured = f"{share:+.1%}" + (f" ± {error:.1%}" if error else "")
    yield "slowdown of the crawl", measured, f"{BOUNDS['slowdown']:.0%}", remark


def crawl_cost(words: list[str], directory: Path, is_watched: bool) -> float:
    """Seconds of CPU for each page, of the crawl's process and its readers."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    process = subprocess.Popen([sys.executable, "-m", "lycosa", *words])
    if not is_watched:
        process.wait()
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime) / CRAWLED
    while not (directory / "crawl.db").exists():
        time.sleep(0.05)
    with dashboard(directory) as (base, _):
        stream = threading.Thread(target=follow, args=(f"{base}/api/crawls/{directory.name}",), daemon=True)
        stream.start()
        process.wait()
        after = resource.getrusage(resource.RUSAGE_CHILDREN)  # the dashboard has not been waited for yet
        return (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime) / CRAWLED


def follow(crawl: str) -> None:
    """As the page does: at each news, the figures, the dots and the latest pages."""
    try:
        with urllib.request.urlopen(f"{crawl}/stream") as stream:
            for line in stream:
                if line.startswith(b"data:"):
                    get(f"{crawl}/dots")
                    get(f"{crawl}/results?order=newest&count=20")
    except OSError:
        return  # the dashboard has ended


if __name__ == "__main__":
    main()
