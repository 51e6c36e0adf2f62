"""A crawl is a directory.

lycosa.toml     the effective configuration
crawl.db        everything the crawl knows (docs/schema.md)
store.url       instead of it, where that is if it is in PostgreSQL; for its owner alone, as it may hold a password
archive/        the answers of the web, as WARC files; of those at archive.target, notes that say where
snapshots/      what the strategy knows, for a quick resume; may be deleted
search.db       the full-text index (lycosa search); may be deleted
topics.db       its own copy of the topic book, if it crawls for trained topics
shards/         of a crawl by a cluster: a directory like this one for each shard, with its own archive
log.jsonl       what happened, a line of JSON for each event; may be deleted
lock            locked by the process that is crawling, and holds its pid

All of these are files and directories of the crawl's own: a link to elsewhere is refused, since a crawl writes, cuts
and removes files by these names. A new directory is for its owner alone: it holds whatever the web has sent.
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

PRIVATE = 0o700
OUR_NAMES = ("lycosa.toml", "crawl.db", "store.url", "archive", "snapshots", "topics.db", "log.jsonl", "lock")


class Workspace:
    """The paths of a crawl directory, and its lock."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.config = directory / "lycosa.toml"
        self.database = directory / "crawl.db"
        self.remote_name = directory / "store.url"
        self.shards = directory / "shards"
        self.archive = self.shards if self.has_shards else directory / "archive"
        self.snapshots = directory / "snapshots"
        self.search = directory / "search.db"
        self.topics = directory / "topics.db"
        self.log = directory / "log.jsonl"
        self._lock = directory / "lock"

    @classmethod
    def existing(cls, directory: Path) -> Workspace:
        """The workspace in a directory that already holds a crawl; WorkspaceError if it holds none."""
        workspace = cls(directory)
        workspace.refuse_links()
        if not workspace.has_crawl:
            raise WorkspaceError(
                f"{directory}: no crawl here (crawl.db is missing); "
                f"give the directory that you gave to 'lycosa crawl … -o DIR'"
            )
        return workspace

    @property
    def has_crawl(self) -> bool:
        return self.database.exists() or self.has_remote_store

    @property
    def has_remote_store(self) -> bool:
        """If there is a crawl.db as well, it is left over from a move."""
        return self.remote_name.exists()

    @property
    def has_shards(self) -> bool:
        """Whether the crawl is one of a cluster."""
        with contextlib.suppress(OSError):  # such as a name that is too long: whoever writes there says so
            return self.shards.is_dir()
        return False

    def parts(self) -> list[Workspace]:
        """The crawls that this one consists of: itself, or those of all shards, in order."""
        if not self.has_shards:
            return [self]
        return [Workspace(each) for each in sorted(self.shards.iterdir()) if (each / self.remote_name.name).exists()]

    @property
    def store_name(self) -> str:
        """The file that is, or names, the database."""
        return (self.remote_name if self.has_remote_store else self.database).name

    def remote_store(self) -> str:
        """The URL of the database."""
        try:
            return self.remote_name.read_text("utf-8").strip()
        except (OSError, UnicodeError) as error:
            raise WorkspaceError(f"{self.remote_name}: cannot be read: {error}") from error

    def name_remote_store(self, url: str) -> None:
        self._replace(self.remote_name, f"{url}\n")

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Hold the lock on the workspace. A second process gets WorkspaceBusy with the pid of the first."""
        try:
            self.make()
            self.refuse_links()
            self.archive.mkdir(mode=PRIVATE, exist_ok=True)
            handle = os.open(self._lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
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

    def make(self) -> None:
        self.directory.mkdir(mode=PRIVATE, parents=True, exist_ok=True)

    def refuse_links(self) -> None:
        """WorkspaceError if something in the directory is a link, a pipe or a device instead of a file of the crawl."""
        for directory in (self.directory, self.archive, self.snapshots):
            if directory != self.directory and directory.is_symlink():
                raise WorkspaceError(_not_our_own(directory, "a link"))
            with contextlib.suppress(FileNotFoundError, NotADirectoryError), os.scandir(directory) as entries:
                for entry in entries:
                    if directory == self.directory and not entry.name.startswith(OUR_NAMES):
                        continue  # somebody's notes are none of our business
                    if entry.is_symlink():
                        raise WorkspaceError(_not_our_own(Path(entry.path), "a link"))
                    if not entry.is_file() and not entry.is_dir():
                        raise WorkspaceError(_not_our_own(Path(entry.path), "a pipe or a device"))

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
            text = self._lock.read_text("ascii", "replace").strip()
            return int(text) if text.isdigit() else 0
        except OSError:
            return None
        return None

    def write_config(self, text: str) -> None:
        """Replace lycosa.toml atomically: on failure it stays as it was."""
        self._replace(self.config, text)

    def set_aside_database(self) -> str:
        """Keep crawl.db under another name, as it is not the database any more; that name."""
        number = 1
        while (kept := self.directory / f"crawl.db.moved-{number}").exists():
            number += 1
        for ending in ("", "-wal", "-shm"):
            with contextlib.suppress(FileNotFoundError):
                Path(f"{self.database}{ending}").rename(f"{kept}{ending}")
        return kept.name

    def _replace(self, path: Path, text: str) -> None:
        draft = path.with_suffix(f"{path.suffix}.new")
        try:
            draft.unlink(missing_ok=True)
            with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600), "wb") as file:
                file.write(text.encode())
            draft.replace(path)
        except OSError as error:
            raise WorkspaceError(
                f"{path}: cannot be written: {error.strerror or error}; "
                "check that the disk has space left and that you may write to the directory"
            ) from error


def _not_our_own(path: Path, what: str) -> str:
    return (
        f"{path}: is {what}, not a file of this crawl; a crawl does not write through it. "
        "Put the file itself there, or choose another directory with -o"
    )
