"""The machine's clock is set while a crawl runs, or between two runs: noticed, said, and without effect on any rest.

A running crawl keeps its own time (`lib.clock`), by which hosts rest and everything is recorded. What crosses a restart
is wall-clock time, so a jump is written down with the state of the crawl, and the next run moves the rests that are on
record. If the clock is behind the last record, it was set back in between: rests are moved likewise. A clock that was
set forward between two runs cannot be told from time that has passed.
"""

from __future__ import annotations

from datetime import timedelta

from lycosa.crawl.commit import CrawlLedger
from lycosa.lib.clock import SystemClock
from lycosa.store.protocol import Store

CLOCK = "clock"
"""Name of the state that holds by how many seconds records differ from wall-clock time, and of the event."""
NOTICED = 2.0
"""Seconds: a smaller jump is not worth a word."""
LOOK_EVERY = 1.0


class ClockWatch:
    """Notices that the machine's clock was set. `look` is called after each turn of the loop."""

    def __init__(self, *, ledger: CrawlLedger, clock: SystemClock) -> None:
        self._ledger = ledger
        self._clock = clock
        self._known = 0.0
        self._next = clock.now() + LOOK_EVERY

    def look(self) -> str:
        """What there is to say about a jump; it is also stored as an event."""
        now = self._clock.now()
        if now < self._next:
            return ""
        self._next = now + LOOK_EVERY
        jumped = self._clock.jumped()
        if abs(jumped - self._known) < NOTICED:
            return ""
        message = f"the machine's clock was set {_words(jumped - self._known)}: rests and records go by the crawl's own"
        self._known = jumped
        self._ledger.note(CLOCK, message, {CLOCK: repr(jumped).encode()})
        return message


def settle_clocks(store: Store, *, now: float) -> str:
    """Before a run begins: bring the rests on record in line with the machine's clock. What was done, in words."""
    kept = store.state(CLOCK)
    shift = _number(kept)
    behind = store.latest_time() + shift - now
    if behind > NOTICED:
        shift -= behind
    if not kept and not shift:
        return ""
    store.shift_clocks(shift, forget=CLOCK)
    return f"the machine's clock was set {_words(shift)} since the last run; rests were moved with it" if shift else ""


def _number(kept: bytes | None) -> float:
    try:
        return float(kept or 0)
    except ValueError:
        return 0.0


def _words(seconds: float) -> str:
    """`back by 1:00:00`"""
    span = timedelta(seconds=round(abs(seconds)))
    return f"{'forward' if seconds > 0 else 'back'} by {span}"
