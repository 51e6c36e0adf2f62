"""What goes to the terminal. Text from the web is hostile there too: it could move the cursor or set titles."""

from __future__ import annotations

import json
import sys

from rich.console import Console
from rich.markup import escape

out = Console(highlight=False, soft_wrap=True, emoji=False)
err = Console(stderr=True, highlight=False, soft_wrap=True, emoji=False)


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


def is_terminal() -> bool:
    return sys.stdout.isatty()


def sparkline(values: list[float]) -> str:
    """Values in [0, 1] as eight heights."""
    bars = "▁▂▃▄▅▆▇█"
    return "".join(bars[min(7, max(0, int(value * 8)))] for value in values)
