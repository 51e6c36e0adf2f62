"""Pages of a crawl are looked at again: what has changed is read anew, what is gone is marked, and nothing is deleted.

A refresh is a run of the crawl in which nothing is fetched but pages that it has, and links that are new on them. The
pages are queued like hubs that are fetched again (`revisits`), before all other links; the other links keep waiting.
Which pages, and in which order: hubs first (pages that cite several relevant ones), then by the chance that they have
changed since they were last looked at (`change_rate`). Before them come feeds and sitemaps, for the links that are new
in them. Requests are conditional, so what has not changed costs little.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lycosa.crawl.change_rate import Looks, chance_of_change, page_rates
from lycosa.crawl.commit import CrawlLedger
from lycosa.errors import InputError
from lycosa.frontier.keys import FAVOURED, UNTRIED
from lycosa.frontier.links import LinkState
from lycosa.stopping.rules import Stop
from lycosa.store.protocol import Store
from lycosa.store.rows import NEW_ON_PAGE, Batch, PageChange, State

EVENT = "refresh"
HUB_LINKS = 3
"""Number of relevant pages that a hub cites, at least."""
HUB_SHARE = 0.1
"""Share of the requests, or of the pages, that goes to hubs first, at most."""
HUB_CHANCE = 0.05
"""Chance of a change from which on a hub comes first."""
FIRST = 1e9
"""Urgency of feeds and sitemaps, which tell what is new by one request."""
AT_ONCE = 10_000
"""Number of pages that are queued in one transaction: those of a large crawl would take hundreds of megabytes."""
LIKELY, OLDEST = "likely", "oldest"
COUNTED = (PageChange.SAME, PageChange.CHANGED, PageChange.BACK)


@dataclass(frozen=True, slots=True, kw_only=True)
class RefreshPlan:
    """What a refresh is asked to do."""

    older: float = 0.0
    """Look only at pages that were not looked at for this many seconds."""
    requests: int = 0
    """Maximum number of pages to look at; 0: all that are due."""
    new: int = 100
    """Maximum number of links that are new on these pages and are fetched, too."""
    is_all: bool = False
    """Also pages that are neither relevant nor hubs."""
    order: str = LIKELY
    """likely: hubs first, then by the chance of a change; oldest: by the time of the last look."""

    at: float = 0.0
    """Time for which it is planned, for experiments; 0: now."""
    began: float = 0.0
    """When it began, if it was cut off and begins again: looks since then are some of its own; 0: it begins now."""

    def __post_init__(self) -> None:
        if self.older < 0 or self.requests < 0 or self.new < 0:
            raise InputError("refresh: age, requests and new links cannot be negative")
        if self.order not in (LIKELY, OLDEST):
            raise InputError(f"refresh: the order is {self.order!r}; it must be {LIKELY} or {OLDEST}")


def due_pages(store: Store, plan: RefreshPlan, *, now: float) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """The pages to look at, the most urgent first, and how urgent each is: the larger, the sooner."""
    pages = store.pages_to_refresh()
    if not len(pages.ids):
        return pages.ids, np.zeros(0)
    place = {page: at for at, page in enumerate(pages.ids.tolist())}
    checks = [row for row in store.checks() if row.page_id in place]
    seen, is_gone = pages.fetched_at.copy(), np.zeros(len(pages.ids), bool)
    for row in checks:
        at = place[row.page_id]
        seen[at], is_gone[at] = max(seen[at], row.at), row.change in (PageChange.GONE, PageChange.MOVED)
    counted = [row for row in checks if row.change in COUNTED]
    looks = Looks(
        np.array([place[row.page_id] for row in counted], dtype=np.int64),
        np.array([row.at - row.since for row in counted], dtype=np.float64),
        np.array([row.change != PageChange.SAME for row in counted], dtype=bool),
    )
    is_hub = _hubs(pages.citations, most=int(HUB_SHARE * (plan.requests or len(pages.ids))))
    age = np.maximum(0.0, now - seen)  # the machine's clock may have been set back since
    is_due = ~is_gone & (age >= plan.older) & (pages.is_relevant | is_hub | plan.is_all)
    if plan.order == OLDEST:
        urgency = age
    else:
        chance = chance_of_change(page_rates(looks, pages.hosts), age)
        urgency = chance + (is_hub & (chance >= HUB_CHANCE))
    chosen = np.flatnonzero(is_due)
    chosen = chosen[np.argsort(-urgency[chosen], kind="stable")]
    if plan.requests:
        is_own = [row.at >= plan.began for row in checks] if plan.began else []
        chosen = chosen[: max(0, plan.requests - sum(is_own))]
    return pages.ids[chosen], urgency[chosen]


def _hubs(citations: NDArray[np.int64], *, most: int) -> NDArray[np.bool_]:
    """The pages that cite most relevant pages, if these are enough."""
    best = np.argsort(-citations, kind="stable")[: max(1, most)]
    is_hub = np.zeros(len(citations), bool)
    is_hub[best] = citations[best] >= HUB_LINKS
    return is_hub


class Refreshing:
    """A refresh under way. `begin` before the loop, `look` after each of its turns, `end` after it."""

    def __init__(self, plan: RefreshPlan, *, ledger: CrawlLedger, stop: Stop, now: Callable[[], float]) -> None:
        self._plan = plan
        self._ledger = ledger
        self._stop = stop
        self._now = now
        self._first_new = 0
        self._new: set[int] = set()
        self._planned = 0

    def begin(self) -> None:
        """Queue the pages that are due; whatever else comes first waits for another run."""
        state = self._ledger.state
        frontier, store = state.frontier, state.store
        waiting = frontier.waiting_links()
        favoured = waiting[frontier.is_favoured(waiting)]
        frontier.set_tiers(favoured, UNTRIED)
        frontier.hand_out_favoured_only()
        self._first_new = store.count_links() + 1
        ids, urgency = due_pages(store, self._plan, now=self._plan.at or self._now())
        lists = store.lists() if self._plan.new else []
        planned = [*((link, FIRST) for link in lists), *zip(ids.tolist(), urgency.tolist(), strict=True)]
        batch = Batch()
        for start in range(0, len(planned), AT_ONCE):
            if start:
                self._ledger.write(batch)
            batch = self._queued(planned[start : start + AT_ONCE])
        # Left over from a run that was killed.
        left = np.array([link for link in favoured.tolist() if link in state.revisits], dtype=np.int64)
        frontier.set_tiers(left, FAVOURED)
        self._planned = len(state.revisits.difference(lists))
        self._ledger.renew_pages()
        self._ledger.write(batch, event=(EVENT, f"{self._planned:,} pages are looked at again"))

    def _queued(self, planned: Sequence[tuple[int, float]]) -> Batch:
        """What has to be written for these links to be queued, each with its urgency."""
        batch, state = Batch(), self._ledger.state
        rows = [
            row._replace(score=score)
            for link, score in planned
            if (row := state.store.link(link)) is not None and row.state == State.DONE
        ]
        if rows:
            state.urls.revisit(rows, batch)
        return batch

    def look(self) -> None:
        self._favour_new()
        state = self._ledger.state
        if not state.revisits and not self._is_new_waiting():
            self._stop.finish(self.words())

    def end(self) -> None:
        """What was not reached stays as it was: it is not for a crawl that goes on to fetch it again."""
        batch, state = Batch(), self._ledger.state
        state.urls.take_out(list(state.revisits), batch, state=State.DONE, reason="", detail="")
        self._ledger.write(batch, event=(EVENT, self.words()))

    def words(self) -> str:
        return refresh_words(self._ledger.rechecked, planned=self._planned, new=len(self._new))

    def _is_new_waiting(self) -> bool:
        """Whether new links wait to be fetched; one that failed waits for another run."""
        new = np.array(sorted(self._new), dtype=np.int64)
        frontier = self._ledger.state.frontier
        return bool((frontier.is_waiting(new) & frontier.is_favoured(new)).any())

    def _favour_new(self) -> None:
        """Links that were found since the refresh began are fetched, too, as far as the plan allows."""
        state = self._ledger.state
        upto = state.store.count_links()
        room = self._plan.new - len(self._new)
        fresh = [link for link in range(self._first_new, upto + 1) if link not in self._new][:room] if room > 0 else []
        self._first_new = upto + 1
        if not fresh:
            return
        batch = Batch()
        waiting = [link for link in fresh if state.frontier.state_of(link) is LinkState.WAITING]
        if waiting:
            state.urls.put_first(waiting, batch, reason=NEW_ON_PAGE, detail="")
            self._new.update(waiting)
            self._ledger.write(batch)


def refresh_words(counts: Mapping[str, int], *, planned: int, new: int) -> str:
    """refreshed 40 pages: 30 the same, 8 changed, 2 gone; 3 new links were followed"""
    parts = [f"{count:,} {IN_WORDS[change]}" for change, count in counts.items() if count]
    found = f"refreshed {sum(counts.values()):,} of {planned:,} pages" + (f": {', '.join(parts)}" if parts else "")
    return found + (f"; {new:,} new link{'s were' if new > 1 else ' was'} followed" if new else "")


IN_WORDS = {
    PageChange.SAME: "the same",
    PageChange.CHANGED: "changed",
    PageChange.GONE: "gone",
    PageChange.BACK: "back",
    PageChange.MOVED: "moved",
    PageChange.UNKNOWN: "not reached",
}
