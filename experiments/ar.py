"""The experiments of paper AR (Ester, Groß, Kriegel: Focused web crawling, 2001) on a recorded web and planted ones.

    make reproduce-ar            all of it: some ten minutes on two cores
    make reproduce-ar QUICK=1    fewer interests and pages: does it work

The crawls are described in ar_crawls.py, the planted webs in ar_web.py. An interest's crawls are kept in out/ar/ as
soon as they are there, so that an interrupted run goes on where it was. Writes docs/papers/ar.md and its pictures.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import sys
from collections.abc import Iterator, Sequence
from functools import partial
from typing import NamedTuple

import ar_crawls
import ar_judges
import numpy as np
from ar_classifiers import JUDGES, MAIN
from ar_crawls import (
    BEST,
    BREADTH,
    CRAWLERS,
    DROP,
    FAR,
    LEAST,
    NEW_LINKS,
    OWN_ANCHORS,
    PARENT,
    SEED,
    SESSION,
    SIMPLE,
    STARTS,
    WAYS,
    WEIGHT,
    WIKI,
    Interest,
    Job,
    Study,
    Web,
    learn,
    webs,
)
from ar_findings import Figures, evidence, final
from ar_judges import summary
from ar_pictures import marked
from common import NOTES, Pictures, Results, verdicts

from lycosa.lab.evaluate.pictures import Line, Plot, styles
from lycosa.lab.evaluate.runs import Floats
from lycosa.lab.evaluate.summary import over_topics

RESULTS = Results("ar")
LOOKS = styles(CRAWLERS)
save = Pictures(RESULTS, CRAWLERS, ()).save


class Scale(NamedTuple):
    """Pages of a crawl; and how many interests of a web, at most, evenly from the list of all there are."""

    pages: int
    pairs: int
    """Narrow ones that are ANDs of two topics."""
    small: int
    """Narrow ones that are single topics."""
    broad: int


FULL = Scale(pages=300, pairs=20, small=15, broad=13)
QUICK = Scale(pages=100, pairs=2, small=2, broad=2)


def run_all(scale: Scale) -> list[Figures]:
    with multiprocessing.get_context("spawn").Pool(len(os.sched_getaffinity(0))) as pool:
        parts = []
        for web in webs():
            learned = dict(zip(JUDGES, pool.map(kept_judge, [(web, judge) for judge in JUDGES], 1), strict=True))
            jobs = [
                Job(web, each, judge, learned[judge], scale.pages)
                for judge in JUDGES
                for each in interests_of(web, scale)
                if judge == MAIN or not each.is_broad
            ]
            parts.append((web, jobs, pool.map_async(kept_study, jobs, 1)))
        return [figures_of(web, scale.pages, jobs, part.get()) for web, jobs, part in parts]


def figures_of(web: Web, pages: int, jobs: Sequence[Job], studies: Sequence[Study | None]) -> Figures:
    made = list(zip(jobs, studies, strict=True))
    main = [each for job, each in made if job.judge == MAIN]
    narrow = {
        judge: {job.interest: each for job, each in made if each and job.judge == judge and not job.interest.is_broad}
        for judge in JUDGES
    }
    common = [interest for interest in narrow[MAIN] if all(interest in known for known in narrow.values())]
    return Figures(
        web,
        pages,
        [each for each in main if each is not None],
        sum(each is None for each in main),
        {judge: [known[interest] for interest in common] for judge, known in narrow.items()},
    )


def kept_judge(job: tuple[Web, str]) -> bytes:
    web, judge = job
    return RESULTS.kept(f"{web.name}: {judge}", f"{judge} {web.name} {web.examples} {SEED}", partial(learn, web, judge))


def kept_study(job: Job) -> Study | None:
    web, interest, judge, _, pages = job
    key = f"{web.name} {web.examples} {interest} {judge} {pages} {SESSION} {SEED}"
    return RESULTS.kept(f"{web.name}: {interest.formula}, {judge}", key, partial(ar_crawls.study, job))


def interests_of(web: Web, scale: Scale) -> list[Interest]:
    broad = [each for each in web.interests if each.is_broad]
    narrow = [each for each in web.interests if not each.is_broad]
    pairs = [each for each in narrow if " AND " in each.formula]
    small = [each for each in narrow if " AND " not in each.formula]
    return [*spread(pairs, scale.pairs), *spread(small, scale.small), *spread(broad, scale.broad)]


def spread(items: Sequence[Interest], count: int) -> list[Interest]:
    """So many, evenly from the whole list; all where there are no more."""
    return [items[number * len(items) // count] for number in range(count)] if count < len(items) else list(items)


# The page


def page(all_figures: Sequence[Figures]) -> str:
    by_name = {figures.web.name: figures for figures in all_figures}
    parts = [
        HEAD.format(pages=all_figures[0].pages, starts=STARTS, session=SESSION, far=FAR, least=LEAST),
        "## What holds here\n",
        "| figure or section | the paper's finding | here | evidence |\n|---|---|---|---|",
        *verdicts(list(evidence(by_name))),
        NOTES,
        WHY,
        *_structure(all_figures),
        *_tunnels(all_figures),
        *ar_judges.section(all_figures),
        CHANGED,
    ]
    for figures in all_figures:
        parts += [f"\n## {figures.web.name}\n", *_pictures(figures), *_totals(figures)]
    if wiki := by_name.get(WIKI):
        parts += _by_interest(wiki)
    return "\n".join(parts) + "\n"


def _structure(all_figures: Sequence[Figures]) -> Iterator[str]:
    yield "\nNarrow interests, means over interests:\n"
    columns: tuple[str, ...] = ("web", "interests (left out)", "links to relevant pages: of relevant pages")
    columns += ("of wider ones", "of others", "to find", "behind irrelevant pages", "called relevant / are, median")
    yield f"| {' | '.join(columns)} |\n|{'---|' * len(columns)}"
    for figures in all_figures:
        narrow = [study.structure for study in figures.chosen(is_broad=False)]
        links = [np.nanmean([each.links_from[kind] for each in narrow]) for kind in ("relevant", "wider", "other")]
        called = np.median([each.over_threshold / each.pages for each in narrow])
        shares = " | ".join(f"{each:.1%}" for each in links)
        yield (
            f"| {figures.web.name} | {len(narrow)} ({figures.left_out}) | {shares} "
            f"| {np.mean([each.targets for each in narrow]):.0f} | {np.mean([each.hidden for each in narrow]):.0%} "
            f"| {called:.1f} |"
        )


def _tunnels(all_figures: Sequence[Figures]) -> Iterator[str]:
    yield "\nChanges of focus, from relevant start pages:\n"
    yield "| web | interests | crawler | crawls with a change | changes a crawl | pages under a wider focus |"
    yield "|---|---|---|---|---|---|"
    for figures in all_figures:
        for is_broad, kind in ((True, "broad"), (False, "narrow")):
            for name in WAYS:
                crawls = [study.near[name] for study in figures.chosen(is_broad=is_broad, crawlers=(name,))]
                if crawls:
                    yield (
                        f"| {figures.web.name} | {len(crawls)} {kind} | {name} "
                        f"| {np.mean([bool(crawl.changes) for crawl in crawls]):.0%} "
                        f"| {np.mean([len(crawl.changes) for crawl in crawls]):.1f} "
                        f"| {np.mean([(crawl.widened > 0).mean() for crawl in crawls]):.0%} |"
                    )


def _pictures(figures: Figures) -> Iterator[str]:
    name = figures.web.name
    broad, narrow = figures.chosen(is_broad=True), figures.chosen(is_broad=False)
    ands = figures.chosen(is_broad=False, crawlers=(DROP, WEIGHT))
    if broad:
        title = f"Figure 4: relevant, of the pages fetched; broad interests ({name})"
        yield save(f"4-broad-{name}", over_pages(broad, "harvest", (BREADTH, BEST, SIMPLE, PARENT), title))
        title = f"Figure 6: links from the start pages to relevant ones; broad ({name})"
        yield save(f"6-distance-{name}", over_distances(broad, (BREADTH, SIMPLE), title))
    if narrow:
        title = f"Figure 5: relevant pages found; narrow interests ({name})"
        some = (BREADTH, BEST, SIMPLE, PARENT, NEW_LINKS, OWN_ANCHORS)
        yield save(f"5-narrow-{name}", over_pages(narrow, "found", some, title))
        title = f"Figure 5: relevant, of the pages fetched; narrow interests ({name})"
        yield save(f"5-precision-{name}", over_pages(narrow, "harvest", (BREADTH, BEST, SIMPLE, PARENT), title))
        title = f"Figure 5: relevant pages found from {FAR} links away; narrow ({name})"
        yield save(f"5-far-{name}", over_pages(narrow, "found", some, title, start="far"))
        title = f"Figure 7: links from the start pages to relevant ones; narrow ({name})"
        yield save(f"7-distance-{name}", over_distances(narrow, (BREADTH, SIMPLE, PARENT), title))
    if ands:
        title = f"Ways to widen an AND: relevant pages found ({name})"
        yield save(f"5-ways-{name}", over_pages(ands, "found", (SIMPLE, PARENT, DROP, WEIGHT), title))
        yield _example(ands, name)


def over_pages(studies: Sequence[Study], metric: str, names: Sequence[str], title: str, *, start: str = "near") -> Plot:
    def line(name: str) -> Line:
        mean, error = over_topics(np.array([getattr(getattr(study, start)[name], metric) for study in studies]))
        return Line(name, mean, error)

    lines = [line(name) for name in names]
    x = np.arange(1, len(lines[0].values) + 1, dtype=np.float64)
    return Plot(title, "pages fetched", "", x, lines, is_share=True)


def over_distances(studies: Sequence[Study], names: Sequence[str], title: str) -> Plot:
    """Pages found at each distance, the mean over crawls."""
    sums: dict[str, Floats] = {
        name: np.mean([study.near[name].distances for study in studies], axis=0) for name in names
    }
    top = 1 + max(int(np.flatnonzero(values > 0.005 * values.sum()).max(initial=1)) for values in sums.values())
    lines = [Line(name, values[: top + 1]) for name, values in sums.items()]
    x = np.arange(top + 1, dtype=np.float64)
    return Plot(title, "links from the start pages", "pages found", x, lines, has_points=True)


def _example(ands: Sequence[Study], web: str) -> str:
    """The crawl with most changes of focus."""
    study = max(ands, key=lambda each: len(each.near[PARENT].changes))
    title = f"One crawl, changes of focus marked ({web})"
    RESULTS.images.mkdir(parents=True, exist_ok=True)
    path = RESULTS.images / f"changes-{web}.png"
    path.write_bytes(marked(title, {name: study.near[name] for name in (SIMPLE, PARENT)}, study.near[PARENT], LOOKS))
    told = "\n".join(f"- after {after} pages: {change}" for after, change in study.near[PARENT].changes)
    return f"![{title}](../images/ar/{path.name})\n\nThat crawl, for `{study.interest.formula}`:\n\n{told}\n"


def _totals(figures: Figures) -> Iterator[str]:
    yield "\nShare of the pages to find that was found, mean ± standard error over interests; and of narrow interests"
    yield "the precision at the end, by label and as the judge sees it:\n"
    columns = (
        "crawler",
        "broad",
        "narrow",
        "narrow, ANDs only",
        "narrow, start pages far",
        "precision",
        "by the judge",
    )
    yield f"| {' | '.join(columns)} |\n|{'---|' * len(columns)}"
    for name in CRAWLERS:
        ands = figures.chosen(is_broad=False, crawlers=(name, DROP))
        narrow = figures.chosen(is_broad=False, crawlers=(name,))
        cells = [
            summary([final(study.near[name]) for study in figures.chosen(is_broad=True, crawlers=(name,))]),
            summary([final(study.near[name]) for study in narrow]),
            summary([final(study.near[name]) for study in ands]),
            summary([final(study.far[name]) for study in narrow]),
            summary([float(study.near[name].harvest[-1]) for study in narrow]),
            summary([study.near[name].judged for study in narrow]),
        ]
        if len(narrow) == len(ands) < len(figures.chosen(is_broad=False)):
            # Of the ANDs alone: not to be compared with figures over all narrow interests.
            cells[1] = cells[3] = cells[4] = cells[5] = ""
        yield f"| {name} | {' | '.join(cells)} |"


def _by_interest(figures: Figures) -> Iterator[str]:
    yield "\nNarrow interests one by one, share found from relevant start pages:\n"
    names = (BREADTH, SIMPLE, PARENT, DROP, WEIGHT)
    yield f"| interest | pages | to find | {' | '.join(names)} |\n|---|---|---|{'---|' * len(names)}"
    for study in figures.chosen(is_broad=False):
        cells = [f"{final(study.near[name]):.2f}" if name in study.near else "" for name in names]
        formula = study.interest.formula.replace("_", " ")
        yield f"| {formula} | {study.structure.pages} | {study.structure.targets} | {' | '.join(cells)} |"


HEAD = """# Paper AR: formulas and tunnelling

M. Ester, M. Groß, H.-P. Kriegel: *Focused Web Crawling: A Generic Framework for Specifying the User Interest and for
Adaptive Crawling Strategies*, 2001. This page is made by `make reproduce-ar`; its figures carry the paper's numbers.

Crawlers: **breadth-first**; **best-first**; **simple focus** (`ariadne`, the paper's eight criteria); and tunnelling
around it (`tunnel+ariadne`), the focus widened to the **parent** of the rarer topic, by **dropping** the more frequent
topic, or by **weighting** the rarer one. Two variants of the first: **new links only** (waiting links keep their scores
when the focus changes) and **narrow anchors** (pages are scored by the wider focus, anchors and URLs by the interest
itself). Crawls have {pages} pages; sessions {session}; a = 0.5, b = 0.8.

A linear SVM, trained once for each web on examples of all its topics, judges pages. The {starts} start pages of an
interest (at most a third of its pages) are unknown to it; a page is relevant from the smallest score of these that is
above {least}. Labels tell what is really relevant; examples and start pages do not count as found. Narrow interests are
also crawled from pages whose shortest way to a relevant page has {far} links. Where a crawl ran dry its last value is
carried on.

Webs:

- **wikispeedia**, the Wikipedia Selection for Schools, 5,213 pages, a subject tree of three levels; articles may stand
  under several subjects. Broad: subjects of 200 pages and more, three ORs. Narrow: ANDs of two subjects with 8 to 60
  pages, and some of the subjects of 12 to 30 pages. debian-docs has neither a tree nor pages with two topics: nothing
  can be widened.
- **related**, **telling**, **unrelated**: webs made for this experiment (experiments/ar_web.py). Pages are about a
  subject and a place; the 40 pages about one subject in one place are five communities that do not cite each other.
  Between them lie pages about other subjects of the same group in the same place (related), or just any (unrelated,
  the control). Anchors say nothing, but for three in ten of *telling*, which name subject and place of their target.
  Such webs show how the machine works, not what the Web is like;
  their shape was changed several times while tunnelling was tried on them, so they are no independent evidence.

Differs from the paper: it shows one broad and one narrow formula on the Web of 2001, with keyword functions, crawls of
thousands of pages, and precision by its own judge. Link distances as in its figures (10 and more) cannot occur in a
web as small and dense as wikispeedia.
"""

WHY = """
## Why

- The machine does what the paper says where the web is as the paper supposes: on *related*, where relevant communities
  are apart and pages of the wider topic lie between, the parent way finds more than simple focus. On *unrelated*, the
  same web but for that, there is nothing to be gained.
- On wikispeedia it gains nothing, though the focus is widened in three crawls of four, and pages of the wider topic do
  lead to relevant ones more often than others (table below). Anchors there name what they lead to. A wider focus that
  scores anchors, too, as the paper has it, throws that away: a link that names the very subject is then worth no more
  than one that names its neighbour. Where anchors are scored by the interest itself, most of the loss is gone, but
  nothing is gained: everything is two or three links away, so simple focus gets there, too. *Telling* shows the same:
  with telling anchors tunnelling is ahead for a while, and behind in the end unless anchors stay narrow. (These
  differences are not significant after correction for all rows.)
- What else is in the way on wikispeedia: ANDs of two subjects of the top level have no parents, so there is nothing to
  widen; the tree has few levels, so that one step often leads from a dozen pages to hundreds; and AR's threshold is
  fragile: one start page that the judge scores low makes many pages relevant (last column), and then no session looks
  poor.
- Simple focus is better here than in the paper. A likely reason: a classifier is never quite sure, a page about the
  place alone has a score somewhat above one about neither, so there is a slope even where all scores are low. The
  paper's keyword functions are 0 there.
- To drop the frequent topic, or to outweigh it, leads off the way on *related*: in every crawl the place was the more
  frequent one, and what lies between the communities shares just the place.
"""


CHANGED = """
## What has changed since the last edition

- New: tunnelling under four judges, figure 5 as precision, precision as the judge sees it.
- Links are triples, as in the paper: all anchors of a page that lead to the same page count, and the best of them
  scores the link. Before, the first one did.
- Pages are read otherwise: stop words and stemmer are those of a page's language, and what stands on many pages of a
  host is left out. The planted webs have neither.
- Naive Bayes scores anchors and URLs by a calibration of its own for short texts.
- The direction of a finding is that of the test, by ranks; it was that of the mean, which one interest may turn round.
- On wikispeedia simple focus is better than tunnelling (parent) for narrow interests; before, no difference was shown.
- Without effect here: NOT is applied afterwards (no interest has one); links that failed wait behind those never tried
  (nothing fails in a replay).
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="few interests and pages; does not touch docs/")
    options = parser.parse_args()
    RESULTS.publish(page(run_all(QUICK if options.quick else FULL)), is_quick=options.quick)


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit("interrupted; the interests that are done are kept")
