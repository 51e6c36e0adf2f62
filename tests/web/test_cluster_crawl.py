"""A cluster's crawl as a whole: what the dashboard shows of it, whom its orders reach, and what commands say."""

from __future__ import annotations

import json
import re
import shutil
from contextlib import closing
from types import SimpleNamespace

import numpy as np
import pytest

from fake_ray import FakeRay
from loopback import lycosa
from lycosa.crawl import address_turns
from lycosa.crawl.furniture_state import FURNITURE, FURNITURE_SINCE
from lycosa.engine import Crawl
from lycosa.lab.generated.server import served
from lycosa.lab.generated.web import GeneratedWeb, WebPlan
from lycosa.mcp.tools import CrawlTools
from lycosa.opened import opened
from lycosa.page.furniture import Furniture
from lycosa.results.archived_pages import ArchivedPages
from lycosa.results.explain import SHOWN_CITATIONS
from lycosa.results.search import IndexedText, _rarity
from lycosa.store.opening import open_store
from lycosa.store.rows import Batch
from lycosa.workspace import Workspace
from postgres_server import new_place

from .conftest import client_of, wait_for_errands

pytest.importorskip("psycopg", reason="psycopg is not installed: pip install 'lycosa[postgres]'")
from lycosa.cluster.driver import Cluster
from lycosa.cluster.partitions import shard_by_host

PLAN = WebPlan(seed=5, pages=80, hosts=8, topics=3, out_degree=10)
PAGES = 40
C = "/api/crawls/cluster"


class Nobody:
    def progress(self, _now: object) -> None: ...

    def event(self, _kind: str, _message: str) -> None: ...


@pytest.fixture(scope="module")
def crawled(postgres_server, tmp_path_factory):
    """A crawl of two shards, by one crawler; tests change no more of it than they say."""
    web, folder, url = GeneratedWeb(PLAN), tmp_path_factory.mktemp("crawls"), new_place(postgres_server)
    with served(PLAN, addresses=8) as server, pytest.MonkeyPatch.context() as patch:
        patch.setattr(address_turns, "SHORTEST_TURN", 0.05)
        crawl = Crawl(
            web.topic_keywords(0),
            seeds=[web.url(page, port=server.port) for page in web.seeds(0, 4, np.random.default_rng(3))],
            directory=folder / "cluster",
            store=url,
            politeness={"delay": 0.0, "fetch_time_factor": 0.0},
            network={"allow": ["127.0.0.0/8"], "resolve": server.overrides},
            budget={"pages": PAGES},
        )
        Cluster(crawl, store=url, crawlers=1, shards=2, ray=FakeRay()).run(Nobody())
    return SimpleNamespace(folder=folder, home=folder / "cluster", url=url, word=web.topic_keywords(0).split()[0])


@pytest.fixture(scope="module")
def client(crawled):
    with client_of(crawled.folder) as client:
        yield client
        wait_for_errands(client)


def in_shards(crawled, ask) -> list[object]:
    found = []
    for part in Workspace(crawled.home).parts():
        with closing(open_store(part, read_only=True)) as store:
            found.append(ask(store))
    return found


def rows(crawled, sql: str) -> list[tuple[object, ...]]:
    with opened(crawled.home, over_shards=True) as (_, _, store):
        return list(store.query(sql)[1])


def _word_counts(part: Workspace, word: str) -> tuple[int, int]:
    with closing(open_store(part, read_only=True)) as store, IndexedText(part, store, word) as found:
        return len(found.pages), found.indexed


class TestDashboard:
    @pytest.mark.parametrize(
        "path",
        ["", "/figures", "/overview?bins=10&levels=5", "/events", "/pages/1", "/pages/2/brief", "/review?count=6",
         "/queue", "/queue/scores", "/commands", "/results", "/facets", "/sites", "/citations", "/neighbours",
         "/alarms", "/sql/examples", "/hubs?top=5&within_sites=true"],
    )  # fmt: skip
    def test_every_view_answers(self, client, path):
        answer = client.get(C + path)
        assert answer.status_code == 200, answer.text

    def test_it_shows_the_whole_and_says_so(self, client, crawled):
        (listed,) = client.get("/api/crawls").json()["crawls"]
        assert (listed["shards"], listed["pages"]) == (2, PAGES)
        figures = client.get(f"{C}/figures").json()
        assert (figures["shards"], figures["pages"]) == (2, PAGES)
        fetched = sum(row["count"] for row in figures["outcomes"] if row["kind"] == "fetched")
        assert fetched == PAGES == sum(in_shards(crawled, lambda store: store.totals().pages))
        assert client.get(f"{C}/figures").json()["outcomes"] == figures["outcomes"]  # counted once
        events = client.get(f"{C}/events").json()["events"]
        assert {event["message"].split(":")[0] for event in events} == {"shard 0", "shard 1"}
        assert [event["id"] for event in events] == list(range(1, len(events) + 1))
        for example in client.get(f"{C}/sql/examples").json()["examples"]:
            assert client.post(f"{C}/sql", json={"sql": example["sql"]}).status_code == 200, example["name"]

    def test_pages_of_other_shards_cite(self, client, crawled):
        sql = """select f.url, min(p.number), count(distinct s.id),
                        count(distinct case when s.shard = f.shard then s.id end)
                 from pages p join frontier f on f.id = p.id join frontier t on t.url = f.url
                 join links l on l.target_id = t.id join frontier s on s.id = l.source_id
                 group by f.url, f.shard order by count(case when s.shard != f.shard then 1 end) desc limit 1"""
        ((url, number, count, of_own_shard),) = rows(crawled, sql)
        assert of_own_shard < min(SHOWN_CITATIONS, count)
        assert len(client.get(f"{C}/pages/{number}").json()["cited_by"]) == min(6, count)
        said = json.loads(lycosa("explain", crawled.home, url, "--json").stdout)
        assert sum(head == "cited by" for head, _ in said) == min(SHOWN_CITATIONS, count)

    def test_an_answer_reaches_the_shard_that_has_the_page(self, client, crawled):
        ((number, url),) = rows(
            crawled, "select p.number, f.url from pages p join frontier f on f.id = p.id where p.shard = 1 limit 1"
        )
        said = client.post(f"{C}/pages/{number}/answer", json={"answer": "irrelevant"}).json()
        assert (said["url"], said["answer"], said["is_relevant"]) == (url, "irrelevant", False)
        assert in_shards(crawled, lambda store: [row.url for row in store.answers()]) == [[], [url]]
        wait_for_errands(client)

    def test_orders_reach_all_shards_and_are_one_in_the_list(self, client, crawled):
        number = client.post(f"{C}/commands", json={"kind": "exclude", "target": "h2.test"}).json()["command"]
        assert (
            in_shards(crawled, lambda store: [(row.kind, row.target) for row in store.commands()])
            == [[("exclude", "h2.test")]] * 2
        )
        assert client.post(f"{C}/commands", json={"kind": "undo", "target": str(number)}).status_code == 200
        own = in_shards(crawled, lambda store: [(row.id, row.kind, row.target) for row in store.commands()])
        for shard in own:
            (excluded, undone) = shard
            assert undone[1:] == ("undo", str(excluded[0]))
        listed = client.get(f"{C}/commands").json()["commands"]
        assert [(row["kind"], row["can_be_undone"]) for row in listed] == [("undo", False), ("exclude", False)]
        again = client.post(f"{C}/commands", json={"kind": "undo", "target": str(number)})
        assert "has been undone already" in again.json()["error"]
        assert "does not run" in client.post(f"{C}/commands", json={"kind": "stop"}).json()["error"]
        assert "--cluster 2" in client.post(f"{C}/run", json={}).json()["error"]

    def test_stop_is_for_whoever_runs_the_cluster(self, client, crawled, monkeypatch):
        monkeypatch.setattr(Workspace, "holder", lambda _: 1)
        assert client.post(f"{C}/commands", json={"kind": "stop"}).status_code == 200
        assert rows(crawled, "select stop from cluster") == [("stopped from the dashboard",)]
        assert not any("stop" in kinds for kinds in in_shards(crawled, lambda s: [row.kind for row in s.commands()]))


class TestCommands:
    def test_they_speak_of_all_shards(self, crawled, tmp_path):
        for words, expected in {
            ("check",): "whole",
            ("status",): f"{PAGES} pages",
            ("search", crawled.word, "--json", "--limit", "100"): '"url"',
            ("distill", "--within-sites", "--admitted", "1", "--top", str(PAGES), "--json"): '"hubs"',
            ("review", "--list"): "http",
        }.items():
            done = lycosa(words[0], crawled.home, *words[1:])
            assert done.returncode == 0, (words, done.stderr)
            assert expected in done.stdout, (words, done.stdout)
            found = {shard_by_host(2)(host) for host in re.findall(r"https?://([^/\"\s]+)", done.stdout)}
            if words[0] == "distill":  # what is asked about, and what has the word, depends on what came first
                assert found == {0, 1}
                assert json.loads(done.stdout)["pages"] == PAGES
            if words[0] == "search":
                parts = Workspace(crawled.home).parts()
                assert found == {shard for shard, part in enumerate(parts) if _word_counts(part, crawled.word)[0]}
                numbers = [json.loads(line)["number"] for line in done.stdout.splitlines()]
                assert len(set(numbers)) == len(numbers)

    def test_a_word_is_as_rare_as_in_all_shards(self, crawled, tmp_path):
        """The order is the one that a single index of all pages gives."""
        word = crawled.word
        done = lycosa("search", crawled.home, word, "--json", "--limit", "100")
        found = {row["url"]: row["score"] for row in map(json.loads, done.stdout.splitlines())}
        order = list(found.values())
        assert order == sorted(order, reverse=True)
        counts, sizes = zip(*[_word_counts(part, word) for part in Workspace(crawled.home).parts()], strict=True)
        assert len(found) == sum(counts)
        assert len(set(np.round([count / size for count, size in zip(counts, sizes, strict=True)], 2))) == 2
        for part, count, size in zip(Workspace(crawled.home).parts(), counts, sizes, strict=True):
            own = lycosa("search", part.directory, word, "--json", "--limit", "100")
            scale = _rarity(sum(counts), sum(sizes)) / _rarity(count, size)
            for row in map(json.loads, own.stdout.splitlines()):
                assert found[row["url"]] == pytest.approx(scale * row["score"])

    def test_an_assistant_reads_all_shards(self, crawled):
        tools = CrawlTools(crawled.folder)
        assert tools.status("cluster")["pages"] == PAGES
        for shard in (0, 1):
            sql = f"select f.url from pages p join frontier f on f.id = p.id where p.shard = {shard} limit 1"
            ((url,),) = rows(crawled, sql)
            assert tools.read_page("cluster", url)["text"]
            assert any(line.startswith("state: fetched") for line in tools.explain("cluster", url))

    def test_feedback_is_heard_by_the_shards_concerned(self, crawled):
        urls = [
            url
            for shard in (0, 1)
            for (url,) in rows(
                crawled,
                f"""select f.url from pages p join frontier f on f.id = p.id where p.shard = {shard}
                    order by p.number desc limit 1""",
            )
        ]
        done = lycosa("feedback", crawled.home, "--useful", urls[0], "--not-useful", urls[1])
        assert done.returncode == 0, done.stderr
        assert [line for line in done.stdout.splitlines() if line.startswith("shard")] == ["shard 0000:", "shard 0001:"]
        said = in_shards(crawled, lambda store: {row.url: row.answer for row in store.answers()})
        assert said[0][urls[0]] == "relevant"
        assert said[1][urls[1]] == "irrelevant"
        assert urls[1] not in said[0]

    def test_texts_are_those_of_the_shards(self, crawled, tmp_path):
        whole = tmp_path / "pages.jsonl"
        assert lycosa("export", crawled.home, "--to", whole).returncode == 0
        texts = {row["url"]: row["text"] for row in map(json.loads, whole.read_text().splitlines())}
        of_shards = {}
        for part in Workspace(crawled.home).parts():
            target = tmp_path / part.directory.name / "pages.jsonl"
            target.parent.mkdir()
            assert lycosa("export", part.directory, "--to", target).returncode == 0
            of_shards |= {row["url"]: row["text"] for row in map(json.loads, target.read_text().splitlines())}
        assert texts == of_shards
        assert len(texts) == PAGES

    def test_it_moves_to_another_database_as_a_whole(self, crawled, postgres_server, tmp_path):
        here, there = tmp_path / "cluster", new_place(postgres_server)
        shutil.copytree(crawled.home, here)
        back = lycosa("move", crawled.url, here)
        assert back.returncode == 2
        assert "lycosa export" in " ".join(back.stderr.split())
        for _ in range(2):  # interrupted before it counts, it is done again
            done = lycosa("move", here, there)
            assert done.returncode == 0, done.stderr
            assert "the same on both sides" in done.stdout
            (here / "store.url").write_text(crawled.url)
        (here / "store.url").write_text(there)
        moved = SimpleNamespace(home=here)
        for sql in (
            "select p.*, f.url from pages p join frontier f on f.id = p.id order by p.number",
            "select * from links order by 1, 2",
            "select shard, granted, pages, front from shards order by 1",
            "select * from cluster",
        ):
            assert rows(moved, sql) == rows(crawled, sql), sql
        assert all(in_shards(moved, lambda store: store.totals().pages))
        assert lycosa("check", here).returncode == 0

    def test_menus_that_a_shard_has_learned_are_left_out_of_the_whole(self, crawled):
        part = Workspace(crawled.home).parts()[1]
        with closing(open_store(part)) as store:
            host = max(store.hosts(), key=lambda host: host.pages)
            known = Furniture()
            for page in range(5):  # a block that stands on every page, and one that does not
                known.add(host.id, np.array([7, 100 + page], dtype="u4").tobytes())
            assert known.of(host.id) == np.array([7], dtype="u4").tobytes()
            before = store.state(FURNITURE) or b""
            store.write(Batch(state={FURNITURE: known.save(), FURNITURE_SINCE: b""}))
        with opened(crawled.home, over_shards=True) as (workspace, _, store):
            found = ArchivedPages.of_text(workspace.archive, store)._furniture_of(f"http://{host.name}/")
        with closing(open_store(part)) as store:
            store.write(Batch(state={FURNITURE: before}))
        assert found == known.of(host.id)
