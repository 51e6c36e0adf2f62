"""lycosa export: what a crawl found, for other tools."""

from __future__ import annotations

from pathlib import Path

import typer
from rich.status import Status

from lycosa.cli.opened import DIRECTORY, opened
from lycosa.cli.terminal import err, is_terminal, out, plain
from lycosa.errors import InputError
from lycosa.results.archived_pages import ArchivedPages
from lycosa.results.export import export as export_rows
from lycosa.results.export import selection_for
from lycosa.results.page_rows import Selection
from lycosa.usage import PURPOSES

SHOWN_EVERY = 20
"""Rows between two figures of progress."""


def export(
    directory: Path = DIRECTORY,
    to: list[Path] = typer.Option(
        ...,
        "--to",
        "-o",
        help="corpus.jsonl, corpus.parquet, corpus/ (a folder of Markdown files), corpus.wacz, corpus.cdxj; "
        "relevant-pages.csv, links.parquet, sites.csv: the name says what and how. May be repeated.",
    ),
    relevant: bool = typer.Option(
        False, "--relevant", help="Only relevant pages; the same as a file named relevant-pages.…"
    ),
    min_relevance: float = typer.Option(
        0.0, "--min-relevance", min=0.0, max=1.0, help="Only pages with this relevance or more."
    ),
    distinct: bool = typer.Option(
        False, "--distinct", help="Of pages with nearly the same text, only the first that was fetched."
    ),
    purpose: str = typer.Option(
        "", "--for", help=f"Leave out pages whose owners forbid this use: {', '.join(PURPOSES)} (docs/access.md)."
    ),
    text: bool = typer.Option(
        True, "--text/--no-text", help="Pages with text, Markdown and what they say of themselves, from the archive."
    ),
) -> None:
    """Write what a crawl found for other tools: a corpus of pages, links, or sites.

    lycosa export cycling/ --relevant --distinct --to corpus.jsonl

    lycosa export cycling/ --relevant --to corpus/

    Pages come with their main text, without menus and footers, as plain text and as Markdown; with author, dates and
    licence, if they say so; and with the cluster of pages that are nearly the same. A target appears when it is
    complete; Ctrl-C leaves what was there before.
    """
    if purpose and purpose not in PURPOSES:
        raise InputError(f"--for {purpose}: owners of pages speak of {', '.join(PURPOSES)}")
    wanted = {target: selection_for(target, Selection(relevant, min_relevance, distinct, purpose)) for target in to}
    with opened(directory, over_shards=True) as (workspace, config, store):
        token = config.robots.product_token
        pages = store.totals().pages
        for target in to:
            texts = ArchivedPages.of_text(workspace.archive, store, product_token=token) if text else None
            with out.status(f"writing {plain(target)}") as status:

                def watch(count: int, target: Path = target, status: Status = status) -> None:
                    if is_terminal() and count % SHOWN_EVERY == 0:
                        status.update(f"writing {plain(target)}: {count:,} rows; {pages:,} pages were fetched")

                count = export_rows(store, target, texts=texts, wanted=wanted[target], watch=watch)
            chosen = f" ({wanted[target]})" if str(wanted[target]) else ""
            out.print(f"{plain(target)}: {count:,} rows{chosen}")
            if texts is not None and texts.damaged:
                err.print(f"[yellow]note:[/] {texts.damaged:,} pages are without text: damaged in the archive")
