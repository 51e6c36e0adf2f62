"""lycosa topics: show, add, remove and suggest examples."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import typer
from rich.table import Table

from lycosa.cli.pages_by_url import pages_by_url
from lycosa.cli.settings import CONFIG, SETTING, how_to_fetch
from lycosa.cli.terminal import err, out, plain
from lycosa.errors import InputError
from lycosa.fetch.urls import parse_seed
from lycosa.judges.classifier import Example
from lycosa.model import Page
from lycosa.seeds.bookmarks import read_bookmarks
from lycosa.topics.book import TopicBook
from lycosa.topics.importing import (
    Skips,
    fetched_pages,
    file_page,
    text_page,
)
from lycosa.topics.judges import current_places, load_classifier, update_judge
from lycosa.topics.suggest import Fits, PageFit, fitting_topics

BOOK = typer.Option(Path("topics.db"), "--book", "-b", envvar="LYCOSA_TOPICS", help="Topic book file.")


def existing_book(book: Path) -> TopicBook:
    """Open a book without creating one, as a misspelt name would."""
    if not book.exists():
        raise InputError(
            f"{book}: there is no topic book; create one with: lycosa topics import, or lycosa topics add, "
            "or name another with --book"
        )
    return TopicBook(book)


def examples(
    topic: str = typer.Argument(help="The topic."),
    add_: list[str] = typer.Option([], "--add", help="A URL or file to add. Repeatable."),
    remove_: list[str] = typer.Option([], "--remove", help="Number or URL of an example to remove. Repeatable."),
    count: int = typer.Option(20, "--count", "-n", help="Number of examples to show."),
    book: Path = BOOK,
    config_file: Path | None = CONFIG,
    setting: list[str] = SETTING,
) -> None:
    """Show, add or remove a topic's examples.

    URLs are fetched as a crawl fetches them, with the same settings (--config, --set).
    """
    with TopicBook(book) as opened_book:
        path = opened_book.taxonomy().resolve(topic)
        if add_:
            skips = Skips()
            settings = how_to_fetch(config_file, setting)
            pages = [Example(page, (path,)) for page in _pages_of(add_, skips, settings)]
            known = {number for page, _ in pages for number in _ids_from(opened_book, page.url)}
            added = opened_book.add_examples(pages)
            fresh = [number for page, _ in pages for number in _ids_from(opened_book, page.url) if number not in known]
            report_update(opened_book, [], opened_book.examples_numbered(fresh))
            out.print(f"{added.added + added.elsewhere:,} added, {added.duplicates:,} already there")
            for name, reason in skips.first:
                out.print(f"  skipped: {plain(name)}: {plain(reason)}")
        if remove_:
            ids = example_ids(opened_book, remove_)
            before = opened_book.examples_numbered(ids)
            opened_book.remove_examples(ids, away_from=path)
            report_update(opened_book, before, opened_book.examples_numbered(ids))
        rows = opened_book.example_rows(path, count=count)
    table = Table("number", "words", "title", "source", "topics", box=None, pad_edge=False, header_style="dim")
    for row in rows:
        table.add_row(
            str(row.id), f"{row.words:,}", plain(row.title, 40), plain(row.source, 60), plain(", ".join(row.topics), 40)
        )
    out.print(table)


def _pages_of(sources: list[str], skips: Skips, settings: Mapping[str, Any]) -> Iterator[Page]:
    urls = [source for source in sources if "://" in source]
    for source in sources:
        if source not in urls:
            path = Path(source)
            if not path.exists():
                raise InputError(f"{source}: neither a URL nor a file that exists")
            yield page_of_file(path)
    fetch = partial(pages_by_url, settings=settings)
    yield from fetched_pages([parse_seed(url) for url in urls], skips, fetch=fetch)


def page_of_file(path: Path) -> Page:
    """A file as a page, as if it had been read from the web."""
    skips = Skips()
    page = file_page(path, skips)
    if page is None:
        raise InputError(f"{path}: {skips.first[0][1]}; give a .html, .txt or .md file")
    return page


def example_ids(book: TopicBook, given: list[str]) -> list[int]:
    numbers = []
    for text in given:
        if text.isdecimal():
            numbers.append(int(text))
            continue
        found = _ids_from(book, text)
        if not found:
            raise InputError(f"no example is from {text!r}; list them with: lycosa topics examples TOPIC")
        numbers += found
    return numbers


def _ids_from(book: TopicBook, source: str) -> list[int]:
    return [row.id for row in book.example_rows(source=source)]


def report_update(book: TopicBook, before: list[Example], after: list[Example]) -> None:
    """Update the judge for changed examples, if it can be updated, and print what happened."""
    if version := update_judge(book, before, after):
        out.print(f"judge {version} includes the change")
    elif book.newest_version():
        out.print("[dim]the judge must be retrained to include the change: lycosa topics train[/]")


def suggest(
    source: Path = typer.Argument(help="Bookmarks exported by a browser, a list of URLs, or a text."),
    topics: int = typer.Option(3, "--topics", help="Number of topics to suggest for each example."),
    book: Path = BOOK,
    config_file: Path | None = CONFIG,
    setting: list[str] = SETTING,
    as_json: bool = typer.Option(False, "--json", help="As one JSON object."),
) -> None:
    """Suggest the topics that fit best, for each example and for all together.

    URLs are fetched as a crawl fetches them, with the same settings (--config, --set). To make bookmarks examples of
    topics of your own: lycosa topics import bookmarks.html --under Mine.
    """
    found = read_bookmarks(source, parse=parse_seed)
    for note in found.notes:
        err.print(f"[yellow]note:[/] {plain(note)}")
    with existing_book(book) as opened_book:  # before anything is fetched in vain
        trained = opened_book.load_judge()
        classifier = load_classifier(trained)
        places = current_places(opened_book, trained, classifier)
    skips = Skips()
    fetch = partial(pages_by_url, settings=how_to_fetch(config_file, setting))
    pages = list(fetched_pages([entry.url for entry in found.entries], skips, fetch=fetch))
    if found.text:
        pages.append(text_page(str(source), "", found.text))
    if not pages:
        raise InputError(f"{source}: none of its {len(found.entries)} addresses yielded a page to judge")
    fits = fitting_topics(classifier, pages, count=topics, places=places)
    if as_json:
        print(json.dumps({"pages": list(map(_plain_fit, fits.pages)), "overall": _plain_fit(fits.overall)}))
        return
    _print_fits(fits)
    if {topic: topic for topic in classifier.topics_} != places:
        out.print("[dim]the tree has changed since the judge was trained: lycosa topics train would make it exact[/]")
    for name, reason in skips.first:
        out.print(f"skipped: {plain(name, 80)}: {plain(reason)}")


def _plain_fit(fit: PageFit) -> dict[str, Any]:
    leaves = [leaf._asdict() for leaf in fit.leaves]
    return {"url": fit.url, "title": fit.title, "leaves": leaves, "cover": fit.cover._asdict()}


def _print_fits(fits: Fits) -> None:
    table = Table("example", "fits", box=None, pad_edge=False, header_style="dim")
    for fit in (*fits.pages, fits.overall):
        leaves = "  ".join(f"{plain(leaf.topic)} {leaf.probability:.0%}" for leaf in fit.leaves)
        name = plain(fit.title or fit.url, 50) if fit is not fits.overall else "[bold]all together[/]"
        table.add_row(name, leaves)
    out.print(table)
    cover = fits.overall.cover
    if cover.topic:
        out.print(f"they are about [bold]{plain(cover.topic)}[/]: lycosa topics mark-good '{plain(cover.topic)}'")
    else:
        out.print("they have no topic in common; mark several good, or add a topic of your own")
