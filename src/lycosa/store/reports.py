"""What people and reports ask of any store: the queries, written once."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator
from typing import Any

from lycosa.store import rows
from lycosa.store.asking import Asking, select
from lycosa.store.rows import Answer, PageChange, State

FIND_LINK = select(rows.LinkRow, "frontier where hash = ? and url = ?")
OUTCOMES = select(rows.OutcomeRow, "outcomes order by id")
OUTCOMES_OF = select(rows.OutcomeRow, "outcomes where link_id = ? order by id")
CITING = """
select f.url, trim(l.anchor || '\n' || l.other_anchors, '\n'), j.relevance
from links l join frontier f on f.id = l.source_id
     left join judgements j on j.page_id = l.source_id
where l.target_id = ? order by j.relevance desc nulls last, l.source_id, l.position limit ?
"""
CITATION_COUNTS = """
select count(distinct l.source_id), count(distinct case when j.is_relevant = 1 then l.source_id end)
from links l left join judgements j on j.page_id = l.source_id where l.target_id = ?
"""
HAS_LINK = "select count(*) from links where source_id = ? and target_id = ?"
FOUND_BY = """
select s.query, r.engine, r.rank, s.at from search_results r join searches s on s.id = r.search_id
where r.link_id = ? order by s.id, r.rank, r.engine
"""
ENGINE_COUNTS = """
with found as (
    select r.engine, count(distinct p.id) as pages,
           count(distinct case when j.is_relevant = 1 then p.id end) as relevant
    from search_results r join pages p on p.id = r.link_id left join judgements j on j.page_id = p.id group by 1
)
select a.engine, sum(a.is_contact), sum(case when a.outcome in ('answered', 'nothing found') then 1 else 0 end),
       coalesce(f.pages, 0), coalesce(f.relevant, 0)
from search_answers a left join found f on f.engine = a.engine group by 1, 4, 5 order by 1
"""
PAGES_WITH = """
select f.url, p.id from pages p cross join frontier f on f.id = p.id
where f.hash in (select value from json_each(?))
"""
LAST = """
select page_id from answers a
where page_id is not null and id = (select max(b.id) from answers b where b.page_id = a.page_id) and answer
"""
WHICH = {
    rows.OPEN: f"page_id not in ({LAST} != '{Answer.WITHDRAWN}')",
    rows.SKIPPED: f"page_id in ({LAST} = '{Answer.SKIPPED}')",
    rows.ASKED: f"page_id in ({LAST} != '{Answer.WITHDRAWN}')",
}
DOUBTFUL = f"""
with near as (
    select page_id, relevance from judgements where {{}}
    order by case when relevance < ?1 then relevance / ?1 else (1 - relevance) / (1.00001 - ?1) end desc, page_id
    limit ?2
), first as (
    select page_id, relevance from judgements
    where {{}} and page_id in (select p.id from pages p join frontier f on f.id = p.id
                             where p.number <= ?2 and f.distance = 0)
)
select p.id, p.number, f.url, h.name, p.title, c.relevance, p.fingerprint, f.distance,
       (select count(distinct l.target_id) from links l join frontier t on t.id = l.target_id
        where l.source_id = p.id and t.state = '{State.WAITING}'), n.value
from (select page_id, min(relevance) as relevance
      from (select * from near union select * from first) as either group by page_id) c
     join pages p on p.id = c.page_id join frontier f on f.id = p.id join hosts h on h.id = f.host_id
     left join notes n on n.page_id = p.id
where p.duplicate_of is null and p.words > 0 order by p.number
"""
OUTCOME_COUNTS = "select kind, reason, count(*) from outcomes group by 1, 2 order by 3 desc, 1, 2 limit ?"
EXCLUSIONS = f"""
select reason, count(*) from frontier where state = '{State.EXCLUDED}' group by 1 order by 2 desc, 1 limit ?
"""
SET_ASIDE = "select name, set_aside from hosts where set_aside != '' order by name limit ?"
EVENTS = select(rows.EventRow, "events where kind in ({}) order by id")
PAGES = """
select f.url, p.title, j.relevance, j.is_relevant, p.number, p.fetched_at, p.language, p.charset, p.bytes, p.words,
       f.distance, d.url, p.canonical, p.is_noindex, g.gone_at, p.archive_file, p.archive_offset
from pages p join frontier f on f.id = p.id left join judgements j on j.page_id = p.id
     left join frontier d on d.id = p.duplicate_of left join gone_pages g on g.number = p.number
order by p.number
"""
LINKS_ON_PAGES = """
select s.url, t.url, l.position, l.anchor, l.rel
from links l join frontier s on s.id = l.source_id join frontier t on t.id = l.target_id
order by l.source_id, l.position
"""
SITES = select(rows.SiteRow, "sites order by relevant desc, density desc, name")
ARCHIVED_URLS = """
select f.url, p.archive_file, p.archive_offset from pages p join frontier f on f.id = p.id
where p.archive_file != '' order by p.archive_file, p.archive_offset
"""
ARCHIVE_PLACES = "select id, archive_file, archive_offset from pages where archive_file != '' order by number"
SEARCHABLE = """
select p.id, p.number, f.url, p.title, p.duplicate_of is not null, p.archive_file, p.archive_offset, 0
from pages p join frontier f on f.id = p.id where p.number > ? order by p.number
"""
RENEWED = f"""
select p.id, p.number, f.url, p.title, p.duplicate_of is not null, p.archive_file, p.archive_offset, c.last
from (
    select page_id, max(id) as last from checks
    where id > ? and change in ('{PageChange.CHANGED}', '{PageChange.BACK}') group by page_id
) c join pages p on p.id = c.page_id join frontier f on f.id = p.id
order by c.last
"""
FOUND = """
select p.id, f.url, p.title, j.relevance, coalesce(j.is_relevant, 0), p.number
from pages p join frontier f on f.id = p.id
     left join judgements j on j.page_id = p.id and j.judge = (select min(judge) from judgements where page_id = p.id)
where p.id in (select value from json_each(?))
"""
TOPIC_SCORES = """
with cited as (
    select l.target_id as id, count(*) as citing from links l join judgements s on s.page_id = l.source_id
    where s.is_relevant = 1 group by 1
)
select j.scores, coalesce(cited.citing, 0) from judgements j left join cited on cited.id = j.page_id order by j.page_id
"""


class ReportReading(Asking):
    def states(self, name: str) -> dict[int, bytes]:
        found = self._first(tuple, "select value from state where name = ?", (name,))
        return {} if found is None else {0: bytes(found[0])}

    def shard_of(self, number: int) -> tuple[int, int]:
        return 0, number

    def number_in(self, _shard: int, number: int) -> int:
        return number

    def number_of(self, link: int) -> int:
        return link

    def find_link(self, url: str, url_hash: int) -> rows.LinkRow | None:
        return self._first(rows.LinkRow._make, FIND_LINK, (url_hash, url))

    def host(self, host: int) -> rows.HostRow | None:
        return self._first(rows.HostRow._make, select(rows.HostRow, "hosts where id = ?"), (host,))

    def outcomes(self, link: int | None = None) -> Iterator[rows.OutcomeRow]:
        found = self._rows(OUTCOMES) if link is None else self._rows(OUTCOMES_OF, (link,))
        for row in map(rows.OutcomeRow._make, found):
            yield row._replace(from_cache=bool(row.from_cache))

    def citing_pages(self, link: int, count: int) -> list[rows.CitingPage]:
        return self._all(rows.CitingPage._make, CITING, (link, count))

    def citation_counts(self, link: int) -> rows.CitationCounts:
        return self._first(rows.CitationCounts._make, CITATION_COUNTS, (link,)) or rows.CitationCounts(0, 0)

    def has_link(self, page: int, link: int) -> bool:
        return self._number(HAS_LINK, (page, link)) > 0

    def found_by_search(self, link: int) -> list[rows.SearchFind]:
        return self._all(rows.SearchFind._make, FOUND_BY, (link,))

    def engine_counts(self) -> list[rows.EngineCount]:
        return self._all(rows.EngineCount._make, ENGINE_COUNTS)

    def pages_with(self, hashes: Collection[int]) -> dict[str, int]:
        return dict(self._all(tuple, PAGES_WITH, (json.dumps(list(hashes)),)))

    def pages_found(self, pages: Collection[int]) -> dict[int, rows.FoundRow]:
        found = self._all(rows.FoundRow._make, FOUND, (json.dumps(list(pages)),))
        return {row.id: row._replace(is_relevant=bool(row.is_relevant)) for row in found}

    def doubtful_pages(self, threshold: float, count: int, which: str = rows.OPEN) -> list[rows.DoubtfulPage]:
        found = self._all(rows.DoubtfulPage._make, DOUBTFUL.format(WHICH[which], WHICH[which]), (threshold, count))
        return [row._replace(note=row.note or b"") for row in found]

    def first_run(self) -> rows.RunRow | None:
        return self._first(rows.RunRow._make, select(rows.RunRow, "runs order by id limit 1"))

    def outcome_counts(self, count: int) -> list[rows.OutcomeCount]:
        return self._all(rows.OutcomeCount._make, OUTCOME_COUNTS, (count,))

    def exclusions(self, count: int) -> dict[str, int]:
        return dict(self._all(tuple, EXCLUSIONS, (count,)))

    def hosts_set_aside(self, count: int) -> dict[str, str]:
        return dict(self._all(tuple, SET_ASIDE, (count,)))

    def events(self, kinds: Collection[str]) -> list[rows.EventRow]:
        return self._all(rows.EventRow._make, EVENTS.format(", ".join("?" * len(kinds)) or "null"), tuple(kinds))

    def links(self) -> Iterator[rows.LinkRow]:
        return map(rows.LinkRow._make, self._rows(select(rows.LinkRow, "frontier order by id")))

    def pages(self) -> Iterator[rows.StoredPage]:
        for row in map(rows.StoredPage._make, self._rows(PAGES)):
            is_relevant = None if row.is_relevant is None else bool(row.is_relevant)
            yield row._replace(is_relevant=is_relevant, is_noindex=bool(row.is_noindex))

    def links_on_pages(self) -> Iterator[rows.StoredLink]:
        return map(rows.StoredLink._make, self._rows(LINKS_ON_PAGES))

    def sites(self) -> Iterator[rows.SiteRow]:
        return map(rows.SiteRow._make, self._rows(SITES))

    def archive_places(self) -> Iterator[rows.ArchivePlace]:
        return map(rows.ArchivePlace._make, self._rows(ARCHIVE_PLACES))

    def searchable_pages(self, after: int = 0) -> Iterator[rows.SearchablePage]:
        for row in map(rows.SearchablePage._make, self._rows(SEARCHABLE, (after,))):
            yield row._replace(is_duplicate=bool(row.is_duplicate))

    def renewed_pages(self, after: int = 0) -> Iterator[rows.SearchablePage]:
        for row in map(rows.SearchablePage._make, self._rows(RENEWED, (after,))):
            yield row._replace(is_duplicate=bool(row.is_duplicate))

    def topic_scores(self) -> Iterator[rows.TopicScores]:
        return map(rows.TopicScores._make, self._rows(TOPIC_SCORES))

    def archived_urls(self) -> Iterator[tuple[Any, ...]]:
        """URL, file and offset of every page in the archive, in its order."""
        return self._rows(ARCHIVED_URLS)
