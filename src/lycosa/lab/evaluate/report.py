"""The report of a comparison: a directory with a self-contained HTML page, pictures and the figures.

    index.html         everything, including the pictures; no external references, no scripts
    <plot>.png, .svg   each picture by itself
    results.parquet    one row per strategy, topic, repeat and checkpoint
    manifest.json      what it was made of: code, world, constants, and the seeds of every crawl

Names of topics and worlds come from the web: everything in the page is escaped, and its content security policy
forbids it to load or run anything.
"""

from __future__ import annotations

import json
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING

import numpy as np

from lycosa.errors import InputError
from lycosa.lab.evaluate.measure import METRICS, Metric
from lycosa.lab.evaluate.overlap import TOP
from lycosa.lab.evaluate.page import Picture, figure_text, printable, render, sample_text
from lycosa.lab.evaluate.pictures import Line, Plot, draw, save, styles
from lycosa.lab.evaluate.runs import Comparison, Floats
from lycosa.lab.evaluate.summary import (
    COLUMNS,
    PERFORMANCE,
    Summary,
    curve,
    final_values,
    over_topics,
    performance,
    rows,
    table,
    too_few_topics,
)
from lycosa.lib.parquet import write_parquet

if TYPE_CHECKING:
    from rich.console import Console

CURVES = ("recall", "harvest", "recent_harvest", "similarity", "relevant", "capped_harvest", "distinct", "cost",
          "community_cohesion", "frontier")  # fmt: skip
"""Metrics that are drawn, in this order."""
TERMINAL = ("share_of_way", "recall", "harvest", "similarity", "cost", "performance")
"""Columns of the table in the terminal, as many as its width allows."""
BY_TOPIC = ("recall", "harvest")
LONGEST_NAME = 24
"""Characters of a strategy's name in the terminal: some are the paths of files."""
PAGES_FETCHED = "pages fetched"


def write_report(comparison: Comparison, directory: Path) -> Path:
    """Write the report, overwriting an earlier one; returns the path of its page."""
    _check(comparison)
    looks = styles(comparison.strategies, comparison.bounds)
    try:
        directory.mkdir(parents=True, exist_ok=True)
        pictures = []
        for name, plot, caption in plots(comparison):
            png, svg = draw(plot, looks)
            save(directory / name, png, svg)
            pictures.append(Picture(plot.title, caption, svg))
        write_parquet(rows(comparison), directory / "results.parquet", COLUMNS)
        facts = {**comparison.manifest, "seeds": _seeds(comparison)}
        (directory / "manifest.json").write_text(json.dumps(facts, indent=1, ensure_ascii=False), encoding="utf-8")
        index = directory / "index.html"
        index.write_text(render(comparison, pictures), encoding="utf-8")
    except OSError as error:
        raise InputError(f"{directory}: the report cannot be written: {error.strerror or error}") from error
    return index


def plots(comparison: Comparison) -> list[tuple[str, Plot, str]]:
    """Every picture of the report: (file name, picture, caption)."""
    x = np.arange(1, comparison.pages + 1, dtype=np.float64)
    drawn = []
    for name in CURVES:
        metric, without = METRICS[name], comparison.bounds if name == "cost" else ()
        lines = _lines(comparison, curve(comparison, name), without)
        drawn.append((name, _over_pages(metric, x, lines), metric.explanation))
    lines = _lines(comparison, performance(comparison), comparison.bounds)
    drawn.insert(4, ("performance", _over_pages(PERFORMANCE, x, lines), PERFORMANCE.explanation))
    return [*drawn, *_by_topic(comparison), *_histograms(comparison), *_overlaps(comparison, x)]


def _seeds(comparison: Comparison) -> dict[str, list[list[int]]]:
    """By topic and repeat: the pages that crawls started from, by their numbers in the world."""
    return {scores.topic: [crawled.seeds.tolist() for crawled in scores.crawled] for scores in comparison.scores}


def _by_topic(comparison: Comparison) -> list[tuple[str, Plot, str]]:
    """Every topic a point: does a mean speak for most topics, or for a few?"""
    topics = len(comparison.scores)
    if topics < 2:
        return []
    x, drawn = np.arange(1, topics + 1, dtype=np.float64), []
    for name in BY_TOPIC:
        values, metric = final_values(comparison, name), METRICS[name]
        order = np.argsort(values[:, comparison.strategies.index(comparison.baseline)], kind="stable")
        lines = [
            Line(strategy, values[order, place])
            for place, strategy in enumerate(comparison.strategies)
            if strategy not in comparison.bounds
        ]
        title = f"{metric.title[0].upper()}{metric.title[1:]} by topic"
        plot = Plot(title, "topics", "", x, lines, is_share=metric.is_share, has_points=True)
        drawn.append((f"{name}_by_topic", plot, f"topics in ascending order of {comparison.baseline}"))
    return drawn


def print_table(comparison: Comparison, console: Console) -> None:
    """The final figures in the terminal: a row for each strategy, the best of a column in bold."""
    from rich.table import Table
    from rich.text import Text

    _check(comparison)
    shown = Table(box=None, pad_edge=False)
    names = [_short(printable(name)) for name in comparison.strategies]
    styles = ["dim" if name in comparison.bounds else "bold" for name in comparison.strategies]
    columns = [[Text(name, style=style) for name, style in zip(names, styles, strict=True)]]
    shown.add_column("", no_wrap=True)
    room = console.width - max(map(len, names))
    for column in (column for column in table(comparison) if column.name in TERMINAL):
        title = column.metric.title + (" (%)" if column.metric.is_share else "")
        figures = [figure_text(cell, column.metric, has_unit=False) for cell in column.cells]
        width = max(map(len, (*figures, *title.split())))
        room -= width + 2
        if room < 0 and len(columns) > 1:
            break
        shown.add_column("\n".join(wrap(title, width)), justify="right", no_wrap=True)
        marks = ["bold" if cell.is_best else "" for cell in column.cells]
        columns.append([Text(figure, style=mark) for figure, mark in zip(figures, marks, strict=True)])
    for row in zip(*columns, strict=True):
        shown.add_row(*row)
    about = [f"{name}: {text}" for name, text in comparison.about.items() if name in ("world", "seeds", "judge")]
    for line in (f"{comparison.title} {sample_text(comparison)}", *about):
        console.print(Text(printable(line)))
    console.print(shown)
    for line in (
        f"mean ± standard error over topics; bounds: {', '.join(comparison.bounds) or 'none'}",
        "bold: ahead of all others by more than the error",
        f"* ** *** differs from {_short(comparison.baseline)}: p < 0.05, 0.01, 0.001 (Holm)",
    ):
        console.print(Text(printable(line), style="dim"))
    if warning := too_few_topics(comparison):
        console.print(Text(f"warning: {warning}"))


def _short(name: str) -> str:
    return name if len(name) <= LONGEST_NAME else "…" + name[1 - LONGEST_NAME :]


def _check(comparison: Comparison) -> None:
    if comparison.scores:
        return
    reasons = "; ".join(f"{topic}: {reason}" for topic, reason in comparison.skipped[:3])
    raise InputError(f"no topic could be compared{': ' + reasons if reasons else ''}")


def _over_pages(metric: Metric, x: Floats, lines: list[Line]) -> Plot:
    title = metric.title[0].upper() + metric.title[1:]
    return Plot(title, PAGES_FETCHED, "", x, lines, is_share=metric.is_share)


def _lines(comparison: Comparison, summary: Summary, without: tuple[str, ...] = ()) -> list[Line]:
    return [
        Line(name, summary.mean[place], summary.error[place])
        for place, name in enumerate(comparison.strategies)
        if name not in without
    ]


def _histograms(comparison: Comparison) -> list[tuple[str, Plot, str]]:
    distances = over_topics(np.array([scores.distances for scores in comparison.scores]))
    used = np.flatnonzero(distances.mean.max(axis=0) > 0)
    last = int(used[-1]) + 1 if len(used) else 1
    cut = Summary(distances.mean[:, : last + 1], distances.error[:, : last + 1])
    x = np.arange(cut.mean.shape[1], dtype=np.float64)
    relevances = over_topics(np.array([scores.relevances for scores in comparison.scores]))
    bins = relevances.mean.shape[1]
    middles = (np.arange(bins) + 0.5) / bins
    share = "share of fetched pages"
    far = Plot("Distance from the seeds", "links from the nearest seed", share, x, _lines(comparison, cut), True, True)
    judged = _lines(comparison, relevances)
    spread = Plot("Distribution of relevance", "judged relevance", share, middles, judged, True, True)
    return [
        ("distance", far, f"{share} by links from the nearest seed (GA, figure 9; FC, section 4.5)"),
        ("relevance", spread, f"{share} by the judge's R, in steps of {1 / bins:g} (FC, figure 5)"),
    ]


def _overlaps(comparison: Comparison, x: Floats) -> list[tuple[str, Plot, str]]:
    drawn = []
    overlaps = comparison.overlaps
    kinds = (("pages", "top pages", "Overlap of pages"), ("hosts of the first", "top hosts", "Overlap of hosts"))
    for name, top, title in kinds:
        lines = []
        for strategy, topics in overlaps.items():
            summary = over_topics(np.array([curves[name] for curves in topics]))
            lines.append(Line(strategy, summary.mean, summary.error))
        if lines:
            shares = {strategy: np.mean([curves[top][0] for curves in topics]) for strategy, topics in overlaps.items()}
            caption = (
                "two crawls from disjoint halves of the seeds: share of the first that both have seen (FC, section "
                f"4.3). Of the {TOP} pages rated highest by the judge: "
                + ", ".join(f"{strategy} {share:.0%}" for strategy, share in shares.items())
            )
            file = "overlap_pages" if name == "pages" else "overlap_hosts"
            drawn.append((file, Plot(title, PAGES_FETCHED, "in both crawls", x, lines, True), caption))
    return drawn
