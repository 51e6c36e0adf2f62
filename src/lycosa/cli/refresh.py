"""lycosa refresh: look again at the pages of a crawl."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import typer

from lycosa.cli.opened import DIRECTORY
from lycosa.cli.progress import Lines
from lycosa.cli.runs import leave, start
from lycosa.cli.settings import SETTING, parse_setting
from lycosa.cli.shown_pages import OnlyPages, Show
from lycosa.cli.terminal import going_on_unread, out, plain
from lycosa.crawl.refresh import LIKELY, RefreshPlan
from lycosa.engine import Crawl
from lycosa.errors import ConfigError, InputError
from lycosa.store.opening import require_postgres

UNITS = {"s": 1.0, "m": 60.0, "h": 3600.0, "d": 86_400.0, "w": 7 * 86_400.0}
_AGE = re.compile(r"([0-9]+(?:\.[0-9]+)?)\s*([smhdw])")


def refresh(
    directory: Path = DIRECTORY,
    older: str = typer.Option("", "--older", help="Only pages not looked at for this long: 12h, 7d, 4w."),
    requests: int = typer.Option(
        0,
        "--requests",
        "-n",
        min=0,
        help="Look at this many pages at most: those that most likely changed. 0: all due.",
    ),
    new: int = typer.Option(100, "--new", min=0, help="Fetch at most this many links that are new on these pages."),
    is_all: bool = typer.Option(
        False, "--all", help="Also pages that are neither relevant nor hubs, which cite relevant ones."
    ),
    order: str = typer.Option(
        LIKELY, "--order", help="likely: hubs, then by the chance of a change; oldest: by the time of the last look."
    ),
    minutes: float | None = typer.Option(None, "--minutes", help="Stop after this many minutes."),
    cluster: int = typer.Option(
        0, "--cluster", min=0, help="Of a cluster's crawl: look with this many crawlers on Ray, all shards together."
    ),
    ray: str = typer.Option("", "--ray", help="A Ray cluster: ray://host:10001. Without it, one is started here."),
    setting: list[str] = SETTING,
    as_json: bool = typer.Option(False, "--json", help="Progress and summary as JSON lines."),
    quiet: bool = typer.Option(False, "--quiet", "-q", help="No progress, no summary."),
) -> None:
    """Look again at the pages of a crawl: what changed, what is gone, what is new on hubs.

    Requests are conditional: a server that knows what we have answers "not modified", and nothing is sent. Pages that
    changed are read and judged anew, and archived beside their older versions; pages that are gone are marked, never
    deleted (lycosa sql DIR "select * from gone_pages"). Links that are new on these pages are fetched, too.

    How often each page changes is learned from looking: with --requests, those come first that most likely changed.
    lycosa explain DIR URL shows a page's history. Run it from cron or a systemd timer: docs/refresh.md has both.

    Ctrl-C loses nothing; the crawl itself goes on as before with lycosa crawl.
    """
    plan = RefreshPlan(older=age(older), requests=requests, new=new, is_all=is_all, order=order)
    crawl = Crawl(directory=directory, layers=[("--set", parse_setting(text)) for text in setting])
    if not cluster:
        if crawl.workspace.has_shards:
            raise ConfigError(
                f"{directory}: the crawl of a cluster; say by how many crawlers: lycosa refresh {directory} --cluster 2"
            )
        if ray:
            raise ConfigError("--ray is for the crawl of a cluster: give the number of crawlers, too: --cluster 2")
        watcher = OnlyPages(Show.NONE, as_json=as_json) if quiet else Lines(as_json=as_json)
        report = start(lambda: crawl.refresh(plan, minutes=minutes, watcher=watcher))
    else:
        require_postgres()
        from lycosa.cli.clustered import refresh_cluster

        report = start(
            lambda: refresh_cluster(
                crawl, plan, minutes=minutes, crawlers=cluster, ray=ray, as_json=as_json, quiet=quiet
            )
        )
    if not quiet:
        with going_on_unread():
            if as_json:
                print(json.dumps({"event": "end", "stop_reason": report.reason, "directory": str(directory)}))
            else:
                out.print(plain(report.reason))
            sys.stdout.flush()
    leave(report)


def age(text: str) -> float:
    """`7d` in seconds; 0 if nothing is said."""
    if not text:
        return 0.0
    matched = _AGE.fullmatch(text.strip().lower())
    if matched is None:
        raise InputError(f"--older {text!r}: write a number and a unit, such as 12h, 7d or 4w")
    return float(matched[1]) * UNITS[matched[2]]
