"""A cluster's crawl is refreshed by its shards: one plan for all, and links that are new go to their owners."""

from __future__ import annotations

import asyncio
import time
from types import SimpleNamespace

import numpy as np
import pytest

from fake_ray import FakeRay
from loopback import Answer, lycosa, serving
from lycosa.crawl import address_turns
from lycosa.crawl.letters import link_letter
from lycosa.crawl.link_rules import FoundLink
from lycosa.crawl.receiving import Receiving
from lycosa.crawl.refresh import RefreshPlan
from lycosa.crawl.shard import GrantedStop
from lycosa.engine import Crawl
from lycosa.errors import ConfigError
from lycosa.frontier.frontier import Frontier
from lycosa.lib.clock import SystemClock
from lycosa.opened import opened
from lycosa.stopping.figures import Figures
from lycosa.stopping.rules import Budget
from lycosa.store.rows import Letter, Orders

pytest.importorskip("psycopg", reason="psycopg is not installed: pip install 'lycosa[postgres]'")
from lycosa.cluster import refreshing
from lycosa.cluster.driver import Cluster, ClusterProgress
from lycosa.cluster.partitions import shard_by_host

HOSTS = [f"site-{number}.test" for number in range(6)]


class Web:
    """A hub with links to all hosts, which have a page each; all of it may change."""

    def __init__(self) -> None:
        self.texts = dict.fromkeys(HOSTS, "recreational cycling tour")
        self.new: list[str] = []
        """Paths on the hub's last host that are linked since."""

    def answer(self, request) -> Answer:
        host, _, port = request.headers["Host"].partition(":")
        if request.path == "/hub":
            time.sleep(2.0 * bool(self.new))  # the owner of what is new has done its own work by then, and rests
            links = "".join(f'<a href="http://{each}:{port}/">tour</a>' for each in HOSTS)
            links += "".join(f'<a href="http://{HOSTS[-1]}:{port}{path}">news</a>' for path in self.new)
            return Answer(200, "text/html", f"<title>hub</title><p>recreational cycling hub</p>{links}")
        if request.path in ("/", *self.new) and self.texts[host]:
            return Answer(200, "text/html", f"<p>{self.texts[host]} {request.path}</p>")
        return Answer(404, "text/html", "")


class Nobody:
    def __init__(self) -> None:
        self.looked_at = 0

    def progress(self, now: ClusterProgress) -> None:
        self.looked_at = max(self.looked_at, now.looked_at)

    def event(self, kind: str, message: str) -> None: ...


@pytest.fixture
def web(postgres_server, tmp_path, monkeypatch):
    from postgres_server import new_place

    monkeypatch.setattr(address_turns, "SHORTEST_TURN", 0.05)
    web = Web()
    with serving(web.answer) as (place, _):
        web.port = place.partition(":")[2]
        store = new_place(postgres_server)
        crawl = Crawl(
            "recreational cycling",
            seeds=[f"http://{HOSTS[0]}:{web.port}/hub"],
            directory=tmp_path / "crawl",
            store=store,
            strategy="best-first",
            judge="keywords",
            network={"allow": ["127.0.0.0/8"], "resolve": {"*.test": "127.0.0.1"}},
            politeness={"delay": 0.0, "fetch_time_factor": 0.0, "first_backoff": 0.0},
        )
        report = Cluster(crawl, store=store, crawlers=1, shards=2, ray=FakeRay()).run(Nobody())
        assert report.count == len(HOSTS) + 1
        yield web


def refreshed(tmp_path, **plan) -> str:
    audience = Nobody()
    cluster = Cluster(Crawl(directory=tmp_path / "crawl"), store="", crawlers=2, ray=FakeRay())
    reason = cluster.refresh(RefreshPlan(is_all=True, **plan), audience).reason
    assert reason.startswith(f"refreshed {audience.looked_at} of")
    return reason


def test_what_changed_what_is_gone_and_what_is_new(web, tmp_path):
    owner = shard_by_host(2)
    assert owner(HOSTS[0]) != owner(HOSTS[-1])  # so the new link has to travel
    web.texts[HOSTS[2]], web.texts[HOSTS[3]], web.new = "sailing instead", "", ["/news"]
    reason = refreshed(tmp_path)
    assert reason.startswith("refreshed 7 of 7 pages: ")
    assert reason.endswith("; 1 new link was followed")
    for words in ("4 the same", "2 changed", "1 gone"):
        assert words in reason
    with opened(tmp_path / "crawl", over_shards=True) as (_, _, store):
        assert f"http://{HOSTS[-1]}:{web.port}/news" in [page.url for page in store.pages()]
    plain = lycosa("refresh", tmp_path / "crawl")
    assert plain.returncode == 2
    assert f"lycosa refresh {tmp_path / 'crawl'} --cluster 2" in " ".join(plain.stderr.split())


def test_a_crawl_of_one_process(tmp_path):
    crawl = Crawl("cycling", seeds=["https://a.test/"], directory=tmp_path)
    cluster = Cluster(crawl, store="postgresql://nowhere/x", crawlers=2, ray=FakeRay())
    with pytest.raises(ConfigError, match="no crawl of a cluster here that could be refreshed"):
        cluster.refresh(RefreshPlan(), Nobody())


class Closing:
    def __init__(self, urgency: list[float]) -> None:
        self.urgency = urgency

    def close(self) -> None: ...


class TestOnePlanForAll:
    @pytest.fixture(autouse=True)
    def due(self, monkeypatch):
        """Three shards, of which the last has nothing that is due."""
        urgency = iter([Closing([0.9, 0.2, 0.1]), Closing([0.8, 0.7]), Closing([])])
        monkeypatch.setattr(refreshing, "PostgresStore", lambda url, **_: next(urgency))
        monkeypatch.setattr(refreshing, "shard_url", lambda url, shard: url)
        monkeypatch.setattr(
            refreshing, "due_pages", lambda store, plan, now: (np.arange(len(store.urgency)), np.array(store.urgency))
        )

    def test_the_most_urgent_pages_of_all(self, tmp_path):
        found = refreshing.shared_plan("", tmp_path, 3, RefreshPlan(requests=3, new=7), now=100.0)
        assert [plan.requests for plan in found.plans] == [1, 2, 0]
        assert [plan.new for plan in found.plans] == [3, 2, 2]
        assert found.planned == 3
        assert found.of(2, now=100.0).older == float("inf")  # none, and not all

    def test_all_of_them(self, tmp_path):
        found = refreshing.shared_plan("", tmp_path, 3, RefreshPlan(older=5.0), now=100.0)
        assert [plan.requests for plan in found.plans] == [0, 0, 0]
        assert found.planned == 5
        assert found.of(0, now=100.0).older == 5.0

    def test_who_begins_again_leaves_out_what_was_looked_at(self, tmp_path):
        found = refreshing.shared_plan("", tmp_path, 3, RefreshPlan(older=5.0), now=100.0)
        assert found.of(0, now=130.0).older == 30.0
        assert found.of(0, now=130.0).began == 100.0  # what it has looked at counts


def test_a_shard_that_has_finished_rests_until_it_hears_of_more():
    stop = GrantedStop(Budget(), started=0.0)
    stop.finish("refreshed")
    assert stop.reason(Figures(), Frontier(), now=1.0) == "refreshed"
    letter = Letter(0, 1, 1, link_letter("http://a.test/", FoundLink(1, 0, 0.5, "")))
    store = SimpleNamespace(
        shard=0, where="", taken=dict, letters=lambda most: [letter], orders=lambda: Orders(granted=0, stop="")
    )
    entered: list[str] = []
    urls = SimpleNamespace(add_sent=lambda url, found, batch: entered.append(url))
    ledger = SimpleNamespace(
        state=SimpleNamespace(urls=urls, frontier=Frontier()), figures=Figures, write=lambda batch: None
    )
    turns = SimpleNamespace(look=lambda: None)
    receiving = Receiving(store, ledger=ledger, sending=None, turns=turns, stop=stop, clock=SystemClock())
    assert asyncio.run(receiving.wait())
    assert entered == ["http://a.test/"]
    assert stop.reason(Figures(), Frontier(), now=1.0) == ""
