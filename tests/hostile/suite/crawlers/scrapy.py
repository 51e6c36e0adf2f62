"""Scrapy with its default settings, but for those that the task gives, and a spider that follows every link."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import scrapy
from scrapy.crawler import CrawlerProcess
from scrapy.http import HtmlResponse
from scrapy.linkextractors import LinkExtractor
from scrapy.resolver import dnscache


class FollowAll(scrapy.Spider):  # type: ignore[misc, unused-ignore]
    name = "follow-all"

    def __init__(self, *, task: dict[str, Any], **settings: Any) -> None:
        super().__init__(**settings)
        self.start_urls = task["seeds"]
        self._output = Path(task["output"]).open("w")  # noqa: SIM115 - open as long as the spider is at work
        self._links = LinkExtractor()

    def parse(self, response: Any, **_: Any) -> Iterator[Any]:
        if not isinstance(response, HtmlResponse):
            return
        kept = {
            "url": response.url,
            "title": response.css("title::text").get(""),
            "text": " ".join(response.xpath("//body//text()").getall()),
        }
        self._output.write(json.dumps(kept) + "\n")
        self._output.flush()
        for link in self._links.extract_links(response):
            yield response.follow(link, self.parse)


def main() -> None:
    task = json.loads(Path(sys.argv[1]).read_text())
    for host, address in task["resolve"].items():
        dnscache[host] = address
    process = CrawlerProcess(
        {
            "USER_AGENT": "scrapysuite (+https://example.org/suite)",
            "ROBOTSTXT_OBEY": True,
            "ROBOTSTXT_USER_AGENT": "scrapysuite",
            "DOWNLOAD_DELAY": task["delay"],
            "AUTOTHROTTLE_ENABLED": False,
            "DOWNLOAD_TIMEOUT": task["timeout"],
            "CLOSESPIDER_TIMEOUT": task["seconds"],
            "CLOSESPIDER_PAGECOUNT": task["pages"],
            "CONCURRENT_REQUESTS": 64,
            "TELNETCONSOLE_ENABLED": False,
            "LOG_LEVEL": "CRITICAL",
        }
    )
    process.crawl(FollowAll, task=task)
    process.start()


if __name__ == "__main__":
    main()
