"""The whole way in a real browser: a crawl is started, watched, taught, steered, asked, stopped and resumed."""

from __future__ import annotations

import json
import math
import re
import struct
import time
import urllib.request
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lycosa.judges.classifier import Example
from lycosa.lab.generated.server import served
from lycosa.lab.generated.web import GeneratedWeb, WebPlan
from lycosa.topics.book import TopicBook
from lycosa.topics.importing import text_page
from lycosa.topics.judges import train_judge

from .browser import browser, dashboard, why_no_browser
from .test_topics_api import fill as fill_with_hostile_titles

pytestmark = pytest.mark.skipif(bool(why_no_browser()), reason=why_no_browser())
PLAN = WebPlan(seed=11, pages=1_500, hosts=40, topics=5, paragraphs=2, crawl_delay=0)
PAD, JITTER = 0.07, 0.05
"""As in scatter.js."""


@pytest.fixture(scope="module")
def opened():
    with browser() as opened:
        yield opened


@pytest.fixture
def page(opened):
    """A page that fails the test if a script fails, or if it asks anybody but its own server."""
    context = opened.new_context(viewport={"width": 1300, "height": 900})
    page = context.new_page()
    page.set_default_timeout(60_000)
    faults: list[str] = []
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.on("console", lambda said: faults.append(said.text) if "Content Security Policy" in said.text else None)
    page.on(
        "request",
        lambda asked: faults.append(asked.url) if not asked.url.startswith(("http://127.0.0.1:", "blob:")) else None,
    )
    yield page
    context.close()
    assert faults == []


def get(base: str, path: str) -> Any:
    with urllib.request.urlopen(base.rstrip("/") + path) as answer:
        body = answer.read()
    return json.loads(body) if answer.headers["content-type"] == "application/json" else body


def until(condition, *, seconds: float = 180.0, what: str = "") -> Any:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if found := condition():
            return found
        time.sleep(0.2)
    raise AssertionError(f"not within {seconds:g} s: {what}")


def place_of_dot(page, base: str, crawl: str, number: int) -> tuple[float, float]:
    """Where a page's dot is on the screen, by the same rule as the page's own scripts draw it."""
    body = get(base, f"/api/crawls/{crawl}/dots?first={number}&last={number}")
    _, _, count, _ = struct.unpack_from("<IIId", body)
    (relevance,) = struct.unpack_from("<H", body, 20 + 4 * count)
    first, last = map(int, page.locator(".plot").get_attribute("data-drawn").split("-"))
    box = page.locator(".plot").bounding_box()
    value = math.sin(number * 12.9898) * 43758.5453
    y = relevance / 65535 * (1 - 2 * PAD) + PAD + (value - math.floor(value) - 0.5) * JITTER
    x = (number - (first - 0.5)) / (last - first + 1)
    return box["x"] + x * box["width"], box["y"] + (1 - y) * box["height"]


def test_start_watch_teach_steer_ask_stop_resume(page, tmp_path: Path):
    web = GeneratedWeb(PLAN)
    topic = web.topic_names.index("cycling")
    with served(PLAN, addresses=40) as server:
        config = tmp_path / "lycosa.toml"
        hosts = ", ".join(f'"{host}" = "{address}"' for host, address in server.overrides.items())
        config.write_text(
            f'[network]\nallow = ["127.0.0.0/8"]\nfetches = 4\nresolve = {{{hosts}}}\n'
            "[politeness]\ndelay = 0.4\n[readers]\ncount = 1\n"
        )
        seeds = [web.url(seed, port=server.port) for seed in web.seeds(topic, 3, np.random.default_rng(3))]
        (tmp_path / "crawls").mkdir()
        with dashboard(tmp_path / "crawls", config=config) as base:
            page.goto(base)
            page.get_by_role("heading", name="No crawl yet").wait_for()
            crawl = start(page, web.topic_keywords(topic), seeds)
            watch(page, base, crawl)
            teach(page, base, crawl)
            review(page, base, crawl)
            steer(page, base, crawl)
            ask(page)
            stop_and_resume(page, base, crawl)


def start(page, words: str, seeds: list[str]) -> str:
    page.get_by_role("link", name="Start the first crawl").click()
    page.get_by_label("What should the pages be about?").fill(words)
    page.locator("[name=seeds]").fill("\n".join(seeds))
    page.locator("[name=pages]").fill("1400")
    page.get_by_role("button", name="What would it do?").click()
    understood = page.locator(".understood")
    understood.wait_for()
    assert f"“{words}”" in understood.inner_text()
    assert "stops after 1,400 pages" in understood.inner_text()
    page.get_by_role("button", name="Start the crawl").click()
    page.wait_for_url(re.compile("#/crawl/"))
    return page.url.rsplit("/", 1)[1]


def watch(page, base: str, crawl: str) -> None:
    """Dots arrive."""
    page.wait_for_selector(".plot[data-drawn]")
    page.locator(".pill.running").first.wait_for()
    seen = int(page.locator(".plot").get_attribute("data-drawn").split("-")[1])
    until(lambda: int(page.locator(".plot").get_attribute("data-drawn").split("-")[1]) >= seen + 10, what="more dots")
    until(lambda: get(base, f"/api/crawls/{crawl}/figures")["pages"] >= 60, what="60 pages")


def teach(page, base: str, crawl: str) -> None:
    """A click on a dot opens its card; not useful changes the judge, and the dot moves."""
    page.get_by_role("button", name="Pause").click()
    page.locator(".pill.paused").first.wait_for()
    figures = until(
        lambda: (now := get(base, f"/api/crawls/{crawl}/figures"))["in_flight"] == 0 and now, what="a pause"
    )
    until(lambda: page.locator(".plot").get_attribute("data-drawn") == f"1-{figures['pages']}", what="all dots drawn")
    found = get(base, f"/api/crawls/{crawl}/results?is_relevant=true&order=oldest")["pages"]
    number = found[len(found) // 2]["number"]
    before = place_of_dot(page, base, crawl, number)
    page.mouse.move(*before)
    page.locator(".tip b").wait_for()
    page.mouse.click(*before)
    card = page.locator("dialog.page-card")
    card.get_by_role("button", name="Not useful").wait_for()
    title = card.locator("h2").inner_text()
    assert title in {row["title"] for row in found}
    card.get_by_role("button", name="Not useful").click()
    card.get_by_text("you said: not useful").wait_for()
    marked = next(row["number"] for row in found if row["title"] == title)
    page.keyboard.press("Escape")
    # A paused crawl learns, too: its judge is another one then, and the page's dot is at the bottom.
    until(lambda: get(base, f"/api/crawls/{crawl}/figures")["version"] > figures["version"], what="another version")
    until(
        lambda: "answers" in {e["kind"] for e in get(base, f"/api/crawls/{crawl}/events")["events"]}, what="taken over"
    )
    after = place_of_dot(page, base, crawl, marked)
    assert after[1] > before[1] + 100
    now = get(base, f"/api/crawls/{crawl}/figures")["version"]
    until(lambda: int(page.locator(".plot").get_attribute("data-version")) >= now, what="dots drawn anew")
    page.mouse.move(*after)  # the dot is where it is now, and says so
    page.locator(".tip", has_text="relevance 0.000").wait_for()
    page.get_by_role("button", name="Resume").click()
    page.locator(".pill.running").first.wait_for()


def review(page, base: str, crawl: str) -> None:
    """Three questions answered by keyboard."""
    page.get_by_role("navigation", name="Views of this crawl").get_by_role("link", name="Review").click()
    for number, key in enumerate("nyn", start=1):
        page.get_by_text(f"Question {number} of").wait_for()
        page.keyboard.press(key)
    page.get_by_text("Question 4 of").wait_for()
    page.get_by_text("What your answers changed").wait_for()
    page.locator(
        ".question li", has_text=re.compile(r"(yes|no) to “.*: (no page changed sides|.* relevant)")
    ).first.wait_for()
    answers = get(base, f"/api/crawls/{crawl}/review?count=1")["answered"]
    assert answers == 4  # one by the card


def steer(page, base: str, crawl: str) -> None:
    """A host is excluded, and asked for nothing more; a link says why it waits."""
    page.get_by_role("navigation", name="Views of this crawl").get_by_role("link", name="Queue").click()
    page.get_by_role("heading", name="What comes next").wait_for()
    queued = get(base, f"/api/crawls/{crawl}/queue?count=500")["links"]
    host = queued[0]["host"]
    page.locator("[name=pattern]").fill(host)
    page.get_by_role("button", name="Exclude", exact=True).click()
    page.get_by_text("waiting links left the queue").first.wait_for()

    def without_it() -> list[dict[str, Any]]:
        found = get(base, f"/api/crawls/{crawl}/queue?count=1000")["links"]
        return [] if host in {link["host"] for link in found} else found  # what was under way comes to its end

    rest = until(without_it, what=f"a queue without {host}")
    page.locator("[name=explain]").fill(rest[0]["url"])
    page.get_by_role("button", name="Explain").click()
    page.locator(".facts dt", has_text="state").wait_for(timeout=120_000)


def ask(page) -> None:
    page.get_by_role("navigation", name="Views of this crawl").get_by_role("link", name="SQL").click()
    page.locator("[name=sql]").fill("select kind, count(*) as tries from outcomes group by 1 order by 2 desc")
    page.get_by_role("button", name="Run").click()
    page.locator("td", has_text="fetched").first.wait_for()


def stop_and_resume(page, base: str, crawl: str) -> None:
    page.get_by_role("button", name="Stop").click()
    page.locator(".pill.stopped").first.wait_for()
    stopped = get(base, f"/api/crawls/{crawl}")
    assert stopped["why"] == "stopped from the dashboard"
    page.get_by_role("button", name="Go on…").click()
    page.get_by_label("Stop after this many pages in all").fill(str(stopped["pages"] + 40))
    page.get_by_role("button", name="Go on", exact=True).click()
    until(lambda: get(base, f"/api/crawls/{crawl}")["pages"] == stopped["pages"] + 40, what="40 pages more")
    until(lambda: get(base, f"/api/crawls/{crawl}")["state"] == "stopped", what="its end")


def test_topics_by_drag_and_drop_then_a_crawl_for_one(page, tmp_path: Path):
    web = GeneratedWeb(PLAN)
    with served(PLAN, addresses=20) as server:
        config = tmp_path / "lycosa.toml"
        hosts = ", ".join(f'"{host}" = "{address}"' for host, address in server.overrides.items())
        config.write_text(f'[network]\nallow = ["127.0.0.0/8"]\nresolve = {{{hosts}}}\n[readers]\ncount = 1\n')
        book = tmp_path / "crawls" / "topics.db"
        book.parent.mkdir()
        fill(book, web, server.port)
        with dashboard(tmp_path / "crawls", config=config, book=book) as base:
            page.goto(f"{base}#/topics/A/Cycling")
            example = page.locator("tr.example").first
            example.wait_for()
            before = {topic["path"]: topic["examples"] for topic in get(base, "/api/topics")["topics"]}
            example.drag_to(page.locator(".topic[data-path='B/Other']"))
            until(lambda: counts(base)["B/Other"] == before["B/Other"] + 1, what="an example that moved")
            assert counts(base)["A/Cycling"] == before["A/Cycling"] - 1
            classify(page, base, web, server.port)
            page.locator(".topic[data-path='A/Cycling']").focus()
            page.keyboard.press("g")
            page.locator(".topic.is-good[data-path='A/Cycling']:focus").wait_for()  # though the tree was made anew
            page.get_by_role("link", name="Crawl for Cycling").click()
            page.locator("[name=pages]").fill("12")
            page.get_by_role("button", name="What would it do?").click()
            page.get_by_text("Relevant are pages on A/Cycling of the topic book").wait_for()
            page.get_by_role("button", name="Start the crawl").click()
            page.wait_for_selector(".plot[data-drawn]", timeout=90_000)
            (crawl,) = until(lambda: get(base, "/api/crawls")["crawls"], what="the crawl")
            until(lambda: get(base, f"/api/crawls/{crawl['id']}")["state"] == "stopped", what="its end")
            assert get(base, f"/api/crawls/{crawl['id']}")["pages"] == 12


def classify(page, base: str, web: GeneratedWeb, port: int) -> None:
    """Bookmarks become candidates: the first is accepted where the judge would file it, the second refused."""
    cycling = web.topic_names.index("cycling")
    new = [each for each in range(len(web)) if web.topic_of(each) == cycling and web.is_allowed(each)][12:14]
    links = "".join(f'<DT><A HREF="{web.url(each, port=port)}">x</A>' for each in new)
    body = f"<!DOCTYPE NETSCAPE-Bookmark-file-1><DL>{links}</DL>".encode()
    file = {"name": "bookmarks.html", "mimeType": "text/html", "buffer": body}
    page.locator(".drop input[type=file]").set_input_files(file)
    page.get_by_role("button", name="Classify").click()
    page.locator(".candidate").nth(1).wait_for()
    page.locator(".candidate").nth(1).get_by_role("button", name="Refuse").click()
    before = counts(base)
    (candidate,) = page.locator(".candidate").all()
    candidate.locator("select").select_option("A/Cycling")
    candidate.get_by_role("button", name="Accept").click()
    until(lambda: counts(base)["A/Cycling"] == before["A/Cycling"] + 1, what="one more example")
    assert counts(base)["B/Other"] == before["B/Other"]


def counts(base: str) -> dict[str, int]:
    return {topic["path"]: topic["examples"] for topic in get(base, "/api/topics")["topics"]}


def fill(path: Path, web: GeneratedWeb, port: int) -> None:
    """Two topics with ten pages of the generated web each, and a judge trained on them."""
    cycling = web.topic_names.index("cycling")
    with TopicBook(path) as book:
        for topic, number in (("A/Cycling", cycling), ("B/Other", (cycling + 1) % len(web.topic_names))):
            pages = [each for each in range(len(web)) if web.topic_of(each) == number and web.is_allowed(each)][:10]
            texts = [(web.url(each, port=port), web.render(web.url(each)).body.decode()) for each in pages]
            cleaned = [(url, re.sub(r"<[^>]+>", " ", text)) for url, text in texts]
            book.add_examples(
                [Example(text_page(url, url, text), (topic,)) for url, text in cleaned], makes_topics=True
            )
        train_judge(book, "bayes")


VIEWS = ("monitor", "review", "queue", "results", "sites", "sql", "alarms", "settings")


@pytest.mark.parametrize("store_kind", ["postgresql"], indirect=True)
def test_hostile_text_is_text_in_every_view(page, folder: Path):
    """Titles, anchors, URLs and texts with scripts in them are shown as they are, and nothing of them is done.

    The crawl is in PostgreSQL, so that every view is seen over that store, too; the other tests are over SQLite.
    """
    with TopicBook(folder / "topics.db") as book:
        fill_with_hostile_titles(book)
    with dashboard(folder, book=folder / "topics.db") as base:
        page.goto(base)
        page.get_by_role("heading", name="Crawls").wait_for()
        page.goto(f"{base}#/topics/Food/Soup")
        page.locator("tr.example", has_text="<script>document.title=").first.wait_for()
        assert page.locator("main script, main img").count() == 0
        for view in VIEWS:
            page.goto(f"{base}#/crawl/cycling/{view}")
            page.locator("main .card").first.wait_for()
            if view in ("monitor", "results", "review"):
                page.get_by_text("<script>document.title=").first.wait_for()
            assert "owned" not in page.title()
            assert page.locator("main script, main img, main iframe, main [onerror], main [onmouseover]").count() == 0
        page.goto(f"{base}#/crawl/cycling/sites")
        useful = page.get_by_role("button", name="h1.test: Useful")
        for is_pressed in ("true", "false"):  # marked, and taken back
            useful.click()
            page.locator(f"[aria-label='h1.test: Useful'][aria-pressed={is_pressed}]").wait_for()
        page.goto(f"{base}#/crawl/cycling/results")
        page.locator("[name=words]").fill("saddle")
        page.locator(".snippet mark", has_text="saddle").first.wait_for()
        assert "<script>" in page.locator(".snippet").first.inner_text()
        assert page.locator("main script, main img").count() == 0
        page.locator("td .title").first.click()
        page.locator("dialog .text").wait_for()
        assert "<script>" in page.locator("dialog").inner_text()
        assert page.locator("dialog script, dialog img").count() == 0
        links = page.eval_on_selector_all("a[href]", "all => all.map(a => a.protocol)")
        assert set(links) == {"http:"}
        assert "owned" not in page.title()


def test_dots_without_webgl(page, made: Path):
    with dashboard(made) as base:
        page.goto(f"{base}#/crawl/cycling/monitor?2d")
        page.wait_for_selector(".plot[data-kind='2d']")
        drawn = page.evaluate(
            "() => { const c = document.querySelector('.plot canvas');"
            " return c.getContext('2d').getImageData(0, 0, c.width, c.height).data.some((v) => v > 0); }"
        )
        assert drawn
