"""lycosa explain: why a URL was fetched, skipped or left waiting."""

from __future__ import annotations

from pathlib import Path

import typer
from rich.table import Table

from lycosa.cli.opened import DIRECTORY
from lycosa.cli.terminal import json_line, out, plain
from lycosa.explaining import explanation_in


def explain(
    directory: Path = DIRECTORY,
    url: str = typer.Argument(help="Any URL, also one that was never fetched."),
    as_json: bool = typer.Option(False, "--json", help="As JSON: a list of [heading, text]."),
) -> None:
    """Why a URL was fetched, skipped or left waiting: its origin, score, fetches, judgement.

    In a crawl with hard focus, decay or tunnelling: also the rule that let it in, moved it or turned it away.
    """
    facts = explanation_in(directory, url)
    if as_json:
        print(json_line(facts))
        return
    table = Table(box=None, pad_edge=False, show_header=False)
    table.add_column(style="dim", no_wrap=True)
    table.add_column(overflow="fold")
    for heading, text in facts:
        table.add_row(heading, plain(text))
    out.print(plain(url), style="bold")
    out.print(table)
