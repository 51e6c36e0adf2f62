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
            ("queue", ".facts, .card"),
            ("results", "td .title"),
            ("sites", "td"),
            ("sql", "textarea"),
            ("alarms", ".alarm"),
            ("settings", "pre"),
        )
    },
}


@pytest.mark.parametrize(("scheme", "width"), [("light", 1300), ("dark", 390)])
def test_nothing_serious(folder, scheme, width):
    with TopicBook(folder / "topics.db") as book:
        fill(book)
    found: dict[str, list[str]] = {}
    with browser() as opened, dashboard(folder, book=folder / "topics.db") as base:
        # axe-core is injected, which the page's own policy forbids, as it should.
        context = opened.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme, bypass_csp=True)
        page = context.new_page()
        for name, (address, sign) in VIEWS.items():
            page.goto(base + address)
            page.wait_for_selector(sign)
            if name == "results":
                page.get_by_text("relevant pages only").wait_for()
                page.locator("td .title").first.click()
                page.wait_for_selector("dialog .text")
            page.wait_for_timeout(300)
            page.add_script_tag(path=str(AXE))
            result = page.evaluate("() => axe.run(document)")
            serious = [each for each in result["violations"] if each["impact"] in ("serious", "critical")]
            found[name] = [f"{each['id']}: {each['nodes'][0]['html'][:200]}" for each in serious]
            page.reload()
        context.close()
    assert {name: problems for name, problems in found.items() if problems} == {}
