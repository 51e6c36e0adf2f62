"""A reader that was taken over by a page: it has no network, starts nothing, kills nobody and changes no file."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from pathlib import Path

import pytest

from lycosa.config import ReaderSettings
from lycosa.crawl.reader_pool import Readers
from lycosa.crawl.reading import Reading
from lycosa.fetch.urls import UrlRules, Urls
from lycosa.judges.keywords import KeywordJudge
from lycosa.model import Fetched, Judgement, Lease, Page

WHY_NOT = subprocess.run(
    [sys.executable, "-c", "from lycosa.crawl.reader_confinement import confine; print(confine(), end='')"],
    capture_output=True, text=True, check=True,
).stdout  # fmt: skip
pytestmark = pytest.mark.skipif(bool(WHY_NOT), reason=WHY_NOT)


class TakenOver:
    """Tries whatever a page that has taken over its reader might try; tells what came of each as words that decided."""

    name = "taken over"

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def judge(self, page: Page) -> Judgement:
        import os
        import socket
        import tempfile
        import threading

        kept, folder = self._folder / "kept", self._folder
        attempts = {
            "socket": lambda: socket.socket().close(),
            "socket pair": lambda: socket.socketpair(),
            "unix socket": lambda: socket.socket(socket.AF_UNIX).close(),
            "new file": lambda: (folder / "new").write_text("x"),
            "append": lambda: kept.open("a").close(),
            "read and write": lambda: kept.open("r+").close(),
            "temporary file": lambda: tempfile.mkstemp(dir=folder),
            "remove": kept.unlink,
            "rename": lambda: kept.rename(folder / "other"),
            "cut": lambda: os.truncate(kept, 0),
            "link": lambda: (folder / "link").symlink_to(kept),
            "directory": lambda: (folder / "directory").mkdir(),
            "mode": lambda: kept.chmod(0o777),
            "program": lambda: os.execv("/bin/true", ["true"]),
            "process": os.fork,
            "signal": lambda: os.kill(os.getppid(), 0),
            "read": kept.read_text,
            "thread": lambda: threading.Thread(target=int).start(),
            "memory": lambda: tempfile.TemporaryFile().write(b"x"),  # noqa: SIM115 - it is not a file
            "itself": lambda: os.kill(os.getpid(), 0),
        }
        found = {}
        for name, attempt in attempts.items():
            try:
                attempt()
                found[name] = 1.0
            except PermissionError:
                found[name] = 0.0
        return Judgement(1.0, True, {}, found)


def asked(judge: object, body: str, *, confined: bool) -> Fetched:
    async def go():
        readers = Readers(Reading(urls=Urls(UrlRules()), judge=judge), count=1, confined=confined)  # type: ignore[arg-type]
        await readers.start()
        try:
            return await readers.read(Fetched.page(Lease(1, "http://a.test/", 1, 0.0, 0, 0, 0), body))
        finally:
            await readers.close()

    return asyncio.run(go())


def test_what_it_cannot_do_and_what_it_can(tmp_path: Path):
    (tmp_path / "kept").write_text("as it was")
    visit = asked(TakenOver(tmp_path), "<title>x</title>", confined=True)
    assert visit.judgement is not None, visit.outcome
    allowed = {name for name, is_allowed in visit.judgement.terms.items() if is_allowed}
    assert allowed == {"read", "thread", "memory", "itself"}
    assert [path.name for path in tmp_path.iterdir()] == ["kept"]
    assert (tmp_path / "kept").read_text() == "as it was"


def test_a_confined_reader_still_reads_pages_in_other_languages():
    """The model of languages unpacks itself into a file when it is first needed."""
    german = "Das Radfahren ist schön und macht den Leuten im Sommer große Freude, auch wenn es einmal regnet. " * 9
    visit = asked(KeywordJudge("radfahren"), f"<title>Radfahren</title><p>{german}</p>", confined=True)
    assert visit.page is not None, visit.outcome
    assert visit.page.language == "de"


def test_threads_that_were_there_before_are_confined_too():
    program = """
import json, socket, threading
from lycosa.crawl.reader_confinement import confine
go, found = threading.Event(), []
def attempt():
    go.wait()
    try:
        socket.socket()
        found.append("a socket")
    except PermissionError:
        found.append("nothing")
thread = threading.Thread(target=attempt, daemon=True)
thread.start()
said = confine()
go.set()
thread.join()
print(json.dumps([said, found]))
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == ["", ["nothing"]]


def test_judges_of_somebody_s_own_are_not_confined_unless_asked_for(tmp_path: Path):
    auto, on, off = (ReaderSettings(confined=how) for how in ("auto", "on", "off"))
    ours, theirs = KeywordJudge("cycling"), TakenOver(tmp_path)
    assert [auto.confines(ours, None), auto.confines(theirs, None), auto.confines(ours, asked)] == [True, False, False]
    assert on.confines(theirs, None)
    assert not off.confines(ours, None)
