"""lycosa export: what a crawl found, for other tools."""

from __future__ import annotations

from pathlib import Path

import typer

from lycosa.cli.opened import DIRECTORY, opened
from lycosa.cli.terminal import err, out, plain
from lycosa.results.archived_pages import ArchivedPages
from lycosa.results.export import Selection, selection_for
from lycosa.results.export import export as export_rows


def export(
    directory: Path = DIRECTORY,
    to: list[Path] = typer.Option(
        help="pages.jsonl, relevant-pages.jsonl, links.parquet, sites.csv: the name says what and how. May be repeated."
    ),
    relevant: bool = typer.Option(
        False, "--relevant", help="Only relevant pages; the same as a file named relevant-pages.…"
    ),
    min_relevance: float = typer.Option(
        0.0, "--min-relevance", min=0.0, max=1.0, help="Only pages with this relevance or more."
    ),
    text: bool = typer.Option(True, "--text/--no-text", help="Pages with their text, read from the archive."),
) -> None:
    """Write pages, links or sites as JSON lines, Parquet or CSV.

    lycosa export cycling/ --to pages.jsonl --relevant --min-relevance 0.7
    """
    wanted = {target: selection_for(target, Selection(relevant, min_relevance)) for target in to}
    with opened(directory) as (workspace, _, store):
        for target in to:
            texts = ArchivedPages.of_text(workspace.archive, store) if text else None
            with out.status(f"writing {plain(target)}"):
                count = export_rows(store, target, texts=texts, wanted=wanted[target])
            chosen = f" ({wanted[target]})" if str(wanted[target]) else ""
            out.print(f"{plain(target)}: {count:,} rows{chosen}")
            if texts is not None and texts.damaged:
                err.print(f"[yellow]note:[/] {texts.damaged:,} pages are without text: damaged in the archive")
