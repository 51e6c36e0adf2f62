"""lycosa mcp: crawls as tools for assistants that speak the Model Context Protocol."""

from __future__ import annotations

from pathlib import Path

import typer

MOST_PAGES = 500


def mcp(
    folder: Path = typer.Argument(Path(), help="The folder with crawls; each of its directories is one."),
    allow_crawls: bool = typer.Option(
        False, "--allow-crawls", help="Let the assistant start and stop crawls; otherwise it can only read."
    ),
    most_pages: int = typer.Option(MOST_PAGES, "--most-pages", min=1, help="Limit on the pages of a crawl it starts."),
) -> None:
    """Serve crawls to an assistant, on standard input and output (Model Context Protocol).

    It can list crawls, see how they stand, search them, read pages and ask why a page is there. With --allow-crawls it
    can also start crawls, with the settings that LYCOSA_CONFIG names, and stop them.

    An assistant is told of it like this:

    {"mcpServers": {"lycosa": {"command": "lycosa", "args": ["mcp", "/home/me/crawls"]}}}
    """
    from lycosa.mcp.server import serve

    serve(folder, most_pages=most_pages if allow_crawls else 0)
