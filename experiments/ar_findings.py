"""What the crawls of paper AR's experiments say about its findings."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from ar_classifiers import JUDGES
from ar_crawls import (
    BREADTH,
    DROP,
    FAR,
    NEW_LINKS,
    OWN_ANCHORS,
    PARENT,
    RELATED,
    SIMPLE,
    TELLING,
    UNRELATED,
    WEIGHT,
    WIKI,
    Crawl,
    Study,
    Web,
)
from common import Evidence

HOLDS = ("**holds**", "**the other way round**", "no difference shown")


@dataclass(frozen=True)
class Figures:
    """What the crawls of one web gave."""

    web: Web
    pages: int
    studies: Sequence[Study]
    left_out: int
    """Interests with too little to find, or whose start pages say nothing to the judge."""
    by_judge: Mapping[str, Sequence[Study]] = field(default_factory=dict)
    """Narrow interests under each judge, from relevant start pages; those that every judge can be asked for."""

    def chosen(self, *, is_broad: bool, crawlers: Sequence[str] = ()) -> list[Study]:
        """Those with all of these crawlers: of a single topic nothing can be dropped."""
        return [
            study
            for study in self.studies
            if study.interest.is_broad is is_broad and all(name in study.near for name in crawlers)
        ]


def final(crawl: Crawl) -> float:
    return float(crawl.found[-1])


def mean_distance(crawl: Crawl) -> float:
    """Of the pages found; 0 where none was."""
    count = crawl.distances.sum()
    return float(crawl.distances @ np.arange(len(crawl.distances)) / count) if count else 0.0


def against(
    studies: Sequence[Study],
    better: str,
    worse: str,
    *,
    figure: str,
    says: str,
    start: str = "near",
    measure: Callable[[Crawl], float] = final,
) -> Evidence:
    values = np.array([[measure(getattr(study, start)[name]) for name in (better, worse)] for study in studies])
    first, second = values.T
    what = "share found" if measure is final else "mean distance"
    counts = f"better in {(first > second).sum()}, worse in {(first < second).sum()} of {len(studies)}"
    means = f"{what}: {better} {first.mean():.3f}, {worse} {second.mean():.3f}; {counts}"
    return Evidence(figure, says, first - second, means, HOLDS)


def evidence(by_name: dict[str, Figures]) -> Iterator[Evidence]:
    """Claims on wikispeedia, where it is here, then on the planted webs."""
    if wiki := by_name.get(WIKI):
        broad = wiki.chosen(is_broad=True)
        says = f"broad: simple focus beats breadth-first (*{WIKI}*)"
        yield against(broad, SIMPLE, BREADTH, figure="4", says=says)
        yield against(broad, PARENT, SIMPLE, figure="4", says=f"broad: tunnelling makes no difference (*{WIKI}*)")
    for name in (WIKI, RELATED):
        if figures := by_name.get(name):
            yield from _narrow(figures)
    for name, says in (
        (TELLING, "as *related*, but anchors tell: tunnelling finds more than simple focus"),
        (UNRELATED, "control: the same where wider topics do not lead to narrow ones"),
    ):
        narrow = by_name[name].chosen(is_broad=False)
        yield against(narrow, PARENT, SIMPLE, figure="5", says=f"{says} (*{name}*)")
    for name in (WIKI, TELLING):
        if figures := by_name.get(name):
            narrow = figures.chosen(is_broad=False)
            says = f"not in the paper: anchors still judged by the narrow interest do better (*{name}*)"
            yield against(narrow, OWN_ANCHORS, PARENT, figure="–", says=says)
            says = f"not in the paper: … and better than simple focus (*{name}*)"
            yield against(narrow, OWN_ANCHORS, SIMPLE, figure="–", says=says)


def _narrow(figures: Figures) -> Iterator[Evidence]:
    name = figures.web.name
    narrow = figures.chosen(is_broad=False)
    ands = figures.chosen(is_broad=False, crawlers=(DROP, WEIGHT))
    for start, place in (("near", ""), ("far", f" from {FAR} links away")):
        says = f"narrow{place}: simple focus finds hardly more than breadth-first (*{name}*)"
        claim = against(narrow, SIMPLE, BREADTH, figure="5", says=says, start=start)
        words = ("**does not hold: much more**", "**less**", "no difference shown")
        yield Evidence(claim.figure, claim.says, claim.differences, claim.means, words)
        says = f"narrow{place}: tunnelling (parent) finds more than simple focus (*{name}*)"
        yield against(narrow, PARENT, SIMPLE, figure="5", says=says, start=start)
    for way in (DROP, WEIGHT):
        says = f"ANDs: tunnelling ({way.partition(' ')[2]}) finds more than simple focus (*{name}*)"
        yield against(ands, way, SIMPLE, figure="3.3", says=says)
    says = f"scoring all waiting links again is better than only new ones (*{name}*)"
    yield against(narrow, PARENT, NEW_LINKS, figure="3.3", says=says)
    says = f"narrow: tunnelling finds relevant pages farther away than simple focus (*{name}*)"
    yield against(narrow, PARENT, SIMPLE, figure="7", says=says, measure=mean_distance)


def judges_evidence(all_figures: Sequence[Figures]) -> Iterator[Evidence]:
    """Tunnelling's worth under each judge."""
    for figures in all_figures:
        for judge in JUDGES:
            if studies := figures.by_judge.get(judge):
                says = f"{judge}: tunnelling (parent) finds more than simple focus (*{figures.web.name}*)"
                yield against(studies, PARENT, SIMPLE, figure="5", says=says)
