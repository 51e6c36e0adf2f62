"""A recorded web, crawled again: the same loop, frontier and strategies as a live crawl, without waiting.

What differs from a live crawl is handed to `crawl.run`: the visitor looks pages up instead of fetching them, the
ledger numbers links by arrays instead of a database, and the clock is virtual. tests/worlds/test_replay.py proves that
a replay fetches the same pages in the same order as the full machine (store, archive rules, host book) does on the
same web: only because of that is a replay evidence.

A strategy sees what a crawler can know before a fetch: pages it has visited, and the links on them. What is not
recorded answers 404.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Coroutine, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from lycosa.crawl import run
from lycosa.fetch.urls import url_hash
from lycosa.frontier.frontier import Frontier
from lycosa.frontier.rescoring import score_again
from lycosa.frontier.standing import Standing, Tally
from lycosa.frontier.stop import NO_RULES, Budget, Stop, StopRules, no_advice
from lycosa.frontier.strategy import Strategy
from lycosa.lib.clock import VirtualClock
from lycosa.model import Fetched, Judgement, Kind, Lease, Outcome, Page, Visit
from lycosa.relevance.judge import Judge
from lycosa.worlds.world import World

Result = TypeVar("Result")

FETCHED = Outcome(Kind.FETCHED, "http 200", status=200)
MISSING = Outcome(Kind.HTTP_ERROR, "http 404", status=404)
HOST = 1
"""Nobody has to be spared in a replay: to the frontier all links are of one host."""
MAX_REDIRECTS = 5


class JudgedWorld:
    """A world seen by one judge. Each page is read and judged once, however many crawls visit it."""

    def __init__(self, world: World, judge: Judge, *, read: Callable[[int], Page] | None = None) -> None:
        self.world = world
        self._read = read or world.page
        self._judge = judge
        self._pages: dict[int, tuple[Page, Judgement]] = {}

    def visit(self, page: int) -> tuple[Page, Judgement]:
        known = self._pages.get(page)
        if known is None:
            content = self._read(page)
            known = self._pages[page] = (content, self._judge.judge(content))
        return known


class Discovery:
    """Which URLs a replay has met, in which order. Links are numbered as a live crawl would number them."""

    def __init__(self, world: World) -> None:
        self._number_of = np.zeros(len(world.urls), dtype=np.int64)
        self.url_of: list[int] = [-1]
        """By link number: the number of its URL in the world; those of recorded pages are the pages' own."""
        self.distance: list[int] = [0]
        self.redirects: list[int] = [0]

    def meet(
        self, urls: NDArray[np.integer[Any]], distance: int, redirects: int = 0
    ) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """Numbers for these URLs, all different; and which of them are new."""
        numbers = self._number_of[urls]
        is_new = numbers == 0
        count = int(is_new.sum())
        if count:
            first = len(self.url_of)
            numbers[is_new] = np.arange(first, first + count)
            new = urls[is_new]
            self._number_of[new] = numbers[is_new]
            self.url_of.extend(new.tolist())
            self.distance.extend([distance] * count)
            self.redirects.extend([redirects] * count)
        return numbers, is_new


class ReplayVisitor:
    """fetch and read, by looking things up: a visit is finished as soon as it is started."""

    def __init__(self, judged: JudgedWorld, discovery: Discovery) -> None:
        self._judged = judged
        self._discovery = discovery
        self._done: list[Visit] = []

    @property
    def in_flight(self) -> int:
        return len(self._done)

    def start(self, lease: Lease) -> None:
        world = self._judged.world
        number = self._discovery.url_of[lease.id]
        if number >= len(world):
            self._done.append(Visit(Fetched(lease, MISSING), MISSING))
        elif world.is_redirect(number):
            status = world.status(number)
            moved = Outcome(Kind.REDIRECTED, f"http {status}", status=status, location=world.location(number))
            self._done.append(Visit(Fetched(lease, moved), moved))
        else:
            page, judgement = self._judged.visit(number)
            self._done.append(Visit(Fetched(lease, FETCHED), FETCHED, page, judgement))

    async def finished(self, patience: float | None) -> list[Visit]:  # noqa: ARG002 - nothing has to be waited for
        visits, self._done = self._done, []
        return visits


@dataclass(slots=True)
class Track:
    """What a replay did, page by page."""

    pages: list[int]
    relevance: list[float]
    distance: list[int]
    cpu: list[float]
    """Seconds the strategy has used so far, and nothing else."""
    frontier: list[int]
    """Links waiting after each page."""
    missing: int = 0
    """Fetches that met nothing: dead links do not count as pages."""
    changes: list[tuple[int, str]] = field(default_factory=list)
    """Changes of focus: after how many pages, and what they were."""
    ending: str = ""
    """Why it stopped."""


class ReplayLedger:
    """The commit side of a replay: numbers, frontier and strategy, and a record of the way taken."""

    def __init__(
        self,
        judged: JudgedWorld,
        discovery: Discovery,
        *,
        frontier: Frontier,
        strategy: TimedStrategy,
        follow_nofollow: bool = False,
        rules: StopRules = NO_RULES,
    ) -> None:
        self._judged = judged
        self._world = judged.world
        self._discovery = discovery
        self._frontier = frontier
        self._leases: list[Lease] = []
        self._strategy = strategy
        self._follow_nofollow = follow_nofollow
        self._is_dormant = np.zeros(len(judged.world.urls) + 1, dtype=np.bool_)
        """By link: dropped from a full buffer, or not worth following so far; comes to life when found again."""
        self._scores: dict[int, float] = {}
        """As the strategy gave them: the frontier has them rounded."""
        self.track = Track([], [], [], [], [])
        self._tally = Tally(window=rules.window, has_community=rules.community > 0)

    def standing(self) -> Standing:
        return self._tally.standing()

    def add_seeds(self, pages: Sequence[int]) -> None:
        numbers, _ = self._discovery.meet(np.array(pages, dtype=np.int64), 0)
        self._push(numbers, np.full(len(numbers), self._strategy.seed_score()))

    def leases(self, links: list[int]) -> list[Lease]:
        # A link may have got another score in the very `ask` that leases it.
        self._scores.update(self._strategy.rescored())
        discovery, world = self._discovery, self._world
        leases = []
        for link in links:
            url = discovery.url_of[link]
            host = int(world.url_hosts[url])
            leases.append(
                Lease(
                    link,
                    world.urls[url],
                    host,
                    self._scores[link],
                    discovery.distance[link],
                    0,
                    discovery.redirects[link],
                )
            )
        return leases

    def commit(self, visits: list[Visit]) -> None:
        self._scores.update(self._strategy.rescored())
        for visit in visits:
            self._frontier.done(visit.lease.id)
            if visit.page is not None and visit.judgement is not None:
                self._expand(visit, visit.judgement)
            elif visit.outcome.kind is Kind.REDIRECTED:
                self._redirect(visit)
            else:
                self.track.missing += 1
        if change := self._strategy.take_change():
            news = score_again(self._strategy, self._frontier, self._visits())
            self._scores.update(zip(news.links.tolist(), news.scores.tolist(), strict=True))
            self.track.changes.append((len(self.track.pages), change))

    def _visits(self) -> Iterator[tuple[Visit, NDArray[np.int64]]]:
        """All visits so far, as a store would tell them again."""
        world = self._world
        for lease in self._leases:
            number = self._discovery.url_of[lease.id]
            page, judgement = self._judged.visit(number)
            targets, _ = self._discovery.meet(world.link_urls[slice(*world.link_offsets[number : number + 2])], 0)
            yield Visit(Fetched(lease, FETCHED), FETCHED, page, judgement), targets

    def _redirect(self, visit: Visit) -> None:
        lease = visit.lease
        target = int(self._world.number_of_hash(np.array([url_hash(visit.outcome.location)]))[0])
        if target < 0 or lease.redirects >= MAX_REDIRECTS:
            return
        numbers, is_new = self._discovery.meet(np.array([target]), lease.distance, lease.redirects + 1)
        if is_new[0] or self._is_dormant[numbers[0]]:
            self._push(numbers, np.array([lease.score]))

    def _expand(self, visit: Visit, judgement: Judgement) -> None:
        lease, frontier, world = visit.lease, self._frontier, self._world
        number = self._discovery.url_of[lease.id]
        low, high = world.link_offsets[number], world.link_offsets[number + 1]
        targets, is_new = self._discovery.meet(world.link_urls[low:high], lease.distance + 1)
        self._tally.add_page(lease.id, targets, is_relevant=judgement.is_relevant)
        scores = self._strategy.tell(visit, targets)
        is_wanted = scores == scores  # NaN is not equal to itself: not worth following
        if not self._follow_nofollow:
            is_wanted &= ~world.nofollow[low:high]
        joins = is_wanted & (is_new | self._is_dormant[targets])
        self._is_dormant[targets[is_new & ~is_wanted]] = True
        if joins.any():
            self._push(targets[joins], scores[joins])
        if not is_new.all():
            # Links that do not wait have no score there: NaN, and nothing is greater than that.
            better = ~joins & (scores.astype(np.float32) > frontier.scores(targets))
            if better.any():
                frontier.rescore(targets[better], scores[better])
                self._scores.update(zip(targets[better].tolist(), scores[better].tolist(), strict=True))
        self._note(number, lease, judgement)

    def _push(self, links: NDArray[np.int64], scores: NDArray[np.float64]) -> None:
        self._scores.update(zip(links.tolist(), scores.tolist(), strict=True))
        self._is_dormant[links] = False
        self._is_dormant[self._frontier.push_many(links, np.full(len(links), HOST), scores)] = True

    def _note(self, number: int, lease: Lease, judgement: Judgement) -> None:
        track = self.track
        self._leases.append(lease)
        track.pages.append(number)
        track.relevance.append(judgement.relevance)
        track.distance.append(lease.distance)
        track.cpu.append(self._strategy.seconds)
        track.frontier.append(self._frontier.waiting)


class TimedStrategy:
    """A strategy with a stopwatch: the paper counts the algorithm's own time, not the crawl's."""

    def __init__(self, strategy: Strategy) -> None:
        self._strategy = strategy
        self.name = strategy.name
        self.seconds = 0.0
        self.seed_score = strategy.seed_score
        self.retry_score = strategy.retry_score
        self.reason = strategy.reason
        self.rescored = strategy.rescored
        self.needs_whole_pages = strategy.needs_whole_pages
        self.is_retold = strategy.is_retold
        self.again = strategy.again
        self.note = strategy.note
        self.take_change = strategy.take_change
        self.factors = strategy.factors
        self.save = strategy.save
        self.restore = strategy.restore

    def tell(self, visit: Visit, targets: NDArray[np.int64]) -> NDArray[np.float64]:
        began = time.perf_counter()
        scores = self._strategy.tell(visit, targets)
        self.seconds += time.perf_counter() - began
        return scores

    def ask(self, count: int, frontier: Frontier, now: float) -> list[int]:
        began = time.perf_counter()
        links = self._strategy.ask(count, frontier, now)
        self.seconds += time.perf_counter() - began
        return links


def replay(
    judged: JudgedWorld,
    strategy: Strategy | Callable[[Discovery], Strategy],
    seeds: Sequence[int],
    *,
    pages: int,
    buffer: int | None = None,
    width: int = 1,
    follow_nofollow: bool = False,
    rules: StopRules = NO_RULES,
    advice: Callable[[], str] = no_advice,
) -> Track:
    """Crawl the world from the seeds until so many pages are fetched, a rule says stop, or nothing is left.

    A function instead of a strategy is handed the discovery: only bounds such as the oracle need it.
    """
    discovery = Discovery(judged.world)
    timed = TimedStrategy(strategy(discovery) if callable(strategy) else strategy)
    frontier = Frontier(buffer=buffer, slots_per_host=width, slots_per_address=width)
    ledger = ReplayLedger(
        judged, discovery, frontier=frontier, strategy=timed, follow_nofollow=follow_nofollow, rules=rules
    )
    ledger.add_seeds(seeds)
    ledger.track.ending = drive(
        run(
            frontier=frontier,
            strategy=timed,
            visitor=ReplayVisitor(judged, discovery),
            ledger=ledger,
            stop=Stop(Budget(pages=pages), started=0.0, rules=rules, advice=advice),
            clock=VirtualClock(),
            width=width,
        )
    )
    return ledger.track


def drive(coroutine: Coroutine[Any, Any, Result]) -> Result:
    """Run a coroutine that never has to wait: no event loop needed."""
    try:
        coroutine.send(None)
    except StopIteration as end:
        result: Result = end.value
        return result
    raise RuntimeError("a replay must not wait for anything")
