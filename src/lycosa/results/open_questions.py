"""The pages of a crawl to ask a person about (`crawl.questions`), from its store alone, also while it runs."""

from __future__ import annotations

import json
import textwrap
from dataclasses import dataclass

import numpy as np

from lycosa.crawl.questions import ENOUGH_EXAMPLES, EXAMPLE_RELEVANCE, AskablePages, choose, middle_of_doubt
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


def open_questions(
    store: Reports, *, threshold: float, count: int = 10, has_words: bool = False, is_learning: bool = True
) -> list[Question]:
    """The pages to ask about, the most telling first; none is asked about twice.

    `has_words`: the topic was given in words, so seeds in doubt come first. `is_learning`: the judge learns from the
    answers. Pages that a person skipped come last, and only if there are too few others.
    """
    said = {row.url: row.is_relevant for row in store.answers()}
    examples = ENOUGH_EXAMPLES
    if is_learning:
        seeds = [seed for seed in store.seed_pages() if seed.url not in said]
        examples = sum((seed.relevance or 0.0) >= EXAMPLE_RELEVANCE for seed in seeds)
    middle = middle_of_doubt(threshold, said.values(), examples=examples)
    found: list[DoubtfulPage] = []
    for which in (OPEN, SKIPPED):
        if len(found) < count:
            rows = store.doubtful_pages(middle, LOOKED_AT, which)
            asked = store.doubtful_pages(middle, LOOKED_AT, ASKED) if which == OPEN else []
            pages = _askable([*rows, *asked], first_asked=len(rows), has_words=has_words)
            found += [rows[place] for place in choose(pages, middle=middle, count=count - len(found))]
    return [_question(store, row) for row in found]


def _askable(rows: list[DoubtfulPage], *, first_asked: int, has_words: bool) -> AskablePages:
    return AskablePages(
        relevance=np.array([row.relevance for row in rows]),
        waiting=np.array([row.waiting for row in rows]),
        hosts=[row.host for row in rows],
        vectors=[_vector(row) for row in rows],
        fingerprints=[row.fingerprint % (1 << 64) for row in rows],
        is_first=np.array([has_words and row.distance == 0 for row in rows], dtype=np.bool_),
        is_settled=(np.arange(len(rows)) >= first_asked) | np.array([_is_example(row) for row in rows], dtype=np.bool_),
    )


def _is_example(row: DoubtfulPage) -> bool:
    return row.distance == 0 and row.relevance >= EXAMPLE_RELEVANCE


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
