"""What a person should know about a crawl that cannot go well as it was asked for, said once, with what would help.

    seeds that have no text         they cannot say what the topic is
    one seed, and no words          what of the page is the topic?
    seeds that do not fit the words they are only places to start from
    seeds that are not alike        the same; a person knows whether they are examples
    seeds of two things             crawl them apart
    nothing relevant                after a hundred pages
    one host                        the crawl is as fast as that host's delay allows
    pages in doubt                  a few answers of a person would help; early, and when doubt has grown
    drift                           what is called relevant has little to do with what was given
    neighbours                      what the crawl runs into beside the topic, and what to do about it: FC's mutual
                                    funds, which are not to be had without investment

It is advice: the crawl goes on. What was said is kept with the crawl, so that it is not said again on resume.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from lycosa.crawl.commit import CrawlLedger
from lycosa.crawl.questions import IN_DOUBT, doubt
from lycosa.crawl.rejudge import spoken_words, words_for
from lycosa.judges.contrast.page_vector import PageVector
from lycosa.judges.contrast.two_topics import parting
from lycosa.judges.protocol import LearnedTopic
from lycosa.topics.suggest import JudgedPage, neighbouring_topics

ADVISED = "advised"
"""Name of state in the store."""
NO_TEXT = 5
"""Minimum number of words of a page that says something."""
NOTHING_AFTER = 100
"""Number of pages without a relevant one after which to say so; at the end of a crawl a fifth of it."""
ONE_HOST_AFTER = 50
LONGEST_WAIT = 200
QUESTIONS_AFTER, QUESTIONS_AGAIN_AFTER = 30, 200
"""Numbers of pages after which questions are offered, and offered again if more pages are in doubt."""
DOUBTFUL_SHARE, DOUBTFUL_PAGES = 0.15, 5
"""Minimum share, and number, of pages in doubt for which questions are offered."""
ENOUGH_ANSWERS = 10
"""Number of answers from which on questions are not offered: the person knows of them."""
MOST_DRIFT = 0.6
"""Share of what is called relevant that what was given would not call so by itself, from which it is said. On crawls
for development topics it is .1 to .3, from words up to .8. To judge by what was given alone would be worse there, too:
AUC .80 → .70."""
NEIGHBOURS_AFTER = 200
"""Number of pages after which to look at what stands beside the topic."""
MANY_NEAR_MISSES = 0.2
"""Share of the pages from which near misses are worth a word."""
NEIGHBOUR_WORDS = 5
LATEST = 100
"""Number of latest pages whose doubt is compared with that of all pages: if it has doubled, the crawl may drift."""
SHOWN = 3
"""Number of URLs named."""


class Advice:
    """Looks at a running crawl, and speaks up through its ledger."""

    def __init__(
        self,
        *,
        ledger: CrawlLedger,
        seeds: int,
        study: LearnedTopic | None = None,
        threshold: float = 0.5,
        topics: Sequence[str] = (),
    ) -> None:
        """`topics`: those of the topic book that are crawled for."""
        self._ledger = ledger
        self._store = ledger.state.store
        self._study = study
        self._threshold = threshold
        self._topics = topics
        self._said: list[str] = json.loads(self._store.state(ADVISED) or b"[]")
        self._seeds_at = seeds
        """Number of pages after which to look at the seeds."""
        self._patience = 10 * seeds + LONGEST_WAIT
        """Number of pages after which seeds that still wait are no longer waited for."""
        self._drift_at = QUESTIONS_AGAIN_AFTER
        """Number of pages after which to look for drift."""

    def look(self, *, is_last: bool = False) -> None:
        """Called after each turn of the loop; mostly does nothing."""
        pages = self._ledger.pages
        if self._is_open("seeds") and pages and (pages >= self._seeds_at or is_last):
            self._seeds_at = pages + max(5, pages // 4)
            if is_last or pages >= self._patience or not self._store.waiting_seeds():
                self._say("seeds", *self._about_seeds())
        if self._is_open("nothing") and pages >= (NOTHING_AFTER // 5 if is_last else NOTHING_AFTER):
            self._say("nothing", *self._about_finds(pages))
        if self._is_open("host") and pages >= ONE_HOST_AFTER:
            self._say("host", *self._about_hosts(pages))
        if self._is_open("neighbours") and pages >= NEIGHBOURS_AFTER:
            self._say("neighbours", *self._about_neighbours(pages))
        if self._is_open("questions") and pages >= QUESTIONS_AFTER:
            self._say("questions", *self._about_doubt(self._doubts()))
        if self._is_open("drift") and pages >= self._drift_at:
            self._drift_at = pages + LATEST // 2
            self._about_drift()

    def _is_open(self, subject: str) -> bool:
        return subject not in self._said

    def _say(self, subject: str, *messages: str) -> None:
        self._said.append(subject)
        state = {ADVISED: json.dumps(self._said).encode()}
        for message in messages:
            self._ledger.note("advice", message, state)

    def _about_seeds(self) -> Iterator[str]:
        seeds = self._store.seed_pages()
        study = self._study
        if study is None or not study.learns_from_seeds or not seeds:
            return
        has_words = study.has_words
        empty = [seed.url for seed in seeds if seed.words < NO_TEXT]
        if empty:
            yield _about_empty(empty, len(seeds), has_words=has_words)
        urls = {seed.number - 1: seed.url for seed in seeds}
        examples = {place: words for place, words in study.examples.items() if place in urls}
        if len(examples) == 1 and not has_words:
            yield (
                "one page is the only example: it cannot say which of its words are the topic; two to nine more seeds, "
                "or a few words (lycosa crawl 'recreational cycling' …), would"
            )
        if has_words and not examples and len(empty) < len(seeds):
            why = (
                "the seeds fit the topic's words, but are no more alike than unrelated pages"
                if study.seeds_are_in_doubt
                else "most seeds do not fit the topic's words"
            )
            yield (
                f"{why}: they are only places to start from, not examples; if they are, "
                "--set judge.seeds_are_examples=yes"
            )
        if parts := parting([PageVector(*words) for words in examples.values()]):
            places = list(examples)
            spoken = spoken_words(self._store)
            one, other = (
                f"{', '.join(words_for(words, spoken, 4)) or '?'} ({_named([urls[places[at]] for at in part])})"
                for part, words in ((parts.first, parts.first_words), (parts.second, parts.second_words))
            )
            yield f"the seeds speak of two things: {one} and {other}; crawl them apart, or drop one"

    def _about_finds(self, pages: int) -> Iterator[str]:
        if self._store.totals().relevant == sum(seed.is_relevant for seed in self._store.seed_pages()):
            yield (
                f"none of {pages:,} pages is relevant but seeds: nothing near them matches the topic; seeds nearer to "
                "it, other words, or a lower --threshold would help"
            )

    def _doubts(self) -> NDArray[np.bool_]:
        """Which pages are in doubt, in order of fetching; none if nothing is learned from answers."""
        verdicts = self._study.said if self._study is not None else np.zeros(0, dtype=np.float32)
        return doubt(verdicts, self._threshold) >= IN_DOUBT

    @property
    def _where(self) -> str:
        return os.path.join(self._store.path.parent, "")  # noqa: PTH118 - the closing slash says that it is a directory

    def _about_doubt(self, doubts: NDArray[np.bool_]) -> Iterator[str]:
        count = int(doubts.sum())
        has_many = count >= max(DOUBTFUL_PAGES, DOUBTFUL_SHARE * len(doubts))
        if has_many and len(self._store.answers()) < ENOUGH_ANSWERS:
            yield (
                f"{count:,} of {len(doubts):,} pages are in doubt: ten questions would help, while it runs or later: "
                f"lycosa review {self._where}"
            )

    def _about_drift(self) -> None:
        """Said once, when what is called relevant has little to do with what was given, or doubt has grown."""
        drift = self._study.drift if self._study is not None else 0.0
        if drift >= MOST_DRIFT:
            self._say(
                "drift",
                f"{drift:.0%} of what is called relevant would not be by your words and examples alone: either it is "
                "what you mean in other words, or the crawl has drifted; ten questions tell: lycosa review "
                f"{self._where}",
            )
            return
        doubts = self._doubts()
        latest, earlier = doubts[-LATEST:], doubts[:-LATEST]
        if len(earlier) and latest.mean() >= max(2 * earlier.mean(), 2 * DOUBTFUL_SHARE):
            self._say("drift", *self._about_doubt(latest))

    def _about_neighbours(self, pages: int) -> Iterator[str]:
        if self._topics:
            judged = (JudgedPage(json.loads(page.scores), page.citing) for page in self._store.topic_scores())
            yield from (one.reason for one in neighbouring_topics(judged, self._topics).advice)
        if self._study is None:
            return
        count, numbers = self._study.near_misses()
        words = words_for(numbers, spoken_words(self._store), NEIGHBOUR_WORDS)
        if count >= MANY_NEAR_MISSES * pages and words:
            yield (
                f"{count:,} of {pages:,} pages are near your topic and not about it; what sets them apart: "
                f"{', '.join(words)}. If you want these, too, name them in the topic's words or give examples; if not, "
                f"a few answers tell them apart: lycosa review {self._where}"
            )

    def _about_hosts(self, pages: int) -> Iterator[str]:
        visited = [host for host in self._ledger.state.hosts if host.pages]
        if len(visited) != 1:
            return
        name = visited[0].name
        elsewhere = sum(host.links for host in self._ledger.state.hosts if host.name != name)
        many, few = f"{elsewhere:,} links lead to others", f"{elsewhere or 'no'} link leads to another"
        others = many if elsewhere > 1 else few
        yield (
            f"all {pages:,} pages are of one host, {name} ({others}): the crawl goes as fast as that host's delay "
            "allows; seeds on other hosts would widen it"
        )


def _about_empty(empty: list[str], seeds: int, *, has_words: bool) -> str:
    if len(empty) < seeds:
        return f"{_many(len(empty), 'seed')} without text ({_named(empty)}): the topic is learned from the others"
    if has_words:
        return f"no seed has text ({_named(empty)}): the topic is known by its words alone; seeds with text would help"
    return (
        f"no seed has text ({_named(empty)}), so nothing says what the topic is, and pages are fetched in no useful "
        "order; say it in words, lycosa crawl 'recreational cycling' …, or give pages with text"
    )


def _named(urls: list[str]) -> str:
    others = len(urls) - SHOWN
    return ", ".join(urls[:SHOWN]) + (f" and {others:,} more" if others > 0 else "")


def _many(count: int, noun: str) -> str:
    return f"{count:,} {noun} is" if count == 1 else f"{count:,} {noun}s are"
