"""lycosa topics import: topics and examples from files, tables and bookmarks; what has a web address is fetched."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import typer
from rich.progress import Progress, TextColumn, TimeElapsedColumn

from lycosa.cli.opened import opened
from lycosa.cli.pages_by_url import fetch_pages
from lycosa.cli.settings import CONFIG, SETTING, how_to_fetch
from lycosa.cli.terminal import err, out, plain
from lycosa.cli.topic_examples import BOOK
from lycosa.errors import InputError
from lycosa.fetch.urls import parse_seed
from lycosa.judge_choice import judge_of
from lycosa.judges.classifier import Example
from lycosa.judges.taxonomy import Taxonomy, Topic
from lycosa.judges.taxonomy_file import load_taxonomy
from lycosa.lab.worlds.world import World
from lycosa.model import Page
from lycosa.results.archived_pages import ArchivedPages
from lycosa.seeds.bookmarks import Form, read_bookmarks
from lycosa.topics.book import TopicBook
from lycosa.topics.bookmarks import bookmark_topics
from lycosa.topics.importing import (
    Failure,
    Skips,
    file_examples,
    folder_examples,
    json_examples,
    label_examples,
    urls_to_fetch,
)
from lycosa.topics.rows import Added

BOOKMARKS = (".html", ".htm", ".txt")
EXIT_INTERRUPTED = 130
SHOWN = 5
"""Number of skipped examples that are named."""


def import_examples(
    source: Path = typer.Argument(
        help="A taxonomy (.toml), bookmarks as browsers export them (.html), a list of URLs (.txt), a folder of topic "
        "folders, a table of URLs and topics (.tsv), or JSON lines (.jsonl)."
    ),
    under: str = typer.Option("", "--under", help="Topic below which the folders of bookmarks become topics."),
    world: Path | None = typer.Option(None, "--world", "-w", help="World with the pages of a .tsv table."),
    crawl: Path | None = typer.Option(None, "--crawl", help="Crawl with the pages of a .tsv table."),
    split: str = typer.Option("", "--split", help="Import only JSON lines of this split, such as train."),
    offline: bool = typer.Option(False, "--offline", help="Skip examples that would have to be fetched."),
    book: Path = BOOK,
    config_file: Path | None = CONFIG,
    setting: list[str] = SETTING,
) -> None:
    """Add topics and examples to the book. What it contains already stays.

    Examples with a web address are fetched as a crawl fetches them: robots.txt, delays and the settings of --config and
    --set hold. Each is in the book as soon as it has arrived: Ctrl-C loses nothing, and the same command continues,
    trying once more what could not be fetched.
    """
    settings = how_to_fetch(config_file, setting)
    if under and not _is_bookmarks(source):
        raise InputError(f"--under {under!r}: only bookmarks are put under a topic; {source} names its topics itself")
    skips = Skips()
    wanted = _bookmarks(source, under) if _is_bookmarks(source) else {}
    with TopicBook(book) as opened_book:
        if wanted:
            opened_book.import_taxonomy(Taxonomy({path: Topic() for paths in wanted.values() for path in paths}))
            added = Added()
        elif source.suffix == ".tsv":
            added = _add_labels(opened_book, source, world, crawl, skips)
        else:
            added, wanted = _add_files(opened_book, source, split, skips)
        if offline:
            for url in wanted:
                skips.add(url, "to be fetched")
            is_whole = True
        else:
            _note_contact(settings, wanted)
            fetched, is_whole = fetch_examples(opened_book, wanted, settings, skips)
            added += fetched
        topics = len(opened_book.taxonomy())
    _report(book, topics, added, skips)
    if not is_whole:
        err.print("interrupted: what has arrived is in the book; the same command continues")
        raise typer.Exit(EXIT_INTERRUPTED)
    if wanted and not offline and sum(skips.counts.values()) and added == Added():
        raise InputError(f"{source}: none of its {len(wanted):,} addresses could be fetched; see the reasons above")


def _is_bookmarks(source: Path) -> bool:
    return source.suffix.lower() in BOOKMARKS and not source.is_dir()


def _add_files(book: TopicBook, source: Path, split: str, skips: Skips) -> tuple[Added, dict[str, tuple[str, ...]]]:
    """Add what is in files; also return what has to be fetched, with its topics."""
    if source.is_dir():
        return _add(book, folder_examples(source, skips)), {}
    if source.suffix == ".toml":
        taxonomy = load_taxonomy(source)
        book.import_taxonomy(taxonomy)
        return _add(book, file_examples(taxonomy, source.parent, skips)), urls_to_fetch(taxonomy)
    if source.suffix in (".jsonl", ".gz"):
        return _add(book, json_examples(source, skips, splits=[split] if split else ())), {}
    raise InputError(
        f"{source}: unknown format; give a .toml taxonomy, bookmarks (.html), a list of URLs (.txt), a folder, a .tsv "
        "table with --world or --crawl, or .jsonl lines"
    )


def _bookmarks(source: Path, under: str) -> dict[str, tuple[str, ...]]:
    found = read_bookmarks(source, parse=parse_seed)
    if found.form is Form.TEXT:
        raise InputError(
            f"{source}: a text, neither bookmarks nor a list of URLs; to make it an example of a topic: "
            f"lycosa topics examples TOPIC --add {source}"
        )
    dropped = [f"{count:,} {reason}" for reason, count in found.dropped.items()]
    for note in (*found.notes, *([f"skipped: {', '.join(dropped)}"] if dropped else [])):
        err.print(f"[yellow]note:[/] {plain(source)}: {plain(note)}")
    return bookmark_topics(found.entries, under)


def fetch_examples(
    book: TopicBook, wanted: Mapping[str, tuple[str, ...]], settings: Mapping[str, Any], skips: Skips
) -> tuple[Added, bool]:
    """Fetch pages by URL and put each under its topics; what is there already is not fetched again.

    Returns what was added, and whether it came to its end: False if it was interrupted.
    """
    total = Added()

    def has(url: str, topics: tuple[str, ...]) -> bool:
        return set(topics) <= {name for row in book.example_rows(source=url) for name in row.topics}

    def take(url: str, answer: Page | Failure) -> None:
        nonlocal total
        if isinstance(answer, Failure):
            skips.add(url, answer.reason)
        else:
            total += book.add_examples([Example(replace(answer, url=url), wanted[url])], makes_topics=True)

    missing = [url for url, topics in wanted.items() if not has(url, topics)]
    total += Added(duplicates=len(wanted) - len(missing))
    is_whole = fetch_pages(missing, settings, take)
    return total, is_whole


def _note_contact(settings: Mapping[str, Any], wanted: Mapping[str, tuple[str, ...]]) -> None:
    network = settings["network"]
    if wanted and not network["contact"] and not network["allow"]:
        err.print(
            "[yellow]note:[/] no contact is set; --set network.contact=you@example.org lets site owners reach you"
        )


def _report(book: Path, topics: int, added: Added, skips: Skips) -> None:
    out.print(
        f"{plain(book)}: {topics:,} topics; {added.added:,} examples added, {added.elsewhere:,} known ones put under a "
        f"further topic, {added.duplicates:,} already there, {added.empty:,} without words"
    )
    for reason, count in skips.counts.most_common():
        out.print(f"  skipped: {count:,} × {plain(reason)}")
    for name, reason in skips.first[:SHOWN]:
        out.print(f"    [dim]{plain(name, 80)}: {plain(reason)}[/]")


def _add(book: TopicBook, examples: Iterator[Example]) -> Added:
    with Progress(TextColumn("reading"), TextColumn("{task.completed:,.0f}"), TimeElapsedColumn(), console=err) as bar:
        return book.add_examples(bar.track(examples), makes_topics=True)


def _add_labels(book: TopicBook, table: Path, world: Path | None, crawl: Path | None, skips: Skips) -> Added:
    if world is not None:
        recorded = World.open(world)

        def world_page(url: str) -> Page | None:
            number = recorded.page_of(url)
            return None if number is None else recorded.page(number)

        return _add(book, label_examples(table, world_page, skips))
    if crawl is not None:
        with opened(crawl) as (workspace, config, store):
            pages = ArchivedPages(workspace.archive, store, config.reading(judge_of(config, workspace)))
            return _add(book, label_examples(table, pages.page_of, skips))
    raise InputError(f"{table}: a table has no pages: give --world FILE or --crawl DIR")
