"""A crawl is refreshed: what changed is found with few requests, what is gone is marked, and nothing is lost."""

from __future__ import annotations

import json
import re
import sqlite3
import time
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from fastwarc.warc import ArchiveIterator, WarcRecordType

from loopback import Answer, lycosa, serving
from lycosa.cli.refresh import age
from lycosa.crawl import refresh
from lycosa.crawl.change_rate import DAY, GUESSED_RATE, Looks, chance_of_change, change_rates, page_rates
from lycosa.crawl.refresh import RefreshPlan
from lycosa.engine import Crawl
from lycosa.errors import InputError, WorkspaceError
from lycosa.results.search import search


class TestChangeRates:
    def test_without_a_look_it_is_the_prior(self):
        nothing = Looks(np.zeros(0, np.int64), np.zeros(0), np.zeros(0, bool))
        assert change_rates(nothing, np.array([GUESSED_RATE])) == pytest.approx([GUESSED_RATE], rel=1e-6)

    def test_many_looks_tell_the_rate(self):
        """Poisson changes at one in three days, looked at after intervals that differ."""
        rng = np.random.default_rng(1)
        seconds = rng.uniform(0.2, 9, 20_000) * DAY
        is_change = rng.random(20_000) < -np.expm1(-seconds / (3 * DAY))
        looks = Looks(np.zeros(20_000, np.int64), seconds, is_change)
        assert change_rates(looks, np.array([GUESSED_RATE])) * DAY == pytest.approx([1 / 3], rel=0.03)

    def test_a_page_that_changed_at_every_look_has_no_infinite_rate(self):
        looks = Looks(np.zeros(5, np.int64), np.full(5, DAY), np.ones(5, bool))
        (rate,) = change_rates(looks, np.array([GUESSED_RATE]))
        assert 0.5 < rate * DAY < 10

    def test_a_page_without_looks_is_like_its_host(self):
        """Pages 0 to 5 are on two hosts, of which one changes all the time; pages 2 and 5 were never looked at."""
        hosts = np.array([7, 7, 7, 8, 8, 8])
        pages = np.repeat([0, 1, 3, 4], 6)
        looks = Looks(pages, np.full(24, DAY), pages < 2)
        rates = page_rates(looks, hosts)
        assert rates[2] > 5 * rates[5]
        assert rates[0] > rates[2] > rates[5] > rates[3]

    def test_the_chance_grows_with_time(self):
        chance = chance_of_change(np.array([1 / DAY] * 3), np.array([0.0, DAY, 100 * DAY]))
        assert chance == pytest.approx([0, 1 - np.exp(-1), 1])


class Pages:
    """A site whose pages change on request. Odd pages have an ETag, even ones none."""

    def __init__(self) -> None:
        self.texts = {f"/{number}": f"recreational cycling tour {number}" for number in range(10)}
        self.hub: list[str] = []
        self.feed: list[str] = []
        self.log: list[tuple[str, int]] = []
        self.is_down = False

    def answer(self, request) -> Answer:
        path = request.path
        if path == "/robots.txt":
            return Answer()
        if path == "/feed" or path in self.feed[1:]:
            self.log.append((path, 200))
            links = "".join(f"<item><link>http://site.test:{self.port}{link}</link></item>" for link in self.feed)
            is_feed = path == "/feed"
            text = f"<rss>{links}</rss>" if is_feed else "<p>recreational cycling news</p>"
            return Answer(200, "application/rss+xml" if is_feed else "text/html", text)
        if path == "/":
            links = "".join(f'<a href="{link}">tour</a>' for link in [*self.texts, *self.hub])
            body = f"<title>hub</title><p>recreational cycling hub</p>{links}"
        elif path in self.texts:
            body = f"<p>{self.texts[path]}</p>"
        elif path in self.hub:
            body = f"<p>recreational cycling, quite new {path}</p>"
        else:
            body = ""
        tag = f'"{hash(body)}"' if len(path) > 1 and path[1:].isdigit() and int(path[1:]) % 2 else ""
        status = (
            503
            if self.is_down
            else 404
            if not body
            else 304
            if tag and request.headers.get("If-None-Match") == tag
            else 200
        )
        self.log.append((path, status))
        return Answer(status, "text/html", body if status == 200 else "", {"ETag": tag} if tag else {})


@pytest.fixture
def site():
    pages = Pages()
    with serving(pages.answer) as (place, _):
        pages.port = place.partition(":")[2]
        pages.place = f"http://site.test:{pages.port}"
        yield pages


@pytest.fixture
def crawl(site, tmp_path):
    settings = {
        "network": {"allow": ["127.0.0.0/8"], "resolve": {"*.test": "127.0.0.1"}},
        "politeness": {"delay": 0.0, "fetch_time_factor": 0.0, "first_backoff": 0.0},
        "readers": {"count": 1},
        "judge": {"kind": "keywords"},
    }
    crawl = Crawl(
        "recreational cycling",
        seeds=[f"{site.place}/"],
        directory=tmp_path / "crawl",
        strategy="best-first",
        config=settings,
        budget={"pages": 11},
    )
    crawl.run()
    site.log.clear()
    return crawl


def ask(directory: Path, sql: str) -> list[tuple]:
    with sqlite3.connect(directory / "crawl.db") as db:
        return db.execute(sql).fetchall()


def test_pages_are_queued_some_at_a_time(site, crawl, monkeypatch):
    monkeypatch.setattr(refresh, "AT_ONCE", 4)
    report = crawl.refresh(RefreshPlan(is_all=True))
    assert report.reason == "refreshed 11 of 11 pages: 11 the same"


def test_a_page_whose_domain_is_for_sale_by_now_is_gone(site, crawl, tmp_path):
    site.texts["/4"] = "The domain site.test is for sale"
    report = crawl.refresh(RefreshPlan())
    assert "1 gone" in report.reason
    assert ask(tmp_path / "crawl", "select url from gone_pages") == [(f"{site.place}/4",)]


def test_what_changed_is_read_anew_and_what_is_gone_is_marked(site, crawl, tmp_path):
    directory = tmp_path / "crawl"
    site.texts["/1"] += ", now with a tandem"
    site.texts["/2"] = "soup and bread"
    del site.texts["/3"]
    site.hub = ["/new/1", "/new/2"]
    report = crawl.refresh(RefreshPlan(new=1))
    start, counts, new = re.fullmatch(r"(refreshed .* pages): (.*); (.*)", report.reason).groups()
    assert (start, new) == ("refreshed 11 of 11 pages", "1 new link was followed")
    assert set(counts.split(", ")) == {"3 changed", "7 the same", "1 gone"}
    statuses = Counter(status for path, status in site.log)
    assert statuses == {304: 3, 404: 1, 200: 8}  # by their tags, 5, 7 and 9 are as they were
    changes = dict(
        ask(directory, "select f.url, c.change from checks c join frontier f on f.id = c.page_id order by c.id")
    )
    assert {url.removeprefix(site.place): change for url, change in changes.items() if change != "same"} == {
        "/": "changed",
        "/1": "changed",
        "/2": "changed",
        "/3": "gone",
    }
    assert ask(directory, "select url from gone_pages") == [(f"{site.place}/3",)]
    assert ask(directory, "select count(*), count(distinct number) from pages") == [(12, 12)]
    assert ask(
        directory,
        f"select j.is_relevant from judgements j join frontier f on f.id = page_id where url = '{site.place}/2'",
    ) == [(0,)]
    exported = lycosa("export", directory, "-o", tmp_path / "pages.jsonl")
    assert exported.returncode == 0, exported.stderr
    rows = [json.loads(line) for line in (tmp_path / "pages.jsonl").read_text().splitlines()]
    assert [row["url"] for row in rows if row["gone_at"]] == [f"{site.place}/3"]
    texts = {row["url"]: row["text"] for row in rows}
    assert "tandem" in texts[f"{site.place}/1"]
    assert "tour 3" in texts[f"{site.place}/3"]  # gone, and kept
    revisits = 0
    for path in sorted((directory / "archive").glob("*.warc.gz")):
        with path.open("rb") as file:
            for record in ArchiveIterator(file):
                if record.record_type == WarcRecordType.revisit:
                    revisits += 1
                    assert record.headers["WARC-Refers-To-Target-URI"] == record.headers["WARC-Target-URI"]
                    assert "/revisit/" in record.headers["WARC-Profile"]
                    assert record.headers["WARC-Refers-To-Date"] < record.headers["WARC-Date"]
    assert revisits == 7
    assert lycosa("check", directory).returncode == 0
    facts = dict(json.loads(lycosa("explain", directory, f"{site.place}/3", "--json").stdout))
    assert facts["history"].startswith("looked at again 1×: 1× gone")
    assert "its last version is kept" in facts["gone"]


def test_the_full_text_index_follows(site, crawl, tmp_path):
    def found(words: str) -> list[str]:
        return [page.url.removeprefix(site.place) for page in search(tmp_path / "crawl", words).pages]

    site.texts["/2"], site.texts["/3"] = "cycling on a recumbent", "cycling on a tricycle"
    crawl.refresh(RefreshPlan(new=0))
    assert (found("recumbent"), found("bread")) == (["/2"], [])  # and no duplicate of another page any more
    site.texts["/2"] = "soup and bread"
    del site.texts["/3"]
    site.hub = ["/new/1"]
    crawl.refresh(RefreshPlan(new=1))
    assert found("bread") == ["/2"]
    assert found("recumbent") == []
    assert found("tricycle") == ["/3"]  # gone, and kept
    assert found("quite new") == ["/new/1"]
    with sqlite3.connect(tmp_path / "crawl" / "search.db") as db:  # raises if words were left behind
        db.execute("insert into fulltext (fulltext) values ('integrity-check')")
    site.texts["/2"] = "cycling on a recumbent"
    crawl.refresh(RefreshPlan(is_all=True))
    assert (found("bread"), found("recumbent")) == ([], ["/2"])


def test_a_page_that_is_gone_is_left_alone_and_the_crawl_goes_on_as_before(site, crawl, tmp_path):
    del site.texts["/3"]
    site.hub = ["/new/1", "/new/2"]
    crawl.refresh(RefreshPlan(new=0))
    assert not [path for path, _ in site.log if path.startswith("/new")]
    site.log.clear()
    crawl.refresh(RefreshPlan(new=0))
    assert "/3" not in [path for path, _ in site.log]
    site.log.clear()
    crawl.run(pages=20)
    assert {path for path, _ in site.log} == {"/new/1", "/new/2"}  # what waited, and nothing again
    assert ask(tmp_path / "crawl", "select count(*) from pages") == [(13,)]


def test_feeds_tell_what_is_new(site, crawl):
    site.feed = ["/5"]
    site.hub = ["/feed"]
    crawl.refresh(RefreshPlan())
    assert ("/feed", 200) in site.log
    site.log.clear()
    site.feed = ["/5", "/new/9"]
    report = crawl.refresh(RefreshPlan(older=3600))
    assert [path for path, _ in site.log] == ["/feed", "/new/9"]
    assert report.reason == "refreshed 0 of 0 pages; 1 new link was followed"
    site.log.clear()
    crawl.refresh(RefreshPlan(older=3600, new=0))
    assert site.log == []


def test_young_pages_are_left_alone_and_hubs_come_first(site, crawl, tmp_path):
    assert crawl.refresh(RefreshPlan(older=3600)).reason == "refreshed 0 of 0 pages"
    assert site.log == []
    with sqlite3.connect(tmp_path / "crawl" / "crawl.db") as db:
        db.execute("update pages set fetched_at = fetched_at - 86400 * iif(title = 'hub', 10, 40)")
    crawl.refresh(RefreshPlan(older=3600, requests=3))
    assert site.log[0][0] == "/"
    assert len(site.log) == 3
    site.log.clear()
    crawl.refresh(RefreshPlan(older=3600))
    assert len(site.log) == 8  # the others


def test_one_that_was_cut_off_and_begins_again_does_not_ask_for_more(site, crawl, tmp_path):
    with sqlite3.connect(tmp_path / "crawl" / "crawl.db") as db:
        db.execute("update pages set fetched_at = fetched_at - 86400")
    began = time.time()
    crawl.refresh(RefreshPlan(requests=3, new=0))
    crawl.refresh(RefreshPlan(older=3600, requests=4, new=0, began=began))
    assert len(site.log) == 4
    crawl.refresh(RefreshPlan(older=3600, requests=4, new=0, began=began))
    assert len(site.log) == 4


def test_pages_that_seem_to_be_from_tomorrow_are_looked_at_like_others(site, crawl, tmp_path):
    """The machine's clock was a day ahead when they were fetched."""
    with sqlite3.connect(tmp_path / "crawl" / "crawl.db") as db:
        db.execute("update pages set fetched_at = fetched_at + 86400")
    assert crawl.refresh(RefreshPlan(new=0)).reason.startswith("refreshed 11 of 11 pages")


def test_a_server_that_is_down_says_nothing_about_its_pages(site, crawl, tmp_path):
    with sqlite3.connect(tmp_path / "crawl" / "crawl.db") as db:
        db.execute("delete from robots")
    site.is_down = True
    crawl.refresh(RefreshPlan(requests=2), minutes=0.05)
    assert ask(tmp_path / "crawl", "select distinct change from checks where change != 'unknown'") == []
    assert ask(tmp_path / "crawl", "select count(*) from pages") == [(11,)]
    assert ask(tmp_path / "crawl", "select count(*) from frontier where state = 'waiting'") == [(0,)]


class TestCommand:
    @pytest.mark.parametrize(
        ("text", "seconds"), [("", 0), ("90s", 90), ("1.5h", 5400), ("7d", 7 * DAY), ("4W", 28 * DAY)]
    )
    def test_ages(self, text, seconds):
        assert age(text) == seconds

    @pytest.mark.parametrize("text", ["7", "d", "-7d", "7 days", "1e9d"])
    def test_what_is_no_age(self, text):
        with pytest.raises(InputError, match="7d"):
            age(text)

    def test_it_says_what_it_found(self, site, crawl, tmp_path):
        site.texts["/1"] += " again"
        result = lycosa("refresh", tmp_path / "crawl", "--requests", "20", "--json")
        assert result.returncode == 0, result.stderr
        end = json.loads(result.stdout.splitlines()[-1])
        assert end["stop_reason"].startswith("refreshed 11 of 11 pages")
        assert "1 changed" in end["stop_reason"]

    def test_without_a_crawl(self, tmp_path):
        with pytest.raises((WorkspaceError, InputError)):
            Crawl(directory=tmp_path / "none", seeds=["http://a.test/"]).refresh()
        result = lycosa("refresh", tmp_path / "none")
        assert result.returncode == 2
