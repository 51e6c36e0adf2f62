"""What a crawl teaches about its topic, page by page: the formulas of `judge`, recomputed on demand.

A page takes a kilobyte of memory; learning from n pages takes time proportional to n. `relevance` guides the crawl;
what is reported of its pages is the `verdict`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lycosa.judges.contrast.by_meaning import UsualMeaning
from lycosa.judges.contrast.fitting_seeds import FittingSeeds
from lycosa.judges.contrast.page_vector import (
    ContrastView,
    Floats,
    PageVector,
    Scale,
    Words,
    idf_of_table,
    mean_row,
    telling_words,
)
from lycosa.judges.contrast.studied_pages import StudiedPages
from lycosa.judges.contrast.verdict import Conclusion, Findings, VerdictView, verdict
from lycosa.judges.contrast.weighing import ContrastSettings, TableScores, Weighing, specific, with_same_sum
from lycosa.judges.meaning import UNKNOWN, Meaning
from lycosa.lib.growing import grown, with_room
from lycosa.lib.snapshot import Snapshots, Tree
from lycosa.lib.wordhash import SIZE, numbers_of

if TYPE_CHECKING:
    from lycosa.judges.contrast.judge import ContrastJudge

MIN_EXAMPLE_RELEVANCE = 0.9
MIN_SEED_RELEVANCE = 0.5
"""Minimum relevance of a seed whose host is taken to be about the topic."""
SEED_SITE_WEIGHT = 0.1
"""Weight, among the other pages, of a page on a host that has relevant seeds. A site is often about one thing as a
whole, and its pages that say so in other words would drown the topic: debian-docs .85 → .94 of the way from random to
oracle (development topics; 10 crawls better, 1 worse). Generated webs do not change; wikispeedia with its pages
assigned to hosts at random: −.007 to −.011 (± .006)."""
ENOUGH_CONFIRMED = 3
"""Without other examples: number of pages that a person says are relevant from which they are examples. One page alone
would say less about the topic than its words do."""
NEAR, UNLIKELY = 0.4, 0.3
"""Minimum relevance of a page that guides the crawl, and maximum of the verdict on one that is a near miss."""
MOST_COMPARED = 500
"""Number of near misses, and of pages about the topic, whose words are compared: the latest."""
MAX_GROWTH = 1.25
"""Growth of the crawl for which verdicts are recent."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ContrastTopic:
    """What the user gave."""

    keywords: Mapping[str, int] = field(default_factory=dict)
    """Stems, with their frequencies."""
    examples: tuple[PageVector, ...] = ()
    learns_from_seeds: bool = False
    """The seeds of a crawl are examples too, if they have any text."""
    seeds_must_fit: bool = False
    """Only seeds that fit what is given here, and those that resemble one that does, are examples, and only if half
    of all seeds fit. The others are just places to start from."""
    meaning: str = ""
    """The words, if the meaning of pages counts."""


class _Learned(NamedTuple):
    weighing: Weighing
    scores: Floats
    """By page, by the other pages alone."""
    scale: Scale
    relevance: Floats


class ContrastStudy:
    def __init__(self, topic: ContrastTopic, settings: ContrastSettings | None = None) -> None:
        self.settings = settings or ContrastSettings()
        self.topic = topic
        self.vector = partial(telling_words, most=self.settings.words)
        self.meaning = Meaning(topic.meaning) if topic.meaning else None
        self._usual_meaning = UsualMeaning()
        self._keywords = np.unique(numbers_of(topic.keywords)).astype(np.int64)
        self._pages = StudiedPages()
        self._relevance: Floats = np.zeros(64, dtype=np.float32)
        self._is_example: NDArray[np.bool_] = np.zeros(64, dtype=np.bool_)
        self._seeds: list[int] = []
        """Page numbers."""
        self._answers: dict[int, bool] = {}
        """By page number: whether a person says that the page is relevant."""
        self._table_scores = TableScores()
        self._idf, self._weights = idf_of_table(), np.zeros(SIZE, dtype=np.float32)
        self._scale = Scale(0.0, 1.0)
        self._verdict: Conclusion | None = None
        self._said: Floats = np.zeros(64, dtype=np.float32)
        self._said_of = 0
        """Number of pages of which it is known what the last verdict says; others wait until somebody asks."""
        self._known_examples: list[int] | None = None
        """What `_examples` found last, unless it may have changed since."""
        self._judged_at = 0
        """Number of pages when they were last judged."""
        for page in topic.examples:
            self._add(page, is_example=True)
        self._given = self._pages.count
        """Number of pages that were given, not crawled."""
        self._fitting = FittingSeeds()
        self.learn()
        self._before_crawl = self.view

    # ── adding pages ──────────────────────────────────────────────────────────────────────────────────────

    def add(
        self,
        page: tuple[Words, NDArray[np.uint8]],
        *,
        host: int = 0,
        is_seed: bool = False,
        relevance: float = 0.0,  # noqa: ARG002 - part of the protocol: the study judges for itself
        meaning: float = UNKNOWN,
    ) -> float:
        """Add a page of the crawl; return its relevance by what is known so far."""
        vector, number = PageVector(*page), self._pages.count
        is_example = is_seed and self.topic.learns_from_seeds and len(vector.words) > 0
        if is_seed:
            self._seeds.append(number)
        if is_example and self.topic.seeds_must_fit:
            self._fitting.add(number, vector, relevance=self._before_crawl.relevance(vector))
            akin = self._fitting.akin
            is_example = self._fitting.are_examples and number in akin
            self._is_example[[other for other in akin if other < number]] = self._fitting.are_examples
            self._known_examples = None
        return self._add(vector, is_example=is_example, host=host, meaning=meaning)

    def _add(self, page: PageVector, *, is_example: bool, host: int = 0, meaning: float = UNKNOWN) -> float:
        number = self._pages.add(page, host=host, meaning=meaning)
        self._relevance = grown(self._relevance, number + 1)
        self._is_example = grown(self._is_example, number + 1)
        self._is_example[number] = is_example
        if is_example:
            self._known_examples = None
        relevance = self._nearness(number)
        self._relevance[number] = max(relevance, MIN_EXAMPLE_RELEVANCE) if is_example else relevance
        self._said = grown(self._said, number + 1)
        if self._verdict is None:
            self._said[number] = self._relevance[number]
        return float(self._relevance[number])

    def answer(self, place: int, is_relevant: bool | None) -> None:
        page = self._given + place
        self._say()
        self._known_examples = None
        self._judged_at = 0  # what was said of other pages is out of date, too
        self._answers.pop(page, None)
        if is_relevant is None:
            self._relevance[page] = self._nearness(page)
        else:
            self._answers[page] = is_relevant
            self._relevance[page] = self._said[page] = float(is_relevant)

    # ── snapshots ─────────────────────────────────────────────────────────────────────────────────────────

    @property
    def snapshots(self) -> Snapshots:
        return Snapshots(self._take, self._load)

    def _take(self) -> Tree:
        count = self._pages.count
        self._say()
        return {
            "given": self._given,
            "pages": self._pages.take(),
            "relevance": self._relevance[:count].copy(),
            "is_example": self._is_example[:count].copy(),
            "seeds": list(self._seeds),
            "fitting": self._fitting.take(),
            "answers": list(self._answers.items()),
            "table_scores": self._table_scores.take(),
            "idf": self._idf,
            "weights": self._weights,
            "scale": [float(bound) for bound in self._scale],
            "verdict": self._verdict.view.take() if self._verdict else None,
            "usual_meaning": list(self._usual_meaning),
            "drift": self.drift,
            "said": self._said[:count].copy(),
            "judged_at": self._judged_at,
        }

    def _load(self, saved: Tree) -> None:
        if saved["given"] != self._given:
            raise ValueError(f"{saved['given']} examples were given, not {self._given}")
        self._pages.load(saved["pages"])
        relevance, is_example, said = saved["relevance"], saved["is_example"], saved["said"]
        if not len(relevance) == len(is_example) == len(said) == self._pages.count:
            raise ValueError(f"the relevance of {len(relevance)} of {self._pages.count} pages")
        self._relevance, self._is_example, self._said = with_room(relevance), with_room(is_example), with_room(said)
        self._said_of, self._known_examples = self._pages.count, None
        self._seeds = saved["seeds"]
        self._fitting.load(saved["fitting"])
        self._answers = dict(saved["answers"])
        self._table_scores.load(saved["table_scores"])
        self._idf, self._weights, self._scale = saved["idf"].copy(), saved["weights"].copy(), Scale(*saved["scale"])
        self._usual_meaning = UsualMeaning(*saved.get("usual_meaning", UsualMeaning()))
        if saved["verdict"] is not None:
            self._verdict = Conclusion(said.copy(), VerdictView.loaded(saved["verdict"]), saved["drift"])
        self._judged_at = saved["judged_at"]

    # ── results ───────────────────────────────────────────────────────────────────────────────────────────

    @property
    def weights(self) -> Floats:
        """w, by word number."""
        return self._weights

    @property
    def relevance(self) -> Floats:
        """How near each crawled page is to the topic, in the order they were added. Read-only."""
        return self._relevance[self._given : self._pages.count]

    @property
    def idf_of_table(self) -> Floats:
        return idf_of_table()

    @property
    def examples(self) -> dict[int, PageVector]:
        """The crawled pages it currently learns from, by position in the crawl, from 0."""
        return {number - self._given: self._pages[number] for number in self._examples() if number >= self._given}

    def judge_vector(self, page: tuple[Words, NDArray[np.uint8]]) -> float:
        return self.view.relevance(PageVector(*page))

    @property
    def has_words(self) -> bool:
        return bool(self.topic.keywords)

    @property
    def learns_from_seeds(self) -> bool:
        return self.topic.learns_from_seeds

    @property
    def seeds_are_in_doubt(self) -> bool:
        return self._fitting.are_in_doubt

    def word_strengths(self) -> Floats:
        return self._verdict.view.word_strengths if self._verdict else self._weights * self._idf

    @property
    def view(self) -> ContrastView:
        """What is known now: learning replaces the arrays and does not change them."""
        return ContrastView(self._idf, self._weights, self._scale, self.settings.steepness)

    def _nearness(self, number: int) -> float:
        """Of one page, by what was learned last."""
        bonus = self._usual_meaning.bonus_of(self._pages.meanings[number]) if self._counts_meaning else 0.0
        return self.view.relevance(self._pages[number], bonus)

    @property
    def _counts_meaning(self) -> bool:
        """Examples say more about a topic than the meaning of its words does."""
        return self.meaning is not None and not self._examples()

    # ── learning ──────────────────────────────────────────────────────────────────────────────────────────

    def learn(self) -> None:
        learned = self._learned()
        self._idf, self._weights = learned.weighing.idf, learned.weighing.weights
        self._scale = learned.scale
        self._usual_meaning = UsualMeaning.of(self._pages.meanings)
        self._relevance[: self._pages.count] = learned.relevance

    def _learned(self) -> _Learned:
        """What all pages teach. Starting from the previous relevance would perpetuate its errors."""
        nothing = np.zeros(self._pages.count, dtype=np.float32)
        table = self._weighed_by(idf_of_table())
        table.weigh([], nothing, nothing)
        scores = self._table_scores.update(self._pages, table, self._examples())
        r = self._judged(table, scores, self._table_scores.total_norm, nothing).relevance
        site_weights = self._site_weights(r)
        weighing = self._weighed_by(specific(self._pages, with_same_sum(self._doubt(r) ** 2, site_weights)))
        blocks = list(self._pages.blocks(weighing.idf))
        total_norm = float(sum(block.norms.sum() for block in blocks))
        weighing.weigh(blocks, nothing, r)
        r = self._judged(weighing, weighing.scores(blocks), total_norm, nothing).relevance
        weighing.weigh(blocks, with_same_sum(self._doubt(r) ** 2, site_weights), r)
        scores = weighing.scores(blocks)
        r = self._judged(weighing, scores, total_norm, self._doubt(r) ** 2).relevance
        return self._judged(weighing, scores, total_norm, self._doubt(r))

    def _examples(self) -> list[int]:
        """Those given, seeds that are examples, and pages that a person says are relevant, once they are enough.
        Read-only."""
        if self._known_examples is not None:
            return self._known_examples
        found = set(np.flatnonzero(self._is_example[: self._pages.count]).tolist())
        found -= {page for page, is_relevant in self._answers.items() if not is_relevant}
        confirmed = {page for page, is_relevant in self._answers.items() if is_relevant}
        self._known_examples = sorted(found | confirmed if found or len(confirmed) >= ENOUGH_CONFIRMED else found)
        return self._known_examples

    def _weighed_by(self, idf: Floats) -> Weighing:
        return Weighing(self._pages, idf, examples=self._examples(), keywords=self._keywords, settings=self.settings)

    def _doubt(self, relevance: Floats) -> Floats:
        """By page: how surely it is not about the topic."""
        doubt = 1.0 - relevance
        doubt[self._examples()] = 0.0
        return doubt

    def _site_weights(self, relevance: Floats) -> Floats:
        """By page: its weight among the pages that are not about the topic."""
        weights = np.ones(self._pages.count, dtype=np.float32)
        relevant = [seed for seed in self._seeds if relevance[seed] >= MIN_SEED_RELEVANCE]
        hosts = self._pages.hosts
        weights[np.isin(hosts, hosts[relevant]) & (hosts > 0)] = SEED_SITE_WEIGHT
        weights[list(self._answers)] = 1.0
        return weights

    def _bonus(self) -> Floats:
        """By page: what its meaning adds to its place on the scale."""
        return UsualMeaning.of(self._pages.meanings).bonus(self._pages.meanings)

    def _judged(self, weighing: Weighing, scores: Floats, total_norm: float, doubt: Floats) -> _Learned:
        """The scale and the relevance of all pages. `doubt`: how surely each is not about the topic."""
        scores = weighing.by_others(scores)
        scale = weighing.scale(scores, total_norm, doubt)
        if self._counts_meaning:
            found = scale.relevance(scores + self._bonus() * scale.width, self.settings.steepness)
        else:
            found = scale.relevance(scores, self.settings.steepness)
        examples = self._examples()
        found[examples] = np.maximum(found[examples], MIN_EXAMPLE_RELEVANCE)
        found[list(self._answers)] = list(self._answers.values())
        return _Learned(weighing, scores, scale, found)

    # ── what is said of the pages ─────────────────────────────────────────────────────────────────────────

    def verdicts(self) -> Floats:
        """How likely each crawled page is about the topic, by all that is known now, in the order they were added."""
        examples = self._examples()
        if not examples and not len(self._keywords):
            return self.relevance
        learned = self._learned()  # not `learn`: when that is done is for the strategy to decide
        known: NDArray[Any] = np.full(self._pages.count, np.nan)
        known[examples] = 1.0
        known[list(self._answers)] = list(self._answers.values())
        self._verdict = verdict(
            Findings(
                self._pages,
                examples,
                self._keywords,
                self.settings,
                known,
                learned.scale.place(learned.scores),
                (learned.weighing, learned.scale),
                self._table_scores,
                self._site_weights(learned.relevance),
                self.meaning is not None,
            )
        )
        self._said[: self._pages.count] = self._verdict.probability
        self._judged_at = self._said_of = self._pages.count
        return self.said

    def _say(self) -> None:
        """By the last verdict, of the pages added since."""
        count = self._pages.count
        if self._verdict is not None and self._said_of < count:
            self._said[self._said_of : count] = self._verdict.view.of_pages(self._pages, self._said_of)
            self._said_of = count

    def verdict_on(self, page: tuple[Words, NDArray[np.uint8]]) -> float:
        """On any page, by its words alone and the last verdicts."""
        return self._verdict.view.judged(*page)[0] if self._verdict else self.judge_vector(page)

    @property
    def said(self) -> Floats:
        """The last verdicts; those on pages added since are by the words of the page alone. Read-only."""
        self._say()
        return self._said[self._given : self._pages.count]

    def recent_verdicts(self) -> Floats:
        """The last verdicts, unless the crawl has grown by a quarter since."""
        return self.verdicts() if self._pages.count >= MAX_GROWTH * self._judged_at else self.said

    @property
    def judged_pages(self) -> int:
        return max(0, self._judged_at - self._given)

    @property
    def drift(self) -> float:
        """Share of the pages called relevant by the last verdict that what was given would not call so by itself."""
        return self._verdict.drift if self._verdict else 0.0

    def near_misses(self) -> tuple[int, NDArray[np.int64]]:
        """Number of pages that guide the crawl as if they were about the topic, and are not by the last verdicts; and
        the words that tell them from those that are, the most telling first."""
        said, is_near = self.said, self.relevance >= NEAR
        missed, about = np.flatnonzero(is_near & (said < UNLIKELY)), np.flatnonzero(said >= 0.5)

        def sample(places: NDArray[np.int64]) -> list[PageVector]:
            return [self._pages[self._given + place] for place in places[-MOST_COMPARED:].tolist()]

        strength = mean_row(sample(missed)) - mean_row(sample(about))
        strength[self._keywords] = 0.0
        order = np.argsort(-strength, kind="stable")
        return len(missed), order[: np.count_nonzero(strength > 0)]

    def as_judge(self, threshold: float) -> ContrastJudge:
        """A judge that agrees with the last verdict."""
        from lycosa.judges.contrast.judge import ContrastJudge  # it imports this module

        view = self._verdict.view if self._verdict else self.view
        return ContrastJudge(self.topic, view, self.settings, threshold=threshold)
