"""What a batch changes, in order, in any store: rows put into tables, and statements run for each value."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from operator import attrgetter
from typing import Any, NamedTuple

from lycosa.store import rows
from lycosa.store.asking import fields
from lycosa.store.reading import RELEVANT_BY_HOST
from lycosa.store.rows import Answer


class NewRows(NamedTuple):
    """Rows of one table. With `key`, a row that has the same one is replaced, also in the columns not named here."""

    table: str
    columns: tuple[str, ...]
    key: tuple[str, ...] = ()


class Statement(NamedTuple):
    """A statement, run once for each of the values."""

    sql: str


Change = tuple[NewRows | Statement, Collection[Any]]
"""What is to be done, and with which values."""


BEGIN_RUN = "insert into runs (started_at, pid, version, config) values (?, ?, ?, ?)"
END_RUN = "update runs set ended_at = ?, stop_reason = ? where id = ?"
SET_STATE = "update frontier set state = ?, tries = ?, reason = ?, detail = ? where id = ?"
SET_SCORE = "update frontier set score = ? where id = ?"
SET_THRESHOLD = """
update judgements set is_relevant = cast(relevance >= ?1 as integer),
    own_is_relevant = cast(own_relevance >= ?1 as integer), guide_is_relevant = cast(guide_relevance >= ?1 as integer)
"""
GRADE = "update judgements set relevance = ?, is_relevant = ? where page_id = (select id from pages where number = ?)"
MUCH = 0.1
"""Change of a relevance from which the earlier one is kept."""
KEEP_EARLIER = f"""
insert into earlier_judgements (page_id, until_pages, relevance, is_relevant)
select page_id, (select coalesce(max(number), 0) from pages), coalesce(own_relevance, relevance),
       coalesce(own_is_relevant, is_relevant)
from judgements
where page_id = {{}} and (abs(coalesce(own_relevance, relevance) - ?1) >= {MUCH}
                        or coalesce(own_is_relevant, is_relevant) != ?2)
on conflict do nothing
"""
KEEP_BEFORE_GRADE = KEEP_EARLIER.format("(select id from pages where number = ?3)")
KEEP_BEFORE_JUDGEMENT = KEEP_EARLIER.format("?3")
RECOUNT_HOSTS = f"""
update hosts set relevant = found.relevant from ({RELEVANT_BY_HOST}) as found where found.host_id = hosts.id
"""
UNCOUNT_HOSTS = "update hosts set relevant = 0 where relevant != 0"
TAKE_OVER = "update answers set page_id = ?, after_pages = ? where id = ?"
STANDING = f"""
select a.page_id as page, cast(a.answer = '{Answer.RELEVANT}' as integer) as value from answers a
where a.page_id is not null and a.answer in ('{Answer.RELEVANT}', '{Answer.IRRELEVANT}')
      and a.id = (select max(b.id) from answers b where b.page_id = a.page_id)
"""
BIND = f"""
update judgements set
    own_relevance = case when own_relevance is null or relevance != said.value then relevance else own_relevance end,
    own_is_relevant = case when own_relevance is null or relevance != said.value then is_relevant
                      else own_is_relevant end,
    relevance = said.value, is_relevant = said.value
from ({STANDING}) as said where said.page = judgements.page_id
"""
BIND_ONE = f"{BIND} and judgements.page_id = ?"
RELEASE = f"""
update judgements set relevance = own_relevance, is_relevant = own_is_relevant, own_relevance = null,
    own_is_relevant = null
where page_id in (select page_id from answers) and own_relevance is not null
      and page_id not in (select page from ({STANDING}) as standing)
"""
TAKE_COMMAND = "update commands set taken_at = ?, result = ? where id = ?"
SHIFT_CLOCKS = (
    "update hosts set ready_at = ready_at + ?1 where ready_at > 0",
    "update addresses set ready_at = ready_at + ?1",
    "update robots set fetched_at = fetched_at + ?1, expires_at = expires_at + ?1",
)
FORGET_STATE = "delete from state where name = ?"
FORGET_ARCHIVED = tuple(
    f"update {table} set archive_file = '', archive_offset = -1 where archive_file = ? and archive_offset = ?"
    for table in ("pages", "outcomes")
)
FORGET_LETTERS = "delete from outbox where target = ?1 and sender = ?2 and number <= ?3"
TAKEN = """
insert into received (target, sender, number, bytes) values (?, ?, ?, ?)
on conflict (target, sender) do update set number = excluded.number, bytes = received.bytes + excluded.bytes
"""
FIGURES = """
update shards set is_idle = ?, pages = ?, relevant = ?, downloaded = ?, waiting = ?, in_flight = ?, at = ?, front = ?,
    best_soon = ?
where shard = ?
"""
EDGE = ("source_id", "position", "target_id", "anchor", "rel")
SEARCH_RESULT = ("link_id", "search_id", "engine")
ONCE: tuple[tuple[()], ...] = ((),)


def _replacing(table: str, row: type[tuple[Any, ...]], *key: str) -> NewRows:
    return NewRows(table, fields(row), key)


def _judged_again(batch: rows.Batch) -> list[rows.JudgementRow]:
    return [row for row in batch.judgements if row.page_id not in batch.first_judged]


ORDER: tuple[tuple[NewRows | Statement, Callable[[rows.Batch], Collection[Any]]], ...] = (
    (_replacing("hosts", rows.HostRow, "id"), lambda batch: batch.hosts.values()),
    (NewRows("frontier", fields(rows.LinkRow)), attrgetter("links")),
    (Statement(SET_STATE), attrgetter("states")),
    (Statement(SET_SCORE), attrgetter("scores")),
    (_replacing("pages", rows.PageRow, "id"), attrgetter("pages")),
    (
        Statement(KEEP_BEFORE_JUDGEMENT),
        lambda batch: [(row.relevance, row.is_relevant, row.page_id) for row in _judged_again(batch)],
    ),
    (Statement(KEEP_BEFORE_GRADE), attrgetter("grades")),
    (_replacing("judgements", rows.JudgementRow, "page_id", "judge"), attrgetter("judgements")),
    (Statement(SET_THRESHOLD), lambda batch: () if batch.threshold is None else [(batch.threshold,)]),
    (Statement(GRADE), attrgetter("grades")),
    (NewRows("answers", ("at", "url", "page_id", "answer")), attrgetter("answers")),
    (Statement(TAKE_OVER), attrgetter("taken_over")),
    (Statement(RELEASE), lambda batch: ONCE if batch.answers else ()),
    (Statement(BIND_ONE), lambda batch: [(row.page_id,) for row in _judged_again(batch)]),
    (Statement(BIND), lambda batch: ONCE if batch.answers or batch.taken_over or batch.grades else ()),
    (Statement(UNCOUNT_HOSTS), lambda batch: ONCE if batch.recounts_hosts else ()),
    (Statement(RECOUNT_HOSTS), lambda batch: ONCE if batch.recounts_hosts else ()),
    (NewRows("links", EDGE, EDGE[:2]), attrgetter("edges")),
    (NewRows("links", (*EDGE, "other_anchors"), EDGE[:2]), attrgetter("repeated_edges")),
    (NewRows("outcomes", fields(rows.OutcomeRow)), attrgetter("outcomes")),
    (NewRows("checks", fields(rows.CheckRow)), attrgetter("checks")),
    (NewRows("addresses", ("address", "ready_at"), ("address",)), lambda batch: batch.addresses.items()),
    (_replacing("robots", rows.RobotsRow, "origin"), lambda batch: batch.robots.values()),
    (NewRows("events", fields(rows.EventRow)), attrgetter("events")),
    (NewRows("searches", fields(rows.SearchRow)), attrgetter("searches")),
    (NewRows("search_answers", fields(rows.SearchAnswerRow)), attrgetter("search_answers")),
    (
        _replacing("search_results", rows.SearchResultRow, "link_id", "search_id", "engine"),
        attrgetter("search_results"),
    ),
    (NewRows("notes", ("page_id", "value"), ("page_id",)), attrgetter("notes")),
    (NewRows("commands", ("at", "kind", "target")), attrgetter("commands")),
    (Statement(TAKE_COMMAND), attrgetter("commands_taken")),
    (NewRows("state", ("name", "value"), ("name",)), lambda batch: batch.state.items()),
    (NewRows("foreign_pages", fields(rows.ForeignPage)), attrgetter("foreign_pages")),
    (NewRows("outbox", fields(rows.Letter)), attrgetter("letters")),
    (Statement(FORGET_LETTERS), lambda batch: [row[:3] for row in batch.taken]),
    (Statement(TAKEN), attrgetter("taken")),
    (Statement(FIGURES), lambda batch: () if batch.figures is None else [batch.figures]),
)
"""What a batch may change, in the order in which it is done, and which of its values say so."""


def changes(batch: rows.Batch) -> Iterator[Change]:
    """What this batch changes."""
    for change, values_of in ORDER:
        if values := values_of(batch):
            yield change, values
