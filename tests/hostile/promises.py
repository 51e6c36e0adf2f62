"""What a crawl promises whatever is done to it, checked by its database, its archive, and the log of the server.

A web has to be crawled to its end for these checks.
"""

from __future__ import annotations

import json
import sqlite3
from collections import Counter, defaultdict
from collections.abc import Collection
from contextlib import closing
from itertools import pairwise
from pathlib import Path

from fastwarc.warc import ArchiveIterator as FastIterator
from fastwarc.warc import WarcRecordType
from warcio.archiveiterator import ArchiveIterator

from lycosa.lab.generated.web import GeneratedWeb


def fetched_urls(database: Path) -> list[str]:
    """URLs of all pages; each was fetched once, and nothing waits."""
    with closing(sqlite3.connect(database)) as db:
        urls = [row[0] for row in db.execute("select f.url from pages p join frontier f on f.id = p.id")]
        tries = [row[0] for row in db.execute("select link_id from outcomes where kind = 'fetched'")]
        assert len(tries) == len(set(tries)) == len(urls), "a page was counted twice"
        numbers = [row[0] for row in db.execute("select number from pages order by number")]
        assert numbers == list(range(1, len(urls) + 1))
        waiting = db.execute("select count(*) from frontier where state = 'waiting'").fetchone()[0]
        assert waiting == 0, f"{waiting} links still wait"
    return urls


def left_out(database: Path) -> list[str]:
    """URLs that the strategy found not worth following: shark goes no deeper where nothing comes."""
    with closing(sqlite3.connect(database)) as db:
        found = db.execute("select url from frontier where state = 'excluded' and reason = 'not worth following'")
        return [url for (url,) in found]


def reachable(web: GeneratedWeb, seeds: list[int], without: Collection[int] = ()) -> set[int]:
    """All pages that links lead to and robots.txt allows."""
    allowed = {page for page in range(len(web)) if web.is_allowed(page)} - set(without)
    seen = {page for page in seeds if page in allowed}
    queue = list(seen)
    while queue:
        for target in web.out_links(queue.pop()).tolist():
            if target in allowed and target not in seen:
                seen.add(target)
                queue.append(target)
    return seen


def check_nothing_lost(web: GeneratedWeb, seeds: list[int], fetched: list[str], excluded: Collection[str] = ()) -> None:
    """Everything that can be reached was fetched, each page once; but for what is on record as excluded."""
    numbers = Counter(web.page_of(url) for url in fetched)
    without = {page for page in map(web.page_of, excluded) if page is not None and page not in numbers}
    lost = reachable(web, seeds, without) - set(numbers)
    assert not lost, f"{len(lost)} pages were lost"
    assert set(numbers) <= reachable(web, seeds)
    assert set(numbers.values()) == {1}


def check_refreshed(database: Path, fetched: list[str]) -> None:
    """After a refresh of all pages: they are the same; the last run looked at each, and no run at one twice."""
    with closing(sqlite3.connect(database)) as db:
        urls = [row[0] for row in db.execute("select f.url from pages p join frontier f on f.id = p.id")]
        assert Counter(urls) == Counter(fetched), "a refresh changed which pages there are"
        looks = Counter(db.execute("select run_id, page_id from checks"))
        assert set(looks.values()) == {1}, "a page was looked at twice in one refresh"
        last = max(run for run, _ in looks)
        looked_at = sum(run == last for run, _ in looks)
        assert looked_at == len(fetched), f"the last refresh looked at {looked_at} of {len(fetched)} pages"


def check_archive(directory: Path, fetched: list[str]) -> None:
    """The archive is whole, and holds each of these pages once."""
    archived: Counter[str] = Counter()
    for path in sorted(directory.iterdir()):
        assert path.name.endswith(".warc.gz"), f"{path.name} was left behind"
        with path.open("rb") as stream:
            for record in ArchiveIterator(stream, check_digests="raise"):
                if record.rec_type == "response" and record.http_headers.get_statuscode() == "200":
                    record.content_stream().read()
                    archived[record.rec_headers.get_header("WARC-Target-URI")] += 1
        with path.open("rb") as stream:
            records = FastIterator(stream, record_types=WarcRecordType.response, parse_http=True)
            by_fastwarc = [record.record_id for record in records]
        assert len(by_fastwarc) == len(set(by_fastwarc))
    assert archived == Counter(fetched), "archive and database do not agree"


def check_politeness(log: Path, delay: float) -> int:
    """By the server's own log: no host and no address is asked sooner than `delay` after its last answer.

    The server notes the end of an answer before it sends the last bytes, by a clock of its own: no slack is needed,
    however busy the machine is. Returns the number of requests.
    """
    requests = [json.loads(line) for line in log.read_text().splitlines()]
    for key in ("host", "address"):
        groups: dict[str, list[tuple[float, float]]] = defaultdict(list)
        for request in requests:
            groups[request[key]].append((request["arrived"], request["ended"]))
        for name, times in groups.items():
            times.sort()
            for (_, ended), (arrived, _) in pairwise(times):
                assert arrived - ended >= delay, f"{name} was asked again after {arrived - ended:.3f} s"
    return len(requests)
