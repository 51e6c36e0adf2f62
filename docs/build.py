"""Writes docs/settings.md from the settings classes: names, defaults, and the text that stands below each field."""

from __future__ import annotations

import ast
import dataclasses
import inspect
import sys
import textwrap
from pathlib import Path
from typing import Any

from lycosa.config import Config

PAGE = Path(__file__).with_name("settings.md")
HEAD = """# Settings

Each section of `lycosa.toml` configures one part. Give any setting on the command line with
`--set section.name=value`, or in a file with `--config FILE`. A crawl's own `lycosa.toml` holds what is in force;
the order of precedence is defaults, the crawl's `lycosa.toml`, `--config`, options, `--set`. An unknown name is an
error.

This page is made by `make docs` from the settings classes.
"""


def page() -> str:
    config = Config()
    top = [name for name in Config.model_fields if not dataclasses.is_dataclass(getattr(config, name))]
    parts = [HEAD, "## (top level)\n", _table(Config, {name: getattr(config, name) for name in top})]
    for name in Config.model_fields:
        section = getattr(config, name)
        if not dataclasses.is_dataclass(section):
            continue
        fields = {item.name: getattr(section, item.name) for item in dataclasses.fields(section)}
        parts.append(f"## [{name}]\n\n{_purpose(type(section))}\n")
        parts.append(_table(type(section), fields))
    return "\n".join(part.rstrip("\n") + "\n" for part in parts)


def _purpose(owner: type[Any]) -> str:
    text = inspect.getdoc(owner) or ""
    assert not text.startswith(f"{owner.__name__}("), f"{owner.__name__} has no docstring"
    return text


def _table(owner: type[Any], fields: dict[str, Any]) -> str:
    texts = _texts(owner)
    rows = ["| setting | default | |", "|---|---|---|"]
    rows += [f"| {name} | {_value(value)} | {texts[name]} |" for name, value in fields.items()]
    return "\n".join(rows) + "\n"


def _texts(owner: type[Any]) -> dict[str, str]:
    """The string below each field of a class, inherited ones too."""
    texts: dict[str, str] = {}
    for base in owner.__bases__:
        if dataclasses.is_dataclass(base):
            texts |= _texts(base)
    tree = ast.parse(textwrap.dedent(inspect.getsource(owner))).body[0]
    assert isinstance(tree, ast.ClassDef)
    for field, text in zip(tree.body, tree.body[1:], strict=False):
        if isinstance(field, ast.AnnAssign) and isinstance(text, ast.Expr) and isinstance(text.value, ast.Constant):
            assert isinstance(field.target, ast.Name)
            texts[field.target.id] = " ".join(str(text.value.value).split()).replace("|", "\\|")
    return texts


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
