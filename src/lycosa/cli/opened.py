"""A crawl that a command looks at, also while it runs."""

from __future__ import annotations

import typer

from lycosa.opened import opened

__all__ = ["DIRECTORY", "opened"]

DIRECTORY = typer.Argument(help="The crawl's directory.")
