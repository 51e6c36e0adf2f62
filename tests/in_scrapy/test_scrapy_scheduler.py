"""The scheduler by hand, without a network: order and settings. test_scrapy_spider runs whole spiders."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

scrapy = pytest.importorskip("scrapy", reason="Scrapy is not installed: pip install 'lycosa[scrapy]'")

from scrapy.http import HtmlResponse, Request  # noqa: E402
from scrapy.utils.test import get_crawler  # noqa: E402

from lycosa.errors import ConfigError, InputError  # noqa: E402
from lycosa.scrapy import JudgeMiddleware, Scheduler  # noqa: E402

TOPIC = "recreational cycling"
SETTINGS = {"ADDONS": {"lycosa.scrapy.Addon": 500}, "LYCOSA_TOPIC": TOPIC}
GOOD = "cycling tours for recreational cyclists: bicycle routes, cycling maps and bicycle repair " * 5
BAD = "stamps and coins are collected in albums by people who like small paper and metal things " * 5


class Rig:
    """A scheduler and its middleware, driven by hand."""

    def __init__(self, **settings: Any) -> None:
        self.crawler = get_crawler(scrapy.Spider, {**SETTINGS, **settings})
        self.crawler.spider = self.crawler._create_spider("test")
        self.crawler._apply_settings()
        self.slots: dict[str, SimpleNamespace] = {}
        downloader = SimpleNamespace(slots=self.slots, get_slot_key=lambda request: request.url.split("/")[2])
        self.crawler.engine = SimpleNamespace(downloader=downloader)
        self.scheduler = Scheduler.from_crawler(self.crawler)
        self.scheduler.open(self.crawler.spider)
        self.middleware = JudgeMiddleware.from_crawler(self.crawler)

    def ask(self, url: str, **more: Any) -> bool:
        return self.scheduler.enqueue_request(Request(url, **more))

    def next(self) -> str:
        request = self.scheduler.next_request()
        return request.url if request is not None else ""

    def answer(self, url: str, text: str, *links: str, **more: Any) -> HtmlResponse:
        """The spider gets a page with links, and follows them all."""
        anchors = " ".join(f'<a href="{link}">{link.rpartition("/")[2]}</a>' for link in links)
        body = f"<title>{text[:30]}</title><p>{text}</p>{anchors}".encode()
        request = more.pop("request", None) or Request(url)
        response = HtmlResponse(url, body=body, request=request, headers={"Content-Type": "text/html"}, **more)
        self.middleware.process_spider_input(response)
        follow = (Request(link) for link in links)
        for request in self.middleware.process_spider_output(response, follow):
            self.scheduler.enqueue_request(request)
        return response

    def all(self) -> Iterator[str]:
        while url := self.next():
            yield url

    def stat(self, name: str) -> Any:
        return self.crawler.stats.get_value(name)


def test_links_of_relevant_pages_come_first() -> None:
    rig = Rig()
    for url in ("http://a.test/", "http://b.test/"):
        rig.ask(url, dont_filter=True)
    assert {rig.next(), rig.next()} == {"http://a.test/", "http://b.test/"}
    rig.answer("http://b.test/", BAD, *(f"http://b.test/stamps{n}" for n in range(5)))
    response = rig.answer("http://a.test/", GOOD, *(f"http://a.test/cycling{n}" for n in range(5)))
    assert response.meta["lycosa_is_relevant"]
    assert response.meta["lycosa_relevance"] > 0.5
    order = [url.split("/")[2] for url in rig.all()]
    assert order == ["a.test"] * 5 + ["b.test"] * 5
    assert (rig.stat("lycosa/pages"), rig.stat("lycosa/relevant")) == (2, 1)
    assert rig.stat("scheduler/enqueued") == rig.stat("scheduler/dequeued") == 12


def test_a_request_that_stands_on_no_page_is_ordered_too() -> None:
    rig = Rig()
    rig.ask("http://a.test/")
    rig.next()
    response = HtmlResponse("http://a.test/", body=GOOD.encode(), request=Request("http://a.test/"))
    rig.middleware.process_spider_input(response)
    posts = [Request("http://a.test/api", method="POST", body=str(n)) for n in range(2)]
    for request in rig.middleware.process_spider_output(response, posts):
        assert rig.scheduler.enqueue_request(request)
    assert list(rig.all()) == ["http://a.test/api"] * 2


def test_priorities_come_before_scores() -> None:
    rig = Rig()
    rig.ask("http://a.test/")
    rig.next()
    rig.answer("http://a.test/", GOOD, "http://a.test/cycling")
    rig.ask("http://a.test/first", priority=2, meta={"lycosa_source": 1})
    rig.ask("http://a.test/last", priority=-1, meta={"lycosa_source": 1})
    rig.ask("http://a.test/second", priority=1, meta={"lycosa_source": 1})
    assert [url.rpartition("/")[2] for url in rig.all()] == ["first", "second", "cycling", "last"]


def test_duplicates_are_left_out_by_scrapys_filter_unless_the_spider_insists() -> None:
    rig = Rig()
    assert rig.ask("http://a.test/")
    assert not rig.ask("http://a.test/")
    assert rig.ask("http://a.test/", dont_filter=True)
    assert list(rig.all()) == ["http://a.test/"] * 2
    assert rig.stat("dupefilter/filtered") == 1
    assert not rig.scheduler.has_pending_requests()


def test_another_filter_may_be_set() -> None:
    rig = Rig(DUPEFILTER_CLASS="scrapy.dupefilters.BaseDupeFilter")
    assert rig.ask("http://a.test/")
    assert rig.ask("http://a.test/")


def test_a_retry_waits_behind_what_was_never_tried() -> None:
    rig = Rig(RETRY_PRIORITY_ADJUST=0)
    rig.ask("http://a.test/")
    rig.ask("http://a.test/other")
    assert rig.next() == "http://a.test/"
    rig.ask("http://a.test/", dont_filter=True, meta={"retry_times": 1})
    assert list(rig.all()) == ["http://a.test/other", "http://a.test/"]


def test_the_target_of_a_redirect_is_worth_what_its_source_was() -> None:
    rig = Rig()
    rig.ask("http://a.test/")
    rig.next()
    rig.answer("http://a.test/", BAD, "http://a.test/moved")
    rig.ask("http://b.test/")  # a seed: comes before all links that were found
    assert rig.next() == "http://b.test/"
    assert rig.next() == "http://a.test/moved"
    hunt = rig.scheduler.hunt
    meta = {"redirect_urls": ["http://a.test/moved"], "lycosa_source": 1}
    rig.ask("http://a.test/target", meta=meta)
    moved, target = hunt.number("http://a.test/moved"), hunt.number("http://a.test/target")
    assert hunt._scores[target] == hunt._scores[moved]
    assert hunt._distance[target] == hunt._distance[moved] == 1


def test_meta_that_a_spider_copies_from_response_to_request_does_no_harm() -> None:
    rig = Rig()
    rig.ask("http://a.test/")
    rig.next()
    first = rig.answer("http://a.test/", GOOD, "http://a.test/cycling")
    rig.next()
    second = HtmlResponse("http://a.test/cycling", body=GOOD.encode(), request=Request("http://a.test/cycling"))
    rig.middleware.process_spider_input(second)
    copied = [Request("http://a.test/deep", meta={**first.meta, "lycosa_source": "x"})]
    (request,) = rig.middleware.process_spider_output(second, copied)
    rig.scheduler.enqueue_request(request)
    hunt = rig.scheduler.hunt
    assert hunt._distance[hunt.number("http://a.test/deep")] == 2


def test_a_full_slot_gets_no_more_requests() -> None:
    rig = Rig()
    rig.ask("http://a.test/")
    rig.ask("http://b.test/")
    rig.slots["a.test"] = slot = SimpleNamespace(active={1, 2}, concurrency=2)
    rig.ask("http://a.test/2")
    rig.ask("http://b.test/2", priority=-1)
    assert list(rig.all()) == ["http://b.test/", "http://b.test/2"]
    assert rig.scheduler.has_pending_requests()
    slot.concurrency = 3
    assert list(rig.all()) == ["http://a.test/", "http://a.test/2"]


def test_a_page_with_an_error_in_its_callback_is_told_all_the_same() -> None:
    rig = Rig()
    rig.ask("http://a.test/")
    rig.next()
    response = HtmlResponse("http://a.test/", body=GOOD.encode(), request=Request("http://a.test/"))
    rig.middleware.process_spider_input(response)

    def callback() -> Iterator[Request]:
        yield Request("http://a.test/cycling")
        raise RuntimeError("a fault in the spider")

    with pytest.raises(RuntimeError, match="fault in the spider"):
        list(rig.middleware.process_spider_output(response, callback()))
    assert rig.stat("lycosa/pages") == 1


def test_errors_and_binary_answers_are_not_judged() -> None:
    rig = Rig()
    rig.ask("http://a.test/")
    rig.next()
    rig.answer("http://a.test/", GOOD, "http://a.test/after", status=404)
    assert rig.stat("lycosa/pages") is None
    assert list(rig.all()) == ["http://a.test/after"]


def test_a_job_goes_on_with_what_it_knows(tmp_path: Path) -> None:
    rig = Rig(JOBDIR=str(tmp_path))
    for url in ("http://a.test/", "http://b.test/"):
        rig.ask(url)
        rig.next()
    rig.answer("http://b.test/", BAD, *(f"http://b.test/stamps{n}" for n in range(3)))
    rig.answer("http://a.test/", GOOD, *(f"http://a.test/cycling{n}" for n in range(3)))
    rig.ask("http://a.test/", dont_filter=True, priority=-5)
    rig.scheduler.enqueue_request(Request("http://a.test/local", callback=lambda response: None, priority=9))
    expected = [url for url in Rig.all(rig) if not url.endswith("local")]
    rig = Rig(JOBDIR=str(tmp_path / "again"))
    for url in ("http://a.test/", "http://b.test/"):
        rig.ask(url)
        rig.next()
    rig.answer("http://b.test/", BAD, *(f"http://b.test/stamps{n}" for n in range(3)))
    rig.answer("http://a.test/", GOOD, *(f"http://a.test/cycling{n}" for n in range(3)))
    rig.ask("http://a.test/", dont_filter=True, priority=-5)
    rig.scheduler.enqueue_request(Request("http://a.test/local", callback=lambda response: None, priority=9))
    rig.scheduler.close("shutdown")
    assert rig.stat("scheduler/unserializable") == 1
    for _ in range(2):  # what was read is still there until the job is saved again
        resumed = Rig(JOBDIR=str(tmp_path / "again"))
        assert len(resumed.scheduler) == 7
    assert resumed.scheduler.hunt.pages == 2
    assert not resumed.ask("http://a.test/cycling0"), "the filter knows it from the last run"
    assert list(resumed.all()) == expected


def test_a_job_on_another_topic_or_damaged_is_refused(tmp_path: Path) -> None:
    rig = Rig(JOBDIR=str(tmp_path))
    rig.ask("http://a.test/")
    rig.scheduler.close("shutdown")
    with pytest.raises(InputError, match="begun with topic 'recreational cycling', and is to go on with 'stamps'"):
        Rig(JOBDIR=str(tmp_path), LYCOSA_TOPIC="stamps")
    (tmp_path / "lycosa" / "knowledge").write_bytes(b"")
    with pytest.raises(InputError, match="cannot be resumed"):
        Rig(JOBDIR=str(tmp_path))


def test_without_the_middleware_nothing_is_learned_and_that_is_said() -> None:
    crawler = get_crawler(scrapy.Spider, {"LYCOSA_TOPIC": TOPIC})
    with pytest.raises(ConfigError, match=r"SPIDER_MIDDLEWARES = .*JudgeMiddleware.* is missing"):
        Scheduler.from_crawler(crawler)
