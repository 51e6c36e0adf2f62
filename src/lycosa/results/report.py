"""What came of a crawl: its figures, and its pages as rows or as a data frame."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lycosa.errors import ConfigError
from lycosa.results.archived_pages import ArchivedPages
from lycosa.results.page_rows import Row, Selection, page_rows
from lycosa.store.opening import open_store
from lycosa.workspace import Workspace

FRAMES = ("pandas", "polars")


@dataclass(frozen=True, slots=True)
class Report:
    """A crawl that has stopped, or the state of one that has not."""

    directory: Path
    reason: str
    """Why it stopped; empty if it was never run or is still running."""
    count: int
    """Pages fetched."""
    relevant: int
    waiting: int
    """Links in the frontier."""

    @property
    def harvest(self) -> float:
        """Share of the fetched pages that are relevant."""
        return self.relevant / max(1, self.count)

    def rows(self, which: str = "all", *, text: bool = True) -> Iterator[Row]:
        """Pages in the order of the crawl, one dictionary each: url, title, relevance, is_relevant, text and more."""
        if which not in ("all", "relevant"):
            raise ConfigError(f"there are no {which!r} pages: ask for 'all' or 'relevant'")
        with closing(open_store(Workspace(self.directory), read_only=True, over_shards=True)) as store:
            texts = ArchivedPages.of_text(self.directory / "archive", store) if text else None
            yield from page_rows(store, texts, Selection(is_relevant=which == "relevant"))

    def pages(self, which: str = "all", *, text: bool = True, frame: str = "") -> Any:
        """Pages as a data frame where pandas or polars is installed, otherwise as a list of dictionaries.

        `which`: all or relevant. `frame`: pandas, polars or rows, to have one of them whatever is installed.
        """
        if frame not in ("", "rows", *FRAMES):
            raise ConfigError(f"there is no frame {frame!r}: ask for pandas, polars or rows")
        rows = list(self.rows(which, text=text))
        found = frame or next((name for name in FRAMES if importlib.util.find_spec(name)), "rows")
        if found == "rows":
            return rows
        try:
            return importlib.import_module(found).DataFrame(rows)
        except ImportError as error:
            raise ConfigError(f"{found} is not installed: pip install {found}, or ask for frame='rows'") from error

    @classmethod
    def of(cls, directory: Path, reason: str = "") -> Report:
        with closing(open_store(Workspace(directory), read_only=True, over_shards=True)) as store:
            totals = store.totals()
        return cls(directory, reason, totals.pages, totals.relevant, totals.waiting)

    def __str__(self) -> str:
        return (
            f"{self.count:,} pages, {self.relevant:,} relevant (harvest rate {self.harvest:.1%}), {self.waiting:,} "
            f"links wait; {self.reason or 'not stopped'}"
        )
