"""What the dashboard asks of any store: columns, and a few rows at a time; the queries, written once.

Each request opens a read-only connection of its own: readers and the crawl do not wait for each other. What would scan
a table of millions is asked for since the last time (`after`).
"""

from __future__ import annotations

import json
from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lycosa.store.asking import Asking
from lycosa.store.protocol import Reports
from lycosa.store.rows import RAISED, RAISED_BY_PERSON, REVISIT, State

COLUMNS = """
p.number, p.fetched_at, coalesce(j.relevance, -1), coalesce(j.is_relevant, 0),
case when j.own_relevance is null then 0 else 1 end
"""
DOTS = f"select {COLUMNS} from pages p left join judgements j on j.page_id = p.id"
ALL_DOTS = f"{DOTS} order by p.id"
NEW_DOTS = f"{DOTS} where p.number > ?"
DOTS_BETWEEN = f"{DOTS} where p.number between ? and ?"
SOME_DOTS = f"{DOTS} where p.number in (select value from json_each(?))"
OUTCOME_SUMS = """
select 0, kind, reason, count(*), sum(case when from_cache = 1 then 0 else bytes end), max(id)
from outcomes where id > ? group by kind, reason
"""
EVENTS = "select id, run_id, at, kind, message from events where id > ? order by id limit ?"
LAST_EVENT = "select id, run_id, at, kind, message from events order by id desc limit 1"
PAGE_COLUMNS = """
select p.id, p.number, f.url, h.name, p.title, p.language, p.fetched_at, p.bytes, p.words, f.distance,
       j.relevance, j.is_relevant, j.own_relevance, d.url,
       (select a.answer from answers a where a.page_id = p.id order by a.id desc limit 1)
"""
JOINED = """
join frontier f on f.id = p.id join hosts h on h.id = f.host_id
left join judgements j on j.page_id = p.id left join frontier d on d.id = p.duplicate_of
"""
PAGE = f"{PAGE_COLUMNS} from pages p {JOINED}"
PAGE_OF_LIST = f"{PAGE_COLUMNS} from json_each(?) w cross join pages p on p.id = w.value {JOINED}"
"""Of a JSON list of ids, in its order: `w.key`."""
ORDERS = {
    "match": "j.relevance desc nulls last, p.number",
    "relevance": "j.relevance desc nulls last, p.number",
    "newest": "p.number desc",
    "oldest": "p.number",
    "title": "lower(p.title), p.number",
    "host": "h.name, p.number",
}
FAVOURED = f"reason in ('{REVISIT}', '{RAISED}', '{RAISED_BY_PERSON}')"
QUEUE = f"""
select f.id, f.url, h.name, f.score, f.distance, f.tries, f.anchor, f.reason, h.ready_at, h.set_aside
from frontier f join hosts h on h.id = f.host_id
where f.state = '{State.WAITING}' and (?1 = '' or instr(lower(f.url), ?1) > 0) and (?2 = 1 or h.set_aside = '')
order by f.{FAVOURED} desc, f.tries, f.score desc, f.id limit ?3
"""
QUEUE_SCORES = f"select score from frontier where state = '{State.WAITING}' and tries = 0"
EARLIER = "select until_pages, relevance, is_relevant from earlier_judgements where page_id = ? order by until_pages"
DISTANCES = """
select f.distance, count(*), coalesce(sum(j.is_relevant), 0)
from pages p join frontier f on f.id = p.id left join judgements j on j.page_id = p.id group by 1 order by 1
"""
LANGUAGES = "select language, count(*) from pages group by 1 order by 2 desc limit 30"
HOSTS = """
select count(*), count(case when ready_at > ?1 then 1 end), count(case when set_aside != '' then 1 end)
from hosts where pages > 0
"""
RELEVANT_EDGES = """
select l.source_id, l.target_id from judgements j join links l on l.source_id = j.page_id
     join judgements t on t.page_id = l.target_id
where j.is_relevant = 1 and t.is_relevant = 1 and l.source_id != l.target_id
      and j.page_id in (select value from json_each(?1)) and t.page_id in (select value from json_each(?1))
group by 1, 2 limit ?2
"""
LATEST_PAGES = "(select id from pages order by number desc limit ?1) p"
CITED_TOPICS = f"""
select s.best, t.best, count(*) from {LATEST_PAGES} cross join judgements s on s.page_id = p.id
     cross join links l on l.source_id = p.id cross join judgements t on t.page_id = l.target_id
where s.best != '' and t.best != '' and l.source_id != l.target_id group by 1, 2
"""
CITED_SITES = f"""
select a.name, b.name, count(*) from {LATEST_PAGES} cross join judgements s on s.page_id = p.id and s.is_relevant = 1
     cross join frontier f on f.id = p.id cross join links l on l.source_id = p.id
     cross join judgements t on t.page_id = l.target_id and t.is_relevant = 1
     cross join frontier g on g.id = l.target_id
     join hosts a on a.id = f.host_id join hosts b on b.id = g.host_id
where l.source_id != l.target_id group by 1, 2
"""
EXAMPLES = {
    "Sites with most relevant pages": "select name, relevant, pages, round(density, 3) as density\nfrom sites limit 30",
    "Best pages": "select number, round(relevance, 3) as relevance, title, url\nfrom relevant_pages limit 50",
    "Harvest rate as the crawl went on": (
        "select number, round(harvest_rate, 4) as so_far, round(harvest_rate_1000, 4) as of_the_last_1000\n"
        "from harvest where number % max(1, (select max(number) from pages) / 100) = 0"
    ),
    "What happened to the requests": (
        "select kind, reason, count(*) as tries\nfrom outcomes group by 1, 2 order by 3 desc limit 30"
    ),
    "What was left out, and why": (
        "select reason, count(*) as links\nfrom frontier where state = 'excluded' group by 1 order by 2 desc"
    ),
    "Languages": "select language, count(*) as pages\nfrom pages group by 1 order by 2 desc",
    "What the crawl did on its own": (
        "select datetime(at, 'unixepoch') as at, kind, message\nfrom events order by id desc limit 100"
    ),
    "What people said of pages": "select url, title, answer, round(judged, 3) as judged\nfrom answered_pages",
}
"""Queries to begin with, by name."""


class DashboardPage(NamedTuple):
    """A page as lists and cards show it."""

    id: int
    number: int
    url: str
    host: str
    title: str
    language: str
    fetched_at: float
    bytes: int
    words: int
    distance: int
    relevance: float | None
    is_relevant: int | None
    own_relevance: float | None
    """What the judge itself says, where a person has decided."""
    duplicate_of: str | None
    answer: str | None


class QueuedLink(NamedTuple):
    id: int
    url: str
    host: str
    score: float
    distance: int
    tries: int
    anchor: str
    reason: str
    ready_at: float
    set_aside: str


class NumberedEvent(NamedTuple):
    id: int
    run_id: int
    at: float
    kind: str
    message: str


class PageFilter(NamedTuple):
    """Which pages are wanted; empty values want all."""

    among: Sequence[int] | None = None
    """Ids of pages, the best first: only these."""
    host: str = ""
    language: str = ""
    min_relevance: float = 0.0
    is_relevant: bool = False
    since: float = 0.0
    until: float = 0.0

    def query(self) -> tuple[str, list[Any]]:
        """The statement without its order, and its values."""
        tests: list[tuple[str, Any]] = [("h.name = ?", self.host)] if self.host else []
        tests += [("p.language = ?", self.language)] if self.language else []
        tests += [("j.relevance >= ?", self.min_relevance)] if self.min_relevance else []
        tests += [("p.fetched_at >= ?", self.since)] if self.since else []
        tests += [("p.fetched_at < ?", self.until)] if self.until else []
        clauses = [clause for clause, _ in tests] + (["j.is_relevant = 1"] if self.is_relevant else [])
        listed = [] if self.among is None else [json.dumps(list(self.among))]
        sql = f"{PAGE if self.among is None else PAGE_OF_LIST} where {' and '.join(clauses) or 'true'}"
        return sql, listed + [value for _, value in tests]


class DashboardStore(Asking, Reports):
    """A crawl's store, for reading only."""

    shard_count = 0
    """Number of shards of a cluster, whose rows these are; 0 for a crawl of one process."""
    examples: ClassVar[Mapping[str, str]] = EXAMPLES
    """Queries to begin with, by name, in this store's SQL."""

    @abstractmethod
    def limit_typed(self, *, seconds: float, memory: int, longest: int) -> None:
        """Limit a query that somebody has typed in: seconds, bytes of memory, bytes of a value; it can only read."""

    def last_number(self) -> int:
        """Number of pages fetched."""
        return self._number("select coalesce(max(number), 0) from pages")

    def all_dots(self) -> Iterator[list[NDArray[np.float64]]]:
        """Columns of all pages, some at a time: number, time, relevance (-1: not judged), is_relevant, answered."""
        for chunk in self._chunks(ALL_DOTS, 5, (), np.float64):
            yield list(chunk.T)

    def dots(self, after: int) -> list[NDArray[np.float64]]:
        """The same columns, of the pages after this number."""
        return self._columns(NEW_DOTS, 5, (after,), np.float64)

    def dots_between(self, first: int, last: int) -> list[NDArray[np.float64]]:
        """The same, of these pages."""
        return self._columns(DOTS_BETWEEN, 5, (first, last), np.float64)

    def began_at(self) -> float:
        """When the first page was fetched; 0 if none was."""
        found = self._first(tuple, "select fetched_at from pages where number = 1")
        return float(found[0]) if found else 0.0

    def some_dots(self, numbers: str) -> list[NDArray[np.float64]]:
        """The same of these pages, given as a JSON list."""
        return self._columns(SOME_DOTS, 5, (numbers,), np.float64)

    def outcome_sums(self, seen: Mapping[int, int]) -> list[tuple[int, str, str, int, int, int]]:
        """(shard, kind, reason, tries, bytes, last id) of the outcomes after these ids, by shard; a crawl of one
        process is shard 0."""
        return self._all(tuple, OUTCOME_SUMS, (seen.get(0, 0),))

    def events_after(self, seen: Mapping[int, int], count: int) -> list[tuple[int, NumberedEvent]]:
        """Events after these numbers, by shard, each with its shard: at most this many of each."""
        return [(0, event) for event in self._all(NumberedEvent._make, EVENTS, (seen.get(0, 0), count))]

    def last_event(self) -> NumberedEvent | None:
        return self._first(NumberedEvent._make, LAST_EVENT)

    def page_numbered(self, number: int) -> DashboardPage | None:
        return self._first(DashboardPage._make, f"{PAGE} where p.number = ?", (number,))

    def pages_like(self, wanted: PageFilter, *, order: str, count: int, offset: int = 0) -> list[DashboardPage]:
        sql, values = wanted.query()
        by = "w.key" if order == "match" and wanted.among is not None else ORDERS[order]
        return self._all(DashboardPage._make, f"{sql} order by {by} limit ? offset ?", (*values, count, offset))

    def count_like(self, wanted: PageFilter) -> int:
        if wanted == PageFilter():
            return self.last_number()
        sql, values = wanted.query()
        return self._number(f"select count(*) from ({sql}) as found", values)

    def queue(self, *, words: str, with_set_aside: bool, count: int) -> list[QueuedLink]:
        """The waiting links in the order in which they would be fetched if all hosts were ready."""
        return self._all(QueuedLink._make, QUEUE, (words.lower(), with_set_aside, count))

    def queue_scores(self) -> NDArray[np.float64]:
        """Scores of the waiting links that were never tried."""
        return self._columns(QUEUE_SCORES, 1, (), np.float64)[0]

    def earlier_judgements(self, page: int) -> list[tuple[int, float, int]]:
        """(number of pages the crawl had when it was judged anew, relevance until then, whether it was relevant)."""
        return self._all(tuple, EARLIER, (page,))

    def distances(self) -> list[tuple[int, int, int]]:
        """(links from the nearest seed, pages, relevant ones)."""
        return self._all(tuple, DISTANCES)

    def languages(self) -> list[tuple[str, int]]:
        return self._all(tuple, LANGUAGES)

    def host_counts(self, now: float) -> tuple[int, int, int]:
        """Hosts with a page: all, cooling, set aside."""
        return self._first(tuple, HOSTS, (now,)) or (0, 0, 0)

    def topic_citations(self, latest: int) -> list[tuple[str, str, int]]:
        """(topic, topic it links to, links), by the pages fetched last; empty where the judge knows no topics."""
        return self._all(tuple, CITED_TOPICS, (latest,))

    def site_citations(self, latest: int) -> list[tuple[str, str, int]]:
        """(site, site it links to, links) between relevant pages, of the pages fetched last."""
        return self._all(tuple, CITED_SITES, (latest,))

    def edges_among(self, pages: str, count: int) -> list[tuple[int, int]]:
        """(source, target) of links between these relevant pages, given as a JSON list of their ids."""
        return self._all(tuple, RELEVANT_EDGES, (pages, count))
