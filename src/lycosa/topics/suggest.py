"""Suggestions for a person who describes an interest (paper FC, sections 2.1, 2.2 and 4.1).

- `fitting_topics`: where in the tree do these examples belong? For each of them the likeliest leaves, and the deepest
  topic that is more likely than not; the same for all of them together. Topics that were moved or renamed since the
  judge was trained are meant where they are now, those that were removed are not.
- `neighbouring_topics`: what else is prominent one link away from relevant pages, and whether to widen the focus.
  FC's crawl on mutual funds stagnated because links from such pages lead to investment in general, which it
  rejected; the remedy is "to add some of the parents and/or siblings of the relevant topics".

Differs from FC, which leaves it to the person to notice: a focus is called inseparable from a relative (parent or
sibling of a good topic) if links from relevant pages lead into that relative, outside the focus, at least as often as
back into the focus. Then the smallest widening that includes it is suggested: one sibling if most of it is one sibling,
else the parent.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lycosa.judges.classifier import ANY, Classifier, leaves_of, parent_of, with_ancestors
from lycosa.judges.taxonomy import is_at_or_below
from lycosa.model import Page

MORE_LIKELY_THAN_NOT = 0.5
LEAST_PAGES = 50
"""Minimum number of pages in the neighbourhood for giving advice."""
INSEPARABLE = 1.0
"""A relative is inseparable from the focus if it is at least this many times as frequent around it as the focus."""
ONE_SIBLING = 0.8
"""Minimum share of the surroundings at which one sibling, frequent enough itself, is suggested, not the parent."""
PROMINENT = 0.02
"""Minimum share of the neighbourhood of a topic that is reported."""
MAX_NEIGHBOURS = 20


class TopicFit(NamedTuple):
    topic: str
    probability: float


class PageFit(NamedTuple):
    """Where one example belongs, or all of them on average."""

    url: str
    title: str
    leaves: tuple[TopicFit, ...]
    """The likeliest, best first."""
    cover: TopicFit
    """The deepest topic that is more likely than not; ANY (with 1.0) if none is."""


@dataclass(frozen=True, slots=True)
class Fits:
    pages: tuple[PageFit, ...]
    overall: PageFit
    """By the mean probability over the pages."""


def fitting_topics(
    classifier: Classifier, pages: Iterable[Page], *, count: int = 5, places: Mapping[str, str] | None = None
) -> Fits:
    """The topics that pages fit best, one by one and together. Pages without words are left out.

    `places`: where each topic of the classifier is now, if the tree has changed since (`judges.current_places`).
    """
    move = _Relocation(classifier.topics_, places or dict(zip(classifier.topics_, classifier.topics_, strict=True)))
    topics = move.topics
    total = np.zeros(len(topics))
    fits = []
    for page in pages:
        if not page.terms:
            continue
        shares = move.shares(classifier.posteriors(page))
        total += shares
        fits.append(_fit(page.url, page.title, topics, shares, count))
    return Fits(tuple(fits), _fit("", "", topics, total / max(len(fits), 1), count))


class _Relocation:
    """Probabilities by topic of the tree as it is now, from those by topic of the tree as the classifier knows it.

    What a topic has beyond its subtopics moves with it; the topics above its new place gain it, the old ones lose it.
    """

    def __init__(self, old: Sequence[str], places: Mapping[str, str]) -> None:
        self.topics = with_ancestors(places.values())
        row_of = {topic: row for row, topic in enumerate(old)}
        self._parents = [(row_of[parent_of(topic)], row) for topic, row in row_of.items() if parent_of(topic)]
        column_of = {topic: column for column, topic in enumerate(self.topics)}
        self._gains = [
            (row_of[topic], column_of[above])
            for topic, place in places.items()
            if topic in row_of
            for above in with_ancestors([place])
        ]

    def shares(self, old: NDArray[np.float64]) -> NDArray[np.float64]:
        own = np.array(old, dtype=np.float64)
        for parent, child in self._parents:
            own[parent] -= old[child]
        shares = np.zeros(len(self.topics))
        for row, column in self._gains:
            shares[column] += max(0.0, own[row])
        return shares


def _fit(url: str, title: str, topics: Sequence[str], shares: NDArray[np.float64], count: int) -> PageFit:
    all_fits = [TopicFit(topic, share) for topic, share in zip(topics, shares.tolist(), strict=True)]
    leaves = [all_fits[place] for place in leaves_of(topics)]
    best = heapq.nsmallest(count, leaves, key=lambda fit: (-fit.probability, fit.topic))
    likely = [fit for fit in all_fits if fit.probability > MORE_LIKELY_THAN_NOT]
    # They are on one path: two siblings cannot both be more likely than not.
    cover = max(likely, key=lambda fit: fit.topic.count("/"), default=TopicFit(ANY, 1.0))
    return PageFit(url, title, tuple(best), cover)


# Neighbouring topics


class JudgedPage(NamedTuple):
    scores: Mapping[str, float]
    """Pr[topic | page] of the likeliest topics (`model.Judgement.scores`)."""
    citing_relevant: int
    """Number of relevant pages that link to it; unless 0, it belongs to the neighbourhood."""


class Neighbour(NamedTuple):
    topic: str
    share: float
    """Share of the pages that relevant pages link to, without those under good topics."""
    share_elsewhere: float
    """Share of the other pages of the crawl: a topic that is as frequent there is everywhere, not near."""


class WideningAdvice(NamedTuple):
    good: str
    """The good topic that is inseparable from its surroundings."""
    widen_to: str
    """The topic to mark good: instead of it if this is the parent, as well if this is a sibling."""
    reason: str


@dataclass(frozen=True, slots=True)
class Neighbourhood:
    pages: int
    """Pages that relevant pages link to."""
    focus: float
    """Share of them under good topics: how often a link stays inside."""
    neighbours: tuple[Neighbour, ...]
    """Inner topics and leaves, largest share first."""
    advice: tuple[WideningAdvice, ...]


def neighbouring_topics(pages: Iterable[JudgedPage], good: Sequence[str]) -> Neighbourhood:
    """What surrounds the focus, and whether to widen it. One pass; memory grows with topics, not with pages."""
    near: dict[str, float] = {}
    far: dict[str, float] = {}
    near_count = far_count = 0
    for page in pages:
        if page.citing_relevant > 0:
            near_count += 1
            _add(near, page.scores)
        else:
            far_count += 1
            _add(far, page.scores)
    shares = _outside(near, near_count, good)
    elsewhere = _outside(far, far_count, good)
    found = [
        Neighbour(topic, share, elsewhere.get(topic, 0.0)) for topic, share in shares.items() if share >= PROMINENT
    ]
    found.sort(key=lambda neighbour: (-neighbour.share, neighbour.topic))
    focus = {topic: near.get(topic, 0.0) / max(near_count, 1) for topic in good}
    advice: list[WideningAdvice] = []
    if near_count >= LEAST_PAGES:
        advice = [one for topic in good if (one := _advice(topic, focus, shares)) is not None]
    return Neighbourhood(near_count, min(1.0, sum(focus.values())), tuple(found[:MAX_NEIGHBOURS]), tuple(advice))


def _add(sums: dict[str, float], scores: Mapping[str, float]) -> None:
    """Add a page's scores, including ancestors: a judge keeps only the likeliest topics and may have dropped one."""
    whole: dict[str, float] = {}
    for topic in sorted(with_ancestors(scores), key=lambda name: -name.count("/")):
        share = max(scores.get(topic, 0.0), whole.get(topic, 0.0))
        whole[topic] = share
        parent = parent_of(topic)
        if parent:
            whole[parent] = whole.get(parent, 0.0) + share
    for topic, share in whole.items():
        sums[topic] = sums.get(topic, 0.0) + min(1.0, share)


def _outside(sums: Mapping[str, float], count: int, good: Sequence[str]) -> dict[str, float]:
    """Share of each topic that is not at or below a good one, without the good topics below it."""
    shares = {}
    for topic, total in sums.items():
        if any(is_at_or_below(topic, name) for name in good):
            continue
        inside = sum(sums.get(name, 0.0) for name in good if name.startswith(f"{topic}/"))
        shares[topic] = max(0.0, total - inside) / max(count, 1)
    return shares


def _advice(topic: str, focus: Mapping[str, float], shares: Mapping[str, float]) -> WideningAdvice | None:
    parent = parent_of(topic)
    own = focus[topic]
    siblings = [name for name in shares if parent_of(name) == parent]
    nearest = max(siblings, key=lambda name: (shares[name], name), default=ANY)
    # At the top there is no parent to widen to: ANY is every page.
    around = shares.get(parent or nearest, 0.0)
    least = INSEPARABLE * own
    if around <= 0 or around < least:
        return None
    takes_one = nearest != ANY and shares[nearest] >= max(least, ONE_SIBLING * around)
    widen_to = nearest if takes_one else parent
    where, how = (widen_to, "as well") if takes_one else (f"{parent} outside the focus", "instead")
    return WideningAdvice(
        topic,
        widen_to,
        f"of the pages that relevant pages link to, {shares[widen_to]:.0%} are on {where} and {own:.0%} on {topic}: a "
        f"crawl that rejects the former will not find the latter; mark {widen_to} good {how}",
    )
