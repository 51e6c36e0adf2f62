"""Those who watch a running crawl, and those who interrupt it.

Listeners get events; a watcher shows the running parts. `Running` is the handle by which other threads, Ctrl-C and the
library stop a crawl.
"""

from __future__ import annotations

import asyncio
import contextlib
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Protocol, TypeVar

from lycosa.crawl.commit import CrawlLedger
from lycosa.crawl.consequences import FoundPage
from lycosa.crawl.relevant_pages import RelevantPages
from lycosa.crawl.stall import Lookout
from lycosa.crawl.visits import LiveVisitor
from lycosa.frontier.frontier import Frontier
from lycosa.lib.clock import Clock
from lycosa.stopping.forecast import Forecast
from lycosa.stopping.rules import Stop, no_forecast

Result = TypeVar("Result")

PROGRESS_EVERY = 1.0
"""Seconds between two progress events."""


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened in a running crawl."""

    kind: str
    """page, relevant, progress, seed (one that cannot start), stall, interrupted, end; snapshot, if one cannot be used;
    clock, if the machine's was set; or a change of course: judge, answers, focus, distilled, search, advice,
    command (a person's), alarm, alarm over."""
    message: str = ""
    page: FoundPage | None = None
    """The page, for `page` and `relevant` events."""
    figures: Mapping[str, float] | None = None
    """For `progress` events: pages, relevant, harvest, waiting, in_flight."""


Listener = Callable[[Event], None]


@dataclass(frozen=True, slots=True)
class View:
    """The running parts, for those who watch."""

    page_budget: int
    frontier: Frontier
    ledger: CrawlLedger
    visitor: LiveVisitor
    lookout: Lookout
    started: float
    forecast: Callable[[], Forecast | None] = no_forecast


class Watcher(Protocol):
    """Shows a running crawl; `look` is called often, after each turn of the loop."""

    def begin(self, view: View) -> None: ...

    def look(self) -> None: ...

    def tell(self, event: Event) -> None:
        """A page, a stall, a change of course, or an interruption."""
        ...

    def end(self) -> None: ...


class Silence:
    """A watcher that shows nothing but what must be said."""

    def begin(self, view: View) -> None:
        pass

    def look(self) -> None:
        pass

    def tell(self, event: Event) -> None:
        if event.kind == "interrupted":
            print(event.message, file=sys.stderr)

    def end(self) -> None:
        pass


class Periodic:
    """Does something at regular intervals. `look` is called after each turn of the loop."""

    def __init__(self, action: Callable[[], None], *, every: float, clock: Clock) -> None:
        self._action = action
        self._every = every
        self._clock = clock
        self._next = clock.now() + every

    def look(self) -> None:
        now = self._clock.now()
        if now >= self._next:
            self._next = now + self._every
            self._action()


class Running:
    """What can be done to a crawl while it runs, from whichever thread, and who hears about it."""

    def __init__(self, listeners: list[Listener], watcher: Watcher) -> None:
        self._listeners = listeners
        self._watcher = watcher
        self._loop = asyncio.get_running_loop()
        self._task = asyncio.current_task()
        self._view: View | None = None
        self._stop: Stop | None = None
        self._relevant: RelevantPages | None = None
        self._asked = ""
        self._heard = 0
        self._next = 0.0

    def begin(self, view: View, stop: Stop) -> None:
        self._view, self._stop = view, stop
        self._relevant = RelevantPages(view.ledger)
        self._watcher.begin(view)
        if self._asked:  # before it had begun
            stop.request(self._asked)

    def end(self) -> None:
        self._watcher.end()

    def tell(self, event: Event) -> None:
        self._watcher.tell(event)
        for listener in self._listeners:
            listener(event)

    def look(self, ledger: CrawlLedger) -> None:
        """Hand on what has happened since the last time."""
        found = ledger.take_found()
        for page in found:
            self.tell(Event("page", page.title, page))
        for page in self._relevant.news(found) if self._relevant is not None else ():
            self.tell(Event("relevant", f"{page.title} {page.url}".strip(), page))
        for kind, message in ledger.changes[self._heard :]:
            self.tell(Event(kind, message))
        self._heard = len(ledger.changes)
        self._watcher.look()
        if self._loop.time() >= self._next:
            self.tell_progress()

    def tell_progress(self) -> None:
        self._next = self._loop.time() + PROGRESS_EVERY
        if self._listeners and self._view is not None:
            for listener in self._listeners:
                listener(self._progress(self._view))

    @staticmethod
    def _progress(view: View) -> Event:
        pages, relevant, waiting = view.ledger.pages, view.ledger.relevant, view.frontier.waiting
        figures = {
            "pages": pages,
            "relevant": relevant,
            "harvest": relevant / max(1, pages),
            "waiting": waiting,
            "in_flight": view.visitor.in_flight,
        }
        return Event("progress", f"{pages:,} pages, {relevant:,} relevant, {waiting:,} links wait", figures=figures)

    def request(self, reason: str) -> None:
        self._asked = reason
        with contextlib.suppress(RuntimeError):  # the loop has just been closed
            self._loop.call_soon_threadsafe(self._request, reason)

    def _request(self, reason: str) -> None:
        if self._stop is not None and self._view is not None:
            self._stop.request(reason)
            self._view.visitor.nudge()

    def cancel(self) -> None:
        if self._task is not None:
            with contextlib.suppress(RuntimeError):
                self._loop.call_soon_threadsafe(self._task.cancel)

    def interrupt(self, name: str) -> None:
        """Ctrl-C: stop in order the first time, at once the second."""
        if self._asked:
            self.cancel()
            return
        self.request(f"interrupted by {name}")
        under_way = self._view.visitor.in_flight if self._view else 0
        self.tell(Event("interrupted", f"{name}: finishing {under_way} fetches under way; once more to stop at once"))


@contextlib.contextmanager
def heeding_signals(running: Running) -> Iterator[None]:
    """In the main thread, Ctrl-C and SIGTERM stop the crawl; whoever handled them before does so again afterwards."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    loop = asyncio.get_running_loop()
    names = {signal.SIGINT: "Ctrl-C", signal.SIGTERM: "SIGTERM"}
    before = {number: signal.getsignal(number) for number in names}
    for number, name in names.items():
        loop.add_signal_handler(number, running.interrupt, name)
    try:
        yield
    finally:
        for number, handler in before.items():
            loop.remove_signal_handler(number)
            signal.signal(number, handler)


def in_a_thread(work: Callable[[], Result], *, stop: Callable[[str], None], cancel: Callable[[], None]) -> Result:
    """For a caller whose own event loop is running: it waits here, and can still interrupt."""
    done: list[Result] = []
    failed: list[BaseException] = []

    def body() -> None:
        try:
            done.append(work())
        except BaseException as error:  # raised again below, in the caller's thread
            failed.append(error)

    thread = threading.Thread(target=body, name="lycosa", daemon=True)
    interrupts: list[int] = []

    def interrupt(*_: object) -> None:
        interrupts.append(1)
        if len(interrupts) > 1:
            cancel()
        else:
            stop("interrupted by Ctrl-C")

    is_main = threading.current_thread() is threading.main_thread()
    before = signal.signal(signal.SIGINT, interrupt) if is_main else None
    try:
        thread.start()
        while thread.is_alive():
            thread.join(0.2)  # in between, signals are handled
    finally:
        if is_main:
            signal.signal(signal.SIGINT, before)
    if failed:
        if isinstance(failed[0], asyncio.CancelledError):
            raise KeyboardInterrupt
        raise failed[0]
    return done[0]
