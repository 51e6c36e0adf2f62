"""lycosa crawl --show: relevant pages as they are found, in a terminal, in a pipe, and as events."""

from __future__ import annotations

import json
import os
import pty
import re
import sqlite3
import subprocess
import threading

import pytest
import tomli_w

import lycosa
from loopback import LYCOSA, NOT_FOUND, Answer, html, serving
from loopback import lycosa as run
from lycosa.cli.progress import Panels
from lycosa.cli.shown_pages import Show, page_json, page_line
from lycosa.crawl.consequences import FoundPage
from lycosa.crawl.watching import Event

HOSTILE = "\x1b]0;owned\x07\x1b[2J\u202e[red]title[/red]\r\n"
PAGES = 12


def answer(request) -> Answer:
    """Pages about cycling and soup by turns, with titles that would like to be in charge of the terminal."""
    number = request.path.strip("/")
    if not number.isdigit() or int(number) >= PAGES:
        return NOT_FOUND
    words = "recreational cycling on quiet roads" if int(number) % 2 == 0 else "soup and bread"
    links = "".join(f'<a href="/{each}">more</a>' for each in range(PAGES))
    return html(f"<title>{HOSTILE}{number}</title><p>{words} {number}</p>{links}")


@pytest.fixture
def command(tmp_path):
    settings = tmp_path / "settings.toml"
    politeness = {"delay": 0.0, "fetch_time_factor": 0.0}
    network = {"allow": ["127.0.0.0/8"], "resolve": {"*.test": "127.0.0.1"}, "contact": "me@example.org"}
    settings.write_text(tomli_w.dumps({"network": network, "politeness": politeness}))
    options = ["--judge", "keywords", "--strategy", "best-first", "-c", str(settings), "-o", str(tmp_path / "crawl")]
    with serving(answer) as (place, _):
        seed = f"http://a.test:{place.partition(':')[2]}/0"
        yield ["crawl", "recreational cycling", "--seed", seed, *options]


def relevant_in(directory) -> list[str]:
    with sqlite3.connect(directory / "crawl.db") as db:
        return [url for (url,) in db.execute("select url from relevant_pages order by number")]


def test_piped_and_quiet_there_are_only_pages(command, tmp_path):
    done = run(*command, "-q", "--show", "relevant")
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    found = relevant_in(tmp_path / "crawl")
    assert len(found) == PAGES // 2
    assert [line.split()[2] for line in lines] == found
    assert all(re.fullmatch(r"relevant  [01]\.\d\d  http://a\.test:\d+/\d+  \S.*title.*", line) for line in lines)
    assert not re.search(r"[\x00-\x09\x0b-\x1f\u202e]", done.stdout)


def test_a_second_run_shows_what_is_new(command, tmp_path):
    first = run(*command, "-q", "--show", "relevant", "-n", "5")
    second = run(*command, "-q", "--show", "relevant", "-n", "50")
    shown = [line.split()[2] for line in (first.stdout + second.stdout).splitlines()]
    assert shown == relevant_in(tmp_path / "crawl")
    assert first.stdout
    assert second.stdout


def test_as_json(command, tmp_path):
    done = run(*command, "--json", "--show", "all")
    events = [json.loads(line) for line in done.stdout.splitlines()]
    pages = [event for event in events if event["event"] == "page"]
    assert [page["number"] for page in pages] == list(range(1, PAGES + 1))
    assert [page["url"] for page in pages if page["is_relevant"]] == relevant_in(tmp_path / "crawl")
    assert events[-1]["event"] == "end"


def test_not_asked_for_it_shows_none(command):
    done = run(*command)
    assert "relevant  0." not in done.stdout
    assert "relevant  1." not in done.stdout


def test_in_a_terminal_above_the_panel(command, tmp_path):
    """The panel stays, every page is there once, and no title reaches the terminal as it is."""
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        [*LYCOSA, *command, "--show", "relevant"], stdin=theirs, stdout=theirs, stderr=theirs
    ) as process:
        os.close(theirs)
        shown = b""
        try:
            while chunk := os.read(ours, 65536):
                shown += chunk
        except OSError:  # on Linux, the end of a terminal
            pass
        assert process.wait(timeout=60) == 0
    os.close(ours)
    text = shown.decode()
    assert "harvest rate" in text
    for url in relevant_in(tmp_path / "crawl"):
        assert len(re.findall(rf"relevant  [01]\.\d\d  {re.escape(url)}(?!\d)", text)) == 1
    assert "\x1b]0;" not in text
    assert "\x1b[2J" not in text
    assert "\u202e" not in text
    assert "[red]title[/red]" in text


def page(**more: object) -> FoundPage:
    return FoundPage(**{"number": 1, "url": "http://a.test/", "title": HOSTILE, "relevance": 0.5, "is_relevant": True,
                        "language": "en", "text": "", **more})  # fmt: skip


def test_whatever_a_title_says():
    assert page_line(page()).isprintable()
    assert page_line(page(title="  ")).endswith("(no title)")
    assert page_line(page(is_relevant=False)).startswith("other")
    assert page_json("relevant", page()).isascii()


def test_the_terminal_belongs_to_questions_while_they_are_asked(capsys):
    panels = Panels("title", show=Show.RELEVANT)
    panels._questions = threading.Thread()
    panels.tell(Event("relevant", "", page()))
    assert capsys.readouterr().out == ""
    panels._questions = None
    panels.tell(Event("relevant", "", page(url="http://b.test/")))
    shown = capsys.readouterr().out
    assert shown.index("http://a.test/") < shown.index("http://b.test/")


class Late:
    """A judge by a word, which has doubts about pages of one kind until somebody answers."""

    name = "late"

    def judge(self, page):
        return 0.2 if "3" in page.text else 0.9 if "cycling" in page.text else 0.0


class TestEvents:
    def crawl(self, tmp_path, web: dict[str, str], **more) -> lycosa.Crawl:
        class Fetcher:
            async def fetch(self, lease: lycosa.Lease) -> lycosa.Fetched:
                body = web.get(lease.url)
                return lycosa.Fetched.page(lease, body) if body is not None else lycosa.Fetched.missing(lease)

        return lycosa.Crawl(
            "cycling", seeds=["http://a.test/0"], directory=tmp_path / "events", fetcher=Fetcher(), judge=Late(),
            strategy="breadth-first", politeness={"delay": 0.0}, **more,
        )  # fmt: skip

    def test_relevant_pages_are_events(self, tmp_path):
        links = "".join(f'<a href="/{number}">more</a>' for number in range(6))
        web = {f"http://a.test/{n}": f"<title>page {n}</title>cycling {n} {links}" for n in (0, 1, 3, 5)}
        web |= {f"http://a.test/{n}": f"soup {n}" for n in (2, 4)}
        crawl = self.crawl(tmp_path, web)
        events: list[lycosa.Event] = []
        crawl.listen(events.append)
        crawl.run()
        relevant = [event for event in events if event.kind == "relevant"]
        assert [event.page.url for event in relevant] == [f"http://a.test/{n}" for n in (0, 1, 5)]
        assert relevant[1].message == "page 1 http://a.test/1"
        kinds = [event.kind for event in events if event.page is not None and event.page.url.endswith("/1")]
        assert kinds == ["page", "relevant"]

    def test_a_page_that_becomes_relevant_is_told_of_then_and_once(self, tmp_path):
        links = "".join(f'<a href="/{number}">more</a>' for number in range(30))
        web = {f"http://a.test/{n}": f"<title>page {n}</title>cycling {n} {links}" for n in (0, 3)}
        web |= {f"http://a.test/{n}": f"soup {n} x" for n in range(40) if n not in (0, 3)}
        crawl = self.crawl(tmp_path, web, answers={"http://a.test/3": True})
        events: list[lycosa.Event] = []
        crawl.listen(events.append)
        crawl.run()
        relevant = [event.page for event in events if event.kind == "relevant"]
        assert [page.url for page in relevant] == ["http://a.test/0", "http://a.test/3"]
        assert (relevant[1].title, relevant[1].relevance, relevant[1].is_relevant) == ("page 3", 1.0, True)


@pytest.mark.parametrize("options", [[], ["-q"], ["--json"], ["-q", "--json"]], ids=" ".join)
def test_a_crawl_goes_on_when_nobody_reads_its_pages_any_more(command, tmp_path, options):
    """lycosa crawl … --show all | head -n 1"""
    words = [*LYCOSA, *command, "--show", "all", *options]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline()
        process.stdout.close()
        errors = process.stderr.read()
        assert process.wait(timeout=60) == 0
    assert errors.count("nobody reads the output any more") == 1
    assert "Broken pipe" not in errors
    with sqlite3.connect(tmp_path / "crawl" / "crawl.db") as db:
        assert db.execute("select count(*) from pages").fetchone() == (PAGES,)
        assert db.execute("select stop_reason from runs").fetchone()[0]


def test_a_command_whose_output_nobody_reads_ends_quietly(command, tmp_path):
    assert run(*command, "-q").returncode == 0
    query = "with recursive n(i) as (select 1 union all select i + 1 from n limit 200000) select i from n"
    words = [*LYCOSA, "sql", str(tmp_path / "crawl"), query]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline()
        process.stdout.close()
        assert process.stderr.read() == ""
        assert process.wait(timeout=60) == 1
