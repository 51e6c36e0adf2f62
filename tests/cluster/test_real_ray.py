"""A small crawl on Ray itself: other tests of the cluster have a stand-in for it, as it takes long to start."""

from __future__ import annotations

import os
import signal
import subprocess
import time

import numpy as np
import pytest
import tomli_w

from hostile.promises import check_nothing_lost
from loopback import LYCOSA
from lycosa.lab.generated.server import served
from lycosa.lab.generated.web import GeneratedWeb, WebPlan
from lycosa.opened import opened

pytest.importorskip("ray", reason="Ray is not installed: pip install 'lycosa[cluster]'")

PLAN = WebPlan(seed=8, pages=80, hosts=8, topics=3, out_degree=10)
BUDGET = 20
PATIENCE = 300.0


def crawlers_of(driver: subprocess.Popen[str]) -> list[int]:
    """The processes of Ray that crawl."""
    found = subprocess.run(["ps", "-eo", "pid,sid,args"], capture_output=True, text=True, check=True).stdout
    rows = [line.split(None, 2) for line in found.splitlines()[1:]]
    return [int(pid) for pid, session, command in rows if session == str(driver.pid) and "ray::Crawler" in command]


def test_two_crawlers_of_which_one_dies(postgres_server, tmp_path):
    from postgres_server import new_place

    web = GeneratedWeb(PLAN)
    seeds = web.seeds(0, 3, np.random.default_rng(3))
    home, store, settings = tmp_path / "crawl", new_place(postgres_server), tmp_path / "settings.toml"
    with served(PLAN, addresses=4) as server:
        config = {
            "network": {"allow": ["127.0.0.0/8"], "resolve": dict(server.overrides)},
            "politeness": {"delay": 0.0, "fetch_time_factor": 0.0},
        }
        settings.write_text(tomli_w.dumps(config))
        urls = [word for page in seeds for word in ("-s", web.url(page, port=server.port))]
        begin = [*LYCOSA, "crawl", web.topic_keywords(0), *urls, "-o", home, "-c", settings, "--store", store, "-q"]
        subprocess.run([*map(str, begin), "--cluster", "2", "--pages", str(BUDGET)], check=True, timeout=PATIENCE)
        with opened(home, over_shards=True) as (_, _, found):
            assert found.totals().pages == BUDGET
        go_on = [*LYCOSA, "crawl", "-o", str(home), "--cluster", "2", "--pages", "1000", "-q"]
        with subprocess.Popen(go_on, start_new_session=True, text=True) as driver:
            until = time.monotonic() + PATIENCE
            while not (running := crawlers_of(driver)) and driver.poll() is None and time.monotonic() < until:
                time.sleep(0.05)
            assert running
            os.kill(running[0], signal.SIGKILL)
            assert driver.wait(PATIENCE) == 0
    with opened(home, over_shards=True) as (_, _, found):
        pages = [page.url for page in found.pages()]
        assert found.totals().waiting == 0
    check_nothing_lost(web, seeds, pages)


def test_work_goes_to_another_process_if_one_dies(tmp_path):
    from lycosa.cluster.work import workers

    died = tmp_path / "died"

    def fragile(item: int) -> int:
        if item == 2 and not died.exists():
            died.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return item * item

    with workers("", 2) as found:
        assert list(found.imap(fragile, range(8))) == [item * item for item in range(8)]
    assert died.exists()
