"""The command line as people and machines use it: real processes against a generated web on loopback.

Bad input gets one line on stderr that says what, where and what would be right, exit code 2, and no traceback.
"""

from __future__ import annotations

import json
import os
import re
import resource
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import contextmanager

import pytest
import tomli_w

from hostile.server import running
from loopback import LYCOSA, Result, lycosa
from lycosa import __version__
from lycosa.cli import main
from lycosa.config import Config, build
from lycosa.fetch.warc_reader import Damage, iterate

SILENT = "/fault/silent"


@pytest.fixture(scope="module")
def server(small_web):
    # An address for each host: one that is kept waiting then holds up no other.
    with running(small_web, faults={"quiet.test": "500/0"}, addresses=len(small_web.hosts) + 1) as server:
        yield server


@pytest.fixture
def settings(server, small_web, tmp_path):
    """A TOML file with everything a quick crawl of the generated web needs but the seeds."""
    path = tmp_path / "settings.toml"
    config = {
        "network": {"allow": ["127.0.0.0/8"], "resolve": server.overrides(), "contact": "me@example.org"},
        "politeness": {"delay": 0.0, "fetch_time_factor": 0.0, "first_backoff": 0.0},
        "readers": {"count": 1},
    }
    path.write_text(tomli_w.dumps(config))
    return path


@pytest.fixture
def crawl_command(server, small_web, settings, tmp_path):
    """`crawl …` for the generated web, into tmp_path/crawl; more options can be added."""

    def command(*more: str) -> list[str]:
        topic = small_web.topic_keywords(0)
        return ["crawl", topic, "--seed", server.url(0), "-c", str(settings), "-o", str(tmp_path / "crawl"), *more]

    return command


@pytest.fixture
def reachable(server, small_web):
    """The URLs a whole crawl from page 0 fetches."""
    distances = small_web.distances([0])
    return {server.url(page) for page in range(len(small_web)) if distances[page] >= 0}


@contextmanager
def started(*arguments: str):
    """A command that is under way."""
    process = subprocess.Popen([*LYCOSA, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def wait_until(condition, *, seconds: float = 60.0) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            pytest.fail("waited in vain")
        time.sleep(0.01)


def assert_refused(result: Result, *parts: str) -> None:
    """One line on stderr with these parts in it, exit code 2, nothing on stdout."""
    assert result.returncode == 2, result
    assert "Traceback" not in result.stderr
    assert result.stderr.startswith("lycosa: ")
    assert result.stderr.count("\n") == 1
    for part in parts:
        assert part in result.stderr
    assert result.stdout == ""


def run_here(capture, *arguments: str) -> tuple[int, str, str]:
    """Run a command in this process: (exit code, stdout, stderr)."""
    code = 0
    argv, sys.argv = sys.argv, ["lycosa", *arguments]
    try:
        main()
    except SystemExit as end:
        code = int(end.code or 0)
    finally:
        sys.argv = argv
    printed = capture.readouterr()
    return code, printed.out, printed.err


def query(directory, sql: str) -> list[tuple]:
    """Straight from the database, also while a crawl writes to it. Nothing, if it is not there yet."""
    try:
        database = sqlite3.connect(f"file:{directory}/crawl.db?mode=ro", uri=True)
    except sqlite3.OperationalError:
        return []
    try:
        return database.execute(sql).fetchall()
    except sqlite3.OperationalError:
        return []
    finally:
        database.close()


def fetched(directory) -> list[str]:
    return [url for (url,) in query(directory, "select url from frontier join pages using (id) order by number")]


class TestBadInput:
    """Each as a process of its own: what a person would see."""

    CRAWL = ("crawl", "cycling", "--contact", "me@example.org", "--seed", "https://a.invalid/", "-o", "crawl")

    def test_an_unknown_setting_in_a_file(self, tmp_path):
        (tmp_path / "my.toml").write_text("[politeness]\ndelai = 3\n")
        result = lycosa(*self.CRAWL, "--config", "my.toml", cwd=tmp_path)
        assert_refused(result, "my.toml: unknown setting 'politeness.delai'; did you mean 'politeness.delay'?")
        assert not (tmp_path / "crawl").exists()

    def test_an_unknown_setting_on_the_command_line(self, tmp_path):
        result = lycosa(*self.CRAWL, "--set", "budgt.pages=5", cwd=tmp_path)
        assert_refused(result, "--set: unknown setting 'budgt'; did you mean 'budget'?")

    def test_a_setting_out_of_range(self, tmp_path):
        result = lycosa(*self.CRAWL, "--set", "network.fetches=0", cwd=tmp_path)
        assert_refused(result, "network.fetches is 0: it must be 1 or more")

    def test_a_missing_seeds_file(self, tmp_path):
        result = lycosa("crawl", "cycling", "--seeds", "nowhere.txt", "-o", "crawl", cwd=tmp_path)
        assert_refused(result, "nowhere.txt: there is no such seeds file; give a text file with a URL on each line")

    def test_a_binary_seeds_file(self, tmp_path):
        (tmp_path / "picture.png").write_bytes(b"\x89PNG\r\n\x1a\n\x00\x1b[31m\xff")
        result = lycosa("crawl", "cycling", "--seeds", "picture.png", "-o", "crawl", cwd=tmp_path)
        assert_refused(result, "picture.png: cannot be read as text", "give a UTF-8 file with a URL on each line")
        assert "\x1b" not in result.stderr

    def test_a_malformed_seed(self, tmp_path):
        result = lycosa("crawl", "cycling", "--seed", "ftp://a.invalid/x", "-o", "crawl", cwd=tmp_path)
        assert_refused(result, "seed 'ftp://a.invalid/x': scheme 'ftp' is not http or https; write https://a.invalid/x")

    def test_a_malformed_seed_in_a_file(self, tmp_path):
        (tmp_path / "seeds.txt").write_text("https://a.invalid/\n\nhttp://\n")
        result = lycosa("crawl", "cycling", "--seeds", "seeds.txt", "-o", "crawl", cwd=tmp_path)
        assert_refused(result, "seeds.txt, line 3: seed 'http://'", "write")

    def test_a_seed_that_a_rule_turns_away(self, tmp_path):
        result = lycosa(*self.CRAWL, "--seed", "https://a.invalid/film.mp4", cwd=tmp_path)
        assert_refused(result, "film.mp4' is turned away: file extension", "change the seed or the [urls] settings")
        assert not (tmp_path / "crawl" / "lycosa.toml").exists()

    @pytest.mark.parametrize("place", ["file", "file/crawl", "/proc/lycosa-crawl"])
    def test_a_place_that_cannot_be_written(self, tmp_path, place):
        (tmp_path / "file").write_text("mine")
        result = lycosa(*self.CRAWL[:-1], place, cwd=tmp_path)
        assert_refused(result, f"{place}: cannot be used as a crawl directory", "choose one you can write to with -o")
        assert (tmp_path / "file").read_text() == "mine"

    @pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere; the test above covers the message")
    def test_a_read_only_directory(self, tmp_path):
        (tmp_path / "closed").mkdir(mode=0o500)
        result = lycosa(*self.CRAWL[:-1], "closed/crawl", cwd=tmp_path)
        assert_refused(result, "closed/crawl: cannot be used as a crawl directory: Permission denied")

    def test_a_name_that_is_too_long(self, tmp_path):
        assert_refused(lycosa(*self.CRAWL[:-1], "x" * 300, cwd=tmp_path), "File name too long")

    def test_an_unknown_host(self, tmp_path):
        quick = ("--set", "politeness.first_backoff=0", "--delay", "0", "--set", "readers.count=1")
        result = lycosa(*self.CRAWL, *quick, "--quiet", cwd=tmp_path)
        first, *_, last = result.stderr.splitlines()
        assert (result.returncode, result.stdout) == (2, "")
        assert first.startswith("seed https://a.invalid/: dns ")
        assert last.startswith("lycosa: no page could be fetched: https://a.invalid/: dns ")
        assert "check the seed's spelling and the network" in last

    def test_a_setting_that_cannot_work_does_not_stay_behind(self, tmp_path):
        bad = lycosa(*self.CRAWL, "--set", 'network.resolve={"a.invalid": "here"}', cwd=tmp_path)
        assert_refused(bad, "'here' for 'a.invalid' is not an address; write it like '127.0.0.1'")
        assert not (tmp_path / "crawl" / "lycosa.toml").exists()

    @pytest.mark.parametrize(
        ("arguments", "parts"),
        [
            (("crawl",), ("no topic is given", "lycosa crawl 'recreational cycling' --seed https://…")),
            (("crawl", "cycling", "-o", "new"), ("nothing to start from: give --seed https://… or --seeds FILE",)),
            (("crawl", "the of", "-s", "a.invalid", "-o", "new"), ("topic 'the of' has no word to look for",)),
            (("crawl", "x y", "-s", "a.invalid", "-o", "new", "--set", "delay"), ("write section.name=value",)),
            (
                ("crawl", "cycling", "-s", "a.invalid", "-o", "new", "--strategy", "bestfirst"),
                ("strategy 'bestfirst' is not known: did you mean 'best-first'?",),
            ),
            (("crawl", "cycling", "-s", "a.invalid", "-o", "new", "--pages", "0"), ("budget.pages is 0", "1 or more")),
            (("crawl", "cycling", "-s", "a.invalid", "-o", "new", "--threshold", "7"), ("threshold is 7.0: it must",)),
            (("crawl", "\udcff", "-s", "a.invalid", "-o", "new"), ("lycosa: ",)),
            (("status", "new"), ("new: no crawl here (crawl.db is missing); give the directory",)),
            (("explain", "new", "https://a.invalid/"), ("new: no crawl here",)),
            (("sql", "new", "select 1"), ("new: no crawl here",)),
            (("export", "new", "--to", "pages.csv"), ("new: no crawl here",)),
        ],
    )
    def test_other_mistakes(self, arguments, parts, capsys, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        monkeypatch.setenv("LYCOSA_CONTACT", "me@example.org")
        code, out, err = run_here(capsys, *arguments)
        assert (code, out) == (2, "")
        assert err.startswith("lycosa: ")
        assert err.count("\n") == 1
        for part in parts:
            assert part in err

    def test_with_debug_the_traceback_is_shown(self, tmp_path):
        result = lycosa("--debug", "status", "nowhere", cwd=tmp_path, stdin=subprocess.DEVNULL)
        assert "Traceback" in result.stderr
        assert result.returncode == 1


class TestFullDisk:
    def resumed(self, crawl_command, directory, reachable):
        result = lycosa(*crawl_command("--quiet"))
        assert result.returncode == 0
        assert set(fetched(directory)) == reachable
        damage = Damage()
        files = sorted((directory / "archive").glob("*.warc.gz"))
        stored = [answer.url for path in files for answer in iterate(path, damage=damage)]
        assert damage == Damage()
        assert set(stored) >= reachable
        for url in reachable:
            assert stored.count(url) == 1

    @pytest.mark.parametrize("kilobytes", [8, 200])
    def test_files_that_may_not_grow(self, crawl_command, tmp_path, reachable, kilobytes):
        limit = (kilobytes * 1024, kilobytes * 1024)
        result = lycosa(*crawl_command("--quiet"), preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, limit))
        assert_refused(result, str(tmp_path / "crawl"), "free some space and run the same command again")
        self.resumed(crawl_command, tmp_path / "crawl", reachable)

    def test_a_disk_that_is_full(self, crawl_command, tmp_path, reachable):
        disk = tmp_path / "crawl"
        disk.mkdir()
        mounting = subprocess.run(
            ["mount", "-t", "tmpfs", "-o", "size=700k", "lycosa-test", str(disk)], capture_output=True
        )
        if mounting.returncode:
            pytest.skip("mounting a small disk needs root; files that may not grow cover most of it")
        try:
            assert_refused(lycosa(*crawl_command("--quiet")), str(disk), "free some space and run the same command")
            subprocess.run(["mount", "-o", "remount,size=50m", str(disk)], check=True)
            self.resumed(crawl_command, disk, reachable)
        finally:
            subprocess.run(["umount", "--lazy", str(disk)], check=True)  # it may still be in use for a moment


class TestCrawl:
    def test_json_lines(self, crawl_command, tmp_path, reachable):
        result = lycosa(*crawl_command("--json"))
        assert result.returncode == 0
        assert result.stderr == ""
        *progress, end = [json.loads(line) for line in result.stdout.splitlines()]
        told = [line for line in progress if line["event"] != "progress"]
        assert {line["event"] for line in told} == {"judge", "advice"}
        assert "what it is about: " in told[-1]["message"]
        assert end["event"] == "end"
        assert [(change["kind"], change["message"]) for change in end["changes"]] == [
            (line["event"], line["message"]) for line in told
        ]
        assert end["stop_reason"] == "frontier empty: every link found has been dealt with"
        assert end["pages"] == len(reachable)
        assert end["certainty"]["relevant"] == end["relevant"]
        assert end["directory"] == str(tmp_path / "crawl")
        assert set(fetched(tmp_path / "crawl")) == reachable

    def test_quiet_says_nothing(self, crawl_command, capfd, tmp_path):
        assert run_here(capfd, *crawl_command("--quiet", "--pages", "5")) == (0, "", "")
        assert len(fetched(tmp_path / "crawl")) == 5

    def test_plain_lines_without_a_terminal(self, crawl_command, tmp_path, capfd):
        code, out, err = run_here(capfd, *crawl_command("--pages", "20"))
        assert (code, err) == (0, "")
        assert out.startswith("judge: from 20 pages, what it is about: ")
        assert "\nstopped: page budget: 20 of 20 pages fetched\n20 pages, " in out
        assert f"in {tmp_path}/crawl/: crawl.db" in out
        assert "\x1b" not in out

    def test_the_same_command_goes_on(self, crawl_command, tmp_path, server, reachable, capfd):
        before = len(server.requests())
        assert run_here(capfd, *crawl_command("--quiet", "--pages", "10"))[0] == 0
        assert len(fetched(tmp_path / "crawl")) == 10
        assert run_here(capfd, "crawl", "-o", str(tmp_path / "crawl"), "--pages", "1000", "-q") == (0, "", "")
        pages = fetched(tmp_path / "crawl")
        assert set(pages) == reachable
        assert len(pages) == len(set(pages))
        asked = [f"http://{request.host}:{server.port}{request.path}" for request in server.requests()[before:]]
        assert [url for url in reachable if asked.count(url) != 1] == []

    def test_the_effective_configuration_is_kept(self, crawl_command, tmp_path, capfd):
        run_here(capfd, *crawl_command("--quiet", "--pages", "3", "--strategy", "breadth-first"))
        text = (tmp_path / "crawl" / "lycosa.toml").read_text()
        assert 'strategy = "breadth-first"' in text
        assert "me@example.org" in text
        assert query(tmp_path / "crawl", "select config from runs") == [(text,)]

    def test_topic_and_seeds_may_stand_in_the_configuration(self, settings, server, tmp_path, capfd):
        settings.write_text(f'topic = "cycling"\nseeds = ["{server.url(0)}"]\n' + settings.read_text())
        command = ("crawl", "-c", str(settings), "-o", str(tmp_path / "crawl"), "-q", "-n", "1")
        assert run_here(capfd, *command) == (0, "", "")
        assert fetched(tmp_path / "crawl") == [server.url(0)]

    def test_seeds_alone_are_examples(self, settings, server, small_web, reachable, tmp_path, capfd):
        own = [page for page in range(len(small_web)) if small_web.topic_of(page) == 0]
        pages = [page for page in own if server.url(page) in reachable][:3]
        seeds = [option for page in pages for option in ("--seed", server.url(page))]
        command = ("crawl", *seeds, "-c", str(settings), "-o", str(tmp_path / "crawl"), "-n", "15")
        code, out, err = run_here(capfd, *command)
        assert (code, err) == (0, "")
        assert "what it is about: " in out
        relevance = dict(
            query(tmp_path / "crawl", "select f.url, j.relevance from judgements j, frontier f where f.id = page_id")
        )
        assert all(relevance[server.url(page)] > 0.89 for page in pages)
        assert query(tmp_path / "crawl", "select distinct judge from judgements") == [("contrast",)]
        code, out, _ = run_here(capfd, "status", str(tmp_path / "crawl"))
        assert out.startswith(f"pages like {server.url(pages[0])} and 2 more  (hunter)")

    def test_seeds_alone_need_a_directory(self, capsys, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        code, _, err = run_here(capsys, "crawl", "--seed", "https://a.invalid/")
        assert code == 2
        assert "to crawl for pages like the seeds, or to go on with a crawl, name its directory" in err

    def test_bookmarks_are_seeds(self, settings, server, tmp_path, capfd):
        (tmp_path / "bookmarks.html").write_text(
            "<!DOCTYPE NETSCAPE-Bookmark-file-1>\n<DL><DT><H3>Bikes</H3><DL>"
            f'<DT><A HREF="{server.url(0)}">One</A><DT><A HREF="{server.url(1)}">Two</A>'
            f'<DT><A HREF="javascript:void(0)">Three</A></DL><DT><A HREF="{server.url(0)}">Again</A></DL>'
        )
        command = (
            "crawl",
            "--seeds",
            str(tmp_path / "bookmarks.html"),
            "-c",
            str(settings),
            "-o",
            str(tmp_path / "crawl"),
        )
        code, _, err = run_here(capfd, *command, "-n", "2")
        assert code == 0
        assert "skipped: 1 script" in err
        assert set(fetched(tmp_path / "crawl")) == {server.url(0), server.url(1)}

    def test_a_crawl_of_an_older_version_goes_on_as_it_was(self, crawl_command, tmp_path, capfd):
        more = ("--quiet", "--strategy", "best-first")
        assert run_here(capfd, *crawl_command(*more, "--pages", "5"))[0] == 0
        path = tmp_path / "crawl" / "lycosa.toml"
        older = [line for line in path.read_text().splitlines() if not line.startswith(("kind", "seeds_are_examples"))]
        path.write_text("\n".join(older))
        assert run_here(capfd, "crawl", "-o", str(tmp_path / "crawl"), "-q", "--pages", "9") == (0, "", "")
        assert query(tmp_path / "crawl", "select judge, count(*) from judgements group by 1") == [("keywords", 9)]
        assert 'kind = "keywords"' in path.read_text()
        assert 'strategy = "best-first"' in path.read_text()

    @pytest.mark.parametrize("how", ["argument", "file", "setting"])
    def test_another_topic_is_refused(self, tmp_path, capsys, how):
        directory = tmp_path / "crawl"
        directory.mkdir()
        (directory / "lycosa.toml").write_text('topic = "cycling"\nseeds = ["https://a.invalid/"]')
        (tmp_path / "soup.toml").write_text('topic = "soup"')
        more = {"argument": ("soup",), "file": ("-c", str(tmp_path / "soup.toml")), "setting": ("--set", "topic=soup")}
        code, _, err = run_here(capsys, "crawl", *more[how], "-o", str(directory))
        assert code == 2
        assert f"{directory}: holds a crawl on 'cycling', not on 'soup'; choose another directory with -o\n" in err

    def test_a_cache_serves_the_second_crawl(self, crawl_command, tmp_path, server, reachable, capfd):
        command = crawl_command("--cache", str(tmp_path / "cache"), "--quiet")
        assert run_here(capfd, *command)[0] == 0
        before = len(server.requests())
        command[command.index("-o") + 1] = str(tmp_path / "second")
        assert run_here(capfd, *command)[0] == 0
        assert {request.path for request in server.requests()[before:]} <= {"/robots.txt"}
        assert set(fetched(tmp_path / "second")) == reachable


class TestInterruption:
    """Ctrl-C and its like. A page that never comes keeps the crawl under way as long as a test needs it."""

    def held(self, crawl_command, server):
        """A crawl with one fetch that does not end."""
        return crawl_command("--json", "--seed", f"http://quiet.test:{server.port}{SILENT}")

    @pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
    def test_the_first_signal_finishes_what_is_under_way(self, crawl_command, server, tmp_path, reachable, number):
        before = len(server.requests())
        with started(*crawl_command("--json", "--delay", "0.3")) as process:
            wait_until(lambda: len(server.requests()) > before + 12)
            process.send_signal(number)
            out, err = process.communicate(timeout=60)
        assert process.returncode == (130 if number == signal.SIGINT else 143)
        name = "Ctrl-C" if number == signal.SIGINT else "SIGTERM"
        assert err.startswith(f"{name}: finishing ")
        end = json.loads(out.splitlines()[-1])
        assert end["stop_reason"] == f"interrupted by {name}"
        assert 0 < end["pages"] < len(reachable)
        assert len(fetched(tmp_path / "crawl")) == end["pages"]
        assert lycosa(*crawl_command("--quiet", "--delay", "0")).returncode == 0
        pages = fetched(tmp_path / "crawl")
        assert len(pages) == len(set(pages))
        assert set(pages) == reachable
        asked = [f"http://{request.host}:{server.port}{request.path}" for request in server.requests()[before:]]
        assert [url for url in reachable if asked.count(url) != 1] == [], "everything asked for was committed"

    def test_a_second_signal_ends_it_at_once(self, crawl_command, server, tmp_path, reachable):
        with started(*self.held(crawl_command, server)) as process:
            wait_until(lambda: len(fetched(tmp_path / "crawl")) == len(reachable))
            process.send_signal(signal.SIGINT)
            notice = r"Ctrl-C: finishing \d+ fetches under way; once more to stop at once\n"
            assert re.fullmatch(notice, process.stderr.readline())
            assert process.poll() is None
            process.send_signal(signal.SIGINT)
            _, err = process.communicate(timeout=60)
        assert process.returncode == 130
        assert err == "stopped at once; the same command goes on from the last commit\n"
        assert set(fetched(tmp_path / "crawl")) == reachable
        more = ("--set", "http.deadline=1", "--set", "politeness.max_tries=1")
        result = lycosa(*self.held(crawl_command, server), *more)
        assert result.returncode == 0
        end = json.loads(result.stdout.splitlines()[-1])
        assert (end["pages"], end["waiting"]) == (len(reachable), 0)

    def test_a_second_process_is_refused_with_the_pid_of_the_first(self, crawl_command, server, tmp_path):
        with started(*self.held(crawl_command, server)) as process:
            wait_until(lambda: fetched(tmp_path / "crawl"))
            result = lycosa(*crawl_command("--quiet"))
            assert_refused(result, f"{tmp_path}/crawl: process {process.pid} is crawling here; wait for it, stop it")
            status = lycosa("status", str(tmp_path / "crawl"))
            assert f"(process {process.pid})" in status.stdout
            assert process.poll() is None


HOSTILE = "a\x1b]0;owned\x07\x1b[2J\x9b31m\u202egnp\u2066 [bold red]x[/] :smile: \r\nb"


class TestLooking:
    """Looking at a crawl made by the rig: no processes, no network."""

    A, B = "http://a.test/", "http://a.test/b"

    @pytest.fixture
    def directory(self, rig, html):
        crawl = rig({self.A: html(f"{self.B} {HOSTILE}", text="Recreational cycling. " * 3, title=HOSTILE)})
        crawl.crawl(self.A, with_archive=True)
        crawl.store.close()
        config = build(("test", {"topic": f"recreational cycling {HOSTILE}", "seeds": [self.A]}))
        (crawl.directory / "lycosa.toml").write_text(config.to_toml())
        return crawl.directory

    def look(self, capsys, *arguments) -> str:
        code, out, err = run_here(capsys, *(str(argument) for argument in arguments))
        assert (code, err) == (0, "")
        return out

    @pytest.mark.parametrize("is_terminal", [True, False])
    @pytest.mark.parametrize(
        "command",
        [
            ("status", "DIR"),
            ("status", "DIR", "--json"),
            ("explain", "DIR", "http://a.test/"),
            ("explain", "DIR", "http://a.test/b"),
            ("explain", "DIR", "http://a.test/b", "--json"),
            ("sql", "DIR", "select title, anchor from pages, links", "-f", "table"),
        ],
    )
    def test_what_the_web_says_cannot_reach_the_terminal(self, directory, capsys, monkeypatch, command, is_terminal):
        for name in ("sql", "terminal"):  # sql first: it takes the function over when it is imported
            monkeypatch.setattr(f"lycosa.cli.{name}.is_terminal", lambda: is_terminal)
        out = self.look(capsys, *(directory if word == "DIR" else word for word in command))
        assert not set(out) & set("\x1b\x07\x9b\r\u202e\u2066")
        assert "[bold red]x[/]" in out, "markup is shown, not obeyed"
        assert ":smile:" in out

    @pytest.mark.parametrize("form", ["csv", "json", ""])
    def test_nor_through_a_query_s_other_formats_shown_in_a_terminal(self, directory, capsys, monkeypatch, form):
        monkeypatch.setattr("lycosa.cli.sql.is_terminal", lambda: True)
        out = self.look(capsys, "sql", directory, "select title, anchor from pages, links", "-f", form)
        assert not set(out.replace("\r\n", "\n")) & set("\x1b\x07\x9b\r\u202e\u2066")

    def test_an_error_cannot_reach_it_either(self, directory, capsys):
        code, _, err = run_here(capsys, "sql", str(directory), f"select '{HOSTILE}' from nowhere")
        assert code == 2
        assert err.count("\n") == 1
        assert not set(err) & set("\x1b\x07\x9b\r\u202e\u2066")

    def test_status(self, directory, capsys):
        out = self.look(capsys, "status", directory)
        assert "stopped: frontier empty" in out
        assert "1 pages of 1,000, 1 relevant: harvest rate 100.0%, last 1,000 100.0%" in out
        assert "2 URLs seen, 0 wait" in out
        assert "http-error: http 404" in out

    def test_status_for_machines(self, directory, capsys):
        figures = json.loads(self.look(capsys, "status", directory, "--json"))
        assert (figures["pages"], figures["relevant"], figures["harvest"]) == (1, 1, 1.0)
        assert (figures["links"], figures["waiting"], figures["is_running"]) == (2, 0, False)
        assert figures["outcomes"] == [
            {"kind": "fetched", "reason": "http 200", "count": 1},
            {"kind": "http-error", "reason": "http 404", "count": 1},
        ]

    def test_status_of_a_crawl_that_was_killed(self, rig, html, capsys):
        crawl = rig({self.A: html()})
        crawl.crawl(self.A, is_killed=True)
        (crawl.directory / "lycosa.toml").write_text(Config(topic="cycling").to_toml())
        out = self.look(capsys, "status", crawl.directory)
        assert "cut off: the run of" in out
        assert "the same command goes on from its last commit" in out

    def test_explain_for_machines(self, directory, capsys):
        facts = dict(json.loads(self.look(capsys, "explain", directory, self.B, "--json")))
        assert facts["state"] == "failed"
        assert facts["found"].startswith(f"on {self.A} with the anchor")

    def test_explain_what_is_no_url(self, directory, capsys):
        code, _, err = run_here(capsys, "explain", str(directory), "not a url")
        assert (code, err) == (2, "lycosa: 'not a url' is not a URL that can be crawled: not a URL\n")

    def test_a_query_as_csv_and_json(self, directory, capsys):
        query = "select id, url from frontier order by id"
        assert self.look(capsys, "sql", directory, query).splitlines() == ["id,url", f"1,{self.A}", f"2,{self.B}"]
        lines = self.look(capsys, "sql", directory, query, "--format", "json").splitlines()
        assert [json.loads(line) for line in lines] == [{"id": 1, "url": self.A}, {"id": 2, "url": self.B}]

    def test_a_table_is_cut(self, directory, capsys):
        out = self.look(capsys, "sql", directory, "select id from frontier", "-f", "table", "--limit", "1")
        assert "only the first 1 rows" in out

    def test_a_query_cannot_write(self, directory, capsys):
        code, _, err = run_here(capsys, "sql", str(directory), "delete from frontier")
        assert code == 2
        assert "a crawl can only be read here, with select" in err

    def test_export(self, directory, capsys, tmp_path):
        targets = [tmp_path / name for name in ("pages.jsonl", "links.csv", "sites.parquet")]
        out = self.look(capsys, "export", directory, *(word for path in targets for word in ("--to", path)))
        assert [line.rpartition(": ")[2] for line in out.splitlines()] == ["1 rows"] * 3
        assert all(path.exists() for path in targets)

    def test_export_to_a_name_that_says_nothing(self, directory, capsys):
        code, _, err = run_here(capsys, "export", str(directory), "--to", "all.zip")
        assert code == 2
        assert "all.zip: cannot tell what to export; name the file pages, links or sites" in err

    def test_a_damaged_database(self, directory, capsys):
        (directory / "crawl.db").write_bytes(b"nothing of the kind" * 100)
        code, _, err = run_here(capsys, "status", str(directory))
        assert code == 2
        assert "damaged or not a Lycosa database" in err

    def test_a_reader_that_has_seen_enough(self, directory):
        """`lycosa sql … | head -1`."""
        query = "with recursive n(i) as (select 1 union all select i + 1 from n where i < 200000) select i from n"
        command = [*LYCOSA, "sql", str(directory), query]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
            assert process.stdout.readline() == "i\n"
            process.stdout.close()
            assert process.stderr.read() == ""
            assert process.wait(timeout=60) in (0, 1)

    def test_the_version(self, capsys):
        assert run_here(capsys, "--version")[:2] == (0, f"lycosa {__version__}\n")
