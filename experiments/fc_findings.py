"""What the crawls of paper FC's experiments say about its findings, web by web."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from common import Evidence
from fc_citations import Citations
from fc_crawls import BEST, BREADTH, FAR, HARD, SOFT, UNFOCUSED, WINDOW, Resources, Study, Web

from lycosa.lab.evaluate.pictures import Line
from lycosa.lab.evaluate.runs import ORACLE, Floats
from lycosa.lab.evaluate.summary import over_topics
from lycosa.lab.replay.compare import ComparePlan
from lycosa.lab.worlds.world import World

SHOWN = {SOFT: "soft focus", HARD: "hard focus", BREADTH: BREADTH, UNFOCUSED: "unfocused", ORACLE: ORACLE}
HOLDS = ("**holds**", "**the other way round**", "no difference shown")


@dataclass(frozen=True)
class Figures:
    """What the crawls of one web gave."""

    web: Web
    plan: ComparePlan
    studies: Sequence[Study]
    """One a topic."""
    judge: tuple[int, int, float, float]
    resources: Resources = field(default_factory=lambda: ([], [], []))
    """For the shown topic."""
    citations: Sequence[Citations] = ()
    """One a topic."""

    @property
    def has_hosts(self) -> bool:
        """Whether there are servers whose overlap can be looked at."""
        return bool((self.values(SOFT, "hosts") > 1).any())

    @property
    def base(self) -> float:
        """The share of a topic's pages in the web, the mean over topics: what a blind choice harvests."""
        world = World.open(self.plan.world)
        return float(np.mean([len(world.pages_of(topic)) for topic in self.plan.topics]) / len(world))

    @property
    def shown_topic(self) -> str:
        """The one whose hubs are shown: the middle of the list, so that nobody has chosen it."""
        return self.plan.topics[len(self.plan.topics) // 2]

    def values(self, strategy: str, name: str) -> Floats:
        """By topic."""
        return np.array([each[strategy][name] for each in self.studies])

    def line(self, strategy: str, name: str, shown: str = "") -> Line:
        mean, error = over_topics(self.values(strategy, name))
        return Line(shown or SHOWN[strategy], mean, error)

    def mean(self, strategy: str, name: str) -> str:
        mean, error = over_topics(self.values(strategy, name).reshape(len(self.studies)))
        return f"{mean:.2f} ± {error:.2f}"


def evidence(all_figures: Sequence[Figures], claims_of: Callable[[Figures], Iterator[Evidence]]) -> list[Evidence]:
    """Finding by finding, each on every web that can say something about it."""
    rows = [list(claims_of(figures)) for figures in all_figures]
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
    if figures.has_hosts:
        far, count = figures.values(SOFT, "far hosts"), figures.values(SOFT, "best hosts").mean()
        means = f"of the {count:.0f} best servers {far.mean():.0%} are farther than {FAR} links from the seeds"
        yield Evidence("9", f"… and so are most of the best servers (at most {BEST})", far - 0.5, means, words)
