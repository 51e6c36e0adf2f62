"""The crawl's side of meta-search: what it knows, and how pages that engines name enter the store and the frontier."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence

from lycosa.crawl.commit import CrawlLedger
from lycosa.crawl.hosts import Host
from lycosa.crawl.searching import Round, in_words
from lycosa.crawl.visits import LiveVisitor
from lycosa.fetch.fetcher import RobotsBook
from lycosa.fetch.politeness import Politeness
from lycosa.fetch.robots import Robots
from lycosa.fetch.urls import Urls, origin
from lycosa.lib.clock import Clock
from lycosa.seeds.metasearch.engine import HOST_BUSY, Got
from lycosa.seeds.metasearch.panel import DAY, FINE, EngineClock
from lycosa.seeds.metasearch.queries import FoundTexts
from lycosa.seeds.metasearch.settings import MetaSearchSettings
from lycosa.seeds.metasearch.site_lists import Site
from lycosa.store.protocol import Store
from lycosa.store.rows import (
    NOFOLLOW,
    NOT_WORTH,
    Batch,
    PageTexts,
    SearchAnswerRow,
    SearchResultRow,
    SearchRow,
    State,
)

SEARCH = "search"
"""Kind of event."""
TEXTS = 300
"""Number of latest relevant pages, and of others, whose titles are looked at for queries."""
LONGEST_WAIT = 30.0
"""Seconds for which a sitemap waits for its host's turn."""
LONGEST_FETCH = 120.0
"""Seconds for which a host is reserved while a sitemap is fetched from it."""


class LiveBoard:
    """`searching.Board` of a crawl with a store."""

    def __init__(self, *, ledger: CrawlLedger, urls: Urls, clock: Clock) -> None:
        self._ledger = ledger
        self._store = ledger.state.store
        self._urls = urls
        self._clock = clock
        self._next = len(self._store.searches()) + 1

    @property
    def pages(self) -> int:
        return self._ledger.pages

    @property
    def since_relevant(self) -> int:
        return self._ledger.figures().since_relevant

    def canonical(self, url: str) -> tuple[str, str]:
        return self._urls.canonical(url)

    def is_dealt_with(self, url: str) -> bool:
        number = self._ledger.state.urls.find(url)
        link = self._store.link(number) if number is not None else None
        if link is None or link.state in (State.WAITING, State.DROPPED):
            return False
        return not (link.state == State.EXCLUDED and link.reason in (NOFOLLOW, NOT_WORTH))

    def texts(self) -> FoundTexts:
        relevant, others = (self._store.page_texts(TEXTS, is_relevant=which) for which in (True, False))
        return FoundTexts(_joined(relevant), _joined(others))

    def enter(self, found: Round) -> int:
        batch, state = Batch(), self._ledger.state
        numbers: dict[str, int] = {}
        for query in found.queries:
            numbers[query] = self._next
            self._next += 1
            row = SearchRow(numbers[query], self._ledger.run, self._clock.now(), found.after_pages, found.reason, query)
            batch.searches.append(row)
        for each in found.asked:
            answer = each.answer
            batch.search_answers.append(
                SearchAnswerRow(
                    numbers[each.query],
                    each.engine,
                    answer.outcome,
                    answer.detail,
                    answer.is_contact,
                    each.seconds,
                    len(answer.found),
                    each.ready_at,
                )
            )
        score, new = state.strategy.search_score(), 0
        for page in found.pages:
            link, is_new = state.urls.add_found(page.url, score, batch)
            new += is_new
            batch.search_results.extend(
                SearchResultRow(link, numbers[source.query], source.engine, source.rank) for source in page.sources
            )
        self._ledger.write(batch, event=(SEARCH, in_words(found, new)))
        return new


def _joined(found: Sequence[PageTexts]) -> list[str]:
    return [f"{page.title}\n{page.anchor}" for page in found]


def engine_clocks(store: Store, settings: MetaSearchSettings) -> dict[str, EngineClock]:
    """What earlier runs have left of each engine's delay and quota."""
    clocks = {engine.label: EngineClock(engine.delay, engine.daily) for engine in settings.engines}
    asked_at = {search.id: search.at for search in store.searches()}
    for answer in store.search_answers():
        clock = clocks.get(answer.engine)
        if clock is None or not answer.is_contact:
            continue
        day = int(asked_at[answer.search_id] // DAY)
        clock.today = {day: clock.today.get(day, 0) + 1}
        clock.ready_at = max(clock.ready_at, answer.ready_at)
        clock.failures = 0 if answer.outcome in FINE else clock.failures + 1
    return clocks


class LiveSites:
    """`site_lists.RelevantSites` of a crawl: a sitemap is fetched when a page of its host could be, and counts as
    one."""

    def __init__(
        self,
        *,
        ledger: CrawlLedger,
        visitor: LiveVisitor,
        robots: RobotsBook,
        politeness: Politeness,
        clock: Clock,
        get: Callable[[str, int], Awaitable[Got]],
    ) -> None:
        self._ledger = ledger
        self._visitor = visitor
        self._robots = robots
        self._politeness = politeness
        self._clock = clock
        self._get = get
        self._hosts: Mapping[str, Host] = {}

    def best(self, count: int) -> Sequence[Site]:
        hosts = [host for host in self._ledger.state.hosts if host.relevant and not host.set_aside]
        hosts.sort(key=lambda host: (-host.relevant, host.id))
        found: dict[str, tuple[Host, Robots]] = {}
        for host in hosts[:count]:
            for scheme in ("https", "http"):
                robots = self._robots.get(f"{scheme}://{host.name}")
                if robots is not None:
                    found[f"{scheme}://{host.name}"] = (host, robots)
                    break
        self._hosts = {place: host for place, (host, _) in found.items()}
        return [Site(place, robots.sitemaps) for place, (_, robots) in found.items()]

    async def get(self, url: str, max_bytes: int) -> Got | None:
        host, robots = self._hosts.get(origin(url)), self._robots.get(origin(url))
        if host is None or robots is None or not robots.verdict(url).allowed:
            return None
        given_up_at = self._clock.now() + LONGEST_WAIT
        while (rest := self._rest(host)) > 0:
            if self._clock.now() + rest > given_up_at:
                return Got(failure=HOST_BUSY, detail=host.name)
            await self._clock.sleep(rest)
        frontier, began = self._ledger.state.frontier, self._clock.now()
        host.ready_at = began + LONGEST_FETCH  # nobody else may ask it meanwhile
        frontier.cool(host.id, host.ready_at)
        try:
            return await self._get(url, max_bytes)
        finally:
            ended = self._clock.now()
            host.ready_at = ended + self._politeness.pause(seconds=ended - began, crawl_delay=host.crawl_delay)
            frontier.cool(host.id, host.ready_at)
            if host.address:
                frontier.cool_address(host.address, host.ready_at)

    def _rest(self, host: Host) -> float:
        """Seconds until it is worth looking again whether the host may be asked; 0: it may be."""
        if any(visit.host == host.id for visit in self._visitor.under_way.values()):
            return 0.1
        return max(0.0, host.ready_at - self._clock.now())
