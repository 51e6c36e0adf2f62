"""A crawl is a directory.

lycosa.toml     the effective configuration
crawl.db        everything the crawl knows (docs/schema.md)
archive/        what the web answered, as WARC
topics.db       its own copy of the topic book, where it crawls for trained topics
lock            held, with its pid, by the process that is crawling
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
    """The paths of a crawl, and the lock on them."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.config = directory / "lycosa.toml"
        self.database = directory / "crawl.db"
        self.archive = directory / "archive"
        self.topics = directory / "topics.db"
        self._lock = directory / "lock"

    @classmethod
    def existing(cls, directory: Path) -> Workspace:
        """A directory that already holds a crawl."""
        workspace = cls(directory)
        if not workspace.database.exists():
            raise WorkspaceError(
                f"{directory}: no crawl here (crawl.db is missing); "
                f"name the directory that was given to 'lycosa crawl … -o DIR'"
            )
        return workspace

    @property
    def has_crawl(self) -> bool:
        return self.database.exists()

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Hold the workspace. A second process is refused, with the pid of the first."""
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
            with contextlib.suppress(OSError):  # on a full disk: the lock holds without the pid in it
                os.ftruncate(handle, 0)
                os.write(handle, f"{os.getpid()}\n".encode())
            yield
        finally:
            os.close(handle)

    def _acquire(self, handle: int) -> None:
        for attempt in range(5):
            if attempt:
                time.sleep(0.05)  # `holder` may have had it for a moment, only to look
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
        """The pid of the process that is crawling here, if one is."""
        try:
            with self._lock.open() as handle:
                fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return int(self._lock.read_text().strip() or 0)
        except OSError:
            return None
        return None

    def write_config(self, text: str) -> None:
        """Replace lycosa.toml whole, or leave it as it was."""
        draft = self.config.with_suffix(".toml.new")
        try:
            draft.write_text(text, encoding="utf-8")
            draft.replace(self.config)
        except OSError as error:
            raise WorkspaceError(
                f"{self.config}: cannot be written: {error.strerror or error}; "
                "check that the disk has space left and that the directory is yours"
            ) from error
