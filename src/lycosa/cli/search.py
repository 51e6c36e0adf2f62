"""lycosa search: find pages of a crawl by the words they have."""

from __future__ import annotations

import json
from pathlib import Path

import typer
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from lycosa.cli.opened import DIRECTORY
from lycosa.cli.terminal import err, is_terminal, out, plain
from lycosa.results.search import MOST_RANKED, FoundText, SearchResults
from lycosa.results.search import search as search_pages

SHOWN_FROM = 200
"""Number of pages to be indexed from which on progress is shown."""


def search(
    directory: Path = DIRECTORY,
    words: str = typer.Argument(help='What pages should have: words, "phrases in quotes", -words that they must not.'),
    relevant: bool = typer.Option(False, "--relevant", help="Only pages that the crawl calls relevant."),
    limit: int = typer.Option(10, "--limit", "-n", help="Maximum number of pages."),
    as_json: bool = typer.Option(False, "--json", help="As JSON lines: url, title, relevance, snippet and more."),
) -> None:
    """Find pages of a crawl by the words they have.

    The best come first (BM25), each with a piece of its text in which the words are marked:

    lycosa search baltic/ 'harbour fees -marina' --relevant

    Words are found in every English form (fee, fees), without regard to case and accents; in the title they count four
    times, in the URL twice. If no page has all the words, those with some are shown, and it says so.

    The first search in a crawl indexes its pages, some hundred a second; later ones only what was fetched since, also
    while the crawl is running. Ctrl-C loses nothing. The index is search.db in the crawl's directory; it may be
    deleted.
    """
    shown = _Shown()
    try:
        found = search_pages(directory, words, relevant=relevant, limit=limit, progress=shown.tell)
    except KeyboardInterrupt:
        shown.close()
        err.print("interrupted; what is indexed stays, and the same command goes on")
        raise typer.Exit(130) from None
    finally:
        shown.close()
    if found.damaged:
        err.print(f"[yellow]note:[/] {found.damaged:,} pages are found by their titles only: damaged in the archive")
    if not found.has_ranked_all:
        err.print(
            f"[yellow]note:[/] more than {MOST_RANKED:,} pages have these words: only the {MOST_RANKED:,} whose links "
            "were found first are ranked; with more words, or rarer ones, all are"
        )
    if as_json:
        for page in found.pages:
            facts = {**page._asdict(), "has_all_words": found.has_all_words, "has_ranked_all": found.has_ranked_all}
            print(json.dumps(facts, ensure_ascii=is_terminal()))
        return
    _print(found)


def _print(found: SearchResults) -> None:
    which = f"{found.indexed:,} page{'s' * (found.indexed != 1)}"
    if not found.pages:
        out.print(f"none of {which} has these words")
        return
    if not found.has_all_words:
        out.print(f"[yellow]none of {which} has all of these words; these have some:[/]")
    for page in found.pages:
        judged = "not judged" if page.relevance is None else f"{page.relevance:.2f}"
        colour = "green" if page.is_relevant else "dim"
        out.print(f"[bold]{plain(page.title, 100) or '(no title)'}[/]  [{colour}]{judged}[/]")
        out.print(f"  {plain(page.url)}")
        if page.snippet:
            out.print(f"  {_highlighted(page)}")


def _highlighted(page: FoundText) -> str:
    """The snippet with its words in bold; safe to print."""
    parts, at = [], 0
    for start, end in page.marks:
        parts += [plain(page.snippet[at:start]), f"[bold yellow]{plain(page.snippet[start:end])}[/]"]
        at = end
    return "".join([*parts, plain(page.snippet[at:])])


class _Shown:
    """A bar on stderr while many pages are indexed."""

    def __init__(self) -> None:
        columns = (TextColumn("indexing"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
        self._bar = Progress(*columns, console=err, transient=True, disable=not err.is_terminal)
        self._task = None if not err.is_terminal else self._bar.add_task("", total=None)
        self._is_open = False

    def tell(self, done: int, total: int) -> None:
        if total < SHOWN_FROM:
            return
        if not self._is_open:
            self._is_open = True
            self._bar.start()
            if not err.is_terminal:
                err.print(f"indexing {total:,} pages …")
        if self._task is not None:
            self._bar.update(self._task, completed=done, total=total)

    def close(self) -> None:
        if self._is_open:
            self._bar.stop()
