"""Seeds from a file: a URL a line, blank lines and lines that begin with # are passed over."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from lycosa.errors import SeedError


def read_seeds(path: Path, *, parse: Callable[[str], str]) -> list[str]:
    """The URLs of a file; `parse` checks each. A bad line is an error that names it."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except FileNotFoundError as error:
        raise SeedError(f"{path}: there is no such seeds file; give a text file with a URL on each line") from error
    except (OSError, UnicodeDecodeError) as error:
        raise SeedError(
            f"{path}: cannot be read as text: {error}; give a UTF-8 file with a URL on each line"
        ) from error
    seeds = []
    for number, line in enumerate(text.splitlines(), start=1):
        entry = line.strip()
        if not entry or entry.startswith("#"):
            continue
        try:
            seeds.append(parse(entry))
        except SeedError as error:
            raise SeedError(f"{path}, line {number}: {error}") from error
    if not seeds:
        raise SeedError(f"{path}: no URL in it; write one on each line")
    return seeds
