"""Full-text search: how long a query takes over 100,000 pages, what the index weighs, how fast it is built.

    python bench/search.py                    # 100,000 pages: a few minutes, nearly all of it to make them
    python bench/search.py --quick            # 10,000

Pages of 400 words are drawn from the shipped table of how common words are (`judges/background.py`), so that words are
as rare and as common as in real texts. Queries are of two and three words that a person might type (in 0.1 % to 10 % of
the pages), and, as the worst case, of the commonest words there are. The peer is what one would do without an index: a
scan with LIKE over the same texts, in a plain table. The rate of indexing is measured apart, from the archive of a
crawl, as `lycosa search` does it: reading a page again takes most of the time.
"""

from __future__ import annotations

import argparse
import gzip
import shutil
import sqlite3
import sys
import time
from contextlib import closing
from pathlib import Path

import numpy as np

from endless_web import EndlessWeb
from lycosa.engine import Crawl
from lycosa.results.search import search
from lycosa.results.search_query import SearchQuery
from lycosa.store.rows import Batch, HostRow, JudgementRow, LinkRow, PageRow, State
from lycosa.store.search_index import IndexedPage, SearchIndex
from lycosa.store.sqlite import SqliteStore
from table import ratio, table

ROOT = Path(__file__).resolve().parents[1]
PAGES, QUICK_PAGES = 100_000, 10_000
WORDS_A_PAGE = 400
QUERIES, SCANS = 200, 5
BATCH = 1_000
ARCHIVED = 1_000
"""Pages of the crawl from whose archive an index is built."""
BOUND = 0.050
"""Seconds of CPU for a query."""


class Texts:
    """Random texts with the words of the shipped table."""

    def __init__(self) -> None:
        lines = gzip.decompress((ROOT / "src/lycosa/judges/background.txt.gz").read_bytes()).decode().split("\n")
        found = [(word, 2.0 ** (-line / 4)) for line, words in enumerate(lines) for word in words.split(" ") if word]
        self.words = np.array([word for word, _ in found], dtype=object)
        self.shares = np.array([share for _, share in found])
        self._bounds = np.cumsum(self.shares) / self.shares.sum()
        self._rng = np.random.default_rng(1)

    def text(self) -> str:
        places = np.searchsorted(self._bounds, self._rng.random(WORDS_A_PAGE))
        return " ".join(self.words[np.minimum(places, len(self.words) - 1)])

    def query(self, low: float, high: float) -> str:
        known = np.flatnonzero((self.shares >= low) & (self.shares <= high))
        return " ".join(self.words[self._rng.choice(known, self._rng.integers(2, 4), replace=False)])


def make(directory: Path, pages: int, texts: Texts) -> float:
    """A crawl's database without an archive, its index, and the plain table; seconds of CPU for the index alone."""
    shutil.rmtree(directory, ignore_errors=True)
    directory.mkdir(parents=True)
    used = 0.0
    with (
        closing(SqliteStore(directory / "crawl.db")) as store,
        closing(SearchIndex(directory / "search.db", store=store, crawl="bench")) as index,
        closing(sqlite3.connect(directory / "plain.db")) as plain,
    ):
        store.begin_run(started_at=0.0, pid=1, version="bench", config="")
        plain.execute("create table texts (id integer primary key, text text)")
        for first in range(1, pages + 1, BATCH):
            made = [
                IndexedPage(n, n, f"page {n}", f"http://h.test/{n}", texts.text()) for n in range(first, first + BATCH)
            ]
            store.write(_rows(made))
            with plain:
                plain.executemany("insert into texts values (?, ?)", [(page.id, page.text) for page in made])
            began = time.process_time()
            index.add(made)
            used += time.process_time() - began
        began = time.process_time()
        index.tidy()
        used += time.process_time() - began
    return used


def _rows(pages: list[IndexedPage]) -> Batch:
    batch = Batch(hosts={1: HostRow(1, "h.test", "", 0.0, 0.0, 0, 0, 0, 0, 0, "")})
    for page in pages:
        batch.links.append(LinkRow(page.id, page.url, page.id, 1, State.DONE, 0.0, 0, 0, 1, None, "", "", ""))
        batch.pages.append(
            PageRow(page.id, page.number, 1, 0.0, page.title, "en", "", 0, 0, page.id, None, "", False, False, "", -1)
        )
        batch.judgements.append(JudgementRow(page.id, "bench", 0.5, page.id % 3 == 0, "{}", "{}", ""))
    return batch


def timed(
    directory: Path, queries: list[str], *, is_relevant: bool = False
) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """Seconds of CPU by query, each with the snippets of ten pages."""
    seconds = []
    with (
        closing(SqliteStore(directory / "crawl.db", read_only=True)) as store,
        closing(SearchIndex(directory / "search.db", store=store, crawl="bench")) as index,
    ):
        for words in queries:
            query = SearchQuery.parse(words)
            began = time.process_time()
            match = query.all_words()
            if not index.find(match, limit=10, is_relevant=is_relevant):
                match = query.any_word()
                index.find(match, limit=10, is_relevant=is_relevant)
            index.ranks_all(match)
            seconds.append(time.process_time() - began)
    return np.array(seconds)


def scanned(directory: Path, queries: list[str]) -> float:
    """Seconds of CPU for a query without an index: the median."""
    seconds = []
    with closing(sqlite3.connect(directory / "plain.db")) as plain:
        for words in queries:
            wanted = words.split()
            condition = " and ".join(["text like ?"] * len(wanted))
            began = time.process_time()
            plain.execute(f"select id from texts where {condition}", [f"%{word}%" for word in wanted]).fetchall()
            seconds.append(time.process_time() - began)
    return float(np.median(seconds))


def indexing_rate(directory: Path) -> float:
    """Pages indexed per second of CPU, read from an archive."""
    if not (directory / "crawl.db").exists():
        web = EndlessWeb()
        settings = {"politeness": {"delay": 0.0, "fetch_time_factor": 0.0}, "strategy": "breadth-first"}
        crawl = Crawl(web.topic_words, seeds=web.seeds(5), directory=directory, fetcher=web, config=settings)
        crawl.run(pages=ARCHIVED)
    for path in directory.glob("search.db*"):
        path.unlink()
    began = time.process_time()
    indexed = search(directory, "page").indexed
    return indexed / (time.process_time() - began)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help=f"{QUICK_PAGES:,} pages instead of {PAGES:,}")
    pages = QUICK_PAGES if parser.parse_args().quick else PAGES
    directory, texts = ROOT / "out" / "search-bench", Texts()
    print(f"making {pages:,} pages …", flush=True)
    building = make(directory, pages, texts)
    usual = [texts.query(0.001, 0.1) for _ in range(QUERIES)]
    common = [texts.query(0.3, 1.0) for _ in range(QUERIES // 10)]
    scan = scanned(directory, usual[:SCANS])
    rows = []
    for name, queries, is_relevant in (
        ("two or three words", usual, False),
        ("the same, --relevant", usual, True),
        ("commonest words", common, False),
        ("the same, --relevant", common, True),
    ):
        seconds = timed(directory, queries, is_relevant=is_relevant)
        middle, slow = float(np.median(seconds)), float(np.quantile(seconds, 0.95))
        verdict = "ok" if slow <= BOUND else "over"
        rows.append(
            (
                name,
                f"{1000 * middle:.1f}",
                f"{1000 * slow:.1f}",
                f"{1000 * seconds.max():.1f}",
                ratio(scan, middle),
                verdict,
            )
        )
    print(
        table(
            ("query", "median ms", "95 % ms", "worst ms", "LIKE scan / median", f"95 % ≤ {1000 * BOUND:.0f} ms"), rows
        )
    )
    size = sum(path.stat().st_size for path in directory.glob("search.db*"))
    plain = (directory / "plain.db").stat().st_size
    print(f"scan with LIKE: {1000 * scan:.0f} ms, median of {SCANS}")
    print(f"index: {size / pages:,.0f} bytes a page, texts included; {size / plain:.2f} of the texts as a plain table")
    print(f"indexing alone: {pages / building:,.0f} pages a second of CPU")
    rate = indexing_rate(ROOT / "out" / "search-bench-crawl")
    print(f"indexing from the archive, reading included: {rate:,.0f} pages a second of CPU")
    if any(row[-1] != "ok" for row in rows):
        sys.exit(f"queries take longer than {1000 * BOUND:.0f} ms")


if __name__ == "__main__":
    main()
