"""A spider of Scrapy's tutorial on a generated web, in a process of its own: stopped, and resumed from its JOBDIR."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from lycosa.lab.generated.server import served
from lycosa.lab.generated.web import GeneratedWeb, WebPlan

pytest.importorskip("scrapy", reason="Scrapy is not installed: pip install 'lycosa[scrapy]'")

PLAN = WebPlan(seed=5, pages=1_500, hosts=12, topics=6, crawl_delay=0.0)
TOPIC = 0
SPIDER = """
import json, sys
import scrapy
from scrapy import signals
from scrapy.crawler import CrawlerProcess
from scrapy.resolver import dnscache

task = json.loads(sys.argv[1])
dnscache.update(task["overrides"])
runs = []

class Tutorial(scrapy.Spider):
    name = "tutorial"
    start_urls = task["seeds"]

    async def parse(self, response):  # the asynchronous kind of callback
        yield {"url": response.url, "relevance": response.meta.get("lycosa_relevance")}
        for request in response.follow_all(css="a", callback=self.parse_page):
            yield request

    def parse_page(self, response):
        yield {"url": response.url, "relevance": response.meta["lycosa_relevance"]}
        yield from response.follow_all(css="a", callback=self.parse_page)

def run(settings):
    crawler = process.create_crawler(Tutorial)
    crawler.settings.update(settings, priority="cmdline")
    asked, items = [], []
    note_request = lambda request, **_: asked.append(request.url)
    note_item = lambda item, **_: items.append(item)
    crawler.signals.connect(note_request, signals.request_reached_downloader, weak=False)
    crawler.signals.connect(note_item, signals.item_scraped, weak=False)

    def ended(_):
        stats = {name: value for name, value in crawler.stats.get_stats().items() if isinstance(value, (int, str))}
        runs.append({"asked": asked, "items": items, "stats": stats})

    return process.crawl(crawler).addCallback(ended)

process = CrawlerProcess({
    "ADDONS": {"lycosa.scrapy.Addon": 500}, "LYCOSA_TOPIC": task["topic"], "LOG_LEVEL": "ERROR",
    "TELNETCONSOLE_ENABLED": False, "ROBOTSTXT_OBEY": False, "DOWNLOAD_DELAY": 0,
})
first, *others = task["runs"]
chain = run(first)
for settings in others:
    chain.addCallback(lambda _, settings=settings: run(settings))
process.start()
print(json.dumps(runs))
"""


@pytest.mark.slow
def test_a_spider_is_focused_stopped_and_resumed(tmp_path: Path) -> None:
    web = GeneratedWeb(PLAN)
    seeds = web.seeds(TOPIC, 3, np.random.default_rng(1))
    with served(PLAN, addresses=2) as server:
        task = {
            "overrides": server.overrides,
            "seeds": [web.url(page, port=server.port) for page in seeds],
            "topic": web.topic_keywords(TOPIC),
            "runs": [
                {"JOBDIR": str(tmp_path / "job"), "CLOSESPIDER_PAGECOUNT": 40},
                {"JOBDIR": str(tmp_path / "job"), "CLOSESPIDER_PAGECOUNT": 25},
                {"CLOSESPIDER_PAGECOUNT": 30, "DEPTH_LIMIT": 1},
            ],
        }
        spider = tmp_path / "tutorial.py"
        spider.write_text(SPIDER)
        command = [sys.executable, str(spider), json.dumps(task)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=1200, check=False)
    assert done.returncode == 0, done.stderr
    assert not done.stderr.strip(), done.stderr
    first, second, shallow = json.loads(done.stdout.splitlines()[-1])

    starts = set(task["seeds"])
    for run in (first, second):
        again = [url for url in run["asked"] if url not in starts]
        assert len(again) == len(set(again))
    assert not (set(first["asked"]) & set(second["asked"])) - starts, "nothing but the start is fetched twice"
    assert second["stats"]["lycosa/pages"] > first["stats"]["lycosa/pages"] >= 30, "it knows the pages of the first run"

    pages = [web.page_of(item["url"]) for item in first["items"] + second["items"]]
    on_topic = [page is not None and web.topic_of(page) == TOPIC for page in pages]
    of_all = np.mean([web.topic_of(page) == TOPIC for page in range(len(web))])
    assert np.mean(on_topic) > 3 * of_all
    assert all(0 <= item["relevance"] <= 1 for item in first["items"])
    assert shallow["stats"]["request_depth_max"] == 1
