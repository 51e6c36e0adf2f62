"""Finished files of an archive are handed over to another place: a directory, or a URL that fsspec knows (s3://…).

Records are written to the archive's directory first, as recovery after a crash needs the file at hand. A file that is
finished, and of which all is committed, is copied to the target, read back and compared by size and digest. Only then
does a note take its place (`archive_places`), and the local file is removed. Whatever is interrupted is done again: by
the next finished file, at the end of the run, or at the beginning of the next one. A target that cannot be reached
costs space on the local disk, and no page.
"""

from __future__ import annotations

import hashlib
import json
import secrets
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

from lycosa.errors import ArchiveError, ConfigError
from lycosa.fetch.archive import own_files, own_number
from lycosa.fetch.archive_places import MovedFile, file_system, why

OWNER = "lycosa-archive.json"
"""A file in the target that says whose archive it is, and one in the archive's directory that says the same."""
PIECE = 1 << 20
RETRY_AFTER = 60.0
"""Seconds after which a target that could not be reached is tried again."""


def target_url(target: str, *, shard: str = "") -> str:
    """The target as a URL. Each shard of a cluster has a folder of its own there."""
    url = target if "://" in target else Path(target).expanduser().resolve().as_uri()
    return "/".join(part for part in (url.rstrip("/"), shard) if part)


class ArchiveTarget:
    """Takes over files of the archive in a directory."""

    def __init__(self, directory: Path, url: str, *, prefix: str = "lycosa") -> None:
        """ConfigError if there is nothing that could write to such a URL."""
        self._directory = directory
        self.url = url
        self._prefix = prefix
        self._files, self._root = file_system(url)
        self._is_ours = False

    def finished(self, last: str, *, inclusive: bool = False) -> list[Path]:
        """The files before this one, or up to it, that are still here, in order."""
        end = own_number(last, self._prefix) + inclusive
        return [path for path in own_files(self._directory, self._prefix) if own_number(path.name, self._prefix) < end]

    def take(self, path: Path) -> None:
        """Hand a finished file over; ArchiveError if that is not possible now, and the file stays."""
        place = f"{self._root}/{path.name}"
        try:
            self._claim()
            with path.open("rb") as file:
                size, digest = _measured(file)
            if self._measured_there(place) != (size, digest):
                self._files.put_file(str(path), place)
                self._compare(place, size, digest)
            MovedFile(f"{self.url}/{path.name}", size, digest).note(path)
            path.unlink()
        except ArchiveError:
            raise
        except Exception as error:  # each kind of place has its own
            raise ArchiveError(f"{self.url} cannot take {path.name} over: {why(error)}") from error

    def _compare(self, place: str, size: int, digest: str) -> None:
        found = self._measured_there(place)
        if found != (size, digest):
            raise ArchiveError(
                f"{self.url}: {place} is not what was written there ({found[0]:,} of {size:,} bytes, or other ones)"
            )

    def _measured_there(self, place: str) -> tuple[int, str]:
        """Size and digest of what is there, which is read; (-1, "") if nothing is."""
        self._files.invalidate_cache()
        if not self._files.exists(place):
            return -1, ""
        with self._files.open(place, "rb") as file:
            return _measured(file)

    def _claim(self) -> None:
        """ArchiveError if the place holds the archive of another crawl, whose files have the same names."""
        if self._is_ours:
            return
        mine, theirs = self._directory / OWNER, f"{self._root}/{OWNER}"
        if not mine.exists():
            mine.write_text(json.dumps({"owner": secrets.token_hex(16)}), "utf-8")
        owner = json.loads(mine.read_text("utf-8"))
        self._files.makedirs(self._root, exist_ok=True)
        if not self._files.exists(theirs):
            self._files.pipe_file(theirs, json.dumps(owner).encode())
        if json.loads(self._files.cat_file(theirs)) != owner:
            raise ArchiveError(f"{self.url} holds the archive of another crawl: give each crawl a target of its own")
        self._is_ours = True


class HandingOver:
    """Hands files over in a thread of its own, while the crawl goes on."""

    def __init__(self, target: ArchiveTarget) -> None:
        self._target = target
        self._last = ""
        self._seen = ""
        self._wake = threading.Condition()
        self._is_over = False
        self._news: list[str] = []
        self._trouble = ""
        self._thread: threading.Thread | None = None

    def committed(self, file: str) -> None:
        """Everything before this file is committed. Returns at once."""
        if file == self._seen:
            return
        with self._wake:
            self._seen = self._last = file
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="archive", daemon=True)
                self._thread.start()
            self._wake.notify()

    def take_news(self) -> list[str]:
        """What has happened since the last call, in words."""
        found, self._news = self._news, []
        return found

    def close(self) -> None:
        """Begin with no further file."""
        with self._wake:
            self._is_over = True
            self._wake.notify()

    def finish(self, last: str) -> list[str]:
        """Hand over all that is left, up to this file; what went wrong, in words. Nothing is written any more."""
        self.close()
        if self._thread is not None:
            self._thread.join()
        return self._hand_over(self._target.finished(last, inclusive=True))

    def _run(self) -> None:
        while not self._is_over:
            with self._wake:
                last, self._last = self._last, ""
            if last:
                self._news += self._hand_over(self._target.finished(last))
            with self._wake:
                if not self._last and not self._is_over:
                    self._wake.wait(RETRY_AFTER if self._trouble else None)
                if self._trouble and not self._last:
                    self._last = self._seen

    def _hand_over(self, files: list[Path]) -> list[str]:
        said = []
        for path in files:
            try:
                self._target.take(path)
            except (ArchiveError, ConfigError) as error:
                if self._trouble != str(error):  # said once
                    said.append(f"{error}; the file stays here, and is tried again")
                self._trouble = str(error)
                return said
            if self._trouble:
                said.append(f"{self._target.url} takes files over again")
            self._trouble = ""
        return said


def _measured(file: BinaryIO) -> tuple[int, str]:
    digest, size = hashlib.blake2b(digest_size=32), 0
    for piece in _pieces(file):
        digest.update(piece)
        size += len(piece)
    return size, digest.hexdigest()


def _pieces(file: Any) -> Iterator[bytes]:
    while piece := file.read(PIECE):
        yield piece
