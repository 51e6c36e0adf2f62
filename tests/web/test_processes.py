"""The processes of crawls that were started from the dashboard."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from lycosa.errors import InputError
from lycosa.web import processes
from lycosa.web.processes import Runner
from lycosa.workspace import Workspace


@pytest.fixture
def workspace(tmp_path: Path):
    directory = tmp_path / "crawl"
    directory.mkdir()
    return Workspace(directory)


@pytest.fixture
def runner():
    runner = Runner()
    yield runner
    for process in runner._processes.values():
        process.kill()
        process.wait()


def going(runner: Runner, workspace: Workspace, seconds: float) -> subprocess.Popen[bytes]:
    """A process that has let go of its crawl, and goes after a while."""
    process = subprocess.Popen([sys.executable, "-c", f"import time; time.sleep({seconds})"])
    runner._processes[workspace.directory] = process
    workspace.database.touch()
    return process


def test_a_crawl_goes_on_though_its_last_process_takes_a_moment_to_go(runner, workspace, tmp_path):
    last = going(runner, workspace, 0.5)
    runner.run(workspace, book=tmp_path / "topics.db")
    assert last.poll() == 0
    assert runner._processes[workspace.directory] is not last


def test_not_if_it_takes_longer(runner, workspace, tmp_path, monkeypatch):
    monkeypatch.setattr(processes, "LONGEST_END", 0.2)
    last = going(runner, workspace, 600)
    with pytest.raises(InputError, match="runs already"):
        runner.run(workspace, book=tmp_path / "topics.db")
    assert runner._processes[workspace.directory] is last


def test_a_crawl_that_runs_is_not_waited_for(runner, workspace, tmp_path, monkeypatch):
    monkeypatch.setattr(processes, "LONGEST_END", float("inf"))
    going(runner, workspace, 600)
    with workspace.locked(), pytest.raises(InputError, match="runs already"):
        runner.run(workspace, book=tmp_path / "topics.db")
