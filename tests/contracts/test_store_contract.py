"""What every store must do. A new store joins by adding a line to STORES."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from lycosa.frontier.keys import FAVOURED, MOST_TRIES
from lycosa.model import Lease, Visit
from lycosa.store.protocol import Reports
from lycosa.store.rows import (
    LATER,
    AnswerRow,
    ArchivePlace,
    Batch,
    CheckRow,
    CitationCounts,
    CitingPage,
    DoubtfulPage,
    EngineCount,
    EventRow,
    HostRow,
    JudgementRow,
    LinkRow,
    LostSeed,
    OutcomeCount,
    OutcomeRow,
    PageRow,
    PageTexts,
    Progress,
    RobotsRow,
    RunRow,
    SearchAnswerRow,
    SearchFind,
    SearchResultRow,
    SearchRow,
    SeedPage,
    SiteRow,
    StateRow,
    StoredLink,
    StoredPage,
    TopicScores,
    Totals,
    UnvisitedLink,
)
from lycosa.store.sqlite import SqliteStore


def postgres_store(request: pytest.FixtureRequest, directory: Path) -> Reports:
    url = request.getfixturevalue("emptied_postgres")
    from lycosa.store.postgres import PostgresStore

    return PostgresStore(url, path=directory / "store.url")


STORES: dict[str, Callable[[pytest.FixtureRequest, Path], Reports]] = {
    "sqlite": lambda _, directory: SqliteStore(directory / "crawl.db"),
    "postgres": postgres_store,
}


@pytest.fixture(params=STORES)
def reopen(request, tmp_path):
    """Opens the store; when called again, closes it first and opens it as the next process would find it."""
    opened: list[Reports] = []

    def open_again() -> Reports:
        while opened:
            opened.pop().close()
        opened.append(STORES[request.param](request, tmp_path))
        return opened[-1]

    yield open_again
    for store in opened:
        store.close()


def host(number: int, name: str, **more: object) -> HostRow:
    return HostRow(number, name, "", 0.0, 0.0, 0, 0, 0, 0, 0, "")._replace(**more)


def link(number: int, url: str, **more: object) -> LinkRow:
    row = LinkRow(number, url, -number * 2**40, 1, "waiting", 0.5, 0, 0, 0, None, "", "", "")
    return row._replace(**more)


def page(link: int, **more: object) -> PageRow:
    return PageRow(link, link, 1, 0.0, "", "", "", 0, 0, 0, None, "", False, False, "", -1)._replace(**more)


def judgement(number: int, relevance: float) -> JudgementRow:
    return JudgementRow(number, "keywords", relevance, relevance >= 0.5, "{}", "{}", "Sport/Cycling")


def outcome(number: int, **more: object) -> OutcomeRow:
    row = OutcomeRow(number, 1, 0.0, "fetched", "http 200", "", 200, 0.1, 10, "192.0.2.1", False, "", -1)
    return row._replace(**more)


def begin(store: Reports, at: float = 0.0) -> int:
    return store.begin_run(started_at=at, pid=42, version="0.1", config="topic = 'x'")


def rows(store: Reports, sql: str) -> list[tuple[object, ...]]:
    return list(store.query(sql)[1])


def fill(store: Reports) -> None:
    """Two hosts; links 1 and 3 are seeds, 2 is the target of 1's redirect, 7 was never fetched.

    Pages were fetched in the order 3, 2, 5, 4, 6. Page 4 is not judged, page 6 duplicates 2.
    """
    begin(store)
    a, b = "http://a.test/", "http://b.test/"
    store.write(
        Batch(
            hosts={1: host(1, "a.test", pages=3, relevant=3), 2: host(2, "b.test", pages=2), 3: host(3, "c.test")},
            links=[
                link(1, a, state="done"),
                link(2, f"{a}2", state="done", redirects=1, parent_id=1),
                link(3, b, host_id=2, state="done"),
                link(4, f"{b}4", host_id=2, state="done", distance=1, parent_id=3),
                link(5, f"{a}5", state="done", distance=1, parent_id=2, anchor="five"),
                link(6, f"{a}6", state="done", distance=2, parent_id=5),
                link(7, "http://c.test/7", host_id=3, distance=1, parent_id=3),
            ],
            pages=[
                page(3, number=1, title="three", words=30, archive_file="1.warc", archive_offset=0),
                page(2, number=2, title="two", words=20, bytes=2000, archive_file="1.warc", archive_offset=50),
                page(5, number=3, title="five", is_noindex=True),
                page(4, number=4, title="four", fetched_at=4.5, language="en", charset="utf-8", canonical=b),
                page(6, number=5, title="six", duplicate_of=2, archive_file="2.warc", archive_offset=7),
            ],
            judgements=[judgement(3, 0.1), judgement(2, 0.9), judgement(5, 0.6), judgement(6, 0.9)],
            edges=[
                (2, 1, 7, "seven again", ""),
                (2, 0, 5, "five", "nofollow"),
                (3, 0, 7, "seven", ""),
                (3, 2, 4, "four", ""),
                (4, 0, 7, "7", ""),
                (5, 0, 7, "seventh", ""),
                (5, 3, 6, "six", ""),
                (5, 4, 7, "7 once more", ""),
            ],
            outcomes=[
                outcome(1, kind="redirected", reason="http 301", bytes=1),
                outcome(3, bytes=100),
                outcome(2, bytes=1000, from_cache=True, at=2.0),
                outcome(2, bytes=10_000, archive_file="1.warc", archive_offset=50),
            ],
        )
    )


class TestRuns:
    def test_a_new_store_is_empty(self, reopen):
        store = reopen()
        assert store.totals() == Totals(0, 0, 0, 0)
        assert not store.was_cut_off()
        assert [len(column) for column in (*store.waiting(), *store.hashes(), *store.fingerprints())] == [0] * 10
        assert list(store.hosts()) == []
        assert list(store.robots()) == []
        assert store.addresses() == {}
        assert store.state("strategy") is None
        assert store.recent_relevance(10) == []
        assert store.page_ids().tolist() == []
        assert store.count_links() == len(store.first_relevance(10)) == 0
        assert store.links_on(1).tolist() == []
        assert (store.last_fetches([1]), store.last_answer(1)) == ({}, None)
        assert (store.link(1), store.page(1), store.judgement(1), store.unvisited_links(1)) == (None, None, None, [])
        assert store.progress() == Progress(0, 0, 0, 0)
        assert (store.answers(), store.pages_with([1]), store.doubtful_pages(0.5, 10)) == ([], {}, [])
        assert (store.relevant_by_host(), store.waiting_seeds(), store.seed_pages()) == ({}, 0, [])
        assert store.lost_seeds() == []
        assert store.latest_texts(titles=10, anchors=10) == []
        assert [len(column) for column in (*store.pages_since(0), *store.judged_pages())] == [0] * 6
        assert list(store.citations()) == list(store.citations(0, 10)) == store.judges() == list(store.visits()) == []
        assert list(store.citing_visits(1, parent=1, upto=9)) == []
        assert (store.find_link("http://a.test/", 1), store.host(1), store.last_run()) == (None, None, None)
        assert list(store.outcomes()) == list(store.outcomes(1)) == store.outcome_counts(10) == []
        assert (store.citing_pages(1, 10), store.citation_counts(1)) == ([], CitationCounts(0, 0))
        assert (store.exclusions(10), store.hosts_set_aside(10), store.events(["focus"])) == ({}, {}, [])
        for iterator in (store.links, store.pages, store.links_on_pages, store.sites, store.archive_places):
            assert list(iterator()) == []
        assert list(store.topic_scores()) == list(store.searchable_pages()) == []
        assert store.searches() == store.search_answers() == store.found_by_search(1) == store.engine_counts() == []
        assert store.page_texts(5, is_relevant=True) == []
        assert store.first_run() is None

    def test_runs_are_numbered(self, reopen):
        store = reopen()
        assert [begin(store), begin(store)] == [1, 2]

    def test_a_run_that_did_not_end_was_cut_off(self, reopen):
        store = reopen()
        run = begin(store)
        assert reopen().was_cut_off()
        store = reopen()
        store.end_run(run, ended_at=5.0, stop_reason="enough")
        assert not reopen().was_cut_off()

    def test_only_the_last_run_counts(self, reopen):
        store = reopen()
        begin(store)
        store.end_run(begin(store), ended_at=5.0, stop_reason="enough")
        assert not store.was_cut_off()

    def test_a_run_says_how_it_went(self, reopen):
        store = reopen()
        store.end_run(begin(store, 3.0), ended_at=5.0, stop_reason="enough")
        assert reopen().last_run() == RunRow(1, 3.0, 5.0, 42, "0.1", "topic = 'x'", "enough")
        begin(reopen(), 7.0)
        assert reopen().last_run() == RunRow(2, 7.0, None, 42, "0.1", "topic = 'x'", None)


class TestLinks:
    def test_waiting_links_come_back_as_leases_in_the_order_asked(self, reopen):
        store = reopen()
        links = [link(1, "http://a.test/"), link(2, "http://a.test/ü?q=1", score=0.25, distance=3, redirects=2)]
        store.write(Batch(hosts={1: host(1, "a.test")}, links=links))
        assert reopen().leases([2, 1]) == [
            Lease(2, "http://a.test/ü?q=1", 1, 0.25, 3, 0, 2),
            Lease(1, "http://a.test/", 1, 0.5, 0, 0, 0),
        ]

    def test_columns_of_waiting_links_agree(self, reopen):
        store = reopen()
        store.write(
            Batch(
                hosts={1: host(1, "a.test"), 2: host(2, "b.test")},
                links=[
                    link(1, "http://a.test/1", score=0.1),
                    link(2, "http://a.test/2", state="excluded", score=0.2),
                    link(3, "http://b.test/3", host_id=2, score=-1.5),
                ],
            )
        )
        waiting = reopen().waiting()
        assert waiting.ids.tolist() == [1, 3]
        assert waiting.hosts.tolist() == [1, 2]
        assert waiting.scores.tolist() == [0.1, -1.5]
        assert (waiting.ids.dtype, waiting.hosts.dtype, waiting.scores.dtype) == (np.int64, np.int64, np.float64)

    def test_states_and_scores_change(self, reopen):
        store = reopen()
        store.write(Batch(hosts={1: host(1, "a.test")}, links=[link(1, "http://a.test/1"), link(2, "http://a.test/2")]))
        store.write(Batch(states=[StateRow("done", 1, "http 200", "", 1)], scores=[(0.75, 2)]))
        store = reopen()
        assert store.waiting().ids.tolist() == [2]
        assert store.leases([2])[0].score == 0.75
        row = store.link(1)
        assert (row.state, row.tries, row.reason) == ("done", 1, "http 200")

    def test_of_two_states_in_a_batch_the_last_one_holds(self, reopen):
        store = reopen()
        store.write(
            Batch(
                hosts={1: host(1, "a.test")},
                links=[link(1, "http://a.test/1")],
                states=[StateRow("waiting", 1, "http 503", "", 1), StateRow("dropped", 1, "buffer full", "", 1)],
            )
        )
        assert store.waiting().ids.tolist() == []

    def test_hashes_keep_all_64_bits(self, reopen):
        store = reopen()
        extremes = [-(2**63), 2**63 - 1, 0, -1]
        links = [link(at, f"http://a.test/{at}", hash=value) for at, value in enumerate(extremes, start=1)]
        store.write(Batch(hosts={1: host(1, "a.test")}, links=links))
        hashes, ids = reopen().hashes()
        assert dict(zip(ids.tolist(), hashes.tolist(), strict=True)) == dict(enumerate(extremes, start=1))
        hashes, ids = reopen().hashes(after=2)
        assert (hashes.tolist(), ids.tolist()) == ([0, -1], [3, 4])
        assert reopen().count_links() == 4

    def test_a_link_is_read_as_it_was_written(self, reopen):
        store = reopen()
        links = [link(1, "http://a.test/1"), LinkRow(2, "http://a.test/2", -7, 1, "failed", 0.5, 3, 2, 1, 1, *"xyz")]
        store.write(Batch(hosts={1: host(1, "a.test")}, links=links[1:]))
        store.write(Batch(links=links[:1]))
        store = reopen()
        assert [store.link(1), store.link(2), store.link(3)] == [*links, None]
        assert list(store.links()) == links

    def test_a_link_is_found_by_its_url(self, reopen):
        store = reopen()
        same = [link(1, "http://a.test/1", hash=7), link(2, "http://a.test/2", hash=7)]
        store.write(Batch(hosts={1: host(1, "a.test")}, links=same))
        store = reopen()
        assert [store.find_link(row.url, 7) for row in same] == same
        assert store.find_link("http://a.test/3", 7) is None
        assert store.find_link("http://a.test/' or 1=1 --", 7) is None

    def test_links_that_wait_once_they_are_found_again(self, reopen):
        store = reopen()
        rows = [
            ("waiting", "nofollow"),
            ("dropped", "buffer full"),
            ("excluded", "nofollow"),
            ("excluded", "robots"),
            ("excluded", "not worth following"),
            ("done", "not worth following"),
            ("dropped", ""),
        ]
        links = [link(n, f"http://a.test/{n}", state=state, reason=why) for n, (state, why) in enumerate(rows, start=1)]
        store.write(Batch(hosts={1: host(1, "a.test")}, links=links))
        assert reopen().waiting().dormant.tolist() == [2, 3, 5, 7]

    def test_links_that_have_become_pages(self, reopen):
        store = reopen()
        begin(store)
        rows = [("waiting", "revisit"), ("done", "http 200"), ("waiting", ""), ("waiting", "http 503")]
        links = [link(n, f"http://a.test/{n}", state=state, reason=why) for n, (state, why) in enumerate(rows, start=1)]
        store.write(Batch(hosts={1: host(1, "a.test")}, links=links, pages=[page(1), page(2), page(4)]))
        assert sorted(reopen().page_ids().tolist()) == [1, 2, 4]

    def test_links_that_come_before_all_others(self, reopen):
        store = reopen()
        rows = [("waiting", "revisit"), ("done", "revisit"), ("waiting", "cited by hubs"), ("waiting", "http 503")]
        links = [link(n, f"http://a.test/{n}", state=state, reason=why) for n, (state, why) in enumerate(rows, start=1)]
        store.write(Batch(hosts={1: host(1, "a.test")}, links=links))
        waiting = reopen().waiting()
        assert dict(zip(waiting.ids.tolist(), waiting.tiers.tolist(), strict=True)) == {1: FAVOURED, 3: FAVOURED, 4: 0}
        assert waiting.hosts.tolist() == [1, 1, 1]

    def test_links_that_failed(self, reopen):
        store = reopen()
        rows = [
            ("waiting", 0),
            ("waiting", 2),
            ("dropped", 1),
            ("failed", 3),
            ("dropped", 0),
            ("waiting", 1),
            ("done", 1),
            ("waiting", 1_000),
            ("dropped", 1_000),
        ]
        links = [
            link(n, f"http://a.test/{n}", state=state, tries=tries) for n, (state, tries) in enumerate(rows, start=1)
        ]
        store.write(Batch(hosts={1: host(1, "a.test")}, links=links))
        waiting = reopen().waiting()
        tiers = dict(zip(waiting.ids.tolist(), waiting.tiers.tolist(), strict=True))
        assert tiers == {1: 0, 2: 2, 6: 1, 8: MOST_TRIES}
        dormant = dict(zip(waiting.dormant.tolist(), waiting.dormant_tiers.tolist(), strict=True))
        assert dormant == {3: 1, 5: 0, 9: MOST_TRIES}

    def test_when_links_were_last_tried_and_where_the_answer_is(self, reopen):
        store = reopen()
        begin(store)
        found = [outcome(1, at=9.0), outcome(1, at=8.0, status=500), outcome(2, at=7.0, status=304)]
        found += [
            outcome(4, kind="listed", archive_file="a.warc.gz", archive_offset=offset, at=float(offset))
            for offset in (30, 40)
        ]
        links = [link(n, f"http://a.test/{n}") for n in (1, 2, 3, 4)]
        pages = [page(1, archive_file="a.warc.gz", archive_offset=10), page(2)]
        store.write(Batch(hosts={1: host(1, "a.test")}, links=links, outcomes=found, pages=pages))
        store = reopen()
        assert store.last_fetches([1, 2, 3]) == {1: 9.0, 2: 7.0}
        assert store.last_answer(1) == ArchivePlace(1, "a.warc.gz", 10)
        assert (store.last_answer(2), store.last_answer(3)) == (None, None)
        assert store.last_answer(4) == ArchivePlace(4, "a.warc.gz", 40)
        places = [("changed", 70), ("same", 80), ("gone", 90), ("unknown", 95)]  # the last two are no pages
        looks = [CheckRow(1, 1, 9.0, 20.0, change, 7, "a.warc.gz", offset) for change, offset in places]
        store.write(Batch(checks=[*looks, CheckRow(1, 1, 9.0, 30.0, "same", 7, "", -1)]))
        assert store.last_answer(1) == ArchivePlace(1, "a.warc.gz", 80)

    def test_reasons_of_excluded_links(self, reopen):
        store = reopen()
        reasons = ["robots", "nofollow", "host cap", "nofollow", "too far"]
        links = [link(n, f"http://a.test/{n}", state="excluded", reason=why) for n, why in enumerate(reasons, start=1)]
        links.append(link(9, "http://a.test/9", state="failed", reason="robots"))
        store.write(Batch(hosts={1: host(1, "a.test")}, links=links))
        store = reopen()
        assert list(store.exclusions(9).items()) == [("nofollow", 2), ("host cap", 1), ("robots", 1), ("too far", 1)]
        assert list(store.exclusions(2)) == ["nofollow", "host cap"]

    def test_unvisited_links_of_a_page(self, reopen):
        store = reopen()
        begin(store)
        links = [
            link(1, "http://a.test/1", state="done"),
            link(2, "http://b.test/2", host_id=2),
            link(3, "http://b.test/3", host_id=2, tries=1),
            link(4, "http://a.test/4"),
            link(5, "http://a.test/5", state="excluded"),
        ]
        edges = [(1, 4, 4, "", ""), (1, 3, 3, "", ""), (1, 2, 2, "", ""), (1, 1, 4, "", ""), (1, 0, 5, "", "")]
        hosts = {1: host(1, "a.test"), 2: host(2, "b.test")}
        store.write(Batch(hosts=hosts, links=links, pages=[page(1), page(5)], edges=[*edges, (5, 0, 4, "", "")]))
        here, there = UnvisitedLink(4, "http://a.test/4", "a.test"), UnvisitedLink(2, "http://b.test/2", "b.test")
        store = reopen()
        assert store.unvisited_links(1) == [here, there, here]
        store.write(Batch(pages=[page(4)]))  # it waits to be fetched again
        assert reopen().unvisited_links(1) == [there]


class TestHosts:
    def test_a_host_comes_back_as_it_was_last_written(self, reopen):
        store = reopen()
        store.write(Batch(hosts={1: host(1, "a.test"), 2: host(2, "b.test")}))
        changed = HostRow(2, "b.test", "192.0.2.7", 12.5, 3.0, 1, 20, 4, 2, 99, "too slow")
        store.write(Batch(hosts={2: changed}))
        store = reopen()
        assert sorted(store.hosts()) == [host(1, "a.test"), changed]
        assert (store.host(2), store.host(3)) == (changed, None)

    def test_hosts_set_aside(self, reopen):
        store = reopen()
        why = {"c.test": "slow", "a.test": "", "d.test": "down", "b.test": "rude"}
        hosts = {n: host(n, name, set_aside=text) for n, (name, text) in enumerate(why.items(), start=1)}
        store.write(Batch(hosts=hosts))
        store = reopen()
        assert list(store.hosts_set_aside(9).items()) == [("b.test", "rude"), ("c.test", "slow"), ("d.test", "down")]
        assert list(store.hosts_set_aside(1)) == ["b.test"]

    def test_addresses(self, reopen):
        store = reopen()
        store.write(Batch(addresses={"192.0.2.1": 5.5, "2001:db8::1": 6.0}))
        store.write(Batch(addresses={"192.0.2.1": 7.5}))
        assert reopen().addresses() == {"192.0.2.1": 7.5, "2001:db8::1": 6.0}

    def test_robots(self, reopen):
        store = reopen()
        first = RobotsRow("https://a.test", "rules", 200, "", 0, "User-agent: *\n", 1.0, 2.0, "{}")
        store.write(Batch(robots={first.origin: first}))
        again = first._replace(state="disallow-all", status=503, failures=1)
        store.write(Batch(robots={first.origin: again}))
        assert list(reopen().robots()) == [again]


class TestPages:
    def fill(self, store: Reports) -> None:
        begin(store)
        numbers = range(1, 5)
        relevance = [0.9, 0.2, 0.5, 0.0]
        store.write(
            Batch(
                hosts={
                    1: host(1, "a.test", pages=3, relevant=1, links=3),
                    2: host(2, "b.test", pages=1, relevant=1, links=1),
                    3: host(3, "c.test", failed=2),
                },
                links=[link(n, f"http://a.test/{n}", state="done") for n in numbers],
                pages=[page(n, title=f"page {n}", fetched_at=float(n), fingerprint=7 * n) for n in numbers],
                judgements=[judgement(n, value) for n, value in zip(numbers, relevance, strict=True)],
                outcomes=[outcome(n) for n in numbers],
                edges=[(1, 0, 2, "two", "")],
                repeated_edges=[(1, 1, 3, "three", "nofollow", "drei\nthe third")],
                events=[(1, 2.0, "note", "something happened")],
            )
        )

    def test_visits_are_told_again_in_order(self, reopen):
        self.fill(reopen())
        told = list(reopen().visits())
        assert [visit.lease.id for visit, _ in told] == [1, 2, 3, 4]
        first, targets = told[0]
        assert first.page.title == "page 1"
        assert [(link.url, link.anchor, link.rel, link.position) for link in first.page.links] == [
            ("http://a.test/2", "two", "", 0),
            ("http://a.test/3", "three", "nofollow", 1),
        ]
        assert [link.other_anchors for link in first.page.links] == [(), ("drei", "the third")]
        assert targets.tolist() == [2, 3]
        assert (first.judgement.relevance, first.judgement.is_relevant) == (0.9, True)
        assert first.judgement.best == "Sport/Cycling"
        assert not len(told[3][1])

    def test_visits_after_a_page(self, reopen):
        self.fill(reopen())
        assert [visit.lease.id for visit, _ in reopen().visits(2)] == [3, 4]
        assert list(reopen().visits(4)) == []

    def test_visits_to_pages_that_cite_a_link(self, reopen):
        self.fill(reopen())
        reopen().write(Batch(edges=[(3, 0, 2, "", ""), (4, 0, 2, "", ""), (4, 1, 2, "", "")]))

        def citing(link: int, parent: int | None, upto: int) -> list[tuple[int, list[int]]]:
            found = reopen().citing_visits(link, parent=parent, upto=upto)
            return [(visit.lease.id, targets.tolist()) for visit, targets in found]

        assert citing(2, None, 4) == [(1, [2, 3]), (3, [2]), (4, [2, 2])]
        assert citing(2, 2, 3) == [(1, [2, 3]), (2, []), (3, [2])]
        assert citing(9, None, 4) == []

    def test_what_the_judge_says_of_the_first_pages(self, reopen):
        store = reopen()
        self.fill(store)
        store.write(Batch(links=[link(5, "http://a.test/5", state="done")], pages=[page(5)]))  # not judged
        store.write(Batch(answers=[(1.0, "http://a.test/2", 2, "relevant")]))
        assert reopen().judgement(2).relevance == 1.0
        assert reopen().first_relevance(3).tolist() == [0.9, 0.2, 0.5]
        assert np.isnan(reopen().first_relevance(9)).tolist() == [False] * 4 + [True]

    def test_counts_for_the_stop_rules(self, reopen):
        self.fill(reopen())
        progress = reopen().progress()
        assert (progress.pages, progress.relevant, progress.since_relevant) == (4, 2, 1)

    def test_totals(self, reopen):
        store = reopen()
        self.fill(store)
        assert reopen().totals() == Totals(links=4, pages=4, relevant=2, waiting=0)

    def test_pages_are_judged_again_and_hosts_counted(self, reopen):
        store = reopen()
        begin(store)
        hosts = {
            1: host(1, "a.test", pages=2, relevant=2),
            2: host(2, "b.test", pages=1),
            3: host(3, "c.test", relevant=1),
        }
        links = [link(n, f"http://h.test/{n}", host_id=1 + n // 3, state="done") for n in (1, 2, 3)]
        judged = [judgement(1, 0.9), judgement(2, 0.8), judgement(3, 0.1)]
        # Pages came in another order than their links.
        pages = [page(place)._replace(number=number) for place, number in ((1, 3), (2, 1), (3, 2))]
        store.write(Batch(hosts=hosts, links=links, pages=pages, judgements=judged))
        store.write(Batch(grades=[(0.25, False, 1), (0.75, True, 2), (0.9, True, 3)], recounts_hosts=True))
        store = reopen()
        assert [store.judgement(n)[2:4] for n in (1, 2, 3)] == [(0.9, True), (0.25, False), (0.75, True)]
        assert store.judgement(2).best == "Sport/Cycling"
        assert [(row.name, row.pages, row.relevant) for row in store.hosts()] == [
            ("a.test", 2, 1),
            ("b.test", 1, 1),
            ("c.test", 0, 0),
        ]

    def test_recent_relevance_is_oldest_first(self, reopen):
        store = reopen()
        self.fill(store)
        assert store.recent_relevance(3) == [(0.2, False), (0.5, True), (0.0, False)]
        assert len(store.recent_relevance(100)) == 4

    def test_fingerprints_are_those_of_originals_with_text(self, reopen):
        store = reopen()
        self.fill(store)
        store.write(
            Batch(
                links=[link(5, "http://a.test/5"), link(6, "http://a.test/6")],
                pages=[page(5, fingerprint=7, duplicate_of=1), page(6, fingerprint=0)],
            )
        )
        prints, ids = reopen().fingerprints()
        assert (prints.tolist(), ids.tolist()) == ([7, 14, 21, 28], [1, 2, 3, 4])

    def test_the_harvest_view(self, reopen):
        store = reopen()
        self.fill(store)
        assert rows(store, "select number, relevance, is_relevant, harvest_rate, harvest_rate_1000 from harvest") == [
            (1, 0.9, 1, 1.0, 1.0),
            (2, 0.2, 0, 0.5, 0.5),
            (3, 0.5, 1, pytest.approx(2 / 3), pytest.approx(2 / 3)),
            (4, 0.0, 0, 0.5, 0.5),
        ]

    def test_the_harvest_rate_forgets_after_a_thousand_pages(self, reopen):
        store = reopen()
        begin(store)
        numbers = range(1, 1502)
        store.write(
            Batch(
                hosts={1: host(1, "a.test")},
                links=[link(n, f"http://a.test/{n}", state="done") for n in numbers],
                pages=[page(n) for n in numbers],
                judgements=[judgement(n, 1.0 if n <= 501 else 0.0) for n in numbers],
            )
        )
        ((overall, latest),) = rows(
            store, "select harvest_rate, harvest_rate_1000 from harvest order by number desc limit 1"
        )
        assert overall == pytest.approx(501 / 1501)
        assert latest == 0.0

    def test_sites_are_hosts_with_a_fetched_page(self, reopen):
        store = reopen()
        self.fill(store)
        more = {4: host(4, "e.test", pages=2), 5: host(5, "d.test", pages=1, set_aside="slow")}
        store.write(Batch(hosts=more))
        store = reopen()
        assert list(store.sites()) == [
            SiteRow("b.test", 1, 1, 0, 1, "", 1.0),
            SiteRow("a.test", 3, 1, 0, 3, "", pytest.approx(1 / 3)),
            SiteRow("d.test", 1, 0, 0, 0, "slow", 0.0),
            SiteRow("e.test", 2, 0, 0, 0, "", 0.0),
        ]
        view = rows(store, "select name, pages, relevant, failed, links, set_aside, density from sites")
        assert view == list(store.sites())

    def test_the_view_of_relevant_pages(self, reopen):
        store = reopen()
        self.fill(store)
        assert rows(store, "select url, title, relevance, number from relevant_pages") == [
            ("http://a.test/1", "page 1", 0.9, 1),
            ("http://a.test/3", "page 3", 0.5, 3),
        ]
        found = [(page.url, page.title, page.relevance, page.number) for page in store.relevant_pages()]
        assert sorted(store.relevant_numbers().tolist()) == [page.number for page in store.relevant_pages()]
        assert found == rows(store, "select url, title, relevance, number from relevant_pages order by number")

    def test_a_link_at_the_same_place_replaces_the_one_that_was_there(self, reopen):
        store = reopen()
        fill(store)
        store.write(Batch(repeated_edges=[(2, 0, 5, "five", "nofollow", "cinq")]))
        assert rows(store, "select anchor, other_anchors from links where source_id = 2 order by position")[0] == (
            "five",
            "cinq",
        )
        store.write(Batch(edges=[(2, 0, 6, "first", ""), (2, 0, 4, "four", ""), (2, 9, 6, "six", "")]))
        assert reopen().links_on(2).tolist() == [[0, 4], [1, 7], [9, 6]]
        assert rows(reopen(), "select anchor, other_anchors from links where source_id = 2 order by position") == [
            ("four", ""),
            ("seven again", ""),
            ("six", ""),
        ]

    def test_links_of_a_page_that_was_fetched_again(self, reopen):
        store = reopen()
        self.fill(store)
        before = store.links_on(1).tolist()
        store.write(Batch(edges=[(1, LATER, 4, "four", "")]))
        store = reopen()
        assert store.links_on(1).tolist() == [*before, [LATER, 4]]
        assert StoredLink("http://a.test/1", "http://a.test/4", LATER, "four", "") in list(store.links_on_pages())
        told = {visit.lease.id: targets.tolist() for visit, targets in store.visits()}
        assert told[1] == [target for _, target in before]

    def test_events(self, reopen):
        store = reopen()
        self.fill(store)
        store.write(Batch(events=[(1, 4.0, "focus", "wider"), (1, 3.0, "judge", "it's new")]))
        store = reopen()
        events = [EventRow(1, 4.0, "focus", "wider"), EventRow(1, 3.0, "judge", "it's new")]
        assert store.events({"judge", "focus", "advice"}) == events
        assert store.events(["note"]) == [EventRow(1, 2.0, "note", "something happened")]
        assert store.events([]) == []

    def test_a_query_names_its_columns_and_takes_parameters(self, reopen):
        store = reopen()
        self.fill(store)
        names, found = store.query("select url, state from frontier where id = ?", (2,))
        assert (names, list(found)) == (["url", "state"], [("http://a.test/2", "done")])


class TestOnePage:
    def test_a_page_is_read_as_it_was_written(self, reopen):
        store = reopen()
        begin(store)
        prints = -(2**63)
        written = PageRow(
            2, 1, 1, 4.5, "Title", "en", "utf-8", 99, 20, prints, 1, "http://x/", True, False, "1.warc", 7
        )
        links = [link(1, "http://a.test/1"), link(2, "http://a.test/2")]
        store.write(Batch(hosts={1: host(1, "a.test")}, links=links, pages=[written]))
        store = reopen()
        found = store.page(2)
        assert (found, store.page(1)) == (written, None)
        assert (found.is_noindex, found.is_nofollow) == (True, False)
        assert isinstance(found.is_noindex, bool)

    def test_one_of_several_judges(self, reopen):
        store = reopen()
        fill(store)
        written = JudgementRow(2, "bayes", 0.25, False, '{"a": 1}', '{"b": 2}', "News")
        store.write(Batch(judgements=[JudgementRow(2, "svm", 0.7, True, "{}", "{}", ""), written]))
        store = reopen()
        assert store.judgement(2) == store.judgement(2, "bayes") == written
        assert store.judgement(2, "svm").relevance == 0.7
        assert store.judgement(2, "svm").is_relevant is True
        assert (store.judgement(4), store.judgement(3, "svm")) == (None, None)
        assert store.judges() == ["bayes", "keywords", "svm"]

    def test_attempts_at_a_link(self, reopen):
        store = reopen()
        fill(store)
        store = reopen()
        first, second = store.outcomes(2)
        assert first == outcome(2, bytes=1000, from_cache=True, at=2.0)
        assert (first.from_cache, second.from_cache, second.archive_offset) == (True, False, 50)
        assert isinstance(second.from_cache, bool)
        assert [row.link_id for row in store.outcomes()] == [1, 3, 2, 2]
        assert list(store.outcomes(7)) == []

    def test_pages_that_link_to_a_page(self, reopen):
        store = reopen()
        fill(store)
        store = reopen()
        everyone = [
            CitingPage("http://a.test/2", "seven again", 0.9),
            CitingPage("http://a.test/5", "seventh", 0.6),
            CitingPage("http://a.test/5", "7 once more", 0.6),
            CitingPage("http://b.test/", "seven", 0.1),
            CitingPage("http://b.test/4", "7", None),
        ]
        assert store.citing_pages(7, 9) == everyone
        assert store.citing_pages(7, 3) == everyone[:3]
        assert store.citation_counts(7) == CitationCounts(pages=4, relevant=2)
        assert store.citation_counts(1) == CitationCounts(0, 0)
        assert (store.has_link(2, 7), store.has_link(7, 2), store.has_link(2, 99)) == (True, False, False)


class TestFigures:
    def test_progress(self, reopen):
        store = reopen()
        fill(store)
        totals, progress = reopen().totals(), reopen().progress()
        assert (progress.since_relevant, progress.downloaded) == (0, 10_101)
        assert (progress.pages, progress.relevant) == (totals.pages, totals.relevant)
        store = reopen()
        store.write(Batch(grades=[(0.9, True, 1), (0.0, False, 3), (0.0, False, 5)]))
        assert store.progress().since_relevant == 3
        store.write(Batch(threshold=1.0))
        assert store.progress().since_relevant == 5

    def test_relevant_pages_by_host(self, reopen):
        fill(reopen())
        assert reopen().relevant_by_host() == {1: 3, 2: 0}

    def test_seeds(self, reopen):
        store = reopen()
        fill(store)
        store.write(
            Batch(
                links=[
                    link(8, "http://a.test/8"),
                    link(9, "http://a.test/9", distance=1),
                    link(10, "http://a.test/10"),
                ],
                states=[StateRow("done", 1, "http 200", "", 10)],
                pages=[page(10, number=6, words=3)],
            )
        )
        store = reopen()
        assert store.waiting_seeds() == 1
        seeds = store.seed_pages()
        assert seeds == [
            SeedPage("http://b.test/", 1, 30, 0.1, False),
            SeedPage("http://a.test/2", 2, 20, 0.9, True),
            SeedPage("http://a.test/10", 6, 3, None, False),
        ]
        assert all(isinstance(seed.is_relevant, bool) for seed in seeds)

    def test_lost_seeds(self, reopen):
        store = reopen()
        fill(store)
        store.write(
            Batch(
                hosts={3: host(3, "c.test", ready_at=9.0, set_aside="too slow")},
                links=[
                    link(8, "http://c.test/8", host_id=3, tries=1, reason="dns"),
                    link(9, "http://a.test/9", distance=1),
                    link(10, "http://a.test/10", state="failed", reason="http 404"),
                ],
            )
        )
        first, second = reopen().lost_seeds()
        assert first == LostSeed(8, "http://c.test/8", 3, "waiting", 1, "dns", "", 9.0, "too slow")
        assert (second.id, second.state, second.reason) == (10, "failed", "http 404")

    def test_the_latest_titles_and_anchors(self, reopen):
        fill(reopen())
        store = reopen()
        assert store.latest_texts(titles=2, anchors=4) == ["six", "four", "7 once more", "six", "seventh", "7"]
        assert store.latest_texts(titles=1, anchors=0) == ["six"]
        assert len(store.latest_texts(titles=99, anchors=99)) == 5 + 8

    def test_the_most_frequent_outcomes(self, reopen):
        store = reopen()
        fill(store)
        store.write(Batch(outcomes=[outcome(7, kind="http-error", reason="http 301")]))
        store = reopen()
        assert store.outcome_counts(9) == [
            OutcomeCount("fetched", "http 200", 3),
            OutcomeCount("http-error", "http 301", 1),
            OutcomeCount("redirected", "http 301", 1),
        ]
        assert len(store.outcome_counts(2)) == 2


class TestGraph:
    def test_new_pages(self, reopen):
        fill(reopen())
        store = reopen()
        numbers, ids, hosts = store.pages_since(0)
        found = sorted(zip(numbers.tolist(), ids.tolist(), hosts.tolist(), strict=True))
        assert found == [(1, 3, 2), (2, 2, 1), (3, 5, 1), (4, 4, 2), (5, 6, 1)]
        assert sorted(store.pages_since(3).ids.tolist()) == [4, 6]
        assert [len(column) for column in store.pages_since(5)] == [0, 0, 0]
        assert {column.dtype for column in store.pages_since(5)} == {np.dtype(np.int64)}

    def test_citations(self, reopen):
        fill(reopen())
        store = reopen()

        def pairs(*span: int) -> list[list[int]]:
            return sorted(row for chunk in store.citations(*span) for row in chunk.tolist())

        assert pairs() == [[2, 5], [2, 7], [3, 4], [3, 7], [4, 7], [5, 6], [5, 7], [5, 7]]
        assert pairs(2, 4) == [[4, 7], [5, 6], [5, 7], [5, 7]]
        assert pairs(0, 1) == [[3, 4], [3, 7]]
        assert pairs(5, 9) == []

    def test_more_citations_than_fit_into_a_chunk(self, reopen):
        store = reopen()
        fill(store)
        store.write(Batch(edges=[(6, n, 1 + n % 2, "", "") for n in range(70_000)]))
        chunks = list(reopen().citations())
        assert {chunk.dtype for chunk in chunks} == {np.dtype(np.int64)}
        assert len(chunks) > 1
        everything = np.concatenate(chunks)
        everything = everything[everything[:, 0] == 6]
        assert everything.shape == (70_000, 2)
        assert np.bincount(everything[:, 1]).tolist() == [0, 35_000, 35_000]

    def test_judged_pages(self, reopen):
        store = reopen()
        fill(store)
        store.write(Batch(judgements=[JudgementRow(3, "svm", 1.0, True, "{}", "{}", "")]))
        store = reopen()
        judged = store.judged_pages("keywords")
        assert judged.ids.tolist() == [2, 3, 5, 6]
        assert judged.relevance.tolist() == [0.9, 0.1, 0.6, 0.9]
        assert judged.is_relevant.tolist() == [True, False, True, True]
        assert [column.dtype for column in judged] == [np.int64, np.float64, np.bool_]
        assert store.judged_pages().ids.tolist() == [2, 3, 3, 5, 6]
        assert store.judged_pages("svm").relevance.tolist() == [1.0]


class TestAnswers:
    """Page 3 was given 0.1 by the judge, pages 2 and 6 0.9, page 5 0.6."""

    def say(self, store: Reports, page: int | None, answer: str, url: str = "") -> None:
        store.write(Batch(answers=[(1.5, url or f"http://a.test/{page}", page, answer)], recounts_hosts=True))

    def relevance(self, store: Reports, page: int) -> tuple[float, bool]:
        row = store.judgement(page)
        return row.relevance, row.is_relevant

    def test_they_come_back_in_order(self, reopen):
        store = reopen()
        fill(store)
        self.say(store, 3, "relevant", "http://b.test/")
        self.say(store, None, "irrelevant", "http://c.test/7")
        self.say(store, 5, "skipped")
        store = reopen()
        first, second, third = store.answers()
        assert first == AnswerRow(1, 1.5, "http://b.test/", 3, "relevant", None, 0.1, False)
        assert second == AnswerRow(2, 1.5, "http://c.test/7", None, "irrelevant", None, None, False)
        assert [row.is_relevant for row in (first, second, third)] == [True, False, None]
        assert store.answers(after=2) == [third]

    def test_an_answer_decides_the_relevance(self, reopen):
        store = reopen()
        fill(store)
        self.say(store, 3, "relevant")
        self.say(store, 2, "irrelevant")
        store = reopen()
        assert self.relevance(store, 3) == (1.0, True)
        assert self.relevance(store, 2) == (0.0, False)
        assert store.relevant_by_host() == {1: 2, 2: 1}
        assert rows(store, "select name, relevant from hosts where pages > 0 order by 1") == [
            ("a.test", 2),
            ("b.test", 1),
        ]

    @pytest.mark.parametrize(
        "again",
        [
            Batch(grades=[(0.7, True, 2), (0.2, False, 1)]),
            Batch(judgements=[judgement(2, 0.7), judgement(3, 0.2)]),
            Batch(threshold=0.05),
        ],
        ids=["grades", "judgements", "threshold"],
    )
    def test_no_judge_overrules_it(self, reopen, again):
        store = reopen()
        fill(store)
        self.say(store, 3, "relevant")
        self.say(store, 2, "irrelevant")
        reopen().write(again)
        store = reopen()
        assert self.relevance(store, 3) == (1.0, True)
        assert self.relevance(store, 2) == (0.0, False)

    def test_the_last_one_counts(self, reopen):
        store = reopen()
        fill(store)
        for answer, expected in [("relevant", 1.0), ("irrelevant", 0.0), ("relevant", 1.0)]:
            self.say(store, 3, answer)
            assert self.relevance(store, 3) == (expected, bool(expected))

    def test_what_is_taken_back_is_judged_as_if_it_had_never_been_said(self, reopen):
        store = reopen()
        fill(store)
        self.say(store, 3, "relevant")
        self.say(store, 2, "irrelevant")
        self.say(store, 3, "withdrawn")
        assert self.relevance(store, 3) == (0.1, False)
        store.write(Batch(grades=[(0.7, True, 2)]))
        self.say(store, 2, "withdrawn")
        store = reopen()
        assert self.relevance(store, 2) == (0.7, True)
        assert [row.own_relevance for row in store.answers()] == [None] * 4

    def test_what_was_said_before_is_kept_where_it_made_a_difference(self, reopen):
        """Pages 3, 2 and 5 have numbers 1, 2 and 3; there are five."""
        store = reopen()
        fill(store)
        earlier = "select page_id, until_pages, relevance, is_relevant from earlier_judgements order by 1, 2"
        self.say(store, 3, "relevant")
        assert rows(store, earlier) == []  # a person said it, the judge has not changed its mind
        store.write(Batch(grades=[(0.3, False, 1), (0.85, True, 2), (0.55, True, 3)]))
        assert rows(store, earlier) == [(3, 5, 0.1, False)]  # others moved by less than 0.1
        store.write(Batch(judgements=[judgement(2, 0.86), judgement(5, 0.49), judgement(6, 0.1)]))
        kept = [(3, 5, 0.1, False), (5, 5, 0.55, True), (6, 5, 0.9, True)]  # page 5 changed sides
        assert rows(reopen(), earlier) == kept

    def test_the_threshold_holds_for_what_the_judge_says(self, reopen):
        store = reopen()
        fill(store)
        self.say(store, 5, "irrelevant")
        store.write(Batch(threshold=0.7))
        self.say(store, 5, "withdrawn")
        assert self.relevance(reopen(), 5) == (0.6, False)

    def test_a_guide_is_told_until_a_person_answers(self, reopen):
        store = reopen()
        fill(store)
        guided = judgement(3, 0.0)._replace(guide_relevance=0.8, guide_is_relevant=True)
        store.write(Batch(judgements=[guided]))
        store = reopen()
        assert store.judgement(3) == guided

        def told() -> Visit:
            return {visit.lease.id: visit for visit, _ in store.visits()}[3]

        assert (told().judgement.relevance, told().judgement.is_relevant) == (0.0, False)
        assert (told().guiding.judgement.relevance, told().guiding.judgement.is_relevant) == (0.8, True)
        store.write(Batch(threshold=0.9))
        assert told().judgement.guide == (0.8, False)
        self.say(store, 3, "relevant", "http://b.test/")
        assert told().guiding.judgement.relevance == 1.0
        (row,) = store.answers()
        assert (row.own_relevance, row.guide_relevance, row.guide_is_relevant) == (0.0, 0.8, False)
        self.say(store, 3, "withdrawn", "http://b.test/")
        assert told().judgement.guide == (0.8, False)

    def test_a_page_that_comes_later(self, reopen):
        store = reopen()
        fill(store)
        self.say(store, None, "relevant", "http://b.test/4")
        store.write(Batch(judgements=[judgement(4, 0.2)]))
        assert self.relevance(store, 4) == (0.2, False)
        store.write(Batch(taken_over=[(4, 5, 1)]))
        store = reopen()
        assert self.relevance(store, 4) == (1.0, True)
        assert [(row.page_id, row.after_pages) for row in store.answers()] == [(4, 5)]

    def test_the_view(self, reopen):
        store = reopen()
        fill(store)
        self.say(store, 3, "relevant", "http://b.test/")
        self.say(store, 5, "relevant")
        self.say(store, 5, "withdrawn")
        self.say(store, None, "irrelevant", "http://d.test/")
        assert rows(reopen(), "select * from answered_pages") == [
            ("http://b.test/", "three", "relevant", 1.5, 0.1, 1),
            ("http://d.test/", None, "irrelevant", 1.5, None, None),
        ]

    def test_pages_by_the_hashes_of_their_urls(self, reopen):
        fill(reopen())
        hashes = [-number * 2**40 for number in (3, 5, 7, 99)]
        assert reopen().pages_with(hashes) == {"http://b.test/": 3, "http://a.test/5": 5}


class TestDoubtfulPages:
    def fill(self, store: Reports) -> None:
        """Pages 11 to 15 with relevance .05, .4, .55, .7 and 1; 20 and 21 wait, 22 was dropped."""
        begin(store)
        store.write(
            Batch(
                hosts={1: host(1, "a.test")},
                links=[
                    *(link(n, f"http://a.test/{n}", state="done", distance=int(n > 11)) for n in range(11, 18)),
                    link(20, "http://a.test/20"),
                    link(21, "http://a.test/21"),
                    link(22, "http://a.test/22", state="dropped"),
                ],
                pages=[
                    *(page(n, number=n - 10, title=f"t{n}", words=9, fingerprint=n) for n in range(11, 16)),
                    page(16, number=6, words=9, duplicate_of=12),
                    page(17, number=7, words=0),
                ],
                judgements=[
                    judgement(n, relevance)
                    for n, relevance in zip(range(11, 18), (0.05, 0.4, 0.55, 0.7, 1, 0.5, 0.5), strict=True)
                ],
                edges=[(13, 0, 20, "", ""), (13, 1, 21, "", ""), (13, 2, 20, "", ""), (13, 3, 22, "", "")],
                notes=[(13, b"note")],
            )
        )

    def ids(self, store: Reports, threshold: float = 0.5, count: int = 4, which: str = "open") -> list[int]:
        return [row.id for row in store.doubtful_pages(threshold, count, which)]

    def test_those_near_the_threshold_and_the_first_seeds(self, reopen):
        self.fill(reopen())
        store = reopen()
        assert self.ids(store) == [11, 12, 13]  # 16 duplicates 12, 17 has no text: they count, and are left out
        assert self.ids(store, 0.8, 1) == [11, 14]
        assert self.ids(store, 0.5, 9) == [11, 12, 13, 14, 15]

    def test_what_is_known_of_them(self, reopen):
        self.fill(reopen())
        found = {row.id: row for row in reopen().doubtful_pages(0.5, 4)}
        assert found[13] == DoubtfulPage(13, 3, "http://a.test/13", "a.test", "t13", 0.55, 13, 1, 2, b"note")
        assert (found[12].waiting, found[12].note) == (0, b"")

    def test_none_is_asked_about_twice(self, reopen):
        store = reopen()
        self.fill(store)
        said = [(12, "relevant"), (13, "skipped"), (14, "irrelevant"), (15, "relevant"), (15, "withdrawn")]
        store.write(Batch(answers=[(0.0, f"http://a.test/{n}", n, answer) for n, answer in said]))
        store = reopen()
        assert self.ids(store, 0.5, 9) == [11, 15]
        assert self.ids(store, 0.5, 9, "skipped") == [13]
        assert self.ids(store, 0.5, 9, "asked") == [12, 13, 14]


class TestReports:
    def test_pages_with_their_judgements(self, reopen):
        fill(reopen())
        pages = list(reopen().pages())
        assert [(row.number, row.url, row.relevance, row.is_relevant, row.distance) for row in pages] == [
            (1, "http://b.test/", 0.1, False, 0),
            (2, "http://a.test/2", 0.9, True, 0),
            (3, "http://a.test/5", 0.6, True, 1),
            (4, "http://b.test/4", None, None, 1),
            (5, "http://a.test/6", 0.9, True, 2),
        ]
        assert [row.is_noindex for row in pages] == [False, False, True, False, False]
        assert all(isinstance(row.is_noindex, bool) for row in pages)
        assert isinstance(pages[0].is_relevant, bool)
        assert [row.duplicate_of for row in pages] == [None, None, None, None, "http://a.test/2"]
        link_four = ("http://b.test/4", "four", None, None, 4, 4.5, "en", "utf-8", 0, 0, 1, None, "http://b.test/")
        assert pages[3] == StoredPage(*link_four, False, None, "", -1)
        assert (pages[1].bytes, pages[1].words, pages[1].archive_file, pages[1].archive_offset) == (
            2000,
            20,
            "1.warc",
            50,
        )

    def test_links_on_pages(self, reopen):
        fill(reopen())
        links = list(reopen().links_on_pages())
        assert links[0] == StoredLink("http://a.test/2", "http://a.test/5", 0, "five", "nofollow")
        assert [row.anchor for row in links] == [
            "five",
            "seven again",
            "seven",
            "four",
            "7",
            "seventh",
            "six",
            "7 once more",
        ]

    def test_archived_pages(self, reopen):
        fill(reopen())
        places = [ArchivePlace(3, "1.warc", 0), ArchivePlace(2, "1.warc", 50), ArchivePlace(6, "2.warc", 7)]
        assert list(reopen().archive_places()) == places

    def test_pages_for_the_full_text_index(self, reopen):
        fill(reopen())
        found = list(reopen().searchable_pages())
        assert [page.number for page in found] == sorted(page.number for page in found)
        pages = {page.id: page for page in found}
        assert (pages[3].file, pages[3].offset) == ("1.warc", 0)
        stored = {page.number: page for page in reopen().pages()}
        for page in found:
            row = stored[page.number]
            assert (page.url, page.title, page.is_duplicate) == (row.url, row.title, row.duplicate_of is not None)
        assert [page.number for page in reopen().searchable_pages(2)] == [
            page.number for page in found if page.number > 2
        ]

    def test_the_first_run(self, reopen):
        store = reopen()
        assert store.first_run() is None
        begin(store)
        begin(store)
        first = reopen().first_run()
        assert first is not None
        assert first.id == 1

    def test_scores_by_topic_and_links_on_relevant_pages(self, reopen):
        store = reopen()
        fill(store)
        scored = JudgementRow(4, "keywords", 0.2, False, '{"News": 0.2}', "{}", "")
        store.write(Batch(judgements=[scored], edges=[(5, 5, 6, "", "")]))
        assert list(reopen().topic_scores()) == [
            TopicScores("{}", 0),
            TopicScores("{}", 0),
            TopicScores('{"News": 0.2}', 0),
            TopicScores("{}", 1),
            TopicScores("{}", 2),
        ]

    def test_an_iterator_goes_on_while_the_store_is_written(self, reopen):
        store = reopen()
        fill(store)
        seen = []
        for place in store.archive_places():
            seen.append(place.page_id)
            store.write(Batch(judgements=[judgement(place.page_id, 0.0)]))
        assert seen == [3, 2, 6]
        assert not store.judged_pages().is_relevant[[0, 1, 3]].any()


class TestSearches:
    SEARCHES = (SearchRow(1, 1, 10.0, 0, "start", "sailing"), SearchRow(2, 1, 20.0, 100, "every", "sailing gotland"))
    ANSWERS = (
        SearchAnswerRow(1, "brave", "answered", "", True, 0.5, 2, 12.0),
        SearchAnswerRow(1, "searxng", "nothing found", "", True, 0.5, 0, 12.0),
        SearchAnswerRow(2, "brave", "quota", "http 429", True, 0.1, 0, 99.0),
        SearchAnswerRow(2, "searxng", "resting", "", False, 0.0, 0, 12.0),
    )

    def filled(self, reopen) -> Reports:
        store = reopen()
        fill(store)
        results = [
            SearchResultRow(5, 1, "brave", 1), SearchResultRow(7, 1, "brave", 2), SearchResultRow(3, 2, "searxng", 4),
            SearchResultRow(5, 2, "searxng", 3),
        ]  # fmt: skip
        store.write(
            Batch(searches=list(self.SEARCHES), search_answers=list(self.ANSWERS[::-1]), search_results=results)
        )
        return reopen()

    def test_queries_and_answers(self, reopen):
        store = self.filled(reopen)
        assert store.searches() == list(self.SEARCHES)
        assert store.search_answers() == list(self.ANSWERS)
        assert store.search_answers()[3].is_contact is False

    def test_which_searches_found_a_link(self, reopen):
        store = self.filled(reopen)
        assert store.found_by_search(5) == [
            SearchFind("sailing", "brave", 1, 10.0),
            SearchFind("sailing gotland", "searxng", 3, 20.0),
        ]
        assert store.found_by_search(1) == []

    def test_what_came_of_asking_each_engine(self, reopen):
        """Of what brave named, 5 was fetched and is relevant, 7 was not fetched; of searxng's, 3 is not relevant."""
        store = self.filled(reopen)
        assert store.engine_counts() == [EngineCount("brave", 2, 1, 1, 1), EngineCount("searxng", 1, 1, 2, 1)]

    def test_titles_and_anchors_of_the_latest_pages(self, reopen):
        store = self.filled(reopen)
        assert store.page_texts(10, is_relevant=True) == [PageTexts("five", "five"), PageTexts("two", "")]
        assert store.page_texts(1, is_relevant=True) == [PageTexts("five", "five")]
        assert store.page_texts(10, is_relevant=False) == [PageTexts("three", "")]


class TestState:
    def test_named_pieces_of_state(self, reopen):
        store = reopen()
        store.write(Batch(state={"strategy": b"\x00\xff", "archive": b"[]"}))
        store.write(Batch(state={"archive": b"[1]"}))
        store = reopen()
        assert (store.state("strategy"), store.state("archive")) == (b"\x00\xff", b"[1]")

    def test_an_empty_batch_is_fine(self, reopen):
        store = reopen()
        store.write(Batch())
        assert store.totals().links == 0


class TestLooksAtPages:
    def test_pages_with_what_decides_when_they_are_looked_at_again(self, reopen):
        store = reopen()
        fill(store)
        found = store.pages_to_refresh()
        numbers = [row[0] for row in rows(store, "select id from pages order by number")]
        assert found.ids.tolist() == numbers
        assert len(found.hosts) == len(found.fetched_at) == len(found.is_relevant) == len(found.citations)
        assert found.is_relevant.dtype == np.bool_
        relevant = {row[0] for row in rows(store, "select page_id from judgements where is_relevant = 1")}
        cited = [
            len(
                {target for source, target in rows(store, "select source_id, target_id from links") if source == page}
                & relevant
            )
            for page in numbers
        ]
        assert found.citations.tolist() == cited

    def test_a_new_store_has_none(self, reopen):
        found = reopen().pages_to_refresh()
        assert [len(column) for column in found] == [0] * 5
        assert reopen().checks() == []

    def test_looks_come_back_as_they_were_written(self, reopen):
        store = reopen()
        fill(store)
        first, second = (int(number) for number in store.pages_to_refresh().ids[:2])
        looks = [
            CheckRow(first, 1, 5.0, 10.0, "same", -3, "", -1),
            CheckRow(second, 1, 6.0, 11.0, "gone", 2**62, "", -1),
            CheckRow(first, 1, 10.0, 20.0, "changed", 7, "lycosa-00001.warc.gz", 99),
        ]
        store.write(Batch(checks=looks))
        store = reopen()
        assert store.checks() == looks
        assert store.checks(first) == [looks[0], looks[2]]
        assert [(page.id, page.check) for page in store.renewed_pages()] == [(first, 3)]
        assert list(store.renewed_pages(3)) == []
        gone = {row.number: row.gone_at for row in store.pages() if row.gone_at is not None}
        assert gone == {int(store.page(second).number): 11.0}
        store.write(Batch(checks=[CheckRow(second, 1, 11.0, 30.0, "back", 8, "lycosa-00001.warc.gz", 120)]))
        assert [(page.id, page.check) for page in store.renewed_pages(2)] == [(first, 3), (second, 4)]
        assert all(row.gone_at is None for row in store.pages())
