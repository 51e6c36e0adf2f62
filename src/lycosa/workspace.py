"""A crawl is a directory.

lycosa.toml     the effective configuration
crawl.db        everything the crawl knows (docs/schema.md)
archive/        the answers of the web, as WARC files
snapshots/      what the strategy knows, for a quick resume; may be deleted
search.db       the full-text index (lycosa search); may be deleted
topics.db       its own copy of the topic book, if it crawls for trained topics
lock            locked by the process that is crawling, and holds its pid
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from lycosa.errors import WorkspaceBusy, WorkspaceError


class Workspace:
    """The paths of a crawl directory, and its lock."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.config = directory / "lycosa.toml"
        self.database = directory / "crawl.db"
        self.archive = directory / "archive"
        self.snapshots = directory / "snapshots"
        self.search = directory / "search.db"
        self.topics = directory / "topics.db"
        self._lock = directory / "lock"

    @classmethod
    def existing(cls, directory: Path) -> Workspace:
        """The workspace in a directory that already holds a crawl; WorkspaceError if it holds none."""
        workspace = cls(directory)
        if not workspace.database.exists():
            raise WorkspaceError(
                f"{directory}: no crawl here (crawl.db is missing); "
                f"give the directory that you gave to 'lycosa crawl … -o DIR'"
            )
        return workspace

    @property
    def has_crawl(self) -> bool:
        return self.database.exists()

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Hold the lock on the workspace. A second process gets WorkspaceBusy with the pid of the first."""
        try:
            self.archive.mkdir(parents=True, exist_ok=True)
            handle = os.open(self._lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        except OSError as error:
            raise WorkspaceError(
                f"{self.directory}: cannot be used as a crawl directory: {error.strerror or error}; "
                "choose one you can write to with -o"
            ) from error
        try:
            self._acquire(handle)
            with contextlib.suppress(OSError):  # the disk is full: the lock works without the pid in the file
                os.ftruncate(handle, 0)
                os.write(handle, f"{os.getpid()}\n".encode())
            yield
        finally:
            os.close(handle)

    def _acquire(self, handle: int) -> None:
        for attempt in range(5):
            if attempt:
                time.sleep(0.05)  # `holder` takes the lock for a moment when it checks
            try:
                return fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                continue
        pid = os.read(handle, 32).decode("ascii", "replace").strip() or "unknown"
        raise WorkspaceBusy(
            f"{self.directory}: process {pid} is crawling here; "
            "wait for it, stop it, or choose another directory with -o"
        )

    def holder(self) -> int | None:
        """Pid of the process that is crawling here; None if there is none."""
        try:
            with self._lock.open() as handle:
                fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return int(self._lock.read_text().strip() or 0)
        except OSError:
            return None
        return None

    def write_config(self, text: str) -> None:
        """Replace lycosa.toml atomically: on failure it stays as it was."""
        draft = self.config.with_suffix(".toml.new")
        try:
            draft.write_text(text, encoding="utf-8")
            draft.replace(self.config)
        except OSError as error:
            raise WorkspaceError(
                f"{self.config}: cannot be written: {error.strerror or error}; "
                "check that the disk has space left and that you may write to the directory"
            ) from error
