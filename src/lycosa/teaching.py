"""A person's answers teach the judge that a crawl has from its topic book; then all its pages are judged again.

Answers are rows of the store, however they were given (`lycosa feedback`, `lycosa review`, `--answers`), and bind the
pages themselves whatever the judge is. A judge that learns during the crawl learns from them there (`crawl.answers`).
One that was trained on a book is trained again here, in whichever process notices, also while the crawl runs; the crawl
finds the new version within seconds (`crawl.rejudge`). Killed halfway, it is done again the next time: the store knows
which version has judged all pages, and the book which marks its judge has learned from.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import closing
from itertools import islice

from lycosa.config import Config
from lycosa.crawl.answers import standing_answers
from lycosa.crawl.rejudge import JUDGED_AGAIN
from lycosa.crawl.resume import THRESHOLD
from lycosa.crawl.visit_rows import judgement_row
from lycosa.errors import ArchiveError
from lycosa.fetch.urls import url_hash
from lycosa.judge_choice import is_trained, judge_of
from lycosa.judges.formula import Formula, Named, Or, join, parse
from lycosa.judges.protocol import NoJudge
from lycosa.model import Page
from lycosa.results.archived_pages import ArchivedPages
from lycosa.store.opening import open_store
from lycosa.store.protocol import Reports
from lycosa.store.rows import Batch
from lycosa.topics.book import TopicBook
from lycosa.topics.feedback import Lesson
from lycosa.topics.feedback import teach as teach_book
from lycosa.workspace import Workspace

BATCH = 200
"""Judgements written at once: a running crawl gets its turn in between."""

Progress = Callable[[int, int], None]
"""Called with the number of pages judged again so far, and of all."""


def no_progress(_done: int, _total: int) -> None: ...


def teach(
    workspace: Workspace,
    config: Config,
    *,
    fetched: Mapping[str, Page] | None = None,
    progress: Progress = no_progress,
) -> Lesson | None:
    """Let the crawl's judge know what people have said, if it was trained on a book; None if there is nothing to know.

    `fetched`: pages by URL that the crawl does not have.
    """
    if not is_trained(config) or not workspace.topics.exists():
        return None
    with closing(open_store(workspace)) as store, TopicBook(workspace.topics) as book:
        said = standing_answers(store)
        if not said and not book.marks():
            return None
        pages = ArchivedPages(workspace.archive, store, config.reading(NoJudge()))
        numbers = store.pages_with([url_hash(url) for url in said])

        def text_of(url: str) -> Page | None:
            try:
                found = pages.page_numbered(numbers[url]) if url in numbers else None
            except ArchiveError:  # the file is gone
                found = None
            return found or (fetched or {}).get(url)

        lesson = teach_book(book, _interest(book, config), said, text_of)
        if store.state(JUDGED_AGAIN) != str(lesson.version).encode():
            _judge_again(workspace, config, store, lesson.version, progress)
        return lesson


def _interest(book: TopicBook, config: Config) -> Formula:
    """Good topics are alternatives."""
    resolve = book.taxonomy().resolve
    if config.interest:
        return parse(config.interest, resolve=resolve)
    return join(Or, [Named(resolve(name)) for name in config.topics])


def _judge_again(workspace: Workspace, config: Config, store: Reports, version: int, progress: Progress) -> None:
    """All archived pages by the newest judge, into the store."""
    found = store.state(THRESHOLD)
    judge = judge_of(config, workspace, threshold=float(found) if found else None)
    pages = ArchivedPages(workspace.archive, store, config.reading(judge))
    rows = (judgement_row(again.id, judge.name, again.judgement) for again in pages)
    total, done = store.totals().pages, 0
    while batch := list(islice(rows, BATCH)):
        store.write(Batch(judgements=batch))
        done += len(batch)
        progress(done, total)
    store.write(Batch(recounts_hosts=True, state={JUDGED_AGAIN: str(version).encode()}))
