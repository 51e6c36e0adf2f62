"""lycosa evolve: breed a crawl strategy on a recorded web."""

from __future__ import annotations

import multiprocessing
import signal
import sys
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
import typer
from rich.table import Table

from lycosa import __version__
from lycosa.cli.compare import counting_bar, process_count
from lycosa.cli.terminal import err, out, plain
from lycosa.errors import InputError
from lycosa.lab.evaluate.pictures import Bars, Line, Plot, draw, draw_bars, save, styles
from lycosa.lab.evolve.checkpoint import (
    Checkpoint,
    EvolutionState,
    Generation,
    rows_of_history,
    winner_of,
    write_strategy,
)
from lycosa.lab.evolve.encoding import PAPER, SCORES, Encoding
from lycosa.lab.evolve.fitness import HARVEST, MEASURES, MeanFitness
from lycosa.lab.evolve.task import EvolutionPlan, EvolutionTask, mean_fitness, prepare
from lycosa.lab.replay.trained_judges import TRAINED
from lycosa.lab.worlds.world import World
from lycosa.lib.evolve import Fitness, GeneticSettings, Genome, Map
from lycosa.lib.evolve import evolve as generations_of
from lycosa.lib.parquet import write_parquet
from lycosa.strategies.papers.evolved import PHASES, WEIGHTS, EvolvedSettings

REFERENCES = {
    "best-first": EvolvedSettings(**{**dict.fromkeys(WEIGHTS, 0), "parent_1": 1}),
    "ga2003": EvolvedSettings(),
}
BAR = 40
"""Length in characters of the longest bars in the table of weights, all phases together."""


def evolve(
    world: Path = typer.Option(..., "--world", "-w", help="A world file (lycosa world build)."),
    topic: list[str] = typer.Option(
        ..., "--topic", "-t", help="A topic, or a pattern: 'Science/Biology/*'. May be repeated. Each topic is a task."
    ),
    together: bool = typer.Option(
        False, "--together", help="Make one task of all these topics, in which pages of any of them are good."
    ),
    pages: int = typer.Option(1_000, "--pages", "-n", help="Pages of each simulated crawl."),
    population: int = typer.Option(50, "--population", help="Strategies in a generation."),
    generations: int = typer.Option(50, "--generations", help="Number of generations; may be raised later."),
    runs: int = typer.Option(3, "--runs", help="Crawls a strategy is tried in for each topic, from different seeds."),
    seeds: int = typer.Option(10, "--seeds", help="Pages each crawl starts from."),
    examples: int = typer.Option(
        50, "--examples", "-e", help="Pages of each topic to train the judge on; they are not graded."
    ),
    judge: str = typer.Option("svm", "--judge", "-j", help=f"The judge that guides the crawls: {', '.join(TRAINED)}."),
    fitness: str = typer.Option(HARVEST, "--fitness", help=f"What to select for: {', '.join(MEASURES)}."),
    scores: str = typer.Option(
        PAPER, "--scores", help=f"Scores that links are ranked by: {', '.join(SCORES)} (also anchors and hosts)."
    ),
    phases: int = typer.Option(
        1, "--phases", help="3: different weights early, midway and late in a crawl; when they change is evolved, too."
    ),
    connections: int = typer.Option(
        100, "--connections", help="Simultaneous downloads in a simulated crawl; 0: the best link is always next."
    ),
    crossover: float = typer.Option(0.9, "--crossover", help="Probability that two parents are crossed."),
    mutation: float = typer.Option(0.01, "--mutation", help="Probability that a bit of a child is flipped."),
    winner: list[Path] = typer.Option([], "--from", help="A best.toml to include in the first generation."),
    seed: int = typer.Option(1, "--seed", help="Seed of the random number generator."),
    processes: int = typer.Option(0, "--processes", "-p", help="Number of processes; 0: one for each core."),
    output: Path = typer.Option(Path("evolved"), "--output", "-o", help="Directory of the evolution."),
) -> None:
    """Evolve a crawl strategy on a recorded web whose labels say which pages are good.

    The fitness of a strategy is the mean over the topics, each with its own judge and examples. Ctrl-C keeps the
    population; the same command continues from it.

    Writes best.toml (a strategy for lycosa crawl and lycosa compare), history.parquet, and pictures of fitness and
    weights.
    """
    opened = World.open(world)
    topics = opened.match(*topic)
    plan = EvolutionPlan(
        world=world.resolve(),
        topics=tuple(topics),
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
        genes=len(plan.encoding.genes),
    )
    winners = [winner_of(path, plan.encoding) for path in winner]
    plans = [plan] if together else [replace(plan, topics=(each,)) for each in topics]
    checkpoint = Checkpoint(output, _command(plan, len(plans), settings, winners, opened), settings)
    state = checkpoint.load()
    tasks = _prepared(plans)
    here = mean_fitness(tasks)
    references = {name: here.of(weights) for name, weights in REFERENCES.items()}
    try:
        with _pool(tasks, here, processes) as run_map:
            for state in _evolved(here, settings, state or winners, seed, run_map):  # noqa: B020 - continues
                checkpoint.save(state)
        is_whole = True
    except KeyboardInterrupt:
        is_whole = False
    if isinstance(state, EvolutionState):
        _finish(checkpoint, state, references, plan.encoding, len(tasks))
    if not is_whole:
        err.print("stopped; the same command continues from the last generation")
        sys.exit(130)


def _command(
    plan: EvolutionPlan, tasks: int, settings: GeneticSettings, winners: Sequence[Genome], world: World
) -> dict[str, Any]:
    """What identifies an evolution, by the names of the options. The world may be moved."""
    options = asdict(plan) | {"world": plan.world.name}
    del options["measure"]
    return options | {
        "together": tasks == 1,
        "fitness": plan.measure,
        "world's checksum": zlib.crc32(world.url_hashes.tobytes()),
        "population": settings.population,
        "crossover": settings.crossover_probability,
        "mutation": settings.mutation_probability,
        "from": list(winners),
        "version": __version__,
    }


def _prepared(plans: Sequence[EvolutionPlan]) -> list[EvolutionTask]:
    """The tasks, each judged. One of several topics that is too small is left out."""
    tasks = []
    with counting_bar(transient=True) as progress:
        bar = progress.add_task("judging pages", total=len(World.open(plans[0].world)))
        for number, plan in enumerate(plans, start=1):
            progress.update(bar, description=f"judging pages for topic {number} of {len(plans)}")
            try:
                tasks.append(prepare(plan, progress=lambda page: progress.update(bar, completed=page + 1)))
            except InputError as error:
                if len(plans) == 1:
                    raise
                err.print(f"skipped: {plain(error)}")
    if not tasks:
        raise InputError(f"none of the {len(plans)} topics can be used; --together makes one task of all their pages")
    return tasks


def _evolved(
    fitness: MeanFitness, settings: GeneticSettings, start: EvolutionState | Sequence[Genome], seed: int, run_map: Map
) -> Iterator[EvolutionState]:
    """Generation after generation, with a bar that shows the best and the mean fitness."""
    history = start.history if isinstance(start, EvolutionState) else ()
    populations = generations_of(
        fitness,
        settings,
        rng=np.random.default_rng(seed),
        start=start.population if isinstance(start, EvolutionState) else start,
        map=run_map,
    )
    with counting_bar() as progress:
        task = progress.add_task("evolving", total=settings.generations + 1, completed=len(history))
        for population in populations:
            history = (*history, Generation.of(population))
            said = f"best {population.fitness[0]:.4f}, mean {population.mean:.4f}"
            progress.update(task, completed=len(history), description=said)
            if not err.is_terminal:
                err.print(f"  generation {population.generation} of {settings.generations}: {said}")
            yield EvolutionState(population, history)


# Processes: each opens the world once and keeps its simulators.

_fitness_here: list[MeanFitness] = []
"""Has one entry in a process of the pool; empty elsewhere."""


def _begin(tasks: Sequence[EvolutionTask]) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent handles Ctrl-C
    _fitness_here.append(mean_fitness(tasks))


def _evaluate(genome: Genome) -> float:
    return _fitness_here[0](genome)


@contextmanager
def _pool(tasks: Sequence[EvolutionTask], here: MeanFitness, processes: int) -> Iterator[Map]:
    count = process_count(processes)
    if count == 1:
        yield lambda _, genomes: map(here, genomes)
        return

    def run_map(_: Fitness, genomes: Sequence[Genome]) -> Iterable[float]:
        return pool.map(_evaluate, genomes, chunksize=1)

    with multiprocessing.get_context("spawn").Pool(count, _begin, (tasks,)) as pool:
        yield run_map


# Results


def _finish(
    checkpoint: Checkpoint, state: EvolutionState, references: dict[str, float], encoding: Encoding, tasks: int
) -> None:
    best = state.history[-1]
    settings = encoding.settings(best.genome)
    if settings is None:
        raise InputError("no strategy found a single good page: choose more pages, other seeds or another topic")
    target = checkpoint.directory / "best.toml"
    write_strategy(target, settings, checkpoint.origin | {"generation": best.number, "value": best.best})
    rows = rows_of_history(state.history, encoding)
    columns = dict.fromkeys(rows[0], "DOUBLE") | {"generation": "INTEGER"}
    write_parquet(rows, checkpoint.directory / "history.parquet", columns)
    _draw(checkpoint, state.history, settings, encoding.names)
    _print_weights(settings, encoding.names)
    against = ", ".join(f"{name} {value:.4f}" for name, value in references.items())
    out.print(
        f"fitness [bold]{best.best:.4f}[/] after {best.number} generations, on the crawls it was evolved on "
        f"{f'(mean over {tasks} topics; ' if tasks > 1 else '('}on the same crawls: {against})"
    )
    fittest = max(references, key=lambda name: references[name])
    if best.best <= references[fittest]:
        out.print(f"no fitter than {fittest}: a larger --population or more --generations may help")
    judge = checkpoint.origin["judge"]  # weights evolved under one judge mean little under another
    out.print(f"strategy: {plain(target)}")
    out.print(f"[dim]next: lycosa compare … --judge {judge} --strategies best-first,ga2003,{plain(target)}[/]")


def _print_weights(settings: EvolvedSettings, names: tuple[str, ...]) -> None:
    table = Table(box=None, pad_edge=False, header_style="dim")
    table.add_column("weight")
    phases = PHASES[: settings.phases]
    for name in phases if len(phases) > 1 else ["share"]:
        table.add_column(name, justify="right")
        table.add_column("")
    table.add_column("ga2003", justify="right")
    width = BAR // len(phases) - 3 * (len(phases) > 1)  # a line has at most 80 characters
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


def _draw(
    checkpoint: Checkpoint, history: Sequence[Generation], settings: EvolvedSettings, names: tuple[str, ...]
) -> None:
    x = np.array([each.number for each in history], dtype=np.float64)
    lines = [
        Line("best", np.array([each.best for each in history])),
        Line("mean", np.array([each.mean for each in history])),
    ]
    title = f"Fitness ({checkpoint.origin['fitness']}) by generation"
    if len(history) > 1:
        plot = Plot(title, "generation", "", x, lines, is_share=True)
        save(checkpoint.directory / "fitness", *draw(plot, styles(["best", "mean"])))
    places = [WEIGHTS.index(name) for name in names]
    begins = (0, *settings.switches())
    phase_names = [f"{PHASES[phase]}, from page {visits:,}" for phase, visits in enumerate(begins)]
    shares = [
        Line(name, settings.weights(phase)[places])
        for phase, name in enumerate(phase_names if settings.phases > 1 else ["evolved"])
    ]
    shares.append(Line("ga2003", REFERENCES["ga2003"].weights()[places]))
    labels = [name.replace("comm_", "com. ").replace("parent_", "par. ") for name in names]  # eleven must fit
    bars = Bars("Weights of the fittest strategy, their sum 1", "", labels, shares)
    save(checkpoint.directory / "weights", *draw_bars(bars, styles([line.name for line in shares])))
