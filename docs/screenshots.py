"""Pictures of every view of the dashboard, light and dark, wide and narrow: docs/images/dashboard/*.png.

    make screenshots

Crawls a generated web on loopback, files some of its pages under topics, opens the dashboard in the system's chromium,
and goes through its views.
"""

from __future__ import annotations

import io
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
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

TARGET = Path(__file__).parent / "images" / "dashboard"
PLAN = WebPlan(seed=7, pages=5_000, hosts=120, topics=8, crawl_delay=0)
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), "")
FLAGS = (
    "--no-sandbox",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader",
    "--ignore-gpu-blocklist",
    "--hide-scrollbars",
)
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
}
"""By name: the address of the view, and what is there when it has been drawn."""


def main() -> None:
    if not CHROMIUM:
        sys.exit("no chromium is installed: apt-get install chromium")
    from playwright.sync_api import sync_playwright

    TARGET.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="lycosa-") as scratch, served(PLAN, addresses=100) as server:
        folder = Path(scratch, "crawls")
        empty = Path(scratch, "new")
        empty.mkdir()
        make_crawls(folder, server)
        make_book(folder / "topics.db")
        with sync_playwright() as started:
            browser = started.chromium.launch(executable_path=CHROMIUM, args=list(FLAGS))
            with dashboard(folder) as base, dashboard(empty) as nothing:
                for look in LOOKS:
                    pictures(browser, base, nothing, look)
            browser.close()


def make_crawls(folder: Path, server: Served) -> None:
    web = GeneratedWeb(PLAN)
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
            network={"fetches": 4, "allow": ["127.0.0.0/8"], "resolve": server.overrides, "contact": "me@example.org"},
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


@contextmanager
def dashboard(folder: Path) -> Iterator[str]:
    words = [
        sys.executable,
        "-m",
        "lycosa",
        "dashboard",
        str(folder),
        "--port",
        "0",
        "--book",
        str(folder / "topics.db"),
    ]
    process = subprocess.Popen(words, stdout=subprocess.PIPE)
    try:
        assert process.stdout is not None
        yield process.stdout.readline().decode().split()[1]
    finally:
        process.terminate()
        process.wait()


def pictures(browser: Any, base: str, nothing: str, look: str) -> None:
    scheme, width, height = LOOKS[look]
    context = browser.new_context(viewport={"width": width, "height": height}, color_scheme=scheme)
    page = context.new_page()
    for name, (address, sign) in VIEWS.items():
        page.goto((nothing if name == "empty" else base) + address)
        page.wait_for_selector(sign, timeout=60_000)
        if name == "card":
            page.locator(sign).first.click()
            page.wait_for_selector("dialog .text")
        if name == "sql":
            page.get_by_label("Saved queries and examples").select_option(label="Harvest rate as the crawl went on")
            page.wait_for_selector(".chart polyline")
        time.sleep(0.8)  # what is still being drawn
        is_long = look.endswith("phone") and name not in ("card", "results", "queue", "monitor")
        taken = Image.open(io.BytesIO(page.screenshot(full_page=is_long))).convert("RGB")
        taken.quantize(96, dither=Image.Dither.NONE).save(TARGET / f"{name}-{look}.png", optimize=True)
    context.close()
    print(f"{len(VIEWS)} pictures: {look}", flush=True)


if __name__ == "__main__":
    main()
