"""What every store must do. A new store joins by adding a line to STORES."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from lycosa.model import Lease
from lycosa.store.protocol import Store, Totals
from lycosa.store.rows import (
    Batch,
    HostRow,
    JudgementRow,
    LinkRow,
    OutcomeRow,
    PageRow,
    RobotsRow,
    StateRow,
)
from lycosa.store.sqlite import SqliteStore

STORES: dict[str, Callable[[Path], Store]] = {"sqlite": lambda directory: SqliteStore(directory / "crawl.db")}


@pytest.fixture(params=STORES)
def reopen(request, tmp_path):
    """Opens the store; called again, closes it first, as the next process would find it."""
    opened: list[Store] = []

    def open_again() -> Store:
        while opened:
            opened.pop().close()
        opened.append(STORES[request.param](tmp_path))
        return opened[-1]

    yield open_again
    for store in opened:
        store.close()


def host(number: int, name: str, **more: object) -> HostRow:
    return HostRow(number, name, "", 0.0, 0.0, 0, 0, 0, 0, 0, "")._replace(**more)


def link(number: int, url: str, **more: object) -> LinkRow:
    row = LinkRow(number, url, -number * 2**40, 1, "waiting", 0.5, 0, 0, 0, None, "", "", "")
    return row._replace(**more)


def page(number: int, **more: object) -> PageRow:
    return PageRow(number, number, 1, 0.0, "", "", "", 0, 0, 0, None, "", False, False, "", -1)._replace(**more)


def judgement(number: int, relevance: float) -> JudgementRow:
    return JudgementRow(number, "keywords", relevance, relevance >= 0.5, "{}", "{}", "Sport/Cycling")


def outcome(number: int, **more: object) -> OutcomeRow:
    row = OutcomeRow(number, 1, 0.0, "fetched", "http 200", "", 200, 0.1, 10, "192.0.2.1", False, "", -1)
    return row._replace(**more)


def begin(store: Store, at: float = 0.0) -> int:
    return store.begin_run(started_at=at, pid=42, version="0.1", config="topic = 'x'")


def rows(store: Store, sql: str) -> list[tuple[object, ...]]:
    return list(store.query(sql)[1])


class TestRuns:
    def test_a_new_store_is_empty(self, reopen):
        store = reopen()
        assert store.totals() == Totals(0, 0, 0, 0)
        assert not store.was_cut_off()
        assert [len(column) for column in (*store.waiting(), *store.hashes(), *store.fingerprints())] == [0] * 7
        assert list(store.hosts()) == []
        assert list(store.robots()) == []
        assert store.addresses() == {}
        assert store.state("strategy") is None
        assert store.recent_relevance(10) == []

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

    def test_a_run_tells_how_it_went(self, reopen):
        store = reopen()
        store.end_run(begin(store, 3.0), ended_at=5.0, stop_reason="enough")
        found = rows(store, "select started_at, ended_at, pid, version, config, stop_reason from runs")
        assert found == [(3.0, 5.0, 42, "0.1", "topic = 'x'", "enough")]


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
        assert rows(store, "select state, tries, reason from frontier where id = 1") == [("done", 1, "http 200")]

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

    def test_the_url_of_a_link(self, reopen):
        store = reopen()
        store.write(Batch(hosts={1: host(1, "a.test")}, links=[link(1, "http://a.test/1")]))
        assert (store.url_of(1), store.url_of(2)) == ("http://a.test/1", "")


class TestHosts:
    def test_a_host_comes_back_as_it_was_last_written(self, reopen):
        store = reopen()
        store.write(Batch(hosts={1: host(1, "a.test"), 2: host(2, "b.test")}))
        changed = HostRow(2, "b.test", "192.0.2.7", 12.5, 3.0, 1, 20, 4, 2, 99, "too slow")
        store.write(Batch(hosts={2: changed}))
        assert sorted(reopen().hosts()) == [host(1, "a.test"), changed]

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
    def fill(self, store: Store) -> None:
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
                edges=[(1, 0, 2, "two", ""), (1, 1, 3, "three", "nofollow")],
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
        assert targets.tolist() == [2, 3]
        assert (first.judgement.relevance, first.judgement.is_relevant) == (0.9, True)
        assert first.judgement.best == "Sport/Cycling"
        assert not len(told[3][1])

    def test_totals(self, reopen):
        store = reopen()
        self.fill(store)
        assert reopen().totals() == Totals(links=4, pages=4, relevant=2, waiting=0)

    def test_pages_are_judged_again_and_hosts_counted(self, reopen):
        store = reopen()
        begin(store)
        hosts = {1: host(1, "a.test", pages=2, relevant=2), 2: host(2, "b.test", pages=1), 3: host(3, "c.test")}
        links = [link(n, f"http://h.test/{n}", host_id=1 + n // 3, state="done") for n in (1, 2, 3)]
        judged = [judgement(1, 0.9), judgement(2, 0.8), judgement(3, 0.1)]
        # Pages came in another order than their links.
        pages = [page(place)._replace(number=number) for place, number in ((1, 3), (2, 1), (3, 2))]
        store.write(Batch(hosts=hosts, links=links, pages=pages, judgements=judged))
        store.write(Batch(grades=[(0.25, False, 1), (0.75, True, 2), (0.9, True, 3)], recounts_hosts=True))
        store = reopen()
        found = rows(store, "select page_id, relevance, is_relevant, best from judgements order by 1")
        assert found == [(1, 0.9, 1, "Sport/Cycling"), (2, 0.25, 0, "Sport/Cycling"), (3, 0.75, 1, "Sport/Cycling")]
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

    def test_the_sites_view(self, reopen):
        store = reopen()
        self.fill(store)
        assert rows(store, "select name, pages, relevant, failed, links, density from sites") == [
            ("b.test", 1, 1, 0, 1, 1.0),
            ("a.test", 3, 1, 0, 3, pytest.approx(1 / 3)),
            ("c.test", 0, 0, 2, 0, None),
        ]

    def test_the_view_of_relevant_pages(self, reopen):
        store = reopen()
        self.fill(store)
        assert rows(store, "select url, title, relevance, number from relevant_pages") == [
            ("http://a.test/1", "page 1", 0.9, 1),
            ("http://a.test/3", "page 3", 0.5, 3),
        ]

    def test_links_and_events(self, reopen):
        store = reopen()
        self.fill(store)
        assert rows(store, "select source_id, position, target_id, anchor, rel from links order by position") == [
            (1, 0, 2, "two", ""),
            (1, 1, 3, "three", "nofollow"),
        ]
        assert rows(store, "select run_id, at, kind, message from events") == [(1, 2.0, "note", "something happened")]

    def test_a_query_names_its_columns_and_takes_parameters(self, reopen):
        store = reopen()
        self.fill(store)
        names, found = store.query("select url, state from frontier where id = ?", (2,))
        assert (names, list(found)) == (["url", "state"], [("http://a.test/2", "done")])


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
