"""Topics on the command line: bookmarks become examples, and crawls start from examples."""

from __future__ import annotations

import json
import signal
import sqlite3
import subprocess
import time
from contextlib import closing
from pathlib import Path

import pytest
import tomli_w

from loopback import LYCOSA, Answers, lycosa, serving
from lycosa.judges.classifier import Example
from lycosa.topics.book import TopicBook
from lycosa.topics.importing import text_page

CYCLING = "bicycle tandem saddle pedal spoke tyre wheel rider gear chain"
ROWING = "oar boat scull river regatta coxswain stroke crew rower blade"


def page(title: str, words: str, *links: str) -> tuple[int, str, str]:
    anchors = " ".join(f"<a href='{link}'>{link}</a>" for link in links)
    return 200, "text/html", f"<title>{title}</title><p>{words}</p>{anchors}"


WEB: Answers = {
    "/robots.txt": (200, "text/plain", "User-agent: *\nDisallow: /private\n"),
    "/tandem": page("Tandem", CYCLING, "/wheels", "/lunch"),
    "/saddle": page("Saddle", f"{CYCLING} leather", "/wheels"),
    "/scull": page("Scull", ROWING, "/lunch"),
    "/wheels": page("Wheels", f"{CYCLING} rim"),
    "/lunch": page("Lunch", "soup bread cheese apple kitchen"),
    "/private/diary": page("Diary", "secret"),
    "/old": (301, "/tandem", ""),
}


def bookmarks(place: str, **folders: list[str]) -> str:
    """As a browser exports them; the folder `top` is none."""
    inside = "".join(
        f"<DT><H3>{name}</H3><DL><p>" * (name != "top")
        + "".join(f"<DT><A HREF='http://{place}{path}'>{path}</A>" for path in paths)
        + "</DL><p>" * (name != "top")
        for name, paths in folders.items()
    )
    return f"<!DOCTYPE NETSCAPE-Bookmark-file-1><TITLE>Bookmarks</TITLE><DL><p>{inside}</DL>"


@pytest.fixture
def settings(tmp_path: Path) -> Path:
    path = tmp_path / "settings.toml"
    config = {
        "network": {"allow": ["127.0.0.0/8"], "contact": "me@example.org"},
        "politeness": {"delay": 0.0, "fetch_time_factor": 0.0},
        "readers": {"count": 1},
        "stop": {"irrelevant": 1},  # a crawl's rule, which is not one for fetching examples
    }
    path.write_text(tomli_w.dumps(config))
    return path


def counts(book: Path) -> dict[str, int]:
    with TopicBook(book) as opened:
        return {topic: count for topic, count in opened.example_counts().items() if topic}


def query(directory: Path, sql: str) -> list[tuple]:
    with closing(sqlite3.connect(f"file:{directory / 'crawl.db'}?mode=ro", uri=True)) as db:
        return db.execute(sql).fetchall()


class TestBookmarks:
    def test_folders_become_topics_and_pages_examples(self, settings: Path, tmp_path: Path) -> None:
        file, book = tmp_path / "bookmarks.html", tmp_path / "topics.db"
        with serving(WEB) as (place, asked):
            file.write_text(
                bookmarks(
                    place,
                    **{"Bikes/Gear": ["/tandem", "/saddle"], "Boats": ["/scull", "/gone", "/private/diary"]},
                    top=["/old", "/film.mp4"],
                )
            )
            command = ("topics", "import", file, "--under", "Mine", "--book", book, "--config", settings)
            result = lycosa(*command)
            assert result.returncode == 0, result.stderr
            first = list(asked)
            again = lycosa(*command)
            second = asked[len(first) :]
        assert "3 examples added, 1 known ones put under a further topic" in result.stdout
        for reason in ("1 × http 404", "1 × robots", "1 × file extension"):
            assert f"skipped: {reason}" in result.stdout
        assert first[0] == "/robots.txt"
        assert "/private/diary" not in first
        assert counts(book) == {"Mine": 1, "Mine/Bikes-Gear": 2, "Mine/Boats": 1}
        assert "0 examples added" in again.stdout
        assert not {"/saddle", "/scull"} & set(second)  # what is in the book is not fetched again
        assert "/gone" in second

    def test_ctrl_c_loses_nothing_and_a_second_run_continues(self, settings: Path, tmp_path: Path) -> None:
        file, book = tmp_path / "list.txt", tmp_path / "topics.db"
        pages = {f"/{number}": page(f"Page {number}", f"{CYCLING} number{number}") for number in range(12)}
        with serving({**WEB, **pages}) as (place, asked):
            file.write_text("\n".join(f"http://{place}/{number}" for number in range(12)))
            command = ["topics", "import", file, "--under", "Bikes", "--book", book, "-c", settings]
            slow = [*LYCOSA, *map(str, command), "--set", "politeness.delay=0.7"]
            process = subprocess.Popen(slow, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            deadline = time.monotonic() + 50
            while len(asked) < 5 and time.monotonic() < deadline:
                time.sleep(0.05)
            process.send_signal(signal.SIGINT)
            _, said = process.communicate(timeout=50)
            assert process.returncode == 130
            assert "interrupted: what has arrived is in the book; the same command continues" in said
            arrived = len([path for path in asked if path != "/robots.txt"])
            assert counts(book) == {"Bikes": arrived}
            assert 4 <= arrived < 12
            done = lycosa(*command)
            assert done.returncode == 0
        assert counts(book) == {"Bikes": 12}
        assert f"{12 - arrived} examples added" in done.stdout
        assert f"{arrived} already there" in done.stdout
        assert "fetching: " in said
        assert sorted(path for path in asked if path != "/robots.txt") == sorted(pages)  # each once

    def test_bad_input(self, tmp_path: Path) -> None:
        (tmp_path / "note.txt").write_text("I like tandems and rowing boats very much.")
        told = lycosa("topics", "import", tmp_path / "note.txt", "--book", tmp_path / "t.db")
        assert (told.returncode, "topics examples TOPIC --add" in told.stderr) == (2, True)
        (tmp_path / "list.txt").write_text("http://127.0.0.1:9/\n")
        told = lycosa("topics", "import", tmp_path / "list.txt", "--book", tmp_path / "t.db", "--set", "netwrk.x=1")
        assert (told.returncode, "did you mean 'network'?" in told.stderr) == (2, True)
        assert not (tmp_path / "t.db").exists()
        told = lycosa("topics", "import", tmp_path / "list.txt", "--under", "Mine", "--book", tmp_path / "t.db")
        assert (told.returncode, "none of its 1 addresses could be fetched" in told.stderr) == (2, True)
        assert "1 × address refused" in told.stdout


def test_all_that_fetch_take_config_and_set(settings: Path, tmp_path: Path) -> None:
    book = tmp_path / "topics.db"
    _train(book)
    allow = ("--set", 'network.allow=["127.0.0.0/8"]', "--set", "readers.count=1")
    with serving(WEB) as (place, _):
        url = f"http://{place}/tandem"
        (tmp_path / "list.txt").write_text(url)
        for options in (("--config", settings), allow):
            judged = json.loads(lycosa("judge", url, "--words", "tandem", "--json", *options).stdout)
            assert judged["title"] == "Tandem"
            told = lycosa("topics", "suggest", tmp_path / "list.txt", "--book", book, *options)
            assert "they are about Sport/Cycling" in told.stdout
        told = lycosa("topics", "examples", "Cycling", "--add", url, "--book", book, *allow)
        assert "1 added" in told.stdout
        refused = json.loads(lycosa("judge", url, "--words", "tandem", "--json").stdout)
        assert refused["error"].startswith("address refused")


def _train(book: Path, *urls: str) -> None:
    """Cycling and rowing; the first of the examples of cycling are these URLs."""
    with TopicBook(book) as opened:
        for topic, words in (("Sport/Cycling", CYCLING), ("Sport/Rowing", ROWING)):
            listed = words.split()
            examples = [
                Example(text_page(f"{topic}/{number}", "", " ".join(listed[number:] + listed[:3])), (topic,))
                for number in range(7)
            ]
            opened.add_examples(examples, makes_topics=True)
        places = [
            Example(text_page(url, "", f"{CYCLING} {number}x"), ("Sport/Cycling",)) for number, url in enumerate(urls)
        ]
        opened.add_examples(places)
    assert lycosa("topics", "train", "--book", book, "--folds", "2").returncode == 0


AROUND: Answers = {
    **WEB,
    "/tandem": page("Tandem", CYCLING, "/wheels", "/lunch", "/private/diary"),
    "/wheels": page("Wheels", f"{CYCLING} rim", "/rims"),
    "/rims": page("Wheel rims", f"{CYCLING} rim", "/spokes"),
    "/spokes": page("Spokes and wheels", CYCLING),
}
"""Four pages in a row, of which the first is an example."""


class TestExplore:
    def explored(self, *words: object) -> list[str]:
        result = lycosa("topics", "explore", "Cycling", *words)
        assert result.returncode == 0, result.stderr
        return [word.rpartition("/")[2] for word in result.stdout.split() if word.startswith("http://")]

    def test_pages_near_the_examples_are_fetched_and_no_others(self, settings: Path, tmp_path: Path) -> None:
        book = tmp_path / "topics.db"
        with serving(AROUND) as (place, asked):
            _train(book, f"http://{place}/tandem")
            assert self.explored("--book", book, "-c", settings, "--distance", "1") == ["wheels"]
            assert sorted(asked) == ["/lunch", "/robots.txt", "/tandem", "/wheels"]
            assert self.explored("--book", book, "-c", settings) == ["wheels", "rims"]
            assert "/spokes" not in asked

    def test_what_a_crawl_knows_is_not_fetched_again(self, settings: Path, tmp_path: Path) -> None:
        book, crawl = tmp_path / "topics.db", tmp_path / "crawl"
        with serving(AROUND) as (place, asked):
            _train(book, f"http://{place}/tandem")
            options = ("--book", book, "-c", settings, "--set", "stop.irrelevant=0", "-q", "-n", "3")
            assert lycosa("crawl", "--topic", "Cycling", "-o", crawl, *options).returncode == 0
            known = {path for path in asked if path != "/robots.txt"}
            assert len(known) == 3
            asked.clear()
            found = self.explored("--book", book, "--crawl", crawl, "--fetch", "0")
            assert {f"/{name}" for name in found} == known & {"/wheels", "/rims"}
            assert asked == []
            assert self.explored("--book", book, "--crawl", crawl) == ["wheels", "rims"]
            assert not known & set(asked)

    def test_nothing_to_search(self, tmp_path: Path) -> None:
        book = tmp_path / "topics.db"
        _train(book)
        told = lycosa("topics", "explore", "Cycling", "--book", book)
        assert (told.returncode, "no example with a web address" in told.stderr) == (2, True)
        told = lycosa("topics", "explore", "Cycling", "--book", book, "--fetch", "0")
        assert (told.returncode, "nothing to search" in told.stderr) == (2, True)


class TestStart:
    def test_from_the_examples_of_the_topic(self, settings: Path, tmp_path: Path) -> None:
        book, crawl = tmp_path / "topics.db", tmp_path / "crawl"
        quiet = ("-c", settings, "--set", "stop.irrelevant=0", "--book", book)
        with serving(WEB) as (place, _):
            _train(book, f"http://{place}/tandem", f"http://{place}/saddle")
            result = lycosa("crawl", "--topic", "Cycling", "-o", crawl, *quiet)
            assert result.returncode == 0, result.stderr
            assert "note: starting from the 2 examples of the topic book" in result.stderr
            seeds = query(crawl, "select url from frontier where parent_id is null order by id")
            assert seeds == [(f"http://{place}/tandem",), (f"http://{place}/saddle",)]
            assert query(crawl, "select count(*) from pages") == [(4,)]
            assert lycosa("crawl", "-o", crawl, *quiet, "-q").returncode == 0

            given = ("--seed", f"http://{place}/lunch")
            lycosa("crawl", "--topic", "Cycling", "-o", tmp_path / "given", *quiet, *given, "-q")
            assert query(tmp_path / "given", "select count(*) from pages") == [(1,)]
            lycosa("crawl", "--topic", "Cycling", "-o", tmp_path / "both", *quiet, *given, "--with-examples", "-q")
            assert query(tmp_path / "both", "select count(*) from frontier where parent_id is null") == [(3,)]

    def test_for_all_good_topics(self, settings: Path, tmp_path: Path) -> None:
        book, crawl = tmp_path / "topics.db", tmp_path / "crawl"
        quiet = ("-c", settings, "--set", "stop.irrelevant=0", "--book", book, "-q")
        with serving(WEB) as (place, _):
            _train(book, f"http://{place}/tandem")
            refused = lycosa("crawl", "--good", "-o", crawl, *quiet)
            assert (refused.returncode, "lycosa topics mark-good NAME" in refused.stderr) == (2, True)
            assert not crawl.exists()
            lycosa("topics", "mark-good", "Cycling", "--book", book)
            lycosa("topics", "mark-good", "Rowing", "--book", book)
            with TopicBook(book) as opened:
                opened.add_examples(
                    [Example(text_page(f"http://{place}/scull", "", f"{ROWING} new"), ("Sport/Rowing",))]
                )
            result = lycosa("crawl", "--good", "-o", crawl, *quiet)
            assert (result.returncode, result.stderr) == (0, "")
            found = dict(query(crawl, "select f.url, best from judgements j join frontier f on f.id = j.page_id"))
            assert found[f"http://{place}/scull"] == "Sport/Rowing"
            assert found[f"http://{place}/wheels"] == "Sport/Cycling"
            assert query(crawl, "select count(*) from frontier where parent_id is null") == [(2,)]
            lycosa("topics", "unmark", "Rowing", "--book", book)
            again = lycosa("crawl", "--good", "-o", crawl, *quiet)  # it goes on for what it was begun for
            assert (again.returncode, again.stderr) == (0, "")
            both = lycosa("crawl", "--good", "--topic", "Cycling", "-o", tmp_path / "x", *quiet)
            assert (both.returncode, "leave --topic out" in both.stderr) == (2, True)

    def test_a_topic_without_web_examples(self, tmp_path: Path) -> None:
        book = tmp_path / "topics.db"
        _train(book)
        result = lycosa("crawl", "--topic", "Cycling", "-o", tmp_path / "crawl", "--book", book)
        assert result.returncode == 2
        assert "'Cycling' has no example with a web address to start from" in result.stderr
        assert "lycosa topics examples 'Cycling' --add https://…, or give --seed https://…" in result.stderr
        assert not (tmp_path / "crawl").exists()
