"""Somebody sets the machine's clock, while a crawl runs or between two runs: hosts rest as long as ever."""

from __future__ import annotations

import sqlite3
import time
from contextlib import closing
from itertools import pairwise
from pathlib import Path

import pytest

import lycosa
from hostile.server import WorldServer, running
from lycosa.crawl.clock_watch import settle_clocks
from lycosa.lib.clock import SystemClock
from lycosa.store.rows import Batch
from lycosa.store.sqlite import SqliteStore

DELAY = 0.2
HOUR = 3600.0
PAGES = 24


class Wall:
    """The machine's clock, set by `by` seconds after some pages."""

    def __init__(self, by: float) -> None:
        self.by = by
        self.is_set = False

    def __call__(self) -> float:
        return REAL_TIME() + (self.by if self.is_set else 0.0)


REAL_TIME = time.time


def crawl(server: WorldServer, directory: Path, wall: Wall, events: list[str], *, pages: int = PAGES) -> None:
    made = lycosa.Crawl(
        "cycling",
        seeds=[server.url(page) for page in range(len(server.web)) if page % 7 == 0],
        directory=directory,
        strategy="breadth-first",
        network={"allow": ["127.0.0.0/8"], "resolve": server.overrides()},
        politeness={"delay": DELAY, "fetch_time_factor": 0.0},
        readers={"count": 1},
    )
    seen = 0

    def listen(event: lycosa.Event) -> None:
        nonlocal seen
        if event.kind == "page":
            seen += 1
            wall.is_set = wall.is_set or seen == 8
        if event.kind == "clock":
            events.append(event.message)

    made.listen(listen)
    made.run(pages=pages)


def check_rests(server: WorldServer) -> None:
    for host in server.web.hosts:
        times = sorted((each.arrived, each.ended) for each in server.requests() if each.host == host)
        for (_, ended), (arrived, _) in pairwise(times):
            assert arrived - ended >= DELAY


@pytest.mark.parametrize("by", [-HOUR, -24 * HOUR, HOUR])
def test_a_jump_while_it_runs_is_noticed_and_changes_nothing(by, small_web, tmp_path, monkeypatch):
    wall, events = Wall(by), []
    monkeypatch.setattr(time, "time", wall)
    with running(small_web, addresses=6) as server:
        began = time.monotonic()
        crawl(server, tmp_path / "crawl", wall, events)
        took = time.monotonic() - began
        check_rests(server)
        # What is on record is by the crawl's own clock; the next run, by the machine's, goes on as if nothing was.
        crawl(server, tmp_path / "crawl", wall, events, pages=2 * PAGES)
        check_rests(server)
    assert wall.is_set
    assert events, "nobody was told"
    assert ("back by" if by < 0 else "forward by") in events[0]
    assert took < 600, "it waited for the clock to catch up"
    with closing(SqliteStore(tmp_path / "crawl" / "crawl.db")) as store:
        kinds = [row[0] for row in store.query("select kind from events")[1]]
        ready = max(row[0] for row in store.query("select ready_at from hosts")[1])
    assert "clock" in kinds
    assert ready < wall() + 60


class TestBetweenTwoRuns:
    @pytest.fixture
    def store(self, tmp_path: Path):
        path = tmp_path / "crawl.db"
        SqliteStore(path).close()
        with closing(sqlite3.connect(path)) as db, db:
            db.execute("insert into runs values (1, 1000, 2000, 1, '', '', 'x')")
            db.execute("insert into hosts (id, name, ready_at) values (1, 'a', 2030), (2, 'never met', 0)")
            db.execute("insert into addresses values ('192.0.2.1', 2010)")
            db.execute("insert into robots values ('http://a', 'rules', 200, '', 0, '', 1500, 9000, '{}')")
        with closing(SqliteStore(path)) as store:
            yield store

    def rests(self, store: SqliteStore) -> list[float]:
        tables = {"hosts": "ready_at", "addresses": "ready_at", "robots": "expires_at"}
        query = " union all ".join(f"select {column} from {table}" for table, column in tables.items())
        return [row[0] for row in store.query(query)[1]]

    def test_a_clock_behind_the_records_moves_the_rests(self, store):
        message = settle_clocks(store, now=500.0)
        assert "back by 0:25:00" in message
        assert self.rests(store) == [530.0, 0.0, 510.0, 7500.0]
        assert settle_clocks(store, now=2001.0) == ""

    def test_time_that_has_passed_moves_nothing(self, store):
        assert settle_clocks(store, now=2005.0) == ""
        assert self.rests(store) == [2030.0, 0.0, 2010.0, 9000.0]

    @pytest.mark.parametrize(("jump", "now"), [(b"3600.0", 5601.0), (b"-900.0", 1101.0)])
    def test_a_jump_that_was_noticed_is_taken_over_once(self, store, jump, now):
        store.write(Batch(state={"clock": jump}))
        assert settle_clocks(store, now=now)
        assert self.rests(store)[0] == 2030.0 + float(jump)
        assert settle_clocks(store, now=now + 3600) == ""
        assert self.rests(store)[0] == 2030.0 + float(jump)


def test_the_clock_of_a_crawl_is_never_set():
    now, ticks = [1000.0], [5.0]
    clock = SystemClock(wall=lambda: now[0], steady=lambda: ticks[0])
    now[0], ticks[0] = -50.0, 7.0
    assert clock.now() == 1002.0
    assert clock.jumped() == -1052.0
