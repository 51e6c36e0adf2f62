"""Progress of fetching a known number of pages, on stderr: a bar in a terminal, otherwise a line now and then."""

from __future__ import annotations

import time

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from lycosa.cli.terminal import err
from lycosa.crawl.watching import Event, Silence, View

FIRST_LINE, LINE_EVERY = 1.0, 5.0
"""Seconds until the first line, and between two lines, where there is no terminal."""


class FetchProgress(Silence):
    def __init__(self, total: int) -> None:
        self._total = total
        self._in_trouble = 0
        self._view: View | None = None
        self._next = 0.0
        columns = (TextColumn("fetching"), BarColumn(), MofNCompleteColumn(), TextColumn("{task.fields[trouble]}"))
        self._bar = Progress(*columns, TimeElapsedColumn(), console=err, transient=True, disable=not err.is_terminal)
        self._task = self._bar.add_task("", total=total, trouble="")

    def begin(self, view: View) -> None:
        self._view = view
        self._next = time.monotonic() + FIRST_LINE
        self._bar.start()

    def look(self) -> None:
        if self._view is None:
            return
        pages = self._view.ledger.pages
        trouble = f"{self._in_trouble:,} without an answer so far" if self._in_trouble else ""
        self._bar.update(self._task, completed=pages, trouble=trouble)
        if not err.is_terminal and time.monotonic() >= self._next:
            self._next = time.monotonic() + LINE_EVERY
            err.print(f"fetching: {pages:,} of {self._total:,} pages" + (f", {trouble}" if trouble else ""))

    def tell(self, event: Event) -> None:
        super().tell(event)
        self._in_trouble += event.kind == "seed"

    def end(self) -> None:
        self._bar.stop()
