"""What follows from a visit, as rows of a batch: its outcome, the link's fate, its page, and the links on it.

The host's clock and record are kept; what was fetched goes into the archive; strategy and frontier are told. Whether
all that happened is decided by the transaction that the batch becomes (`commit`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import repeat
from typing import NamedTuple

import numpy as np

from lycosa.crawl.lists import take_list
from lycosa.crawl.redirects import redirect_target
from lycosa.crawl.resume import CrawlState
from lycosa.crawl.revisits import change_of, later_edges
from lycosa.crawl.shard import Sending
from lycosa.crawl.traps import is_reader_death
from lycosa.crawl.visit_rows import Place, is_relevant, judgement_row, outcome_row, page_row, signed
from lycosa.fetch.archive import Archive
from lycosa.fetch.cache import PageCache
from lycosa.fetch.fetcher import RobotsBook
from lycosa.fetch.politeness import Politeness
from lycosa.fetch.urls import Urls, origin
from lycosa.lib.clock import Clock
from lycosa.model import Judgement, Kind, Lease, Link, Outcome, Page, Visit
from lycosa.page.parked import PARKED
from lycosa.store.rows import TRAP, Batch, CheckRow, PageChange, PageRow, State, StateRow
from lycosa.strategies.protocol import Guessing
from lycosa.strategies.rescoring import scores_of_revisit
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


class Consequences:
    """Enters visits into batches. One per run."""

    def __init__(
        self,
        state: CrawlState,
        *,
        records: Records,
        urls: Urls,
        politeness: Politeness,
        judge: str,
        clock: Clock,
        sending: Sending | None,
        note: Callable[[Batch, str, str], None],
    ) -> None:
        """`note`: enters an event into a batch, given its kind and message."""
        self._state = state
        self._records = records
        self._urls = urls
        self._politeness = politeness
        self._judge = judge
        self._clock = clock
        self._abilities = state.strategy.abilities
        self._sending = sending
        self._note = note
        self.run = 0
        """The number of the run."""
        self.renews_pages = False
        """Pages that are fetched again become what they are now."""
        self.found: list[FoundPage] = []
        self.seed_visits: list[tuple[Lease, Outcome]] = []
        """Visits to seeds, and to what they redirect to."""
        self.rechecked: Counter[str] = Counter()
        """Number of looks at pages that were fetched before, by what became of these."""

    def enter(self, visit: Visit, batch: Batch) -> None:
        visit = self._flagged(visit)
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
            batch.outcomes.append(outcome_row(visit, place, run=self.run, now=self._clock.now()))
            if fetched.response is not None and not fetched.from_cache:
                self._state.tally.add_bytes(len(fetched.response.body))
        batch.hosts[host.id] = host.row()
        if not lease.distance:
            self.seed_visits.append((lease, outcome))

    def _flagged(self, visit: Visit) -> Visit:
        """Readers may have judged it before the threshold was known."""
        judgement, threshold = visit.judgement, self._state.threshold
        if threshold is None or judgement is None:
            return visit
        guide = judgement.guide and judgement.guide._replace(is_relevant=judgement.guide.relevance >= threshold)
        is_relevant = judgement.relevance >= threshold
        return replace(visit, judgement=replace(judgement, is_relevant=is_relevant, guide=guide))

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
        is_renewed = lease.is_revisit and self.renews_pages
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
        batch.checks.append(CheckRow(lease.id, self.run, min(since, at), at, change, fingerprint, *place))
        self.rechecked[change] += 1
        is_new = change in (PageChange.CHANGED, PageChange.BACK) and visit.page is not None
        if self.renews_pages and is_new and visit.page is not None:
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
        number, now = self._state.tally.pages + 1, self._clock.now()
        batch.pages.append(page_row(visit, page, place, run=self.run, number=number, twin=twin, now=now))
        if judgement is None:
            return twin is not None
        host.relevant += judgement.is_relevant
        self._state.recent.append((judgement.relevance, judgement.is_relevant))
        batch.judgements.append(judgement_row(lease.id, self._judge, judgement))
        batch.first_judged.add(lease.id)
        self.found.append(
            FoundPage(
                number, lease.url, page.title, judgement.relevance, judgement.is_relevant, page.language, page.text
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
            self._sending.add_page(visit, page, targets, batch, number=self._state.tally.pages)
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


def _at_its_place(renewed: PageRow, known: PageRow) -> PageRow:
    """With the place in the archive that the page had: what came is no other than what is there."""
    return renewed._replace(archive_file=known.archive_file, archive_offset=known.archive_offset)
