"""commit: visits become one transaction.

For each visit the ledger writes what happened and what follows from it (`consequences`), and with it the state that
belongs to this very moment: of strategy, archive, robots.txt and furniture. If the process dies before the transaction
is through, none of it happened: the frontier in memory goes with the process, and is rebuilt from the store.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence

from lycosa.crawl.consequences import Consequences, FoundPage, Records
from lycosa.crawl.furniture_state import FURNITURE, SinceThen
from lycosa.crawl.resume import ARCHIVE, STRATEGY, TRAPS, CrawlState
from lycosa.crawl.shard import Sending
from lycosa.crawl.visit_rows import robots_row
from lycosa.fetch.archive import Archive
from lycosa.fetch.politeness import Politeness
from lycosa.fetch.urls import Urls
from lycosa.lib.clock import Clock
from lycosa.model import Lease, Outcome, Visit
from lycosa.stopping.figures import Figures
from lycosa.store.rows import Batch
from lycosa.strategies.rescoring import score_again

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
        self._clock = clock
        self._abilities = state.strategy.abilities
        self._sending = sending
        if sending is not None:
            state.urls.is_elsewhere = sending.is_elsewhere
        self._consequences = Consequences(
            state,
            records=records,
            urls=urls,
            politeness=politeness,
            judge=judge,
            clock=clock,
            sending=sending,
            note=self._note,
        )
        self._run = 0
        self._synced_at = 0.0
        self._next_saving = clock.now() + SAVE_FURNITURE_EVERY
        self._furniture_since = SinceThen(state.store)
        self._revised: dict[int, float] = {}
        """Scores given by `ask` that are not stored yet."""
        self._next_scores = 0.0
        self.log_event: Callable[[str, str], None] = _log_nothing
        """Called with kind and message of every event."""
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

    @property
    def rechecked(self) -> Counter[str]:
        """Number of looks at pages that were fetched before, by what became of these."""
        return self._consequences.rechecked

    def figures(self) -> Figures:
        return self._state.tally.figures()

    def renew_pages(self) -> None:
        """From now on, pages that are fetched again become what they are now."""
        self._consequences.renews_pages = True

    def begin(self, run: int) -> None:
        """A run has begun; write what it changes by beginning."""
        self._run = self._consequences.run = run
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
            self._consequences.enter(visit, batch)
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
        found, self._consequences.found = self._consequences.found, []
        return found

    def take_seed_visits(self) -> list[tuple[Lease, Outcome]]:
        """Visits to seeds, and to what they redirect to, that were committed since the last call."""
        visits, self._consequences.seed_visits = self._consequences.seed_visits, []
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

    def _sync(self, archive: Archive) -> None:
        """Once a second down to the disk; in between, as `position` does, to the operating system.

        A kill loses nothing either way. SQLite's journal is as lazy: a power failure may cost the last moments, and
        what is then missing from the archive is noted on resume.
        """
        now = self._clock.now()
        if now - self._synced_at >= SYNC_EVERY:
            archive.sync()
            self._synced_at = now

    def _note(self, batch: Batch, kind: str, message: str) -> None:
        self.log_event(kind, message)
        batch.events.append((self._run, self._clock.now(), kind, message))
        if kind in STEERED:
            self.changes.append((kind, message))


def _log_nothing(kind: str, message: str) -> None:
    """For a crawl without a log."""
