"""The crawls of paper GA's experiments: webs and topics, the evolution on one topic, trials on the same and on others.

No peeking: strategies are evolved on crawls that begin at the judge's examples. Trials on the same topic begin at other
pages of it, and trials on other topics have other judges, too. What a crawl was given earns it nothing.

Graded by labels; guided by the raw margins of an SVM trained on words and bi-grams of up to 50 pages of the topic and
five times as many others. In the generated webs, pages without a word of text, relevance is drawn at random around the
truth instead: see `made_ground`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

import numpy as np
from common import built_world

from lycosa.lab.evaluate.cohesion import cohesiveness
from lycosa.lab.evaluate.runs import Bools, Floats, Ints
from lycosa.lab.evaluate.spread import distance_histogram
from lycosa.lab.evolve.encoding import Encoding
from lycosa.lab.evolve.fitness import HARVEST, CrawlFitness, Grading
from lycosa.lab.evolve.link_arrays import LinkArrays, link_arrays_of, ordered_scores
from lycosa.lab.evolve.simulator import CrawlPlan, Simulator
from lycosa.lab.evolve.task import EvolutionPlan, prepare
from lycosa.lab.generated.graph import build
from lycosa.lab.generated.web import WebPlan
from lycosa.lab.worlds.world import Edges, World
from lycosa.lib.evolve import GeneticSettings, Genome, Population, evolve
from lycosa.strategies.papers.current_list import CurrentListSettings
from lycosa.strategies.papers.evolved import WEIGHTS, EvolvedSettings

Transfer = Mapping[str, Floats]
"""By strategy: the mean fitness over the repeats, by length."""

BEST_FIRST, PAPER, EVOLVED = "best-first", "ga2003", ("E1", "E2", "E3")
FIXED: Mapping[str, EvolvedSettings] = {
    BEST_FIRST: EvolvedSettings(**{**dict.fromkeys(WEIGHTS, 0), "parent_1": 1}),
    PAPER: EvolvedSettings(),
}
RUNS = 3
"""Crawls a strategy is tried by while it is evolved."""
SEED = 1


@dataclass(frozen=True)
class Scale:
    population: int
    generations: int
    repeats: int
    others: int
    """Other topics in the trials, at most."""
    made_pages: int
    """Of a generated web."""
    switch_pages: int
    """Of a generated web that the switches of `lycosa evolve` are compared on (ga_switches.py)."""
    has_long_switches: bool = True
    evolutions: int = 5
    """Of each switch, with other luck."""
    switch_topics: int = 6
    """Topics on which other searches and the switches are compared, at most."""


@dataclass(frozen=True)
class Case:
    """A topic to evolve on: broad or narrow."""

    kind: str
    labels: tuple[str, ...]
    """In a generated web a topic has a number; see `made_ground`."""
    lengths: tuple[int, int, int]
    """Of the crawls; the first is evolved on. A narrow topic is soon exhausted: its crawls are shorter."""


@dataclass(frozen=True)
class Study:
    """One web, with the topics that strategies are evolved on and those that they are tried on besides."""

    name: str
    cases: tuple[Case, ...]
    others: tuple[tuple[str, ...], ...]
    seeds: int
    """Of each crawl while evolving."""
    trial_seeds: tuple[int, int]
    """Of each crawl of a trial: half of the trials have the smaller set, half the larger (the paper: 50 and 250)."""
    order: CurrentListSettings
    path: Path | None = None
    made: WebPlan | None = None
    """Instead of a path: the plan of a generated web."""

    @property
    def lengths(self) -> tuple[int, ...]:
        """Of crawls on other topics: those that strategies were evolved on."""
        return tuple(sorted(case.lengths[0] for case in self.cases))


def studies(scale: Scale) -> list[Study]:
    """Those whose sources are here; the generated webs always are."""
    found = []
    short = CurrentListSettings(size=10, refill=5)
    if (wiki := built_world("wikispeedia")) is not None:
        world = World.open(wiki)
        biology, elements = ("Science/Biology/*", "Science/Chemistry/Chemical_elements")
        # Subjects side by side, none within another; those of a few dozen pages are left out.
        subjects = [
            *(
                "Business_Studies*",
                "Citizenship*",
                "Countries",
                "Design_and_Technology*",
                "Everyday_life*",
                "Geography*",
            ),
            *("History*", "IT*", "Language_and_literature*", "Music*", "People*", "Religion*", "Science/Physics*"),
        ]
        found.append(
            Study(
                "wikispeedia",
                (
                    Case("broad", tuple(world.match(biology)), (200, 400, 800)),
                    Case("narrow", (elements,), (50, 100, 200)),
                ),
                tuple(tuple(world.match(each)) for each in subjects)[: scale.others],
                seeds=10,
                trial_seeds=(5, 25),
                order=short,
                path=wiki,
            )
        )
    if (docs := built_world("debian-docs")) is not None:
        broad, narrow = "dev_tools", "society"
        rest = [topic for topic in World.open(docs).topics if topic not in (broad, narrow)]
        found.append(
            Study(
                "debian-docs",
                (Case("broad", (broad,), (250, 500, 1_000)), Case("narrow", (narrow,), (40, 80, 160))),
                tuple((each,) for each in rest)[: scale.others],
                seeds=10,
                trial_seeds=(5, 25),
                order=short,
                path=docs,
            )
        )
    pages = scale.made_pages
    for kind, topics, step in (("broad", 8, pages // 100), ("narrow", 64, pages // 200)):
        found.append(
            Study(
                "generated" if kind == "broad" else "generated, 64 topics",
                (Case(kind, ("0",), (step, 2 * step, 3 * step)),),
                tuple((str(number),) for number in range(1, 1 + scale.others)),
                seeds=139,
                trial_seeds=(50, 250),
                order=CurrentListSettings(),
                made=WebPlan(seed=3, pages=pages, hosts=pages // 50, topics=topics),
            )
        )
    return found


# A topic of a web


@dataclass(frozen=True)
class Ground:
    web: LinkArrays
    is_good: Bools
    """By label, examples included."""
    examples: Ints
    graph: Edges
    """Links between its pages."""
    sites: Ints
    """By page: the number of its host."""


def ground_of(study: Study, labels: tuple[str, ...], *, has_more_scores: bool = False) -> Ground:
    if study.path:
        return _recorded(study.path, labels, "all" if has_more_scores else "paper")
    return made_ground(study.made, int(labels[0]))


@lru_cache(maxsize=1)
def _recorded(path: Path, labels: tuple[str, ...], scores: str) -> Ground:
    task = prepare(EvolutionPlan(world=path, topics=labels, pages=100, scores=scores, seed=SEED))
    is_good = task.grading.is_good.copy()
    is_good[task.examples] = True
    web = link_arrays_of(task.world, task.verdicts)
    return Ground(web, is_good, task.examples, task.world.graph, task.grading.sites)


def made_ground(plan: WebPlan | None, number: int) -> Ground:
    """Relevance as a good judge would give it: Beta(6, 2) for pages of the topic, 94 % of them at ½ or more, and
    Beta(1, 6) for others, 1.6 % of them. Numbers above the web's topics are topics of a second web of its kind."""
    assert plan is not None
    web_number, topic = divmod(number, plan.topics)
    (offsets, targets), topics, hosts = _made(replace(plan, seed=plan.seed + web_number))
    rng = np.random.default_rng([SEED, number])
    is_good = topics == topic
    relevance = np.where(is_good, rng.beta(6, 2, len(topics)), rng.beta(1, 6, len(topics)))
    web = LinkArrays(
        urls=len(topics),
        link_offsets=offsets,
        link_urls=targets,
        nofollow=np.zeros(0, np.bool_),
        redirects=np.zeros(0, np.int32),
        ordered_score=ordered_scores(relevance),
        is_relevant=relevance >= 0.5,
        hosts=hosts,
    )
    members = np.flatnonzero(is_good)
    examples = np.sort(rng.choice(members, min(500, len(members) // 2), replace=False))
    return Ground(web, is_good, examples, Edges(offsets, targets), hosts)


@lru_cache(maxsize=1)
def _made(plan: WebPlan) -> tuple[Edges, Ints, Ints]:
    graph = build(plan)
    pages = len(graph.topic)
    pairs = np.repeat(np.arange(pages), np.diff(graph.start)) * pages + graph.target
    pairs.sort()
    pairs = pairs[np.concatenate([[True], pairs[1:] != pairs[:-1]])]
    sources, targets = np.divmod(pairs, pages)
    offsets = np.concatenate([[0], np.cumsum(np.bincount(sources, minlength=pages))])
    hosts = graph.sites.host[graph.section].astype(np.int32)
    return Edges(offsets, targets.astype(np.int32)), graph.topic, hosts


# Evolution


@dataclass(frozen=True)
class Evolution:
    best: tuple[float, ...]
    """By generation."""
    mean: tuple[float, ...]
    winners: tuple[Genome, ...]
    """The three fittest that are not the same strategy."""


def evolution(study: Study, case: Case, scale: Scale) -> Evolution:
    """Paper GA, section 3, with its parameters where the scale is full."""
    ground = ground_of(study, case.labels)
    settings = GeneticSettings(population=scale.population, generations=scale.generations)
    populations = list(bred(study, ground, case.lengths[0], settings, Encoding(), luck=[SEED]))
    different: dict[tuple[float, ...], Genome] = {}
    for genome in populations[-1].genomes:
        weights = weights_of(genome)
        different.setdefault(tuple(np.round(weights.weights(), 3)), genome)
    winners = [*different.values(), *[populations[-1].best] * len(EVOLVED)][: len(EVOLVED)]
    return Evolution(
        tuple(each.fitness[0] for each in populations), tuple(each.mean for each in populations), tuple(winners)
    )


def bred(
    study: Study,
    ground: Ground,
    pages: int,
    settings: GeneticSettings,
    encoding: Encoding,
    *,
    luck: Sequence[int],
    measure: str = HARVEST,
    start: Sequence[Genome] = (),
) -> Iterator[Population]:
    """Generation after generation, tried in crawls of so many pages that begin at the judge's examples."""
    fitness = training_fitness(study, ground, pages, encoding, luck=luck, measure=measure)
    return evolve(fitness, settings, rng=np.random.default_rng([*luck]), start=start)


def training_fitness(
    study: Study, ground: Ground, pages: int, encoding: Encoding, *, luck: Sequence[int], measure: str = HARVEST
) -> CrawlFitness:
    rng = np.random.default_rng([*luck, 2])
    starts = [np.sort(rng.choice(ground.examples, min(study.seeds, len(ground.examples)), False)) for _ in range(RUNS)]
    is_good = ground.is_good.copy()
    is_good[ground.examples] = False
    return CrawlFitness(
        simulator=Simulator(ground.web),
        plans=[CrawlPlan(seeds=seeds.astype(np.int64), pages=pages, order=study.order) for seeds in starts],
        grading=Grading(is_good, ground.sites),
        seed=SEED,
        measure=measure,
        encoding=encoding,
    )


def weights_of(genome: Genome) -> EvolvedSettings:
    settings = Encoding().settings(genome)
    assert settings is not None, "the fittest strategy has no weights"
    return settings


# Trials


@dataclass(frozen=True)
class Trial:
    """By strategy: repeats × lengths, those from the smaller seed sets first; the histograms are means over the
    repeats at the last length."""

    fitness: Mapping[str, Floats]
    community: Mapping[str, Floats]
    overall: Mapping[str, Floats]
    distance: Mapping[str, Floats]
    """The mean, of the pages fetched (`distances_of`)."""
    good_distance: Mapping[str, Floats]
    """The same of the good pages among them."""
    farthest: Mapping[str, Floats]
    """The largest distance."""
    histogram: Mapping[str, Floats]
    """Share of the pages fetched, by distance."""
    good_histogram: Mapping[str, Floats]
    """Good pages at each distance, as a share of all pages fetched."""
    good: int
    """Pages of the topic."""
    pages: int


def trial(
    study: Study,
    labels: tuple[str, ...],
    evolved: Mapping[str, EvolvedSettings],
    lengths: tuple[int, ...],
    repeats: int,
) -> Trial:
    """Each strategy from the same seeds, which no strategy was evolved on, and with the same luck."""
    ground = ground_of(study, labels)
    measured: dict[str, dict[str, list[Floats]]] = {}
    for size in study.trial_seeds:
        for name, way, seeds in crawls(study, ground, {**FIXED, **evolved}, lengths[-1], range(repeats), size):
            for metric, values in measures(way, ground, seeds, lengths).items():
                measured.setdefault(metric, {}).setdefault(name, []).append(values)
    arrays = {metric: {name: np.array(rows) for name, rows in by.items()} for metric, by in measured.items()}
    for histogram in ("histogram", "good_histogram"):
        arrays[histogram] = {name: rows.mean(axis=0) for name, rows in arrays[histogram].items()}
    return Trial(**arrays, good=int(ground.is_good.sum()), pages=len(ground.is_good))


def transfer(study: Study, labels: tuple[str, ...], evolved: Mapping[str, EvolvedSettings], repeats: int) -> Transfer:
    """The same on a topic that nothing was evolved on: fitness alone."""
    ground = ground_of(study, labels)
    found: dict[str, list[Floats]] = {}
    for name, way, seeds in crawls(
        study, ground, {**FIXED, **evolved}, study.lengths[-1], range(repeats), study.trial_seeds[0]
    ):
        found.setdefault(name, []).append(fitness_of(way, ground, seeds, study.lengths))
    return {name: np.mean(rows, axis=0) for name, rows in found.items()}


def crawls(
    study: Study,
    ground: Ground,
    strategies: Mapping[str, EvolvedSettings],
    pages: int,
    repeats: Iterable[int],
    seed_set: int,
) -> Iterator[tuple[str, Ints, Ints]]:
    """Strategy, pages in order, seeds; of each repeat first one strategy, then the next."""
    simulator = Simulator(ground.web)
    for repeat in repeats:
        seeds = trial_start(ground, repeat, seed_set)
        plan = CrawlPlan(seeds=seeds.astype(np.int64), pages=pages, order=study.order)
        for name, settings in strategies.items():
            yield name, simulator.crawl(settings, plan, np.random.default_rng([SEED, 4, repeat])), seeds


def trial_start(ground: Ground, repeat: int, seed_set: int) -> Ints:
    """Good pages that the judge was not shown."""
    unseen = np.setdiff1d(np.flatnonzero(ground.is_good), ground.examples)
    rng = np.random.default_rng([SEED, 3, repeat])
    return np.sort(rng.choice(unseen, min(seed_set, len(unseen) // 2), replace=False))


def fitness_of(way: Ints, ground: Ground, seeds: Ints, lengths: tuple[int, ...]) -> Floats:
    is_paying = ground.is_good[way] & ~np.isin(way, ground.examples) & ~np.isin(way, seeds)
    found = np.cumsum(is_paying)
    return np.array([found[min(length, len(way)) - 1] / length for length in lengths])


def measures(way: Ints, ground: Ground, seeds: Ints, lengths: tuple[int, ...]) -> dict[str, Floats]:
    is_good = ground.is_good[way]
    cohesive = cohesiveness(
        way, is_relevant=is_good, seeds=seeds, link_offsets=ground.graph.offsets, link_targets=ground.graph.pages
    )
    distances = distances_of(way, ground.web, seeds)
    good = [distances[:length][is_good[:length]] for length in lengths]
    ends = [min(length, len(way)) for length in lengths]
    return {
        "fitness": fitness_of(way, ground, seeds, lengths),
        "community": np.array([cohesive.community[end - 1] for end in ends]),
        "overall": np.array([cohesive.overall[end - 1] for end in ends]),
        "distance": np.array([distances[:end].mean() for end in ends]),
        "good_distance": np.array([found.mean() if len(found) else 0.0 for found in good]),
        "farthest": np.array([distances[:end].max() for end in ends], dtype=np.float64),
        "histogram": distance_histogram(distances),
        "good_histogram": distance_histogram(distances[is_good]) * float(is_good.mean()),
    }


def distances_of(way: Ints, web: LinkArrays, seeds: Ints) -> Ints:
    """Links from the nearest seed along the crawl's own way: one more than the page a link was first seen on.

    The paper's reach 14 in a web that was itself crawled to a depth of 4: they cannot be those of shortest ways.
    """
    distance = np.full(web.urls, -1, dtype=np.int32)
    distance[seeds] = 0
    for page in way.tolist():
        links = web.link_urls[web.link_offsets[page] : web.link_offsets[page + 1]]
        distance[links[distance[links] < 0]] = distance[page] + 1
    return distance[way]
