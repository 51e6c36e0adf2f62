"""What becomes of the seeds: one that cannot start is said at once, and a crawl that nothing can start ends.

A seed cannot start if it, or what it redirects to, has no page: its name is unknown, nobody answers, robots.txt forbids
it or is unreachable, it is no page. Each is said once when it happens, and once more when it is given up: as an event
in the store and to whoever watches. `why_not` has the words, for events, `lycosa status` and `lycosa explain` alike.

If every link that waits is such a seed, and none may be asked again for `stall.seed_patience` seconds, the crawl ends
instead of waiting: the same command tries again. A crawl that has no page yet then tries all of its seeds again. With
`stall.longest_rest` a crawl also ends if what rests are hosts of other links.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from lycosa.crawl.commit import CrawlLedger
from lycosa.crawl.stall import StallSettings, clock_time
from lycosa.crawl.visits import LiveVisitor
from lycosa.fetch.fetcher import RobotsBook
from lycosa.fetch.robots import RobotsState
from lycosa.fetch.urls import Urls, origin
from lycosa.lib.clock import Clock
from lycosa.model import Kind, Lease, Outcome
from lycosa.stopping.rules import Stop
from lycosa.store.protocol import Reports, Store
from lycosa.store.rows import Batch, LinkRow, LostSeed, State
from lycosa.usage import OPTED_OUT

SLOW_AFTER = 5.0
"""Seconds after which a seed that has not answered is mentioned, as long as there is no page at all."""
SHOWN = 3
"""Number of seeds named in the reason why a crawl ended."""
NO_SEED = "no seed can be reached"
REMEDIES = {
    "dns": "check the spelling and the network",
    "connect": "check the address and the network",
    "timeout": "check the address and the network",
    "tls": "if the site has no https, write http://…",
    "address refused": "private addresses have to be allowed by name: --set 'network.allow=[…]'",
    "robots": "the site does not want it crawled; give another page",
    "content type": "give a page, HTML or text",
    OPTED_OUT: "its owner does not want it used for this; give another page",
}
"""What helps, by reason."""


class NoRobots(NamedTuple):
    """A robots.txt that cannot be fetched: nothing may be fetched there."""

    failure: str
    retry_at: float
    has_answered: bool
    """The host gave some answer, such as http 503."""


def why_not(seed: LostSeed, robots: NoRobots | None) -> str:
    """Why a seed has no page, and what happens next; empty if it is only waiting its turn."""
    if seed.state == State.WAITING:
        if seed.set_aside:
            return f"its host was set aside: {seed.set_aside}"
        if robots is not None:
            return (
                f"robots.txt of {origin(seed.url)} is unreachable ({robots.failure}), so nothing may be fetched there; "
                f"next try at {clock_time(robots.retry_at)}"
            )
        reason = f"{seed.reason} {seed.detail}".strip()
        return f"{reason}; next try at {clock_time(seed.ready_at)}" if seed.tries else ""
    remedy = REMEDIES.get(seed.reason)
    return f"{seed.reason} {seed.detail}".strip() + "; given up" + (f": {remedy}" if remedy else "")


@dataclass(frozen=True, slots=True)
class SeedTrouble:
    url: str
    """With the seed that redirects to it, if it is not the seed itself."""
    why: str

    def __str__(self) -> str:
        return f"{self.url}: {self.why}"


def seed_troubles(store: Reports) -> list[SeedTrouble]:
    """The seeds of a stored crawl that could not start, and why."""
    robots = _robots_troubles(store)
    found = ((seed, why_not(seed, robots.get(origin(seed.url)))) for seed in store.lost_seeds())
    return [SeedTrouble(named(store, seed.id), why) for seed, why in found if why]


def awaited_seeds(ledger: CrawlLedger) -> list[LostSeed]:
    """The seeds that have had no try yet and will have it soon: nothing is known against them or their hosts."""
    state = ledger.state
    robots = _robots_troubles(state.store)
    waiting = [seed for seed in state.store.lost_seeds() if seed.state == State.WAITING]
    return [
        seed
        for seed in waiting
        if not why_not(seed, robots.get(origin(seed.url))) and not state.hosts[seed.host_id].failures
    ]


def robots_trouble(store: Store, place: str) -> NoRobots | None:
    """Why nothing may be fetched from an origin, if its robots.txt is unreachable."""
    return _robots_troubles(store).get(place)


def _robots_troubles(store: Store) -> dict[str, NoRobots]:
    return {
        row.origin: NoRobots(row.failure or f"http {row.status}", row.expires_at, bool(row.status))
        for row in store.robots()
        if row.state == RobotsState.DISALLOW_ALL
    }


def named(store: Store, link: int) -> str:
    """The URL of a link and, if a seed redirects to it, that of the seed."""
    row, seed = store.link(link), seed_of(store, link)
    assert row is not None
    return row.url if seed.id == row.id else f"{seed.url} (continued at {row.url})"


def seed_of(store: Store, link: int) -> LinkRow:
    """The seed that led to a link by redirects; mostly the link itself."""
    row = store.link(link)
    assert row is not None
    while row.redirects and row.parent_id is not None and (above := store.link(row.parent_id)) is not None:
        row = above
    return row


class SeedWatch:
    """Looks at the seeds of a running crawl. `look` is called after each turn of the loop."""

    def __init__(
        self,
        settings: StallSettings,
        *,
        ledger: CrawlLedger,
        visitor: LiveVisitor,
        robots: RobotsBook,
        urls: Urls,
        stop: Stop,
        clock: Clock,
    ) -> None:
        self._patience = settings.seed_patience
        self._longest_rest = settings.longest_rest
        self._ledger = ledger
        self._store = ledger.state.store
        self._visitor = visitor
        self._robots = robots
        self._urls = urls
        self._stop = stop
        self._clock = clock
        self._waiting: dict[int, SeedTrouble] = {}
        """Seeds in trouble that wait for another try, by link."""
        self._lost: list[SeedTrouble] = []
        """Seeds that were given up."""
        self._has_news = False
        """A seed was visited since all of them were last looked at."""
        self._said: set[tuple[int, str]] = set()
        self._slow: set[int] = set()

    def begin(self) -> list[str]:
        """What is wrong with seeds since earlier runs; if there is no page yet, they are tried again first."""
        lost = self._store.lost_seeds()
        if lost and not self._ledger.pages:
            self._try_again(lost)
            lost = self._store.lost_seeds()
        return [message for seed in lost if seed.state == State.WAITING for message in self._trouble(seed)]

    def look(self) -> list[str]:
        """What there is to say now."""
        messages: list[str] = []
        for lease, outcome in self._ledger.take_seed_visits():
            self._has_news = True
            messages += self._visited(lease, outcome)
        if not self._ledger.pages:
            messages += self._slow_ones()
        if (self._waiting or self._longest_rest) and not self._visitor.in_flight:
            messages += self._give_up()
        return messages

    def _visited(self, lease: Lease, outcome: Outcome) -> Iterable[str]:
        self._waiting.pop(lease.id, None)
        if outcome.kind is Kind.REDIRECTED:
            return self._redirected(lease, outcome)
        link = self._store.link(lease.id)
        if link is None or outcome.kind in (Kind.FETCHED, Kind.LISTED):
            return ()
        return self._trouble(self._lost_seed(link))

    def _redirected(self, lease: Lease, outcome: Outcome) -> Iterable[str]:
        """A target that will not be fetched ends the seed."""
        url, reason = self._urls.canonical(outcome.location)
        number = self._ledger.state.urls.find(url) if url else None
        target = self._store.link(number) if number is not None else None
        if target is not None and target.state not in (State.EXCLUDED, State.FAILED):
            return ()
        why = f"{target.reason} {target.detail}".strip() if target else reason
        trouble = SeedTrouble(named(self._store, lease.id), f"redirects to {outcome.location[:200]}: {why}; given up")
        self._lost.append(trouble)
        return self._say(lease.id, State.EXCLUDED, trouble)

    def _lost_seed(self, link: LinkRow) -> LostSeed:
        host = self._ledger.state.hosts[link.host_id]
        return LostSeed(
            link.id,
            link.url,
            link.host_id,
            link.state,
            link.tries,
            link.reason,
            link.detail,
            host.ready_at,
            host.set_aside,
        )

    def _trouble(self, seed: LostSeed) -> Iterable[str]:
        why = why_not(seed, self._no_robots(seed.url))
        if not why and seed.state == State.WAITING and self._ledger.state.hosts[seed.host_id].failures:
            why = f"its host does not answer; next try at {clock_time(seed.ready_at)}"
        if not why:
            return ()
        trouble = SeedTrouble(named(self._store, seed.id), why)
        if seed.state == State.WAITING:
            self._waiting[seed.id] = trouble
        else:
            self._lost.append(trouble)
        return self._say(seed.id, seed.state, trouble)

    def _say(self, link: int, state: str, trouble: SeedTrouble) -> Iterable[str]:
        if (link, state) in self._said:
            return ()
        self._said.add((link, state))
        self._ledger.note("seed", str(trouble))
        return (str(trouble),)

    def _no_robots(self, url: str) -> NoRobots | None:
        robots = self._robots.get(origin(url))
        if robots is None or robots.file.state is not RobotsState.DISALLOW_ALL:
            return None
        file = robots.file
        return NoRobots(file.failure or f"http {file.status}", file.expires_at, bool(file.status))

    def _slow_ones(self) -> list[str]:
        now, messages = self._clock.now(), []
        for link, visit in self._visitor.under_way.items():
            if now - visit.since < SLOW_AFTER:
                break  # the others are younger
            row = self._store.link(link) if link not in self._slow and not visit.is_fetched else None
            self._slow.add(link)
            if row is not None and not row.distance:
                messages.append(f"{named(self._store, link)}: no answer yet after {SLOW_AFTER:.0f} s; still waiting")
        return messages

    def _give_up(self) -> Iterable[str]:
        """End the crawl if there is nothing left but seeds that cannot be reached for a while, or hosts that rest."""
        frontier, now = self._ledger.state.frontier, self._clock.now()
        ready_at = frontier.next_ready(now)
        if ready_at is None:
            return ()
        if 0 < self._longest_rest < ready_at - now:
            self._stop.request(f"all hosts rest, the first of them until {clock_time(ready_at)}")
        if not 0 < self._patience < ready_at - now:
            return ()
        messages: list[str] = []
        if self._has_news:  # seeds that were not tried may be on hosts that do not answer
            self._has_news = False
            for seed in self._store.lost_seeds():
                messages += self._trouble(seed) if seed.state == State.WAITING else ()
        if frontier.waiting <= len(self._waiting):
            self._stop.request(self._why_over())
        return messages

    def _why_over(self) -> str:
        troubles = [*self._waiting.values(), *self._lost]
        others = len(troubles) - SHOWN
        listed = ", ".join(trouble.url for trouble in troubles[:SHOWN]) + (
            f" and {others:,} more" if others > 0 else ""
        )
        nothing = "nothing left to fetch but seeds that cannot be reached" if self._ledger.pages else NO_SEED
        return f"{nothing}: {listed}; lycosa status says why"

    def _try_again(self, lost: list[LostSeed]) -> None:
        """Somebody has started the crawl again: seeds that failed wait once more, and silent hosts are asked again."""
        batch, state = Batch(), self._ledger.state
        failed = [(seed.id, seed.host_id) for seed in lost if seed.state == State.FAILED]
        state.urls.queue_again(failed, state.strategy.seed_score(), batch)
        for seed in lost:
            robots = self._no_robots(seed.url)
            has_answered = seed.reason.startswith("http ") or (robots is not None and robots.has_answered)
            if has_answered or seed.state == State.EXCLUDED or not why_not(seed, robots):
                continue
            state.hosts.ask_again(seed.host_id, batch, now=self._clock.now())
            if robots is not None:
                self._robots.forget(origin(seed.url))
        self._ledger.write(batch)
