"""Files with secrets: read only if nobody but their owner can, and never quoted in a message."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from lycosa.errors import ConfigError
from lycosa.lib.bounded_file import read_text

MOST_BYTES = 4 << 20
_OTHERS = stat.S_IRWXG | stat.S_IRWXO


def read_private(path: Path, *, setting: str) -> str:
    """The text of a file that is its owner's alone. `setting`: what names it, for messages."""
    try:
        found = path.stat()
        if found.st_mode & _OTHERS and stat.S_ISREG(found.st_mode):
            raise ConfigError(
                f"{setting}: {path} holds secrets, and others may read or write it (mode "
                f"{stat.S_IMODE(found.st_mode):04o}): chmod 600 {path}"
            )
        if found.st_uid not in (os.geteuid(), 0):
            raise ConfigError(f"{setting}: {path} belongs to somebody else; a file with your secrets must be your own")
        return read_text(path, most=MOST_BYTES)
    except UnicodeDecodeError:
        # Not `from error`: that one quotes the bytes.
        raise ConfigError(f"{setting}: {path} is not a text in UTF-8") from None
    except OSError as error:
        raise ConfigError(f"{setting}: {path} cannot be read: {error.strerror or error}") from None
