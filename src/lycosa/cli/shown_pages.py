"""Pages shown while a crawl finds them, lycosa crawl --show relevant; and seeds that cannot start, always."""

from __future__ import annotations

import json
from enum import StrEnum

from lycosa.cli.terminal import err, going_on_unread, plain, printable, show
from lycosa.crawl.consequences import FoundPage
from lycosa.crawl.watching import Event, Silence

SHOWN_SEEDS = 10
"""Number of seeds that cannot start that are named on the terminal."""


class Show(StrEnum):
    """Which pages are shown."""

    NONE = "none"
    RELEVANT = "relevant"
    ALL = "all"

    def wants(self, event: Event) -> bool:
        """Whether this is the event of a page to be shown."""
        return event.kind == {Show.NONE: "", Show.RELEVANT: "relevant", Show.ALL: "page"}[self]


def page_line(page: FoundPage) -> str:
    """Relevance, address and title. Safe to print: nothing in it moves a cursor."""
    mark = "relevant" if page.is_relevant else "other   "
    title = " ".join(printable(page.title).split())
    return printable(f"{mark}  {page.relevance:.2f}  {page.url}  {title or '(no title)'}")


def page_json(kind: str, page: FoundPage) -> str:
    facts = {name: getattr(page, name) for name in ("number", "url", "title", "relevance", "is_relevant", "language")}
    return json.dumps({"event": kind, **facts})


class SeedLines:
    """Says on stderr which seeds cannot start: the first few of them. `lycosa status` lists them all."""

    def __init__(self) -> None:
        self._count = 0

    def tell(self, message: str) -> None:
        self._count += 1
        with going_on_unread(of_errors=True):
            if self._count <= SHOWN_SEEDS:
                err.print(f"[yellow]seed[/] {plain(message, 400)}")
            elif self._count == SHOWN_SEEDS + 1:
                err.print("[yellow]seed[/] and more that cannot start: lycosa status lists them")


class OnlyPages(Silence):
    """Shows pages, and nothing else but what must be said."""

    def __init__(self, show: Show, *, as_json: bool = False) -> None:
        self._show = show
        self._as_json = as_json
        self._seeds = SeedLines()

    def tell(self, event: Event) -> None:
        if event.kind == "seed":
            self._seeds.tell(event.message)
        if event.page is not None and self._show.wants(event):
            show(page_json(event.kind, event.page) if self._as_json else page_line(event.page))
        super().tell(event)
