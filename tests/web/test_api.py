"""All that the page does, asked as a program asks it; what was crawled comes out as JSON text and does no harm."""

from __future__ import annotations

import csv
import io
import json
import struct
import time
from contextlib import closing

import pytest

from lycosa.store.dashboard import PageFilter
from lycosa.store.opening import open_dashboard, open_store
from lycosa.web.openapi import document
from lycosa.web.server import ENDPOINTS
from lycosa.workspace import Workspace

from .conftest import FORMULA, SCRIPT, both_stores

C = "/api/crawls/cycling"
GETS = [
    "/api/crawls",
    "/api/settings",
    C,
    f"{C}/sql/examples",
    f"{C}/figures",
    f"{C}/overview?bins=10&levels=5",
    f"{C}/overview?bins=10&levels=5&axis=time",
    f"{C}/events",
    f"{C}/pages/1",
    f"{C}/pages/2/brief",
    f"{C}/review?count=3",
    f"{C}/queue",
    f"{C}/queue/scores",
    f"{C}/commands",
    f"{C}/results",
    f"{C}/facets",
    "/api/openapi.json",
]


@both_stores
@pytest.mark.parametrize("path", GETS)
def test_everything_answers_as_json(client, path):
    answer = client.get(path)
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"] == "application/json"
    assert isinstance(answer.json(), dict)


@both_stores
def test_the_list_says_how_a_crawl_stands(client):
    (crawl,) = client.get("/api/crawls").json()["crawls"]
    assert crawl["title"] == "recreational cycling"
    assert crawl["state"] == "stopped"
    assert crawl["pages"] == 24
    assert 0 < crawl["relevant"] < 24
    assert len(crawl["spark"]) == 24
    assert abs(crawl["harvest"] - crawl["relevant"] / 24) < 1e-9


@both_stores
def test_dots_are_columns_of_bytes(client):
    unread = client.get(f"{C}/dots").content  # nobody has looked at the crawl yet
    few = client.get(f"{C}/dots?first=5&last=9").content
    assert struct.unpack_from("<IIId", few)[:3] == (0, 5, 5)
    assert client.get(f"{C}/figures").json()["version"] > 0
    body = client.get(f"{C}/dots").content
    version, first, count, start = struct.unpack_from("<IIId", body)
    assert (first, count) == (1, 24)
    assert version > 0
    assert body[4:] == unread[4:]
    assert client.get(f"{C}/dots?first=5&last=9").content[4:] == few[4:]
    assert len(body) == 20 + 7 * 24
    relevance = struct.unpack_from("<24H", body, 20 + 4 * 24)
    flags = body[20 + 6 * 24 :]
    pages = client.get(f"{C}/results?order=oldest&count=50").json()["pages"]
    assert [round(page["relevance"] * 65535) for page in pages] == list(relevance)
    assert [bool(flag & 1) for flag in flags] == [page["is_relevant"] for page in pages]
    part = client.get(f"{C}/dots?first=5&last=9").content
    assert struct.unpack_from("<IIId", part)[1:3] == (5, 5)
    assert start > 0


@both_stores
def test_the_overview_counts_every_page_once(client):
    found = client.get(f"{C}/overview?bins=6&levels=4").json()
    assert sum(found["counts"]) == 24
    assert sum(found["relevant"]) == client.get(f"{C}/figures").json()["relevant"]
    zoomed = client.get(f"{C}/overview?bins=6&levels=4&first=10&last=12").json()
    assert sum(zoomed["counts"]) == 3


@both_stores
def test_a_card_has_text_path_and_the_words_that_decided(client):
    pages = client.get(f"{C}/results?is_relevant=true&order=newest").json()["pages"]
    page = client.get(f"{C}/pages/{pages[0]['number']}").json()
    text = "".join(piece for piece, _ in page["text"])
    assert SCRIPT in text  # as text, which it is
    decided = {piece.lower() for piece, weight in page["text"] if weight}
    assert "cycling" in decided
    assert page["path"][0]["url"] in ("http://h0.test/page/0", "http://h1.test/page/1")
    assert page["path"][-1]["url"] == page["url"]
    assert page["duplicates"]  # every second page has the same words


@both_stores
def test_an_answer_binds_and_can_be_taken_back(changing):
    pages = changing.get(f"{C}/results?is_relevant=true").json()["pages"]
    number = pages[0]["number"]
    said = changing.post(f"{C}/pages/{number}/answer", json={"answer": "irrelevant"}).json()
    assert (said["relevance"], said["is_relevant"], said["answer"]) == (0, False, "irrelevant")
    assert said["own_relevance"] == pytest.approx(pages[0]["relevance"])
    figures = changing.get(f"{C}/figures").json()
    assert figures["relevant"] == len(pages) - 1
    assert figures["confirmed"] == {"confirmed": 0, "refuted": 1, "missed": 0, "rightly_left": 0}
    back = changing.post(f"{C}/pages/{number}/answer", json={"answer": "withdrawn"}).json()
    assert back["relevance"] == pytest.approx(pages[0]["relevance"])


def test_answers_are_only_those_there_are(changing):
    assert changing.post(f"{C}/pages/1/answer", json={"answer": "perhaps"}).status_code == 422
    assert changing.post(f"{C}/pages/9999/answer", json={"answer": "relevant"}).status_code == 404
    assert changing.post(f"{C}/pages/x/answer", json={"answer": "relevant"}).status_code == 404


@both_stores
def test_commands_are_rows_for_the_crawl(changing, folder):
    number = changing.post(f"{C}/commands", json={"kind": "exclude", "target": "h2.test"}).json()["command"]
    changing.post(f"{C}/commands", json={"kind": "undo", "target": str(number)})
    with closing(open_store(Workspace(folder / "cycling"), read_only=True)) as store:
        assert [(row.kind, row.target) for row in store.commands()] == [("exclude", "h2.test"), ("undo", str(number))]
    listed = changing.get(f"{C}/commands").json()["commands"]
    assert not listed[-1]["can_be_undone"]


@pytest.mark.parametrize(
    ("order", "words"),
    [
        ({"kind": "pause"}, "does not run"),
        ({"kind": "stop"}, "does not run"),
        ({"kind": "exclude", "target": "re:.*"}, "regular expression"),
        ({"kind": "exclude", "target": ""}, "is empty"),
        ({"kind": "undo", "target": "7"}, "cannot be undone"),
    ],
)
def test_orders_that_make_no_sense_say_why(changing, order, words):
    answer = changing.post(f"{C}/commands", json=order)
    assert answer.status_code == 400
    assert words in answer.json()["error"]


@both_stores
def test_results_are_filtered_and_counted(client):
    everything = client.get(f"{C}/results?count=100").json()
    assert everything["total"] == len(everything["pages"]) == 24
    of_host = client.get(f"{C}/results?host=h1.test").json()
    assert of_host["total"] == len(of_host["pages"]) == 8
    assert {page["host"] for page in of_host["pages"]} == {"h1.test"}
    part = client.get(f"{C}/results?order=oldest&count=5&offset=20").json()
    assert [page["number"] for page in part["pages"]] == [21, 22, 23, 24]
    assert client.get(f"{C}/results?since=99999999999").json()["total"] == 0


@both_stores
def test_pages_of_a_list_come_in_its_order(shown):
    with closing(open_dashboard(Workspace(shown / "cycling"))) as store:
        ids = [page.id for page in store.pages_like(PageFilter(), order="newest", count=9, offset=3)]
        wanted = [ids[4], ids[0], 999_999, ids[7]]
        assert [page.id for page in store.pages_like(PageFilter(wanted), order="match", count=9)] == [
            ids[4],
            ids[0],
            ids[7],
        ]
        assert store.count_like(PageFilter(wanted)) == 3
        relevance = [page.relevance for page in store.pages_like(PageFilter(), order="relevance", count=99)]
        assert relevance == sorted(relevance, reverse=True)


def searched(client, words, **more):
    """What is found when all pages are indexed."""
    for _ in range(600):
        answer = client.get(f"{C}/results", params={"words": words, **more})
        assert answer.status_code == 200, answer.text
        if answer.json()["search"]["indexed"] == 24:
            return answer.json()
        time.sleep(0.05)
    raise AssertionError("it is never indexed")


def test_the_texts_are_searched(changing):
    first = changing.get(f"{C}/results?words=saddle").json()
    assert first["search"] == {"has_all_words": True, "indexed": 0, "pages": 24}  # it is being indexed from now on
    found = searched(changing, "saddle")
    assert found["total"] == len(found["pages"]) > 1  # exact duplicates of others are not listed
    assert all(page["number"] % 2 == 0 for page in found["pages"])  # every second page is about cycling
    snippet = found["pages"][0]["snippet"]
    assert "saddle" in {piece for piece, is_marked in snippet if is_marked}
    assert SCRIPT[:8] in "".join(piece for piece, _ in snippet)  # as text, which it is
    assert "saddle" not in json.dumps([page["title"] for page in found["pages"]])
    of_host = searched(changing, "saddle", host="h1.test")
    assert 0 < of_host["total"] < found["total"]
    assert {page["host"] for page in of_host["pages"]} == {"h1.test"}
    by_age = searched(changing, "saddle", order="oldest")
    assert [page["number"] for page in by_age["pages"]] == sorted(page["number"] for page in found["pages"])
    best = [page["number"] for page in searched(changing, "saddle 23", order="match")["pages"]]
    assert best == [24]  # the one with both in URL and text
    some = [page["number"] for page in searched(changing, "saddle 23 zeppelin", order="match")["pages"]]
    assert some[0] == 24  # which has most of them, though it was fetched last
    assert sorted(some) == [page["number"] for page in by_age["pages"]]
    saved = changing.get(f"{C}/export?form=jsonl&words=saddle").text.splitlines()
    assert {json.loads(line)["url"] for line in saved} == {page["url"] for page in found["pages"]}
    assert searched(changing, "saddle -pedal")["total"] == 0
    assert not searched(changing, "saddle zeppelin")["search"]["has_all_words"]
    for nothing in ("%", "-saddle", '""'):
        assert "no word to look for" in changing.get(f"{C}/results", params={"words": nothing}).json()["error"]


@both_stores
def test_what_is_shown_can_be_saved_without_harm(client):
    answer = client.get(f"{C}/export?form=csv&host=h0.test")
    assert answer.headers["content-disposition"] == 'attachment; filename="cycling-pages.csv"'
    rows = list(csv.DictReader(io.StringIO(answer.text)))
    assert len(rows) == 8
    assert any(row["title"] == f"'{FORMULA}" for row in rows)  # a spreadsheet does not run it
    lines = client.get(f"{C}/export?form=jsonl").text.splitlines()
    assert len([json.loads(line) for line in lines]) == 24


def ask(client, sql):
    return client.post(f"{C}/sql", json={"sql": sql})


@both_stores
def test_sql_answers(client):
    found = ask(client, "select number, title from pages order by number limit 3").json()
    assert found["names"] == ["number", "title"]
    assert [row[0] for row in found["rows"]] == [1, 2, 3]
    for example in client.get(f"{C}/sql/examples").json()["examples"]:
        assert ask(client, example["sql"]).status_code == 200, example["name"]
    assert client.post(f"{C}/sql.csv", json={"sql": "select 1 as one"}).text == "one\r\n1\r\n"


@pytest.mark.parametrize(
    "sql",
    [
        "delete from pages",
        "update pages set title = ''",
        "attach database '/tmp/other.db' as other",
        "vacuum into '/tmp/copy.db'",
        "pragma query_only = off",
        "pragma journal_mode = delete",
        "create table x (y)",
        "create temp table x (y)",
        "select 1; delete from pages",
        "select load_extension('x')",
        "select zeroblob(100000000)",
        "select writefile('/tmp/x', 'y')",
        "nonsense",
    ],
)
def test_sql_can_only_read(client, sql, tmp_path):
    answer = ask(client, sql)
    assert answer.status_code == 400, answer.text
    assert answer.json()["error"]
    assert ask(client, "select count(*) from pages").json()["rows"] == [[24]]


@pytest.mark.parametrize("store_kind", ["postgresql"], indirect=True)
def test_sql_can_only_read_a_server(client):
    """Whose user may do anything there."""
    for sql in (
        "delete from pages",
        "with gone as (delete from pages returning id) select * from gone",
        "create table x (y int)",
        "copy pages to program 'cat'",
        "select 1; delete from pages",
        "select pg_read_file('/etc/passwd')",
        "select public.pg_read_file('/etc/passwd')",
        "select \"pg_read_file\" ('/etc/passwd')",
        "select pg_terminate_backend(1)",
        "select * from pg_authid",
        "select set_config('statement_timeout', '0', false)",
        "select query_to_xml('delete from pages', true, false, '')",
        "select lo_import('/etc/passwd')",
        "select E'\\'', pg_sleep(100), '",
        "select $$'$$, pg_sleep(100), '",
        "select 1 /* /* */ */, pg_sleep(100)",
        "select string_agg(title, '') from pages, generate_series(1, 5000)",
        "nonsense",
    ):
        answer = ask(client, sql)
        assert answer.status_code == 400, (sql, answer.text)
        assert answer.json()["error"]
    assert ask(client, "select count(*) from pages").json()["rows"] == [[24]]
    assert ask(client, "with n(i) as (select 'pg_sleep(1)') select i from n -- pg_x(").json()["rows"] == [
        ["pg_sleep(1)"]
    ]


@both_stores
def test_sql_ends(client, monkeypatch):
    monkeypatch.setattr("lycosa.web.sql.SECONDS", 0.2)
    endless = "with recursive n(i) as (select 1 union all select i + 1 from n) select sum(i) from n"
    assert "more than 0.2 s" in ask(client, endless).json()["error"]
    many = "with recursive n(i) as (select 1 union all select i + 1 from n where i < 5000) select i from n"
    found = ask(client, many).json()
    assert found["is_cut"]
    assert len(found["rows"]) == 2_000


def test_numbers_that_javascript_would_round_are_text(client):
    assert ask(client, "select 9007199254740993, 5, x'00ff'").json()["rows"] == [["9007199254740993", 5, "(2 bytes)"]]


def test_the_api_describes_itself(client):
    described = client.get("/api/openapi.json").json()
    assert described == json.loads(json.dumps(document(ENDPOINTS)))
    assert {(path, method) for path, methods in described["paths"].items() for method in methods} == {
        (endpoint.path, endpoint.method.lower()) for endpoint in ENDPOINTS
    }
    named = [operation["operationId"] for methods in described["paths"].values() for operation in methods.values()]
    assert len(set(named)) == len(named)


def test_unknown_and_malformed_input_is_refused_in_words(client):
    for path in (f"{C}/results?colour=red", f"{C}/results?count=0", f"{C}/results?order=up", f"{C}/overview?bins=x"):
        answer = client.get(path)
        assert answer.status_code == 422
        assert answer.json()["error"]
    assert client.get("/api/nowhere").status_code == 404
    assert client.get("/api/crawls/none").status_code == 404
    sent = client.post(f"{C}/sql", content="{", headers={"content-type": "application/json"})
    assert sent.status_code == 422
    assert client.post("/api/crawls/understand", json={"words": "x", "extra": 1}).status_code == 422


@both_stores
def test_metrics_for_prometheus(client):
    text = client.get("/metrics").text
    assert 'lycosa_pages_total{crawl="cycling"} 24' in text
    assert 'lycosa_outcomes_total{crawl="cycling",kind="fetched",reason="http 200"} 24' in text
    for line in text.splitlines():
        assert line.startswith("# ") or len(line.rsplit(" ", 1)) == 2


def test_what_is_understood_before_it_starts(client, made):
    form = {"words": "touring", "seeds": "example.org/a\nhttps://example.org/b", "exclude": "/tag/*", "pages": 50}
    plan = client.post("/api/crawls/understand", json=form).json()
    assert "Relevant are pages about “touring”." in plan["sentences"]
    assert plan["seed_count"] == 2
    assert plan["directory"] == str(made / "touring")
    assert any("leaves out /tag/*" in words for words in plan["sentences"])
    assert not (made / "touring").exists()
    taken = client.post("/api/crawls/understand", json={**form, "name": "cycling"}).json()
    assert taken["directory"] == str(made / "cycling-2")
    outside = client.post("/api/crawls/understand", json={**form, "name": "../../etc"}).json()
    assert outside["directory"] == str(made / "etc")


def test_without_a_page_to_start_from_search_engines_are_asked(client):
    form = {"words": "sailing on the Baltic", "metasearch": True, "engines": "searxng=https://searx.test sitemaps"}
    plan = client.post("/api/crawls/understand", json=form).json()
    assert plan["seed_count"] == 0
    (start,) = [words for words in plan["sentences"] if "search engines" in words]
    assert start == (
        "It has no page to start from, so it asks search engines for pages: searxng (https://searx.test), sitemaps, "
        "at the start, again every 100 pages and when nothing else is left."
    )
    assert 'kind = "searxng"' in plan["toml"]
    both = client.post("/api/crawls/understand", json={**form, "seeds": "a.test"}).json()
    assert any(words.startswith("It starts from 1 page, and asks search engines") for words in both["sentences"])


def test_scope_and_budget_are_said_before_it_starts(client):
    form = {
        "words": "x", "seeds": "a.test", "sites": "a.test\nb.test", "exclude": "/tag/*", "depth": 3,
        "languages": "EN, de", "relevant": 40, "pages": 900, "minutes": 30,
    }  # fmt: skip
    sentences = client.post("/api/crawls/understand", json=form).json()["sentences"]
    assert (
        "It stays within a.test b.test, goes at most 3 links away from where it starts, keeps pages in en de only, "
        "leaves out /tag/*."
    ) in sentences
    assert any(words.startswith("It stops after 900 pages or 40 relevant ones or 30 minutes") for words in sentences)


@pytest.mark.parametrize(
    ("form", "words"),
    [
        ({}, "nothing is asked for"),
        ({"words": "x", "metasearch": True}, "no search engine is configured"),
        ({"words": "x", "metasearch": True, "engines": "searxgn=https://a.test"}, "did you mean"),
        ({"words": "x"}, "nothing to start from"),
        ({"words": "x", "seeds": "a.test\nftp://b.test"}, "line 2"),
        (
            {"words": "x", "seeds": "a.test", "settings": {"politeness": {"delya": 1}}},
            "did you mean 'politeness.delay'",
        ),
        ({"topics": ["Sailing"]}, "there is no topic book"),
        ({"words": "x", "seeds": "a.test", "exclude": "re:x"}, "regular expression"),
    ],
)
def test_a_form_that_cannot_work_says_why(client, form, words):
    answer = client.post("/api/crawls/understand", json=form)
    assert answer.status_code == 400
    assert words in answer.json()["error"]


def test_bookmarks_are_seeds(client):
    file = "<!DOCTYPE NETSCAPE-Bookmark-file-1><DL>"
    file += '<DT><A HREF="https://a.test/">A</A><DT><A HREF="javascript:x">B</A></DL>'
    plan = client.post("/api/crawls/understand", json={"bookmarks": file}).json()
    assert plan["seeds"] == ["https://a.test/"]
    assert any("left out" in note for note in plan["notes"])


def test_every_setting_is_explained(client):
    sections = client.get("/api/settings").json()["sections"]
    assert {"politeness", "stop", "urls"} <= {section["name"] for section in sections}
    assert all(setting["text"] for section in sections for setting in section["settings"])


@both_stores
def test_thresholds_are_kept_for_the_crawl(changing):
    before = {row["name"]: row["value"] for row in changing.get(f"{C}/alarms").json()["thresholds"]}
    assert before["min_relevance"] == 0
    after = changing.post(f"{C}/alarms", json={**before, "min_relevance": 0.25}).json()
    assert {row["name"]: row["value"] for row in after["thresholds"]}["min_relevance"] == 0.25
    assert changing.post(f"{C}/alarms", json={"command": "rm -rf /"}).status_code == 422
    assert changing.post(f"{C}/alarms", json={"min_relevance": 7}).status_code == 422
