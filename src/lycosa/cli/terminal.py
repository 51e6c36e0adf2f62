"""What goes to the terminal. Text from the web is hostile there too: it could move the cursor or set titles."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TextIO

from rich.console import Console
from rich.markup import escape


class _Console(Console):
    def on_broken_pipe(self) -> None:
        """Leave it to the caller: a crawl goes on (`going_on_unread`), other commands end (`main`)."""
        raise BrokenPipeError


out = _Console(highlight=False, soft_wrap=True, emoji=False)
err = _Console(stderr=True, highlight=False, soft_wrap=True, emoji=False)


def printable(text: object) -> str:
    """Text without control or direction characters."""
    return "".join(char if char.isprintable() else " " for char in str(text))


def plain(text: object, width: int = 0) -> str:
    """Text that is safe to print with rich: printable, no markup, cut to a width."""
    cleaned = printable(text)
    if width and len(cleaned) > width:
        cleaned = cleaned[: width - 1] + "…"
    return escape(cleaned)


def json_line(value: object) -> str:
    """JSON on one line. Control characters are escaped, also those above ASCII, which JSON would leave as they are."""
    text = json.dumps(value, ensure_ascii=is_terminal(), default=str)
    return "".join(char if char.isprintable() else json.dumps(char)[1:-1] for char in text)


def show(line: str) -> None:
    """Print a line at once, for whoever reads while a crawl goes on."""
    with going_on_unread():
        print(line, flush=True)


@contextmanager
def going_on_unread(*, of_errors: bool = False) -> Iterator[None]:
    """If nobody reads what is printed any more, as after `… | head`, say so once, and print it nowhere from then on.

    `of_errors`: about what is printed on stderr, where nothing can be said of it.
    """
    try:
        yield
    except BrokenPipeError:
        print_nowhere(sys.stderr if of_errors else sys.stdout)
        if not of_errors:
            with going_on_unread(of_errors=True):
                err.print("[yellow]note:[/] nobody reads the output any more: nothing more is shown, the crawl goes on")


def print_nowhere(stream: TextIO) -> None:
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, stream.fileno())
    os.close(nowhere)


def is_terminal() -> bool:
    return sys.stdout.isatty()


def sparkline(values: list[float]) -> str:
    """Values in [0, 1] as eight heights."""
    bars = "▁▂▃▄▅▆▇█"
    return "".join(bars[min(7, max(0, int(value * 8)))] for value in values)
