"""Scrapy's scheduler, with the hunter's order: SCHEDULER = "lycosa.scrapy.Scheduler".

What Scrapy's own does, it does by the same settings: DUPEFILTER_CLASS, JOBDIR, SCHEDULER_DISK_QUEUE, SCHEDULER_DEBUG,
priorities, `dont_filter`, the figures under `scheduler/`. What differs is the order among requests of one priority, and
that a request is chosen as late as possible: none is handed out whose downloader slot is full.
"""

from __future__ import annotations

import heapq
import logging
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any, Self
from weakref import WeakKeyDictionary

from scrapy import Request, Spider
from scrapy.core.downloader import Downloader
from scrapy.core.scheduler import BaseScheduler
from scrapy.crawler import Crawler
from scrapy.settings import BaseSettings
from scrapy.utils.job import job_dir
from scrapy.utils.misc import build_from_crawler, load_object

from lycosa.config import Config, build
from lycosa.errors import ConfigError
from lycosa.scrapy.addon import MIDDLEWARE, ORDER
from lycosa.scrapy.hunt import Hunt, LinkStage

log = logging.getLogger(__name__)

SOURCE = "lycosa_source"
"""Key in the meta of a request: the number of the link whose page led to it."""
_SCHEDULERS: WeakKeyDictionary[Crawler, Scheduler] = WeakKeyDictionary()


def scheduler_of(crawler: Crawler) -> Scheduler | None:
    """The scheduler of a crawler; None if it has another one."""
    return _SCHEDULERS.get(crawler)


class Scheduler(BaseScheduler):
    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler)

    def __init__(self, crawler: Crawler) -> None:
        from lycosa.scrapy.middleware import JudgeMiddleware

        settings = crawler.settings
        middlewares = settings.getwithbase("SPIDER_MIDDLEWARES")
        if not any(load_object(each) is JudgeMiddleware for each, order in middlewares.items() if order is not None):
            raise ConfigError(
                f"lycosa.scrapy.Scheduler has nobody to tell it of pages: SPIDER_MIDDLEWARES = {{'{MIDDLEWARE}': "
                f"{ORDER}}} is missing; or leave both to ADDONS = {{'lycosa.scrapy.Addon': 500}}"
            )
        self._crawler = crawler
        self._config = config_of(settings)
        self.hunt = Hunt(self._config)
        self._dupefilter: Any = build_from_crawler(load_object(settings["DUPEFILTER_CLASS"]), crawler)
        self._waiting: dict[int, Request] = {}
        """By link."""
        self._repeats: list[tuple[int, int, Request]] = []
        """A heap of requests for what waits or was fetched already, which the spider wants nevertheless: by priority,
        and in the order in which they came."""
        self._order = count()
        self._job: Any = None
        _SCHEDULERS[crawler] = self

    def open(self, spider: Spider) -> Any:  # noqa: ARG002 - the crawler has it
        settings, directory = self._crawler.settings, job_dir(self._crawler.settings)
        if directory:
            from lycosa.scrapy.job import Job

            queue = load_object(settings["SCHEDULER_DISK_QUEUE"])
            chosen = {name: getattr(self._config, name) for name in ("topic", "constants")}
            chosen["judge"] = self._config.judge.kind
            self._job = Job(Path(directory), chosen, lambda path: build_from_crawler(queue, self._crawler, path))
            self._resume()
        return self._dupefilter.open()

    def _resume(self) -> None:
        knowledge = self._job.knowledge()
        if knowledge is None:
            return
        self.hunt.load(knowledge)
        for number, request in self._job.requests():
            if number:
                self._wait(number, request)
            else:
                self._repeat(request)
        log.info("Resuming crawl (%d requests scheduled, %d pages known)", len(self), self.hunt.pages)

    def close(self, reason: str) -> Any:
        if self._job is not None:
            left_out = self._job.save(self.hunt.take(), self._requests())
            for request in left_out[: 1 if self._crawler.settings.getbool("SCHEDULER_DEBUG") else 0]:
                log.warning("Unable to serialize request: %s - its callback must be a method of the spider", request)
            if left_out:
                self._count("scheduler/unserializable", len(left_out))
        return self._dupefilter.close(reason)

    def _requests(self) -> Iterator[tuple[int, Request]]:
        yield from self._waiting.items()
        for _, _, request in sorted(self._repeats, key=lambda each: each[:2]):
            yield 0, request

    def __len__(self) -> int:
        return len(self._waiting) + len(self._repeats)

    def has_pending_requests(self) -> bool:
        return len(self) > 0

    def enqueue_request(self, request: Request) -> bool:
        if not request.dont_filter and self._dupefilter.request_seen(request):
            self._dupefilter.log(request, self._crawler.spider)
            return False
        key = self.key(request)
        link = self.hunt.number(key)
        if not link:
            link = self._add(key, request)
        if self.hunt.stage(link) in (LinkStage.ADDED, LinkStage.UNDER_WAY):
            self._wait(link, request)
        else:
            self._repeat(request)
        self._count("scheduler/enqueued")
        self._count("scheduler/enqueued/memory")
        return True

    def _add(self, key: str, request: Request) -> int:
        url, host = self.hunt.canonical(request.url), self.host(request)
        redirected = request.meta.get("redirect_urls")
        if redirected and (source := self.hunt.number(self.hunt.canonical(str(redirected[-1])))):
            return self.hunt.add(key, url, host, source=source, is_redirect=True)
        source = request.meta.get(SOURCE, 0)
        known = isinstance(source, int) and self.hunt.is_known(source)
        return self.hunt.add(key, url, host, source=source if known else 0)

    def _wait(self, link: int, request: Request) -> None:
        tries = request.meta.get("retry_times", 0)
        self.hunt.queue(link, priority=request.priority, tries=tries if isinstance(tries, int) else 0)
        self._waiting[link] = request

    def _repeat(self, request: Request) -> None:
        heapq.heappush(self._repeats, (-request.priority, next(self._order), request))

    def next_request(self) -> Request | None:
        request = self._next()
        if request is not None:
            self._count("scheduler/dequeued")
            self._count("scheduler/dequeued/memory")
        return request

    def _next(self) -> Request | None:
        best = self.hunt.best_priority
        if self._repeats and (best is None or -self._repeats[0][0] >= best):
            return heapq.heappop(self._repeats)[2]
        link = self.hunt.next(self._busy()) if best is not None else None
        return self._waiting.pop(link) if link is not None else None

    def _busy(self) -> list[str]:
        """Downloader slots that have as many requests as they take at a time."""
        slots = self._downloader.slots
        return [key for key, slot in slots.items() if len(slot.active) >= slot.concurrency]

    @property
    def _downloader(self) -> Downloader:
        assert self._crawler.engine is not None
        return self._crawler.engine.downloader

    # What the middleware asks for.

    def key(self, request: Request) -> str:
        """What tells a request from others: its URL, and a fingerprint if there is more to it."""
        url = self.hunt.canonical(request.url)
        if request.method == "GET" and not request.body:
            return url
        fingerprinter = self._crawler.request_fingerprinter
        assert fingerprinter is not None
        return f"{url} {fingerprinter.fingerprint(request).hex()}"

    def host(self, request: Request) -> str:
        """The downloader slot of a request."""
        return self._downloader.get_slot_key(request)

    def tell_stats(self) -> None:
        stats = self._crawler.stats
        assert stats is not None
        stats.set_value("lycosa/pages", self.hunt.pages)
        stats.set_value("lycosa/relevant", self.hunt.relevant)

    def _count(self, name: str, by: int = 1) -> None:
        assert self._crawler.stats is not None
        self._crawler.stats.inc_value(name, by)


def config_of(settings: BaseSettings) -> Config:
    """Lycosa's own settings: LYCOSA_TOPIC, LYCOSA_JUDGE, LYCOSA_THRESHOLD, LYCOSA_LANGUAGES, LYCOSA_CONSTANTS."""
    judge: dict[str, Any] = {}
    if settings.get("LYCOSA_JUDGE"):
        judge["kind"] = settings["LYCOSA_JUDGE"]
    if settings.get("LYCOSA_THRESHOLD"):
        judge["threshold"] = settings.getfloat("LYCOSA_THRESHOLD")
    given: dict[str, Any] = {
        "topic": str(settings.get("LYCOSA_TOPIC") or ""),
        "judge": judge,
        "constants": settings.getdict("LYCOSA_CONSTANTS"),
        "page": {"only_languages": settings.getlist("LYCOSA_LANGUAGES")},
    }
    return build(("Scrapy's settings", given))
