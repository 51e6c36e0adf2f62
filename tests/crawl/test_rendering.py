"""Pages that come empty, with a browser that is a function."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from lycosa.crawl.reader_pool import InlineReader
from lycosa.crawl.reading import Reading
from lycosa.crawl.rendering import BrowserAdvice, RenderingReader
from lycosa.errors import ConfigError
from lycosa.fetch.browser import BrowserSettings, Unrendered, chromium, has_sandbox
from lycosa.fetch.decode import DecodeLimits
from lycosa.fetch.urls import UrlRules, Urls
from lycosa.judges.keywords import KeywordJudge
from lycosa.model import Fetched, Lease, Rendering, Response, Visit

SHELL = '<title>App</title><body><div id="root"></div><script src="/main.js"></script>'
DOM = b"<title>App</title><p>cycling tours <a href='/deep'>deep</a>"


class Reader:
    """A reader with the browser given."""

    def __init__(self, found: Rendering | Unrendered | None) -> None:
        self.rendered: list[str] = []

        async def render(response: Response, document: bytes) -> Rendering | Unrendered:
            assert document == SHELL.encode()
            self.rendered.append(response.url)
            assert found is not None
            return found

        inner = InlineReader(Reading(urls=Urls(UrlRules()), judge=KeywordJudge("cycling")))
        self.reader = RenderingReader(inner, render=render if found else None, delay=2.0, limits=DecodeLimits())

    def read(self, body: str, url: str = "http://a.test/") -> Visit:
        lease = Lease(1, url, 1, 1.0, 0, 0, 0)
        return asyncio.run(self.reader.read(Fetched.page(lease, body)))


def test_a_page_with_text_is_not_rendered() -> None:
    reader = Reader(Rendering(DOM))
    visit = reader.read("<p>" + "cycling tours and bicycle routes " * 20 + "<script src='/x'></script>")
    assert visit.fetched.rendering is None
    assert reader.rendered == []


def test_an_empty_one_is_read_as_it_is_after_its_scripts_ran() -> None:
    asked = [Response(f"http://{host}/data", 200, (), b"") for host in ("a.test", "a.test", "b.test")]
    reader = Reader(Rendering(DOM, tuple(asked), 1.0))
    visit = reader.read(SHELL)
    assert visit.page is not None
    assert [link.url for link in visit.page.links] == ["http://a.test/deep"]
    assert visit.judgement is not None
    assert visit.judgement.is_relevant
    assert visit.fetched.response is not None
    assert visit.fetched.response.body == SHELL.encode(), "the archive gets the answer as it came"
    assert visit.fetched.rendering is not None
    assert visit.fetched.seconds == 3 * 2.0, "the host rests as if each request had been a fetch"


def test_what_cannot_be_rendered_is_kept_as_it_was_fetched_with_the_reason() -> None:
    visit = Reader(Unrendered("browser hangs", "not done after 20 s")).read(SHELL)
    assert visit.page is not None
    assert visit.outcome.reason == "http 200"
    assert visit.outcome.detail == "not rendered: browser hangs not done after 20 s"


def test_without_a_browser_each_host_is_named_once_and_all_are_counted_at_the_end() -> None:
    said: list[str] = []

    class Ledger:
        def note(self, kind: str, message: str) -> None:
            said.append(message)

    reader, ledger = Reader(None), Ledger()
    advice = BrowserAdvice(reader.reader, ledger)  # type: ignore[arg-type]
    for number in range(4):
        reader.read(SHELL, f"http://a.test/{number}")
        advice.look()
    reader.read(SHELL, "http://b.test/")
    advice.look()
    expected: list[Any] = ["3 pages of a.test need a browser: --browser"]
    assert said == expected
    advice.look(is_last=True)
    assert said == [
        *expected,
        "4 pages of a.test need a browser: --browser",
        "1 page of b.test needs a browser: --browser",
    ]


def test_a_browser_that_is_not_there_is_said_before_anything_is_fetched() -> None:
    pytest.importorskip("playwright", reason="playwright is not installed: pip install 'lycosa[browser]'")
    with pytest.raises(ConfigError, match=r"'/no/such/chromium', which is not there; --browser needs a chromium"):
        chromium(BrowserSettings(is_on=True, executable="/no/such/chromium"))


@pytest.mark.parametrize(("user", "expected"), [(0, False), (1000, True)])
def test_the_sandbox_is_kept_for_all_but_root(user: int, expected: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.geteuid", lambda: user)
    assert has_sandbox() is expected
