"""A person in the loop, on recorded pages served live: what ten marks are worth, and what taking two back does.

    make bench-person                        # two minutes
    python bench/person.py --quick           # one topic, fewer pages
    python bench/person.py --judge svm       # another judge than `lycosa topics train` takes by default

The articles of wikispeedia are served over HTTP on loopback, and everything is done by the command line, a process for
each step: `topics import` (a taxonomy whose examples are fetched from the server), `topics train`, `topics mark-good`,
`crawl --good` without seeds, `feedback` with ten marks, `feedback --forget` with two of them, `export --relevant`.

The book has the largest topic of each of the six subjects with the largest topics, and a dozen examples of each, drawn
by chance. Every other of these topics is marked good in turn. What is then relevant is read from the crawl's database.

Truth is labels.tsv: a page is right if it has a row with the topic. (A third of the categories was withheld from the
table, but these as a whole: what a listed category contains is listed.) Graded are the articles the crawl has fetched,
without the examples of the book and without the ten marked pages, which are left out of all rows: marks bind the page
itself, and would flatter what follows. Recall is of the graded pages that were fetched.

Marks are those of a person who reads what was found: not useful are five wrong pages among those called relevant, the
most relevant first, as they are seen first; useful are five right pages, those nearest to the minimum relevance first.
They are given one kind after the other, to tell apart what each is worth. One of each is taken back; the export must
then have exactly the pages that the database calls relevant. At last the other eight are taken back, which gives the
figures from before but for a few thousandths: pages judged again are read with the furniture known at the crawl's end.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
import tempfile
import threading
from collections.abc import Collection, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import unquote, urlsplit

import numpy as np
import tomli_w

from hunter import SHARED
from lycosa.fetch.warc_reader import iterate
from lycosa.judges.table import CLASSIFIER_NAMES
from lycosa.model import Response
from lycosa.store.rows import StoredPage
from lycosa.store.sqlite import SqliteStore
from lycosa.workspace import Workspace
from table import table

WORLD = SHARED / "worlds" / "wikispeedia"
HOST, ADDRESS = "wikispeedia.test", "127.0.0.1"
TOPICS, EXAMPLES = 6, 12
PAGES, QUICK_PAGES = 400, 150
MARKS = 5
"""Of each kind."""
THRESHOLD = 0.5
LYCOSA = (sys.executable, "-c", "from lycosa.cli import main; main()")
ARTICLE = b'class="mediawiki'
"""In articles, not in the other pages of the site."""


def path_of(url: str) -> str:
    """What identifies a page, however its URL is escaped and whatever the port."""
    return unquote(urlsplit(url).path)


@dataclass
class Site:
    """The recorded pages, and what is asked for."""

    pages: dict[str, Response]
    port: int = 0
    requests: list[str] = field(default_factory=list)

    def url(self, recorded: str) -> str:
        return recorded.replace(f"//{HOST}/", f"//{HOST}:{self.port}/", 1)


@contextmanager
def served(site: Site) -> Iterator[None]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def do_GET(self) -> None:
            site.requests.append(self.path)
            found = site.pages.get(path_of(self.path))
            body = found.body if found else b""
            self.send_response(200 if found else 404)
            self.send_header("Content-Type", found.header("content-type") if found else "text/plain")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = ThreadingHTTPServer((ADDRESS, 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    site.port = server.server_address[1]
    try:
        yield
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def lycosa(*words: object) -> None:
    """A command, as typed in a shell."""
    print(f"  lycosa {words[0]} {words[1]} …", file=sys.stderr, flush=True)
    result = subprocess.run([*LYCOSA, *map(str, words)], capture_output=True, text=True, check=False)
    if result.returncode:
        raise SystemExit(f"lycosa {' '.join(map(str, words))}: exit code {result.returncode}\n{result.stderr}")


def labels() -> dict[str, set[str]]:
    """The recorded URLs of each topic."""
    found: dict[str, set[str]] = {}
    for line in (WORLD / "labels.tsv").read_text("utf-8").splitlines()[1:]:
        url, topic = line.split("\t")
        found.setdefault(topic, set()).add(url)
    return found


def largest_topics(members: dict[str, set[str]]) -> list[str]:
    """The largest topic of each subject, the largest of these first."""
    by_size = sorted(members, key=lambda topic: (-len(members[topic]), topic))
    first = {topic.partition("/")[0]: topic for topic in reversed(by_size)}
    return sorted(first.values(), key=by_size.index)[:TOPICS]


class Figures:
    """Of graded pages: what the database says, against the labels."""

    def __init__(self, pages: Collection[StoredPage], right: Collection[str]) -> None:
        is_right = np.array([path_of(page.url) in right for page in pages])
        is_relevant = np.array([bool(page.is_relevant) for page in pages])
        self.graded, self.right, self.relevant = len(pages), int(is_right.sum()), int(is_relevant.sum())
        hits = int((is_right & is_relevant).sum())
        self.precision = hits / self.relevant if self.relevant else float("nan")
        self.recall = hits / self.right if self.right else float("nan")
        self.mean = float(np.mean([page.relevance or 0.0 for page in pages]))

    def row(self, name: str) -> tuple[str, ...]:
        counts = (self.graded, self.right, self.relevant)
        shares = (self.precision, self.recall, self.mean)
        return (name, *(f"{count:,}" for count in counts), *(f"{share:.3f}" for share in shares))


def stored(crawl: Path) -> list[StoredPage]:
    with closing(SqliteStore(Workspace(crawl).database, read_only=True)) as store:
        return list(store.pages())


def choose_marks(pages: Collection[StoredPage], right: Collection[str]) -> tuple[list[str], list[str]]:
    """The pages to mark useful and not useful."""
    wanted = [page for page in pages if path_of(page.url) in right]
    others = [page for page in pages if path_of(page.url) not in right]
    doubtful = sorted(wanted, key=lambda page: abs((page.relevance or 0.0) - THRESHOLD))
    wrong = sorted(others, key=lambda page: (not page.is_relevant, -(page.relevance or 0.0)))
    return [page.url for page in doubtful[:MARKS]], [page.url for page in wrong[:MARKS]]


def options(name: str, urls: Collection[str]) -> list[str]:
    return [word for url in urls for word in (name, url)]


def check_export(crawl: Path) -> int:
    """Export the relevant pages, and compare them with the database; how many there are."""
    target = crawl.with_name(f"{crawl.name}-pages.jsonl")
    lycosa("export", crawl, "--to", target, "--relevant")
    exported = [json.loads(line)["url"] for line in target.read_text("utf-8").splitlines()]
    relevant = [page.url for page in stored(crawl) if page.is_relevant]
    if sorted(exported) != sorted(relevant):
        raise SystemExit(f"{target} has {len(exported):,} pages, the database calls {len(relevant):,} relevant")
    return len(exported)


def loop(topic: str, site: Site, folder: Path, given: set[str], right: set[str], pages: int) -> list[tuple[str, ...]]:
    """One topic from its good mark to the export. `given`, `right`: paths of all examples, and of the topic's pages."""
    name = topic.rpartition("/")[2]
    book, crawl = folder / "topics.db", folder / name
    lycosa("topics", "mark-good", topic, "--book", book)
    lycosa("crawl", "--good", "--book", book, "-c", folder / "lycosa.toml", "-o", crawl, "-n", pages, "-q")
    lycosa("topics", "unmark", topic, "--book", book)

    def gradable() -> list[StoredPage]:
        paths = [(path_of(page.url), page) for page in stored(crawl)]
        return [page for path, page in paths if path not in given and ARTICLE in site.pages[path].body]

    useful, not_useful = choose_marks(gradable(), right)
    marked = {*useful, *not_useful}

    def figures(when: str) -> tuple[str, ...]:
        return Figures([page for page in gradable() if page.url not in marked], right).row(f"{name[:30]}: {when}")

    rows = [figures("before")]
    lycosa("feedback", crawl, *options("--not-useful", not_useful))
    rows.append(figures("five not useful"))
    lycosa("feedback", crawl, *options("--useful", useful))
    rows.append(figures("and five useful"))
    lycosa("feedback", crawl, *options("--forget", [useful[0], not_useful[0]]))
    rows.append(figures("two taken back"))
    print(f"{name}: {check_export(crawl):,} pages exported, exactly those the database calls relevant", flush=True)
    lycosa("feedback", crawl, *options("--forget", [*useful[1:], *not_useful[1:]]))
    return [*rows, figures("all taken back")]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--judge", choices=CLASSIFIER_NAMES, default="bayes")
    asked = parser.parse_args()
    if not (WORLD / "pages.warc.gz").is_file():
        print(f"skipped: there is no {WORLD}, whose pages would be served")
        return
    members = labels()
    topics = largest_topics(members)
    examples = {topic: random.Random(topic).sample(sorted(members[topic]), EXAMPLES) for topic in topics}
    site = Site({path_of(response.url): response for response in iterate(WORLD / "pages.warc.gz")})
    with tempfile.TemporaryDirectory() as name, served(site):
        folder = Path(name)
        taxonomy = {topic: {"examples": [site.url(url) for url in urls]} for topic, urls in examples.items()}
        (folder / "taxonomy.toml").write_text(tomli_w.dumps({"topics": taxonomy}), "utf-8")
        settings = {
            "network": {"allow": ["127.0.0.0/8"], "resolve": {HOST: ADDRESS}},
            "politeness": {"delay": 0.02, "fetch_time_factor": 0.0},
        }
        (folder / "lycosa.toml").write_text(tomli_w.dumps(settings), "utf-8")
        book = ("--book", folder / "topics.db")
        lycosa("topics", "import", folder / "taxonomy.toml", *book, "-c", folder / "lycosa.toml")
        lycosa("topics", "train", "--judge", asked.judge, *book)
        given = {path_of(url) for urls in examples.values() for url in urls}
        rows = []
        for topic in topics[1:2] if asked.quick else topics[1::2]:
            right = set(map(path_of, members[topic]))
            rows += loop(topic, site, folder, given, right, QUICK_PAGES if asked.quick else PAGES)
    print(f"{len(site.requests):,} requests served\n")
    print(table(("topic", "graded", "right", "relevant", "precision", "recall", "mean R"), rows))


if __name__ == "__main__":
    main()
