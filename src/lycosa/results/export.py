"""The results of a crawl for other tools: JSON lines, Parquet, CSV, a folder of Markdown, web archives.

The name of the target gives content and format: `pages.jsonl`, `links.parquet`, `sites.csv`; `relevant-pages.jsonl` has
the relevant pages only; `corpus` is another word for pages, and the name of formats that only pages have: `corpus/`,
`corpus.wacz`, `corpus.cdxj`. Whatever is written appears under its name as a whole, or not at all. The text of a page
whose record is damaged is empty, and the number of these pages is reported.
"""

from __future__ import annotations

import contextlib
import csv
import shutil
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from lycosa.errors import InputError
from lycosa.lib.parquet import write_lines, write_parquet
from lycosa.results.archived_pages import ArchivedPages
from lycosa.results.markdown_folder import is_corpus_folder, write_folder
from lycosa.results.page_rows import ALL_PAGES, FROM_ARCHIVE, PAGE_COLUMNS, Row, Selection, columns_of, page_rows
from lycosa.results.wacz import write_index, write_wacz
from lycosa.store.protocol import Reports
from lycosa.store.rows import SiteRow, StoredLink

FORMATS = (".jsonl", ".parquet", ".csv")
FOLDER, WACZ, CDXJ = "", ".wacz", ".cdxj"
PAGE_FORMATS = (FOLDER, WACZ, CDXJ)
"""Formats that only pages have."""
PAGES = ("pages", "corpus")

COLUMNS: Mapping[str, Mapping[str, str]] = {
    "pages": PAGE_COLUMNS,
    "links": columns_of(StoredLink),
    "sites": columns_of(SiteRow),
}
"""The columns of each export, with the types for Parquet, which must not depend on what the crawl happened to find."""

Watch = Callable[[int], None]
"""Told the number of rows so far."""


def selection_for(target: Path, wanted: Selection = ALL_PAGES) -> Selection:
    """What is wanted of this target, also by its name. InputError if it cannot be written like that."""
    kind, _ = _kind(target)
    words = target.stem.lower().split("-")[:-1]
    if "relevant" in words and kind == "pages":
        wanted = replace(wanted, is_relevant=True)
    if "irrelevant" in words or {"relevant", "not"} <= set(words) or {"relevant", "non"} <= set(words):
        raise InputError(
            f"{target.name}: there is no export of irrelevant pages alone; export all pages, as pages.jsonl, and take "
            "those whose is_relevant is false"
        )
    if kind != "pages" and (wanted != ALL_PAGES or "relevant" in words):
        raise InputError(
            f"{target.name}: only pages can be limited to relevant ones, and this name asks for {kind}; export {kind} "
            "without --relevant, --min-relevance, --distinct and --for, under a name without 'relevant'"
        )
    return wanted


def export(
    store: Reports,
    target: Path,
    *,
    texts: ArchivedPages | None,
    wanted: Selection = ALL_PAGES,
    watch: Watch = lambda _: None,
) -> int:
    """Write `target`, as a whole or not at all; return the number of rows. Without `texts`, pages have no text."""
    kind, form = _kind(target)
    wanted = selection_for(target, wanted)
    _check(target, form, texts, wanted)
    rows: Iterable[Row]
    if kind == "pages":
        has_texts = form != CDXJ or wanted.is_distinct or bool(wanted.purpose)
        rows = page_rows(store, texts if has_texts else None, wanted)
    else:
        listed: Iterator[StoredLink | SiteRow] = store.links_on_pages() if kind == "links" else store.sites()
        rows = (row._asdict() for row in listed)
    columns = {name: of for name, of in COLUMNS[kind].items() if texts is not None or name not in FROM_ARCHIVE}
    draft = target.with_name(f".{target.name}.new")
    try:
        count = _write(_watched(rows, watch), draft, form, columns, texts)
        _put(draft, target)
    except OSError as error:
        raise InputError(f"{target}: cannot be written: {error.strerror or error}") from error
    finally:
        _remove(draft)
    return count


def _kind(target: Path) -> tuple[str, str]:
    """What is exported (pages, links, sites), and the suffix that says how."""
    kind = target.stem.rpartition("-")[2] if "-" in target.stem else target.stem
    is_known = kind in COLUMNS or kind in PAGES
    if is_known and (target.suffix in FORMATS or (target.suffix in PAGE_FORMATS and kind in PAGES)):
        return ("pages" if kind in PAGES else kind), target.suffix
    raise InputError(
        f"{target.name}: cannot tell what to export; name the file pages, links or sites "
        f"(or …-pages, or relevant-pages) with one of {', '.join(FORMATS)}: pages.jsonl, links.parquet, sites.csv; "
        "or corpus/ for a folder of Markdown files, corpus.wacz or corpus.cdxj for web archives"
    )


def _check(target: Path, form: str, texts: ArchivedPages | None, wanted: Selection) -> None:
    if texts is None and (form in PAGE_FORMATS or wanted.is_distinct or wanted.purpose):
        what = "near-duplicates are found by what is" if wanted.is_distinct else "what owners say of use is"
        what = "it is made of what is" if form in PAGE_FORMATS else what
        raise InputError(f"{target.name}: {what} in the archive; leave out --no-text")
    if form == FOLDER and target.exists() and not is_corpus_folder(target):
        raise InputError(
            f"{target}: exists, and is no folder of a former export; name one that does not exist, such as "
            f"{target.with_name('new-' + target.name)}/"
        )


def _write(rows: Iterable[Row], draft: Path, form: str, columns: Mapping[str, str], texts: ArchivedPages | None) -> int:
    if texts is not None and form == FOLDER:
        return write_folder(rows, draft)
    if texts is not None and form == WACZ:
        return write_wacz(rows, draft, texts.directory)
    if texts is not None and form == CDXJ:
        return write_index(rows, draft, texts.directory)
    return WRITERS[form](rows, draft, columns)


def _watched(rows: Iterable[Row], watch: Watch) -> Iterator[Row]:
    for count, row in enumerate(rows, 1):
        watch(count)
        yield row


def _put(draft: Path, target: Path) -> None:
    """Give the draft its name, in place of what an earlier export has left."""
    if not draft.is_dir():
        draft.replace(target)
        return
    older = target.with_name(f".{target.name}.old")
    _remove(older)
    if target.exists():
        target.rename(older)
    draft.rename(target)
    _remove(older)


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        with contextlib.suppress(OSError):
            path.unlink()


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
    """Quote a cell that a spreadsheet would run as a formula: also one in full-width characters, or behind spaces."""
    if not isinstance(value, str) or not value:
        return value
    visible = unicodedata.normalize("NFKC", value[:20]).lstrip()
    while visible and not visible[0].isprintable():
        visible = visible[1:].lstrip()
    is_formula = visible.startswith(("=", "+", "-", "@", "|", "%")) or value[0] in "\t\r\n"
    return f"'{value}" if is_formula else value


WRITERS: dict[str, Callable[[Iterable[Row], Path, Mapping[str, str]], int]] = {
    ".jsonl": _write_jsonl,
    ".csv": _write_csv,
    ".parquet": write_parquet,
}
