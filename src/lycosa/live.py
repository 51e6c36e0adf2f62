"""Where the pages of a live crawl come from: the web, through libcurl, with names resolved and addresses guarded."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AsyncExitStack

from lycosa.config import Config
from lycosa.crawl.commit import Records
from lycosa.crawl.resume import CrawlState
from lycosa.fetch.dns import Resolver
from lycosa.fetch.fetcher import LiveFetcher
from lycosa.fetch.guard import Guard
from lycosa.fetch.http import Http
from lycosa.fetch.urls import Urls
from lycosa.lib.clock import SystemClock
from lycosa.model import Response


def live_fetcher(
    config: Config,
    urls: Urls,
    state: CrawlState,
    records: Records,
    archived: Callable[[int], Response | None],
    clock: SystemClock,
    stack: AsyncExitStack,
    seeds: Mapping[str, str],
) -> LiveFetcher:
    """`stack` closes it; `archived`, `seeds`: see `LiveFetcher`."""
    resolver = Resolver(overrides=config.network.resolve)
    stack.push_async_callback(resolver.close)
    http = Http(settings=config.http_settings(), guard=Guard(config.network.allow), resolver=resolver, now=clock.now)
    stack.push_async_callback(http.close)
    return LiveFetcher(
        http=http,
        resolver=resolver,
        urls=urls,
        robots=records.robots,
        settings=config.fetch,
        address_of=state.hosts.address_of,
        pause=config.politeness.delay,
        clock=clock,
        cache=records.cache,
        archived=archived,
        plain_http={url: plain for url, plain in seeds.items() if plain},
    )
