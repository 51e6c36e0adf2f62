"""The experiments of paper FC (Chakrabarti, van den Berg and Dom: Focused crawling, WWW 1999) on three webs.

    make reproduce-fc            all of it: some ten minutes on two cores
    make reproduce-fc QUICK=1    fewer topics, repeats and pages: does it work

The crawls are described in fc_crawls.py. A topic's result is kept in out/fc/ as soon as it is there, so that an
interrupted run goes on where it was. Writes docs/papers/fc.md and its pictures.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from common import NOTES, Evidence, Pictures, Results, plan_key, verdicts
from fc_crawls import BEST, BREADTH, FAR, HARD, SEEDS, SOFT, UNFOCUSED, WINDOW, Study, Web, judge_quality, study, webs

from lycosa.lab.evaluate.pictures import Line, Plot
from lycosa.lab.evaluate.runs import ORACLE, Floats
from lycosa.lab.evaluate.summary import over_topics
from lycosa.lab.replay.compare import ComparePlan
from lycosa.lab.worlds.world import World

RESULTS = Results("fc")
SHOWN = {SOFT: "soft focus", HARD: "hard focus", BREADTH: BREADTH, UNFOCUSED: "unfocused", ORACLE: ORACLE}
BESTS = ("best by authority", "best by R", "all fetched")
save = Pictures(RESULTS, (*SHOWN.values(), *BESTS), (SHOWN[ORACLE],)).save
HOLDS = ("**holds**", "**the other way round**", "no difference shown")


class Scale(NamedTuple):
    topics: int
    repeats: int
    share: float
    """Of the pages of a crawl."""


FULL = Scale(topics=100, repeats=5, share=1.0)
QUICK = Scale(topics=3, repeats=1, share=0.4)


@dataclass(frozen=True)
class Figures:
    """What the crawls of one web gave."""

    web: Web
    plan: ComparePlan
    studies: Sequence[Study]
    """One a topic."""
    judge: tuple[int, int, float, float]

    @property
    def has_hosts(self) -> bool:
        """Whether there are servers whose overlap can be looked at."""
        return bool((self.values(SOFT, "hosts") > 1).any())

    @property
    def base(self) -> float:
        """The share of a topic's pages in the web, the mean over topics: what a blind choice harvests."""
        world = World.open(self.plan.world)
        return float(np.mean([len(world.pages_of(topic)) for topic in self.plan.topics]) / len(world))

    def values(self, strategy: str, name: str) -> Floats:
        """By topic."""
        return np.array([each[strategy][name] for each in self.studies])

    def line(self, strategy: str, name: str, shown: str = "") -> Line:
        mean, error = over_topics(self.values(strategy, name))
        return Line(shown or SHOWN[strategy], mean, error)

    def mean(self, strategy: str, name: str) -> str:
        mean, error = over_topics(self.values(strategy, name).reshape(len(self.studies)))
        return f"{mean:.2f} ± {error:.2f}"


def run_all(scale: Scale) -> list[Figures]:
    """One pool for everything: each of its processes trains a world's judge once."""
    with multiprocessing.get_context("spawn").Pool(len(os.sched_getaffinity(0))) as pool:
        plans = [(web, web.plan(**scale._asdict())) for web in webs()]
        judges = [pool.apply_async(kept_judge, (plan,)) for _, plan in plans]
        studies = [pool.map_async(kept_study, [(web, plan, topic) for topic in plan.topics], 1) for web, plan in plans]
        return [
            Figures(web, plan, parts.get(), judge.get())
            for (web, plan), parts, judge in zip(plans, studies, judges, strict=True)
        ]


def kept_study(job: tuple[Web, ComparePlan, str]) -> Study:
    web, plan, topic = job
    said = f"{web.name}: {topic}, {plan.repeats} × 2 × {len(plan.names)} crawls"
    key = f"{plan_key(replace(plan, topics=(topic,)))} {web.has_citations}"
    return RESULTS.kept(said, key, lambda: study((plan, topic, web.has_citations)))


def kept_judge(plan: ComparePlan) -> tuple[int, int, float, float]:
    return RESULTS.kept(f"{plan.world.name}: the judge", f"judge {plan_key(plan)}", lambda: judge_quality(plan))


# Findings


def evidence(all_figures: Sequence[Figures]) -> list[Evidence]:
    """Finding by finding, each on every web that can say something about it."""
    rows = [list(claims(figures)) for figures in all_figures]
    order = [claim.says for claim in max(rows, key=len)]
    return [
        replace(claim, says=f"{claim.says} (*{figures.web.name}*)")
        for says in order
        for figures, part in zip(all_figures, rows, strict=True)
        for claim in part
        if claim.says == says
    ]


def claims(figures: Figures) -> Iterator[Evidence]:
    yield from _rates(figures)
    yield from _distributions(figures)
    yield from _overlaps(figures)
    yield from _distances(figures)


def _rates(figures: Figures) -> Iterator[Evidence]:
    first, last = WINDOW - 1, -1
    for strategy, says, words in (
        (UNFOCUSED, "unfocused crawls get lost: R falls", ("**holds**", "**it rises**", "no fall shown")),
        (HARD, "hard focus keeps its rate", ("**does not hold: R falls**", "**holds: it rises**", "no fall shown")),
        (SOFT, "soft focus keeps its rate", ("**does not hold: R falls**", "**holds: it rises**", "no fall shown")),
    ):
        curves = figures.values(strategy, "R, recent")
        early, late = curves[:, first], curves[:, last]
        means = f"mean R of the first {WINDOW} pages {early.mean():.2f}, of the last {late.mean():.2f}"
        base = f"; of all pages of this web {figures.base:.2f} are of the topic" if strategy == UNFOCUSED else ""
        yield Evidence("3", says, early - late, means + base, words)
    for strategy in (HARD, SOFT):
        focused, lost = (figures.values(name, "harvest") for name in (strategy, UNFOCUSED))
        means = f"harvest rate {focused.mean():.2f}, unfocused {lost.mean():.2f}"
        yield Evidence("3", f"{SHOWN[strategy]} harvests more than unfocused crawls", focused - lost, means, HOLDS)
    soft, hard, breadth = (figures.values(name, "found")[:, -1] for name in (SOFT, HARD, BREADTH))
    harvest = figures.values(SOFT, "harvest")
    yield Evidence(
        "3",
        "a third to a half of the pages are relevant: soft focus harvests more than a third",
        harvest - 1 / 3,
        f"harvest rate {harvest.mean():.2f}, by topic {harvest.min():.2f} to {harvest.max():.2f}",
        ("**holds**", "**does not hold: less**", "neither more nor less shown"),
    )
    means = f"relevant pages found: soft {soft.mean():.0f}, hard {hard.mean():.0f}"
    words = ("**soft finds more**", "**hard finds more**", "no difference shown")
    yield Evidence("3", "hard and soft focus do equally well", soft - hard, means, words)
    means = f"relevant pages found: soft {soft.mean():.0f}, breadth-first {breadth.mean():.0f}"
    words = ("**soft finds more**", "**breadth-first finds more**", "no difference shown")
    yield Evidence("–", "not in the paper: soft focus against breadth-first", soft - breadth, means, words)


def _distributions(figures: Figures) -> Iterator[Evidence]:
    for strategy in (HARD, SOFT):
        focused, lost = (figures.values(name, "top R") for name in (strategy, UNFOCUSED))
        means = f"share of pages with R ≥ 0.95: {focused.mean():.2f}, unfocused {lost.mean():.2f}"
        yield Evidence("5", f"{SHOWN[strategy]} has a peak at the highest R", focused - lost, means, HOLDS)
    soft, hard = (figures.values(name, "R") for name in (SOFT, HARD))
    means = f"mean R: soft {soft.mean():.3f}, hard {hard.mean():.3f}"
    yield Evidence("5", "soft focus gets slightly better pages than hard focus", soft - hard, means, HOLDS)


def _overlaps(figures: Figures) -> Iterator[Evidence]:
    quarter = figures.plan.pages // 4 - 1
    grows = ("**holds**", "**does not hold: it shrinks**", "no growth shown")

    def growth(figure: str, what: str, name: str) -> Evidence:
        early, late = figures.values(SOFT, name)[:, [quarter, -1]].T
        means = f"overlap {early.mean():.2f} after a quarter of the pages, {late.mean():.2f} at the end"
        return Evidence(figure, f"the overlap of {what} from disjoint seeds grows", late - early, means, grows)

    yield growth("6", "URLs", "overlap of pages")
    soft, lost = (figures.values(name, "overlap of pages")[:, -1] for name in (SOFT, UNFOCUSED))
    means = f"overlap at the end {soft.mean():.2f}, by topic {soft.min():.2f} to {soft.max():.2f}"
    words = ("**holds**", "**does not hold: less**", "neither more nor less shown")
    yield Evidence("6", "… to 60 % and more", soft - 0.6, means, words)
    means = f"overlap at the end: soft {soft.mean():.2f}, unfocused {lost.mean():.2f}"
    yield Evidence("–", "not in the paper: soft focus overlaps more than unfocused", soft - lost, means, HOLDS)
    if figures.has_hosts:
        yield growth("7", "servers", "overlap of hosts")
    best, every = (
        figures.values(SOFT, "overlap of the best by authority"),
        figures.values(SOFT, "overlap of pages")[:, -1],
    )
    means = f"overlap of the {BEST} best pages by authority {best.mean():.2f}, of all pages {every.mean():.2f}"
    yield Evidence("8", "of the best, more are found by both crawls than of all pages", best - every, means, HOLDS)
    if figures.has_hosts:
        best = figures.values(SOFT, "overlap of their hosts")
        every = figures.values(SOFT, "overlap of hosts")[:, -1]
        means = f"overlap of the hosts of the {BEST} best {best.mean():.2f}, of all hosts {every.mean():.2f}"
        yield Evidence("8", "… and of their servers more than of all servers", best - every, means, HOLDS)


def _distances(figures: Figures) -> Iterator[Evidence]:
    far = figures.values(SOFT, "far by authority")
    means = f"of the {BEST} best by authority {far.mean():.0%} are farther than {FAR} links from the seeds"
    words = ("**holds**", "**does not hold: most are near**", "neither shown")
    yield Evidence("9", f"most of the best are farther than {FAR} links from the seeds", far - 0.5, means, words)


# The page


def page(all_figures: Sequence[Figures], scale: Scale) -> str:
    parts = [
        HEAD.format(repeats=scale.repeats, window=WINDOW, examples=2 * SEEDS),
        _worlds(all_figures),
        LACKS,
        "## What holds here\n",
        "| figure | the paper's finding | here | evidence |\n|---|---|---|---|",
        *verdicts(evidence(all_figures)),
        NOTES,
    ]
    for figures in all_figures:
        parts += [f"\n## {figures.web.name}: figures 3 to 9\n", *_pictures(figures), *_tables(figures)]
    return "\n".join(parts) + "\n"


def _worlds(all_figures: Sequence[Figures]) -> str:
    lines = [
        "| web | pages | hosts | topics crawled for | pages of a topic | pages a crawl | examples | judge |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for figures in all_figures:
        world, plan = World.open(figures.plan.world), figures.plan
        sizes = [len(world.pages_of(topic)) for topic in plan.topics]
        examples, learned, precision, recall = figures.judge
        lines.append(
            f"| {figures.web.name} | {int((world.statuses < 300).sum()):,} | {len(np.unique(world.host_of)):,} "
            f"| {len(plan.topics)} | {min(sizes):,} to {max(sizes):,} | {plan.pages:,} "
            f"| {examples:,}, of {learned} topics and of none | precision {precision:.2f}, recall {recall:.2f} |"
        )
    return "\n".join(lines) + "\n"


def _pictures(figures: Figures) -> Iterator[str]:
    name = figures.web.name
    pages = np.arange(1, figures.plan.pages + 1, dtype=np.float64)
    everyone, crawlers = tuple(SHOWN), (SOFT, HARD, BREADTH, UNFOCUSED)

    def over(title: str, metric: str, strategies: Sequence[str]) -> Plot:
        return Plot(
            title, "pages fetched", "", pages, [figures.line(each, metric) for each in strategies], is_share=True
        )

    title = f"Figure 3, {name}: relevant by label, of the last {WINDOW} pages"
    yield save(f"3-harvest-{name}", over(title, "harvest, recent", everyone))
    title = f"Figure 3, {name}: mean R (the judge's) of the last {WINDOW} pages"
    yield save(f"3-relevance-{name}", over(title, "R, recent", crawlers))
    bins = (np.arange(20) + 0.5) / 20
    lines = [figures.line(each, "R, distribution") for each in (SOFT, HARD, UNFOCUSED)]
    title = f"Figure 5, {name}: pages by R, in twenty equal intervals"
    yield save(f"5-distribution-{name}", Plot(title, "R", "", bins, lines, is_share=True, has_points=True))
    title = f"Figure 6, {name}: pages found by both of two crawls"
    yield save(f"6-pages-{name}", over(title, "overlap of pages", crawlers))
    if figures.has_hosts:
        title = f"Figure 7, {name}: hosts met by both of two crawls"
        yield save(f"7-hosts-{name}", over(title, "overlap of hosts", crawlers))
    metrics = ("distance of the best by authority", "distance of the best by R", "distance of all")
    lines = [figures.line(SOFT, metric, shown) for metric, shown in zip(metrics, BESTS, strict=True)]
    top = max(6, *(1 + int(np.flatnonzero(line.values > 0.002).max()) for line in lines))
    lines = [Line(line.name, line.values[: top + 1], None) for line in lines]
    title = f"Figure 9, {name}: links from the seeds to the {BEST} best, soft focus"
    x = np.arange(top + 1, dtype=np.float64)
    yield save(f"9-distance-{name}", Plot(title, "links from the seeds", "", x, lines, is_share=True, has_points=True))


def _tables(figures: Figures) -> Iterator[str]:
    yield f"\nMean ± standard error over {len(figures.studies)} topics, at the end of the crawls:\n"
    names = ("harvest", "recall", "R", "hosts", "ran dry")
    yield "| strategy | harvest rate | recall | mean R | hosts | ran dry (share of crawls) |\n|---|---|---|---|---|---|"
    for strategy, shown in SHOWN.items():
        yield f"| {shown} | {' | '.join(figures.mean(strategy, name) for name in names)} |"
    yield f"\nThe {BEST} best of two crawls: share that both have (figure 8), share over {FAR} links away (figure 9):\n"
    names = ("both, by authority", "both, by R", "hosts, by authority", "far, by authority", "far by the shortest way")
    yield f"| strategy | {' | '.join(names)} |\n|---|---|---|---|---|---|"
    metrics = (
        "overlap of the best by authority",
        "overlap of the best by R",
        "overlap of their hosts",
        "far by authority",
        "far by the shortest way",
    )
    for strategy in (SOFT, HARD, BREADTH, UNFOCUSED):
        yield f"| {SHOWN[strategy]} | {' | '.join(figures.mean(strategy, metric) for metric in metrics)} |"
    yield "\nHarvest rate by topic:\n"
    yield f"| topic | {' | '.join(SHOWN.values())} |\n|---|{'---|' * len(SHOWN)}"
    for place, topic in enumerate(figures.plan.topics):
        cells = (f"{figures.values(strategy, 'harvest')[place]:.2f}" for strategy in SHOWN)
        yield f"| {topic} | {' | '.join(cells)} |"


HEAD = """# Paper FC: focused crawling

S. Chakrabarti, M. van den Berg, B. Dom: *Focused crawling: a new approach to topic-specific Web resource discovery*,
WWW 1999. This page is made by `make reproduce-fc`; its figures carry the paper's numbers.

A hierarchical naive Bayes classifier is trained once for each web, on up to {examples} example pages of each of its
topics and on pages of no topic. It guides the crawls; it does not grade them. What is relevant is told by labels that
it has not seen: the examples of the crawled topic, the seeds among them, do not count in rates and distributions, and
are never among the best. For each topic {examples} of its examples are dealt to two hands of seeds at random,
{repeats} times, and from each hand every strategy crawls once.

- **unfocused**: links in random order, as in the paper
- **soft focus** (`best-first`): a link is worth the largest R of the pages that cite it
- **hard focus** (`hard+random`): links only of pages whose best leaf is the topic or below it, in random order
- breadth-first, and an oracle that sees the labels, stand beside them; they are not in the paper

Moving averages are over {window} pages; a crawl that has run dry counts as acquiring nothing. Bands and ± are one
standard error over topics; p values are of a paired Wilcoxon test over topics. Nothing was tuned on these topics.
"""

LACKS = """The judge's precision and recall are those of R ≥ ½ on unseen pages, a mean over the topics crawled for.

What these webs lack, and what follows:

- **wikispeedia**, an encyclopedia for schools, is one host, and two or three links lead from anywhere to most of it:
  it can say nothing about servers, and little is far. Topics are the lowest of its subject tree with 140 pages or
  more; a label counts for the subjects above it, too. A third of the pages have no label. As there are many small
  topics, up to 20 examples of each come to a third of all pages.
- **debian-docs**, the manuals of 60 packages, has a host for each package, and its labels were given by package:
  whoever stays on a host stays on the topic. That makes focus easy. Half of the hosts are cited by no other: crawls for
  `office`, a single package, run dry.
- **generated** is made by Lycosa (`lab/generated/web.py`) for what the other two lack: hundreds of servers that cite
  each other. That neighbours of relevant pages are relevant was built into it, so it shows that the machine works, not
  what the Web is like. Words are drawn by topic, which makes the judge's task easy.
- All are small: crawls have 300 to 1,000 pages where the paper's had 10,000 and more. Topics end: a good crawl finds
  less and less because less and less is left. The oracle's curve shows that.
- The distiller counts links between hosts only, as in the paper, on the generated web; the other two have too few or
  none, and there links within a host count as well. Hubs are not visited again in these crawls.
- Servers are told apart by host name, not by address.
- On the generated web hundreds of pages have the same R of 1. Which of them are the best by R is decided by the order
  of fetching, so their overlap says nothing; the authorities' does.
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="few topics and pages; does not touch docs/")
    parser.add_argument("--repeats", type=int, help="instead of 5")
    options = parser.parse_args()
    scale = QUICK if options.quick else FULL
    if options.repeats:
        scale = scale._replace(repeats=options.repeats)
    RESULTS.publish(page(run_all(scale), scale), is_quick=options.quick)


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit("interrupted; the topics that are done are kept")
