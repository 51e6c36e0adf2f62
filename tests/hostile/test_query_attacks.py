"""Queries without end, and what a page can send to a terminal or a spreadsheet."""

from __future__ import annotations

import csv
import io
import json
import os
import pty
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest

from loopback import lycosa
from lycosa.cli.terminal import json_line
from lycosa.results.export import harmless
from lycosa.store.sqlite import SqliteStore

ENDLESS = "with recursive n(i) as (select 1 union all select i + 1 from n) select count(*) from n"
COMMAND = [sys.executable, "-c", "from lycosa.cli import main; main()"]


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    SqliteStore(tmp_path / "crawl.db").close()
    (tmp_path / "lycosa.toml").write_text('topic = "cycling"\n')
    return tmp_path


class TestSql:
    @pytest.mark.parametrize("query", [ENDLESS, ENDLESS.replace("count(*)", "i") + " where i < 0"])
    def test_an_endless_query_ends(self, directory, query):
        result = lycosa("sql", directory, query, "--seconds", 0.2)
        assert result.returncode == 2
        assert "more than 0.2 s" in result.stderr

    def test_ctrl_c_ends_it(self, directory):
        process = subprocess.Popen([*COMMAND, "sql", str(directory), ENDLESS], stderr=subprocess.PIPE, text=True)
        status = Path(f"/proc/{process.pid}/stat")
        used = 0
        while used < 250 and process.poll() is None:  # hundredths of a second of processor time: it is at work
            used = sum(map(int, status.read_text().rpartition(")")[2].split()[11:13]))
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        try:
            _, said = process.communicate(timeout=60)
        finally:
            process.kill()
        assert process.returncode != 0
        assert "Traceback" not in said

    @pytest.mark.parametrize("query", ["select printf('%2000000000d', 1)", "select length(hex(zeroblob(900000000)))"])
    def test_one_value_does_not_fill_the_memory(self, directory, query):
        result = lycosa("sql", directory, query)
        assert result.returncode == 2 or len(result.stdout) < 1000  # printf gives up in silence
        assert "Traceback" not in result.stderr

    def test_what_was_forbidden_stays_so(self, directory):
        result = lycosa("sql", directory, "attach 'x.db' as x")
        assert "can only be read" in result.stderr
        assert not (directory / "x.db").exists()


def on_a_terminal(*words: object) -> str:
    """What a command writes to a terminal."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen([*COMMAND, *map(str, words)], stdout=theirs, stderr=theirs, stdin=subprocess.DEVNULL)
    os.close(theirs)
    said = b""
    while True:
        try:
            part = os.read(ours, 65536)
        except OSError:
            break
        if not part:
            break
        said += part
    process.wait()
    os.close(ours)
    return said.decode()


class TestControlCharacters:
    @pytest.mark.parametrize("form", ["csv", "json", "table"])
    def test_none_from_names_or_cells_reaches_a_terminal(self, directory, form):
        with sqlite3.connect(directory / "crawl.db") as db:
            db.execute("insert into hosts (id, name) values (1, ?)", ("evil\x1b]0;title\x07\x9b2J\u202e.test",))
        said = on_a_terminal("sql", directory, 'select name as "\x1b[31mred\x9b" from hosts', "--format", form)
        assert "evil" in said
        assert not set(said) & set("\x07\x9b\u202e")
        assert "\x1b]0;" not in said
        assert "\x1b[31m" not in said

    def test_nor_does_json_carry_them_elsewhere(self, tmp_path):
        (tmp_path / "page.html").write_text("<title>a\x9b2Jb\u202ec</title><p>cycling", encoding="utf-8")
        said = lycosa("judge", tmp_path / "page.html", "--words", "cycling", "--json").stdout
        assert not set(said) & set("\x9b\u202e\x1b")

    @pytest.mark.parametrize("text", ["\x9b", "\x7f", "\u202e", "\U000e0001", "ä", "日本"])
    def test_json_says_the_same(self, text):
        assert json.loads(json_line({"a": text})) == {"a": text}


class TestSpreadsheets:
    @pytest.mark.parametrize(
        "start", ["=", "+", "-", "@", "＝", "＋", "－", "＠", " =", "\ufeff=", "\t=", "\u200b＝", "\r"]
    )
    def test_a_cell_is_no_formula(self, start):
        assert harmless(f"{start}cmd|' /C calc'!A0").startswith("'")

    @pytest.mark.parametrize("value", ["plain", "a=b", "", 3, None, 1.5, "日本", "(=)"])
    def test_others_stay_as_they_are(self, value):
        assert harmless(value) == value

    def test_nor_is_one_of_sql(self, directory):
        with sqlite3.connect(directory / "crawl.db") as db:
            db.execute("insert into hosts (id, name) values (1, '＝HYPERLINK(1)')")
        said = lycosa("sql", directory, "select name, id from hosts", "--format", "csv").stdout
        assert list(csv.reader(io.StringIO(said))) == [["name", "id"], ["'＝HYPERLINK(1)", "1"]]
