"""A spider in the style of Scrapy's tutorial: it follows every link. Its task comes as JSON in the first argument.

It prints a line of JSON, the URLs of the responses in the order in which they came.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from typing import Any

import scrapy
from scrapy import signals
from scrapy.crawler import CrawlerProcess
from scrapy.http import HtmlResponse
from scrapy.resolver import dnscache


class FollowLinks(scrapy.Spider):
    name = "follow-links"

    def parse(self, response: Any, **_: Any) -> Iterator[Any]:
        if isinstance(response, HtmlResponse):
            yield from response.follow_all(css="a", callback=self.parse)


def main() -> None:
    task = json.loads(sys.argv[1])
    for host, address in task["overrides"].items():
        dnscache[host] = address  # no name server knows these
    process = CrawlerProcess(
        {
            "USER_AGENT": "scrapy-bench",
            "ROBOTSTXT_OBEY": True,
            # Scrapy counts each host's robots.txt, too; the surplus is cut off below.
            "CLOSESPIDER_PAGECOUNT": task["requests"] + len(task["overrides"]),
            "TELNETCONSOLE_ENABLED": False,
            "RETRY_ENABLED": False,
            "DOWNLOAD_DELAY": 0,
            "CONCURRENT_REQUESTS_PER_DOMAIN": 8,
            "LOG_LEVEL": "ERROR",
            "LYCOSA_TOPIC": task["topic"],
            **task["settings"],
        }
    )
    came: list[str] = []

    def note(response: Any, request: Any, **_: Any) -> None:
        if not request.url.endswith("/robots.txt"):
            came.append(response.url)

    crawler = process.create_crawler(FollowLinks)
    crawler.signals.connect(note, signals.response_received)
    process.crawl(crawler, start_urls=task["seeds"])
    process.start()
    print(json.dumps(came[: task["requests"]]))


if __name__ == "__main__":
    main()
