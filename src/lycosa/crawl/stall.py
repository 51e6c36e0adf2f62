"""A crawl that has stalled says why: on the screen, and as an event in the store.

It has stalled when no visit has been finished for a while although links wait or are under way. The cause is derived
from the hosts, the fetches and the readers; it is reported once, and again when it has changed. The words contain times
of day, not durations, so that the same cause has the same words. (A full disk is no stall: store and archive refuse to
go on.)
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass

from lycosa.crawl.commit import CrawlLedger
from lycosa.crawl.hosts import Host
from lycosa.crawl.reader_pool import Readers
from lycosa.crawl.visits import LiveVisitor, UnderWay
from lycosa.fetch.fetcher import RobotsBook
from lycosa.fetch.robots import RobotsState
from lycosa.frontier.frontier import Frontier
from lycosa.lib.bounds import require_at_least
from lycosa.lib.clock import Clock

LOOK_EVERY = 5.0
"""Seconds between two looks at all hosts during a stall."""
LONGEST_URL = 200
SCHEMES = ("http", "https")


@dataclass(frozen=True, slots=True, kw_only=True)
class StallSettings:
    """When a crawl reports that it has stalled."""

    seconds: float = 30.0
    """Seconds without a finished visit after which the cause is reported; 0 means never."""
    seed_patience: float = 60.0
    """Seconds to wait if nothing is left but seeds that cannot be reached: if none of them may be asked again sooner,
    the crawl ends. 0 means as long as it takes."""
    longest_rest: float = 0.0
    """Maximum number of seconds for which all hosts with waiting links may rest: beyond it the crawl ends. 0 means no
    limit."""

    def __post_init__(self) -> None:
        require_at_least(self, "stall", seconds=0, seed_patience=0, longest_rest=0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What is known about a stalled crawl. Hosts are those that have waiting links."""

    waiting: int
    """Links."""
    hosts: int = 0
    aside: int = 0
    """Number of hosts set aside."""
    resting: int = 0
    """Number of other hosts that may not be asked yet."""
    without_robots: int = 0
    """Number of resting hosts whose robots.txt is unreachable: nothing may be fetched there until it is."""
    ready_at: float | None = None
    """When the first host may be asked again; None if waiting will change nothing."""
    first: str = ""
    """That host; empty if it is a shared address that rests."""
    fetching: int = 0
    reading: int = 0
    oldest: UnderWay | None = None
    """The visit that has been under way longest."""
    readers: int = 0
    readers_ready: int = 0


def cause(facts: Facts) -> str:
    """Why nothing is finished, in words."""
    return "; ".join(words for words in (_under_way(facts), _readers(facts), _hosts(facts)) if words)


def _under_way(facts: Facts) -> str:
    if facts.oldest is None:
        return ""
    fetches = f"{_count(facts.fetching, 'fetch', 'fetches')} under way" if facts.fetching else ""
    pages = f"{_count(facts.reading, 'page')} to be read" if facts.reading else ""
    oldest = f"the oldest since {clock_time(facts.oldest.since)}: {facts.oldest.url[:LONGEST_URL]}"
    return f"waiting for {' and '.join(part for part in (fetches, pages) if part)}, {oldest}"


def _readers(facts: Facts) -> str:
    missing = facts.readers - facts.readers_ready
    return f"{missing} of {_count(facts.readers, 'reader')} being started" if missing > 0 else ""


def _hosts(facts: Facts) -> str:
    """Why no waiting link is leased."""
    if not facts.waiting:
        return ""
    able = facts.hosts - facts.aside
    if not able:
        return f"the {_count(facts.waiting, 'waiting link')} are on hosts that were set aside"
    if not facts.resting:
        return "" if facts.oldest is not None else "hosts are ready, but the strategy hands out none of their links"
    every = f"all {able:,} hosts" if able > 1 else "the only host"
    who = every if facts.resting == able else f"{facts.resting:,} of {able:,} hosts"
    if facts.without_robots == facts.resting:
        words = f"{who} with waiting links may not be asked: robots.txt is unreachable"
    else:
        words = f"{who} with waiting links {'rests' if able == 1 else 'rest'}"
        if facts.without_robots:
            words += f", {facts.without_robots:,} of them because robots.txt is unreachable"
    if facts.ready_at is not None:
        words += f", {facts.first} until" if facts.first and able > 1 else ", until"
        words += f" {clock_time(facts.ready_at)}"
        if facts.first and able == 1:
            words += f": {facts.first}"
    return words


class Lookout:
    """Notices that a crawl has stalled, and finds out why."""

    def __init__(
        self,
        settings: StallSettings,
        *,
        frontier: Frontier,
        ledger: CrawlLedger,
        visitor: LiveVisitor,
        robots: RobotsBook,
        clock: Clock,
        readers: Readers | None = None,
    ) -> None:
        self._seconds = settings.seconds
        self._frontier = frontier
        self._ledger = ledger
        self._visitor = visitor
        self._robots = robots
        self._readers = readers
        self._clock = clock
        self._next = 0.0
        self._ready_since = math.inf
        """Since when a host could have been asked."""
        self.cause = ""
        """Why the crawl has stalled; empty while it has not."""

    def look(self) -> str:
        """Called at every turn of the loop: the cause of a stall if it is new, then also stored as an event."""
        now = self._clock.now()
        if not self._seconds or now - self._ledger.last_visit_at < self._seconds:
            self.cause = ""
            self._next = 0.0
            self._ready_since = math.inf
            return ""
        if now < self._next or self._is_about_to_move(now):
            return ""
        self._next = now + LOOK_EVERY
        before, self.cause = self.cause, cause(self.facts())
        if not self.cause or self.cause == before:
            return ""
        self._ledger.note("stall", f"nothing fetched since {clock_time(self._ledger.last_visit_at)}: {self.cause}")
        return self.cause

    def _is_about_to_move(self, now: float) -> bool:
        """A host has just become ready: most likely the next turn of the loop leases a link."""
        ready_at = self._frontier.next_ready(now)
        is_ready = ready_at is not None and ready_at <= now
        self._ready_since = min(self._ready_since, now) if is_ready else math.inf
        return is_ready and now - self._ready_since < LOOK_EVERY

    def facts(self) -> Facts:
        """O(hosts)."""
        now = self._clock.now()
        ready_at = self._frontier.next_ready(now)
        under_way = self._visitor.under_way
        reading = sum(visit.is_fetched for visit in under_way.values())
        busy = {visit.host for visit in under_way.values()}
        able = [host for host in self._ledger.state.hosts if self._frontier.waiting_of(host.id)]
        count = len(able)
        able = [host for host in able if not host.set_aside]
        is_ready = ready_at is not None and ready_at <= now
        # A host whose own clock has run out, and that is not ready, has to wait for its address.
        resting = [host for host in able if host.ready_at > now or not (is_ready or host.id in busy)]
        return Facts(
            waiting=self._frontier.waiting,
            hosts=count,
            aside=count - len(able),
            resting=len(resting),
            without_robots=sum(self._has_no_robots(host, now) for host in resting),
            ready_at=None if is_ready else ready_at,
            first=next((host.name for host in resting if host.ready_at == ready_at), ""),
            fetching=len(under_way) - reading,
            reading=reading,
            oldest=next(iter(under_way.values()), None),
            readers=self._readers.count if self._readers else 0,
            readers_ready=self._readers.ready if self._readers else 0,
        )

    def _has_no_robots(self, host: Host, now: float) -> bool:
        known = (self._robots.get(f"{scheme}://{host.name}") for scheme in SCHEMES)
        files = (robots.file for robots in known if robots is not None)
        return any(file.state is RobotsState.DISALLOW_ALL and file.expires_at > now for file in files)


def clock_time(at: float) -> str:
    """The time of day where the crawl runs."""
    return time.strftime("%H:%M:%S", time.localtime(at))


def _count(number: int, one: str, many: str = "") -> str:
    return f"{number:,} {one if number == 1 else many or one + 's'}"
