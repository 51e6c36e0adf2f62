"""The command line: words on a terminal. Every command is a file, loaded when it is used.

    crawl, refresh, status, explain, search, sql, export, check, move, judge, feedback, review, dashboard, mcp,
    distill, compare, evolve, demo, doctor, signing
                            a command each
    topics, topic_import, topic_examples, topic_explore
                            lycosa topics …: the tree and training; examples from elsewhere; documents and examples;
                            pages near them
    world                   lycosa world …
    evolve_results          what lycosa evolve shows and writes at the end
    spreading               --processes and --cluster of compare and evolve
    opened                  a crawl that a command looks at
    pages_by_url            pages of given URLs, fetched by a crawl of their own; fetch_progress shows how far it is
    taking_over             what follows from what a person has said of pages
    settings, scope         --config and --set; --site, --under and others that limit a crawl
    runs                    a run of a crawl, and the exit code with which it ends
    access                  --proxy, --logins, --cookies, --header
    dialogue, keys          questions to a person, and what is pressed
    progress, shown_pages   how a running crawl shows itself; pages shown as they are found
    clustered               lycosa crawl --cluster: a crawl by several crawlers
    completion              what the shell completes
    terminal                what may go to a terminal

`main` turns errors into one line and exit code 2.
"""

from __future__ import annotations

import importlib
import logging
import os
import sys
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command

from lycosa import __version__
from lycosa.errors import LycosaError
from lycosa.lib.nearest import did_you_mean

HELP = {"help_option_names": ["-h", "--help"]}
STYLE: dict[str, Any] = {"rich_markup_mode": "markdown", "pretty_exceptions_enable": False}
COMMANDS = {
    "crawl": "Crawl the web for pages on a topic.",
    "refresh": "Look again at the pages of a crawl: what changed, what is gone, what is new on hubs.",
    "status": "Where a crawl stands: pages, harvest rate, what happened, what waits.",
    "explain": "Why a URL was fetched, skipped or left waiting: its origin, score, fetches, judgement.",
    "search": "Find pages of a crawl by the words they have.",
    "sql": "Ask the crawl's database. Reading only: nothing can be changed here.",
    "export": "Write what a crawl found for other tools: a corpus of pages, links, or sites.",
    "check": "Whether a crawl's database and archive are whole and agree.",
    "move": "Move what a crawl knows from a file to PostgreSQL, from there to another database, or back.",
    "judge": "Score documents as a crawl would: relevance, topics, and the words that speak for and against.",
    "feedback": "Say which pages of a crawl are useful and which are not: the judge learns from it.",
    "review": "Answer a few questions about pages: is this one? The judge learns from each answer.",
    "dashboard": "See crawls and steer them in a browser.",
    "mcp": "Serve crawls to an assistant, on standard input and output (Model Context Protocol).",
    "distill": "Print the top hubs and authorities of a crawl, and the sites that specialise in its topic.",
    "compare": "Compare crawl strategies on a recorded web, where it is known which pages are relevant.",
    "evolve": "Evolve a crawl strategy on a recorded web, on which labels or a judge say which pages are good.",
    "doctor": "Whether everything a crawl needs is there: versions, network, names, disk, extras, browser.",
    "signing": "Make the key that requests are signed with, and print what sites need to check it.",
    "demo": "Watch a focused crawl beat breadth-first on a generated web.",
    "topics": "Manage the topics to crawl for: a tree, examples, and judges trained on them.",
    "world": "Recorded webs to replay crawls on.",
}
"""Each command's first line of help; the command itself is in the module of that name."""


class LazyCommands(TyperGroup):
    """Loads the command that is called, and no other: what crawling needs takes half a second to import."""

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ARG002 - whatever the context
        return list(COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:  # noqa: ARG002
        """Enough for the list of commands."""
        return TyperCommand(cmd_name, help=COMMANDS[cmd_name]) if cmd_name in COMMANDS else None

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        name, *rest = args
        if name not in COMMANDS:
            ctx.fail(f"there is no command {name!r}: {did_you_mean(name, COMMANDS)}{ctx.command_path} --help lists all")
        return name, load_command(name), rest


def load_command(name: str) -> Any:
    """The command of this name, or the group of commands."""
    module = importlib.import_module(f"lycosa.cli.{name}")
    group: typer.Typer | None = getattr(module, "app", None)
    if group is None:
        group = typer.Typer(context_settings=HELP, add_completion=False, **STYLE)
        group.command(name)(getattr(module, name))
    loaded = get_command(group)
    loaded.name = name
    return loaded


app = typer.Typer(
    name="lycosa",
    cls=LazyCommands,
    help="A focused web crawler: give it a topic and it spends its fetches where the relevant pages are.",
    no_args_is_help=True,
    context_settings=HELP,
    **STYLE,
)


def _version(wanted: bool) -> None:
    if wanted:
        print(f"lycosa {__version__}")
        raise typer.Exit


_is_debugging = False
"""Whether an error is shown with its traceback."""


@app.callback()
def common(
    version: bool = typer.Option(  # noqa: ARG001 - its callback has done it
        False, "--version", callback=_version, is_eager=True, help="Print the version."
    ),
    debug: bool = typer.Option(False, "--debug", help="Show the whole traceback of an error."),
) -> None:
    logging.basicConfig(level=logging.WARNING, format="%(levelname)s %(name)s: %(message)s")
    global _is_debugging
    _is_debugging = debug


def main() -> None:
    try:
        app()
    except BrokenPipeError:  # … | head: whoever read has read enough
        from lycosa.cli.terminal import print_nowhere

        print_nowhere(sys.stdout)
        sys.exit(1)
    except (LycosaError, OSError, UnicodeError) as error:
        # The last two: a path that is too long, an argument that is no text, a full disk where nobody expected it.
        if _is_debugging or os.environ.get("LYCOSA_DEBUG"):
            raise
        from lycosa.cli.terminal import err, plain

        err.print(f"[red]lycosa:[/] {plain(error)}")
        sys.exit(2)
