"""What paper TC found, and what was found here: differences, paired over topics, that findings stand or fall with.

Where the paper finds no difference, a difference found here is what speaks against it: the words say so.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from common import Claim, Evidence

from lycosa.lab.evaluate.runs import Comparison, Floats, Scores
from lycosa.lab.evaluate.summary import final_values

MAIN = ("breadth-first", "best-first-1", "shark-1", "infospiders")
SPIDERS = ("infospiders", "infospiders-no-learning", "infospiders-no-evolution", "infospiders-neither")
EARLY = 99
"""The 100th page."""
CLAIMS = (
    Claim("12", "Breadth-First is the worst: below Best-First", "best-first-1", "breadth-first", "recall"),
    Claim("12", "… and below InfoSpiders", "infospiders", "breadth-first", "recall"),
    Claim("12", "by similarity Shark-Search beats it at a buffer of 256", "shark-1", "breadth-first", "similarity"),
    Claim("12", "Best-First beats Shark-Search", "best-first-1", "shark-1", "recall"),
    Claim("18", "BFS256 starts behind BFS1", "best-first-1", "best-first-256", "recall", EARLY),
    Claim("18", "… and overtakes it", "best-first-256", "best-first-1", "recall"),
    Claim("18", "exploration helps Shark-Search: Shark256 beats Shark1", "shark-256", "shark-1", "recall"),
    Claim("20", "learning hinders recall", "infospiders-no-learning", "infospiders", "recall"),
    Claim("20", "evolution hinders recall", "infospiders-no-evolution", "infospiders", "recall"),
)
"""With a buffer of 256 links."""
EQUALITIES = (
    Claim("12", "by recall Shark-Search is no better than Breadth-First", "shark-1", "breadth-first", "recall"),
    Claim("12", "InfoSpiders and Best-First are equally good at 1,000 pages", "infospiders", "best-first-1", "recall"),
)
"""Pairs of which the paper finds neither ahead, with the same buffer."""


def dynamic(quality: Comparison) -> list[Evidence]:
    """Figures 12, 18 and 20, with a buffer of 256."""
    return [
        *(claim.against(quality) for claim in CLAIMS),
        *(as_equality(claim, claim.against(quality)) for claim in EQUALITIES),
    ]


def as_equality(claim: Claim, evidence: Evidence) -> Evidence:
    words = tuple(f"**does not hold: {name} is ahead**" for name in (claim.better, claim.worse))
    return replace(evidence, words=(*words, "no difference shown, as in the paper"))


def first_steps(at_targets: Comparison) -> list[Evidence]:
    """Figure 11: crawls that start at targets."""
    claim = Claim("11", "PageRank is below Best-First from targets (D = 0)", "best-first-1", "pagerank", "similarity")
    worse = Claim("11", "… and below Breadth-First (text, 3.2.1)", "breadth-first", "pagerank", "similarity")
    return [claim.against(at_targets), worse.against(at_targets)]


def scaling(quality: Sequence[Comparison], buffers: Sequence[int]) -> list[Evidence]:
    """Figures 13 and 22: does a larger buffer help?"""
    unaffected = ("**does not hold: it gains**", "**does not hold: it loses**", "no difference shown, as in the paper")
    rises = ("**holds**", "**the other way round**", "no difference shown")
    falls = ("**the other way round: it gains**", "**holds: it loses**", "no difference shown")
    rows: list[Evidence] = []
    if len(buffers) == 1:
        return rows
    for figure, name, says, metric, last, words in (
        ("13", "best-first-1", "Best-First is not affected by the buffer", "recall", -1, unaffected),
        ("13", "shark-1", "Shark-Search is not affected by the buffer", "recall", -1, unaffected),
        ("13", "breadth-first", "Breadth-First's recall is not affected by the buffer", "recall", -1, unaffected),
        ("13", "breadth-first", "… but its similarity rises from 256 to 512", "similarity", 1, rises),
        ("22", "infospiders", "InfoSpiders lose as the buffer grows", "recall", -1, falls),
    ):
        if last == 1 and len(buffers) == 2:
            continue  # only the smallest and the largest were crawled with
        small, large = (
            final_values(comparison, metric)[:, comparison.strategies.index(name)]
            for comparison in (quality[0], quality[last])
        )
        means = f"{metric} {small.mean():.3f} with {buffers[0]:,} links, {large.mean():.3f} with {buffers[last]:,}"
        rows.append(Evidence(figure, says, np.asarray(large - small, dtype=np.float64), means, words))
    return rows


def long_crawls(long: Comparison) -> list[Evidence]:
    return [
        Claim("24", "in long crawls Breadth-First stays behind", "best-first-256", "breadth-first", "recall").against(
            long
        ),
        Claim("24", "InfoSpiders overtake BFS256", "infospiders", "best-first-256", "recall").against(long),
    ]


def costs(cost: Sequence[Comparison]) -> list[Evidence]:
    """Figures 15 and 23: CPU time at the end of the crawls, of each topic the mean over the buffers; C as shown."""
    words = ("**holds**", "**the other way round**", "no difference shown")
    equal = ("**does not hold: it is dearer**", "**does not hold: it is cheaper**", "no difference shown")
    main, spiders = ([among(comparison, names) for comparison in cost] for names in (MAIN, SPIDERS))
    rows = []
    for figure, says, shown, metric, more, less, said in (
        ("15", "Shark-Search is dearer than Best-First", main, "cost", "shark-1", "best-first-1", words),
        ("15", "Best-First is dearer than InfoSpiders", main, "cost", "best-first-1", "infospiders", words),
        ("15", "InfoSpiders are almost as cheap as Breadth-First", main, "cost", "infospiders", "breadth-first", equal),
        ("15", "per cost InfoSpiders beat Breadth-First", main, "per cost", "infospiders", "breadth-first", words),
        ("15", "per cost Breadth-First beats Best-First", main, "per cost", "breadth-first", "best-first-1", words),
        ("15", "per cost Shark-Search is last, below Best-First", main, "per cost", "best-first-1", "shark-1", words),
        ("23", "learning makes InfoSpiders dearer", spiders, "cost", SPIDERS[0], SPIDERS[1], words),
        ("23", "evolution makes InfoSpiders cheaper", spiders, "cost", SPIDERS[2], SPIDERS[0], words),
        ("23", "per cost evolution without learning is best", spiders, "per cost", SPIDERS[1], SPIDERS[3], words),
    ):
        values = np.mean([ended(comparison, metric) for comparison in shown], axis=0)
        first, second = (values[:, shown[0].strategies.index(name)] for name in (more, less))
        means = f"{metric}: {more} {first.mean():.3f}, {less} {second.mean():.3f}"
        rows.append(Evidence(figure, says, first - second, means, said))
    return rows


def ended(comparison: Comparison, metric: str) -> Floats:
    """Topics × strategies at the end of the crawl: the cost, or recall · similarity / cost of each topic."""
    cost = final_values(comparison, "cost")
    if metric == "cost":
        return cost
    return final_values(comparison, "recall") * final_values(comparison, "similarity") / np.maximum(cost, 1e-9)


def among(comparison: Comparison, names: Sequence[str]) -> Comparison:
    """The same crawls with these strategies alone, and relative costs among them: C are the strategies shown."""
    places = [comparison.strategies.index(name) for name in names]
    return replace(
        comparison, strategies=tuple(names), scores=[_among(scores, places, names) for scores in comparison.scores]
    )


def _among(scores: Scores, places: list[int], names: Sequence[str]) -> Scores:
    curves = {metric: values[places] for metric, values in scores.curves.items()}
    mean = float(curves["cost"][:, -1].mean())
    curves["cost"] = curves["cost"] / mean if mean > 0 else curves["cost"]
    return replace(
        scores,
        strategies=tuple(names),
        curves=curves,
        distances=scores.distances[places],
        relevances=scores.relevances[places],
    )
