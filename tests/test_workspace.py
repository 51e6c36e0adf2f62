from __future__ import annotations

import os
import subprocess
import sys
from contextlib import contextmanager

import pytest

from lycosa.errors import WorkspaceBusy, WorkspaceError
from lycosa.workspace import Workspace

HOLD = """
import sys, pathlib
from lycosa.workspace import Workspace
with Workspace(pathlib.Path(sys.argv[1])).locked():
    print("held", flush=True)
    sys.stdin.read()
"""


@contextmanager
def holder(directory):
    """Another process that holds the workspace."""
    command = [sys.executable, "-c", HOLD, str(directory)]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout.readline() == "held\n"
        yield process
    finally:
        process.kill()
        process.communicate()


class TestLock:
    def test_it_makes_the_directory(self, tmp_path):
        workspace = Workspace(tmp_path / "deep" / "down")
        with workspace.locked():
            assert workspace.archive.is_dir()
            assert (workspace.directory / "lock").read_text() == f"{os.getpid()}\n"

    def test_a_second_process_is_refused_with_the_pid_of_the_first(self, tmp_path):
        workspace = Workspace(tmp_path / "crawl")
        with holder(workspace.directory) as other:
            assert workspace.holder() == other.pid
            message = rf"crawl: process {other.pid} is crawling here; wait for it, stop it, or choose another directory"
            with pytest.raises(WorkspaceBusy, match=message), workspace.locked():
                pytest.fail("two at the same time")
            assert (workspace.directory / "lock").read_text() == f"{other.pid}\n"

    def test_a_killed_process_holds_nothing(self, tmp_path):
        workspace = Workspace(tmp_path / "crawl")
        with holder(workspace.directory) as other:
            other.kill()
            other.wait()
            assert workspace.holder() is None
            with workspace.locked():
                assert (workspace.directory / "lock").read_text() == f"{os.getpid()}\n"

    def test_it_is_free_again_afterwards(self, tmp_path):
        workspace = Workspace(tmp_path / "crawl")
        assert workspace.holder() is None
        for _ in range(2):
            with workspace.locked():
                pass
            assert workspace.holder() is None

    def test_it_is_free_again_after_an_error(self, tmp_path):
        workspace = Workspace(tmp_path / "crawl")
        with pytest.raises(RuntimeError), workspace.locked():
            raise RuntimeError
        with workspace.locked():
            pass


class TestPlaces:
    def test_no_crawl_here(self, tmp_path):
        with pytest.raises(WorkspaceError, match=r"no crawl here \(crawl.db is missing\); give the directory"):
            Workspace.existing(tmp_path)
        assert not Workspace(tmp_path).has_crawl

    def test_a_crawl_here(self, tmp_path):
        (tmp_path / "crawl.db").touch()
        assert Workspace.existing(tmp_path).has_crawl

    @pytest.mark.parametrize("below", ["", "crawl"])
    def test_a_file_in_place_of_the_directory(self, tmp_path, below):
        (tmp_path / "file").write_text("mine")
        message = r"file.*: cannot be used as a crawl directory: .*; choose one you can write to with -o"
        with pytest.raises(WorkspaceError, match=message), Workspace(tmp_path / "file" / below).locked():
            pytest.fail("locked a file")
        assert (tmp_path / "file").read_text() == "mine"

    @pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
    def test_a_directory_that_cannot_be_written(self, tmp_path):
        tmp_path.chmod(0o500)
        with pytest.raises(WorkspaceError, match="Permission denied"), Workspace(tmp_path / "crawl").locked():
            pytest.fail("wrote to a directory that is closed")

    def test_a_name_that_is_too_long(self, tmp_path):
        with pytest.raises(WorkspaceError, match="File name too long"), Workspace(tmp_path / ("x" * 300)).locked():
            pytest.fail("no file system has such names")


class TestConfig:
    def test_it_is_replaced_whole(self, tmp_path):
        workspace = Workspace(tmp_path)
        workspace.write_config("topic = 'old'")
        workspace.write_config("topic = 'ü'")
        assert workspace.config.read_text(encoding="utf-8") == "topic = 'ü'"
        assert [path.name for path in tmp_path.iterdir()] == ["lycosa.toml"]

    def test_what_cannot_be_written_is_told(self, tmp_path):
        (tmp_path / "lycosa.toml").mkdir()
        with pytest.raises(WorkspaceError, match=r"lycosa\.toml: cannot be written"):
            Workspace(tmp_path).write_config("x = 1")
