"""How a crawl shows itself while it runs: a live panel in a terminal, log lines or JSON elsewhere."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from threading import Thread

from rich.live import Live
from rich.markup import escape
from rich.panel import Panel
from rich.table import Table

from lycosa.cli.keys import keys_pressed, pressed
from lycosa.cli.shown_pages import OnlyPages, SeedLines, Show, page_line
from lycosa.cli.terminal import err, out, plain, printable, show, sparkline
from lycosa.crawl.stall import clock_time
from lycosa.crawl.watching import Event, View
from lycosa.lib.clock import SystemClock
from lycosa.stopping.forecast import Forecast
from lycosa.stopping.outlook import forecast_line, forecast_values

SPARKS = 60
QUESTIONS_KEY = "r"


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The figures of one moment."""

    seconds: float
    pages: int
    budget: int
    relevant: int
    harvest: float
    harvest_recent: float
    pages_per_second: float
    in_flight: int
    hosts: int
    hosts_ready: int
    hosts_cooling: int
    waiting: int
    state: str
    spark: str
    forecast: Forecast | None = None
    """What can be expected; None: too early to say."""

    def as_json(self) -> str:
        figures = {
            name: round(value, 4) if isinstance(value := getattr(self, name), float) else value
            for name in self.__slots__
            if name != "forecast"
        }
        figures["forecast"] = None if self.forecast is None else forecast_values(self.forecast)
        return json.dumps({"event": "progress", **figures})

    def as_line(self) -> str:
        outlook = f"  {forecast_line(self.forecast)}" if self.forecast is not None else ""
        return (
            f"{self.seconds:7.0f} s  {self.pages:,} pages ({self.pages_per_second:.1f}/s)  {self.relevant:,} relevant  "
            f"harvest {self.harvest_recent:.1%} (overall {self.harvest:.1%})  "
            f"hosts {self.hosts_ready} ready, {self.hosts_cooling} cooling  "
            f"frontier {self.waiting:,}{outlook}  {self.state}"
        )


class Meter:
    """Takes snapshots of a running crawl."""

    def __init__(self, view: View) -> None:
        self._view = view
        self._last = (view.started, view.ledger.pages)
        self._speed = 0.0
        self._forecast = view.forecast

    def snapshot(self, now: float) -> Snapshot:
        view, ledger, frontier = self._view, self._view.ledger, self._view.frontier
        since, pages = self._last
        if now - since >= 1.0:
            speed = (ledger.pages - pages) / (now - since)
            self._speed = speed if not self._speed else 0.7 * self._speed + 0.3 * speed
            self._last = (now, ledger.pages)
        recent = list(ledger.state.recent)
        return Snapshot(
            seconds=now - view.started,
            pages=ledger.pages,
            budget=view.page_budget,
            relevant=ledger.relevant,
            harvest=ledger.relevant / max(1, ledger.pages),
            harvest_recent=sum(relevant for _, relevant in recent) / max(1, len(recent)),
            pages_per_second=self._speed,
            in_flight=view.visitor.in_flight,
            hosts=len(ledger.state.hosts),
            hosts_ready=frontier.hosts_ready,
            hosts_cooling=frontier.hosts_cooling,
            waiting=frontier.waiting,
            state=self._state(now),
            spark=_spark([relevance for relevance, _ in recent]),
            forecast=self._forecast(),
        )

    def _state(self, now: float) -> str:
        """What the crawl is doing; if it has stalled, why."""
        if self._view.lookout.cause:
            quiet = now - self._view.ledger.last_visit_at
            return printable(f"nothing fetched for {quiet:.0f} s: {self._view.lookout.cause}")
        if self._view.visitor.in_flight:
            return f"{self._view.visitor.in_flight} fetches under way"
        ready = self._view.frontier.next_ready(now)
        if ready is not None and ready > now:
            return f"all hosts rest until {clock_time(ready)} ({ready - now:.1f} s)"
        return "nothing waits" if ready is None else "starting"


def _spark(relevance: list[float]) -> str:
    """The mean relevance of the latest pages in SPARKS groups, scaled to the best."""
    if not relevance:
        return ""
    size = max(1, len(relevance) // SPARKS)
    means = [sum(relevance[at : at + size]) / size for at in range(0, len(relevance) - size + 1, size)]
    top = max(means) or 1.0
    return sparkline([mean / top for mean in means[-SPARKS:]])


Asking = Callable[[Callable[[], bool]], None]
"""Asks a person questions until all are answered, or the function it is given says that it is over."""


class Panels:
    """A live panel for a person at a terminal, who can open questions by a key; the crawl goes on meanwhile."""

    def __init__(self, title: str, asking: Asking | None = None, show: Show = Show.NONE) -> None:
        """`asking`: what the key opens; it runs in a thread of its own while the panel rests. `show`: which pages are
        printed above the panel."""
        self._title = title
        self._show = show
        self._held: list[str] = []
        """Pages to be printed when the terminal no longer belongs to questions."""
        self._asking = asking if asking is not None and sys.stdin.isatty() else None
        self._live = Live(console=out, auto_refresh=False, transient=True)
        self._meter: Meter | None = None
        self._clock = SystemClock()
        self._next = 0.0
        self._notice = ""
        self._course = ""
        """The latest change of it."""
        self._seeds = SeedLines()
        self._terminal = ExitStack()
        self._questions: Thread | None = None
        self._is_over = False

    def begin(self, view: View) -> None:
        self._meter = Meter(view)
        if self._asking is not None:
            self._terminal.enter_context(pressed())
        self._live.start()

    def look(self) -> None:
        if self._is_asking():
            return
        now = self._clock.now()
        if self._meter is not None and now >= self._next:
            self._next = now + 0.25
            self._live.update(self._panel(self._meter.snapshot(now)), refresh=True)

    def _is_asking(self) -> bool:
        """Whether the terminal belongs to questions; they begin and end here."""
        if self._asking is None:
            return False
        if self._questions is None:
            if QUESTIONS_KEY not in keys_pressed():
                return False
            self._live.stop()
            self._questions = Thread(target=self._asking, args=(lambda: self._is_over,), daemon=True)
            self._questions.start()
        elif not self._questions.is_alive():
            self._questions = None
            self._live.start()
            self._print_pages()
        return self._questions is not None

    def _print_pages(self) -> None:
        if self._questions is None:
            for line in self._held:
                out.print(escape(line), soft_wrap=True)
            self._held.clear()

    def tell(self, event: Event) -> None:
        if event.page is not None:
            if self._show.wants(event):
                self._held.append(page_line(event.page))
                self._print_pages()
            return
        if event.kind == "interrupted":
            self._notice = event.message
            if self._questions is not None:
                err.print(f"[yellow]{plain(event.message)}[/]")
        elif event.kind == "seed":
            if self._questions is None:  # the panel makes room
                self._live.stop()
            self._seeds.tell(event.message)
            if self._questions is None:
                self._live.start()
        elif event.kind not in ("stall", "end"):  # a stall is in the next snapshot
            self._course = f"{event.kind}: {event.message}"
        self._next = 0.0

    def end(self) -> None:
        self._is_over = True
        if self._questions is not None:
            self._questions.join()
            self._questions = None
        self._print_pages()
        self._live.stop()
        self._terminal.close()

    def _panel(self, shot: Snapshot) -> Panel:
        grid = Table.grid(padding=(0, 2))
        grid.add_column(justify="right", style="dim")
        grid.add_column()
        grid.add_row("pages", f"[bold]{shot.pages:,}[/] of {shot.budget:,}   {shot.pages_per_second:.1f} a second")
        grid.add_row("relevant", f"[bold green]{shot.relevant:,}[/]")
        grid.add_row("harvest rate", f"{shot.harvest_recent:.1%} of the last 1,000   {shot.harvest:.1%} overall")
        grid.add_row(
            "hosts",
            f"{shot.in_flight} fetches under way   {shot.hosts_ready} hosts ready   "
            f"{shot.hosts_cooling} resting   {shot.hosts:,} known",
        )
        grid.add_row("frontier", f"{shot.waiting:,} links wait")
        if shot.forecast is not None:
            grid.add_row("outlook", forecast_line(shot.forecast))
        grid.add_row("relevance", f"[green]{shot.spark}[/]")
        if self._course:
            grid.add_row("course", plain(self._course, 160))
        if self._asking is not None:
            grid.add_row("questions", f"[dim]{QUESTIONS_KEY}: a few questions, which teach the judge; it crawls on[/]")
        grid.add_row("now", f"[yellow]{self._notice}[/]" if self._notice else plain(shot.state))
        minutes, seconds = divmod(int(shot.seconds), 60)
        return Panel(grid, title=plain(self._title, 60), subtitle=f"{minutes}:{seconds:02d}", expand=False)


class Lines:
    """Log lines, or JSON, at regular intervals."""

    def __init__(self, *, as_json: bool = False, every: float = 5.0, show: Show = Show.NONE) -> None:
        self._as_json = as_json
        self._pages = OnlyPages(show, as_json=as_json)
        self._every = every
        self._seeds = SeedLines()
        self._meter: Meter | None = None
        self._clock = SystemClock()
        self._next = 0.0

    def begin(self, view: View) -> None:
        self._meter = Meter(view)
        self._next = self._clock.now() + self._every

    def look(self) -> None:
        now = self._clock.now()
        if self._meter is not None and now >= self._next:
            self._next = now + self._every
            shot = self._meter.snapshot(now)
            show(shot.as_json() if self._as_json else shot.as_line())

    def tell(self, event: Event) -> None:
        if event.page is not None:
            self._pages.tell(event)
        elif event.kind == "interrupted":
            err.print(event.message)
        elif event.kind == "seed" and not self._as_json:
            self._seeds.tell(event.message)
        elif event.kind != "end":
            if event.kind == "seed":
                self._seeds.tell(event.message)
            key = "cause" if event.kind == "stall" else "message"
            plain_text = printable(f"{event.kind}: {event.message}")
            show(json.dumps({"event": event.kind, key: event.message}) if self._as_json else plain_text)

    def end(self) -> None:
        pass
