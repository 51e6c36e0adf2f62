"""The experiments of paper TC (Menczer, Pant and Srinivasan: Topical web crawlers, TOIT 2004) on a recorded web.

    make reproduce-tc            all of it: two cores are busy for an hour or two
    make reproduce-tc QUICK=1    fewer topics, repeats and pages: does it work

World: the Wikipedia Selection for Schools (wikispeedia), labels by people. Every comparison is kept in out/tc/ as
soon as it is done, so that an interrupted run goes on where it was. Writes docs/papers/tc.md and its pictures.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from common import NOTES, Claim, Evidence, Pictures, Results, built_world, over_pages, plan_key, verdicts

from lycosa.cli.compare import compare_in_parallel
from lycosa.lab.evaluate.pictures import Line, Plot
from lycosa.lab.evaluate.runs import Comparison
from lycosa.lab.evaluate.summary import final_values, over_topics, performance
from lycosa.lab.replay.compare import ComparePlan
from lycosa.lab.worlds.world import World

RESULTS = Results("tc")
BUFFERS = (256, 512, 1024, 2048)
MAIN = ("breadth-first", "best-first-1", "shark-1", "infospiders")
GENERAL = ("best-first-1", "best-first-256", "shark-1", "shark-256")
SPIDERS = ("infospiders", "infospiders-no-learning", "infospiders-no-evolution", "infospiders-neither")
ALL = tuple(dict.fromkeys((*MAIN, *GENERAL, *SPIDERS)))
PORTION = 5
"""Topics that are compared and kept together."""
LONG = ("breadth-first", "best-first-256", "infospiders")
BOUNDS = ("random", "oracle", "look-ahead")
save = Pictures(RESULTS, (*ALL, *BOUNDS), BOUNDS).save


@dataclass(frozen=True)
class Scale:
    topics: int
    repeats: int
    pages: int
    cost_topics: int
    long_topics: int
    long_pages: int


FULL = Scale(topics=50, repeats=10, pages=1_000, cost_topics=10, long_topics=10, long_pages=4_000)
QUICK = Scale(topics=6, repeats=1, pages=300, cost_topics=2, long_topics=2, long_pages=600)


class Experiments:
    """The comparisons, each run once and kept."""

    def __init__(self, world: Path, scale: Scale) -> None:
        opened = World.open(world)
        by_size = sorted(opened.topics, key=lambda topic: (-len(opened.pages_of(topic)), topic))
        self.topics = tuple(by_size[: scale.topics])
        self.sizes = [len(opened.pages_of(topic)) for topic in self.topics]
        self.scale = scale
        self._base = ComparePlan(
            world=world, topics=self.topics, strategies=ALL, distance=3, pages=scale.pages, repeats=scale.repeats
        )

    def quality(self, buffer: int) -> Comparison:
        """Figures 12, 13, 18, 19, 20, 22: what is found. Crawls of a topic share similarities."""
        return self._kept(f"quality, buffer {buffer}", replace(self._base, buffer=buffer, is_timed=False))

    def cost(self, buffer: int) -> Comparison:
        """Figures 15 and 23: what it costs. Every crawl pays for itself; fewer topics, one repeat."""
        spread = self.topics[:: max(1, len(self.topics) // self.scale.cost_topics)][: self.scale.cost_topics]
        return self._kept(f"cost, buffer {buffer}", replace(self._base, buffer=buffer, topics=spread, repeats=1))

    def long(self) -> Comparison:
        """Figure 24: long crawls."""
        plan = replace(
            self._base,
            strategies=LONG,
            topics=self.topics[: self.scale.long_topics],
            pages=self.scale.long_pages,
            buffer=2048,
            repeats=max(1, self.scale.repeats // 3),
            is_timed=False,
        )
        return self._kept("long crawls", plan)

    def _kept(self, name: str, plan: ComparePlan) -> Comparison:
        """In portions of a few topics, each kept when it is done: an interruption costs minutes, not an hour."""
        portions = [plan.topics[at : at + PORTION] for at in range(0, len(plan.topics), PORTION)]
        parts = [
            self._portion(f"{name}, part {number} of {len(portions)}", replace(plan, topics=topics))
            for number, topics in enumerate(portions, start=1)
        ]
        whole = [scores for part in parts for scores in part.scores]
        skipped = [each for part in parts for each in part.skipped]
        return replace(parts[0], scores=whole, skipped=skipped)

    def _portion(self, name: str, plan: ComparePlan) -> Comparison:
        said = f"{name}: {len(plan.topics)} topics × {plan.repeats} × {len(plan.names)} crawls"
        return RESULTS.kept(said, plan_key(plan), lambda: compare_in_parallel(plan, title=f"TC: {name}"))


# Pictures


def over_buffers(
    comparisons: Sequence[Comparison],
    figure: Callable[[Comparison], tuple[np.ndarray, np.ndarray]],
    names: Sequence[str],
    title: str,
    *,
    is_share: bool = False,
) -> Plot:
    """A figure at the end of the crawl, by size of the buffer."""
    values = [figure(comparison) for comparison in comparisons]
    lines = []
    for name in names:
        at = comparisons[0].strategies.index(name)
        lines.append(
            Line(name, np.array([mean[at] for mean, _ in values]), np.array([error[at] for _, error in values]))
        )
    x = np.log2(np.array(BUFFERS[: len(comparisons)], dtype=np.float64))
    return Plot(title, "log₂ of the buffer (links that may wait)", "", x, lines, is_share=is_share, has_points=True)


def final(metric: str) -> Callable[[Comparison], tuple[np.ndarray, np.ndarray]]:
    def figure(comparison: Comparison) -> tuple[np.ndarray, np.ndarray]:
        summary = over_topics(final_values(comparison, metric))
        return summary.mean, summary.error

    return figure


def final_performance(comparison: Comparison) -> tuple[np.ndarray, np.ndarray]:
    summary = performance(comparison)
    return summary.mean[:, -1], summary.error[:, -1]


# Findings

CLAIMS = (
    Claim("12", "Breadth-First is the worst: below Best-First", "best-first-1", "breadth-first", "recall"),
    Claim("12", "… and below InfoSpiders", "infospiders", "breadth-first", "recall"),
    Claim("12", "… and below Shark-Search", "shark-1", "breadth-first", "recall"),
    Claim("12", "Best-First beats Shark-Search", "best-first-1", "shark-1", "recall"),
    Claim("12", "InfoSpiders and Best-First are equally good at 1,000 pages", "infospiders", "best-first-1", "recall"),
    Claim("18", "BFS256 starts behind BFS1", "best-first-1", "best-first-256", "recall", 99),
    Claim("18", "… and overtakes it", "best-first-256", "best-first-1", "recall"),
    Claim("18", "exploration helps Shark-Search: Shark256 beats Shark1", "shark-256", "shark-1", "recall"),
    Claim("20", "learning hurts short crawls", "infospiders-no-learning", "infospiders", "recall"),
    Claim("20", "evolution does not hurt", "infospiders", "infospiders-no-evolution", "recall"),
)


def page(experiments: Experiments) -> str:
    quality = [experiments.quality(buffer) for buffer in BUFFERS]
    cost = [experiments.cost(buffer) for buffer in BUFFERS]
    long = experiments.long()
    scale, sizes = experiments.scale, experiments.sizes
    parts = [
        HEAD.format(
            topics=len(quality[0].scores),
            repeats=scale.repeats,
            pages=scale.pages,
            low=min(sizes),
            high=max(sizes),
            cost_topics=len(cost[0].scores),
            long_topics=len(long.scores),
            long_pages=scale.long_pages,
        ),
        "## What holds here\n",
        "| figure | the paper's finding | here | evidence |\n|---|---|---|---|",
        *verdicts([*(claim.against(quality[0]) for claim in CLAIMS), *_scaling(quality), *_long_claims(long)]),
        NOTES,
        "## Figure 12: target recall and similarity over pages\n",
    ]
    for comparison, buffer in zip(quality, BUFFERS, strict=True):
        parts.append(
            save(f"12-recall-{buffer}", over_pages(comparison, "recall", MAIN, f"Target recall, buffer {buffer}"))
        )
        parts.append(
            save(f"12-similarity-{buffer}", over_pages(comparison, "similarity", MAIN, f"Similarity, buffer {buffer}"))
        )
    parts += ["\n## Figure 13: scaling with the buffer\n", *_buffer_pair("13", quality, MAIN)]
    parts += [
        "\n## Figure 15: cost and performance per cost\n",
        save("15-cost", over_buffers(cost, final("cost"), MAIN, "Relative cost")),
        save("15-performance", over_buffers(cost, final_performance, MAIN, "Performance per cost")),
        "\n## Figure 18: generalised Best-First and Shark-Search, buffer 256\n",
        save("18-recall", over_pages(quality[0], "recall", GENERAL, "Target recall")),
        save("18-similarity", over_pages(quality[0], "similarity", GENERAL, "Similarity to the description")),
        "\n## Figure 19: generalised Best-First with the buffer\n",
        *_buffer_pair("19", quality, GENERAL[:2]),
        "\n## Figure 20: InfoSpiders, learning and evolution\n",
        save("20-recall-256", over_pages(quality[0], "recall", SPIDERS, "Target recall, buffer 256")),
        save("20-similarity-256", over_pages(quality[0], "similarity", SPIDERS, "Similarity, buffer 256")),
        save("20-recall-2048", over_pages(quality[-1], "recall", SPIDERS, "Target recall, buffer 2048")),
        save("20-similarity-2048", over_pages(quality[-1], "similarity", SPIDERS, "Similarity, buffer 2048")),
        "\n## Figure 22: InfoSpiders with the buffer\n",
        *_buffer_pair("22", quality, SPIDERS),
        "\n## Figure 23: cost of learning and evolution\n",
        save("23-cost", over_buffers(cost, final("cost"), SPIDERS, "Relative cost")),
        save("23-performance", over_buffers(cost, final_performance, SPIDERS, "Performance per cost")),
        f"\n## Figure 24: long crawls, {scale.long_pages:,} pages\n",
        save("24-recall", over_pages(long, "recall", LONG, "Target recall")),
        save("24-similarity", over_pages(long, "similarity", LONG, "Similarity to the description")),
        "\n## All figures at the end of the crawls\n",
        *_tables(quality),
    ]
    return "\n".join(parts) + "\n"


def _buffer_pair(figure: str, quality: Sequence[Comparison], names: Sequence[str]) -> list[str]:
    return [
        save(f"{figure}-recall", over_buffers(quality, final("recall"), names, "Target recall", is_share=True)),
        save(f"{figure}-similarity", over_buffers(quality, final("similarity"), names, "Similarity")),
    ]


def _scaling(quality: Sequence[Comparison]) -> list[Evidence]:
    """Figures 13, 19 and 22: does a larger buffer help?"""
    rows = []
    for figure, name, says in (
        ("13", "best-first-1", "Best-First gains little or nothing from a larger buffer"),
        ("13", "breadth-first", "Breadth-First is not helped by a larger buffer"),
        ("22", "infospiders", "InfoSpiders do not scale with the buffer"),
    ):
        small, large = (
            np.array([scores.curves["recall"][comparison.strategies.index(name), -1] for scores in comparison.scores])
            for comparison in (quality[0], quality[-1])
        )
        means = f"recall {small.mean():.3f} with 256 links, {large.mean():.3f} with 2,048"
        words = ("**does not hold: it gains**", "**holds: it loses**", "no gain shown")
        rows.append(Evidence(figure, says, np.asarray(large - small, dtype=np.float64), means, words))
    return rows


def _long_claims(long: Comparison) -> list[Evidence]:
    return [
        Claim("24", "in long crawls Breadth-First stays behind", "best-first-256", "breadth-first", "recall").against(
            long
        ),
        Claim("24", "InfoSpiders overtake BFS256", "infospiders", "best-first-256", "recall").against(long),
    ]


def _tables(quality: Sequence[Comparison]) -> list[str]:
    lines = []
    for comparison, buffer in zip(quality, BUFFERS, strict=True):
        recall, similarity, harvest = (
            over_topics(final_values(comparison, name)) for name in ("recall", "similarity", "harvest")
        )
        lines.append(f"\nBuffer {buffer}, mean ± standard error over {len(comparison.scores)} topics:\n")
        lines.append("| strategy | target recall | similarity | harvest rate |\n|---|---|---|---|")
        for at, name in enumerate(comparison.strategies):
            cells = (f"{part.mean[at]:.3f} ± {part.error[at]:.3f}" for part in (recall, similarity, harvest))
            lines.append(f"| {name} | {' | '.join(cells)} |")
    return lines


HEAD = """# Paper TC: topical web crawlers, evaluated

F. Menczer, G. Pant, P. Srinivasan: *Topical web crawlers: evaluating adaptive algorithms*, ACM TOIT 4(4), 2004.
This page is made by `make reproduce-tc`; its figures carry the paper's numbers.

World: the Wikipedia Selection for Schools 2007 (wikispeedia), one host, 5,213 pages, labels by people. {topics} topics
(the largest, {low} to {high} pages), 10 seeds a crawl, 3 links before the targets, {pages:,} pages a crawl, crawls from
other seeds for each topic: {repeats}. All strategies see the topic's name as keywords and nothing else. Costs:
{cost_topics} topics, one crawl each, nothing shared between crawls. Long crawls: {long_topics} topics,
{long_pages:,} pages. Bands and ± are one standard error over topics; p values are of a paired Wilcoxon test over
topics, with a buffer of 256 links where nothing else is said.

Differs from the paper: one encyclopedia instead of the web of 2001, so everything is near everything (three links reach
most of the world); topics are named by one to three words; crawls of 50,000 pages are not possible in a world of 5,213.
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="few topics and pages; does not touch docs/")
    parser.add_argument("--repeats", type=int, help="instead of 10")
    options = parser.parse_args()
    world = built_world("wikispeedia")
    if world is None:
        print("skipped: the world wikispeedia is not at ../shared/worlds (or $LYCOSA_SHARED/worlds)")
        return
    scale = QUICK if options.quick else FULL
    if options.repeats:
        scale = replace(scale, repeats=options.repeats)
    RESULTS.publish(page(Experiments(world, scale)), is_quick=options.quick)


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit("interrupted; the comparisons that are done are kept")
