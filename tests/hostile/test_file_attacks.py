"""Files that are not what they seem: links in a crawl's directory, pipes, devices, numbers without end."""

from __future__ import annotations

import os
import stat
import threading
from pathlib import Path

import pytest

import lycosa
from lycosa.config import build
from lycosa.errors import ConfigError, SeedError, WorkspaceError
from lycosa.fetch.urls import parse_seed
from lycosa.seeds.files import read_seeds
from lycosa.workspace import Workspace


class TestLinksInAWorkspace:
    @pytest.mark.parametrize(
        "name",
        ["lock", "lycosa.toml", "lycosa.toml.new", "crawl.db", "crawl.db-wal", "topics.db", "archive/x-00001.warc.gz",
         "snapshots/1", "archive", "snapshots"],
    )  # fmt: skip
    @pytest.mark.parametrize("is_there", [True, False])
    def test_what_they_point_to_is_left_alone(self, tmp_path, name, is_there):
        victim, directory = tmp_path / "victim", tmp_path / "crawl"
        if is_there:
            victim.write_text("precious")
        (directory / name).parent.mkdir(parents=True)
        (directory / name).symlink_to(victim)
        with pytest.raises(WorkspaceError, match="is a link, not a file of this crawl"), Workspace(directory).locked():
            pass
        with pytest.raises(WorkspaceError, match="is a link"):
            Workspace.existing(directory)
        assert (victim.read_text() == "precious") if is_there else not victim.exists()

    def test_a_draft_that_was_put_there_meanwhile(self, tmp_path):
        victim = tmp_path / "victim"
        victim.write_text("precious")
        workspace = Workspace(tmp_path / "crawl")
        with workspace.locked():
            (workspace.directory / "lycosa.toml.new").symlink_to(victim)
            workspace.write_config("topic = 'x'\n")
        assert victim.read_text() == "precious"
        assert workspace.config.read_text() == "topic = 'x'\n"
        assert not workspace.config.is_symlink()

    def test_a_pipe_in_place_of_the_settings_is_not_read(self, tmp_path):
        (tmp_path / "crawl").mkdir()
        os.mkfifo(tmp_path / "crawl" / "lycosa.toml")
        with pytest.raises(WorkspaceError, match="a pipe or a device"):
            lycosa.Crawl("cycling", seeds=["http://a.test/"], directory=tmp_path / "crawl")

    def test_the_directory_itself_may_be_a_link_and_hold_other_things(self, tmp_path):
        (tmp_path / "real").mkdir()
        (tmp_path / "crawl").symlink_to(tmp_path / "real")
        (tmp_path / "real" / "notes.txt").symlink_to("/etc/hostname")
        with Workspace(tmp_path / "crawl").locked():
            assert (tmp_path / "real" / "archive").is_dir()

    def test_it_is_for_its_owner_alone(self, tmp_path):
        workspace = Workspace(tmp_path / "deep" / "crawl")
        with workspace.locked():
            workspace.write_config("")
        for path in (workspace.directory, workspace.archive, workspace.directory / "lock", workspace.config):
            assert stat.S_IMODE(path.stat().st_mode) & 0o077 == 0, path


class TestSeeds:
    def test_a_pipe_that_nobody_writes_to(self, tmp_path, monkeypatch):
        monkeypatch.setattr("lycosa.lib.bounded_file.PATIENCE", 0.05)
        os.mkfifo(tmp_path / "pipe")
        with pytest.raises(SeedError, match="a pipe to which nobody has written"):
            read_seeds(tmp_path / "pipe", parse=parse_seed)

    def test_one_that_somebody_does(self, tmp_path):
        os.mkfifo(tmp_path / "pipe")
        writer = threading.Thread(target=lambda: (tmp_path / "pipe").write_text("http://a.test/\r\n"), daemon=True)
        writer.start()
        assert read_seeds(tmp_path / "pipe", parse=str) == ["http://a.test/"]
        writer.join()

    @pytest.mark.parametrize("path", ["/dev/zero", "/dev/null"])
    def test_a_device(self, path):
        with pytest.raises(SeedError, match="it is a device, not a file"):
            read_seeds(Path(path), parse=parse_seed)

    def test_a_file_without_end(self, tmp_path, monkeypatch):
        (tmp_path / "long").write_text("http://a.test/\n" * 1000)
        monkeypatch.setattr("lycosa.lib.bounded_file._read", lambda handle, most, patience: READ(handle, 100, patience))
        with pytest.raises(SeedError, match="more than 100 bytes"):
            read_seeds(tmp_path / "long", parse=parse_seed)


from lycosa.lib.bounded_file import _read as READ  # noqa: E402, N812 - as it is before tests replace it


@pytest.mark.parametrize(
    ("section", "name"),
    [("budget", "pages"), ("network", "fetches"), ("readers", "count"), ("readers", "memory"), ("http", "max_bytes"),
     ("robots", "max_bytes"), ("archive", "max_bytes"), ("frontier", "buffer"), ("politeness", "max_tries")],
)  # fmt: skip
@pytest.mark.parametrize("value", [2**70, -(2**70)])
def test_a_number_that_fits_nowhere_is_refused(section, name, value):
    with pytest.raises(ConfigError, match=f"{section}.{name} is .*at most 2"):
        build(("test", {section: {name: value}}))


@pytest.mark.parametrize(("section", "name"), [("network", "fetches"), ("readers", "count")])
def test_more_than_a_machine_has(section, name):
    with pytest.raises(ConfigError, match="or less"):
        build(("test", {section: {name: 10**9}}))
