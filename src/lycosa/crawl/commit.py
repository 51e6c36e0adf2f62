"""commit: visits become one transaction.

For each visit the ledger writes what happened (outcome, page, judgement, links), what follows (new links,
the link's own state, retries, the host's clock and record), and where the answer lies in the archive. If
the process dies before the transaction is through, none of it happened: the frontier in memory goes with
the process, and is built again from the store.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from lycosa.crawl.hosts import HostBook
from lycosa.crawl.url_index import LinkBook
from lycosa.crawl.visit_rows import (
    Place,
    is_relevant,
    judgement_row,
    outcome_row,
    page_row,
    robots_row,
    signed,
    tally_of,
)
from lycosa.errors import ConfigError
from lycosa.fetch.archive import Archive
from lycosa.fetch.cache import PageCache
from lycosa.fetch.fetcher import RobotsBook
from lycosa.fetch.politeness import Politeness
from lycosa.fetch.urls import Urls, origin
from lycosa.frontier.frontier import Frontier
from lycosa.lib.clock import Clock
from lycosa.lib.hashindex import HashIndex
from lycosa.model import Judgement, Kind, Lease, Page, Visit
from lycosa.stopping.figures import Figures
from lycosa.stopping.rules import NO_RULES, StopRules
from lycosa.store.protocol import Store
from lycosa.store.rows import Batch, State, StateRow
from lycosa.strategies.protocol import Strategy
from lycosa.strategies.rescoring import score_again

FINAL_STATES: Mapping[Kind, str] = {
    Kind.FETCHED: State.DONE,
    Kind.REDIRECTED: State.DONE,
    Kind.SKIPPED: State.DONE,
    Kind.EXCLUDED: State.EXCLUDED,
    Kind.REFUSED: State.EXCLUDED,
    Kind.HTTP_ERROR: State.FAILED,
    Kind.UNREACHABLE: State.FAILED,
    Kind.UNREADABLE: State.FAILED,
}
NOWHERE: Place = ("", -1)
THRESHOLD, JUDGE, DISTILLER, DISTILLED_AT = "threshold", "judge", "distiller", "distilled at"
LEARNED_AT, ADVISED, OUTLOOK = "learned at", "advised", "outlook"
"""Names of state."""
STEERED = frozenset({"focus", "judge", "distilled", "advice"})
"""Events that change the crawl's course, or would."""
SYNC_EVERY = 1.0
WINDOW = 1_000
"""Pages over which the current harvest rate is taken."""


class FoundPage(NamedTuple):
    """A page that has just been committed."""

    number: int
    """Its place in the order of the crawl, from 1."""
    url: str
    title: str
    relevance: float
    is_relevant: bool
    language: str
    text: str
    """Empty unless somebody asked for texts."""


class CrawlLedger:
    """Turns visits into rows, and tells frontier and strategy. One per run."""

    def __init__(
        self,
        *,
        store: Store,
        frontier: Frontier,
        strategy: Strategy,
        urls: Urls,
        politeness: Politeness,
        max_redirects: int,
        robots: RobotsBook,
        archive: Archive | None,
        cache: PageCache | None = None,
        judge: str,
        clock: Clock,
        follow_nofollow: bool = False,
        rest_from: float | None = None,
        rules: StopRules = NO_RULES,
        max_distance: int | None = None,
        begun_with: str = "",
    ) -> None:
        self._store = store
        self._run = 0
        self._frontier = frontier
        self._strategy = strategy
        self._abilities = strategy.abilities
        self._urls = urls
        self._politeness = politeness
        self._max_redirects = max_redirects
        self._robots = robots
        self._archive = archive
        self._cache = cache
        self._synced_at = 0.0
        self._judge = judge
        self._clock = clock
        waiting = store.waiting()
        dropped = frontier.load(waiting.ids, waiting.hosts, waiting.scores)
        try:
            if self._abilities.is_retold:
                for visit, targets in store.visits():
                    strategy.tell(visit, targets)
            strategy.restore(store.state("strategy") or b"")
        except ValueError as error:
            raise ConfigError(
                f"{store.path}: this crawl was begun with strategy {begun_with or 'of another version'} and cannot "
                f"go on with {strategy.name} ({error}); leave --strategy out, or begin a crawl in another directory"
            ) from error
        self.hosts = HostBook(store.hosts(), politeness=politeness, frontier=frontier)
        self.hosts.restore_clocks(store.addresses(), rest_from=rest_from)
        self._links = LinkBook(
            store,
            frontier=frontier,
            hosts=self.hosts,
            follow_nofollow=follow_nofollow,
            max_links_per_host=politeness.max_links_per_host,
            max_distance=max_distance,
        )
        self.changes: list[tuple[str, str]] = []
        """(kind, message) of what changed the crawl's course in this run: focus, judge, distillation."""
        self._revisits = store.links_to_revisit()
        """Pages that are to be fetched again."""
        self._prints = HashIndex()
        self._prints.add(*store.fingerprints())
        self._rules = rules
        self._tally = tally_of(store, rules)
        stored = store.state(THRESHOLD)
        self._rescored: dict[int, float] = {}
        """Scores given by `ask` since the last commit."""
        self._threshold = float(stored) if stored else None
        """Relevance from which on pages count as relevant, where it was found out in the crawl."""
        self.last_visit_at = clock.now()
        """When a visit was last finished; before the first one, when this run began."""
        self.recent: deque[tuple[float, bool]] = deque(store.recent_relevance(WINDOW), maxlen=WINDOW)
        """(relevance, is_relevant) of the latest pages."""
        self._dropped = dropped
        self._found: list[FoundPage] = []

    def begin(self, run: int) -> None:
        """A run has begun; what it changes by beginning is written."""
        self._run = run
        if self._dropped:  # the buffer is smaller than in the last run
            batch = Batch()
            self._links.drop(self._dropped, batch)
            self._write(batch)
        if change := self._abilities.take_change():  # the last run was cut off before it had scored links again
            self.score_again(change)

    @property
    def pages(self) -> int:
        return self._tally.pages

    @property
    def relevant(self) -> int:
        return self._tally.relevant

    def figures(self) -> Figures:
        return self._tally.figures()

    def leases(self, links: list[int]) -> list[Lease]:
        # `ask` may have given scores, also to links that it leased then; the next commit stores them.
        self._rescored.update(self._frontier.take_revised())
        leases = self._store.leases(links)
        if not self._rescored:
            return leases
        return [lease._replace(score=self._rescored.get(lease.id, lease.score)) for lease in leases]

    def add_seeds(self, urls: Iterable[str]) -> int:
        """Queue the seeds that are new; return how many were."""
        batch = Batch()
        score = self._strategy.seed_score()
        added = sum(self._links.add(url, batch, parent=None, redirects=0, score=score) for url in urls)
        self._write(batch)
        return added

    def take_found(self) -> list[FoundPage]:
        """Pages committed since the last call."""
        found, self._found = self._found, []
        return found

    def note(self, kind: str, message: str, state: Mapping[str, bytes] | None = None) -> None:
        """An event of the crawl as a whole, and state that belongs to it."""
        batch = Batch(state=dict(state or {}))
        self._event(batch, kind, message)
        self._write(batch)

    def commit(self, visits: list[Visit]) -> None:
        self.last_visit_at = self._clock.now()
        batch = Batch()
        # First: what `ask` gave since the last commit is older than what these visits bring.
        batch.scores.extend((score, link) for link, score in self._rescored.items())
        self._rescored = {}
        for visit in visits:
            self._enter(self._flagged(visit), batch)
        self._write(batch)
        if change := self._abilities.take_change():
            self.score_again(change)

    def score_again(self, why: str) -> int:
        """Every waiting link gets the score it has as things stand now; how many changed."""
        news = score_again(self._strategy, self._frontier, self._store.visits())
        batch = Batch()
        batch.scores.extend(zip(news.scores.tolist(), news.links.tolist(), strict=True))
        self._event(batch, "focus", f"{why}; {len(news.links):,} waiting links have another score")
        self._write(batch)
        return len(news.links)

    def _flagged(self, visit: Visit) -> Visit:
        """Readers may have judged it before the threshold was known."""
        judgement = visit.judgement
        if self._threshold is None or judgement is None:
            return visit
        return replace(visit, judgement=replace(judgement, is_relevant=judgement.relevance >= self._threshold))

    def set_threshold(self, threshold: float, why: str) -> None:
        """Pages are relevant from this relevance on, those fetched before, too."""
        self._threshold = threshold
        batch = Batch(threshold=threshold, recounts_hosts=True)
        batch.state[THRESHOLD] = repr(threshold).encode()
        self._event(batch, "judge", why)
        self._write(batch)
        self.count_again()

    def keep_version(self, version: int) -> None:
        """Which version of the judge the crawl begins with."""
        self._write(Batch(state={JUDGE: str(version).encode()}))

    def keep_outlook(self, outlook: str) -> None:
        """What the crawl expects of the pages it has not fetched, as it ends: JSON (`stopping.outlook`)."""
        self._write(Batch(state={OUTLOOK: outlook.encode()}))

    def adopt_judge(self, version: int, why: str) -> None:
        """Another version judges from now on, and has judged what was fetched before: links are scored by that."""
        batch = Batch(recounts_hosts=True)
        batch.state[JUDGE] = str(version).encode()
        self._event(batch, "judge", why)
        self._write(batch)
        self.count_again()
        self.score_again(f"judge version {version}")

    def regrade(self, relevance: Mapping[int, float], threshold: float, lesson: str = "") -> None:
        """The judge has learned: pages, by their numbers, have this relevance now."""
        batch = Batch(recounts_hosts=True)
        batch.grades.extend((value, value >= threshold, number) for number, value in relevance.items())
        if lesson:
            batch.state[LEARNED_AT] = str(self.pages).encode()
            self._event(batch, "judge", lesson)
        self._write(batch)
        self.count_again()

    def count_again(self) -> None:
        """The judgements in the store have changed."""
        self._tally = tally_of(self._store, self._rules)
        self.recent.clear()
        self.recent.extend(self._store.recent_relevance(WINDOW))
        relevant = self._store.relevant_by_host()
        for host in self.hosts:
            host.relevant = relevant.get(host.id, 0)

    def favour(self, links: Sequence[int], hubs: Sequence[int], state: bytes, why: str) -> None:
        """After a distillation: what the hubs cite is fetched next, and the hubs themselves once more."""
        batch = Batch()
        score = self._strategy.seed_score()
        raised = self._links.raise_to(np.array(links, dtype=np.int64), score, batch)
        known = [self._store.link(hub) for hub in hubs if hub not in self._revisits]
        rows = [row for row in known if row is not None and row.state == State.DONE]
        self._links.revisit([(row.id, row.host_id) for row in rows], score, batch)
        self._revisits.update(row.id for row in rows)
        batch.state[DISTILLER] = state
        batch.state[DISTILLED_AT] = str(self.pages).encode()
        self._event(batch, "distilled", f"{why}; {raised:,} links raised, {len(rows)} hubs to be fetched again")
        self._write(batch)

    def _write(self, batch: Batch) -> None:
        """The transaction, with the state that belongs to this very moment."""
        for file in self._robots.take_news():
            batch.robots[file.origin] = robots_row(file, self._robots.get(file.origin))
        if self._archive is not None:
            self._sync(self._archive)
            batch.state["archive"] = json.dumps(self._archive.position()).encode()
        if self._cache is not None:
            self._cache.commit()
        if learned := self._strategy.save():
            batch.state["strategy"] = learned
        self._store.write(batch)

    def _sync(self, archive: Archive) -> None:
        """Once a second down to the disk; in between, as `position` does, to the operating system.

        A kill loses nothing either way. SQLite's journal is as lazy: a power failure may cost the last moments, and
        what is then missing from the archive is noted on resume.
        """
        now = self._clock.now()
        if now - self._synced_at >= SYNC_EVERY:
            archive.sync()
            self._synced_at = now

    def _enter(self, visit: Visit, batch: Batch) -> None:
        lease, outcome, fetched = visit.lease, visit.outcome, visit.fetched
        host = self.hosts[lease.host]
        self.hosts.meet(host, fetched.address)
        if outcome.kind is Kind.DEFERRED:
            robots = self._robots.get(origin(lease.url))
            host.crawl_delay = (robots.crawl_delay if robots else None) or 0.0
        why = self.hosts.keep_clock(host, visit, batch, now=self._clock.now())
        if why:
            self._event(batch, "host set aside", f"{host.name}: {why}")
        if outcome.kind is Kind.DEFERRED:
            self._links.drop(self._frontier.release(lease.id), batch)
        else:
            place = self._keep(visit)
            self._settle(visit, batch, place)
            batch.outcomes.append(outcome_row(visit, place, run=self._run, now=self._clock.now()))
            if fetched.response is not None and not fetched.from_cache:
                self._tally.add_bytes(len(fetched.response.body))
        batch.hosts[host.id] = host.row()

    def _keep(self, visit: Visit) -> Place:
        response = visit.fetched.response
        if self._archive is None or response is None or visit.outcome.kind is Kind.SKIPPED:
            return NOWHERE
        location = self._archive.append(response)
        return location.file, location.offset

    def _settle(self, visit: Visit, batch: Batch, place: Place) -> None:
        """The link's own fate, and what its page brought."""
        lease, outcome = visit.lease, visit.outcome
        tries = lease.tries + 1
        if outcome.is_transient and tries < self._politeness.max_tries:
            score = self._strategy.retry_score(lease.score, tries)
            batch.states.append(StateRow(State.WAITING, tries, outcome.reason, outcome.detail, lease.id))
            batch.scores.append((score, lease.id))
            self._links.drop(self._frontier.release(lease.id, score), batch)
            return
        batch.states.append(StateRow(FINAL_STATES[outcome.kind], tries, outcome.reason, outcome.detail, lease.id))
        self._frontier.done(lease.id)
        if outcome.kind is Kind.REDIRECTED:
            self._redirect(visit, batch)
        if visit.page is not None:
            if lease.id in self._revisits:
                batch.relinked.append(lease.id)
            else:
                self._page(visit, visit.page, visit.judgement, batch, place)
            self._expand(visit, visit.page, batch)
        self._revisits.discard(lease.id)

    def _redirect(self, visit: Visit, batch: Batch) -> None:
        """The target becomes a link like any other, worth what its source was."""
        lease = visit.lease
        url, reason = self._urls.canonical(visit.outcome.location)
        if not reason and lease.redirects >= self._max_redirects:
            reason = "too many redirects"
        if url:
            self._links.add(url, batch, parent=lease, redirects=lease.redirects + 1, score=lease.score, reason=reason)

    def _page(self, visit: Visit, page: Page, judgement: Judgement | None, batch: Batch, place: Place) -> None:
        lease = visit.lease
        host = self.hosts[lease.host]
        host.pages += 1
        batch.pages.append(
            page_row(visit, page, place, run=self._run, number=self.pages + 1, twin=self._twin(page, lease.id))
        )
        if judgement is None:
            return
        host.relevant += judgement.is_relevant
        self.recent.append((judgement.relevance, judgement.is_relevant))
        batch.judgements.append(judgement_row(lease.id, self._judge, judgement))
        self._found.append(
            FoundPage(
                self.pages + 1,
                lease.url,
                page.title,
                judgement.relevance,
                judgement.is_relevant,
                page.language,
                page.text,
            )
        )

    def _twin(self, page: Page, link: int) -> int | None:
        """The first page with exactly this fingerprint, if it is not this one."""
        if not page.fingerprint:
            return None
        ids, is_new = self._prints.find_or_add(np.array([signed(page.fingerprint)]), link)
        return None if is_new[0] else int(ids[0])

    def _expand(self, visit: Visit, page: Page, batch: Batch) -> None:
        numbers, is_new = self._links.number(page)
        targets = numbers[: len(page.links)]
        if visit.lease.id not in self._revisits:
            self._tally.add_page(visit.lease.id, targets, is_relevant=is_relevant(visit))
        scores = self._strategy.tell(visit, targets)
        if note := self._abilities.note():
            batch.notes.append((visit.lease.id, note))
        self._links.expand(visit.lease, page, numbers, is_new, scores, batch)
        source = visit.lease.id
        batch.edges.extend(
            (source, link.position, target, link.anchor, link.rel)
            for link, target in zip(page.links, targets.tolist(), strict=True)
        )

    def _event(self, batch: Batch, kind: str, message: str) -> None:
        batch.events.append((self._run, self._clock.now(), kind, message))
        if kind in STEERED:
            self.changes.append((kind, message))
