"""lycosa evolve: breed a crawl strategy on a recorded web."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import typer
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.table import Table

from lycosa import __version__
from lycosa.cli.terminal import err, out, plain
from lycosa.errors import InputError
from lycosa.lab.evaluate.pictures import Bars, Line, Plot, draw, draw_bars, styles
from lycosa.lab.evolve.checkpoint import Generation, Kept, Reached, rows_of_history, winner_of, write_strategy
from lycosa.lab.evolve.encoding import PAPER, SCORES, Spelling
from lycosa.lab.evolve.fitness import HARVEST, MEASURES, CrawlFitness
from lycosa.lab.evolve.task import JUDGES, Course, CoursePlan, lay_out
from lycosa.lab.worlds.world import World
from lycosa.lib.evolve import Fitness, GeneticSettings, Genome, Map
from lycosa.lib.evolve import evolve as generations_of
from lycosa.lib.parquet import write_parquet
from lycosa.strategies.papers.evolved import PHASES, WEIGHTS, EvolvedSettings

REFERENCES = {
    "best-first": EvolvedSettings(**{**dict.fromkeys(WEIGHTS, 0), "parent_1": 1}),
    "ga2003": EvolvedSettings(),
}
COLUMNS = (
    TextColumn("{task.description}"),
    BarColumn(),
    MofNCompleteColumn(),
    TimeElapsedColumn(),
    TimeRemainingColumn(),
)
BAR = 40
"""Characters of the longest bars in the table of weights, of all phases together."""


def evolve(
    world: Path = typer.Option(..., "--world", "-w", help="A world file (lycosa world build)."),
    topic: list[str] = typer.Option(
        ..., "--topic", "-t", help="A topic, or a pattern: 'Science/Biology/*'. May be repeated: pages of any are good."
    ),
    pages: int = typer.Option(1_000, "--pages", "-n", help="Pages of each simulated crawl."),
    population: int = typer.Option(50, "--population", help="Strategies in a generation."),
    generations: int = typer.Option(50, "--generations", help="How many; more of them go on from where it was."),
    runs: int = typer.Option(3, "--runs", help="Crawls to try a strategy by, each from other seeds."),
    seeds: int = typer.Option(10, "--seeds", help="Pages each crawl starts from."),
    examples: int = typer.Option(50, "--examples", "-e", help="Pages of the topic that train the judge; not graded."),
    judge: str = typer.Option("svm", "--judge", "-j", help=f"What guides the crawls: {', '.join(JUDGES)}."),
    fitness: str = typer.Option(HARVEST, "--fitness", help=f"What is bred for: {', '.join(MEASURES)}."),
    scores: str = typer.Option(
        PAPER, "--scores", help=f"What links are ranked by: {', '.join(SCORES)} (anchors and hosts, too)."
    ),
    phases: int = typer.Option(
        1, "--phases", help="3: other weights early, in the middle and late in a crawl; when they change is bred, too."
    ),
    connections: int = typer.Option(
        100, "--connections", help="Downloads under way at a time in a simulated crawl; 0: the best link is next."
    ),
    crossover: float = typer.Option(0.9, "--crossover", help="Probability that two parents are crossed."),
    mutation: float = typer.Option(0.01, "--mutation", help="Probability that a bit of a child is flipped."),
    winner: list[Path] = typer.Option([], "--from", help="A best.toml that shall be in the first generation."),
    seed: int = typer.Option(1, "--seed", help="Of the random numbers."),
    processes: int = typer.Option(0, "--processes", "-p", help="Processes to use; 0: one for each core."),
    output: Path = typer.Option(Path("evolved"), "--output", "-o", help="Where it is kept."),
) -> None:
    """Evolve a crawl strategy on a recorded web whose labels say which pages are good.

    Ctrl-C keeps the population; the same command goes on from it.

    Writes best.toml (a strategy for lycosa crawl and lycosa compare), history.parquet, and pictures of fitness and
    weights.
    """
    opened = World.open(world)
    plan = CoursePlan(
        world=world.resolve(),
        topics=tuple(dict.fromkeys(found for pattern in topic for found in opened.match(pattern))),
        pages=pages,
        runs=runs,
        seeds=seeds,
        examples=examples,
        judge=judge,
        connections=connections,
        measure=fitness,
        scores=scores,
        phases=phases,
        seed=seed,
    )
    settings = GeneticSettings(
        population=population,
        generations=generations,
        crossover_probability=crossover,
        mutation_probability=mutation,
        genes=len(plan.spelling.genes),
    )
    winners = [winner_of(path, plan.spelling) for path in winner]
    kept = Kept(output, _command(plan, settings, winners, opened), settings)
    reached = kept.load()
    course = _laid_out(plan)
    here = course.fitness()
    references = {name: here.of(weights) for name, weights in REFERENCES.items()}
    try:
        with _pool(course, here, processes) as run_map:
            for reached in _evolved(here, settings, reached or winners, seed, run_map):  # noqa: B020 - from where it was
                kept.save(reached)
        is_whole = True
    except KeyboardInterrupt:
        is_whole = False
    if isinstance(reached, Reached):
        _finish(kept, reached, references, plan.spelling)
    if not is_whole:
        err.print("stopped; the same command goes on from the last generation")
        sys.exit(130)


def _command(plan: CoursePlan, settings: GeneticSettings, winners: Sequence[Genome], world: World) -> dict[str, Any]:
    """What makes it this evolution, by the names of the options. The world may lie elsewhere next time."""
    course = asdict(plan) | {"world": plan.world.name}
    del course["measure"]
    return course | {
        "fitness": plan.measure,
        "world's checksum": zlib.crc32(world.url_hashes.tobytes()),
        "population": settings.population,
        "crossover": settings.crossover_probability,
        "mutation": settings.mutation_probability,
        "from": list(winners),
        "version": __version__,
    }


def _laid_out(plan: CoursePlan) -> Course:
    with Progress(*COLUMNS, console=err, disable=not err.is_terminal, transient=True) as progress:
        task = progress.add_task("judging pages", total=len(World.open(plan.world)))
        return lay_out(plan, progress=lambda page: progress.update(task, completed=page + 1))


def _evolved(
    fitness: CrawlFitness,
    settings: GeneticSettings,
    start: Reached | Sequence[Genome],
    seed: int,
    run_map: Map,
) -> Iterator[Reached]:
    """Generation after generation, with a bar that tells the best and the mean fitness."""
    history = start.history if isinstance(start, Reached) else ()
    populations = generations_of(
        fitness,
        settings,
        rng=np.random.default_rng(seed),
        start=start.population if isinstance(start, Reached) else start,
        map=run_map,
    )
    with Progress(*COLUMNS, console=err, disable=not err.is_terminal) as progress:
        task = progress.add_task("evolving", total=settings.generations + 1, completed=len(history))
        for population in populations:
            history = (*history, Generation.of(population))
            said = f"best {population.fitness[0]:.4f}, mean {population.mean:.4f}"
            progress.update(task, completed=len(history), description=said)
            if not err.is_terminal:
                err.print(f"  generation {population.generation} of {settings.generations}: {said}")
            yield Reached(population, history)


# Processes: each opens the world once and keeps its simulator.

_fitness_here: list[CrawlFitness] = []
"""In a process of the pool, and nowhere else: its only entry."""


def _begin(course: Course) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's business
    _fitness_here.append(course.fitness())


def _evaluate(genome: Genome) -> float:
    return _fitness_here[0](genome)


@contextmanager
def _pool(course: Course, here: CrawlFitness, processes: int) -> Iterator[Map]:
    if processes < 0:
        raise InputError(f"--processes {processes}: it must be 0 (one for each core) or more")
    count = processes or len(os.sched_getaffinity(0))
    if count == 1:
        yield lambda _, genomes: map(here, genomes)
        return

    def run_map(_: Fitness, genomes: Sequence[Genome]) -> Iterable[float]:
        return pool.map(_evaluate, genomes, chunksize=1)

    with multiprocessing.get_context("spawn").Pool(count, _begin, (course,)) as pool:
        yield run_map


# What came of it


def _finish(kept: Kept, reached: Reached, references: dict[str, float], spelling: Spelling) -> None:
    best = reached.history[-1]
    settings = spelling.settings(best.genome)
    if settings is None:
        raise InputError("no strategy found a single good page: choose more pages, other seeds or another topic")
    write_strategy(
        kept.directory / "best.toml", settings, kept.origin | {"generation": best.number, "value": best.best}
    )
    rows = rows_of_history(reached.history, spelling)
    columns = dict.fromkeys(rows[0], "DOUBLE") | {"generation": "INTEGER"}
    write_parquet(rows, kept.directory / "history.parquet", columns)
    _draw(kept, reached.history, settings, spelling.names)
    _print_weights(settings, spelling.names)
    against = ", ".join(f"{name} {value:.4f}" for name, value in references.items())
    out.print(
        f"fitness [bold]{best.best:.4f}[/] after {best.number} generations, on the crawls it was evolved on "
        f"(there: {against})"
    )
    fittest = max(references, key=lambda name: references[name])
    if best.best <= references[fittest]:
        out.print(f"no fitter than {fittest}: a larger --population or more --generations may help")
    target = plain(kept.directory / "best.toml")
    judge = kept.origin["judge"]  # weights evolved under one judge mean little under another
    out.print(f"strategy: {target}")
    out.print(f"[dim]next: lycosa compare … --judge {judge} --strategies best-first,ga2003,{target}[/]")


def _print_weights(settings: EvolvedSettings, names: tuple[str, ...]) -> None:
    table = Table(box=None, pad_edge=False, header_style="dim")
    table.add_column("weight")
    phases = PHASES[: settings.phases]
    for name in phases if len(phases) > 1 else ["share"]:
        table.add_column(name, justify="right")
        table.add_column("")
    table.add_column("ga2003", justify="right")
    width = BAR // len(phases) - 3 * (len(phases) > 1)  # so that a line has at most 80 characters
    paper = REFERENCES["ga2003"].weights()
    for name in names:
        place, cells = WEIGHTS.index(name), []
        for phase in range(len(phases)):
            weights = settings.weights(phase)
            bar = "█" * round(width * float(weights[place] / weights.max()))
            cells += [f"{weights[place]:.3f}", f"{bar:{width}}"]
        table.add_row(name, *cells, f"{paper[place]:.3f}")
    if len(phases) > 1:
        begins = (cell for visits in (0, *settings.switches()) for cell in (f"{visits:,}", ""))
        table.add_row("from page", *begins, "", style="dim")
    out.print(table)


def _draw(kept: Kept, history: Sequence[Generation], settings: EvolvedSettings, names: tuple[str, ...]) -> None:
    x = np.array([each.number for each in history], dtype=np.float64)
    lines = [
        Line("best", np.array([each.best for each in history])),
        Line("mean", np.array([each.mean for each in history])),
    ]
    title = f"Fitness ({kept.origin['fitness']}) by generation"
    if len(history) > 1:
        plot = Plot(title, "generation", "", x, lines, is_share=True)
        _save(kept.directory / "fitness", draw(plot, styles(["best", "mean"])))
    places = [WEIGHTS.index(name) for name in names]
    begins = (0, *settings.switches())
    called = [f"{PHASES[phase]}, from page {visits:,}" for phase, visits in enumerate(begins)]
    shares = [
        Line(name, settings.weights(phase)[places])
        for phase, name in enumerate(called if settings.phases > 1 else ["evolved"])
    ]
    shares.append(Line("ga2003", REFERENCES["ga2003"].weights()[places]))
    labels = [name.replace("comm_", "com. ").replace("parent_", "par. ") for name in names]  # so that eleven fit
    bars = Bars("Weights of the fittest strategy, their sum 1", "", labels, shares)
    _save(kept.directory / "weights", draw_bars(bars, styles([line.name for line in shares])))


def _save(path: Path, pictures: tuple[bytes, bytes]) -> None:
    for data, ending in zip(pictures, (".png", ".svg"), strict=True):
        path.with_suffix(ending).write_bytes(data)
