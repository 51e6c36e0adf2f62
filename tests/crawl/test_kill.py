"""A crawl is killed at 25 random moments and resumed: nothing is lost, nothing counted twice, nobody rushed."""

from __future__ import annotations

import json
import random
import sqlite3
import subprocess
import sys
import time
from collections import Counter, defaultdict
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from fastwarc.warc import ArchiveIterator as FastIterator
from fastwarc.warc import WarcRecordType
from warcio.archiveiterator import ArchiveIterator

from lycosa.lab.generated.web import GeneratedWeb, WebPlan

KILLS = 25
DELAY = 0.1
PLAN = WebPlan(seed=11, pages=400, hosts=8, topics=3, out_degree=12, crawl_delay=0.25)


@pytest.fixture
def server(tmp_path: Path):
    ready, log = tmp_path / "ready.json", tmp_path / "requests.jsonl"
    options = [f"--{name}={getattr(PLAN, name.replace('-', '_'))}" for name in ("seed", "pages", "hosts", "topics")]
    options += [f"--out-degree={PLAN.out_degree}", f"--crawl-delay={PLAN.crawl_delay}", "--addresses=6"]
    command = [sys.executable, "-m", "hostile.server", *options, f"--log={log}", f"--ready-file={ready}"]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, cwd=Path(__file__).parents[1])
    while not ready.exists():
        assert process.poll() is None, "the server did not start"
        time.sleep(0.02)
    yield json.loads(ready.read_text()), log
    process.terminate()
    process.wait()


@pytest.mark.slow
def test_25_kills_lose_nothing_and_break_no_promise(server, tmp_path: Path) -> None:
    facts, log = server
    web = GeneratedWeb(PLAN)
    seeds = web.seeds(0, 3, np.random.default_rng(3))
    config = tmp_path / "settings.toml"
    overrides = "\n".join(f'"{host}" = "{address}"' for host, address in facts["overrides"].items())
    config.write_text(
        f"[politeness]\ndelay = {DELAY}\n[readers]\ncount = 1\n[budget]\npages = 100000\n"
        f'[network]\nallow = ["127.0.0.0/8"]\n[network.resolve]\n{overrides}\n'
    )
    urls = [web.url(page, port=facts["port"]) for page in seeds]
    command = [sys.executable, "-c", "from lycosa.cli import main; main()", "crawl", web.topic_keywords(0), "--quiet"]
    command += ["-o", str(tmp_path / "crawl"), "-c", str(config), *(word for url in urls for word in ("--seed", url))]

    moments = random.Random(5)
    kills = 0
    for _ in range(KILLS):
        process = subprocess.Popen(command)
        try:
            process.wait(timeout=moments.uniform(0.2, 1.6))
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            kills += 1
    assert kills == KILLS, "the crawl was over before it had been killed often enough"
    subprocess.run(command, check=True, timeout=240)

    # Everything that can be reached was fetched, each page once.
    fetched = _fetched(tmp_path / "crawl" / "crawl.db")
    allowed = {page for page in range(len(web)) if web.is_allowed(page)}
    reachable = _reachable(web, seeds, allowed)
    numbers = Counter(web.page_of(url) for url in fetched)
    assert set(numbers) == reachable
    assert set(numbers.values()) == {1}

    # The archive is whole, and holds each of these pages once.
    archived: Counter[str] = Counter()
    for path in sorted((tmp_path / "crawl" / "archive").iterdir()):
        assert path.name.endswith(".warc.gz"), f"{path.name} was left behind"
        with path.open("rb") as stream:
            for record in ArchiveIterator(stream, check_digests="raise"):
                if record.rec_type == "response" and record.http_headers.get_statuscode() == "200":
                    record.content_stream().read()
                    archived[record.rec_headers.get_header("WARC-Target-URI")] += 1
        with path.open("rb") as stream:
            by_fastwarc = [
                r.record_id for r in FastIterator(stream, record_types=WarcRecordType.response, parse_http=True)
            ]
        assert len(by_fastwarc) == len(set(by_fastwarc))
    assert archived == Counter(fetched)

    _check_politeness(log)


def _fetched(database: Path) -> list[str]:
    db = sqlite3.connect(database)
    urls = [row[0] for row in db.execute("select f.url from pages p join frontier f on f.id = p.id")]
    tries = [row[0] for row in db.execute("select link_id from outcomes where kind = 'fetched'")]
    assert len(tries) == len(set(tries)) == len(urls)
    numbers = [row[0] for row in db.execute("select number from pages order by number")]
    assert numbers == list(range(1, len(urls) + 1))
    assert db.execute("select count(*) from frontier where state = 'waiting'").fetchone()[0] == 0
    db.close()
    return urls


def _reachable(web: GeneratedWeb, seeds: list[int], allowed: set[int]) -> set[int]:
    seen = {page for page in seeds if page in allowed}
    queue = list(seen)
    while queue:
        for target in web.out_links(queue.pop()).tolist():
            if target in allowed and target not in seen:
                seen.add(target)
                queue.append(target)
    return seen


def _check_politeness(log: Path) -> None:
    """By the server's own log: no host and no address is asked sooner than DELAY after its last answer.

    The server notes the end of an answer before it sends the last bytes, by a clock of its own: no slack is needed,
    however busy the machine is.
    """
    requests = [json.loads(line) for line in log.read_text().splitlines()]
    assert len(requests) > 100
    for key in ("host", "address"):
        groups: dict[str, list[tuple[float, float]]] = defaultdict(list)
        for request in requests:
            groups[request[key]].append((request["arrived"], request["ended"]))
        for name, times in groups.items():
            times.sort()
            for (_, ended), (arrived, _) in pairwise(times):
                assert arrived - ended >= DELAY, f"{name} was asked again after {arrived - ended:.3f} s"
