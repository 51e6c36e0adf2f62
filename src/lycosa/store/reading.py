"""What a crawl asks of any store: the queries, written once."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator

import numpy as np
from numpy.typing import NDArray

from lycosa.errors import StoreError
from lycosa.frontier.keys import FAVOURED, MOST_TRIES
from lycosa.model import Visit
from lycosa.store import rows
from lycosa.store.asking import Asking, select
from lycosa.store.rows import NOFOLLOW, NOT_WORTH, RAISED, RAISED_BY_PERSON, REVISIT, PageChange, State
from lycosa.store.stored_visits import citing_visits, visits

RELEVANT_NUMBERS = "select number from pages where id in (select page_id from judgements where is_relevant = 1)"
RELEVANT_BY_HOST = """
select f.host_id, sum(j.is_relevant) as relevant from judgements j join frontier f on f.id = j.page_id group by 1
"""
ANSWERS = """
select a.id, a.at, a.url, a.page_id, a.answer, a.after_pages, j.own_relevance, j.own_is_relevant, j.guide_relevance,
       j.guide_is_relevant
from answers a left join judgements j on j.page_id = a.page_id
     and j.judge = (select min(judge) from judgements where page_id = a.page_id)
where a.id > ? order by a.id
"""
COMMANDS = select(rows.CommandRow, "commands where id > ? order by id")
WAITING_URLS = select(rows.WaitingUrl, f"frontier where state = '{State.WAITING}' order by id")
MARKED = select(rows.LinkRow, "frontier where reason = ? and detail = ? order by id")
PRINTS = "select fingerprint, id from pages where fingerprint != 0 and duplicate_of is null order by number"
TIERS = 256
WAITING = f"""
select case when state = '{State.WAITING}' and reason = '' and tries = 0 then host_id * {TIERS} else case state
       when '{State.WAITING}' then host_id * {TIERS}
            + case when reason = '' and tries < {MOST_TRIES} then tries
              when reason in ('{REVISIT}', '{RAISED}', '{RAISED_BY_PERSON}') then {FAVOURED}
              when tries < {MOST_TRIES} then tries else {MOST_TRIES} end
       when '{State.DROPPED}' then -1 - case when tries < {MOST_TRIES} then tries else {MOST_TRIES} end
       when '{State.EXCLUDED}' then case when reason in ('{NOFOLLOW}', '{NOT_WORTH}') then -1 else 0 end
       when '{State.DONE}' then 0 when '{State.FAILED}' then 0 when '{State.ELSEWHERE}' then 0 end end, score
from frontier order by id
"""
"""Of all links, as a single scan is fast and numbers have no gaps: host and tier of a waiting one, the tier of a
dormant one, 0 for others; nothing, if the state is none. Nearly all of them are of the first case, which is therefore
told apart at once."""
LAST_FETCHES = """
select link_id, max(at) from outcomes where link_id in (select value from json_each(?)) group by 1
"""
LAST_ANSWER = f"""
select link_id, archive_file, archive_offset from (
    select page_id as link_id, archive_file, archive_offset, 2 as kind, id as number from checks
    where page_id = ?1 and change in ('{PageChange.SAME}', '{PageChange.CHANGED}', '{PageChange.BACK}')
    union all
    select link_id, archive_file, archive_offset, 1, id from outcomes where link_id = ?1 and kind = 'listed'
    union all
    select id, archive_file, archive_offset, 0, 0 from pages where id = ?1
) as answers where archive_file != '' order by kind desc, number desc limit 1
"""
"""By their indices; outcomes have one for lists only, which are no pages."""
LINKS_ON = "select position, target_id from links where source_id = ? order by position"
JUDGEMENT = select(rows.JudgementRow, "judgements where page_id = ? and ? in ('', judge) order by judge limit 1")
UNVISITED = f"""
select f.id, f.url, h.name from links l join frontier f on f.id = l.target_id join hosts h on h.id = f.host_id
where l.source_id = ? and f.state = '{State.WAITING}' and f.tries = 0
      and not exists (select 1 from pages p where p.id = f.id) order by l.position
"""
COUNT_LINKS = "select coalesce(max(id), 0) from frontier"
"""Numbers have no gaps, and to count them takes a tenth of a second a million."""
COUNT_PAGES = "select count(*) from pages"
LATEST_TIME = """
select max(started_at) from runs union all select max(ended_at) from runs
union all select at from (select at from outcomes order by id desc limit 1) as last_outcome
union all select at from (select at from events order by id desc limit 1) as last_event
"""
COUNT_RELEVANT = "select count(*) from judgements where is_relevant = 1"
TOTALS = (
    COUNT_LINKS,
    COUNT_PAGES,
    COUNT_RELEVANT,
    f"select count(*) from frontier where state = '{State.WAITING}'",
)
PROGRESS = (
    COUNT_PAGES,
    COUNT_RELEVANT,
    """select count(*) from pages where number > coalesce(
    (select p.number from pages p join judgements j on j.page_id = p.id where j.is_relevant = 1
     order by p.number desc limit 1), 0)""",
    "select coalesce(sum(bytes), 0) from outcomes where from_cache = 0",
)
RELEVANT = """
select p.number, f.url, p.title, j.relevance, p.language
from pages p join judgements j on j.page_id = p.id join frontier f on f.id = p.id
where j.is_relevant = 1 order by p.number
"""
RECENT = """
select j.relevance, j.is_relevant from pages p join judgements j on j.page_id = p.id order by p.number desc limit ?
"""
FIRST_RELEVANCE = """
select coalesce(j.own_relevance, j.relevance, -1) from pages p left join judgements j on j.page_id = p.id
where p.number <= ? order by p.number
"""
SEEDS = """
select f.url, p.number, p.words, j.relevance, j.is_relevant
from frontier f join pages p on p.id = f.id left join judgements j on j.page_id = f.id
where f.distance = 0 order by p.number
"""
LOST_SEEDS = f"""
select f.id, f.url, f.host_id, f.state, f.tries, f.reason, f.detail, h.ready_at, h.set_aside
from frontier f join hosts h on h.id = f.host_id
where f.distance = 0 and f.state != '{State.ELSEWHERE}' and f.id not in (select id from pages)
      and f.id not in (select link_id from outcomes where kind in ('redirected', 'listed'))
order by f.id
"""
PAGE_TEXTS = """
select p.title, f.anchor from pages p join frontier f on f.id = p.id join judgements j on j.page_id = p.id
where j.is_relevant = ? and p.duplicate_of is null order by p.number desc limit ?
"""
TITLES = "select title from pages order by number desc limit ?"
ANCHORS = "select anchor from links order by source_id desc, position desc limit ?"
NEW_PAGES = "select p.number, p.id, f.host_id from pages p join frontier f on f.id = p.id where p.number > ? order by 1"
ALL_LINKS = "select source_id, target_id from links order by source_id, position"
NEW_LINKS = """
select l.source_id, l.target_id from pages p join links l on l.source_id = p.id where p.number > ? and p.number <= ?
order by p.number, l.position
"""
TO_REFRESH = """
select p.id, f.host_id, p.fetched_at, coalesce(j.is_relevant, 0), coalesce(c.count, 0)
from pages p join frontier f on f.id = p.id
     left join judgements j on j.page_id = p.id and j.judge = (select min(judge) from judgements where page_id = p.id)
     left join (select l.source_id, count(distinct l.target_id) as count from links l
                join judgements t on t.page_id = l.target_id where t.is_relevant = 1 group by 1) c
          on c.source_id = p.id
order by p.number
"""
LISTS = "select distinct link_id from outcomes where kind = 'listed' order by 1"
CHECKS = select(rows.CheckRow, "checks order by id")
CHECKS_OF = select(rows.CheckRow, "checks where page_id = ? order by id")
JUDGED = "select page_id, relevance, is_relevant from judgements where ? in ('', judge) order by page_id"


class CrawlReading(Asking):
    def latest_time(self) -> float:
        """The latest time on record; 0 if there is none."""
        found = self._all(tuple, LATEST_TIME)
        return max((float(at) for (at,) in found if at is not None), default=0.0)

    def last_run(self) -> rows.RunRow | None:
        return self._first(rows.RunRow._make, select(rows.RunRow, "runs order by id desc limit 1"))

    def was_cut_off(self) -> bool:
        run = self.last_run()
        return run is not None and run.ended_at is None

    def hashes(self, after: int = 0) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        hashes, ids = self._columns("select hash, id from frontier where id > ? order by id", 2, (after,))
        return hashes, ids

    def count_links(self) -> int:
        return self._number(COUNT_LINKS)

    def fingerprints(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        prints, ids = self._columns(PRINTS, 2)
        return prints, ids

    def waiting(self) -> rows.WaitingLinks:
        codes, scores = self._columns(WAITING, 2, kind=np.float64)  # which is exact for numbers up to 2⁵³
        if len(codes) != self.count_links():
            raise StoreError(f"{self.path}: links are missing from the table frontier; restore it from a copy")
        last = self._number("select coalesce(max(id), 0) from hosts")
        if not (np.isfinite(scores).all() and (codes < (last + 1) * TIERS).all()):
            raise ValueError("the table frontier is damaged")  # which the caller finds out and says
        places, dormant = np.flatnonzero(codes > 0), np.flatnonzero(codes < 0)
        hosts, tiers = np.divmod(codes[places].astype(np.int64), TIERS)
        if len(hosts) and hosts.min() < 1:
            raise ValueError("the table frontier is damaged")
        dormant_tiers = (-1 - codes[dormant]).astype(np.uint8)
        return rows.WaitingLinks(places + 1, hosts, scores[places], tiers.astype(np.uint8), dormant + 1, dormant_tiers)

    def page_ids(self) -> NDArray[np.int64]:
        (ids,) = self._columns("select id from pages", 1)
        return ids

    def visits(self, after: int = 0) -> Iterator[tuple[Visit, NDArray[np.int64]]]:
        return visits(self, after)

    def foreign_pages(self, after: int = 0) -> Iterator[rows.ForeignPage]:  # noqa: ARG002 - only shards have some
        return iter(())

    def citing_visits(self, link: int, *, parent: int | None, upto: int) -> Iterator[tuple[Visit, NDArray[np.int64]]]:
        return citing_visits(self, link, parent=parent or 0, upto=upto)

    def hosts(self) -> Iterator[rows.HostRow]:
        return iter(self._all(rows.HostRow._make, select(rows.HostRow, "hosts order by id")))

    def addresses(self) -> dict[str, float]:
        return dict(self._all(tuple, "select address, ready_at from addresses order by address"))

    def robots(self) -> Iterator[rows.RobotsRow]:
        return iter(self._all(rows.RobotsRow._make, select(rows.RobotsRow, "robots order by origin")))

    def state(self, name: str) -> bytes | None:
        row = self._first(tuple, "select value from state where name = ?", (name,))
        return None if row is None else bytes(row[0])

    def link(self, link: int) -> rows.LinkRow | None:
        return self._first(rows.LinkRow._make, select(rows.LinkRow, "frontier where id = ?"), (link,))

    def page(self, link: int) -> rows.PageRow | None:
        row = self._first(rows.PageRow._make, select(rows.PageRow, "pages where id = ?"), (link,))
        return row and row._replace(is_noindex=bool(row.is_noindex), is_nofollow=bool(row.is_nofollow))

    def judgement(self, page: int, judge: str = "") -> rows.JudgementRow | None:
        row = self._first(rows.JudgementRow._make, JUDGEMENT, (page, judge))
        if row is None:
            return None
        is_guide_relevant = None if row.guide_is_relevant is None else bool(row.guide_is_relevant)
        return row._replace(is_relevant=bool(row.is_relevant), guide_is_relevant=is_guide_relevant)

    def unvisited_links(self, page: int) -> list[rows.UnvisitedLink]:
        return self._all(rows.UnvisitedLink._make, UNVISITED, (page,))

    def links_on(self, page: int) -> NDArray[np.int64]:
        return np.stack(self._columns(LINKS_ON, 2, (page,)), axis=1)

    def last_fetches(self, links: Collection[int]) -> dict[int, float]:
        return dict(self._all(tuple, LAST_FETCHES, (json.dumps(list(links)),)))

    def last_answer(self, link: int) -> rows.ArchivePlace | None:
        return self._first(rows.ArchivePlace._make, LAST_ANSWER, (link,))

    def checks(self, page: int = 0) -> list[rows.CheckRow]:
        if page:
            return self._all(rows.CheckRow._make, CHECKS_OF, (page,))
        return self._all(rows.CheckRow._make, CHECKS)

    def lists(self) -> list[int]:
        return [link for (link,) in self._all(tuple, LISTS)]

    def pages_to_refresh(self) -> rows.PagesToRefresh:
        ids, hosts, fetched, relevant, citations = self._columns(TO_REFRESH, 5, kind=np.float64)
        return rows.PagesToRefresh(
            ids.astype(np.int64), hosts.astype(np.int64), fetched, relevant.astype(np.bool_), citations.astype(np.int64)
        )

    def answers(self, after: int = 0) -> list[rows.AnswerRow]:
        found = self._all(rows.AnswerRow._make, ANSWERS, (after,))
        return [
            row._replace(own_is_relevant=bool(row.own_is_relevant), guide_is_relevant=bool(row.guide_is_relevant))
            for row in found
        ]

    def commands(self, after: int = 0) -> list[rows.CommandRow]:
        return self._all(rows.CommandRow._make, COMMANDS, (after,))

    def latest_kinds(self, count: int) -> list[str]:
        return [kind for (kind,) in self._all(tuple, "select kind from outcomes order by id desc limit ?", (count,))]

    def waiting_urls(self) -> Iterator[rows.WaitingUrl]:
        return map(rows.WaitingUrl._make, self._rows(WAITING_URLS))

    def links_marked(self, reason: str, detail: str) -> list[rows.LinkRow]:
        return self._all(rows.LinkRow._make, MARKED, (reason, detail))

    def totals(self) -> rows.Totals:
        return rows.Totals(*map(self._number, TOTALS))

    def progress(self) -> rows.Progress:
        return rows.Progress(*map(self._number, PROGRESS))

    def first_relevance(self, count: int) -> NDArray[np.float64]:
        (relevance,) = self._columns(FIRST_RELEVANCE, 1, (count,), kind=np.float64)
        relevance[relevance < 0] = np.nan
        return relevance

    def recent_relevance(self, count: int) -> list[tuple[float, bool]]:
        newest_first = self._all(tuple, RECENT, (count,))
        return [(relevance, bool(is_relevant)) for relevance, is_relevant in reversed(newest_first)]

    def relevant_by_host(self) -> dict[int, int]:
        return dict(self._all(tuple, RELEVANT_BY_HOST))

    def relevant_numbers(self) -> NDArray[np.int64]:
        (numbers,) = self._columns(RELEVANT_NUMBERS, 1)
        return numbers

    def relevant_pages(self) -> Iterator[rows.RelevantPage]:
        return map(rows.RelevantPage._make, self._rows(RELEVANT))

    def waiting_seeds(self) -> int:
        return self._number(f"select count(*) from frontier where distance = 0 and state = '{State.WAITING}'")

    def seed_pages(self) -> list[rows.SeedPage]:
        return [rows.SeedPage._make((*row, bool(is_relevant))) for *row, is_relevant in self._all(tuple, SEEDS)]

    def lost_seeds(self) -> list[rows.LostSeed]:
        return self._all(rows.LostSeed._make, LOST_SEEDS)

    def searches(self) -> list[rows.SearchRow]:
        return self._all(rows.SearchRow._make, select(rows.SearchRow, "searches order by id"))

    def search_answers(self) -> list[rows.SearchAnswerRow]:
        found = self._all(
            rows.SearchAnswerRow._make, select(rows.SearchAnswerRow, "search_answers order by search_id, engine")
        )
        return [row._replace(is_contact=bool(row.is_contact)) for row in found]

    def page_texts(self, count: int, *, is_relevant: bool) -> list[rows.PageTexts]:
        return self._all(rows.PageTexts._make, PAGE_TEXTS, (int(is_relevant), count))

    def latest_texts(self, *, titles: int, anchors: int) -> list[str]:
        return [
            text for sql, count in ((TITLES, titles), (ANCHORS, anchors)) for (text,) in self._all(tuple, sql, (count,))
        ]

    def pages_since(self, number: int) -> rows.NewPages:
        return rows.NewPages(*self._columns(NEW_PAGES, 3, (number,)))

    def citations(self, after: int = 0, upto: int | None = None) -> Iterator[NDArray[np.int64]]:
        return self._chunks(ALL_LINKS, 2) if upto is None else self._chunks(NEW_LINKS, 2, (after, upto))

    def judged_pages(self, judge: str = "") -> rows.JudgedPages:
        ids, relevance, is_relevant = self._columns(JUDGED, 3, (judge,), kind=np.float64)
        return rows.JudgedPages(ids.astype(np.int64), relevance, is_relevant > 0)

    def judges(self) -> list[str]:
        return [name for (name,) in self._all(tuple, "select distinct judge from judgements order by judge")]
