"""lycosa doctor: whether everything a crawl needs is there."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import typer
from rich.table import Table

from lycosa.cli.access import COOKIES, LOGINS, PROXY, access
from lycosa.cli.settings import CONFIG, SETTING, parse_setting
from lycosa.cli.terminal import out, plain
from lycosa.config import Layer, build, load_file
from lycosa.doctor import Finding, Health, examine, is_healthy

COLOURS = {Health.FINE: "green", Health.NOTE: "yellow", Health.BAD: "red"}


def doctor(
    directory: Path = typer.Argument(Path(), help="Where a crawl is, or would be."),
    offline: bool = typer.Option(False, "--offline", help="Do not try the network."),
    proxy: str | None = PROXY,
    logins: Path | None = LOGINS,
    cookies: Path | None = COOKIES,
    config_file: Path | None = CONFIG,
    setting: list[str] = SETTING,
    as_json: bool = typer.Option(False, "--json", help="As JSON lines."),
) -> None:
    """Whether everything a crawl needs is there: versions, network, names, disk, extras, browser.

    Looks up a name and fetches one page (example.org), as a crawl would with these settings. Exit code 1 if something
    is bad; notes are for whoever wants what they tell of.
    """
    given: dict[str, Any] = {name: value for name, value in access(proxy, logins, cookies, []).items() if value}
    layers: list[Layer] = [(str(config_file), load_file(config_file))] if config_file else []
    layers += [("command line", {"access": given}), *(("--set", parse_setting(text)) for text in setting)]
    findings = []
    for finding in examine(build(*layers), directory, is_online=not offline):
        findings.append(finding)
        if as_json:
            print(json.dumps(finding._asdict()), flush=True)
    if not as_json:
        _show(findings)
    if not is_healthy(findings):
        raise typer.Exit(1)


def _show(findings: list[Finding]) -> None:
    table = Table(box=None, pad_edge=False, show_header=False)
    table.add_column(no_wrap=True)
    table.add_column(no_wrap=True, style="dim")
    table.add_column(overflow="fold")
    for subject, health, words in findings:
        table.add_row(f"[{COLOURS[health]}]{health}[/]", plain(subject), plain(words))
    out.print(table)
