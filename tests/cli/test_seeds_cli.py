"""Seeds that cannot start, on the command line: said at once, also with -q, and never waited for in silence."""

from __future__ import annotations

import json
import socket
import sqlite3
import subprocess
import time
from contextlib import closing
from pathlib import Path

import pytest

from loopback import LYCOSA, lycosa, serving
from lycosa import Crawl

QUICK = ("--set", 'network.allow=["127.0.0.0/8"]', "--set", "readers.count=1", "--delay", "0")
PAGES = {
    "/robots.txt": (404, "text/plain", ""),
    "/": (200, "text/html", "<title>Cycling</title><p>Recreational cycling on a tandem.<a href='/more'>more</a>"),
    "/more": (200, "text/html", "<title>More</title><p>More recreational cycling."),
    "/moved": (301, "/gone", ""),
    "/film": (200, "video/mp4", ""),
}


@pytest.fixture
def dead() -> str:
    """A name and port where nobody listens."""
    with closing(socket.socket()) as taken:
        taken.bind(("127.0.0.9", 0))
        return f"127.0.0.9:{taken.getsockname()[1]}"


def crawl(directory: Path, *words: object) -> subprocess.CompletedProcess[str]:
    return lycosa("crawl", "recreational cycling", "-o", directory, *QUICK, *words)


def query(directory: Path, sql: str) -> list[tuple]:
    with closing(sqlite3.connect(f"file:{directory / 'crawl.db'}?mode=ro", uri=True)) as db:
        return db.execute(sql).fetchall()


class TestDeadSeeds:
    def test_it_is_said_and_the_crawl_ends(self, dead: str, tmp_path: Path) -> None:
        words = ("crawl", "recreational cycling", "-o", tmp_path / "crawl", *QUICK, "-s", f"https://{dead}/", "-q")
        result = subprocess.run([*LYCOSA, *map(str, words)], capture_output=True, text=True, timeout=30, check=False)
        assert result.returncode == 2
        said, refused = result.stderr.splitlines()
        assert said.startswith(f"seed https://{dead}/: robots.txt of https://{dead} is unreachable (connect ")
        assert "so nothing may be fetched there; next try at " in said
        assert refused.startswith(f"lycosa: no page could be fetched: https://{dead}/: robots.txt of https://{dead}")
        assert "check the seed's spelling and the network" in refused
        assert "the same command tries again" in refused
        assert result.stdout == ""
        (message,) = query(tmp_path / "crawl", "select message from events where kind = 'seed'")[0]
        assert f"seed {message}" == said

    def test_status_and_explain_know_it(self, dead: str, tmp_path: Path) -> None:
        crawl(tmp_path / "crawl", "-s", f"http://{dead}/", "-q")
        status = lycosa("status", tmp_path / "crawl").stdout
        assert "stopped: no seed can be reached: " in status
        assert "seeds that could not start" in status
        told = json.loads(lycosa("status", tmp_path / "crawl", "--json").stdout)["seeds_not_started"]
        assert told[f"http://{dead}/"].startswith(f"robots.txt of http://{dead} is unreachable (connect ")
        explained = dict(json.loads(lycosa("explain", tmp_path / "crawl", f"http://{dead}/", "--json").stdout))
        assert explained["state"].startswith("waiting: robots.txt is unreachable (connect ")
        assert "next try at " in explained["state"]

    def test_json_has_an_event(self, dead: str, tmp_path: Path) -> None:
        result = crawl(tmp_path / "crawl", "-s", f"http://{dead}/", "--json")
        first, *_, end = map(json.loads, result.stdout.splitlines())
        assert (first["event"], end["event"]) == ("seed", "end")
        assert first["message"].startswith(f"http://{dead}/: robots.txt of ")
        assert end["stop_reason"].startswith("no seed can be reached")
        assert f"seed http://{dead}/: robots.txt" in result.stderr

    def test_the_same_command_tries_again(self, dead: str, tmp_path: Path) -> None:
        assert crawl(tmp_path / "crawl", "-s", f"http://{dead}/", "-q").returncode == 2
        page = (200, "text/html", "<title>Cycling</title><p>Recreational cycling.")
        with serving({"/": page}, place=dead):
            result = crawl(tmp_path / "crawl", "-s", f"http://{dead}/", "-q")
        assert (result.returncode, result.stderr) == (0, "")
        assert query(tmp_path / "crawl", "select count(*) from pages") == [(1,)]

    def test_a_failed_name_is_tried_again_too(self, tmp_path: Path) -> None:
        seed = ("-s", "http://a.invalid/", "-q", "--set", "politeness.first_backoff=0")
        assert crawl(tmp_path / "crawl", *seed).returncode == 2
        resolve = ("--set", 'network.resolve={"a.invalid": "127.0.0.1"}')
        with serving(PAGES) as (place, _):
            named = place.replace("127.0.0.1", "a.invalid")
            assert crawl(tmp_path / "crawl", *seed, *resolve, "-s", f"http://{named}/").returncode == 0

    def test_several_seeds_of_one_dead_host(self, dead: str, tmp_path: Path) -> None:
        seeds = [word for name in "abc" for word in ("-s", f"http://{dead}/{name}")]
        result = crawl(tmp_path / "crawl", *seeds, "-q")
        assert result.returncode == 2
        *said, refused = result.stderr.splitlines()
        assert sorted(line.partition(": ")[0] for line in said) == [f"seed http://{dead}/{name}" for name in "abc"]
        assert "(and 2 more: lycosa status)" in refused

    def test_others_go_on_and_the_end_does_not_wait(self, dead: str, tmp_path: Path) -> None:
        with serving(PAGES) as (place, _):
            seeds = ("-s", f"http://{dead}/", "-s", f"http://{place}/", "-s", f"http://{place}/never")
            began = time.monotonic()
            result = crawl(tmp_path / "crawl", *seeds, "-q")
        assert time.monotonic() - began < 30
        assert result.returncode == 0
        said = sorted(result.stderr.splitlines())
        assert said[0].startswith(f"seed http://{place}/never: http 404; given up")
        assert said[1].startswith(f"seed http://{dead}/: robots.txt of ")
        (reason,) = query(tmp_path / "crawl", "select stop_reason from runs")[0]
        assert reason.startswith("nothing left to fetch but seeds that cannot be reached: ")
        assert query(tmp_path / "crawl", "select count(*) from pages") == [(2,)]

    def test_a_second_run_says_it_again_and_ends(self, dead: str, tmp_path: Path) -> None:
        with serving(PAGES) as (place, _):
            seeds = ("-s", f"http://{dead}/", "-s", f"http://{place}/")
            crawl(tmp_path / "crawl", *seeds, "-q")
            result = crawl(tmp_path / "crawl", *seeds, "-q")
        assert result.returncode == 0
        assert result.stderr.startswith(f"seed http://{dead}/: robots.txt of ")

    @pytest.mark.parametrize(
        ("path", "words"),
        [
            ("/never", "http 404; given up"),
            ("/film", "content type video/mp4; given up: give a page, HTML or text"),
            ("/moved", "http 404; given up"),
        ],
    )
    def test_why(self, path: str, words: str, tmp_path: Path) -> None:
        with serving(PAGES) as (place, _):
            result = crawl(tmp_path / "crawl", "-s", f"http://{place}{path}", "-q")
        assert result.returncode == 2
        assert words in result.stderr.splitlines()[0]
        if path == "/moved":
            assert f"seed http://{place}/moved (continued at http://{place}/gone): " in result.stderr

    def test_robots_that_forbid_or_refuse(self, tmp_path: Path) -> None:
        forbidding = {**PAGES, "/robots.txt": (200, "text/plain", "User-agent: *\nDisallow: /\n")}
        with serving(forbidding) as (place, asked):
            result = crawl(tmp_path / "forbidden", "-s", f"http://{place}/", "-q")
            assert asked == ["/robots.txt"]
        assert "robots Disallow: /" in result.stderr.splitlines()[0]
        busy = {**PAGES, "/robots.txt": (503, "text/plain", "")}
        with serving(busy) as (place, asked):
            result = crawl(tmp_path / "busy", "-s", f"http://{place}/", "-q")
            again = crawl(tmp_path / "busy", "-s", f"http://{place}/", "-q")
            assert asked == ["/robots.txt"]  # it answered that it is busy: it is left alone until the time named
        assert result.returncode == again.returncode == 2
        assert "is unreachable (http 503), so nothing may be fetched there; next try at " in result.stderr

    def test_an_address_that_is_refused(self, tmp_path: Path) -> None:
        result = lycosa("crawl", "cycling", "-o", tmp_path / "crawl", "-s", "http://127.0.0.1:9/", "-q")
        assert result.returncode == 2
        assert "address refused" in result.stderr
        assert "network.allow" in result.stderr

    def test_many_are_not_all_listed(self, tmp_path: Path) -> None:
        (tmp_path / "seeds.txt").write_text("\n".join(f"http://a{number}.invalid/" for number in range(14)))
        result = crawl(
            tmp_path / "crawl", "--seeds", tmp_path / "seeds.txt", "-q", "--set", "politeness.first_backoff=0"
        )
        assert result.returncode == 2
        *said, more, refused = result.stderr.splitlines()
        assert len(said) == 10
        assert "lycosa status lists them" in more
        assert "(and 13 more: lycosa status)" in refused


def test_a_crawl_may_be_told_not_to_wait_for_resting_hosts(dead: str, tmp_path: Path) -> None:
    linking = {**PAGES, "/": (200, "text/html", f"<title>Cycling</title><a href='http://{dead}/'>dead</a>")}
    with serving(linking) as (place, _):
        result = crawl(tmp_path / "crawl", "-s", f"http://{place}/", "-q", "--set", "stall.longest_rest=30")
    assert (result.returncode, result.stderr) == (0, "")
    (reason,) = query(tmp_path / "crawl", "select stop_reason from runs")[0]
    assert reason.startswith("all hosts rest, the first of them until ")


class TestSlowSeeds:
    def test_one_that_does_not_answer_is_mentioned(self, tmp_path: Path) -> None:
        with closing(socket.socket()) as silent:
            silent.bind(("127.0.0.1", 0))
            silent.listen()
            seed = f"http://127.0.0.1:{silent.getsockname()[1]}/"
            result = crawl(tmp_path / "crawl", "-s", seed, "-q", "--set", "http.deadline=8")
        assert result.returncode == 2
        first, second, _ = result.stderr.splitlines()
        assert first == f"seed {seed}: no answer yet after 5 s; still waiting"
        assert second.startswith(f"seed {seed}: robots.txt of ")


class TestNoScheme:
    def test_http_is_tried_where_https_cannot_be_connected(self, tmp_path: Path) -> None:
        with serving(PAGES) as (place, asked):
            result = crawl(tmp_path / "crawl", "-s", f"{place}/", "-s", f"{place}/more", "-q")
            assert (result.returncode, result.stderr) == (0, "")
            assert asked[0] == "/robots.txt"
        assert sorted(query(tmp_path / "crawl", "select url from frontier join pages using (id)")) == [
            (f"http://{place}/",),
            (f"http://{place}/more",),
        ]
        explained = json.loads(lycosa("explain", tmp_path / "crawl", f"https://{place}/", "--json").stdout)
        assert any("https unreachable" in text for _, text in explained)

    def test_in_a_file(self, tmp_path: Path) -> None:
        with serving(PAGES) as (place, _):
            (tmp_path / "seeds.txt").write_text(f"# mine\n{place}\n")
            assert crawl(tmp_path / "crawl", "--seeds", tmp_path / "seeds.txt", "-q", "-n", "1").returncode == 0
        assert f'"{place}/"' in (tmp_path / "crawl" / "lycosa.toml").read_text()

    def test_a_scheme_that_was_given_is_kept(self, tmp_path: Path) -> None:
        with serving(PAGES) as (place, asked):
            result = crawl(tmp_path / "crawl", "-s", f"https://{place}/", "-q")
            assert asked == []
        assert result.returncode == 2
        assert f"robots.txt of https://{place} is unreachable (tls " in result.stderr

    def test_neither_answers(self, dead: str, tmp_path: Path) -> None:
        result = crawl(tmp_path / "crawl", "-s", dead, "-q")
        assert result.returncode == 2
        assert f"seed https://{dead}/ (continued at http://{dead}/): robots.txt of http://{dead}" in result.stderr


class TestNoSeeds:
    @pytest.mark.parametrize("text", ["", "\n\n", "# only\n# comments\n"])
    def test_a_file_without_any(self, text: str, tmp_path: Path) -> None:
        (tmp_path / "seeds.txt").write_text(text)
        result = crawl(tmp_path / "crawl", "--seeds", tmp_path / "seeds.txt")
        assert result.returncode == 2
        assert "contains no URL: " in result.stderr
        assert "write one on each line, such as https://example.org/, or give --seed" in result.stderr
        assert not (tmp_path / "crawl").exists()


def test_a_seed_is_told_to_listeners(dead: str, tmp_path: Path) -> None:
    heard = []
    settings = {"network": {"allow": ["127.0.0.0/8"]}, "readers": {"count": 1}}
    crawl = Crawl("cycling", seeds=[f"http://{dead}/"], directory=tmp_path / "crawl", config=settings)
    crawl.listen(heard.append)
    report = crawl.run()
    assert report.reason.startswith("no seed can be reached: ")
    assert [event.message.split(":")[0] for event in heard if event.kind == "seed"] == ["http"]
