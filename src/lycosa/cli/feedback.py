"""lycosa feedback: say which pages were useful; the judge learns from it, also while the crawl runs."""

from __future__ import annotations

import time
import tomllib
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import typer
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from lycosa.cli.opened import DIRECTORY, opened
from lycosa.cli.pages_by_url import pages_by_url
from lycosa.cli.terminal import err, out, plain
from lycosa.config import Config
from lycosa.crawl.reading import Reading
from lycosa.crawl.resume import THRESHOLD
from lycosa.crawl.visit_rows import judgement_row
from lycosa.errors import InputError
from lycosa.fetch.urls import Urls, parse_seed
from lycosa.judge_choice import is_trained, judge_of
from lycosa.judges.formula import parse, topics_of
from lycosa.judges.generalise import positive_part
from lycosa.model import Page
from lycosa.results.archived_pages import ArchivedPages
from lycosa.store.rows import Batch, JudgementRow
from lycosa.store.sqlite import SqliteStore
from lycosa.topics.book import TopicBook
from lycosa.topics.feedback import Lesson, Mark, learn
from lycosa.topics.importing import Failure
from lycosa.workspace import Workspace

HOW_TO_FETCH = ("network", "politeness", "robots", "urls", "http")
"""Sections of the crawl's settings that hold for further pages, too."""
BATCH = 200
"""Judgements written at once: a running crawl gets its turn in between."""


def feedback(
    directory: Path = DIRECTORY,
    useful: list[str] = typer.Option([], "--useful", "-u", help="A page that is what you want. May be repeated."),
    not_useful: list[str] = typer.Option([], "--not-useful", "-n", help="A page that is not. May be repeated."),
) -> None:
    """Teach a crawl's judge by pages that are useful or not.

    The pages become examples in the crawl's own topic book, the judge learns from them, and all pages of the crawl are
    judged again. A running crawl takes the new judge over within seconds, and orders what waits by it.
    """
    with opened(directory) as (workspace, config, store):
        if not is_trained(config):
            raise InputError(
                f"{directory}: this crawl judges by words, which learn nothing; begin one for a topic of a book "
                "(lycosa topics import, then lycosa crawl --topic NAME)"
            )
        found = store.state(THRESHOLD)
        threshold = float(found) if found else None
        pages = ArchivedPages(
            workspace.archive, store, config.reading(judge_of(config, workspace, threshold=threshold))
        )
        marks = [Mark(page, True) for page in _pages(useful, pages, config)]
        marks += [Mark(page, False) for page in _pages(not_useful, pages, config)]
    with TopicBook(workspace.topics) as book:
        lesson = learn(book, marks, _good(book, config))
    for seen in lesson.pages:
        told = "useful" if seen.is_useful else "not useful"
        where = f", now an example of {plain(seen.topic)}" if seen.topic else ""
        out.print(f"{plain(seen.url, 80)}: {told}{where}; R {seen.before:.2f} → {seen.after:.2f}")
    changed = _judge_again(workspace, config.reading(judge_of(config, workspace, threshold=threshold)), lesson)
    out.print(
        f"judge version {lesson.version}: agreement with the examples {lesson.agreement_before:.1%} → "
        f"{lesson.agreement_after:.1%}; {changed:,} pages of the crawl changed sides"
    )
    if workspace.holder() is not None:
        out.print("the running crawl takes it over within seconds")


def _pages(given: list[str], archived: ArchivedPages, config: Config) -> list[Page]:
    """Of the crawl where it has them, else fetched."""
    canonical = Urls(config.urls).canonical
    urls = [canonical(parse_seed(text))[0] or text for text in given]
    known = {url: archived.page_of(url) for url in urls}
    missing = [url for url, page in known.items() if page is None]
    kept = {name: part for name, part in tomllib.loads(config.to_toml()).items() if name in HOW_TO_FETCH}
    fetched = dict(zip(missing, pages_by_url(missing, kept), strict=True))
    pages = []
    for url in urls:
        page = known[url] or fetched[url]
        if isinstance(page, Failure):
            raise InputError(f"{url}: not a page of this crawl, and it cannot be fetched: {page.reason}")
        pages.append(page)
    return pages


def _good(book: TopicBook, config: Config) -> list[str]:
    taxonomy = book.taxonomy()
    if config.interest:
        formula = parse(config.interest, resolve=taxonomy.resolve)
        return list(topics_of(positive_part(formula) or formula))
    return [taxonomy.resolve(name) for name in config.topics]


def _judge_again(workspace: Workspace, reading: Reading, lesson: Lesson) -> int:
    """All archived pages by the new judge, into the store; how many changed sides."""
    store = SqliteStore(workspace.database)
    try:
        judged = store.judged_pages()
        before = dict(zip(judged.ids.tolist(), judged.is_relevant.tolist(), strict=True))
        now = time.time()
        store.write(Batch(feedback=[(now, seen.url, seen.is_useful, seen.topic) for seen in lesson.pages]))
        rows = _rows(ArchivedPages(workspace.archive, store, reading), reading.judge.name)
        columns = (TextColumn("judging again"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
        changed = 0
        with Progress(*columns, console=err, transient=True) as bar:
            task = bar.add_task("", total=len(before))
            while batch := list(islice(rows, BATCH)):
                changed += sum(before.get(row.page_id, False) is not row.is_relevant for row in batch)
                store.write(Batch(judgements=batch))
                bar.advance(task, len(batch))
        return changed
    finally:
        store.close()


def _rows(pages: ArchivedPages, judge: str) -> Iterator[JudgementRow]:
    for number, _, judgement in pages:
        yield judgement_row(number, judge, judgement)
