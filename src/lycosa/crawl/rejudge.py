"""A judge that learns in the crawl: what the strategy's study has found out becomes the crawl's own judge.

The study (judges/contrast/study.py) belongs to the strategy, which adds pages to it and tells it when to learn. Here
it is only read: whenever the crawl has grown by a quarter, and when it ends, the readers get a judge of what is known
by then, and all pages fetched before get the relevance they have by it. What a strategy is told again when a crawl goes
on makes the same study, so nothing of it is stored; pages simply have the relevance the crawl last knew.

Now and then a lesson is told in words. The study knows words by numbers that do not lead back, so the words are looked
up among those of titles and link texts: those that a person would use, too.
"""

from __future__ import annotations

import re
from collections import Counter

import numpy as np
from numpy.typing import NDArray

from lycosa.crawl.commit import LEARNED_AT, CrawlLedger
from lycosa.judges.contrast.judge import ContrastJudge
from lycosa.judges.contrast.study import ContrastStudy
from lycosa.lib.text import stems
from lycosa.lib.wordhash import SIZE, number_of
from lycosa.store.protocol import Store

FIRST_LESSON = 25
"""Pages before a first lesson is told; then whenever they have doubled, and at the end."""
TOLD_WORDS = 7
LITTLE = 0.01
"""A relevance that has changed less is brought up to date only at the end: of many pages most stay as they are."""
TITLES = "select title from pages order by number desc limit 400"
ANCHORS = "select anchor from links order by source_id desc limit 6000"
LONGEST = 300
"""Characters of a title or link text that are looked at."""
_WORD = re.compile(r"[^\W\d_]{3,24}")


class Learning:
    """Takes over what a study has learned."""

    def __init__(self, *, study: ContrastStudy, judge: ContrastJudge, ledger: CrawlLedger, store: Store) -> None:
        self._study = study
        self._threshold = judge.threshold
        self._ledger = ledger
        self._store = store
        self._next = 1
        self._kept = np.zeros(0, dtype=np.float32)
        """By place in the crawl: what the store has; not a number where it is not known."""
        self._told_at = int(store.state(LEARNED_AT) or 0)

    def look(self, *, is_last: bool = False) -> ContrastJudge | None:
        """The judge of what is known by now, if it is time for another one; pages have been judged again by it."""
        pages = len(self._study.relevance)
        if pages < self._next and not (is_last and pages):
            return None
        self._next = pages + max(1, pages // 4)
        has_lesson = pages >= max(FIRST_LESSON, 2 * self._told_at) or (is_last and pages > self._told_at)
        lesson = self._lesson() if has_lesson else ""
        if lesson:
            self._told_at = pages
        self._ledger.regrade(self._news(0.0 if is_last else LITTLE), self._threshold, lesson)
        return ContrastJudge(**self._study.snapshot(), threshold=self._threshold)

    def _news(self, little: float) -> dict[int, float]:
        """By number: pages whose relevance is another one than the store has, by more than so much."""
        now = self._study.relevance
        before = np.full(len(now), np.nan, dtype=np.float32)
        before[: len(self._kept)] = self._kept
        is_other = ~(np.abs(now - before) <= little) | ((now >= self._threshold) != (before >= self._threshold))
        self._kept = np.where(is_other, now, before)
        return {place + 1: float(now[place]) for place in np.flatnonzero(is_other).tolist()}

    def _lesson(self) -> str:
        found = self._study.snapshot()
        strength = found["weights"] * found["idf"]
        order = np.argsort(strength, kind="stable")
        spoken = spoken_words(self._store)
        about = words_for(order[::-1][: np.count_nonzero(strength > 0)], spoken)
        if not about:
            return ""
        other = words_for(order[: np.count_nonzero(strength < 0)], spoken)
        lesson = f"from {len(self._study.relevance):,} pages, what it is about: {', '.join(about)}"
        return lesson + (f"; what it is not: {', '.join(other)}" if other else "")


def spoken_words(store: Store) -> dict[int, str]:
    """By number: the word as titles and link texts mostly have it."""
    texts = Counter(row[0][:LONGEST].lower() for sql in (TITLES, ANCHORS) for row in store.query(sql)[1])
    forms: dict[str, int] = Counter()
    for text, count in texts.items():
        for word in _WORD.findall(text):
            forms[word] += count
    spoken: dict[int, str] = {}
    for word in sorted(forms, key=lambda word: (-forms[word], word)):
        for stem in stems(word)[:1]:
            spoken.setdefault(number_of(stem), word)
    return spoken


def words_for(numbers: NDArray[np.int64], spoken: dict[int, str], most: int = TOLD_WORDS) -> list[str]:
    """The first so many of these numbers that have a word."""
    found: list[str] = []
    for number in numbers[:SIZE].tolist():
        if number in spoken:
            found.append(spoken[number])
            if len(found) == most:
                break
    return found
