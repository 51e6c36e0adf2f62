"""Questions to a person, as processes: piped answers, keys in a terminal, files, while the crawl runs and after."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import re
import select
import shutil
import signal
import subprocess
import termios
import time
from contextlib import closing, suppress
from pathlib import Path

import pytest
import tomli_w

from hostile.server import running
from loopback import LYCOSA, lycosa
from lycosa.errors import StoreError
from lycosa.store.rows import Batch
from lycosa.store.sqlite import SqliteStore

PAGES = 40


@pytest.fixture(scope="module")
def server(small_web):
    with running(small_web, addresses=len(small_web.hosts) + 1) as server:
        yield server


@pytest.fixture(scope="module")
def base(server, tmp_path_factory):
    path = tmp_path_factory.mktemp("review") / "settings.toml"
    config = {
        "network": {"allow": ["127.0.0.0/8"], "resolve": server.overrides(), "contact": "me@example.org"},
        "politeness": {"delay": 0.0, "fetch_time_factor": 0.0, "first_backoff": 0.0},
        "readers": {"count": 1},
    }
    path.write_text(tomli_w.dumps(config))
    return path


@pytest.fixture(scope="module")
def command(server, small_web, base):
    """`crawl …` for the generated web; `-o` has to be added."""

    def arguments(*more: str, pages: int = PAGES) -> list[str]:
        return ["crawl", small_web.topic_keywords(0), "--seed", server.url(0), "-n", str(pages), "-c", str(base), *more]

    return arguments


@pytest.fixture
def crawl(command, tmp_path):
    """The same, into tmp_path/crawl."""
    return lambda *more, **options: command(*more, "-o", str(tmp_path / "crawl"), **options)


@pytest.fixture(scope="module")
def stopped(command, tmp_path_factory):
    """A crawl that has stopped, to be copied."""
    directory = tmp_path_factory.mktemp("stopped") / "crawl"
    done = lycosa(*command("-q", "-o", str(directory)))
    assert done.returncode == 0, done.stderr
    return directory


@pytest.fixture
def directory(stopped, tmp_path):
    return Path(shutil.copytree(stopped, tmp_path / "crawl"))


def sql(directory, query: str) -> list[tuple]:
    with closing(SqliteStore(directory / "crawl.db", read_only=True)) as store:
        return list(store.query(query)[1])


def answers(directory) -> list[tuple[str, str]]:
    return sql(directory, "select url, answer from answers order by id")


def listed(directory, *more: str) -> list[dict]:
    done = lycosa("review", str(directory), "--json", *more)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def relevance(directory, url: str) -> float:
    ((value,),) = sql(
        directory, f"select relevance from judgements j join frontier f on f.id = page_id where url = '{url}'"
    )
    return value


class TestPiped:
    def test_answers_are_kept_and_bind(self, directory):
        questions = listed(directory, "--count", "4")
        done = lycosa("review", str(directory), "--count", "4", input="y\nno\ns\nYES\n")
        assert done.returncode == 0, done.stderr
        said = ["relevant", "irrelevant", "skipped", "relevant"]
        assert answers(directory) == [(q["url"], answer) for q, answer in zip(questions, said, strict=True)]
        assert [relevance(directory, questions[n]["url"]) for n in (0, 1, 3)] == [1.0, 0.0, 1.0]
        assert "3 answers: 2 yes, 1 no; 1 skipped" in done.stdout
        assert re.search(rf"the judge has learned from them: \d+ other pages? of {PAGES} changed sides", done.stdout)
        for question in questions:
            assert question["url"] in done.stdout
            assert question["title"] in done.stdout
        assert "the judge thinks:" in done.stdout
        assert "wait to be fetched" in done.stdout
        assert sql(directory, "select count(*) from answers where after_pages is null") == [(1,)]  # the skipped one

    def test_none_is_asked_twice(self, directory):
        first = [question["url"] for question in listed(directory, "--count", "5")]
        lycosa("review", str(directory), "--count", "5", input="y\nn\ns\ny\nn\n")
        second = [question["url"] for question in listed(directory, "--count", "5")]
        assert len(second) == 5
        assert not set(first) & set(second)

    def test_skipped_pages_are_asked_again_when_nothing_else_is_left(self, directory):
        asked = [question["url"] for question in listed(directory, "--count", "200")]
        with closing(SqliteStore(directory / "crawl.db")) as store:
            numbers = dict(store.query("select url, id from frontier")[1])
            store.write(Batch(answers=[(0.0, url, numbers[url], "skipped") for url in asked[2:]]))
            store.write(Batch(answers=[(0.0, asked[0], numbers[asked[0]], "relevant")]))
        first, *others = [question["url"] for question in listed(directory, "--count", "5")]
        assert first == asked[1]
        assert len(others) == 4
        assert set(others) <= set(asked[2:])

    def test_back_takes_the_last_answer_back(self, directory):
        first, second = listed(directory, "--count", "2")
        before = relevance(directory, first["url"])
        done = lycosa("review", str(directory), "--count", "2", input="y\nb\nq\n")
        assert done.returncode == 0
        assert answers(directory) == [(first["url"], "relevant"), (first["url"], "withdrawn")]
        assert relevance(directory, first["url"]) == before
        assert "0 answers: 0 yes, 0 no" in done.stdout
        assert [question["url"] for question in listed(directory, "--count", "2")] == [first["url"], second["url"]]

    def test_the_end_of_the_input_loses_nothing(self, directory):
        done = lycosa("review", str(directory), input="y\nn\n")
        assert done.returncode == 0, done.stderr
        assert [answer for _, answer in answers(directory)] == ["relevant", "irrelevant"]
        assert "2 answers: 1 yes, 1 no" in done.stdout

    def test_what_is_no_answer(self, directory):
        done = lycosa("review", str(directory), "--count", "1", input="perhaps\n\x1b[2J\n\ny\n")
        assert "perhaps is no answer: y yes   n no" in done.stderr
        assert "\x1b" not in done.stderr
        assert [answer for _, answer in answers(directory)] == ["relevant"]

    def test_titles_and_texts_that_would_take_over_the_terminal(self, directory):
        with closing(SqliteStore(directory / "crawl.db")) as store:
            (question,) = listed(directory, "--count", "1")
            row = store.page(question["page"])
            store.write(Batch(pages=[row._replace(title="\x1b]0;owned\x07\x1b[31m[bold]x\u202ey\ttab\nline")]))
        for more in ([], ["--list"]):
            done = lycosa("review", str(directory), "--count", "1", *more, input="q\n")
            assert done.returncode == 0, done.stderr
            assert "owned" in done.stdout
            assert "[bold]x" in done.stdout
            assert not set("\x1b\x07\u202e") & set(done.stdout)
        assert done.stdout.count("\n") == 2
        assert done.stdout.splitlines()[1].count("\t") == 4

    def test_nothing_to_ask(self, directory):
        with closing(SqliteStore(directory / "crawl.db")) as store:
            rows = [(0.0, url, number, "irrelevant") for url, number in store.query("select url, id from frontier")[1]]
            store.write(Batch(answers=rows))
        done = lycosa("review", str(directory), input="")
        assert (done.returncode, done.stdout) == (
            0,
            "nothing to ask: no page is in doubt, or all of them were asked about\n",
        )

    def test_a_judge_that_does_not_learn(self, crawl, tmp_path):
        lycosa(*crawl("-q", "--strategy", "best-first", pages=15))
        done = lycosa("review", str(tmp_path / "crawl"), "--count", "2", input="y\nn\n")
        assert "these pages are judged as you said, and the links on them are ordered by it" in done.stdout
        first, second = (url for url, _ in answers(tmp_path / "crawl"))
        assert (relevance(tmp_path / "crawl", first), relevance(tmp_path / "crawl", second)) == (1.0, 0.0)
        facts = lycosa("explain", str(tmp_path / "crawl"), first)
        assert "relevant: a person said so on" in facts.stdout
        status = json.loads(lycosa("status", str(tmp_path / "crawl"), "--json").stdout)
        assert status["answers"] == {"relevant": 1, "irrelevant": 1}
        assert "2 pages judged by a person: 1 relevant, 1 not" in lycosa("status", str(tmp_path / "crawl")).stdout

    def test_no_crawl_there(self, tmp_path):
        done = lycosa("review", str(tmp_path))
        assert done.returncode == 2
        assert "no crawl here" in done.stderr


class Terminal:
    """A command in a terminal of its own."""

    def __init__(self, *arguments: str) -> None:
        self.shown = ""
        self._master, slave = pty.openpty()
        self.process = subprocess.Popen(
            [*LYCOSA, *arguments], stdin=slave, stdout=slave, stderr=slave, start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
            env={**os.environ, "TERM": "xterm", "COLUMNS": "140"},
        )  # fmt: skip
        os.close(slave)

    def wait_for(self, text: str, *, seconds: float = 40.0) -> None:
        deadline = time.monotonic() + seconds
        while text not in self.shown:
            assert time.monotonic() < deadline, self.shown
            self._read(0.1)

    def _read(self, seconds: float) -> None:
        if select.select([self._master], [], [], seconds)[0]:
            try:
                self.shown += os.read(self._master, 65536).decode("utf-8", "replace")
            except OSError:
                time.sleep(0.02)

    def press(self, keys: str) -> None:
        self.shown = ""
        os.write(self._master, keys.encode())

    def end(self, *, seconds: float = 40.0) -> int:
        deadline = time.monotonic() + seconds
        while self.process.poll() is None:
            assert time.monotonic() < deadline, self.shown
            self._read(0.1)
        self._read(0.1)
        return self.process.returncode

    def is_as_before(self) -> bool:
        """Whether it shows what is typed, and takes whole lines."""
        flags = termios.tcgetattr(self._master)[3]
        return bool(flags & termios.ECHO and flags & termios.ICANON)

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        os.close(self._master)


@pytest.fixture
def terminal():
    made: list[Terminal] = []

    def start(*arguments: str) -> Terminal:
        made.append(Terminal(*arguments))
        return made[-1]

    yield start
    for each in made:
        each.close()


class TestTerminal:
    def test_single_keys(self, directory, terminal):
        shown = terminal("review", str(directory), "--count", "3")
        shown.wait_for("1 of 3")
        shown.wait_for("Is this one?")
        shown.press("y")
        shown.wait_for("2 of 3")
        shown.press("n")
        shown.wait_for("3 of 3")
        assert len(answers(directory)) == 2  # already
        shown.press("\x1b[A")  # an arrow key means nothing
        shown.wait_for("is no answer")
        shown.press("\x04")
        shown.wait_for("2 answers: 1 yes, 1 no")
        assert shown.end() == 0
        assert shown.is_as_before()

    def test_ctrl_c_keeps_what_was_answered(self, directory, terminal):
        shown = terminal("review", str(directory), "--count", "3")
        shown.wait_for("1 of 3")
        shown.wait_for("Is this one?")
        shown.press("y")
        shown.wait_for("2 of 3")
        shown.wait_for("Is this one?")
        shown.press("\x03")
        shown.wait_for("1 answer: 1 yes, 0 no")
        assert shown.end() == 0
        assert shown.is_as_before()
        assert [answer for _, answer in answers(directory)] == ["relevant"]


class TestFiles:
    def written(self, tmp_path, text: str) -> str:
        path = tmp_path / "labels.tsv"
        path.write_text(text)
        return str(path)

    def test_the_list_can_be_filled_in_and_given_back(self, directory, tmp_path):
        table = lycosa("review", str(directory), "--list", "--count", "3").stdout.splitlines()
        rows = [line.split("\t") for line in table]
        assert rows[0] == ["url", "answer", "relevance", "waiting", "title"]
        rows[1][1], rows[2][1] = "yes", "no"  # the third is left open
        file = self.written(tmp_path, "\n".join("\t".join(row) for row in rows))
        done = lycosa("review", str(directory), "--answers", file)
        assert done.returncode == 0, done.stderr
        assert answers(directory) == [(rows[1][0], "relevant"), (rows[2][0], "irrelevant")]
        again = lycosa("review", str(directory), "--answers", file)
        assert "0 new answers of 2" in again.stdout
        assert len(answers(directory)) == 2

    def test_a_crawl_that_begins_with_answers(self, crawl, server, small_web, tmp_path):
        """On a page that comes, on one that never does; the same command again says nothing new."""
        file = self.written(tmp_path, f"# mine\n{server.url(0)}\tno\nhttp://nowhere.invalid/x, yes\n")
        for _ in range(2):
            done = lycosa(*crawl("-q", "--answers", file))
            assert done.returncode == 0, done.stderr
        assert relevance(tmp_path / "crawl", server.url(0)) == 0.0
        rows = sql(tmp_path / "crawl", "select url, answer, page_id is null, after_pages is null from answers")
        assert rows == [(server.url(0), "irrelevant", 0, 0), ("http://nowhere.invalid/x", "relevant", 1, 1)]

    def test_unknown_urls_wait(self, directory, tmp_path):
        done = lycosa("review", str(directory), "--answers", self.written(tmp_path, "http://later.test/\tyes\n"))
        assert "1 new answers of 1" in done.stdout
        assert "1 on pages that have not been fetched: they wait for them" in done.stdout

    @pytest.mark.parametrize(
        ("text", "parts"),
        [
            ("http://a.test/\tyes\nhttp://b.test/\tmaybe\n", ("line 2", "'maybe' is no answer", "yes or no")),
            ("http://a.test/\n", ("line 1", "has no answer", "a URL, a tab")),
            ("nonsense\tyes\n", ("line 1", "nonsense")),
            ("# nothing\n", ("contains no answer", "a URL, a tab")),
            (None, ("there is no such file of answers", "a URL, a tab")),
        ],
    )
    def test_what_is_wrong_is_named(self, crawl, directory, tmp_path, text, parts):
        file = self.written(tmp_path, text) if text is not None else str(tmp_path / "labels.tsv")
        for command in (["review", str(directory), "--answers", file], crawl("--answers", file)):
            done = lycosa(*command)
            assert done.returncode == 2
            assert "Traceback" not in done.stderr
            assert "labels.tsv" in done.stderr
            for part in parts:
                assert part in done.stderr
        assert answers(directory) == []


def wait_for_pages(directory, count: int, *, seconds: float = 60.0) -> None:
    deadline = time.monotonic() + seconds
    while True:
        assert time.monotonic() < deadline
        with suppress(StoreError):  # it is not there yet
            if sql(directory, "select count(*) from pages")[0][0] >= count:
                return
        time.sleep(0.1)


class TestARunningCrawl:
    def test_it_takes_answers_over_from_another_process(self, crawl, tmp_path):
        directory = tmp_path / "crawl"
        slow = crawl("-q", "--set", "politeness.delay=0.5", pages=1000)
        process = subprocess.Popen([*LYCOSA, *slow], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        try:
            wait_for_pages(directory, 8)
            deadline = time.monotonic() + 60
            done = lycosa("review", str(directory), "--count", "2", input="y\nn\n")
            assert done.returncode == 0, done.stderr
            assert "the running crawl takes them over within seconds" in done.stdout
            said = dict(answers(directory))
            while time.monotonic() < deadline:
                if sql(directory, "select count(*) from answers where after_pages > 0") == [(2,)]:
                    break
                time.sleep(0.1)
            assert sql(directory, "select count(*) from answers where after_pages > 0") == [(2,)]
            assert process.poll() is None
            process.send_signal(signal.SIGINT)
            process.communicate(timeout=60)
        finally:
            process.kill()
            process.communicate()
        for url, answer in said.items():
            assert relevance(directory, url) == (answer == "relevant")
        assert len(sql(directory, "select 1 from events where kind = 'answers'")) >= 1

    def test_a_key_opens_questions_while_it_crawls_on(self, crawl, terminal, tmp_path):
        directory = tmp_path / "crawl"
        shown = terminal(*crawl("--set", "politeness.delay=0.4", pages=1000))
        shown.wait_for("a few questions")
        wait_for_pages(directory, 8)
        shown.press("x")  # means nothing
        shown.wait_for("a few questions")
        shown.press("r")
        shown.wait_for("Is this one?")
        before = sql(directory, "select count(*) from pages")[0][0]
        assert "harvest rate" not in shown.shown.partition("Is this one?")[2]
        shown.press("y")
        shown.wait_for("2 of ")
        wait_for_pages(directory, before + 4)
        assert "harvest rate" not in shown.shown
        shown.press("q")
        shown.wait_for("1 answer: 1 yes, 0 no")
        shown.wait_for("harvest rate")
        deadline = time.monotonic() + 20
        while sql(directory, "select count(*) from answers where after_pages > 0") != [(1,)]:
            assert time.monotonic() < deadline
            time.sleep(0.1)
        shown.press("r")
        shown.wait_for("Is this one?")
        shown.press("\x03")  # stops the crawl, which ends the questions
        shown.wait_for("the crawl has ended; more questions: lycosa review")
        assert shown.end() == 130  # Ctrl-C
        assert "stopped" in shown.shown
        assert shown.is_as_before()
