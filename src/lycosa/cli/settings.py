"""Settings on the command line: a TOML file (--config), single ones (--set), and those by which pages are fetched."""

from __future__ import annotations

import json
import os
import tomllib
from pathlib import Path
from typing import Any

import typer

from lycosa.cli import completion
from lycosa.config import Layer, build, load_file
from lycosa.errors import InputError

CONFIG = typer.Option(None, "--config", "-c", envvar="LYCOSA_CONFIG", help="A TOML file of settings.")
SETTING = typer.Option(
    [],
    "--set",
    help="Any setting: --set politeness.max_tries=5. May be given several times.",
    autocompletion=completion.settings,
)
HOW_TO_FETCH = (
    "cache",
    "network",
    "access",
    "politeness",
    "robots",
    "urls",
    "fetch",
    "http",
    "decode",
    "page",
    "readers",
)
"""The settings of a crawl that hold wherever pages are fetched."""


def split_setting(text: str) -> tuple[str, Any]:
    """`politeness.delay=2` as a name and a value; what is not JSON is text."""
    key, sign, value = text.partition("=")
    if not sign or not key.strip():
        raise InputError(f"--set {text!r}: write section.name=value, such as --set politeness.delay=2")
    try:
        return key.strip(), json.loads(value)
    except json.JSONDecodeError:
        return key.strip(), value


def parse_setting(text: str) -> dict[str, Any]:
    """`politeness.delay=2` as nested dictionaries."""
    key, value = split_setting(text)
    section, dot, name = key.partition(".")
    return {section: {name: value}} if dot else {section: value}


def how_to_fetch(
    config_file: Path | None = None, setting: list[str] | None = None, *earlier: Layer
) -> dict[str, dict[str, Any]]:
    """The effective settings for fetching pages, by section; what else the file and the options set is checked only.

    `earlier`: settings that hold unless the file or an option says otherwise. The contact of LYCOSA_CONTACT holds, too.
    """
    layers = list(earlier)
    if config_file is not None:
        layers.append((str(config_file), load_file(config_file)))
    if contact := os.environ.get("LYCOSA_CONTACT"):
        layers.append(("LYCOSA_CONTACT", {"network": {"contact": contact}}))
    layers += [("--set", parse_setting(text)) for text in setting or []]
    effective = tomllib.loads(build(*layers).to_toml())
    return {name: part for name, part in effective.items() if name in HOW_TO_FETCH}
