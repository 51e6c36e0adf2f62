"""The pages of a crawl as rows for other tools: what the store knows of them, and what their documents say.

Text, Markdown and metadata are made from the archive when rows are asked for (`page.clean`). Pages that are nearly the
same are in one cluster, named after the first of them in the order of the crawl.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, get_args, get_type_hints

from lycosa.lib.minhash import TextClusters
from lycosa.page.metadata import Metadata
from lycosa.results.archived_pages import ArchivedPages
from lycosa.store.protocol import Reports
from lycosa.store.rows import StoredPage
from lycosa.usage import forbids, in_words

TYPES = {str: "varchar", int: "bigint", float: "double", bool: "boolean"}
Row = dict[str, Any]


def columns_of(row: type[tuple[Any, ...]]) -> dict[str, str]:
    """The fields of a row, with their types for Parquet; every one may be null there."""
    return {name: TYPES[(get_args(kind) or (kind,))[0]] for name, kind in get_type_hints(row).items()}


SAID = tuple(name for name in Metadata._fields if name not in ("title", "language"))
"""What documents say of themselves, besides what is known of every page."""
FROM_ARCHIVE = (*SAID, "usage", "cluster", "text", "markdown")
"""Columns that are made from the archive."""
PAGE_COLUMNS: Mapping[str, str] = (
    {name: kind for name, kind in columns_of(StoredPage).items() if not name.startswith("archive_")}
    | {"warc": "varchar"}
    | dict.fromkeys(FROM_ARCHIVE, "varchar")
)


@dataclass(frozen=True, slots=True)
class Selection:
    """Which pages are wanted."""

    is_relevant: bool = False
    """Only those that the crawl calls relevant."""
    min_relevance: float = 0.0
    is_distinct: bool = False
    """Of pages that are nearly the same, only the first."""
    purpose: str = ""
    """Only those whose owners do not forbid this use."""

    def has(self, page: StoredPage) -> bool:
        return (page.relevance or 0.0) >= self.min_relevance and (bool(page.is_relevant) or not self.is_relevant)

    def __str__(self) -> str:
        least = f"relevance {self.min_relevance:g} or more" if self.min_relevance else ""
        relevant = "relevant pages only" if self.is_relevant else ""
        distinct = "no near-duplicates" if self.is_distinct else ""
        allowed = f"none whose owner forbids {self.purpose}" if self.purpose else ""
        return ", ".join(filter(None, (relevant, least, distinct, allowed)))


ALL_PAGES = Selection()


def page_rows(store: Reports, texts: ArchivedPages | None, wanted: Selection = ALL_PAGES) -> Iterator[Row]:
    """The pages that are wanted, in the order of the crawl; with `texts`, also what is made from the archive."""
    clusters = TextClusters()
    urls: list[str] = []
    for stored in filter(wanted.has, store.pages()):
        row = stored._asdict()
        file, offset = row.pop("archive_file"), row.pop("archive_offset")
        row["warc"] = f"{file}:{offset}" if file else ""
        if texts is not None:
            document = texts.clean_at(file, offset) if file else None
            metadata = document.metadata if document else Metadata()
            row["title"] = row["title"] or metadata.title
            row |= {name: getattr(metadata, name) for name in SAID}
            usage = texts.usage(stored.url, document)
            if forbids(usage, wanted.purpose):
                continue
            row["usage"] = in_words(usage)
            text = document.text if document else ""
            urls.append(stored.url)
            row["cluster"] = urls[clusters.add(text)]
            if wanted.is_distinct and row["cluster"] != stored.url:
                continue
            row |= {"text": text, "markdown": document.markdown if document else ""}
        yield row
