"""lycosa compare: strategies on equal terms, replayed on a world."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

import typer
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from lycosa.cli.crawl import split_setting
from lycosa.cli.terminal import err, out, plain
from lycosa.errors import InputError
from lycosa.lab.evaluate.report import print_table, write_report
from lycosa.lab.evaluate.runs import Comparison
from lycosa.lab.evolve.checkpoint import judge_of
from lycosa.lab.replay.compare import ComparePlan
from lycosa.lab.replay.compare import compare as run_comparison
from lycosa.lab.replay.trained_judges import JUDGES, KEYWORDS
from lycosa.lab.worlds.world import World

KEYWORDS_THRESHOLD, TRAINED_THRESHOLD = 0.1, 0.5
"""A cosine with a few keywords is small even for a page about them; a probability of ½ says more likely than not."""
DEFAULT = "breadth-first,best-first-1,best-first-256,shark-1,pagerank,infospiders"
Given = TypeVar("Given")
Made = TypeVar("Made")


def compare(
    world: Path = typer.Option(..., "--world", "-w", help="A world file (lycosa world build)."),
    topics: list[str] = typer.Option(
        ["*"], "--topics", "-t", help="Topics, or patterns: 'Science/*'. May be repeated."
    ),
    strategies: str = typer.Option(DEFAULT, "--strategies", "-s", help="Names, separated by commas."),
    distance: int = typer.Option(3, "--distance", "-d", help="Links between the seeds and the pages to find (0 to 3)."),
    pages: int = typer.Option(1_000, "--pages", "-n", help="Pages each crawl may fetch."),
    buffer: int = typer.Option(256, "--buffer", "-b", help="Links that may wait; 0: no limit."),
    repeats: int = typer.Option(
        10, "--repeats", "-r", help="Crawls of each strategy for each topic, from other seeds."
    ),
    smallest: int = typer.Option(1, "--smallest", help="Leave out topics with fewer pages than this."),
    seed: int = typer.Option(1, "--seed", help="Of the random numbers."),
    setting: list[str] = typer.Option([], "--set", help="A strategy's constant: --set shark.depth=2. May be repeated."),
    overlap: bool = typer.Option(
        True,
        "--overlap/--no-overlap",
        help="Crawl also from two halves of the seeds: how much do finds depend on them?",
    ),
    judge: str = typer.Option(
        KEYWORDS, "--judge", "-j", help=f"What guides the crawls: {', '.join(JUDGES)}. All but the first are trained."
    ),
    examples: int = typer.Option(20, "--examples", "-e", help="Of each topic, to train the judge; they do not count."),
    processes: int = typer.Option(0, "--processes", "-p", help="Processes to use; 0: one for each core."),
    output: Path = typer.Option(Path("report"), "--output", "-o", help="Where the report goes."),
) -> None:
    """Compare crawl strategies on a recorded web, where it is known which pages are relevant.

    Each strategy starts from the same seeds and sees only what a crawler could know. A random order and an oracle are
    crawled along as bounds. Writes index.html, pictures and results.parquet.
    """
    opened = World.open(world)
    chosen = [topic for pattern in topics for topic in opened.match(pattern)]
    chosen = [topic for topic in dict.fromkeys(chosen) if len(opened.pages_of(topic)) >= smallest]
    if not chosen:
        raise InputError(f"no topic of {world} has {smallest} pages or more")
    plan = ComparePlan(
        world=world.resolve(),
        topics=tuple(chosen),
        strategies=tuple(name.strip() for name in strategies.split(",") if name.strip()),
        distance=distance,
        pages=pages,
        buffer=buffer,
        repeats=repeats,
        seed=seed,
        settings=dict(map(split_setting, setting)),
        has_overlap=overlap,
        threshold=KEYWORDS_THRESHOLD if judge == KEYWORDS else TRAINED_THRESHOLD,
        judge=judge,
        examples=examples,
    )
    _warn_of_other_judges(plan)
    comparison = compare_in_parallel(plan, processes=processes)
    print_table(comparison, out)
    for topic, reason in comparison.skipped:
        out.print(f"skipped: {plain(topic)}: {plain(reason)}")
    out.print(f"report: {plain(write_report(comparison, output))}")


def _warn_of_other_judges(plan: ComparePlan) -> None:
    for name in plan.strategies:
        judge = judge_of(name)
        if judge not in (None, plan.judge):
            err.print(
                f"warning: {plain(name)} was evolved under the judge {plain(judge)}, but {plan.judge} guides here: its "
                f"weights may mean little (--judge {plain(judge)})"
            )


def compare_in_parallel(
    plan: ComparePlan, *, processes: int = 0, title: str = "Crawl strategies compared"
) -> Comparison:
    """Topics are spread over processes; a bar shows how far it is."""
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=err, disable=not err.is_terminal) as progress, _pool(processes) as run_jobs:
        task = progress.add_task("topics", total=len(plan.topics))

        def step(topic: str) -> None:
            progress.advance(task)
            if not err.is_terminal:
                err.print(f"  {int(progress.tasks[0].completed)} of {len(plan.topics)}: {plain(topic)}")

        return run_comparison(plan, title=title, run_jobs=run_jobs, progress=step)


@contextmanager
def _pool(processes: int) -> Iterator[Callable[[Callable[[Given], Made], Iterable[Given]], Iterator[Made]]]:
    count = processes or len(os.sched_getaffinity(0))
    if count == 1:
        yield map
        return
    with multiprocessing.get_context("spawn").Pool(count) as pool:
        yield pool.imap
