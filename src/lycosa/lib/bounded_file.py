"""Reading a file that somebody named, whatever it is: a named pipe that nobody writes to, a device without end."""

from __future__ import annotations

import os
import select
import stat
from pathlib import Path

MOST_BYTES = 256 << 20
PATIENCE = 10.0
"""Seconds to wait for somebody who writes to a pipe."""
_STEP = 1 << 16


def read_bounded(path: Path, *, most: int = MOST_BYTES) -> bytes:
    """The bytes of a file or a pipe. OSError if it is a directory, a device, too long, or a pipe that says nothing."""
    handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        kind = os.fstat(handle).st_mode
        if stat.S_ISDIR(kind):
            raise OSError("it is a directory")
        if stat.S_ISCHR(kind) or stat.S_ISBLK(kind):
            raise OSError("it is a device, not a file")
        return _read(handle, most, PATIENCE if stat.S_ISFIFO(kind) else None)
    finally:
        os.close(handle)


def read_text(path: Path, *, encoding: str = "utf-8", most: int = MOST_BYTES) -> str:
    """Likewise, as text; UnicodeDecodeError if it is none. Line ends become \\n."""
    text = read_bounded(path, most=most).decode(encoding)
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _read(handle: int, most: int, patience: float | None) -> bytes:
    """`patience`: of a pipe, how long it may be silent."""
    parts: list[bytes] = []
    size = 0
    while True:
        if patience is not None and not select.select([handle], [], [], patience)[0]:
            raise OSError(f"it is a pipe to which nobody has written for {patience:g} s")
        part = os.read(handle, _STEP)
        if not part:
            return b"".join(parts)
        parts.append(part)
        size += len(part)
        if size > most:
            raise OSError(f"it has more than {most:,} bytes")
