"""What is said of the pages of a crawl: how likely each is about the topic.

A study's relevance guides a crawl, and is generous: it says how near a page is to the topic, and near misses often link
to hits. A report has to be right. It is made of the same scores in three steps, each held by what does not move:

    table      z₁: words as specific as the shipped table says, weights by examples and keywords alone
    contrast   z₂: the study's own scores. A blend of both is separated into two groups (`mixture`)
    near       z₃: as the study's, with the pages that are now surely not about the topic as what it is not. These are
               near misses for the most part, as a crawl meets few others
    verdict    z₁ and z₃ blended and separated

The more of a crawl's pages are on the topic, the less z₂ and z₃ can tell apart, as few pages are left that are not; z₁
does not depend on them.

Without examples, the pages that contain most of the person's words take their place, up to 100 of those that z₁ finds
relevant. As they were chosen by their words, they may be about something else: how far they are to be trusted, and what
is said if they are not, is decided by `by_words`. The person's words never count less than the table says they should,
however many pages contain them.

Relevance → verdict, on replayed crawls of 500 pages (`bench/trust.py`, test topics, means over webs): calibration error
from 20 examples .20 → .12, from five .20 → .12, from one .16 → .10; from words .29 → .09 on wikispeedia, .20 → .11 on
webs of one subject (.06 and .11 with meaning), where it calls few pages relevant: a quarter of those that are.
The share called relevant is right at any prevalence where the topic can be told at all (AUC .98 or more), from words,
too. Tried without success, as AUC rose by .003 at most and calibration got worse: the predictions of the links that
lead to a page, and the verdicts of the ten pages nearest to it. From words: to blend in the study's relevance, which
helps where little is relevant, and harms where much is.
"""

from __future__ import annotations

from functools import reduce
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lycosa.judges.contrast.by_words import Hedge
from lycosa.judges.contrast.mixture import HIGHEST, LOWEST, Anchor, separate
from lycosa.judges.contrast.page_vector import COUNT_WEIGHT, Floats, Scale, idf_of_table
from lycosa.judges.contrast.studied_pages import StudiedPages
from lycosa.judges.contrast.weighing import ContrastSettings, TableScores, Weighing, specific, with_same_sum
from lycosa.judges.meaning import UNKNOWN
from lycosa.lib.snapshot import Tree

LOW_BY_TABLE = 0.45
"""z₁ of pages that are not about the topic, if there are examples: .49 on wikispeedia, .46 on debian-docs (means over
topics, ± .16), .18 on generated webs. With any number of words: .13, .02 and .04."""
MOST_FOUND, LEAST_FOUND = 100, 10
"""Number of pages found that take the place of examples."""
SHARE_FOUND = 0.7
"""Share of the pages that z₁ finds relevant that do so."""
ENOUGH_FOUND = 3
BY_WORDS = Anchor(low=0.1, high=0.6, low_pages=20.0, high_pages=50.0, spread=0.25)
"""For z₁, if there are keywords but no examples: on topics of wikispeedia .13 and .56 (± .28)."""


class _Method(NamedTuple):
    """The constants, by what a topic is given by."""

    first: float
    """Share of z₁ in the first blend; the rest is z₂."""
    last: float
    """Share of z₁ in the last blend; the rest is z₃."""
    high: float
    low_pages: float
    high_pages: float
    spread_pages: float = 30.0

    def anchor(self, share: float) -> Anchor:
        return Anchor(LOW_BY_TABLE * share, self.high, self.low_pages, self.high_pages, spread_pages=self.spread_pages)


BY_EXAMPLES = _Method(0.4, 0.5, high=1.0, low_pages=5.0, high_pages=1000.0)
BY_ONE_EXAMPLE = _Method(0.25, 0.25, high=1.0, low_pages=5.0, high_pages=50.0, spread_pages=20.0)
BY_FOUND_PAGES = _Method(1.0, 0.5, high=0.9, low_pages=20.0, high_pages=1000.0)


class _Side(NamedTuple):
    """A part of the log-odds: x · w + offset."""

    idf: Floats
    weights: Floats
    offset: float

    @classmethod
    def of(cls, weighing: Weighing, scale: Scale, factor: float) -> _Side:
        """`factor` times z."""
        each = factor / scale.width
        return cls(weighing.idf, weighing.weights * np.float32(each), -each * scale.low)

    def parts(self, words: NDArray[Any], counts: NDArray[Any]) -> Floats:
        """By word of a page: its contribution."""
        values = COUNT_WEIGHT[counts] * self.idf[words]
        norm = np.sqrt(values @ values) or np.float32(1)
        parts: Floats = values * self.weights[words] / norm
        return parts

    def of_pages(self, pages: StudiedPages, start: int) -> NDArray[np.float64]:
        """Of each page from `start` on: the contributions of all its words together."""
        blocks = pages.blocks(self.idf, start)
        return np.concatenate([np.zeros(0), *(block.vectors.by_row(self.weights) for block in blocks)])


class VerdictView(NamedTuple):
    """The verdict on single pages, as of one moment."""

    sides: tuple[_Side, ...]
    intercept: float
    near: _Side | None = None
    """z₂, if there are no examples."""
    hedge: Hedge | None = None

    @property
    def counts_meaning(self) -> bool:
        return self.hedge is not None and self.hedge.meaning > 0

    @property
    def word_strengths(self) -> Floats:
        """By word number: above 0 where the word speaks for the topic, below 0 where it speaks against it."""
        strengths: Floats = np.sum([side.weights * side.idf for side in self.sides], axis=0)
        if self.near is not None and self.hedge is not None:
            strengths = strengths * self.hedge.odds + self.near.weights * self.near.idf * self.hedge.near
        return strengths.astype(np.float32)

    def judged(self, words: NDArray[Any], counts: NDArray[Any], meaning: float = UNKNOWN) -> tuple[float, Floats]:
        """The probability, and each word's contribution to its log-odds."""
        if not len(words):
            return 0.0, np.zeros(0, dtype=np.float32)
        parts: Floats = reduce(np.add, [side.parts(words, counts) for side in self.sides])
        odds = np.array([float(parts.sum()) + sum(side.offset for side in self.sides) + self.intercept])
        if self.near is not None and self.hedge is not None:
            by_study = self.near.parts(words, counts)
            near = np.array([float(by_study.sum()) + self.near.offset])
            odds = self.hedge.said(odds, near, np.array([meaning]))
            parts = (parts * self.hedge.odds + by_study * self.hedge.near).astype(np.float32)
        return float(_probability(odds)[0]), parts

    def of_pages(self, pages: StudiedPages, start: int) -> Floats:
        """The probability for each page from `start` on: that of `judged`, but for rounding."""
        odds = np.full(pages.count - start, sum(side.offset for side in self.sides) + self.intercept)
        for side in self.sides:
            odds += side.of_pages(pages, start)
        if self.near is not None and self.hedge is not None:
            near = self.near.of_pages(pages, start) + self.near.offset
            odds = self.hedge.said(odds, near, pages.meanings[start:])
        return np.where(pages.are_empty(start), 0.0, _probability(odds)).astype(np.float32)

    def take(self) -> Tree:
        """`lib.snapshot.Snapshots.take`."""
        sides = {str(at): side._asdict() for at, side in enumerate(self.sides)}
        return {
            "sides": sides,
            "intercept": float(self.intercept),
            "near": self.near._asdict() if self.near else None,
            "hedge": [float(each) for each in self.hedge] if self.hedge else None,
        }

    @classmethod
    def loaded(cls, saved: Tree) -> VerdictView:
        def side(kept: Tree) -> _Side:
            return _Side(kept["idf"].copy(), kept["weights"].copy(), kept["offset"])

        near, hedge = saved["near"], saved["hedge"]
        return cls(
            tuple(side(kept) for kept in saved["sides"].values()),
            saved["intercept"],
            side(near) if near else None,
            Hedge(*hedge) if hedge else None,
        )


class Conclusion(NamedTuple):
    probability: Floats
    """By page."""
    view: VerdictView
    drift: float
    """Share of what is called relevant that the person's words and examples, with the table, would not."""


class Findings(NamedTuple):
    """What a study knows."""

    pages: StudiedPages
    examples: list[int]
    keywords: NDArray[np.int64]
    settings: ContrastSettings
    known: NDArray[np.float64]
    """By page: 1 or 0 if it is known whether it is about the topic, else NaN."""
    scores: NDArray[Any]
    """By page: z₂."""
    guide: tuple[Weighing, Scale]
    """How z₂ is made."""
    table: TableScores
    site_weights: Floats
    has_meaning: bool = False


def verdict(findings: Findings) -> Conclusion:
    """Judge all pages."""
    if findings.examples:
        method = BY_EXAMPLES if len(findings.examples) > 1 else BY_ONE_EXAMPLE
        return _by_examples(findings, findings.examples, method, findings.table)[0]
    table, scores = _by_table(findings, [], findings.table)
    first = separate(scores, BY_WORDS, findings.known)
    found = np.flatnonzero(first.probability(scores) >= 0.5)
    count = min(max(LEAST_FOUND, int(SHARE_FOUND * len(found))), MOST_FOUND)
    found = found[np.argsort(-scores[found], kind="stable")[:count]]
    if len(found) >= ENOUGH_FOUND:
        conclusion, odds = _by_examples(findings, sorted(found.tolist()), BY_FOUND_PAGES, TableScores())
        return _hedged(findings, odds, conclusion.view, conclusion.drift, scores)
    odds = first.slope * (scores - first.middle)
    view = VerdictView((_Side.of(*table, first.slope),), -first.slope * first.middle)
    return _hedged(findings, odds, view, 0.0, scores)


def _by_examples(
    findings: Findings, examples: list[int], method: _Method, known_scores: TableScores
) -> tuple[Conclusion, NDArray[Any]]:
    """The verdict and its log-odds. `examples` may be pages found."""
    pages, known = findings.pages, findings.known
    is_given = bool(findings.examples)
    table, by_table = _by_table(findings, examples, known_scores)
    blend = method.first * by_table + (1 - method.first) * findings.scores
    r = separate(blend, method.anchor(method.first), known).probability(blend)
    doubt = (1 - np.where(np.isnan(known), r, known)).astype(np.float32)
    doubt[examples] = 0.0
    doubt = doubt**2
    others = with_same_sum(doubt, findings.site_weights)
    idf = specific(pages, others)
    if not is_given:
        idf[findings.keywords] = np.maximum(idf[findings.keywords], idf_of_table()[findings.keywords])
    blocks = list(pages.blocks(idf))
    weighing = _weighing(findings, examples, idf)
    weighing.weigh(blocks, others, r.astype(np.float32))
    scores = weighing.by_others(weighing.scores(blocks))
    scale = weighing.scale(scores, float(sum(block.norms.sum() for block in blocks)), doubt)
    blend = method.last * by_table + (1 - method.last) * scale.place(scores)
    groups = separate(blend, method.anchor(method.last), known)
    odds = groups.slope * (np.clip(blend, LOWEST, HIGHEST) - groups.middle)
    sides = (_Side.of(*table, groups.slope * method.last), _Side.of(weighing, scale, groups.slope * (1 - method.last)))
    view = VerdictView(sides, -groups.slope * groups.middle)
    drift = _drift(_probability(odds), separate(by_table, method.anchor(1.0), known).probability(by_table), known)
    return Conclusion(_said(findings, odds), view, drift), odds


def _hedged(
    findings: Findings, odds: NDArray[Any], view: VerdictView, drift: float, by_words: NDArray[Any]
) -> Conclusion:
    """With the certainty that words alone allow. `by_words`: z₁ by these."""
    meanings = findings.pages.meanings
    hedge = Hedge.by_meaning(odds, meanings) if findings.has_meaning else Hedge.by_words(odds, by_words)
    hedged = view._replace(near=_Side.of(*findings.guide, 1.0), hedge=hedge)
    return Conclusion(_said(findings, hedge.said(odds, findings.scores, meanings)), hedged, drift)


def _drift(said: NDArray[Any], alone: NDArray[Any], known: NDArray[Any]) -> float:
    is_open = np.isnan(known)
    mass = float(said[is_open].sum())
    return float(said[is_open] @ (1 - alone[is_open])) / mass if mass > 0 else 0.0


def _by_table(
    findings: Findings, examples: list[int], known_scores: TableScores
) -> tuple[tuple[Weighing, Scale], NDArray[Any]]:
    """z₁, and how it is made."""
    nothing = np.zeros(findings.pages.count, dtype=np.float32)
    weighing = _weighing(findings, examples, idf_of_table())
    weighing.weigh([], nothing, nothing)
    scores = weighing.by_others(known_scores.update(findings.pages, weighing, examples))
    scale = Scale(0.0, weighing.scale(scores, known_scores.total_norm, nothing).high)
    return (weighing, scale), scale.place(scores)


def _weighing(findings: Findings, examples: list[int], idf: Floats) -> Weighing:
    return Weighing(findings.pages, idf, examples=examples, keywords=findings.keywords, settings=findings.settings)


def _said(findings: Findings, odds: NDArray[Any]) -> Floats:
    return np.where(np.isnan(findings.known), _probability(odds), findings.known).astype(np.float32)


def _probability(odds: NDArray[Any]) -> NDArray[np.float64]:
    probability: NDArray[np.float64] = 1.0 / (1.0 + np.exp(-np.clip(odds.astype(np.float64), -30.0, 30.0)))
    return probability
