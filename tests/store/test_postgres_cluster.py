"""What shards share in a database: who may write, letters, addresses, and views over all of them."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest

from lycosa.errors import InputError, StoreError, WorkspaceBusy
from lycosa.store.rows import Batch, HostRow, Letter, LinkRow, ShardFigures
from lycosa.store.schema import MIGRATIONS, VERSION, parts

psycopg = pytest.importorskip("psycopg", reason="psycopg is not installed: pip install 'lycosa[postgres]'")
from lycosa.store.postgres import PostgresStore  # noqa: E402
from lycosa.store.postgres_cluster import (  # noqa: E402
    ClusterReports,
    ClusterStore,
    ShardStore,
    base_schema,
    prepare_cluster,
    shard_url,
)
from postgres_server import new_place  # noqa: E402

NOWHERE = Path("store.url")
SCHEMA = "lycosa.store.postgres_schema"


@pytest.fixture(scope="module")
def cluster(postgres_server):
    url = new_place(postgres_server)
    assert prepare_cluster(url, where="here", path=NOWHERE, shards=2) == 2
    return url


@pytest.fixture
def emptied(cluster):
    with psycopg.connect(cluster, autocommit=True) as db:
        for table in ("outbox", "received", "address_leases"):
            db.execute(f"delete from {table}".encode())
        db.execute("update shards set granted = 0, is_idle = 0, pages = 0")
    return cluster


@pytest.fixture
def opened(emptied):
    made = []

    def open_shard(shard: int, **options: object) -> ShardStore:
        made.append(ShardStore(shard_url(emptied, shard), path=NOWHERE, shard=shard, patience=5.0, **options))
        return made[-1]

    yield open_shard
    for store in made:
        store.close()


def letter(number: int, *, target: int = 1, sender: int = 0) -> Letter:
    return Letter(target, sender, number, b"words %d" % number)


class TestLeases:
    def test_a_shard_has_one_crawler(self, opened):
        opened(0)
        with pytest.raises(WorkspaceBusy):
            opened(0)
        opened(1)  # another shard of the same database

    def test_whoever_is_given_up_for_lost_is_refused(self, opened):
        lost = opened(0)
        lost.write(Batch(state={"who": b"the first"}))
        heir = opened(0, takes_over=True)
        heir.write(Batch(state={"who": b"the second"}))
        for _ in range(2):
            with pytest.raises(StoreError, match="another crawler has gone on with shard 0 meanwhile"):
                lost.write(Batch(state={"who": b"the first again"}, letters=[letter(1)]))
        assert heir.state("who") == b"the second"
        assert opened(1).letters(10) == []

    def test_a_commit_of_an_earlier_epoch_is_refused_even_with_the_lock_free(self, opened):
        lost = opened(0)
        opened(0, takes_over=True).close()
        with pytest.raises(StoreError, match="another process has gone on with this crawl"):
            lost.write(Batch(state={"who": b"the first"}))


class TestLetters:
    def test_they_arrive_with_the_transaction_and_in_order(self, opened):
        sender, receiver = opened(0), opened(1)
        sender.write(Batch(letters=[letter(1), letter(2)]))
        assert receiver.letters(10) == [letter(1), letter(2)]
        assert sender.letters(10) == []
        assert sender.sent() == {1: 2}

    def test_they_are_taken_over_once(self, opened):
        sender, receiver = opened(0), opened(1)
        sender.write(Batch(letters=[letter(1), letter(2), letter(3)]))
        receiver.write(Batch(taken=[(1, 0, 2, 14)]))
        assert receiver.letters(10) == [letter(3)]
        assert receiver.taken() == {0: 2}
        receiver.write(Batch(taken=[(1, 0, 3, 7)]))
        assert receiver.letters(10) == []
        assert sender.sent() == {1: 3}  # though none is under way any more

    def test_a_letter_that_was_taken_over_and_comes_back_is_not_shown(self, opened, emptied):
        """A row that an old copy of the table has brought back."""
        sender, receiver = opened(0), opened(1)
        sender.write(Batch(letters=[letter(1)]))
        receiver.write(Batch(taken=[(1, 0, 1, 7)]))
        with psycopg.connect(emptied, autocommit=True) as db:
            db.execute("insert into outbox values (1, 0, 1, 'again')")
        assert receiver.letters(10) == []

    def test_what_is_not_committed_was_not_sent(self, opened):
        sender, receiver = opened(0), opened(1)
        bad = LinkRow(1, "http://a.test/", 1, 1, None, 0.5, 0, 0, 0, None, "", "", "")  # type: ignore[arg-type]
        with pytest.raises(StoreError):
            sender.write(Batch(links=[bad], letters=[letter(1)]))
        assert receiver.letters(10) == []


class TestBudget:
    def figures(self, shard: int, pages: int, *, is_idle: bool) -> Batch:
        return Batch(figures=ShardFigures(is_idle, pages, 0, 0, 0, 0, 0.0, b"", 0.0, shard))

    def test_grants_add_up(self, opened, emptied):
        store = opened(0)
        with closing(ClusterStore(emptied, path=NOWHERE)) as driver:
            driver.grant({0: 5, 1: 7})
            driver.grant({0: 1})
            assert store.orders().granted == 6
            driver.stop("enough")
            assert store.orders().stop == "enough"
            driver.begin()
            assert store.orders().stop == ""

    def test_only_idle_shards_give_back(self, opened, emptied):
        with closing(ClusterStore(emptied, path=NOWHERE)) as driver:
            driver.grant({0: 10, 1: 10})
            opened(0).write(self.figures(0, 4, is_idle=True))
            opened(1).write(self.figures(1, 4, is_idle=False))
            driver.reclaim([0, 1])
            assert [row.granted for row in driver.overview()] == [4, 10]


class TestAddresses:
    def test_one_shard_at_a_time(self, opened):
        first, second = opened(0), opened(1)
        assert first.lease_address("127.0.0.1", 60).is_ours
        found = second.lease_address("127.0.0.1", 60)
        assert not found.is_ours
        assert 50 < found.seconds <= 60
        assert second.lease_address("127.0.0.2", 60).is_ours

    def test_it_is_prolonged_until_another_waits(self, opened):
        first, second = opened(0), opened(1)
        first.lease_address("127.0.0.1", 60)
        assert first.lease_address("127.0.0.1", 100).seconds > 60
        assert first.wanted_addresses() == []
        second.lease_address("127.0.0.1", 60)
        assert first.wanted_addresses() == ["127.0.0.1"]
        assert first.lease_address("127.0.0.1", 200).seconds < 101

    def test_given_up_it_goes_to_whoever_waited_after_the_pause(self, opened):
        first, second = opened(0), opened(1)
        first.lease_address("127.0.0.1", 60)
        second.lease_address("127.0.0.1", 60)
        first.release_address("127.0.0.1", 100)
        assert not second.lease_address("127.0.0.1", 60).is_ours  # it rests
        assert not first.lease_address("127.0.0.1", 60).is_ours
        assert first.wanted_addresses() == []  # given up once, not again and again

    def test_the_pause_is_over(self, opened):
        first, second = opened(0), opened(1)
        first.lease_address("127.0.0.1", 60)
        second.lease_address("127.0.0.1", 60)
        first.release_address("127.0.0.1", 0)
        assert not first.lease_address("127.0.0.1", 60).is_ours  # the other has asked before
        assert second.lease_address("127.0.0.1", 60).is_ours


class TestViews:
    def test_rows_of_all_shards_with_numbers_of_their_own(self, opened, emptied):
        for shard in range(2):
            host = HostRow(1, f"h{shard}.test", "", 0.0, 0.0, 0, 0, 0, 0, 0, "")
            url = f"http://h{shard}.test/"
            links = [
                LinkRow(1, url, 1, 1, "waiting", 0.5, 0, 0, 0, None, "", "", ""),
                LinkRow(2, f"http://h{1 - shard}.test/", 2, 1, "elsewhere", 0.5, 1, 0, 0, 1, "", "", ""),
            ]
            opened(shard).write(Batch(hosts={1: host}, links=links))
        with closing(ClusterReports(emptied, path=NOWHERE, read_only=True)) as store:
            rows = list(store.links())
            assert len({row.id for row in rows}) == 4
            names = {row.id: row.name for row in store.hosts()}
            assert {row.url for row in rows if row.state == "waiting"} == {
                f"http://{names[row.host_id]}/" for row in rows
            }
            assert store.totals().links == 2
            assert store.totals().waiting == 2
            children = {row.parent_id for row in rows} - {None}
            assert children == {row.id for row in rows if row.state == "waiting"}


class TestPlaces:
    def test_a_shard_is_a_schema_beside_the_one_that_is_shared(self):
        url = "postgresql://me@db/x?sslmode=require&options=-csearch_path%3Dcycling"
        assert base_schema(url) == "cycling"
        found = shard_url(url, 3)
        assert found.startswith("postgresql://me@db/x?sslmode=require&options=")
        assert base_schema(found) == "cycling_shard_3"

    def test_a_name_that_would_be_more_than_a_name(self):
        with pytest.raises(InputError, match="cannot hold a cluster"):
            base_schema("postgresql://me@db/x?options=-csearch_path%3Da%3Bdrop")

    def test_a_cluster_keeps_its_number_of_shards(self, cluster):
        assert prepare_cluster(cluster, where="here", path=NOWHERE, shards=5) == 2

    def test_a_database_with_another_crawl(self, postgres_url):
        PostgresStore(postgres_url, path=NOWHERE).close()
        with pytest.raises(StoreError, match="holds a crawl of one process"):
            prepare_cluster(postgres_url, where="here", path=NOWHERE, shards=2)


class TestErrors:
    def test_nobody_answers(self):
        with pytest.raises(StoreError, match="the server cannot be reached"):
            prepare_cluster("postgresql://me@127.0.0.1:1/x", where="here", path=NOWHERE, shards=2)

    def test_a_server_that_is_too_old_gets_nothing(self, postgres_url, monkeypatch):
        monkeypatch.setattr("lycosa.store.postgres_schema.OLDEST", 99)
        with pytest.raises(StoreError, match="Lycosa needs 99 or newer"):
            prepare_cluster(postgres_url, where="here", path=NOWHERE, shards=2)
        with psycopg.connect(postgres_url) as db:
            pattern = f"{base_schema(postgres_url)}_shard%"
            assert db.execute("select nspname from pg_namespace where nspname like %s", (pattern,)).fetchall() == []

    def test_a_user_without_rights(self, postgres_url):
        with psycopg.connect(postgres_url, autocommit=True) as db:
            if not db.execute("select 1 from pg_roles where rolname = 'stranger'").fetchone():
                db.execute("create role stranger login")
        with pytest.raises(StoreError, match="lacks the right"):
            prepare_cluster(postgres_url.replace("lycosa@", "stranger@"), where="here", path=NOWHERE, shards=2)

    def test_a_newer_schema(self, emptied):
        with psycopg.connect(emptied, autocommit=True) as db:
            db.execute(f"update cluster set version = {VERSION + 1}".encode())
            try:
                with pytest.raises(StoreError, match="written by a newer Lycosa"):
                    prepare_cluster(emptied, where="here", path=NOWHERE, shards=2)
            finally:
                db.execute(f"update cluster set version = {VERSION}".encode())

    def test_an_older_schema_is_migrated_once_the_crawl_goes_on(self, postgres_url, monkeypatch):
        """A column goes, in the way of which views over all shards would be."""
        prepare_cluster(postgres_url, where="here", path=NOWHERE, shards=2)
        monkeypatch.setattr(f"{SCHEMA}.MIGRATIONS", (*MIGRATIONS, "alter table robots drop column fetched_at;"))
        for module in (SCHEMA, "lycosa.store.postgres_cluster"):
            monkeypatch.setattr(f"{module}.VERSION", VERSION + 1)
        monkeypatch.setattr(f"{SCHEMA}.strangers", lambda _: iter(()))
        with pytest.raises(StoreError, match="go on with the crawl once to migrate it"):
            ClusterReports(postgres_url, path=NOWHERE, read_only=True)
        known = {name: part._replace(columns=tuple(c for c in part.columns if (name, c) != ("robots", "fetched_at")))
                 for name, part in parts().items()}  # fmt: skip
        monkeypatch.setattr("lycosa.store.postgres_cluster.parts", lambda: known)
        assert prepare_cluster(postgres_url, where="here", path=NOWHERE, shards=2) == 2
        with closing(ClusterReports(postgres_url, path=NOWHERE, read_only=True)) as reports:
            columns, rows = reports.query("select * from robots")
            assert list(rows) == []
        assert "fetched_at" not in columns
        assert "shard" in columns
