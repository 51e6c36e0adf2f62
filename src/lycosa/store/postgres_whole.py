"""All shards of a cluster as one crawl, for people who look at it: what the views alone do not tell.

A link from one shard to another is two rows: one in the shard of the page, whose state is `elsewhere`, and one in the
shard that fetches it. Who asks for citations is told of the second. What each shard keeps for itself is told by shard
(`states`), and a command that was given to all is one command here.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from lycosa.store import rows
from lycosa.store.dashboard import CITED_SITES, CITED_TOPICS, OUTCOME_SUMS, RELEVANT_EDGES, NumberedEvent
from lycosa.store.postgres_cluster import NUMBERS, ClusterReports, ClusterStore, base_schema, cluster_row, shard_schema
from lycosa.store.postgres_connection import Database
from lycosa.store.postgres_dashboard import PostgresDashboard
from lycosa.store.reading import ALL_LINKS, UNVISITED
from lycosa.store.reports import CITATION_COUNTS, CITING, FIND_LINK, HAS_LINK
from lycosa.store.rows import Command, State

SAME_URL = """
(select o.id from frontier e join frontier o on o.hash = e.hash and o.url = e.url where e.id = ?1)
"""
"""The numbers that the link with this number has in all shards."""
OWN_LINKS = f"""
(select l.source_id, l.position, coalesce(o.id, l.target_id) as target_id from links l
 left join frontier e on e.id = l.target_id and e.state = '{State.ELSEWHERE}'
 left join frontier o on o.hash = e.hash and o.url = e.url and o.state != '{State.ELSEWHERE}')
"""
"""The links of all pages, each with the number of its target in the shard that fetches it."""
STATES = "select {1}, value from {0}.state where name = ?1"
EVENTS_OF = "(select {1} as shard, id, run_id, at, kind, message from {0}.events where id > {2} order by id limit ?)"
LAST_EVENT = "select id, run_id, at, kind, message from events order by at desc limit 1"
COMMANDS = "select id, at, kind, target, taken_at, result from commands order by at, id"


def _of_all(sql: str) -> str:
    """A query over links, in which links lead to the shard that fetches them."""
    assert "links l " in sql
    return sql.replace("links l ", f"{OWN_LINKS} l ")


class WholeCluster(ClusterReports):
    def __init__(self, url: str, *, path: Path, read_only: bool = True) -> None:
        self._base = base_schema(url)
        self.shard_count = 0
        """Number of shards."""
        super().__init__(url, path=path, read_only=read_only)

    def _open(self, db: Database) -> None:
        super()._open(db)
        found = cluster_row(db)
        self.shard_count = found[1] if found else 0

    # ── shards ────────────────────────────────────────────────────────────────────────────────────────────

    def states(self, name: str) -> dict[int, bytes]:
        asked = self._each(STATES)
        return dict(self._all(tuple, f"{asked} order by 1", (name,)))

    def shard_of(self, number: int) -> tuple[int, int]:
        return number % NUMBERS, number // NUMBERS

    def number_in(self, _shard: int, number: int) -> int:
        return number * NUMBERS + _shard

    def _each(self, sql: str, seen: Mapping[int, int] | None = None) -> str:
        """A query for each shard, all in one. `seen`: a number for each."""
        known = seen or {}
        each = (
            sql.format(shard_schema(self._base, shard), shard, int(known.get(shard, 0)))
            for shard in range(self.shard_count)
        )
        return " union all ".join(each)

    # ── links between shards ──────────────────────────────────────────────────────────────────────────────

    def find_link(self, url: str, url_hash: int) -> rows.LinkRow | None:
        own_first = f"{FIND_LINK} order by case when state = '{State.ELSEWHERE}' then 1 else 0 end, id"
        return self._first(rows.LinkRow._make, own_first, (url_hash, url))

    def citing_pages(self, link: int, count: int) -> list[rows.CitingPage]:
        sql = CITING.replace("l.target_id = ?", f"l.target_id in {SAME_URL}").replace("limit ?", "limit ?2")
        return self._all(rows.CitingPage._make, sql, (link, count))

    def citation_counts(self, link: int) -> rows.CitationCounts:
        sql = CITATION_COUNTS.replace("l.target_id = ?", f"l.target_id in {SAME_URL}")
        return self._first(rows.CitationCounts._make, sql, (link,)) or rows.CitationCounts(0, 0)

    def has_link(self, page: int, link: int) -> bool:
        sql = HAS_LINK.replace("source_id = ?", "source_id = ?2").replace("target_id = ?", f"target_id in {SAME_URL}")
        return self._number(sql, (link, page)) > 0

    def unvisited_links(self, page: int) -> list[rows.UnvisitedLink]:
        return self._all(rows.UnvisitedLink._make, _of_all(UNVISITED), (page,))

    # ── what people ask of all shards ─────────────────────────────────────────────────────────────────────

    def events(self, kinds: Collection[str]) -> list[rows.EventRow]:
        return sorted(super().events(kinds), key=lambda row: row.at)

    def commands(self, after: int = 0) -> list[rows.CommandRow]:
        """Each that was given to all shards once, with what each of them made of it."""
        given: dict[tuple[float, str, str], list[rows.CommandRow]] = {}
        first: dict[int, int] = {}
        for row in self._all(rows.CommandRow._make, COMMANDS):
            target = row.target
            if row.kind == Command.UNDO and target.isdigit():  # the number that the command has in this shard
                shard, _ = self.shard_of(row.id)
                own = self.number_in(shard, int(target))
                target = str(first.get(own, own))
            same = given.setdefault((row.at, row.kind, target), [])
            same.append(row)
            first[row.id] = same[0].id
        found = [self._together(same, target) for (_, _, target), same in given.items()]
        return [row for row in found if row.id > after]

    def _together(self, same: list[rows.CommandRow], target: str) -> rows.CommandRow:
        taken = [row.taken_at for row in same if row.taken_at is not None]
        results = {row.result for row in same if row.result}
        words = "; ".join(f"shard {self.shard_of(row.id)[0]}: {row.result}" for row in same if row.result)
        return same[0]._replace(
            target=target,
            taken_at=max(taken) if len(taken) == len(same) else None,
            result=words if len(results) > 1 else "".join(results),
        )


class GraphOfCluster(WholeCluster):
    """The same with pages and hosts numbered without gaps, for whoever keeps arrays by number: `CitationGraph` and what
    is made of it. `number_of` tells the number that all others know a page by."""

    def _open(self, db: Database) -> None:
        super()._open(db)
        self._pages = np.array([row[0] for row in db.execute("select id from pages order by id")], dtype=np.int64)
        self._hosts = np.array([row[0] for row in db.execute("select id from hosts order by id")], dtype=np.int64)

    def number_of(self, link: int) -> int:
        return int(self._pages[link])

    def pages_since(self, number: int) -> rows.NewPages:
        numbers, ids, hosts = super().pages_since(number)
        is_known = np.isin(ids, self._pages)  # not so what came a moment ago
        place = np.searchsorted(self._pages, ids[is_known])
        return rows.NewPages(numbers[is_known], place, np.searchsorted(self._hosts, hosts[is_known]))

    def citations(self, after: int = 0, upto: int | None = None) -> Iterator[NDArray[np.int64]]:  # noqa: ARG002 - all
        """From page to page; links to what is no page are left out."""
        for chunk in self._chunks(ALL_LINKS.replace("from links", f"from {OWN_LINKS} as l"), 2):
            known = chunk[np.isin(chunk, self._pages).all(axis=1)]
            yield np.searchsorted(self._pages, known)

    def judged_pages(self, judge: str = "") -> rows.JudgedPages:
        ids, relevance, is_relevant = super().judged_pages(judge)
        is_known = np.isin(ids, self._pages)
        place = np.searchsorted(self._pages, ids[is_known])
        return rows.JudgedPages(place, relevance[is_known], is_relevant[is_known])

    def hosts(self) -> Iterator[rows.HostRow]:
        for row in super().hosts():
            place = int(np.searchsorted(self._hosts, row.id))
            if place < len(self._hosts) and self._hosts[place] == row.id:
                yield row._replace(id=place)

    def link(self, link: int) -> rows.LinkRow | None:
        return super().link(self.number_of(link))

    def page(self, link: int) -> rows.PageRow | None:
        return super().page(self.number_of(link))

    def judgement(self, page: int, judge: str = "") -> rows.JudgementRow | None:
        return super().judgement(self.number_of(page), judge)

    def last_fetches(self, links: Collection[int]) -> dict[int, float]:
        numbers = {self.number_of(link): link for link in links}
        return {numbers[link]: at for link, at in super().last_fetches(list(numbers)).items()}

    def unvisited_links(self, page: int) -> list[rows.UnvisitedLink]:
        return super().unvisited_links(self.number_of(page))


class ClusterDashboard(WholeCluster, PostgresDashboard):
    def outcome_sums(self, seen: Mapping[int, int]) -> list[tuple[int, str, str, int, int, int]]:
        of_one = OUTCOME_SUMS.replace("select 0", "select {1}").replace("from outcomes", "from {0}.outcomes")
        return self._all(tuple, self._each(of_one.replace("?", "{2}"), seen))

    def events_after(self, seen: Mapping[int, int], count: int) -> list[tuple[int, NumberedEvent]]:
        asked = f"select * from ({self._each(EVENTS_OF, seen)}) as new order by at, shard, id"
        found = self._all(tuple, asked.replace("limit ?", f"limit {int(count):d}"))
        return [
            (shard, NumberedEvent._make(rest)._replace(message=f"shard {shard}: {rest[-1]}")) for shard, *rest in found
        ]

    def last_event(self) -> NumberedEvent | None:
        return self._first(NumberedEvent._make, LAST_EVENT)

    def topic_citations(self, latest: int) -> list[tuple[str, str, int]]:
        return self._all(tuple, _of_all(CITED_TOPICS), (latest,))

    def site_citations(self, latest: int) -> list[tuple[str, str, int]]:
        return self._all(tuple, _of_all(CITED_SITES), (latest,))

    def edges_among(self, pages: str, count: int) -> list[tuple[int, int]]:
        return self._all(tuple, _of_all(RELEVANT_EDGES), (pages, count))


def stop_cluster(url: str, *, path: Path, reason: str) -> None:
    """Whoever runs the cluster ends all shards in order."""
    store = ClusterStore(url, path=path)
    try:
        store.stop(reason)
    finally:
        store.close()
