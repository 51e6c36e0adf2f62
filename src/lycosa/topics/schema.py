"""The tables of a topic book, and the migration of older books.

`MIGRATIONS[n]` takes a book from version n to n + 1; a new book runs them all. A released migration is never edited.
"""

from __future__ import annotations

APPLICATION = 0x4C794254
"""SQLite's application_id: tells a book from a crawl's database and from other programs' files."""

FIRST = """
create table topics (
    id integer primary key,
    path text not null unique,
    is_good integer not null default 0,
    description text not null default '',
    keywords text not null default '{}'
);

-- One row for each distinct text; `hash` is that of its content.
create table documents (
    id integer primary key,
    hash blob not null unique,
    source text not null,
    title text not null,
    language text not null,
    words integer not null,
    added_at real not null,
    text blob not null,
    terms blob not null
);
create index documents_by_source on documents (source);

-- A document without a row here is under ANY: a sample of everything else.
create table memberships (
    document_id integer not null references documents (id) on delete cascade,
    topic_id integer not null references topics (id) on delete cascade,
    primary key (document_id, topic_id)
) without rowid;
create index memberships_by_topic on memberships (topic_id);

-- autoincrement: the number of a judge that was deleted is never given to another.
create table judges (
    version integer primary key autoincrement,
    kind text not null,
    trained_at real not null,
    settings text not null,
    report text not null,
    model blob not null
);
"""

SECOND = """
-- What people said of pages (lycosa feedback), for each document that it concerns (marks.py). `before`, `adds` and
-- `takes` are numbers of topics, as JSON: those it was under before it was marked, and what the mark changes.
create table marks (
    id integer primary key,
    url text not null,
    is_useful integer not null,
    document_id integer not null references documents (id) on delete cascade,
    is_new integer not null,
    before text not null,
    adds text not null,
    takes text not null
);
create index marks_by_document on marks (document_id);
"""

THIRD = """
-- `url_hash` of what a document links to, 8 bytes each (documents.py). Examples that were added before have none.
alter table documents add column links blob not null default x''
"""

MIGRATIONS: tuple[str, ...] = (FIRST, SECOND, THIRD)
VERSION = len(MIGRATIONS)
