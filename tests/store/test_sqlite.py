"""The SQLite file itself: its versions, what happens when it is damaged, and that looking at it changes nothing."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import pytest

from lycosa.errors import StoreError
from lycosa.store import reading
from lycosa.store.rows import Batch, HostRow, LinkRow
from lycosa.store.schema import MIGRATIONS, VERSION
from lycosa.store.sqlite import SqliteStore

TABLES = {
    "checks",
    "commands",
    "answers",
    "notes",
    "runs",
    "hosts",
    "addresses",
    "robots",
    "frontier",
    "pages",
    "judgements",
    "earlier_judgements",
    "links",
    "outcomes",
    "events",
    "searches",
    "search_answers",
    "search_results",
    "state",
}


@pytest.fixture
def path(tmp_path):
    return tmp_path / "crawl.db"


@pytest.fixture
def filled(path):
    """A database with a host and some thousand links, closed."""
    store = SqliteStore(path)
    batch = Batch(hosts={1: HostRow(1, "a.test", "", 0, 0, 0, 0, 0, 0, 0, "")})
    for number in range(1, 5001):
        url = f"http://a.test/{number}"
        batch.links.append(LinkRow(number, url, number, 1, "waiting", 0.5, 0, 0, 0, None, "", "", ""))
    store.write(batch)
    store.close()
    return path


def execute(path, sql):
    with sqlite3.connect(path) as database:
        rows = database.execute(sql).fetchall()
    database.close()
    return rows


def execute_script(path, sql):
    with sqlite3.connect(path) as database:
        database.executescript(sql)
    database.close()


class TestVersions:
    def test_a_new_file_runs_every_migration(self, path):
        SqliteStore(path).close()
        assert execute(path, "pragma user_version") == [(VERSION,)]
        tables = {name for (name,) in execute(path, "select name from sqlite_schema where type = 'table'")}
        assert tables == TABLES

    def test_an_empty_file_is_a_new_one(self, path):
        path.touch()
        store = SqliteStore(path)
        assert store.totals().links == 0
        store.close()

    def test_opening_again_changes_nothing(self, filled):
        before = execute(filled, "select * from sqlite_schema")
        store = SqliteStore(filled)
        assert store.totals().links == 5000
        store.close()
        assert execute(filled, "select * from sqlite_schema") == before

    def test_a_migration_that_fails_leaves_the_database_as_it_was(self, path, monkeypatch):
        monkeypatch.setattr(
            "lycosa.store.sqlite_connection.MIGRATIONS", (*MIGRATIONS, "create table extra (a); broken;")
        )
        monkeypatch.setattr("lycosa.store.sqlite_connection.VERSION", VERSION + 1)
        with pytest.raises(StoreError, match="syntax error"):
            SqliteStore(path)
        assert execute(path, "pragma user_version") == [(VERSION,)]
        assert execute(path, "select name from sqlite_schema where name = 'extra'") == []

    def test_links_of_an_older_database_have_one_anchor(self, path):
        execute_script(path, "".join(MIGRATIONS[:4]) + "pragma user_version = 4;")
        execute(path, "insert into links values (1, 0, 2, 'sailing', '')")
        store = SqliteStore(path)
        assert execute(path, "select anchor, other_anchors from links") == [("sailing", "")]
        store.close()

    def test_an_older_database_lists_only_fetched_hosts_as_sites_once_it_is_migrated(self, path):
        execute_script(path, "".join(MIGRATIONS[:2]) + "pragma user_version = 2;")
        execute(path, "insert into hosts (name, pages, relevant) values ('a.test', 4, 1), ('b.test', 0, 0)")
        assert len(execute(path, "select * from sites")) == 2
        store = SqliteStore(path)
        assert [(site.name, site.density) for site in store.sites()] == [("a.test", 0.25)]
        assert [row.name for row in store.hosts()] == ["a.test", "b.test"]
        store.close()

    def test_feedback_given_to_an_older_version_is_kept_as_answers(self, path):
        execute_script(path, "".join(MIGRATIONS[:4]) + "pragma user_version = 4;")
        execute(path, "insert into hosts (id, name) values (1, 'a.test')")
        execute(
            path,
            "insert into frontier (id, url, hash, host_id, state, score, distance)"
            " values (7, 'http://a.test/', 1, 1, 'done', 1, 0)",
        )
        execute(path, "insert into pages values (7, 1, 1, 0, '', '', '', 0, 0, 0, null, '', 0, 0, '', 0)")
        execute(
            path,
            "insert into feedback (at, url, is_useful) values (1, 'http://a.test/', 0), (2, 'http://b.test/', 1),"
            " (3, 'http://c.test/', 1)",
        )
        execute(path, "insert into answers (at, url, answer) values (4, 'http://c.test/', 'irrelevant')")
        store = SqliteStore(path)
        assert [(row.at, row.url, row.page_id, row.answer, row.after_pages) for row in store.answers()] == [
            (4, "http://c.test/", None, "irrelevant", None),
            (1, "http://a.test/", 7, "irrelevant", None),
            (2, "http://b.test/", None, "relevant", None),
        ]
        store.close()

    @pytest.mark.parametrize("read_only", [True, False])
    def test_a_newer_database_is_refused(self, filled, read_only):
        execute(filled, f"pragma user_version = {VERSION + 4}")
        message = rf"crawl\.db: written by a newer Lycosa \(schema {VERSION + 4}, this one knows {VERSION}\); upgrade"
        with pytest.raises(StoreError, match=message):
            SqliteStore(filled, read_only=read_only)
        assert execute(filled, "pragma user_version") == [(VERSION + 4,)]

    def test_an_older_one_is_not_read_before_it_is_migrated(self, path):
        path.touch()
        with pytest.raises(StoreError, match=f"has schema 0, this Lycosa reads {VERSION}; continue the crawl once"):
            SqliteStore(path, read_only=True)


@pytest.mark.parametrize("sql", [reading.LAST_ANSWER, reading.CHECKS_OF, reading.JUDGEMENT])
def test_what_is_asked_for_each_page_of_a_refresh_reads_no_whole_table(filled, sql):
    with closing(sqlite3.connect(filled)) as database:
        steps = [row[3] for row in database.execute(f"explain query plan {sql}", (1,) * (2 if "judge" in sql else 1))]
    assert any("SEARCH" in step for step in steps)
    assert not [step for step in steps if step.startswith("SCAN") and "answers" not in step], steps


class TestDamage:
    @pytest.mark.parametrize("read_only", [True, False])
    def test_a_file_that_is_no_database(self, path, read_only):
        path.write_bytes(b"<html>not a database</html>" * 100)
        with pytest.raises(StoreError, match=r"crawl\.db: damaged or not a Lycosa database .*restore it"):
            SqliteStore(path, read_only=read_only)

    def test_a_file_cut_short(self, filled):
        with filled.open("rb+") as file:
            file.truncate(filled.stat().st_size // 2)
        with pytest.raises(StoreError, match="damaged"):
            SqliteStore(filled).waiting()

    def test_links_that_somebody_deleted(self, filled):
        db = sqlite3.connect(filled)
        db.execute("delete from frontier where id = 2")
        db.commit()
        db.close()
        with pytest.raises(StoreError, match="links are missing from the table frontier; restore it"):
            SqliteStore(filled).waiting()

    @pytest.mark.parametrize(
        ("table", "method", "arguments"),
        [
            ("frontier", "waiting", ()),
            ("frontier", "hashes", ()),
            ("frontier", "totals", ()),
            ("frontier", "leases", ([1],)),
            ("frontier", "link", (1,)),
            ("frontier", "count_links", ()),
            ("frontier", "find_link", ("http://a.test/1", 1)),
            ("frontier", "waiting_seeds", ()),
            ("frontier", "lost_seeds", ()),
            ("frontier", "exclusions", (10,)),
            ("hosts", "host", (1,)),
            ("hosts", "hosts", ()),
            ("robots", "robots", ()),
            ("addresses", "addresses", ()),
            ("runs", "was_cut_off", ()),
            ("sqlite_autoindex_pages_1", "fingerprints", ()),
            ("sqlite_autoindex_pages_1", "recent_relevance", (10,)),
            ("state", "state", ("archive",)),
        ],
    )
    def test_damage_in_a_table_is_told_in_words(self, filled, table, method, arguments):
        ((root,),) = execute(filled, f"select rootpage from sqlite_schema where name = '{table}'")
        with filled.open("rb+") as file:
            file.seek((root - 1) * 4096)
            file.write(b"\xff" * 4096)
        store = SqliteStore(filled)
        with pytest.raises(StoreError, match="damaged"):
            getattr(store, method)(*arguments)
        store.close()

    def test_damage_that_is_met_while_rows_are_read(self, filled):
        with filled.open("rb+") as file:
            file.seek(filled.stat().st_size // 2)
            file.write(b"\xff" * 20_000)
        store = SqliteStore(filled, read_only=True)
        for rows in (store.query("select url from frontier")[1], store.links()):
            with pytest.raises(StoreError, match="damaged"):
                list(rows)
        store.close()

    def test_a_directory_in_its_place(self, path):
        path.mkdir()
        with pytest.raises(StoreError, match="unable to open"):
            SqliteStore(path)

    def test_nothing_there_to_read(self, path):
        with pytest.raises(StoreError, match="there is no database here"):
            SqliteStore(path, read_only=True)
        assert not path.exists()

    def test_a_transaction_that_fails_leaves_nothing(self, path):
        store = SqliteStore(path)
        row = LinkRow(1, "http://a.test/", 1, 1, "waiting", 0, 0, 0, 0, None, "", "", "")
        with pytest.raises(StoreError, match="UNIQUE"):
            store.write(Batch(links=[row, row], addresses={"192.0.2.1": 1.0}))
        assert store.totals().links == 0
        assert store.addresses() == {}
        store.write(Batch(links=[row]))
        assert store.totals().links == 1
        store.close()


class TestReadOnly:
    @pytest.mark.parametrize(
        "sql",
        [
            "insert into state values ('a', x'00')",
            "update frontier set state = 'done'",
            "delete from frontier",
            "drop table pages",
            "create table mine (a)",
            "create temp table mine (a)",
            "attach 'DIRECTORY/other.db' as other",
            "attach 'file:DIRECTORY/other.db?mode=rwc' as other",
            "vacuum",
            "vacuum into 'DIRECTORY/copy.db'",
            "pragma user_version = 99",
            "pragma query_only = off",
            "pragma writable_schema = on",
            "pragma journal_mode = delete",
            "pragma wal_checkpoint(truncate)",
        ],
    )
    def test_a_query_cannot_write(self, filled, sql):
        others = {path.name for path in filled.parent.iterdir()}
        store = SqliteStore(filled, read_only=True)
        before = store.totals()
        with pytest.raises(StoreError, match="can only be read here"):
            list(store.query(sql.replace("DIRECTORY", str(filled.parent)))[1])
        assert store.totals() == before
        store.close()
        now = {path.name for path in filled.parent.iterdir()}
        assert now - others <= {"crawl.db-wal", "crawl.db-shm"}
        assert execute(filled, "pragma user_version") == [(VERSION,)]

    @pytest.mark.parametrize(
        ("sql", "rows"),
        [
            ("select count(*) from frontier", [(5000,)]),
            ("with a as (select id from frontier where id < 3) select * from a", [(1,), (2,)]),
            ("select value from json_each('[7, 8]')", [(7,), (8,)]),
            ("select name from pragma_table_info('state')", [("name",), ("value",)]),
            ("pragma user_version", [(VERSION,)]),
        ],
    )
    def test_a_query_can_read(self, filled, sql, rows):
        store = SqliteStore(filled, read_only=True)
        assert list(store.query(sql)[1]) == rows
        store.close()

    @pytest.mark.parametrize("sql", ["selekt 1", "select * from nowhere", "select 1; select 2", "select ?"])
    def test_a_query_that_is_wrong_is_shown_with_the_error(self, filled, sql):
        store = SqliteStore(filled, read_only=True)
        with pytest.raises(StoreError) as caught:
            store.query(sql)
        assert repr(sql) in str(caught.value)
        store.close()

    def test_reading_while_the_crawl_writes(self, filled):
        writer, reader = SqliteStore(filled), SqliteStore(filled, read_only=True)
        writer.write(Batch(addresses={"192.0.2.1": 5.0}))
        assert reader.addresses() == {"192.0.2.1": 5.0}
        writer.close()
        reader.close()
