"""Search engines beside a crawl, over HTTP: from words alone, now and then, when nothing is left; and after a kill."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from contextlib import closing

import pytest
import tomli_w

import lycosa
from engines import Answer, Documents, engines, misbehaviour
from hostile.server import running
from loopback import lycosa as command
from loopback import serving
from lycosa.config import build
from lycosa.crawl.found_pages import LiveSites
from lycosa.errors import ConfigError, SeedError
from lycosa.fetch.politeness import Politeness
from lycosa.judges.keywords import KeywordJudge
from lycosa.lab.generated.web import GeneratedWeb, WebPlan
from lycosa.live import query_words
from lycosa.seeds.metasearch.engine import Got
from lycosa.seeds.metasearch.site_lists import Site

PLAN = WebPlan(seed=5, pages=150, hosts=8, topics=3, out_degree=4, paragraphs=2, crawl_delay=0, navigation=0.0)


@pytest.fixture(scope="module")
def web():
    return GeneratedWeb(PLAN)


@pytest.fixture(scope="module")
def server(web):
    with running(web, addresses=len(web.hosts)) as server:
        yield server


@pytest.fixture
def search(web, server):
    """Engines over the generated web's pages, each with 40 % of them."""
    pages = {}
    for page in range(len(web)):
        url = server.url(page)
        topic = web.topic_of(page)
        name = web.topic_names[topic] if topic >= 0 else "general"
        pages[url] = (f"{name} page {page}", f"{name} and more")
    with engines(Documents(pages, coverage=0.4)) as running_engines:
        running_engines.special.update(misbehaviour())
        yield running_engines


@pytest.fixture
def settings(server, search, tmp_path, monkeypatch):
    """Writes the settings that LYCOSA_CONFIG names: the network of the generated web, and engines."""
    path = tmp_path / "settings.toml"
    monkeypatch.setenv("LYCOSA_CONFIG", str(path))

    def write(*listed, **more):
        names = listed or ({"kind": "searxng", "url": search.url("searxng-1"), "name": "one", "delay": 0.0},)
        known = {"is_on": True, "every": 20, "dry_pages": 0, "timeout": 3.0, "engines": list(names), **more}
        path.write_text(
            tomli_w.dumps(
                {
                    "network": {"allow": ["127.0.0.0/8"], "resolve": server.overrides()},
                    "politeness": {"delay": 0.0, "fetch_time_factor": 0.0, "first_backoff": 0.0},
                    "readers": {"count": 1},
                    "metasearch": known,
                }
            )
        )
        return path

    return write


def three(search):
    return [
        {"kind": "searxng", "url": search.url("searxng-1"), "name": "one", "delay": 0.0},
        {"kind": "opensearch", "url": search.url("opensearch-2/rss/description.xml"), "name": "two", "delay": 0.0},
        {"kind": "opensearch", "url": search.url("opensearch-3/atom/description.xml"), "name": "three", "delay": 0.0},
    ]


def rows(directory, sql, *values):
    with closing(sqlite3.connect(directory / "crawl.db")) as db:
        return db.execute(sql, values).fetchall()


class TestFromWordsAlone:
    def test_three_partial_engines_start_a_crawl_without_any_seed(self, settings, search, tmp_path):
        settings(*three(search))
        told = []
        crawl = lycosa.Crawl("cycling", directory=tmp_path / "crawl")
        crawl.listen(lambda event: told.append(event) if event.kind == "search" else None)
        report = crawl.run(pages=45)
        assert report.count == 45
        assert report.relevant >= 10
        directory = tmp_path / "crawl"
        assert rows(directory, "select reason, after_pages, query from searches order by id limit 1") == [
            ("start", 0, "cycling")
        ]
        # Each engine was asked each query, and the best ten of all have joined the frontier.
        queries = rows(directory, "select count(*) from searches")[0][0]
        assert rows(directory, "select engine, count(*) from search_answers group by 1") == [
            ("one", queries), ("three", queries), ("two", queries),
        ]  # fmt: skip
        assert rows(directory, "select count(distinct link_id) from search_results where search_id = 1") == [(10,)]
        assert {each[0] for each in rows(directory, "select engine from search_results where search_id = 1")} == {
            "one", "two", "three",
        }  # fmt: skip
        firsts = rows(
            directory, "select f.distance, f.parent_id from pages p join frontier f using (id) where number = 1"
        )
        assert firsts == [(1, None)]
        assert told[0].message.startswith("searched (at the start) for “cycling”: one ")
        assert "10 pages queued, 10 of them new" in told[0].message
        # Later rounds look for what was found.
        later = [query for _, query in rows(directory, "select id, query from searches where id > 1")]
        assert later
        assert all(query.startswith("cycling ") for query in later)
        assert len(set(later)) == len(later)
        assert {why for (why,) in rows(directory, "select reason from searches where id > 1")} == {"every"}

    @pytest.mark.parametrize(
        "strategy", ["hunter", "breadth-first", "infospiders", "pagerank", "shark-5", "decay+hunter"]
    )
    def test_whatever_the_strategy(self, strategy, settings, tmp_path):
        settings()
        report = lycosa.Crawl("cycling", directory=tmp_path / "crawl", strategy=strategy).run(pages=25)
        assert report.count == 25
        found = rows(tmp_path / "crawl", "select count(*) from search_results r join pages p on p.id = r.link_id")
        assert found[0][0] >= 5

    def test_a_judge_of_ones_own(self, settings, tmp_path):
        settings()

        class Cycling:
            name = "own"

            def judge(self, page):
                return 1.0 if "cycling" in page.text else 0.0

        assert lycosa.Crawl("cycling", directory=tmp_path / "crawl", judge=Cycling()).run(pages=15).count == 15

    def test_explain_and_status_tell_of_it(self, settings, search, tmp_path):
        broken = {"kind": "searxng", "url": search.url("captcha"), "name": "broken", "delay": 0.0}
        settings(*three(search), broken)
        directory = tmp_path / "crawl"
        lycosa.Crawl("cycling", directory=directory).run(pages=12)
        ((url, engine, rank),) = rows(directory, "select url, engine, rank from found_by_search limit 1")
        explained = command("explain", directory, url).stdout
        assert "by a search" in explained
        assert f"{engine} named it for “cycling”, rank {rank}" in explained
        assert "given as a seed" not in explained
        shown = command("status", directory).stdout
        assert "search engines" in shown
        assert "captcha 1×" in shown
        figures = json.loads(command("status", directory, "--json").stdout)["search_engines"]
        assert figures["broken"]["failures"] == {"captcha": 1}
        assert figures["one"]["answered"] == 1
        assert figures["one"]["pages"] >= 1

    def test_on_the_command_line(self, settings, search, tmp_path, monkeypatch):
        settings(engines=[], is_on=False)
        directory = tmp_path / "crawl"
        done = command(
            "crawl", "cycling", "-o", directory, "-n", 10, "-q", "--engine", f"searxng={search.url('searxng-1')}"
        )
        assert done.returncode == 0, done.stderr
        assert rows(directory, "select count(*) from pages") == [(10,)]
        none = command("crawl", "cycling", "-o", tmp_path / "other", "--metasearch")
        assert none.returncode == 2
        assert "metasearch.engines = [" in none.stderr
        seedless = command("crawl", "cycling", "-o", tmp_path / "third")
        assert seedless.returncode == 2
        assert "--metasearch" in seedless.stderr


class TestRounds:
    def test_what_is_found_again_is_not_queued_again(self, settings, search, tmp_path):
        settings(*three(search))
        lycosa.Crawl("cycling", directory=tmp_path / "crawl").run(pages=60)
        doubles = "select count(*), count(distinct url) from frontier"
        assert len(set(rows(tmp_path / "crawl", doubles)[0])) == 1
        fetched = rows(tmp_path / "crawl", "select link_id, count(*) from outcomes where kind = 'fetched' group by 1")
        assert all(count == 1 for _, count in fetched)

    def test_when_nothing_is_left_engines_are_asked_before_the_crawl_gives_up(self, settings, search, tmp_path):
        """Only pages that engines name may be fetched: without searching again, ten would be all."""
        settings(*three(search), every=0, results=10)
        crawl = lycosa.Crawl("cycling", directory=tmp_path / "crawl", frontier={"max_distance": 1})
        report = crawl.run(pages=500)
        reasons = [why for (why,) in rows(tmp_path / "crawl", "select reason from searches order by id")]
        assert reasons[0] == "start"
        assert set(reasons[1:]) == {"empty"}
        assert report.count > 10
        assert report.reason.startswith("frontier empty")

    def test_a_dry_spell_is_a_reason_to_ask(self, settings, search, tmp_path):
        settings(every=0, dry_pages=15)
        crawl = lycosa.Crawl("cycling", directory=tmp_path / "crawl", judge="keywords", strategy="breadth-first")
        crawl.run(pages=60)
        reasons = rows(tmp_path / "crawl", "select reason, after_pages from searches order by id")
        assert [why for why, _ in reasons[:1]] == ["start"]
        assert {why for why, _ in reasons[1:]} <= {"dry"}

    def test_a_resumed_crawl_asks_nothing_again(self, settings, search, tmp_path):
        settings(*three(search))
        lycosa.Crawl("cycling", directory=tmp_path / "crawl").run(pages=10)
        before = search.queries()
        lycosa.Crawl("cycling", directory=tmp_path / "crawl").run(pages=19)
        assert search.queries() == before
        lycosa.Crawl("cycling", directory=tmp_path / "crawl").run(pages=45)
        news = search.queries()[len(before) :]
        assert news
        assert "cycling" not in news

    def test_what_no_engine_answered_is_asked_again(self, settings, search, tmp_path):
        search.special["/searxng-1/search"] = misbehaviour()["/quota/search"]
        settings()
        crawl = lycosa.Crawl("cycling", directory=tmp_path / "crawl")
        assert crawl.run(pages=5).count == 0
        del search.special["/searxng-1/search"]
        again = lycosa.Crawl("cycling", directory=tmp_path / "crawl")
        assert again.run(pages=5).count == 0  # it asked to be left alone for two hours
        assert [row for (row,) in rows(tmp_path / "crawl", "select outcome from search_answers")] == [
            "quota",
            "resting",
        ]
        with closing(sqlite3.connect(tmp_path / "crawl" / "crawl.db")) as db, db:
            db.execute("update search_answers set ready_at = 0")
        assert lycosa.Crawl("cycling", directory=tmp_path / "crawl").run(pages=5).count == 5

    def test_a_daily_quota_holds_over_runs(self, settings, search, tmp_path):
        engine = {"kind": "searxng", "url": search.url("searxng-1"), "name": "one", "delay": 0.0, "daily": 1}
        settings(engine, every=5)
        lycosa.Crawl("cycling", directory=tmp_path / "crawl").run(pages=10)
        lycosa.Crawl("cycling", directory=tmp_path / "crawl").run(pages=20)
        assert len(search.queries()) == 1
        outcomes = {row for (row,) in rows(tmp_path / "crawl", "select outcome from search_answers")}
        assert outcomes == {"answered", "daily quota"}

    def test_sitemaps_of_relevant_sites_and_another_crawl(self, settings, search, server, tmp_path):
        settings()
        lycosa.Crawl("cycling", directory=tmp_path / "first").run(pages=40)
        settings(
            {"kind": "workspace", "directory": str(tmp_path / "first"), "name": "first", "delay": 0.0},
            {"kind": "sitemaps", "delay": 0.0},
            every=8,
        )
        before = len(search.asked)
        # All that can be reached: before a crawl gives up, the round under way is waited for.
        report = lycosa.Crawl("cycling", directory=tmp_path / "second").run(pages=500)
        assert report.count >= 70
        assert len(search.asked) == before
        named = rows(tmp_path / "second", "select distinct engine from search_results")
        assert ("first",) in named
        outcomes = dict(
            rows(
                tmp_path / "second", "select outcome, count(*) from search_answers where engine = 'sitemaps' group by 1"
            )
        )
        assert outcomes.pop("no relevant site yet") == 1
        assert outcomes  # what came of the sitemaps of the generated web, which has none
        paths = [request.path for request in server.requests()]
        assert "/sitemap.xml" in paths


class TestHostileEngines:
    def test_whatever_they_do_the_crawl_goes_on(self, settings, search, tmp_path):
        bad = [path.split("/")[1] for path in misbehaviour()]
        listed = [{"kind": "searxng", "url": search.url(name), "name": name, "delay": 0.0} for name in bad]
        settings(
            *listed, {"kind": "searxng", "url": search.url("searxng-1"), "name": "good", "delay": 0.0}, timeout=4.0
        )
        report = lycosa.Crawl("cycling", directory=tmp_path / "crawl").run(pages=15)
        assert report.count == 15
        outcomes = dict(rows(tmp_path / "crawl", "select engine, outcome from search_answers where search_id = 1"))
        assert outcomes["good"] == "answered"
        assert outcomes["slow"] == "timeout"
        assert outcomes["large"] == outcomes["bomb"] == "too large"
        assert outcomes["captcha"] == "captcha"
        assert outcomes["garbage"] == "not understood"
        assert outcomes["quota"] == "quota"
        # Of what the hostile one named, only a URL that may be asked for joined; the guard refused it.
        joined = rows(
            tmp_path / "crawl",
            "select url, state, reason from found_by_search join frontier using (url, state) where engine = 'hostile'",
        )
        assert joined in ([], [("http://169.254.169.254/latest", "excluded", "address refused")], [
            ("http://169.254.169.254/latest", "waiting", "")])  # fmt: skip

    def test_an_allowed_engine_does_not_allow_pages_there(self, search, tmp_path, monkeypatch):
        """metasearch.allow is for the engine; what it names on this machine stays forbidden."""
        with serving({"/": (200, "text/html", "<title>secret</title>cycling")}) as (place, asked):
            found = [{"url": f"http://{place}/", "title": "x"}]
            search.special["/evil/search"] = lambda: Answer(
                200, "application/json", json.dumps({"results": found}).encode()
            )
            path = tmp_path / "s.toml"
            path.write_text(tomli_w.dumps({
                "metasearch": {
                    "is_on": True, "allow": ["127.0.0.1/32"],
                    "engines": [{"kind": "searxng", "url": search.url("evil"), "delay": 0.0}],
                },
                "readers": {"count": 1},
            }))  # fmt: skip
            monkeypatch.setenv("LYCOSA_CONFIG", str(path))
            report = lycosa.Crawl("cycling", directory=tmp_path / "crawl").run(pages=5)
        assert report.count == 0
        assert asked == []
        assert rows(tmp_path / "crawl", "select state, reason from frontier") == [("excluded", "address refused")]

    def test_with_no_engine_that_answers_it_says_why(self, settings, search, tmp_path):
        settings({"kind": "searxng", "url": search.url("captcha"), "name": "one", "delay": 0.0})
        failed = command("crawl", "cycling", "-o", tmp_path / "crawl", "-q")
        assert failed.returncode == 2
        assert "search engines named none that could be; one: captcha" in failed.stderr

    def test_robots_txt_holds_for_what_they_name(self, settings, search, web, server, tmp_path, monkeypatch):
        from lycosa.lab.generated.html import Writer

        monkeypatch.setattr(Writer, "robots", lambda *_, **__: b"User-agent: *\nDisallow: /\n")
        with running(GeneratedWeb(PLAN), addresses=len(web.hosts)) as closed:
            found = [{"url": closed.url(page), "title": "x"} for page in range(3)]
            body = json.dumps({"results": found}).encode()
            search.special["/named/search"] = lambda: Answer(200, "application/json", body)
            settings({"kind": "searxng", "url": search.url("named"), "delay": 0.0})
            network = {"network": {"allow": ["127.0.0.0/8"], "resolve": closed.overrides()}}
            report = lycosa.Crawl("cycling", directory=tmp_path / "crawl", **network).run(pages=5)
            assert {request.path for request in closed.requests()} == {"/robots.txt"}
        assert report.count == 0
        states = rows(
            tmp_path / "crawl",
            "select distinct f.state, f.reason from search_results r join frontier f on f.id = r.link_id",
        )
        assert states == [("excluded", "robots")]

    def test_a_key_is_nowhere_but_in_the_request(self, settings, search, tmp_path, monkeypatch, caplog):
        monkeypatch.setenv("BRAVE_KEY", "brave-secret-key")
        monkeypatch.setenv("MOJEEK_KEY", "mojeek-secret-key")
        location = {"location": search.url("mojeek?api_key=mojeek-secret-key")}
        search.special["/moved-mojeek/search"] = lambda: Answer(302, "text/html", b"", location)
        mojeek = {"kind": "mojeek", "key_env": "MOJEEK_KEY", "delay": 0.0}
        settings(
            {"kind": "brave", "url": search.url("brave/web?q={query}"), "key_env": "BRAVE_KEY", "delay": 0.0},
            {**mojeek, "name": "m1", "url": search.url("mojeek/search?q={query}&api_key={key}")},
            {**mojeek, "name": "m2", "url": search.url("moved-mojeek/search?q={query}&api_key={key}")},
            {**mojeek, "name": "m3", "url": "http://127.0.0.1:9/search?q={query}&api_key={key}"},
        )
        directory = tmp_path / "crawl"
        done = command("--debug", "crawl", "cycling", "-o", directory, "-n", 12, "--json")
        assert done.returncode == 0, done.stderr
        named = {engine for (engine,) in rows(directory, "select distinct engine from search_results")}
        assert named == {"brave", "m1"}
        headers = [headers for path, _, headers in search.asked if path == "/brave/web"]
        assert headers[0]["x-subscription-token"] == "brave-secret-key"
        shown = done.stdout + done.stderr + caplog.text + command("status", directory).stdout
        assert "secret-key" not in shown
        files = [path for path in tmp_path.rglob("*") if path.is_file()]
        assert len(files) > 3
        for path in files:
            data = path.read_bytes()
            assert b"secret-key" not in data, path
            if path.suffix == ".gz":
                import gzip

                assert b"secret-key" not in gzip.decompress(data), path


def test_without_words_there_is_nothing_to_ask_for(settings, tmp_path):
    settings()
    with pytest.raises(lycosa.LycosaError, match="no topic is given"):
        lycosa.Crawl(directory=tmp_path / "crawl").run(pages=5)


def test_engines_are_checked_before_anything_is_written(tmp_path):
    with pytest.raises(ConfigError, match="no search engine is configured"):
        lycosa.Crawl("cycling", directory=tmp_path / "crawl", metasearch={"is_on": True})
    with pytest.raises(SeedError, match="--metasearch"):
        lycosa.Crawl("cycling", directory=tmp_path / "crawl")
    assert not (tmp_path / "crawl").exists()


@pytest.mark.parametrize(
    ("config", "words"),
    [
        ({"topic": "sailing on the Baltic"}, "sailing on the Baltic"),
        ({"topic": "x", "topics": ["Recreation/Cycling", "Recreation/Bicycle tours"]}, "cycling bicycle tours"),
    ],
)
def test_what_is_asked_first(config, words):
    assert query_words(build(("test", config)), KeywordJudge("cycling")) == words


class TestSites:
    """Sitemaps are fetched when a page of their host could be."""

    @pytest.fixture
    def made(self, rig, html):
        made = rig({"http://a.test/": html(text="recreational cycling"), "http://b.test/": html(text="cats")})
        made.know_robots("http://a.test", "User-agent: *\nDisallow: /private\nSitemap: http://a.test/s.xml")
        made.crawl("http://a.test/", "http://b.test/")
        asked = []

        async def get(url, max_bytes):
            asked.append((url, made.clock.now()))
            return Got(200, b"<urlset/>")

        sites = LiveSites(
            ledger=made.ledger,
            visitor=made.visitor,
            robots=made.robots,
            politeness=Politeness(delay=7.0),
            clock=made.clock,
            get=get,
        )
        return made, sites, asked

    def test_of_relevant_sites_those_that_robots_txt_names(self, made):
        _, sites, _ = made
        assert sites.best(3) == [Site("http://a.test", ("http://a.test/s.xml",))]

    def test_after_the_hosts_rest_and_the_host_rests_afterwards(self, made):
        rig, sites, asked = made
        sites.best(3)
        host = next(iter(rig.ledger.state.hosts))
        ready_at = host.ready_at = rig.clock.now() + 5
        assert asyncio.run(sites.get("http://a.test/s.xml", 100)).status == 200
        assert asked == [("http://a.test/s.xml", ready_at)]
        assert host.ready_at == rig.clock.now() + 7.0

    def test_not_what_robots_txt_forbids_nor_other_sites(self, made):
        _, sites, asked = made
        sites.best(3)
        for url in ("http://a.test/private/s.xml", "http://b.test/sitemap.xml", "http://elsewhere.test/s.xml"):
            assert asyncio.run(sites.get(url, 100)) is None
        assert asked == []

    def test_a_host_that_rests_for_long_is_not_waited_for(self, made):
        rig, sites, asked = made
        sites.best(3)
        next(iter(rig.ledger.state.hosts)).ready_at = rig.clock.now() + 3600
        assert asyncio.run(sites.get("http://a.test/s.xml", 100)).failure == "host busy"
        assert asked == []
