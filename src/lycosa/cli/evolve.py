"""lycosa evolve: breed a crawl strategy on a recorded web."""

from __future__ import annotations

import signal
import sys
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
import typer

from lycosa import __version__
from lycosa.cli.compare import counting_bar
from lycosa.cli.evolve_results import finish, print_next, print_scores
from lycosa.cli.spreading import CLUSTER, PROCESSES, RAY, Spread, spread, spread_of
from lycosa.cli.terminal import err, plain
from lycosa.errors import ConfigError, InputError
from lycosa.lab.evolve.checkpoint import Checkpoint, EvolutionState, Generation, winner_of
from lycosa.lab.evolve.choosing import FINALISTS, Score, choose, first_genomes
from lycosa.lab.evolve.encoding import PAPER, PARENTS, SCORES, Encoding
from lycosa.lab.evolve.fitness import HARVEST, MEASURES, MeanFitness
from lycosa.lab.evolve.rivals import LimitedTrials, cma_es, random_search
from lycosa.lab.evolve.task import EvolutionPlan, EvolutionTask, Fitnesses, fitnesses, prepare
from lycosa.lab.replay.trained_judges import TRAINED
from lycosa.lab.worlds.world import World
from lycosa.lib.evolve import GeneticSettings, Genome, Map
from lycosa.lib.evolve import evolve as generations_of

PATIENCE = 10
"""Generations without a fitter strategy before the population starts anew."""


def evolve(
    world: Path = typer.Option(..., "--world", "-w", help="A world file (lycosa world build)."),
    topic: list[str] = typer.Option(
        [], "--topic", "-t", help="A topic, or a pattern: 'Science/Biology/*'. May be repeated. Each topic is a task."
    ),
    by_judge: bool = typer.Option(
        False,
        "--by-judge",
        help="For a world made of a crawl (lycosa world build DIR): pages that its judge called relevant are good; "
        "needs no labels and no --topic.",
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
    parents: int = typer.Option(
        PARENTS, "--parents", help="k, 1 to 5: ancestors of a link up to this many links away have weights."
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
    rivals: bool = typer.Option(
        False, "--rivals", help="Also try random search and CMA-ES with as many strategies: was evolution worth it?"
    ),
    seed: int = typer.Option(1, "--seed", help="Seed of the random number generator."),
    processes: int = PROCESSES,
    cluster: bool = CLUSTER,
    ray: str = RAY,
    output: Path = typer.Option(Path("evolved"), "--output", "-o", help="Directory of the evolution."),
) -> None:
    """Evolve a crawl strategy on a recorded web, on which labels or a judge say which pages are good.

    The fitness of a strategy is the mean over the topics, each with its own judge and examples. Best-first and the
    paper's own weights are in the first generation. Other crawls than those bred on choose the winner, and a third set,
    which nothing was chosen by, says what to expect of it. Ctrl-C keeps the population; the same command continues.

    Writes best.toml (a strategy for lycosa crawl and lycosa compare), history.parquet, and pictures of fitness and
    weights.
    """
    over = spread_of(processes, cluster, ray)
    opened = World.open(world)
    if by_judge and topic:
        raise ConfigError("--by-judge and --topic exclude each other: either a judge or labels say what is good")
    topics = opened.match(*topic) if topic else []
    plan = EvolutionPlan(
        world=world.resolve(),
        topics=tuple(topics),
        pages=pages,
        runs=runs,
        seeds=seeds,
        examples=examples,
        judge=judge,
        by_judge=by_judge,
        parents=parents,
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
        is_diverse=True,
        patience=PATIENCE,
    )
    winners = [winner_of(path, plan.encoding) for path in winner]
    plans = [plan] if together or by_judge else [replace(plan, topics=(each,)) for each in topics]
    checkpoint = Checkpoint(output, _command(plan, len(plans), settings, winners, opened), settings)
    state = checkpoint.load()
    tasks = _prepared(plans)
    here = fitnesses(tasks)
    start = state or first_genomes(plan.encoding, winners)
    choice, beside = None, dict[str, Score]()
    try:
        with _trials(tasks, here.bred, over) as run_map:
            for state in _evolved(here.bred, settings, start, seed, run_map):
                checkpoint.save(state)
            if state is not None:
                choice = finish(checkpoint, state, plan.encoding, here)
            if rivals:
                beside = _rivals(here, settings, plan.encoding, run_map, seed)
        is_whole = True
    except KeyboardInterrupt:
        is_whole = False
        if state is not None and choice is None:
            choice = finish(checkpoint, state, plan.encoding, here)
    if choice is not None and state is not None:
        print_scores(choice, beside, tasks=len(tasks), generations=state.population.generation)
        judge = checkpoint.origin["judge"]
        print_next(checkpoint, world, topic, judge=judge, pages=pages, by_judge=by_judge)
    if not is_whole:
        err.print("stopped; the same command continues from the last generation")
        sys.exit(130)


def _rivals(on: Fitnesses, settings: GeneticSettings, encoding: Encoding, run_map: Map, seed: int) -> dict[str, Score]:
    """Random search and CMA-ES with as many trials, their winners chosen and tried as that of the evolution."""
    evaluations = settings.population * (settings.generations + 1)
    found = {}
    for number, (name, search) in enumerate({"random search": random_search, "CMA-ES": cma_es}.items()):
        err.print(f"  {name}: {evaluations:,} strategies")
        trials = LimitedTrials(on.bred, evaluations, run_map)
        rng = np.random.default_rng([seed, 10 + number])
        search(trials, settings, start=first_genomes(encoding, []), rng=rng)
        found[name] = choose(trials.fittest(settings.generations + FINALISTS), encoding, on).scores["winner"]
    return found


def _command(
    plan: EvolutionPlan, tasks: int, settings: GeneticSettings, winners: Sequence[Genome], world: World
) -> dict[str, Any]:
    """What identifies an evolution, by the names of the options. The world may be moved."""
    options = asdict(plan) | {"world": plan.world.name}
    del options["measure"]
    if plan.by_judge:
        options["judge"] = world.meta.get("judge", "")
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
    _fitness_here[:] = [fitnesses(tasks).bred]


def _evaluate(genome: Genome) -> float:
    return _fitness_here[0](genome)


@contextmanager
def _trials(tasks: Sequence[EvolutionTask], here: MeanFitness, over: Spread) -> Iterator[Map]:
    if over.is_here:
        yield lambda _, genomes: map(here, genomes)
        return
    with spread(over, _begin, (tasks,)) as imap:
        yield lambda _, genomes: imap(_evaluate, genomes)
