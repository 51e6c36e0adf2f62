"""lycosa world: build worlds from recorded pages, and describe them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import typer
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.table import Table

from lycosa.cli.terminal import err, json_line, out, plain
from lycosa.errors import InputError
from lycosa.lab.generated.web import GeneratedWeb, WebPlan
from lycosa.lab.worlds.build import BuildReport, build, build_generated
from lycosa.lab.worlds.info import info
from lycosa.lab.worlds.own_crawl import own_crawl
from lycosa.lab.worlds.world import World

app = typer.Typer(
    help="Recorded webs to replay crawls on.",
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    rich_markup_mode="markdown",
    add_completion=False,
)


@app.command("build")
def build_command(
    sources: list[Path] = typer.Argument(
        help="WARC files, plain or gzipped: of Lycosa, Heritrix, wget, … Or the directory of one crawl of Lycosa: "
        "then the verdicts of its judge are kept, too (lycosa evolve --by-judge)."
    ),
    labels: Path | None = typer.Option(
        None,
        "--labels",
        help="A table with the columns url and topic, separated by tabs. A page may have several rows.",
    ),
    output: Path = typer.Option(..., "--output", "-o", help="World file to write, such as wiki.world."),
    readers: int = typer.Option(2, "--readers", help="Number of processes that read pages."),
) -> None:
    """Build a world file from WARC files or from a crawl, with labels if there are any."""
    if len(sources) > 1 and (directory := next((path for path in sources if path.is_dir()), None)):
        raise InputError(f"{directory} is a directory: a world is made of WARC files, or of one crawl by itself")
    crawl = own_crawl(sources[0]) if sources[0].is_dir() else None
    with _progress("reading pages") as progress:
        task = progress.add_task("", total=None)
        report = build(
            crawl.warcs if crawl else sources,
            labels,
            output,
            rules=crawl.rules if crawl else None,
            judgements=crawl.judgements if crawl else None,
            readers=readers,
            progress=lambda pages: progress.update(task, completed=pages),
        )
    _print_report(report, output)
    if crawl:
        relevant = sum(is_relevant for _, is_relevant in crawl.judgements.by_url.values())
        judged = f"{len(crawl.judgements.by_url):,} pages judged by {crawl.judgements.judge}"
        out.print(f"  {plain(judged)}, {relevant:,} of them relevant")
        out.print(f"[dim]next: lycosa evolve --world {plain(output)} --by-judge -o evolved/[/]")


@app.command()
def generate(
    output: Path = typer.Option(..., "--output", "-o", help="World file to write, such as made.world."),
    pages: int = typer.Option(20_000, "--pages", "-n", help="Number of pages; a million is fine."),
    hosts: int = typer.Option(300, "--hosts", help="Number of hosts."),
    topics: int = typer.Option(10, "--topics", help="Number of planted topics."),
    seed: int = typer.Option(1, "--seed", help="Seed of the random number generator: another seed gives another web."),
) -> None:
    """Build a world from a generated web with planted topics, for experiments of any size."""
    web = GeneratedWeb(WebPlan(seed=seed, pages=pages, hosts=min(hosts, pages), topics=topics))
    with _progress("writing pages") as progress:
        task = progress.add_task("", total=pages)
        report = build_generated(web, output, progress=lambda done: progress.update(task, completed=done))
    _print_report(report, output)


@app.command("info")
def info_command(
    world: Path = typer.Argument(help="A world file."),
    as_json: bool = typer.Option(False, "--json", help="Print one JSON object."),
) -> None:
    """Describe a world: size, topics, reachability, topical locality."""
    facts = info(World.open(world))
    if as_json:
        print(json_line(facts))
        return
    table = Table(box=None, pad_edge=False, show_header=False)
    table.add_column(style="dim")
    table.add_column(justify="right")
    for name, value in facts.items():
        if name != "topics":
            table.add_row(name.replace("_", " "), _figure(value))
    out.print(table)
    sizes = sorted(facts["topics"].items(), key=lambda item: (-item[1], item[0]))
    if sizes:
        out.print(f"{len(sizes)} topics:")
        listing = Table(box=None, pad_edge=False, show_header=False)
        for topic, count in sizes:
            listing.add_row(plain(topic, 80), f"{count:,}")
        out.print(listing)


def _progress(what: str) -> Progress:
    return Progress(
        SpinnerColumn(), TextColumn(what), TextColumn("{task.completed:,.0f} pages"), TimeElapsedColumn(), console=err
    )


def _print_report(report: BuildReport, output: Path) -> None:
    out.print(
        f"{plain(output)}: {report.pages:,} pages, {report.redirects:,} redirects, {report.links:,} links, "
        f"{report.topics:,} topics, {output.stat().st_size / 1e6:.1f} MB"
    )
    for reason, count in report.skipped.items():
        out.print(f"  left out: {count:,} × {plain(reason)}")
    if report.labels_unknown:
        out.print(f"  {report.labels_unknown:,} labels of URLs that are not in the world")
    if report.labels_malformed:
        out.print(f"  {report.labels_malformed:,} rows without a URL or a topic")


def _figure(value: Any) -> str:
    return f"{value:,}" if isinstance(value, int) else f"{value:.3f}" if isinstance(value, float) else plain(value, 60)
