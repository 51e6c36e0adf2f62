"""lycosa compare: strategies on equal terms, replayed on a world."""

from __future__ import annotations

from pathlib import Path

import typer
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from lycosa.cli.settings import split_setting
from lycosa.cli.spreading import CLUSTER, PROCESSES, RAY, Spread, spread, spread_of
from lycosa.cli.terminal import err, out, plain
from lycosa.errors import InputError
from lycosa.lab.evaluate.report import print_table, write_report
from lycosa.lab.evaluate.runs import Comparison
from lycosa.lab.evaluate.trec import write_trec
from lycosa.lab.evolve.checkpoint import evolved_under
from lycosa.lab.replay.compare import ComparePlan
from lycosa.lab.replay.compare import compare as run_comparison
from lycosa.lab.replay.tasks import joint_name
from lycosa.lab.replay.trained_judges import CONTRAST, JUDGES, KEYWORDS
from lycosa.lab.worlds.world import World

KEYWORDS_THRESHOLD, LEARNED_THRESHOLD = 0.1, 0.5
"""A cosine with a few keywords is small even for a page about them; a probability of ½ means more likely than not."""
DEFAULT = "hunter,best-first-1,best-first-256,shark-1,infospiders,breadth-first"
AS_TC = {"distance": 3, "seeds": 10, "pages": 1_000, "buffer": 256}
AS_CRAWL = {"distance": 0, "seeds": 5, "pages": 500, "buffer": 0}
"""Defaults, as in paper TC and, with the judge of a crawl, as people crawl: from a few pages of the topic."""
BAR_COLUMNS = (
    TextColumn("{task.description}"),
    BarColumn(),
    MofNCompleteColumn(),
    TimeElapsedColumn(),
    TimeRemainingColumn(),
)


def _default(option: str) -> str:
    return f"\\[default: {AS_TC[option]:,}; with --judge {CONTRAST}: {AS_CRAWL[option]:,}]"


def compare(
    world: Path = typer.Option(..., "--world", "-w", help="A world file (lycosa world build)."),
    topics: list[str] = typer.Option(
        ["*"], "--topics", "-t", help="Topics, or patterns: 'Science/*'. May be repeated. Each topic is a task."
    ),
    together: bool = typer.Option(
        False, "--together", help="Make one task of all these topics, in which pages of any of them are relevant."
    ),
    strategies: str = typer.Option(
        DEFAULT, "--strategies", "-s", help="Names, or module:Class for your own, separated by commas."
    ),
    judge: str = typer.Option(
        KEYWORDS,
        "--judge",
        "-j",
        help=f"The judge that guides the crawls: {', '.join(JUDGES)}. {CONTRAST} is that of lycosa crawl: it gets the "
        "topic's keywords and, at distance 0, the seeds as examples. Those after it are trained on --examples.",
    ),
    distance: int | None = typer.Option(
        None, "--distance", "-d", help=f"Links between the seeds and the pages to find, 0 to 3. {_default('distance')}"
    ),
    seeds: int | None = typer.Option(
        None, "--seeds", help=f"Seeds of each crawl; at distance 0 they are not graded. {_default('seeds')}"
    ),
    pages: int | None = typer.Option(None, "--pages", "-n", help=f"Pages each crawl may fetch. {_default('pages')}"),
    buffer: int | None = typer.Option(
        None, "--buffer", "-b", help=f"Maximum number of waiting links; 0: no limit. {_default('buffer')}"
    ),
    repeats: int = typer.Option(
        10, "--repeats", "-r", help="Crawls of each strategy for each topic, from different seeds."
    ),
    smallest: int = typer.Option(1, "--smallest", help="Leave out topics with fewer pages than this."),
    seed: int = typer.Option(1, "--seed", help="Seed of the random number generator."),
    setting: list[str] = typer.Option([], "--set", help="A strategy's constant: --set shark.depth=2. May be repeated."),
    overlap: bool = typer.Option(
        True,
        "--overlap/--no-overlap",
        help="Also crawl from two halves of the seeds: how much do the finds depend on them?",
    ),
    examples: int = typer.Option(
        20, "--examples", "-e", help="Examples of each topic to train a judge on; they are not graded."
    ),
    trec: bool = typer.Option(
        False, "--trec", help="Also write runs and qrels in the format of TREC, for ir_measures, ranx or trec_eval."
    ),
    processes: int = PROCESSES,
    cluster: bool = CLUSTER,
    ray: str = RAY,
    output: Path = typer.Option(Path("report"), "--output", "-o", help="Directory of the report."),
) -> None:
    """Compare crawl strategies on a recorded web, where it is known which pages are relevant.

    All strategies start from the same seeds and see only what a crawler could know. Beside them crawl the bounds, a
    random order and one that knows the truth and looks ahead, and a plain oracle. Writes index.html, pictures,
    results.parquet, and manifest.json: what it was made of.
    """
    opened = World.open(world)
    chosen = [topic for topic in opened.match(*topics) if len(opened.pages_of(topic)) >= smallest]
    if not chosen:
        raise InputError(f"no topic of {world} has {smallest} pages or more")
    given = {"distance": distance, "seeds": seeds, "pages": pages, "buffer": buffer}
    extent = (AS_CRAWL if judge == CONTRAST else AS_TC) | {name: n for name, n in given.items() if n is not None}
    plan = ComparePlan(
        world=world.resolve(),
        topics=tuple(chosen),
        strategies=tuple(name.strip() for name in strategies.split(",") if name.strip()),
        distance=extent["distance"],
        pages=extent["pages"],
        buffer=extent["buffer"],
        repeats=repeats,
        seeds=extent["seeds"],
        seed=seed,
        settings=dict(map(split_setting, setting)),
        has_overlap=overlap,
        threshold=KEYWORDS_THRESHOLD if judge == KEYWORDS else LEARNED_THRESHOLD,
        judge=judge,
        examples=examples,
        together=joint_name(topics) if together and len(chosen) > 1 else "",
    )
    _warn_of_other_judges(plan)
    comparison = compare_in_parallel(plan, spread_of(processes, cluster, ray))
    print_table(comparison, out)
    for topic, reason in comparison.skipped:
        out.print(f"skipped: {plain(topic)}: {plain(reason)}")
    out.print(f"report: {plain(write_report(comparison, output))}")
    if trec:
        files = write_trec(comparison, output, opened.url)
        out.print(f"runs and qrels: {plain(files[0])} and {len(files) - 1} files in {plain(files[1].parent)}")


def _warn_of_other_judges(plan: ComparePlan) -> None:
    for name in plan.by_name:
        judge = evolved_under(name)
        if judge not in (None, plan.judge):
            err.print(
                f"warning: {plain(name)} was evolved under the judge {plain(judge)}, but {plan.judge} is used here: "
                f"its weights may mean little (--judge {plain(judge)})"
            )


def compare_in_parallel(
    plan: ComparePlan, over: Spread = Spread(), *, title: str = "Crawl strategies compared"
) -> Comparison:
    """Compare with the topics spread over processes, and a progress bar."""
    with counting_bar() as progress, spread(over) as run_jobs:
        task = progress.add_task("topics", total=len(plan.tasks))

        def step(topic: str) -> None:
            progress.advance(task)
            if not err.is_terminal:
                err.print(f"  {int(progress.tasks[0].completed)} of {len(plan.tasks)}: {plain(topic)}")

        return run_comparison(plan, title=title, run_jobs=run_jobs, progress=step)


def counting_bar(*, transient: bool = False) -> Progress:
    """A progress bar with a count and the time; invisible where stderr is no terminal."""
    return Progress(*BAR_COLUMNS, console=err, disable=not err.is_terminal, transient=transient)
