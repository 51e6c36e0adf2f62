"""How fast strategies are evolved: simulated visits a second of the compiled kernel, next to the plain replay.

make bench-evolve

Rates are by CPU time, so that other work on the machine does not count; the time of the full run is by the clock.
"""

from __future__ import annotations

import os
import resource
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from lycosa.judges.keywords import KeywordJudge
from lycosa.lab.evolve.fitness import CrawlFitness, Grading
from lycosa.lab.evolve.link_arrays import LinkArrays, link_arrays_of, ordered_scores, verdicts_of
from lycosa.lab.evolve.simulator import CrawlPlan, Simulator
from lycosa.lab.generated.graph import WebGraph, build
from lycosa.lab.generated.web import GeneratedWeb, WebPlan
from lycosa.lab.replay.replay import JudgedWorld, replay
from lycosa.lab.worlds.build import build_generated
from lycosa.lab.worlds.world import World
from lycosa.lib.evolve import GeneticSettings, evolve
from lycosa.strategies.papers.current_list import CurrentList, CurrentListSettings
from lycosa.strategies.papers.evolved import GA2003, PHASES, Evolved, EvolvedSettings
from lycosa.strategies.protocol import StrategyParts
from table import table

AIM = 150_000
MEMORY_AIM = 4_000
LARGE = WebPlan(pages=1_000_000, hosts=20_000, out_degree=20)
SMALL = WebPlan(pages=10_000, hosts=100, out_degree=20)
PAGES = 10_000
SEEDS = 139
"""Paper GA, section 3: crawls of 10,000 pages from 139 seeds; three runs a strategy."""
RUNS = 3
STRATEGIES = 12
LONGEST = 600.0
"""Seconds a full run may take here; a longer one is extrapolated."""
ORDERS = {"best link next": None, "the paper's current list": CurrentListSettings()}


def large_web() -> tuple[LinkArrays, np.ndarray[tuple[int], np.dtype[np.int64]]]:
    """A generated web straight from its graph, and seeds on its first topic.

    Pages on the topic are judged well and others badly, with some noise: to render and judge a million pages takes
    long, and the kernel's work does not depend on who judged.
    """
    graph = build(LARGE)
    offsets, targets = without_repeats(graph)
    rng = np.random.default_rng(1)
    is_topic = graph.topic == 0
    relevance = np.where(is_topic, rng.beta(5, 2, len(is_topic)), rng.beta(2, 6, len(is_topic)))
    web = LinkArrays(
        urls=len(is_topic),
        link_offsets=offsets,
        link_urls=targets,
        nofollow=np.zeros(0, np.bool_),
        redirects=np.zeros(0, np.int32),
        ordered_score=ordered_scores(relevance),
        is_relevant=relevance > 0.5,
    )
    return web, rng.choice(np.flatnonzero(is_topic), SEEDS, replace=False)


def without_repeats(
    graph: WebGraph,
) -> tuple[np.ndarray[tuple[int], np.dtype[np.int64]], np.ndarray[tuple[int], np.dtype[np.int32]]]:
    """The links of each page, every target once, in order, as a reader gives them."""
    pages = len(graph.start) - 1
    sources = np.repeat(np.arange(pages), np.diff(graph.start))
    pairs = sources * pages + graph.target
    order = np.argsort(pairs, kind="stable")
    is_first = np.ones(len(pairs), np.bool_)
    is_first[order[1:]] = np.diff(pairs[order]) != 0
    offsets = np.concatenate([[0], np.cumsum(np.bincount(sources[is_first], minlength=pages))])
    return offsets, graph.target[is_first]


def random_strategy(rng: np.random.Generator, phases: int) -> EvolvedSettings:
    """Its phases of equal length."""
    values: dict[str, int] = {}
    for phase, name in enumerate(PHASES[:phases]):
        drawn = rng.integers(1, 128, len(GA2003)).tolist()
        values |= {f"{name}_{weight}" if phase else weight: value for weight, value in zip(GA2003, drawn, strict=True)}
        values |= {f"{name}_from": PAGES * phase // phases} if phase else {}
    return EvolvedSettings(**values)


def speed(simulator: Simulator, plan: CrawlPlan, seed: int, phases: int = 1) -> tuple[float, int]:
    """CPU seconds and visits of crawls with random strategies."""
    rng = np.random.default_rng(seed)
    chosen = [random_strategy(rng, phases) for _ in range(STRATEGIES)]
    simulator.crawl(chosen[0], plan, rng)  # compiles, and touches the memory
    began = time.process_time()
    visits = sum(len(simulator.crawl(settings, plan, rng)) for settings in chosen)
    return time.process_time() - began, visits


class Worker:
    """One process's simulator, made before the pool forks: the web's arrays are shared, what is written is not."""

    fitness: CrawlFitness


def fitness_there(genome: str) -> float:
    return Worker.fitness(genome)


def speed_there(plan_and_seed: tuple[CrawlPlan, int]) -> tuple[float, int]:
    return speed(Worker.fitness.simulator, *plan_and_seed)


def replayed() -> list[list[str]]:
    """The same strategies through `crawl.run` on a smaller world, and the kernel there."""
    web = GeneratedWeb(SMALL)
    judge = KeywordJudge(web.topic_keywords(0))
    with TemporaryDirectory() as scratch:
        path = Path(scratch) / "small.world"
        build_generated(web, path, is_rendered=False)
        judged = JudgedWorld(World.open(path), judge)
        simulator = Simulator(
            link_arrays_of(judged.world, verdicts_of(judged.world, lambda page: judged.visit(page)[1]))
        )
        seeds = np.arange(20)
        rows = []
        for name, order in ORDERS.items():
            plan = CrawlPlan(seeds=seeds, pages=2_000, order=order)
            spent, visits = speed(simulator, plan, 1)
            chosen = Evolved(StrategyParts(), EvolvedSettings())
            began = time.process_time()
            track = replay(
                judged,
                CurrentList(chosen, rng=np.random.default_rng(1), settings=order) if order else chosen,
                seeds.tolist(),
                pages=plan.pages,
            )
            plain = len(track.pages) / (time.process_time() - began)
            rows.append([name, f"{plain:,.0f}", f"{visits / spent:,.0f}", f"{visits / spent / plain:.0f}×"])
    return rows


def full_run(pool: ProcessPoolExecutor, rate: float, fitness: CrawlFitness) -> None:
    """The paper's experiment, measured if it does not take too long."""
    settings = GeneticSettings()
    most = settings.population * (settings.generations + 1) * RUNS * PAGES
    expected = most / rate
    print(
        f"\nthe paper's run: {settings.generations} generations of {settings.population}, {RUNS} crawls of {PAGES:,}"
        f" pages each: at most {most / 1e6:.1f} million visits"
    )
    if expected > LONGEST:
        print(f"extrapolated, not measured: {expected / 60:.1f} minutes on {os.cpu_count()} cores")
        return
    began = time.perf_counter()
    *_, last = evolve(
        fitness, settings, rng=np.random.default_rng(1), map=lambda _, genomes: pool.map(fitness_there, genomes)
    )
    spent = time.perf_counter() - began
    print(f"measured: {spent / 60:.1f} minutes on {os.cpu_count()} cores; best fitness {last.fitness[0]:.3f}")


def main() -> None:
    web, seeds = large_web()
    print(f"a generated web of {len(web):,} pages and {len(web.link_urls):,} links, crawls of {PAGES:,} pages")
    plan = CrawlPlan(seeds=seeds, pages=PAGES, order=CurrentListSettings())
    simulator = Simulator(web)
    Worker.fitness = fitness = CrawlFitness(
        simulator=simulator,
        plans=[plan] * RUNS,
        grading=Grading(web.is_relevant, np.zeros(len(web), np.int32)),
        seed=1,
    )
    rates: dict[str, float] = {}
    phased: dict[str, float] = {}
    for name, order in ORDERS.items():
        for phases, found in ((1, rates), (3, phased)):
            spent, visits = speed(simulator, CrawlPlan(seeds=seeds, pages=PAGES, order=order), 1, phases)
            found[name] = visits / spent
    with ProcessPoolExecutor(2, mp_context=get_context("fork")) as pool:
        rows = []
        rate = 0.0
        for name, order in ORDERS.items():
            jobs = [(CrawlPlan(seeds=seeds, pages=PAGES, order=order), seed) for seed in (1, 2)]
            rate = sum(visits / spent for spent, visits in pool.map(speed_there, jobs))
            of_aim = f"{rates[name] / AIM:.1f}×"
            rows.append([name, f"{rates[name]:,.0f}", of_aim, f"{rate:,.0f}", f"{phased[name]:,.0f}"])
        columns = ["order", "visits/s on one core", f"of the aim ({AIM:,})", "on two", "with 3 phases, on one"]
        print(table(columns, rows))
        print("\na generated world of 10,000 pages, crawls of 2,000: plain replay (crawl.run) and kernel, one core")
        print(table(["order", "replay, visits/s", "kernel, visits/s", "ratio"], replayed()))
        full_run(pool, rate, fitness)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    children = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    print(f"peak memory {peak:,.0f} MB, of a worker {children:,.0f} MB (aim: under {MEMORY_AIM:,})")


if __name__ == "__main__":
    main()
