"""The table of behaviours in docs/hostile.md, with a column for each crawler."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hostile.suite.groups import GROUPS

DOCUMENT = Path(__file__).parents[3] / "docs" / "hostile.md"
BEGIN, END = "<!-- suite: begin -->", "<!-- suite: end -->"
MARKS: dict[bool | None, str] = {True: "ok", False: "defect", None: "not applicable"}


def cell(verdict: Mapping[str, Any] | None) -> str:
    if verdict is None:
        return "not run"
    mark = MARKS[verdict["is_good"]]
    return f"**{mark}**: {verdict['why']}" if verdict["is_good"] is False else mark


def rows(results: Mapping[str, Mapping[str, Any]]) -> list[str]:
    names = list(results)
    lines = []
    for group in GROUPS.values():
        lines += [f"### {group.title}", "", _line(["name", "what the server does", "what a good crawler does", *names])]
        lines.append(_line(["---"] * (3 + len(names))))
        for each in group.behaviours:
            columns = [cell(results[name].get(each.name)) for name in names]
            lines.append(_line([f"`{each.name}`", each.does, each.good, *columns]))
        lines.append("")
    return lines


def summary(results: Mapping[str, Mapping[str, Any]]) -> list[str]:
    lines = [_line(["", *MARKS.values(), "together"]), _line(["---"] * 5)]
    for name, verdicts in results.items():
        counts = [sum(each["is_good"] is good for each in verdicts.values()) for good in MARKS]
        lines.append(_line([name, *map(str, counts), str(sum(counts))]))
    return [*lines, ""]


def _line(cells: list[str]) -> str:
    return "| " + " | ".join(text.replace("|", "\\|") for text in cells) + " |"


def write(results: Mapping[str, Mapping[str, Any]]) -> None:
    text = DOCUMENT.read_text(encoding="utf-8")
    head, _, rest = text.partition(BEGIN)
    tail = rest.partition(END)[2]
    table = "\n".join([BEGIN, "", *summary(results), *rows(results)])
    DOCUMENT.write_text(f"{head}{table}{END}{tail}", encoding="utf-8")
