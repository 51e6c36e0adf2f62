"""What other shards of a cluster send is taken over; and what whoever runs the cluster says is done.

`look` is called after each turn of the loop. When nothing is left to fetch, `wait` keeps the crawl until a letter comes
or it is told to stop.
"""

from __future__ import annotations

import asyncio
from collections import Counter

import numpy as np

from lycosa.crawl.address_turns import AddressTurns
from lycosa.crawl.commit import CrawlLedger
from lycosa.crawl.letters import LinkLetter, PageLetter, opened_letter, without_digest
from lycosa.crawl.shard import GrantedStop, Sending, SharedStore
from lycosa.errors import StoreError
from lycosa.fetch.urls import host_key
from lycosa.lib.clock import Clock
from lycosa.store.rows import Batch, ForeignPage, Letter, ShardFigures

LOOK_EVERY = 0.2
"""Seconds between two looks."""
FIGURES_EVERY = 0.5
"""Seconds between two times that the figures are written down, if there is no other reason to."""
MOST = 500
"""Number of letters that are taken over in one transaction."""
FRONT = 256
"""Number of best waiting links whose scores are told to whoever runs the cluster."""


class Receiving:
    def __init__(
        self,
        store: SharedStore,
        *,
        ledger: CrawlLedger,
        sending: Sending,
        turns: AddressTurns,
        stop: GrantedStop,
        clock: Clock,
    ) -> None:
        self._turns = turns
        self._store = store
        self._ledger = ledger
        self._sending = sending
        self._stop = stop
        self._clock = clock
        self._last = dict(store.taken())
        self._looked_at = self._wrote_at = 0.0
        self._in_flight = 0

    def begin(self) -> None:
        """There is somebody again."""
        self._write(Batch(), is_idle=False)
        self._obey()

    def look(self, in_flight: int = 0) -> None:
        now = self._clock.now()
        if now - self._looked_at < LOOK_EVERY:
            return
        self._in_flight = in_flight
        self._turns.look()
        if not self._take() and now - self._wrote_at >= FIGURES_EVERY:
            self._write(Batch(), is_idle=False)
        self._obey()
        self._looked_at = now

    async def wait(self) -> bool:
        """Nothing is left to fetch. Whether there is something now; otherwise the crawl is to end."""
        self._in_flight = 0
        self._write(Batch(), is_idle=True)
        while not self._stop.was_requested:
            if self._take():
                self._obey()
                self._stop.wake()
                return True
            self._obey()
            self._turns.look()
            await asyncio.sleep(LOOK_EVERY)
        return False

    def end(self) -> None:
        """The last figures: what was judged again at the end is in them."""
        self._write(Batch(), is_idle=False)

    def _obey(self) -> None:
        orders = self._store.orders()
        self._stop.granted = orders.granted
        if orders.stop:
            self._stop.request(orders.stop)

    def _take(self) -> bool:
        """Take over what has come; whether anything has."""
        letters = self._store.letters(MOST)
        if not letters:
            return False
        batch = Batch()
        sizes: Counter[int] = Counter()
        for letter in letters:
            self._check_number(letter)
            sizes[letter.sender] += len(letter.value)
            found = opened_letter(letter.value)
            if isinstance(found, LinkLetter):
                self._ledger.state.urls.add_sent(found.url, found.found, batch)
            else:
                self._tell(letter, found, batch)
        batch.taken.extend((self._store.shard, each, self._last[each], size) for each, size in sizes.items())
        self._write(batch, is_idle=False)
        return True

    def _check_number(self, letter: Letter) -> None:
        expected = self._last.get(letter.sender, 0) + 1
        if letter.number != expected:
            raise StoreError(
                f"{self._store.where}: letter {letter.number} of shard {letter.sender} has come, and {expected} is "
                "missing: rows of the table outbox were deleted, or the server has lost what it had confirmed"
            )
        self._last[letter.sender] = letter.number

    def _tell(self, letter: Letter, found: PageLetter, batch: Batch) -> None:
        """The strategy is told of a page as if it had been fetched here."""
        state, page = self._ledger.state, found.page
        number = state.urls.add_foreign(page.url, found.distance, batch)
        self._sending.add_known(number)
        host = state.hosts.named(host_key(page.url)).id
        numbers, is_new = state.urls.number(page)
        visit = found.visit(number, host)
        scores = state.strategy.tell(visit, numbers)
        state.urls.expand(visit.lease, page, numbers, is_new, scores, batch)
        state.foreign.append(state.tally.pages)
        note = state.strategy.abilities.note() if state.strategy.abilities.is_retold else b""
        if state.strategy.abilities.is_retold:
            batch.foreign_pages.append(
                ForeignPage(
                    len(state.foreign),
                    state.tally.pages,
                    number,
                    host,
                    numbers.astype(np.int64).tobytes(),
                    without_digest(letter.value),
                    note,
                )
            )

    def _write(self, batch: Batch, *, is_idle: bool) -> None:
        """With the figures as they are at this moment."""
        self._wrote_at = self._clock.now()
        figures, frontier = self._ledger.figures(), self._ledger.state.frontier
        best = frontier.top(FRONT)
        # What people want first is worth more than any score.
        scores = np.where(frontier.is_favoured(best), np.inf, frontier.scores(best))
        front = np.sort(scores)[::-1].astype(np.float32)
        batch.figures = ShardFigures(
            is_idle,
            figures.pages,
            figures.relevant,
            figures.bytes,
            frontier.waiting,
            self._in_flight,
            self._clock.now(),
            front.tobytes(),
            frontier.best_soon(),
            self._store.shard,
        )
        self._ledger.write(batch)
