"""What came over the wire, kept: numbered WARC files, and how they are put in order after a kill.

    Archive          appends records to numbered files, a new one for each run and each `max_bytes`
    recover          after a kill: the files end again where the last commit says they end

`warc_writer` makes the records, `warc_reader` reads them.
"""

from __future__ import annotations

import errno
import fcntl
import os
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple, Self

from lycosa import __version__
from lycosa.errors import ArchiveError
from lycosa.fetch.warc_reader import Location, member_end
from lycosa.fetch.warc_writer import encode_records, encode_warcinfo
from lycosa.model import Response

BUFFER_BYTES = 1 << 20


class Position(NamedTuple):
    """Where an archive ends; a commit stores it. An archive without files ends at `("", 0)`."""

    file: str
    offset: int


class Recovery(NamedTuple):
    """What `recover` had to do. All zero and empty after a clean end."""

    cut: int = 0
    """Bytes behind the last commit, now gone."""
    missing: int = 0
    """Committed bytes that are not there: the power failed before they were on the disk, or a file was deleted."""
    removed: tuple[str, ...] = ()
    """Files that held nothing committed."""
    set_aside: tuple[str, ...] = ()
    """Files no commit knows, under their new names."""


class Archive:
    """Appends records to `<prefix>-00001.warc.gz` and so on in a directory.

    Each run begins a file of its own, at its first record: the `warcinfo` at the head of a file then speaks for
    everything in it, and a place that was committed can never come to hold another page. A file being written
    is locked (flock), so that others can tell a living writer's file from a dead one's.

    `committed` is where the database says the archive ends; run `recover` with it first.
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
        self._number = max(_number(last.name, prefix) if last else 0, _number(self._position.file, prefix))
        self._file = -1
        self._is_named = False  # the file's name is on the disk, too
        self._pending = bytearray()

    def append(self, response: Response) -> Location:
        return self.append_encoded(encode_records(response, level=self._level))

    def append_encoded(self, encoded: bytes) -> Location:
        """Takes what `encode_records` made, perhaps in another process."""
        if self._file < 0 or self.is_full:
            self._begin_file()
        return self._add(encoded)

    @property
    def is_full(self) -> bool:
        """The next record begins a new file."""
        return self._position.offset > self._max_bytes

    def position(self) -> Position:
        """Where the archive ends. All of it up to there is in the file (see `flush`), so it can be committed."""
        self.flush()
        return self._position

    def flush(self) -> None:
        """Hands everything to the operating system: from here on a kill of this process loses none of it.

        If the disk is full, what could not be written is kept, and the next flush tries again in the same place.
        """
        try:
            while self._pending:
                offset = self._position.offset - len(self._pending)
                del self._pending[: os.pwrite(self._file, self._pending, offset)]
        except OSError as error:
            raise ArchiveError(f"cannot write {self._path}: {error.strerror}{_advice(error)}") from error

    def sync(self) -> None:
        """Like `flush`, but down to the disk: from here on a power failure loses none of it."""
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
        """Ends the current file. The archive can be used on; it would begin a new one."""
        if self._file >= 0:
            self.sync()
            os.close(self._file)
            self._file = -1

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

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
    """An archive's files, in the order they were written."""
    found = [path for path in directory.glob("*.warc.gz") if _number(path.name, prefix)]
    return sorted(found, key=lambda path: _number(path.name, prefix))


def try_lock(file: int, path: Path) -> bool:
    """Locks an open file. False if someone else has it, has moved it away, or the file system knows no locks."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return os.path.samestat(os.fstat(file), path.stat())
    except OSError:
        return False


def _number(name: str, prefix: str) -> int:
    """A file's number, or 0 if the name is not one an archive with this prefix gives."""
    digits = name.removeprefix(prefix + "-").removesuffix(".warc.gz")
    is_own = digits.isascii() and digits.isdigit() and name == f"{prefix}-{int(digits):05d}.warc.gz"
    return int(digits) if is_own else 0


def _create_locked(path: Path) -> int:
    """A new file, open and locked; -1 if there is one already or another process took it for a dead one's."""
    try:
        file = os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR | os.O_CLOEXEC, 0o644)
    except FileExistsError:
        return -1
    if try_lock(file, path) or not _has_locks(file):
        return file
    os.close(file)
    return -1


def _has_locks(file: int) -> bool:
    """Whether the file system knows locks. Where it does not, one writer at a time is all there can be."""
    try:
        fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    return True


def _sync_directory(directory: Path) -> None:
    """So that the name of a new file survives a power failure, too."""
    handle = os.open(directory, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def recover(directory: Path, committed: Position | None, *, prefix: str = "lycosa") -> Recovery:
    """Cuts off what lies behind the last commit; what was committed stays.

    Without any commit (None) the files are not known to be worthless, perhaps the database was deleted: they are
    set aside under names that no WARC tool picks up. Committed bytes that are missing are told, not raised: the
    crawl can go on and note it.
    """
    cut, missing = 0, 0
    removed, set_aside = [], []
    last = _number(committed.file, prefix) if committed else 0
    if committed and committed.file and not last:
        raise ArchiveError(f"{committed.file!r} is not the name of an archive file {prefix}-00001.warc.gz and so on")
    try:
        for path in own_files(directory, prefix):
            number = _number(path.name, prefix)
            if committed is None:
                set_aside.append(put_aside(path))
            elif number > last:
                cut += path.stat().st_size
                path.unlink()
                removed.append(path.name)
            elif number == last:
                beyond, missing = cut_back(path, committed.offset)
                cut += beyond
        if last and committed and not (directory / committed.file).exists():
            missing = missing or committed.offset
    except OSError as error:
        raise ArchiveError(f"cannot put the archive in {directory} in order: {error}") from error
    return Recovery(cut, missing, tuple(removed), tuple(set_aside))


def put_aside(path: Path) -> str:
    """Renames a file that no commit knows, so that neither we nor a WARC tool take it for part of an archive."""
    for attempt in range(1, 100_000):
        aside = path.with_name(f"{path.name}.orphan-{attempt}")
        if not aside.exists():
            path.rename(aside)
            return aside.name
    raise ArchiveError(f"too many files named {path.name}.orphan-…: move them away")


def cut_back(path: Path, committed: int) -> tuple[int, int]:
    """Makes a file end where it was committed; how many bytes were cut, and how many committed ones are missing.

    A file that is too short ends in a torn record: it is cut back to the last whole one, since readers stop
    at a torn record. A file of which nothing is left is removed, since an empty file is no WARC.
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
    """Where the last of the gzip members ends that stand whole, one behind the other, from the file's start."""
    end, start = 0, -1
    with path.open("rb") as file:
        while end > start:
            start, end = end, member_end(file.fileno(), end)
    return end
