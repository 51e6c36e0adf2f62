"""Crawls by the door that everybody uses, killed while snapshots are written: they go on as if nothing had happened."""

from __future__ import annotations

import random
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

PAGES = 160
SCRIPT = """
import os, signal, sys
from pathlib import Path
import lycosa
from lycosa.crawl import snapshots
from lycosa.lab.generated.web import GeneratedWeb, WebPlan
from lycosa.model import Fetched

WEB = GeneratedWeb(WebPlan(seed=11, pages=600, hosts=8, topics=3, out_degree=12))
directory, kill_when, kill_at = sys.argv[1], sys.argv[2], int(sys.argv[3])

class Generated:
    async def fetch(self, lease):
        answer = WEB.render(lease.url)
        return Fetched.page(lease, answer.body) if answer.status == 200 else Fetched.missing(lease)

def die(pages):
    if int(pages) >= kill_at:
        os.kill(os.getpid(), signal.SIGKILL)

snapshots.FIRST, snapshots.MOST_TIME = 10, 1e9
write, finish = snapshots.write, snapshots.Snapshotting._finish
rename = Path.rename

def half_written(path, tree):
    write(path, tree)
    if tree["pages"] >= kill_at:
        os.truncate(path, path.stat().st_size // 2)
    die(tree["pages"])
    return write(path, tree)

def renamed(path, target):
    renamed = rename(path, target)
    if path.suffix == ".part":
        die(path.stem)
    return renamed

unlink_any = Path.unlink

def unlink(path, missing_ok=False):
    if path.parent.name == "snapshots":
        die(path.name.partition("-")[0])
    unlink_any(path, missing_ok)

if __name__ == "__main__":
    if kill_when == "half written":
        snapshots.write = half_written
    elif kill_when == "not named yet":
        Path.rename = renamed
    elif kill_when == "named":
        Path.unlink = unlink
    crawl = lycosa.Crawl(
        WEB.topic_keywords(0),
        seeds=[WEB.url(page) for page in WEB.seeds(0, 3, __import__("numpy").random.default_rng(3))],
        directory=directory,
        fetcher=Generated(),
        politeness={"delay": 0.0, "fetch_time_factor": 0.0},
        readers={"count": 1},
        network={"fetches": 1},
        archive={"is_on": False},
    )
    crawl.listen(lambda event: print(event.message) if event.kind == "snapshot" else None)
    crawl.run(pages=PAGES)
""".replace("PAGES", str(PAGES))


class Run:
    """Runs the script in a process of its own."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self._script = directory.parent / "script.py"
        self._script.write_text(SCRIPT)

    def start(self, kill_when: str = "", kill_at: int = 0) -> subprocess.Popen[bytes]:
        return subprocess.Popen(self._command(kill_when, kill_at), stdout=subprocess.DEVNULL)

    def to_the_end(self) -> list[str]:
        """What was said about snapshots."""
        return subprocess.run(self._command(), check=True, stdout=subprocess.PIPE, text=True).stdout.splitlines()

    def _command(self, kill_when: str = "", kill_at: int = 0) -> list[str]:
        return [sys.executable, str(self._script), str(self.directory), kill_when, str(kill_at)]

    def order(self) -> list[tuple[str, float]]:
        return self._rows(
            "select f.url, j.relevance from pages p join frontier f on f.id = p.id"
            " join judgements j on j.page_id = p.id order by p.number"
        )

    def refusals(self) -> list[str]:
        return [message for (message,) in self._rows("select message from events where kind = 'snapshot'")]

    def _rows(self, sql: str) -> list:
        db = sqlite3.connect(self.directory / "crawl.db")
        try:
            return db.execute(sql).fetchall()
        finally:
            db.close()

    @property
    def files(self) -> list[str]:
        return sorted(path.name for path in (self.directory / "snapshots").iterdir())


@pytest.fixture(scope="module")
def straight(tmp_path_factory) -> list[tuple[str, float]]:
    run = Run(tmp_path_factory.mktemp("straight") / "crawl")
    run.to_the_end()
    assert len(run.order()) == PAGES
    assert run.refusals() == []
    return run.order()


@pytest.mark.slow
@pytest.mark.parametrize(("kill_when", "left"), [("half written", ".part"), ("not named yet", ""), ("named", "")])
def test_a_kill_while_a_snapshot_is_written(tmp_path, straight, kill_when, left):
    run = Run(tmp_path / "crawl")
    assert run.start(kill_when, 70).wait() == -signal.SIGKILL
    assert len(run.files) == 2, "the one before, and the one that was being written"
    assert any(name.endswith(left) for name in run.files)
    run.to_the_end()
    assert run.order() == straight
    assert run.refusals() == []
    assert len(run.files) == 1


@pytest.mark.slow
def test_kills_at_any_moment(tmp_path, straight):
    run = Run(tmp_path / "crawl")
    moments = random.Random(7)
    for _ in range(6):
        process = run.start()
        try:
            process.wait(timeout=moments.uniform(2.0, 5.0))
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
    run.to_the_end()
    assert run.order() == straight
    assert run.refusals() == []


@pytest.mark.slow
def test_a_damaged_one_is_reported_and_does_without(tmp_path, straight):
    run = Run(tmp_path / "crawl")
    assert run.start("named", 70).wait() == -signal.SIGKILL
    for path in (run.directory / "snapshots").iterdir():
        path.write_bytes(path.read_bytes()[:-1] + b"!")
    said = run.to_the_end()
    assert [url for url, _ in run.order()] == [url for url, _ in straight]
    (message,) = run.refusals()
    assert said == [message]
    assert message.startswith("the snapshot is not used: ")
    assert message.endswith(".snapshot: damaged; all visits were told again")


@pytest.mark.slow
def test_changed_settings_are_reported_and_all_visits_told(tmp_path, straight):
    run = Run(tmp_path / "crawl")
    assert run.start("named", 70).wait() == -signal.SIGKILL
    config = run.directory / "lycosa.toml"
    config.write_text(config.read_text().replace("threshold = 0.0", "threshold = 0.6"))
    run.to_the_end()
    assert [url for url, _ in run.order()] == [url for url, _ in straight]
    assert run.refusals() == ["the snapshot is not used: it was made with another judge; all visits were told again"]
