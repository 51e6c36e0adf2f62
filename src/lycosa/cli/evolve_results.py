"""What `lycosa evolve` shows and writes at the end: the winner, its scores, its weights, the history, pictures."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from rich.table import Table

from lycosa.cli.terminal import out, plain
from lycosa.errors import InputError
from lycosa.lab.evaluate.pictures import Bars, Line, Plot, draw, draw_bars, save, styles
from lycosa.lab.evolve.checkpoint import Checkpoint, EvolutionState, Generation, rows_of_history, write_strategy
from lycosa.lab.evolve.choosing import FINALISTS, REFERENCES, ChosenStrategy, Score, choose
from lycosa.lab.evolve.encoding import Encoding
from lycosa.lab.evolve.task import TRIALS, Fitnesses
from lycosa.lib.parquet import write_parquet
from lycosa.strategies.papers.evolved import PHASES, WEIGHTS, EvolvedSettings

BAR = 40
"""Length in characters of the longest bars in the table of weights, all phases together."""


def candidates(state: EvolutionState) -> list[str]:
    """All that were ever the fittest of their generation, and the fittest of the last one."""
    return [*(each.genome for each in reversed(state.history)), *state.population.genomes[:FINALISTS]]


def finish(checkpoint: Checkpoint, state: EvolutionState, encoding: Encoding, on: Fitnesses) -> ChosenStrategy:
    """Choose the winner, write the files, show the weights and the scores."""
    if all(encoding.settings(each.genome) is None for each in state.history) or not state.history[-1].best:
        raise InputError("no strategy found a single good page: choose more pages, other seeds or another topic")
    choice = choose(candidates(state), encoding, on)
    target = checkpoint.directory / "best.toml"
    score = choice.scores["winner"]
    found = {"generation": state.history[-1].number, "value": score.bred, "held_out": score.held_out}
    write_strategy(target, choice.winner, checkpoint.origin | found | {"winner": choice.name})
    rows = rows_of_history(state.history, encoding)
    columns = dict.fromkeys(rows[0], "DOUBLE") | {"generation": "INTEGER"}
    write_parquet(rows, checkpoint.directory / "history.parquet", columns)
    _draw(checkpoint, state.history, choice.winner, encoding.names)
    _print_weights(choice.winner, encoding.names)
    return choice


def print_scores(choice: ChosenStrategy, rivals: Mapping[str, Score], *, tasks: int, generations: int) -> None:
    shown = {f"winner ({choice.name})": choice.scores["winner"]}
    shown |= {name: choice.scores[name] for name in REFERENCES} | dict(rivals)
    table = Table(box=None, pad_edge=False, header_style="dim")
    for name in ("fitness on crawls that", "it was bred on", "chose the winner", "were held out"):
        table.add_column(name, justify="right" if table.columns else "left")
    for name, score in shown.items():
        table.add_row(name, f"{score.bred:.4f}", f"{score.validation:.4f}", f"[bold]{score.held_out:.4f}[/]")
    out.print()
    out.print(table)
    topics = f"{tasks} topics × " if tasks > 1 else ""
    out.print(
        f"[dim]{generations} generations; held out: {topics}{TRIALS} crawls from seeds that nothing was chosen by[/]"
    )
    for name, p in choice.p.items():
        ahead = choice.scores["winner"].held_out - choice.scores[name].held_out
        if choice.name != name:
            out.print(f"winner against {name}, held out: {ahead:+.4f}, p = {p:.3g} (Wilcoxon over the crawls)")
    if choice.name in REFERENCES:
        out.print(
            f"nothing evolved did better than {choice.name} where the winner is chosen: it stays\n"
            "(more --runs, --pages or another --topic may help)"
        )


def print_next(
    checkpoint: Checkpoint, world: Path, topics: Sequence[str], *, judge: str, pages: int, by_judge: bool
) -> None:
    """A command that can be run as it stands; weights evolved under one judge mean little under another."""
    target = checkpoint.directory / "best.toml"
    out.print(f"strategy: {plain(target)}")
    if by_judge:
        words = ["lycosa", "crawl", "WORDS", "--strategy", str(target), "-o", "DIR"]
    else:
        strategies = f"best-first,ga2003,{target}"
        words = ["lycosa", "compare", "--world", str(world)]
        for topic in topics:
            words += ["--topics", topic]
        words += ["--judge", judge, "--pages", str(pages), "--repeats", "3", "--strategies", strategies]
        words += ["-o", str(checkpoint.directory / "report")]
    out.print(f"[dim]next: {plain(shlex.join(words))}[/]", soft_wrap=True)


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
