"""Keeps what came over the wire: numbered WARC files, and their recovery after a crash."""

from __future__ import annotations

import errno
import fcntl
import os
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Self

from lycosa import __version__
from lycosa.errors import ArchiveError
from lycosa.fetch.archive_places import MOVED, has_file, pread_of
from lycosa.fetch.warc_reader import Location, member_end
from lycosa.fetch.warc_writer import encode_records, encode_revisit, encode_warcinfo
from lycosa.model import Rendering, Response

if TYPE_CHECKING:
    from lycosa.fetch.archive_target import HandingOver

BUFFER_BYTES = 1 << 20


class Position(NamedTuple):
    """The end of an archive, as a commit stores it. An archive without files ends at `("", 0)`."""

    file: str
    offset: int


class Recovery(NamedTuple):
    """What `recover` had to do: nothing after a clean shutdown."""

    cut: int = 0
    """Number of bytes after the last commit, which were removed."""
    missing: int = 0
    """Number of committed bytes that are missing: power failed before they were on disk, or a file was deleted."""
    removed: tuple[str, ...] = ()
    """Deleted files, which contained nothing committed."""
    set_aside: tuple[str, ...] = ()
    """New names of renamed files, which no commit refers to."""


class Archive:
    """Appends records to the files `<prefix>-00001.warc.gz`, … of a directory, each of about `max_bytes` at most.

    Each run starts a new file with its first record: thus the `warcinfo` record at the start of a file applies to all
    of it, and a committed location can never come to hold another page. A file that is being written is locked (flock),
    which tells the file of a living process from that of a dead one.

    `committed` is the end of the archive according to the database; call `recover` with it first.
    """

    def __init__(
        self,
        directory: Path,
        *,
        max_bytes: int = 1 << 30,
        prefix: str = "lycosa",
        software: str = f"Lycosa/{__version__}",
        crawl_info: Mapping[str, str] | None = None,
        level: int | None = None,
        committed: Position | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._directory = directory
        self._max_bytes = max_bytes
        self._prefix = prefix
        self._info = {
            "software": software,
            "format": "WARC File Format 1.1",
            "conformsTo": "http://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/",
            **(crawl_info or {}),
        }
        self._level = level
        self._clock = clock
        try:
            directory.mkdir(parents=True, exist_ok=True)
            last = next(reversed(own_files(directory, prefix)), None)
            end = Position(last.name, last.stat().st_size) if last and committed is None else Position("", 0)
        except OSError as error:
            raise ArchiveError(f"cannot use {directory} for the archive: {error.strerror}") from error
        self._position = committed or end
        moved = (path.name.removesuffix(MOVED) for path in directory.glob(f"*{MOVED}"))
        names = (last.name if last else "", self._position.file, *moved)
        self._number = max(own_number(name, prefix) for name in names)
        self.handing_over: HandingOver | None = None
        self._file = -1
        self._is_named = False  # the file's directory entry is on disk, too
        self._pending = bytearray()

    def append(self, response: Response, rendering: Rendering | None = None) -> Location:
        """`rendering`: what a browser made of it, and asked for on the way; kept behind it."""
        encoded = encode_records(response, dom=rendering.dom if rendering else b"", level=self._level)
        for each in rendering.requisites if rendering else ():
            encoded += encode_records(each, page=response.url, level=self._level)
        return self.append_encoded(encoded)

    def append_revisit(self, response: Response, known: Response) -> Location:
        """An answer that brought no other body than one that is archived already (`known`)."""
        return self.append_encoded(encode_revisit(response, known, level=self._level))

    def append_encoded(self, encoded: bytes) -> Location:
        """Append the result of `encode_records`, perhaps made in another process."""
        if self._file < 0 or self.is_full:
            self._begin_file()
        return self._add(encoded)

    @property
    def is_full(self) -> bool:
        return self._position.offset > self._max_bytes

    def position(self) -> Position:
        """The end of the archive. It is flushed first, so the position can be committed."""
        self.flush()
        return self._position

    def flush(self) -> None:
        """Hand everything to the operating system. If the disk is full, the rest is kept for the next flush."""
        try:
            while self._pending:
                offset = self._position.offset - len(self._pending)
                del self._pending[: os.pwrite(self._file, self._pending, offset)]
        except OSError as error:
            raise ArchiveError(f"cannot write {self._path}: {error.strerror}{_advice(error)}") from error

    def sync(self) -> None:
        """Write everything to disk, so that nothing is lost if the power fails."""
        self.flush()
        if self._file < 0:
            return
        try:
            os.fsync(self._file)
            if not self._is_named:
                _sync_directory(self._directory)
                self._is_named = True
        except OSError as error:
            raise ArchiveError(f"cannot write {self._path}: {error.strerror}{_advice(error)}") from error

    def close(self) -> None:
        """Close the current file. The archive remains usable; the next record starts a new file."""
        if self._file >= 0:
            self.sync()
            os.close(self._file)
            self._file = -1

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def committed(self) -> None:
        """A commit has stored the present position."""
        if self.handing_over is not None:
            self.handing_over.committed(self._position.file)

    def take_news(self) -> list[str]:
        """What became of finished files since the last call, in words, if something is to be told."""
        return self.handing_over.take_news() if self.handing_over is not None else []

    @property
    def _path(self) -> Path:
        return self._directory / self._position.file

    def _add(self, data: bytes) -> Location:
        location = Location(self._position.file, self._position.offset, len(data))
        self._pending += data
        self._position = Position(location.file, location.offset + location.length)
        if len(self._pending) >= BUFFER_BYTES:
            self.flush()
        return location

    def _begin_file(self) -> None:
        self.close()
        name = ""
        try:
            while self._file < 0:
                self._number += 1
                name = f"{self._prefix}-{self._number:05d}.warc.gz"
                self._file = _create_locked(self._directory / name)
        except OSError as error:
            raise ArchiveError(f"cannot create {self._directory / name}: {error.strerror}{_advice(error)}") from error
        self._position, self._is_named = Position(name, 0), False
        self._add(encode_warcinfo(self._info, file_name=name, now=self._clock(), level=self._level))


def _advice(error: OSError) -> str:
    is_full = error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
    return "; free some space and run the same command again" if is_full else ""


def own_files(directory: Path, prefix: str) -> list[Path]:
    """The files of an archive, in the order in which they were written."""
    found = [path for path in directory.glob("*.warc.gz") if own_number(path.name, prefix)]
    return sorted(found, key=lambda path: own_number(path.name, prefix))


def try_lock(file: int, path: Path) -> bool:
    """Lock an open file. False if another process holds or has moved it, or the file system does not support locks."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return os.path.samestat(os.fstat(file), path.stat())
    except OSError:
        return False


def own_number(name: str, prefix: str) -> int:
    """The number in a file's name; 0 if it is not the name of an archive file with this prefix."""
    digits = name.removeprefix(prefix + "-").removesuffix(".warc.gz")
    is_own = digits.isascii() and digits.isdigit() and name == f"{prefix}-{int(digits):05d}.warc.gz"
    return int(digits) if is_own else 0


def _create_locked(path: Path) -> int:
    """A new file, open and locked; -1 if it exists already, or if another process took it for that of a dead one."""
    try:
        file = os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR | os.O_CLOEXEC, 0o644)
    except FileExistsError:
        return -1
    if try_lock(file, path) or not _has_locks(file):
        return file
    os.close(file)
    return -1


def _has_locks(file: int) -> bool:
    """Whether the file system supports locks. If not, there can be only one writer at a time."""
    try:
        fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    return True


def _sync_directory(directory: Path) -> None:
    """Write a directory to disk, so that the name of a new file survives a power failure."""
    handle = os.open(directory, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def recover(directory: Path, committed: Position | None, *, prefix: str = "lycosa") -> Recovery:
    """Truncate the archive to the end of the last commit.

    Without any commit (None) the files may still be valuable, since perhaps the database was deleted: they are renamed
    such that no WARC tool picks them up. Missing committed bytes are reported, not raised: the crawl can note them and
    continue.
    """
    cut, missing = 0, 0
    removed, set_aside = [], []
    last = own_number(committed.file, prefix) if committed else 0
    if committed and committed.file and not last:
        raise ArchiveError(f"{committed.file!r} is not the name of an archive file such as {prefix}-00001.warc.gz")
    try:
        for path in own_files(directory, prefix):
            number = own_number(path.name, prefix)
            if committed is None:
                set_aside.append(put_aside(path))
            elif number > last:
                cut += path.stat().st_size
                path.unlink()
                removed.append(path.name)
            elif number == last:
                beyond, missing = cut_back(path, committed.offset)
                cut += beyond
        if last and committed and not has_file(directory / committed.file):
            missing = missing or committed.offset
    except OSError as error:
        raise ArchiveError(f"cannot repair the archive in {directory}: {error}") from error
    return Recovery(cut, missing, tuple(removed), tuple(set_aside))


def put_aside(path: Path) -> str:
    """Rename a file that no commit refers to, so that neither we nor a WARC tool take it for part of an archive."""
    for attempt in range(1, 100_000):
        aside = path.with_name(f"{path.name}.orphan-{attempt}")
        if not aside.exists():
            path.rename(aside)
            return aside.name
    raise ArchiveError(f"too many files named {path.name}.orphan-…: move them away")


def cut_back(path: Path, committed: int) -> tuple[int, int]:
    """Truncate a file to its committed length; return the numbers of removed and of missing committed bytes.

    A file that is too short ends in an incomplete record, at which readers would stop: it is truncated to its last
    complete record. A file of which nothing is left is deleted, since an empty file is not a valid WARC file.
    """
    size = path.stat().st_size
    end = committed if size >= committed else _whole_members(path)
    if end == 0:
        path.unlink()
    elif end < size:
        with path.open("rb+") as file:
            file.truncate(end)
            os.fsync(file.fileno())
    return max(0, size - committed), max(0, committed - end)


def _whole_members(path: Path) -> int:
    """End of the last complete gzip member in the unbroken sequence from the start of the file."""
    end, start = 0, -1
    with path.open("rb") as file:
        while end > start:
            start, end = end, member_end(pread_of(file), end)
    return end
