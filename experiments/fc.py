"""The experiments of paper FC (Chakrabarti, van den Berg and Dom: Focused crawling, WWW 1999) on three webs.

    make reproduce-fc            all of it: a quarter of an hour on two cores
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
from dataclasses import replace
from functools import partial
from typing import NamedTuple

import fc_distilling
import numpy as np
from common import NOTES, Pictures, Results, plan_key, verdicts
from fc_citations import Citations, citations
from fc_crawls import (
    BEST,
    BREADTH,
    DISTILLING,
    FAR,
    HARD,
    SEEDS,
    SOFT,
    UNFOCUSED,
    WINDOW,
    Resources,
    Study,
    Web,
    judge_quality,
    resources,
    study,
    webs,
)
from fc_findings import SHOWN, Figures, claims, evidence

from lycosa.lab.evaluate.pictures import Line, Plot
from lycosa.lab.evaluate.runs import ORACLE
from lycosa.lab.replay.compare import ComparePlan
from lycosa.lab.worlds.world import World

RESULTS = Results("fc")
BESTS = ("best by authority", "best by R", "all fetched")
BEST_HOSTS, ALL_HOSTS = "best servers", "all servers"
PICTURES = Pictures(RESULTS, (*SHOWN.values(), *BESTS, BEST_HOSTS, ALL_HOSTS, *DISTILLING), (SHOWN[ORACLE],))
save = PICTURES.save


class Scale(NamedTuple):
    topics: int
    repeats: int
    share: float
    """Of the pages of a crawl."""


FULL = Scale(topics=100, repeats=5, share=1.0)
QUICK = Scale(topics=3, repeats=1, share=0.4)


def run_all(scale: Scale) -> list[Figures]:
    """One pool for everything: each of its processes trains a world's judge once."""
    with multiprocessing.get_context("spawn").Pool(len(os.sched_getaffinity(0))) as pool:
        plans = [(web, web.plan(**scale._asdict())) for web in webs()]
        judges = [pool.apply_async(kept_judge, (plan,)) for _, plan in plans]
        studies = [pool.map_async(kept_study, [(web, plan, topic) for topic in plan.topics], 1) for web, plan in plans]
        found = [
            Figures(web, plan, parts.get(), judge.get())
            for (web, plan), parts, judge in zip(plans, studies, judges, strict=True)
        ]
        shown = pool.map(kept_resources, [(each.web, each.plan, each.shown_topic) for each in found], 1)
        jobs = [[(each.web, each.plan, topic) for topic in each.plan.topics] for each in found]
        cited = [pool.map_async(kept_citations, part, 1) for part in jobs]
        return [
            replace(figures, resources=resources, citations=part.get())
            for figures, resources, part in zip(found, shown, cited, strict=True)
        ]


Job = tuple[Web, ComparePlan, str]


def kept_study(job: Job) -> Study:
    web, plan, topic = job
    count = 2 * plan.repeats * (len(SHOWN) + len(DISTILLING))
    made = partial(study, plan, topic, web.has_citations)
    return RESULTS.kept(f"{web.name}: {topic}, {count} crawls", job_key(job), made)


def kept_judge(plan: ComparePlan) -> tuple[int, int, float, float]:
    return RESULTS.kept(f"{plan.world.name}: the judge", f"judge {plan_key(plan)}", partial(judge_quality, plan))


def kept_resources(job: Job) -> Resources:
    web, plan, topic = job
    made = partial(resources, plan, topic, web.has_citations)
    return RESULTS.kept(f"{web.name}: hubs and authorities", f"resources {job_key(job)}", made)


def kept_citations(job: Job) -> Citations:
    web, plan, topic = job
    made = partial(citations, plan, topic, web.has_citations)
    return RESULTS.kept(f"{web.name}: {topic}, what hubs cite", f"citations {job_key(job)}", made)


def job_key(job: Job) -> str:
    web, plan, topic = job
    return f"{plan_key(replace(plan, topics=(topic,)))} {web.has_citations}"


# The page


def page(all_figures: Sequence[Figures], scale: Scale) -> str:
    parts = [
        HEAD.format(repeats=scale.repeats, window=WINDOW, examples=2 * SEEDS),
        _worlds(all_figures),
        LACKS,
        "## What holds here\n",
        "| figure | the paper's finding | here | evidence |\n|---|---|---|---|",
        *verdicts(evidence(all_figures, claims)),
        NOTES,
        *fc_distilling.section(all_figures, PICTURES),
        CHANGED,
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
    yield from _overlaps_of_the_best(figures)
    metrics = ("distance of the best by authority", "distance of the best by R", "distance of all")
    named = list(zip(metrics, BESTS, strict=True))
    yield _distances(figures, f"9-distance-{name}", f"links from the seeds to the {BEST} best", named)
    if figures.has_hosts:
        named = [("distance of the best hosts", BEST_HOSTS), ("distance of all hosts", ALL_HOSTS)]
        yield _distances(figures, f"9-servers-{name}", "links from the seeds to the nearest page of a server", named)


def _distances(figures: Figures, file: str, what: str, named: Sequence[tuple[str, str]]) -> str:
    lines = [figures.line(SOFT, metric, shown) for metric, shown in named]
    top = max(6, *(1 + int(np.flatnonzero(line.values > 0.002).max(initial=0)) for line in lines))
    lines = [Line(line.name, line.values[: top + 1], None) for line in lines]
    title = f"Figure 9, {figures.web.name}: {what}, soft focus"
    x = np.arange(top + 1, dtype=np.float64)
    return save(file, Plot(title, "links from the seeds", "", x, lines, is_share=True, has_points=True))


def _overlaps_of_the_best(figures: Figures) -> Iterator[str]:
    """Figure 8."""
    numbers = np.arange(1, BEST + 1, dtype=np.float64)
    for kind in ("pages", *(("hosts",) if figures.has_hosts else ())):
        metric = f"overlap of the best {kind}, by number"
        lines = [figures.line(each, metric)._replace(error=None) for each in (SOFT, HARD, BREADTH, UNFOCUSED)]
        what = "pages" if kind == "pages" else "servers"
        title = f"Figure 8, {figures.web.name}: the n best {what} that both of two crawls have"
        plot = Plot(title, f"n best {what} by authority", "", numbers, lines, is_share=True, has_points=True)
        yield save(f"8-best-{kind}-{figures.web.name}", plot)


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
- Figure 8: the n best of each of two crawls, and how many of these n both have. A server is as good as the authority of
  its pages together; in figure 9 it is as near as the nearest of its pages that was fetched.
- Servers are told apart by host name, not by address.
- On the generated web hundreds of pages have the same R of 1. Which of them are the best by R is decided by the order
  of fetching, so their overlap says nothing; the authorities' does.
"""


CHANGED = """
## What has changed since the last edition

- New: sections 4.6 and 4.7, figure 8 as a picture, servers in figure 9, figure 10.
- Hubs and authorities are those of the crawler's own distiller, whose links are those that pages have; before, a link
  to a redirect counted as one to its target.
- The direction of a finding is that of the test, by ranks; it was that of the mean, which one topic may turn round.
- Pages are read otherwise: stop words and stemmer are those of a page's language, and what stands on many pages of a
  host is left out. On debian-docs the judge has become less sure by that, most likely because menus and headings named
  the package on every page: precision 0.96 → 0.92, recall 0.86 → 0.77, mean R of soft focus 0.91 → 0.83. What is found
  is the same: harvest rate 1.00, recall 0.46. On the other webs figures moved by hundredths.
- Two findings on debian-docs can no longer be told from chance: that R falls under hard focus (p 0.02 → 0.06) and
  under soft focus (0.04 → 0.10). All others are as before.
- Without effect here: all anchors of a link count, short texts have a calibration of their own (soft and hard focus
  do not look at anchors); NOT is applied afterwards (no formulas here); links that failed wait behind those never
  tried (nothing fails in a replay).
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="few topics and pages; does not touch docs/")
    parser.add_argument("--repeats", type=int, help=f"instead of {FULL.repeats}")
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
