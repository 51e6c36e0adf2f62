"""Seeds from a file with one URL per line; blank lines and lines that start with # are skipped."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from lycosa.errors import SeedError
from lycosa.lib.bounded_file import read_text


def read_seeds(path: Path, *, parse: Callable[[str], str]) -> list[str]:
    """The URLs of a file, each checked by `parse`. SeedError names a bad line."""
    try:
        text = read_text(path, encoding="utf-8-sig")
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
        kind = "only comments" if text.strip() else "it is empty"
        raise SeedError(
            f"{path}: contains no URL: {kind}; write one on each line, such as https://example.org/, or give --seed"
        )
    return seeds
