"""The crawls of paper AR's experiments: webs and interests, one interest's crawls, and what is measured of them.

A page satisfies a topic if it is labelled with it or with one below it, and a formula if its labels do. Of the pages
that satisfy an interest some have taught the judge, some are start pages; neither count as found. The start pages are
not among those the judge has learned from: on these it is so sure that AR's rule (a page is relevant from the smallest
positive score of the start pages on) would call nothing else relevant.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from ar_classifiers import MAIN, learned, loaded
from ar_web import COMMUNITY, MEMBERS, build_web, community_of, place_paths, subject_paths
from code_version import ROOT
from kept_worlds import built_world, made_once

from lycosa.errors import InputError
from lycosa.judges.formula import And, Formula, Named, Not, Or, parse
from lycosa.judges.generalise import Way, generalise
from lycosa.judges.taxonomy import is_at_or_below
from lycosa.judges.topic_judges import FormulaJudge, threshold_from
from lycosa.lab.evaluate.curves import padded
from lycosa.lab.evaluate.runs import Bools, Floats, Ints
from lycosa.lab.evaluate.spread import DISTANCES
from lycosa.lab.replay.replay import JudgedWorld, Track, replay
from lycosa.lab.replay.trained_judges import ExampleSet, draw_examples
from lycosa.lab.worlds.world import World
from lycosa.strategies.protocol import Strategy, StrategyParts
from lycosa.strategies.table import strategy

SEED = 1
SESSION = 25
"""Pages between two looks at the harvest: a twelfth of a crawl."""
STARTS = 5
LEAST = 0.01
"""Scores up to this are not positive: a classifier is never quite sure."""
FAR = 2
"""Links from far start pages to the nearest relevant page, on the shortest way."""
FEWEST = 3
"""Pages there must be to find."""

WIKI, RELATED, TELLING, UNRELATED = "wikispeedia", "related", "telling", "unrelated"
"""Webs. Telling: as related, but three anchors in ten name what they lead to."""
BREADTH, BEST, SIMPLE = "breadth-first", "best-first", "simple focus"
PARENT, DROP, WEIGHT = "tunnel: parent", "tunnel: drop", "tunnel: weight"
NEW_LINKS, OWN_ANCHORS = "parent, new links only", "parent, narrow anchors"
PLAIN = {BREADTH: "breadth-first", BEST: "best-first", SIMPLE: "ariadne"}
WAYS = {PARENT: Way.PARENT, NEW_LINKS: Way.PARENT, OWN_ANCHORS: Way.PARENT, DROP: Way.DROP, WEIGHT: Way.WEIGHT}
CRAWLERS = (*PLAIN, *WAYS)
"""All that tunnel do so around Ariadne's strategy. NEW_LINKS: waiting links keep their scores when the focus changes.
OWN_ANCHORS: URLs and anchors are always scored by the interest itself, only pages by the wider focus."""
ONLY_FORMULAS = (DROP, WEIGHT)
"""A single topic has nothing to drop and no weights."""


COMPARED = (SIMPLE, PARENT, OWN_ANCHORS)
"""What crawls under each judge."""


class Interest(NamedTuple):
    formula: str
    is_broad: bool


@dataclass(frozen=True)
class Web:
    name: str
    path: Path
    examples: int
    """Of each topic, to teach the judge."""
    interests: tuple[Interest, ...]
    has_communities: bool = False
    """Start pages are all of one community."""


@dataclass(frozen=True)
class Crawl:
    """What is kept of one crawl."""

    found: Floats
    """Share of the pages to find, after each page; as it is at the end where the crawl ran dry."""
    harvest: Floats
    """Share of relevant pages among those fetched, start pages and examples left out."""
    distances: Ints
    """How many of the pages found were so many links away from the start pages, on the way the crawl took."""
    fetched: int
    judged: float
    """Share of fetched pages that the judge called relevant."""
    widened: Floats
    """By how many steps the focus was widened, after each page."""
    changes: tuple[tuple[int, str], ...]


@dataclass(frozen=True)
class Structure:
    """Whether an interest's pages have to be tunnelled to."""

    pages: int
    targets: int
    threshold: float
    over_threshold: int
    """Pages of the whole web that the judge calls relevant."""
    links_from: Mapping[str, float]
    """Share of links that lead to relevant pages, by what their page is: relevant, of the wider topic, other."""
    hidden: float
    """Share of the targets that cannot be reached from the start pages through relevant pages alone."""


@dataclass(frozen=True)
class Study:
    interest: Interest
    structure: Structure
    near: Mapping[str, Crawl]
    """By crawler: from relevant start pages."""
    far: Mapping[str, Crawl] = field(default_factory=dict)
    """From start pages FAR links before the targets; narrow interests only."""


# Webs and interests


def webs() -> list[Web]:
    found = []
    if (wiki := built_world(WIKI)) is not None:
        found.append(Web(WIKI, wiki, 10, tuple(wiki_interests(World.open(wiki)))))
    for name, is_related, told in ((RELATED, True, 0.0), (TELLING, True, 0.3), (UNRELATED, False, 0.0)):
        make = partial(build_web, is_related=is_related, told=told)
        path = made_once(ROOT / "out" / f"ar-{name}.world", make)
        found.append(Web(name, path, 30, tuple(planted_interests()), has_communities=True))
    return found


def wiki_interests(world: World) -> Iterator[Interest]:
    """Broad: topics of 200 pages and more, and some ORs. Narrow: ANDs of two topics, and small topics."""
    sizes = {topic: int(satisfying(world, Named(topic)).sum()) for topic in _all_topics(world)}
    for topic, size in sizes.items():
        if size >= 200:
            yield Interest(topic, is_broad=True)
    for either in ("Music OR Religion", "IT OR Business_Studies", "Language_and_literature OR Music"):
        yield Interest(either, is_broad=True)
    taken: list[Bools] = []
    for first, second in itertools.combinations(sizes, 2):
        both = satisfying(world, Named(first)) & satisfying(world, Named(second))
        # An AND that is nearly one of its parts, or nearly another AND, says nothing new.
        is_new = all((both & other).sum() <= 0.5 * (both | other).sum() for other in taken)
        if 8 <= both.sum() <= 60 and both.sum() < 0.9 * min(sizes[first], sizes[second]) and is_new:
            taken.append(both)
            yield Interest(f"{first} AND {second}", is_broad=False)
    small = [topic for topic, size in sizes.items() if "/" in topic and 12 <= size <= 30]
    for topic in small:
        yield Interest(topic, is_broad=False)


def planted_interests() -> Iterator[Interest]:
    """Broad: a group of subjects in a region. Narrow: a subject in a place, each subject and each place four times."""
    subjects, places = subject_paths(), place_paths()
    groups = [list(dict.fromkeys(path.rpartition("/")[0] for path in paths)) for paths in (subjects, places)]
    for group, region in itertools.product(*groups):
        yield Interest(f"{group} AND {region}", is_broad=True)
    for shift in (0, 2, MEMBERS + 1, MEMBERS + 3):
        for number, subject in enumerate(subjects):
            yield Interest(f"{subject} AND {places[(number + shift) % len(places)]}", is_broad=False)


@lru_cache(maxsize=2)
def _all_topics(world: World) -> tuple[str, ...]:
    return tuple(sorted({topic.rsplit("/", up)[0] for topic in world.topics for up in range(topic.count("/") + 1)}))


def satisfying(world: World, formula: Formula) -> Bools:
    """By page: whether its labels satisfy the formula."""
    match formula:
        case Named(topic):
            is_in = np.zeros(len(world), dtype=np.bool_)
            for label in world.topics:
                if is_at_or_below(label, topic):
                    is_in[world.pages_of(label)] = True
            return is_in
        case And(parts):
            return np.asarray(np.logical_and.reduce([satisfying(world, part) for part in parts]))
        case Or(parts):
            return np.asarray(np.logical_or.reduce([satisfying(world, part) for part in parts]))
        case Not(part):
            return ~satisfying(world, part)
    raise TypeError(f"{formula!r} is no formula")


# Judges


def learn(web: Web, judge: str) -> bytes:
    """What a judge of the web has learned; kept, since learning takes longer than a crawl."""
    return learned(judge, draw_examples(World.open(web.path), per_topic=web.examples, seed=SEED))


@lru_cache(maxsize=3)
def _taught(path: Path, examples: int, judge: str, saved: bytes) -> tuple[World, ExampleSet, Any]:
    world = World.open(path)
    return world, draw_examples(world, per_topic=examples, seed=SEED), loaded(judge, saved)


# One interest


class Job(NamedTuple):
    web: Web
    interest: Interest
    judge: str
    learned: bytes
    """What the judge has learned."""
    pages: int


def study(job: Job) -> Study | None:
    """All crawls for one interest, in this process; nothing where there is too little to find."""
    web, interest, pages = job.web, job.interest, job.pages
    world, examples, classifier = _taught(web.path, web.examples, job.judge, job.learned)
    formula = parse(interest.formula)
    is_relevant = satisfying(world, formula)
    rng = np.random.default_rng([SEED, *interest.formula.encode()])
    unseen = np.setdiff1d(np.flatnonzero(is_relevant), examples.pages)
    start = _start_pages(world, unseen, rng, web)
    targets = np.setdiff1d(unseen, start)
    if len(targets) < FEWEST:
        return None
    unthresholded = FormulaJudge(classifier, formula)
    try:
        threshold = threshold_from((unthresholded.judge(world.page(page)).relevance for page in start), least=LEAST)
    except InputError:
        return None
    judges = {way: FormulaJudge(classifier, formula, threshold=threshold, way=way) for way in Way}
    judged = JudgedWorld(world, judges[Way.PARENT])
    is_target = np.zeros(len(world), dtype=np.bool_)
    is_target[targets] = True
    is_given = is_relevant & ~is_target
    names = [name for name in CRAWLERS if name not in ONLY_FORMULAS or isinstance(formula, And)]
    if interest.is_broad:
        names = [BREADTH, BEST, SIMPLE, PARENT]
    is_main = job.judge == MAIN
    if not is_main:
        names = list(COMPARED)

    def crawls(seeds: Ints) -> dict[str, Crawl]:
        return {name: _crawl(judged, judges, name, seeds, pages, is_target, is_given) for name in names}

    return Study(
        interest,
        structure_of(judged, judges[Way.PARENT], is_relevant, is_target, start),
        near=crawls(start),
        far=crawls(_far_pages(world, targets, rng)) if is_main and not interest.is_broad else {},
    )


def _start_pages(world: World, unseen: Ints, rng: np.random.Generator, web: Web) -> Ints:
    """Some of the interest's pages that the judge has not seen, at most a third."""
    usable = unseen[np.diff(world.graph.offsets)[unseen] > 0]
    if web.has_communities:
        # All of one community, where it is: then the others have to be found.
        usable = usable[rng.permutation(len(usable))]
        home = community_of(int(usable[0])) if len(usable) else 0
        usable = usable[np.argsort(usable // COMMUNITY != home, kind="stable")]
        return np.sort(usable[:STARTS])
    return np.sort(rng.permutation(usable)[: min(STARTS, len(unseen) // 3)])


def _far_pages(world: World, targets: Ints, rng: np.random.Generator) -> Ints:
    distances = world.distances(targets, is_backward=True)
    return np.sort(rng.permutation(np.flatnonzero(distances == FAR))[:STARTS])


def _crawl(
    judged: JudgedWorld,
    judges: Mapping[Way, FormulaJudge],
    name: str,
    seeds: Ints,
    pages: int,
    is_target: Bools,
    is_given: Bools,
) -> Crawl:
    judge = judges[WAYS.get(name, Way.PARENT)]
    parts = StrategyParts.of(judge.abilities, rng=np.random.default_rng(SEED))
    chosen = strategy(PLAIN[name], parts) if name in PLAIN else _tunnelling(name, parts)
    return _kept_of(replay(judged, chosen, seeds.tolist(), pages=pages), judge.threshold, pages, is_target, is_given)


def _tunnelling(name: str, parts: StrategyParts) -> Strategy:
    variant = {"tunnel.is_rescoring": name != NEW_LINKS, "tunnel.has_narrow_anchors": name == OWN_ANCHORS}
    return strategy(f"tunnel+{PLAIN[SIMPLE]}", parts, {"tunnel.session": SESSION, **variant})


def _kept_of(track: Track, threshold: float, pages: int, is_target: Bools, is_given: Bools) -> Crawl:
    fetched = np.array(track.pages, dtype=np.int64)
    is_found, counts = is_target[fetched], ~is_given[fetched]
    steps = np.zeros(pages + 1)
    for after, change in track.changes:
        steps[after] += 1 if change.startswith("widened") else -1
    harvest = np.cumsum(is_found) / np.maximum(1, np.cumsum(counts))
    return Crawl(
        found=padded(np.cumsum(is_found) / is_target.sum(), pages),
        harvest=padded(harvest, pages),
        distances=np.bincount(np.minimum(np.array(track.distance)[is_found], DISTANCES - 1), minlength=DISTANCES),
        fetched=len(fetched),
        judged=float((np.array(track.relevance) >= threshold).mean()),
        widened=np.cumsum(steps)[1:],
        changes=tuple(track.changes),
    )


def structure_of(
    judged: JudgedWorld, judge: FormulaJudge, is_relevant: Bools, is_target: Bools, start: Ints
) -> Structure:
    world = judged.world
    edges = world.graph
    sources = np.repeat(np.arange(len(world)), np.diff(edges.offsets))
    base = {topic: float(satisfying(world, Named(topic)).mean()) for topic in judge.named}
    wider = generalise(judge.formula, Way.PARENT, base)
    is_wider = satisfying(world, wider) & ~is_relevant if wider is not None else np.zeros_like(is_relevant)
    kinds = {"relevant": is_relevant, "wider": is_wider, "other": ~is_relevant & ~is_wider}
    leads = is_relevant[edges.pages]
    reached = _reached(start, sources, edges.pages, is_relevant)
    over = sum(judged.visit(page)[1].is_relevant for page in np.flatnonzero(world.statuses < 300).tolist())
    return Structure(
        pages=int(is_relevant.sum()),
        targets=int(is_target.sum()),
        threshold=judge.threshold,
        over_threshold=over,
        links_from={name: float(leads[kind[sources]].mean()) if kind.any() else np.nan for name, kind in kinds.items()},
        hidden=float((is_target & ~reached).sum() / is_target.sum()),
    )


def _reached(start: Ints, sources: Ints, targets: Ints, is_open: Bools) -> Bools:
    """Pages that can be reached from these over pages that are open."""
    is_reached = np.zeros(len(is_open), dtype=np.bool_)
    is_reached[start] = True
    while True:
        news = np.unique(targets[is_reached[sources] & is_open[sources]])
        if is_reached[news[is_open[news]]].all():
            return is_reached
        is_reached[news[is_open[news]]] = True
