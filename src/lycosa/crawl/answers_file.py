"""Answers from a file: on each line a URL, a tab (or a comma, or a blank), and yes or no.

Further columns are ignored, and so are blank lines, lines that start with #, a first line of column names, and lines
whose answer is empty: the list of questions that `lycosa review --list` prints can be filled in and given back.
"""

from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path

from lycosa.errors import InputError, SeedError
from lycosa.lib.bounded_file import read_text

YES = frozenset({"yes", "y", "1", "true", "relevant", "useful"})
NO = frozenset({"no", "n", "0", "false", "irrelevant", "not relevant"})
EXAMPLE = "write a URL, a tab, and yes or no: https://example.org/touring\tyes".expandtabs(4)


def read_answers(path: Path, *, parse: Callable[[str], str]) -> dict[str, bool]:
    """Whether pages are relevant, by URL, each checked by `parse`. InputError names a bad line. The last one counts."""
    try:
        text = read_text(path, encoding="utf-8-sig")
    except FileNotFoundError as error:
        raise InputError(f"{path}: there is no such file of answers; {EXAMPLE}") from error
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: cannot be read as text: {error}; {EXAMPLE}") from error
    answers: dict[str, bool] = {}
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        url, *rest = _columns(line)
        if number == 1 and url.lower() in ("url", "urls", "page"):
            continue
        if not rest:
            raise InputError(f"{path}, line {number}: {url[:200]!r} has no answer; {EXAMPLE}")
        answer = rest[0].strip().lower()
        if not answer:
            continue
        if answer not in YES | NO:
            raise InputError(f"{path}, line {number}: {answer[:80]!r} is no answer; {EXAMPLE}")
        try:
            answers[parse(url)] = answer in YES
        except SeedError as error:
            raise InputError(f"{path}, line {number}: {error}") from error
    if not answers:
        raise InputError(f"{path}: contains no answer; {EXAMPLE}")
    return answers


def _columns(line: str) -> list[str]:
    if "\t" in line:
        return [part.strip() for part in line.strip(" \r\n").split("\t")]
    if line.lstrip().startswith('"') or line.rpartition(",")[2].strip().lower() in YES | NO:
        return [part.strip() for part in next(csv.reader([line.strip()], skipinitialspace=True))]
    return line.split(maxsplit=1)
