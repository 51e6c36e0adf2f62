"""A crawl by several crawlers: one budget, each page once, whoever dies; and what people ask of it afterwards."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import closing
from types import SimpleNamespace

import numpy as np
import pytest

from engines import Documents, engines
from fake_ray import FakeRay
from hostile.promises import check_archive, check_nothing_lost
from loopback import lycosa
from lycosa.crawl import address_turns, snapshots
from lycosa.crawl.resume import retold
from lycosa.crawl.snapshots import load
from lycosa.engine import Crawl
from lycosa.errors import ConfigError, StoreError, WorkspaceError
from lycosa.explaining import explanation
from lycosa.fetch.urls import host_key
from lycosa.judge_choice import snapshot_settings
from lycosa.lab.generated.server import served
from lycosa.lab.generated.web import GeneratedWeb, WebPlan
from lycosa.opened import opened
from lycosa.results.archived_pages import ArchivedPages
from lycosa.results.export import export, selection_for
from lycosa.results.page_rows import Selection
from lycosa.run.known import studied_strategy
from lycosa.store import opening
from lycosa.store.opening import open_store

pytest.importorskip("psycopg", reason="psycopg is not installed: pip install 'lycosa[postgres]'")
from lycosa.cluster import crawler, crew, driver
from lycosa.cluster.crawler import CrawlerTask, crawl_of_shard
from lycosa.cluster.driver import Cluster
from lycosa.cluster.partitions import shard_by_host, shard_of_url
from lycosa.store.postgres_cluster import LEAVES, ClusterStore

PLAN = WebPlan(seed=5, pages=120, hosts=10, topics=3, out_degree=10)
ADDRESSES = 6
BUDGET = 50


class Listening:
    def __init__(self) -> None:
        self.events: list[tuple[str, str]] = []
        self.most = 0
        self.crawlers: set[int] = set()
        self.disturbances: list[tuple[int, Callable[[], None]]] = []
        """What happens as soon as there are more pages than this."""

    def progress(self, now: driver.ClusterProgress) -> None:
        self.most = max(self.most, now.pages)
        self.crawlers.add(now.crawlers)
        while self.disturbances and now.pages > self.disturbances[0][0]:
            self.disturbances.pop(0)[1]()

    def event(self, kind: str, message: str) -> None:
        self.events.append((kind, message))


@pytest.fixture(scope="module")
def web():
    return GeneratedWeb(PLAN)


@pytest.fixture(scope="module")
def crawled(web, postgres_server, tmp_path_factory):
    """A crawl of three shards: by two crawlers up to a budget, while crawlers die; then by up to three, to the end, on
    one node at first. Two more join, then the first is lost, although its crawler goes on."""
    from postgres_server import new_place

    home, store = tmp_path_factory.mktemp("cluster") / "crawl", new_place(postgres_server)
    seeds = web.seeds(0, 3, np.random.default_rng(3))
    killed: list[Crawl] = []

    def dying(task: CrawlerTask, shard: int, *, takes_over: bool = False) -> Crawl:
        """The first crawlers of each shard are ended in the middle of what they do, after a few pages."""
        made = crawl_of_shard(task, shard, takes_over=takes_over)
        pages: list[str] = []

        def die(event: object) -> None:
            pages.extend(["page"] if event.kind == "page" else [])
            if len(pages) == 5 and len(killed) < 2:
                killed.append(made)
                made.cancel()

        made.listen(die)
        return made

    with served(PLAN, addresses=ADDRESSES) as server, pytest.MonkeyPatch.context() as patch:
        patch.setattr(crawler, "crawl_of_shard", dying)
        patch.setattr(snapshots, "FIRST", 10)
        patch.setattr(address_turns, "SHORTEST_TURN", 0.05)
        patch.setattr(crawler, "WAIT_FOR_PREDECESSOR", 0.2)
        patch.setattr(crew, "SETTLE", 0.5)

        def run(crawlers: int, pages: int, ray: FakeRay, disturbances=()) -> tuple[object, Listening, FakeRay]:
            crawl = Crawl(
                web.topic_keywords(0),
                seeds=[web.url(page, port=server.port) for page in seeds],
                directory=home,
                store=store,
                politeness={"delay": 0.0, "fetch_time_factor": 0.0},
                network={"allow": ["127.0.0.0/8"], "resolve": server.overrides},
                budget={"pages": pages},
            )
            audience = Listening()
            audience.disturbances.extend(disturbances)
            report = Cluster(crawl, store=store, crawlers=crawlers, shards=3, ray=ray).run(audience)
            return report, audience, ray

        first = run(2, BUDGET, FakeRay())
        with opened(home, over_shards=True) as (_, _, found):
            budgeted = found.totals()
        ray = FakeRay(places=1)
        joined = (BUDGET, lambda: ray.join(3))
        lost = (BUDGET + 25, lambda: ray.lose(ray.actors[0]))
        second = run(3, 100_000, ray, [joined, lost])
    return SimpleNamespace(home=home, store=store, seeds=seeds, first=first, budgeted=budgeted, second=second)


def test_a_budget_is_exact_over_all_shards(crawled):
    report, audience, _ = crawled.first
    assert report.count == BUDGET == audience.most == crawled.budgeted.pages
    assert report.reason.startswith(f"page budget: {BUDGET}")


def test_crawlers_that_die_are_replaced(crawled):
    _, audience, ray = crawled.first
    assert sum(kind == "crawler" for kind, _ in audience.events) == len(ray.calls) - 3 >= 1


def test_nodes_that_join_get_shards_and_those_of_a_lost_one_go_on(crawled):
    _, audience, ray = crawled.second
    assert {1, 3} <= audience.crawlers
    assert sum("3 crawlers now, so shards move" in message for _, message in audience.events) == 1
    assert sum("the node is lost" in message for _, message in audience.events) == 1
    assert len(ray.calls) == 3 + 2 + 1  # begun, moved, begun anew
    with opened(crawled.home, over_shards=True) as (_, _, store):
        reasons = [reason for (reason,) in store.query("select stop_reason from runs")[1]]
    assert reasons.count(LEAVES) == 2


def test_every_page_is_fetched_once_and_none_is_lost(crawled, web):
    report, _, _ = crawled.second
    assert "frontier empty" in report.reason
    with opened(crawled.home, over_shards=True) as (_, _, store):
        urls = [page.url for page in store.pages()]
        assert [page.number for page in store.pages()] == list(range(1, len(urls) + 1))
        assert store.totals().waiting == 0
        assert store.query("select count(*) from outbox")[1].__next__() == (0,)
    check_nothing_lost(web, crawled.seeds, urls)


def test_the_latest_pages_of_all_shards(crawled):
    """What stop rules are about."""
    latest = (
        "select j.is_relevant from pages p join judgements j on j.page_id = p.id order by p.fetched_at desc limit 90"
    )
    with (
        opened(crawled.home, over_shards=True) as (_, _, store),
        closing(ClusterStore(crawled.store, path=crawled.home, patience=1.0)) as shared,
    ):
        expected = [bool(is_relevant) for (is_relevant,) in store.query(latest)[1]]
        assert shared.recent_relevance(90) == expected
    assert True in expected


def test_search_engines_are_asked_by_one_shard_and_all_fetch_what_they_find(web, postgres_server, tmp_path):
    """Without any seed."""
    from postgres_server import new_place

    store = new_place(postgres_server)
    with served(PLAN, addresses=ADDRESSES) as server:
        about = [page for page in range(len(web)) if web.topic_of(page) == 0 and web.is_allowed(page)]
        pages = {web.url(page, port=server.port): ("cycling", "cycling tour") for page in about}
        with engines(Documents(pages)) as search:
            engine = {"kind": "searxng", "url": search.url("searxng-1"), "delay": 0.0}
            crawl = Crawl(
                "cycling tour",
                directory=tmp_path / "crawl",
                store=store,
                politeness={"delay": 0.0, "fetch_time_factor": 0.0},
                network={"allow": ["127.0.0.0/8"], "resolve": server.overrides},
                metasearch={"is_on": True, "engines": [engine]},
                budget={"pages": 12},
            )
            report = Cluster(crawl, store=store, crawlers=2, shards=2, ray=FakeRay()).run(Listening())
    assert report.count == 12
    assert len(search.asked) == 1
    with opened(tmp_path / "crawl", over_shards=True) as (_, _, found):
        by_search = "select p.shard from pages p join frontier f on f.id = p.id where f.parent_id is null"
        assert {shard for (shard,) in found.query(by_search)[1]} == {0, 1}


def test_each_host_is_the_business_of_one_shard(crawled):
    owner = shard_by_host(3)
    with opened(crawled.home, over_shards=True) as (_, _, store):
        _, rows = store.query("select h.name, p.shard from pages p join frontier f on f.id = p.id "
                              "join hosts h on h.id = f.host_id group by 1, 2")  # fmt: skip
        found = dict(rows)
    assert found == {name: owner(name) for name in found}
    assert set(found.values()) == {0, 1, 2}


def test_archives_hold_each_page_once(crawled):
    for shard in range(3):
        with opened(crawled.home, over_shards=True) as (_, _, store):
            _, rows = store.query(f"select f.url from pages p join frontier f on f.id = p.id where p.shard = {shard}")
            urls = [url for (url,) in rows]
        check_archive(crawled.home / "shards" / f"{shard:04d}" / "archive", urls)


def test_links_of_all_shards_are_exported(crawled, tmp_path, web):
    with opened(crawled.home, over_shards=True) as (workspace, _, store):
        texts = ArchivedPages.of_text(workspace.archive, store)
        target = tmp_path / "pages.jsonl"
        assert export(store, target, texts=texts, wanted=selection_for(target, Selection())) == store.totals().pages
        assert texts.damaged == 0
        links = list(store.links_on_pages())
    owner = shard_by_host(3)
    assert any(owner(host_key(link.source)) != owner(host_key(link.target)) for link in links)
    found = {(web.page_of(link.source), web.page_of(link.target)) for link in links}
    direct = {(page, target) for page, target in found if target is not None}
    planned = {(page, target) for page in range(len(web)) for target in web.out_links(page).tolist()}
    assert len(direct & planned) > 0.7 * len(planned)  # others lead there by a redirect, or are not allowed


def test_a_strategy_that_is_told_all_again_knows_what_the_snapshot_knows(crawled):
    """Pages of other shards included, in the order in which they came."""
    task = CrawlerTask(str(crawled.home), crawled.store, 3, (crawled.home / "lycosa.toml").read_text())
    foreign = 0
    for shard in range(3):
        crawl = crawl_of_shard(task, shard)
        with closing(crawl._begin_store()) as store:
            config = crawl.settled_config()
            judge = crawl._judge_for(config)
            _, told = studied_strategy(config, judge, None)
            for _ in retold(store, told):
                pass
            _, loaded = studied_strategy(config, judge, None)
            covered = load(loaded, store, crawl.workspace.snapshots, snapshot_settings(config, "hunter", version=0))
            assert covered.pages == store.totals().pages
            assert covered.foreign == len(list(store.foreign_pages()))
            foreign += covered.foreign
            assert len(told.study.relevance) == covered.pages + len(list(store.foreign_pages()))
            np.testing.assert_array_equal(told.study.relevance, loaded.study.relevance)
            for each in ("score", "cited", "page"):
                known = [getattr(hunter._evidence.links, each)[: told._evidence.highest] for hunter in (told, loaded)]
                np.testing.assert_array_equal(*known)
    assert foreign > 20


def test_one_process_does_not_go_on_with_it(crawled):
    crawl = Crawl(directory=crawled.home)
    with pytest.raises(StoreError, match=r"holds a crawl of a cluster.*--cluster N"):
        crawl.run()
    with pytest.raises(WorkspaceError, match=r"the crawl of a cluster.*shards/0000"):
        open_store(crawl.workspace, read_only=True)


def test_a_url_is_explained_by_its_shard(crawled, web):
    with opened(crawled.home, over_shards=True) as (_, _, store):
        urls = [page.url for page in store.pages()][::30]
    for url in urls:
        with opened(shard_of_url(crawled.home, url)) as (workspace, config, store):
            facts = dict(explanation(workspace, config, store, url))
        assert facts["state"] == "fetched"
        assert facts["page"].startswith("number ")


def test_the_database_of_another_directory(crawled, tmp_path):
    crawl = Crawl("cycling", seeds=["https://a.test/"], directory=tmp_path / "other", store=crawled.store)
    with pytest.raises(StoreError, match="was begun in another directory"):
        Cluster(crawl, store=crawled.store, crawlers=3, ray=FakeRay()).run(Listening())


def test_more_crawlers_than_shards(crawled):
    crawl = Crawl(directory=crawled.home)
    with pytest.raises(ConfigError, match="this crawl has 3 shards, and so at most as many crawlers: --cluster 3"):
        Cluster(crawl, store="", crawlers=4, ray=FakeRay()).run(Listening())


class TestSettings:
    def made(self, tmp_path, **settings):
        crawl = Crawl("cycling", seeds=["https://a.test/"], directory=tmp_path, **settings)
        return Cluster(crawl, store="postgresql://nowhere/x", crawlers=2, ray=FakeRay())

    def test_without_a_store(self, tmp_path):
        with pytest.raises(ConfigError, match="give --store postgresql://"):
            Cluster(Crawl("x", seeds=["https://a.test/"], directory=tmp_path), store="", crawlers=2, ray=FakeRay())

    def test_fewer_shards_than_crawlers(self, tmp_path):
        crawl = Crawl("x", seeds=["https://a.test/"], directory=tmp_path)
        with pytest.raises(ConfigError, match="3 crawlers and 2 shards"):
            Cluster(crawl, store="postgresql://nowhere/x", crawlers=3, shards=2, ray=FakeRay())

    def test_stop_rules_that_look_at_one_frontier(self, tmp_path):
        for name, value in (("community", 0.5), ("expected_harvest", 0.1), ("is_generalised", True)):
            with pytest.raises(ConfigError, match=rf"stop\.{name}: a cluster cannot keep this stop rule, as"):
                self.made(tmp_path, stop={name: value})
        self.made(tmp_path, stop={"relevant": 50, "precision": 0.5, "best_score": 0.1})

    @pytest.mark.parametrize(("module", "extra"), [("ray", "lycosa[cluster]"), ("psycopg", "lycosa[postgres]")])
    def test_without_what_a_cluster_needs(self, tmp_path, monkeypatch, module, extra):
        monkeypatch.setitem(sys.modules, module, None)
        command = ("crawl", "cycling", "--seed", "http://a.test/", "-o", tmp_path / "x", "--cluster", "2")
        done = lycosa(*command, "--store", "postgresql://nowhere/x")
        assert done.returncode == 2
        assert f"pip install '{extra}'" in " ".join(done.stderr.split())
        assert "Traceback" not in done.stderr
        assert not (tmp_path / "x").exists()

    @pytest.mark.parametrize(
        ("store", "words"),
        [
            ("mysql://x/y", "postgresql://user@host:5432/database"),
            ("postgresql://me@127.0.0.1:1/x", "cannot be reached"),
        ],
    )
    def test_a_wrong_url(self, tmp_path, monkeypatch, store, words):
        monkeypatch.setitem(sys.modules, "ray", FakeRay())
        command = ("crawl", "cycling", "--seed", "http://a.test/", "-o", tmp_path / "x", "--cluster", "2")
        done = lycosa(*command, "--store", store)
        assert done.returncode == 2
        assert words in " ".join(done.stderr.split())
        assert not opening.Workspace(tmp_path / "x").has_crawl
