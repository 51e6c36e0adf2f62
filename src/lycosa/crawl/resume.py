"""What a crawl goes on from: everything it knows, loaded from the store.

A new crawl goes on from nothing. One whose last run was cut off lets every host rest in full first: what was under way
then is not on record, so any host may have been asked just before.
"""

from __future__ import annotations

import json
from collections import defaultdict, deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lycosa.crawl.furniture_state import stored_furniture
from lycosa.crawl.hosts import HostTable
from lycosa.crawl.letters import PageLetter, opened_letter
from lycosa.crawl.link_rules import LinkRules
from lycosa.crawl.traps import Traps, TrapSettings
from lycosa.crawl.url_index import UrlIndex
from lycosa.crawl.visit_rows import is_relevant
from lycosa.errors import ConfigError
from lycosa.fetch.archive import Archive, Position, recover
from lycosa.fetch.politeness import Politeness
from lycosa.fetch.robots import RobotsFile, RobotsState
from lycosa.frontier.frontier import Frontier
from lycosa.frontier.keys import UNTRIED
from lycosa.lib.hashindex import HashIndex
from lycosa.lib.snapshot import Tree
from lycosa.model import Judgement, Visit
from lycosa.page.furniture import Furniture
from lycosa.stopping.figures import Tally
from lycosa.stopping.rules import NO_RULES, StopRules
from lycosa.store.protocol import Store
from lycosa.store.rows import AnswerRow
from lycosa.strategies.protocol import Links, Scores, Strategy

ARCHIVE, STRATEGY, THRESHOLD, TRAPS = "archive", "strategy", "threshold", "traps"
"""Names of state in the store."""
WINDOW = 1_000
"""Number of pages over which the current harvest rate is taken."""


class Covered(NamedTuple):
    """What a strategy need not be told again, as it knows it from a snapshot (`snapshots`)."""

    pages: int = 0
    """The number of the last page."""
    answered: frozenset[int] = frozenset()
    """Of the answers that were taken over after that page, those that it knows."""
    urls: Tree | None = None
    """The index of URLs at that time."""
    foreign: int = 0
    """Number of pages of other shards."""

    def has(self, answer: AnswerRow) -> bool:
        """Whether it knows an answer that has been taken over."""
        after = answer.after_pages or 0
        return after < self.pages or (after == self.pages and answer.id in self.answered)


NOTHING = Covered()
TRAPS_ON = TrapSettings()


@dataclass(slots=True, kw_only=True)
class CrawlState:
    """What a running crawl knows. `commit` changes it; the store has it all."""

    store: Store
    frontier: Frontier
    strategy: Strategy
    hosts: HostTable
    urls: UrlIndex
    tally: Tally
    rules: StopRules
    recent: deque[tuple[float, bool]]
    """(relevance, is_relevant) of the latest pages."""
    fingerprints: HashIndex
    revisits: set[int]
    """Fetched pages that wait to be fetched again."""
    fetched_again: set[int]
    """Pages that were, until somebody takes note of it."""
    threshold: float | None
    """Minimum relevance of a relevant page, where the start pages decided it."""
    dropped: list[int]
    """Links that the frontier's buffer has no room for any more."""
    traps: Traps
    """Places that bring nothing."""
    foreign: list[int]
    """For each page of another shard that the strategy was told of, the number of own pages by then."""
    furniture: Furniture
    """What stands on many pages of a host. A kill loses what the pages of the last moments have added to it."""

    def recount(self) -> None:
        """Take the figures from the store again: its judgements have changed."""
        self.tally = tally_of(self.store, self.rules)
        self.recent.clear()
        self.recent.extend(self.store.recent_relevance(WINDOW))
        relevant = self.store.relevant_by_host()
        for host in self.hosts:
            host.relevant = relevant.get(host.id, 0)


def resume(
    store: Store,
    *,
    frontier: Frontier,
    strategy: Strategy,
    politeness: Politeness,
    links: LinkRules,
    rules: StopRules = NO_RULES,
    rest_from: float | None = None,
    begun_with: str = "",
    covered: Covered = NOTHING,
    traps: TrapSettings = TRAPS_ON,
) -> CrawlState:
    """Load what the store knows. Nothing is written.

    `rest_from`: when this run begins, if the last one was cut off. `begun_with`: the strategy of the last run.
    `covered`: what the strategy knows already, from a snapshot.
    """
    waiting = store.waiting()
    for numbers, tiers in ((waiting.ids, waiting.tiers), (waiting.dormant, waiting.dormant_tiers)):
        for tier in np.unique(tiers[tiers != UNTRIED]).tolist():
            frontier.set_tiers(numbers[tiers == tier], tier)
    dropped = frontier.load(waiting.ids, waiting.hosts, waiting.scores)
    try:
        if strategy.abilities.is_retold:
            for _ in retold(store, strategy, covered):
                pass
        strategy.restore(store.state(STRATEGY) or b"")
    except ValueError as error:
        raise ConfigError(
            f"{store.path}: this crawl was begun with strategy {begun_with or 'of another version'} and cannot go on "
            f"with {strategy.name} ({error}); leave --strategy out, or begin a crawl in another directory"
        ) from error
    hosts = HostTable(store.hosts(), politeness=politeness, frontier=frontier, keeps_traps=traps.is_on)
    hosts.restore_clocks(store.addresses(), rest_from=rest_from)
    fingerprints = HashIndex()
    fingerprints.add(*store.fingerprints())
    threshold = store.state(THRESHOLD)
    revisits = _to_revisit(waiting.ids, store.page_ids())
    return CrawlState(
        store=store,
        frontier=frontier,
        strategy=strategy,
        hosts=hosts,
        urls=UrlIndex(
            store,
            frontier=frontier,
            hosts=hosts,
            rules=links,
            revisits=revisits,
            dormant=waiting.dormant.tolist(),
            known=covered.urls,
        ),
        tally=tally_of(store, rules),
        rules=rules,
        recent=deque(store.recent_relevance(WINDOW), maxlen=WINDOW),
        fingerprints=fingerprints,
        revisits=revisits,
        fetched_again=set(),
        threshold=float(threshold) if threshold else None,
        dropped=dropped,
        foreign=[row.after_pages for row in store.foreign_pages()],
        traps=Traps.restored(store.state(TRAPS), traps),
        furniture=stored_furniture(store).get(0) or Furniture(),
    )


def _to_revisit(waiting: NDArray[np.int64], pages: NDArray[np.int64]) -> set[int]:
    """Pages that wait to be fetched again."""
    is_page = np.zeros(max(waiting.max(initial=0), pages.max(initial=0)) + 1, dtype=np.bool_)
    is_page[pages] = True
    return set(waiting[is_page[waiting]].tolist())


def retold(
    store: Store,
    strategy: Strategy,
    covered: Covered = NOTHING,
    *,
    tell: Callable[[Visit, Links], Scores] | None = None,
) -> Iterator[tuple[Visit, NDArray[np.int64]]]:
    """Tell the strategy all visits again, and people's answers where it was told them first; return the visits.

    What it knows already is left out. `tell`: called instead of the strategy's own, which it has to call.
    """
    tell = tell or strategy.tell
    learn = strategy.abilities.answer
    answers = [row for row in store.answers() if row.page_id is not None] if learn is not None else []
    own = {row.page_id: row for row in answers if row.own_relevance is not None}
    told: dict[int, dict[int, bool | None]] = defaultdict(dict)
    for row in answers:
        if row.after_pages is not None and row.page_id is not None and not covered.has(row):
            told[row.after_pages][row.page_id] = row.is_relevant
    foreign = _foreign_visits(store, covered.foreign)
    if learn is not None and covered.pages in told:
        learn(told[covered.pages])
    waiting = _tell_foreign(tell, foreign, next(foreign, None), covered.pages)
    for count, (visit, targets) in enumerate(store.visits(covered.pages), start=covered.pages + 1):
        answered = own.get(visit.lease.id)
        if answered is not None and visit.judgement is not None:
            visit = replace(visit, judgement=_before(answered, visit.judgement))
        visit = visit.guiding
        tell(visit, targets)
        yield visit, targets
        if learn is not None and count in told:
            learn(told[count])
        waiting = _tell_foreign(tell, foreign, waiting, count)


class _Foreign(NamedTuple):
    after_pages: int
    visit: Visit
    targets: NDArray[np.int64]


def _foreign_visits(store: Store, after: int) -> Iterator[_Foreign]:
    """Pages of other shards that the strategy was told of."""
    for row in store.foreign_pages(after):
        letter = opened_letter(row.value)
        if isinstance(letter, PageLetter):
            targets = np.frombuffer(row.targets, dtype=np.int64)
            yield _Foreign(row.after_pages, letter.visit(row.link_id, row.host_id, row.note), targets)


def _tell_foreign(
    tell: Callable[[Visit, Links], Scores], visits: Iterator[_Foreign], first: _Foreign | None, pages: int
) -> _Foreign | None:
    """Tell those of them that came when the crawl had this many pages; return the next."""
    while first is not None and first.after_pages <= pages:
        tell(first.visit, first.targets)
        first = next(visits, None)
    return first


def _before(answer: AnswerRow, judgement: Judgement) -> Judgement:
    """The judgement that guided the crawl before the answer."""
    if answer.guide_relevance is not None:
        return replace(judgement, relevance=answer.guide_relevance, is_relevant=answer.guide_is_relevant)
    assert answer.own_relevance is not None
    return replace(judgement, relevance=answer.own_relevance, is_relevant=answer.own_is_relevant)


def tally_of(store: Store, rules: StopRules) -> Tally:
    """The figures of all runs so far."""
    tally = Tally(window=rules.window, has_community=rules.community > 0)
    progress = store.progress()
    tally.resume(
        pages=progress.pages,
        relevant=progress.relevant,
        since_relevant=progress.since_relevant,
        bytes=progress.downloaded,
        recent=(is_relevant for _, is_relevant in store.recent_relevance(rules.window)),
        members=((visit.lease.id, targets) for visit, targets in store.visits() if is_relevant(visit)),
    )
    return tally


def open_archive(
    directory: Path, store: Store, *, max_bytes: int, crawl_info: Mapping[str, str]
) -> tuple[Archive, str]:
    """The archive, cut back to the last commit; and what is missing from it, in words."""
    stored = store.state(ARCHIVE)
    committed = Position(*json.loads(stored)) if stored else None
    found = recover(directory, committed)
    lost = f"{found.missing:,} committed bytes are missing from {committed and committed.file}" if found.missing else ""
    return Archive(directory, max_bytes=max_bytes, crawl_info=crawl_info, committed=committed), lost


def known_robots(store: Store) -> list[RobotsFile]:
    """The robots.txt files of earlier runs."""
    return [
        RobotsFile(
            origin=row.origin,
            state=RobotsState(row.state),
            fetched_at=row.fetched_at,
            expires_at=row.expires_at,
            status=row.status,
            failure=row.failure,
            body=row.body,
            failures=row.failures,
        )
        for row in store.robots()
    ]
