"""A crawl is killed at random moments and resumed: nothing is lost, nothing counted twice, nobody rushed."""

from __future__ import annotations

import json
import random
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from hostile.promises import check_archive, check_nothing_lost, check_politeness, fetched_urls
from lycosa.lab.generated.web import GeneratedWeb, WebPlan

KILLS = 10
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
def test_kills_lose_nothing_and_break_no_promise(server, tmp_path: Path) -> None:
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

    fetched = fetched_urls(tmp_path / "crawl" / "crawl.db")
    check_nothing_lost(web, seeds, fetched)
    check_archive(tmp_path / "crawl" / "archive", fetched)
    assert check_politeness(log, DELAY) > 100
