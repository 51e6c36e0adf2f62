"""The pages of a crawl to ask a person about (`crawl.questions`), from its store alone, also while it runs."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lycosa.crawl.questions import AskablePages, choose
from lycosa.errors import LycosaError
from lycosa.judges.contrast.page_vector import PageVector, telling_words
from lycosa.lib.text import term_counts
from lycosa.results.archived_pages import ArchivedPages
from lycosa.store.protocol import Reports
from lycosa.store.rows import ASKED, OPEN, SKIPPED, DoubtfulPage
from lycosa.strategies.hunter.notes import Note

LOOKED_AT = 600
"""Number of pages, the most doubtful ones, among which the most telling are looked for."""
TITLE_WORDS = 40
SHOWN_WORDS = 6
SHOWN_LINES = 6


@dataclass(frozen=True, slots=True)
class Question:
    """A page to ask about, and what helps to answer."""

    page: int
    url: str
    title: str
    relevance: float
    is_relevant: bool
    """What the judge thinks."""
    words: list[str]
    """Those that decided, the strongest first."""
    waiting: int
    """Number of waiting links on it."""


def open_questions(store: Reports, *, threshold: float, count: int = 10, has_words: bool = False) -> list[Question]:
    """The pages to ask about, the most telling first; none is asked about twice.

    `has_words`: the topic was given in words, so seeds in doubt come first. Pages that a person skipped come last, and
    only if there are too few others.
    """
    asked = store.doubtful_pages(threshold, LOOKED_AT, ASKED)
    found = _chosen(store.doubtful_pages(threshold, LOOKED_AT, OPEN), asked, threshold, count, has_words=has_words)
    if len(found) < count:
        skipped = store.doubtful_pages(threshold, LOOKED_AT, SKIPPED)
        found += _chosen(skipped, (), threshold, count - len(found), has_words=has_words)
    return [_question(store, row) for row in found]


def _chosen(
    rows: Sequence[DoubtfulPage], asked: Sequence[DoubtfulPage], threshold: float, count: int, *, has_words: bool
) -> list[DoubtfulPage]:
    known = {row.id: row for row in (*rows, *asked)}  # several judges may have judged a page
    all_rows = list(known.values())
    was_asked = {row.id for row in asked}
    pages = AskablePages(
        relevance=np.array([row.relevance for row in all_rows]),
        waiting=np.array([row.waiting for row in all_rows]),
        hosts=[row.host for row in all_rows],
        vectors=[_vector(row) for row in all_rows],
        fingerprints=[row.fingerprint % (1 << 64) for row in all_rows],
        is_first=np.array([has_words and row.distance == 0 for row in all_rows], dtype=np.bool_),
        is_asked=np.array([row.id in was_asked for row in all_rows], dtype=np.bool_),
    )
    return [all_rows[place] for place in choose(pages, threshold=threshold, count=count)]


def _vector(row: DoubtfulPage) -> PageVector:
    """The words the strategy has noted; if it notes none, those of the title."""
    try:
        note = Note.from_bytes(row.note, 0)
    except ValueError:
        note = None
    if note is not None and len(note.words):
        return PageVector(note.words, note.counts)
    return telling_words(term_counts(row.title), TITLE_WORDS)


def _question(store: Reports, row: DoubtfulPage) -> Question:
    judgement = store.judgement(row.id)
    terms: dict[str, float] = json.loads(judgement.terms) if judgement else {}
    words = sorted(terms, key=lambda word: -abs(terms[word]))[:SHOWN_WORDS]
    is_relevant = judgement is not None and judgement.is_relevant
    return Question(row.id, row.url, row.title, row.relevance, is_relevant, words, row.waiting)


def first_lines(
    store: Reports, archive: ArchivedPages, page: int, *, width: int, count: int = SHOWN_LINES
) -> list[str]:
    """The beginning of a page's text in lines of this width; none if it is not in the archive."""
    row = store.page(page)
    if row is None or not row.archive_file:
        return []
    try:
        again = archive.at(row.archive_file, row.archive_offset)
    except LycosaError:  # the file is gone
        return []
    text = again.page.text if again and again.page else ""
    return textwrap.wrap(" ".join(text[: 4 * count * width].split()), width)[:count]
