"""The peer: Scrapy as a plain user would set it up for the same task, in a process of its own.

It follows every link of every page to the hosts of the site, obeys robots.txt, stores nothing and judges nothing.
What costs time and is not needed is off: telnet console, cookies, retries, logging. Arguments come as JSON in the
first argument; the answer is a line of JSON.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from typing import Any

import scrapy
from scrapy.crawler import CrawlerProcess
from scrapy.http import HtmlResponse
from scrapy.linkextractors import LinkExtractor
from scrapy.resolver import dnscache


class FollowAll(scrapy.Spider):  # type: ignore[misc, unused-ignore]
    name = "follow-all"

    def __init__(self, *, seeds: list[str], domain: str, **settings: Any) -> None:
        super().__init__(**settings)
        self.start_urls = seeds
        # The domain carries the port: a link to the same name without it leads out of the site.
        self._links = LinkExtractor(allow_domains=[domain])
        self.pages = 0

    def parse(self, response: Any, **_: Any) -> Iterator[Any]:
        if not isinstance(response, HtmlResponse):
            return
        self.pages += 1
        for link in self._links.extract_links(response):
            yield scrapy.Request(link.url)


def main() -> None:
    task = json.loads(sys.argv[1])
    for host in task["hosts"]:
        dnscache[host] = task["address"]  # no name server knows the site's hosts
    process = CrawlerProcess(
        {
            "USER_AGENT": "scrapy-peer",
            "ROBOTSTXT_OBEY": True,
            "CONCURRENT_REQUESTS": task["concurrency"],
            "CONCURRENT_REQUESTS_PER_DOMAIN": task["concurrency"],
            "DOWNLOAD_DELAY": 0,
            "AUTOTHROTTLE_ENABLED": False,
            "COOKIES_ENABLED": False,
            "RETRY_ENABLED": False,
            "TELNETCONSOLE_ENABLED": False,
            "LOG_LEVEL": "ERROR",
        }
    )
    crawler = process.create_crawler(FollowAll)
    process.crawl(crawler, seeds=task["seeds"], domain=task["domain"])
    process.start()
    spider = crawler.spider
    print(json.dumps({"pages": spider.pages if isinstance(spider, FollowAll) else 0}))


if __name__ == "__main__":
    main()
