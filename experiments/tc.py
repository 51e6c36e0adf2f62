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
from common import NOTES, Pictures, Results, built_world, over_pages, plan_key, verdicts
from tc_findings import MAIN, SPIDERS, among, costs, dynamic, first_steps, long_crawls, scaling
from tc_watched import FARTHEST, agent_errors, seed_distances, smoothed

from lycosa.cli.compare import compare_in_parallel
from lycosa.cli.spreading import Spread
from lycosa.lab.evaluate.pictures import Line, Plot
from lycosa.lab.evaluate.runs import Comparison
from lycosa.lab.evaluate.summary import final_values, over_topics, performance
from lycosa.lab.replay.compare import ComparePlan
from lycosa.lab.worlds.world import World

RESULTS = Results("tc")
GENERAL = ("best-first-1", "best-first-256", "shark-1", "shark-256")
ALL = tuple(dict.fromkeys((*MAIN, *GENERAL, *SPIDERS)))
PORTION = 5
"""Topics that are compared and kept together."""
LONG = ("breadth-first", "best-first-256", "infospiders")
AT_TARGETS = ("breadth-first", "best-first-1", "pagerank")
QUEUES = ("heap", "hash, sorted every page", "hash, sorted every 256 pages", "heap that knows its links (ours)")
ERRORS = ("the net", "the estimate")
BOUNDS = ("random", "oracle", "look-ahead")
LINKS_A_PAGE = 7
"""L in figure 14: links on a page of the web, as the paper has it."""
WINDOW = 25
"""Pages over which the errors in figure 21 are averaged."""
save = Pictures(RESULTS, (*ALL, "pagerank", *QUEUES, *ERRORS, *BOUNDS), BOUNDS).save


@dataclass(frozen=True)
class Scale:
    topics: int
    repeats: int
    pages: int
    cost_topics: int
    long_topics: int
    long_pages: int
    agent_topics: int = 8
    """Of figure 21: the paper's own number."""
    buffers: tuple[int, ...] = (256, 512, 1024, 2048)
    is_short: bool = False
    """Quality is that of the crawls for the cost, and there are no long crawls."""


FULL = Scale(topics=50, repeats=10, pages=1_000, cost_topics=16, long_topics=16, long_pages=4_000)
SHORTER = replace(FULL, repeats=1, long_topics=0, is_short=True)
"""For a machine with little time: what is found is of the crawls for the cost, and no long crawls. The page says so."""
QUICK = Scale(topics=6, repeats=1, pages=300, cost_topics=2, long_topics=2, long_pages=600)


class Experiments:
    """The comparisons, each run once and kept."""

    def __init__(self, world: Path, scale: Scale, processes: int = 0) -> None:
        self._processes = processes
        opened = World.open(world)
        by_size = sorted(opened.topics, key=lambda topic: (-len(opened.pages_of(topic)), topic))
        self.topics = tuple(by_size[: scale.topics])
        self.sizes = [len(opened.pages_of(topic)) for topic in self.topics]
        self.scale = scale
        self._base = ComparePlan(
            world=world,
            topics=self.topics,
            strategies=ALL,
            distance=3,
            pages=scale.pages,
            repeats=scale.repeats,
            bounds=("random", "oracle"),
        )

    def quality(self, buffer: int) -> Comparison:
        """Figures 12, 13, 18, 19, 20, 22: what is found. Crawls of a topic share similarities."""
        if self.scale.is_short:
            return self.cost(buffer)
        return self._kept(f"quality, buffer {buffer}", replace(self._base, buffer=buffer, is_timed=False))

    def cost(self, buffer: int) -> Comparison:
        """Figures 15 and 23: what it costs. Every crawl pays for itself; fewer topics, one repeat."""
        spread = self.topics[:: max(1, len(self.topics) // self.scale.cost_topics)][: self.scale.cost_topics]
        return self._kept(
            f"cost, buffer {buffer}", replace(self._base, buffer=buffer, topics=spread, repeats=1, bounds=())
        )

    def at_targets(self) -> Comparison:
        """Figure 11: crawls that start at targets, with PageRank."""
        plan = replace(self._base, strategies=AT_TARGETS, distance=0, repeats=1, is_timed=False, bounds=())
        return self._kept("from targets", plan)

    def seed_distances(self) -> np.ndarray:
        key = f"seed distances {plan_key(self._base)}"
        return RESULTS.kept("distances of the seeds", key, lambda: seed_distances(self._base))

    def agent_errors(self, buffer: int) -> tuple[np.ndarray, np.ndarray]:
        """Figure 21."""
        base, topics = self._base, self.topics[: self.scale.agent_topics]
        key = f"errors of an agent {plan_key(replace(base, topics=topics, buffer=buffer))}"
        return RESULTS.kept(
            "errors of an agent",
            key,
            lambda: agent_errors(base.world, topics, pages=base.pages, buffer=buffer, seed=base.seed),
        )

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
            bounds=(),
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
        return RESULTS.kept(
            said, plan_key(plan), lambda: compare_in_parallel(plan, Spread(self._processes), title=f"TC: {name}")
        )


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
    x = np.log2(np.array([comparison.manifest["plan"]["buffer"] for comparison in comparisons], dtype=np.float64))
    return Plot(title, "log₂ of the buffer (links that may wait)", "", x, lines, is_share=is_share, has_points=True)


def final(metric: str) -> Callable[[Comparison], tuple[np.ndarray, np.ndarray]]:
    def figure(comparison: Comparison) -> tuple[np.ndarray, np.ndarray]:
        summary = over_topics(final_values(comparison, metric))
        return summary.mean, summary.error

    return figure


def queue_costs() -> Plot:
    """Figure 14, by the paper's formulas: L · B for a heap, L + B log B for a hash that is sorted; (L + 1) log B."""
    buffers = np.array(FULL.buffers, dtype=np.float64)
    sorting = buffers * np.log2(buffers)
    values = (
        LINKS_A_PAGE * buffers,
        LINKS_A_PAGE + sorting,
        LINKS_A_PAGE + sorting / 256,
        (LINKS_A_PAGE + 1) * np.log2(buffers),
    )
    lines = [Line(name, each) for name, each in zip(QUEUES, values, strict=True)]
    x = np.log2(buffers)
    return Plot("Operations a page", "log₂ of the buffer (links that may wait)", "", x, lines, has_points=True)


def errors_plot(net: np.ndarray, estimate: np.ndarray) -> Plot:
    lines = [Line(name, smoothed(each, WINDOW)) for name, each in zip(ERRORS, (net, estimate), strict=True)]
    x = np.arange(1, net.shape[1] + 1, dtype=np.float64)
    return Plot(f"Error of the similarity expected, mean of {WINDOW} pages", "pages fetched", "", x, lines)


def final_performance(comparison: Comparison) -> tuple[np.ndarray, np.ndarray]:
    summary = performance(comparison)
    return summary.mean[:, -1], summary.error[:, -1]


# The page


def page(experiments: Experiments) -> str:
    scale, sizes = experiments.scale, experiments.sizes
    buffers = scale.buffers
    cost = [experiments.cost(buffer) for buffer in buffers]
    at_targets = experiments.at_targets()
    quality = [experiments.quality(buffer) for buffer in buffers]
    long = experiments.long() if scale.long_topics else None
    parts = [
        HEAD.format(
            topics=len(quality[0].scores),
            largest=scale.topics,
            repeats=scale.repeats,
            pages=scale.pages,
            low=min(sizes),
            high=max(sizes),
            cost_topics=len(cost[0].scores),
            long=f"Long crawls: {len(long.scores)} topics, {scale.long_pages:,} pages. " if long else "",
            distances=_distances(experiments.seed_distances()),
        ),
        *([RAN_SHORTER.format(largest=scale.topics)] if scale.is_short else []),
        "## What holds here\n",
        "| figure | the paper's finding | here | evidence |\n|---|---|---|---|",
        *verdicts(
            [
                *first_steps(at_targets),
                *dynamic(quality[0]),
                *scaling(quality, buffers),
                *costs(cost),
                *(long_crawls(long) if long else []),
            ]
        ),
        NOTES,
        "## Figure 11: from targets (D = 0), with PageRank\n",
        save("11-similarity", over_pages(at_targets, "similarity", AT_TARGETS, "Similarity to the description, D = 0")),
        "",
        "## Figure 12: target recall and similarity over pages\n",
    ]
    for comparison, buffer in zip(quality, buffers, strict=True):
        parts.append(
            save(f"12-recall-{buffer}", over_pages(comparison, "recall", MAIN, f"Target recall, buffer {buffer}"))
        )
        parts.append(
            save(f"12-similarity-{buffer}", over_pages(comparison, "similarity", MAIN, f"Similarity, buffer {buffer}"))
        )
    parts += _over_sizes("13", "scaling with the buffer", quality, MAIN)
    main, spiders = ([among(comparison, names) for comparison in cost] for names in (MAIN, SPIDERS))
    parts += [
        "\n## Figure 14: what a priority queue costs a page\n",
        f"Not measured but computed, as in the paper, for {LINKS_A_PAGE} links a page; ours has a heap by host,",
        "and knows the place of each link, so that nothing is searched for or sorted.\n",
        save("14-queues", queue_costs()),
        "\n## Figure 15: cost and performance per cost\n",
        *_costs("15", main, MAIN),
        "\n## Figure 18: generalised Best-First and Shark-Search, buffer 256\n",
        save("18-recall", over_pages(quality[0], "recall", GENERAL, "Target recall")),
        save("18-similarity", over_pages(quality[0], "similarity", GENERAL, "Similarity to the description")),
        *_over_sizes("19", "generalised Best-First with the buffer", quality, GENERAL[:2]),
        "\n## Figure 20: InfoSpiders, learning and evolution\n",
        *(
            save(f"20-{metric}-{buffer}", over_pages(comparison, metric, SPIDERS, f"{title}, buffer {buffer}"))
            for comparison, buffer in zip(quality, buffers, strict=True)
            for metric, title in (("recall", "Target recall"), ("similarity", "Similarity"))
        ),
        f"\n## Figure 21: errors of a single agent, mean over {scale.agent_topics} topics\n",
        save("21-errors", errors_plot(*experiments.agent_errors(buffers[0]))),
        *_over_sizes("22", "InfoSpiders with the buffer", quality, SPIDERS),
        "\n## Figure 23: cost of learning and evolution\n",
        *_costs("23", spiders, SPIDERS),
        *(_long(long, scale) if long else []),
        "\n## All figures at the end of the crawls\n",
        *_tables(quality, buffers),
        *([OLDER] if scale.is_short else []),
    ]
    return "\n".join(parts) + "\n"


def _costs(figure: str, cost: Sequence[Comparison], names: Sequence[str]) -> list[str]:
    """By size of the buffer; of one size, over the pages."""
    if len(cost) == 1:
        return [save(f"{figure}-cost", over_pages(cost[0], "cost", names, "Relative cost, over pages"))]
    return [
        save(f"{figure}-cost", over_buffers(cost, final("cost"), names, "Relative cost")),
        save(f"{figure}-performance", over_buffers(cost, final_performance, names, "Performance per cost")),
    ]


def _over_sizes(figure: str, title: str, quality: Sequence[Comparison], names: Sequence[str]) -> list[str]:
    if len(quality) == 1:
        return []
    return [
        f"\n## Figure {figure}: {title}\n",
        save(f"{figure}-recall", over_buffers(quality, final("recall"), names, "Target recall", is_share=True)),
        save(f"{figure}-similarity", over_buffers(quality, final("similarity"), names, "Similarity")),
    ]


def _distances(shares: np.ndarray) -> str:
    """`17 % at 1 link, …`"""
    names = ["in the targets", *(f"at {links} link{'s' * (links > 1)}" for links in range(1, FARTHEST))]
    names += [f"at {FARTHEST} or more", "without a way"]
    return ", ".join(f"{share:.0%} {name}" for name, share in zip(names, shares, strict=True) if share > 0)


def _long(long: Comparison, scale: Scale) -> list[str]:
    return [
        f"\n## Figure 24: long crawls, {scale.long_pages:,} pages\n",
        save("24-recall", over_pages(long, "recall", LONG, "Target recall")),
        save("24-similarity", over_pages(long, "similarity", LONG, "Similarity to the description")),
    ]


def _tables(quality: Sequence[Comparison], buffers: Sequence[int]) -> list[str]:
    lines = []
    for comparison, buffer in zip(quality, buffers, strict=True):
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

World: the Wikipedia Selection for Schools 2007 (wikispeedia), one host, 5,213 pages, labels by people. {topics} of
the {largest} largest topics ({low} to {high} pages), 10 seeds a crawl, 3 links before the targets, {pages:,} pages a
crawl, crawls from other seeds for each topic: {repeats}. All strategies see the topic's name as keywords and nothing
else. Costs: {cost_topics} topics, one crawl each, nothing shared between crawls; CPU time of the process, with
similarities and queues, relative to the mean of the strategies shown. {long}Bands and ± are one standard error over
topics; p values are of a paired Wilcoxon test over topics, with a buffer of 256 links where nothing else is said.

Differs from the paper: one encyclopedia instead of the web of 2001, so everything is near everything (three links reach
most of the world); topics are named by one to three words; crawls of 50,000 pages are not possible in a world of 5,213.
Seeds are drawn three links back from the targets, as in the paper, but shorter ways lead there, too. Seeds by the
length of the shortest way to a target: {distances}. There are no editors' descriptions of
the topics: the description is the text of the targets themselves. Similarity to it is thus circular: it rewards finding
the targets once more, besides recall, and pages that are like them.
"""
RAN_SHORTER = """
This page was made by `experiments/tc.py --shorter`: one crawl for each topic, fewer topics, and no long crawls (figure
24). What is found and what it costs are of the same crawls; figure 11 has all {largest} topics. Costs are CPU time on a
machine that was busy with other work, too. With so few topics only large differences can be shown: that learning and
evolution hinder recall (figure 20) was shown by an earlier run, with ten crawls for each of 50 topics, before
InfoSpiders changed, and is neither confirmed nor refuted here. What that run found about strategies that have not
changed since is at the end.
"""
OLDER = """
## An earlier run with more crawls

Ten crawls for each of 50 topics. Breadth-First and InfoSpiders have changed since
(a link that joins again queues at the end; the buffer no longer drops links from agents' own lists), so their rows are
left out, and with them figures 20, 22 and 24; costs were measured in another way. Target recall by buffer:

| strategy | 256 | 512 | 1,024 | 2,048 |
|---|---|---|---|---|
| best-first-1 | 0.608 ± 0.033 | 0.630 ± 0.034 | 0.633 ± 0.033 | 0.633 ± 0.033 |
| best-first-256 | 0.566 ± 0.035 | 0.573 ± 0.035 | 0.573 ± 0.035 | 0.574 ± 0.035 |
| shark-1 | 0.573 ± 0.031 | 0.589 ± 0.031 | 0.589 ± 0.031 | 0.590 ± 0.031 |
| shark-256 | 0.573 ± 0.031 | 0.578 ± 0.031 | 0.581 ± 0.031 | 0.582 ± 0.031 |
| random | 0.207 ± 0.009 | 0.206 ± 0.008 | 0.206 ± 0.008 | 0.206 ± 0.008 |
| oracle | 0.835 ± 0.019 | 0.835 ± 0.019 | 0.835 ± 0.019 | 0.835 ± 0.019 |

There, BFS256 started behind BFS1 (recall 0.020 against 0.105 after 100 pages, p = 4e-8, corrected for 15 rows) and did
not overtake it but stayed behind (0.566 against 0.608, p = 0.012); Best-First gained from a larger buffer (0.608 to
0.633, p = 0.009); between Best-First and Shark-Search (p = 0.078), and between Shark256 and Shark1, no difference was
shown.
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="few topics and pages; does not touch docs/")
    parser.add_argument("--processes", type=int, default=0, help="0: one for each core")
    parser.add_argument("--shorter", action="store_true", help="fewer topics, one crawl of each; the page says so")
    parser.add_argument("--repeats", type=int, help="instead of 10")
    options = parser.parse_args()
    world = built_world("wikispeedia")
    if world is None:
        print("skipped: the world wikispeedia is not at ../shared/worlds (or $LYCOSA_SHARED/worlds)")
        return
    scale = QUICK if options.quick else SHORTER if options.shorter else FULL
    if options.repeats:
        scale = replace(scale, repeats=options.repeats)
    RESULTS.publish(page(Experiments(world, scale, options.processes)), is_quick=options.quick)


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit("interrupted; the comparisons that are done are kept")
