"""Reads and judges the responses that a spider gets, and tells the scheduler which requests they led to.

A callback finds `response.meta["lycosa_relevance"]`, from 0 to 1, and `response.meta["lycosa_is_relevant"]`. The judge
learns during the crawl: what it says of a page is what is known when the page comes.
"""

from __future__ import annotations

from collections.abc import AsyncIterable, AsyncIterator, Iterable, Iterator
from typing import Any, NamedTuple, Self
from weakref import WeakKeyDictionary

from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.http import Response, TextResponse

from lycosa.model import Judgement, Page
from lycosa.model import Response as Answer
from lycosa.scrapy.hunt import WantedRequest
from lycosa.scrapy.scheduler import SOURCE, Scheduler, scheduler_of

RELEVANCE, IS_RELEVANT = "lycosa_relevance", "lycosa_is_relevant"
HEADERS = (b"Content-Type", b"X-Robots-Tag")
LONGEST_ANCHOR = 200


class _Read(NamedTuple):
    link: int
    page: Page
    judgement: Judgement


class JudgeMiddleware:
    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler)

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self._pages: WeakKeyDictionary[Response, _Read] = WeakKeyDictionary()

    def process_spider_input(self, response: Response) -> None:
        scheduler = scheduler_of(self._crawler)
        request = response.request
        if scheduler is None or request is None or not isinstance(response, TextResponse):
            return
        link = _link(scheduler, request)
        if not link or not 200 <= response.status < 300:
            return
        read = scheduler.hunt.read(_answer(response), scheduler.host(request))
        if read.page is None or read.judgement is None:
            return
        self._pages[response] = _Read(link, read.page, read.judgement)
        response.meta[RELEVANCE] = read.judgement.relevance
        response.meta[IS_RELEVANT] = read.judgement.is_relevant

    def process_spider_output(self, response: Response, result: Iterable[Any]) -> Iterator[Any]:
        wanted: list[WantedRequest] = []
        try:
            for each in result:
                yield self._noted(each, response, wanted)
        finally:
            self._tell(response, wanted)

    async def process_spider_output_async(self, response: Response, result: AsyncIterable[Any]) -> AsyncIterator[Any]:
        wanted: list[WantedRequest] = []
        try:
            async for each in result:
                yield self._noted(each, response, wanted)
        finally:
            self._tell(response, wanted)

    def _noted(self, each: Any, response: Response, wanted: list[WantedRequest]) -> Any:
        """Requests are written down, and say from which page they come."""
        scheduler = scheduler_of(self._crawler)
        if scheduler is not None and isinstance(each, Request):
            read = self._pages.get(response)
            source = read.link if read else _link(scheduler, response.request)
            each.meta[SOURCE] = source
            anchor = each.meta.get("link_text", "")  # CrawlSpider's
            shown = anchor[:LONGEST_ANCHOR] if isinstance(anchor, str) else ""
            wanted.append(WantedRequest(scheduler.key(each), scheduler.hunt.canonical(each.url), shown))
        return each

    def _tell(self, response: Response, wanted: list[WantedRequest]) -> None:
        scheduler, read = scheduler_of(self._crawler), self._pages.pop(response, None)
        if scheduler is not None and read is not None:
            scheduler.hunt.tell(read.link, read.page, read.judgement, wanted)
            scheduler.tell_stats()


def _link(scheduler: Scheduler, request: Request | None) -> int:
    """The number of the link that a response is of; 0 if it did not come through the scheduler."""
    return scheduler.hunt.number(scheduler.key(request)) if request is not None else 0


def _answer(response: TextResponse) -> Answer:
    """Scrapy has removed the content encoding already."""
    headers = [
        (name.decode().lower(), value.decode("latin-1")) for name in HEADERS for value in response.headers.getlist(name)
    ]
    return Answer(response.url, response.status, headers, response.body)
