"""What paper GA found, and what was found here: differences, paired, that each finding stands or falls with."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from common import Evidence
from ga_crawls import BEST_FIRST, EVOLVED, PAPER, Case, Evolution, Study, Transfer, Trial

from lycosa.lab.evaluate.runs import Floats

HOLDS = ("**holds**", "**the other way round**", "no difference shown")


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

    @property
    def lengths(self) -> dict[str, tuple[int, ...]]:
        """By kind."""
        return {case.kind: case.lengths for case in self.study.cases}


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


def findings(all_figures: Sequence[Figures]) -> Iterator[Finding]:
    """Finding by finding, on every topic that was evolved on."""
    for finding in (_fitness, _shrinking, _cohesion, _growth, _distances, _transfer, _paper, _against_paper):
        for figures in all_figures:
            for case in figures.study.cases:
                yield from finding(figures, case)


def case_name(study: Study, kind: str) -> str:
    return f"{study.name.split(',')[0]}, {kind}"


def _fitness(figures: Figures, case: Case) -> Iterator[Finding]:
    """GA, section 3.1: evolved strategies win, but for the longest crawls of the narrow topic."""
    fitness = figures.same[case.kind].fitness
    for at, crawls in enumerate(("the shortest", "longer", "the longest")):
        is_lost = case.kind == "narrow" and at == 2
        better, worse = (BEST_FIRST, EVOLVED[0]) if is_lost else (EVOLVED[0], BEST_FIRST)
        says = "narrow topic: best-first is ahead" if is_lost else "evolved beats best-first"
        yield _compared("3, 4", f"{says} in {crawls} crawls", figures, case, "fitness", fitness, better, worse, at)


def _shrinking(figures: Figures, case: Case) -> Iterator[Finding]:
    if case.kind != "narrow":
        return
    fitness = figures.same[case.kind].fitness
    ahead = fitness[EVOLVED[0]] - fitness[BEST_FIRST]
    means = f"ahead by {ahead[:, 0].mean():+.3f} in the shortest crawls, {ahead[:, -1].mean():+.3f} in the longest"
    says = "narrow topic: what evolved is ahead by shrinks as crawls grow"
    yield Finding("3", says, case_name(figures.study, case.kind), ahead[:, 0] - ahead[:, -1], means)


def _cohesion(figures: Figures, case: Case) -> Iterator[Finding]:
    trial_ = figures.same[case.kind]
    for figure, says, values in (
        ("5, 7", "evolved: the community is more cohesive than best-first's", trial_.community),
        ("6, 8", "evolved: all that was crawled is more cohesive", trial_.overall),
    ):
        yield _compared(figure, says, figures, case, "links", values, EVOLVED[0], BEST_FIRST, 0)


def _growth(figures: Figures, case: Case) -> Iterator[Finding]:
    """GA, section 3.1: the large community gains links as the crawl goes on, the small one loses them."""
    values = figures.same[case.kind].community[EVOLVED[0]]
    shortest, longest = values[:, 0], values[:, -1]
    does_grow = case.kind == "broad"
    says = f"{case.kind} topic: cohesiveness {'grows' if does_grow else 'falls'} as crawls grow"
    means = f"links: {shortest.mean():.3f} in the shortest crawls, {longest.mean():.3f} in the longest"
    differences = longest - shortest if does_grow else shortest - longest
    yield Finding("7" if does_grow else "5", says, case_name(figures.study, case.kind), differences, means)


def _distances(figures: Figures, case: Case) -> Iterator[Finding]:
    values = figures.same[case.kind].distance
    says = "evolved stays nearer to the seeds"
    yield _compared("9, 10", says, figures, case, "mean distance", values, BEST_FIRST, EVOLVED[0], -1)


def _transfer(figures: Figures, case: Case) -> Iterator[Finding]:
    yield _over_topics("evolved beats best-first on other topics", figures, case, case.kind, BEST_FIRST)


def _paper(figures: Figures, case: Case) -> Iterator[Finding]:
    yield _over_topics("the paper's own weights beat best-first on other topics", figures, case, PAPER, BEST_FIRST)


def _against_paper(figures: Figures, case: Case) -> Iterator[Finding]:
    yield _over_topics("evolved beats the paper's weights on other topics", figures, case, case.kind, PAPER)


def _compared(
    figure: str,
    says: str,
    figures: Figures,
    case: Case,
    metric: str,
    values: Mapping[str, Floats],
    better: str,
    worse: str,
    at: int,
) -> Finding:
    """Paired over the repeats on one topic."""
    first, second = values[better][:, at], values[worse][:, at]
    means = f"{metric} after {case.lengths[at]:,} pages: {better} {first.mean():.3f}, {worse} {second.mean():.3f}"
    return Finding(figure, says, case_name(figures.study, case.kind), first - second, means)


def _over_topics(says: str, figures: Figures, case: Case, better: str, worse: str) -> Finding:
    """Paired over topics, each with the mean of its repeats, in crawls as long as those evolved on."""
    at = figures.study.lengths.index(case.lengths[0])
    first, second = (np.array([by_strategy[name][at] for by_strategy in figures.others]) for name in (better, worse))
    shown = EVOLVED[0] if better == case.kind else better
    where = f"fitness over {len(first)} topics, {case.lengths[0]:,} pages"
    means = f"{where}: {shown} {first.mean():.3f}, {worse} {second.mean():.3f}"
    return Finding("–", says, case_name(figures.study, case.kind), first - second, means)


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
