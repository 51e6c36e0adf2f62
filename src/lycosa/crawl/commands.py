"""What people ask of a crawl (the dashboard), carried out by the crawl itself.

A command is a row of the store, written by whichever process a person sits at. The running crawl finds it within a
second, carries it out in one transaction with the note that it has, and says what came of it. Nothing is done to a
crawl's store behind its back.

    pause, resume, stop     nothing more is leased; what is under way is finished and committed first
    exclude PATTERN         waiting links that match leave the queue, and matching links found later never enter it
    drop PATTERN            waiting links that match leave the queue; they wait again once they are found again
    raise PATTERN           waiting links that match, and were never tried, come before all others
    alarms THRESHOLDS       other thresholds for alarms (`alarms`), as JSON
    undo NUMBER             takes back exclude, drop or raise: what was taken out and can still be fetched waits again

Patterns are those of `urls.exclude` (`fetch.url_patterns`). On a crawl that does not run, they wait until it goes on;
pause, resume and stop are meant for one run and lapse with it. In return the crawl writes down its figures for those
who watch it from other processes (`LIVE`).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from typing import Any

from lycosa.crawl.alarms import Alarms
from lycosa.crawl.commit import CrawlLedger
from lycosa.crawl.url_index import no_pattern
from lycosa.crawl.visits import LiveVisitor
from lycosa.errors import ConfigError
from lycosa.fetch.url_patterns import UrlPatterns
from lycosa.frontier.links import LinkState
from lycosa.lib.clock import Clock
from lycosa.stopping.forecast import Forecast
from lycosa.stopping.outlook import forecast_values
from lycosa.stopping.rules import Stop, no_forecast
from lycosa.store.rows import (
    DROPPED_BY_PERSON,
    EXCLUDED_BY_PERSON,
    RAISED_BY_PERSON,
    Batch,
    Command,
    CommandRow,
    LinkRow,
    State,
)

LOOK_EVERY = 1.0
"""Seconds between two looks for new commands."""
LIVE_EVERY = 2.0
"""Seconds between two times that the figures are written down."""
LIVE = "live"
"""Name of state in the store: the figures of a running crawl, as JSON."""
OF_ONE_RUN = frozenset({Command.PAUSE, Command.RESUME, Command.STOP})
REASONS = {
    Command.EXCLUDE: EXCLUDED_BY_PERSON,
    Command.DROP: DROPPED_BY_PERSON,
    Command.RAISE: RAISED_BY_PERSON,
}
STATES = {Command.EXCLUDE: State.EXCLUDED, Command.DROP: State.DROPPED}


def checked_pattern(text: str) -> str:
    """A pattern that a command may have; ConfigError if it is malformed."""
    UrlPatterns([text], setting="pattern")
    return text


class Commands:
    """Looks for commands. `look` is called after each turn of the loop and mostly does nothing."""

    def __init__(
        self,
        *,
        ledger: CrawlLedger,
        stop: Stop,
        clock: Clock,
        visitor: LiveVisitor | None = None,
        forecast: Callable[[], Forecast | None] = no_forecast,
        stalled: Callable[[], str] = str,
        alarms: Alarms | None = None,
    ) -> None:
        """`stalled`: why nothing is fetched, if so."""
        self._ledger = ledger
        self._store = ledger.state.store
        self._urls = ledger.state.urls
        self._stop = stop
        self._clock = clock
        self._visitor = visitor
        self._forecast = forecast
        self._stalled = stalled
        self._alarms = alarms
        self._looked_at = 0.0
        self._wrote_at = clock.now()  # a forecast takes a second where millions of links wait: first the crawl
        self._read = 0
        """Number of the last command that was read."""
        self._under_way: dict[int, CommandRow] = {}
        """Links that were being fetched when they were taken out: if they come back to the queue, they leave it."""

    def begin(self) -> None:
        """What was asked before this run: what stands is put in force, what was meant for an earlier run lapses."""
        known = self._store.commands()
        lapsed = [row for row in known if row.taken_at is None and row.kind in OF_ONE_RUN]
        if lapsed:
            now = self._clock.now()
            taken = [(now, "lapsed: it was meant for an earlier run", row.id) for row in lapsed]
            self._ledger.write(Batch(commands_taken=taken))
        self._shut_out(known)
        for row in _standing(known, Command.RAISE):
            marked = self._store.links_marked(RAISED_BY_PERSON, row.target)
            self._urls.raised.update(link.id for link in marked if link.state == State.WAITING)
        for row in known:
            if row.taken_at is None and row.kind not in OF_ONE_RUN:
                self._carry_out(row)
            self._read = row.id

    def look(self) -> None:
        now = self._clock.now()
        if self._under_way:
            self._take_out_returned()
        if now - self._looked_at >= LOOK_EVERY:
            self._looked_at = now
            for row in self._store.commands(after=self._read):
                self._read = row.id
                self._carry_out(row)
        if now - self._wrote_at >= LIVE_EVERY:
            self.write_figures()

    def write_figures(self) -> None:
        self._wrote_at = self._clock.now()
        self._store.write(Batch(state={LIVE: json.dumps(self._figures()).encode()}))

    def _figures(self) -> dict[str, Any]:
        frontier, ledger = self._ledger.state.frontier, self._ledger
        forecast = self._forecast()
        return {
            "at": self._wrote_at,
            "pages": ledger.pages,
            "relevant": ledger.relevant,
            "waiting": frontier.waiting,
            "in_flight": self._visitor.in_flight if self._visitor else 0,
            "hosts": frontier.hosts,
            "hosts_ready": frontier.hosts_ready,
            "hosts_cooling": frontier.hosts_cooling,
            "is_paused": self._stop.is_paused,
            "stalled": self._stalled(),
            "forecast": None if forecast is None else forecast_values(forecast),
        }

    def _carry_out(self, row: CommandRow) -> None:
        """In one transaction with the note that it was. A command that makes no sense says so and changes nothing."""
        batch = Batch()
        try:
            words = self._do(row, batch)
        except (ConfigError, ValueError) as error:
            words, batch = f"refused: {error}", Batch()
        batch.commands_taken.append((self._clock.now(), words, row.id))
        self._ledger.write(batch, event=("command", f"{row.kind} {row.target}".strip() + f": {words}"))
        if row.kind in OF_ONE_RUN:
            self.write_figures()

    def _do(self, row: CommandRow, batch: Batch) -> str:
        now = self._clock.now()
        if row.kind == Command.PAUSE:
            self._stop.pause(now)
            return "nothing more is fetched until it is resumed"
        if row.kind == Command.RESUME:
            self._stop.go_on(now)
            self._ledger.last_visit_at = now  # a pause is no stall
            return "it goes on"
        if row.kind == Command.STOP:
            self._stop.request("stopped from the dashboard")
            return "what is under way is finished first"
        if row.kind == Command.ALARMS and self._alarms is not None:
            self._alarms.change(json.loads(row.target))
            return "in force"
        if row.kind == Command.UNDO:
            return self._undo(row, batch)
        if row.kind not in REASONS:
            raise ValueError(f"there is no command {row.kind!r}")
        return self._change(row, batch)

    def _change(self, row: CommandRow, batch: Batch) -> str:
        matches = UrlPatterns([row.target], setting="pattern").first_match
        links = [link.id for link in self._store.waiting_urls() if matches(link.url)]
        if row.kind == Command.RAISE:
            count = self._urls.put_first(links, batch, detail=row.target)
            return f"{count:,} waiting links come first"
        if row.kind == Command.EXCLUDE:
            self._shut_out(self._store.commands(), and_also=row)
        count = self._take_out(row, links, batch)
        state_of = self._ledger.state.frontier.state_of
        self._under_way |= {link: row for link in links if state_of(link) is LinkState.LEASED}
        rest = ", and none that is found later joins it" if row.kind == Command.EXCLUDE else ""
        return f"{count:,} waiting links left the queue{rest}"

    def _take_out(self, row: CommandRow, links: Iterable[int], batch: Batch) -> int:
        state, reason = STATES[row.kind], REASONS[row.kind]
        return self._urls.take_out(links, batch, state=state, reason=reason, detail=row.target)

    def _take_out_returned(self) -> None:
        """A link that was put off, or failed and would be tried again, is not."""
        state_of = self._ledger.state.frontier.state_of
        over = {link: row for link, row in self._under_way.items() if state_of(link) is not LinkState.LEASED}
        batch = Batch()
        for link, row in over.items():
            self._take_out(row, [link], batch)
            del self._under_way[link]
        if batch.states:
            self._ledger.write(batch)

    def _undo(self, row: CommandRow, batch: Batch) -> str:
        known = {earlier.id: earlier for earlier in self._store.commands() if earlier.id < row.id}
        earlier = known.get(int(row.target))
        if earlier is None or earlier.kind not in REASONS:
            raise ValueError(f"command {row.target} cannot be undone: only exclude, drop and raise can")
        marked = self._store.links_marked(REASONS[earlier.kind], earlier.target)
        if earlier.kind == Command.RAISE:
            count = self._urls.put_back((link.id for link in marked), batch)
            return f"{count:,} links wait for their own turn again"
        self._under_way = {link: asked for link, asked in self._under_way.items() if asked.id != earlier.id}
        self._shut_out(self._store.commands(), without=earlier)
        count = self._urls.take_in(_takeable(marked), batch)
        return f"{count:,} links wait again"

    def _shut_out(
        self, known: Iterable[CommandRow], *, and_also: CommandRow | None = None, without: CommandRow | None = None
    ) -> None:
        """Put in force the exclusions that stand."""
        patterns = [row.target for row in _standing(known, Command.EXCLUDE) if row != without]
        if and_also is not None:
            patterns.append(and_also.target)
        self._urls.shut_out = UrlPatterns(patterns, setting="excluded").first_match if patterns else no_pattern


def _takeable(links: Iterable[LinkRow]) -> list[LinkRow]:
    """A page that was fetched once, and waited to be fetched again, is not queued once more."""
    return [link for link in links if link.state in (State.EXCLUDED, State.DROPPED)]


def _standing(known: Iterable[CommandRow], kind: str) -> list[CommandRow]:
    """Commands of this kind that were carried out and not undone. An `undo` that was not carried out yet stands for
    nothing."""
    rows = list(known)
    undone = {row.target for row in rows if row.kind == Command.UNDO and row.taken_at is not None}
    return [
        row
        for row in rows
        if row.kind == kind
        and row.taken_at is not None
        and not row.result.startswith("refused")
        and str(row.id) not in undone
    ]
