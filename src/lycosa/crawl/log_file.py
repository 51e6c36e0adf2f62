"""The log of a crawl: a line of JSON for each event, in the crawl's directory, for tools that watch logs.

    {"at": "2026-11-17T15:04:05Z", "level": "info", "event": "trap", "message": "a.test: a maze; set aside", "run": 3}

All of it is escaped to ASCII, so that what the web sent neither breaks a line nor reaches a terminal. A log that has
grown too long is renamed to log.jsonl.1, and the one before that is given up. A log that cannot be written ends
nothing: the crawl is in the database.
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
import time
from pathlib import Path
from typing import Any

MOST_BYTES = 10_000_000
"""Length from which on a new file is begun."""
LONGEST_MESSAGE = 2_000
WARNINGS = frozenset({"alarm", "archive", "host set aside", "seed", "stall", "trap", "clock", "access", "interrupted"})
"""Events that somebody may want to know of."""


class LogFile(logging.Handler):
    """Appends events, and what the program itself logs, to a file; flushed line by line."""

    def __init__(self, path: Path, *, most: int = MOST_BYTES) -> None:
        super().__init__(logging.WARNING)
        self._path = path
        self._most = most
        self._file = -1
        self._size = 0
        self.run = 0
        """Number of the run that is told of."""
        self._open()

    def event(self, kind: str, message: str, **more: Any) -> None:
        """Something that has happened to the crawl as a whole."""
        self.write_line("warning" if kind in WARNINGS else "info", kind, message, **more)

    def write_line(self, level: str, kind: str, message: str, **more: Any) -> None:
        line = {
            "at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
            "level": level,
            "event": kind,
            "message": message[:LONGEST_MESSAGE],
            "run": self.run,
            **more,
        }
        self._append(json.dumps(line).encode("ascii") + b"\n")

    def emit(self, record: logging.LogRecord) -> None:
        """A line of the program's own log, such as a fault."""
        fault = record.exc_info[0].__name__ if record.exc_info and record.exc_info[0] else ""
        self.write_line(record.levelname.lower(), "log", record.getMessage(), logger=record.name, fault=fault)

    def close(self) -> None:
        if self._file >= 0:
            os.close(self._file)
            self._file = -1
        super().close()

    def _open(self) -> None:
        with contextlib.suppress(OSError):
            flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW
            self._file = os.open(self._path, flags, 0o600)
            self._size = os.fstat(self._file).st_size

    def _append(self, line: bytes) -> None:
        if self._size + len(line) > self._most and self._file >= 0:
            os.close(self._file)
            self._file = -1
            with contextlib.suppress(OSError):
                self._path.replace(self._path.with_name(self._path.name + ".1"))
            self._open()
        if self._file >= 0:
            with contextlib.suppress(OSError):
                self._size += os.write(self._file, line)
