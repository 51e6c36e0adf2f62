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
from common import ROOT, built_world, made_once, shared_world

from lycosa.crawl.centrality import relevance_threshold
from lycosa.lab.evaluate.curves import padded
from lycosa.lab.evaluate.overlap import overlap_of, top_rated
from lycosa.lab.evaluate.runs import RANDOM, Bools, Floats, Ints, Run
from lycosa.lab.evaluate.spread import distance_histogram, relevance_histogram
from lycosa.lab.generated.web import GeneratedWeb, WebPlan
from lycosa.lab.replay.compare import ComparePlan, guide_of, judge_of, runs_of_task, task_of
from lycosa.lab.replay.tasks import Task
from lycosa.lab.replay.trained_judges import draw_examples
from lycosa.lab.worlds.build import build, build_generated
from lycosa.lab.worlds.world import World
from lycosa.lib.linkgraph import hits

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
    if (subjects := _wikispeedia_by_subject()) is not None:
        found.append(Web("wikispeedia", subjects, pages=300, smallest=140, has_citations=False))
    if (docs := built_world("debian-docs")) is not None:
        found.append(Web("debian-docs", docs, pages=300, smallest=250, has_citations=False))
    plan = WebPlan(seed=5, pages=20_000, hosts=400, topics=12)
    made = made_once(
        ROOT / "out" / "fc-generated.world",
        lambda target: build_generated(GeneratedWeb(plan), target, is_rendered=True),
    )
    found.append(Web("generated", made, pages=1_000, smallest=250, has_citations=True))
    return found


def _wikispeedia_by_subject() -> Path | None:
    """Labels name the lowest category of an article; here it has those above, too, so that subjects can be crawled."""
    source = shared_world("wikispeedia")
    if source is None:
        return None

    def make(target: Path) -> None:
        head, *rows = (source / "labels.tsv").read_text(encoding="utf-8").splitlines()
        labels = dict.fromkeys(
            f"{url}\t{topic.rsplit('/', up)[0]}"
            for url, topic in (row.split("\t") for row in rows)
            for up in range(topic.count("/") + 1)
        )
        every = target.with_suffix(".labels.tsv")
        every.write_text("\n".join([head, *labels]) + "\n", encoding="utf-8")
        build([source / "pages.warc.gz"], every, target)

    return made_once(ROOT / "out" / "wikispeedia-subjects.world", make)


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


def study(job: tuple[ComparePlan, str, bool]) -> Study:
    """All crawls for one topic, in this process."""
    plan, topic, has_citations = job
    judged, known = guide_of(plan, topic)
    sites = judged.world.host_of if has_citations else None
    sums: dict[str, dict[str, list[Floats]]] = {}
    for repeat in range(plan.repeats):
        rng = np.random.default_rng([plan.seed, repeat, *topic.encode()])
        task = task_of(plan, topic, rng)
        dealt = rng.permutation(task.seeds)
        pairs = zip(
            runs_of_task(plan, judged, known, replace(task, seeds=np.sort(dealt[0::2])), 2 * repeat),
            runs_of_task(plan, judged, known, replace(task, seeds=np.sort(dealt[1::2])), 2 * repeat + 1),
            strict=True,
        )
        for pair in pairs:
            values = sums.setdefault(pair[0].strategy, {})
            bests = [best_of(run, task, judged.world, sites) for run in pair]
            measured = [
                *of_one_crawl(pair[0], task, judged.world, bests[0], plan.pages),
                *of_one_crawl(pair[1], task, judged.world, bests[1], plan.pages),
                *of_two_crawls(pair, bests, judged.world.host_of, plan.pages),
            ]
            for name, value in measured:
                values.setdefault(name, []).append(value)
    return {
        strategy: {name: np.mean(entries, axis=0) for name, entries in values.items()}
        for strategy, values in sums.items()
    }


class Best(NamedTuple):
    """The top-rated pages of a crawl, the best first."""

    by_relevance: Ints
    by_authority: Ints


def best_of(run: Run, task: Task, world: World, sites: Ints | None) -> Best:
    ranked = (top_rated(run, len(run.pages)), authorities_of(run, world, sites))
    return Best(*(pages[~np.isin(pages, task.given)][:BEST] for pages in ranked))


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


def authorities_of(run: Run, world: World, sites: Ints | None) -> Ints:
    """By FC's distiller, over the fetched pages and the links between them: those cited at all, the best first."""
    pages = np.sort(run.pages)
    relevance = run.relevance[np.argsort(run.pages)]
    if not (relevance > 0).any():
        return pages[:0]
    is_fetched = np.zeros(len(world), dtype=np.bool_)
    is_fetched[pages] = True
    sources = np.repeat(np.arange(len(world)), np.diff(world.graph.offsets))
    kept = is_fetched[sources] & is_fetched[world.graph.pages]
    found = hits(
        np.searchsorted(pages, sources[kept]),
        np.searchsorted(pages, world.graph.pages[kept]),
        count=len(pages),
        relevance=relevance,
        threshold=relevance_threshold(relevance, ADMITTED),
        sites=None if sites is None else sites[pages],
    )
    order = np.argsort(-found.authorities, kind="stable")
    return pages[order[found.authorities[order] > 0]]
