"""What a batch changes, in order, in any store: rows put into tables, and statements run for each value."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any, NamedTuple

from lycosa.store import rows
from lycosa.store.asking import fields
from lycosa.store.reading import RELEVANT_BY_HOST
from lycosa.store.rows import Answer


class NewRows(NamedTuple):
    """Rows of one table. With `key`, a row that has the same one is replaced, also in the columns not named here."""

    table: str
    columns: tuple[str, ...]
    values: Collection[Any]
    key: tuple[str, ...] = ()


class Statement(NamedTuple):
    """A statement, run once for each of the values."""

    sql: str
    values: Collection[Any]


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
OTHER_ANCHORS = "update links set other_anchors = ? where source_id = ? and position = ?"
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
EDGE = ("source_id", "position", "target_id", "anchor", "rel")
ONCE: tuple[tuple[()], ...] = ((),)


def changes(batch: rows.Batch) -> Iterator[NewRows | Statement]:
    """Those that change something."""
    for change in _all_changes(batch):
        if change.values:
            yield change


def _all_changes(batch: rows.Batch) -> Iterator[NewRows | Statement]:
    yield _replacing("hosts", rows.HostRow, batch.hosts.values(), "id")
    yield NewRows("frontier", fields(rows.LinkRow), batch.links)
    yield Statement(SET_STATE, batch.states)
    yield Statement(SET_SCORE, batch.scores)
    yield _replacing("pages", rows.PageRow, batch.pages, "id")
    yield Statement(KEEP_BEFORE_JUDGEMENT, [(row.relevance, row.is_relevant, row.page_id) for row in batch.judgements])
    yield Statement(KEEP_BEFORE_GRADE, batch.grades)
    yield _replacing("judgements", rows.JudgementRow, batch.judgements, "page_id", "judge")
    yield Statement(SET_THRESHOLD, [] if batch.threshold is None else [(batch.threshold,)])
    yield Statement(GRADE, batch.grades)
    yield NewRows("answers", ("at", "url", "page_id", "answer"), batch.answers)
    yield Statement(TAKE_OVER, batch.taken_over)
    yield Statement(RELEASE, ONCE if batch.answers else ())
    yield Statement(BIND_ONE, [(row.page_id,) for row in batch.judgements])
    yield Statement(BIND, ONCE if batch.answers or batch.taken_over or batch.grades else ())
    yield Statement("update hosts set relevant = 0 where relevant != 0", ONCE if batch.recounts_hosts else ())
    yield Statement(RECOUNT_HOSTS, ONCE if batch.recounts_hosts else ())
    yield NewRows("links", EDGE, batch.edges, ("source_id", "position"))
    yield Statement(OTHER_ANCHORS, batch.other_anchors)
    yield NewRows("outcomes", fields(rows.OutcomeRow), batch.outcomes)
    yield NewRows("addresses", ("address", "ready_at"), batch.addresses.items(), ("address",))
    yield _replacing("robots", rows.RobotsRow, batch.robots.values(), "origin")
    yield NewRows("events", fields(rows.EventRow), batch.events)
    yield NewRows("searches", fields(rows.SearchRow), batch.searches)
    yield NewRows("search_answers", fields(rows.SearchAnswerRow), batch.search_answers)
    yield _replacing("search_results", rows.SearchResultRow, batch.search_results, "link_id", "search_id", "engine")
    yield NewRows("notes", ("page_id", "value"), batch.notes, ("page_id",))
    yield NewRows("commands", ("at", "kind", "target"), batch.commands)
    yield Statement(TAKE_COMMAND, batch.commands_taken)
    yield NewRows("state", ("name", "value"), batch.state.items(), ("name",))


def _replacing(table: str, row: type[tuple[Any, ...]], values: Collection[Any], *key: str) -> NewRows:
    return NewRows(table, fields(row), values, key)
