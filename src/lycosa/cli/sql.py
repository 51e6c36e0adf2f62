"""lycosa sql: ask a crawl's database."""

from __future__ import annotations

import csv
import json
import sys
from itertools import islice
from pathlib import Path

import typer
from rich.table import Table

from lycosa.cli.opened import DIRECTORY, opened
from lycosa.cli.terminal import is_terminal, out, plain, printable


def sql(
    directory: Path = DIRECTORY,
    query: str = typer.Argument(help="A query over the tables of docs/schema.md: 'select * from sites'."),
    form: str = typer.Option(
        "", "--format", "-f", help="table (default in a terminal), csv (default elsewhere), json."
    ),
    limit: int = typer.Option(1000, "--limit", help="Rows shown in a table."),
) -> None:
    """Ask the crawl's database. Reading only: nothing can be changed here."""
    with opened(directory) as (_, _, store):
        names, rows = store.query(query)
        form = form or ("table" if is_terminal() else "csv")
        if form == "json":
            for row in rows:
                print(json.dumps(dict(zip(names, row, strict=True)), ensure_ascii=is_terminal(), default=str))
        elif form == "csv":
            writer = csv.writer(sys.stdout)
            writer.writerow(names)
            is_shown = is_terminal()  # elsewhere, the very bytes the web sent
            for row in rows:
                writer.writerow([printable(cell) if is_shown and isinstance(cell, str) else cell for cell in row])
        elif form == "table":
            table = Table(*(plain(name) for name in names), box=None, pad_edge=False, header_style="bold")
            for row in islice(rows, limit):
                table.add_row(*(plain(value, 120) for value in row))
            out.print(table)
            if next(rows, None) is not None:
                out.print(f"[dim]only the first {limit:,} rows; more with --limit, or --format csv[/]")
        else:
            raise typer.BadParameter(f"{form!r} is not a format: table, csv or json", param_hint="--format")
