"""The command line. Every command is a file; `main` turns errors into one line and exit code 2."""

from __future__ import annotations

import logging
import os
import sys

import typer

from lycosa import __version__
from lycosa.cli.compare import compare
from lycosa.cli.crawl import crawl
from lycosa.cli.demo import demo
from lycosa.cli.distill import distill
from lycosa.cli.evolve import evolve
from lycosa.cli.export import export
from lycosa.cli.feedback import feedback
from lycosa.cli.judge import judge
from lycosa.cli.look import explain, sql, status
from lycosa.cli.terminal import err, plain
from lycosa.cli.topics import app as topics
from lycosa.cli.world import app as world
from lycosa.errors import LycosaError

app = typer.Typer(
    name="lycosa",
    help="A focused web crawler: give it a topic and it spends its fetches where the relevant pages are.",
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command()(crawl)
app.command()(status)
app.command()(explain)
app.command()(sql)
app.command()(export)
app.command()(judge)
app.command()(feedback)
app.command()(distill)
app.command()(compare)
app.command()(evolve)
app.command()(demo)
app.add_typer(topics, name="topics")
app.add_typer(world, name="world")


def _version(wanted: bool) -> None:
    if wanted:
        print(f"lycosa {__version__}")
        raise typer.Exit


@app.callback()
def common(
    version: bool = typer.Option(False, "--version", callback=_version, is_eager=True, help="Print the version."),
    debug: bool = typer.Option(False, "--debug", help="Show the whole traceback of an error."),
) -> None:
    logging.basicConfig(level=logging.WARNING, format="%(levelname)s %(name)s: %(message)s")
    if debug or version:
        os.environ["LYCOSA_DEBUG"] = "1"


def main() -> None:
    try:
        app()
    except (LycosaError, OSError, UnicodeError) as error:
        # The last two: a path that is too long, an argument that is no text, a disk full where nobody thought of it.
        if os.environ.get("LYCOSA_DEBUG"):
            raise
        err.print(f"[red]lycosa:[/] {plain(error)}")
        sys.exit(2)
