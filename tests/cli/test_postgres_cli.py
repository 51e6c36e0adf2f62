"""The whole command line on a crawl whose database is in PostgreSQL."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import pytest
import tomli_w

from hostile.server import running
from loopback import lycosa
from lycosa.store import opening
from postgres_server import new_place

psycopg = pytest.importorskip("psycopg", reason="psycopg is not installed: pip install 'lycosa[postgres]'")


@pytest.fixture(scope="module")
def server(small_web):
    with running(small_web, addresses=len(small_web.hosts) + 1) as server:
        yield server


@pytest.fixture
def crawl(server, small_web, tmp_path):
    """Crawls the generated web into a directory."""
    settings = tmp_path / "settings.toml"
    config = {
        "network": {"allow": ["127.0.0.0/8"], "resolve": server.overrides(), "contact": "me@example.org"},
        "politeness": {"delay": 0.0, "fetch_time_factor": 0.0, "first_backoff": 0.0},
        "readers": {"count": 1},
    }
    settings.write_text(tomli_w.dumps(config))

    def run(name: str, *more: str) -> str:
        seed = ("--seed", server.url(0))
        done = lycosa("crawl", small_web.topic_keywords(0), *seed, "-c", settings, "-o", tmp_path / name, *more)
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run


def rows(directory: Path, sql: str) -> list[dict[str, object]]:
    done = lycosa("sql", directory, sql, "--format", "json")
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_every_command_works_as_ever(crawl, tmp_path, postgres_url):
    """A crawl of 40 pages, looked at, answered on, gone on with, and moved to a file and back again."""
    here = tmp_path / "there"
    said = crawl("there", "--store", postgres_url, "--pages", "25")
    assert "store.url (lycosa sql)" in said
    assert not (here / "crawl.db").exists()
    assert (here / "store.url").stat().st_mode & 0o777 == 0o600
    assert "postgresql" not in (here / "lycosa.toml").read_text()
    crawl("there", "--pages", "40")
    assert rows(here, "select count(*) as n from pages") == [{"n": 40}]
    first = rows(here, "select url, title from relevant_pages limit 1")[0]
    word = re.findall(r"[a-z]{4,}", str(first["title"]).lower())[0]
    url = str(first["url"])

    for words, expected in {
        ("status", here): r"40 pages",
        ("explain", here, url): r"fetched",
        ("search", here, word): r"http",
        ("distill", here): r"http",
        ("check", here): r"whole",
        ("review", here, "--list"): r"http",
        ("check", here, "--repair"): r"whole",
        ("status", here, "--json"): r'"pages": 40',
        ("refresh", here, "--requests", "2", "--new", "0"): r"refreshed",
        ("topics", "add", "Cycling", "--book", tmp_path / "topics.db"): r"added",
        ("topics", "explore", "Cycling", "--crawl", here, "--fetch", "0", "--book", tmp_path / "topics.db"): r"example",
    }.items():
        done = lycosa(*words)
        assert done.returncode == 0, (words, done.stderr)
        assert re.search(expected, done.stdout), (words, done.stdout)
    for name in ("pages.jsonl", "links.csv", "sites.csv", "corpus", "corpus.wacz", "corpus.cdxj"):
        done = lycosa("export", here, "--to", tmp_path / name)
        assert done.returncode == 0, done.stderr
    assert len((tmp_path / "pages.jsonl").read_text().splitlines()) > 5
    assert lycosa("feedback", here, "--not-useful", url).returncode == 0
    assert rows(here, f"select answer from answered_pages where url = '{url}'") == [{"answer": "irrelevant"}]
    refused = lycosa("sql", here, "delete from pages")
    assert refused.returncode == 2
    assert "can only be read here" in refused.stderr

    before = rows(here, "select url, relevance from harvest")
    moved = lycosa("move", postgres_url, here)
    assert moved.returncode == 0, moved.stderr
    assert "the same on both sides" in moved.stdout
    assert (here / "crawl.db").exists()
    assert not (here / "store.url").exists()
    assert rows(here, "select url, relevance from harvest") == before
    back = lycosa("move", here, postgres_url)
    assert back.returncode == 0, back.stderr
    assert "crawl.db.moved-1" in back.stdout
    assert rows(here, "select url, relevance from harvest") == before
    elsewhere = new_place(postgres_url.partition("&options=")[0])
    assert lycosa("move", here, elsewhere).returncode == 0
    assert (here / "store.url").read_text().strip() == elsewhere
    assert rows(here, "select url, relevance from harvest") == before
    crawl("there", "--pages", "45")
    assert rows(here, "select count(*) as n, max(number) as last from pages") == [{"n": 45, "last": 45}]


def test_a_crawl_is_the_same_in_both_stores(crawl, tmp_path, postgres_url):
    """One fetch at a time: then both take the same way."""
    one = ("--pages", "30", "--set", "network.fetches=1", "--set", "readers.count=1")
    crawl("file", *one)
    crawl("there", *one, "--store", postgres_url)
    asked = "select url, relevance, number from harvest order by number"
    assert rows(tmp_path / "file", asked) == rows(tmp_path / "there", asked)


class TestMistakes:
    def test_psycopg_is_not_installed(self, tmp_path, monkeypatch):
        monkeypatch.setitem(sys.modules, "psycopg", None)
        done = lycosa(
            "crawl", "cycling", "--seed", "http://a.test/", "-o", tmp_path / "x", "--store", "postgresql://x/y"
        )
        assert done.returncode == 2
        assert "pip install 'lycosa[postgres]'" in " ".join(done.stderr.split())
        assert not (tmp_path / "x").exists()

    def test_a_wrong_url(self, tmp_path):
        done = lycosa("crawl", "cycling", "--seed", "http://a.test/", "-o", tmp_path / "x", "--store", "mysql://x/y")
        assert done.returncode == 2
        assert "postgresql://user@host:5432/database" in " ".join(done.stderr.split())

    def test_the_database_of_another_crawl(self, crawl, tmp_path, postgres_url):
        crawl("first", "--store", postgres_url, "--pages", "3")
        command = ("crawl", "cycling", "--seed", "http://a.test/", "-o")
        done = lycosa(*command, tmp_path / "second", "--store", postgres_url)
        assert done.returncode == 2
        assert "begun in another directory" in " ".join(done.stderr.split())
        assert not opening.Workspace(tmp_path / "second").has_crawl
        other = lycosa("crawl", "-o", tmp_path / "first", "--store", "postgresql://me@elsewhere.test/x")
        assert "leave --store out" in " ".join(other.stderr.split())

    def test_a_crawl_that_has_a_file(self, crawl, tmp_path, postgres_url):
        crawl("first", "--pages", "3")
        done = lycosa("crawl", "-o", tmp_path / "first", "--store", postgres_url)
        assert done.returncode == 2
        assert "lycosa move" in done.stderr
