"""The crawls of paper FC's experiments: worlds and topics, one topic's crawls, and what is measured of them.

A topic's examples are dealt to two hands of seeds at random, and every strategy crawls from each: two crawls a
repeat. Pages that were given (the topic's examples, the seeds among them) do not count in rates and distributions and
are never among the best: the judge has learned them by heart.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
from kept_worlds import built_world, by_subject, generated_world

from lycosa.crawl.centrality import (
    Central,
    DistillingSettings,
    DistillSettings,
    central_pages,
    cited_by_hubs,
)
from lycosa.lab.evaluate.curves import padded
from lycosa.lab.evaluate.overlap import overlap_of, top_rated
from lycosa.lab.evaluate.runs import ORACLE, RANDOM, Bools, Floats, Ints, Run
from lycosa.lab.evaluate.spread import DISTANCES, distance_histogram, relevance_histogram
from lycosa.lab.generated.web import WebPlan
from lycosa.lab.replay.compare import ComparePlan, Guide, guide_of, judge_of, run_of_task, task_of
from lycosa.lab.replay.distilling import ReplayDistilling, ReplayedCitations
from lycosa.lab.replay.tasks import Task
from lycosa.lab.replay.trained_judges import draw_examples
from lycosa.lab.worlds.world import World

SOFT, HARD, UNFOCUSED, BREADTH = "best-first", "hard+random", RANDOM, "breadth-first"
"""FC, section 3.3: hard crawls take the links that survive in an arbitrary order."""
WINDOW = 100
"""Pages of the moving averages."""
BEST = 25
"""So many top-rated pages are looked at."""
ADMITTED = 0.15
"""Of the pages may be authorities (FC, section 3.2: 10 to 20 %)."""
SEEDS = 10
"""Of each crawl, where a topic has twice as many examples."""
SAMPLE = 1_000
"""Pages on which the judge is tried."""
FAR = 2
"""Links: what is farther needed a crawl, FC says, and not a look around the start."""

EVERY = 50
"""Pages between two distillations, where a crawl distils."""
LISTED = 10
"""So many hubs and authorities are shown of a crawl."""


class Distilled(NamedTuple):
    """A strategy that distils."""

    base: str
    raised: int = DistillSettings().unvisited
    """Largest number of links that are put first."""


DISTILLING = {
    "soft, distilling": Distilled(SOFT),
    "soft, distilling, 20 links": Distilled(SOFT, raised=20),
    "hard, distilling": Distilled(HARD),
}
"""By name: crawls that differ from their base in nothing else."""

Study = Mapping[str, Mapping[str, Floats]]
"""By strategy and name: a curve, a histogram or a single value; the mean over a topic's crawls."""


@dataclass(frozen=True)
class Web:
    """One of the worlds, and which of its topics are crawled for."""

    name: str
    path: Path
    pages: int
    """Of each crawl."""
    smallest: int
    """Topics with fewer pages are left out."""
    has_citations: bool
    """Whether its hosts cite each other enough for the distiller, which else takes links within a host, too."""

    def plan(self, *, topics: int, repeats: int, share: float) -> ComparePlan:
        return ComparePlan(
            world=self.path,
            topics=self.topics()[:topics],
            strategies=(SOFT, HARD, BREADTH),
            distance=0,
            pages=int(self.pages * share),
            buffer=0,
            repeats=repeats,
            seeds=2 * SEEDS,
            threshold=0.5,
            is_timed=False,
            judge="bayes",
            examples=2 * SEEDS,
        )

    def topics(self) -> tuple[str, ...]:
        """The lowest topics of the tree that are large enough: so none lies under another."""
        world = World.open(self.path)
        large = [topic for topic in world.topics if len(world.pages_of(topic)) >= self.smallest]
        return tuple(topic for topic in large if not any(other.startswith(topic + "/") for other in large))


def webs() -> list[Web]:
    """Those whose sources are here; the generated one always is."""
    found = []
    if (subjects := by_subject("wikispeedia")) is not None:
        found.append(Web("wikispeedia", subjects, pages=300, smallest=140, has_citations=False))
    if (docs := built_world("debian-docs")) is not None:
        found.append(Web("debian-docs", docs, pages=300, smallest=250, has_citations=False))
    made = generated_world("fc-generated", WebPlan(seed=5, pages=20_000, hosts=400, topics=12))
    found.append(Web("generated", made, pages=1_000, smallest=250, has_citations=True))
    return found


# The judge


def judge_quality(plan: ComparePlan) -> tuple[int, int, float, float]:
    """Examples, topics learned, and mean precision and recall of R ≥ ½ over the crawled topics, on unseen pages."""
    world = World.open(plan.world)
    examples = draw_examples(world, per_topic=plan.examples, seed=plan.seed)
    unseen = np.setdiff1d(np.flatnonzero(world.statuses < 300), examples.pages)
    some = np.sort(np.random.default_rng(plan.seed).permutation(unseen)[:SAMPLE])
    precisions, recalls = [], []
    judges = {topic: judge_of(plan, topic) for topic in plan.topics}
    said = np.array([[judge.judge(page).is_relevant for judge in judges.values()] for page in map(world.page, some)])
    for topic, is_said in zip(plan.topics, said.T, strict=True):
        is_true = np.isin(some, world.pages_of(topic))
        right = (is_said & is_true).sum()
        precisions.append(right / max(1, is_said.sum()))
        recalls.append(right / max(1, is_true.sum()))
    return len(examples), len(examples.topics), float(np.mean(precisions)), float(np.mean(recalls))


# One topic


def study(plan: ComparePlan, topic: str, has_citations: bool) -> Study:
    """All crawls for one topic, in this process."""
    guide = guide_of(plan, topic)
    sums: dict[str, dict[str, list[Floats]]] = {}
    for repeat in range(plan.repeats):
        task, hands = dealt(plan, topic, repeat)
        for name in (*plan.by_name, UNFOCUSED, ORACLE):
            pair = [run_of_task(plan, guide, hand, 2 * repeat + at, name) for at, hand in enumerate(hands)]
            _add(sums, name, measures(pair, task, guide, plan.pages, has_citations=has_citations))
        for name, how in DISTILLING.items():
            for at, hand in enumerate(hands):
                _add(sums, name, of_distilling(plan, guide, hand, 2 * repeat + at, how, has_citations=has_citations))
    return {
        strategy: {name: np.mean(entries, axis=0) for name, entries in values.items()}
        for strategy, values in sums.items()
    }


def dealt(plan: ComparePlan, topic: str, repeat: int) -> tuple[Task, list[Task]]:
    """A task, and the same from each of two hands of its seeds."""
    rng = np.random.default_rng([plan.seed, repeat, *topic.encode()])
    task = task_of(plan, topic, rng)
    cards = rng.permutation(task.seeds)
    return task, [replace(task, seeds=np.sort(hand)) for hand in (cards[0::2], cards[1::2])]


def _add(sums: dict[str, dict[str, list[Floats]]], strategy: str, measured: Iterator[tuple[str, Floats]]) -> None:
    values = sums.setdefault(strategy, {})
    for name, value in measured:
        values.setdefault(name, []).append(value)


def measures(
    pair: Sequence[Run], task: Task, guide: Guide, pages: int, *, has_citations: bool
) -> Iterator[tuple[str, Floats]]:
    """Of two crawls that differ in their seeds."""
    world = guide.judged.world
    bests = [best_of(run, task, world, has_citations=has_citations) for run in pair]
    for run, best in zip(pair, bests, strict=True):
        yield from of_one_crawl(run, task, world, best, pages)
    yield from of_two_crawls((pair[0], pair[1]), bests, world.host_of, pages)


class Best(NamedTuple):
    """The top-rated of a crawl, the best first; pages that were given are left out."""

    by_relevance: Ints
    by_authority: Ints
    hubs: Ints
    hosts: Ints
    """By the authority of all their pages together."""
    cited: Ints
    """Pages that the best hubs cite and the crawl has not fetched."""
    waiting: Ints
    """All pages that it has met and not fetched."""


def best_of(run: Run, task: Task, world: World, *, has_citations: bool) -> Best:
    def some(pages: Ints) -> Ints:
        return pages[~np.isin(pages, task.given)][:BEST]

    by_relevance = some(top_rated(run, len(run.pages)))
    none = by_relevance[:0]
    waiting = cited_and_new(run.pages, run, world)
    if not (run.relevance > 0).any():
        return Best(by_relevance, none, none, none, none, waiting)
    citations, central = central_of(run, world, has_citations=has_citations)
    hubs, authorities = (citations.numbers[places] for places in (central.hubs, central.authorities))
    is_own = ~np.isin(citations.numbers, task.given)
    by_host = np.bincount(
        world.host_of[citations.numbers[is_own]], central.scores.authorities[is_own], minlength=len(world.hosts)
    )
    hosts = np.argsort(-by_host, kind="stable")[: np.count_nonzero(by_host)]
    cited = cited_and_new(hubs[:BEST], run, world, is_across=has_citations)
    return Best(by_relevance, some(authorities), some(hubs), hosts[:BEST], cited, waiting)


def central_of(run: Run, world: World, *, has_citations: bool) -> tuple[ReplayedCitations, Central]:
    """Hubs and authorities of the fetched pages, all that have a score."""
    order = np.arange(len(run.pages), dtype=np.int64)
    citations = ReplayedCitations(
        world, fetched=run.pages.tolist(), links=order, relevance=np.asarray(run.relevance).tolist()
    )
    settings = DistillSettings(admitted=ADMITTED, top=len(run.pages), across_sites=has_citations)
    return citations, central_pages(citations, settings)


def cited_and_new(pages: Ints, run: Run, world: World, *, is_across: bool = False) -> Ints:
    """Recorded documents that these pages link to and the crawl has not fetched; `is_across`: on other hosts."""
    found = [world.link_urls[:0]]
    for page in pages.tolist():
        urls = world.link_urls[slice(*world.link_offsets[page : page + 2])]
        found.append(urls[world.url_hosts[urls] != world.host_of[page]] if is_across else urls)
    cited = np.unique(np.concatenate(found))
    cited = cited[cited < len(world)]
    return np.setdiff1d(cited[world.statuses[cited] < 300], run.pages)


def of_distilling(
    plan: ComparePlan, guide: Guide, task: Task, repeat: int, how: Distilled, *, has_citations: bool
) -> Iterator[tuple[str, Floats]]:
    """Of one crawl that distils; it differs from the base strategy's crawl of the same number in nothing else."""
    settings = DistillingSettings(
        every=EVERY, admitted=ADMITTED, top=BEST, unvisited=how.raised, across_sites=has_citations
    )
    distilling = ReplayDistilling(settings)
    run = run_of_task(plan, guide, task, repeat, how.base, distilling=distilling)
    is_new = ~np.isin(run.pages, task.given)
    is_relevant = task.relevant[run.pages] & is_new
    found = padded(np.cumsum(is_relevant).astype(np.float64), plan.pages)
    yield "harvest, recent", recent(is_relevant, is_new, plan.pages)
    yield "found", found
    yield "harvest", np.array(is_relevant.sum() / max(1, is_new.sum()))
    # Each hub that is fetched again costs a fetch, and in a web that does not change brings nothing.
    yield "found, revisits paid", np.array(found[max(0, plan.pages - distilling.revisits - 1)])
    yield "revisits", np.array(float(distilling.revisits))
    is_raised = np.isin(run.pages, list(distilling.raised)) & is_new
    yield "raised and fetched", np.array(float(is_raised.sum()))
    yield "relevant of the raised", np.array(is_relevant[is_raised].mean() if is_raised.any() else 0.0)


def of_one_crawl(run: Run, task: Task, world: World, best: Best, pages: int) -> Iterator[tuple[str, Floats]]:
    is_new = ~np.isin(run.pages, task.given)
    is_relevant = task.relevant[run.pages] & is_new
    yield "harvest, recent", recent(is_relevant, is_new, pages)
    yield "R, recent", recent(np.where(is_new, run.relevance, 0.0), is_new, pages)
    yield "found", padded(np.cumsum(is_relevant).astype(np.float64), pages)
    yield "harvest", np.array(is_relevant.sum() / max(1, is_new.sum()))
    yield "R", np.array(run.relevance[is_new].mean() if is_new.any() else 0.0)
    yield "recall", np.array(is_relevant.sum() / len(task.targets))
    yield "fetched", np.array(float(len(run.pages)))
    yield "ran dry", np.array(float(len(run.pages) < pages))
    yield "hosts", np.array(float(len(np.unique(world.host_of[run.pages]))))
    yield "R, distribution", relevance_histogram(run.relevance[is_new])
    yield "top R", np.array((run.relevance[is_new] >= 0.95).mean() if is_new.any() else 0.0)
    distance_of = dict(zip(run.pages.tolist(), run.distance.tolist(), strict=True))
    for name, chosen in (("R", best.by_relevance), ("authority", best.by_authority)):
        distances = np.array([distance_of[page] for page in chosen.tolist()], dtype=np.int64)
        yield f"distance of the best by {name}", distance_histogram(distances)
        yield f"far by {name}", np.array((distances > FAR).mean() if len(chosen) else 0.0)
    shortest = world.distances(run.seeds)[best.by_authority]
    yield "far by the shortest way", np.array((shortest > FAR).mean() if len(shortest) else 0.0)
    yield "distance of all", distance_histogram(run.distance)
    yield "authorities", np.array(float(len(best.by_authority)))
    of_host = host_distances(run, world)
    yield "distance of the best hosts", distance_histogram(of_host[best.hosts])
    yield "distance of all hosts", distance_histogram(of_host[of_host >= 0])
    yield "far hosts", np.array((of_host[best.hosts] > FAR).mean() if len(best.hosts) else 0.0)
    yield "best hosts", np.array(float(len(best.hosts)))
    yield "relevant of the hubs", np.array(task.relevant[best.hubs].mean() if len(best.hubs) else 0.0)


def host_distances(run: Run, world: World) -> Ints:
    """By host: links from the seeds to the nearest page of it that was fetched; -1 if none was."""
    nearest = np.full(len(world.hosts), DISTANCES, dtype=np.int64)
    np.minimum.at(nearest, world.host_of[run.pages], run.distance)
    is_met = np.isin(np.arange(len(nearest)), world.host_of[run.pages])
    return np.where(is_met, nearest, -1)


def of_two_crawls(
    pair: tuple[Run, Run], bests: Sequence[Best], hosts: Ints, pages: int
) -> Iterator[tuple[str, Floats]]:
    shared = overlap_of(*pair, hosts=hosts, pages=pages)
    yield "overlap of pages", shared["pages"]
    yield "overlap of hosts", (shared["hosts of the first"] + shared["hosts of the second"]) / 2
    first, second = bests
    yield "overlap of the best by R", share_in_both(first.by_relevance, second.by_relevance)
    yield "overlap of the best by authority", share_in_both(first.by_authority, second.by_authority)
    yield "overlap of their hosts", share_in_both(hosts[first.by_authority], hosts[second.by_authority])
    for name, one, other in (
        ("pages", first.by_authority, second.by_authority),
        ("hosts", first.hosts, second.hosts),
    ):
        counts = range(1, BEST + 1)
        yield f"overlap of the best {name}, by number", np.array([share_in_both(one[:n], other[:n]) for n in counts])


def share_in_both(first: Ints, second: Ints) -> Floats:
    """Of the larger of two sets, how much is in both."""
    return np.array(len(np.intersect1d(first, second)) / max(1, len(np.unique(first)), len(np.unique(second))))


def recent(values: Floats | Bools, counts: Bools, pages: int) -> Floats:
    """Mean over those of the last WINDOW pages that count. A crawl that has run dry acquires nothing any more: 0."""
    sums, numbers = (np.concatenate([[0.0], np.cumsum(each, dtype=np.float64)]) for each in (values, counts))
    ends = np.arange(1, len(counts) + 1)
    starts = np.maximum(0, ends - WINDOW)
    means = (sums[ends] - sums[starts]) / np.maximum(1.0, numbers[ends] - numbers[starts])
    return np.concatenate([means, np.zeros(pages - len(means))])


# Figure 10


class Resource(NamedTuple):
    """A page that the distiller names."""

    title: str
    url: str
    score: float
    relevance: float
    """The judge's R."""
    kind: str
    """What the labels say: of the topic, not of the topic; an example if it was given."""


Resources = tuple[list[Resource], list[Resource], list[Resource]]
"""Hubs; authorities; and unvisited pages, of which no R is known, that the best hubs cite."""


def resources(plan: ComparePlan, topic: str, has_citations: bool) -> Resources:
    """Of one crawl with soft focus."""
    guide = guide_of(plan, topic)
    task, (hand, _) = dealt(plan, topic, 0)
    world = guide.judged.world
    run = run_of_task(plan, guide, hand, 0, SOFT)
    citations, central = central_of(run, world, has_citations=has_citations)

    def told(places: Sequence[int], scores: Floats) -> list[Resource]:
        return [_resource(int(citations.numbers[place]), float(scores[place]), guide, task) for place in places]

    hubs, authorities = central.hubs[:LISTED], central.authorities[:LISTED]

    def cited(place: int) -> Iterator[tuple[int, str]]:
        pages = cited_and_new(citations.numbers[[place]], run, world, is_across=has_citations)
        return ((page, world.url(page)) for page in pages.tolist())

    found = cited_by_hubs(((central.scores.hubs[place], cited(place)) for place in central.hubs[:BEST]), LISTED)
    return (
        told(hubs, central.scores.hubs),
        told(authorities, central.scores.authorities),
        [Resource(world.title(each.link), each.url, each.score, 0.0, _kind(each.link, task)) for each in found],
    )


def _resource(page: int, score: float, guide: Guide, task: Task) -> Resource:
    world = guide.judged.world
    relevance = guide.judged.visit(page)[1].relevance
    return Resource(world.title(page), world.url(page), score, relevance, _kind(page, task))


def _kind(page: int, task: Task) -> str:
    if page in task.given:
        return "example"
    return "of the topic" if task.relevant[page] else "not of the topic"
