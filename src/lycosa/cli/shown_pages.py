"""Pages shown while a crawl finds them: lycosa crawl --show relevant."""

from __future__ import annotations

import json
from enum import StrEnum

from lycosa.cli.terminal import printable
from lycosa.crawl.commit import FoundPage
from lycosa.crawl.watching import Event, Silence


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


class OnlyPages(Silence):
    """Shows pages, and nothing else but what must be said."""

    def __init__(self, show: Show, *, as_json: bool = False) -> None:
        self._show = show
        self._as_json = as_json

    def tell(self, event: Event) -> None:
        if event.page is not None and self._show.wants(event):
            print(page_json(event.kind, event.page) if self._as_json else page_line(event.page), flush=True)
        super().tell(event)
