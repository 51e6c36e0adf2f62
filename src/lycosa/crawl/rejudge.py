"""Another judge takes over: one that learned in the crawl, was retrained by feedback, or found its threshold.

A study (`judges.contrast.study`) belongs to the strategy, which adds pages to it and tells it when to learn. Here it is
only asked for its verdicts: whenever the crawl has grown by a quarter, and when it ends, all pages fetched before get
the relevance they have by what is known then, and the readers a judge that agrees. A study is part of the strategy's
snapshots; a crawl that resumes without one makes the same study of what the strategy is told again.

Now and then a lesson is reported in words. The study knows words by numbers that do not lead back, so words are looked
up among those of titles and link texts, which are those that a person would use.

What people say of pages trains another version of a judge in the crawl's topic book (`teaching`), perhaps in another
process; it is found here within seconds, and again when it has judged all pages. A formula without a threshold gets it
from the start pages.

Each of these ends in one transaction, so that a kill in the middle loses that one thing at most; the resumed crawl does
it again.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from lycosa.crawl.certainty import CERTAINTY, Certainty
from lycosa.crawl.commit import CrawlLedger
from lycosa.crawl.reading import Reading
from lycosa.crawl.resume import THRESHOLD
from lycosa.crawl.seeds import awaited_seeds
from lycosa.crawl.start_threshold import START_THRESHOLD, StartThreshold
from lycosa.errors import InputError
from lycosa.judges.protocol import Judge, LearnedTopic
from lycosa.lib.clock import Clock
from lycosa.lib.text import stems
from lycosa.lib.wordhash import SIZE, number_of
from lycosa.store.protocol import Store
from lycosa.store.rows import Batch, State

JUDGE_VERSION, JUDGED_AGAIN, LEARNED_AT, JUDGED_AT = "judge", "judged again", "learned at", "judged at"
"""Names of state in the store."""
LOOK_EVERY = 2.0
"""Seconds between two looks for a new version of the judge."""
LOOK_AT_START_EVERY = 0.25
"""Seconds between two looks at the start pages, until they have set the threshold."""
FIRST_LESSON = 25
"""Pages before a first lesson is reported; then whenever they have doubled, and at the end."""
TOLD_WORDS = 7
LITTLE = 0.01
"""A relevance that has changed by less is updated only at the end: most pages stay as they are."""
TITLES, ANCHORS = 400, 6000
"""Number of titles and of link texts that are looked at, the latest ones."""
LONGEST = 300
"""Number of characters of a title or link text that are looked at."""
_WORD = re.compile(r"[^\W\d_]{3,24}")

NewJudge = Callable[[int], tuple[int, Judge, str] | None]
"""Given the version in use: a newer one, with its judge and what it learned, or None."""


class Adopting(Protocol):
    """Whoever reads pages, and can be given another way to."""

    def adopt(self, reading: Reading) -> None: ...


class Rejudge:
    """Looks for a judge to take over. `look` is called after each turn of the loop and mostly does nothing."""

    def __init__(
        self,
        *,
        ledger: CrawlLedger,
        readers: Adopting,
        reading: Reading,
        clock: Clock,
        learning: Learning | None = None,
        newer: NewJudge | None = None,
        version: int = 0,
        has_open_threshold: bool = False,
    ) -> None:
        """`newer` looks for a version after `version`; `has_open_threshold`: the start pages decide it."""
        self._ledger = ledger
        self._readers = readers
        self._reading = reading
        self._clock = clock
        self._learning = learning
        self._newer = newer
        self._version = version
        self._has_open_threshold = has_open_threshold
        self._looked_at = 0.0
        self._judged_again = ledger.state.store.state(JUDGED_AGAIN)
        self.takeovers = 0
        """Number of times in this run that a trained judge has judged all pages."""

    def begin(self) -> None:
        """Go on with the judge of the last run; take over a version that was trained while the crawl rested."""
        if self._learning is not None and (learned := self._learning.begin()) is not None:
            self._adopt(learned)
        if self._newer is None:
            return
        stored = self._ledger.state.store.state(JUDGE_VERSION)
        if not stored:
            self._ledger.write(Batch(state={JUDGE_VERSION: str(self._version).encode()}))
        elif int(stored) < self._version:
            self._take_over(f"version {self._version} took over while the crawl rested")

    def look(self) -> None:
        if self._learning is not None and (learned := self._learning.look()) is not None:
            self._adopt(learned)
        now = self._clock.now()
        if self._has_open_threshold and now - self._looked_at >= LOOK_AT_START_EVERY:
            self._looked_at = now
            self._find_threshold()
        if now - self._looked_at < LOOK_EVERY:
            return
        self._looked_at = now
        if self._newer is None:
            return
        judged_again = self._ledger.state.store.state(JUDGED_AGAIN)
        if (found := self._newer(self._version)) is not None:
            self._version, judge, lesson = found
            self._adopt(judge)
            self._take_over(lesson)
        elif judged_again != self._judged_again:
            self._take_over(f"all pages were judged again by version {self._version}")
        self._judged_again = judged_again

    @property
    def version(self) -> int:
        """Of the trained judge in use; 0 if there is none."""
        return self._version

    def hurry(self) -> None:
        """Judge all pages again at the next look: a person has said what some of them are."""
        if self._learning is not None:
            self._learning.hurry()

    def end(self) -> None:
        """The crawl has stopped, perhaps before all start pages were fetched: they decide all the same."""
        if self._has_open_threshold:
            self._find_threshold(is_last=True)
        if self._learning is not None:
            self._learning.look(is_last=True)

    def _take_over(self, lesson: str) -> None:
        """The new version has judged what was fetched before; links are scored by that."""
        batch = Batch(recounts_hosts=True, state={JUDGE_VERSION: str(self._version).encode()})
        self._ledger.write(batch, event=("judge", lesson))
        self._ledger.state.recount()
        self._ledger.score_again(f"judge version {self._version}")
        self.takeovers += 1

    def _find_threshold(self, *, is_last: bool = False) -> None:
        """When all start pages have had their try: the smallest positive score among them (AR, section 2.3).

        One that failed and will be tried again, or whose host does not answer, is not waited for: that may take hours.
        """
        if not is_last and awaited_seeds(self._ledger):
            return
        seeds = self._ledger.state.store.seed_pages()
        if all(seed.relevance is None for seed in seeds):
            return
        self._has_open_threshold = False
        judge = self._reading.judge
        with_threshold = judge.abilities.with_threshold
        assert with_threshold is not None, "only such a judge has an open threshold"
        state, warning = {}, ""
        try:
            found = StartThreshold.of(seeds)
            missing = sum(seed.state == State.WAITING for seed in self._ledger.state.store.lost_seeds())
            threshold, why, warning = found.value, found.in_words + _without(missing), found.warning
            state[START_THRESHOLD] = found.to_bytes()
        except InputError:
            threshold = judge.abilities.threshold
            why = (
                f"no start page fits {judge.abilities.interest}: the minimum relevance stays at {threshold:g}; "
                "better seeds would help"
            )
        self._adopt(with_threshold(threshold))
        state[THRESHOLD] = repr(threshold).encode()
        batch = Batch(threshold=threshold, recounts_hosts=True, state=state)
        self._ledger.state.threshold = threshold
        self._ledger.write(batch, event=("judge", why))
        self._ledger.state.recount()
        if warning:
            self._ledger.note("advice", warning)

    def _adopt(self, judge: Judge) -> None:
        self._reading = replace(self._reading, judge=judge)
        self._readers.adopt(self._reading)


def _without(missing: int) -> str:
    """What is to be said of start pages that may still come."""
    if not missing:
        return ""
    return f"; {missing:,} start page{'s' * (missing > 1)} could not be fetched so far, and will not change it"


class Learning:
    """Takes over what a study has learned."""

    def __init__(self, *, study: LearnedTopic, threshold: float, ledger: CrawlLedger) -> None:
        self._study = study
        self._threshold = threshold
        self._ledger = ledger
        self._store = ledger.state.store
        self._next = 1
        self._kept = np.zeros(0, dtype=np.float32)
        """By place in the crawl: the relevance that the store has; NaN where it is not known."""
        self._told_at = int(self._store.state(LEARNED_AT) or 0)

    def begin(self) -> Judge | None:
        """The judge of the last run, if the study comes from a snapshot and has not fallen behind the store.

        If it has, or knows of no verdicts, all pages are judged again at the first look.
        """
        judged = int(self._store.state(JUDGED_AT) or 0)
        if not judged or self._study.judged_pages != judged:
            return None
        self._next = _next_look(judged)
        self._kept = self._store.first_relevance(judged).astype(np.float32)
        return self._study.as_judge(self._threshold)

    def hurry(self) -> None:
        self._next = 0

    def look(self, *, is_last: bool = False) -> Judge | None:
        """A judge of what is known by now, if it is time for one; pages have then been judged again by it."""
        pages = len(self._study.relevance)
        if pages < self._next and not (is_last and pages):
            return None
        self._next = _next_look(pages)
        has_lesson = pages >= max(FIRST_LESSON, 2 * self._told_at) or (is_last and pages > self._told_at)
        lesson = self._lesson() if has_lesson else ""
        if lesson:
            self._told_at = pages
        verdicts = self._study.verdicts()
        self._regrade(self._news(verdicts, 0.0 if is_last else LITTLE), lesson, Certainty.of(verdicts, self._threshold))
        return self._study.as_judge(self._threshold)

    def _regrade(self, relevance: Mapping[int, float], lesson: str, certainty: Certainty) -> None:
        """Give pages, by their numbers, the relevance they have now."""
        judged_at = str(self._study.judged_pages).encode()
        batch = Batch(recounts_hosts=True, state={CERTAINTY: certainty.to_bytes(), JUDGED_AT: judged_at})
        batch.grades.extend((value, value >= self._threshold, number) for number, value in relevance.items())
        if lesson:
            batch.state[LEARNED_AT] = str(self._ledger.pages).encode()
        self._ledger.write(batch, event=("judge", lesson) if lesson else None)
        self._ledger.state.recount()

    def _news(self, now: NDArray[np.float32], little: float) -> dict[int, float]:
        """By number: the relevance of pages that differs from what the store has by more than `little`."""
        before = np.full(len(now), np.nan, dtype=np.float32)
        before[: len(self._kept)] = self._kept
        is_other = ~(np.abs(now - before) <= little) | ((now >= self._threshold) != (before >= self._threshold))
        self._kept = np.where(is_other, now, before)
        return {place + 1: float(now[place]) for place in np.flatnonzero(is_other).tolist()}

    def _lesson(self) -> str:
        strength = self._study.word_strengths()
        order = np.argsort(strength, kind="stable")
        spoken = spoken_words(self._store)
        about = words_for(order[::-1][: np.count_nonzero(strength > 0)], spoken)
        if not about:
            return ""
        other = words_for(order[: np.count_nonzero(strength < 0)], spoken)
        lesson = f"from {len(self._study.relevance):,} pages, what it is about: {', '.join(about)}"
        return lesson + (f"; what it is not: {', '.join(other)}" if other else "")


def _next_look(pages: int) -> int:
    """Number of pages at which all are judged again."""
    return pages + max(1, pages // 4)


def spoken_words(store: Store) -> dict[int, str]:
    """By word number: the word in its most frequent form in titles and link texts."""
    texts = Counter(text[:LONGEST].lower() for text in store.latest_texts(titles=TITLES, anchors=ANCHORS))
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
    """The first `most` of these numbers that have a word."""
    found: list[str] = []
    for number in numbers[:SIZE].tolist():
        if number in spoken:
            found.append(spoken[number])
            if len(found) == most:
                break
    return found
