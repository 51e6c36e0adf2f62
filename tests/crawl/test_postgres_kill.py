"""A crawl on PostgreSQL whose process is killed, whose connections are ended, and whose server dies and comes back."""

from __future__ import annotations

import json
import random
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import closing, contextmanager
from pathlib import Path

import numpy as np
import pytest

from hostile.promises import check_archive, check_nothing_lost, check_politeness, fetched_urls
from lycosa.lab.generated.web import GeneratedWeb, WebPlan
from lycosa.store.opening import open_store
from lycosa.workspace import Workspace
from postgres_server import running_server

psycopg = pytest.importorskip("psycopg", reason="psycopg is not installed: pip install 'lycosa[postgres]'")

KILLS = 2
ENDED = 6
"""Times that all connections of the crawl are ended."""
DELAY = 0.1
PLAN = WebPlan(seed=11, pages=160, hosts=8, topics=3, out_degree=12, crawl_delay=0.25)


@contextmanager
def web_server(directory: Path):
    ready, log = directory / "ready.json", directory / "requests.jsonl"
    options = [f"--{name}={getattr(PLAN, name)}" for name in ("seed", "pages", "hosts", "topics")]
    options += [f"--out-degree={PLAN.out_degree}", f"--crawl-delay={PLAN.crawl_delay}", "--addresses=6"]
    command = [sys.executable, "-m", "hostile.server", *options, f"--log={log}", f"--ready-file={ready}"]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, cwd=Path(__file__).parents[1])
    try:
        while not ready.exists():
            assert process.poll() is None, "the server did not start"
            time.sleep(0.02)
        yield json.loads(ready.read_text()), log
    finally:
        process.terminate()
        process.wait()


@contextmanager
def started(command: list[str]):
    process = subprocess.Popen(command)
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def until(is_so: Callable[[], bool], process: subprocess.Popen[bytes]) -> None:
    """Wait for something to happen while the crawl runs."""
    while not is_so():
        assert process.poll() is None, "the crawl was over too early"
        time.sleep(0.02)


def pages(url: str) -> int:
    """Number of pages committed so far."""
    with psycopg.connect(url, autocommit=True) as db:
        if db.execute("select to_regclass('pages')").fetchone()[0] is None:
            return -1
        return int(db.execute("select count(*) from pages").fetchone()[0])


def end_connections(url: str) -> int:
    """End all sessions of crawls; their number."""
    query = "select count(pg_terminate_backend(pid)) from pg_stat_activity where application_name = 'lycosa'"
    with psycopg.connect(url, autocommit=True) as db:
        return int(db.execute(query).fetchone()[0])


@pytest.mark.slow
def test_kills_lost_connections_and_a_dying_server_lose_nothing(tmp_path: Path) -> None:
    with web_server(tmp_path) as (facts, log), running_server() as database:
        web = GeneratedWeb(PLAN)
        seeds = web.seeds(0, 3, np.random.default_rng(3))
        config = tmp_path / "settings.toml"
        overrides = "\n".join(f'"{host}" = "{address}"' for host, address in facts["overrides"].items())
        config.write_text(
            f"[politeness]\ndelay = {DELAY}\n[readers]\ncount = 1\n[budget]\npages = 100000\n"
            f'[network]\nallow = ["127.0.0.0/8"]\n[network.resolve]\n{overrides}\n'
        )
        command = [sys.executable, "-c", "from lycosa.cli import main; main()", "crawl", web.topic_keywords(0), "-q"]
        command += ["-o", str(tmp_path / "crawl"), "-c", str(config), "--store", database.url]
        for page in seeds:
            command += ["--seed", web.url(page, port=facts["port"])]

        moments = random.Random(5)
        for target in sorted(moments.sample(range(PLAN.pages // 2), KILLS)):
            with started(command) as process:
                until(lambda target=target: pages(database.url) >= target, process)
                process.kill()
        with started(command) as process:
            for turn in range(ENDED):
                before = pages(database.url)
                until(lambda: end_connections(database.url) > 0, process)
                if turn == ENDED // 2:
                    database.stop(at_once=True)
                    database.start()
                until(lambda before=before: pages(database.url) > before, process)
            assert process.wait(timeout=240) == 0

        with closing(open_store(Workspace(tmp_path / "crawl"), read_only=True)) as store:
            store.copy_to(tmp_path / "copy.db")
            assert store.damage() == []
            assert any("the database was away" in event.message for event in store.events(["stall"]))
    fetched = fetched_urls(tmp_path / "copy.db")
    check_nothing_lost(web, seeds, fetched)
    check_archive(tmp_path / "crawl" / "archive", fetched)
    assert check_politeness(log, DELAY) > 50
