"""A recorded web, crawled again: the same loop, frontier and strategies as a live crawl, without waiting.

What differs from a live crawl is handed to `crawl.loop.run`: visits look pages up instead of fetching them, the commit
side numbers links by arrays instead of a database, and the clock is virtual. tests/lab/replay/test_replay.py proves
that a replay fetches the same pages in the same order as the full machine does on the same web, with store, archive
and host records: that makes a replay evidence.

A strategy sees what a crawler can know before a fetch: the pages it has visited, and the links on them. A URL that was
not recorded answers 404. So does what a strategy guesses and the recording does not have: that counts as a fetch.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from lycosa.crawl.link_rules import joining, rising
from lycosa.crawl.loop import run
from lycosa.crawl.questions import AskablePages
from lycosa.crawl.redirects import redirect_target
from lycosa.fetch.urls import url_hash
from lycosa.frontier.frontier import Frontier
from lycosa.judges.contrast.page_vector import telling_words
from lycosa.judges.protocol import Judge
from lycosa.lab.replay.distilling import ReplayDistilling, ReplayedCitations
from lycosa.lab.replay.person import AskedReplay, Person
from lycosa.lab.replay.search import ReplayBoard, SearchPlan, drive, replay_search
from lycosa.lab.worlds.world import World
from lycosa.lib.algebra import on_one_core
from lycosa.lib.clock import VirtualClock
from lycosa.lib.growing import grown
from lycosa.model import Fetched, Judgement, Kind, Lease, Outcome, Page, Visit
from lycosa.stopping.figures import Figures, Tally
from lycosa.stopping.rules import NO_RULES, Budget, Stop, StopRules
from lycosa.strategies.protocol import Guessing, Strategy
from lycosa.strategies.rescoring import score_again
from lycosa.strategies.wrapper import Wrapper

Result = TypeVar("Result")

FETCHED = Outcome(Kind.FETCHED, "http 200", status=200)
MISSING = Outcome(Kind.HTTP_ERROR, "http 404", status=404)
HOST = 1
"""Nobody has to be spared in a replay: to the frontier all links are of one host."""
MAX_REDIRECTS = 5
WORDS = 200
"""Number of words by which pages are compared when questions are chosen."""


class JudgedWorld:
    """A world seen by one judge. Each page is read and judged once, however many crawls visit it."""

    def __init__(self, world: World, judge: Judge, *, read: Callable[[int], Page] | None = None) -> None:
        self.world = world
        self._read = read or world.page
        self._judge = judge
        self._pages: dict[int, tuple[Page, Judgement]] = {}
        self.seconds: dict[int, float] = {}
        """By page: CPU time of judging it. Every crawl is charged for it, whichever was the first."""

    def visit(self, page: int) -> tuple[Page, Judgement]:
        known = self._pages.get(page)
        if known is None:
            content = self._read(page)
            len(content.terms)  # reads them, which is not part of judging
            began = time.process_time()
            known = self._pages[page] = (content, self._judge.judge(content))
            self.seconds[page] = time.process_time() - began
        return known


class Discovery:
    """Which URLs a replay has met, in which order. Links are numbered as a live crawl would number them."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._unknown: dict[str, int] = {}
        """URLs that the world does not know, with their numbers, which follow those of the world."""
        self.guesses: set[int] = set()
        """Links that no page had cited when they were met."""
        self._number_of = np.zeros(len(world.urls), dtype=np.int64)
        self.url_of: list[int] = [-1]
        """By link number: the number of its URL in the world; those of recorded pages are the pages' own."""
        self.distance: list[int] = [0]
        self.redirects: list[int] = [0]

    def meet(self, urls: NDArray[np.integer[Any]], distance: int, redirects: int = 0) -> NDArray[np.int64]:
        """Numbers for these URLs, all different."""
        numbers: NDArray[np.int64] = self._number_of[urls]
        count = len(numbers) - np.count_nonzero(numbers)
        if count:
            first = len(self.url_of)
            new = urls[np.logical_not(numbers)]
            self._number_of[new] = np.arange(first, first + count)
            numbers = self._number_of[urls]
            self.url_of.extend(new.tolist())
            self.distance.extend([distance] * count)
            self.redirects.extend([redirects] * count)
        return numbers

    @property
    def links_of(self) -> NDArray[np.int64]:
        """By URL of the world: the number of its link, 0 if it was not met. Changes as more URLs are met."""
        return self._number_of

    def guess(self, url: str, distance: int) -> int | None:
        """A number for a URL that the world need not know; None if it was met before."""
        number = int(self._world.number_of_hash(np.array([url_hash(url)]))[0])
        if number < 0:
            number = self._unknown.setdefault(url, len(self._world.urls) + len(self._unknown))
            self._number_of = grown(self._number_of, number + 1)
        if self._number_of[number]:
            return None
        link = int(self.meet(np.array([number]), distance)[0])
        self.guesses.add(link)
        return link

    def number_of(self, url: str) -> int:
        """The number of the link to a URL; 0 if it was not met."""
        number = int(self._world.number_of_hash(np.array([url_hash(url)]))[0])
        if number < 0:
            number = self._unknown.get(url, -1)
        return int(self._number_of[number]) if number >= 0 else 0

    def url(self, link: int) -> str:
        number = self.url_of[link]
        known = len(self._world.urls)
        return self._world.urls[number] if number < known else list(self._unknown)[number - known]

    def host(self, link: int) -> int:
        """The number of its host; -1: the world does not know the URL."""
        number = self.url_of[link]
        return self._world.url_hosts.item(number) if number < len(self._world.urls) else -1


class ReplayVisitor:
    """fetch and read, by looking things up: a visit is finished as soon as it is started."""

    def __init__(self, judged: JudgedWorld, discovery: Discovery) -> None:
        self._judged = judged
        self._discovery = discovery
        self._done: list[Visit] = []

    @property
    def occupied(self) -> int:
        return self.in_flight

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
    """CPU seconds that the algorithm has used so far: its own, those of its queue, and, where it goes by them
    (`Abilities.uses_judgement`), those of judging the pages. Fetching and reading are not in it."""
    frontier: list[int]
    """Links waiting after each page."""
    fetches: list[int]
    """Number of fetches up to each page: pages, and guesses of the strategy that met nothing."""
    missing: int = 0
    """Fetches that met nothing: dead links do not count as pages."""
    missed_guesses: int = 0
    """Those of them that were guesses (`strategies.protocol.Guessing`)."""
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
        person: Person | None = None,
        distilling: ReplayDistilling | None = None,
    ) -> None:
        self._judged = judged
        self._world = judged.world
        self._discovery = discovery
        self._frontier = frontier
        self._leases: list[Lease] = []
        self._strategy = strategy
        self._uses_judgement = strategy.abilities.uses_judgement
        self._take_change = strategy.abilities.take_change
        self._guessing = strategy.abilities.guessing
        self._person = person
        self._distilling = distilling
        self._follow_nofollow = follow_nofollow
        self._scores: NDArray[np.float64] = np.zeros(len(self._world.urls) + 1)
        """By link, as the strategy gave them: the frontier has them rounded."""
        self.track = Track([], [], [], [], [], [])
        self._tally = Tally(window=rules.window, has_community=rules.community > 0)

    def figures(self) -> Figures:
        return self._tally.figures()

    def add_seeds(self, pages: Sequence[int]) -> None:
        numbers = self._discovery.meet(np.array(pages, dtype=np.int64), 0)
        self._push(numbers, np.full(len(numbers), self._strategy.seed_score()))

    def add_found(self, urls: Sequence[str]) -> int:
        """Queue pages that search engines name; return how many were not known."""
        new, score = 0, self._strategy.search_score()
        for url in urls:
            link = self._discovery.guess(url, 1)
            is_new = link is not None
            number = link if link is not None else self._discovery.number_of(url)
            links, scores = np.array([number]), np.array([score])
            new += is_new
            if is_new or joining(self._frontier, links, scores, True)[0]:
                self._push(links, scores)
            elif rising(self._frontier, links, scores)[0]:
                self._scores[links] = scores
                self._frontier.rescore(links, scores)
        return new

    def leases(self, links: list[int]) -> list[Lease]:
        # A link may have got another score in the very `ask` that leases it.
        self._take_revised()
        return [self._lease(link) for link in links]

    def commit(self, visits: list[Visit]) -> None:
        self._take_revised()
        for visit in visits:
            with self._strategy.stopwatch:
                self._frontier.done(visit.lease.id)
            if visit.page is not None and visit.judgement is not None:
                self._expand(visit, visit.judgement)
            elif visit.outcome.kind is Kind.REDIRECTED:
                self._redirect(visit)
            else:
                self.track.missing += 1
                self.track.missed_guesses += visit.lease.id in self._discovery.guesses
        if change := self._take_change():
            news = score_again(self._strategy, self._frontier, self._visits())
            self._scores[news.links] = news.scores
            self.track.changes.append((len(self.track.pages), change))
        if self._person is not None and self._person.is_due(len(self.track.pages)):
            self._ask(self._person)
        if self._distilling is not None and self._distilling.is_due(len(self.track.pages)):
            self._distil(self._distilling)

    def _distil(self, distilling: ReplayDistilling) -> None:
        track, discovery = self.track, self._discovery
        links = np.array([lease.id for lease in self._leases], dtype=np.int64)
        citations = ReplayedCitations(self._world, fetched=track.pages, links=links, relevance=track.relevance)
        distilling.distil(citations, frontier=self._frontier, links_of=discovery.links_of, world=self._world)

    def _ask(self, person: Person) -> None:
        learn = self._strategy.abilities.answer
        assert learn is not None, f"{self._strategy.name} learns nothing from answers"
        links, is_seed = [lease.id for lease in self._leases], [lease.distance == 0 for lease in self._leases]
        said = person.answer(AskedReplay(self.track.pages, links, is_seed, self._askable))
        if said:
            learn(said)

    def _askable(self, relevance: NDArray[Any], is_settled: NDArray[np.bool_]) -> AskablePages:
        world, pages = self._world, self.track.pages
        return AskablePages(
            relevance=relevance,
            waiting=np.array([self._waiting_links(page) for page in pages]),
            hosts=world.host_of[pages].tolist(),
            vectors=[telling_words(self._judged.visit(page)[0].terms, WORDS) for page in pages],
            fingerprints=world.fingerprints[pages].tolist(),
            is_first=np.array(self.track.distance) == 0,
            is_settled=is_settled,
        )

    def _waiting_links(self, page: int) -> int:
        """Number of waiting links on a visited page."""
        low, high = self._world.link_offsets[page : page + 2].tolist()
        links = self._discovery.meet(self._world.link_urls[low:high], 0)
        return int(np.count_nonzero(self._frontier.is_waiting(links)))

    def _lease(self, link: int) -> Lease:
        discovery, score = self._discovery, self._scores.item(link)
        distance, redirects = discovery.distance[link], discovery.redirects[link]
        return Lease(link, discovery.url(link), discovery.host(link), score, distance, 0, redirects)

    def _take_revised(self) -> None:
        revised = self._frontier.take_revised()
        if revised:
            self._scores[list(revised)] = list(revised.values())

    def _visits(self) -> Iterator[tuple[Visit, NDArray[np.int64]]]:
        """All visits so far, as a store would tell them again."""
        world = self._world
        for lease in self._leases:
            number = self._discovery.url_of[lease.id]
            page, judgement = self._judged.visit(number)
            targets = self._discovery.meet(world.link_urls[slice(*world.link_offsets[number : number + 2])], 0)
            yield Visit(Fetched(lease, FETCHED), FETCHED, page, judgement), targets

    def _redirect(self, visit: Visit) -> None:
        lease = visit.lease
        target = int(self._world.number_of_hash(np.array([url_hash(visit.outcome.location)]))[0])
        found = redirect_target(lease, max_redirects=MAX_REDIRECTS)
        if target < 0 or found.reason:
            return
        numbers = self._discovery.meet(np.array([target]), found.distance, found.redirects)
        if self._frontier.is_new(numbers)[0]:
            self._push(numbers, np.array([found.score]))

    def _expand(self, visit: Visit, judgement: Judgement) -> None:
        lease, frontier, world = visit.lease, self._frontier, self._world
        number = self._discovery.url_of[lease.id]
        low, high = world.link_offsets[number : number + 2].tolist()
        targets = self._discovery.meet(world.link_urls[low:high], lease.distance + 1)
        self._tally.add_page(lease.id, targets, is_relevant=judgement.is_relevant)
        if self._uses_judgement:
            self._strategy.stopwatch.seconds += self._judged.seconds.get(number, 0.0)
        scores = self._strategy.tell(visit.guiding, targets)
        with self._strategy.stopwatch:
            joins = joining(frontier, targets, scores, True if self._follow_nofollow else ~world.nofollow[low:high])
            is_better = rising(frontier, targets, scores)
            if np.count_nonzero(joins):
                self._push(targets[joins], scores[joins])
            if np.count_nonzero(is_better):
                links, better = targets[is_better], scores[is_better]
                self._scores[links] = better
                frontier.rescore(links, better)  # leaves those alone that have just been dropped
        is_nofollow = visit.page is not None and visit.page.is_nofollow
        if self._guessing is not None and (self._follow_nofollow or not is_nofollow):
            self._guess(visit, self._guessing)
        self._note(number, lease, judgement)

    def _guess(self, visit: Visit, guessing: Guessing) -> None:
        for url in guessing.guesses(visit):
            link = self._discovery.guess(url, visit.lease.distance + 1)
            if link is not None:
                self._push(np.array([link]), np.array([guessing.adopt(url, link)]))

    def _push(self, links: NDArray[np.int64], scores: NDArray[np.float64]) -> None:
        self._scores = grown(self._scores, len(self._discovery.url_of))  # guesses may be URLs unknown to the world
        self._scores[links] = scores
        self._frontier.push_many(links, np.full(len(links), HOST), scores)

    def _note(self, number: int, lease: Lease, judgement: Judgement) -> None:
        track = self.track
        self._leases.append(lease)
        track.pages.append(number)
        track.relevance.append(judgement.relevance)
        track.distance.append(lease.distance)
        track.cpu.append(self._strategy.stopwatch.seconds)
        track.frontier.append(self._frontier.waiting)
        track.fetches.append(len(track.pages) + track.missed_guesses)


class Stopwatch:
    """Adds up the CPU time of this process while it is entered."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self._began = 0.0

    def __enter__(self) -> None:
        self._began = time.process_time()

    def __exit__(self, *_: object) -> None:
        self.seconds += time.process_time() - self._began


class TimedStrategy(Wrapper):
    """A strategy with a stopwatch: the paper counts the algorithm's own time, not the crawl's."""

    def __init__(self, strategy: Strategy) -> None:
        super().__init__(strategy, "timed")
        self.name = strategy.name
        self.stopwatch = Stopwatch()

    def tell(self, visit: Visit, targets: NDArray[np.int64]) -> NDArray[np.float64]:
        with self.stopwatch:
            return self._inner.tell(visit, targets)

    def ask(self, count: int, frontier: Frontier, now: float) -> list[int]:
        with self.stopwatch:
            return self._inner.ask(count, frontier, now)


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
    advice: Callable[[], str] = str,
    person: Person | None = None,
    search: SearchPlan | None = None,
    distilling: ReplayDistilling | None = None,
) -> Track:
    """Crawl the world from the seeds until `pages` are fetched, a rule says stop, or nothing is left.

    A function instead of a strategy is handed the discovery: only bounds such as the oracle need it. `person`: who
    answers questions; the strategy has to learn from answers. `search`: search engines over the world, asked as in a
    live crawl. `distilling`: puts first what hubs cite.
    """
    discovery = Discovery(judged.world)
    timed = TimedStrategy(strategy(discovery) if callable(strategy) else strategy)
    frontier = Frontier(buffer=buffer, slots_per_host=width, slots_per_address=width)
    ledger = ReplayLedger(
        judged,
        discovery,
        frontier=frontier,
        strategy=timed,
        follow_nofollow=follow_nofollow,
        rules=rules,
        person=person,
        distilling=distilling,
    )
    ledger.add_seeds(seeds)
    stop = Stop(Budget(pages=pages), started=0.0, rules=rules, advice=advice)
    found = None if search is None else replay_search(search, ReplayBoard(judged.world, ledger, frontier, discovery))
    if found is not None:
        found.look()
    with on_one_core():
        while True:
            ledger.track.ending = drive(
                run(
                    frontier=frontier,
                    strategy=timed,
                    visitor=ReplayVisitor(judged, discovery),
                    ledger=ledger,
                    stop=stop,
                    clock=VirtualClock(),
                    width=width,
                    watch=found.look if found is not None else lambda: None,
                )
            )
            if found is None or stop.reason(ledger.figures(), frontier, now=0.0) or not found.rescue():
                return ledger.track
