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
relevant. As they were chosen by their words, they say less about others than examples would, and what is said by them
is said with half the certainty. The person's words never count less than the table says they should, however many pages
contain them.

The means over crawls that landed with the guide alone (500 pages, development topics of wikispeedia, debian-docs,
generated webs and webs of one subject; `bench/trust.py`), relevance → verdict: from 5 and 20 examples calibration error
.19 → .08, judged share off by .13 → .06; from one example .18 → .10; from words .29 → .24. Tried without success, as
AUC rose by .003 at most and calibration got worse: the predictions of the links that lead to a page, and the verdicts
of the ten pages nearest to it.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lycosa.judges.contrast.mixture import Anchor, Separation, separate
from lycosa.judges.contrast.page_vector import COUNT_WEIGHT, Floats, Scale, idf_of_table
from lycosa.judges.contrast.studied_pages import StudiedPages
from lycosa.judges.contrast.weighing import ContrastSettings, TableScores, Weighing, specific, with_same_sum

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
CERTAINTY_WITHOUT_EXAMPLES = 0.5


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
    """A part of the score: x · w + offset."""

    idf: Floats
    weights: Floats
    offset: float

    @classmethod
    def of(cls, weighing: Weighing, scale: Scale, share: float) -> _Side:
        width = max(scale.high - scale.low, 1e-6)
        return cls(weighing.idf, weighing.weights * np.float32(share / width), -share * scale.low / width)

    def parts(self, words: NDArray[Any], counts: NDArray[Any]) -> Floats:
        """By word of a page: its contribution to the score."""
        values = COUNT_WEIGHT[counts] * self.idf[words]
        norm = np.sqrt(values @ values) or np.float32(1)
        parts: Floats = values * self.weights[words] / norm
        return parts


class VerdictView(NamedTuple):
    """The verdict on single pages, as of one moment."""

    sides: tuple[_Side, ...]
    separation: Separation
    certainty: float

    def judged(self, words: NDArray[Any], counts: NDArray[Any]) -> tuple[float, Floats]:
        """The probability, and each word's contribution to its log-odds."""
        if not len(words):
            return 0.0, np.zeros(0, dtype=np.float32)
        parts = np.sum([side.parts(words, counts) for side in self.sides], axis=0)
        score = float(parts.sum()) + sum(side.offset for side in self.sides)
        probability = _tempered(self.separation.probability(np.array([score])), self.certainty)
        return float(probability[0]), parts * np.float32(self.separation.slope * self.certainty)


class Verdict(NamedTuple):
    probability: Floats
    """By page."""
    view: VerdictView
    drift: float
    """Share of what is called relevant that the person's words and examples, with the table, would not."""


class Evidence(NamedTuple):
    """What a study knows."""

    pages: StudiedPages
    examples: list[int]
    keywords: NDArray[np.int64]
    settings: ContrastSettings
    known: NDArray[np.float64]
    """By page: 1 or 0 if it is known whether it is about the topic, else NaN."""
    scores: NDArray[Any]
    """By page: z₂."""
    table: TableScores
    site_weights: Floats


def verdict(evidence: Evidence) -> Verdict:
    """Judge all pages."""
    if evidence.examples:
        method = BY_EXAMPLES if len(evidence.examples) > 1 else BY_ONE_EXAMPLE
        return _by_examples(evidence, evidence.examples, method, evidence.table)
    table, scores = _by_table(evidence, [], evidence.table)
    first = separate(scores, BY_WORDS, evidence.known)
    found = np.flatnonzero(first.probability(scores) >= 0.5)
    count = min(max(LEAST_FOUND, int(SHARE_FOUND * len(found))), MOST_FOUND)
    found = found[np.argsort(-scores[found], kind="stable")[:count]]
    if len(found) >= ENOUGH_FOUND:
        return _by_examples(evidence, sorted(found.tolist()), BY_FOUND_PAGES, TableScores())
    view = VerdictView((_Side.of(*table, 1.0),), first, CERTAINTY_WITHOUT_EXAMPLES)
    return Verdict(_said(evidence, scores, view), view, 0.0)


def _by_examples(evidence: Evidence, examples: list[int], method: _Method, known_scores: TableScores) -> Verdict:
    """`examples` may be pages found."""
    pages, known = evidence.pages, evidence.known
    is_given = bool(evidence.examples)
    table, by_table = _by_table(evidence, examples, known_scores)
    blend = method.first * by_table + (1 - method.first) * evidence.scores
    r = separate(blend, method.anchor(method.first), known).probability(blend)
    doubt = (1 - np.where(np.isnan(known), r, known)).astype(np.float32)
    doubt[examples] = 0.0
    doubt = doubt**2
    others = with_same_sum(doubt, evidence.site_weights)
    idf = specific(pages, others)
    if not is_given:
        idf[evidence.keywords] = np.maximum(idf[evidence.keywords], idf_of_table()[evidence.keywords])
    blocks = list(pages.blocks(idf))
    weighing = _weighing(evidence, examples, idf)
    weighing.weigh(blocks, others, r.astype(np.float32))
    scores = weighing.by_others(weighing.scores(blocks))
    scale = weighing.scale(scores, float(sum(block.norms.sum() for block in blocks)), doubt)
    near = scale.place(scores)
    blend = method.last * by_table + (1 - method.last) * near
    view = VerdictView(
        (_Side.of(*table, method.last), _Side.of(weighing, scale, 1 - method.last)),
        separate(blend, method.anchor(method.last), known),
        1.0 if is_given else CERTAINTY_WITHOUT_EXAMPLES,
    )
    said = _said(evidence, blend, view)
    alone = separate(by_table, method.anchor(1.0), known).probability(by_table)
    is_open = np.isnan(known)
    mass = float(said[is_open].sum())
    return Verdict(said, view, float(said[is_open] @ (1 - alone[is_open])) / mass if mass > 0 else 0.0)


def _by_table(
    evidence: Evidence, examples: list[int], known_scores: TableScores
) -> tuple[tuple[Weighing, Scale], NDArray[Any]]:
    """z₁, and how it is made."""
    nothing = np.zeros(evidence.pages.count, dtype=np.float32)
    weighing = _weighing(evidence, examples, idf_of_table())
    weighing.weigh([], nothing, nothing)
    scores = weighing.by_others(known_scores.update(evidence.pages, weighing, examples))
    scale = Scale(0.0, weighing.scale(scores, known_scores.total_norm, nothing).high)
    return (weighing, scale), scale.place(scores)


def _weighing(evidence: Evidence, examples: list[int], idf: Floats) -> Weighing:
    return Weighing(evidence.pages, idf, examples=examples, keywords=evidence.keywords, settings=evidence.settings)


def _said(evidence: Evidence, scores: NDArray[Any], view: VerdictView) -> Floats:
    probability = _tempered(view.separation.probability(scores), view.certainty)
    return np.where(np.isnan(evidence.known), probability, evidence.known).astype(np.float32)


def _tempered(probability: NDArray[np.float64], certainty: float) -> NDArray[np.float64]:
    if certainty == 1:
        return probability
    inside = np.clip(probability, 1e-6, 1 - 1e-6)
    return 1.0 / (1.0 + ((1 - inside) / inside) ** certainty)
