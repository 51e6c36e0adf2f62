"""What a crawl found, for other tools: JSON lines, Parquet, CSV.

The name of the file says what goes into it and how: `pages.jsonl`, `links.parquet`, `sites.csv`. Pages come with
their text, which is read again from the archive by the same reader that served the crawl; the text of a page whose
record is damaged is empty, and how many those are is told.
"""

from __future__ import annotations

import contextlib
import csv
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from lycosa.errors import InputError
from lycosa.lib.parquet import write_lines, write_parquet
from lycosa.results.archived_pages import ArchivedPages
from lycosa.store.protocol import Store

PAGES = """
select f.url, p.title, j.relevance, j.is_relevant, p.number, p.fetched_at, p.language, p.charset, p.bytes, p.words,
       f.distance, d.url as duplicate_of, p.canonical, p.is_noindex, p.archive_file, p.archive_offset
from pages p join frontier f on f.id = p.id left join judgements j on j.page_id = p.id
     left join frontier d on d.id = p.duplicate_of
order by p.number
"""
LINKS = """
select s.url as source, t.url as target, l.position, l.anchor, l.rel
from links l join frontier s on s.id = l.source_id join frontier t on t.id = l.target_id
order by l.source_id, l.position
"""
SITES = "select * from sites"
FORMATS = (".jsonl", ".parquet", ".csv")
COLUMNS: Mapping[str, Mapping[str, str]] = {
    "pages": {
        "url": "varchar",
        "title": "varchar",
        "relevance": "double",
        "is_relevant": "boolean",
        "number": "bigint",
        "fetched_at": "double",
        "language": "varchar",
        "charset": "varchar",
        "bytes": "bigint",
        "words": "bigint",
        "distance": "bigint",
        "duplicate_of": "varchar",
        "canonical": "varchar",
        "is_noindex": "boolean",
        "warc": "varchar",
        "text": "varchar",
    },
    "links": {"source": "varchar", "target": "varchar", "position": "bigint", "anchor": "varchar", "rel": "varchar"},
    "sites": {
        "name": "varchar",
        "pages": "bigint",
        "relevant": "bigint",
        "failed": "bigint",
        "links": "bigint",
        "set_aside": "varchar",
        "density": "double",
    },
}
"""What each export has, with the types of Parquet: they must not depend on what the crawl happened to find."""

Row = dict[str, Any]


def export(store: Store, target: Path, *, texts: ArchivedPages | None) -> int:
    """Write `target`; return the number of rows. The file appears whole or not at all. Without `texts`, no text."""
    kind, form = _kind(target)
    rows = page_rows(store, texts) if kind == "pages" else _rows(store, LINKS if kind == "links" else SITES)
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
            f"(or …-pages) with one of {', '.join(FORMATS)}: pages.jsonl, links.parquet, sites.csv"
        )
    return kind, target.suffix


def _rows(store: Store, sql: str) -> Iterator[Row]:
    names, rows = store.query(sql)
    for row in rows:
        yield dict(zip(names, row, strict=True))


def page_rows(store: Store, texts: ArchivedPages | None) -> Iterator[Row]:
    for row in _rows(store, PAGES):
        for flag in ("is_relevant", "is_noindex"):
            row[flag] = None if row[flag] is None else bool(row[flag])
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
            writer.writerow({key: _harmless(value) for key, value in row.items()})
            count += 1
    return count


def _harmless(value: Any) -> Any:
    """A cell that begins like a formula would be run by a spreadsheet."""
    return f"'{value}" if isinstance(value, str) and value.startswith(("=", "+", "-", "@", "\t", "\r")) else value


WRITERS: dict[str, Callable[[Iterable[Row], Path, Mapping[str, str]], int]] = {
    ".jsonl": _write_jsonl,
    ".csv": _write_csv,
    ".parquet": write_parquet,
}
