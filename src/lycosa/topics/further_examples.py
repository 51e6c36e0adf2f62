"""Further examples for a topic: pages near its examples that share its words (paper FC, section 2.1).

FC shows "URLs of pages in the neighborhood of the example whose titles have many words in common with the most
distinctive words of the topic". Near means a few links away, in either direction (`within`). The words are those that
set the topic apart from the others: a word's weight is its contribution to the divergence between inside and outside,
Pr[in]·log(Pr[in] / Pr[out]), where Pr is the share of documents that contain it (`distinctive_words`).

    rank = (share of the weight in title and anchor + share of it in the text) · 2 / (1 + distance)

A page one link away counts fully, one two links away two thirds; of equals, the one that more examples are linked with
is first. Differs from FC, which compares titles only: the anchor of the link counts as the title does, and the text.
"""

from __future__ import annotations

import heapq
import math
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lycosa.judges.classifier import Example
from lycosa.judges.taxonomy import is_at_or_below
from lycosa.lib.text import stems

MAX_VOCABULARY = 200_000
MAX_TITLE = 300


class Near(NamedTuple):
    """How near a page is to the examples."""

    distance: int
    links: int
    """Links to or from examples; from two links away, to or from pages that are one link nearer."""


def within(links: Callable[[], Iterable[NDArray[np.int64]]], starts: Collection[int], distance: int) -> dict[int, Near]:
    """The pages within this number of links of the starts, in either direction, without the starts.

    `links`: called once for each distance; arrays of (source, target).
    """
    reached = np.unique(np.fromiter(starts, dtype=np.int64, count=len(starts)))
    edge = reached
    found: dict[int, Near] = {}
    for step in range(1, distance + 1):
        news = []
        for pairs in links():
            for here, there in ((0, 1), (1, 0)):
                other = pairs[np.isin(pairs[:, here], edge), there]
                news.append(other[~np.isin(other, reached)])
        edge, counts = np.unique(np.concatenate([*news, np.zeros(0, np.int64)]), return_counts=True)
        found |= {int(page): Near(step, int(count)) for page, count in zip(edge, counts, strict=True)}
        reached = np.union1d(reached, edge)
    return found


class Candidate(NamedTuple):
    """A page that might become an example."""

    url: str
    title: str
    terms: Mapping[str, int] = {}
    """Words of its text; empty if only its title is known."""
    anchor: str = ""
    """Text of a link to it."""
    near: Near = Near(1, 0)


class Proposal(NamedTuple):
    url: str
    title: str
    score: float
    """Share of the weight of the topic's words that is in title and anchor."""
    words: tuple[str, ...]
    """Stems in title and anchor that are words of the topic, heaviest first."""
    distance: int = 1


def distinctive_words(examples: Iterable[Example], topic: str, *, count: int = 30) -> dict[str, float]:
    """The stems that set a topic and its subtree apart, heaviest first. The examples are iterated twice."""
    inside: Counter[str] = Counter()
    size = others = 0
    for example in examples:
        if _is_under(example, topic):
            size += 1
            inside.update(example.page.terms.keys())
            if len(inside) > MAX_VOCABULARY:
                inside = Counter(dict(inside.most_common(MAX_VOCABULARY // 2)))
    outside: Counter[str] = Counter()
    for example in examples:
        if not _is_under(example, topic):
            others += 1
            outside.update(term for term in example.page.terms if term in inside)
    weights = {}
    for term, times in inside.items():
        # One more document with the word and one without it: a word met once proves little.
        within, without = (times + 1) / (size + 2), (outside[term] + 1) / (others + 2)
        if within > without:
            weights[term] = within * math.log(within / without)
    best = heapq.nsmallest(count, weights.items(), key=lambda item: (-item[1], item[0]))
    return dict(best)


def further_examples(
    candidates: Iterable[Candidate],
    words: Mapping[str, float],
    *,
    known: Collection[str] = (),
    count: int = 20,
) -> list[Proposal]:
    """The candidates that share most of the words and are nearest, best first; of pages with the same title only one.

    A candidate must share a word by its title or anchor. `words` are from `distinctive_words`; `known` are URLs that
    are already examples. Memory does not grow with the number of candidates.
    """
    whole = sum(words.values())
    if not whole:
        return []
    best: dict[str, tuple[tuple[float, int], Proposal]] = {}
    for candidate in candidates:
        if candidate.url in known:
            continue
        title, near = candidate.title[:MAX_TITLE], candidate.near
        names = {stem for stem in stems(f"{title} {candidate.anchor[:MAX_TITLE]}") if stem in words}
        shared = sorted(names, key=lambda stem: (-words[stem], stem))
        if not shared:
            continue
        score = sum(words[stem] for stem in shared) / whole
        in_text = sum(words[term] for term in candidate.terms.keys() & words.keys()) / whole
        rank = (score + in_text) * 2 / (1 + near.distance), near.links
        if title not in best or rank > best[title][0]:
            best[title] = (rank, Proposal(candidate.url, title, score, tuple(shared), near.distance))
            if len(best) > 100 * count:
                best = dict(_leaders(best, count))
    return [proposal for _, (_, proposal) in _leaders(best, count)]


Ranked = tuple[tuple[float, int], Proposal]


def _leaders(best: Mapping[str, Ranked], count: int) -> list[tuple[str, Ranked]]:
    def order(item: tuple[str, Ranked]) -> tuple[float, int, str]:
        (rank, links), proposal = item[1]
        return -rank, -links, proposal.url

    return heapq.nsmallest(count, best.items(), key=order)


def _is_under(example: Example, topic: str) -> bool:
    return any(is_at_or_below(name, topic) for name in example.topics)
