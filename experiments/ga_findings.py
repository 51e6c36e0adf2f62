"""What paper GA found, and what was found here: differences, paired, that each finding stands or falls with.

The paper bred strategies on one topic alone, the narrow one (middle eastern dance), and tried them there (figures 3, 5,
6, 10) and, carried over, on the broad one (baseball; figures 4, 7, 8, 9). Strategies bred on the broad topic itself,
and trials on many other topics, go beyond it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from common import Evidence
from ga_crawls import BEST_FIRST, EVOLVED, PAPER, Case, Evolution, Study, Transfer, Trial

from lycosa.lab.evaluate.runs import Floats

HOLDS = ("**holds**", "**the other way round**", "no difference shown")
CARRIED = "narrow → broad"


@dataclass(frozen=True)
class Figures:
    """What one web gave."""

    study: Study
    evolutions: Mapping[str, Evolution]
    """By kind of topic."""
    same: Mapping[str, Trial]
    """By kind: trials on the topic that was evolved on."""
    others: Sequence[Transfer]
    """By other topic: best-first, the paper's weights, and the fittest of each kind, by its kind."""
    carried: Trial | None
    """On the broad topic, of strategies bred on the narrow one: the paper's design. None: there is no broad topic."""

    @property
    def lengths(self) -> dict[str, tuple[int, ...]]:
        """By kind."""
        return {case.kind: case.lengths for case in self.study.cases}


@dataclass(frozen=True)
class View:
    """Trials on one topic: of strategies bred there, or carried over to it."""

    figures: Figures
    case: Case
    """The topic of the trials."""
    kind: str
    """narrow, broad, or `CARRIED`."""
    trial: Trial

    @property
    def name(self) -> str:
        return case_name(self.figures.study, self.kind)

    @property
    def is_narrow(self) -> bool:
        return self.kind == "narrow"

    def figure(self, narrow: str, broad: str) -> str:
        """The number of the paper's figure; strategies bred on the broad topic are in none."""
        return {"narrow": narrow, CARRIED: broad}.get(self.kind, "–")


@dataclass(frozen=True)
class Finding:
    """One finding of the paper on one topic of one web."""

    figure: str
    says: str
    case: str
    differences: Floats
    means: str

    @property
    def evidence(self) -> Evidence:
        return Evidence(self.figure, f"{self.says} (*{self.case}*)", self.differences, self.means, HOLDS)


def views(all_figures: Sequence[Figures]) -> list[View]:
    """The paper's first, those beyond it last."""
    found = [View(each, case, case.kind, each.same[case.kind]) for each in all_figures for case in each.study.cases]
    found += [
        View(each, case, CARRIED, each.carried)
        for each in all_figures
        for case in each.study.cases
        if case.kind == "broad" and each.carried is not None
    ]
    order = ("narrow", CARRIED, "broad")
    return sorted(found, key=lambda view: order.index(view.kind))


def findings(all_figures: Sequence[Figures]) -> Iterator[Finding]:
    """Finding by finding, on every topic."""
    for finding in (_fitness, _shrinking, _cohesion, _growth, _distances):
        for view in views(all_figures):
            yield from finding(view)
    for says, better, worse in (
        ("evolved beats best-first on other topics", "", BEST_FIRST),
        ("the paper's own weights beat best-first on other topics", PAPER, BEST_FIRST),
        ("evolved beats the paper's weights on other topics", "", PAPER),
    ):
        for figures in all_figures:
            for case in figures.study.cases:
                yield _over_topics(says, figures, case, better or case.kind, worse)


def case_name(study: Study, kind: str) -> str:
    return f"{study.name.split(',')[0]}, {kind}"


def _fitness(view: View) -> Iterator[Finding]:
    """GA, section 3.1: evolved strategies win, but for the longest crawls of the narrow topic."""
    for at, crawls in enumerate(("the shortest", "longer", "the longest")):
        is_lost = view.is_narrow and at == 2
        better, worse = (BEST_FIRST, EVOLVED[0]) if is_lost else (EVOLVED[0], BEST_FIRST)
        says = "narrow topic: best-first is ahead" if is_lost else "evolved beats best-first"
        says = f"{says} in {crawls} crawls"
        yield _compared(view, view.figure("3", "4"), says, ("fitness", view.trial.fitness), (better, worse), at)


def _shrinking(view: View) -> Iterator[Finding]:
    if not view.is_narrow:
        return
    ahead = view.trial.fitness[EVOLVED[0]] - view.trial.fitness[BEST_FIRST]
    means = f"ahead by {ahead[:, 0].mean():+.3f} in the shortest crawls, {ahead[:, -1].mean():+.3f} in the longest"
    says = "narrow topic: what evolved is ahead by shrinks as crawls grow"
    yield Finding("3", says, view.name, ahead[:, 0] - ahead[:, -1], means)


def _cohesion(view: View) -> Iterator[Finding]:
    both = (EVOLVED[0], BEST_FIRST)
    says = "evolved: the community is more cohesive than best-first's"
    yield _compared(view, view.figure("5", "7"), says, ("links", view.trial.community), both, 0)
    says = "evolved: all that was crawled is more cohesive"
    yield _compared(view, view.figure("6", "8"), says, ("links", view.trial.overall), both, 0)


def _growth(view: View) -> Iterator[Finding]:
    """GA, section 3.1: the large community gains links as the crawl goes on, the small one loses them."""
    values = view.trial.community[EVOLVED[0]]
    shortest, longest = values[:, 0], values[:, -1]
    says = f"{'narrow' if view.is_narrow else 'broad'} topic: cohesiveness {'falls' if view.is_narrow else 'grows'}"
    means = f"links: {shortest.mean():.3f} in the shortest crawls, {longest.mean():.3f} in the longest"
    differences = shortest - longest if view.is_narrow else longest - shortest
    yield Finding(view.figure("5", "7"), f"{says} as crawls grow", view.name, differences, means)


def _distances(view: View) -> Iterator[Finding]:
    """GA, section 3.1, on figures 9 and 10."""
    both = (BEST_FIRST, EVOLVED[0])
    for says, metric, values in (
        ("evolved stays nearer to the seeds", "mean distance", view.trial.distance),
        ("evolved finds its good pages nearer to the seeds", "their mean distance", view.trial.good_distance),
        ("best-first goes farther: the largest distance", "largest distance", view.trial.farthest),
    ):
        yield _compared(view, view.figure("10", "9"), says, (metric, values), both, -1)


def _compared(
    view: View, figure: str, says: str, measured: tuple[str, Mapping[str, Floats]], pair: tuple[str, str], at: int
) -> Finding:
    """Paired over the repeats on one topic."""
    (metric, values), (better, worse) = measured, pair
    first, second = values[better][:, at], values[worse][:, at]
    means = f"{metric} after {view.case.lengths[at]:,} pages: {better} {first.mean():.3f}, {worse} {second.mean():.3f}"
    return Finding(figure, says, view.name, first - second, means)


def _over_topics(says: str, figures: Figures, case: Case, better: str, worse: str) -> Finding:
    """Paired over topics, each with the mean of its repeats, in crawls as long as those evolved on."""
    at = figures.study.lengths.index(case.lengths[0])
    first, second = (np.array([by_strategy[name][at] for by_strategy in figures.others]) for name in (better, worse))
    shown = EVOLVED[0] if better == case.kind else better
    where = f"fitness over {len(first)} topics, {case.lengths[0]:,} pages"
    means = f"{where}: {shown} {first.mean():.3f}, {worse} {second.mean():.3f}"
    return Finding("–", says, case_name(figures.study, case.kind), first - second, means)


def by_seed_set(all_figures: Sequence[Figures]) -> Iterator[str]:
    """What E1 is ahead of best-first by, from the smaller and from the larger seed sets, in the shortest crawls."""
    yield "| trials on | smaller seed sets | best-first | E1 | larger seed sets | best-first | E1 |"
    yield "|---|---|---|---|---|---|---|"
    for view in views(all_figures):
        cells = []
        fitness = {name: view.trial.fitness[name][:, 0] for name in (BEST_FIRST, EVOLVED[0])}
        halves = {name: np.split(values, 2) for name, values in fitness.items()}
        for half, seeds in enumerate(view.figures.study.trial_seeds):
            cells += [f"{seeds}", f"{halves[BEST_FIRST][half].mean():.3f}", f"{halves[EVOLVED[0]][half].mean():.3f}"]
        yield f"| {view.name} | {' | '.join(cells)} |"


def farthest(all_figures: Sequence[Figures]) -> Iterator[str]:
    """The largest distance of any page of any crawl of the longest length, and where good pages are found."""
    yield "| trials on | largest distance: best-first | E1 | mean distance of good pages: best-first | E1 |"
    yield "|---|---|---|---|---|"
    for view in views(all_figures):
        largest = [f"{view.trial.farthest[name][:, -1].max():.0f}" for name in (BEST_FIRST, EVOLVED[0])]
        good = [f"{view.trial.good_distance[name][:, -1].mean():.2f}" for name in (BEST_FIRST, EVOLVED[0])]
        yield f"| {view.name} | {' | '.join([*largest, *good])} |"


def overview(found: Sequence[Finding], rows: Sequence[str]) -> list[str]:
    """Findings by topics: the verdicts of the long table (its third column) in short."""
    short = dict(zip(HOLDS, ("holds", "**reverse**", "?"), strict=True))
    cases = list(dict.fromkeys(each.case for each in found))
    table: dict[str, dict[str, str]] = {}
    for each, row in zip(found, rows, strict=True):
        table.setdefault(each.says, {})[each.case] = short[row.split(" | ")[2]]
    lines = [f"| the paper's finding | {' | '.join(cases)} |", "|---" * (len(cases) + 1) + "|"]
    for says, verdict in table.items():
        lines.append(f"| {says} | {' | '.join(verdict.get(case, '') for case in cases)} |")
    return lines
