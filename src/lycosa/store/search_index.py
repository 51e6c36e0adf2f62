"""The full-text index of a crawl: `search.db` in its directory, made from the archive, and made anew if it is deleted.

SQLite's FTS5 keeps the words (title, URL, text) without the texts themselves; these are kept compressed, and read only
for the few pages that are shown. URL, title and relevance are asked of the crawl's store, so that what a judge or a
person said since the page was indexed holds.

Pages are indexed in order of fetching, and again if a refresh found them changed, many in a transaction: a process that
is killed leaves an index that is behind, never one that is wrong. How far it has come, `pages` and `meta` say.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import NamedTuple, Protocol

import zstandard

from lycosa.errors import StoreError
from lycosa.store.protocol import Reports
from lycosa.store.sqlite_connection import explained, transaction

FORMAT = "2"
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
create table pages (id integer primary key, number integer not null unique, title text not null, text blob not null);
create virtual table fulltext using fts5 (title, url, text, content = '', tokenize = '{TOKENIZER}');
insert into fulltext (fulltext, rank) values ('rank', 'bm25({", ".join(map(str, WEIGHTS))})');
"""
HITS = """
select id, -score from (select rowid as id, rank as score from fulltext where fulltext match ?1 limit ?2)
order by score, id limit -1
"""
"""Ranked outside of FTS5: its own `order by rank` takes half as long again. The outer limit is there for SQLite to
keep the inner one apart: else it makes one query of both, and ranks all pages before it takes the first."""
LOOKED_UP = 200
"""Number of pages looked up in the store at a time."""
MATCHES = "select count(*) from (select 1 from fulltext where fulltext match ? limit ?)"
SHOWN = f"create virtual table temp.shown using fts5 (title, url, text, tokenize = '{TOKENIZER}')"
SNIPPETS = f"select rowid, snippet(shown, 2, ?, ?, '…', {SNIPPET_WORDS}) from temp.shown where shown match ?"


class IndexedPage(NamedTuple):
    id: int
    number: int
    title: str
    url: str
    text: str


class NamedPage(Protocol):
    """A page that is to be shown with a snippet."""

    @property
    def id(self) -> int: ...
    @property
    def title(self) -> str: ...
    @property
    def url(self) -> str: ...


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


class NoIndex(StoreError):
    """There is no index of this crawl, or not of this format."""


class SearchIndex:
    """Opened for writing, or made if there is none; `crawl` tells one crawl from another in the same directory.

    `read_only`: nothing is made, and nobody waits for who writes; NoIndex if there is none.
    """

    def __init__(self, path: Path, *, store: Reports, crawl: str, read_only: bool = False) -> None:
        self.path = path
        self._store = store
        self._packer = zstandard.ZstdCompressor(level=COMPRESSION)
        with explained(path):
            uri = f"{path.resolve().as_uri()}?mode={'ro' if read_only else 'rwc'}"
            self._db = sqlite3.connect(uri, uri=True, isolation_level=None, timeout=BUSY_SECONDS)
            try:
                if read_only:
                    self._require(crawl)
                else:
                    self._prepare(crawl)
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
            if self._is_of(crawl):
                return
            for table in ("fulltext", "pages", "meta"):
                self._db.execute(f"drop table if exists {table}")
            for statement in SCHEMA.split(";\n"):
                self._db.execute(statement)
            rows = [("format", FORMAT), ("crawl", crawl), ("check", "0")]
            self._db.executemany("insert into meta values (?, ?)", rows)

    def _require(self, crawl: str) -> None:
        if not self._is_of(crawl):
            raise NoIndex(f"{self.path}: no index of this crawl; lycosa search makes it")

    def _is_of(self, crawl: str) -> bool:
        meta = self._meta()
        return meta.get("format") == FORMAT and meta.get("crawl") == crawl

    def _meta(self) -> dict[str, str]:
        has_meta = self._db.execute("select count(*) from sqlite_master where name = 'meta'").fetchone()[0]
        return dict(self._db.execute("select name, value from meta")) if has_meta else {}

    @property
    def last(self) -> int:
        """The number of the last page that is indexed."""
        with explained(self.path):
            return int(self._db.execute("select coalesce(max(number), 0) from pages").fetchone()[0])

    @property
    def last_check(self) -> int:
        """The number of the last look at a page whose finding is indexed."""
        with explained(self.path):
            return int(self._meta()["check"])

    def count(self) -> int:
        with explained(self.path):
            return int(self._db.execute("select count(*) from pages").fetchone()[0])

    def add(self, pages: Iterable[IndexedPage]) -> int:
        """Index pages in one transaction; those that another process has indexed meanwhile are left out."""
        count = 0
        with explained(self.path), transaction(self._db):
            last = self.last
            for page in pages:
                if page.number > last:
                    self._insert(page)
                    count += 1
        return count

    def renew(self, pages: Sequence[IndexedPage], check: int) -> None:
        """Index pages again, in one transaction; `check`: the last look that is taken into account by that. Those that
        are not indexed yet are left out: they will be, as they are then."""
        with explained(self.path), transaction(self._db):
            if check <= self.last_check:  # another process has done it meanwhile
                return
            for page in pages:
                if self._delete(page):
                    self._insert(page)
            self._db.execute("update meta set value = ? where name = 'check'", (str(check),))

    def _insert(self, page: IndexedPage) -> None:
        title, text = _clean(page.title), _clean(page.text)
        packed = self._packer.compress(text.encode("utf-8", "replace"))
        self._db.execute("insert into pages values (?, ?, ?, ?)", (page.id, page.number, title, packed))
        self._db.execute(
            "insert into fulltext (rowid, title, url, text) values (?, ?, ?, ?)",
            (page.id, title, _url_words(page.url), text),
        )

    def _delete(self, page: IndexedPage) -> bool:
        """Whether it was there. FTS5 is told all the words once more, as it keeps no texts to look them up in."""
        row = self._db.execute("select title, text from pages where id = ?", (page.id,)).fetchone()
        if row is None:
            return False
        self._db.execute(
            "insert into fulltext (fulltext, rowid, title, url, text) values ('delete', ?, ?, ?, ?)",
            (page.id, row[0], _url_words(page.url), _unpacked(row[1])),
        )
        self._db.execute("delete from pages where id = ?", (page.id,))
        return True

    def tidy(self) -> None:
        """Merge the pieces that many transactions leave, which makes looking up faster."""
        with explained(self.path), transaction(self._db):
            self._db.execute("insert into fulltext (fulltext) values ('optimize')")

    def best(self, match: str, limit: int) -> list[tuple[int, float]]:
        """(id, score) of the best pages for an FTS5 expression: of the first MOST_RANKED that match it."""
        with explained(self.path):
            return list(islice(self._db.execute(HITS, (match, MOST_RANKED)), limit))

    def find(self, match: str, *, limit: int, is_relevant: bool = False, has_snippets: bool = True) -> list[Hit]:
        """The best pages for an FTS5 expression (`results.search_query` writes them), with snippets: of the first
        MOST_RANKED that match it."""
        with explained(self.path):
            hits = list(islice(self._hits(match, limit, is_relevant), limit))
            snippets = self.snippets(hits, match) if hits and has_snippets else {}
        return [hit._replace(snippet=snippets.get(hit.id, "")) for hit in hits]

    def _hits(self, match: str, limit: int, is_relevant: bool) -> Iterator[Hit]:
        """Pages in order of their scores; those that the store does not have are left out."""
        ranked = self._db.execute(HITS, (match, MOST_RANKED))
        while some := list(islice(ranked, LOOKED_UP if is_relevant else min(limit, LOOKED_UP))):
            pages = self._store.pages_found([page for page, _ in some])
            for page, score in some:
                found = pages.get(page)
                if found is not None and (found.is_relevant or not is_relevant):
                    yield Hit(page, found.url, found.title, found.relevance, found.is_relevant, found.number, score)

    def matches(self, match: str) -> int:
        """Number of pages that match an FTS5 expression."""
        with explained(self.path):
            return int(self._db.execute(MATCHES, (match, -1)).fetchone()[0])

    def ranks_all(self, match: str) -> bool:
        """Whether `find` ranks all pages that match."""
        with explained(self.path):
            return int(self._db.execute(MATCHES, (match, MOST_RANKED + 1)).fetchone()[0]) <= MOST_RANKED

    def snippets(self, pages: Sequence[NamedPage], match: str) -> dict[int, str]:
        """By id. The pages that are shown are indexed once more, with their texts, for FTS5 to cut the snippets."""
        with explained(self.path):
            return self._cut(pages, match)

    def _cut(self, pages: Sequence[NamedPage], match: str) -> dict[int, str]:
        self._db.execute("drop table if exists temp.shown")
        self._db.execute(SHOWN)
        for page in pages:
            row = self._db.execute("select text from pages where id = ?", (page.id,)).fetchone()
            text = _unpacked(row[0]) if row else ""
            self._db.execute(
                "insert into temp.shown (rowid, title, url, text) values (?, ?, ?, ?)",
                (page.id, _clean(page.title), _url_words(page.url), text),
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


def _unpacked(text: bytes) -> str:
    return zstandard.ZstdDecompressor().decompress(text, max_output_size=MAX_BYTES).decode()


def _url_words(url: str) -> str:
    """The URL without its scheme: the tokenizer splits the rest."""
    return url.partition("://")[2]
