"""The tables, and how an older database becomes a newer one.

`MIGRATIONS[n]` takes a database from version n to n + 1; a new database runs them all. A released
migration is never edited. docs/schema.md says what the columns mean, and a test compares the two.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from functools import cache
from typing import NamedTuple

FIRST = """
create table runs (
    id integer primary key,
    started_at real not null,
    ended_at real,
    pid integer not null,
    version text not null,
    config text not null,
    stop_reason text
);

create table hosts (
    id integer primary key,
    name text not null unique,
    address text not null default '',
    ready_at real not null default 0,
    crawl_delay real not null default 0,
    failures integer not null default 0,
    pages integer not null default 0,
    relevant integer not null default 0,
    failed integer not null default 0,
    links integer not null default 0,
    set_aside text not null default ''
);

create table addresses (
    address text primary key,
    ready_at real not null
) without rowid;

create table robots (
    origin text primary key,
    state text not null,
    status integer not null,
    failure text not null,
    failures integer not null,
    body text not null,
    fetched_at real not null,
    expires_at real not null,
    details text not null
) without rowid;

-- Every URL the crawl has seen, one row each. No index but the key: rows are appended, so that ten
-- million links cost sequential writes; the frontier in memory is rebuilt from here.
create table frontier (
    id integer primary key,
    url text not null,
    hash integer not null,
    host_id integer not null references hosts (id),
    state text not null,
    score real not null,
    distance integer not null,
    redirects integer not null default 0,
    tries integer not null default 0,
    parent_id integer,
    anchor text not null default '',
    reason text not null default '',
    detail text not null default ''
);

create table pages (
    id integer primary key references frontier (id),
    number integer not null unique,
    run_id integer not null references runs (id),
    fetched_at real not null,
    title text not null,
    language text not null,
    charset text not null,
    bytes integer not null,
    words integer not null,
    fingerprint integer not null,
    duplicate_of integer,
    canonical text not null,
    is_noindex integer not null,
    is_nofollow integer not null,
    archive_file text not null,
    archive_offset integer not null
);

create table judgements (
    page_id integer not null references pages (id),
    judge text not null,
    relevance real not null,
    is_relevant integer not null,
    scores text not null,
    terms text not null,
    primary key (page_id, judge)
) without rowid;

create table links (
    source_id integer not null references frontier (id),
    position integer not null,
    target_id integer not null references frontier (id),
    anchor text not null,
    rel text not null,
    primary key (source_id, position)
) without rowid;

create table outcomes (
    id integer primary key,
    link_id integer not null references frontier (id),
    run_id integer not null references runs (id),
    at real not null,
    kind text not null,
    reason text not null,
    detail text not null,
    status integer not null,
    seconds real not null,
    bytes integer not null,
    address text not null,
    from_cache integer not null,
    archive_file text not null,
    archive_offset integer not null
);

create table events (
    id integer primary key,
    run_id integer not null references runs (id),
    at real not null,
    kind text not null,
    message text not null
);

create table state (
    name text primary key,
    value blob not null
) without rowid;

create view harvest as
select p.number, p.fetched_at, f.url, j.relevance, j.is_relevant,
       avg(j.is_relevant) over (order by p.number) as harvest_rate,
       avg(j.is_relevant) over (order by p.number rows 999 preceding) as harvest_rate_1000
from pages p join judgements j on j.page_id = p.id join frontier f on f.id = p.id
order by p.number;

create view sites as
select name, pages, relevant, failed, links, set_aside,
       case when pages > 0 then 1.0 * relevant / pages end as density
from hosts
order by relevant desc, density desc, name;

create view relevant_pages as
select f.url, p.title, j.relevance, p.language, p.number, p.fetched_at, p.duplicate_of
from pages p join judgements j on j.page_id = p.id join frontier f on f.id = p.id
where j.is_relevant
order by j.relevance desc, p.number;
"""

SECOND = """
alter table judgements add column best text not null default '';

-- What people said of pages (lycosa feedback); the examples themselves are in topics.db.
create table feedback (
    id integer primary key,
    at real not null,
    url text not null,
    is_useful integer not null,
    topic text not null default ''
);

-- What a strategy kept of a page's visit, to be told again on resume.
create table notes (
    page_id integer primary key references pages (id),
    value blob not null
);
"""

THIRD = """
-- Only hosts with a fetched page are sites.
drop view sites;

create view sites as
select name, pages, relevant, failed, links, set_aside, 1.0 * relevant / pages as density
from hosts
where pages > 0
order by relevant desc, density desc, name;
"""

FOURTH = """
-- What people said of pages (lycosa review), oldest first: of each page the last answer counts.
create table answers (
    id integer primary key,
    at real not null,
    url text not null,
    page_id integer references pages (id),
    answer text not null,
    after_pages integer
);
create index answers_by_page on answers (page_id);

-- What the judge itself says of a page whose relevance a person has decided.
alter table judgements add column own_relevance real;
alter table judgements add column own_is_relevant integer;

create view answered_pages as
select a.url, p.title, a.answer, a.at, j.own_relevance as judged, p.number
from answers a left join pages p on p.id = a.page_id left join judgements j on j.page_id = a.page_id
     and j.judge = (select min(judge) from judgements where page_id = a.page_id)
where a.id = (select max(b.id) from answers b where b.url = a.url) and a.answer in ('relevant', 'irrelevant')
order by a.id;
"""

FIFTH = """
-- What guides the crawl, where that is not what is said of a page: a NOT that is applied afterwards.
alter table judgements add column guide_relevance real;
alter table judgements add column guide_is_relevant integer;

-- lycosa feedback gives answers like any other.
insert into answers (at, url, page_id, answer)
select b.at, b.url, (select p.id from pages p cross join frontier f on f.id = p.id where f.url = b.url),
       iif(b.is_useful, 'relevant', 'irrelevant')
from feedback b where b.url not in (select url from answers) order by b.id;
drop table feedback;
"""

SIXTH = """
-- A page may link to a URL several times: the different texts of the other links, a line each.
alter table links add column other_anchors text not null default '';
"""

SEVENTH = """
-- Search engines: what was asked for, what each of them answered, and which pages came of it.
create table searches (
    id integer primary key,
    run_id integer not null references runs (id),
    at real not null,
    after_pages integer not null,
    reason text not null,
    query text not null
);

create table search_answers (
    search_id integer not null references searches (id),
    engine text not null,
    outcome text not null,
    detail text not null,
    is_contact integer not null,
    seconds real not null,
    results integer not null,
    ready_at real not null,
    primary key (search_id, engine)
) without rowid;

create table search_results (
    link_id integer not null references frontier (id),
    search_id integer not null references searches (id),
    engine text not null,
    rank integer not null,
    primary key (link_id, search_id, engine)
) without rowid;

create view found_by_search as
select f.url, r.engine, s.query, r.rank, f.state, j.relevance, j.is_relevant
from search_results r join searches s on s.id = r.search_id join frontier f on f.id = r.link_id
     left join judgements j on j.page_id = r.link_id
          and j.judge = (select min(judge) from judgements where page_id = r.link_id)
order by s.id, r.rank, r.engine;
"""

EIGHTH = """
-- What people ask of a crawl while it runs or before it goes on (the dashboard), oldest first.
create table commands (
    id integer primary key,
    at real not null,
    kind text not null,
    target text not null default '',
    taken_at real,
    result text not null default ''
);
"""

EARLIER_JUDGEMENTS = """
-- What was said of a page before it was judged anew, where that made a difference.
create table earlier_judgements (
    page_id integer not null references pages (id),
    until_pages integer not null,
    relevance real not null,
    is_relevant integer not null,
    primary key (page_id, until_pages)
) without rowid;
"""

CHECKS = """
-- Pages that were fetched again (lycosa refresh, hubs), oldest first. pages holds their latest version.
create table checks (
    id integer primary key,
    page_id integer not null references pages (id),
    run_id integer not null references runs (id),
    since real not null,
    at real not null,
    change text not null,
    fingerprint integer not null,
    archive_file text not null,
    archive_offset integer not null
);
create index checks_by_page on checks (page_id);

create view gone_pages as
select f.url, p.title, c.at as gone_at, p.number
from checks c join pages p on p.id = c.page_id join frontier f on f.id = c.page_id
where c.change = 'gone' and c.id = (select max(id) from checks where page_id = c.page_id)
order by c.id;
"""

SEEDS = """
-- Seeds are asked for whenever a crawl resumes; it may have millions of links.
create index frontier_seeds on frontier (id) where distance = 0;
"""

LISTS = """
-- Feeds and sitemaps are asked for again in each refresh, with what is known of their last answer.
create index outcomes_of_lists on outcomes (link_id) where kind = 'listed';
"""

MIGRATIONS: tuple[str, ...] = (
    FIRST, SECOND, THIRD, FOURTH, FIFTH, SIXTH, SEVENTH, EIGHTH, EARLIER_JUDGEMENTS, CHECKS, SEEDS, LISTS,
)  # fmt: skip
VERSION = len(MIGRATIONS)
PARTS = "select name, type, sql from sqlite_master where sql is not null order by type = 'view', rowid"


class SchemaPart(NamedTuple):
    """What a database of this version has: a table, a view or an index."""

    name: str
    kind: str
    sql: str
    columns: tuple[str, ...]
    key: tuple[str, ...]
    """Columns of the primary key."""


@cache
def parts() -> dict[str, SchemaPart]:
    """All that a database of this version has, by name, in the order in which it can be made."""
    with closing(sqlite3.connect(":memory:")) as db:
        for migration in MIGRATIONS:
            db.executescript(migration)
        made = {}
        for name, kind, sql in db.execute(PARTS).fetchall():
            about = db.execute(f"pragma table_info({name})").fetchall() if kind == "table" else []
            key = tuple(row[1] for row in sorted(about, key=lambda row: int(row[5])) if row[5])
            made[name] = SchemaPart(name, kind, sql, tuple(row[1] for row in about), key)
    return made


def tables() -> list[SchemaPart]:
    return [part for part in parts().values() if part.kind == "table"]


def all_rows(table: str) -> str:
    """A query for all rows of a table, with all columns, in order of its key."""
    part = parts()[table]
    return f"select {', '.join(part.columns)} from {table} order by {', '.join(part.key)}"
