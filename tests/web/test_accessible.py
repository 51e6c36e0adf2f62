"""axe-core finds nothing serious in any view, light or dark, wide or narrow. A package for tests brings axe-core."""

from __future__ import annotations

from importlib.resources import files

import pytest

from lycosa.topics.book import TopicBook

from .browser import browser, dashboard, why_no_browser
from .test_topics_api import fill

AXE = files("axe_playwright_python") / "axe.min.js"
pytestmark = pytest.mark.skipif(bool(why_no_browser()), reason=why_no_browser())
VIEWS = {
    "crawls": ("#/", ".crawl-item"),
    "new": ("#/new", ".form"),
    "topics": ("#/topics", "tr.example"),
    "lab": ("#/lab", ".empty"),
    **{
        name: (f"#/crawl/cycling/{name}", sign)
        for name, sign in (
            ("monitor", ".plot[data-drawn]"),
            ("review", ".question h2"),
            ("queue", ".card"),
            ("results", "td .title"),
            ("sites", ".matrix"),
            ("sql", "textarea"),
            ("alarms", ".alarm"),
            ("settings", "pre"),
        )
    },
}


LOOKS = (("light", 1300), ("dark", 390))
SERIOUS = """
async () => (await axe.run(document, {resultTypes: ["violations"]})).violations
    .filter((each) => ["serious", "critical"].includes(each.impact))
    .map((each) => `${each.id}: ${each.nodes[0].html.slice(0, 200)}`)
"""


def test_nothing_serious(folder):
    with TopicBook(folder / "topics.db") as book:
        fill(book)
    found: dict[str, list[str]] = {}
    with browser() as opened, dashboard(folder, book=folder / "topics.db") as base:
        for scheme, width in LOOKS:
            # axe-core is injected, which the page's own policy forbids, as it should.
            context = opened.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme, bypass_csp=True)
            page = context.new_page()
            page.set_default_timeout(60_000)
            page.goto(base)
            page.add_script_tag(path=str(AXE))
            for name, (address, sign) in VIEWS.items():
                page.goto(base + address)  # the same document: only its hash is another one
                page.wait_for_selector(f"main {sign}")
                found[f"{name}, {scheme}"] = page.evaluate(SERIOUS)
                if name == "results":
                    page.locator("td .title").first.click()
                    page.wait_for_selector("dialog .text")
                    found[f"card, {scheme}"] = page.evaluate(SERIOUS)
                    page.keyboard.press("Escape")
            context.close()
    assert {name: problems for name, problems in found.items() if problems} == {}
