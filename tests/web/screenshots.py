"""Pictures of every view of the dashboard, light and dark, wide and narrow: docs/images/dashboard/*.png.

    make screenshots

Crawls a generated web on loopback, files some of its pages under topics, opens the dashboard in chromium, and
goes through its views.
"""

from __future__ import annotations

import io
import re
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from lycosa.engine import Crawl
from lycosa.judges.classifier import Example
from lycosa.lab.generated.server import Served, served
from lycosa.lab.generated.web import GeneratedWeb, WebPlan
from lycosa.topics.book import TopicBook
from lycosa.topics.importing import text_page
from lycosa.topics.judges import train_judge

from .browser import browser, dashboard, why_no_browser

TARGET = Path(__file__).parents[2] / "docs" / "images" / "dashboard"
PLAN = WebPlan(seed=7, pages=5_000, hosts=120, topics=8, crawl_delay=0)
SCIENCES = ("astronomy", "geology", "birds")
LOOKS = {
    "light-wide": ("light", 1360, 900),
    "dark-wide": ("dark", 1360, 900),
    "light-phone": ("light", 390, 844),
    "dark-phone": ("dark", 390, 844),
}
CRAWL = "#/crawl/cycling"
VIEWS = {
    "empty": ("", "h2"),
    "crawls": ("#/", ".crawl-item .spark"),
    "new": ("#/new", ".form"),
    "monitor": (f"{CRAWL}/monitor", ".plot[data-drawn]"),
    "card": (f"{CRAWL}/results", "td .title"),
    "review": (f"{CRAWL}/review", ".question h2"),
    "queue": (f"{CRAWL}/queue", "td .title"),
    "results": (f"{CRAWL}/results", "td .title"),
    "sites": (f"{CRAWL}/sites", ".graph"),
    "sql": (f"{CRAWL}/sql", "textarea"),
    "alarms": (f"{CRAWL}/alarms", ".alarm"),
    "settings": (f"{CRAWL}/settings", "pre"),
    "topics": ("#/topics", "tr.example"),
    "laboratory": ("#/lab", "h1"),
    "citations": ("#/crawl/topics/sites", ".matrix"),
}
"""By name: the address of the view, and what is there when it has been drawn."""


def main() -> None:
    if why_no_browser():
        sys.exit(why_no_browser())
    TARGET.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="lycosa-") as scratch, served(PLAN, addresses=100) as server:
        folder = Path(scratch, "crawls")
        empty = Path(scratch, "new")
        empty.mkdir()
        folder.mkdir()
        make_book(folder / "topics.db")
        make_crawls(folder, server)
        with (
            browser("--hide-scrollbars") as opened,
            dashboard(folder, book=folder / "topics.db") as base,
            dashboard(empty, book=empty / "topics.db") as nothing,
        ):
            for look in LOOKS:
                pictures(opened, base, nothing, look)


def make_crawls(folder: Path, server: Served) -> None:
    web = GeneratedWeb(PLAN)
    network = {"fetches": 4, "allow": ["127.0.0.0/8"], "resolve": server.overrides, "contact": "me@example.org"}
    for name, strategy, topic_name, pages in (
        ("cycling", "hunter", "cycling", 1_500),
        ("cycling-breadth-first", "breadth-first", "cycling", 600),
    ):
        topic = web.topic_names.index(topic_name)
        seeds = web.seeds(topic, 3, np.random.default_rng(1))
        print(f"crawling: {name}", flush=True)
        Crawl(
            web.topic_keywords(topic),
            seeds=[web.url(seed, port=server.port) for seed in seeds],
            directory=folder / name,
            strategy=strategy,
            budget={"pages": pages},
            politeness={"delay": 0.01, "fetch_time_factor": 0.0},
            network=network,
        ).run()
    print("crawling: topics", flush=True)
    Crawl(
        good=True,
        book=folder / "topics.db",
        seeds=[
            web.url(seed, port=server.port)
            for seed in web.seeds(web.topic_names.index("cycling"), 3, np.random.default_rng(2))
        ],
        directory=folder / "topics",
        budget={"pages": 500},
        politeness={"delay": 0.01, "fetch_time_factor": 0.0},
        network=network,
    ).run()


def make_book(path: Path) -> None:
    """Pages of the generated web as examples, in a tree, with a trained judge."""
    web = GeneratedWeb(PLAN)
    with TopicBook(path) as book:
        examples = []
        for number, name in enumerate(web.topic_names):
            topic = f"{'Science' if name in SCIENCES else 'Recreation'}/{name.capitalize()}"
            chosen = [page for page in range(len(web)) if web.topic_of(page) == number and web.original(page) == page]
            for page in chosen[:16]:
                source = web.render(web.url(page)).body.decode()
                title = re.search("<title>(.*?)</title>", source)
                text = re.sub(r"<[^>]+>", " ", source)
                examples.append(Example(text_page(web.url(page), title[1] if title else "", text), (topic,)))
        book.add_examples(examples, makes_topics=True)
        book.mark_good("Cycling")
        train_judge(book, "bayes")


def pictures(opened: Any, base: str, nothing: str, look: str) -> None:
    scheme, width, height = LOOKS[look]
    context = opened.new_context(viewport={"width": width, "height": height}, color_scheme=scheme)
    page = context.new_page()
    for name, (address, sign) in VIEWS.items():
        page.goto((nothing if name == "empty" else base) + address)
        page.wait_for_selector(sign, timeout=60_000)
        if name == "citations":
            page.locator(".matrix").scroll_into_view_if_needed()
        if name == "card":
            page.locator(sign).first.click()
            page.wait_for_selector("dialog .text")
        if name == "results":
            page.locator("[name=words]").fill("wheel gear touring")
            page.locator(".snippet mark").first.wait_for()
        if name == "sql":
            page.get_by_label("Saved queries and examples").select_option(label="Harvest rate as the crawl went on")
            page.wait_for_selector(".chart polyline")
        time.sleep(0.8)  # what is still being drawn
        is_long = look.endswith("phone") and name not in ("card", "results", "queue", "monitor", "citations")
        taken = Image.open(io.BytesIO(page.screenshot(full_page=is_long))).convert("RGB")
        taken.quantize(96, dither=Image.Dither.NONE).save(TARGET / f"{name}-{look}.png", optimize=True)
    context.close()
    print(f"{len(VIEWS)} pictures: {look}", flush=True)


if __name__ == "__main__":
    main()
