"""The full-text index of a crawl: `search.db` beside `crawl.db`, made from the archive, and made anew if it is deleted.

SQLite's FTS5 keeps the words (title, URL, text) without the texts themselves; these are kept compressed, and read only
for the few pages that are shown. URL, title and relevance are taken from `crawl.db`, which is attached for reading, so
that what a judge or a person said since the page was indexed holds.

A page is indexed once, in order of fetching, many in a transaction: a process that is killed leaves an index that is
behind, never one that is wrong. `pages` says how far it has come.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import zstandard

from lycosa.errors import StoreError
from lycosa.store.sqlite_connection import explained, transaction

FORMAT = "1"
"""Of the file: another one is made anew."""
TOKENIZER = "porter unicode61 remove_diacritics 2"
WEIGHTS = (4.0, 2.0, 1.0)
"""Of a word in the title, the URL and the text, for BM25."""
MARKS = "\x02", "\x03"
"""Before and after a word that was looked for; no indexed text has them."""
SNIPPET_WORDS = 28
BUSY_SECONDS = 30.0
COMPRESSION = 3
MAX_BYTES = 4 << 20
"""Of a text, in UTF-8: what is longer is cut."""
MOST_RANKED = 15_000
"""Number of pages that BM25 is computed for: a microsecond each. If more have the words, which are then words that say
little, those found first are ranked."""

SCHEMA = f"""
create table meta (name text primary key, value text not null) without rowid;
create table pages (id integer primary key, number integer not null unique, text blob not null);
create virtual table fulltext using fts5 (title, url, text, content = '', tokenize = '{TOKENIZER}');
insert into fulltext (fulltext, rank) values ('rank', 'bm25({", ".join(map(str, WEIGHTS))})');
"""
HITS = """
select w.id, f.url, p.title, j.relevance, coalesce(j.is_relevant, 0), p.number, -w.score
from (select id, score
      from (select rowid as id, rank as score from fulltext where fulltext match :match limit :ranked)
      order by score, id limit :kept) w
     cross join crawl.pages p on p.id = w.id cross join crawl.frontier f on f.id = w.id
     left join crawl.judgements j on j.page_id = w.id
          and j.judge = (select min(judge) from crawl.judgements where page_id = w.id)
where not :is_relevant or j.is_relevant limit :shown
"""
"""Ranked outside of FTS5: its own `order by rank` takes half as long again. As many are kept as are shown; all if there
is a filter. A cross join is never reordered, so pages are looked up, and filtered, in the order of their ranks, and no
more of them than needed."""
MATCHES = "select count(*) from (select 1 from fulltext where fulltext match ? limit ?)"
SHOWN = f"create virtual table temp.shown using fts5 (title, url, text, tokenize = '{TOKENIZER}')"
SNIPPETS = f"select rowid, snippet(shown, 2, ?, ?, '…', {SNIPPET_WORDS}) from temp.shown where shown match ?"


class IndexedPage(NamedTuple):
    id: int
    number: int
    title: str
    url: str
    text: str


class Hit(NamedTuple):
    """A page that was found."""

    id: int
    url: str
    title: str
    relevance: float | None
    is_relevant: bool
    number: int
    score: float
    """BM25: the higher, the better."""
    snippet: str = ""
    """Text around the words that were looked for, which stand between MARKS."""


class SearchIndex:
    """Opened for writing, or made if there is none; `crawl` tells one crawl from another in the same directory."""

    def __init__(self, path: Path, *, database: Path, crawl: str) -> None:
        self.path = path
        with explained(path):
            uri = f"{path.resolve().as_uri()}?mode=rwc"
            self._db = sqlite3.connect(uri, uri=True, isolation_level=None, timeout=BUSY_SECONDS)
            try:
                self._prepare(crawl)
                self._db.execute("attach ? as crawl", (f"{database.resolve().as_uri()}?mode=ro",))
            except BaseException:
                self._db.close()
                raise

    def close(self) -> None:
        self._db.close()

    def _prepare(self, crawl: str) -> None:
        if not _has_fts5(self._db):
            raise StoreError(
                "the SQLite of this Python was built without FTS5, its full-text search; use a Python that has it "
                "(those of python.org, Debian and conda do)"
            )
        self._db.execute("pragma journal_mode = wal")
        self._db.execute("pragma synchronous = normal")
        self._db.execute("pragma cache_size = -65536")
        with transaction(self._db):
            if self._meta() == {"format": FORMAT, "crawl": crawl}:
                return
            for table in ("fulltext", "pages", "meta"):
                self._db.execute(f"drop table if exists {table}")
            for statement in SCHEMA.split(";\n"):
                self._db.execute(statement)
            rows = [("format", FORMAT), ("crawl", crawl)]
            self._db.executemany("insert into meta values (?, ?)", rows)

    def _meta(self) -> dict[str, str]:
        has_meta = self._db.execute("select count(*) from sqlite_master where name = 'meta'").fetchone()[0]
        return dict(self._db.execute("select name, value from meta")) if has_meta else {}

    @property
    def last(self) -> int:
        """The number of the last page that is indexed."""
        with explained(self.path):
            return int(self._db.execute("select coalesce(max(number), 0) from pages").fetchone()[0])

    def count(self) -> int:
        with explained(self.path):
            return int(self._db.execute("select count(*) from pages").fetchone()[0])

    def add(self, pages: Iterable[IndexedPage]) -> int:
        """Index pages in one transaction; those that another process has indexed meanwhile are left out."""
        packer = zstandard.ZstdCompressor(level=COMPRESSION)
        count = 0
        with explained(self.path), transaction(self._db):
            last = self.last
            for page in pages:
                if page.number <= last:
                    continue
                text = _clean(page.text)
                packed = packer.compress(text.encode("utf-8", "replace"))
                self._db.execute("insert into pages values (?, ?, ?)", (page.id, page.number, packed))
                self._db.execute(
                    "insert into fulltext (rowid, title, url, text) values (?, ?, ?, ?)",
                    (page.id, _clean(page.title), _url_words(page.url), text),
                )
                count += 1
        return count

    def tidy(self) -> None:
        """Merge the pieces that many transactions leave, which makes looking up faster."""
        with explained(self.path), transaction(self._db):
            self._db.execute("insert into fulltext (fulltext) values ('optimize')")

    def find(self, match: str, *, limit: int, is_relevant: bool = False, has_snippets: bool = True) -> list[Hit]:
        """The best pages for an FTS5 expression (`results.search_query` writes them), with snippets: of the first
        MOST_RANKED that match it."""
        asked = {
            "match": match,
            "ranked": MOST_RANKED,
            "kept": MOST_RANKED if is_relevant else limit,
            "is_relevant": is_relevant,
            "shown": limit,
        }
        with explained(self.path):
            rows = self._db.execute(HITS, asked).fetchall()
            hits = [Hit(*row)._replace(is_relevant=bool(row[4])) for row in rows]
            snippets = self._snippets(hits, match) if hits and has_snippets else {}
        return [hit._replace(snippet=snippets.get(hit.id, "")) for hit in hits]

    def ranks_all(self, match: str) -> bool:
        """Whether `find` ranks all pages that match."""
        with explained(self.path):
            return int(self._db.execute(MATCHES, (match, MOST_RANKED + 1)).fetchone()[0]) <= MOST_RANKED

    def _snippets(self, hits: list[Hit], match: str) -> dict[int, str]:
        """The pages that are shown are indexed once more, with their texts, for FTS5 to cut the snippets."""
        self._db.execute("drop table if exists temp.shown")
        self._db.execute(SHOWN)
        unpacker = zstandard.ZstdDecompressor()
        for hit in hits:
            row = self._db.execute("select text from pages where id = ?", (hit.id,)).fetchone()
            text = unpacker.decompress(row[0], max_output_size=MAX_BYTES).decode() if row else ""
            self._db.execute(
                "insert into temp.shown (rowid, title, url, text) values (?, ?, ?, ?)",
                (hit.id, _clean(hit.title), _url_words(hit.url), text),
            )
        return dict(self._db.execute(SNIPPETS, (*MARKS, match)))


def _has_fts5(db: sqlite3.Connection) -> bool:
    return bool(db.execute("select count(*) from pragma_module_list where name = 'fts5'").fetchone()[0])


def _clean(text: str) -> str:
    """Text without the marks, and short enough."""
    for mark in (*MARKS, "\x00"):
        text = text.replace(mark, " ")
    data = text.encode("utf-8", "replace")
    return text if len(data) <= MAX_BYTES else data[:MAX_BYTES].decode("utf-8", "ignore")


def _url_words(url: str) -> str:
    """The URL without its scheme: the tokenizer splits the rest."""
    return url.partition("://")[2]
