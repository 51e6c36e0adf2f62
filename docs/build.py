"""Writes docs/settings.md from the settings classes: names, defaults, and the text that stands below each field."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from lycosa.settings_texts import Section, sections

PAGE = Path(__file__).with_name("settings.md")
HEAD = """# Settings

Each section of `lycosa.toml` configures one part. Give any setting on the command line with
`--set section.name=value`, or in a file with `--config FILE`. A crawl's own `lycosa.toml` holds what is in force;
the order of precedence is defaults, the crawl's `lycosa.toml`, `--config`, options, `--set`. An unknown name is an
error.

This page is made by `make docs` from the settings classes.
"""


def page() -> str:
    top, *named = sections()
    parts = [HEAD, "## (top level)\n", _table(top)]
    for section in named:
        parts += [f"## [{section.name}]\n\n{section.purpose}\n", _table(section)]
    return "\n".join(part.rstrip("\n") + "\n" for part in parts)


def _table(section: Section) -> str:
    rows = ["| setting | default | |", "|---|---|---|"]
    for name, default, text in section.settings:
        rows.append(f"| {name} | {_value(default)} | {text.replace('|', chr(92) + '|')} |")
    return "\n".join(rows) + "\n"


def _value(value: Any) -> str:
    if isinstance(value, (frozenset, tuple, dict, list)) and len(value) > 6:
        return f"{len(value)} entries"
    if isinstance(value, (frozenset, set)):
        value = sorted(value)
    return f"`{list(value) if isinstance(value, tuple) else value!r}`"


if __name__ == "__main__":
    if "--check" in sys.argv:
        sys.exit(0 if PAGE.read_text(encoding="utf-8") == page() else "docs/settings.md is out of date: run make docs")
    PAGE.write_text(page(), encoding="utf-8")
    print(f"wrote {PAGE}")
