"""All runs of one topic measured against the truth: every metric as a curve over pages.

Runs shorter than the page budget (their frontier was empty) are padded with their last value (`curves.padded`). What
all runs of a topic share, such as TF-IDF weights and near-duplicates, is computed once.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from lycosa.lab.evaluate.cohesion import cohesiveness
from lycosa.lab.evaluate.cost import relative_costs
from lycosa.lab.evaluate.curves import harvest_rate, mean_so_far, moving_harvest_rate, padded, recall
from lycosa.lab.evaluate.runs import BOUNDS, CrawledTask, Floats, Floats32, Ints, Run, Scores, Terms, Truth
from lycosa.lab.evaluate.similarity import similarities
from lycosa.lab.evaluate.spread import (
    DISTANCES,
    RELEVANCES,
    Likeness,
    capped_harvest,
    distance_histogram,
    distinct_so_far,
    is_new_content,
    likeness,
    relevance_histogram,
)

WINDOW = 100
"""Number of last pages in the recent harvest rate."""
HOST_CAP = 10
"""Maximum number of relevant pages of a host that count in the site-capped harvest."""


class Metric(NamedTuple):
    """A quantity measured after each page."""

    title: str
    explanation: str
    is_share: bool = True
    """Shown as a percentage."""
    better: int = 1
    """1: more is better; -1: less is better; 0: neither."""


METRICS: Mapping[str, Metric] = {
    "recall": Metric("target recall", "share of the targets found (TC, equation 1)"),
    "harvest": Metric("harvest rate", "share of fetched pages that are relevant by label (FC, section 4.2)"),
    "recent_harvest": Metric("recent harvest rate", "harvest rate of the last pages only"),
    "judged": Metric("precision by judge", "share of fetched pages that the judge calls relevant"),
    "relevance": Metric("mean judged relevance", "mean of the judge's R over fetched pages (FC, section 4.2)"),
    "similarity": Metric("similarity", "mean TF-IDF cosine to the topic's description (TC, equation 2)", False),
    "relevant": Metric("relevant pages", "relevant pages found, by label", False),
    "capped_harvest": Metric("site-capped harvest", "harvest rate where only the first few pages of a host count"),
    "hosts": Metric("hosts", "distinct hosts reached", False, 0),
    "distinct": Metric("distinct pages", "pages that are not near-duplicates of an earlier one", False),
    "community_cohesion": Metric("community cohesiveness", "links into the community, per member (GA)", False),
    "overall_cohesion": Metric("overall cohesiveness", "links into the community, per fetched page (GA)", False),
    "cost": Metric("relative cost", "CPU time of the strategy; 1 is the mean at the end (TC, equation 8)", False, -1),
    "frontier": Metric("frontier", "links waiting", False, 0),
}


def checkpoints_of(pages: int, count: int = 20) -> tuple[int, ...]:
    """Evenly spaced numbers of pages, the last one `pages`."""
    return tuple(sorted({max(1, round(pages * step / count)) for step in range(1, count + 1)}))


def measure(
    truth: Truth,
    runs: Sequence[Run],
    *,
    terms: Terms,
    strategies: Sequence[str],
    pages: int,
    bounds: Collection[str] = BOUNDS,
    relevant_from: float = 0.5,
    overlaps: Mapping[str, Mapping[str, Floats]] = MappingProxyType({}),
) -> Scores:
    """The scores of one topic, in the order of `strategies`, each of which needs at least one run.

    `relevant_from`: minimum judged relevance of a page that the judge calls relevant.
    """
    missing = set(strategies) - {run.strategy for run in runs}
    if missing:
        raise ValueError(f"topic {truth.topic!r}: no run of {', '.join(sorted(missing))}")
    ordered = sorted(runs, key=lambda run: (strategies.index(run.strategy), run.repeat))
    crawled, places = _all_pages(ordered)
    alike = likeness(truth.fingerprints[crawled])
    cosines = similarities(terms, crawled, truth.description)
    costs = _costs(ordered, pages, bounds)

    checkpoints = checkpoints_of(pages)
    at = np.array(checkpoints) - 1
    weights = [1 / sum(other.strategy == run.strategy for other in ordered) for run in ordered]
    curves: dict[str, Floats32] = {name: np.zeros((len(strategies), pages), dtype=np.float32) for name in METRICS}
    rows: dict[str, Floats32] = {name: np.zeros((len(runs), len(at)), dtype=np.float32) for name in METRICS}
    distances, relevances = np.zeros((len(strategies), DISTANCES)), np.zeros((len(strategies), RELEVANCES))
    for number, (run, place, weight) in enumerate(zip(ordered, places, weights, strict=True)):
        strategy = strategies.index(run.strategy)
        for name, curve in _curves(run, truth, place, alike, cosines, relevant_from).items():
            whole = padded(curve, pages)
            curves[name][strategy] += whole * weight
            rows[name][number] = whole[at]
        curves["cost"][strategy] += costs[number] * weight
        rows["cost"][number] = costs[number][at]
        distances[strategy] += distance_histogram(run.distance) * weight
        relevances[strategy] += relevance_histogram(run.relevance) * weight
    return Scores(
        topic=truth.topic,
        strategies=tuple(strategies),
        curves=curves,
        runs=tuple((run.strategy, run.repeat) for run in ordered),
        fetched=np.array([len(run.pages) for run in ordered]),
        checkpoints=checkpoints,
        at_checkpoints=rows,
        distances=distances,
        relevances=relevances,
        overlaps=dict(overlaps),
        targets=np.flatnonzero(truth.targets).astype(np.int32),
        crawled=_crawled(ordered),
    )


def _curves(
    run: Run, truth: Truth, place: Ints, alike: Likeness, cosines: Floats, relevant_from: float
) -> dict[str, Floats]:
    """Every curve of one run except its cost; `place` has the positions of its pages among all crawled pages."""
    is_earned = ~np.isin(run.pages, run.given)
    relevant, hosts = truth.relevant[run.pages] & is_earned, truth.hosts[run.pages]
    cohesion = cohesiveness(
        run.pages,
        is_relevant=truth.relevant[run.pages],
        seeds=run.seeds,
        link_offsets=truth.link_offsets,
        link_targets=truth.link_targets,
    )
    return {
        "recall": recall(
            truth.targets[run.pages] & is_earned, int(truth.targets.sum()) - int(truth.targets[run.given].sum())
        ),
        "harvest": harvest_rate(relevant),
        "recent_harvest": moving_harvest_rate(relevant, WINDOW),
        "judged": harvest_rate(run.relevance >= relevant_from),
        "relevance": mean_so_far(run.relevance),
        "similarity": mean_so_far(cosines[place]),
        "relevant": np.cumsum(relevant).astype(np.float64),
        "capped_harvest": capped_harvest(relevant, hosts, HOST_CAP),
        "hosts": distinct_so_far(hosts),
        "distinct": np.cumsum(is_new_content(place, alike)).astype(np.float64),
        "community_cohesion": cohesion.community,
        "overall_cohesion": cohesion.overall,
        "frontier": np.asarray(run.frontier, dtype=np.float64),
    }


def _crawled(runs: Sequence[Run]) -> tuple[CrawledTask, ...]:
    by_repeat: dict[int, list[Run]] = {}
    for run in sorted(runs, key=lambda run: run.repeat):
        by_repeat.setdefault(run.repeat, []).append(run)
    return tuple(
        CrawledTask(own[0].seeds, own[0].given, {run.strategy: run.pages for run in own}) for own in by_repeat.values()
    )


def _all_pages(runs: Sequence[Run]) -> tuple[Ints, list[Ints]]:
    """All pages that any run fetched, each once, and for each run the positions of its pages among them."""
    joined = np.concatenate([np.asarray(run.pages, dtype=np.int64) for run in runs])
    crawled, inverse = np.unique(joined, return_inverse=True)
    ends = np.cumsum([len(run.pages) for run in runs])
    return crawled, np.split(inverse.reshape(-1), ends[:-1])


def _costs(runs: Sequence[Run], pages: int, bounds: Collection[str]) -> list[Floats]:
    """Relative cost of each run, in the order of `runs`, which are sorted by strategy."""
    cpu: dict[str, list[Floats]] = {}
    for run in runs:
        cpu.setdefault(run.strategy, []).append(run.cpu)
    return [cost for costs in relative_costs(cpu, pages, bounds=bounds).values() for cost in costs]
