"""What only PostgreSQL does to a store: connections get lost, commits stay uncertain, others want to write, too."""

from __future__ import annotations

import sqlite3
from contextlib import closing, suppress
from pathlib import Path

import pytest

from lycosa.errors import InputError, StoreError, WorkspaceBusy
from lycosa.store.rows import Batch, HostRow, LinkRow
from lycosa.store.schema import MIGRATIONS, VERSION, tables
from lycosa.store.sqlite import SqliteStore
from lycosa.store.transfer import copy_crawl, sums

psycopg = pytest.importorskip("psycopg", reason="psycopg is not installed: pip install 'lycosa[postgres]'")
from lycosa.store import postgres  # noqa: E402
from lycosa.store.postgres import PostgresStore  # noqa: E402
from lycosa.store.postgres_connection import place_of  # noqa: E402

NOWHERE = Path("store.url")


@pytest.fixture
def opened(emptied_postgres):
    """Opens stores of one database; closed at the end."""
    made: list[PostgresStore] = []

    def open_store(**options: object) -> PostgresStore:
        made.append(PostgresStore(emptied_postgres, path=NOWHERE, **options))
        return made[-1]

    yield open_store
    for store in made:
        with suppress(Exception):
            store.close()


@pytest.fixture
def ask(emptied_postgres):
    """A session of somebody else."""
    with psycopg.connect(emptied_postgres, autocommit=True) as db:
        yield lambda sql: db.execute(sql.encode()).fetchall() if sql.startswith("select") else db.execute(sql.encode())


def link(number: int, **more: object) -> LinkRow:
    row = LinkRow(number, f"http://a.test/{number}", number, 1, "waiting", 0.5, 0, 0, 0, None, "", "", "")
    return row._replace(**more)


def hosts() -> dict[int, HostRow]:
    return {1: HostRow(1, "a.test", "", 0.0, 0.0, 0, 0, 0, 0, 0, "")}


class TestLostConnections:
    def test_a_session_that_was_ended_is_replaced(self, opened, ask):
        store = opened(is_crawler=True)
        for number in range(1, 6):
            ask(f"select pg_terminate_backend({store._db.info.backend_pid}, 5000)")
            store.write(Batch(links=[link(number)]))
        assert store.count_links() == 5
        (first, *_) = store.passed_troubles()
        assert "the database was away for" in first
        assert store.passed_troubles() == []

    def test_a_session_that_is_ended_while_it_begins_is_replaced(self, emptied_postgres, ask, monkeypatch):
        ended = []

        class Ended(PostgresStore):
            def _open(self, db: object) -> None:
                if not ended:
                    ended.append(db.info.backend_pid)
                    ask(f"select pg_terminate_backend({db.info.backend_pid}, 5000)")
                super()._open(db)

        with closing(Ended(emptied_postgres, path=NOWHERE, is_crawler=True)) as store:
            assert store._db.info.backend_pid != ended[0]
            with pytest.raises(WorkspaceBusy):
                PostgresStore(emptied_postgres, path=NOWHERE, is_crawler=True)

    def test_a_session_that_is_ended_before_it_is_set_up_is_replaced(self, emptied_postgres, ask):
        ended = []

        class Ended(PostgresStore):
            def _set_up(self, db: object) -> None:
                if len(ended) < 3:
                    ended.append(db.info.backend_pid)
                    ask(f"select pg_terminate_backend({db.info.backend_pid}, 5000)")
                super()._set_up(db)

        with closing(Ended(emptied_postgres, path=NOWHERE, is_crawler=True)) as store:
            assert len(set(ended)) == 3
            store.write(Batch(links=[link(1)]))
            assert store.count_links() == 1

    def test_reading_goes_on_as_well(self, opened, ask):
        store = opened()
        store.write(Batch(hosts=hosts(), links=[link(1), link(2)]))
        for read in (store.count_links, lambda: len(store.waiting().ids), lambda: len(store.leases([1, 2]))):
            ask(f"select pg_terminate_backend({store._db.info.backend_pid}, 5000)")
            assert read() == 2

    def test_a_long_read_goes_on_where_it_stopped(self, opened, ask, monkeypatch):
        monkeypatch.setattr("lycosa.store.postgres_connection.ROWS_AT_ONCE", 100)
        monkeypatch.setattr("lycosa.store.postgres_connection.CHUNK", 100)
        store = opened()
        edges = [(1, number, number + 1, "", "") for number in range(1_000)]
        store.write(Batch(hosts=hosts(), links=[link(number) for number in range(1, 1_001)], edges=edges))
        end = "select pg_terminate_backend(pid, 5000) from pg_stat_activity where application_name = 'lycosa'"
        seen = []
        for row in store.links():
            seen.append(row.id)
            if len(seen) == 250:
                ask(end)
        assert seen == list(range(1, 1_001))
        targets: list[int] = []
        for chunk in store.citations():
            targets += chunk[:, 1].tolist()
            if len(targets) == 300:
                ask(end)
        assert targets == list(range(1, 1_001))

    def test_an_uncertain_commit_is_written_once(self, opened, ask, monkeypatch):
        """The connection is lost before the commit, and then between the commit and its answer."""
        store = opened(is_crawler=True)
        lost: list[str] = []
        again, carry_out = store._again, postgres._carry_out

        def lose(db: object, when: str) -> None:
            if when not in lost:
                lost.append(when)
                db.close()
                raise psycopg.OperationalError("server closed the connection unexpectedly")

        def carried_out(db: object, found: object) -> None:
            carry_out(db, found)
            lose(db, "before")

        def done(work):
            def committed(db):
                result = work(db)
                lose(db, "after")
                return result

            return again(committed)

        monkeypatch.setattr(postgres, "_carry_out", carried_out)
        monkeypatch.setattr(store, "_again", done)
        said = [(0.0, "http://a.test/", None, "relevant")]
        store.write(Batch(links=[link(1)], events=[(1, 0.0, "kind", "once")], answers=said))
        assert lost == ["before", "after"]
        assert [len(ask(f"select 1 from {table}")) for table in ("frontier", "events", "answers")] == [1, 1, 1]
        store.write(Batch(links=[link(2)]))
        assert store.count_links() == 2

    def test_a_server_that_stays_away_is_named(self, opened, monkeypatch):
        store = opened(patience=0.0)
        waits = []
        store.on_wait = waits.append
        store._db.close()
        monkeypatch.setattr(store, "_conninfo", "host=/nowhere dbname=x")
        monkeypatch.setattr("lycosa.store.postgres_connection.PAUSES", (0.0,))
        store._patience = 0.0
        with pytest.raises(StoreError, match=r"the server cannot be reached .* gave up after 0 s"):
            store.count_links()

    def test_a_crawl_says_why_it_waits(self, opened, monkeypatch):
        store = opened(is_crawler=True)
        waits: list[str] = []
        right = store._conninfo

        def heard(words: str) -> None:
            waits.append(words)
            store._conninfo = right  # the server is back

        store.on_wait = heard
        store._db.close()
        store._conninfo = "host=/nowhere dbname=x"
        monkeypatch.setattr("lycosa.store.postgres_connection.PAUSES", (0.0,))
        store.write(Batch(links=[link(1)]))
        assert waits
        assert waits[0].startswith("waiting for the database: ")
        assert store.count_links() == 1


class TestWhoWrites:
    def test_a_second_crawl_is_refused(self, opened):
        opened(is_crawler=True)
        with pytest.raises(WorkspaceBusy, match="another process is crawling with this database"):
            opened(is_crawler=True)
        opened().write(Batch(commands=[(0.0, "pause", "")]))

    def test_a_crawl_that_was_taken_over_writes_nothing_more(self, opened, ask):
        first = opened(is_crawler=True)
        first.write(Batch(links=[link(1)]))
        ask(f"select pg_terminate_backend({first._db.info.backend_pid}, 5000)")
        second = opened(is_crawler=True)
        with pytest.raises(WorkspaceBusy):
            first.write(Batch(links=[link(2)]))
        second.close()
        with pytest.raises(StoreError, match="another process has gone on with this crawl"):
            first.write(Batch(links=[link(2)]))
        assert len(ask("select 1 from frontier")) == 1

    def test_a_server_that_forgot_a_commit_is_noticed(self, opened, ask):
        store = opened(is_crawler=True)
        store.write(Batch(links=[link(1)]))
        store.write(Batch(links=[link(2)]))
        ask("update writers set commits = commits - 1")
        with pytest.raises(StoreError, match="has lost transactions"):
            store.write(Batch(links=[link(3)]))

    def test_people_leave_no_trace_among_the_writers(self, opened, ask):
        store = opened()
        store.write(Batch(commands=[(0.0, "pause", "")]))
        store.close()
        assert ask("select name from writers") == []


class TestErrors:
    @pytest.mark.parametrize(
        ("url", "words"),
        [
            ("mysql://x/y", "postgresql://"),
            ("postgresql://me@host:port/x", "'port' is not a port"),
            ("host=x dbname=y", "begins with postgresql://"),
        ],
    )
    def test_a_url_that_is_none(self, url, words):
        with pytest.raises(InputError, match=words):
            place_of(url)

    def test_a_password_is_not_shown(self):
        assert place_of("postgresql://me:secret@db.test:6543/x") == "postgresql://me@db.test:6543/x"

    def test_nobody_answers(self, tmp_path):
        with pytest.raises(StoreError, match="the server cannot be reached"):
            PostgresStore("postgresql://me@127.0.0.1:1/x", path=NOWHERE)

    def test_no_such_database(self, postgres_server):
        with pytest.raises(StoreError, match=r"does not exist; make the database first: createdb"):
            PostgresStore(postgres_server.replace("/postgres", "/nothing", 1), path=NOWHERE)

    def test_a_server_that_is_too_old(self, postgres_url, monkeypatch):
        monkeypatch.setattr("lycosa.store.postgres_schema.OLDEST", 99)
        with pytest.raises(StoreError, match="Lycosa needs 99 or newer"):
            PostgresStore(postgres_url, path=NOWHERE)

    def test_a_schema_of_another_version(self, opened, ask):
        opened().close()
        ask(f"update lycosa set version = {VERSION + 1}")
        try:
            with pytest.raises(StoreError, match="written by a newer Lycosa"):
                opened()
            ask(f"update lycosa set version = {VERSION - 1}")
            with pytest.raises(StoreError, match="continue the crawl once"):
                opened(read_only=True)
        finally:
            ask(f"update lycosa set version = {VERSION}")

    def test_an_older_schema_is_migrated(self, postgres_url, monkeypatch):
        PostgresStore(postgres_url, path=NOWHERE).close()
        extra = "alter table hosts add column extra integer not null default 7;"
        monkeypatch.setattr("lycosa.store.postgres_schema.MIGRATIONS", (*MIGRATIONS, extra))
        monkeypatch.setattr("lycosa.store.postgres_schema.VERSION", VERSION + 1)
        monkeypatch.setattr("lycosa.store.postgres_schema.strangers", lambda _: iter(()))
        with closing(PostgresStore(postgres_url, path=NOWHERE)) as store:
            store.write(Batch(hosts=hosts()))
            assert list(store.query("select extra from hosts")[1]) == [(7,)]

    def test_nothing_is_made_beside_tables_of_somebody_else(self, postgres_url):
        with psycopg.connect(postgres_url) as db:
            db.execute("create table pages (mine text)")
        with pytest.raises(StoreError, match="has a table pages that is not Lycosa's"):
            PostgresStore(postgres_url, path=NOWHERE)

    def test_an_empty_place_has_no_crawl_to_read(self, postgres_url):
        with pytest.raises(StoreError, match="there is no crawl in this database"):
            PostgresStore(postgres_url, path=NOWHERE, read_only=True)

    def test_a_user_without_rights(self, postgres_url, postgres_server):
        with psycopg.connect(postgres_url, autocommit=True) as db:
            if not db.execute("select 1 from pg_roles where rolname = 'stranger'").fetchone():
                db.execute("create role stranger login")
            schema = db.execute("select current_schema()").fetchone()[0]
            db.execute(f"grant usage on schema {schema} to stranger".encode())
        with pytest.raises(StoreError, match="lacks the right"):
            PostgresStore(postgres_url.replace("lycosa@", "stranger@"), path=NOWHERE)

    def test_a_full_disk_of_the_server_loses_nothing(self, opened, ask):
        """A trigger plays the disk: its error has the code that the server's own would have."""
        store = opened(is_crawler=True)
        store.write(Batch(links=[link(1)]))
        ask(
            "create or replace function full_disk() returns trigger language plpgsql as "
            "$$ begin raise exception 'could not extend file: No space left on device' using errcode = '53100'; end $$"
        )
        ask("create trigger full_disk before insert on frontier for each row execute function full_disk()")
        try:
            with pytest.raises(StoreError, match="the disk of the database server is full"):
                store.write(Batch(links=[link(2)], events=[(1, 0.0, "kind", "text")]))
        finally:
            ask("drop trigger full_disk on frontier")
        assert ask("select 1 from events") == []
        store.write(Batch(links=[link(2)]))
        assert store.count_links() == 2


class TestHostileText:
    def test_what_the_web_sends_is_kept_as_far_as_it_can_be(self, opened):
        store = opened()
        nasty = "a\x00b\\N\t'; drop table pages; --\n\\.\n\ud800é"
        store.write(Batch(hosts=hosts(), links=[link(number, anchor=nasty) for number in range(1, 20)]))
        assert {row.anchor for row in store.links()} == {nasty.replace("\x00", "\ufffd").replace("\ud800", "?")}

    @pytest.mark.parametrize(
        "sql",
        [
            "delete from frontier",
            "with gone as (delete from frontier returning 1) select * from gone",
            "select 1; delete from frontier",
            "copy frontier to '/tmp/frontier'",
            "set transaction read write",
            "select setval(pg_get_serial_sequence('runs', 'id'), 99)",
        ],
    )
    def test_a_query_changes_nothing(self, opened, sql):
        store = opened()
        store.write(Batch(links=[link(1)]))
        with pytest.raises(StoreError):
            list(opened(read_only=True).query(sql)[1])
        assert store.count_links() == 1

    def test_values_of_types_that_sqlite_does_not_have(self, opened):
        names, rows = opened().query(
            "select date '2026-01-02' as day, true as yes, 1.5::numeric as n, array[1, 2] as a"
        )
        assert (names, list(rows)) == (["day", "yes", "n", "a"], [("2026-01-02", True, 1.5, "[1, 2]")])

    def test_a_query_that_takes_too_long_is_ended(self, opened):
        store = opened(read_only=True)
        store.limit(seconds=0.05)
        with pytest.raises(StoreError, match=r"it took more than 0.05 s; ask for less"):
            list(store.query("select count(*) from generate_series(1, 1000000000)")[1])


class TestDamage:
    def test_what_is_wrong_is_found_and_mended(self, opened, ask, tmp_path):
        store = opened()
        store.write(Batch(hosts=hosts(), links=[link(1), link(2)], edges=[(1, 0, 2, "", ""), (1, 1, 9, "", "")]))
        ask("update hosts set ready_at = 'NaN'")
        ask("insert into judgements values (1, 'x', 2.0, 3, '[1', '{}')")
        found = {flaw.where for flaw in store.damage()}
        assert found >= {"hosts.ready_at", "judgements.relevance", "judgements.scores", "links.target_id"}
        store.copy_to(tmp_path / "copy.db")
        store.mend()
        assert store.damage() == []
        with closing(sqlite3.connect(tmp_path / "copy.db")) as copy:
            assert copy.execute("select relevance from judgements").fetchall() == [(2.0,)]
        store.write(Batch(links=[link(4)]))
        with pytest.raises(StoreError, match="links are missing from the table frontier"):
            store.waiting()
        ask("update hosts set ready_at = 'NaN'")
        with pytest.raises(StoreError, match=r"damaged: hosts\.ready_at"):
            store.refuse_damage()


class TestMoving:
    def test_there_and_back_is_the_same(self, opened, tmp_path):
        silent = lambda *_: None  # noqa: E731
        with closing(SqliteStore(tmp_path / "crawl.db")) as first:
            first.begin_run(started_at=1.0, pid=1, version="x", config="")
            many = [link(number, anchor=f"é{number}\x00", score=number / 7) for number in range(1, 3000)]
            first.write(Batch(hosts=hosts(), links=many, state={"x": b"\x00\xff"}, events=[(1, 0.1, "a", "b")]))
            there = opened(is_crawler=True)
            moved = copy_crawl(first, there, silent)
            assert moved["frontier"].rows == 2999
            assert set(moved) == {part.name for part in tables()}
            assert copy_crawl(first, there, silent) == moved  # interrupted afterwards, and done again
            assert there.begin_run(started_at=2.0, pid=1, version="x", config="") == 2
            with pytest.raises(StoreError, match="holds another crawl already"):
                copy_crawl(first, there, silent)
        with closing(SqliteStore(tmp_path / "back.db")) as back:
            copy_crawl(there, back, silent)
            assert sums(back, silent) == sums(there, silent)

    def test_a_difference_is_found(self, opened, ask, tmp_path, monkeypatch):
        with closing(SqliteStore(tmp_path / "crawl.db")) as first:
            first.write(Batch(hosts=hosts(), links=[link(1)]))
            there = opened(is_crawler=True)
            fill = there.fill
            monkeypatch.setattr(there, "fill", lambda rows_of: (fill(rows_of), ask("update frontier set score = 0.51")))
            with pytest.raises(StoreError, match="the table frontier is not as it was"):
                copy_crawl(first, there, lambda *_: None)
