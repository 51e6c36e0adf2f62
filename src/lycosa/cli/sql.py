"""lycosa sql: ask a crawl's database."""

from __future__ import annotations

import csv
import sys
from itertools import islice
from pathlib import Path

import typer
from rich.table import Table

from lycosa.cli.opened import DIRECTORY, opened
from lycosa.cli.terminal import is_terminal, json_line, out, plain, printable
from lycosa.results.export import harmless


def sql(
    directory: Path = DIRECTORY,
    query: str = typer.Argument(help="A query over the tables of docs/schema.md: 'select * from sites'."),
    form: str = typer.Option(
        "", "--format", "-f", help="table (default in a terminal), csv (default elsewhere), json."
    ),
    limit: int = typer.Option(1000, "--limit", help="Rows shown in a table."),
    seconds: float = typer.Option(300.0, "--seconds", min=0.0, help="Give up after this time; 0 means never."),
) -> None:
    """Ask the crawl's database. Reading only: nothing can be changed here.

    Ctrl-C ends a query that takes too long.
    """
    with opened(directory, over_shards=True) as (_, _, store):
        store.limit(seconds=seconds, hint=", or give it longer with --seconds")
        names, rows = store.query(query)
        form = form or ("table" if is_terminal() else "csv")
        if form == "json":
            for row in rows:
                print(json_line(dict(zip(names, row, strict=True))))
        elif form == "csv":
            writer = csv.writer(sys.stdout)
            writer.writerow([_cell(name) for name in names])
            for row in rows:
                writer.writerow([_cell(cell) for cell in row])
        elif form == "table":
            table = Table(*(plain(name) for name in names), box=None, pad_edge=False, header_style="bold")
            for row in islice(rows, limit):
                table.add_row(*(plain(value, 120) for value in row))
            out.print(table)
            if next(rows, None) is not None:
                out.print(f"[dim]only the first {limit:,} rows; more with --limit, or --format csv[/]")
        else:
            raise typer.BadParameter(f"{form!r} is not a format: table, csv or json", param_hint="--format")


def _cell(value: object) -> object:
    """As the web sent it, but no formula to a spreadsheet; in a terminal, without control characters."""
    if not isinstance(value, str):
        return value
    return harmless(printable(value) if is_terminal() else value)
