"""The results of a crawl for other tools: JSON lines, Parquet, CSV.

The name of the file gives content and format: `pages.jsonl`, `links.parquet`, `sites.csv`; `relevant-pages.jsonl` has
the relevant pages only. Pages include their text, which is read again from the archive as it was during the crawl; the
text of a page whose record is damaged is empty, and the number of these pages is reported.
"""

from __future__ import annotations

import contextlib
import csv
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args, get_type_hints

from lycosa.errors import InputError
from lycosa.lib.parquet import write_lines, write_parquet
from lycosa.results.archived_pages import ArchivedPages
from lycosa.store.protocol import Reports
from lycosa.store.rows import SiteRow, StoredLink, StoredPage

FORMATS = (".jsonl", ".parquet", ".csv")
TYPES = {str: "varchar", int: "bigint", float: "double", bool: "boolean"}


def _columns(row: type[tuple[Any, ...]]) -> dict[str, str]:
    """The fields of a row, with their types for Parquet; every one may be null there."""
    return {name: TYPES[(get_args(kind) or (kind,))[0]] for name, kind in get_type_hints(row).items()}


COLUMNS: Mapping[str, Mapping[str, str]] = {
    "pages": {name: kind for name, kind in _columns(StoredPage).items() if not name.startswith("archive_")}
    | {"warc": "varchar", "text": "varchar"},
    "links": _columns(StoredLink),
    "sites": _columns(SiteRow),
}
"""The columns of each export, with the types for Parquet, which must not depend on what the crawl happened to find."""

Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Selection:
    """Which pages are wanted."""

    is_relevant: bool = False
    """Only those that the crawl calls relevant."""
    min_relevance: float = 0.0

    def has(self, page: StoredPage) -> bool:
        return (page.relevance or 0.0) >= self.min_relevance and (bool(page.is_relevant) or not self.is_relevant)

    def __str__(self) -> str:
        least = f"relevance {self.min_relevance:g} or more" if self.min_relevance else ""
        return ", ".join(filter(None, ("relevant pages only" if self.is_relevant else "", least)))


ALL_PAGES = Selection()


def selection_for(target: Path, wanted: Selection = ALL_PAGES) -> Selection:
    """What is wanted of this file, also by its name. InputError if the file cannot be written like that."""
    kind, _ = _kind(target)
    words = target.stem.lower().split("-")[:-1]
    if "relevant" in words and kind == "pages":
        wanted = Selection(True, wanted.min_relevance)
    if "irrelevant" in words or {"relevant", "not"} <= set(words) or {"relevant", "non"} <= set(words):
        raise InputError(
            f"{target.name}: there is no export of irrelevant pages alone; export all pages, as pages.jsonl, and take "
            "those whose is_relevant is false"
        )
    if kind != "pages" and (wanted != ALL_PAGES or "relevant" in words):
        raise InputError(
            f"{target.name}: only pages can be limited to relevant ones, and this name asks for {kind}; export {kind} "
            "without --relevant and --min-relevance, under a name without 'relevant'"
        )
    return wanted


def export(store: Reports, target: Path, *, texts: ArchivedPages | None, wanted: Selection = ALL_PAGES) -> int:
    """Write `target`, as a whole or not at all; return the number of rows. Without `texts`, pages have no text."""
    kind, form = _kind(target)
    wanted = selection_for(target, wanted)
    rows: Iterable[Row]
    if kind == "pages":
        rows = page_rows(store, texts, wanted)
    else:
        listed: Iterator[StoredLink | SiteRow] = store.links_on_pages() if kind == "links" else store.sites()
        rows = (row._asdict() for row in listed)
    columns = {name: of for name, of in COLUMNS[kind].items() if texts is not None or name != "text"}
    draft = target.with_name(f".{target.name}.new")
    try:
        count = WRITERS[form](rows, draft, columns)
        draft.replace(target)
    except OSError as error:
        raise InputError(f"{target}: cannot be written: {error.strerror or error}") from error
    finally:
        with contextlib.suppress(OSError):
            draft.unlink()
    return count


def _kind(target: Path) -> tuple[str, str]:
    kind = target.stem.rpartition("-")[2] if "-" in target.stem else target.stem
    if kind not in ("pages", "links", "sites") or target.suffix not in FORMATS:
        raise InputError(
            f"{target.name}: cannot tell what to export; name the file pages, links or sites "
            f"(or …-pages, or relevant-pages) with one of {', '.join(FORMATS)}: pages.jsonl, links.parquet, sites.csv"
        )
    return kind, target.suffix


def page_rows(store: Reports, texts: ArchivedPages | None, wanted: Selection = ALL_PAGES) -> Iterator[Row]:
    """The pages that are wanted in the order of the crawl, as dictionaries; with `texts`, also their text."""
    for row in (page._asdict() for page in store.pages() if wanted.has(page)):
        file, offset = row.pop("archive_file"), row.pop("archive_offset")
        row["warc"] = f"{file}:{offset}" if file else ""
        if texts is not None:
            again = texts.at(file, offset) if file else None
            row["text"] = again.page.text if again and again.page else ""
        yield row


def _write_jsonl(rows: Iterable[Row], path: Path, _columns: Mapping[str, str]) -> int:
    return write_lines(rows, path)


def _write_csv(rows: Iterable[Row], path: Path, columns: Mapping[str, str]) -> int:
    count = 0
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, fieldnames=list(columns))
        writer.writeheader()
        for row in rows:
            writer.writerow({key: harmless(value) for key, value in row.items()})
            count += 1
    return count


def harmless(value: Any) -> Any:
    """Quote a cell that a spreadsheet would run as a formula."""
    return f"'{value}" if isinstance(value, str) and value.startswith(("=", "+", "-", "@", "\t", "\r")) else value


WRITERS: dict[str, Callable[[Iterable[Row], Path, Mapping[str, str]], int]] = {
    ".jsonl": _write_jsonl,
    ".csv": _write_csv,
    ".parquet": write_parquet,
}
