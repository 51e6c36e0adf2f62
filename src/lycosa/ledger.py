"""commit: visits become one transaction.

For each visit the ledger writes what happened (outcome, page, judgement, links), what follows (new links,
the link's own state, retries, the host's clock and record), and where the answer lies in the archive. If
the process dies before the transaction is through, none of it happened: the frontier in memory goes with
the process, and is built again from the store.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Iterable, Mapping

import numpy as np

from lycosa.errors import ConfigError
from lycosa.fetch.archive import Archive
from lycosa.fetch.cache import PageCache
from lycosa.fetch.fetcher import RobotsBook
from lycosa.fetch.politeness import Politeness
from lycosa.fetch.urls import Urls, origin
from lycosa.frontier.frontier import Frontier
from lycosa.frontier.rescoring import score_again
from lycosa.frontier.strategy import Strategy
from lycosa.hosts import HostBook
from lycosa.lib.clock import Clock
from lycosa.lib.hashindex import HashIndex
from lycosa.linkbook import LinkBook
from lycosa.model import Judgement, Kind, Lease, Page, Visit
from lycosa.store.rows import Batch, JudgementRow, OutcomeRow, PageRow, RobotsRow, State, StateRow
from lycosa.store.store import Store

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
Place = tuple[str, int]
"""Archive file and offset."""
NOWHERE: Place = ("", -1)
SYNC_EVERY = 1.0
WINDOW = 1_000
"""Pages over which the current harvest rate is taken."""


class CrawlLedger:
    """Turns visits into rows, and tells frontier and strategy. One per run."""

    def __init__(
        self,
        *,
        store: Store,
        run: int,
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
    ) -> None:
        self._store = store
        self._run = run
        self._frontier = frontier
        self._strategy = strategy
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
        if strategy.is_retold:
            for visit, targets in store.visits():
                strategy.tell(visit, targets)
        try:
            strategy.restore(store.state("strategy") or b"")
        except ValueError as error:
            raise ConfigError(
                f"{store.path}: this crawl was begun with another strategy ({error}); "
                f"go on with that one, or begin a crawl with {strategy.name} in another directory"
            ) from error
        self.hosts = HostBook(store.hosts(), politeness=politeness, frontier=frontier)
        self.hosts.restore_clocks(store.addresses(), rest_from=rest_from)
        self._links = LinkBook(
            store,
            frontier=frontier,
            hosts=self.hosts,
            follow_nofollow=follow_nofollow,
            max_links_per_host=politeness.max_links_per_host,
        )
        self._prints = HashIndex()
        self._prints.add(*store.fingerprints())
        totals = store.totals()
        self.pages = totals.pages
        self.relevant = totals.relevant
        self.recent: deque[tuple[float, bool]] = deque(store.recent_relevance(WINDOW), maxlen=WINDOW)
        """(relevance, is_relevant) of the latest pages."""
        if dropped:  # the buffer is smaller than in the last run
            batch = Batch()
            self._links.drop(dropped, batch)
            self._write(batch)

    def leases(self, links: list[int]) -> list[Lease]:
        return self._store.leases(links)

    def add_seeds(self, urls: Iterable[str]) -> int:
        """Queue the seeds that are new; return how many were."""
        batch = Batch()
        score = self._strategy.seed_score()
        added = sum(self._links.add(url, batch, parent=None, redirects=0, score=score) for url in urls)
        self._write(batch)
        return added

    def note(self, kind: str, message: str) -> None:
        """An event of the crawl as a whole."""
        batch = Batch()
        self._event(batch, kind, message)
        self._write(batch)

    def commit(self, visits: list[Visit]) -> None:
        batch = Batch()
        # First: what `ask` gave since the last commit is older than what these visits bring.
        batch.scores.extend((score, link) for link, score in self._strategy.rescored().items())
        for visit in visits:
            self._enter(visit, batch)
        self._write(batch)
        if change := self._strategy.take_change():
            self.score_again(change)

    def score_again(self, why: str) -> int:
        """Every waiting link gets the score it has as things stand now; how many changed."""
        news = score_again(self._strategy, self._frontier, self._store.visits())
        batch = Batch()
        batch.scores.extend(zip(news.scores.tolist(), news.links.tolist(), strict=True))
        self._event(batch, "focus", f"{why}; {len(news.links):,} waiting links have another score")
        self._write(batch)
        return len(news.links)

    def _write(self, batch: Batch) -> None:
        """The transaction, with the state that belongs to this very moment."""
        for file in self._robots.take_news():
            batch.robots[file.origin] = RobotsRow(
                file.origin,
                str(file.state),
                file.status,
                file.failure,
                file.failures,
                file.body,
                file.fetched_at,
                file.expires_at,
                json.dumps(self._robots_facts(file.origin)),
            )
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
            batch.outcomes.append(self._outcome_row(visit, place))
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
            self._page(visit, visit.page, visit.judgement, batch, place)
            self._expand(visit, visit.page, batch)

    def _redirect(self, visit: Visit, batch: Batch) -> None:
        """The target becomes a link like any other, worth what its source was."""
        lease = visit.lease
        url, reason = self._urls.canonical(visit.outcome.location)
        if not reason and lease.redirects >= self._max_redirects:
            reason = "too many redirects"
        if url:
            self._links.add(url, batch, parent=lease, redirects=lease.redirects + 1, score=lease.score, reason=reason)

    def _page(self, visit: Visit, page: Page, judgement: Judgement | None, batch: Batch, place: Place) -> None:
        lease, fetched = visit.lease, visit.fetched
        host = self.hosts[lease.host]
        self.pages += 1
        host.pages += 1
        batch.pages.append(
            PageRow(
                id=lease.id,
                number=self.pages,
                run_id=self._run,
                fetched_at=fetched.ended,
                title=page.title,
                language=page.language,
                charset=page.charset,
                bytes=len(fetched.response.body) if fetched.response else 0,
                words=page.words,
                fingerprint=_signed(page.fingerprint),
                duplicate_of=self._twin(page, lease.id),
                canonical=page.canonical,
                is_noindex=page.is_noindex,
                is_nofollow=page.is_nofollow,
                archive_file=place[0],
                archive_offset=place[1],
            )
        )
        if judgement is None:
            return
        self.relevant += judgement.is_relevant
        host.relevant += judgement.is_relevant
        self.recent.append((judgement.relevance, judgement.is_relevant))
        batch.judgements.append(
            JudgementRow(
                page_id=lease.id,
                judge=self._judge,
                relevance=judgement.relevance,
                is_relevant=judgement.is_relevant,
                scores=json.dumps(dict(judgement.scores)),
                terms=json.dumps(dict(judgement.terms)),
                best=judgement.best,
            )
        )

    def _twin(self, page: Page, link: int) -> int | None:
        """The first page with exactly this fingerprint, if it is not this one."""
        if not page.fingerprint:
            return None
        ids, is_new = self._prints.find_or_add(np.array([_signed(page.fingerprint)]), link)
        return None if is_new[0] else int(ids[0])

    def _expand(self, visit: Visit, page: Page, batch: Batch) -> None:
        numbers, is_new = self._links.number(page)
        targets = numbers[: len(page.links)]
        scores = self._strategy.tell(visit, targets)
        self._links.expand(visit.lease, page, numbers, is_new, scores, batch)
        source = visit.lease.id
        batch.edges.extend(
            (source, link.position, target, link.anchor, link.rel)
            for link, target in zip(page.links, targets.tolist(), strict=True)
        )

    def _outcome_row(self, visit: Visit, place: Place) -> OutcomeRow:
        fetched, outcome = visit.fetched, visit.outcome
        return OutcomeRow(
            link_id=visit.lease.id,
            run_id=self._run,
            at=fetched.ended or self._clock.now(),
            kind=str(outcome.kind),
            reason=outcome.reason,
            detail=outcome.detail,
            status=outcome.status,
            seconds=fetched.seconds,
            bytes=len(fetched.response.body) if fetched.response else 0,
            address=fetched.address,
            from_cache=fetched.from_cache,
            archive_file=place[0],
            archive_offset=place[1],
        )

    def _robots_facts(self, place: str) -> dict[str, object]:
        robots = self._robots.get(place)
        return {"crawl_delay": robots.crawl_delay, "sitemaps": list(robots.sitemaps)} if robots else {}

    def _event(self, batch: Batch, kind: str, message: str) -> None:
        batch.events.append((self._run, self._clock.now(), kind, message))


def _signed(value: int) -> int:
    """A 64-bit number as SQLite keeps it."""
    return value - (1 << 64) if value >= 1 << 63 else value
