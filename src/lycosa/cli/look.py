"""lycosa status, explain, sql: look at a crawl, also while it runs."""

from __future__ import annotations

import csv
import json
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path

import numpy as np
import typer
from rich.table import Table

from lycosa.cli.terminal import is_terminal, out, plain, printable
from lycosa.config import Config, build, load_crawl
from lycosa.fetch.urls import Urls
from lycosa.judge_choice import judge_of
from lycosa.results.explain import explain as explain_url
from lycosa.stopping.outlook import OUTLOOK
from lycosa.store.rows import RunRow
from lycosa.store.sqlite import SqliteStore
from lycosa.strategies.protocol import StrategyParts
from lycosa.strategies.table import strategy as strategy_named
from lycosa.workspace import Workspace

DIRECTORY = typer.Argument(help="The crawl's directory.")


@contextmanager
def opened(directory: Path) -> Iterator[tuple[Workspace, Config, SqliteStore]]:
    """A crawl, for reading only."""
    workspace = Workspace.existing(directory)
    config = build((str(workspace.config), load_crawl(workspace.config, is_begun=True)))
    store = SqliteStore(workspace.database, read_only=True)
    try:
        yield workspace, config, store
    finally:
        store.close()


def status(
    directory: Path = DIRECTORY, as_json: bool = typer.Option(False, "--json", help="As one JSON object.")
) -> None:
    """Where a crawl stands: pages, harvest rate, what happened, what waits."""
    with opened(directory) as (workspace, config, store):
        totals = store.totals()
        recent = store.recent_relevance(1000)
        run = store.last_run()
        outcomes = store.outcome_counts(15)
        excluded = store.exclusions(15)
        set_aside = store.hosts_set_aside(10)
        outlook = json.loads(store.state(OUTLOOK) or "{}")
    harvest = totals.relevant / max(1, totals.pages)
    harvest_recent = sum(relevant for _, relevant in recent) / max(1, len(recent))
    if as_json:
        figures = {
            "topic": config.topic,
            "strategy": config.strategy,
            "pages": totals.pages,
            "relevant": totals.relevant,
            "harvest": round(harvest, 4),
            "harvest_1000": round(harvest_recent, 4),
            "links": totals.links,
            "waiting": totals.waiting,
            "forecast": outlook.get("forecast"),
            "calibration": outlook.get("calibration"),
            "is_running": workspace.holder() is not None,
            "stop_reason": run.stop_reason if run else None,
            "outcomes": [{"kind": kind, "reason": reason, "count": count} for kind, reason, count in outcomes],
            "excluded": excluded,
            "set_aside": set_aside,
        }
        print(json.dumps(figures))
        return
    out.print(f"[bold]{plain(config.title)}[/]  ({plain(config.strategy)})")
    out.print(_run_line(workspace, run))
    out.print(
        f"{totals.pages:,} pages of {config.budget.pages:,}, [green]{totals.relevant:,} relevant[/]: harvest rate "
        f"{harvest:.1%}, last 1,000 {harvest_recent:.1%}"
    )
    out.print(f"{totals.links:,} URLs seen, {totals.waiting:,} wait")
    for line in outlook.get("words", []):
        out.print(plain(line, 300))
    _table("what happened", [(f"{kind}: {reason}", f"{count:,}") for kind, reason, count in outcomes])
    _table("left out", [(reason, f"{count:,}") for reason, count in excluded.items()])
    _table("hosts set aside", list(set_aside.items()))


def _run_line(workspace: Workspace, run: RunRow | None) -> str:
    if run is None:
        return "never run"
    since = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(run.started_at))
    holder = workspace.holder()
    if holder is not None:
        return f"running since {since} (process {holder})"
    if run.stop_reason is None:
        return f"cut off: the run of {since} was killed or met an error; the same command goes on from its last commit"
    return f"stopped: {plain(run.stop_reason)} (run of {since})"


def _table(title: str, rows: list[tuple[str, str]]) -> None:
    if not rows:
        return
    table = Table(box=None, pad_edge=False, show_header=False, title=title, title_justify="left", title_style="dim")
    for name, value in rows:
        table.add_row(plain(name, 60), plain(value, 100))
    out.print(table)


def explain(
    directory: Path = DIRECTORY,
    url: str = typer.Argument(help="Any URL, also one that was never fetched."),
    as_json: bool = typer.Option(False, "--json", help="As JSON: a list of [heading, text]."),
) -> None:
    """Why a URL was fetched, skipped or left waiting: its origin, score, fetches, judgement."""
    with opened(directory) as (workspace, config, store):
        parts = StrategyParts.of(judge_of(config, workspace).abilities, rng=np.random.default_rng(config.seed))
        strategy = strategy_named(config.strategy, parts, config.constants)
        facts = list(explain_url(store, url, urls=Urls(config.urls), strategy=strategy))
    if as_json:
        print(json.dumps(facts, ensure_ascii=is_terminal()))
        return
    table = Table(box=None, pad_edge=False, show_header=False)
    table.add_column(style="dim", no_wrap=True)
    table.add_column(overflow="fold")
    for heading, text in facts:
        table.add_row(heading, plain(text))
    out.print(plain(url), style="bold")
    out.print(table)


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
