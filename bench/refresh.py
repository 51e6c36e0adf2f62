"""Share of planted changes that a refresh finds, against the requests it spends, next to looking at all pages.

    make bench-refresh                # 3 webs, 8 weeks
    python bench/refresh.py --webs 1

A generated web is crawled once. Then its pages change: each at a rate of its own, drawn around that of its host, and
hosts differ by a factor of a hundred. Every week the crawl is refreshed by `Crawl.refresh`, the one way in, with pages
served from memory at simulated times; servers answer "not modified" where that is so. Policies get the same crawl and
the same changes:

    all       every page, every week
    likely    a share of the pages, in the order of `lycosa refresh`: hubs, then by the chance of a change, learned from
              the looks so far
    oldest    as many, those first that were looked at longest ago

Changes are counted as looking at all pages would find them: a page that changed within a week counts once. A look that
finds the changes of several weeks has found one. Fresh are pages whose version in the crawl is that of the web, right
after the refresh. Weeks 1 to 3 are shown apart, as a crawl without history has nothing to learn from.
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
import time
from collections import defaultdict
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from lycosa.crawl.refresh import RefreshPlan
from lycosa.engine import Crawl
from lycosa.lab.generated.web import GeneratedWeb, WebPlan
from lycosa.model import Fetched, Kind, Lease, Outcome, Response
from table import table

DAY = 86_400.0
WEEK = 7 * DAY
WEEKS = 8
EARLY = 3
PAGES, HOSTS = 400, 25
SHARES = (0.1, 0.25, 0.5)
SLOWEST, FASTEST = 1 / (200 * DAY), 1 / (2 * DAY)


class ChangingWeb:
    """A generated web whose pages have editions, at a simulated time."""

    def __init__(self, seed: int, start: float) -> None:
        self.web = GeneratedWeb(WebPlan(seed=seed, pages=PAGES, hosts=HOSTS))
        rng = np.random.default_rng(seed)
        of_hosts = np.exp(rng.uniform(np.log(SLOWEST), np.log(FASTEST), len(self.web.hosts)))
        rates = np.array([of_hosts[self.web.host_of(page)] for page in range(PAGES)]) * rng.gamma(1.0, size=PAGES)
        self.changes = [
            np.sort(start + rng.uniform(0, WEEKS * WEEK, rng.poisson(rate * WEEKS * WEEK))) for rate in rates
        ]
        self.now = start
        self.sent: dict[int, int] = {}
        """By page: the edition that the crawl has."""
        self.requests = 0
        self.found = 0

    def edition(self, page: int, at: float | None = None) -> int:
        return int(np.searchsorted(self.changes[page], self.now if at is None else at, side="right"))

    async def fetch(self, lease: Lease) -> Fetched:
        self.requests += 1
        rendered, page = self.web.render(lease.url), self.web.page_of(lease.url)
        if page is None or rendered.status != 200:
            return Fetched(lease, Outcome(Kind.HTTP_ERROR, "http 404", status=404), is_contact=True, ended=self.now)
        edition = self.edition(page)
        if lease.is_revisit and self.sent.get(page) == edition:
            outcome = Outcome(Kind.UNCHANGED, "http 304", status=304)
            return Fetched(lease, outcome, is_contact=True, ended=self.now)
        self.found += page in self.sent
        self.sent[page] = edition
        body = rendered.body.replace(b"</body>", f"<p>This is edition number{edition} of it.</p></body>".encode())
        response = Response(
            lease.url,
            200,
            [(name.lower(), value) for name, value in rendered.headers],
            body,
            b"HTTP/1.1 200 OK",
            started=self.now,
            ended=self.now,
        )
        return Fetched(lease, Outcome(Kind.FETCHED, "http 200", status=200), response, is_contact=True, ended=self.now)


def crawl_of(web: ChangingWeb, directory: Path) -> Crawl:
    seeds = sorted({web.web.url(page) for page in range(0, PAGES, 7)})
    return Crawl(
        web.web.topic_keywords(0),
        seeds=seeds,
        directory=directory,
        strategy="breadth-first",
        fetcher=web,
        judge="keywords",
        config={
            "politeness": {"delay": 0.0, "fetch_time_factor": 0.0},
            "readers": {"count": 1},
            "archive": {"is_on": False},
            "traps": {"is_on": False},
            "budget": {"pages": 2 * PAGES},
        },
    )


def run(seed: int, base: Path) -> dict[tuple[str, float], NDArray[np.float64]]:
    """By policy and share of requests: of each week, requests, changes, those found, share of fresh pages."""
    start = time.time() - (WEEKS + 1) * WEEK
    first = ChangingWeb(seed, start)
    crawl_of(first, base / "first").run()
    pages = sorted(first.sent)
    figures = {}
    policies = [("all", 1.0), *((order, share) for share in SHARES for order in ("likely", "oldest"))]
    for order, share in policies:
        web = ChangingWeb(seed, start)
        web.sent = dict(first.sent)
        directory = base / f"{order}-{share}"
        shutil.copytree(base / "first", directory)
        weeks = []
        for week in range(1, WEEKS + 1):
            before, web.now = web.now, start + week * WEEK
            changed = sum(web.edition(page) > web.edition(page, before) for page in pages)
            web.requests = web.found = 0
            plan = RefreshPlan(
                requests=round(share * len(pages)),
                new=0,
                is_all=True,
                order="oldest" if order == "oldest" else "likely",
                at=web.now,
            )
            crawl_of(web, directory).refresh(plan)
            fresh = np.mean([web.sent[page] == web.edition(page) for page in pages])
            weeks.append((web.requests, changed, web.found, fresh))
        figures[order, share] = np.array(weeks, dtype=np.float64)
    return figures


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--webs", type=int, default=3, help="number of generated webs (3)")
    webs = parser.parse_args().webs
    found: dict[tuple[str, float], list[NDArray[np.float64]]] = defaultdict(list)
    for seed in range(1, webs + 1):
        with tempfile.TemporaryDirectory(prefix="lycosa-refresh-") as folder:
            for policy, weeks in run(seed, Path(folder)).items():
                found[policy].append(weeks)
        print(f"web {seed}: done", flush=True)
    rows = []
    for (order, share), all_weeks in found.items():
        cells = []
        for part in (slice(0, EARLY), slice(EARLY, WEEKS)):
            shares = [weeks[part, 2].sum() / weeks[part, 1].sum() for weeks in all_weeks]
            cells.append(f"{np.mean(shares):.3f} ± {np.std(shares):.3f}")
        late = slice(EARLY, WEEKS)
        per_change = [weeks[late, 0].sum() / max(1.0, weeks[late, 2].sum()) for weeks in all_weeks]
        fresh = [weeks[late, 3].mean() for weeks in all_weeks]
        rows.append((order, f"{share:.0%}", *cells, f"{np.mean(per_change):.1f}", f"{np.mean(fresh):.3f}"))
    head = (
        "policy",
        "requests",
        f"found, weeks 1–{EARLY}",
        f"found, weeks {EARLY + 1}–{WEEKS}",
        "requests a change",
        "fresh",
    )
    print(f"\n{webs} webs of {PAGES} pages; mean ± standard deviation over webs")
    print(table(head, rows))


if __name__ == "__main__":
    main()
