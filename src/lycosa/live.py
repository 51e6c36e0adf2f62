"""Where the pages of a live crawl come from: the web, through libcurl, with names resolved and addresses guarded.

Search engines are asked through a client of the same kind, with a guard of its own: an engine on this machine may be
allowed without allowing pages there.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from pathlib import Path

import numpy as np

from lycosa.config import Config
from lycosa.crawl.address_turns import AddressTurns
from lycosa.crawl.commit import CrawlLedger
from lycosa.crawl.consequences import Records
from lycosa.crawl.found_pages import SEARCH, LiveBoard, LiveSites, engine_clocks
from lycosa.crawl.resume import CrawlState
from lycosa.crawl.searching import MetaSearch, Searching
from lycosa.crawl.shard import SharedStore
from lycosa.crawl.visits import Fetcher, LiveVisitor
from lycosa.fetch.access import Access
from lycosa.fetch.browser import Browser
from lycosa.fetch.decode import DecodeLimits, decode
from lycosa.fetch.dns import Resolver
from lycosa.fetch.fetcher import LiveFetcher
from lycosa.fetch.guard import Guard
from lycosa.fetch.headers import retry_after
from lycosa.fetch.http import Http
from lycosa.fetch.requisites import KINDS, LOOKS, KeptAnswers, Requisites, Turns
from lycosa.fetch.transfer import TransferFailure
from lycosa.fetch.urls import Urls
from lycosa.judges.background import background_shares
from lycosa.judges.protocol import Judge, LearnedTopic
from lycosa.lib.clock import SystemClock
from lycosa.lib.text import split_words
from lycosa.lib.wordhash import number_of
from lycosa.model import Response
from lycosa.results.search_engine import CrawlEngine
from lycosa.seeds.metasearch.engine import MAX_BYTES, TIMEOUT, Engine, Get, Got, shortened
from lycosa.seeds.metasearch.json_apis import JsonApi
from lycosa.seeds.metasearch.open_search import OpenSearch
from lycosa.seeds.metasearch.panel import FINE, Panel
from lycosa.seeds.metasearch.queries import Weight
from lycosa.seeds.metasearch.settings import EngineSettings
from lycosa.seeds.metasearch.site_lists import CdxIndex, RelevantSites, Sitemaps

RAREST = 1e-5
"""Share of documents with a word that the shipped table does not know."""
UNCONVINCING = 0.3
"""Weight in a query of a word that speaks against the topic, or is unknown to the judge."""


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
    access = Access(config.access, now=clock.now())
    resolver = Resolver(overrides=config.network.resolve, look_up=access.names_left_to_proxy())
    stack.push_async_callback(resolver.close)
    guard = Guard(config.network.allow)
    http = Http(settings=config.http_settings(), guard=guard, resolver=resolver, now=clock.now, access=access)
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
        access=access,
    )


def address_turns(
    fetcher: Fetcher, store: SharedStore, state: CrawlState, config: Config, clock: SystemClock
) -> AddressTurns:
    """The fetcher of a shard: other shards may have hosts at the same addresses."""
    return AddressTurns(
        fetcher,
        store,
        hosts=state.hosts,
        politeness=config.politeness,
        deadline=config.http.deadline,
        clock=clock,
    )


def live_browser(config: Config, fetcher: LiveFetcher, clock: SystemClock, stack: AsyncExitStack) -> Browser:
    """Renders pages; what they ask for comes through the crawl's own fetcher. `stack` closes it."""
    settings = config.browser
    kinds, kept = (KINDS | LOOKS, KeptAnswers()) if settings.requisites else (KINDS, None)
    turns = Turns()

    def requests(_url: str) -> Requisites:
        return Requisites(
            get=fetcher.get,
            allows=fetcher.allows,
            max_requests=settings.max_requests,
            max_bytes=settings.max_bytes,
            max_redirects=config.fetch.max_redirects,
            kinds=kinds,
            kept=kept,
            turns=turns,
        )

    browser = Browser(settings, requests=requests, user_agent=config.user_agent(), now=clock.now)
    stack.push_async_callback(browser.close)
    return browser


class EngineClient:
    """Fetches answers of search engines. What goes wrong is a value, and does not repeat the address: a key may be in
    it."""

    def __init__(self, http: Http, *, timeout: float) -> None:
        self._http = http
        self._timeout = timeout

    async def __call__(self, url: str, *, headers: Sequence[str] = (), max_bytes: int = MAX_BYTES) -> Got:
        try:
            async with asyncio.timeout(self._timeout):
                answer = await self._http.get(url, max_bytes=max_bytes, headers=headers)
        except TimeoutError:
            return Got(failure=TIMEOUT, detail=f"no answer within {self._timeout:g} s")
        if isinstance(answer, TransferFailure):
            return Got(failure=answer.reason, detail=_explained(answer))
        limits = DecodeLimits(max_bytes=max_bytes)
        decoded = decode(answer.body, answer.header("content-encoding"), limits=limits)
        if not decoded.reason and decoded.body[:2] == b"\x1f\x8b":  # a compressed file, such as sitemap.xml.gz
            decoded = decode(decoded.body, "gzip", limits=limits)
        return Got(
            answer.status,
            decoded.body,
            answer.header("content-type").lower(),
            answer.header("location"),
            retry_after(answer.header("retry-after"), now=answer.ended),
            decoded.reason,
            decoded.detail,
        )


def _explained(failure: TransferFailure) -> str:
    if failure.reason == "address refused":
        return f"{failure.detail}; if it is your own engine: --set 'metasearch.allow=[\"{failure.address}/32\"]'"
    return "" if failure.reason in ("bad url", "scheme") else shortened(failure.detail)


def live_search(
    config: Config,
    *,
    words: str,
    ledger: CrawlLedger,
    visitor: LiveVisitor,
    records: Records,
    urls: Urls,
    study: LearnedTopic | None,
    stack: AsyncExitStack,
) -> Searching | None:
    """Search engines for a crawl; None if it is to ask none. `stack` closes them."""
    settings = config.metasearch
    if not settings.is_on:
        return None
    settings.require_engines()
    clock, store = SystemClock(), ledger.state.store
    access = Access(config.access, now=clock.now())
    resolver = Resolver(overrides=config.network.resolve, look_up=access.names_left_to_proxy())
    stack.push_async_callback(resolver.close)
    guard = Guard((*config.network.allow, *settings.allow))
    http = Http(settings=config.http_settings(), guard=guard, resolver=resolver, access=access)
    stack.push_async_callback(http.close)
    get = EngineClient(http, timeout=settings.timeout)
    # For sitemaps, and wherever else an engine may send us, the guard of pages holds.
    page_guard = Guard(config.network.allow)
    page_http = Http(settings=config.http_settings(), guard=page_guard, resolver=resolver, access=access)
    stack.push_async_callback(page_http.close)
    page_get = EngineClient(page_http, timeout=config.http.deadline)
    elsewhere = EngineClient(page_http, timeout=settings.timeout)
    sites = LiveSites(
        ledger=ledger,
        visitor=visitor,
        robots=records.robots,
        politeness=config.politeness,
        clock=clock,
        get=lambda url, max_bytes: page_get(url, max_bytes=max_bytes),
    )
    engines = [engine_of(each, get, elsewhere, sites) for each in settings.engines]
    answered = {row.search_id for row in store.search_answers() if row.outcome in FINE}
    earlier = [each for each in store.searches() if each.id in answered]
    search = MetaSearch(
        settings,
        words=words,
        panel=Panel(engines, clocks=engine_clocks(store, settings), clock=clock),
        board=LiveBoard(ledger=ledger, urls=urls, clock=clock),
        idf=general_idf,
        say=lambda: judged_words(study),
        asked=[each.query for each in earlier],
        last=max((each.after_pages for each in earlier), default=None),
    )
    searching = Searching(search, say=lambda message: ledger.note(SEARCH, message))
    stack.push_async_callback(searching.close)
    return searching


def query_words(config: Config, judge: Judge) -> str:
    """What search engines are asked for at first: the topic's words, or the names of the topics of the book."""
    interest = judge.abilities.interest
    named = config.topics or (tuple(interest.topics) if config.interest and interest is not None else ())
    if not named:
        return config.topic
    return " ".join(dict.fromkeys(word for topic in named for word in split_words(topic.rpartition("/")[2])))


def engine_of(settings: EngineSettings, get: Get, elsewhere: Get, sites: RelevantSites) -> Engine:
    """`get` fetches from places that the user has named, `elsewhere` from others."""
    match settings.kind:
        case "opensearch":
            return OpenSearch(settings, get, elsewhere)
        case "cdx":
            return CdxIndex(settings, get, sites)
        case "sitemaps":
            return Sitemaps(settings, sites)
        case "workspace":
            return CrawlEngine(settings.label, Path(settings.directory))
        case _:
            return JsonApi(settings, get)


def general_idf(stem: str) -> float:
    """How rare a word is in general."""
    return -math.log(max(RAREST, float(background_shares()[number_of(stem)])))


def judged_words(study: LearnedTopic | None) -> Weight:
    """What the judge that learns in the crawl thinks of words."""
    if study is None:
        return lambda _: 1.0
    strengths = np.asarray(study.word_strengths())
    return lambda stem: 1.0 if strengths[number_of(stem)] > 0 else UNCONVINCING
