"""Where a file of an archive is: in the archive's directory, or where a note in its place says (`archive_target`).

A file that was handed over to another place leaves a note, `lycosa-00001.warc.gz.moved`, which names the place. Whoever
reads a record need not know: the file is opened where it is, and of one that is elsewhere only the ranges are fetched
that are read.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from lycosa.errors import ArchiveAway, ArchiveError, ConfigError, LycosaError

MOVED = ".moved"
RANGE_BYTES = 1 << 18
"""Bytes that are fetched at once from a file that is elsewhere: most records are shorter."""

Pread = Callable[[int, int], bytes]
"""Reads this number of bytes at this place."""


class MovedFile(NamedTuple):
    """What a note says."""

    url: str
    size: int
    digest: str
    """BLAKE2b of the file."""

    @classmethod
    def of(cls, path: Path) -> MovedFile | None:
        """Of the file with this path; None if it was not moved."""
        note = path.with_name(path.name + MOVED)
        try:
            return cls(**json.loads(note.read_bytes()))
        except FileNotFoundError:
            return None
        except (OSError, ValueError, TypeError) as error:
            raise ArchiveError(f"cannot read {note}: {error}") from error

    def note(self, path: Path) -> None:
        """Leave the note beside the file; it is there as a whole, or not at all."""
        draft = path.with_name(f"{path.name}{MOVED}.new")
        with draft.open("w", encoding="utf-8") as file:
            json.dump(self._asdict(), file)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path.with_name(path.name + MOVED))


def has_file(path: Path) -> bool:
    """Whether a file of an archive is there, or known to be elsewhere."""
    return path.exists() or MovedFile.of(path) is not None


def open_archived(path: Path) -> BinaryIO | FileElsewhere:
    """A file of an archive, wherever it is."""
    try:
        return path.open("rb")
    except FileNotFoundError as error:
        moved = MovedFile.of(path)
        if moved is None:
            raise ArchiveError(f"cannot read {path}: {error.strerror}") from error
    except OSError as error:
        raise ArchiveError(f"cannot read {path}: {error.strerror}") from error
    with _named(moved.url):
        files, place = file_system(moved.url)
        return FileElsewhere(moved.url, files.open(place, "rb", block_size=RANGE_BYTES))


class FileElsewhere:
    """An open file that is elsewhere."""

    def __init__(self, url: str, file: Any) -> None:
        self._url = url
        self._file = file

    def read(self, size: int = -1) -> bytes:
        with _named(self._url):
            data: bytes = self._file.read(size)
            return data

    def seek(self, position: int, whence: int = os.SEEK_SET) -> int:
        with _named(self._url):
            return int(self._file.seek(position, whence))

    def tell(self) -> int:
        return int(self._file.tell())

    def close(self) -> None:
        self._file.close()

    def __enter__(self) -> FileElsewhere:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


@contextmanager
def _named(url: str) -> Iterator[None]:
    try:
        yield
    except LycosaError:
        raise
    except Exception as error:  # each kind of place has its own
        raise ArchiveAway(f"cannot read {url} now: {why(error)}") from error


def pread_of(file: BinaryIO | FileElsewhere) -> Pread:
    """Reads parts of an open file."""
    if not isinstance(file, FileElsewhere):
        return partial(os.pread, file.fileno())

    def read(size: int, position: int) -> bytes:
        file.seek(position)
        return file.read(size)

    return read


def file_system(url: str) -> tuple[Any, str]:
    """What reads and writes at this URL, and the path there; ConfigError if it cannot be had."""
    try:
        import fsspec
    except ImportError as error:
        raise ConfigError("archive.target needs fsspec: pip install 'lycosa[archive]'") from error
    try:
        found: tuple[Any, str] = fsspec.core.url_to_fs(url)
    except (ImportError, ValueError) as error:
        hint = ": pip install 'lycosa[s3]'" if url.startswith(("s3:", "s3a:")) else ""
        raise ConfigError(f"archive.target {url}: {why(error)}{hint}") from error
    return found


def why(error: BaseException) -> str:
    """In one line."""
    return " ".join(str(error).split())[:300] or type(error).__name__
