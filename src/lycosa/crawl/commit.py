"""commit: visits become one transaction.

For each visit the ledger writes what happened (outcome, page, judgement, links), what follows from it (new links, the
link's own state, retries, the host's clock and record), and where the answer is in the archive. If the process dies
before the transaction is through, none of it happened: the frontier in memory goes with the process, and is rebuilt
from the store.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import repeat
from typing import NamedTuple

import numpy as np

from lycosa.crawl.furniture_state import FURNITURE, SinceThen
from lycosa.crawl.lists import take_list
from lycosa.crawl.redirects import redirect_target
from lycosa.crawl.resume import ARCHIVE, STRATEGY, TRAPS, CrawlState
from lycosa.crawl.revisits import change_of, later_edges
from lycosa.crawl.shard import Sending
from lycosa.crawl.traps import is_reader_death
from lycosa.crawl.visit_rows import Place, is_relevant, judgement_row, outcome_row, page_row, robots_row, signed
from lycosa.fetch.archive import Archive
from lycosa.fetch.cache import PageCache
from lycosa.fetch.fetcher import RobotsBook
from lycosa.fetch.politeness import Politeness
from lycosa.fetch.urls import Urls, origin
from lycosa.lib.clock import Clock
from lycosa.model import Judgement, Kind, Lease, Link, Outcome, Page, Visit
from lycosa.page.parked import PARKED
from lycosa.stopping.figures import Figures
from lycosa.store.rows import TRAP, Batch, CheckRow, PageChange, PageRow, State, StateRow
from lycosa.strategies.protocol import Guessing
from lycosa.strategies.rescoring import score_again, scores_of_revisit
from lycosa.usage import OPTED_OUT

FINAL_STATES: Mapping[Kind, str] = {
    Kind.FETCHED: State.DONE,
    Kind.UNCHANGED: State.DONE,
    Kind.LISTED: State.DONE,
    Kind.REDIRECTED: State.DONE,
    Kind.SKIPPED: State.DONE,
    Kind.EXCLUDED: State.EXCLUDED,
    Kind.REFUSED: State.EXCLUDED,
    Kind.HTTP_ERROR: State.FAILED,
    Kind.UNREACHABLE: State.FAILED,
    Kind.UNREADABLE: State.FAILED,
}
ALIKE_BITS = 10
"""Bits of 64 in which fingerprints of a page and of what it says is its canonical version may differ."""
NOWHERE: Place = ("", -1)
STEERED = frozenset(
    {"focus", "judge", "answers", "distilled", "advice", "search", "trap", "command", "alarm", "alarm over"}
)
"""Events that change the crawl's course, or would."""
SYNC_EVERY = 1.0
"""Seconds between two times that the archive is written down to the disk."""
SAVE_FURNITURE_EVERY = 10.0
"""Seconds between two commits with all that is known of the furniture of hosts, which may be megabytes."""
SAVING_SHARE = 0.01
"""Share of the time that this may take: in a large crawl it is done less often."""
SCORES_EVERY = 5.0
"""Seconds between two commits with the scores of all links that got another one, if these can be restored."""
LONGEST_JOURNAL = 200_000
"""Bytes of pages since then, from which all is committed earlier."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Records:
    """What is kept beside the store, and has to be in step with it."""

    robots: RobotsBook
    archive: Archive | None = None
    cache: PageCache | None = None


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
        state: CrawlState,
        *,
        records: Records,
        urls: Urls,
        politeness: Politeness,
        judge: str,
        clock: Clock,
        sending: Sending | None = None,
    ) -> None:
        """`judge`: the name that judgements are stored under. `sending`: of a shard, its letters to others."""
        self._state = state
        self._records = records
        self._urls = urls
        self._politeness = politeness
        self._judge = judge
        self._clock = clock
        self._abilities = state.strategy.abilities
        self._sending = sending
        if sending is not None:
            state.urls.is_elsewhere = sending.is_elsewhere
        self._run = 0
        self._synced_at = 0.0
        self._next_saving = clock.now() + SAVE_FURNITURE_EVERY
        self._furniture_since = SinceThen(state.store)
        self._revised: dict[int, float] = {}
        """Scores given by `ask` that are not stored yet."""
        self._next_scores = 0.0
        self._found: list[FoundPage] = []
        self._seed_visits: list[tuple[Lease, Outcome]] = []
        self.log_event: Callable[[str, str], None] = _log_nothing
        """Called with kind and message of every event."""
        self._renews_pages = False
        self.rechecked: Counter[str] = Counter()
        """Number of looks at pages that were fetched before, by what became of these."""
        self.regraded = 0
        """Number of transactions that may have changed the relevance of earlier pages."""
        self.changes: list[tuple[str, str]] = []
        """(kind, message) of what has changed the crawl's course in this run."""
        self.last_visit_at = clock.now()
        """When a visit was last finished; before the first one, when this run began."""

    @property
    def state(self) -> CrawlState:
        return self._state

    @property
    def run(self) -> int:
        """The number of this run."""
        return self._run

    @property
    def pages(self) -> int:
        return self._state.tally.pages

    @property
    def relevant(self) -> int:
        return self._state.tally.relevant

    def figures(self) -> Figures:
        return self._state.tally.figures()

    def renew_pages(self) -> None:
        """From now on, pages that are fetched again become what they are now."""
        self._renews_pages = True

    def begin(self, run: int) -> None:
        """A run has begun; write what it changes by beginning."""
        self._run = run
        if self._state.dropped:  # the buffer is smaller than in the last run
            batch = Batch()
            self._state.urls.drop(self._state.dropped, batch)
            self.write(batch)
        self.readmit_hosts()
        if change := self._abilities.take_change():  # the last run was cut off before it had scored links again
            self.score_again(change)

    def add_seeds(self, urls: Iterable[str]) -> int:
        """Queue the seeds that are new; return how many were."""
        batch = Batch()
        score = self._state.strategy.seed_score()
        added = sum(self._state.urls.add_seed(url, score, batch) for url in urls)
        self.write(batch)
        return added

    def leases(self, links: list[int]) -> list[Lease]:
        # `ask` may have revised scores, also of links that it leased then; a later commit stores them.
        self._revised.update(self._state.frontier.take_revised())
        leases, revisits = self._state.store.leases(links), self._state.revisits
        if not self._revised and not revisits:
            return leases
        return [
            lease._replace(score=self._revised.get(lease.id, lease.score), is_revisit=lease.id in revisits)
            for lease in leases
        ]

    def commit(self, visits: list[Visit]) -> None:
        self.last_visit_at = self._clock.now()
        batch = Batch()
        # First: what `ask` gave since the last commit is older than what these visits bring.
        self._enter_scores(visits, batch)
        for visit in visits:
            self._enter(self._flagged(visit), batch)
        self.write(batch)
        if change := self._abilities.take_change():
            self.score_again(change)

    def _enter_scores(self, visits: Sequence[Visit], batch: Batch) -> None:
        """Scores that `ask` gave: of the links that were visited; of all others, too, unless they can be restored."""
        if self._abilities.restores_scores and self.last_visit_at < self._next_scores:
            visited = {visit.lease.id for visit in visits}.intersection(self._revised)
            batch.scores.extend((self._revised.pop(link), link) for link in visited)
            return
        self._next_scores = self.last_visit_at + SCORES_EVERY
        batch.scores.extend((score, link) for link, score in self._revised.items())
        self._revised = {}

    def write_scores(self) -> None:
        """Store the scores that `ask` gave and that are not stored yet."""
        if self._revised:
            batch = Batch()
            batch.scores.extend((score, link) for link, score in self._revised.items())
            self.write(batch)

    def take_found(self) -> list[FoundPage]:
        """Pages committed since the last call."""
        found, self._found = self._found, []
        return found

    def take_seed_visits(self) -> list[tuple[Lease, Outcome]]:
        """Visits to seeds, and to what they redirect to, that were committed since the last call."""
        visits, self._seed_visits = self._seed_visits, []
        return visits

    def write(self, batch: Batch, *, event: tuple[str, str] | None = None) -> None:
        """One transaction, with the state that belongs to this very moment. `event`: its kind and message."""
        if event is not None:
            self._note(batch, *event)
        records = self._records
        for file in records.robots.take_news():
            batch.robots[file.origin] = robots_row(file, records.robots.get(file.origin))
        if records.archive is not None:
            for news in records.archive.take_news():
                self._note(batch, ARCHIVE, news)
            self._sync(records.archive)
            batch.state[ARCHIVE] = json.dumps(records.archive.position()).encode()
        if records.cache is not None:
            records.cache.commit()
        self._save_furniture(batch)
        if self._sending is not None:
            self._sending.add_rest(batch)
        if learned := self._state.strategy.save():
            batch.state[STRATEGY] = learned
        if self._revised:
            for _, link in batch.scores:  # newer than what `ask` gave
                self._revised.pop(link, None)
        self._state.store.write(batch)
        if records.archive is not None:
            records.archive.committed()
        if batch.grades or batch.answers or batch.taken_over or batch.threshold is not None:
            self.regraded += 1

    def _save_furniture(self, batch: Batch) -> None:
        """Now and then all that is known, otherwise the pages since: a killed crawl reads on as it would have."""
        now, furniture = self._clock.now(), self._state.furniture
        journal = furniture.journal
        if self._state.traps.is_changed:
            batch.state[TRAPS] = self._state.traps.save()
        if len(journal) > LONGEST_JOURNAL or now >= self._next_saving:
            batch.state[FURNITURE], journal = furniture.save(), b""
            batch.state[TRAPS] = self._state.traps.save()
            saved = self._clock.now()
            self._next_saving = saved + max(SAVE_FURNITURE_EVERY, (saved - now) / SAVING_SHARE)
        batch.state |= self._furniture_since.changes(journal)

    def note(self, kind: str, message: str, state: Mapping[str, bytes] | None = None) -> None:
        """An event of the crawl as a whole, and state that belongs to it."""
        self.write(Batch(state=dict(state or {})), event=(kind, message))

    def score_again(self, why: str) -> int:
        """Score every waiting link as things stand now; return how many scores changed."""
        news = score_again(self._state.strategy, self._state.frontier, self._state.store.visits())
        batch = Batch()
        batch.scores.extend(zip(news.scores.tolist(), news.links.tolist(), strict=True))
        self.write(batch, event=("focus", f"{why}; {len(news.links):,} waiting links have another score"))
        return len(news.links)

    def readmit_hosts(self) -> None:
        """Hosts that were set aside long enough ago are tried again."""
        batch = Batch()
        for name in self._state.hosts.readmit(batch, now=self._clock.now()):
            self._note(batch, "host readmitted", f"{name}: tried again")
        if batch.hosts:
            self.write(batch)

    def _flagged(self, visit: Visit) -> Visit:
        """Readers may have judged it before the threshold was known."""
        judgement, threshold = visit.judgement, self._state.threshold
        if threshold is None or judgement is None:
            return visit
        guide = judgement.guide and judgement.guide._replace(is_relevant=judgement.guide.relevance >= threshold)
        is_relevant = judgement.relevance >= threshold
        return replace(visit, judgement=replace(judgement, is_relevant=is_relevant, guide=guide))

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
        host = self._state.hosts[lease.host]
        self._state.hosts.meet(host, fetched)
        if outcome.kind is Kind.DEFERRED:
            robots = self._records.robots.get(origin(lease.url))
            host.crawl_delay = (robots.crawl_delay if robots else None) or 0.0
        why = self._state.hosts.keep_clock(host, visit, batch, now=self._clock.now())
        if why:
            self._note(batch, "host set aside", f"{host.name}: {why}")
        if outcome.kind is Kind.DEFERRED:
            self._state.urls.drop(self._state.frontier.release(lease.id), batch)
        else:
            place = self._keep(visit)
            self._settle(visit, batch, place)
            batch.outcomes.append(outcome_row(visit, place, run=self._run, now=self._clock.now()))
            if fetched.response is not None and not fetched.from_cache:
                self._state.tally.add_bytes(len(fetched.response.body))
        batch.hosts[host.id] = host.row()
        if not lease.distance:
            self._seed_visits.append((lease, outcome))

    def _keep(self, visit: Visit) -> Place:
        response, known = visit.fetched.response, visit.fetched.known
        if response is not None and not response.started:  # a fetcher that does not say when
            at = visit.fetched.ended or self._clock.now()
            response = replace(response, started=at, ended=at)
        if self._records.archive is not None and response is not None and known is not None:
            is_same = response.status == known.status and response.body == known.body
            if visit.outcome.kind is Kind.UNCHANGED or (is_same and visit.outcome.kind is Kind.FETCHED):
                self._records.archive.append_revisit(response, known)
                return NOWHERE  # what it brought is where it was
        is_not_kept = visit.outcome.kind in (Kind.SKIPPED, Kind.UNCHANGED) or visit.outcome.reason == OPTED_OUT
        if self._records.archive is None or response is None or is_not_kept:
            return NOWHERE
        location = self._records.archive.append(response, visit.fetched.rendering)
        return location.file, location.offset

    def _settle(self, visit: Visit, batch: Batch, place: Place) -> None:
        """The link's own fate, and what its page brought."""
        lease, outcome = visit.lease, visit.outcome
        tries = lease.tries + 1
        is_renewed = lease.is_revisit and self._renews_pages
        if outcome.is_transient and tries < self._politeness.max_tries and not is_renewed:
            batch.states.append(StateRow(State.WAITING, tries, outcome.reason, outcome.detail, lease.id))
            self._state.urls.drop(self._state.frontier.release(lease.id, tries=tries), batch)
            return
        # A page that was fetched once is there, whatever became of it since.
        final = State.DONE if lease.is_revisit else FINAL_STATES[outcome.kind]
        batch.states.append(StateRow(final, tries, outcome.reason, outcome.detail, lease.id))
        self._state.frontier.done(lease.id)
        if outcome.kind is Kind.REDIRECTED:
            self._redirect(visit, batch)
        if outcome.kind is Kind.LISTED and visit.page is not None:
            self._state.revisits.discard(lease.id)
            take_list(self._state, visit, visit.page, batch)
            return
        if lease.is_revisit:
            self._state.revisits.discard(lease.id)
            self._state.fetched_again.add(lease.id)
            self._recheck(visit, batch, place)
            if visit.page is not None:
                self._expand_again(visit, visit.page, batch)
        elif visit.page is not None:
            is_copy = self._page(visit, visit.page, visit.judgement, batch, place)
            self._avoid_traps(visit, is_copy, self._expand(visit, visit.page, batch), batch)
        elif outcome.reason == PARKED:
            self._set_aside(self._state.traps.add_copy(lease.url), batch)
        elif is_reader_death(outcome):
            self._set_aside(self._state.traps.add_death(lease.url), batch)

    def _recheck(self, visit: Visit, batch: Batch, place: Place) -> None:
        """A look at a page that was fetched before: what became of it since. In a refresh, the page becomes what it is
        now; otherwise it stays as it was told."""
        store, lease = self._state.store, visit.lease
        known, earlier = store.page(lease.id), store.checks(lease.id)
        if known is None:
            return
        was_gone = bool(earlier) and earlier[-1].change == PageChange.GONE
        since = max([known.fetched_at, *(row.at for row in earlier)])
        at, change = visit.fetched.ended or self._clock.now(), change_of(visit, known, was_gone)
        fingerprint = signed(visit.page.fingerprint) if visit.page is not None else known.fingerprint
        batch.checks.append(CheckRow(lease.id, self._run, min(since, at), at, change, fingerprint, *place))
        self.rechecked[change] += 1
        is_new = change in (PageChange.CHANGED, PageChange.BACK) and visit.page is not None
        if self._renews_pages and is_new and visit.page is not None:
            twin = self._twin(lease, visit.page)
            renewed = page_row(visit, visit.page, place, run=known.run_id, number=known.number, twin=twin, now=at)
            batch.pages.append(renewed if place != NOWHERE else _at_its_place(renewed, known))
            if visit.judgement is not None:
                before = store.judgement(lease.id, self._judge)
                self._state.hosts[lease.host].relevant += visit.judgement.is_relevant - bool(
                    before and before.is_relevant
                )
                batch.judgements.append(judgement_row(lease.id, self._judge, visit.judgement))

    def _avoid_traps(self, visit: Visit, is_copy: bool, new_links: float, batch: Batch) -> None:
        """`new_links`: the share of the page's links that are new."""
        traps, host = self._state.traps, self._state.hosts[visit.lease.host]
        found = traps.add_page(
            visit.lease.url,
            is_copy=is_copy,
            is_relevant=is_relevant(visit),
            new_links=new_links,
            words=visit.page.words if visit.page is not None else 0,
        )
        self._set_aside(found, batch)
        if rest := traps.extra_rest(host.name, self._politeness.delay):
            self._state.hosts.rest_longer(host, rest)

    def _set_aside(self, found: list[str], batch: Batch) -> None:
        """Places have turned out to be traps: hosts are set aside; links into directories are excluded one by one."""
        for name in found:
            why = self._state.traps.condemned[name]
            self._note(batch, "trap", f"{name}: {why.removeprefix(TRAP)}; set aside")
            for host in self._state.hosts:
                # Of a site, the hosts where nothing was ever found: others are judged by themselves.
                is_of_site = not host.relevant and self._state.traps.site(host.name) == name
                if not host.set_aside and (host.name == name or is_of_site):
                    self._state.hosts.set_aside(host, why, batch)

    def _redirect(self, visit: Visit, batch: Batch) -> None:
        url, reason = self._urls.canonical(visit.outcome.location)
        if url:
            urls = self._state.urls
            target = redirect_target(visit.lease, max_redirects=urls.rules.max_redirects, reason=reason)
            urls.add_redirect(url, visit.lease, target, batch)

    def _page(self, visit: Visit, page: Page, judgement: Judgement | None, batch: Batch, place: Place) -> bool:
        """Write down a page; whether it is a copy of another."""
        lease = visit.lease
        host = self._state.hosts[lease.host]
        host.pages += 1
        self._state.furniture.add(host.id, page.blocks)
        twin = self._twin(lease, page)
        now = self._clock.now()
        batch.pages.append(page_row(visit, page, place, run=self._run, number=self.pages + 1, twin=twin, now=now))
        if judgement is None:
            return twin is not None
        host.relevant += judgement.is_relevant
        self._state.recent.append((judgement.relevance, judgement.is_relevant))
        batch.judgements.append(judgement_row(lease.id, self._judge, judgement))
        batch.first_judged.add(lease.id)
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
        return twin is not None

    def _twin(self, lease: Lease, page: Page) -> int | None:
        """The page that says the same, and was there before."""
        return self._canonical_twin(lease, page) or self._duplicate_of(page, lease.id)

    def _canonical_twin(self, lease: Lease, page: Page) -> int | None:
        """The fetched page that this one says it is. A claim alone is not enough: many sites name their home page on
        every page, so the texts have to be alike."""
        if not page.canonical or page.canonical == lease.url or not page.fingerprint:
            return None
        number = self._state.urls.find(page.canonical)
        known = self._state.store.page(number) if number is not None and number != lease.id else None
        if known is None or not known.fingerprint:
            return None
        bits = ((known.fingerprint ^ page.fingerprint) & (2**64 - 1)).bit_count()
        return (known.duplicate_of or known.id) if bits <= ALIKE_BITS else None

    def _duplicate_of(self, page: Page, link: int) -> int | None:
        """The first page with exactly this fingerprint, if it is not this one."""
        if not page.fingerprint:
            return None
        first, _ = self._state.fingerprints.find_or_add_one(page.fingerprint, link)
        return None if first == link else first

    def _expand(self, visit: Visit, page: Page, batch: Batch) -> float:
        """The share of the page's links that are new."""
        numbers, is_new = self._state.urls.number(page)
        targets = numbers[: len(page.links)]
        self._state.tally.add_page(visit.lease.id, targets, is_relevant=is_relevant(visit))
        scores = self._state.strategy.tell(visit.guiding, targets)
        self._state.urls.expand(visit.lease, page, numbers, is_new, scores, batch)
        if self._sending is not None:
            self._sending.add_page(visit, page, targets, batch, number=self.pages)
        if self._abilities.guessing is not None and (self._state.urls.rules.follow_nofollow or not page.is_nofollow):
            self._guess(visit.guiding, self._abilities.guessing, batch)
        if note := self._abilities.note():
            batch.notes.append((visit.lease.id, note))
        if not page.links:
            return 0.0
        self._add_edges(visit.lease.id, page.links, targets.tolist(), batch)
        return np.count_nonzero(is_new[: len(targets)]) / len(targets)

    @staticmethod
    def _add_edges(source: int, links: Sequence[Link], targets: Sequence[int], batch: Batch) -> None:
        _, anchors, _, _, rels, positions, others = zip(*links, strict=True)  # columns
        edges = zip(repeat(source, len(links)), positions, targets, anchors, rels, strict=True)
        if not any(others):
            batch.edges.extend(edges)
            return
        for edge, texts in zip(edges, others, strict=True):
            if texts:
                batch.repeated_edges.append((*edge, "\n".join(texts)))
            else:
                batch.edges.append(edge)

    def _expand_again(self, visit: Visit, page: Page, batch: Batch) -> None:
        """Of a page fetched again, the links that are new on it; all else stays as it was when it was told."""
        numbers, is_new = self._state.urls.number(page)
        targets = numbers[: len(page.links)]
        scores = scores_of_revisit(self._state.strategy, visit.guiding, targets)
        self._state.urls.expand(visit.lease, page, numbers, is_new, scores, batch)
        batch.edges.extend(later_edges(self._state.store.links_on(visit.lease.id), visit.lease.id, page, targets))

    def _guess(self, visit: Visit, guessing: Guessing, batch: Batch) -> None:
        """Queue URLs that nobody links to, as far as the URL rules allow."""
        for guess in guessing.guesses(visit):
            url, reason = self._urls.canonical(guess)
            if url and not reason:
                self._state.urls.add_guess(url, visit.lease, partial(guessing.adopt, guess), batch)

    def _note(self, batch: Batch, kind: str, message: str) -> None:
        self.log_event(kind, message)
        batch.events.append((self._run, self._clock.now(), kind, message))
        if kind in STEERED:
            self.changes.append((kind, message))


def _at_its_place(renewed: PageRow, known: PageRow) -> PageRow:
    """With the place in the archive that the page had: what came is no other than what is there."""
    return renewed._replace(archive_file=known.archive_file, archive_offset=known.archive_offset)


def _log_nothing(kind: str, message: str) -> None:
    """For a crawl without a log."""
