"""The embedded store, SQLite: writing, and reading for the crawl."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from itertools import chain, islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lycosa.model import Lease, Visit
from lycosa.store.rows import (
    NOFOLLOW,
    NOT_WORTH,
    REVISIT,
    Batch,
    EventRow,
    HostRow,
    JudgedPages,
    JudgementRow,
    LinkRow,
    NewPages,
    OutcomeRow,
    PageRow,
    Progress,
    RobotsRow,
    SeedPage,
    State,
    Totals,
    UnvisitedLink,
    WaitingLinks,
)
from lycosa.store.sqlite_connection import explained, fields, select
from lycosa.store.sqlite_reports import SqliteReports
from lycosa.store.stored_visits import visits

CHUNK = 1 << 16
"""Number of links read at a time for the distiller."""


def _insert(table: str, row: type[tuple[Any, ...]], *, verb: str = "insert") -> str:
    columns = fields(row)
    return f"{verb} into {table} ({', '.join(columns)}) values ({', '.join('?' * len(columns))})"


BEGIN_RUN = "insert into runs (started_at, pid, version, config) values (?, ?, ?, ?)"
END_RUN = "update runs set ended_at = ?, stop_reason = ? where id = ?"
INSERT_LINK = _insert("frontier", LinkRow)
SET_STATE = "update frontier set state = ?, tries = ?, reason = ?, detail = ? where id = ?"
SET_SCORE = "update frontier set score = ? where id = ?"
INSERT_HOST = _insert("hosts", HostRow, verb="insert or replace")
INSERT_ROBOTS = _insert("robots", RobotsRow, verb="insert or replace")
INSERT_PAGE = _insert("pages", PageRow, verb="insert or replace")
INSERT_JUDGEMENT = _insert("judgements", JudgementRow, verb="insert or replace")
INSERT_OUTCOME = _insert("outcomes", OutcomeRow)
INSERT_EDGE = "insert or replace into links values (?, ?, ?, ?, ?)"
DELETE_EDGES = "delete from links where source_id = ?"
INSERT_ADDRESS = "insert or replace into addresses values (?, ?)"
INSERT_EVENT = _insert("events", EventRow)
INSERT_NOTE = "insert or replace into notes values (?, ?)"
INSERT_FEEDBACK = "insert into feedback (at, url, is_useful, topic) values (?, ?, ?, ?)"
INSERT_STATE = "insert or replace into state values (?, ?)"
SET_THRESHOLD = "update judgements set is_relevant = relevance >= ?"
GRADE = "update judgements set relevance = ?, is_relevant = ? where page_id = (select id from pages where number = ?)"
RELEVANT_BY_HOST = """
select f.host_id, sum(j.is_relevant) as relevant from judgements j join frontier f on f.id = j.page_id group by 1
"""
RESET_HOSTS = "update hosts set relevant = 0 where relevant != 0"
RECOUNT_HOSTS = f"""
update hosts set relevant = found.relevant from ({RELEVANT_BY_HOST}) as found where found.host_id = hosts.id
"""
HASHES = "select hash, id from frontier"
ADDRESSES = "select address, ready_at from addresses"
STATE = "select value from state where name = ?"
LEASE = "select id, url, host_id, score, distance, tries, redirects from frontier where id = ?"
PRINTS = "select fingerprint, id from pages where fingerprint != 0 and duplicate_of is null order by number"
WAITING = f"from frontier where state = '{State.WAITING}' order by id"
DORMANT = f"""
select id from frontier
where state = '{State.DROPPED}' or (state = '{State.EXCLUDED}' and reason in ('{NOFOLLOW}', '{NOT_WORTH}'))
"""
TO_REVISIT = f"select id from frontier where state = '{State.WAITING}' and reason = '{REVISIT}'"
JUDGEMENT = select(JudgementRow, "judgements where page_id = ? and ? in ('', judge) order by judge limit 1")
UNVISITED = f"""
select f.id, f.url, h.name from links l join frontier f on f.id = l.target_id join hosts h on h.id = f.host_id
where l.source_id = ? and f.state = '{State.WAITING}' and f.tries = 0 order by l.position
"""
TOTALS = (
    "select count(*) from frontier",
    "select count(*) from pages",
    "select count(*) from judgements where is_relevant",
    f"select count(*) from frontier where state = '{State.WAITING}'",
)
SINCE_RELEVANT = """
select count(*) from pages where number > coalesce(
    (select p.number from pages p join judgements j on j.page_id = p.id where j.is_relevant
     order by p.number desc limit 1), 0)
"""
DOWNLOADED = "select coalesce(sum(bytes), 0) from outcomes where not from_cache"
RECENT = """
select j.relevance, j.is_relevant from pages p join judgements j on j.page_id = p.id order by p.number desc limit ?
"""
WAITING_SEEDS = f"select count(*) from frontier where distance = 0 and state = '{State.WAITING}'"
SEEDS = """
select f.url, p.number, p.words, j.relevance, j.is_relevant
from frontier f join pages p on p.id = f.id left join judgements j on j.page_id = f.id
where f.distance = 0 order by p.number
"""
TITLES = "select title from pages order by number desc limit ?"
ANCHORS = "select anchor from links order by source_id desc, position desc limit ?"
NEW_PAGES = "select p.number, p.id, f.host_id from pages p join frontier f on f.id = p.id where p.number > ?"
ALL_LINKS = "select source_id, target_id from links"
NEW_LINKS = """
select l.source_id, l.target_id from pages p join links l on l.source_id = p.id where p.number > ? and p.number <= ?
"""
JUDGED = "select page_id, relevance, is_relevant from judgements where ? in ('', judge) order by page_id"
JUDGES = "select distinct judge from judgements order by judge"


class SqliteStore(SqliteReports):
    """A crawl's memory in one file; implements `Reports`, and so `Store`."""

    # Writing

    def begin_run(self, *, started_at: float, pid: int, version: str, config: str) -> int:
        with self._transaction() as db:
            cursor = db.execute(BEGIN_RUN, (started_at, pid, version, config))
        assert cursor.lastrowid is not None
        return cursor.lastrowid

    def end_run(self, run: int, *, ended_at: float, stop_reason: str) -> None:
        with self._transaction() as db:
            db.execute(END_RUN, (ended_at, stop_reason, run))

    def write(self, batch: Batch) -> None:
        changes: tuple[tuple[str, Collection[Any]], ...] = (
            (INSERT_HOST, batch.hosts.values()),
            (INSERT_LINK, batch.links),
            (SET_STATE, batch.states),
            (SET_SCORE, batch.scores),
            (INSERT_PAGE, batch.pages),
            (INSERT_JUDGEMENT, batch.judgements),
            (SET_THRESHOLD, [] if batch.threshold is None else [(batch.threshold,)]),
            (GRADE, batch.grades),
            (RESET_HOSTS, [()] if batch.recounts_hosts else []),
            (RECOUNT_HOSTS, [()] if batch.recounts_hosts else []),
            (DELETE_EDGES, [(page,) for page in batch.relinked]),
            (INSERT_EDGE, batch.edges),
            (INSERT_OUTCOME, batch.outcomes),
            (INSERT_ADDRESS, batch.addresses.items()),
            (INSERT_ROBOTS, batch.robots.values()),
            (INSERT_EVENT, batch.events),
            (INSERT_NOTE, batch.notes),
            (INSERT_FEEDBACK, batch.feedback),
            (INSERT_STATE, batch.state.items()),
        )
        with self._transaction() as db:
            for sql, rows in changes:
                if rows:
                    db.executemany(sql, rows)

    # Reading, for the crawl

    def was_cut_off(self) -> bool:
        run = self.last_run()
        return run is not None and run.ended_at is None

    def hashes(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        hashes, ids = self._columns(HASHES, 2)
        return hashes, ids

    def fingerprints(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        prints, ids = self._columns(PRINTS, 2)
        return prints, ids

    def waiting(self) -> WaitingLinks:
        ids, hosts = self._columns(f"select id, host_id {WAITING}", 2)
        (scores,) = self._columns(f"select score {WAITING}", 1, kind=np.float64)
        return WaitingLinks(ids, hosts, scores)

    def dormant_links(self) -> set[int]:
        return {link for (link,) in self._rows(DORMANT)}

    def links_to_revisit(self) -> set[int]:
        return {link for (link,) in self._rows(TO_REVISIT)}

    def visits(self) -> Iterator[tuple[Visit, NDArray[np.int64]]]:
        return visits(self.path, self._db)

    def hosts(self) -> Iterator[HostRow]:
        return iter(self._all(HostRow._make, select(HostRow, "hosts")))

    def addresses(self) -> dict[str, float]:
        return dict(self._rows(ADDRESSES))

    def robots(self) -> Iterator[RobotsRow]:
        return iter(self._all(RobotsRow._make, select(RobotsRow, "robots")))

    def state(self, name: str) -> bytes | None:
        row = self._first(tuple, STATE, (name,))
        return None if row is None else bytes(row[0])

    def leases(self, ids: Sequence[int]) -> list[Lease]:
        execute = self._db.execute
        with explained(self.path):
            return [Lease(*execute(LEASE, (link,)).fetchone()) for link in ids]

    def link(self, link: int) -> LinkRow | None:
        return self._first(LinkRow._make, select(LinkRow, "frontier where id = ?"), (link,))

    def page(self, link: int) -> PageRow | None:
        row = self._first(PageRow._make, select(PageRow, "pages where id = ?"), (link,))
        return row and row._replace(is_noindex=bool(row.is_noindex), is_nofollow=bool(row.is_nofollow))

    def judgement(self, page: int, judge: str = "") -> JudgementRow | None:
        row = self._first(JudgementRow._make, JUDGEMENT, (page, judge))
        return row and row._replace(is_relevant=bool(row.is_relevant))

    def unvisited_links(self, page: int) -> list[UnvisitedLink]:
        return self._all(UnvisitedLink._make, UNVISITED, (page,))

    def totals(self) -> Totals:
        return Totals(*map(self._number, TOTALS))

    def progress(self) -> Progress:
        return Progress(self._number(SINCE_RELEVANT), self._number(DOWNLOADED))

    def recent_relevance(self, count: int) -> list[tuple[float, bool]]:
        rows = self._all(tuple, RECENT, (count,))
        return [(relevance, bool(is_relevant)) for relevance, is_relevant in reversed(rows)]

    def relevant_by_host(self) -> dict[int, int]:
        return dict(self._rows(RELEVANT_BY_HOST))

    def waiting_seeds(self) -> int:
        return self._number(WAITING_SEEDS)

    def seed_pages(self) -> list[SeedPage]:
        return [SeedPage._make((*row, bool(is_relevant))) for *row, is_relevant in self._rows(SEEDS)]

    def latest_texts(self, *, titles: int, anchors: int) -> list[str]:
        return [text for (text,) in chain(self._rows(TITLES, (titles,)), self._rows(ANCHORS, (anchors,)))]

    def pages_since(self, number: int) -> NewPages:
        return NewPages(*self._columns(NEW_PAGES, 3, (number,)))

    def citations(self, after: int = 0, upto: int | None = None) -> Iterator[NDArray[np.int64]]:
        rows = self._rows(ALL_LINKS) if upto is None else self._rows(NEW_LINKS, (after, upto))
        values = chain.from_iterable(rows)
        while len(chunk := np.fromiter(islice(values, 2 * CHUNK), dtype=np.int64)):
            yield chunk.reshape(-1, 2)

    def judged_pages(self, judge: str = "") -> JudgedPages:
        ids, relevance, is_relevant = self._columns(JUDGED, 3, (judge,), kind=np.float64)
        return JudgedPages(ids.astype(np.int64), relevance, is_relevant > 0)

    def judges(self) -> list[str]:
        return [name for (name,) in self._rows(JUDGES)]
